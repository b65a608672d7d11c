// Exclusive prefix sums over the threads of a block.
//
// - Cost: up to 12 shuffles and one barrier.
// - Source: Hillis and Steele, "Data parallel algorithms" (1986).
#pragma once

#include "simt.cuh"

namespace simt::scan {

// Returns the sum of the values of all threads with a lower rank, and sets `total` to the sum over the block.
// - Reached by all THREADS threads of the block, which are whole warps.
// - `sums` is shared memory with one entry per warp. It may be reused after the next barrier.
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

// The same without the total.
template <u32 THREADS, class T> SIMT_FN T exclusive(typename detail::Same<T>::Type value, T* sums) {
    T total;
    return exclusive<THREADS>(value, sums, total);
}

} // namespace simt::scan
