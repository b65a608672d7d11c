// What is sorted: keys, perhaps with a payload, and where both come from and go to.
//
// An instantiation is made for SORTIE_KEY_BYTES (1, 2, 4, 8, 16), SORTIE_KIND (code::Kind) and SORTIE_PAYLOAD_BYTES (0, 4,
// 8, 16). With SORTIE_ARGSORT the payload is made here: 4 bytes, the place of each key in its segment.
#pragma once

#include "code.cuh"
#include "simt.cuh"
#include "wide.cuh"

namespace simt {

using Key = code::OfBytes<SORTIE_KEY_BYTES>::Type;
constexpr code::Kind KIND = code::SORTIE_KIND;

constexpr bool ARGSORT = SORTIE_ARGSORT != 0;
constexpr u32 PAYLOAD_BYTES = SORTIE_PAYLOAD_BYTES;
// A payload moves as so many words.
using Word = code::OfBytes<(PAYLOAD_BYTES < 8 ? 4 : 8)>::Type;
constexpr u32 WORDS = PAYLOAD_BYTES / sizeof(Word);

// All keys and payloads; what is not used can be anything.
struct Arrays {
    // Before the sort.
    const Key* keys_in;
    const Word* payload_in;
    // Where they belong once they are sorted, which may be where they are; and scratch for merges.
    Key* keys[2];
    Word* payload[2];

    // Chosen without an index, which would put the arrays in memory.
    SIMT_FN Key* keys_at(u32 which) const { return which == 0 ? keys[0] : keys[1]; }
    SIMT_FN Word* payload_at(u32 which) const { return which == 0 ? payload[0] : payload[1]; }
};

struct Segment {
    const Key* keys;
    const Word* payload;
    Key* sorted_keys;
    Word* sorted_payload;
    u32 count;
    // The place of its first key, which is not 0 in a tile of a longer segment.
    u32 first_index;
};

// `count` keys from `start` on, to one of the two destinations.
SIMT_FN Segment segment(const Arrays& arrays, u64 start, u32 count, u32 to = 0, u32 first_index = 0) {
    const u64 word = start * WORDS;
    return {arrays.keys_in + start, arrays.payload_in + word, arrays.keys_at(to) + start,
            arrays.payload_at(to) + word, count, first_index};
}

} // namespace simt
