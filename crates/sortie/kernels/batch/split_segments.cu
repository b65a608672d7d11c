// One level of a distribution of many segments at once: each segment that is too long for a block is split into
// buckets, by splitters of its own. Not stable.
//
// Compile-time parameters: SORTIE_KEY_BYTES, the width of a key; SORTIE_KIND, code::Kind; SORTIE_THREADS, the threads
// of a block; SORTIE_ROW, the keys of a thread.
//
// Preconditions: a segment has fewer than 2^32 keys. All states are zero before
// the first level.
// Order: list_long (first level only), choose_splitters, count_keys, scan_buckets, move_keys. All take the same Level.
// Launch of each: any number of blocks of BLOCK threads.
// Cost of all: two reads and one write of the keys; per key, two walks down a tree and two atomics in shared memory.
//
// Entries of the tables are handed out by atomics, so a level needs no scan over its segments. If a code repeats in a
// sample, the keys that equal a splitter get a bucket of their own. It needs no sort; the next level copies it.
//
// Source: Leischner, Osipov and Sanders, "GPU sample sort" (2010), and the sources that splitters.cu names.
#include "code.cuh"
#include "long.cuh"
#include "scan.cuh"
#include "simt.cuh"

namespace simt::split_segments {

using Key = code::OfBytes<SORTIE_KEY_BYTES>::Type;

constexpr code::Kind KIND = code::SORTIE_KIND;
constexpr u32 BLOCK = SORTIE_THREADS;
constexpr u32 ROW = SORTIE_ROW;
constexpr u32 TILE = BLOCK * ROW;
// Keys that a thread of count_keys loads at a time.
constexpr u32 COUNTED = ROW / 2;
// The number of threads that a multiprocessor should hold, which leaves 64 registers for each.
constexpr u32 RESIDENT = 1024;
// The most buckets between splitters. With the buckets of equal keys, there is a thread for each bucket.
constexpr u32 MOST_WAYS = BLOCK / 2;
constexpr u32 NODES = MOST_WAYS;
// The most keys of a sample, and the most per bucket. With this many, the longest bucket is rarely longer than 1.5x the
// average.
constexpr u32 SAMPLED = 4096;
constexpr u32 OVERSAMPLING = 64;
static_assert(TILE < 1u << 16, "a rank has 16 bits");

// A range of keys to split: a segment, or a bucket of the level before. If `equal`, all its keys are equal, and it is
// copied.
struct Split {
    u64 start;
    u32 length, equal;
};

// How it is split.
struct Cut {
    u64 start;
    u32 length, first_tile;
    // Its first node in `trees`; its first bucket is 2 * first. It has 2^tree_bits nodes and twice as many buckets.
    u32 first;
    u32 ways, tree_bits;
    // Whether buckets between splitters alternate with buckets of keys that equal a splitter.
    u32 with_equal;
};

struct State {
    // The number of entries in `splits` and `ready`, of tiles, and of nodes in `trees`.
    u32 splits, ready, tiles, nodes;
};

// A level: its input, its result, and its tables.
struct Level {
    // The keys of all segments before, and after the level. They do not overlap.
    const Key* from;
    Key* to;
    // The tables of this level. `cuts` has an entry for each of `splits`.
    State* state;
    Split* splits;
    Cut* cuts;
    // For each tile, the number of its cut.
    u32* cut_of;
    // The splitters of all cuts: search trees in which node n has the children 2n and 2n + 1.
    Key* trees;
    // For each bucket its count; later the index where its next key goes.
    u64* cursors;
    // Start and end of each bucket that is ready to be sorted by a block; `ready` of the state counts them.
    u64* ready;
    // The state of the next level, if there is one.
    State* next_state;
    Split* next;
    // The most keys that a block sorts, and the number of keys that a bucket should have.
    u32 capacity, share;
};

SIMT_FN u32 log2_ceil(u32 n) { return n <= 1 ? 0 : WARP - leading_zeros(n - 1); }

// list_long: makes a split of each segment of the first level.
// - Parameters: `segments`: the segments that are too long for a block (long.cuh).
// - Writes: `splits`, and their number in the state. No shared memory.
// - Cost: one read of their bounds.
SIMT_KERNEL(BLOCK, 1) list_long(Level level, long_segments::Segments segments) {
    await_turn();
    const u64 count = long_segments::count(segments);
    for (u64 i = u64(block_rank()) * BLOCK + thread_rank(); i < count; i += u64(grid_blocks()) * BLOCK) {
        const long_segments::Whole segment = long_segments::segment_at(segments, i);
        level.splits[i] = {segment.start, u32(segment.length), 0};
    }
    if (block_rank() == 0 && thread_rank() == 0) level.state->splits = u32(count);
}

// The number of ways that a split is cut into. If one level cannot make enough buckets, both levels make about as many.
SIMT_FN u32 ways_of(const Split& split, const Level& level) {
    if (split.equal) return 1;
    const u32 buckets = greater((split.length - 1) / level.share + 1, 2u);
    if (buckets <= MOST_WAYS) return buckets;
    if (!level.next) return MOST_WAYS;
    const u32 half = (log2_ceil(buckets) + 1) / 2;
    return lesser(1u << half, MOST_WAYS);
}

struct Sample {
    Key codes[SAMPLED];
    // Whether splitters repeat; the first tile and the first node of the cut.
    u32 repeats, first_tile, first;
};
static_assert(sizeof(Sample) == SORTIE_SAMPLE_MEMORY, "as the host has it");

// Sorts `count` codes, a power of two, in shared memory by a bitonic network. Begins after a barrier, and ends with
// one.
SIMT_FN void sort_sample(Key* codes, u32 count) {
    for (u32 run = 2; run <= count; run *= 2) {
        for (u32 by = run / 2; by > 0; by /= 2) {
            for (u32 i = thread_rank(); i < count / 2; i += BLOCK) {
                const u32 a = 2 * by * (i / by) + i % by, b = a + by;
                const Key first = codes[a], second = codes[b];
                if ((second < first) == ((a & run) == 0)) {
                    codes[a] = second;
                    codes[b] = first;
                }
            }
            barrier();
        }
    }
}

// choose_splitters: sorts a sample of each split, and makes a tree of splitters of it.
// - Launch: shared memory: Sample. After list_long, or the level before.
// - Writes: `cuts`, `trees`, `cut_of`; zeros to the cursors of each cut; the numbers of tiles and nodes in the state.
// - Cost: per split, a sort of at most SAMPLED keys in a block, two global atomics.
SIMT_KERNEL(BLOCK, RESIDENT / BLOCK) choose_splitters(Level level, code::Transform transform) {
    await_turn();
    Sample& sample = *reinterpret_cast<Sample*>(shared_memory());
    const u32 thread = thread_rank();
    for (u32 c = block_rank(); c < level.state->splits; c += grid_blocks()) {
        const Split split = level.splits[c];
        const u32 ways = ways_of(split, level), bits = log2_ceil(ways), tiles = (split.length - 1) / TILE + 1;
        if (thread == 0) {
            sample.repeats = 0;
            sample.first_tile = atomic_add(&level.state->tiles, tiles);
            sample.first = atomic_add(&level.state->nodes, 1u << bits);
        }
        u32 count = 1;
        if (ways > 1) {
            while (count < lesser(ways * OVERSAMPLING, SAMPLED)) count *= 2;
            while (count > split.length) count /= 2;
            // The split is divided into `count` stretches, and each contributes one key at a pseudo-random position.
            const u32 stretch = split.length / count;
            for (u32 i = thread; i < count; i += BLOCK) {
                const u32 random = (i + 1) * 0x9E3779B9u;
                const u64 at = split.start + u64(stretch) * i + (u64(random) * stretch >> 32);
                sample.codes[i] = code::encode<KIND>(level.from[at], transform);
            }
        }
        barrier();
        sort_sample(sample.codes, count);

        Key* tree = level.trees + sample.first;
        for (u32 node = thread + 1; node < 1u << bits; node += BLOCK) {
            // Node j of a level of the tree halves the j-th of the equal parts that the level stands for. Nodes
            // without a splitter of their own get the last splitter.
            const u32 depth = log2_ceil(node + 1) - 1;
            const u32 rank = ((2 * (node - (1u << depth)) + 1) << (bits - 1 - depth)) - 1;
            const u32 at = u32(u64(lesser(rank, ways - 2) + 1) * count / ways);
            tree[node] = sample.codes[at];
            if (at > 0 && sample.codes[at - 1] == sample.codes[at]) atomic_or<Relaxed, Block>(&sample.repeats, 1);
        }
        for (u32 b = thread; b < 2u << bits; b += BLOCK) level.cursors[2 * u64(sample.first) + b] = 0;
        for (u32 t = thread; t < tiles; t += BLOCK) level.cut_of[sample.first_tile + t] = c;
        barrier();
        if (thread == 0)
            level.cuts[c] = {split.start, split.length, sample.first_tile, sample.first, ways, bits, sample.repeats};
        barrier();
    }
}

// The number of digits, which are the buckets of a cut in use.
SIMT_FN u32 digits_of(const Cut& cut) { return cut.with_equal ? 2 * cut.ways : cut.ways; }

struct Tree {
    Key nodes[NODES];
    u32 counts[BLOCK];
};
static_assert(sizeof(Tree) == SORTIE_TREE_MEMORY, "as the host has it");

// Loads the splitters of a cut and clears the counts. A barrier must follow.
SIMT_FN void begin(Tree& tree, const Cut& cut, const Level& level) {
    for (u32 node = thread_rank() + 1; node < 1u << cut.tree_bits; node += BLOCK)
        tree.nodes[node] = level.trees[cut.first + node];
    tree.counts[thread_rank()] = 0;
}

struct Tile {
    u64 first;
    u32 count;
};

// The keys of tile `number`, which belongs to this cut.
SIMT_FN Tile tile_of(const Cut& cut, u32 number) {
    const u32 before = (number - cut.first_tile) * TILE;
    return {cut.start + before, lesser(cut.length - before, TILE)};
}

// Loads the codes of the thread's keys of `count`: key r * BLOCK + rank. Past the end, the last key is loaded again:
// loads under a condition would not overlap.
template <u32 N>
SIMT_FN void load_row(Key (&row)[N], const Level& level, u64 first, u32 count, const code::Transform& transform) {
    if (count >= BLOCK * N) {
        SIMT_UNROLL
        for (u32 r = 0; r < N; ++r) row[r] = level.from[first + r * BLOCK + thread_rank()];
    } else {
        SIMT_UNROLL
        for (u32 r = 0; r < N; ++r) row[r] = level.from[first + lesser(r * BLOCK + thread_rank(), count - 1)];
    }
    SIMT_UNROLL
    for (u32 r = 0; r < N; ++r) row[r] = code::encode<KIND>(row[r], transform);
}

// Finds the digit of each code by a walk down the tree without branches: from node n to 2n + (splitter n < code).
// With buckets of equal keys, digit 2w is way w, and digit 2w + 1 the keys that equal its upper splitter.
template <u32 N> SIMT_FN void find_digits(u32 (&digits)[N], const Key (&row)[N], const Tree& tree, const Cut& cut) {
    SIMT_UNROLL
    for (u32 r = 0; r < N; ++r) digits[r] = 1;
    SIMT_ROLL
    for (u32 depth = 0; depth < cut.tree_bits; ++depth) {
        SIMT_UNROLL
        for (u32 r = 0; r < N; ++r) digits[r] = 2 * digits[r] + (tree.nodes[digits[r]] < row[r]);
    }
    SIMT_UNROLL
    for (u32 r = 0; r < N; ++r) {
        const u32 leaf = digits[r];
        digits[r] = lesser(leaf - (1u << cut.tree_bits), cut.ways - 1);
        if (cut.with_equal) {
            // The splitter that bounds the way from above is the node where the walk last turned left, if it did.
            const u32 above = leaf >> (trailing_zeros(~leaf) + 1);
            digits[r] = 2 * digits[r] + (above > 0 && tree.nodes[above] == row[r]);
        }
    }
}

// Adds the block's counts to the global ones of the cut.
SIMT_FN void add_counts(const Tree& tree, const Cut& cut, const Level& level) {
    const u32 count = tree.counts[thread_rank()];
    if (count > 0) atomic_add(&level.cursors[2 * u64(cut.first) + thread_rank()], count);
}

// count_keys: makes a histogram of the keys by bucket. Each block takes a consecutive part of all tiles.
// - Launch: shared memory: Tree. After choose_splitters.
// - Writes: adds to `cursors`.
// - Cost: one read of the keys; a walk down a tree and an atomic in shared memory per key; up to BLOCK global atomics
//   for each cut that a block takes part in.
SIMT_KERNEL(BLOCK, RESIDENT / BLOCK) count_keys(Level level, code::Transform transform) {
    await_turn();
    Tree& tree = *reinterpret_cast<Tree*>(shared_memory());
    const u64 tiles = level.state->tiles;
    const u32 first = u32(tiles * block_rank() / grid_blocks()), last = u32(tiles * (block_rank() + 1) / grid_blocks());
    Cut cut = {};
    u32 own = ~0u;
    for (u32 number = first; number < last; ++number) {
        const u32 next = level.cut_of[number];
        if (next != own) {
            barrier();
            if (own != ~0u) add_counts(tree, cut, level);
            barrier();
            own = next;
            cut = level.cuts[own];
            begin(tree, cut, level);
            barrier();
        }
        if (cut.ways == 1) continue;
        const Tile tile = tile_of(cut, number);
        SIMT_ROLL
        for (u32 done = 0; done < tile.count; done += BLOCK * COUNTED) {
            const u32 count = tile.count - done, left = count - lesser(count, thread_rank());
            Key row[COUNTED];
            load_row(row, level, tile.first + done, count, transform);
            u32 digits[COUNTED];
            find_digits(digits, row, tree, cut);
            SIMT_UNROLL
            for (u32 r = 0; r < COUNTED; ++r)
                if (r * BLOCK < left) atomic_add<Relaxed, Block>(&tree.counts[digits[r]], 1);
        }
    }
    barrier();
    if (own != ~0u) add_counts(tree, cut, level);
}

struct Sums {
    u32 sums[BLOCK / WARP];
};

// scan_buckets: computes where buckets begin, and lists them.
// - Launch: shared memory: Sums. After count_keys.
// - Writes:
//   - `cursors`: the start of each bucket.
//   - `next`: the buckets of more than `capacity` keys, as splits of the next level, if there is one.
//   - `ready`: start and end of every other bucket that is not empty. Without a next level, of all buckets of at
//     least two keys that may differ, whatever their length.
// - Cost: a scan over BLOCK counts and one global atomic per bucket for each split.
SIMT_KERNEL(BLOCK, RESIDENT / BLOCK) scan_buckets(Level level) {
    await_turn();
    u32* sums = reinterpret_cast<Sums*>(shared_memory())->sums;
    const u32 digit = thread_rank();
    for (u32 c = block_rank(); c < level.state->splits; c += grid_blocks()) {
        const Cut cut = level.cuts[c];
        u64* cursor = level.cursors + 2 * u64(cut.first) + digit;
        const bool there = digit < digits_of(cut);
        const u32 count = cut.ways == 1 ? 0 : there ? u32(*cursor) : 0;
        const u64 start = cut.start + scan::exclusive<BLOCK>(count, sums);
        if (there) *cursor = start;
        const bool equal = cut.with_equal && digit % 2 == 1;
        if (level.next && count > level.capacity) {
            level.next[atomic_add(&level.next_state->splits, 1)] = {start, count, equal};
        } else if (level.next ? count > 0 : count > 1 && !equal) {
            u64* own = level.ready + 2 * u64(atomic_add(&level.state->ready, 1));
            own[0] = start;
            own[1] = start + count;
        }
        barrier();
    }
}

struct Moved {
    Key codes[TILE];
    Tree tree;
    // For each digit, the index where its keys go, minus the index where they begin in the tile.
    u64 moves[BLOCK];
    u32 starts[BLOCK];
    u32 sums[BLOCK / WARP];
    u16 digits[TILE];
};
static_assert(sizeof(Moved) == SORTIE_MOVED_MEMORY, "as the host has it");

// Ranks the keys of a tile within their digits, reserves room in each bucket, and writes them in the order of their
// digits.
SIMT_FN void move_tile(const Level& level, const Cut& cut, const Tile& tile, Moved& shared, const code::Transform& transform) {
    const u32 thread = thread_rank();
    const u32 left = tile.count - lesser(tile.count, thread);
    begin(shared.tree, cut, level);
    Key row[ROW];
    load_row(row, level, tile.first, tile.count, transform);
    auto store = [&](u64 at, Key code) { level.to[at] = code::decode<KIND>(code, transform); };
    if (cut.ways == 1) {
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r)
            if (r * BLOCK < left) store(tile.first + r * BLOCK + thread, row[r]);
        return;
    }
    barrier();
    // Digit << 16 | rank of the key within its digit in the tile.
    u32 positions[ROW];
    find_digits(positions, row, shared.tree, cut);
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 digit = positions[r];
        positions[r] = digit << 16;
        if (r * BLOCK < left) positions[r] |= atomic_add<Relaxed, Block>(&shared.tree.counts[digit], 1);
    }
    barrier();
    const u32 count = shared.tree.counts[thread];
    const u64 room = count > 0 ? atomic_add(&level.cursors[2 * u64(cut.first) + thread], count) : 0;
    const u32 start = scan::exclusive<BLOCK>(count, shared.sums);
    shared.starts[thread] = start;
    shared.moves[thread] = room - start;
    barrier();
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 digit = positions[r] >> 16, index = shared.starts[digit] + (positions[r] & 0xFFFF);
        if (r * BLOCK < left) {
            shared.codes[index] = row[r];
            shared.digits[index] = u16(digit);
        }
    }
    barrier();
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 i = r * BLOCK + thread;
        if (r * BLOCK < left) store(shared.moves[shared.digits[i]] + i, shared.codes[i]);
    }
}

// move_keys: scatters the keys to their buckets, in any order within a bucket.
// - Launch: shared memory: Moved. After scan_buckets.
// - Writes: `to`, at the indices of the splits of this level. Advances each cursor to the end of its bucket.
// - Cost: one read and one write of the keys; a walk down a tree and an atomic in shared memory per key; a global
//   atomic per tile and bucket.
SIMT_KERNEL(BLOCK, RESIDENT / BLOCK) move_keys(Level level, code::Transform transform) {
    await_turn();
    Moved& shared = *reinterpret_cast<Moved*>(shared_memory());
    const u32 tiles = level.state->tiles;
    for (u32 number = block_rank(); number < tiles; number += grid_blocks()) {
        const Cut cut = level.cuts[level.cut_of[number]];
        move_tile(level, cut, tile_of(cut, number), shared, transform);
        barrier();
    }
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::split_segments
