// Sorting networks over items that a thread holds in registers, and merges of such rows across the lanes of a warp.
//
// Contract. A row is an array with compile-time length, indexed by compile-time constants alone, so that it stays in
// registers. Nothing here branches on an item. Cost: an exchange of two items is a minimum and a maximum.
//
// Source: Batcher's merge exchange for any number of inputs (Knuth, TAOCP 3, 5.2.2, algorithm M) and his bitonic merge.
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

// Sorts the N items from FIRST on by exchanges of two of them, of which it is told the place of the second among the N.
// Without the exchanges of the last items, the others are sorted all the same.
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

// The same by minima and maxima.
template <u32 N, u32 FIRST = 0, class Item, u32 LENGTH> SIMT_FN void sort(Item (&row)[LENGTH]) {
    sort<N, FIRST>(row, [](Item& a, Item& b, u32) { exchange(a, b); });
}

// Sorts N items from FIRST on that are bitonic, rotated or not. An odd rest is sorted as if it were in no order.
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

// Keeps the lesser of each own item and the other lane's, or the greater.
template <class Item> SIMT_FN Item keep(Item own, Item other, bool high) {
    return high ? greater(own, other) : lesser(own, other);
}

// Merges rows that are in order over WIDTH lanes each, so that they are in order over twice as many.
template <u32 WIDTH, class Item, u32 R> SIMT_FN void merge_lanes(Item (&row)[R]) {
    // Against the mirror image, which leaves the lesser half in the lower lanes.
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
