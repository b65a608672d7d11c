// One unstable pass of a distribution: scatters items to groups of buckets, or the items of each group to its buckets.
//
// Compile-time parameters:
// - item.cuh, but not BESIDE.
// - SORTIE_THREADS, the threads of a block. SORTIE_ROW, the items of a thread.
// - SORTIE_BLOCK_MEMORY, the bytes of shared memory that the host counts on. Asserted.
// - SORTIE_STEP, what is moved:
//   - FIRST: all keys, to groups of 2^bits buckets. The items are made here, from a key and its payload or index.
//   - SECOND: the items of each group, to its buckets.
//   - AGAIN: the items of each long bucket (long_buckets.cuh), to buckets of its own, unless all its codes are equal.
//     For ALONE only.
//
// With ALONE, `from` and `to` hold keys: they are encoded when they are loaded, and decoded when they are stored.
//
// Method:
// 1. The digit of an item is the number of its group (FIRST), or that of its bucket within the group (SECOND) or within
//    the long bucket (AGAIN). An atomic per item counts its digit in the tile, and returns its rank there.
// 2. One atomic per tile and digit reserves room at the digit's cursor, so tiles are written in any order and do not
//    wait for each other.
// 3. Items are put in the order of their digits in shared memory, so that they are written in runs.
//
// Source: own.
// Parameters, what is written, and cost: at the kernel, at the end.
#include "classify.cuh"
#include "code.cuh"
#include "item.cuh"
#include "long_buckets.cuh"
#include "scan.cuh"
#include "simt.cuh"

#define FIRST 0
#define SECOND 1
#define AGAIN 2

namespace simt::partition {

using item::Item;
using item::Key;
#if SORTIE_STEP == FIRST
using From = Key;
#else
using From = Item;
#endif

constexpr code::Kind KIND = code::SORTIE_KIND;
constexpr u32 BLOCK = SORTIE_THREADS;
constexpr u32 ROW = SORTIE_ROW;
constexpr u32 TILE = BLOCK * ROW;
// The number of threads that a multiprocessor should hold, which leaves 64 registers for each.
constexpr u32 RESIDENT = 1024;
static_assert(TILE < 1u << 16, "a rank has 16 bits");

struct Shared {
    Item items[TILE];
    // For each digit, the index where its items go, minus the index where they begin in the tile, modulo 2^32.
    u32 moves[BLOCK];
    u32 counts[BLOCK];
    // The index in the tile where each digit's items begin.
    u32 starts[BLOCK];
    u32 sums[BLOCK / WARP];
    // The tile's group, and the number of tiles of the groups before.
    u32 group, tiles_before;
    // A copy of the profile's cells.
    u32 cells[classify::CELLS + 1];
};
static_assert(sizeof(Shared) == SORTIE_BLOCK_MEMORY, "as the host has it");

struct Job {
    const From* from;
    // FIRST and PAYLOAD only: the payloads, which go below the codes.
    const u32* payload;
    Item* to;
    u64 count;
    const classify::Profile* profile;
    u32 bits, groups;
    const u64* group_starts;
    const u32* tiles_before;
    u64* cursors;
    // For AGAIN only, which ignores the groups.
    long_buckets::Buckets long_buckets;
};

struct Tile {
    u64 first;
    u32 count, group;
};

// Finds tile `number`. Contains a barrier, so all threads of the block reach it.
SIMT_FN Tile find_tile(const Job& job, u32 number, Shared& shared) {
    if constexpr (SORTIE_STEP == FIRST) {
        barrier();
        const u64 first = u64(number) * TILE;
        return {first, u32(lesser(job.count - first, u64(TILE))), 0};
    } else if constexpr (SORTIE_STEP == AGAIN) {
        barrier();
        const u32 bucket = long_buckets::bucket_of(job.long_buckets, number);
        const long_buckets::Tile tile = long_buckets::tile_of(job.long_buckets, bucket, number);
        return {tile.first, tile.count, bucket};
    } else {
        if (thread_rank() < job.groups) {
            const u32 before = job.tiles_before[thread_rank()];
            if (before <= number && number < job.tiles_before[thread_rank() + 1]) {
                shared.group = thread_rank();
                shared.tiles_before = before;
            }
        }
        barrier();
        const u64 first = job.group_starts[shared.group] + u64(number - shared.tiles_before) * TILE;
        const u64 last = job.group_starts[shared.group + 1];
        return {first, u32(lesser(last - first, u64(TILE))), shared.group};
    }
}

// The item with this index in `from`.
SIMT_FN Item load(const Job& job, u64 index, [[maybe_unused]] const code::Transform& transform) {
    const From from = job.from[index];
#if SORTIE_LOW == ALONE
    return code::encode<KIND>(from, transform);
#elif SORTIE_STEP == FIRST
    return item::join(code::encode<KIND>(from, transform), SORTIE_LOW == INDEX ? u32(index) : job.payload[index]);
#else
    return from;
#endif
}

// Writes an item to index `index` of `to`.
SIMT_FN void store(const Job& job, u64 index, Item item, [[maybe_unused]] const code::Transform& transform) {
#if SORTIE_LOW == ALONE
    job.to[index] = code::decode<KIND>(item, transform);
#else
    job.to[index] = item;
#endif
}

// Loads the thread's items of a tile: item r * BLOCK + rank.
SIMT_FN void load_row(Item (&row)[ROW], const Job& job, const Tile& tile, const code::Transform& transform) {
    if (tile.count == TILE) {
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) row[r] = load(job, tile.first + r * BLOCK + thread_rank(), transform);
    } else {
        // Past the end, the last item is loaded again: loads under a condition would not overlap.
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r)
            row[r] = load(job, tile.first + lesser(r * BLOCK + thread_rank(), tile.count - 1), transform);
    }
}

// Moves tile `number` to the buckets or groups of its items. All threads of the block take part.
template <bool UNEVEN>
SIMT_FN void move_tile(const Job& job, u32 number, Shared& shared, const code::Transform& transform) {
    if constexpr (UNEVEN) classify::load_cells<BLOCK>(shared.cells, *job.profile);
    shared.counts[thread_rank()] = 0;
    const Tile tile = find_tile(job, number, shared);
    classify::Range range = job.profile->range;
    if constexpr (SORTIE_STEP == AGAIN) {
        const long_buckets::Bucket& bucket = job.long_buckets.buckets[tile.group];
        if (bucket.low == bucket.high) return;
        range = long_buckets::range_of<Key>(bucket, job.long_buckets.share);
    }
    const classify::Classifier<Key, UNEVEN> classifier(range, shared.cells);
    const u32 bits = job.bits;
    auto digit_of = [&](Item item) {
        const u32 bucket = classifier.bucket(item::code_of(item));
        return SORTIE_STEP == FIRST ? bucket >> bits : SORTIE_STEP == SECOND ? bucket & ((1u << bits) - 1) : bucket;
    };
    Item row[ROW];
    load_row(row, job, tile, transform);

    // First digit << 16 | rank of the item within its digit; later the item's index in the tile.
    u32 positions[ROW];
    const u32 left = tile.count - lesser(tile.count, thread_rank());
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 digit = digit_of(row[r]);
        positions[r] = digit << 16;
        if (r * BLOCK < left) positions[r] |= atomic_add<Relaxed, Block>(&shared.counts[digit], 1);
    }
    barrier();
    const u32 count = shared.counts[thread_rank()];
    u64* cursors = job.cursors + (u64(tile.group) << bits);
    // Threads beyond the number of digits have a count of zero.
    const u32 room = count > 0 ? u32(atomic_add(&cursors[thread_rank()], count)) : 0;
    const u32 start = scan::exclusive<BLOCK>(count, shared.sums);
    shared.starts[thread_rank()] = start;
    barrier();
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        positions[r] = shared.starts[positions[r] >> 16] + (positions[r] & 0xFFFF);
        if (r * BLOCK < left) shared.items[positions[r]] = row[r];
    }
    // As late as possible, because the atomic above takes long.
    shared.moves[thread_rank()] = room - start;
    barrier();
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 i = r * BLOCK + thread_rank();
        if (r * BLOCK < left) {
            const Item item = shared.items[i];
            store(job, shared.moves[digit_of(item)] + i, item, transform);
        }
    }
}

// partition: does the step SORTIE_STEP, see above.
// - Parameters, in `job`:
//   - `from`, `to`: `count` items each, at most 2^32 - 2^16; they do not overlap.
//   - `payload`: `count` words.
//   - `profile`: the result of profile.cu. The kernel does nothing if its plan is not to distribute.
//   - `bits`, `groups`: as count_buckets.cu has them; there are at most SORTIE_THREADS groups, and as many buckets in
//     a group.
//   - `group_starts`, `tiles_before`: from scan_buckets, for tiles of SORTIE_THREADS * SORTIE_ROW items. For SECOND
//     only.
//   - `cursors`: the index where the next item of each group (FIRST) or bucket (SECOND, AGAIN) goes.
// - Launch: any number of blocks of SORTIE_THREADS threads. Shared memory: Shared. After count_buckets.cu; for AGAIN
//   after scan_long of redistribute.cu.
// - Writes: `to`, and advances each cursor by the number of its items. With AGAIN, long buckets whose codes are all
//   equal are not written.
// - Cost: one read and one write of the items, one atomic in shared memory per item, one global atomic per tile and
//   digit.
SIMT_KERNEL(BLOCK, RESIDENT / BLOCK) partition(Job job, code::Transform transform) {
    await_turn();
    if (classify::plan(*job.profile) != classify::DISTRIBUTE) return;
    Shared& shared = *reinterpret_cast<Shared*>(shared_memory());
    if constexpr (SORTIE_STEP == AGAIN) {
        const u32 tiles = long_buckets::tiles(job.long_buckets);
        for (u32 number = block_rank(); number < tiles; number += grid_blocks()) {
            move_tile<false>(job, number, shared, transform);
            barrier();
        }
    } else {
        const u32 tiles = SORTIE_STEP == SECOND ? job.tiles_before[job.groups] : u32((job.count + TILE - 1) / TILE);
        const bool uneven = job.profile->uneven;
        for (u32 number = block_rank(); number < tiles; number += grid_blocks()) {
            if (uneven) move_tile<true>(job, number, shared, transform);
            else move_tile<false>(job, number, shared, transform);
            barrier();
        }
    }
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::partition
