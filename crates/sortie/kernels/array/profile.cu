// The profile of one large array: the range of its codes, how keys are spread over it, and whether they are in order.
//
// Contract. Instantiated as item.cuh says. Keys with a payload or an index stay as they are if they are in order, and are
// distributed otherwise. `profile` must be zero at the start. The kernels run in this order:
// - sample, of one block, estimates the range from SAMPLED keys, and checks their order. Dynamic shared memory: Ends.
// - check_order, of any number of blocks, compares all neighbours if those keys are in order, until it sees that the rest is
//   not. Cost: a read of the keys, if they are in order.
// - sample_cells, of any number of blocks, counts `sampled` keys in the cells of the range. Dynamic shared memory:
//   CellCounts.
// - share_buckets, of one block, gives each cell its share of all buckets, if there are cells with far more keys than
//   others. Dynamic shared memory: Crowded.
// - sample_buckets, of any number of blocks, counts the same sample by bucket in `counts`, and notes the codes; all of these
//   must be zero at the start. Dynamic shared memory: Cells.
// - look_for_long, of any number of blocks, records how many sampled keys are in buckets with more than `most` of them, by
//   whether these have two codes, and clears the counts.
#include "classify.cuh"
#include "code.cuh"
#include "item.cuh"
#include "scan.cuh"
#include "simt.cuh"

namespace simt::profile {

using item::Key;
using classify::CELLS;
using classify::Profile;

// A code in a word that has atomics.
using Word = classify::WordOf<Key>::Type;

constexpr code::Kind KIND = code::SORTIE_KIND;
constexpr u32 BLOCK = 1024;
constexpr u32 SAMPLED = 4096;
// Keys that a thread compares at a time.
constexpr u32 ROW = 8;
constexpr u32 BOTH = classify::ASCENT | classify::DESCENT;
// A cell is crowded if it exceeds its share of the sample by a quarter and by five standard deviations. Keys are uneven if more
// than one in CROWDED is in a crowded cell.
constexpr u32 CROWDED = 50;
// If more than one key in TOLERATED is in a bucket too long for a block, passes take less time than distributing those keys
// again, or than merging them if they have a payload.
constexpr u32 TOLERATED = SORTIE_LOW == BESIDE ? 128 : 16;

SIMT_FN bool is_crowded(u32 keys, u32 share) {
    const u64 more = keys - lesser(keys, share);
    return more * 4 > share && more * more > u64(25) * share;
}

// One of each stretch of the keys, at irregular distances.
SIMT_FN Word sampled_code(const Key* keys, u64 count, u32 i, u32 sampled, const code::Transform& transform) {
    const u64 stretch = count / sampled;
    const u32 random = (i + 1) * 0x9E3779B9u;
    return code::encode<KIND>(keys[stretch * i + (u64(random) * lesser(stretch, u64(1) << 32) >> 32)], transform);
}

SIMT_FN u32 order_of(Word code, Word next) {
    return code < next ? classify::ASCENT : next < code ? classify::DESCENT : 0;
}

struct Ends {
    // The least code and the greatest.
    Word ends[2];
};
static_assert(sizeof(Ends) == SORTIE_ENDS_MEMORY, "as the host has it");

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
    // Reversing would also reverse equal keys, so only keys alone may count as descending. Neighbours in different warps are
    // not compared.
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
    // The keys may exceed the range of the sample. Buckets that would be left over are shared by both sides.
    const Word span = most - least;
    Word margin = span / (SAMPLED / 16);
    if (span < buckets / 2) margin = greater(margin, Word((buckets - span) / 2 - 1));
    least -= lesser(least, margin);
    most += lesser(Word(last - most), margin);
    profile->range = classify::cut<Key>(Key(least), Key(most - least), buckets);
    // Payloads and indices below codes are ordered too.
    profile->mixed = SORTIE_LOW == PAYLOAD || SORTIE_LOW == INDEX;
    profile->exact = SORTIE_LOW == ALONE && Word(most - least) < buckets;
}

SIMT_KERNEL(BLOCK, 2) check_order(const Key* keys, u64 count, Profile* profile, code::Transform transform) {
    await_turn();
    u32 seen = atomic_load<Relaxed>(&profile->seen);
    for (u64 first = u64(block_rank()) * BLOCK * ROW; first + 1 < count; first += u64(grid_blocks()) * BLOCK * ROW) {
        // What another block has seen is enough. It is loaded together with the keys, so it counts one turn later.
        if (all((seen & BOTH) == BOTH)) return;
        const u32 before = seen;
        seen = atomic_load<Relaxed>(&profile->seen);
        Key row[ROW], next[ROW];
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            // Every load is executed, with the last key if there is none.
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
    // Keys in crowded cells.
    u32 crowded;
};

SIMT_KERNEL(BLOCK, 1) share_buckets(u32 sampled, u32 even, u32 buckets, Profile* profile) {
    await_turn();
    static_assert(CELLS == BLOCK, "a thread for each cell");
    if ((atomic_load<Relaxed>(&profile->seen) & BOTH) != BOTH || profile->exact) return;
    Crowded& shared = *reinterpret_cast<Crowded*>(shared_memory());
    if (thread_rank() == 0) shared.crowded = 0;
    const u32 keys = profile->cells[thread_rank()];
    const u32 before = scan::exclusive<BLOCK>(keys, shared.sums);
    // The range ends within the upper half of the cells.
    const classify::Classifier<Key> classifier(profile->range);
    const u32 last = classifier.cell_of(Key(profile->range.low + profile->range.span));
    const u32 share = sampled / (last + 1);
    if (is_crowded(keys, share)) atomic_add<Relaxed, Block>(&shared.crowded, keys);
    barrier();
    const bool uneven = shared.crowded > sampled / CROWDED;
    // Half a key is added to each cell, for what the sample has missed.
    const u64 all = u64(sampled) * 2 + CELLS, own = u64(before) * 2 + thread_rank();
    // Stable passes have cells in any case.
    profile->cells[thread_rank()] = uneven ? u32((u64(buckets) << classify::CELL_FRACTION) * own / all)
                                           : classifier.even_cell(thread_rank());
    if (thread_rank() > 0) return;
    // The last cell ends just below the number of buckets.
    profile->cells[CELLS] = ((uneven ? buckets : even) << classify::CELL_FRACTION) - 1;
    profile->uneven = uneven || SORTIE_LOW == BESIDE;
    profile->tolerated = sampled / TOLERATED;
}

struct Cells {
    // The cells of the profile, and one more, so that what follows begins at a multiple of 8 bytes.
    u32 cells[CELLS + 2];
};

template <bool UNEVEN>
SIMT_FN void count_sample(const Key* keys, u64 count, u32 sampled, const classify::Classifier<Key, UNEVEN>& classifier,
                          u32* counts, classify::Codes<Word> codes, Profile* profile, const code::Transform& transform) {
    bool mixed = false;
    for (u32 first = block_rank() * BLOCK; first < sampled; first += grid_blocks() * BLOCK) {
        const u32 i = first + thread_rank();
        const bool there = i < sampled;
        const Word code = sampled_code(keys, count, lesser(i, sampled - 1), sampled, transform);
        const u32 bucket = there ? classifier.bucket(Key(code)) : ~0u;
        // Without this, the atomics of equal keys would wait for one another.
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

SIMT_KERNEL(BLOCK, 1)
sample_buckets(const Key* keys, u64 count, u32 sampled, Profile* profile, u32* counts,
               classify::Codes<Word> codes, code::Transform transform) {
    await_turn();
    // Keys that are in order keep their plan.
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

SIMT_KERNEL(BLOCK, 1)
look_for_long(u32 buckets, u32 most, u32* counts, classify::Codes<Word> codes, Profile* profile) {
    await_turn();
    u32 crowded = 0;
    bool single = false;
    for (u32 b = block_rank() * BLOCK + thread_rank(); b < buckets; b += grid_blocks() * BLOCK) {
        const u32 own = counts[b];
        if (own > most) {
            // Other buckets of equal keys are detected when they are distributed again.
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
