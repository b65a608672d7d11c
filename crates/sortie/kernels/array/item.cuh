// The items that a distribution moves, each made of a key's code and, for some sorts, 32 bits below it.
//
// Compile-time parameters:
// - SORTIE_KEY_BYTES: the width of a key, at most 4 with PAYLOAD and INDEX.
// - SORTIE_KIND: code::Kind.
// - SORTIE_LOW: what an item is.
//   - ALONE: the code; keys have no payload.
//   - BESIDE: the code; payloads are in an array of their own.
//   - PAYLOAD: 64 bits, the code above a payload of 32 bits.
//   - INDEX: 64 bits, the code above the key's index.
// Source: own.
#pragma once

#include "code.cuh"
#include "simt.cuh"

#define ALONE 0
#define PAYLOAD 1
#define BESIDE 2
#define INDEX 3

namespace simt::item {

using Key = code::OfBytes<SORTIE_KEY_BYTES>::Type;

#if SORTIE_LOW == ALONE || SORTIE_LOW == BESIDE
using Item = Key;
SIMT_FN Key code_of(Item item) { return item; }
#else
static_assert(sizeof(Key) <= 4, "a code has 32 bits at most");
using Item = u64;
SIMT_FN Key code_of(Item item) { return Key(item >> 32); }
SIMT_FN u32 low_of(Item item) { return u32(item); }
SIMT_FN Item join(Key code, u32 low) { return u64(code) << 32 | low; }
#endif

} // namespace simt::item
