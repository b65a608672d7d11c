// The sort of a segment by a worker, for keys of up to 32 bits without payloads: the items are the codes of the keys.
//
// - Preconditions: see sort_segments.cu.
// - Shared memory: SPAN items per worker. For `sort_neighbours`: the keys, rounded up to a multiple of 32 words.
// - Source: worker.cuh.
#pragma once

#include "code.cuh"
#include "segment.cuh"
#include "worker.cuh"

namespace simt::sort_segments {

using namespace worker;

// A key as an item, or, if there is no such key, the greatest code as padding.
SIMT_FN u32 item(Key key, bool there, const code::Transform& transform) {
    return there ? u32(code::encode<KIND>(key, transform)) : ~0u;
}

static_assert(WORKERS * SPAN * sizeof(u32) == SORTIE_BLOCK_MEMORY, "as the host has it");
static_assert(sizeof(Key) == SORTIE_TILED_KEY_MEMORY, "as the host has it");

// Sorts one segment of at most CAPACITY keys per worker. All threads of the block take part.
SIMT_FN void sort_segment(const Segment& segment, const code::Transform& transform) {
    // A thread reads and writes every THREADS-th key, so that accesses coalesce.
    const u32 thread = own_thread(), count = segment.count;
    const i32 left = i32(count) - i32(thread);
    u32* items = reinterpret_cast<u32*>(shared_memory()) + own_worker() * SPAN;
    Key read[ROW] = {};
    if (count > 0) {
        // Past the end, the last key is loaded again: loads under a condition would not overlap.
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            const u32 i = r * THREADS + thread;
            read[r] = segment.keys[r < FULL_ROWS ? i : lesser(i, count - 1)];
        }
    }
    u32 row[ROW];
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) row[r] = item(read[r], i32(r * THREADS) < left, transform);
    sort_rows(row, items);
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) items[thread * STRIDE + r] = code::decode<KIND>(Key(row[r]), transform);
    worker_barrier();
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 i = r * THREADS + thread;
        if (i32(r * THREADS) < left) segment.sorted_keys[i] = Key(items[slot(i)]);
    }
}

// The slot of shared memory that holds the sorted key with this index of the tile. Threads write their rows key by
// key. If rows begin in the same banks, groups of 16 bytes are permuted within lines of 32 words, so that the rows
// use different banks. f32 on an H200, segments of 32, 64 and 128 keys: 403, 242 and 290 Gkeys/s; without the
// permutation 214, 181 and 185.
constexpr u32 QUAD_KEYS = sizeof(Quad) / sizeof(Key);
constexpr bool CROSSED = sizeof(Key) == 4 && ROW % 16 == 0;
SIMT_FN u32 crossed(u32 index) { return CROSSED ? index ^ index / 32 % 8 * QUAD_KEYS : index; }

// How many groups of 16 bytes can be copied as such: none if the address is not aligned to 16 bytes.
SIMT_FN u32 quads(const Key* global, u32 count) {
    return reinterpret_cast<u64>(global) % sizeof(Quad) == 0 ? count / QUAD_KEYS : 0;
}

// Copies keys from global to shared memory, 16 bytes at a time if the global address is aligned to that.
SIMT_FN void load_tile(Key* tile, const Key* from, u32 count) {
    const u32 whole = quads(from, count);
    for (u32 i = thread_rank(); i < whole; i += BLOCK)
        reinterpret_cast<Quad*>(tile)[i] = reinterpret_cast<const Quad*>(from)[i];
    for (u32 i = whole * QUAD_KEYS + thread_rank(); i < count; i += BLOCK) tile[i] = from[i];
}

// Copies sorted keys from shared to global memory in the same way.
SIMT_FN void store_tile(Key* to, const Key* tile, u32 count) {
    const u32 whole = quads(to, count);
    for (u32 i = thread_rank(); i < whole; i += BLOCK)
        reinterpret_cast<Quad*>(to)[i] = *reinterpret_cast<const Quad*>(tile + crossed(i * QUAD_KEYS));
    for (u32 i = whole * QUAD_KEYS + thread_rank(); i < count; i += BLOCK) to[i] = tile[crossed(i)];
}

// Sorts `workers` consecutive segments of `length` keys, with at most four threads each. Global memory is read and
// written as one tile, in coalesced accesses. All threads of the block take part.
SIMT_FN void sort_neighbours(const Segment& first, u32 workers, u32 length, const code::Transform& transform) {
    Key* tile = reinterpret_cast<Key*>(shared_memory());
    load_tile(tile, first.keys, workers * length);
    barrier();

    const u32 worker = own_worker(), thread = own_thread();
    const u32 live = worker < workers ? length : 0;
    const u32 start = worker * length;
    // If segments begin an even number of words apart, each worker begins at another key of its segment, to use
    // different banks.
    const u32 shift = length % 2 == 0 && live > 0 ? worker % length : 0;
    u32 row[ROW];
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 i = r * THREADS + thread;
        const u32 shifted = i + shift < length ? i + shift : i + shift - length;
        row[r] = item(i < live ? tile[start + shifted] : Key(0), i < live, transform);
    }
    barrier();
    sort_rows(row, nullptr);
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 i = thread * ROW + r;
        if (i < live) tile[crossed(start + i)] = code::decode<KIND>(Key(row[r]), transform);
    }
    barrier();
    store_tile(first.sorted_keys, tile, workers * length);
}

} // namespace simt::sort_segments
