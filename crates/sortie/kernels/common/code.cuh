// Keys as codes: unsigned integers that sort in the order that was asked for, for every key type, direction and
// position of NaNs.
//
// - `encode` makes the code of a key's bits, and `decode` the bits of a code. They are inverses.
// - The host fills in a Transform. The CPU engine uses the same bijection.
// - The template parameter `kind` selects the instructions; the numbers of the Transform do the rest.
// - Cost per key: one instruction for integers, five for ascending floats, eight for descending floats.
// - Source: own.
#pragma once

#include "simt.cuh"

namespace simt::code {

template <u32 bytes> struct OfBytes;
template <> struct OfBytes<1> { using Type = u8; };
template <> struct OfBytes<2> { using Type = u16; };
template <> struct OfBytes<4> { using Type = u32; };
template <> struct OfBytes<8> { using Type = u64; };

enum Kind : int { Integers, Floats, FloatsDescending };

// The numbers by which the host describes a type and an order. For keys of less than 64 bits only the low bits count.
struct Transform {
    // The bits to flip in every integer: the sign bit of signed types, exclusive-or all bits if the order is
    // descending. For integers of 128 bits, the lower half of these bits.
    u64 flip;
    // Floats: the number of negative NaNs. Subtracting it makes their codes wrap round to the top.
    // Integers of 128 bits: the upper half of the bits to flip.
    u64 nans;
    // Floats: the code of the last number that is no NaN. In descending order, codes up to it are reversed.
    u64 top;
    // Floats: added last, modulo 2^bits. The number of all NaNs if they sort first, else 0.
    u64 rotate;
};

template <class Bits> constexpr Bits SIGN = Bits(Bits(1) << (8 * sizeof(Bits) - 1));

// All bits set if the sign bit is set, else 0.
template <class Bits> SIMT_FN Bits sign_mask(Bits bits) { return Bits(0) - Bits(bits >> (8 * sizeof(Bits) - 1)); }

// Reverses the codes of numbers if the order is descending. Codes of NaNs stay.
template <Kind kind, class Bits> SIMT_FN Bits complement(Bits code, Bits top) {
    return kind == FloatsDescending && code <= top ? Bits(top - code) : code;
}

template <Kind kind, class Bits> SIMT_FN Bits encode(Bits bits, const Transform& t) {
    if constexpr (kind == Integers) {
        return Bits(bits ^ Bits(t.flip));
    } else {
        const Bits usual = Bits(bits ^ (sign_mask(bits) | SIGN<Bits>));
        return Bits(complement<kind>(Bits(usual - Bits(t.nans)), Bits(t.top)) + Bits(t.rotate));
    }
}

template <Kind kind, class Bits> SIMT_FN Bits decode(Bits code, const Transform& t) {
    if constexpr (kind == Integers) {
        return Bits(code ^ Bits(t.flip));
    } else {
        const Bits usual = Bits(complement<kind>(Bits(code - Bits(t.rotate)), Bits(t.top)) + Bits(t.nans));
        return Bits(usual ^ (sign_mask(Bits(~usual)) | SIGN<Bits>));
    }
}

} // namespace simt::code
