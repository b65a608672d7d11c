// Sums over the threads of a block.
//
// Source: Hillis and Steele, "Data parallel algorithms" (1986).
#pragma once

#include "simt.cuh"

namespace simt::scan {

// The sum of the values of all threads before, in a block of THREADS, and of all. `sums` is shared memory, one for each
// warp; it is free again after the next barrier.
template <u32 THREADS, class T>
SIMT_FN T exclusive(typename detail::Same<T>::Type value, T* sums, typename detail::Same<T>::Type& total) {
    constexpr u32 WARPS = THREADS / WARP;
    static_assert(WARPS > 0 && WARPS <= WARP, "the sums of all warps fit one");
    T sum = value;
    SIMT_UNROLL
    for (u32 by = 1; by < WARP; by *= 2) {
        const T below = shuffle_up(sum, by);
        if (lane() >= by) sum += below;
    }
    if (lane() == WARP - 1) sums[warp_rank()] = sum;
    barrier();
    T before = lane() < WARPS ? sums[lane()] : 0;
    SIMT_UNROLL
    for (u32 by = 1; by < WARPS; by *= 2) {
        const T below = shuffle_up(before, by);
        if (lane() >= by) before += below;
    }
    total = shuffle(before, WARPS - 1);
    before = shuffle(before, warp_rank() + WARP - 1);
    return (warp_rank() == 0 ? 0 : before) + sum - value;
}

template <u32 THREADS, class T> SIMT_FN T exclusive(typename detail::Same<T>::Type value, T* sums) {
    T total;
    return exclusive<THREADS>(value, sums, total);
}

} // namespace simt::scan
