// Counts of the digits that stable passes sort by.
#pragma once

#include "simt.cuh"

namespace simt::digits {

constexpr u32 BITS = 8;
constexpr u32 RADIX = 1u << BITS;
constexpr u32 MOST = 8;

// Zero before.
struct Digits {
    // Keys with each value of each digit; then where those begin in all.
    u64 counts[MOST * RADIX];
    u32 tickets[MOST];
    // A bit for each digit in which keys differ; and blocks that are done counting.
    u32 active, done;
};

} // namespace simt::digits
