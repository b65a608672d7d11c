// Counts the keys of each bucket of a distribution (a histogram), and computes where the buckets begin (a scan).
//
// - Compile-time parameters: item.cuh; SORTIE_SLICED, 1 if several launches count a slice of the buckets each, else 0.
// - Preconditions: profile.cu has written the profile. There are at most 2^32 - 2^16 keys. Buckets form groups of
//   2^bits, where bits is at least 6.
// - Order: count_buckets, for each slice, then scan_buckets.
// - Counters in shared memory have 16 bits, so that a block can hold enough of them. The thread that fills the lower
//   half of a counter's range moves that half to global memory.
// - Source: own.
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
// Keys that a thread counts while it loads the next. For 2^28 u32 on an H200: 0.40 ms with 8, 0.46 ms with 4.
constexpr u32 ROW = 8;
constexpr u32 TILE = BLOCK * ROW;
constexpr u32 SCAN_BLOCK = 512;

constexpr u32 HALF = 1u << 15;
// From this count on, any thread that sees it moves the lower half, because the thread that filled it has not done so
// yet. The rest of the range suffices for all additions that may be in progress: 32 warps x 8 keys x 32 lanes.
constexpr u32 URGENT = HALF + (1u << 14);
static_assert(2 * BLOCK * ROW <= (1u << 14), "counts do not overflow");

// Adds to the counts of two neighbouring buckets at once. Every addition uses an atomic of 64 bits, because atomics
// of two sizes on the same memory are not atomic towards each other.
SIMT_FN void add_to_pair(u32* counts, u32 pair, u64 keys) { atomic_add(&reinterpret_cast<u64*>(counts)[pair], keys); }

// The counters of a block.
// - `pairs`: in shared memory, two 16-bit counters per word. `counts`, `groups`: in global memory, a word per bucket
//   and group.
struct Counter {
    u32* pairs;
    u32* counts;
    u32* groups;
    u32 bits;

    // Moves the lower half of a counter's range to global memory, unless another thread has done so.
    SIMT_FN void relieve(u32 bucket) const {
        const u32 half = HALF << 16 * (bucket % 2);
        if (!(atomic_and<Relaxed, Block>(&pairs[bucket / 2], ~half) & half)) return;
        add_to_pair(counts, bucket / 2, u64(HALF) << 32 * (bucket % 2));
        atomic_add(&groups[bucket >> bits], HALF);
    }

    // Counts the thread's row of buckets, as far as bit r of `there` is set. Returns whether a counter was at least
    // half full. TOGETHER: if all lanes have the same bucket, one lane adds for all.
    template <bool TOGETHER> SIMT_FN bool add(const u32 (&buckets)[ROW], u32 there) const {
        u32 before[ROW], added[ROW];
        u32 full = 0;
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            u32 keys = there >> r & 1;
            // Atomics on one word are executed one after the other.
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

// The buckets that a launch counts.
struct Slice {
    u32 first_bucket, buckets;
};

// Loads the thread's keys of the tile that begins at `first`. Past the end, the last key is loaded again.
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

// Counts the block's share of the keys in shared memory, and compares them with the noted codes.
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
            // Past the end the last key was loaded again, which does no harm here.
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
    // The cells of the profile, padded to a multiple of 8 bytes.
    u32 cells[classify::CELLS + 2];
};

// count_buckets: makes the histogram of the keys by bucket and by group. Does nothing if the keys are in order, or if
// passes will sort them.
// - Parameters:
//   - `keys` are `count` keys.
//   - `codes` is from profile.cu.
//   - The slice is `buckets` buckets from `first_bucket` on, whole groups; `counts` (a word per bucket, aligned to 8
//     bytes) and `groups` (a word per group) begin with those of the slice.
// - Launch: any number of blocks of BLOCK threads. Shared memory: Cells and two bytes per bucket. `counts` and
//   `groups` are zero before.
// - Writes: adds to `counts` and `groups`. Sets OUTSIDE in the profile, and `codes.others`, if a code is outside an
//   exact range, or differs from the noted code of its bucket.
// - Cost: one read of the keys; one atomic in shared memory per key; per block one global atomic for each two buckets.
SIMT_KERNEL(BLOCK, 1)
count_buckets(const Key* keys, u64 count, Profile* profile, classify::Codes<Word> codes, u32 bits, u32 first_bucket, u32 buckets,
              u32* counts, u32* groups, code::Transform transform) {
    await_turn();
    // Keys that are in order need no counts. Other blocks may be setting OUTSIDE, so only these flags are tested.
    const u32 order = atomic_load<Relaxed>(&profile->seen) & (classify::ASCENT | classify::DESCENT);
    if (order != (classify::ASCENT | classify::DESCENT)) return;
    // Nor do keys that passes will sort.
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
    // Each block begins with another bucket, so that atomics of different blocks rarely meet.
    const u32 words = buckets / 2, start = u32(u64(words) * block_rank() / grid_blocks()) / WARP * WARP;
    for (u32 k = thread_rank(); k < words; k += BLOCK) {
        const u32 i = k + start < words ? k + start : k + start - words;
        const u32 even = pairs[i] & 0xFFFF, odd = pairs[i] >> 16;
        if (pairs[i]) add_to_pair(counts, i, u64(odd) << 32 | even);
        // The 64 buckets of a warp are of one group.
        u32 sum = even + odd;
        SIMT_UNROLL
        for (u32 by = WARP / 2; by > 0; by /= 2) sum += shuffle_xor(sum, by);
        if (lane() == 0 && sum > 0) atomic_add(&groups[2 * i >> bits], sum);
    }
}

struct Before {
    u32 sums[SCAN_BLOCK / WARP];
    // The keys, and the tiles, of all groups before this one.
    u32 keys, tiles;
};

// scan_buckets: computes where buckets, groups and the tiles of groups begin.
// - Parameters:
//   - `groups_count` groups of 2^bits buckets;
//   - `counts` and `groups` from count_buckets;
//   - `tile`, the keys of a tile.
//   - `digits`: null, or the histograms of a stable sort by bucket numbers, all zero; `bits` is then digits::BITS.
// - Launch: a block of SCAN_BLOCK threads per group; 2^bits is at most SCAN_BLOCK. Shared memory: Before.
// - Writes:
//   - `group_starts` (one entry more than groups) and `group_cursors`: the index where each group begins.
//   - `tiles_before` (one entry more than groups): the number of tiles of the groups before.
//   - `ends` (one entry more than buckets): the start of bucket b at index b + 1; with
//   - `digits`, its end. All 0 if nothing is to be distributed. `digits`: the histograms of both digits of the bucket
//     numbers.
// - Cost: one read of the counts; each block also reads `groups` up to its own.
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
    // Partition passes advance the start of each bucket to its end as they move keys. Stable passes do not, so they
    // get the ends.
    if (own) ends[bucket + 1] = distributed ? start + sum + (digits ? keys : 0) : 0;
    if (!digits || !(distributed || plan == classify::FILL)) return;
    if (own && keys > 0) atomic_add(&digits->counts[thread_rank()], keys);
    if (thread_rank() == 0) digits->counts[digits::RADIX + group] = groups[group];
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::count_buckets
