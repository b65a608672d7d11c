// GPU-Quicksort, as published. In its first phase many blocks split a sequence, in its second a block sorts a
// sequence. Not stable.
//
// - Common parameters: `keys` and `scratch`: as many u32 each, fewer than 2^32. The keys of a sequence are in one of
//   the two, at the same indices.
// - Order: split_sequences, until sequences are short enough for a block; then sort_sequences.
// - Launch: blocks of BLOCK threads. Shared memory: sizeof(Shared).
// - Cost: two reads and one write of the keys per split.
// - Source: Cederman and Tsigas, "A Practical Quicksort Algorithm for Graphics Processors" (2008), algorithms 2 and 3.
#include "block.cuh"
#include "simt.cuh"

namespace simt::quicksort {

using papers::BLOCK;

// Sequences of up to this many keys are sorted in shared memory.
constexpr u32 SMALL = 1024;
// The most sequences on the stack of a block. The shorter of two new sequences is sorted first, so at most one waits
// for each halving of the length, plus the two new ones.
constexpr u32 MOST_WAITING = 34;

// The keys start..end of `keys`, or of `scratch` if in_scratch is 1.
struct Sequence {
    u32 start, end;
    u32 in_scratch;
};

// A sequence that many blocks split. The host sets low = start, high = end, left = its pieces, minima to all ones,
// maxima to 0.
struct Parent {
    Sequence all;
    u32 pivot;
    // `low`: the end of the keys below the pivot that blocks have reserved room for. `high`: the start of those above
    // it. `left`: the number of blocks that are not done.
    u32 low, high, left;
    // The least and the greatest key below the pivot, and above it.
    u32 low_min, low_max, high_min, high_max;
};

// The part start..end of sequence `parent` that one block splits.
struct Piece {
    u32 start, end;
    u32 parent;
};

struct Shared {
    u32 sums[papers::WARPS];
    // The indices where the block's keys below and above the pivot go; whether it is the last block of its sequence.
    u32 low, high;
    u32 last;
    u32 low_min, low_max, high_min, high_max;
    Sequence waiting[MOST_WAITING];
    u32 small[SMALL];
};

SIMT_FN Shared& shared() { return *reinterpret_cast<Shared*>(shared_memory()); }

// Counts of the keys below (`low`) and above (`high`) the pivot.
// - `low`, `high`, with least and greatest key: of this thread. `_before`: of all threads of lower rank. `all_`: of
//   the block.
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

// Algorithm 2, lines 26 to 33: writes the thread's keys below the pivot from index `low` on, those above from `high`
// on.
SIMT_FN void move(const u32* from, u32* to, u32 start, u32 end, u32 pivot, u32 low, u32 high) {
    for (u32 i = start + thread_rank(); i < end; i += BLOCK) {
        const u32 key = from[i];
        if (key < pivot) to[low++] = key;
        else if (key > pivot) to[high++] = key;
    }
}

// Writes the pivot to the indices start..end.
SIMT_FN void fill(u32* keys, u32 start, u32 end, u32 pivot) {
    for (u32 i = start + thread_rank(); i < end; i += BLOCK) keys[i] = pivot;
}

// Adds the range of the block's keys to that of the parent. The host chooses the next pivots from it.
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

// split_sequences: algorithm 2. Splits each sequence by its pivot.
// - Parameters: `pieces`: one per block. `parents`: the sequences, prepared as described there.
// - Launch: one block per piece.
// - Writes: the keys below the pivot to the front of the same indices in the other buffer, those above to the back.
//   The pivot, as often as it occurs, to `keys`, at its final indices. The fields of `parents`.
// - Cost: two reads and one write of the keys; a few global atomics per block.
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
    // The last block to finish writes the pivots. No other block reads or writes at these indices any more.
    if (thread_rank() == 0) {
        s.last = atomic_add<AcquireRelease>(&parent.left, ~0u) == 1;
        s.low = atomic_load<Relaxed>(&parent.low);
        s.high = atomic_load<Relaxed>(&parent.high);
    }
    barrier();
    if (s.last) fill(keys, s.low, s.high, pivot);
}

SIMT_FN u32 median(u32 a, u32 b, u32 c) { return greater(lesser(a, b), lesser(greater(a, b), c)); }

// Sorts a sequence of up to SMALL keys to `keys`, in shared memory.
SIMT_FN void sort_small(const u32* from, u32* keys, const Sequence& all) {
    u32* small = shared().small;
    const u32 count = all.end - all.start, padded = papers::power_of_two_from(count);
    for (u32 i = thread_rank(); i < padded; i += BLOCK) small[i] = i < count ? from[all.start + i] : ~0u;
    barrier();
    papers::sort_bitonic(small, padded);
    for (u32 i = thread_rank(); i < count; i += BLOCK) keys[all.start + i] = small[i];
    barrier();
}

// sort_sequences: algorithm 3. Sorts each sequence by quicksort with a stack in shared memory.
// - Parameters: `sequences`: one per block.
// - Launch: one block per sequence.
// - Writes: the sorted sequences to `keys`; `scratch` at the same indices.
// - Cost: two reads and one write of the keys per split; a bitonic sort for sequences of up to SMALL keys.
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
