// Buckets that no block sorts, listed for who sorts segments: where each begins, where it ends, and NO_PLACE.
#pragma once

#include "simt.cuh"

namespace simt::left {

// None has fewer items.
constexpr u32 LEAST = 1024;
// More than any number of keys: between offsets, what ends or begins there is no segment.
constexpr u64 SEPARATOR = 0x8080808080808080;

// `count` is zero before.
struct List {
    u64* offsets;
    u32* count;
};

SIMT_FN void add(const List& list, u64 start, u64 end) {
    u64* own = list.offsets + 3 * u64(atomic_add(list.count, 1));
    own[0] = start;
    own[1] = end;
    own[2] = SEPARATOR;
}

} // namespace simt::left
