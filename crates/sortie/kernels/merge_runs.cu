// Merges pairs of sorted runs of segments too long for a block.
//
// Contract. An instantiation is made for SORTIE_KEY_BYTES, SORTIE_KIND and SORTIE_TILE, the keys of a first run, a
// multiple of CHUNK. Before pass p the runs have TILE * 2^p keys. Any number of blocks; shared memory for CHUNK codes
// and two more words. Cost: one read and one write of the keys a pass, and two searches a chunk.
//
// A block writes a chunk. Where it begins and ends in each of the two runs is where the merge of the runs crosses a
// diagonal, found by halving. In the same way each thread finds its part of the chunk, which it merges in registers.
//
// Source: Green, McColl and Bader, "GPU merge path: a GPU merging algorithm" (2012).
#include "code.cuh"
#include "long.cuh"
#include "simt.cuh"

namespace simt::merge_runs {

using Key = code::OfBytes<SORTIE_KEY_BYTES>::Type;

constexpr code::Kind KIND = code::SORTIE_KIND;
constexpr u32 TILE = SORTIE_TILE;
constexpr u32 BLOCK = 256;
// Codes that a thread merges.
constexpr u32 MERGED = 16;
constexpr u32 CHUNK = BLOCK * MERGED;

// How many of the first `diagonal` keys of the merge are from a; equal keys come from a first. `a(i)`, `b(i)` are codes.
template <class Index, class A, class B> SIMT_FN Index crossing(Index diagonal, Index a_count, Index b_count, A a, B b) {
    Index low = diagonal > b_count ? diagonal - b_count : 0;
    Index high = lesser(diagonal, a_count);
    while (low < high) {
        const Index middle = (low + high) / 2;
        if (b(diagonal - 1 - middle) < a(middle)) high = middle;
        else low = middle + 1;
    }
    return low;
}

SIMT_FN void merge_chunk(const Key* from, Key* to, u64 length, u64 place, u64 width, const code::Transform& transform) {
    Key* codes = reinterpret_cast<Key*>(shared_memory());
    u64* crossings = reinterpret_cast<u64*>(codes + CHUNK);

    const u64 base = place / (2 * width) * (2 * width);
    const u64 a_count = lesser(width, length - base);
    const u64 b_count = lesser(width, length - base - a_count);
    const Key* a = from + base;
    const Key* b = a + a_count;
    const u64 first = place - base, last = lesser(first + CHUNK, a_count + b_count);
    auto global_a = [&](u64 i) { return code::encode<KIND>(a[i], transform); };
    auto global_b = [&](u64 i) { return code::encode<KIND>(b[i], transform); };
    if (thread_rank() < 2)
        crossings[thread_rank()] = crossing(thread_rank() == 0 ? first : last, a_count, b_count, global_a, global_b);
    barrier();

    const u64 a_first = crossings[0], b_first = first - a_first;
    const u32 from_a = u32(crossings[1] - a_first), count = u32(last - first), from_b = count - from_a;
    for (u32 i = thread_rank(); i < count; i += BLOCK)
        codes[i] = i < from_a ? global_a(a_first + i) : global_b(b_first + i - from_a);
    barrier();

    const u32 own = lesser(thread_rank() * MERGED, count);
    auto shared_a = [&](u32 i) { return codes[i]; };
    auto shared_b = [&](u32 i) { return codes[from_a + i]; };
    u32 i = crossing(own, from_a, from_b, shared_a, shared_b);
    u32 j = from_a + own - i;
    Key merged[MERGED];
    Key next_a = i < from_a ? codes[i] : Key(0), next_b = j < count ? codes[j] : Key(0);
    SIMT_UNROLL
    for (u32 m = 0; m < MERGED; ++m) {
        const bool take_a = j >= count || (i < from_a && !(next_b < next_a));
        merged[m] = take_a ? next_a : next_b;
        if (take_a) {
            ++i;
            if (i < from_a) next_a = codes[i];
        } else {
            ++j;
            if (j < count) next_b = codes[j];
        }
    }
    barrier();
    SIMT_UNROLL
    for (u32 m = 0; m < MERGED; ++m)
        if (own + m < count) codes[own + m] = merged[m];
    barrier();
    for (u32 k = thread_rank(); k < count; k += BLOCK) to[place + k] = code::decode<KIND>(codes[k], transform);
    barrier();
}

SIMT_KERNEL(BLOCK, 4)
merge_runs(Key* keys, Key* scratch, long_segments::Segments segments, u32 pass, code::Transform transform) {
    const u64 chunks = long_segments::tile_count(segments, TILE) * (TILE / CHUNK);
    for (u64 chunk = block_rank(); chunk < chunks; chunk += grid_blocks()) {
        const long_segments::Tile tile = long_segments::find_tile(segments, chunk / (TILE / CHUNK), TILE);
        const u64 place = tile.place + chunk % (TILE / CHUNK) * CHUNK;
        const u32 passes = long_segments::passes_of(tile.length, TILE);
        if (pass >= passes || place >= tile.length) continue;
        const bool back = long_segments::in_scratch(passes, pass);
        const Key* from = (back ? scratch : keys) + tile.start;
        Key* to = (back ? keys : scratch) + tile.start;
        merge_chunk(from, to, tile.length, place, u64(TILE) << pass, transform);
    }
}

} // namespace simt::merge_runs
