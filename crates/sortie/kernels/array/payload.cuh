// The payload that goes beside items, and is moved as they are.
//
// An instantiation is made for SORTIE_PAYLOAD_BYTES of it an item, a multiple of 4. It is aligned to 8 bytes where those
// divide its size, else to 4.
#pragma once

#include "code.cuh"
#include "simt.cuh"

namespace simt::payload {

// What an item's payload is moved as: 16 bytes may lie at any 8, they are two words.
using Word = code::OfBytes<(SORTIE_PAYLOAD_BYTES > 0 && SORTIE_PAYLOAD_BYTES % 8 == 0 ? 8 : 4)>::Type;
constexpr u32 WORDS = SORTIE_PAYLOAD_BYTES / sizeof(Word);

} // namespace simt::payload
