// Strings in memory, as Arrow lays them out.
//
// An instantiation is made for SORTIE_STRINGS:
// - 4, 8: one after the other, string s is data[index[s]..index[s + 1]], with offsets of so many bytes; of bytes there are
//   `size`.
// - 16: views of so many bytes, with the string in them or where it is in one of the buffers; of views
//   there are `size`.
#pragma once

#include "simt.cuh"

namespace simt {

// Memory that may be read.
struct Readable {
    const u8* bytes;
    u64 size;
};

// A string, and the memory that it is in.
struct String {
    Readable around;
    const u8* bytes;
    u64 length;

    // Without the first bytes, of which it has as many at least.
    SIMT_FN String without(u64 depth) const { return {around, bytes + depth, length - depth}; }
};

#if SORTIE_STRINGS == 16

struct alignas(16) View {
    u32 length;
    // The string if it has no more bytes than these; else its first four, the number of its buffer, and its place there.
    u32 rest[3];
};

struct Strings {
    const Readable* data;
    const View* entries;
    u64 size;

    SIMT_FN String operator[](u32 index) const {
        const View& view = entries[index];
        const u32 length = view.length;
        if (length <= sizeof(view.rest)) {
            const Readable all = {reinterpret_cast<const u8*>(entries), size * sizeof(View)};
            return {all, reinterpret_cast<const u8*>(view.rest), length};
        }
        const Readable buffer = data[view.rest[1]];
        return {buffer, buffer.bytes + view.rest[2], length};
    }
};

#else

using Offset = detail::Unsigned<SORTIE_STRINGS>::Type;

struct Strings {
    const u8* data;
    const Offset* entries;
    u64 size;

    SIMT_FN String operator[](u32 index) const {
        const u64 start = entries[index];
        return {{data, size}, data + start, entries[index + 1] - start};
    }
};

#endif

// Bytes one after the other, eight at a time, from words as they lie in memory: each byte by itself would take as long.
class Bytes {
public:
    SIMT_FN explicit Bytes(const String& string)
        : around(string.around), at(string.bytes), shift(u32(reinterpret_cast<u64>(at) % 8)) {
        at -= shift;
        word = aligned(around, at);
    }

    // The next eight, the first of them lowest; anything where the bytes have an end.
    SIMT_FN u64 next() {
        at += 8;
        const u64 low = word;
        word = aligned(around, at);
        return shift == 0 ? low : low >> 8 * shift | word << (64 - 8 * shift);
    }

    // Eight from an aligned place on.
    SIMT_FN static u64 aligned(const Readable& around, const u8* from) {
        const u8* end = around.bytes + around.size;
        if (from >= around.bytes && from + 8 <= end) return *reinterpret_cast<const u64*>(from);
        u64 word = 0;
        for (u32 b = 0; b < 8; ++b)
            if (from + b >= around.bytes && from + b < end) word |= u64(from[b]) << 8 * b;
        return word;
    }

private:
    Readable around;
    // Where the last word was.
    const u8* at;
    // Bytes of it that come before the next.
    u32 shift;
    u64 word;
};

} // namespace simt
