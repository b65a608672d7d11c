// The last step of a sample sort by comparison: sorts the buckets.
//
// Compile-time parameters:
// - compared.cuh and block_sort.cuh.
// - SORTIE_PAYLOAD_BYTES: the size of a payload, a multiple of 4.
//
// Where sorted items go:
// - Without SORTIE_INDEXED, `items` are the keys, and are sorted in place.
// - With SORTIE_INDEXED and payloads, item i becomes keys[i], and the payload at its index in `payload_from` becomes
//   payload[i].
// - With SORTIE_INDEXED and no payloads (SORTIE_PAYLOAD_BYTES is 0), its index becomes payload[i].
//
// Source: block_sort.cuh.
#include "block_sort.cuh"
#include "classify.cuh"
#include "compared.cuh"
#include "simt.cuh"

namespace simt::finish_compared {

using block_sort::BLOCK;
using block_sort::CAPACITY;
using block_sort::Shared;
using compared::Item;
using compared::Key;

// The number of threads that a multiprocessor should hold, which leaves 64 registers for each, or 128 for long items.
constexpr u32 RESIDENT = sizeof(Item) > 36 ? 512 : 1024;

#if SORTIE_PAYLOAD_BYTES > 0
struct Payload {
    u32 words[SORTIE_PAYLOAD_BYTES / 4];
};
#else
// An index.
using Payload = u32;
#endif

// The buckets between splitters, as splitters.cu leaves them. Its buckets of odd number, and in a second level its
// groups of odd number, have equal items and need no sort. So bucket b of group g is number 2b of group 2g there, and
// these are numbered here one after the other.
struct Buckets {
    // The bounds of all buckets. If null, all `count` items are one bucket.
    const u64* ends;
    u64 count;
    // If not null, and its plan is not PASSES, nothing is sorted.
    const classify::Profile* profile;
    // `ways`: buckets of a group. `all`: buckets of all groups.
    u32 ways, all;
};

// - `items`: what is sorted; without SORTIE_INDEXED, the keys themselves.
// - `keys`, `payload`: where the result goes with SORTIE_INDEXED.
// - `payload_from`: the payloads in the order of the indices.
struct Arrays {
    Item* items;
    Key* keys;
    Payload* payload;
    const Payload* payload_from;
};

#if SORTIE_INDEXED
SIMT_FN void take_apart(const Arrays& arrays, u64 index, const Item& item) {
#if SORTIE_PAYLOAD_BYTES > 0
    arrays.keys[index] = item.key;
    arrays.payload[index] = arrays.payload_from[item.index];
#else
    arrays.payload[index] = item.index;
#endif
}
#else
SIMT_FN void take_apart(const Arrays&, u64, const Item&) {}
#endif

// Sorts one bucket, or lists it if it does not fit in a block.
SIMT_FN void sort_bucket(const Arrays& arrays, const Buckets& buckets, u32 number, u64* left, u32* left_count) {
    u64 start = 0, end = buckets.count;
    if (buckets.ends) {
        const u64 group = number / buckets.ways, bucket = number % buckets.ways;
        const u64* ends = buckets.ends + 4 * group * buckets.ways + 2 * bucket;
        start = ends[0];
        end = ends[1];
    }
    const u64 count = end - start;
    if (count < (compared::INDEXED ? 1 : 2)) return;
    if (count > CAPACITY) {
        if (thread_rank() == 0) {
            u64* own = left + 2 * u64(atomic_add(left_count, 1));
            own[0] = start;
            own[1] = end;
        }
        return;
    }
    Shared& shared = *reinterpret_cast<Shared*>(shared_memory());
    if constexpr (compared::INDEXED) {
        block_sort::copy(shared.items, arrays.items + start, u32(count));
        barrier();
        block_sort::sort(shared.items, u32(count));
        for (u32 i = thread_rank(); i < count; i += BLOCK) take_apart(arrays, start + i, shared.items[i]);
    } else {
        block_sort::sort_tile(arrays.items + start, arrays.items + start, u32(count), shared);
    }
}

// sort_buckets: sorts each bucket that fits in a block, and lists the others.
// - Parameters: `arrays`, `buckets`: see these structs.
// - Launch: any number of blocks of block_sort::BLOCK threads. Shared memory: block_sort::Shared. After move_items of
//   splitters.cu.
// - Before: `*left_count` is zero.
// - Writes: the sorted buckets. `left`: start and end of each bucket that does not fit, in any order. `*left_count`:
//   their number.
// - Cost: one read and one write of the items.
SIMT_KERNEL(BLOCK, RESIDENT / BLOCK) sort_buckets(Arrays arrays, Buckets buckets, u64* left, u32* left_count) {
    await_turn();
    if (buckets.profile && classify::plan(*buckets.profile) != classify::PASSES) return;
    for (u32 number = block_rank(); number < buckets.all; number += grid_blocks()) {
        sort_bucket(arrays, buckets, number, left, left_count);
        barrier();
    }
}

// sort_left: sorts the buckets that did not fit, one block each, by merging.
// - Parameters: `other` has room for as many items as `items`.
// - Launch: any number of blocks of block_sort::BLOCK threads. Shared memory: block_sort::Shared. After sort_buckets.
// - Writes: the sorted buckets, and `other`.
// - Cost per bucket: one read and one write of its items, and one more for each doubling of what fits in a block.
SIMT_KERNEL(BLOCK, 1) sort_left(Arrays arrays, Item* other, const u64* left, const u32* left_count) {
    await_turn();
    Shared& shared = *reinterpret_cast<Shared*>(shared_memory());
    for (u32 l = block_rank(); l < *left_count; l += grid_blocks()) {
        const u64 start = left[2 * u64(l)], count = left[2 * u64(l) + 1] - start;
        Item* from = arrays.items + start;
        Item* to = other + start;
        u32 passes = 0;
        while (u64(CAPACITY) << passes < count) ++passes;
        // The passes alternate between two buffers. The sorted tiles go to the one from which the last pass ends in
        // `items`.
        Item* tiles = passes % 2 == 0 ? from : to;
        for (u64 first = 0; first < count; first += CAPACITY)
            block_sort::sort_tile(from + first, tiles + first, u32(lesser<u64>(CAPACITY, count - first)), shared);
        if (passes % 2 == 1) {
            to = from;
            from = tiles;
        }
        for (u64 width = CAPACITY; width < count; width *= 2) {
            for (u64 first = 0; first < count; first += CAPACITY) {
                const u64 base = first / (2 * width) * (2 * width);
                const u64 a_count = lesser(width, count - base), b_count = lesser(width, count - base - a_count);
                const u64 taken = lesser<u64>(CAPACITY, a_count + b_count - (first - base));
                const Item* a = from + base;
                block_sort::merge_chunk(a, a_count, a + a_count, b_count, first - base, u32(taken), to + first, shared);
            }
            Item* merged = to;
            to = from;
            from = merged;
        }
        if constexpr (compared::INDEXED)
            for (u64 i = thread_rank(); i < count; i += BLOCK) take_apart(arrays, start + i, arrays.items[start + i]);
        barrier();
    }
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::finish_compared
