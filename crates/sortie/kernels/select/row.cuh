// One block selects from one row: finds a limit by digits, and puts few words in order.
//
// - Compile-time parameters: those of word.cuh; SORTIE_THREADS, the threads of a block, 32 to 256; SORTIE_ROOM, the words
//   for which the shared memory has room, a power of two where a network sorts them.
// - Preconditions: all threads of the block reach each function.
// - Source: own; the network is Batcher's.
#pragma once

#include "bytes.cuh"
#include "scan.cuh"
#include "simt.cuh"
#include "word.cuh"

namespace simt::select {

constexpr u32 THREADS = SORTIE_THREADS;
constexpr u32 ROOM = SORTIE_ROOM;
// Words that a thread sorts.
constexpr u32 OWN = (ROOM + THREADS - 1) / THREADS;
// Words that are compared with each other. More are sorted.
constexpr u32 MOST_COMPARED = 128;
// Cells of a sort.
constexpr u32 CELL_BITS = SORTIE_CELL_BITS;
constexpr u32 CELLS = 1u << CELL_BITS;

// The words that are taken: those of lower codes, and those of this code with at most this index.
struct Limit {
    Code code;
    u32 index;

    SIMT_FN bool takes(Code own, u32 own_index) const { return own < code || (own == code && own_index <= index); }
};

struct RowShared {
    Word words[ROOM];
    // The limit so far, and the number of words that come before all that begin with its digits.
    u64 limit;
    u64 least;
    u32 before;
    u32 settled;
    u32 held;
    u32 sums[THREADS / WARP];
    // Of digits, of cells and where the last of these ends, or of rows.
    u32 counts[BYTES > CELLS ? BYTES : CELLS + 1];
};
static_assert(sizeof(RowShared) == SORTIE_ROW_MEMORY, "as the host has it");

// Returns the digits of the k-th item and all lower bits set, as soon as at most `most` items are not after that, or when
// all bits are known. Items are codes, or indices.
// - `bits`: those of an item. `before`: the number of items before all with the digits so far; updated.
// - `visit(see)` calls see(item, is_there) for each item of the thread, the whole warp at the same time. It reads them anew
//   for each digit.
// - Cost: up to one visit per digit, and an atomic in shared memory for each item counted.
template <class Item, class Visit>
SIMT_FN Item limit_by_digits(u32 k, u32 most, u32 bits, u32& before, bool& settled, RowShared& shared, Visit visit) {
    Item prefix = 0;
    SIMT_ROLL
    for (u32 above = bits; above > 0;) {
        const u32 shift = above > BYTE_BITS ? above - BYTE_BITS : 0;
        for (u32 i = thread_rank(); i < BYTES; i += THREADS) shared.counts[i] = 0;
        barrier();
        const Item mask = Item(~Item(0)) >> (8 * sizeof(Item) - (above - shift));
        visit([&](Item item, bool is_there) {
            const bool begins = above == bits || (item ^ prefix) >> above == 0;
            count_digit(shared.counts, u32(item >> shift & mask), is_there && begins);
        });
        barrier();
        if (warp_rank() == 0) {
            find_digit(shared.counts, k, before, [&](u32 digit, u32 first, u32 through) {
                shared.limit = prefix | Item(digit) << shift;
                shared.before = first;
                shared.settled = through <= most;
            });
        }
        barrier();
        prefix = Item(shared.limit);
        before = shared.before;
        settled = shared.settled != 0;
        above = shift;
        if (settled) return prefix | ((Item(1) << shift) - 1);
    }
    return prefix;
}

// Returns a limit that takes at least k and at most `most` words.
// - `visit(see)` calls see(code, index, is_there) for each word of the thread, as above.
// - `length`: that of the row.
template <class Visit> SIMT_FN Limit limit_of_words(u32 k, u32 most, u32 length, RowShared& shared, Visit visit) {
    u32 before = 0;
    bool settled = false;
    const Code code = limit_by_digits<Code>(k, most, CODE_BITS, before, settled, shared, [&](auto see) {
        visit([&](Code own, u32, bool is_there) { see(own, is_there); });
    });
    if (settled) return {code, length - 1};
    // Too many words have the code of the k-th one.
    const u32 bits = 32 - leading_zeros(length - 1);
    const u32 index = limit_by_digits<u32>(k, most, bits, before, settled, shared, [&](auto see) {
        visit([&](Code own, u32 own_index, bool is_there) { see(own_index, is_there && own == code); });
    });
    return {code, index};
}

// Collects the words that a limit takes, in any order, and returns their number, at most ROOM.
// - `visit`: as above.
template <class Visit> SIMT_FN u32 collect(Limit limit, RowShared& shared, Visit visit) {
    if (thread_rank() == 0) shared.held = 0;
    barrier();
    visit([&](Code code, u32 index, bool is_there) {
        const bool takes = is_there && limit.takes(code, index);
        const u32 taken = ballot(takes);
        if (taken == 0) return;
        u32 at = 0;
        if (lane() == 0) at = atomic_add<Relaxed, Block>(&shared.held, popcount(taken));
        at = shuffle(at, 0) + popcount(taken & ((1u << lane()) - 1));
        if (takes) shared.words[at] = joined(code, index);
    });
    barrier();
    return shared.held;
}

// Sorts the words by a bitonic network. `count` is at most ROOM.
SIMT_FN void sort_by_network(Word* words, u32 count) {
    u32 bits = 0;
    while (1u << bits < count) ++bits;
    const u32 padded = 1u << bits;
    for (u32 i = count + thread_rank(); i < padded; i += THREADS) words[i] = filled(Word(0), 8 * sizeof(Word));
    for (u32 run = 1; run <= bits; ++run) {
        for (u32 step = run; step-- > 0;) {
            barrier();
            for (u32 i = thread_rank(); i < padded / 2; i += THREADS) {
                const u32 low = i >> step << (step + 1) | (i & ((1u << step) - 1));
                // The first step of a merge compares from both ends.
                const u32 high = step + 1 == run ? low ^ ((2u << step) - 1) : low | 1u << step;
                const Word a = words[low], b = words[high];
                if (b < a) {
                    words[low] = b;
                    words[high] = a;
                }
            }
        }
    }
    barrier();
}

// Sorts `count` words, at least one and at most ROOM. Begins after a barrier; ends with one.
// - Method: cells that divide the range of the codes evenly, and comparisons within a cell. If one is crowded, a network.
// - Cost: an atomic for each word, a scan of the cells, and a comparison for each pair of a cell.
SIMT_FN void sort(u32 count, RowShared& shared) {
    Word* const words = shared.words;
    Word own[OWN];
    u64 least = ~u64(0), greatest = 0;
    SIMT_UNROLL
    for (u32 i = 0; i < OWN; ++i) {
        own[i] = words[lesser(i * THREADS + thread_rank(), count - 1)];
        least = lesser(least, u64(code_of(own[i])));
        greatest = greater(greatest, u64(code_of(own[i])));
    }
    least = warp_least(Code(least));
    greatest = warp_greatest(Code(greatest));
    if (thread_rank() == 0) {
        shared.least = ~u64(0);
        shared.limit = 0;
        shared.settled = 1;
    }
    for (u32 c = thread_rank(); c < CELLS; c += THREADS) shared.counts[c] = 0;
    barrier();
    if (lane() == 0) {
        atomic_min<Relaxed, Block>(&shared.least, least);
        atomic_max<Relaxed, Block>(&shared.limit, greatest);
    }
    barrier();
    const Code first = Code(shared.least), range = Code(Code(shared.limit) - first);
    const u32 bits = 8 * sizeof(Code) - leading_zeros(range), shift = bits > CELL_BITS ? bits - CELL_BITS : 0;
    u32 at[OWN];
    SIMT_UNROLL
    for (u32 i = 0; i < OWN; ++i) {
        if (i * THREADS + thread_rank() >= count) continue;
        at[i] = atomic_add<Relaxed, Block>(&shared.counts[u32(Code(code_of(own[i]) - first) >> shift)], 1);
    }
    barrier();
    constexpr u32 EACH = (CELLS + THREADS - 1) / THREADS;
    const u32 own_cell = lesser(thread_rank() * EACH, CELLS), end_cell = lesser(own_cell + EACH, CELLS);
    u32 sum = 0, most = 0;
    for (u32 c = own_cell; c < end_cell; ++c) {
        const u32 of_cell = shared.counts[c];
        shared.counts[c] = sum;
        sum += of_cell;
        most = greater(most, of_cell);
    }
    if (most > MOST_COMPARED) atomic_and<Relaxed, Block>(&shared.settled, 0);
    const u32 start = scan::exclusive<THREADS>(sum, shared.sums);
    for (u32 c = own_cell; c < end_cell; ++c) shared.counts[c] += start;
    if (thread_rank() == 0) shared.counts[CELLS] = count;
    barrier();
    if (shared.settled == 0) return sort_by_network(words, count);

    SIMT_UNROLL
    for (u32 i = 0; i < OWN; ++i) {
        if (i * THREADS + thread_rank() >= count) continue;
        words[shared.counts[u32(Code(code_of(own[i]) - first) >> shift)] + at[i]] = own[i];
    }
    barrier();
    SIMT_UNROLL
    for (u32 i = 0; i < OWN; ++i) {
        if (i * THREADS + thread_rank() >= count) continue;
        const u32 cell = u32(Code(code_of(own[i]) - first) >> shift), end = shared.counts[cell + 1];
        at[i] = shared.counts[cell];
        SIMT_ROLL
        for (u32 other = at[i], to = at[i]; other < end; ++other, at[i] = to) to += words[other] < own[i];
    }
    barrier();
    SIMT_UNROLL
    for (u32 i = 0; i < OWN; ++i)
        if (i * THREADS + thread_rank() < count) words[at[i]] = own[i];
    barrier();
}

// Writes the first k of `count` words in order.
SIMT_FN void write_in_order(u64 row, u32 count, const Rows& rows, const Top& top, RowShared& shared) {
    const Key* const from = rows.keys + row * rows.length;
    const u64 to = row * rows.k;
    Word* const words = shared.words;
    if (count > MOST_COMPARED) {
        sort(count, shared);
        for (u32 i = thread_rank(); i < rows.k; i += THREADS) top.put(to + i, words[i], from);
        return;
    }
    for (u32 own = thread_rank(); own < count; own += THREADS) {
        const Word word = words[own];
        u32 before = 0;
        for (u32 i = 0; i < count; ++i) before += words[i] < word;
        if (before < rows.k) top.put(to + before, word, from);
    }
}

} // namespace simt::select
