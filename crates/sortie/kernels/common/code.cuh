// Keys as codes: unsigned integers whose order is the key's, for every type, direction and place of NaNs.
//
// The host fills in a Transform; it is the same bijection as the CPU engine's. What costs instructions is chosen when a
// kernel is instantiated, the rest is a number. Cost: one instruction a key for integers, five or eight for floats.
#pragma once

#include "simt.cuh"

namespace simt::code {

template <u32 bytes> struct OfBytes;
template <> struct OfBytes<1> { using Type = u8; };
template <> struct OfBytes<2> { using Type = u16; };
template <> struct OfBytes<4> { using Type = u32; };
template <> struct OfBytes<8> { using Type = u64; };

enum Kind : int { Integers, Floats, FloatsDescending };

// What the host says of a type and an order. Only the low bits count for keys under 64 bits.
struct Transform {
    // Exchanged in every key: the sign of signed integers, all bits where integers descend. Of 128 bits the lower half.
    u64 flip;
    // Floats: negative NaNs, which wrap round to the top. Integers of 128 bits: the upper half of what is exchanged.
    u64 nans;
    // Floats: the code of the last number, up to which codes are complemented where they descend.
    u64 top;
    // Floats: added last, both kinds of NaN where they go first.
    u64 rotate;
};

template <class Bits> constexpr Bits SIGN = Bits(Bits(1) << (8 * sizeof(Bits) - 1));

// All bits where the sign is set.
template <class Bits> SIMT_FN Bits sign_mask(Bits bits) { return Bits(0) - Bits(bits >> (8 * sizeof(Bits) - 1)); }

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
