// The list of buckets that no block could sort. The engine then sorts them as segments between offsets.
//
// - Each bucket is three offsets: its start, its end, and SEPARATOR. Each offset and the next one are then read as the
//   bounds of a segment. With a SEPARATOR, the length is 0 or too great, so no class of segments takes it.
// - Source: own.
#pragma once

#include "simt.cuh"

namespace simt::left {

// The least length of a bucket in the list. It bounds the length of the list.
constexpr u32 LEAST = 1024;
// Greater than any number of keys. All bytes are equal, so that a fill can write it.
constexpr u64 SEPARATOR = 0x8080808080808080;

// - `offsets`: three for each bucket.
// - `count`: the number of buckets. Zero before the first `add`.
struct List {
    u64* offsets;
    u32* count;
};

// Appends the bucket start..end. Called by one thread. Cost: one atomic in global memory.
SIMT_FN void add(const List& list, u64 start, u64 end) {
    u64* own = list.offsets + 3 * u64(atomic_add(list.count, 1));
    own[0] = start;
    own[1] = end;
    own[2] = SEPARATOR;
}

} // namespace simt::left
