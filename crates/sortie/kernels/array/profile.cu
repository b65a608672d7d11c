// The profile of one large array: the range of its codes, how evenly they are spread, and whether the keys are in
// order.
//
// Later kernels read the profile, and `classify::plan` chooses from it how the keys are sorted.
// - Compile-time parameters: item.cuh. Keys with a payload or an index are never reversed.
// - Order of the kernels: sample, check_order, sample_cells, share_buckets, sample_buckets, look_for_long.
// - Common parameters: `keys` are `count` keys, which are only read. `profile` is all zero before the first kernel.
//   `buckets` is the number of buckets of the distribution. `sampled` is how many keys a sample has. `transform`
//   makes codes of keys.
// - All have blocks of BLOCK threads. What they write is in the profile, unless said otherwise.
// - Source: own.
#include "classify.cuh"
#include "code.cuh"
#include "item.cuh"
#include "scan.cuh"
#include "simt.cuh"

namespace simt::profile {

using item::Key;
using classify::CELLS;
using classify::Profile;

// A word that holds a code and has atomics.
using Word = classify::WordOf<Key>::Type;

constexpr code::Kind KIND = code::SORTIE_KIND;
constexpr u32 BLOCK = 1024;
constexpr u32 SAMPLED = 4096;
// Pairs of neighbours that a thread compares at a time.
constexpr u32 ROW = 8;
constexpr u32 BOTH = classify::ASCENT | classify::DESCENT;
// A cell is crowded if it exceeds its share of the sample by a quarter and by five standard deviations. Keys are
// uneven if more than one in CROWDED is in a crowded cell.
constexpr u32 CROWDED = 50;
// If more than one key in TOLERATED is in a bucket too long for a block, passes take less time than distributing
// those keys again, or than merging them if they have a payload.
constexpr u32 TOLERATED = SORTIE_LOW == BESIDE ? 128 : 16;

SIMT_FN bool is_crowded(u32 keys, u32 share) {
    const u64 more = keys - lesser(keys, share);
    return more * 4 > share && more * more > u64(25) * share;
}

// The code of sampled key i. The keys are divided into `sampled` stretches of one length, and each stretch
// contributes one key at a pseudo-random position, so that periodic input does not mislead the sample.
SIMT_FN Word sampled_code(const Key* keys, u64 count, u32 i, u32 sampled, const code::Transform& transform) {
    const u64 stretch = count / sampled;
    const u32 random = (i + 1) * 0x9E3779B9u;
    return code::encode<KIND>(keys[stretch * i + (u64(random) * lesser(stretch, u64(1) << 32) >> 32)], transform);
}

// ASCENT, DESCENT, or 0 for equal codes.
SIMT_FN u32 order_of(Word code, Word next) {
    return code < next ? classify::ASCENT : next < code ? classify::DESCENT : 0;
}

struct Ends {
    // The least code, and the greatest.
    Word ends[2];
};
static_assert(sizeof(Ends) == SORTIE_ENDS_MEMORY, "as the host has it");

// sample: estimates the range of the codes, and checks whether a sample is in order.
// - Parameters: `buckets`, from 2 to 2^30. `count` is at least SAMPLED.
// - Launch: one block. Shared memory: Ends.
// - Writes: `range`, `seen`, `mixed` and `exact`. The range is that of the sample, with a margin on both sides.
// - Cost: SAMPLED loads of single keys.
SIMT_KERNEL(BLOCK, 1)
sample(const Key* keys, u64 count, u32 buckets, Profile* profile, code::Transform transform) {
    await_turn();
    Word* ends = reinterpret_cast<Ends*>(shared_memory())->ends;
    if (thread_rank() < 2) ends[thread_rank()] = thread_rank() == 0 ? ~Word(0) : 0;
    barrier();
    constexpr u32 EACH = SAMPLED / BLOCK;
    Word codes[EACH], least = ~Word(0), most = 0;
    SIMT_UNROLL
    for (u32 s = 0; s < EACH; ++s) {
        codes[s] = sampled_code(keys, count, s * BLOCK + thread_rank(), SAMPLED, transform);
        least = lesser(least, codes[s]);
        most = greater(most, codes[s]);
    }
    least = warp_least(least);
    most = warp_greatest(most);
    // Reversing would also reverse equal keys, so only keys alone may count as descending. Neighbours in different
    // warps are not compared.
    u32 seen = SORTIE_LOW == ALONE ? 0 : classify::ASCENT;
    SIMT_UNROLL
    for (u32 s = 0; s < EACH; ++s) seen |= order_of(shuffle_up(codes[s], 1), codes[s]);
    if (any(seen & classify::ASCENT)) seen |= classify::ASCENT;
    if (any(seen & classify::DESCENT)) seen |= classify::DESCENT;
    if (lane() == 0) {
        atomic_min<Relaxed, Block>(&ends[0], least);
        atomic_max<Relaxed, Block>(&ends[1], most);
        atomic_or(&profile->seen, seen);
    }
    barrier();
    if (thread_rank() > 0) return;
    constexpr Word last = Word(Key(~Key(0)));
    least = ends[0];
    most = ends[1];
    // The margin is for keys beyond the range of the sample. If the range has fewer codes than there are buckets, it is
    // extended on both sides until all buckets are used.
    const Word span = most - least;
    Word margin = span / (SAMPLED / 16);
    if (span < buckets / 2) margin = greater(margin, Word((buckets - span) / 2 - 1));
    least -= lesser(least, margin);
    most += lesser(Word(last - most), margin);
    profile->range = classify::cut<Key>(Key(least), Key(most - least), buckets);
    // With payloads or indices below the codes, items of one code differ, so a bucket of one code is not done.
    profile->mixed = SORTIE_LOW == PAYLOAD || SORTIE_LOW == INDEX;
    profile->exact = SORTIE_LOW == ALONE && Word(most - least) < buckets;
}

// check_order: if the sample is in order, compares all neighbouring keys, until it sees that they are not.
// - Launch: any number of blocks, no shared memory. After sample.
// - Writes: ASCENT and DESCENT in `seen`.
// - Cost: one read of the keys if they are in order; almost nothing if the sample is not.
SIMT_KERNEL(BLOCK, 2) check_order(const Key* keys, u64 count, Profile* profile, code::Transform transform) {
    await_turn();
    u32 seen = atomic_load<Relaxed>(&profile->seen);
    for (u64 first = u64(block_rank()) * BLOCK * ROW; first + 1 < count; first += u64(grid_blocks()) * BLOCK * ROW) {
        // Stops if blocks together have seen both orders. The flags are loaded together with the keys of a step, and
        // tested in the next, so that the load costs no time.
        if (all((seen & BOTH) == BOTH)) return;
        const u32 before = seen;
        seen = atomic_load<Relaxed>(&profile->seen);
        Key row[ROW], next[ROW];
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            // Past the end, the last key is loaded again: loads under a condition would not overlap.
            const u64 i = first + r * BLOCK + thread_rank();
            row[r] = keys[lesser(i, count - 1)];
            next[r] = keys[lesser(i + 1, count - 1)];
        }
        u32 own = 0;
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r)
            own |= order_of(code::encode<KIND>(row[r], transform), code::encode<KIND>(next[r], transform));
        if (any(own & ~before & classify::ASCENT) && lane() == 0) atomic_or(&profile->seen, classify::ASCENT);
        if (any(own & ~before & classify::DESCENT) && lane() == 0) atomic_or(&profile->seen, classify::DESCENT);
    }
}

struct CellCounts {
    u32 counts[CELLS];
};

// sample_cells: makes a histogram of sampled keys by cell. Does nothing if the keys are in order, or the range is
// exact.
// - Launch: any number of blocks. Shared memory: CellCounts. After check_order.
// - Writes: adds to `cells`, which are zero before.
// - Cost: `sampled` loads of single keys, each with an atomic in shared memory; up to CELLS global atomics per block.
SIMT_KERNEL(BLOCK, 2)
sample_cells(const Key* keys, u64 count, u32 sampled, Profile* profile, code::Transform transform) {
    await_turn();
    if ((atomic_load<Relaxed>(&profile->seen) & BOTH) != BOTH || profile->exact) return;
    u32* counts = reinterpret_cast<CellCounts*>(shared_memory())->counts;
    for (u32 c = thread_rank(); c < CELLS; c += BLOCK) counts[c] = 0;
    barrier();
    const classify::Classifier<Key> classifier(profile->range);
    for (u32 i = block_rank() * BLOCK + thread_rank(); i < sampled; i += grid_blocks() * BLOCK) {
        const Word code = sampled_code(keys, count, i, sampled, transform);
        atomic_add<Relaxed, Block>(&counts[classifier.cell_of(Key(code))], 1);
    }
    barrier();
    for (u32 c = thread_rank(); c < CELLS; c += BLOCK)
        if (counts[c] > 0) atomic_add(&profile->cells[c], counts[c]);
}

struct Crowded {
    u32 sums[BLOCK / WARP];
    // The number of sampled keys in crowded cells.
    u32 crowded;
};

// share_buckets: decides whether keys are spread unevenly, and gives each cell its part of the buckets.
// - Parameters: `even` is the number of buckets to make if all get one width, `buckets` that for uneven keys.
// - Launch: one block. Shared memory: Crowded. After sample_cells.
// - Writes: `cells`, from counts to numbers of buckets before each cell; `uneven`; `tolerated`.
// - Cost: a scan over CELLS counts.
SIMT_KERNEL(BLOCK, 1) share_buckets(u32 sampled, u32 even, u32 buckets, Profile* profile) {
    await_turn();
    static_assert(CELLS == BLOCK, "a thread for each cell");
    if ((atomic_load<Relaxed>(&profile->seen) & BOTH) != BOTH || profile->exact) return;
    Crowded& shared = *reinterpret_cast<Crowded*>(shared_memory());
    if (thread_rank() == 0) shared.crowded = 0;
    const u32 keys = profile->cells[thread_rank()];
    const u32 before = scan::exclusive<BLOCK>(keys, shared.sums);
    // The cells up to that of the last code of the range are in use: more than half of all.
    const classify::Classifier<Key> classifier(profile->range);
    const u32 last = classifier.cell_of(Key(profile->range.low + profile->range.span));
    const u32 share = sampled / (last + 1);
    if (is_crowded(keys, share)) atomic_add<Relaxed, Block>(&shared.crowded, keys);
    barrier();
    const bool uneven = shared.crowded > sampled / CROWDED;
    // Each cell counts as half a key more than the sample has there, so that an empty cell gets part of a bucket too.
    const u64 all = u64(sampled) * 2 + CELLS, own = u64(before) * 2 + thread_rank();
    // A stable distribution classifies with cells in any case.
    profile->cells[thread_rank()] = uneven ? u32((u64(buckets) << classify::CELL_FRACTION) * own / all)
                                           : classifier.even_cell(thread_rank());
    if (thread_rank() > 0) return;
    // The last cell ends just below the number of buckets, so that rounding down gives the last bucket.
    profile->cells[CELLS] = ((uneven ? buckets : even) << classify::CELL_FRACTION) - 1;
    profile->uneven = uneven || SORTIE_LOW == BESIDE;
    profile->tolerated = sampled / TOLERATED;
}

struct Cells {
    // The cells of the profile, padded to a multiple of 8 bytes.
    u32 cells[CELLS + 2];
};

// Counts sampled keys by bucket, and notes their codes. Sets `mixed` if a bucket has two codes.
template <bool UNEVEN>
SIMT_FN void count_sample(const Key* keys, u64 count, u32 sampled, const classify::Classifier<Key, UNEVEN>& classifier,
                          u32* counts, classify::Codes<Word> codes, Profile* profile, const code::Transform& transform) {
    bool mixed = false;
    for (u32 first = block_rank() * BLOCK; first < sampled; first += grid_blocks() * BLOCK) {
        const u32 i = first + thread_rank();
        const bool there = i < sampled;
        const Word code = sampled_code(keys, count, lesser(i, sampled - 1), sampled, transform);
        const u32 bucket = there ? classifier.bucket(Key(code)) : ~0u;
        // One lane adds for all lanes of the same bucket, because atomics on one word are executed one after the other.
        const u32 peers = match_any(bucket);
        if (there && lane() == trailing_zeros(peers)) atomic_add(&counts[bucket], popcount(peers));
        const Word own = classify::note(code);
        if (!there || own == 0) continue;
        Word noted = atomic_load<Relaxed>(&codes.noted[bucket]);
        if (noted == 0) noted = atomic_cas(&codes.noted[bucket], Word(0), own);
        if (noted == 0 || noted == own) continue;
        mixed = true;
        if (atomic_load<Relaxed>(&codes.others[bucket]) == 0) atomic_or(&codes.others[bucket], 1);
    }
    mixed = any(mixed);
    if (lane() == 0 && mixed) atomic_or(&profile->mixed, 1);
}

// sample_buckets: makes a histogram of sampled keys by bucket, and notes the codes of each bucket.
// - Parameters: `counts` has a word per bucket, and `codes` an entry per bucket. Both are zero before.
// - Launch: any number of blocks. Shared memory: Cells. After share_buckets.
// - Writes: `counts`, `codes`, and `mixed` in the profile.
// - Cost: `sampled` loads of single keys, each with up to two global atomics.
SIMT_KERNEL(BLOCK, 1)
sample_buckets(const Key* keys, u64 count, u32 sampled, Profile* profile, u32* counts,
               classify::Codes<Word> codes, code::Transform transform) {
    await_turn();
    // The plan for keys that are in order is known.
    if ((atomic_load<Relaxed>(&profile->seen) & BOTH) != BOTH || profile->exact) return;
    u32* cells = reinterpret_cast<Cells*>(shared_memory())->cells;
    if (profile->uneven) classify::load_cells<BLOCK>(cells, *profile);
    barrier();
    if (profile->uneven)
        count_sample(keys, count, sampled, classify::Classifier<Key, true>(profile->range, cells), counts, codes, profile,
                     transform);
    else
        count_sample(keys, count, sampled, classify::Classifier<Key>(profile->range), counts, codes, profile, transform);
}

// look_for_long: finds how many sampled keys are in buckets that are too long for a block.
// - Parameters: `most` is the number of sampled keys up to which a bucket counts as short. `counts`, `codes`: from
//   sample_buckets.
// - Launch: any number of blocks, no shared memory. After sample_buckets.
// - Writes: `crowded` and `single` in the profile. Sets `counts` to zero.
// - Cost: one read of the counts, two global atomics per warp at most.
SIMT_KERNEL(BLOCK, 1)
look_for_long(u32 buckets, u32 most, u32* counts, classify::Codes<Word> codes, Profile* profile) {
    await_turn();
    u32 crowded = 0;
    bool single = false;
    for (u32 b = block_rank() * BLOCK + thread_rank(); b < buckets; b += grid_blocks() * BLOCK) {
        const u32 own = counts[b];
        if (own > most) {
            // For other items, redistribute.cu detects buckets of equal keys.
            const bool is_single = SORTIE_LOW == BESIDE && codes.noted[b] != 0 && codes.others[b] == 0;
            crowded += is_single ? 0 : own;
            single |= is_single;
        }
        if (own > 0) counts[b] = 0;
    }
    SIMT_UNROLL
    for (u32 by = WARP / 2; by > 0; by /= 2) crowded += shuffle_xor(crowded, by);
    if (lane() == 0 && crowded > 0) atomic_add(&profile->crowded, crowded);
    single = any(single);
    if (lane() == 0 && single) atomic_or(&profile->single, 1);
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::profile
