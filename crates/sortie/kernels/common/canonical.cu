// Makes the bits of floats tell whether they are equal: of the zeros and of the NaNs, one each is left.
//
// - Compile-time parameters: SORTIE_KEY_BYTES is 2, 4 or 8, the width of a float.
// - Source: own.
#include "canonical.cuh"
#include "code.cuh"
#include "simt.cuh"

namespace simt::canonical {

using Key = code::OfBytes<SORTIE_KEY_BYTES>::Type;

constexpr u32 BLOCK = 256;
// Floats that a thread loads before it stores the first. A thread past the end loads the last float again, because
// loads under a condition would not overlap.
constexpr u32 TAKEN = 8;
constexpr u32 STEP = BLOCK * TAKEN;

// canonical_floats: copies floats. -0.0 becomes 0.0, and every NaN becomes one NaN.
// - Parameters: `from` and `to` are `count` floats each, as bits, and do not overlap. `infinity` has the bits of
//   positive infinity, `nan` those of the NaN to write.
// - Launch: any number of blocks of BLOCK threads, no shared memory.
// - Writes: `to`.
// - Cost: one read and one write of the floats.
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
            if (i < left) to[first + i] = code::canonical(taken[t], Key(infinity), Key(nan));
        }
    }
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::canonical
