// The bits of floats that are equal by value.
//
// - Source: own.
#pragma once

#include "code.cuh"
#include "simt.cuh"

namespace simt::code {

// The bits of a float, except that -0.0 becomes 0.0, and every NaN becomes `nan`. `infinity` has the bits of positive infinity.
template <class Bits> SIMT_FN Bits canonical(Bits bits, Bits infinity, Bits nan) {
    const Bits magnitude = Bits(bits & Bits(~SIGN<Bits>));
    if (magnitude > infinity) return nan;
    return magnitude == 0 ? Bits(0) : bits;
}

} // namespace simt::code
