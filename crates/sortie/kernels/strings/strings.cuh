// Strings in GPU memory, as Arrow stores them.
//
// Compile-time parameter SORTIE_STRINGS:
// - 4 or 8: the width of an offset in bytes. String s is data[entries[s]..entries[s + 1]]. `size` is the length of
//   `data` in bytes.
// - 16: the width of a view in bytes. String s is in view entries[s] itself, or in the buffer that the view names.
//   `data` is the table of buffers. `size` is the number of views.
//
// Source: own.
#pragma once

#include "simt.cuh"

namespace simt {

// `size` bytes of memory that may be read.
struct Readable {
    const u8* bytes;
    u64 size;
};

// A string: `length` bytes, within the memory `around`.
struct String {
    Readable around;
    const u8* bytes;
    u64 length;

    // The string without its first `depth` bytes. It has at least as many.
    SIMT_FN String without(u64 depth) const { return {around, bytes + depth, length - depth}; }
};

#if SORTIE_STRINGS == 16

struct alignas(16) View {
    u32 length;
    // The bytes of a string of up to 12. For a longer one: its first four bytes, the number of its buffer, its offset
    // there.
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

// Reads the bytes of a string eight at a time, by aligned loads: a load of one byte takes as long as a load of eight.
class Bytes {
public:
    SIMT_FN explicit Bytes(const String& string)
        : around(string.around), at(string.bytes), shift(u32(reinterpret_cast<u64>(at) % 8)) {
        at -= shift;
        word = aligned(around, at);
    }

    // The next eight bytes, the first of them in the lowest bits. Beyond the end of the string, bytes have any value.
    SIMT_FN u64 next() {
        at += 8;
        const u64 low = word;
        word = aligned(around, at);
        return shift == 0 ? low : low >> 8 * shift | word << (64 - 8 * shift);
    }

    // The eight bytes from an aligned address on. Bytes outside of `around` are 0.
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
    // The address of `word`.
    const u8* at;
    // The number of bytes of `word` that have been read, or are before the string.
    u32 shift;
    u64 word;
};

} // namespace simt
