// Searches for the first place from which on something holds.
#pragma once

#include "simt.cuh"

namespace simt::search {

// The first from low on of which `holds` is true, as it then is of all that follow; or high. By a warp together, which
// compares at 32 places at a time.
template <class Index, class Holds> SIMT_FN Index first_of_warp(Index low, Index high, Holds holds) {
    while (low < high) {
        const Index step = (high - low + WARP - 1) / WARP;
        const Index probe = low + (lane() + 1) * step - 1;
        const u32 held = ballot(probe >= high || holds(probe));
        if (held == 0) return high;
        const u32 first = trailing_zeros(held);
        high = lesser(high, Index(low + (first + 1) * step - 1));
        low += first * step;
    }
    return low;
}

// The same by one thread.
template <class Holds> SIMT_FN u32 first_of(u32 low, u32 high, Holds holds) {
    while (low < high) {
        const u32 middle = low + (high - low) / 2;
        if (holds(middle)) high = middle;
        else low = middle + 1;
    }
    return low;
}

} // namespace simt::search
