// A worker: the threads that sort one segment of 32-bit items, which they hold in registers.
//
// Compile-time parameters:
// - SORTIE_THREADS: the threads of a worker, a power of two from 1 to 1024.
// - SORTIE_ROW: the items of a thread.
// - SORTIE_WORKERS: the workers of a block, which are whole warps in all. Workers of more than a warp share the
//   barriers of their block.
//
// Method: each thread sorts its row in registers. Then rows merge in pairs, pairs of pairs, and so on, by bitonic
// merges whose first step compares with the mirror image, so that all items ascend and padding stays at the end.
// - The first merges, of few lanes, use shuffles.
// - In the others, a thread takes a column: the item at the same index of up to 32 rows. It loads the column from
//   shared memory, does up to five steps on it in registers, and stores it.
//
// - Preconditions: all threads of the block reach each function.
// - Shared memory: SPAN items per worker, or none if the worker has at most SHUFFLED threads.
// - Cost: a sorting network over each row, then log2(THREADS) merges. Between the rows of a warp, a merge in columns
//   takes each item to shared memory and back twice; between warps, three times.
// - Source: Batcher's bitonic merge; grouping its steps by what fits in registers follows Capannini, Silvestri,
//   Baraglia and Nardini, "Sorting using bitonic network with CUDA" (2009).
#pragma once

#include "network.cuh"
#include "simt.cuh"

namespace simt::worker {

constexpr u32 THREADS = SORTIE_THREADS;
constexpr u32 ROW = SORTIE_ROW;
constexpr u32 WORKERS = SORTIE_WORKERS;
constexpr u32 BLOCK = THREADS * WORKERS;
constexpr u32 CAPACITY = THREADS * ROW;
// The number of threads that a multiprocessor should hold, which leaves 64 registers for each.
constexpr u32 RESIDENT = 1024;
// The distance between rows in shared memory. It is odd, so that a column of a warp's rows lies in 32 different banks.
constexpr u32 STRIDE = ROW | 1;
constexpr u32 SPAN = THREADS * STRIDE;
// Merges of up to this many lanes use shuffles. For a warp or more it is four: a step in a column costs half of a
// step by shuffles, but only if several steps share a trip to shared memory and back.
constexpr u32 SHUFFLED = THREADS < WARP ? THREADS : 4;
// The number of steps on a column between load and store: a column has 2^5 items, in 32 registers.
constexpr u32 LANE_BITS = 5;

// The rank of the thread in its worker, and of the worker in its block.
SIMT_FN u32 own_thread() { return thread_rank() % THREADS; }
SIMT_FN u32 own_worker() { return thread_rank() / THREADS; }

SIMT_FN void worker_barrier() {
    if constexpr (THREADS <= WARP) warp_barrier();
    else barrier();
}

// The slot of shared memory that holds the item with this index in the worker: rows are STRIDE apart.
SIMT_FN u32 slot(u32 index) { return index + index / ROW * (STRIDE - ROW); }

// Does the steps of a merge that compare rows at distances 2^(LOW + BITS - 1) down to 2^LOW, on a column of 2^BITS
// items.
// - `first`: the column's first item. With MIRROR, the second half of the column begins at `mirrored` instead, as the
//   mirror image in the row, and the first step compares mirrored.
template <u32 BITS, u32 LOW, bool MIRROR> SIMT_FN void merge_column(u32* first, u32* mirrored) {
    constexpr u32 N = 1u << BITS;
    constexpr u32 STEP = STRIDE << LOW;
    u32 column[N];
    SIMT_UNROLL
    for (u32 j = 0; j < N; ++j) column[j] = MIRROR && j >= N / 2 ? mirrored[j * STEP] : first[j * STEP];
    if constexpr (MIRROR) {
        SIMT_UNROLL
        for (u32 j = 0; j < N / 2; ++j) network::exchange(column[j], column[N - 1 - j]);
        network::sort_bitonic<N / 2, 0>(column);
        network::sort_bitonic<N / 2, N / 2>(column);
    } else {
        network::sort_bitonic<N>(column);
    }
    SIMT_UNROLL
    for (u32 j = 0; j < N; ++j) (MIRROR && j >= N / 2 ? mirrored[j * STEP] : first[j * STEP]) = column[j];
}

// Merges columns of 2^BITS neighbouring rows, all of the thread's own warp.
template <u32 BITS, bool MIRROR> SIMT_FN void merge_near(u32* items) {
    constexpr u32 COLUMNS = ROW * (WARP >> BITS);
    u32* rows = items + own_thread() / WARP * WARP * STRIDE;
    SIMT_UNROLL
    for (u32 i = 0; i < (COLUMNS + WARP - 1) / WARP; ++i) {
        const u32 c = lane() + i * WARP;
        const u32 r = c % ROW;
        u32* group = rows + c / ROW * (STRIDE << BITS);
        if (COLUMNS % WARP == 0 || c < COLUMNS) merge_column<BITS, 0, MIRROR>(group + r, group + (ROW - 1 - r));
    }
}

// Merges columns of 2^BITS rows, one row of each of 2^BITS warps. The first step compares mirrored.
template <u32 BITS> SIMT_FN void merge_far(u32* items) {
    const u32 warp = own_thread() / WARP;
    const u32 group = warp >> BITS, part = warp & ((1u << BITS) - 1);
    u32* rows = items + (group << BITS) * WARP * STRIDE;
    u32* first = rows + lane() * STRIDE;
    u32* mirrored = rows + (WARP - 1 - lane()) * STRIDE + (ROW - 1);
    SIMT_UNROLL
    for (u32 i = 0; i < (ROW + (1u << BITS) - 1) >> BITS; ++i) {
        const u32 r = part + (i << BITS);
        if (ROW % (1u << BITS) == 0 || r < ROW) merge_column<BITS, LANE_BITS, true>(first + r, mirrored - r);
    }
}

// Merges runs of 2^(BITS - 1) rows to runs of 2^BITS rows, and so on until the worker's rows are one run.
template <u32 BITS> SIMT_FN void merge_rows(u32 (&row)[ROW], u32* items) {
    if constexpr (1u << BITS <= THREADS) {
        if constexpr (1u << BITS <= SHUFFLED) {
            network::merge_lanes<(1u << BITS) / 2>(row);
        } else {
            u32* own = items + own_thread() * STRIDE;
            SIMT_UNROLL
            for (u32 r = 0; r < ROW; ++r) own[r] = row[r];
            if constexpr (BITS <= LANE_BITS) {
                warp_barrier();
                merge_near<BITS, true>(items);
            } else {
                barrier();
                merge_far<BITS - LANE_BITS>(items);
                barrier();
                merge_near<LANE_BITS, false>(items);
            }
            warp_barrier();
            SIMT_UNROLL
            for (u32 r = 0; r < ROW; ++r) row[r] = own[r];
            network::sort_bitonic<ROW>(row);
        }
        merge_rows<BITS + 1>(row, items);
    }
}

// Sorts the items of all rows of a worker. Afterwards, thread t has the items t * ROW..(t + 1) * ROW of the order.
// `items` is the worker's shared memory.
SIMT_FN void sort_rows(u32 (&row)[ROW], u32* items) {
    network::sort<ROW>(row);
    merge_rows<1>(row, items);
}

} // namespace simt::worker
