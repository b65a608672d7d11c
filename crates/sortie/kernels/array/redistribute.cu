// Distributes buckets that are too long for a block a second time, each by the range of its own codes. The moving
// itself is partition.cu with the step AGAIN.
//
// - Compile-time parameters: SORTIE_KEY_BYTES, the width of a key; SORTIE_KIND, code::Kind; SORTIE_ALL, 1 if
//   scan_long lists all buckets with a key, 0 if only those that still need a sort.
// - Order: list_long, count_tiles, find_extremes, count_long, scan_long, partition (AGAIN), and bring_back if the
//   keys are wanted in the array they came from.
// - Launch: any number of blocks of BLOCK threads, unless said otherwise.
// - Zero before the first kernel: `listed`, `counts`, `ready_count`.
// - Cost of all: three reads and a write of the keys of the long buckets; bring_back reads and writes them once more.
// - Source: own.
#include "code.cuh"
#include "long_buckets.cuh"
#include "bucket_bounds.cuh"
#include "scan.cuh"
#include "simt.cuh"

namespace simt::redistribute {

using Key = code::OfBytes<SORTIE_KEY_BYTES>::Type;
using namespace long_buckets;

constexpr code::Kind KIND = code::SORTIE_KIND;
constexpr u32 BLOCK = 256;
constexpr u32 OWN = 1u << BITS;
// Keys that a thread loads at a time.
constexpr u32 ROW = 8;
static_assert(OWN <= BLOCK, "a thread for each bucket");

struct Shared {
    // A histogram of the buckets of a long bucket; or the sums of the warps, for a scan.
    u32 counts[OWN];
};
static_assert(BLOCK / WARP <= OWN, "a word a warp");

SIMT_FN u32* shared_words() { return reinterpret_cast<Shared*>(shared_memory())->counts; }

// list_long: lists the buckets of more than `longest` keys.
// - Parameters: `buckets`, in indices of keys. `longest`: the most keys that a block sorts.
// - Writes: `list` in any order, with bounds and empty extremes; `*listed`, its length.
// - Cost: one read of the bounds, one global atomic per long bucket.
SIMT_KERNEL(BLOCK, 4) list_long(bucket_bounds::Buckets buckets, u64 longest, Bucket* list, u32* listed) {
    await_turn();
    const u32 count = bucket_bounds::count(buckets);
    for (u32 b = block_rank() * BLOCK + thread_rank(); b < count; b += grid_blocks() * BLOCK) {
        const u64* ends = bucket_bounds::ends_of(buckets, b);
        if (ends[1] - ends[0] > longest) list[atomic_add(listed, 1)] = {ends[0], ends[1], ~u64(0), 0};
    }
}

// count_tiles: computes how many tiles of `tile` keys come before each long bucket.
// - Launch: one block. Shared memory: Shared. After list_long.
// - Writes: `tiles_before`, one entry more than long buckets.
// - Cost: a scan over the list.
SIMT_KERNEL(BLOCK, 1) count_tiles(const Bucket* list, const u32* listed, u32 tile, u32* tiles_before) {
    await_turn();
    u32* sums = shared_words();
    const u32 count = *listed;
    u32 before = 0;
    for (u32 first = 0; first <= count; first += BLOCK) {
        const u32 i = first + thread_rank();
        const u32 own = i < count ? u32((list[i].end - list[i].start + tile - 1) / tile) : 0;
        const u32 sum = before + scan::exclusive<BLOCK>(own, sums);
        if (i <= count) tiles_before[i] = sum;
        barrier();
        if (thread_rank() == BLOCK - 1) sums[0] = sum + own;
        barrier();
        before = sums[0];
        barrier();
    }
}

// find_extremes: finds the least and the greatest code of each long bucket.
// - Parameters: `keys`, the whole array. `all`: the long buckets, with their tiles.
// - Launch: no shared memory. After count_tiles.
// - Writes: `low` and `high` of each long bucket.
// - Cost: one read of the keys of the long buckets; two global atomics per warp and tile.
SIMT_KERNEL(BLOCK, 4) find_extremes(const Key* keys, Buckets all, code::Transform transform) {
    await_turn();
    for (u32 number = block_rank(); number < tiles(all); number += grid_blocks()) {
        const u32 bucket = bucket_of(all, number);
        const Tile tile = tile_of(all, bucket, number);
        classify::WordOf<Key>::Type low = ~classify::WordOf<Key>::Type(0), high = 0;
        for (u32 first = 0; first < tile.count; first += BLOCK * ROW) {
            SIMT_UNROLL
            for (u32 r = 0; r < ROW; ++r) {
                // Past the end, the last key is taken again, which changes neither extreme.
                const u32 i = lesser(first + r * BLOCK + thread_rank(), tile.count - 1);
                const Key code = code::encode<KIND>(keys[tile.first + i], transform);
                if (code < low) low = code;
                if (high < code) high = code;
            }
        }
        SIMT_UNROLL
        for (u32 by = WARP / 2; by > 0; by /= 2) {
            low = lesser(low, shuffle_xor(low, by));
            high = greater(high, shuffle_xor(high, by));
        }
        if (lane() == 0) {
            atomic_min(&all.buckets[bucket].low, low);
            atomic_max(&all.buckets[bucket].high, high);
        }
    }
}

// count_long: makes a histogram of each long bucket by its own buckets. Skips long buckets whose codes are all equal.
// - Parameters: `keys`, `all`: as above. `counts`: 2^BITS words per long bucket, zero before.
// - Launch: shared memory: Shared. After find_extremes.
// - Writes: adds to `counts`.
// - Cost: one read of the keys of the long buckets, an atomic in shared memory per key, up to 2^BITS global atomics
//   per tile.
SIMT_KERNEL(BLOCK, 4) count_long(const Key* keys, Buckets all, u32* counts, code::Transform transform) {
    await_turn();
    u32* own = shared_words();
    for (u32 number = block_rank(); number < tiles(all); number += grid_blocks()) {
        const u32 bucket = bucket_of(all, number);
        const Tile tile = tile_of(all, bucket, number);
        const classify::Classifier<Key> classifier(range_of<Key>(all.buckets[bucket], all.share));
        if (all.buckets[bucket].low == all.buckets[bucket].high) continue;
        if (thread_rank() < OWN) own[thread_rank()] = 0;
        barrier();
        for (u32 first = 0; first < tile.count; first += BLOCK * ROW) {
            Key row[ROW];
            SIMT_UNROLL
            for (u32 r = 0; r < ROW; ++r)
                row[r] = keys[tile.first + lesser(first + r * BLOCK + thread_rank(), tile.count - 1)];
            SIMT_UNROLL
            for (u32 r = 0; r < ROW; ++r) {
                const Key code = code::encode<KIND>(row[r], transform);
                if (first + r * BLOCK + thread_rank() < tile.count)
                    atomic_add<Relaxed, Block>(&own[classifier.bucket(code)], 1);
            }
        }
        barrier();
        if (thread_rank() < OWN && own[thread_rank()] > 0)
            atomic_add(&counts[u64(bucket) * OWN + thread_rank()], own[thread_rank()]);
        barrier();
    }
}

// scan_long: computes where the buckets of each long bucket begin, and lists those that are to be sorted.
// - Parameters: `all`: as above. `counts`: from count_long.
// - Launch: shared memory: Shared. After count_long.
// - Writes: `cursors`, 2^BITS per long bucket: the index of the array where each of its buckets begins. `ready`, in
//   any order: start and end of each listed bucket. `*ready_count`: their number. With SORTIE_ALL, all that have a
//   key; a long bucket of equal codes is one. Else only those with at least two keys that may differ.
// - Cost: a scan over 2^BITS counts per long bucket, one global atomic per listed bucket.
SIMT_KERNEL(BLOCK, 4)
scan_long(Buckets all, const u32* counts, u64* cursors, u64* ready, u32* ready_count) {
    await_turn();
    u32* sums = shared_words();
    for (u32 b = block_rank(); b < *all.listed; b += grid_blocks()) {
        const Bucket& bucket = all.buckets[b];
        const u32 i = thread_rank();
        const u32 count = i < OWN ? counts[u64(b) * OWN + i] : 0;
        const u64 start = bucket.start + scan::exclusive<BLOCK>(count, sums);
        if (i < OWN) cursors[u64(b) * OWN + i] = start;
        // A long bucket of equal keys was not counted.
        const bool whole = SORTIE_ALL && i == 0 && bucket.low == bucket.high;
        if (SORTIE_ALL ? count > 0 || whole : count > 1 && !is_exact(bucket, all.share)) {
            u64* own = ready + 2 * u64(atomic_add(ready_count, 1));
            own[0] = start;
            own[1] = whole ? bucket.end : start + count;
        }
        barrier();
    }
}

// bring_back: copies the keys of the long buckets from `copy` to the same indices of `keys`, unless all are equal.
// - Parameters: `keys`, `copy`: the whole array, and the result of partition. `all`: as above.
// - Launch: no shared memory. After partition with the step AGAIN.
// - Writes: `keys`.
// - Cost: one read and one write of the keys of the long buckets.
SIMT_KERNEL(BLOCK, 4) bring_back(Key* keys, const Key* copy, Buckets all) {
    await_turn();
    for (u32 number = block_rank(); number < tiles(all); number += grid_blocks()) {
        const u32 bucket = bucket_of(all, number);
        const Tile tile = tile_of(all, bucket, number);
        if (all.buckets[bucket].low == all.buckets[bucket].high) continue;
        for (u32 i = thread_rank(); i < tile.count; i += BLOCK) keys[tile.first + i] = copy[tile.first + i];
    }
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::redistribute
