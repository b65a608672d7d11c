// Keys of 128 bits, which are integers, and their codes.
//
// - NVRTC has a type of this width only with an option, so this is a struct of two words.
// - Source: own.
#pragma once

#include "code.cuh"
#include "simt.cuh"

namespace simt {

struct alignas(16) Wide {
    u64 low, high;

    Wide() = default;
    SIMT_FN constexpr explicit Wide(u64 low, u64 high = 0) : low(low), high(high) {}

    SIMT_FN explicit operator u32() const { return u32(low); }
    SIMT_FN Wide operator~() const { return Wide(~low, ~high); }
    SIMT_FN Wide operator-(Wide other) const {
        return Wide(low - other.low, high - other.high - (low < other.low));
    }
    // `by` is less than 128.
    SIMT_FN Wide operator>>(u32 by) const {
        if (by >= 64) return Wide(high >> (by - 64));
        return by == 0 ? *this : Wide(low >> by | high << (64 - by), high >> by);
    }
    SIMT_FN bool operator<(Wide other) const { return high < other.high || (high == other.high && low < other.low); }
};

SIMT_FN u32 leading_zeros(Wide x) { return x.high != 0 ? leading_zeros(x.high) : 64 + leading_zeros(x.low); }

SIMT_FN Wide shuffle_xor(Wide value, u32 flip) {
    return Wide(shuffle_xor(value.low, flip), shuffle_xor(value.high, flip));
}

namespace code {

template <> struct OfBytes<16> { using Type = Wide; };

template <Kind kind> SIMT_FN Wide encode(Wide bits, const Transform& t) {
    static_assert(kind == Integers, "there are no floats of 128 bits");
    return Wide(bits.low ^ t.flip, bits.high ^ t.nans);
}

// Decoding is the same exclusive-or again.
template <Kind kind> SIMT_FN Wide decode(Wide code, const Transform& t) { return encode<kind>(code, t); }

} // namespace code

} // namespace simt
