// Sample sort, as published: distributes keys to 128 buckets by splitters from a sample, and the keys of large
// buckets again, until every bucket is small. quicksort.cu sorts the small ones. Not stable.
//
// - Common parameters: `from`, and `to` of the same length: the keys, fewer than 2^32. `segments`: `level.count`
//   ranges of keys, which this level distributes to the same range of `to`, each in tiles of TILE keys.
// - Order: choose_splitters, count_buckets, scan_table.cu on `table`, distribute, list_buckets.
// - Launch: blocks of BLOCK threads, unless said otherwise.
// - The table has the counts of the segments one after the other; within a segment those of its buckets; within a
//   bucket one word for each tile, or one in all with `single`. After the scan, the sum before a word is where its
//   keys go, if the segments followed each other without gaps.
// - Cost: two reads and one write of the keys per level.
// - Source: Leischner, Osipov and Sanders, "GPU sample sort" (2010); Munavalli, "Efficient Algorithms for Sorting on
//   GPUs" (2012), sections 4.1, 4.2 and 5.2.
#include "block.cuh"
#include "simt.cuh"

namespace simt::sample_sort {

using papers::BLOCK;

constexpr u32 BUCKETS = 128, BUCKET_BITS = 7;
constexpr u32 KEYS_A_THREAD = 8;
constexpr u32 TILE = BLOCK * KEYS_A_THREAD;

struct Segment {
    u32 start, end;
    // The number of tiles of the segments before.
    u32 first_tile;
    // The distance between splitters in the sorted sample.
    u32 interval;
};

struct Level {
    u32 count;
    // 1: one histogram per segment. 0: one per tile.
    u32 single;
    u32 seed;
};

struct Shared {
    u32 tree[BUCKETS];
    // For each bucket, the number of keys of the tile, and the index where they go.
    u32 counts[BUCKETS], starts[BUCKETS];
};

SIMT_FN Shared& shared() { return *reinterpret_cast<Shared*>(shared_memory()); }

// ------------------------------------------------------------------------------------------------------------ splitters

// A pseudo-random number for each seed and i: SplitMix64 of Steele, Lea and Flood.
SIMT_FN u64 random(u64 seed, u64 i) {
    u64 z = seed * 0xD1342543DE82EF95ull + (i + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
}

// Draws `count` keys at random indices, with repetition, and pads them with the greatest key to `padded`. Ends with a
// barrier.
SIMT_FN void draw_sample(const u32* from, const Segment& segment, u32 count, u32 padded, u64 seed, u32* sample) {
    const u64 length = segment.end - segment.start;
    for (u32 i = thread_rank(); i < padded; i += BLOCK) {
        const u64 index = (random(seed, i) >> 32) * length >> 32;
        sample[i] = i < count ? from[segment.start + index] : ~0u;
    }
    barrier();
}

// Splitter b of the sorted sample: bucket b has the keys above splitter b - 1, up to and including splitter b. If all
// splitters are one value, half of them become this value less one, so that the value itself, and all less, have
// buckets of their own.
SIMT_FN u32 splitter(u32 b, const u32* sample, u32 interval) {
    const u32 first = sample[interval - 1], last = sample[(BUCKETS - 1) * interval - 1];
    if (first == last && first > 0 && b < BUCKETS / 2) return first - 1;
    return sample[(b + 1) * interval - 1];
}

// choose_splitters: chooses 127 splitters for each segment from a sorted random sample.
// - Launch: one block per segment. Shared memory: the sample, 128 * interval words, rounded up to a power of two.
// - Writes: `trees`: 128 words per segment, a search tree from node 1 on. `constant`: 4 words per segment; bit b is
//   set if bucket b can have only one value.
// - Cost: a sort of the sample by a block.
SIMT_KERNEL(BLOCK, 1)
choose_splitters(const u32* from, const Segment* segments, Level level, u32* trees, u32* constant) {
    await_turn();
    u32* sample = reinterpret_cast<u32*>(shared_memory());
    const Segment segment = segments[block_rank()];
    const u32 count = BUCKETS * segment.interval, padded = papers::power_of_two_from(count);
    draw_sample(from, segment, count, padded, u64(level.seed) << 32 | block_rank(), sample);
    papers::sort_bitonic(sample, padded);

    const u32 b = thread_rank();
    if (b < BUCKETS) {
        u32* tree = trees + u64(block_rank()) * BUCKETS;
        // Node j of a level of the tree halves the j-th of the equal parts that the level stands for.
        u32 depth = 0;
        while (b >> depth > 1) ++depth;
        const u32 j = b - (1u << depth);
        tree[b] = b == 0 ? 0 : splitter(((2 * j + 1) << (BUCKET_BITS - 1 - depth)) - 1, sample, segment.interval);
        const u32 low = b == 0 ? 0 : splitter(b - 1, sample, segment.interval) + 1;
        const u32 high = b + 1 == BUCKETS ? ~0u : splitter(b, sample, segment.interval);
        // If the greatest key is a splitter, `low` of the last bucket wraps to 0, and the bucket is empty.
        const u32 single = ballot(low == high);
        if (lane() == 0) constant[block_rank() * (BUCKETS / WARP) + b / WARP] = single;
    }
}

// ---------------------------------------------------------------------------------------------------------------- tiles

struct Tile {
    u32 segment;
    u32 start, count;
    // The index of the tile's bucket 0 in the table, and the distance from one bucket to the next.
    u64 row;
    u32 stride;

    SIMT_FN Tile(const Segment* segments, const Level& level, u32 number) {
        // The last segment with at most `number` tiles before it.
        u32 low = 0, high = level.count;
        while (high - low > 1) {
            const u32 middle = low + (high - low) / 2;
            if (segments[middle].first_tile <= number) low = middle;
            else high = middle;
        }
        segment = low;
        const Segment own = segments[low];
        const u32 local = number - own.first_tile;
        start = own.start + local * TILE;
        count = lesser(TILE, own.end - start);
        stride = level.single ? 1 : (own.end - own.start + TILE - 1) / TILE;
        row = level.single ? u64(low) * BUCKETS : u64(own.first_tile) * BUCKETS + local;
    }
};

// A search without branches, as in both publications.
SIMT_FN u32 bucket_of(u32 key, const u32* tree) {
    u32 node = 1;
    SIMT_UNROLL
    for (u32 level = 0; level < BUCKET_BITS; ++level) node = 2 * node + (key > tree[node]);
    return node - BUCKETS;
}

// Makes the histogram of a tile in shared memory. `bucket`, `rank`: for each key of the thread its bucket, and its
// rank among the keys of the tile in that bucket. Ends with a barrier.
SIMT_FN void count_tile(const u32* from, const Tile& tile, const u32* trees, u32 (&bucket)[KEYS_A_THREAD],
                        u32 (&rank)[KEYS_A_THREAD]) {
    Shared& s = shared();
    if (thread_rank() < BUCKETS) {
        s.tree[thread_rank()] = trees[u64(tile.segment) * BUCKETS + thread_rank()];
        s.counts[thread_rank()] = 0;
    }
    barrier();
    SIMT_UNROLL
    for (u32 k = 0; k < KEYS_A_THREAD; ++k) {
        const u32 i = k * BLOCK + thread_rank();
        if (i < tile.count) {
            bucket[k] = bucket_of(from[tile.start + i], s.tree);
            rank[k] = atomic_add<Relaxed, Block>(&s.counts[bucket[k]], 1);
        }
    }
    barrier();
}

// count_buckets: phase 4 of the thesis. Makes the histogram of each tile.
// - Launch: one block per tile. Shared memory: sizeof(Shared). After choose_splitters.
// - Parameters: `trees`: from choose_splitters.
// - Writes: `table`. With `single`, adds to it; it is zero before.
// - Cost: one read of the keys; a walk down a tree and an atomic in shared memory per key.
SIMT_KERNEL(BLOCK, 4)
count_buckets(const u32* from, const Segment* segments, Level level, const u32* trees, u32* table) {
    await_turn();
    const Tile tile(segments, level, block_rank());
    u32 bucket[KEYS_A_THREAD], rank[KEYS_A_THREAD];
    count_tile(from, tile, trees, bucket, rank);
    if (thread_rank() >= BUCKETS) return;
    const u32 own = shared().counts[thread_rank()];
    u32* at = &table[tile.row + u64(thread_rank()) * tile.stride];
    if (level.single) atomic_add(at, own);
    else *at = own;
}

// distribute: phase 6 of the thesis. Moves the keys to their buckets.
// - Parameters: `trees`: from choose_splitters. `table`, `sums`: from scan_table.cu. `taken`: with `single`, a word
//   for each word of the table, zero before.
// - Launch: one block per tile. Shared memory: sizeof(Shared). After scan_table.cu.
// - Writes: `to`; with `single` also `taken`.
// - Cost: one read and one write of the keys; a walk down a tree and an atomic in shared memory per key.
SIMT_KERNEL(BLOCK, 4)
distribute(const u32* from, u32* to, const Segment* segments, Level level, const u32* trees, const u32* table,
           const u32* sums, u32* taken) {
    await_turn();
    const Tile tile(segments, level, block_rank());
    u32 bucket[KEYS_A_THREAD], rank[KEYS_A_THREAD];
    count_tile(from, tile, trees, bucket, rank);
    Shared& s = shared();
    if (thread_rank() < BUCKETS) {
        const Segment& segment = segments[tile.segment];
        const u32 before = papers::sum_before(table, sums, level.single ? tile.row : u64(segment.first_tile) * BUCKETS);
        const u64 word = tile.row + u64(thread_rank()) * tile.stride;
        u32 start = segment.start + papers::sum_before(table, sums, word) - before;
        // Tiles share a word of the table, and reserve room in the bucket in any order.
        if (level.single) start += atomic_add(&taken[word], s.counts[thread_rank()]);
        s.starts[thread_rank()] = start;
    }
    barrier();
    SIMT_UNROLL
    for (u32 k = 0; k < KEYS_A_THREAD; ++k) {
        const u32 i = k * BLOCK + thread_rank();
        if (i < tile.count) to[s.starts[bucket[k]] + rank[k]] = from[tile.start + i];
    }
}

// list_buckets: writes where each bucket begins, for the host.
// - Parameters: `table`, `sums`: from scan_table.cu.
// - Launch: one block of BUCKETS threads per segment, no shared memory. After scan_table.cu.
// - Writes: `starts`, BUCKETS words per segment.
// - Cost: one read of a word per bucket.
SIMT_KERNEL(BUCKETS, 1)
list_buckets(const Segment* segments, Level level, const u32* table, const u32* sums, u32* starts) {
    await_turn();
    const Segment segment = segments[block_rank()];
    const u64 row = level.single ? u64(block_rank()) * BUCKETS : u64(segment.first_tile) * BUCKETS;
    const u32 stride = level.single ? 1 : (segment.end - segment.start + TILE - 1) / TILE;
    const u32 start = papers::sum_before(table, sums, row + u64(thread_rank()) * stride) - papers::sum_before(table, sums, row);
    starts[block_rank() * BUCKETS + thread_rank()] = segment.start + start;
}

} // namespace simt::sample_sort
