// Steps of an argsort of strings by groups of symbols: their alphabet, the words of the next symbols of those that still
// tie, and which of them tie after those are sorted.
//
// Contract. An instantiation is made for SORTIE_STRINGS (strings.cuh). `symbols` has the number of each byte's symbol, from 1;
// 0 is the end of a string, so a word, of `count` symbols in base `base`, tells where strings that are as long or shorter end.
//
// A level has `count` items: `places` of strings, in groups that are the same up to the state's depth. `heads` marks the
// first of each group, and `slots` says where each item belongs in the whole. At the first level all strings are one group:
// places and heads and slots are null, and encode writes the places. Any number of blocks of BLOCK threads, but where said;
// the kernels of a level run in this order, with a sort of each group's words after encode.
// - find_alphabet: sets `seen`, zero before, where a byte occurs. Dynamic shared memory: Symbols.
// - find_shared: the least of what neighbours of a group share beyond the depth, at once where that is nothing.
// - encode: the words of what follows. Dynamic shared memory: Symbols.
// - count_ties: of each tile the items that tie with a neighbour, and the groups that those make. Dynamic shared memory: Sums.
// - sum_ties, of one block: sums of those, and what is left in the state. Dynamic shared memory: Sums.
// - list_ties: writes each item's place to its slot in `out`, and what is left, the next level, with where its groups begin.
//   Dynamic shared memory: Sums.
// - find_longest: the longest of the groups.
//
// Source: Drozd, Pericas and Matsuoka, "Efficient string sorting on multi- and many-core architectures" (2014), section III:
// groups of symbols, the longer the smaller the alphabet; many groups of strings at once.
#include "scan.cuh"
#include "simt.cuh"
#include "strings.cuh"

namespace simt::strings {

constexpr u32 BLOCK = 256;
constexpr u32 WARPS = BLOCK / WARP;
// Items of a thread that looks for ties.
constexpr u32 ROW = 8;
constexpr u32 TILE = BLOCK * ROW;
// Bytes that a lane compares at a time.
constexpr u32 COMPARED = 8;

struct State {
    // Bytes that the strings of every group share, and how many more of them do.
    u64 depth, shared;
    // What is left.
    u32 items, groups, longest;
    u32 padding;
};

struct Level {
    u32* indices;
    const u32* slots;
    const u8* heads;
    u32 count;
};

// How symbols become words.
struct Alphabet {
    const u32* symbols;
    u32 base, count;
};

struct Symbols {
    u32 numbers[256];
};
static_assert(BLOCK == 256, "a thread for each symbol");

// Over the block, of a thread each.
struct Sums {
    u32 items[WARPS], groups[WARPS];
};

SIMT_FN u32 index_of(const Level& level, u32 i) { return level.indices == nullptr ? i : level.indices[i]; }

SIMT_FN bool is_head(const Level& level, u32 i) { return level.heads == nullptr ? i == 0 : level.heads[i] != 0; }

SIMT_FN void see(u32* seen, u64 bytes, u32 from, u32 to) {
    SIMT_UNROLL
    for (u32 b = 0; b < 8; ++b) {
        u32* symbol = seen + u8(bytes >> 8 * b);
        if (b >= from && b < to && atomic_load<Relaxed, Block>(symbol) == 0) atomic_store<Relaxed, Block>(symbol, 1);
    }
}

SIMT_KERNEL(BLOCK, 4) find_alphabet(Strings strings, u64 count, u32* seen) {
    await_turn();
    u32* own = reinterpret_cast<Symbols*>(shared_memory())->numbers;
    own[thread_rank()] = 0;
    barrier();
#if SORTIE_STRINGS == 16
    // A warp for each, which may be long.
    for (u64 index = u64(block_rank()) * WARPS + warp_rank(); index < count; index += u64(grid_blocks()) * WARPS) {
        const String string = strings[u32(index)];
        for (u64 from = lane() * 8; from < string.length; from += WARP * 8) {
            const String rest = string.without(from);
            see(own, Bytes(rest).next(), 0, u32(lesser(rest.length, u64(8))));
        }
    }
#else
    // All of them at once, which lie one after the other.
    const u64 first = u64(block_rank()) * BLOCK + thread_rank(), step = u64(grid_blocks()) * BLOCK;
    const u8* start = strings.data + strings.entries[0];
    const u8* end = strings.data + strings.entries[count];
    const u8* aligned = start - reinterpret_cast<u64>(start) % 8;
    for (const u8* from = aligned + first * 8; from < end; from += step * 8) {
        const u64 before = from < start ? u64(start - from) : 0;
        see(own, Bytes::aligned({strings.data, strings.size}, from), u32(before), u32(lesser(u64(end - from), u64(8))));
    }
#endif
    barrier();
    if (own[thread_rank()] != 0) atomic_store<Relaxed>(&seen[thread_rank()], 1);
}

SIMT_KERNEL(BLOCK, 4) find_shared(Strings strings, Level level, State* state) {
    await_turn();
    const u64 depth = state->depth;
    for (u32 i = block_rank() * WARPS + warp_rank(); i < level.count; i += grid_blocks() * WARPS) {
        if (shuffle(atomic_load<Relaxed>(&state->shared), 0) == 0) return;
        if (is_head(level, i)) continue;
        const String own = strings[index_of(level, i)].without(depth);
        const String other = strings[index_of(level, i - 1)].without(depth);
        u64 end = lesser(own.length, other.length);
        u64 known = shuffle(atomic_load<Relaxed>(&state->shared), 0);
        for (u64 from = 0; from < lesser(end, known); from += WARP * COMPARED) {
            bool same[COMPARED];
            SIMT_UNROLL
            for (u32 c = 0; c < COMPARED; ++c) {
                const u64 at = from + c * WARP + lane();
                same[c] = at >= end || own.bytes[at] == other.bytes[at];
            }
            SIMT_UNROLL
            for (u32 c = COMPARED; c-- > 0;) {
                const u32 differ = ballot(!same[c]);
                if (differ != 0) end = from + c * WARP + trailing_zeros(differ);
            }
            known = shuffle(atomic_load<Relaxed>(&state->shared), 0);
        }
        if (lane() == 0 && end < known) atomic_min(&state->shared, end);
    }
}

SIMT_KERNEL(BLOCK, 4) encode(Strings strings, Level level, u32* indices, Alphabet alphabet, const State* state, u64* words) {
    await_turn();
    u32* symbols = reinterpret_cast<Symbols*>(shared_memory())->numbers;
    symbols[thread_rank()] = alphabet.symbols[thread_rank()];
    barrier();
    const u64 depth = state->depth + state->shared;
    for (u64 at = u64(block_rank()) * BLOCK + thread_rank(); at < level.count; at += u64(grid_blocks()) * BLOCK) {
        const u32 i = u32(at), index = index_of(level, i);
        const String string = strings[index].without(depth);
        const u64 length = string.length;
        Bytes bytes(string);
        u64 word = 0;
        for (u32 from = 0; from < alphabet.count; from += 8) {
            const u64 eight = from < length ? bytes.next() : 0;
            SIMT_UNROLL
            for (u32 b = 0; b < 8; ++b) {
                if (from + b >= alphabet.count) break;
                word = word * alphabet.base + (from + b < length ? symbols[u8(eight >> 8 * b)] : 0);
            }
        }
        words[i] = word;
        if (level.indices == nullptr) indices[i] = index;
    }
}

// Which of a thread's items tie, as bits: with the one before; with either neighbour, so that they are left; and of those
// the first of each group.
struct Ties {
    u32 with_last, left, heads;

    // What is left, and its groups, in half a word each.
    SIMT_FN u32 counts() const { return popcount(left) | popcount(heads) << 16; }
};

SIMT_FN Ties ties_of(const Level& level, const u64* words, u32 base, u64 first) {
    u32 ties = 0;
    u64 last = first > 0 && first < level.count ? words[first - 1] : 0;
    SIMT_UNROLL
    // One more, which tells whether the last item is left.
    for (u32 r = 0; r < ROW + 1; ++r) {
        if (first + r >= level.count) break;
        const u64 word = words[first + r];
        // Equal strings, both at their end, are in order.
        if (word == last && !is_head(level, u32(first + r)) && word % base != 0) ties |= 1u << r;
        last = word;
    }
    constexpr u32 own = (1u << ROW) - 1;
    const u32 left = (ties | ties >> 1) & own;
    return {ties & own, left, left & ~ties};
}

SIMT_KERNEL(BLOCK, 4) count_ties(Level level, const u64* words, u32 base, u32* counts) {
    await_turn();
    u32* sums = reinterpret_cast<Sums*>(shared_memory())->items;
    for (u64 tile = block_rank(); tile * TILE < level.count; tile += grid_blocks()) {
        const Ties ties = ties_of(level, words, base, tile * TILE + thread_rank() * ROW);
        u32 total;
        scan::exclusive<BLOCK>(ties.counts(), sums, total);
        if (thread_rank() == 0) counts[tile] = total;
        barrier();
    }
}

SIMT_KERNEL(BLOCK, 1)
sum_ties(const u32* counts, u32 tiles, u32 symbols, u32* items_before, u32* groups_before, State* state) {
    await_turn();
    Sums& sums = *reinterpret_cast<Sums*>(shared_memory());
    u32 items = 0, groups = 0;
    for (u32 first = 0; first < tiles; first += BLOCK) {
        const u32 i = first + thread_rank();
        const u32 count = i < tiles ? counts[i] : 0;
        u32 more_items, more_groups;
        const u32 items_own = scan::exclusive<BLOCK>(count & 0xFFFF, sums.items, more_items);
        const u32 groups_own = scan::exclusive<BLOCK>(count >> 16, sums.groups, more_groups);
        if (i < tiles) {
            items_before[i] = items + items_own;
            groups_before[i] = groups + groups_own;
        }
        items += more_items;
        groups += more_groups;
        barrier();
    }
    if (thread_rank() == 0) *state = {state->depth + state->shared + symbols, ~u64(0), items, groups, 0, 0};
}

// The next level, but for its words.
struct Left {
    u32* indices;
    u32* slots;
    u8* heads;
    // Where each group begins, and the last one ends.
    u64* starts;
};

SIMT_KERNEL(BLOCK, 4)
list_ties(Level level, const u64* words, u32 base, const u32* items_before, const u32* groups_before, u32* out, Left left,
          const State* state) {
    await_turn();
    u32* sums = reinterpret_cast<Sums*>(shared_memory())->items;
    for (u64 tile = block_rank(); tile * TILE < level.count; tile += grid_blocks()) {
        const u64 first = tile * TILE + thread_rank() * ROW;
        const Ties ties = ties_of(level, words, base, first);
        const u32 before = scan::exclusive<BLOCK>(ties.counts(), sums);
        u32 item = items_before[tile] + (before & 0xFFFF), group = groups_before[tile] + (before >> 16);
        for (u32 r = 0; r < ROW && first + r < level.count; ++r) {
            const u32 index = level.indices[first + r];
            const u32 slot = level.slots == nullptr ? u32(first + r) : level.slots[first + r];
            // At the first level the places are there.
            if (level.slots != nullptr) out[slot] = index;
            if ((ties.left >> r & 1) == 0) continue;
            const bool head = ties.heads >> r & 1;
            left.indices[item] = index;
            left.slots[item] = slot;
            left.heads[item] = head;
            if (head) left.starts[group++] = item;
            ++item;
        }
        barrier();
    }
    if (block_rank() == 0 && thread_rank() == 0) left.starts[state->groups] = state->items;
}

SIMT_KERNEL(BLOCK, 4) find_longest(const u64* starts, State* state) {
    await_turn();
    u32 longest = 0;
    for (u32 i = block_rank() * BLOCK + thread_rank(); i < state->groups; i += grid_blocks() * BLOCK)
        longest = greater(longest, u32(starts[i + 1] - starts[i]));
    longest = warp_greatest(longest);
    if (lane() == 0) atomic_max(&state->longest, longest);
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::strings
