// The input of a segment sort: the keys of segments, with or without a payload, and the arrays that they are in.
//
// Compile-time parameters:
// - SORTIE_KEY_BYTES: 1, 2, 4, 8 or 16, the width of a key. SORTIE_KIND: code::Kind.
// - SORTIE_PAYLOAD_BYTES: 0, 4, 8 or 16, the size of a payload.
// - SORTIE_ARGSORT: 1 if the payload is the index of each key in its segment, 4 bytes, which the sort creates; else 0.
//
// Source: own.
#pragma once

#include "code.cuh"
#include "simt.cuh"
#include "wide.cuh"

namespace simt {

using Key = code::OfBytes<SORTIE_KEY_BYTES>::Type;
constexpr code::Kind KIND = code::SORTIE_KIND;

constexpr bool ARGSORT = SORTIE_ARGSORT != 0;
constexpr u32 PAYLOAD_BYTES = SORTIE_PAYLOAD_BYTES;
// A payload moves as WORDS words.
using Word = code::OfBytes<(PAYLOAD_BYTES < 8 ? 4 : 8)>::Type;
constexpr u32 WORDS = PAYLOAD_BYTES / sizeof(Word);

// The keys and payloads of all segments. Pointers that an instance does not use may have any value.
struct Arrays {
    // The input.
    const Key* keys_in;
    const Word* payload_in;
    // [0]: the result, which may be the input. [1]: scratch memory for merges.
    Key* keys[2];
    Word* payload[2];

    // Not indexed dynamically, because that would put the pointers in local memory.
    SIMT_FN Key* keys_at(u32 which) const { return which == 0 ? keys[0] : keys[1]; }
    SIMT_FN Word* payload_at(u32 which) const { return which == 0 ? payload[0] : payload[1]; }
};

// One segment, or one tile of a longer segment: `count` keys and where they go once they are sorted.
struct Segment {
    const Key* keys;
    const Word* payload;
    Key* sorted_keys;
    Word* sorted_payload;
    u32 count;
    // The index that an argsort writes for the first key: not 0 for a tile of a longer segment.
    u32 first_index;
};

// The `count` keys from `start` on, to be sorted to buffer `to`.
SIMT_FN Segment segment(const Arrays& arrays, u64 start, u32 count, u32 to = 0, u32 first_index = 0) {
    const u64 word = start * WORDS;
    return {arrays.keys_in + start, arrays.payload_in + word, arrays.keys_at(to) + start,
            arrays.payload_at(to) + word, count, first_index};
}

} // namespace simt
