// Strings in memory, one after the other, as Arrow lays them out.
//
// An instantiation is made for SORTIE_OFFSET_BYTES (4, 8). String s is bytes[offsets[s]..offsets[s + 1]]; of bytes there are
// `size`.
#pragma once

#include "simt.cuh"

namespace simt {

using Offset = detail::Unsigned<SORTIE_OFFSET_BYTES>::Type;

struct Strings {
    const u8* bytes;
    const Offset* offsets;
    u64 size;
};

// Bytes one after the other, eight at a time, from words as they lie in memory: each byte by itself would take as long.
class Bytes {
public:
    // From the place on.
    SIMT_FN Bytes(const Strings& strings, u64 place)
        : strings(strings), at(strings.bytes + place), shift(u32(reinterpret_cast<u64>(at) % 8)) {
        at -= shift;
        word = aligned(strings, at);
    }

    // The next eight, the first of them lowest; anything where the bytes have an end.
    SIMT_FN u64 next() {
        at += 8;
        const u64 low = word;
        word = aligned(strings, at);
        return shift == 0 ? low : low >> 8 * shift | word << (64 - 8 * shift);
    }

    // Eight from an aligned place on.
    SIMT_FN static u64 aligned(const Strings& strings, const u8* from) {
        const u8* end = strings.bytes + strings.size;
        if (from >= strings.bytes && from + 8 <= end) return *reinterpret_cast<const u64*>(from);
        u64 word = 0;
        for (u32 b = 0; b < 8; ++b)
            if (from + b >= strings.bytes && from + b < end) word |= u64(from[b]) << 8 * b;
        return word;
    }

private:
    const Strings& strings;
    // Where the last word was.
    const u8* at;
    // Bytes of it that come before the next.
    u32 shift;
    u64 word;
};

} // namespace simt
