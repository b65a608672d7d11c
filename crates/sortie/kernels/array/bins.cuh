// A block sorts items by bins: each goes almost to its place at once, and its neighbours settle the rest.
//
// An instantiation is made for blocks of SORTIE_THREADS with SORTIE_ROW items a thread, an even number. The range of the items
// is cut into as many bins as a block has items, which are put in the order of their bins. Few share one, so none is far from
// its place: rows of neighbouring items are sorted in registers, and then the rows between them, from the middle of one to the
// middle of the next. An item that is no more than half a row off is in its place then. Cost: an atomic in shared memory an
// item, to count the bins, and a network over 1.5 rows a thread.
//
// Source: the bins are those of Dobosiewicz, "Sorting by distributive partitioning" (1978).
#pragma once

#include "network.cuh"
#include "scan.cuh"
#include "simt.cuh"

namespace simt::bins {

constexpr u32 BLOCK = SORTIE_THREADS;
constexpr u32 ROW = SORTIE_ROW;
constexpr u32 HALF = ROW / 2;
constexpr u32 CAPACITY = BLOCK * ROW;
constexpr u32 WARPS = BLOCK / WARP;
// Threads that a multiprocessor is to hold: 64 registers are left for each.
constexpr u32 RESIDENT = 1024;
// Odd, so that what threads read of their own rows lies in different banks.
constexpr u32 STRIDE = ROW | 1;
// Rounds after which a bucket that is long enough to be left is left.
constexpr u32 ROUNDS = 3;
static_assert(ROW % 2 == 0 && BLOCK * STRIDE < 1u << 16, "a bin's index and a rank have 16 bits each");

// Where the item of a place is kept, or the count of a bin.
SIMT_FN u32 slot(u32 index) { return index + index / ROW * (STRIDE - ROW); }

// Turns the items of each bin into how many come before it. Returns the most that one of the thread's bins has.
SIMT_FN u32 sum(u32* bins, u32* sums) {
    u32* own = bins + thread_rank() * STRIDE;
    u32 before = 0, most = 0;
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        before += own[r];
        most = greater(most, own[r]);
    }
    before = scan::exclusive<BLOCK>(before, sums);
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 items = own[r];
        own[r] = before;
        before += items;
    }
    return most;
}

// Sorts rows, and then the rows between them. Returns whether all is in order. `wrong` is shared, as the items are.
template <class Word> SIMT_FN bool sort_neighbours(Word* items, u32& wrong_shared) {
    const u32 thread = thread_rank();
    const bool last = thread + 1 == BLOCK;
    Word* own = items + thread * STRIDE;
    Word* next = own + STRIDE;
    Word row[ROW];
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) row[r] = own[r];
    network::sort<ROW>(row);
    SIMT_UNROLL
    for (u32 r = 0; r < HALF; ++r) own[r] = row[r];
    barrier();
    if (thread == 0) wrong_shared = 0;
    SIMT_UNROLL
    for (u32 r = 0; r < HALF; ++r) {
        row[r] = row[HALF + r];
        row[HALF + r] = last ? ~Word(0) : next[r];
    }
    // Both halves ascend: each against the other's mirror image.
    SIMT_UNROLL
    for (u32 r = 0; r < HALF; ++r) network::exchange(row[r], row[ROW - 1 - r]);
    network::sort_bitonic<HALF, 0>(row);
    network::sort_bitonic<HALF, HALF>(row);
    SIMT_UNROLL
    for (u32 r = 0; r < HALF; ++r) {
        own[HALF + r] = row[r];
        if (!last) next[r] = row[HALF + r];
    }
    barrier();
    bool wrong = thread == 0 && own[HALF] < own[HALF - 1];
    if (!last) wrong |= next[HALF] < next[HALF - 1];
    wrong = any(wrong);
    if (lane() == 0 && wrong) atomic_or<Relaxed, Block>(&wrong_shared, 1);
    barrier();
    return wrong_shared == 0;
}

} // namespace simt::bins
