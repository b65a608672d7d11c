// Sorts items by comparison in one block: rows in registers, then merges of runs in shared memory.
//
// - Compile-time parameters: those of compared.cuh; SORTIE_SORT_THREADS, the threads of a block; SORTIE_SORT_ROW, the
//   items of a thread, an odd number, so that the rows of a warp's threads begin in different banks.
// - Preconditions: all threads of the block reach each function. Shared memory: Shared.
// - Of two runs that are merged, the second is stored in reverse. Its maximum then acts as a sentinel, so that a
//   merge needs no bounds check.
// - Cost: a sorting network over each row, then log2(SORTIE_SORT_THREADS) rounds of a binary search and a merge of a
//   row.
// - Source: Satish, Harris and Garland, "Designing efficient sorting algorithms for manycore GPUs" (2009); the merges
//   are those of Green, McColl and Bader, "GPU merge path: a GPU merging algorithm" (2012).
#pragma once

#include "compared.cuh"
#include "network.cuh"
#include "search.cuh"
#include "simt.cuh"

namespace simt::block_sort {

using compared::Item;
using compared::less;
using compared::Word;
using compared::WORDS;

constexpr u32 BLOCK = SORTIE_SORT_THREADS;
constexpr u32 ROW = SORTIE_SORT_ROW;
constexpr u32 CAPACITY = BLOCK * ROW;
// If there are fewer items, rows get shorter in steps of this many items, down to half of ROW.
constexpr u32 SHORTER = ROW < 16 ? 2 : 4;
static_assert(ROW % 2 == 1 && SHORTER % 2 == 0, "rows are odd");

// A thread that has merged both runs to their ends still reads on, by up to a row in either direction.
constexpr u32 BEYOND = ROW + 1;

struct Shared {
    Item items[CAPACITY + 2 * BEYOND];
    // How many items of the first run come before the start, and before the end, of a chunk of the merge.
    u64 crossings[2];
};
static_assert(sizeof(Shared) == SORTIE_SORT_MEMORY, "as the host has it");

// Copies items word by word, so that loads coalesce. A barrier must follow.
SIMT_FN void copy(Item* to, const Item* from, u32 count) {
    for (u32 w = thread_rank(); w < count * WORDS; w += BLOCK)
        reinterpret_cast<Word*>(to)[w] = reinterpret_cast<const Word*>(from)[w];
}

// Computes the items first..first + N of the merge of two runs, as far as they exist.
// - The runs are items[a..b], ascending, and items[b..end], descending. Beyond the end of one run lies the greatest
//   item of the other, which the merge does not take before the rest.
// - `merged`: the result, in registers. Shared memory is only read.
template <u32 N> SIMT_FN void merge(Item (&merged)[N], const Item* items, u32 a, u32 b, u32 end, u32 first) {
    const u32 a_count = b - a, b_count = end - b;
    u32 low = a + search::first_of(first > b_count ? first - b_count : 0, lesser(first, a_count),
                                   [&](u32 i) { return less(items[end - first + i], items[a + i]); });
    u32 high = end - 1 - (first - (low - a));
    // The heads of the two runs: `last` was loaded last, `kept` before. `from_high`: `last` is of the descending run.
    Item kept = items[low], last = items[high];
    bool from_high = true;
    SIMT_UNROLL
    for (u32 n = 0; n < N; ++n) {
        const bool take_last = less(last, kept);
        merged[n] = take_last ? last : kept;
        kept = take_last ? kept : last;
        from_high = from_high == take_last;
        low += from_high ? 0 : 1;
        high -= from_high ? 1 : 0;
        // The last step loads nothing: there may be no further item.
        if (n + 1 < N) last = items[from_high ? high : low];
    }
}

// Writes the thread's row to items[first..first + count]; if the run items[start..end] is to descend, to the mirror
// image of that in the run. Barriers before and after, so all threads have read their items before, and see the new
// ones afterwards.
template <u32 N>
SIMT_FN void put_row(Item* items, const Item (&row)[N], u32 first, u32 count, u32 start, u32 end, bool descends) {
    barrier();
    const u32 to = descends ? start + end - 1 - first : first, step = descends ? ~0u : 1;
    SIMT_UNROLL
    for (u32 n = 0; n < N; ++n)
        if (n < count) items[to + n * step] = row[n];
    barrier();
}

// Sorts the first `count` items of a row in registers.
template <u32 N> SIMT_FN void sort_row(Item (&row)[N], u32 count) {
    auto exchange = [](Item& a, Item& b) {
        if (less(b, a)) {
            const Item later = a;
            a = b;
            b = later;
        }
    };
    // Missing items count as the greatest, and stay at the end.
    if (count == N) network::sort<N>(row, [&](Item& a, Item& b, u32) { exchange(a, b); });
    else network::sort<N>(row, [&](Item& a, Item& b, u32 b_at) { if (b_at < count) exchange(a, b); });
}

// Sorts `count` items of shared memory, at least one and at most BLOCK * N, with rows of N. Begins after a barrier;
// ends with one.
template <u32 N> SIMT_FN void sort_rows(Item* items, u32 count) {
    const u32 own = lesser(thread_rank() * N, count), taken = lesser(N, count - own);
    Item row[N];
    SIMT_UNROLL
    for (u32 n = 0; n < N; ++n) row[n] = items[lesser(own + n, count - 1)];
    sort_row(row, taken);
    put_row(items, row, own, taken, own, own + taken, N < count && thread_rank() % 2 == 1);
    for (u32 width = N; width < count; width *= 2) {
        const u32 run = own / (2 * width), a = run * (2 * width);
        const u32 b = lesser(a + width, count), end = lesser(b + width, count);
        merge(row, items, a, b, end, own - a);
        put_row(items, row, own, taken, a, end, 2 * width < count && run % 2 == 1);
    }
}

// Sorts `count` items of shared memory, at least one and at most CAPACITY. Begins after a barrier; ends with one.
// Uses the shortest rows that suffice.
template <u32 N = ROW> SIMT_FN void sort(Item* items, u32 count) {
    if constexpr (N >= SHORTER + ROW / 2) {
        if (count <= BLOCK * (N - SHORTER)) return sort<N - SHORTER>(items, count);
    }
    sort_rows<N>(items, count);
}

// Sorts `count` items, 1 to CAPACITY, from `from` to `to` in global memory, which may be the same.
SIMT_FN void sort_tile(const Item* from, Item* to, u32 count, Shared& shared) {
    copy(shared.items, from, count);
    barrier();
    sort(shared.items, count);
    copy(to, shared.items, count);
    barrier();
}

// Writes the items first..first + count of the merge of two ascending runs in global memory.
// - `a`, `b`: the runs, of a_count and b_count items. `count`: at most CAPACITY. `to`: where the items go; it
//   overlaps neither run.
// - Cost: one read and one write of the items, a search by two warps in global memory, one search per thread in
//   shared memory.
SIMT_FN void merge_chunk(const Item* a, u64 a_count, const Item* b, u64 b_count, u64 first, u32 count, Item* to,
                         Shared& shared) {
    if (warp_rank() < 2) {
        const u64 diagonal = first + (warp_rank() == 0 ? 0 : count);
        const u64 crossing =
            search::first_of_warp(diagonal > b_count ? diagonal - b_count : u64(0), lesser(diagonal, a_count),
                                  [&](u64 i) { return less(b[diagonal - 1 - i], a[i]); });
        if (lane() == 0) shared.crossings[warp_rank()] = crossing;
    }
    barrier();
    const u64 a_first = shared.crossings[0];
    const u32 from_a = u32(shared.crossings[1] - a_first);
    // The runs start BEYOND items into the shared memory, so that a thread may read on before their start.
    Item* items = shared.items + BEYOND;
    copy(items, a + a_first, from_a);
    const Item* from_b = b + (first - a_first);
    for (u32 i = thread_rank(); i < count - from_a; i += BLOCK) items[count - 1 - i] = from_b[i];
    barrier();
    const u32 own = lesser(thread_rank() * ROW, count), taken = lesser(ROW, count - own);
    Item row[ROW];
    merge(row, shared.items, BEYOND, BEYOND + from_a, BEYOND + count, own);
    put_row(items, row, own, taken, 0, count, false);
    copy(to, items, count);
    barrier();
}

} // namespace simt::block_sort
