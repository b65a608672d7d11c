// Sorts buckets that fit in a block, by bins (bins.cuh). Not stable.
//
// Compile-time parameters:
// - item.cuh, but not BESIDE; bins.cuh.
// - SORTIE_OF_SEGMENTS: 1 for ALONE if the buckets are those of many segments (batch/split_segments.cu), else 0. If
//   keys then crowd in some bins, as floats around zero do, each bin is cut again into as many bins as it has keys.
//
// Where sorted items go:
// - ALONE: `items` and `keys` are the same array, which is sorted in place. For segments they may differ.
// - PAYLOAD: each item is split into a key and a payload. INDEX: the index becomes the payload; `keys` is not used.
//
// Source: bins.cuh.
#include "bins.cuh"
#include "classify.cuh"
#include "code.cuh"
#include "item.cuh"
#include "left.cuh"
#include "bucket_bounds.cuh"
#include "simt.cuh"

namespace simt::finish_buckets {

using namespace bins;
using item::Item;
using item::Key;
// A word that holds an item and has atomics.
using Word = classify::WordOf<Item>::Type;
// Whether items are split into keys and payloads.
constexpr bool APART = SORTIE_LOW != ALONE;

constexpr code::Kind KIND = code::SORTIE_KIND;

// `items`: what is sorted. `keys`, `payload`: the result.
struct Arrays {
    Item* items;
    Key* keys;
    u32* payload;
};

// Writes an item to index `index` of the result.
SIMT_FN void put(const Arrays& arrays, u64 index, Item item, [[maybe_unused]] const code::Transform& transform) {
#if SORTIE_LOW != INDEX
    arrays.keys[index] = code::decode<KIND>(item::code_of(item), transform);
#endif
#if SORTIE_LOW != ALONE
    arrays.payload[index] = item::low_of(item);
#endif
}

// Whether keys are sorted to another array.
SIMT_FN bool is_moved(const Arrays& arrays) {
    return SORTIE_OF_SEGMENTS && reinterpret_cast<u64>(arrays.items) != reinterpret_cast<u64>(arrays.keys);
}

// Copies keys from `items` to `keys`, unsorted.
SIMT_FN void bring(const Arrays& arrays, u64 start, u64 count) {
    for (u64 i = start + thread_rank(); i < start + count; i += BLOCK) arrays.keys[i] = Key(arrays.items[i]);
}

struct Shared {
    Word least[WARPS], greatest[WARPS];
    classify::Range range;
    u32 sums[WARPS];
    // Whether a bin is crowded; later whether neighbours are in the wrong order.
    u32 wrong;
    // The counts of the bins; later the items, at their slots.
    Word items[BLOCK * STRIDE];
};
static_assert(sizeof(Shared) == SORTIE_BLOCK_MEMORY, "as the host has it");

// The range of the items, which cuts them into CAPACITY bins.
SIMT_FN classify::Range find_range(const Word (&row)[ROW], Shared& shared) {
    Word least = row[0], greatest = row[0];
    SIMT_UNROLL
    for (u32 r = 1; r < ROW; ++r) {
        least = lesser(least, row[r]);
        greatest = greater(greatest, row[r]);
    }
    least = warp_least(least);
    greatest = warp_greatest(greatest);
    if (lane() == 0) {
        shared.least[warp_rank()] = least;
        shared.greatest[warp_rank()] = greatest;
    }
    barrier();
    if (thread_rank() < WARP) {
        least = warp_least(shared.least[lane() % WARPS]);
        greatest = warp_greatest(shared.greatest[lane() % WARPS]);
        if (lane() == 0) {
            shared.wrong = 0;
            shared.range = classify::cut<Item>(Item(least), Item(greatest - least), CAPACITY);
        }
    }
    barrier();
    return shared.range;
}

#if SORTIE_OF_SEGMENTS
// If a bin has more keys than this, bins are cut again.
constexpr u32 CROWD = HALF;

// Replaces the bins of the keys by smaller ones, and computes where those begin: a bin of n keys becomes n bins.
// - `positions`: bin << 16 | rank within it, before and after. `bins`: prefix sums of the counts, before and after.
SIMT_FN void cut_again(u32 (&positions)[ROW], const Word (&row)[ROW], u32 count, u32* bins, Shared& shared) {
    const classify::Classifier<Item> classifier(shared.range);
    const u32 left = count - lesser(count, thread_rank());
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 bin = positions[r] >> 16, next = bin % STRIDE == ROW - 1 ? bin + 1 + (STRIDE - ROW) : bin + 1;
        const u32 start = bins[bin], end = next < BLOCK * STRIDE ? bins[next] : count;
        const u32 within = u32(u64(classifier.part_within(Item(row[r]))) * (end - start) >> 32);
        positions[r] = slot(lesser(start + within, CAPACITY - 1)) << 16;
    }
    barrier();
    SIMT_UNROLL
    for (u32 r = 0; r < STRIDE; ++r) bins[r * BLOCK + thread_rank()] = 0;
    barrier();
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r)
        if (r * BLOCK < left) positions[r] |= atomic_add<Relaxed, Block>(&bins[positions[r] >> 16], 1);
    barrier();
    bins::sum(bins, shared.sums);
    barrier();
}
#endif

// Sorts the bucket of `count` items, 1 to CAPACITY, that begins at `start`. Returns false if the items are left as
// they were, because rounds of sorting neighbours did not suffice.
SIMT_FN bool finish(const Arrays& arrays, u64 start, u32 count, Shared& shared, const code::Transform& transform) {
    const u32 thread = thread_rank();
    const u32 left = count - lesser(count, thread);
    const Item* items = arrays.items + start;
    Item read[ROW];
    // Past the end, the last item is loaded again: loads under a condition would not overlap.
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) read[r] = items[lesser(r * BLOCK + thread, count - 1)];
    u32* counts = reinterpret_cast<u32*>(shared.items);
    SIMT_UNROLL
    for (u32 r = 0; r < STRIDE; ++r) counts[r * BLOCK + thread] = 0;
    Word row[ROW];
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
#if SORTIE_LOW == ALONE
        row[r] = code::encode<KIND>(read[r], transform);
#else
        row[r] = read[r];
#endif
    }
    const classify::Range range = find_range(row, shared);
    if (!APART && range.span == 0) {
        if (is_moved(arrays)) bring(arrays, start, count);
        return true;
    }
    // First bin << 16 | rank of the item within it; later the item's index in the bucket.
    const classify::Classifier<Item> classifier(range);
    u32 positions[ROW];
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 bin = slot(classifier.bucket_within(Item(row[r])));
        positions[r] = bin << 16;
        if (r * BLOCK < left) positions[r] |= atomic_add<Relaxed, Block>(&counts[bin], 1);
    }
    barrier();
    [[maybe_unused]] const u32 most = bins::sum(counts, shared.sums);
#if SORTIE_OF_SEGMENTS
    if (most > CROWD) atomic_or<Relaxed, Block>(&shared.wrong, 1);
    barrier();
    if (shared.wrong) cut_again(positions, row, count, counts, shared);
#else
    barrier();
#endif
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const bool there = r * BLOCK < left;
        positions[r] = there ? counts[positions[r] >> 16] + (positions[r] & 0xFFFF) : r * BLOCK + thread;
        row[r] = there ? row[r] : ~Word(0);
    }
    barrier();
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) shared.items[slot(positions[r])] = row[r];
    barrier();
    u32 round = 1;
    while (!sort_neighbours(shared.items, shared.wrong)) {
        if (round == ROUNDS && count >= left::LEAST) return false;
        if (round < ROUNDS) ++round;
    }
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 i = r * BLOCK + thread;
        if (r * BLOCK < left) put(arrays, start + i, Item(shared.items[slot(i)]), transform);
    }
    return true;
}

// finish_buckets: sorts each bucket.
// - Parameters: `buckets`, in indices of items; buckets of more than `longest` items are skipped. `list`: see left.cuh.
// - Launch: any number of blocks of BLOCK threads. Shared memory: Shared. After the buckets have their items.
// - Writes: the sorted buckets. Buckets that are too long for a block, or crowd in few bins, are left unsorted and
//   added to `list`; those of segments are copied to `keys`.
// - Cost: one read and one write of the items, one atomic in shared memory per item, networks over 1.5 rows per thread.
SIMT_KERNEL(BLOCK, RESIDENT / BLOCK)
finish_buckets(Arrays arrays, bucket_bounds::Buckets buckets, u64 longest, left::List list, code::Transform transform) {
    await_turn();
    Shared& shared = *reinterpret_cast<Shared*>(shared_memory());
    const u32 bucket_count = bucket_bounds::count(buckets);
    for (u32 b = block_rank(); b < bucket_count; b += grid_blocks()) {
        const u64* ends = bucket_bounds::ends_of(buckets, b);
        const u64 start = ends[0], end = ends[1], count = end - start;
        if (count < (APART || is_moved(arrays) ? 1 : 2) || count > longest) continue;
        const bool done = count <= CAPACITY && finish(arrays, start, u32(count), shared, transform);
        if (!done && is_moved(arrays)) bring(arrays, start, count);
        if (!done && thread_rank() == 0) left::add(list, start, end);
        barrier();
    }
}

// A bucket of up to this many items is split by one block, a longer one by all blocks.
constexpr u64 OWN_STRETCH = 1 << 16;

// A list of long buckets, by their number in the list of left.cuh.
struct Stretches {
    u32 listed;
    u32 list[BLOCK];
};
static_assert(sizeof(Stretches) == SORTIE_STRETCHES_MEMORY, "as the host has it");

// take_apart: splits the items of the buckets in `list`, which are sorted by now, into keys and payloads.
// - Launch: any number of blocks of BLOCK threads. Shared memory: Stretches. After the sort of the listed buckets.
// - Writes: `keys` and `payload`.
// - Cost: one read and one write of these items.
SIMT_KERNEL(BLOCK, RESIDENT / BLOCK)
take_apart(Arrays arrays, left::List list, code::Transform transform) {
    await_turn();
    Stretches& longer = *reinterpret_cast<Stretches*>(shared_memory());
    const u32 count = *list.count, thread = thread_rank();
    auto length = [&](u32 s) { return list.offsets[3 * u64(s) + 1] - list.offsets[3 * u64(s)]; };
    auto put_each = [&](u32 s, u64 first, u64 step) {
        const u64 start = list.offsets[3 * u64(s)], end = list.offsets[3 * u64(s) + 1];
        for (u64 i = start + first; i < end; i += step) put(arrays, i, arrays.items[i], transform);
    };
    for (u32 s = block_rank(); s < count; s += grid_blocks())
        if (length(s) <= OWN_STRETCH) put_each(s, thread, BLOCK);
    // All blocks look for long buckets, with a thread for each bucket: checking them one by one would take longer
    // than the work itself.
    for (u32 first = 0; first < count; first += BLOCK) {
        if (thread == 0) longer.listed = 0;
        barrier();
        const u32 s = first + thread;
        if (s < count && length(s) > OWN_STRETCH) longer.list[atomic_add<Relaxed, Block>(&longer.listed, 1)] = s;
        barrier();
        for (u32 l = 0; l < longer.listed; ++l)
            put_each(longer.list[l], u64(block_rank()) * BLOCK + thread, u64(grid_blocks()) * BLOCK);
        barrier();
    }
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::finish_buckets
