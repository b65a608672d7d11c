// The classifier of a distribution: which of many buckets the code of a key belongs to.
//
// - The codes low..=low + span are cut into buckets. If keys are spread evenly, all buckets have one width. If not,
//   the range is cut into CELLS cells of one width, and each cell into as many buckets of one width as a sample says.
// - Codes below the range belong to the first bucket, codes above it to the last.
// - A greater code never has a lower bucket. So sorting each bucket sorts the whole even if the range is only a guess.
// - If there are more buckets than codes in the range, the range is exact: bucket b has only the code low + b.
// - Cost per code of up to 32 bits: five instructions; with cells, four more and two reads of shared memory.
// - Source: own.
#pragma once

#include "simt.cuh"

namespace simt::classify {

// The codes low..=low + span, and how they are cut into buckets.
struct Range {
    u64 low, span;
    // Shifts the highest bit of the span to the top of its word.
    u32 shift;
    // The bucket is the product of this and the shifted word's upper 32 bits, divided by 2^32.
    u32 scale;
};

// The number of cells of a range.
constexpr u32 CELL_BITS = 10;
constexpr u32 CELLS = 1u << CELL_BITS;
// The number of fractional bits in the table of where cells begin.
constexpr u32 CELL_FRACTION = 12;

// Properties of the keys. They come from a sample, except that their order comes from all keys if the sample is
// in order.
struct Profile {
    Range range;
    // Whether each code of the range has a bucket of its own.
    u32 exact;
    // Flags: ASCENT, DESCENT and OUTSIDE.
    u32 seen;
    // Whether keys are spread unevenly, so that buckets follow the cells.
    u32 uneven;
    // `mixed`: some bucket has two different codes in the sample. `single`: some bucket has only one code in the
    // sample and is too long for a block.
    u32 mixed, single;
    // `crowded`: the number of sampled keys in buckets that are too long for a block and have two codes. `tolerated`:
    // above this number, a distribution does not pay.
    u32 crowded, tolerated;
    // The number of buckets before each cell, and of all, in units of 2^-CELL_FRACTION buckets.
    u32 cells[CELLS + 1];
};

// ASCENT, DESCENT: some key is greater, or less, than the key before it. OUTSIDE: some code is outside an exact
// range, or differs from the noted code of its bucket.
constexpr u32 ASCENT = 1, DESCENT = 2, OUTSIDE = 4;

// How the keys are sorted.
// - LEAVE: they are in order.
// - REVERSE: they are in descending order, and have no payloads.
// - FILL: each bucket has one code, so the counts of the buckets say what to write. Keys with payloads are moved to
//   their buckets.
// - DISTRIBUTE: they are moved to their buckets, and each bucket is sorted.
// - PASSES: too many keys are in buckets that are too long. Stable passes over all digits, or a sample sort of wide
//   keys, are faster.
enum Plan : u32 { LEAVE, REVERSE, FILL, DISTRIBUTE, PASSES };

// Which codes the sample has in each bucket.
template <class Word> struct Codes {
    // For each bucket one of its codes, encoded by `note`, or 0 if the sample has none.
    Word* noted;
    // For each bucket whether it has another code.
    u32* others;
};

// Encodes a code for `Codes`, and decodes it: the function is its own inverse. A code that would be encoded as 0 is
// not noted; it is an arbitrary constant, which few inputs have often.
template <class Word> SIMT_FN Word note(Word code) { return code ^ Word(0x9E3779B97F4A7C15); }

// Whether count_buckets compares each key with the noted code of its bucket. Then `others` holds for all keys, not
// only for the sample.
SIMT_FN bool compares_codes(const Profile& profile) { return !profile.exact && (!profile.mixed || profile.single); }

// Chooses the plan. The host does not know it: it launches the kernels of several plans, and those of the others
// return at once.
SIMT_FN Plan plan(const Profile& profile) {
    if (!(profile.seen & DESCENT)) return LEAVE;
    if (!(profile.seen & ASCENT)) return REVERSE;
    if ((profile.exact || !profile.mixed) && !(profile.seen & OUTSIDE)) return FILL;
    return profile.crowded > profile.tolerated ? PASSES : DISTRIBUTE;
}

// The narrowest unsigned type that has atomics and holds a code.
template <class Code> struct WordOf {
    using Type = u32;
};
template <> struct WordOf<u64> {
    using Type = u64;
};

SIMT_FN u32 upper_half(u32 word) { return word; }
SIMT_FN u32 upper_half(u64 word) { return u32(word >> 32); }

template <class Code, bool UNEVEN = false> class Classifier {
    using Word = typename WordOf<Code>::Type;

    Word low, span;
    u32 shift, scale;
    const u32* cells;

    // The bucket of the code that is `offset` above the lowest.
    SIMT_FN u32 at(Word offset) const {
        const u32 top = upper_half(Word(offset << shift));
        if constexpr (UNEVEN) {
            const u32 before = cells[cell(top)], own = cells[cell(top) + 1] - before;
            return (before + u32(u64(top << CELL_BITS) * own >> 32)) >> CELL_FRACTION;
        }
        return u32(u64(top) * scale >> 32);
    }

    static SIMT_FN u32 cell(u32 top) { return top >> (32 - CELL_BITS); }

public:
    // `cells`: a copy of the profile's cells in shared memory, for UNEVEN only.
    SIMT_FN explicit Classifier(const Range& range, const u32* cells = nullptr)
        : low(Word(range.low)), span(Word(range.span)), shift(range.shift), scale(range.scale), cells(cells) {}

    SIMT_FN u32 bucket(Code code) const { return at(lesser(Word(greater(Word(code), low) - low), span)); }

    SIMT_FN u32 cell_of(Code code) const {
        return cell(upper_half(Word(lesser(Word(greater(Word(code), low) - low), span) << shift)));
    }

    // The number of buckets before a cell if all have one width, in units of 2^-CELL_FRACTION buckets.
    SIMT_FN u32 even_cell(u32 cell) const {
        return u32(u64(cell << (32 - CELL_BITS)) * scale >> (32 - CELL_FRACTION));
    }

    // The bucket of a code that is known to be in the range.
    SIMT_FN u32 bucket_within(Code code) const { return at(Word(Word(code) - low)); }

    SIMT_FN bool is_outside(Code code) const { return Word(Word(code) - low) > span; }

    // Where a code of the range lies between the bounds of its bucket, as a fraction of 2^32. For even buckets only.
    SIMT_FN u32 part_within(Code code) const { return upper_half(Word(Word(Word(code) - low) << shift)) * scale; }

    // The only code of a bucket of an exact range.
    SIMT_FN Code code_of(u32 bucket) const { return Code(low + bucket); }
};

// Copies the cells to shared memory. All threads may read them after the next barrier.
template <u32 THREADS> SIMT_FN void load_cells(u32* cells, const Profile& profile) {
    for (u32 i = thread_rank(); i <= CELLS; i += THREADS) cells[i] = profile.cells[i];
}

// The range low..=low + span, cut into at most `buckets` buckets, which are 2 to 2^30.
template <class Code> SIMT_FN Range cut(Code low, Code span, u32 buckets) {
    using Word = typename WordOf<Code>::Type;
    const Word last = greater(Word(span), Word(1));
    const u32 shift = leading_zeros(last);
    const u32 top = upper_half(Word(last << shift));
    // In an exact range, the scale undoes the shift.
    const u32 scale = Word(span) < buckets ? 1u << (8 * sizeof(Word) - shift) : u32((u64(buckets) << 32) / (u64(top) + 1));
    return {u64(low), u64(span), shift, scale};
}

} // namespace simt::classify
