// Payloads in an array of their own, which move as their keys do.
//
// - Compile-time parameters: SORTIE_PAYLOAD_BYTES is the size of a payload, a multiple of 4, or 0 for none.
// - Alignment: to 8 bytes if the size is a multiple of 8, else to 4.
// - A payload is WORDS words of type Word.
// - Source: own.
#pragma once

#include "code.cuh"
#include "simt.cuh"

namespace simt::payload {

// The unit in which payloads move. Payloads of 16 bytes are only aligned to 8, so they are two words.
using Word = code::OfBytes<(SORTIE_PAYLOAD_BYTES > 0 && SORTIE_PAYLOAD_BYTES % 8 == 0 ? 8 : 4)>::Type;
constexpr u32 WORDS = SORTIE_PAYLOAD_BYTES / sizeof(Word);

} // namespace simt::payload
