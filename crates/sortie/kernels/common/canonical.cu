// Floats whose bits say whether they are equal: one zero and one NaN.
//
// Contract. An instantiation is made for SORTIE_KEY_BYTES (2, 4, 8). Any number of blocks. `to` is other
// memory than `from`.
// - canonical_floats copies floats: -0.0 becomes 0.0, and every NaN the one that the host gives. Cost: a read and a write.
#include "code.cuh"
#include "simt.cuh"

namespace simt::canonical {

using Key = code::OfBytes<SORTIE_KEY_BYTES>::Type;

constexpr u32 BLOCK = 256;
// What a thread loads before it stores. Every load is made, of the last key where there is none: loads under conditions of
// their own would wait for one another.
constexpr u32 TAKEN = 8;
constexpr u32 STEP = BLOCK * TAKEN;

SIMT_FN Key canonical(Key key, Key infinity, Key nan) {
    const Key magnitude = Key(key & Key(~code::SIGN<Key>));
    if (magnitude > infinity) return nan;
    return magnitude == 0 ? Key(0) : key;
}

SIMT_KERNEL(BLOCK, 4) canonical_floats(const Key* from, u64 count, Key* to, u64 infinity, u64 nan) {
    await_turn();
    for (u64 first = u64(block_rank()) * STEP; first < count; first += u64(grid_blocks()) * STEP) {
        const u32 left = u32(lesser(count - first, u64(STEP)));
        Key taken[TAKEN];
        SIMT_UNROLL
        for (u32 t = 0; t < TAKEN; ++t) taken[t] = from[first + lesser(t * BLOCK + thread_rank(), left - 1)];
        SIMT_UNROLL
        for (u32 t = 0; t < TAKEN; ++t) {
            const u32 i = t * BLOCK + thread_rank();
            if (i < left) to[first + i] = canonical(taken[t], Key(infinity), Key(nan));
        }
    }
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::canonical
