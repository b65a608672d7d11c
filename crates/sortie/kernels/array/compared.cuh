// Items that are sorted by comparison only: keys whose order a small function gives, with or without their index.
//
// Compile-time parameters:
// - SORTIE_KEY_BYTES: the width of a key, 4 to 64 and a multiple of 4.
// - SORTIE_KEY_COMPARE: the body of key_compare(a, b), which returns whether key a sorts before key b.
// - SORTIE_TOTAL: 1 if two keys of which neither sorts before the other have the same bits, else 0.
// - SORTIE_INDEXED: 1 if an item is a key with its index, else 0.
//
// `less` is a total order of the items: two items of which neither is less have the same bits. Ties of keys are
// broken by index, or by the bits of the keys. Without that, a merge in parts could lose one of two equal items and
// write the other twice.
//
// Source: own.
#pragma once

#include "code.cuh"
#include "simt.cuh"

namespace simt::compared {

constexpr bool INDEXED = SORTIE_INDEXED;
constexpr u32 KEY_BYTES = SORTIE_KEY_BYTES;
// The unit in which items move, and their alignment, in bytes.
constexpr u32 WORD_BYTES = INDEXED || KEY_BYTES % 8 != 0 ? 4 : KEY_BYTES % 16 != 0 ? 8 : 16;

template <u32 bytes> struct WordOf { using Type = u32; };
template <> struct WordOf<8> { using Type = u64; };
template <> struct WordOf<16> { using Type = Quad; };
using Word = WordOf<WORD_BYTES>::Type;

struct alignas(WORD_BYTES) Key {
    u32 words[KEY_BYTES / 4];
};

// Number i of a key that is an array of numbers of 32 or 64 bits.
template <class Number> SIMT_FN Number number(const Key& key, u32 i) {
    if constexpr (sizeof(Number) == 4) return key.words[i];
    else return u64(key.words[2 * i + 1]) << 32 | key.words[2 * i];
}

// Word i of a key, read as a big-endian number.
SIMT_FN u32 big_endian(const Key& key, u32 i) { return permute_bytes(key.words[i], 0, 0x0123); }

// Whether a sorts before b: a strict weak order.
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
