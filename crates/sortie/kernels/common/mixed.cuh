// Random numbers for samples.
#pragma once

#include "simt.cuh"

namespace simt {

// A bijection in which every bit of the result depends on every bit of `x`: the last step of splitmix64 (Steele, Lea
// and Flood, "Fast splittable pseudorandom number generators", 2014).
SIMT_FN u64 mixed(u64 x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

} // namespace simt
