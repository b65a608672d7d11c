// How many keys each bucket of a distribution has, and where the buckets are.
//
// Contract. An instantiation is made as item.cuh says, and for SORTIE_SLICED, 1 where the buckets are counted in slices, else 0.
// The profile is as profile.cu leaves it. Buckets are counted in groups of 2^bits, bits at least 6. There are at most
// 2^32 - 2^16 keys. Zero before: `counts` (a word a bucket), `groups` (a word a group).
// - count_buckets, of any number of blocks, counts, and notes in the profile whether a code is outside of an exact range, or, where
//   buckets may have one code, is not that of its bucket; and the bucket then. A
//   slice is whole groups: `buckets` from `first_bucket` on, which `counts` and `groups` begin with too. Dynamic shared
//   memory: Cells, and two bytes a bucket. Cost: one read of the keys, an atomic in shared memory a key of the
//   slice; for each block one in global memory a pair of buckets. Keys in order are not counted.
// - place_buckets, a block a group of at least 2^bits threads, says where groups and buckets begin: `group_starts` (one
//   more than groups) and `group_cursors`, and in `ends`, one more than buckets, the start of bucket b at place b + 1. Where
//   nothing is to be distributed all `ends` are 0. `tiles_before` says how many tiles of `tile` keys come before each group,
//   one more than groups. Where `digits` are given, which are zero, and `bits` is that of digits.cuh, it counts
//   both digits of the numbers of buckets, and `ends` has the end of bucket b at place b + 1. Dynamic shared memory: Before.
//
// A counter has 16 bits, so that enough of them fit a block. Who fills the lower half of its range moves that to global
// memory.
#include "classify.cuh"
#include "code.cuh"
#include "digits.cuh"
#include "item.cuh"
#include "scan.cuh"
#include "simt.cuh"

namespace simt::count_buckets {

using item::Key;
using classify::Classifier;
using classify::Profile;

using Word = classify::WordOf<Key>::Type;

constexpr code::Kind KIND = code::SORTIE_KIND;
constexpr u32 BLOCK = 1024;
// Keys that a thread holds, while as many are on their way. 2^28 u32 on an H200: 0.40 ms with 8, 0.46 with 4.
constexpr u32 ROW = 8;
constexpr u32 TILE = BLOCK * ROW;
constexpr u32 SCAN_BLOCK = 512;

constexpr u32 HALF = 1u << 15;
// A count that its filler has not moved yet is moved by others from here on. What all threads have under way does not fill
// the rest: 32 warps, 8 rows, 32 lanes.
constexpr u32 URGENT = HALF + (1u << 14);
static_assert(2 * BLOCK * ROW <= (1u << 14), "counts do not overflow");

// Counts of two buckets are one word to all atomics, since such of two sizes are none to each other.
SIMT_FN void add_to_pair(u32* counts, u32 pair, u64 keys) { atomic_add(&reinterpret_cast<u64*>(counts)[pair], keys); }

struct Counter {
    u32* pairs;
    u32* counts;
    u32* groups;
    u32 bits;

    // Moves the lower half of the range of a full count, unless another has done so.
    SIMT_FN void relieve(u32 bucket) const {
        const u32 half = HALF << 16 * (bucket % 2);
        if (!(atomic_and<Relaxed, Block>(&pairs[bucket / 2], ~half) & half)) return;
        add_to_pair(counts, bucket / 2, u64(HALF) << 32 * (bucket % 2));
        atomic_add(&groups[bucket >> bits], HALF);
    }

    // Counts a row of buckets, those that are `there`. Returns whether a count was full.
    template <bool TOGETHER> SIMT_FN bool add(const u32 (&buckets)[ROW], u32 there) const {
        u32 before[ROW], added[ROW];
        u32 full = 0;
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            u32 keys = there >> r & 1;
            // A warp of one bucket counts at once, where as many atomics on one word would wait for one another.
            if constexpr (TOGETHER) {
                const u32 first = shuffle(buckets[r], 0);
                if (all(keys > 0 && buckets[r] == first)) keys = lane() == 0 ? WARP : 0;
            }
            added[r] = keys;
            before[r] = 0;
            if (keys > 0) before[r] = atomic_add<Relaxed, Block>(&pairs[buckets[r] / 2], keys << 16 * (buckets[r] % 2));
        }
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) full |= before[r] + (added[r] << 16 * (buckets[r] % 2));
        full &= HALF << 16 | HALF;
        if (full) {
            SIMT_UNROLL
            for (u32 r = 0; r < ROW; ++r) {
                const u32 count = before[r] >> 16 * (buckets[r] % 2) & 0xFFFF;
                const bool fills = count < HALF && count + added[r] >= HALF;
                if (fills || count >= URGENT) relieve(buckets[r]);
            }
        }
        return full != 0;
    }
};

struct Slice {
    u32 first_bucket, buckets;
};

SIMT_FN void load(Key (&row)[ROW], const Key* keys, u64 first, u64 count) {
    if (first + TILE <= count) {
        const Key* own = keys + first + thread_rank();
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) row[r] = own[r * BLOCK];
    } else {
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) row[r] = keys[lesser(first + r * BLOCK + thread_rank(), count - 1)];
    }
}

template <bool UNEVEN>
SIMT_FN void count_keys(const Key* keys, u64 count, const Classifier<Key, UNEVEN>& classifier, Profile* profile,
                        const classify::Codes<Word>& codes, const Counter& counter, const Slice& slice, const code::Transform& transform) {
    const bool exact = profile->exact, compares = classify::compares_codes(*profile);
    bool outside = false, full = false;
    Key row[ROW], next[ROW];
    u64 first = u64(block_rank()) * TILE;
    load(next, keys, first, count);
    for (; first < count; first += u64(grid_blocks()) * TILE) {
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) row[r] = next[r];
        load(next, keys, first + u64(grid_blocks()) * TILE, count);

        u32 there = (1u << ROW) - 1;
        if (first + TILE > count) {
            there = 0;
            SIMT_UNROLL
            for (u32 r = 0; r < ROW; ++r) there |= u32(first + r * BLOCK + thread_rank() < count) << r;
        }
        u32 of[ROW];
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            row[r] = code::encode<KIND>(row[r], transform);
            of[r] = classifier.bucket(row[r]);
            if constexpr (SORTIE_SLICED) {
                of[r] -= slice.first_bucket;
                there &= ~(u32(of[r] >= slice.buckets) << r);
            }
            // Past the end the last key was loaded again.
            outside |= exact && classifier.is_outside(row[r]);
        }
        if (compares) {
            SIMT_UNROLL
            for (u32 r = 0; r < ROW; ++r) {
                const u32 bucket = classifier.bucket(row[r]);
                const Word noted = codes.noted[bucket];
                if (noted == classify::note(Word(row[r]))) continue;
                outside = true;
                if (noted != 0 && atomic_load<Relaxed>(&codes.others[bucket]) == 0) atomic_or(&codes.others[bucket], 1);
            }
        }
        const bool together = any(full) || all(of[0] == shuffle(of[0], 0));
        full = together ? counter.add<true>(of, there) : counter.add<false>(of, there);
    }
    if (outside && !(atomic_load<Relaxed>(&profile->seen) & classify::OUTSIDE))
        atomic_or(&profile->seen, classify::OUTSIDE);
}

struct Cells {
    // Of the profile; one more, so that what comes next begins where 8 bytes do.
    u32 cells[classify::CELLS + 2];
};

SIMT_KERNEL(BLOCK, 1)
count_buckets(const Key* keys, u64 count, Profile* profile, classify::Codes<Word> codes, u32 bits, u32 first_bucket, u32 buckets,
              u32* counts, u32* groups, code::Transform transform) {
    await_turn();
    // What is in order needs no counts; OUTSIDE does not matter to that.
    const u32 order = atomic_load<Relaxed>(&profile->seen) & (classify::ASCENT | classify::DESCENT);
    if (order != (classify::ASCENT | classify::DESCENT)) return;
    // Nor what is too uneven.
    if (profile->mixed && profile->crowded > profile->tolerated) return;
    u32* cells = reinterpret_cast<Cells*>(shared_memory())->cells;
    u32* pairs = reinterpret_cast<u32*>(reinterpret_cast<Cells*>(shared_memory()) + 1);
    for (u32 i = thread_rank(); i < buckets / 2; i += BLOCK) pairs[i] = 0;
    if (profile->uneven) classify::load_cells<BLOCK>(cells, *profile);
    barrier();
    const Counter counter = {pairs, counts, groups, bits};
    const Slice slice = {first_bucket, buckets};
    if (profile->uneven)
        count_keys(keys, count, Classifier<Key, true>(profile->range, cells), profile, codes, counter, slice, transform);
    else count_keys(keys, count, Classifier<Key>(profile->range), profile, codes, counter, slice, transform);
    barrier();
    // Blocks begin at different places, so that their atomics do not meet.
    const u32 words = buckets / 2, start = u32(u64(words) * block_rank() / grid_blocks()) / WARP * WARP;
    for (u32 k = thread_rank(); k < words; k += BLOCK) {
        const u32 i = k + start < words ? k + start : k + start - words;
        const u32 even = pairs[i] & 0xFFFF, odd = pairs[i] >> 16;
        if (pairs[i]) add_to_pair(counts, i, u64(odd) << 32 | even);
        // A warp's buckets are of one group.
        u32 sum = even + odd;
        SIMT_UNROLL
        for (u32 by = WARP / 2; by > 0; by /= 2) sum += shuffle_xor(sum, by);
        if (lane() == 0 && sum > 0) atomic_add(&groups[2 * i >> bits], sum);
    }
}

struct Before {
    u32 sums[SCAN_BLOCK / WARP];
    // In the groups before.
    u32 keys, tiles;
};

SIMT_KERNEL(SCAN_BLOCK, 1)
scan_buckets(const Profile* profile, u32 bits, u32 groups_count, const u32* counts, const u32* groups, u32 tile,
              u64* group_starts, u64* group_cursors, u32* tiles_before, u64* ends,
              digits::Digits* digits) {
    await_turn();
    Before& before = *reinterpret_cast<Before*>(shared_memory());
    const classify::Plan plan = classify::plan(*profile);
    const bool distributed = plan == classify::DISTRIBUTE;
    const u32 group = block_rank();
    if (thread_rank() == 0) before.keys = before.tiles = 0;
    barrier();
    for (u32 g = thread_rank(); g < group; g += SCAN_BLOCK) {
        atomic_add<Relaxed, Block>(&before.keys, groups[g]);
        atomic_add<Relaxed, Block>(&before.tiles, (groups[g] + tile - 1) / tile);
    }
    barrier();
    const u32 start = before.keys;
    if (thread_rank() == 0) {
        group_starts[group] = start;
        group_cursors[group] = start;
        tiles_before[group] = before.tiles;
        if (group + 1 == groups_count) {
            group_starts[groups_count] = start + groups[group];
            tiles_before[groups_count] = before.tiles + (groups[group] + tile - 1) / tile;
        }
        if (group == 0) ends[0] = 0;
    }
    const bool own = thread_rank() < 1u << bits;
    const u64 bucket = (u64(group) << bits) + thread_rank();
    const u32 keys = own ? counts[bucket] : 0;
    const u32 sum = scan::exclusive<SCAN_BLOCK>(keys, before.sums);
    // Who moves keys to buckets moves their starts on to their ends.
    if (own) ends[bucket + 1] = distributed ? start + sum + (digits ? keys : 0) : 0;
    if (!digits || !(distributed || plan == classify::FILL)) return;
    if (own && keys > 0) atomic_add(&digits->counts[thread_rank()], keys);
    if (thread_rank() == 0) digits->counts[digits::RADIX + group] = groups[group];
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::count_buckets
