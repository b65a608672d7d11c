// Sorts the items of a block by bins: each item goes almost to its final position at once, and its neighbours settle
// the rest.
//
// Steps, of which this file has 2 and 4, and the kernels the others:
// 1. The range of the items is cut into CAPACITY bins of one width. One atomic per item counts its bin, and returns
//    its rank there.
// 2. `sum` turns the counts into the index where each bin begins.
// 3. Each item is written to its bin's start plus its rank.
// 4. `sort_neighbours` sorts rows of ROW neighbouring items in registers, then the rows that lie between those, from
//    the middle of one to the middle of the next. An item that was at most half a row from its final position is then
//    in order.
//
// - Compile-time parameters: SORTIE_THREADS, the threads of a block; SORTIE_ROW, the items of a thread, an even number.
// - Preconditions: all threads of the block reach each function.
// - Cost: one atomic in shared memory per item, and sorting networks over 1.5 rows per thread.
// - Source: the bins are those of Dobosiewicz, "Sorting by distributive partitioning" (1978).
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
// The number of threads that a multiprocessor should hold, which leaves 64 registers for each.
constexpr u32 RESIDENT = 1024;
// The distance between rows in shared memory. It is odd, so that the threads of a warp, each in its own row, use
// different banks.
constexpr u32 STRIDE = ROW | 1;
// After this many rounds of `sort_neighbours`, a kernel gives up on the bucket, and sorts it in another way.
constexpr u32 ROUNDS = 3;
static_assert(ROW % 2 == 0 && BLOCK * STRIDE < 1u << 16, "a bin's index and a rank have 16 bits each");

// The slot of shared memory that holds the item, or the bin, with this index: rows are STRIDE apart.
SIMT_FN u32 slot(u32 index) { return index + index / ROW * (STRIDE - ROW); }

// Turns the counts of the bins into their exclusive prefix sums.
// - `bins`: CAPACITY counts, at their slots. `sums`: WARPS words. Both are shared memory.
// - Before: a barrier after the last count. After: a barrier before another thread's bins are read.
// - Returns the greatest count among the thread's own bins.
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

// Sorts rows, and then the rows between them.
// - `items`: CAPACITY items, at their slots; `wrong_shared`: a word. Both are shared memory.
// - Before and after: all threads have passed a barrier.
// - Returns whether all items are in order now, the same for all threads.
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
    // Both halves ascend, so the first step of the merge compares with the mirror image.
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
