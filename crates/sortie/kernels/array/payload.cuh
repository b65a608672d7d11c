// The payload that goes beside items, and is moved as they are.
//
// An instantiation is made for SORTIE_PAYLOAD_BYTES of it an item (0, 4, 8, 16).
#pragma once

#include "code.cuh"
#include "simt.cuh"

namespace simt::payload {

// What an item's payload is moved as: 16 bytes may lie at any 8, they are two words.
using Word = code::OfBytes<(SORTIE_PAYLOAD_BYTES < 8 ? 4 : 8)>::Type;
constexpr u32 WORDS = SORTIE_PAYLOAD_BYTES / sizeof(Word);

} // namespace simt::payload
