// The steps of an argsort of strings by groups of symbols. Symbols are the byte values that occur, numbered in order.
//
// Method, level by level:
// - A word holds as many of a string's next symbols as fit in 64 bits, as a number in base `base`. Symbols are
//   numbered from 1. 0 is the end of the string, so a word also orders strings of different lengths.
// - The words are sorted, the words of each group as a segment, with the indices of their strings.
// - Strings with equal words tie, unless they have ended. They form the groups of the next level.
//
// - Compile-time parameter: SORTIE_STRINGS, 4, 8 or 16 (strings.cuh).
// - Order: find_alphabet once; then for each level find_shared, encode, a sort of the words of each group,
//   count_ties, sum_ties, list_ties, find_longest.
// - Launch: any number of blocks of BLOCK threads, unless said otherwise. A tile is TILE items.
// - Source: Drozd, Pericas and Matsuoka, "Efficient string sorting on multi- and many-core architectures" (2014),
//   section III: groups of symbols, the more the smaller the alphabet; many groups of strings at once.
#include "scan.cuh"
#include "simt.cuh"
#include "strings.cuh"

namespace simt::strings {

constexpr u32 BLOCK = 256;
constexpr u32 WARPS = BLOCK / WARP;
// Items of a thread that lists ties.
constexpr u32 ROW = 8;
constexpr u32 TILE = BLOCK * ROW;
// The number of bytes that a lane of find_shared compares before the lanes vote.
constexpr u32 COMPARED = 8;

struct State {
    // `depth`: the number of leading bytes that the strings of each group share, as earlier levels have found.
    // `shared`: the number of further bytes that they share; all ones before find_shared.
    u64 depth, shared;
    // What ties after this level: strings, groups, and the length of the longest group.
    u32 items, groups, longest;
    u32 padding;
};

// A level: `count` strings, in groups that are the same up to `depth` bytes. At the first level all strings are one
// group, and the three pointers are null.
// - `indices`: the index of each string. `slots`: the index in the result where the string at this position belongs.
// - `heads`: 1 for the first string of each group, else 0.
struct Level {
    u32* indices;
    const u32* slots;
    const u8* heads;
    u32 count;
};

// `symbols`: for each byte value its number, from 1. `base`: the number of symbols plus 1. `count`: symbols per word.
struct Alphabet {
    const u32* symbols;
    u32 base, count;
};

struct Symbols {
    u32 numbers[256];
};
static_assert(BLOCK == 256, "a thread for each symbol");

// The sums of the warps, for two scans.
struct Sums {
    u32 items[WARPS], groups[WARPS];
};

// The index of string i of the level.
SIMT_FN u32 index_of(const Level& level, u32 i) { return level.indices == nullptr ? i : level.indices[i]; }

// Whether string i of the level is the first of its group.
SIMT_FN bool is_head(const Level& level, u32 i) { return level.heads == nullptr ? i == 0 : level.heads[i] != 0; }

// Sets seen[v] to 1 for each of the bytes from..to of a word.
SIMT_FN void see(u32* seen, u64 bytes, u32 from, u32 to) {
    SIMT_UNROLL
    for (u32 b = 0; b < 8; ++b) {
        u32* symbol = seen + u8(bytes >> 8 * b);
        if (b >= from && b < to && atomic_load<Relaxed, Block>(symbol) == 0) atomic_store<Relaxed, Block>(symbol, 1);
    }
}

// find_alphabet: finds which byte values occur in `count` strings.
// - Launch: shared memory: Symbols.
// - Before: `seen`, 256 words, is zero.
// - Writes: seen[v] = 1 for each byte value v that occurs.
// - Cost: one read of the strings.
SIMT_KERNEL(BLOCK, 4) find_alphabet(Strings strings, u64 count, u32* seen) {
    await_turn();
    u32* own = reinterpret_cast<Symbols*>(shared_memory())->numbers;
    own[thread_rank()] = 0;
    barrier();
#if SORTIE_STRINGS == 16
    // One warp per string, because strings may be long.
    for (u64 index = u64(block_rank()) * WARPS + warp_rank(); index < count; index += u64(grid_blocks()) * WARPS) {
        const String string = strings[u32(index)];
        for (u64 from = lane() * 8; from < string.length; from += WARP * 8) {
            const String rest = string.without(from);
            see(own, Bytes(rest).next(), 0, u32(lesser(rest.length, u64(8))));
        }
    }
#else
    // The strings are consecutive, so all their bytes are read as one array.
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

// find_shared: finds how many bytes after `depth` all neighbours share, in all groups.
// - Parameters: `strings`; `level`; `state`, with `depth`. `shared` is all ones before.
// - Launch: no shared memory. One warp per string at a time.
// - Writes: `shared` of the state, the minimum.
// - Cost: a read of the shared bytes. Stops early once `shared` is 0.
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

// encode: makes a word of the next `alphabet.count` symbols of each string.
// - Parameters: `strings`; `level`; `alphabet`; `state`, with `depth` and `shared`: words begin after these bytes.
// - Launch: shared memory: Symbols. After find_shared.
// - Writes: `words`, one per string. At the first level also `indices`: string i has index i.
// - Cost: one read of these bytes, one write of the words.
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

// Which of the thread's ROW items tie; bit r is item r.
// - `with_last`: ties with the item before it. `left`: ties with either neighbour. `heads`: is the first item of a
//   group.
struct Ties {
    u32 with_last, left, heads;

    // The number of items that tie in the lower half of a word, and of groups in the upper half.
    SIMT_FN u32 counts() const { return popcount(left) | popcount(heads) << 16; }
};

// Finds the ties among the ROW items from `first` on.
SIMT_FN Ties ties_of(const Level& level, const u64* words, u32 base, u64 first) {
    u32 ties = 0;
    u64 last = first > 0 && first < level.count ? words[first - 1] : 0;
    SIMT_UNROLL
    // One item more, because the last item may tie with it.
    for (u32 r = 0; r < ROW + 1; ++r) {
        if (first + r >= level.count) break;
        const u64 word = words[first + r];
        // If the word ends in 0, both strings have ended, so they are equal and in order.
        if (word == last && !is_head(level, u32(first + r)) && word % base != 0) ties |= 1u << r;
        last = word;
    }
    constexpr u32 own = (1u << ROW) - 1;
    const u32 left = (ties | ties >> 1) & own;
    return {ties & own, left, left & ~ties};
}

// count_ties: counts the strings that tie, and their groups, in each tile.
// - Parameters: `level`; `words`, one per string, sorted within each group; `base` of the alphabet.
// - Launch: shared memory: Sums. After the sort of the words.
// - Writes: `counts`, an entry per tile: strings in the lower half, groups in the upper half.
// - Cost: one read of the words.
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

// sum_ties: turns the counts of the tiles into what comes before each tile, and writes the state of the next level.
// - Parameters: `counts`: from count_ties. `tiles`: the number of tiles. `symbols`: the symbols of a word, which are
//   the bytes that were compared.
// - Launch: one block. Shared memory: Sums. After count_ties.
// - Writes: `items_before` and `groups_before`, an entry per tile; `state`.
// - Cost: a scan over the tiles.
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

// The tables of the next level, without its words.
struct Left {
    u32* indices;
    u32* slots;
    u8* heads;
    // The item at which each group begins; one entry more, with the number of items.
    u64* starts;
};

// list_ties: writes the index of each string to its slot in the result, and lists the strings that tie as the next
// level.
// - Parameters: `level` with the sorted indices; `words`, `base`: as above; `items_before`, `groups_before`: from
//   sum_ties. `out`: the result.
// - Launch: shared memory: Sums. After sum_ties.
// - Writes: `out` (not at the first level); `left`.
// - Cost: one read of words, indices and slots; one write of the indices and of the next level.
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
            // At the first level the indices are in the result already.
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

// find_longest: finds the length of the longest group of the next level.
// - Parameters: `starts`: from list_ties.
// - Launch: no shared memory. After list_ties.
// - Writes: `longest` of the state, which is zero before.
// - Cost: one read of `starts`, one global atomic per warp.
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
