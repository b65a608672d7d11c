// Selects the first k keys of an order, with their indices, in about one read of the keys.
//
// - Compile-time parameters: those of word.cuh.
// - Preconditions: there are at most 2^32 - 2^16 keys, and k of them at least.
// - The first k words have one order whatever the keys are, equal keys included, so they may be collected in any order.
// - Order: sample, choose and filter, the first attempt; count, once per digit, and filter, the second attempt. Of few
//   candidates, place finds the first k. Of many, pad fills up the room for them, another kernel sorts them, and take
//   writes the first k.
// - An attempt succeeds if from k to `capacity` words are before its bound. If the first one does, the kernels of the
//   second return at once. The first takes the bound from a sample. The second takes it from histograms of digits, the
//   highest first, and always succeeds.
// - Source: own. The bound from a sample is that of Floyd and Rivest, "Expected time bounds for selection" (1975).
#include "bytes.cuh"
#include "mixed.cuh"
#include "read.cuh"
#include "scan.cuh"
#include "simt.cuh"
#include "word.cuh"

namespace simt::select {

// Keys that a thread loads before it looks at the first.
constexpr u32 ROW = sizeof(Key) == 8 ? 8 : 16;
// The same where words take more registers.
constexpr u32 COUNTED_ROW = 8;

constexpr u32 SAMPLED_ROW = 8;
constexpr u32 SAMPLED = BLOCK * SAMPLED_ROW;
constexpr u32 CHOOSING = 1024;
// Words that a thread of `choose` keeps in registers. It loads others again and again.
constexpr u32 KEPT = 8;

// Words that a warp places at a time.
constexpr u32 PLACED = 4;
// Words with which it compares them at a time.
constexpr u32 COMPARED = 4;

// Bounds that are tried.
constexpr u32 ATTEMPTS = 2;

constexpr u32 DIGIT_BITS = 13;
constexpr u32 DIGITS = 1u << DIGIT_BITS;
constexpr u32 ROUNDS = (WORD_BITS + DIGIT_BITS - 1) / DIGIT_BITS;
static_assert(ROUNDS == SORTIE_ROUNDS, "as the host has it");

// What the digits so far say about the k-th word.
struct Level {
    // It has these digits, and 0 in all lower bits. If settled: the bound of the second attempt.
    Word prefix;
    // The number of words before the prefix.
    u64 before;
    u64 settled;
};
static_assert(sizeof(Level) <= SORTIE_LEVEL_BYTES, "as the host has it");

struct Job {
    // One row of `count` keys, or several. All that follows is for one row, and what is in memory, for all rows.
    const Key* keys;
    u64 count;
    u64 k;
    // The words for which there is room, at least k.
    u64 capacity;
    // `rank` words of the sample are before the bound. `sampled` is a power of two, at least SAMPLED.
    u32 sampled, rank;
    u64 seed;
    // Blocks that read a row.
    u64 parts;
    // For each attempt, the number of words before its bound; zero before.
    u64* found;
    Word* bound;
    // The first `rank` words of the sample of each block.
    Word* firsts;
    // Per round, DIGITS counts and a level; all zero before. For one row only.
    u32* digits;
    Level* levels;
    Word* words;
};

SIMT_FN bool first_succeeded(const Job& job) { return job.found[0] >= job.k && job.found[0] <= job.capacity; }
SIMT_FN u64 found(const Job& job) { return job.found[first_succeeded(job) ? 0 : 1]; }

struct BoundShared {
    Word prefix;
    u32 counts[BYTES];
    u32 before, through;
};

// Returns a bound with `rank` of the block's words before it. There are as many at least, and none has all bits set.
// - `visit(see)` calls see(word, is_there) for each word of the thread, the whole warp at the same time.
// - Method: digit by digit from the highest, until a bound will do.
template <class Visit> SIMT_FN Word bound_after(u32 rank, BoundShared& shared, Visit visit) {
    if (thread_rank() == 0) {
        shared.prefix = Word(0);
        shared.before = 0;
    }
    u32 above = WORD_BITS;
    SIMT_ROLL
    do {
        const u32 shift = above - BYTE_BITS;
        for (u32 i = thread_rank(); i < BYTES; i += block_threads()) shared.counts[i] = 0;
        barrier();
        const Word prefix = shared.prefix, last = filled(prefix, above);
        visit([&](Word word, bool is_there) {
            const bool counts = is_there && !(word < prefix) && !(last < word);
            count_digit(shared.counts, u32(word >> shift) % BYTES, counts);
        });
        barrier();
        if (warp_rank() == 0) {
            const u32 before = shared.before;
            warp_barrier();
            find_digit(shared.counts, rank, before, [&](u32 digit, u32 first, u32 through) {
                shared.prefix = with(prefix, digit, shift);
                shared.before = first;
                shared.through = through;
            });
        }
        barrier();
        above = shift;
    } while (above > 0 && shared.through != rank);
    return after(filled(shared.prefix, above));
}

struct SampleShared {
    BoundShared bound;
    u32 taken;
};
static_assert(sizeof(SampleShared) == SORTIE_SAMPLE_MEMORY, "as the host has it");

// sample: looks at words at random positions, one in each of `sampled` stretches of the same length.
// - Parameters: `seed` determines the positions.
// - Launch: sampled / SAMPLED blocks of BLOCK threads per row. Shared memory: SampleShared.
// - Writes: `firsts`, for each block the first `rank` words of its SAMPLED. A single block of a row writes the bound.
// - Cost: a load of a single key per sampled word.
SIMT_KERNEL(BLOCK, 4) sample(Job job, Codes codes) {
    await_turn();
    SampleShared& shared = *reinterpret_cast<SampleShared*>(shared_memory());
    const u32 shift = trailing_zeros(job.sampled), blocks = job.sampled / SAMPLED;
    const u64 of = block_rank() / blocks;
    const Key* const keys = job.keys + of * job.count;
    Word row[SAMPLED_ROW];
    SIMT_UNROLL
    for (u32 r = 0; r < SAMPLED_ROW; ++r) {
        const u64 i = u64(block_rank() % blocks) * SAMPLED + r * BLOCK + thread_rank();
        const u64 start = i * job.count >> shift, end = (i + 1) * job.count >> shift;
        const u64 index = start + ((end - start) * u32(mixed(job.seed + i)) >> 32);
        row[r] = word_of(keys[index], index, codes);
    }
    if (thread_rank() == 0) shared.taken = 0;
    const u32 rank = lesser(job.rank, SAMPLED);
    const Word bound = bound_after(rank, shared.bound, [&](auto see) {
        SIMT_UNROLL
        for (u32 r = 0; r < SAMPLED_ROW; ++r) see(row[r], true);
    });
    if (blocks == 1) {
        if (thread_rank() == 0) job.bound[of] = bound;
        return;
    }
    SIMT_UNROLL
    for (u32 r = 0; r < SAMPLED_ROW; ++r) {
        if (!(row[r] < bound)) continue;
        job.firsts[u64(block_rank()) * rank + atomic_add<Relaxed, Block>(&shared.taken, 1)] = row[r];
    }
}

struct ChooseShared {
    Word lasts[CHOOSING / WARP];
    BoundShared bound;
};
static_assert(sizeof(ChooseShared) == SORTIE_CHOOSE_MEMORY, "as the host has it");

template <class T> SIMT_FN T greatest_of_warp(T value) {
    SIMT_UNROLL
    for (u32 flip = 1; flip < WARP; flip *= 2) value = greater(value, shuffle_xor(value, flip));
    return value;
}

// choose: makes the bound the next word after that of rank `rank` of the sample.
// - Launch: a block of CHOOSING threads per row. Shared memory: ChooseShared.
// - Writes: `bound`.
// - Cost: a read of `firsts`, of which there are a few thousand; up to WORD_BITS / BYTE_BITS reads of those beyond
//   KEPT * CHOOSING.
SIMT_KERNEL(CHOOSING, 1) choose(Job job) {
    await_turn();
    ChooseShared& shared = *reinterpret_cast<ChooseShared*>(shared_memory());
    const u32 firsts = job.sampled / SAMPLED * lesser(job.rank, SAMPLED);
    const Word* const words = job.firsts + u64(block_rank()) * firsts;
    Word kept[KEPT];
    SIMT_UNROLL
    for (u32 r = 0; r < KEPT; ++r) kept[r] = words[lesser(r * CHOOSING + thread_rank(), firsts - 1)];
    const Word bound = bound_after(job.rank, shared.bound, [&](auto see) {
        SIMT_UNROLL
        for (u32 r = 0; r < KEPT; ++r)
            if (r * CHOOSING < firsts) see(kept[r], r * CHOOSING + thread_rank() < firsts);
        for (u32 first = KEPT * CHOOSING + warp_rank() * WARP; first < firsts; first += CHOOSING) {
            const u32 i = first + lane();
            see(words[lesser(i, firsts - 1)], i < firsts);
        }
    });
    // Other words of the sample, which are not among the first of their block, can be before that bound too, but not
    // before the last of these.
    Word last = Word(0);
    for (u32 i = thread_rank(); i < firsts; i += CHOOSING) {
        const Word word = words[i];
        if (word < bound) last = greater(last, word);
    }
    last = greatest_of_warp(last);
    if (lane() == 0) shared.lasts[warp_rank()] = last;
    barrier();
    if (warp_rank() != 0) return;
    last = greatest_of_warp(shared.lasts[lane()]);
    if (lane() == 0) job.bound[block_rank()] = after(last);
}

// The bits of the digit of a round. The last digit may have fewer than the others.
SIMT_FN u32 digit_bits(u32 round) { return lesser(DIGIT_BITS, WORD_BITS - DIGIT_BITS * round); }
SIMT_FN u32 digit_shift(u32 round) { return WORD_BITS - DIGIT_BITS * round - digit_bits(round); }

struct DescentShared {
    u64 sums[WARPS];
    Level level;
};

// Returns the level after the digit of a round, which has been counted, for all threads of the block.
SIMT_FN Level level_after(const Job& job, u32 round, DescentShared& shared) {
    const Level level = job.levels[round];
    if (level.settled) return level;
    constexpr u32 OWN = DIGITS / BLOCK;
    const u32* counts = job.digits + round * DIGITS + thread_rank() * OWN;
    u64 sum = 0;
    SIMT_ROLL
    for (u32 i = 0; i < OWN; ++i) sum += counts[i];
    u64 before = level.before + scan::exclusive<BLOCK>(sum, shared.sums);
    SIMT_ROLL
    for (u32 i = 0; i < OWN; ++i) {
        const u64 end = before + counts[i];
        // One digit of one thread is that of the k-th word.
        if (before < job.k && job.k <= end) {
            Word prefix = with(level.prefix, thread_rank() * OWN + i, digit_shift(round));
            // Whether all words with these digits fit.
            const bool settled = end <= job.capacity;
            if (settled) prefix = after(filled(prefix, digit_shift(round)));
            shared.level = {prefix, before, settled};
        }
        before = end;
    }
    barrier();
    return shared.level;
}

// What the block reads: a part of one row.
SIMT_FN Share share_of(const Job& job) {
    const u32 parts = u32(job.parts);
    return {job.keys + u64(block_rank() / parts) * job.count, job.count, block_rank() % parts, parts};
}

union CountShared {
    DescentShared descent;
    u32 counts[DIGITS];
};
static_assert(sizeof(CountShared) == SORTIE_COUNT_MEMORY, "as the host has it");

// count: counts the digit of a round, of all words that begin with the digits of the k-th one so far.
// - Preconditions: the rounds before it are counted.
// - Launch: `parts` blocks of BLOCK threads. Shared memory: CountShared.
// - Writes: `digits` of the round, and its level.
// - Cost: one read of the keys; an atomic in shared memory per word counted.
SIMT_KERNEL(BLOCK, 4) count(Job job, u32 round, Codes codes) {
    await_turn();
    if (first_succeeded(job)) return;
    CountShared& shared = *reinterpret_cast<CountShared*>(shared_memory());
    Level level = {Word(0), 0, 0};
    if (round > 0) level = level_after(job, round - 1, shared.descent);
    if (round > 0 && block_rank() == 0 && thread_rank() == 0) job.levels[round] = level;
    if (level.settled) return;
    barrier();
    for (u32 i = thread_rank(); i < DIGITS; i += BLOCK) shared.counts[i] = 0;
    barrier();

    const u32 shift = digit_shift(round), bits = digit_bits(round);
    const Word last = filled(level.prefix, shift + bits);
    for_rows<COUNTED_ROW>(share_of(job), [&](const Key(&row)[COUNTED_ROW], u64 first, u32 left) {
        SIMT_UNROLL
        for (u32 r = 0; r < COUNTED_ROW; ++r) {
            const u32 i = r * WARP + lane();
            const Word word = word_of(row[r], first + i, codes);
            const bool counts = i < left && !(word < level.prefix) && !(last < word);
            count_digit(shared.counts, u32(word >> shift) & ((1u << bits) - 1), counts);
        }
    });
    barrier();
    for (u32 i = thread_rank(); i < DIGITS; i += BLOCK)
        if (shared.counts[i] != 0) atomic_add(&job.digits[round * DIGITS + i], shared.counts[i]);
}

struct FilterShared {
    Word held[WARPS][HELD];
    DescentShared descent;
};
static_assert(sizeof(FilterShared) == SORTIE_FILTER_MEMORY, "as the host has it");

// filter: collects the words before the bound of an attempt, 0 or 1.
// - Preconditions: that bound has been chosen, or all rounds are counted.
// - Launch: `parts` blocks of BLOCK threads per row. Shared memory: FilterShared.
// - Writes: `found` of the attempt; up to `capacity` of the words to `words`, in any order. Several rows have one attempt.
// - Cost: one read of the keys; an atomic per warp, and one more for every 64 to 128 words found.
SIMT_KERNEL(BLOCK, 4) filter(Job job, u32 attempt, Codes codes) {
    await_turn();
    if (attempt == 1 && first_succeeded(job)) return;
    FilterShared& shared = *reinterpret_cast<FilterShared*>(shared_memory());
    const u32 of = block_rank() / u32(job.parts);
    u64* const found = job.found + of * ATTEMPTS + attempt;
    Word* const words = job.words + u64(of) * job.capacity;
    const Word bound = attempt == 0 ? job.bound[of] : level_after(job, ROUNDS - 1, shared.descent).prefix;
    u64 bound_code;
    u32 bound_index;
    split(bound, bound_code, bound_index);
    List<Word> list = {shared.held[warp_rank()], words, job.capacity, found};
    for_rows<ROW>(share_of(job), [&](const Key(&row)[ROW], u64 first, u32 left) {
        // Codes suffice to see that a word is not before the bound, except where the bound's index is among these.
        const bool is_after = first >= bound_index;
        if (is_after && bound_code == 0) return;
        const Key last = Key(bound_code - is_after);
        u32 passing = 0;
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) passing |= u32(codes.of(row[r]) <= last) << r;
        if (!any(passing != 0)) return;

        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            const u32 i = r * WARP + lane();
            if (i >= left || !(word_of(row[r], first + i, codes) < bound)) passing &= ~(1u << r);
        }
        list.append<ROW>(passing, [&](u32 r) { return word_of(row[r], first + r * WARP + lane(), codes); });
    });
    list.flush();
}

// place: writes the first k of the words in order, each to the index that is the number of words before it.
// - Launch: any number of blocks of BLOCK threads. No shared memory.
// - Writes: `top`.
// - Cost: each word is compared with every other. One warp compares PLACED words at a time.
SIMT_KERNEL(BLOCK, 4) place(Job job, Top top) {
    await_turn();
    const u32 count = u32(found(job)), warps = grid_blocks() * WARPS;
    for (u32 first = (block_rank() * WARPS + warp_rank()) * PLACED; first < count; first += warps * PLACED) {
        Word own[PLACED];
        u32 before[PLACED];
        SIMT_UNROLL
        for (u32 p = 0; p < PLACED; ++p) {
            own[p] = job.words[lesser(first + p, count - 1)];
            before[p] = 0;
        }
        for (u32 start = 0; start < count; start += WARP * COMPARED) {
            Word others[COMPARED];
            SIMT_UNROLL
            for (u32 c = 0; c < COMPARED; ++c) {
                const u32 i = start + c * WARP + lane();
                // The last word is before no other.
                others[c] = i < count ? job.words[i] : filled(Word(0), WORD_BITS);
            }
            SIMT_UNROLL
            for (u32 c = 0; c < COMPARED; ++c) {
                SIMT_UNROLL
                for (u32 p = 0; p < PLACED; ++p) before[p] += others[c] < own[p];
            }
        }
        // A lane writes each word.
        Word word = own[0];
        u32 at = ~0u;
        SIMT_UNROLL
        for (u32 p = 0; p < PLACED; ++p) {
            SIMT_UNROLL
            for (u32 by = 1; by < WARP; by *= 2) before[p] += shuffle_xor(before[p], by);
            if (lane() != p || first + p >= count) continue;
            word = own[p];
            at = before[p];
        }
        if (at < job.k) top.put(at, word, job.keys);
    }
}

// pad: fills the room that the words leave with others that sort after them.
// - Launch: any number of blocks of BLOCK threads. No shared memory.
// - Writes: `words`.
SIMT_KERNEL(BLOCK, 1) pad(Job job) {
    await_turn();
    const u64 step = u64(grid_blocks()) * BLOCK;
    for (u64 i = found(job) + u64(block_rank()) * BLOCK + thread_rank(); i < job.capacity; i += step)
        job.words[i] = filled(filled(Word(0), 64), 8 * sizeof(Word));
}

// take: writes the first k of the words, which are sorted.
// - Launch: any number of blocks of BLOCK threads. No shared memory.
// - Writes: `top`.
SIMT_KERNEL(BLOCK, 1) take(Job job, Top top) {
    await_turn();
    const u64 step = u64(grid_blocks()) * BLOCK;
    for (u64 i = u64(block_rank()) * BLOCK + thread_rank(); i < job.k; i += step) top.put(i, job.words[i], job.keys);
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::select
