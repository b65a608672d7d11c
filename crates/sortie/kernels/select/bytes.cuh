// Counts digits of 8 bits of some items in shared memory, and finds the digit of the item of some rank.
//
// - Source: own.
#pragma once

#include "simt.cuh"

namespace simt::select {

constexpr u32 BYTE_BITS = 8;
constexpr u32 BYTES = 1u << BYTE_BITS;

// Adds one to the count of each lane's digit, if it counts. The whole warp reaches it.
SIMT_FN void count_digit(u32* counts, u32 digit, bool does) {
    // Equal digits meet at one counter.
    const u32 one = shuffle(digit, 0);
    if (all(does && digit == one)) {
        if (lane() == 0) atomic_add<Relaxed, Block>(&counts[one], WARP);
    } else if (does) {
        atomic_add<Relaxed, Block>(&counts[digit], 1);
    }
}

// Calls found(digit, first, through) for the digit of the item of rank `rank`, counted from 1, in one lane of the warp: `first` items
// have lower digits, `through` items this one or a lower one. The whole warp reaches it.
// - `counts`: those of the BYTES digits. `before`: the items before all that were counted.
template <class Found> SIMT_FN void find_digit(const u32* counts, u32 rank, u32 before, Found found) {
    constexpr u32 OWN = BYTES / WARP;
    u32 own = 0;
    SIMT_UNROLL
    for (u32 i = 0; i < OWN; ++i) own += counts[lane() * OWN + i];
    u32 end = own;
    SIMT_UNROLL
    for (u32 by = 1; by < WARP; by *= 2) {
        const u32 below = shuffle_up(end, by);
        if (lane() >= by) end += below;
    }
    u32 first = before + end - own;
    if (first < rank && rank <= before + end) {
        u32 digit = lane() * OWN;
        SIMT_ROLL
        for (; first + counts[digit] < rank; ++digit) first += counts[digit];
        found(digit, first, first + counts[digit]);
    }
}

} // namespace simt::select
