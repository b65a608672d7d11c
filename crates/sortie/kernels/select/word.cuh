// Words: a key and its index as one integer, code << 32 | index.
//
// - No two words are equal, and they sort as a stable sort of the keys.
// - Compile-time parameters: SORTIE_KEY_BYTES is 1, 2, 4 or 8; SORTIE_KIND, code::Kind; SORTIE_BY_VALUE is 1 if -0.0
//   equals 0.0 and all NaNs are equal, else 0.
// - Source: own.
#pragma once

#include "canonical.cuh"
#include "code.cuh"
#include "simt.cuh"
#include "wide.cuh"

namespace simt::select {

using Key = code::OfBytes<SORTIE_KEY_BYTES>::Type;

template <u32 bytes> struct OfKeyBytes {
    using Code = u32;
    using Word = u64;
};
template <> struct OfKeyBytes<8> {
    using Code = u64;
    using Word = Wide;
};
using Code = OfKeyBytes<SORTIE_KEY_BYTES>::Code;
using Word = OfKeyBytes<SORTIE_KEY_BYTES>::Word;

constexpr code::Kind KIND = code::SORTIE_KIND;
constexpr bool BY_VALUE = SORTIE_BY_VALUE != 0;
constexpr u32 CODE_BITS = 8 * sizeof(Key);
constexpr u32 WORD_BITS = CODE_BITS + 32;

SIMT_FN u64 joined(u32 code, u64 index) { return u64(code) << 32 | index; }
SIMT_FN Wide joined(u64 code, u64 index) { return Wide(code << 32 | index, code >> 32); }
SIMT_FN void split(u64 word, u64& code, u32& index) {
    code = word >> 32;
    index = u32(word);
}
SIMT_FN void split(Wide word, u64& code, u32& index) {
    code = word.high << 32 | word.low >> 32;
    index = u32(word.low);
}

// The word with bits `from` and up of `value` set.
SIMT_FN u64 with(u64 word, u64 value, u32 from) { return word | value << from; }
SIMT_FN Wide with(Wide word, u64 value, u32 from) {
    if (from >= 64) return Wide(word.low, word.high | value << (from - 64));
    return Wide(word.low | value << from, word.high | (from == 0 ? 0 : value >> (64 - from)));
}
// The word with its lowest `bits` bits set.
SIMT_FN u64 filled(u64 word, u32 bits) { return bits >= 64 ? ~u64(0) : word | ((u64(1) << bits) - 1); }
SIMT_FN Wide filled(Wide word, u32 bits) {
    return Wide(filled(word.low, bits), bits <= 64 ? word.high : filled(word.high, bits - 64));
}

// The next word. No key has the last one.
SIMT_FN u64 next(u64 word) { return word + 1; }
SIMT_FN Wide next(Wide word) { return Wide(word.low + 1, word.high + (word.low == ~u64(0))); }
SIMT_FN Word after(Word word) { return word < filled(Word(0), WORD_BITS) ? next(word) : word; }

// How keys become codes.
struct Codes {
    code::Transform transform;
    // The bits of positive infinity, and of the NaN that stands for all. Of no meaning unless BY_VALUE.
    u64 infinity, nan;

    SIMT_FN Key of(Key key) const {
        if constexpr (BY_VALUE) key = code::canonical(key, Key(infinity), Key(nan));
        return code::encode<KIND>(key, transform);
    }
};

SIMT_FN Word word_of(Key key, u64 index, const Codes& codes) { return joined(Code(codes.of(key)), index); }

// The results: keys, or null, and indices of `index_bytes` bytes each, 4 or 8.
struct Top {
    Key* keys;
    u8* indices;
    u64 index_bytes;

    // Writes result `at`: the word's index, and the key that is there.
    SIMT_FN void put(u64 at, Word word, const Key* from) const {
        u64 code;
        u32 index;
        split(word, code, index);
        put_index(at, index, from);
    }

    SIMT_FN void put_index(u64 at, u32 index, const Key* from) const {
        if (keys != nullptr) keys[at] = from[index];
        if (index_bytes == 4) reinterpret_cast<u32*>(indices)[at] = index;
        else reinterpret_cast<u64*>(indices)[at] = index;
    }
};

// Rows of one length, and how many keys of each are selected.
struct Rows {
    const Key* keys;
    u64 length;
    u64 k;
};

} // namespace simt::select
