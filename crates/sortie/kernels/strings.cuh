// Strings in memory, one after the other, as Arrow lays them out.
//
// An instantiation is made for SORTIE_OFFSET_BYTES (4, 8). String s is bytes[offsets[s]..offsets[s + 1]].
#pragma once

#include "simt.cuh"

namespace simt {

using Offset = detail::Unsigned<SORTIE_OFFSET_BYTES>::Type;

struct Strings {
    const u8* bytes;
    const Offset* offsets;
};

} // namespace simt
