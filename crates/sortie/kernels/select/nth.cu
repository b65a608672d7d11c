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
#include "mixed.cuh"
#include "read.cuh"
#include "scan.cuh"
#include "search.cuh"
#include "simt.cuh"
#include "word.cuh"

namespace simt::nth {

using select::BLOCK;
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
constexpr u32 MANY_OF_ALL = 10;

// Threads of the block that makes the table.
constexpr u32 BOUNDING = 1024;
constexpr u32 MOST_BOUNDS = SORTIE_MOST_BOUNDS;
constexpr u32 MOST_CLASSES = 2 * MOST_BOUNDS + 1;
// Cells divide the codes from the first bound to the last evenly. Two more are for the codes before and after them.
constexpr u32 CELL_BITS = SORTIE_CELL_BITS;
constexpr u32 CELLS = (1u << CELL_BITS) + 2;
// A cell with bounds is divided into at least this many parts for each of them, and less than twice as many.
constexpr u32 PARTS = 8;
constexpr u32 TABLE = CELLS + 2 * PARTS * MOST_BOUNDS;
static_assert(TABLE == SORTIE_TABLE, "as the host has it");
// What the table says of a cell or a part: the class of its codes, if they have one and are not collected; the number of bounds in those
// before it, and up to its end << 16; or where its parts begin, and the binary logarithm of the codes of a part << 16.
constexpr u32 SEVERAL = 1u << 31;
constexpr u32 DIVIDED = 1u << 30;
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
    // TABLE entries: of cells, and then of their parts.
    u32* table;
    // Keys of each class, keys collected, indices missed, and the greatest code; all zero before.
    u64* counts;
    u64* found;
    u64* missed;
    Code* greatest;
    // For each index, where its key is, and its code if that is known.
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

// How codes are divided into cells.
struct Cells {
    // Codes before `first` are in its cell, and those after `last` in its.
    Code first, last;
    // The binary logarithm of the codes of a cell.
    u32 shift;

    // For bounds from `low` to `high`.
    SIMT_FN Cells(Code low, Code high) {
        const u32 bits = 8 * sizeof(Code) - leading_zeros(Code(high - low));
        shift = bits > CELL_BITS ? bits - CELL_BITS : 0;
        const Code codes = Code(Code(1) << shift);
        first = low < codes ? Code(0) : Code(low - codes);
        last = Code(high + codes) < high ? Code(~Code(0)) : Code(high + codes);
    }

    SIMT_FN Code offset(Code code) const { return Code(lesser(greater(code, first), last) - first); }

    // What the table says of the cell of a code.
    SIMT_FN u32 look_up(const u32* table, Code code) const { return table[u32(offset(code) >> shift)]; }

    // What it says of the part of a cell, if that is divided.
    SIMT_FN u32 look_up_part(const u32* table, Code code) const {
        const Code at = offset(code);
        const u32 cell = table[u32(at >> shift)];
        if (!(cell & DIVIDED)) return cell;
        return table[(cell & 0xFFFF) + u32(Code(at & Code((Code(1) << shift) - 1)) >> (cell >> 16 & 63))];
    }
};

// The entry of a cell or a part with bounds `before` to `end`. `width` is the binary logarithm of its codes.
SIMT_FN u32 entry(u32 before, u32 end, u32 width) {
    const bool has_bounds = before != end;
    if (has_bounds ? width > 0 : before % 2 == 1) return SEVERAL | before | end << 16;
    return 2 * before + has_bounds;
}

struct BoundShared {
    Code bounds[MOST_BOUNDS];
    // Cells with parts, their entries, how many there are, and where the parts of the next would begin.
    u32 divided[MOST_BOUNDS];
    u32 entries[MOST_BOUNDS];
    u32 count;
    u32 end;
};
static_assert(sizeof(BoundShared) == SORTIE_BOUND_MEMORY, "as the host has it");

// bound: takes the bounds from the sorted sample.
// - Launch: a block of BOUNDING threads. Shared memory: BoundShared.
// - Writes: `bounds`, and for several ranges `table`.
SIMT_KERNEL(BOUNDING, 1) bound(Job job) {
    await_turn();
    BoundShared& shared = *reinterpret_cast<BoundShared*>(shared_memory());
    const u32* const lows = job.numbers + job.wanted;
    const u32* const highs = lows + job.ranges;
    for (u32 i = thread_rank(); i < job.ranges; i += BOUNDING) {
        shared.bounds[2 * i] = lows[i] == 0 ? Code(0) : job.sample[lows[i] - 1];
        shared.bounds[2 * i + 1] = highs[i] == job.sampled ? Code(~Code(0)) : job.sample[highs[i]];
    }
    if (thread_rank() == 0) {
        shared.count = 0;
        shared.end = CELLS;
    }
    barrier();
    const u32 limits = job.limits();
    for (u32 i = thread_rank(); i < limits; i += BOUNDING) job.bounds[i] = shared.bounds[i];
    if (job.ranges == 1) return;

    const Cells cells(shared.bounds[0], shared.bounds[limits - 1]);
    // The bounds in the cells before one, and in its parts before one of them.
    const auto bounds_before = [&](u32 cell, u32 part, u32 width) {
        if (Code(cell) > Code(~Code(0)) >> cells.shift) return limits;
        const Code offset = Code((Code(cell) << cells.shift) + (Code(part) << width));
        return search::first_of(0, limits, [&](u32 i) { return Code(shared.bounds[i] - cells.first) >= offset; });
    };
    for (u32 cell = thread_rank(); cell < CELLS; cell += BOUNDING) {
        const u32 before = bounds_before(cell, 0, 0), end = bounds_before(cell + 1, 0, 0);
        u32 found = entry(before, end, cells.shift);
        if (before != end && cells.shift > 0) {
            const u32 bits = lesser(cells.shift, 32 - leading_zeros(PARTS * (end - before) - 1));
            found = DIVIDED | atomic_add<Relaxed, Block>(&shared.end, 1u << bits) | (cells.shift - bits) << 16;
            const u32 i = atomic_add<Relaxed, Block>(&shared.count, 1);
            shared.divided[i] = cell;
            shared.entries[i] = found;
        }
        job.table[cell] = found;
    }
    barrier();
    for (u32 i = warp_rank(); i < shared.count; i += BOUNDING / WARP) {
        const u32 cell = shared.divided[i], width = shared.entries[i] >> 16 & 63, parts = 1u << (cells.shift - width);
        for (u32 part = lane(); part < parts; part += WARP) {
            const u32 end = part + 1 < parts ? bounds_before(cell, part + 1, width) : bounds_before(cell + 1, 0, 0);
            job.table[(shared.entries[i] & 0xFFFF) + part] = entry(bounds_before(cell, part, width), end, width);
        }
    }
}

template <class T> SIMT_FN T sum_of_warp(T value) {
    SIMT_UNROLL
    for (u32 flip = 1; flip < WARP; flip *= 2) value += shuffle_xor(value, flip);
    return value;
}

// Adds a lane's greatest code to that of all.
SIMT_FN void note_greatest(const Job& job, Code code) {
    SIMT_UNROLL
    for (u32 flip = 1; flip < WARP; flip *= 2) code = greater(code, shuffle_xor(code, flip));
    if (lane() == 0) atomic_max(job.greatest, code);
}

// The bits of the keys of a row that are among the `left` ones.
SIMT_FN u32 bits_there(u32 left) {
    return left == ROW * WARP ? FULL : (1u << (left + WARP - 1 - lane()) / WARP) - 1;
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

// filter_one: collects the keys within the range, and counts those of the other classes but the last. For one range.
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
        const u32 there = bits_there(left);
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
            list.append(is_there && !is_low && !is_high, code);
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
    Code bounds[MOST_BOUNDS];
    u32 table[TABLE];
    u32 counts[MOST_CLASSES * COPIES];
};
static_assert(sizeof(AllShared) == SORTIE_ALL_MEMORY, "as the host has it");

// filter_all: counts the keys of all classes, and collects those within ranges.
// - Launch: any number of blocks of BLOCK threads. Shared memory: AllShared.
// - Writes: as filter_one.
// - Cost: one read of the keys; for each, a look at the table and an atomic in shared memory. For keys in cells of several classes
//   another look and a binary search. An atomic for every 96 to 128 codes
//   collected.
SIMT_KERNEL(BLOCK, 4) filter_all(Job job, Codes codes) {
    await_turn();
    AllShared& shared = *reinterpret_cast<AllShared*>(shared_memory());
    const u32 limits = job.limits(), classes = 2 * limits + 1;
    for (u32 i = thread_rank(); i < limits; i += BLOCK) shared.bounds[i] = job.bounds[i];
    for (u32 i = thread_rank(); i < TABLE; i += BLOCK) shared.table[i] = job.table[i];
    for (u32 i = thread_rank(); i < classes * COPIES; i += BLOCK) shared.counts[i] = 0;
    barrier();

    const Cells cells(shared.bounds[0], shared.bounds[limits - 1]);
    u32* const own_counts = &shared.counts[lane() % COPIES];
    const auto count = [&](u32 c) { atomic_add<Relaxed, Block>(&own_counts[c * COPIES], 1); };
    Code last = 0;
    List<Code> list = {shared.held[warp_rank()], job.words, job.capacity, job.found};
    select::for_rows<ROW>(job.share(), [&](const Key(&row)[ROW], u64 first, u32 left) {
        const u32 there = bits_there(left);
        u32 marked = 0;
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            const Code code = Code(codes.of(row[r]));
            last = greater(last, code);
            const u32 found = cells.look_up(shared.table, code);
            if (found >= DIVIDED) marked |= 1u << r;
            else if (there >> r & 1) count(found);
        }
        marked &= there;
        if (any(popcount(marked) >= MANY_OF_ALL)) {
            SIMT_UNROLL
            for (u32 r = 0; r < ROW; ++r) {
                if (!(marked >> r & 1)) continue;
                const Code code = Code(codes.of(row[r]));
                u32 found = cells.look_up_part(shared.table, code);
                const u32 before = found & 0xFFFF;
                // Many may be equal to a bound.
                if (found & SEVERAL && shared.bounds[lesser(before, limits - 1)] == code) found = 2 * before + 1;
                if (found & SEVERAL) continue;
                count(found);
                marked &= ~(1u << r);
            }
        }
        for_marked(marked, job.keys + first, codes, [&](Code code, bool is_there) {
            const u32 found = cells.look_up_part(shared.table, code);
            const u32 start = found & SEVERAL ? found & 0xFFFF : found / 2, end = found & SEVERAL ? found >> 16 & 0x7FFF : start;
            const u32 before = search::first_of(start, end, [&](u32 i) { return !(shared.bounds[i] < code); });
            const bool equals = found & SEVERAL ? before < end && shared.bounds[before] == code : found % 2 == 1;
            if (is_there) count(2 * before + equals);
            list.append(is_there && !equals && before % 2 == 1, code);
        });
    });
    list.flush();
    note_greatest(job, last);
    barrier();
    for (u32 c = thread_rank(); c < classes; c += BLOCK) {
        u64 sum = 0;
        SIMT_UNROLL
        for (u32 i = 0; i < COPIES; ++i) sum += shared.counts[c * COPIES + i];
        if (sum != 0) atomic_add(&job.counts[c], sum);
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
                const u32 digit = u32(code >> shift) % DIGITS, one = shuffle(digit, 0);
                // Equal keys meet at one counter.
                if (all(counts && digit == one)) {
                    if (lane() == 0) atomic_add<Relaxed, Block>(&shared.counts[one], WARP);
                } else if (counts) {
                    atomic_add<Relaxed, Block>(&shared.counts[digit], 1);
                }
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
    if (job.takes_all || at < MISSED) code = job.words[at];
    else if (at == KNOWN) code = job.known[i];
    else code = level_after(job, i, ROUNDS - 1, shared).prefix;
    if (thread_rank() == 0) job.nth[i] = code::decode<KIND>(Key(code), codes.transform);
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::nth
