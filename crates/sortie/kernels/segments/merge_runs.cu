// Merges the sorted tiles of long segments: passes that merge pairs of runs, all in one launch. Stable.
//
// Compile-time parameters: segment.cuh. The indices of an argsort are a payload like any other.
//
// Method:
// - Before pass p, a run has 2^p tiles. A tile is a multiple of CHUNK keys.
// - Blocks take chunks of CHUNK keys of the result in order, pass after pass. A block that takes a chunk waits until
//   all chunks of earlier passes are done. Those were taken by blocks that already run, so no block waits for one
//   that cannot start.
// - A warp finds where a chunk begins in the two runs, and another where it ends: where the merge path crosses a
//   diagonal. Each thread finds its part of the chunk by binary search, and merges it in registers.
// - One launch does all passes, because often there is nothing to merge, and an empty launch takes 4 microseconds.
//
// Source: Green, McColl and Bader, "GPU merge path: a GPU merging algorithm" (2012).
#include "code.cuh"
#include "long.cuh"
#include "search.cuh"
#include "segment.cuh"
#include "simt.cuh"

namespace simt::merge_runs {

constexpr u32 BLOCK = 128;
// The number of codes that a thread merges.
constexpr u32 MERGED = 16;
constexpr u32 CHUNK = BLOCK * MERGED;

struct Shared {
    Key codes[CHUNK];
    // How many keys of the first run come before the start, and before the end, of the chunk.
    u64 crossings[2];
    // The number of the chunk.
    u64 taken;
};
// With a payload, the index among the codes from which each key of the chunk came follows: CHUNK indices of 2 bytes.
static_assert(sizeof(Shared) + (WORDS > 0 ? CHUNK * sizeof(u16) : 0) == SORTIE_BLOCK_MEMORY, "as the host has it");

// The number of chunks that blocks have taken, and that are done, over all passes.
struct Progress {
    u64 taken, done;
};

// Two runs, and the chunk of their merge that a block writes.
struct Runs {
    // The index of the first key of the first run. The second run follows it.
    u64 start;
    u64 a_count, b_count;
    // The chunk: the keys first..last of the merged run.
    u64 first, last;
};

// Merges one chunk. All threads of the block take part. `keys_in` and `payload_in` have the runs; `keys` and
// `payload` get the chunk, at the same indices.
SIMT_FN void merge_chunk(const Key* keys_in, Key* keys, const Word* payload_in, Word* payload, const Runs& runs,
                         const code::Transform& transform) {
    Shared& shared = *reinterpret_cast<Shared*>(shared_memory());
    Key* codes = shared.codes;
    u64* crossings = shared.crossings;
    u16* sources = reinterpret_cast<u16*>(&shared + 1);

    const Key* a = keys_in + runs.start;
    const Key* b = a + runs.a_count;
    auto code = [&](Key key) { return code::encode<KIND>(key, transform); };
    if (warp_rank() < 2) {
        // Finds how many of the first `diagonal` keys of the merge come from a. Of equal keys, those of a come first.
        const u64 diagonal = warp_rank() == 0 ? runs.first : runs.last;
        const u64 crossing = search::first_of_warp(
            diagonal > runs.b_count ? diagonal - runs.b_count : 0, lesser(diagonal, runs.a_count),
            [&](u64 i) { return code(b[diagonal - 1 - i]) < code(a[i]); });
        if (lane() == 0) crossings[warp_rank()] = crossing;
    }
    barrier();

    const u64 a_first = crossings[0], b_first = runs.first - a_first;
    const u32 from_a = u32(crossings[1] - a_first), count = u32(runs.last - runs.first);
    // The index, from the start of the first run, of the key whose code is at index i in shared memory.
    auto source = [&](u32 i) { return i < from_a ? a_first + i : runs.a_count + b_first + (i - from_a); };
    Key read[MERGED];
    SIMT_UNROLL
    for (u32 m = 0; m < MERGED; ++m) read[m] = a[source(lesser(m * BLOCK + thread_rank(), count - 1))];
    SIMT_UNROLL
    for (u32 m = 0; m < MERGED; ++m) codes[m * BLOCK + thread_rank()] = code(read[m]);
    barrier();

    const u32 own = lesser(thread_rank() * MERGED, count), from_b = count - from_a;
    u32 i = search::first_of(own > from_b ? own - from_b : 0, lesser(own, from_a),
                             [&](u32 i) { return codes[from_a + own - 1 - i] < codes[i]; });
    u32 j = from_a + own - i;
    Key merged[MERGED];
    u16 merged_from[MERGED];
    Key next_a = codes[lesser(i, CHUNK - 1)], next_b = codes[lesser(j, CHUNK - 1)];
    SIMT_UNROLL
    for (u32 m = 0; m < MERGED; ++m) {
        const bool take_a = j >= count || (i < from_a && !(next_b < next_a));
        merged[m] = take_a ? next_a : next_b;
        merged_from[m] = u16(take_a ? i : j);
        i += take_a;
        j += !take_a;
        const Key next = codes[lesser(take_a ? i : j, CHUNK - 1)];
        next_a = take_a ? next : next_a;
        next_b = take_a ? next_b : next;
    }
    barrier();
    SIMT_UNROLL
    for (u32 m = 0; m < MERGED; ++m) {
        if (own + m < count) {
            codes[own + m] = merged[m];
            if constexpr (WORDS > 0) sources[own + m] = merged_from[m];
        }
    }
    barrier();
    const u64 to = runs.start + runs.first;
    for (u32 k = thread_rank(); k < count; k += BLOCK) keys[to + k] = code::decode<KIND>(codes[k], transform);
    if constexpr (WORDS > 0) {
        for (u32 k = thread_rank(); k < count; k += BLOCK) {
            const Word* from = payload_in + (runs.start + source(sources[k])) * WORDS;
            SIMT_UNROLL
            for (u32 w = 0; w < WORDS; ++w) payload[(to + k) * WORDS + w] = from[w];
        }
    }
    barrier();
}

// Merges chunk `number` of a pass, unless its segment needs no such pass, or the chunk is past the end of its segment.
SIMT_FN void merge_numbered(const Arrays& arrays, const long_segments::Segments& segments, u64 number, u32 pass,
                            const code::Transform& transform) {
    const u32 chunks_of_tile = segments.tile / CHUNK;
    const u64 width = u64(segments.tile) << pass;
    const long_segments::Tile tile = long_segments::find_tile(segments, number / chunks_of_tile);
    const u64 offset = tile.offset + number % chunks_of_tile * CHUNK;
    const u32 passes = long_segments::passes_of(tile.length, segments.tile);
    if (pass >= passes || offset >= tile.length) return;
    const u64 base = offset / (2 * width) * (2 * width);
    Runs runs;
    runs.start = tile.start + base;
    runs.a_count = lesser(width, tile.length - base);
    runs.b_count = lesser(width, tile.length - base - runs.a_count);
    runs.first = offset - base;
    runs.last = lesser(runs.first + CHUNK, runs.a_count + runs.b_count);
    const u32 from = long_segments::buffer_before(passes, pass), to = 1 - from;
    merge_chunk(arrays.keys_at(from), arrays.keys_at(to), arrays.payload_at(from), arrays.payload_at(to), runs, transform);
}

// The number of blocks that a multiprocessor should hold: codes of 128 bits take twice the registers.
constexpr u32 RESIDENT_BLOCKS = sizeof(Key) > 8 ? 4 : 8;

// merge_runs: merges the tiles of each segment to one run.
// - Parameters:
//   - `arrays`: the two buffers of keys and payloads. sort_tiles of sort_segments.cu has written the sorted tiles to
//     the buffer that long_segments::buffer_before names.
//   - `segments`: the long segments (long.cuh).
//   - `passes`: at least as many as the longest segment needs.
//   - `progress`: zero before.
// - Launch: any number of blocks of BLOCK threads. Shared memory: Shared; with a payload, CHUNK indices of 2 bytes
//   more.
// - Writes: the sorted segments to buffer 0. Buffer 1 is overwritten.
// - Cost: one read and one write of keys and payloads per pass; two searches per chunk in global memory; two global
//   atomics per chunk, and reads of a global counter while a block waits.
SIMT_KERNEL(BLOCK, RESIDENT_BLOCKS)
merge_runs(Arrays arrays, long_segments::Segments segments, u32 passes, Progress* progress, code::Transform transform) {
    await_turn();
    u64* taken = &reinterpret_cast<Shared*>(shared_memory())->taken;
    const u64 chunks = long_segments::tile_count(segments) * (segments.tile / CHUNK);
    if (chunks == 0) return;
    u64 next = 0;
    if (thread_rank() == 0) next = atomic_add(&progress->taken, 1);
    while (true) {
        if (thread_rank() == 0) {
            // The number of chunks of all earlier passes.
            const u64 before = next / chunks * chunks;
            if (next / chunks < passes)
                while (atomic_load<Acquire>(&progress->done) < before) {}
            *taken = next;
        }
        barrier();
        const u64 own = *taken;
        if (own / chunks >= passes) return;
        // The next chunk is taken now, so that the atomic overlaps the merge.
        if (thread_rank() == 0) next = atomic_add(&progress->taken, 1);
        merge_numbered(arrays, segments, own % chunks, u32(own / chunks), transform);
        barrier();
        if (thread_rank() == 0) atomic_add<Release>(&progress->done, 1);
    }
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::merge_runs
