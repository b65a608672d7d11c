// One level of a sample sort by comparison: scatters the items of each group to buckets between splitters from a
// sample of the group.
//
// Compile-time parameters:
// - compared.cuh and block_sort.cuh.
// - SORTIE_THREADS, the threads of a block. SORTIE_ROW, the items of a thread.
// - SORTIE_SUMS_MEMORY, SORTIE_CHOOSE_MEMORY, SORTIE_COUNT_MEMORY, SORTIE_MOVE_MEMORY: the bytes of shared memory of
//   plan_groups, choose_splitters, count_items and move_items that the host counts on. Asserted.
// - SORTIE_STEP. FIRST: `from` has keys, and the items are made here. NEXT: `from` has items.
//
// Groups and buckets:
// - Groups are consecutive ranges of the items. There are at most 2^32 - 2^16 items.
// - A group is cut into as many ways as its length needs, at most `most_ways`. There is one bucket per way.
// - If a splitter repeats in the sample, each way has a second bucket, for the items that equal its splitter. Buckets
//   between splitters and buckets of equal items then alternate. With INDEXED, no two items are equal.
// - Buckets are numbered through all groups, 2 * most_ways numbers per group. Of a group whose splitters do not repeat,
//   only the even numbers are used.
// - A group that needs no cut is copied: one that is short, or a bucket of equal items from the level before.
//
// Order: plan_groups, choose_splitters, count_items, scan_buckets, move_items. All take the same Level.
// Cost of all: two reads and one write of the items; per item, two walks down a tree and two atomics in shared memory.
//
// Source: Sanders and Winkel, "Super scalar sample sort" (2004), for trees without branches; Leischner, Osipov and
// Sanders, "GPU sample sort" (2010); the buckets of equal items are those of Axtmann, Witt, Ferizovic and Sanders,
// "In-place parallel super scalar samplesort" (2017).
#include "block_sort.cuh"
#include "classify.cuh"
#include "compared.cuh"
#include "scan.cuh"
#include "search.cuh"
#include "simt.cuh"

#define FIRST 0
#define NEXT 1

namespace simt::splitters {

using compared::Item;
using compared::less;
using compared::Word;
using compared::WORDS;

#if SORTIE_STEP == FIRST
using From = compared::Key;
#else
using From = Item;
#endif

constexpr u32 BLOCK = SORTIE_THREADS;
constexpr u32 ROW = SORTIE_ROW;
constexpr u32 TILE = BLOCK * ROW;
// The threads of the block that sorts a sample.
constexpr u32 SAMPLING = block_sort::BLOCK;
// Items of the sample per bucket, if they fit. With this many, the longest bucket is rarely longer than 1.5x the average.
constexpr u32 OVERSAMPLING = 64;
// The number of threads that a multiprocessor should hold, which leaves 64 registers for each.
constexpr u32 RESIDENT = 1024;
// The most ways that a group is cut into, which is also the most nodes of its tree.
constexpr u32 MOST_WAYS = 1024;
static_assert(TILE < 1u << 16, "a rank has 16 bits");

// How a group is cut.
struct Cut {
    u32 ways, tree_bits;
    // Whether buckets between splitters alternate with buckets of items that equal a splitter.
    u32 with_equal;
};

// A level. Tables have an entry per group unless said otherwise.
struct Level {
    // `count` keys or items each. They do not overlap.
    const From* from;
    Item* to;
    u64 count;
    // If not null, and the plan of the profile is not PASSES, nothing is sorted.
    const classify::Profile* profile;
    // Group g is the items starts[g]..starts[g + 1]. If null, all items are one group.
    const u64* starts;
    u32 groups;
    // Whether the groups are the buckets of an earlier level, so that each group of odd number has only equal items.
    u32 nested;
    u32 most_ways;
    // The nodes that each tree has room for, a power of two of at least 4. Node 0 is not used.
    u32 nodes;
    // The number of items that a bucket should have.
    u32 share;
    // One entry more than groups: the number of tiles of the groups before.
    u32* tiles_before;
    Cut* cuts;
    // `nodes` splitters per group: a search tree in which node n has the children 2n and 2n + 1.
    Item* trees;
    // The start of bucket b at index b, and its end at index b + 1.
    u64* ends;
};

using SumsOfWarps = u32[BLOCK / WARP];
static_assert(sizeof(SumsOfWarps) == SORTIE_SUMS_MEMORY, "as the host has it");

struct Choosing {
    block_sort::Shared sorting;
    // Whether splitters repeat.
    u32 repeats;
};
static_assert(sizeof(Choosing) == SORTIE_CHOOSE_MEMORY, "as the host has it");

SIMT_FN u64 start_of(const Level& level, u32 group) {
    if (level.starts) return level.starts[group];
    // If the profile chose another way to sort, the group is empty.
    const bool sorts = !level.profile || classify::plan(*level.profile) == classify::PASSES;
    return group == 0 || !sorts ? 0 : level.count;
}

SIMT_FN u64 length_of(const Level& level, u32 group) { return start_of(level, group + 1) - start_of(level, group); }

SIMT_FN u32 log2_ceil(u32 n) { return n <= 1 ? 0 : WARP - leading_zeros(n - 1); }

SIMT_FN Item item_at(const Level& level, u64 index) {
#if SORTIE_INDEXED && SORTIE_STEP == FIRST
    return {level.from[index], u32(index)};
#else
    return level.from[index];
#endif
}

// plan_groups: decides for each group how many ways it is cut into, and how many tiles it has.
// - Parameters: `level`, for this kernel and the others: see the struct.
// - Launch: one block of BLOCK threads. Shared memory: SumsOfWarps.
// - Before: `ends` is zero, except for bounds that an earlier level wrote.
// - Writes: `cuts`, without `with_equal`; `tiles_before`; ends[0] = 0.
// - Cost: a scan over the groups.
SIMT_KERNEL(BLOCK, 1) plan_groups(Level level) {
    await_turn();
    u32* sums = *reinterpret_cast<SumsOfWarps*>(shared_memory());
    u32 before = 0;
    for (u32 first = 0; first < level.groups; first += BLOCK) {
        const u32 group = first + thread_rank();
        u32 tiles = 0;
        if (group < level.groups) {
            const u64 length = length_of(level, group);
            tiles = u32((length + TILE - 1) / TILE);
            u32 ways = u32(lesser<u64>((length + level.share - 1) / level.share, level.most_ways));
            if (ways < 2 || (level.nested && group % 2 == 1)) ways = 1;
            level.cuts[group] = {ways, log2_ceil(ways), 0};
        }
        u32 all;
        const u32 own = scan::exclusive<BLOCK>(tiles, sums, all);
        if (group < level.groups) level.tiles_before[group] = before + own;
        before += all;
        barrier();
    }
    if (thread_rank() == 0) {
        level.tiles_before[level.groups] = before;
        level.ends[0] = 0;
    }
}

// Item i of the sample. The group is divided into `count` stretches, and each contributes one item at a pseudo-random
// position.
SIMT_FN Item sampled(const Level& level, u64 start, u64 length, u32 i, u32 count) {
    const u64 stretch = length / count;
    const u32 random = (i + 1) * 0x9E3779B9u;
    return item_at(level, start + stretch * i + (u64(random) * lesser(stretch, u64(1) << 32) >> 32));
}

// choose_splitters: sorts a sample of each group, and makes a tree of splitters of it.
// - Launch: a block of block_sort::BLOCK threads per group. Shared memory: Choosing. After plan_groups.
// - Writes: `trees`, and `with_equal` of each cut.
// - Cost: per group a sort of ways * OVERSAMPLING items in a block, at most block_sort::CAPACITY.
SIMT_KERNEL(SAMPLING, 1) choose_splitters(Level level) {
    await_turn();
    const u32 group = block_rank(), thread = thread_rank();
    const Cut cut = level.cuts[group];
    if (cut.ways == 1) return;
    Choosing& shared = *reinterpret_cast<Choosing*>(shared_memory());
    Item* sample = shared.sorting.items;
    if (thread == 0) shared.repeats = 0;
    const u64 start = start_of(level, group), length = length_of(level, group);
    const u32 count = u32(lesser<u64>(lesser(cut.ways * OVERSAMPLING, block_sort::CAPACITY), length));
    for (u32 i = thread; i < count; i += SAMPLING) sample[i] = sampled(level, start, length, i, count);
    barrier();
    block_sort::sort_rows<block_sort::ROW>(sample, count);

    auto splitter_at = [&](u32 rank) { return (rank + 1) * count / cut.ways; };
    Item* tree = level.trees + u64(group) * level.nodes;
    for (u32 node = thread + 1; node < 1u << cut.tree_bits; node += SAMPLING) {
        // Level d of the tree has 2^d nodes, and cuts the splitters into 2^d equal parts. Node j there holds the
        // middle splitter of part j. Nodes without a splitter of their own get the last one.
        const u32 depth = log2_ceil(node + 1) - 1;
        const u32 rank = ((2 * (node - (1u << depth)) + 1) << (cut.tree_bits - 1 - depth)) - 1;
        const u32 at = splitter_at(lesser(rank, cut.ways - 2));
        tree[node] = sample[at];
        if (!compared::INDEXED && !less(sample[at - 1], sample[at])) atomic_or<Relaxed, Block>(&shared.repeats, 1);
    }
    barrier();
    if (thread == 0) level.cuts[group].with_equal = shared.repeats;
}

// The shared memory of count_items and move_items. Its size depends on the Level, so the host computes it at the
// launch.
struct Pieces {
    Item* tree;
    u64* moves;
    // A histogram of the digits; later the index in the tile where each digit's items begin.
    u32* counts;
    u32* sums;
    // For move_items only: the items of the tile in the order of their digits, and the digit of each.
    Item* items;
    u16* digits;

    SIMT_FN explicit Pieces(const Level& level) {
        tree = reinterpret_cast<Item*>(shared_memory());
        // The nodes are a power of two, at least 4, so what follows is aligned to 16 bytes.
        moves = reinterpret_cast<u64*>(tree + level.nodes);
        counts = reinterpret_cast<u32*>(moves + 2 * level.most_ways);
        sums = counts + 2 * level.most_ways;
        items = reinterpret_cast<Item*>(sums + BLOCK / WARP);
        digits = reinterpret_cast<u16*>(items + TILE);
    }
};

// Bytes of shared memory for trees with this many nodes and groups with this many ways: for count_items, and for
// move_items.
constexpr u64 counting_bytes(u64 nodes, u64 ways) {
    return nodes * sizeof(Item) + 2 * ways * (sizeof(u64) + sizeof(u32)) + sizeof(SumsOfWarps);
}
constexpr u64 moving_bytes(u64 nodes, u64 ways) { return counting_bytes(nodes, ways) + TILE * (sizeof(Item) + sizeof(u16)); }
static_assert(counting_bytes(MOST_WAYS, MOST_WAYS) == SORTIE_COUNT_MEMORY, "as the host has it");
static_assert(moving_bytes(MOST_WAYS, MOST_WAYS) == SORTIE_MOVE_MEMORY, "as the host has it");

// The group that a tile belongs to. All lanes of the warp take part.
SIMT_FN u32 group_of(const Level& level, u32 tile) {
    return search::first_of_warp(0u, level.groups, [&](u32 group) { return level.tiles_before[group + 1] > tile; });
}

// The number of digits, which are the buckets of a group in use.
SIMT_FN u32 digits_of(const Cut& cut) { return cut.with_equal ? 2 * cut.ways : cut.ways; }

// The number of the bucket for this digit of a group.
SIMT_FN u64 bucket_of(const Level& level, const Cut& cut, u32 group, u32 digit) {
    return u64(group) * 2 * level.most_ways + (cut.with_equal ? digit : 2 * digit);
}

// Loads the tree of a group and clears its counts. A barrier must follow.
SIMT_FN void begin_group(const Level& level, const Cut& cut, u32 group, const Pieces& pieces) {
    const Word* from = reinterpret_cast<const Word*>(level.trees + u64(group) * level.nodes);
    Word* to = reinterpret_cast<Word*>(pieces.tree);
    for (u32 w = thread_rank() + WORDS; w < WORDS << cut.tree_bits; w += BLOCK) to[w] = from[w];
    for (u32 d = thread_rank(); d < digits_of(cut); d += BLOCK) pieces.counts[d] = 0;
}

// Loads the thread's items of a tile of `count` items: item r * BLOCK + rank. Past the end, the last item is loaded
// again: loads under a condition would not overlap.
SIMT_FN void load_row(Item (&row)[ROW], const Level& level, u64 first, u32 count) {
    if (count == TILE) {
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) row[r] = item_at(level, first + (r * BLOCK + thread_rank()));
    } else {
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) row[r] = item_at(level, first + lesser(r * BLOCK + thread_rank(), count - 1));
    }
}

// Finds the digit of each item by a walk down the tree without branches: from node n to 2n + (splitter n < item).
// With equal buckets, digit 2w is way w, and digit 2w + 1 the items that equal its upper splitter.
SIMT_FN void find_digits(u32 (&digits)[ROW], const Item (&row)[ROW], const Item* tree, const Cut& cut) {
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) digits[r] = 1;
    SIMT_ROLL
    for (u32 depth = 0; depth < cut.tree_bits; ++depth) {
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) digits[r] = 2 * digits[r] + less(tree[digits[r]], row[r]);
    }
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 leaf = digits[r];
        digits[r] = lesser(leaf - (1u << cut.tree_bits), cut.ways - 1);
        if (!compared::INDEXED && cut.with_equal) {
            // The splitter that bounds the way from above is the node where the walk last turned left, if it did.
            const u32 above = leaf >> (trailing_zeros(~leaf) + 1);
            digits[r] = 2 * digits[r] + (above > 0 && !less(row[r], tree[above]));
        }
    }
}

// Adds the block's counts to the global ones of the group.
SIMT_FN void add_counts(const Level& level, const Cut& cut, u32 group, const Pieces& pieces) {
    for (u32 d = thread_rank(); d < digits_of(cut); d += BLOCK)
        if (pieces.counts[d] > 0) atomic_add(&level.ends[bucket_of(level, cut, group, d) + 1], pieces.counts[d]);
}

// count_items: makes a histogram of the items by bucket. Each block takes a consecutive part of all tiles.
// - Launch: any number of blocks of BLOCK threads. Shared memory: counting_bytes. After choose_splitters.
// - Writes: adds the count of bucket b to ends[b + 1].
// - Cost: one read of the items; a walk down a tree and an atomic in shared memory per item; up to 2 * ways global
//   atomics for each group that a block takes part in.
SIMT_KERNEL(BLOCK, RESIDENT / BLOCK) count_items(Level level) {
    await_turn();
    const Pieces pieces(level);
    const u64 tiles = level.tiles_before[level.groups];
    const u32 first = u32(tiles * block_rank() / grid_blocks()), last = u32(tiles * (block_rank() + 1) / grid_blocks());
    if (first == last) return;
    u32 group = group_of(level, first);
    Cut cut = level.cuts[group];
    begin_group(level, cut, group, pieces);
    barrier();
    for (u32 tile = first; tile < last; ++tile) {
        if (tile >= level.tiles_before[group + 1]) {
            barrier();
            add_counts(level, cut, group, pieces);
            barrier();
            group = group_of(level, tile);
            cut = level.cuts[group];
            begin_group(level, cut, group, pieces);
            barrier();
        }
        const u64 offset = u64(tile - level.tiles_before[group]) * TILE;
        const u32 count = u32(lesser<u64>(length_of(level, group) - offset, TILE));
        if (cut.ways == 1) {
            if (thread_rank() == 0) pieces.counts[0] += count;
            continue;
        }
        const u32 left = count - lesser(count, thread_rank());
        Item row[ROW];
        load_row(row, level, start_of(level, group) + offset, count);
        u32 digits[ROW];
        find_digits(digits, row, pieces.tree, cut);
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r)
            if (r * BLOCK < left) atomic_add<Relaxed, Block>(&pieces.counts[digits[r]], 1);
    }
    barrier();
    add_counts(level, cut, group, pieces);
}

// scan_buckets: computes where buckets begin.
// - Launch: a block of BLOCK threads per group. Shared memory: SumsOfWarps. After count_items.
// - Writes: ends[b + 1], from the count of bucket b to its start. move_items advances it to the end.
// - Cost: a scan over 2 * most_ways counts per group.
SIMT_KERNEL(BLOCK, RESIDENT / BLOCK) scan_buckets(Level level) {
    await_turn();
    u32* sums = *reinterpret_cast<SumsOfWarps*>(shared_memory());
    const u32 group = block_rank(), buckets = 2 * level.most_ways;
    u64* ends = level.ends + u64(group) * buckets + 1;
    u64 before = start_of(level, group);
    for (u32 first = 0; first < buckets; first += BLOCK) {
        const u32 bucket = first + thread_rank();
        const u32 count = bucket < buckets ? u32(ends[bucket]) : 0;
        u32 all;
        const u32 own = scan::exclusive<BLOCK>(count, sums, all);
        if (bucket < buckets) ends[bucket] = before + own;
        before += all;
        barrier();
    }
}

// Ranks the items of a tile within their digits, reserves room in each bucket, and writes them in the order of their
// digits.
SIMT_FN void move_tile(const Level& level, u32 tile, const Pieces& pieces) {
    const u32 thread = thread_rank();
    const u32 group = group_of(level, tile);
    const Cut cut = level.cuts[group];
    begin_group(level, cut, group, pieces);
    const u64 offset = u64(tile - level.tiles_before[group]) * TILE;
    const u64 first = start_of(level, group) + offset;
    const u32 count = u32(lesser<u64>(length_of(level, group) - offset, TILE));
    const u32 left = count - lesser(count, thread);
    Item row[ROW];
    load_row(row, level, first, count);
    if (cut.ways == 1) {
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r)
            if (r * BLOCK < left) level.to[first + r * BLOCK + thread] = row[r];
        // The group stays in its range. The atomics of all its tiles add up to the end of its bucket.
        if (thread == 0) atomic_add(&level.ends[bucket_of(level, cut, group, 0) + 1], count);
        return;
    }
    barrier();

    // Digit << 16 | rank of the item within its digit in the tile.
    u32 positions[ROW];
    find_digits(positions, row, pieces.tree, cut);
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 rank = r * BLOCK < left ? atomic_add<Relaxed, Block>(&pieces.counts[positions[r]], 1) : 0;
        positions[r] = positions[r] << 16 | rank;
    }
    barrier();
    const u32 digits = digits_of(cut);
    u32 before = 0;
    for (u32 low = 0; low < digits; low += BLOCK) {
        const u32 digit = low + thread;
        const u32 items = digit < digits ? pieces.counts[digit] : 0;
        const u64 room = items > 0 ? atomic_add(&level.ends[bucket_of(level, cut, group, digit) + 1], items) : 0;
        u32 all;
        const u32 start = before + scan::exclusive<BLOCK>(items, pieces.sums, all);
        if (digit < digits) {
            pieces.counts[digit] = start;
            pieces.moves[digit] = room - start;
        }
        before += all;
        barrier();
    }
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        if (r * BLOCK < left) {
            const u32 index = pieces.counts[positions[r] >> 16] + (positions[r] & 0xFFFF);
            pieces.items[index] = row[r];
            pieces.digits[index] = u16(positions[r] >> 16);
        }
    }
    barrier();
    const Word* words = reinterpret_cast<const Word*>(pieces.items);
    Word* to = reinterpret_cast<Word*>(level.to);
    for (u32 w = thread; w < count * WORDS; w += BLOCK) {
        const u32 index = w / WORDS;
        to[(pieces.moves[pieces.digits[index]] + index) * WORDS + w % WORDS] = words[w];
    }
}

// move_items: scatters the items to their buckets, in any order within a bucket.
// - Launch: any number of blocks of BLOCK threads. Shared memory: moving_bytes. After scan_buckets.
// - Writes: `to`. ends[b + 1] becomes the end of bucket b, which is the start of bucket b + 1.
// - Cost: one read and one write of the items; a walk down a tree and an atomic in shared memory per item; a global
//   atomic per tile and bucket.
SIMT_KERNEL(BLOCK, RESIDENT / BLOCK) move_items(Level level) {
    await_turn();
    const Pieces pieces(level);
    for (u32 tile = block_rank(); tile < level.tiles_before[level.groups]; tile += grid_blocks()) {
        move_tile(level, tile, pieces);
        barrier();
    }
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::splitters
