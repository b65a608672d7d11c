// The classifier of a distribution by digits: which of many buckets a code belongs to.
//
// Contract. Codes from `low` to `low + span` are cut into buckets: of one width where keys are spread evenly; else the range
// is cut into cells of one width, each of which has as many buckets as a sample has keys there. Codes below belong to the
// first bucket, codes above to the last. The bucket never falls as the code rises, so sorted buckets in their order are a
// sorted whole whatever the range is: it may be a guess. Where there are more buckets than codes in the range, each of those
// codes has the bucket of its place. Cost: five instructions a code of up to 32 bits; with cells two reads of shared memory
// and four more.
#pragma once

#include "simt.cuh"

namespace simt::classify {

struct Range {
    u64 low, span;
    // Brings the highest bit of the span to the top of its word.
    u32 shift;
    // Buckets for the word's upper 32 bits, as a part of 2^32.
    u32 scale;
};

// Cells of a range, a power of two.
constexpr u32 CELL_BITS = 10;
constexpr u32 CELLS = 1u << CELL_BITS;
// Binary digits of a bucket's number where cells begin.
constexpr u32 CELL_FRACTION = 12;

// What is known of the keys, from a sample; their order by a read of all, where the sample is in order.
struct Profile {
    Range range;
    // Each code of the range has a bucket of its own.
    u32 exact;
    // Of ASCENT, DESCENT and OUTSIDE.
    u32 seen;
    // Keys are not spread evenly: there are cells.
    u32 uneven;
    // A bucket has two codes of a sample; and a bucket of one code is too long for a block.
    u32 mixed, single;
    // Keys of a sample in buckets that are too long for a block and have two codes, and how many of them there may be.
    u32 crowded, tolerated;
    // Buckets before each cell, and all, in units of 2^-CELL_FRACTION.
    u32 cells[CELLS + 1];
};

// Neighbours that rise or fall, and a code that is not its bucket's only one, where there should be no other.
constexpr u32 ASCENT = 1, DESCENT = 2, OUTSIDE = 4;

// How the keys are put in order: some inputs need no distribution. Where each bucket has one code, it is FILLed, or, with what goes
// beside its keys, moved. Where too many buckets are too long, stable passes over all digits take less, or a sample sort of wide
// keys.
enum Plan : u32 { LEAVE, REVERSE, FILL, DISTRIBUTE, PASSES };

// The codes that a sample shows of the buckets.
template <class Word> struct Codes {
    // One of each bucket, as `note` has it: zero where there is none.
    Word* noted;
    // Whether it has another.
    u32* others;
};

// A code as it is noted, and back. That which would be zero is not noted: one that many keys hardly have.
template <class Word> SIMT_FN Word note(Word code) { return code ^ Word(0x9E3779B97F4A7C15); }

// Whether who counts the buckets compares each key with the code of its bucket, so that `others` hold for all keys.
SIMT_FN bool compares_codes(const Profile& profile) { return !profile.exact && (!profile.mixed || profile.single); }

SIMT_FN Plan plan(const Profile& profile) {
    if (!(profile.seen & DESCENT)) return LEAVE;
    if (!(profile.seen & ASCENT)) return REVERSE;
    if ((profile.exact || !profile.mixed) && !(profile.seen & OUTSIDE)) return FILL;
    return profile.crowded > profile.tolerated ? PASSES : DISTRIBUTE;
}

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
    // With cells, those of the profile in shared memory.
    SIMT_FN explicit Classifier(const Range& range, const u32* cells = nullptr)
        : low(Word(range.low)), span(Word(range.span)), shift(range.shift), scale(range.scale), cells(cells) {}

    SIMT_FN u32 bucket(Code code) const { return at(lesser(Word(greater(Word(code), low) - low), span)); }

    SIMT_FN u32 cell_of(Code code) const {
        return cell(upper_half(Word(lesser(Word(greater(Word(code), low) - low), span) << shift)));
    }

    // Buckets before a cell, where all are of one width, in units of 2^-CELL_FRACTION.
    SIMT_FN u32 even_cell(u32 cell) const {
        return u32(u64(cell << (32 - CELL_BITS)) * scale >> (32 - CELL_FRACTION));
    }

    // Of a code that is not outside.
    SIMT_FN u32 bucket_within(Code code) const { return at(Word(Word(code) - low)); }

    SIMT_FN bool is_outside(Code code) const { return Word(Word(code) - low) > span; }

    // Where such a code lies in its bucket, as a part of 2^32.
    SIMT_FN u32 part_within(Code code) const { return upper_half(Word(Word(Word(code) - low) << shift)) * scale; }

    // Of an exact range.
    SIMT_FN Code code_of(u32 bucket) const { return Code(low + bucket); }
};

// Brings the cells to shared memory; they are there after the next barrier.
template <u32 THREADS> SIMT_FN void load_cells(u32* cells, const Profile& profile) {
    for (u32 i = thread_rank(); i <= CELLS; i += THREADS) cells[i] = profile.cells[i];
}

// The range from `low` to `low + span`, cut into at most `buckets`, of which there are 2 to 2^30.
template <class Code> SIMT_FN Range cut(Code low, Code span, u32 buckets) {
    using Word = typename WordOf<Code>::Type;
    const Word last = greater(Word(span), Word(1));
    const u32 shift = leading_zeros(last);
    const u32 top = upper_half(Word(last << shift));
    // Of an exact range the scale shifts the word back.
    const u32 scale = Word(span) < buckets ? 1u << (8 * sizeof(Word) - shift) : u32((u64(buckets) << 32) / (u64(top) + 1));
    return {u64(low), u64(span), shift, scale};
}

} // namespace simt::classify
