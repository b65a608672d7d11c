// What a distribution moves: a key's code, ALONE or with something BESIDE it; or a code above a PAYLOAD of 32 bits, or
// above its INDEX.
//
// An instantiation is made for SORTIE_KEY_BYTES, 4 at most with PAYLOAD and INDEX, SORTIE_KIND and SORTIE_LOW.
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
