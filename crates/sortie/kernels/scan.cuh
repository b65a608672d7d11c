// Sums over the threads of a block.
//
// Source: Hillis and Steele, "Data parallel algorithms" (1986).
#pragma once

#include "simt.cuh"

namespace simt::scan {

// The sum of the values of all threads before, in a block of THREADS, and of all. `sums` is shared memory, a word for each
// warp; it is free again after the next barrier.
template <u32 THREADS> SIMT_FN u32 exclusive(u32 value, u32* sums, u32& total) {
    constexpr u32 WARPS = THREADS / WARP;
    static_assert(WARPS > 0 && WARPS <= WARP, "the sums of all warps fit one");
    u32 sum = value;
    SIMT_UNROLL
    for (u32 by = 1; by < WARP; by *= 2) {
        const u32 below = shuffle_up(sum, by);
        if (lane() >= by) sum += below;
    }
    if (lane() == WARP - 1) sums[warp_rank()] = sum;
    barrier();
    u32 before = lane() < WARPS ? sums[lane()] : 0;
    SIMT_UNROLL
    for (u32 by = 1; by < WARPS; by *= 2) {
        const u32 below = shuffle_up(before, by);
        if (lane() >= by) before += below;
    }
    total = shuffle(before, WARPS - 1);
    before = shuffle(before, warp_rank() + WARP - 1);
    return (warp_rank() == 0 ? 0 : before) + sum - value;
}

template <u32 THREADS> SIMT_FN u32 exclusive(u32 value, u32* sums) {
    u32 total;
    return exclusive<THREADS>(value, sums, total);
}

} // namespace simt::scan
