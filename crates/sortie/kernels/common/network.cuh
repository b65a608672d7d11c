// Sorting networks over items in a thread's registers, and merges of such rows across the lanes of a warp.
//
// - A row is an array of compile-time length. It is indexed only by compile-time constants, so that it stays in
//   registers.
// - No function branches on an item, except through the exchange that the caller passes.
// - Merges across lanes are reached by all lanes of the warp.
// - Cost: an exchange is one minimum and one maximum; across lanes, one shuffle and one minimum or maximum per item.
// - Source: Batcher's merge exchange for any number of inputs (Knuth, TAOCP 3, section 5.2.2, algorithm M), and
//   Batcher's bitonic merge.
#pragma once

#include "simt.cuh"

namespace simt::network {

// The lesser item to a, the greater to b.
template <class Item> SIMT_FN void exchange(Item& a, Item& b) {
    Item low = lesser(a, b);
    b = greater(a, b);
    a = low;
}

SIMT_FN constexpr u32 log2_ceil(u32 n) {
    u32 bits = 0;
    while ((1u << bits) < n) ++bits;
    return bits;
}

// Sorts the N items of the row from FIRST on. Calls exchange_items(a, b, i) for each comparison of the network, where
// i is the index of b among the N items. If the caller skips every exchange with i >= n, the first n items still get
// sorted.
template <u32 N, u32 FIRST = 0, class Item, u32 LENGTH, class Exchange>
SIMT_FN void sort(Item (&row)[LENGTH], Exchange exchange_items) {
    constexpr u32 bits = log2_ceil(N);
    SIMT_UNROLL
    for (u32 p = bits; p-- > 0;) {
        SIMT_UNROLL
        for (u32 q = bits; q-- > p;) {
            const bool first = q + 1 == bits;
            const u32 distance = first ? 1u << p : (2u << q) - (1u << p);
            SIMT_UNROLL
            for (u32 i = 0; i < N; ++i)
                if (i + distance < N && (i >> p & 1) == (first ? 0u : 1u))
                    exchange_items(row[FIRST + i], row[FIRST + i + distance], i + distance);
        }
    }
}

// The same, with exchanges by minimum and maximum.
template <u32 N, u32 FIRST = 0, class Item, u32 LENGTH> SIMT_FN void sort(Item (&row)[LENGTH]) {
    sort<N, FIRST>(row, [](Item& a, Item& b, u32) { exchange(a, b); });
}

// Sorts the N items from FIRST on, which form a bitonic sequence (or a rotation of one). Halves them while N is even,
// and sorts the odd parts that remain as unordered items.
template <u32 N, u32 FIRST = 0, class Item, u32 LENGTH> SIMT_FN void sort_bitonic(Item (&row)[LENGTH]) {
    if constexpr (N % 2 == 1) {
        if constexpr (N > 1) sort<N, FIRST>(row);
    } else {
        SIMT_UNROLL
        for (u32 i = 0; i < N / 2; ++i) exchange(row[FIRST + i], row[FIRST + N / 2 + i]);
        sort_bitonic<N / 2, FIRST>(row);
        sort_bitonic<N / 2, FIRST + N / 2>(row);
    }
}

// The greater of two items if `high`, else the lesser.
template <class Item> SIMT_FN Item keep(Item own, Item other, bool high) {
    return high ? greater(own, other) : lesser(own, other);
}

// Merges pairs of runs. Before, each group of WIDTH lanes holds a sorted run, the items of lane 0 first; afterwards
// each group of 2 * WIDTH lanes does. WIDTH is a power of two below the warp.
template <u32 WIDTH, class Item, u32 R> SIMT_FN void merge_lanes(Item (&row)[R]) {
    // The first step compares item i from the start of the first run with item i from the end of the second.
    const bool upper = (lane() & WIDTH) != 0;
    SIMT_UNROLL
    for (u32 r = 0; r < (R + 1) / 2; ++r) {
        const Item a = row[r], b = row[R - 1 - r];
        const Item from_b = shuffle_xor(b, 2 * WIDTH - 1);
        if (r != R - 1 - r) row[R - 1 - r] = keep(b, shuffle_xor(a, 2 * WIDTH - 1), upper);
        row[r] = keep(a, from_b, upper);
    }
    SIMT_UNROLL
    for (u32 width = WIDTH / 2; width > 0; width /= 2) {
        const bool high = (lane() & width) != 0;
        SIMT_UNROLL
        for (u32 r = 0; r < R; ++r) row[r] = keep(row[r], shuffle_xor(row[r], width), high);
    }
    sort_bitonic<R>(row);
}

} // namespace simt::network
