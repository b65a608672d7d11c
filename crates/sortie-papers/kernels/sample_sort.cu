// Sample sort, as published, plain and fine: keys are distributed to 128 buckets by splitters from a sample, those of
// large buckets again, until every bucket is small. Small ones are sorted by quicksort.cu.
//
// Contract. A level distributes the keys of `count` segments of `from` to the same starts of `to`, in tiles of 2048
// keys that do not cross segments; all starts fit 32 bits. Blocks of 256 threads, eight keys each. In this order:
// - choose_splitters, a block a segment: writes 128 words a segment, a search tree of 127 splitters from node 1 on;
//   and the buckets that can only hold one value, by a bit each, to four words of `constant`. Dynamic shared memory:
//   the sample's length as a power of two, words.
// - count_buckets, a block a tile: writes the tile's histogram to `table`, or adds it to the one of its segment.
// - Then scan.cu turns the table into sums of what comes before.
// - distribute, a block a tile: moves keys to where the table says.
// - list_buckets, a block of 128 threads a segment: writes where each bucket starts.
// A segment's part of the table has its buckets one after the other; within a bucket a word for each tile of the
// segment, or one in all (`single`). The sums of a whole table are then where keys go, less the keys of segments
// before.
// Dynamic shared memory of count_buckets and distribute: sizeof(Shared). Cost: two reads and one write of the keys a
// level.
//
// Source: Leischner, Osipov and Sanders, "GPU sample sort" (2010); Munavalli, "Efficient Algorithms for Sorting on
// GPUs" (2012), sections 4.1, 4.2 and 5.2.
#include "block.cuh"
#include "simt.cuh"

namespace simt::sample_sort {

using papers::BLOCK;

constexpr u32 BUCKETS = 128, BUCKET_BITS = 7;
constexpr u32 KEYS_A_THREAD = 8;
constexpr u32 TILE = BLOCK * KEYS_A_THREAD;

struct Segment {
    u32 start, end;
    // The tiles of the segments before.
    u32 first_tile;
    // Every so many of the sorted sample is a splitter.
    u32 interval;
};

struct Level {
    u32 count;
    // One histogram a segment, not one a tile.
    u32 single;
    u32 seed;
};

struct Shared {
    u32 tree[BUCKETS];
    // Of the tile, then where its keys of each bucket go.
    u32 counts[BUCKETS], starts[BUCKETS];
};

SIMT_FN Shared& shared() { return *reinterpret_cast<Shared*>(shared_memory()); }

// ------------------------------------------------------------------------------------------------------------ splitters

// Numbers that look random, from a seed and a number: Steele, Lea and Flood's SplitMix64.
SIMT_FN u64 random(u64 seed, u64 i) {
    u64 z = seed * 0xD1342543DE82EF95ull + (i + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
}

// Places are drawn with repetition.
SIMT_FN void draw_sample(const u32* from, const Segment& segment, u32 count, u32 padded, u64 seed, u32* sample) {
    const u64 length = segment.end - segment.start;
    for (u32 i = thread_rank(); i < padded; i += BLOCK) {
        const u64 index = (random(seed, i) >> 32) * length >> 32;
        sample[i] = i < count ? from[segment.start + index] : ~0u;
    }
    barrier();
}

// Bucket b has the keys above splitter b - 1 up to splitter b. Where the whole sample is one value, buckets for what is
// less, for the value and for what is greater are all there can be; plain intervals would put all keys into one.
SIMT_FN u32 splitter(u32 b, const u32* sample, u32 interval) {
    const u32 first = sample[interval - 1], last = sample[(BUCKETS - 1) * interval - 1];
    if (first == last && first > 0 && b < BUCKETS / 2) return first - 1;
    return sample[(b + 1) * interval - 1];
}

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
        // Node j of a depth splits the j-th part of as many as there are nodes there.
        u32 depth = 0;
        while (b >> depth > 1) ++depth;
        const u32 j = b - (1u << depth);
        tree[b] = b == 0 ? 0 : splitter(((2 * j + 1) << (BUCKET_BITS - 1 - depth)) - 1, sample, segment.interval);
        const u32 low = b == 0 ? 0 : splitter(b - 1, sample, segment.interval) + 1;
        const u32 high = b + 1 == BUCKETS ? ~0u : splitter(b, sample, segment.interval);
        // With the last code for a splitter, the last bucket has no keys, and `low` is no bound.
        const u32 single = ballot(low == high);
        if (lane() == 0) constant[block_rank() * (BUCKETS / WARP) + b / WARP] = single;
    }
}

// ---------------------------------------------------------------------------------------------------------------- tiles

struct Tile {
    u32 segment;
    u32 start, count;
    // Where bucket 0 of the tile is in the table, and how far it is from one bucket to the next.
    u64 row;
    u32 stride;

    SIMT_FN Tile(const Segment* segments, const Level& level, u32 number) {
        // The last segment that has no more tiles before it than this one's number.
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

// A branch-free search, as both publications have it.
SIMT_FN u32 bucket_of(u32 key, const u32* tree) {
    u32 node = 1;
    SIMT_UNROLL
    for (u32 level = 0; level < BUCKET_BITS; ++level) node = 2 * node + (key > tree[node]);
    return node - BUCKETS;
}

// The histogram of a tile in shared memory; each key's bucket, and its number among the tile's keys of that bucket.
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

// Phase 4 of the thesis.
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

// Phase 6. The table's sums are where the keys of a word begin, were the level's segments one after the other.
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
        // Tiles take their space in a bucket in any order.
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

// What the host reads back.
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
