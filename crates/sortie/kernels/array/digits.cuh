// The histograms of the digits that stable passes sort by.
//
// - A digit has BITS bits, so a key has at most MOST digits.
// - Source: own.
#pragma once

#include "simt.cuh"

namespace simt::digits {

constexpr u32 BITS = 8;
constexpr u32 RADIX = 1u << BITS;
constexpr u32 MOST = 8;

// All zero before the first kernel that counts.
struct Digits {
    // Entry d * RADIX + v: the number of keys whose digit d is v. Later the exclusive prefix sum of these within the
    // digit, which is the index where the keys with this value begin.
    u64 counts[MOST * RADIX];
    // For each digit, the next tile that no block has taken.
    u32 tickets[MOST];
    // `active`: bit d is set if keys differ in digit d. `done`: the number of blocks that have finished counting.
    u32 active, done;
};

} // namespace simt::digits
