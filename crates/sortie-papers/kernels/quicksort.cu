// GPU-Quicksort, as published: in the first phase many blocks split a sequence, in the second a block sorts one
// alone.
//
// Contract. `keys` and `scratch` have as many u32, fewer than 2^32; a sequence's keys are in one of them, at the same
// places. Blocks of 256 threads.
// - split_sequences, a block a piece: moves the keys of each piece's sequence that are less than its pivot to the
//   front of the same places in the other buffer, and those that are greater to their back; the pivot, as often as it
//   occurs, goes between, to `keys`, where it is in its last place. A sequence starts with `low` = `start`, `high` =
//   `end`, `left` = its pieces, minima of all ones and maxima of zero.
// - sort_sequences, a block a sequence: sorts it, to `keys`.
// Dynamic shared memory: sizeof(Shared). Cost: two reads and one write of the keys a split.
//
// Source: Cederman and Tsigas, "A Practical Quicksort Algorithm for Graphics Processors" (2008), Algorithms 2 and 3.
#include "block.cuh"
#include "simt.cuh"

namespace simt::quicksort {

using papers::BLOCK;

// Sequences of up to so many keys are sorted in shared memory.
constexpr u32 SMALL = 1024;
// The longer of two new sequences is put off, so no more wait than a length can be halved, and two are new.
constexpr u32 MOST_WAITING = 34;

struct Sequence {
    u32 start, end;
    u32 in_scratch;
};

// A sequence that many blocks split.
struct Parent {
    Sequence all;
    u32 pivot;
    // Up to where the lesser keys reach, from where on the greater ones; the blocks that are not done.
    u32 low, high, left;
    // Of the lesser keys, and of the greater.
    u32 low_min, low_max, high_min, high_max;
};

struct Piece {
    u32 start, end;
    u32 parent;
};

struct Shared {
    u32 sums[papers::WARPS];
    // Where a block's lesser and greater keys go; whether it is the last of its sequence.
    u32 low, high;
    u32 last;
    u32 low_min, low_max, high_min, high_max;
    Sequence waiting[MOST_WAITING];
    u32 small[SMALL];
};

SIMT_FN Shared& shared() { return *reinterpret_cast<Shared*>(shared_memory()); }

// Keys below and above the pivot: this thread's, with their range, those of lower threads, those of the block.
struct Counts {
    u32 low = 0, high = 0;
    u32 low_min = ~0u, low_max = 0, high_min = ~0u, high_max = 0;
    u32 low_before, high_before;
    u32 all_low, all_high;

    // Algorithm 2, lines 6 to 19.
    SIMT_FN Counts(const u32* from, u32 start, u32 end, u32 pivot) {
        for (u32 i = start + thread_rank(); i < end; i += BLOCK) {
            const u32 key = from[i];
            if (key < pivot) {
                ++low;
                low_min = lesser(low_min, key);
                low_max = greater(low_max, key);
            } else if (key > pivot) {
                ++high;
                high_min = lesser(high_min, key);
                high_max = greater(high_max, key);
            }
        }
        low_before = papers::exclusive_sum(low, shared().sums, all_low);
        high_before = papers::exclusive_sum(high, shared().sums, all_high);
    }
};

// Lines 26 to 33. Each thread writes its keys one after the other.
SIMT_FN void move(const u32* from, u32* to, u32 start, u32 end, u32 pivot, u32 low, u32 high) {
    for (u32 i = start + thread_rank(); i < end; i += BLOCK) {
        const u32 key = from[i];
        if (key < pivot) to[low++] = key;
        else if (key > pivot) to[high++] = key;
    }
}

SIMT_FN void fill(u32* keys, u32 start, u32 end, u32 pivot) {
    for (u32 i = start + thread_rank(); i < end; i += BLOCK) keys[i] = pivot;
}

// What the next pivots are drawn from.
SIMT_FN void note_range(const Counts& counts, Parent& parent) {
    Shared& s = shared();
    if (thread_rank() == 0) {
        s.low_min = s.high_min = ~0u;
        s.low_max = s.high_max = 0;
    }
    barrier();
    atomic_min<Relaxed, Block>(&s.low_min, counts.low_min);
    atomic_max<Relaxed, Block>(&s.low_max, counts.low_max);
    atomic_min<Relaxed, Block>(&s.high_min, counts.high_min);
    atomic_max<Relaxed, Block>(&s.high_max, counts.high_max);
    barrier();
    if (thread_rank() == 0) {
        atomic_min(&parent.low_min, s.low_min);
        atomic_max(&parent.low_max, s.low_max);
        atomic_min(&parent.high_min, s.high_min);
        atomic_max(&parent.high_max, s.high_max);
    }
}

// Algorithm 2.
SIMT_KERNEL(BLOCK, 4)
split_sequences(u32* keys, u32* scratch, const Piece* pieces, Parent* parents) {
    await_turn();
    const Piece piece = pieces[block_rank()];
    Parent& parent = parents[piece.parent];
    const u32 pivot = parent.pivot;
    const bool in_scratch = parent.all.in_scratch != 0;
    const u32* from = in_scratch ? scratch : keys;
    u32* to = in_scratch ? keys : scratch;
    Shared& s = shared();
    const Counts counts(from, piece.start, piece.end, pivot);
    if (thread_rank() == 0) {
        s.low = atomic_add(&parent.low, counts.all_low);
        s.high = atomic_add(&parent.high, 0 - counts.all_high) - counts.all_high;
    }
    note_range(counts, parent);
    move(from, to, piece.start, piece.end, pivot, s.low + counts.low_before, s.high + counts.high_before);
    barrier();
    // The last block to be done knows where the pivot goes. No other reads there any more.
    if (thread_rank() == 0) {
        s.last = atomic_add<AcquireRelease>(&parent.left, ~0u) == 1;
        s.low = atomic_load<Relaxed>(&parent.low);
        s.high = atomic_load<Relaxed>(&parent.high);
    }
    barrier();
    if (s.last) fill(keys, s.low, s.high, pivot);
}

SIMT_FN u32 median(u32 a, u32 b, u32 c) { return greater(lesser(a, b), lesser(greater(a, b), c)); }

SIMT_FN void sort_small(const u32* from, u32* keys, const Sequence& all) {
    u32* small = shared().small;
    const u32 count = all.end - all.start, padded = papers::power_of_two_from(count);
    for (u32 i = thread_rank(); i < padded; i += BLOCK) small[i] = i < count ? from[all.start + i] : ~0u;
    barrier();
    papers::sort_bitonic(small, padded);
    for (u32 i = thread_rank(); i < count; i += BLOCK) keys[all.start + i] = small[i];
    barrier();
}

// Algorithm 3.
SIMT_KERNEL(BLOCK, 4) sort_sequences(u32* keys, u32* scratch, const Sequence* sequences) {
    await_turn();
    Sequence* waiting = shared().waiting;
    if (thread_rank() == 0) waiting[0] = sequences[block_rank()];
    barrier();
    for (u32 count = 1; count > 0;) {
        const Sequence all = waiting[--count];
        const u32* from = all.in_scratch ? scratch : keys;
        u32* to = all.in_scratch ? keys : scratch;
        if (all.end - all.start <= SMALL) {
            sort_small(from, keys, all);
            continue;
        }
        const u32 pivot = median(from[all.start], from[all.start + (all.end - all.start) / 2], from[all.end - 1]);
        const Counts counts(from, all.start, all.end, pivot);
        const u32 low_end = all.start + counts.all_low, high_start = all.end - counts.all_high;
        move(from, to, all.start, all.end, pivot, all.start + counts.low_before, high_start + counts.high_before);
        barrier();
        fill(keys, low_end, high_start, pivot);
        const Sequence low = {all.start, low_end, !all.in_scratch}, high = {high_start, all.end, !all.in_scratch};
        const bool low_is_longer = counts.all_low > counts.all_high;
        const Sequence longer = low_is_longer ? low : high, shorter = low_is_longer ? high : low;
        if (thread_rank() == 0) {
            waiting[count] = longer;
            waiting[count + 1] = shorter;
        }
        count += 2;
        barrier();
    }
}

} // namespace simt::quicksort
