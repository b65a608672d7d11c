// Cells divide an order, so that a table can say something of the codes of each.
//
// - Compile-time parameters: those of word.cuh, and SORTIE_CELL_BITS, the binary logarithm of the number of cells.
// - A code before another is in the same cell or one before.
// - Source: own.
#pragma once

#include "simt.cuh"
#include "word.cuh"

namespace simt::select {

constexpr u32 CELLS = 1u << SORTIE_CELL_BITS;
// Floats of 16 bits have so few codes that cells of codes are narrow enough.
constexpr bool HAS_VALUES = KIND != code::Integers && sizeof(Key) >= 4;

// The number that a key is, or near it.
SIMT_FN float value_of(Key key) {
    if constexpr (sizeof(Key) == 8) return float(detail::cast<double>(key));
    else if constexpr (sizeof(Key) == 4) return detail::cast<float>(key);
    else return 0;
}

// Whether the number of a code is finite as a float.
SIMT_FN bool is_finite(Code code, const Codes& codes) {
    const float number = value_of(code::decode<KIND>(Key(code), codes.transform));
    return number - number == 0;
}

// Where the entry of a cell is in its table. Numbers that are written in few bits are in cells at distances of powers of two, which would
// be in one bank of shared memory.
SIMT_FN u32 entry_of(u32 cell) { return cell ^ cell >> 6; }

struct Cells {
    // Codes before `first` are in its cell, and those after `last` in its.
    Code first, last;
    // The binary logarithm of the codes of a cell.
    u32 shift;
    // If `scale` is not 0, cells are as wide in the numbers that keys are instead: (number - origin) * scale is between 0 and 1, and `flip`
    // makes of its bits, after a product and a sum, the cell. It is 0 for NaN, so that it rises towards the numbers that are far from NaNs.
    float origin, scale;
    u32 flip;

    SIMT_FN u32 of_code(Code code) const { return u32(Code(lesser(greater(code, first), last) - first) >> shift); }

    SIMT_FN u32 of_value(Key key) const {
        // The bits of 2^23 + i are those of 2^23, plus i.
        constexpr float INTEGER = 8388608.0f;
        return detail::cast<u32>(multiply_add(saturated((value_of(key) - origin) * scale), float(CELLS - 1), INTEGER)) ^ flip;
    }

    SIMT_FN u32 of(Code code, const Codes& codes) const {
        if constexpr (HAS_VALUES)
            if (scale != 0) return of_value(code::decode<KIND>(Key(code), codes.transform));
        return of_code(code);
    }

    // The cells of some keys and their codes.
    template <u32 LENGTH> SIMT_FN void of_row(const Key (&row)[LENGTH], const Code (&code)[LENGTH], u32 (&cells)[LENGTH]) const {
        if (HAS_VALUES && scale != 0) {
            SIMT_UNROLL
            for (u32 r = 0; r < LENGTH; ++r) cells[r] = of_value(row[r]);
        } else {
            SIMT_UNROLL
            for (u32 r = 0; r < LENGTH; ++r) cells[r] = of_code(code[r]);
        }
    }
};

// Cells that are narrow between these codes.
SIMT_FN Cells cells_of_codes(Code low, Code high) {
    const Code width = Code(high - low);
    const u32 bits = 8 * sizeof(Code) - leading_zeros(width);
    u32 shift = bits > SORTIE_CELL_BITS ? bits - SORTIE_CELL_BITS : 0;
    // Two are for the codes before and after them.
    if (width >> shift >= CELLS - 2) ++shift;
    const Code codes = Code(Code(1) << shift);
    return {low < codes ? Code(0) : Code(low - codes), Code(high + codes) < high ? Code(~Code(0)) : Code(high + codes), shift, 0, 0, 0};
}

// The same in the numbers of these codes. `scale` is 0 if there are no such cells.
SIMT_FN Cells cells_of_values(Code low, Code high, const Codes& codes) {
    const bool nans_are_last = Key(codes.transform.rotate) == 0;
    const auto number = [&](Code code) { return value_of(code::decode<KIND>(Key(code), codes.transform)); };
    const float from = number(nans_are_last ? high : low), to = number(nans_are_last ? low : high);
    // Two more are for the numbers before and after them.
    const float cell = (to - from) / float(CELLS - 4);
    const float scale = 1 / (cell * float(CELLS));
    const float largest = 3e38f, size = scale < 0 ? -scale : scale;
    Cells cells = {0, 0, 0, from - 2 * cell, size > 0 && size < largest ? scale : 0, 0x4B000000};
    if (nans_are_last) cells.flip ^= CELLS - 1;
    return cells;
}

} // namespace simt::select
