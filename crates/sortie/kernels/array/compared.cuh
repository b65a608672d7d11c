// What is sorted by comparison alone: keys whose order one small function knows, perhaps with the key's place.
//
// An instantiation is made for SORTIE_KEY_BYTES, 4 to 64 and a multiple of 4; SORTIE_KEY_COMPARE, the body of key_compare;
// SORTIE_TOTAL, whether keys of which neither goes before the other have the same bits; and SORTIE_PLACED, whether items are
// keys with their places. Items of which neither is less are the same: else a merge in parts could lose one and have another
// twice.
#pragma once

#include "code.cuh"
#include "simt.cuh"

namespace simt::compared {

constexpr bool INDEXED = SORTIE_INDEXED;
constexpr u32 KEY_BYTES = SORTIE_KEY_BYTES;
// What keys move by, and where they begin.
constexpr u32 WORD_BYTES = INDEXED || KEY_BYTES % 8 != 0 ? 4 : KEY_BYTES % 16 != 0 ? 8 : 16;

template <u32 bytes> struct WordOf { using Type = u32; };
template <> struct WordOf<8> { using Type = u64; };
template <> struct WordOf<16> { using Type = Quad; };
using Word = WordOf<WORD_BYTES>::Type;

struct alignas(WORD_BYTES) Key {
    u32 words[KEY_BYTES / 4];
};

// The i-th number that a key has, as words of 32 or 64 bits.
template <class Number> SIMT_FN Number number(const Key& key, u32 i) {
    if constexpr (sizeof(Number) == 4) return key.words[i];
    else return u64(key.words[2 * i + 1]) << 32 | key.words[2 * i];
}

// The i-th word whose first byte is its highest.
SIMT_FN u32 big_endian(const Key& key, u32 i) { return permute_bytes(key.words[i], 0, 0x0123); }

// Whether a goes before b: a strict weak order.
SIMT_FN bool key_compare(const Key& a, const Key& b) { SORTIE_KEY_COMPARE }

#if SORTIE_INDEXED
struct Item {
    Key key;
    u32 index;
};
SIMT_FN bool less(const Item& a, const Item& b) {
    return key_compare(a.key, b.key) || (!key_compare(b.key, a.key) && a.index < b.index);
}
#else
using Item = Key;
SIMT_FN bool less(const Item& a, const Item& b) {
    const bool before = key_compare(a, b);
    if (SORTIE_TOTAL || before || key_compare(b, a)) return before;
    SIMT_UNROLL
    for (u32 w = 0; w < KEY_BYTES / 4; ++w)
        if (a.words[w] != b.words[w]) return a.words[w] < b.words[w];
    return false;
}
#endif

constexpr u32 WORDS = sizeof(Item) / sizeof(Word);

} // namespace simt::compared
