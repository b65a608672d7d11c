// A worker: the threads that sort one segment. It sorts 32-bit items that its threads hold in rows.
//
// Contract. An instantiation is made for workers of SORTIE_THREADS (1 to 1024, a power of two) with SORTIE_ROW items a
// thread, and SORTIE_WORKERS workers a block, whole warps in all. Workers of more than a warp are in step with their
// block. Shared memory: SPAN items a worker, unless it is of no more threads than SHUFFLED.
//
// Each thread sorts a row in registers. Rows merge in pairs, pairs of pairs, and so on. A merge compares items that lie
// many rows apart; for that, the steps between rows take items by columns: a thread loads the same place of many rows,
// does up to five steps on them in registers, and puts them back. The first merges, of few lanes, go by shuffles.
//
// Source: Batcher's bitonic merge with the first step of each merge against the mirror image, so that all items
// ascend and padding stays at the end; grouping its steps by what fits registers follows Capannini, Silvestri,
// Baraglia and Nardini, "Sorting using bitonic network with CUDA" (2009).
#pragma once

#include "network.cuh"
#include "simt.cuh"

namespace simt::worker {

constexpr u32 THREADS = SORTIE_THREADS;
constexpr u32 ROW = SORTIE_ROW;
constexpr u32 WORKERS = SORTIE_WORKERS;
constexpr u32 BLOCK = THREADS * WORKERS;
constexpr u32 CAPACITY = THREADS * ROW;
// Threads that a multiprocessor is to hold: 64 registers are left for each.
constexpr u32 RESIDENT = 1024;
// Odd, so that a column of a warp's rows lies in 32 banks.
constexpr u32 STRIDE = ROW | 1;
constexpr u32 SPAN = THREADS * STRIDE;
// Merges of up to so many lanes go by shuffles. Of four, for a warp or more: a step by columns costs half of one by
// shuffles, but only where there are several of them to share the way to shared memory and back.
constexpr u32 SHUFFLED = THREADS < WARP ? THREADS : 4;
// Steps that a column takes at a time: 32 registers.
constexpr u32 LANE_BITS = 5;

// Within the worker and within the block.
SIMT_FN u32 own_thread() { return thread_rank() % THREADS; }
SIMT_FN u32 own_worker() { return thread_rank() / THREADS; }

SIMT_FN void worker_barrier() {
    if constexpr (THREADS <= WARP) warp_barrier();
    else barrier();
}

// Where the item of a place in the order is kept, among rows that begin STRIDE apart.
SIMT_FN u32 slot(u32 index) { return index + index / ROW * (STRIDE - ROW); }

// The steps of a merge that compare rows 2^(LOW + BITS - 1) to 2^LOW apart, on a column of 2^BITS items; `first` is its
// first item, `mirrored` the first of its mirror image. With MIRROR, the first step compares with that.
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

// Columns of 2^BITS neighbouring rows, all within the own warp.
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

// Columns of 2^BITS rows, one of each of as many warps, with the mirror image.
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

// Merges until rows are in order over 2^BITS threads, and goes on to the whole worker.
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

// Sorts the items of all rows: thread t is left with the items of places t * ROW on. `items` is the worker's.
SIMT_FN void sort_rows(u32 (&row)[ROW], u32* items) {
    network::sort<ROW>(row);
    merge_rows<1>(row, items);
}

} // namespace simt::worker
