// Sorts many segments, each by a worker of its own: a thread, part of a warp, a warp, or a block. In place.
//
// Contract. An instantiation is made for what is sorted (segment.cuh) and for a worker (worker.cuh). It sorts segments of
// SORTIE_FULL * THREADS to ROW * THREADS keys. Cost: one read and one write of the keys, and of their payload.
// SORTIE_SOURCE says where the segments are, and has one kernel:
// - FIXED, sort_segments: segments of one length.
// - TILED, sort_tiled: the same for workers of so few threads that they would read keys that lie far apart: the block
//   copies its segments to shared memory as they lie.
// - LISTED, sort_listed: segments between offsets, those that a list of places names for class `size`. Any number of
//   blocks.
// - TILES, sort_tiles: segments too long for a worker of a block, as tiles, each sorted by itself to where the first
//   merge expects it (long.cuh). Any number of blocks. Keys go there in an argsort too.
// Keys of up to 32 bits alone are sorted as such (keys_alone.cuh), all else by places (places.cuh).
#define FIXED 0
#define TILED 1
#define LISTED 2
#define TILES 3

#include "long.cuh"
#include "segment.cuh"
#include "worker.cuh"

namespace simt::sort_segments {

using namespace worker;

// Keys that each thread has in every segment, whatever its length.
constexpr u32 FULL_ROWS = SORTIE_FULL;
constexpr bool MOVES_KEYS = !ARGSORT || SORTIE_SOURCE == TILES;
constexpr bool BY_INDEX = sizeof(Key) > 4 || WORDS > 0;
// Their stages leave room for no more, so each may have 128 registers.
constexpr u32 RESIDENT_TILED = BY_INDEX ? RESIDENT / 2 : RESIDENT;

} // namespace simt::sort_segments

#if SORTIE_KEY_BYTES <= 4 && SORTIE_PAYLOAD_BYTES == 0
#include "keys_alone.cuh"
#else
#include "by_index.cuh"
#endif

namespace simt::sort_segments {

#if SORTIE_SOURCE == FIXED

SIMT_KERNEL(BLOCK, RESIDENT / BLOCK)
sort_segments(Arrays arrays, u64 length, u64 segments, code::Transform transform) {
    await_turn();
    const u64 index = u64(block_rank()) * WORKERS + own_worker();
    // A worker beyond the last sorts nothing, and keeps step with its warp.
    const bool live = index < segments;
    sort_segment(segment(arrays, live ? index * length : 0, live ? u32(length) : 0), transform);
}

#elif SORTIE_SOURCE == TILED

SIMT_KERNEL(BLOCK, RESIDENT_TILED / BLOCK)
sort_tiled(Arrays arrays, u64 length, u64 segments, code::Transform transform) {
    await_turn();
    const u64 first = u64(block_rank()) * WORKERS;
    const u32 workers = u32(lesser(u64(WORKERS), segments - first));
    sort_neighbours(segment(arrays, first * length, 0), workers, u32(length), transform);
}

#elif SORTIE_SOURCE == LISTED

// `counts` has the segments of each class; the list has those of class 0 first, then those of class 1, and so on.
SIMT_KERNEL(BLOCK, RESIDENT / BLOCK)
sort_listed(Arrays arrays, const u64* offsets, const u32* list, const u32* counts, u32 size, code::Transform transform) {
    await_turn();
    u32 before = 0;
    for (u32 c = 0; c < size; ++c) before += counts[c];
    const u32 segments = counts[size];
    for (u64 first = u64(block_rank()) * WORKERS; first < segments; first += u64(grid_blocks()) * WORKERS) {
        const u64 index = first + own_worker();
        u64 start = 0, end = 0;
        if (index < segments) {
            const u32 listed = list[before + index];
            start = offsets[listed];
            end = offsets[listed + 1];
        }
        sort_segment(segment(arrays, start, u32(end - start)), transform);
        worker_barrier();
    }
}

#elif SORTIE_SOURCE == TILES

SIMT_KERNEL(BLOCK, RESIDENT / BLOCK)
sort_tiles(Arrays arrays, long_segments::Segments segments, code::Transform transform) {
    await_turn();
    const u64 tiles = long_segments::tile_count(segments);
    for (u64 number = block_rank(); number < tiles; number += grid_blocks()) {
        const long_segments::Tile tile = long_segments::find_tile(segments, number);
        const u32 count = u32(lesser(u64(segments.tile), tile.length - tile.offset));
        const u32 to = long_segments::buffer_before(long_segments::passes_of(tile.length, segments.tile), 0);
        sort_segment(segment(arrays, tile.start + tile.offset, count, to, u32(tile.offset)), transform);
        worker_barrier();
    }
}

#endif

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::sort_segments
