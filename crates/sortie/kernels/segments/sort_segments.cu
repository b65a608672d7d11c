// Sorts many segments, each by a worker of its own: a thread, part of a warp, a warp, or a block.
//
// Compile-time parameters:
// - segment.cuh: what is sorted. worker.cuh: the worker.
// - SORTIE_FULL: each segment that is not empty has SORTIE_FULL * THREADS to ROW * THREADS keys.
// - SORTIE_SOURCE: where the segments are. Each value has one kernel.
//   - FIXED: sort_segments, segments of one length.
//   - TILED: sort_tiled, the same for workers of few threads.
//   - LISTED: sort_listed, segments of a class (classes.cu).
//   - TILES: sort_tiles, the tiles of long segments (long.cuh).
//
// - SORTIE_BLOCK_MEMORY, SORTIE_TILED_KEY_MEMORY: the bytes of shared memory of a block, and of a key in sort_tiled,
//   that the host counts on. Asserted.
//
// Keys of up to 32 bits without payloads are sorted by keys_alone.cuh, everything else by by_index.cuh. Their shared
// memory is stated there.
//
// Of each kernel:
// - Preconditions: all threads of the block call it. No segment has more than CAPACITY keys; long ones are cut into
//   tiles first.
// - Cost: one read and one write of the keys and payloads, and the sort of each segment by its worker (worker.cuh).
//
// Source: worker.cuh.
#define FIXED 0
#define TILED 1
#define LISTED 2
#define TILES 3

#include "long.cuh"
#include "segment.cuh"
#include "worker.cuh"

namespace simt::sort_segments {

using namespace worker;

// The number of keys that each thread has in every segment, so that their loads need no check.
constexpr u32 FULL_ROWS = SORTIE_FULL;
constexpr bool MOVES_KEYS = !ARGSORT || SORTIE_SOURCE == TILES;
constexpr bool BY_INDEX = sizeof(Key) > 4 || WORDS > 0;
// With BY_INDEX, shared memory has room for only half as many threads, so each may have 128 registers.
constexpr u32 RESIDENT_TILED = BY_INDEX ? RESIDENT / 2 : RESIDENT;

} // namespace simt::sort_segments

#if SORTIE_KEY_BYTES <= 4 && SORTIE_PAYLOAD_BYTES == 0
#include "keys_alone.cuh"
#else
#include "by_index.cuh"
#endif

namespace simt::sort_segments {

#if SORTIE_SOURCE == FIXED

// sort_segments: sorts segments of one length.
// - Parameters: `arrays`. `segments` segments of `length` keys, one after the other.
// - Launch: WORKERS segments per block of BLOCK threads.
// - Writes: the sorted segments to arrays.keys[0] and arrays.payload[0]; in an argsort, only the payload.
SIMT_KERNEL(BLOCK, RESIDENT / BLOCK)
sort_segments(Arrays arrays, u64 length, u64 segments, code::Transform transform) {
    await_turn();
    const u64 index = u64(block_rank()) * WORKERS + own_worker();
    // A worker without a segment sorts an empty one, because all threads must reach the barriers.
    const bool live = index < segments;
    sort_segment(segment(arrays, live ? index * length : 0, live ? u32(length) : 0), transform);
}

#elif SORTIE_SOURCE == TILED

// sort_tiled: the same for workers of so few threads that their own accesses would not coalesce. The block copies all
// its segments to shared memory as one tile.
// - Parameters, launch, writes: as sort_segments.
SIMT_KERNEL(BLOCK, RESIDENT_TILED / BLOCK)
sort_tiled(Arrays arrays, u64 length, u64 segments, code::Transform transform) {
    await_turn();
    const u64 first = u64(block_rank()) * WORKERS;
    const u32 workers = u32(lesser(u64(WORKERS), segments - first));
    sort_neighbours(segment(arrays, first * length, 0), workers, u32(length), transform);
}

#elif SORTIE_SOURCE == LISTED

// sort_listed: sorts the segments of class `size`.
// - Parameters: `arrays`. `offsets`, in keys; `list` and `counts`: from classes.cu. `size`: the number of the class.
// - Launch: any number of blocks of BLOCK threads. After list_classes.
// - Writes: as sort_segments.
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

// sort_tiles: sorts each tile of the long segments.
// - Parameters: `arrays`. `segments`: the long segments, with tiles of at most CAPACITY keys.
// - Launch: any number of blocks of BLOCK threads. For listed segments, after count_tiles of classes.cu.
// - Writes: the sorted tiles, to the buffer where merge_runs expects them. Keys are written in an argsort too.
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
