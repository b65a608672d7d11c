// Merges pairs of sorted runs of segments too long for a block.
//
// Contract. An instantiation is made for what is merged (segment.cuh); an argsort's places are a payload like any other.
// Before pass p the runs have 2^p tiles; a tile is a multiple of CHUNK. As many passes as the longest segment takes, or
// more. Zero before: `progress`. Any number of blocks. Dynamic shared memory: a Shared, and
// with a payload CHUNK indices of 2 bytes. Cost: one read and one write of the keys and their payload a pass, and two
// searches a chunk. Stable.
//
// All passes are one launch, for most often there is nothing to merge, and a launch that finds nothing takes 4 microseconds.
// Blocks take chunks in turn, pass after pass; who takes one of the next pass waits until all before it are done. Those are
// in blocks that run already, which merge what they took first, so nobody waits for a block that cannot start.
//
// A block writes a chunk. Where it begins and ends in each of the two runs is where the merge of the runs crosses a
// diagonal, which a warp finds by comparing at 32 places at a time. In the same way, by halving, each thread finds its part
// of the chunk, which it merges in registers.
//
// Source: Green, McColl and Bader, "GPU merge path: a GPU merging algorithm" (2012).
#include "code.cuh"
#include "long.cuh"
#include "search.cuh"
#include "segment.cuh"
#include "simt.cuh"

namespace simt::merge_runs {

constexpr u32 BLOCK = 128;
// Codes that a thread merges.
constexpr u32 MERGED = 16;
constexpr u32 CHUNK = BLOCK * MERGED;

struct Shared {
    Key codes[CHUNK];
    // Where the chunk begins and ends in the first run.
    u64 crossings[2];
    // Its number.
    u64 taken;
};
// With a payload, where each key of the chunk was among the codes comes next.
static_assert(sizeof(Shared) + (WORDS > 0 ? CHUNK * sizeof(u16) : 0) == SORTIE_BLOCK_MEMORY, "as the host has it");

// Chunks of all passes.
struct Progress {
    u64 taken, done;
};

struct Runs {
    // Of the two runs' keys, in the segment's arrays.
    u64 start;
    u64 a_count, b_count;
    // Of the chunk, in the merge.
    u64 first, last;
};

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
        // How many of the keys before the diagonal are from a; of equal keys, those of a come first.
        const u64 diagonal = warp_rank() == 0 ? runs.first : runs.last;
        const u64 crossing = search::first_of_warp(
            diagonal > runs.b_count ? diagonal - runs.b_count : 0, lesser(diagonal, runs.a_count),
            [&](u64 i) { return code(b[diagonal - 1 - i]) < code(a[i]); });
        if (lane() == 0) crossings[warp_rank()] = crossing;
    }
    barrier();

    const u64 a_first = crossings[0], b_first = runs.first - a_first;
    const u32 from_a = u32(crossings[1] - a_first), count = u32(runs.last - runs.first);
    // Where a place among the codes came from.
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

// Of the chunk of this number in a pass, unless its segment is merged by then.
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

// Blocks that a multiprocessor is to hold: codes of 128 bits take twice the registers.
constexpr u32 RESIDENT_BLOCKS = sizeof(Key) > 8 ? 4 : 8;

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
            // Of the passes before its own.
            const u64 before = next / chunks * chunks;
            if (next / chunks < passes)
                while (atomic_load<Acquire>(&progress->done) < before) {}
            *taken = next;
        }
        barrier();
        const u64 own = *taken;
        if (own / chunks >= passes) return;
        // Is on the way while this one is merged.
        if (thread_rank() == 0) next = atomic_add(&progress->taken, 1);
        merge_numbered(arrays, segments, own % chunks, u32(own / chunks), transform);
        barrier();
        if (thread_rank() == 0) atomic_add<Release>(&progress->done, 1);
    }
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::merge_runs
