// A block sorts items by comparison: rows in registers, then runs that are merged in shared memory.
//
// Contract. An instantiation is made as compared.cuh says, for blocks of SORTIE_SORT_THREADS with SORTIE_SORT_ROW items a
// thread, an odd number: rows then begin in different banks. Cost: a network over a thread's items, and
// log2(SORTIE_SORT_THREADS) rounds of a search and a merge.
//
// Source: Satish, Harris and Garland, "Designing efficient sorting algorithms for manycore GPUs" (2009); the merges are
// those of Green, McColl and Bader, "GPU merge path: a GPU merging algorithm" (2012).
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
// Fewer items are sorted in rows that are shorter by this, down to half of ROW.
constexpr u32 SHORTER = ROW < 16 ? 2 : 4;
static_assert(ROW % 2 == 1 && SHORTER % 2 == 0, "rows are odd");

// Who is done with both runs reads on, up to a row to either side.
constexpr u32 BEYOND = ROW + 1;

struct Shared {
    Item items[CAPACITY + 2 * BEYOND];
    // Where a chunk of two runs begins and ends in the first.
    u64 crossings[2];
};
static_assert(sizeof(Shared) == SORTIE_SORT_MEMORY, "as the host has it");

// Copies by words, so that lanes read side by side.
SIMT_FN void copy(Item* to, const Item* from, u32 count) {
    for (u32 w = thread_rank(); w < count * WORDS; w += BLOCK)
        reinterpret_cast<Word*>(to)[w] = reinterpret_cast<const Word*>(from)[w];
}

// Merges N items, from item `first` of the merge of two runs on, less those that there are not. The runs are a..b,
// ascending, and b..end, descending: who is done with one comes to the greatest of the other, which is not taken before the
// rest.
template <u32 N> SIMT_FN void merge(Item (&merged)[N], const Item* items, u32 a, u32 b, u32 end, u32 first) {
    const u32 a_count = b - a, b_count = end - b;
    u32 low = a + search::first_of(first > b_count ? first - b_count : 0, lesser(first, a_count),
                                   [&](u32 i) { return less(items[end - first + i], items[a + i]); });
    u32 high = end - 1 - (first - (low - a));
    // The one that was kept, the one that came last, and whether that is of the descending run.
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
        // After the last one there may be none.
        if (n + 1 < N) last = items[from_high ? high : low];
    }
}

// Puts what a thread has of the run from `start` to `end` to its places, once all have read theirs: every other run
// descends.
template <u32 N>
SIMT_FN void put_row(Item* items, const Item (&row)[N], u32 first, u32 count, u32 start, u32 end, bool descends) {
    barrier();
    const u32 to = descends ? start + end - 1 - first : first, step = descends ? ~0u : 1;
    SIMT_UNROLL
    for (u32 n = 0; n < N; ++n)
        if (n < count) items[to + n * step] = row[n];
    barrier();
}

template <u32 N> SIMT_FN void sort_row(Item (&row)[N], u32 count) {
    auto exchange = [](Item& a, Item& b) {
        if (less(b, a)) {
            const Item later = a;
            a = b;
            b = later;
        }
    };
    // What is missing is last, and stays there.
    if (count == N) network::sort<N>(row, [&](Item& a, Item& b, u32) { exchange(a, b); });
    else network::sort<N>(row, [&](Item& a, Item& b, u32 b_at) { if (b_at < count) exchange(a, b); });
}

// Sorts up to BLOCK * N items.
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

// Sorts up to CAPACITY items, at least one, in shared memory; they are there after a barrier, and all are in order after it.
template <u32 N = ROW> SIMT_FN void sort(Item* items, u32 count) {
    if constexpr (N >= SHORTER + ROW / 2) {
        if (count <= BLOCK * (N - SHORTER)) return sort<N - SHORTER>(items, count);
    }
    sort_rows<N>(items, count);
}

// Sorts up to CAPACITY items from one place to another, which may be the same.
SIMT_FN void sort_tile(const Item* from, Item* to, u32 count, Shared& shared) {
    copy(shared.items, from, count);
    barrier();
    sort(shared.items, count);
    copy(to, shared.items, count);
    barrier();
}

// Writes `count` items of the merge of two runs, from item `first` on.
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
    // Runs may end anywhere here, also before the first row does.
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
