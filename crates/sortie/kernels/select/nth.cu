// Finds the keys at some indices of an order in about one read of the keys.
//
// - Compile-time parameters: those of word.cuh, and the constants below that the host defines.
// - Preconditions: there are at most 2^32 - 2^16 keys.
// - A sorted sample gives two bounds for each index, between which its key is with a stated probability. Where such ranges
//   overlap, they are one.
// - Bounds divide the codes into classes: class 2b has the codes between bound b - 1 and bound b, and class 2b + 1 those equal
//   to bound b. Of equal bounds, the first has the codes. The keys of every class are counted. Those within a range, in the classes 2b
//   of odd b, are collected. So equal keys cost nothing: a bound equals them.
// - Order: sample, of which another kernel sorts the codes; put and bound; filter_one or filter_all, for one range or several;
//   locate; pad, and the other kernel sorts what is collected; count, once per digit; take. If all keys are to be sorted: put,
//   encode, the other kernel and take.
// - The key of the last index has the greatest code, which needs no range. NaNs are last in most orders, so that it is asked for
//   often.
// - If a bound was wrong, or too much is collected, locate marks the indices that this concerns, and digits of the keys are
//   counted for each, the highest first. Otherwise, count returns at once.
// - Source: own. Bounds from a sample are those of Floyd and Rivest, "Expected time bounds for selection" (1975).
#include "bytes.cuh"
#include "cells.cuh"
#include "mixed.cuh"
#include "read.cuh"
#include "scan.cuh"
#include "search.cuh"
#include "simt.cuh"
#include "word.cuh"

namespace simt::nth {

using select::BLOCK;
using select::CELLS;
using select::Cells;
using select::Code;
using select::CODE_BITS;
using select::Codes;
using select::HELD;
using select::Key;
using select::KIND;
using select::List;
using select::Share;
using select::WARPS;

// Keys that a thread loads before it looks at the first.
constexpr u32 ROW = sizeof(Key) == 8 ? 8 : 16;
constexpr u32 SAMPLED_ROW = 4;
// As many marked keys of a thread's row are looked at in turn, those of all threads at once. Others are loaded again. On an H200, this
// halves the time where most keys are equal to a bound.
constexpr u32 MANY_OF_ONE = 3;
// Those with several ranges, and marked ones of a warp's row that are compared at once. On an H200, this takes 100 distinct values and 99
// indices from 1.4 to 0.7 ms.
constexpr u32 ROW_OF_ALL = ROW / 2;
constexpr u32 MANY_OF_ALL = WARP * ROW_OF_ALL / 2;
// Marked codes of a warp: up to 31 that are left, and those of a row.
constexpr u32 PENDING = WARP - 1 + WARP * ROW_OF_ALL;

// Threads of the block that makes the table.
constexpr u32 BOUNDING = 1024;
constexpr u32 MOST_BOUNDS = SORTIE_MOST_BOUNDS;
constexpr u32 MOST_CLASSES = 2 * MOST_BOUNDS + 1;
static_assert(MOST_BOUNDS <= BOUNDING, "a thread has one bound");
// What the table says of a cell: the class of its codes, if they have one and are not collected; or SEVERAL, the number of bounds before
// it, and that of bounds in it << TOLD_FROM, where MOST_TOLD may be more.
constexpr u32 SEVERAL = 1u << 15;
constexpr u32 TOLD_FROM = 9;
constexpr u32 BEFORE = (1u << TOLD_FROM) - 1;
constexpr u32 MOST_TOLD = BEFORE >> 3;
static_assert(MOST_BOUNDS <= BEFORE && (MOST_TOLD << TOLD_FROM | BEFORE) < SEVERAL, "they fit an entry");
// Counters of a class, so that the lanes of a warp meet at few of them.
constexpr u32 COPIES = SORTIE_COPIES;

constexpr u32 DIGIT_BITS = 8;
constexpr u32 DIGITS = 1u << DIGIT_BITS;
constexpr u32 ROUNDS = CODE_BITS / DIGIT_BITS;
static_assert(DIGITS == BLOCK, "a thread has one digit");

// Numbers that the host passes in one launch.
constexpr u32 PUT = SORTIE_PUT;

// Where the key of an index is: at this index of the sorted words, or one of the others.
constexpr u32 KNOWN = ~0u;
constexpr u32 MISSED = ~0u - 1;

// What the digits so far say about a key: it has these, and 0 in all lower bits, and `before` keys are before all with these.
struct Level {
    u64 prefix;
    u64 before;
};

struct Table {
    Cells cells;
    u16 entries[CELLS];
};
static_assert(sizeof(Table) == SORTIE_TABLE_BYTES, "as the host has it");

struct Job {
    const Key* keys;
    u64 count;
    u64 seed;
    // A power of two.
    u32 sampled;
    u32 ranges;
    // The number of indices.
    u32 wanted;
    // Whether all keys are collected. Then there is no sample.
    u32 takes_all;
    // Codes for which there is room.
    u64 capacity;
    Code* sample;
    // The indices; for each range, one more than the index of its lower bound in the sample, where 0 is the first code; and that of
    // its upper bound, where `sampled` is the last code.
    u32* numbers;
    // In order, two for each range.
    Code* bounds;
    // For each range, what is added to its codes, so that those of all ranges follow each other. They sort faster then.
    Code* bases;
    Table* table;
    // Keys of each class, keys collected, indices missed, and the greatest code; all zero before.
    u64* counts;
    u64* found;
    u64* missed;
    Code* greatest;
    // For each index, where its key is, and its code if that is known, or what was added to it.
    u32* at;
    Code* known;
    // For each round and index, a level, and DIGITS counts, which are zero before.
    Level* levels;
    u32* digits;
    Code* words;
    // A key for each index.
    Key* nth;

    SIMT_FN Share share() const { return {keys, count, block_rank(), grid_blocks()}; }
    SIMT_FN u32 limits() const { return 2 * ranges; }
};

// Numbers of the host.
struct Numbers {
    u32 first, count;
    u32 values[PUT];
};

// put: writes some of `numbers`.
// - Launch: a block of BLOCK threads. No shared memory.
SIMT_KERNEL(BLOCK, 1) put(Job job, Numbers numbers) {
    await_turn();
    for (u32 i = thread_rank(); i < numbers.count; i += BLOCK) job.numbers[numbers.first + i] = numbers.values[i];
}

// encode: makes codes of all keys.
// - Launch: any number of blocks of BLOCK threads. No shared memory.
// - Writes: `words`.
SIMT_KERNEL(BLOCK, 4) encode(Job job, Codes codes) {
    await_turn();
    select::for_rows<SAMPLED_ROW>(job.share(), [&](const Key(&row)[SAMPLED_ROW], u64 first, u32 left) {
        SIMT_UNROLL
        for (u32 r = 0; r < SAMPLED_ROW; ++r) {
            const u32 i = r * WARP + lane();
            if (i < left) job.words[first + i] = Code(codes.of(row[r]));
        }
    });
}

// sample: looks at keys at random positions, one in each of `sampled` stretches of the same length.
// - Launch: sampled / (BLOCK * SAMPLED_ROW) blocks of BLOCK threads. No shared memory.
// - Writes: `sample`.
// - Cost: a load of a single key per sampled code.
SIMT_KERNEL(BLOCK, 4) sample(Job job, Codes codes) {
    await_turn();
    const u32 shift = trailing_zeros(job.sampled);
    Key row[SAMPLED_ROW];
    const u64 first = u64(block_rank()) * BLOCK * SAMPLED_ROW + thread_rank();
    SIMT_UNROLL
    for (u32 r = 0; r < SAMPLED_ROW; ++r) {
        const u64 i = first + r * BLOCK;
        const u64 start = i * job.count >> shift, end = (i + 1) * job.count >> shift;
        row[r] = job.keys[start + ((end - start) * u32(mixed(job.seed + i)) >> 32)];
    }
    SIMT_UNROLL
    for (u32 r = 0; r < SAMPLED_ROW; ++r) job.sample[first + r * BLOCK] = Code(codes.of(row[r]));
}

struct BoundShared {
    Code bounds[MOST_BOUNDS];
    // Their cells.
    u32 cells[MOST_BOUNDS];
    // The first and the last bound that is a finite number.
    u32 low, high;
    // A bit for each cell by code, and for each by value: whether it has a bound; and how many of some sampled codes are in such a cell.
    u32 has_bound[2][CELLS / 32];
    u32 hits[2];
    Code sums[BOUNDING / WARP];
};
static_assert(sizeof(BoundShared) == SORTIE_BOUND_MEMORY, "as the host has it");

// The cells for bounds in shared memory: those by code or by value, whichever have fewer keys in cells with bounds.
SIMT_FN Cells best_cells(const Job& job, const Codes& codes, BoundShared& shared) {
    const u32 limits = job.limits();
    const Cells by_code = select::cells_of_codes(shared.bounds[0], shared.bounds[limits - 1]);
    if constexpr (select::HAS_VALUES) {
        for (u32 i = thread_rank(); i < CELLS / 16; i += BOUNDING) shared.has_bound[0][i] = 0;
        if (thread_rank() < 2) shared.hits[thread_rank()] = 0;
        if (thread_rank() == 0) shared.low = shared.high = 0;
        barrier();
        const auto is_finite = [&](u32 i) { return i < limits && select::is_finite(shared.bounds[i], codes); };
        const u32 i = thread_rank();
        if (is_finite(i) && (i == 0 || !is_finite(i - 1))) shared.low = i;
        if (is_finite(i) && !is_finite(i + 1)) shared.high = i;
        barrier();
        const Cells by_value = select::cells_of_values(shared.bounds[shared.low], shared.bounds[shared.high], codes);
        if (shared.low == shared.high || by_value.scale == 0) return by_code;
        const auto with_bit = [&](const Cells& cells, Code code, auto act) {
            const u32 cell = cells.of(code, codes);
            act(cell / 32, 1u << cell % 32);
        };
        if (i < limits) {
            with_bit(by_code, shared.bounds[i], [&](u32 at, u32 bit) { atomic_or<Relaxed, Block>(&shared.has_bound[0][at], bit); });
            with_bit(by_value, shared.bounds[i], [&](u32 at, u32 bit) { atomic_or<Relaxed, Block>(&shared.has_bound[1][at], bit); });
        }
        barrier();
        const Code code = job.sample[i * (job.sampled / BOUNDING)];
        with_bit(by_code, code, [&](u32 at, u32 bit) {
            if (shared.has_bound[0][at] & bit) atomic_add<Relaxed, Block>(&shared.hits[0], 1);
        });
        with_bit(by_value, code, [&](u32 at, u32 bit) {
            if (shared.has_bound[1][at] & bit) atomic_add<Relaxed, Block>(&shared.hits[1], 1);
        });
        barrier();
        if (shared.hits[1] < shared.hits[0]) return by_value;
    }
    return by_code;
}

// bound: takes the bounds from the sorted sample.
// - Launch: a block of BOUNDING threads. Shared memory: BoundShared.
// - Writes: `bounds`, `bases`, and for several ranges `table`.
SIMT_KERNEL(BOUNDING, 1) bound(Job job, Codes codes) {
    await_turn();
    BoundShared& shared = *reinterpret_cast<BoundShared*>(shared_memory());
    const u32* const lows = job.numbers + job.wanted;
    const u32* const highs = lows + job.ranges;
    const u32 i = thread_rank();
    if (i < job.ranges) {
        shared.bounds[2 * i] = lows[i] == 0 ? Code(0) : job.sample[lows[i] - 1];
        shared.bounds[2 * i + 1] = highs[i] == job.sampled ? Code(~Code(0)) : job.sample[highs[i]];
    }
    barrier();
    const u32 limits = job.limits();
    if (i < limits) job.bounds[i] = shared.bounds[i];
    const Code low = i < job.ranges ? shared.bounds[2 * i] : 0, width = i < job.ranges ? Code(shared.bounds[2 * i + 1] - low) : 0;
    const Code before_range = scan::exclusive<BOUNDING>(width, shared.sums);
    if (i < job.ranges) job.bases[i] = Code(before_range - low);
    if (job.ranges == 1) return;

    const Cells cells = best_cells(job, codes, shared);
    if (thread_rank() == 0) job.table->cells = cells;
    if (i < limits) shared.cells[i] = cells.of(shared.bounds[i], codes);
    barrier();
    for (u32 cell = thread_rank(); cell < CELLS; cell += BOUNDING) {
        const u32 before = search::first_of(0, limits, [&](u32 i) { return shared.cells[i] >= cell; });
        const u32 end = search::first_of(before, limits, [&](u32 i) { return shared.cells[i] > cell; });
        const bool has_bounds = before != end;
        // A cell of one code has it as its bound.
        const bool is_one_class = has_bounds ? cells.scale == 0 && cells.shift == 0 : before % 2 == 0;
        const u32 found = is_one_class ? 2 * before + has_bounds : SEVERAL | before | lesser(end - before, MOST_TOLD) << TOLD_FROM;
        job.table->entries[select::entry_of(cell)] = u16(found);
    }
}

template <class T> SIMT_FN T sum_of_warp(T value) {
    SIMT_UNROLL
    for (u32 flip = 1; flip < WARP; flip *= 2) value += shuffle_xor(value, flip);
    return value;
}

// The sum of the lanes before this one, and that of all.
SIMT_FN u32 exclusive_of_warp(u32 value, u32& all) {
    u32 end = value;
    SIMT_UNROLL
    for (u32 by = 1; by < WARP; by *= 2) {
        const u32 below = shuffle_up(end, by);
        if (lane() >= by) end += below;
    }
    all = shuffle(end, WARP - 1);
    return end - value;
}

// Adds a lane's greatest code to that of all.
SIMT_FN void note_greatest(const Job& job, Code code) {
    SIMT_UNROLL
    for (u32 flip = 1; flip < WARP; flip *= 2) code = greater(code, shuffle_xor(code, flip));
    if (lane() == 0) atomic_max(job.greatest, code);
}

// The bits of the keys of a row of LENGTH keys a thread that are among the `left` ones.
template <u32 LENGTH> SIMT_FN u32 bits_there(u32 left) {
    return left == LENGTH * WARP ? FULL : (1u << (left + WARP - 1 - lane()) / WARP) - 1;
}

// Calls visit(code, is_there) for the keys of marked bits of a row, one for each lane at a time. Loads them again: they are few.
template <class Visit> SIMT_FN void for_marked(u32 marked, const Key* row, const Codes& codes, Visit visit) {
    while (any(marked != 0)) {
        const bool is_there = marked != 0;
        const Key key = is_there ? row[trailing_zeros(marked) * WARP + lane()] : Key(0);
        marked &= marked - 1;
        visit(Code(codes.of(key)), is_there);
    }
}

struct OneShared {
    Code held[WARPS][HELD];
};
static_assert(sizeof(OneShared) == SORTIE_ONE_MEMORY, "as the host has it");

// filter_one: collects the codes within the range, less its lower bound, and counts those of the other classes but the last. For one range.
// - Launch: any number of blocks of BLOCK threads. Shared memory: OneShared.
// - Writes: `counts`, `found`, `greatest`, and up to `capacity` codes to `words`, in any order.
// - Cost: one read of the keys; an atomic for every 96 to 128 codes collected.
SIMT_KERNEL(BLOCK, 4) filter_one(Job job, Codes codes) {
    await_turn();
    OneShared& shared = *reinterpret_cast<OneShared*>(shared_memory());
    const Code low = job.bounds[0], high = job.bounds[1], width = Code(high - low);
    // Keys before the range, and at its bounds.
    u32 before = 0, at_low = 0, at_high = 0;
    Code last = 0;
    List<Code> list = {shared.held[warp_rank()], job.words, job.capacity, job.found};
    select::for_rows<ROW>(job.share(), [&](const Key(&row)[ROW], u64 first, u32 left) {
        u32 lower = 0, marked = 0;
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            const Code code = Code(codes.of(row[r]));
            last = greater(last, code);
            if (code < low) lower |= 1u << r;
            if (Code(code - low) <= width) marked |= 1u << r;
        }
        const u32 there = bits_there<ROW>(left);
        before += popcount(lower & there);
        marked &= there;
        if (any(popcount(marked) >= MANY_OF_ONE)) {
            // Many may be equal to a bound.
            u32 lows = 0, highs = 0;
            SIMT_UNROLL
            for (u32 r = 0; r < ROW; ++r) {
                const Code code = Code(codes.of(row[r]));
                if (code == low) lows |= 1u << r;
                else if (code == high) highs |= 1u << r;
            }
            at_low += popcount(lows & there);
            at_high += popcount(highs & there);
            marked &= ~(lows | highs);
        }
        for_marked(marked, job.keys + first, codes, [&](Code code, bool is_there) {
            const bool is_low = is_there && code == low, is_high = is_there && code == high && code != low;
            at_low += is_low;
            at_high += is_high;
            list.append(is_there && !is_low && !is_high, Code(code - low));
        });
    });
    list.flush();
    note_greatest(job, last);
    const u32 of_classes[] = {sum_of_warp(before), sum_of_warp(at_low), 0, sum_of_warp(at_high)};
    SIMT_UNROLL
    for (u32 c = 0; c < 4; ++c)
        if (lane() == 0 && of_classes[c] != 0) atomic_add(&job.counts[c], u64(of_classes[c]));
}

struct AllShared {
    Code held[WARPS][HELD];
    Code pending[WARPS][PENDING];
    Code bounds[MOST_BOUNDS];
    Code bases[MOST_BOUNDS / 2];
    // One more, for the keys of cells of several classes.
    u32 counts[COPIES][MOST_CLASSES + 1];
    u16 entries[CELLS];
};
static_assert(sizeof(AllShared) == SORTIE_ALL_MEMORY, "as the host has it");

// filter_all: counts the keys of all classes, and collects the codes within ranges and the base of their range.
// - Launch: any number of blocks of BLOCK threads. Shared memory: AllShared.
// - Writes: as filter_one.
// - Cost: one read of the keys; for each, a look at the table and an atomic in shared memory. Keys in cells of several classes are gathered
//   until each lane of a warp has one, which costs a search among the bounds of the cell and another atomic. An atomic for every 96 to
//   128 codes collected.
SIMT_KERNEL(BLOCK, 4) filter_all(Job job, Codes codes) {
    await_turn();
    AllShared& shared = *reinterpret_cast<AllShared*>(shared_memory());
    const u32 limits = job.limits(), classes = 2 * limits + 1;
    for (u32 i = thread_rank(); i < limits; i += BLOCK) shared.bounds[i] = job.bounds[i];
    for (u32 i = thread_rank(); i < job.ranges; i += BLOCK) shared.bases[i] = job.bases[i];
    for (u32 i = thread_rank(); i < CELLS; i += BLOCK) shared.entries[i] = job.table->entries[i];
    for (u32 i = thread_rank(); i < COPIES * (MOST_CLASSES + 1); i += BLOCK) shared.counts[0][i] = 0;
    barrier();

    const Cells cells = job.table->cells;
    u32* const own_counts = shared.counts[lane() % COPIES];
    const auto look_up = [&](u32 cell) { return u32(shared.entries[select::entry_of(cell)]); };
    // Others than those of one class are counted later.
    const auto count_class = [&](u32 found, u32 keys) { atomic_add<Relaxed, Block>(&own_counts[lesser(found, MOST_CLASSES)], keys); };
    Code last = 0;
    List<Code> list = {shared.held[warp_rank()], job.words, job.capacity, job.found};
    Code* const pending = shared.pending[warp_rank()];
    u32 pends = 0;
    // Takes the last pending codes, at most one for each lane.
    const auto classify = [&] {
        const u32 taken = lesser(pends, WARP);
        pends -= taken;
        const bool is_there = lane() < taken;
        const Code code = pending[pends + (is_there ? lane() : 0)];
        const u32 found = look_up(cells.of(code, codes)), start = found & BEFORE, told = (found & ~SEVERAL) >> TOLD_FROM;
        const u32 end = told == MOST_TOLD ? limits : start + told;
        const u32 before = search::first_of(start, end, [&](u32 i) { return !(shared.bounds[i] < code); });
        const bool equals = before < end && shared.bounds[before] == code;
        if (is_there) count_class(2 * before + equals, 1);
        const bool is_collected = is_there && !equals && before % 2 == 1;
        list.append(is_collected, is_collected ? Code(code + shared.bases[before / 2]) : 0);
    };
    select::for_rows<ROW_OF_ALL>(job.share(), [&](const Key(&row)[ROW_OF_ALL], u64 first, u32 left) {
        Code code[ROW_OF_ALL];
        SIMT_UNROLL
        for (u32 r = 0; r < ROW_OF_ALL; ++r) {
            code[r] = Code(codes.of(row[r]));
            last = greater(last, code[r]);
        }
        u32 found[ROW_OF_ALL], marked = 0;
        cells.of_row(row, code, found);
        SIMT_UNROLL
        for (u32 r = 0; r < ROW_OF_ALL; ++r) {
            found[r] = look_up(found[r]);
            marked |= found[r] / SEVERAL << r;
            count_class(found[r], 1);
        }
        marked &= bits_there<ROW_OF_ALL>(left);
        // The last key was counted for those that are not there.
        if (left < WARP * ROW_OF_ALL && lane() == 0)
            count_class(look_up(cells.of(Code(codes.of(job.keys[first + left - 1])), codes)), left - WARP * ROW_OF_ALL);
        u32 all, at = exclusive_of_warp(popcount(marked), all);
        if (all >= MANY_OF_ALL) {
            // Many may be equal to the first bound of their cells.
            SIMT_UNROLL
            for (u32 r = 0; r < ROW_OF_ALL; ++r) {
                const u32 before = lesser(found[r] & BEFORE, limits - 1);
                if (!(marked >> r & 1) || shared.bounds[before] != code[r]) continue;
                count_class(2 * before + 1, 1);
                marked &= ~(1u << r);
            }
            at = exclusive_of_warp(popcount(marked), all);
        }
        Code* to = pending + pends + at;
        SIMT_UNROLL
        for (u32 r = 0; r < ROW_OF_ALL; ++r)
            if (marked >> r & 1) *to++ = code[r];
        pends += all;
        warp_barrier();
        while (pends >= WARP) classify();
        warp_barrier();
    });
    if (pends > 0) classify();
    list.flush();
    note_greatest(job, last);
    barrier();
    for (u32 c = thread_rank(); c < classes; c += BLOCK) {
        // A copy may be less than 0.
        u32 sum = 0;
        SIMT_UNROLL
        for (u32 i = 0; i < COPIES; ++i) sum += shared.counts[i][c];
        if (sum != 0) atomic_add(&job.counts[c], u64(sum));
    }
}

// Classes of a thread of locate.
constexpr u32 OWN_CLASSES = (MOST_CLASSES + BLOCK - 1) / BLOCK;

struct LocateShared {
    u64 sums[WARPS];
    u64 collected_sums[WARPS];
    // For each class, the keys of it and of those before it, and those of them that are collected.
    u64 ends[OWN_CLASSES * BLOCK];
    u64 collected[OWN_CLASSES * BLOCK];
};
static_assert(sizeof(LocateShared) == SORTIE_LOCATE_MEMORY, "as the host has it");

// locate: finds the class of each index.
// - Launch: a block of BLOCK threads. Shared memory: LocateShared.
// - Writes: `at`, `known` and `missed`.
SIMT_KERNEL(BLOCK, 1) locate(Job job) {
    await_turn();
    LocateShared& shared = *reinterpret_cast<LocateShared*>(shared_memory());
    const u32 classes = 2 * job.limits() + 1;
    const auto is_collected = [](u32 c) { return c % 4 == 2; };
    u64 counts[OWN_CLASSES], sum = 0, collected = 0;
    SIMT_UNROLL
    for (u32 i = 0; i < OWN_CLASSES; ++i) {
        const u32 c = thread_rank() * OWN_CLASSES + i;
        counts[i] = c < classes ? job.counts[c] : 0;
        if (job.ranges == 1 && c == 2) counts[i] = *job.found;
        sum += counts[i];
        collected += is_collected(c) ? counts[i] : 0;
    }
    u64 end = scan::exclusive<BLOCK>(sum, shared.sums);
    u64 collected_end = scan::exclusive<BLOCK>(collected, shared.collected_sums);
    SIMT_UNROLL
    for (u32 i = 0; i < OWN_CLASSES; ++i) {
        const u32 c = thread_rank() * OWN_CLASSES + i;
        shared.ends[c] = end += counts[i];
        shared.collected[c] = collected_end += is_collected(c) ? counts[i] : 0;
    }
    barrier();

    const bool fits = *job.found <= job.capacity;
    for (u32 i = thread_rank(); i < job.wanted; i += BLOCK) {
        const u64 index = job.numbers[i];
        // filter_one does not count the last class.
        const u32 c = search::first_of(0, classes, [&](u32 c) { return index < shared.ends[c]; });
        u32 at = MISSED;
        if (index == job.count - 1) {
            at = KNOWN;
            job.known[i] = *job.greatest;
        } else if (c % 2 == 1 && c < classes) {
            at = KNOWN;
            job.known[i] = job.bounds[c / 2];
        } else if (fits && is_collected(c)) {
            at = u32(index - (shared.ends[c] - shared.collected[c]));
            job.known[i] = job.bases[c / 4];
        }
        job.at[i] = at;
        if (at == MISSED) atomic_add(job.missed, u64(1));
    }
}

// pad: fills the room that the words leave with others that sort after them.
// - Launch: any number of blocks of BLOCK threads. No shared memory.
// - Writes: `words`.
SIMT_KERNEL(BLOCK, 1) pad(Job job) {
    await_turn();
    const u64 step = u64(grid_blocks()) * BLOCK;
    for (u64 i = *job.found + u64(block_rank()) * BLOCK + thread_rank(); i < job.capacity; i += step)
        job.words[i] = Code(~Code(0));
}

struct DescentShared {
    u64 sums[WARPS];
    Level level;
};

// Returns the level of an index after the digit of a round, which has been counted, for all threads of the block.
SIMT_FN Level level_after(const Job& job, u32 i, u32 round, DescentShared& shared) {
    const Level level = round == 0 ? Level{0, 0} : job.levels[round * job.wanted + i];
    const u64 index = job.numbers[i];
    const u64 own = job.digits[(u64(round) * job.wanted + i) * DIGITS + thread_rank()];
    const u64 before = level.before + scan::exclusive<BLOCK>(own, shared.sums);
    // One thread has the digit of the key.
    if (before <= index && index < before + own)
        shared.level = {level.prefix | u64(thread_rank()) << (CODE_BITS - DIGIT_BITS * (round + 1)), before};
    barrier();
    return shared.level;
}

struct CountShared {
    DescentShared descent;
    u32 counts[DIGITS];
};
static_assert(sizeof(CountShared) == SORTIE_COUNT_MEMORY, "as the host has it");

// count: counts the digit of a round, of all keys that begin with the digits so far, for each index that was missed.
// - Preconditions: the rounds before it are counted.
// - Launch: any number of blocks of BLOCK threads. Shared memory: CountShared.
// - Writes: `digits` of the round, and its levels.
// - Cost: one read of the keys for each index missed; an atomic in shared memory per key counted.
SIMT_KERNEL(BLOCK, 4) count(Job job, u32 round, Codes codes) {
    await_turn();
    if (*job.missed == 0) return;
    CountShared& shared = *reinterpret_cast<CountShared*>(shared_memory());
    const u32 shift = CODE_BITS - DIGIT_BITS * (round + 1);
    SIMT_ROLL
    for (u32 i = 0; i < job.wanted; ++i) {
        if (job.at[i] != MISSED) continue;
        Level level = {0, 0};
        if (round > 0) level = level_after(job, i, round - 1, shared.descent);
        if (block_rank() == 0 && thread_rank() == 0) job.levels[round * job.wanted + i] = level;
        shared.counts[thread_rank()] = 0;
        barrier();
        const u64 digits = level.prefix >> shift >> DIGIT_BITS;
        select::for_rows<ROW>(job.share(), [&](const Key(&row)[ROW], u64, u32 left) {
            SIMT_UNROLL
            for (u32 r = 0; r < ROW; ++r) {
                const Code code = Code(codes.of(row[r]));
                const bool counts = r * WARP + lane() < left && u64(code) >> shift >> DIGIT_BITS == digits;
                select::count_digit(shared.counts, u32(code >> shift) % DIGITS, counts);
            }
        });
        barrier();
        const u32 own = shared.counts[thread_rank()];
        if (own != 0) atomic_add(&job.digits[(u64(round) * job.wanted + i) * DIGITS + thread_rank()], own);
    }
}

// take: writes the key of each index.
// - Launch: a block of BLOCK threads per index. Shared memory: DescentShared.
// - Writes: `nth`.
SIMT_KERNEL(BLOCK, 1) take(Job job, Codes codes) {
    await_turn();
    DescentShared& shared = *reinterpret_cast<DescentShared*>(shared_memory());
    const u32 i = block_rank(), at = job.takes_all ? job.numbers[i] : job.at[i];
    u64 code;
    if (job.takes_all) code = job.words[at];
    else if (at < MISSED) code = Code(job.words[at] - job.known[i]);
    else if (at == KNOWN) code = job.known[i];
    else code = level_after(job, i, ROUNDS - 1, shared).prefix;
    if (thread_rank() == 0) job.nth[i] = code::decode<KIND>(Key(code), codes.transform);
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::nth
