// Sorts buckets that fit a block by comparison alone, and those that do not by merging.
//
// Contract. An instantiation is made as compared.cuh and block_sort.cuh say, and for SORTIE_PAYLOAD_BYTES, a multiple of 4.
// What is sorted lies in `items`, which are the keys where they have no places; with places they are taken apart: to keys
// and the payloads of their places in `payload_from`, or where SORTIE_PAYLOAD_BYTES is 0 to places alone.
// - sort_buckets, of any number of blocks, sorts those that fit, and lists the others in `left`: `left_count` of them, which is
//   zero before.
// - sort_left, of any number of blocks, sorts those, one block each, with room for as many items in `other`.
// Dynamic shared memory: a block_sort::Shared. Cost: one read and one write of the items; of what is left, one more for each
// doubling over what fits a block.
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

// Threads that a multiprocessor is to hold: 64 registers are left for each, or 128 where items take many.
constexpr u32 RESIDENT = sizeof(Item) > 36 ? 512 : 1024;

#if SORTIE_PAYLOAD_BYTES > 0
struct Payload {
    u32 words[SORTIE_PAYLOAD_BYTES / 4];
};
#else
// A place.
using Payload = u32;
#endif

// Every other one of a group's, and of every other group where there are more: what lies between is equal.
struct Buckets {
    // Without, there is one of all items.
    const u64* ends;
    u64 count;
    // Or null; where it has another plan, nothing is sorted.
    const classify::Profile* profile;
    u32 ways, all;
};

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

SIMT_KERNEL(BLOCK, RESIDENT / BLOCK) sort_buckets(Arrays arrays, Buckets buckets, u64* left, u32* left_count) {
    await_turn();
    if (buckets.profile && classify::plan(*buckets.profile) != classify::PASSES) return;
    for (u32 number = block_rank(); number < buckets.all; number += grid_blocks()) {
        sort_bucket(arrays, buckets, number, left, left_count);
        barrier();
    }
}

SIMT_KERNEL(BLOCK, 1) sort_left(Arrays arrays, Item* other, const u64* left, const u32* left_count) {
    await_turn();
    Shared& shared = *reinterpret_cast<Shared*>(shared_memory());
    for (u32 l = block_rank(); l < *left_count; l += grid_blocks()) {
        const u64 start = left[2 * u64(l)], count = left[2 * u64(l) + 1] - start;
        Item* from = arrays.items + start;
        Item* to = other + start;
        u32 passes = 0;
        while (u64(CAPACITY) << passes < count) ++passes;
        // So that the last pass leaves them where they belong.
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
