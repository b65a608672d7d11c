// Puts the segments between offsets into classes by length. Each class is then sorted by workers of its size.
//
// - A segment belongs to the first class whose capacity is at least its length. The last class has no capacity and
//   takes all longer segments. Segments of fewer than `least` keys, or of more than `longest`, belong to no class.
// - Common parameters: `offsets` has segments + 1 entries, in keys; segment i is the keys offsets[i]..offsets[i + 1].
//   `counts` and `cursors` have a word per class. `list` has a word per segment.
// - Order: count_classes, list_classes, count_tiles.
// - Launch: any number of blocks of BLOCK threads, unless said otherwise. Shared memory: Shared.
// - Source: own.
#include "scan.cuh"
#include "simt.cuh"

namespace simt::classes {

constexpr u32 BLOCK = 256;
// Segments that a thread lists at a time.
constexpr u32 TAKEN = 8;
constexpr u32 MOST = 64;
constexpr u32 NONE = ~0u;
static_assert(BLOCK / WARP <= MOST, "a word a warp");

// The classes: `count` capacities in ascending order, in `of`; the last class is number `count`. See above for
// `least` and `longest`.
struct Capacities {
    u64 longest;
    u32 count;
    u32 least;
    u32 of[MOST - 1];
};

struct Shared {
    u32 capacities[MOST];
    // For each class, the number of the block's segments, and the index in the list where they go.
    u32 counts[MOST];
    u32 starts[MOST];
};

// The class of a length, or NONE. A binary search in shared memory.
SIMT_FN u32 class_of(u64 length, const Shared& shared, const Capacities& capacities) {
    if (length < capacities.least || length > capacities.longest) return NONE;
    u32 low = 0, high = capacities.count;
    while (low < high) {
        const u32 middle = (low + high) / 2;
        if (shared.capacities[middle] < length) low = middle + 1;
        else high = middle;
    }
    return low;
}

// Clears the counts and loads the capacities. Ends with a barrier.
SIMT_FN Shared& prepare(const Capacities& capacities) {
    Shared& shared = *reinterpret_cast<Shared*>(shared_memory());
    if (thread_rank() < MOST) shared.counts[thread_rank()] = 0;
    if (thread_rank() < capacities.count) shared.capacities[thread_rank()] = capacities.of[thread_rank()];
    barrier();
    return shared;
}

// count_classes: counts the segments of each class.
// - Before: `counts` is zero.
// - Writes: adds to `counts`.
// - Cost: one read of the offsets; one atomic in shared memory per segment; one global atomic per block and class.
SIMT_KERNEL(BLOCK, 1) count_classes(const u64* offsets, u64 segments, Capacities capacities, u32* counts) {
    await_turn();
    Shared& shared = prepare(capacities);
    for (u64 i = u64(block_rank()) * BLOCK + thread_rank(); i < segments; i += u64(grid_blocks()) * BLOCK) {
        const u32 c = class_of(offsets[i + 1] - offsets[i], shared, capacities);
        if (c != NONE) atomic_add<Relaxed, Block>(&shared.counts[c], 1);
    }
    barrier();
    if (thread_rank() <= capacities.count && shared.counts[thread_rank()] > 0)
        atomic_add(&counts[thread_rank()], shared.counts[thread_rank()]);
}

// list_classes: lists the segments of each class.
// - Before: count_classes. `cursors` is zero.
// - Writes: `list`, the indices of the segments, class after class, in any order within a class. `cursors` becomes
//   `counts`.
// - Cost: one read of the offsets, one write of 4 bytes per segment; one atomic in shared memory per segment; a
//   global atomic per class for each BLOCK * TAKEN segments.
SIMT_KERNEL(BLOCK, 1)
list_classes(const u64* offsets, u64 segments, Capacities capacities, const u32* counts, u32* cursors, u32* list) {
    await_turn();
    Shared& shared = prepare(capacities);
    const u64 step = u64(BLOCK) * TAKEN;
    for (u64 first = u64(block_rank()) * step; first < segments; first += u64(grid_blocks()) * step) {
        u32 of[TAKEN], rank[TAKEN];
        SIMT_UNROLL
        for (u32 t = 0; t < TAKEN; ++t) {
            const u64 i = first + t * BLOCK + thread_rank();
            of[t] = i < segments ? class_of(offsets[i + 1] - offsets[i], shared, capacities) : NONE;
            rank[t] = of[t] == NONE ? 0 : atomic_add<Relaxed, Block>(&shared.counts[of[t]], 1);
        }
        barrier();
        if (thread_rank() <= capacities.count) {
            u32 start = 0;
            for (u32 c = 0; c < thread_rank(); ++c) start += counts[c];
            shared.starts[thread_rank()] = start + atomic_add(&cursors[thread_rank()], shared.counts[thread_rank()]);
            shared.counts[thread_rank()] = 0;
        }
        barrier();
        SIMT_UNROLL
        for (u32 t = 0; t < TAKEN; ++t)
            if (of[t] != NONE) list[shared.starts[of[t]] + rank[t]] = u32(first + t * BLOCK + thread_rank());
    }
}

// count_tiles: computes for each listed segment of class `size` how many tiles of `tile` keys the ones before it in
// the class have.
// - Launch: one block. After list_classes.
// - Writes: `tiles_before`, one entry more than segments of the class; the last one has the number of all tiles.
// - Cost: a scan over the segments of the class.
SIMT_KERNEL(BLOCK, 1)
count_tiles(const u64* offsets, const u32* list, const u32* counts, u32 size, u32 tile, u32* tiles_before) {
    await_turn();
    u32* sums = reinterpret_cast<Shared*>(shared_memory())->counts;
    u32 before = 0;
    for (u32 c = 0; c < size; ++c) before += counts[c];
    const u32 segments = counts[size];
    u32 tiles = 0;
    for (u32 first = 0; first < segments; first += BLOCK) {
        const u32 i = first + thread_rank();
        u32 own = 0;
        if (i < segments) {
            const u32 segment = list[before + i];
            own = u32((offsets[segment + 1] - offsets[segment] + tile - 1) / tile);
        }
        u32 all;
        const u32 sum = scan::exclusive<BLOCK>(own, sums, all);
        if (i < segments) tiles_before[i] = tiles + sum;
        tiles += all;
        barrier();
    }
    if (thread_rank() == 0) tiles_before[segments] = tiles;
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::classes
