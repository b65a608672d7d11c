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

SIMT_FN Code code_of(Word word) {
    u64 code;
    u32 index;
    split(word, code, index);
    return Code(code);
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

// Whether floats of the hardware compare as their codes do, but for NaNs.
constexpr bool BY_NUMBER = BY_VALUE && KIND != code::Integers && sizeof(Key) >= 4;

template <class Key> struct NumberOf {
    using Type = Key;
};
template <> struct NumberOf<u32> {
    using Type = float;
};
template <> struct NumberOf<u64> {
    using Type = double;
};

// Compares keys with a bound, which is a code.
// - Cost per key: one comparison of floats if they are compared by value and the bound and what is before it are numbers, else
//   that of its code.
struct Bound {
    Code code;
    Key key;
    bool by_number;

    SIMT_FN Bound(Code code, const Codes& codes) : code(code), key(0), by_number(false) {
        if constexpr (BY_NUMBER) {
            key = code::decode<KIND>(Key(code), codes.transform);
            by_number = number(key) == number(key) && Key(codes.transform.rotate) == 0;
        }
    }

    // Sets bit r of the result for each key r before the bound, or, with THROUGH, equal to it.
    template <bool THROUGH, u32 COUNT> SIMT_FN u32 before(const Key (&keys)[COUNT], const Codes& codes) const {
        u32 passing = 0;
        if (BY_NUMBER && by_number) {
            SIMT_UNROLL
            for (u32 r = 0; r < COUNT; ++r) {
                const Number own = number(keys[r]), bound = number(key);
                const bool first = KIND == code::FloatsDescending ? own > bound : own < bound;
                passing |= u32(THROUGH ? first || own == bound : first) << r;
            }
        } else {
            SIMT_UNROLL
            for (u32 r = 0; r < COUNT; ++r) {
                const Code own = codes.of(keys[r]);
                passing |= u32(THROUGH ? own <= code : own < code) << r;
            }
        }
        return passing;
    }

    // Returns the code of the first of some keys. Numbers that are compared by value come before NaNs here: without numbers,
    // the code of the last number.
    template <u32 COUNT> SIMT_FN static Code first(const Key (&keys)[COUNT], const Codes& codes) {
        if constexpr (BY_NUMBER) {
            constexpr bool DESCENDING = KIND == code::FloatsDescending;
            Key first = Key(codes.infinity) | (DESCENDING ? code::SIGN<Key> : 0);
            SIMT_UNROLL
            for (u32 r = 0; r < COUNT; ++r) {
                const Number own = number(keys[r]), best = number(first);
                first = (DESCENDING ? own > best : own < best) ? keys[r] : first;
            }
            return codes.of(first);
        } else {
            Code first = codes.of(keys[0]);
            SIMT_UNROLL
            for (u32 r = 1; r < COUNT; ++r) first = lesser(first, Code(codes.of(keys[r])));
            return first;
        }
    }

  private:
    using Number = NumberOf<Key>::Type;
    SIMT_FN static Number number(Key key) { return detail::cast<Number>(key); }
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
