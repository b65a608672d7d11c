// One unstable pass of a distribution: moves keys to groups of buckets, or those of each group to its buckets.
//
// Contract. An instantiation is made for SORTIE_KEY_BYTES and SORTIE_KIND, blocks of SORTIE_THREADS with SORTIE_ROW keys a
// thread, and SORTIE_STEP. Each moves keys from one buffer to another: FIRST moves all to groups of 2^bits buckets, SECOND
// those of each group to its buckets, AGAIN those of each long bucket (long_buckets.cuh), unless all are equal, to buckets of
// its own. No more than SORTIE_THREADS groups, nor buckets in one. `cursors` says where the next key of each group, or bucket,
// goes, and is moved on. `group_starts` and `tiles_before` are as count_buckets.cu leaves them for tiles of SORTIE_THREADS *
// SORTIE_ROW keys, and SECOND's alone. A block a tile, of which there may be fewer; of AGAIN any number. Nothing is moved where the profile's
// plan is not to distribute. Dynamic shared memory: a Shared.
// Cost: one read and one write of the keys, an atomic in shared memory a key, one in global memory for each digit and tile.
//
// A key's rank in its tile is what the atomic returned that counted its digit. A tile's room in each bucket is reserved by
// one atomic, so tiles are written in no given order and wait for nothing. Keys are put in order of their digits in shared
// memory, so that they are written in runs.
#include "classify.cuh"
#include "code.cuh"
#include "long_buckets.cuh"
#include "scan.cuh"
#include "simt.cuh"

#define FIRST 0
#define SECOND 1
#define AGAIN 2

namespace simt::partition {

using Key = code::OfBytes<SORTIE_KEY_BYTES>::Type;

constexpr code::Kind KIND = code::SORTIE_KIND;
constexpr u32 BLOCK = SORTIE_THREADS;
constexpr u32 ROW = SORTIE_ROW;
constexpr u32 TILE = BLOCK * ROW;
// Threads that a multiprocessor is to hold: 64 registers are left for each.
constexpr u32 RESIDENT = 1024;
static_assert(TILE < 1u << 16, "a rank has 16 bits");

struct Shared {
    Key codes[TILE];
    // Where a digit's keys go, less where they begin in the tile.
    u64 moves[BLOCK];
    u32 counts[BLOCK];
    // Where a digit's keys begin in the tile.
    u32 starts[BLOCK];
    u32 sums[BLOCK / WARP];
    // The tile's group, and how many tiles come before that group.
    u32 group, tiles_before;
};

struct Job {
    const Key* from;
    Key* to;
    u64 keys;
    const classify::Profile* profile;
    u32 bits, groups;
    const u64* group_starts;
    const u32* tiles_before;
    u64* cursors;
    // AGAIN's alone, which has no use for groups.
    long_buckets::Buckets long_buckets;
};

struct Tile {
    u64 first;
    u32 count, group;
};

// The tile of this number, once all threads have come here.
SIMT_FN Tile find_tile(const Job& job, u32 number, Shared& shared) {
    if constexpr (SORTIE_STEP == FIRST) {
        barrier();
        const u64 first = u64(number) * TILE;
        return {first, u32(lesser(job.keys - first, u64(TILE))), 0};
    } else if constexpr (SORTIE_STEP == AGAIN) {
        barrier();
        const u32 bucket = long_buckets::bucket_of(job.long_buckets, number);
        const long_buckets::Tile tile = long_buckets::tile_of(job.long_buckets, bucket, number);
        return {tile.first, tile.count, bucket};
    } else {
        if (thread_rank() < job.groups) {
            const u32 before = job.tiles_before[thread_rank()];
            if (before <= number && number < job.tiles_before[thread_rank() + 1]) {
                shared.group = thread_rank();
                shared.tiles_before = before;
            }
        }
        barrier();
        const u64 first = job.group_starts[shared.group] + u64(number - shared.tiles_before) * TILE;
        const u64 last = job.group_starts[shared.group + 1];
        return {first, u32(lesser(last - first, u64(TILE))), shared.group};
    }
}

SIMT_FN void load(Key (&row)[ROW], const Key* from, const Tile& tile) {
    const Key* own = from + tile.first;
    if (tile.count == TILE) {
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) row[r] = own[r * BLOCK + thread_rank()];
    } else {
        // Every load is made, of the last key where there is none: loads under conditions of their own would wait for one
        // another.
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) row[r] = own[lesser(r * BLOCK + thread_rank(), tile.count - 1)];
    }
}

SIMT_FN void move_tile(const Job& job, u32 number, Shared& shared, const code::Transform& transform) {
    shared.counts[thread_rank()] = 0;
    const Tile tile = find_tile(job, number, shared);
    classify::Range range = job.profile->range;
    if constexpr (SORTIE_STEP == AGAIN) {
        const long_buckets::Bucket& bucket = job.long_buckets.buckets[tile.group];
        if (bucket.low == bucket.high) return;
        range = long_buckets::range_of<Key>(bucket, job.long_buckets.share);
    }
    const classify::Classifier<Key> classifier(range);
    const u32 bits = job.bits;
    auto digit_of = [&](Key code) {
        const u32 bucket = classifier.bucket(code);
        return SORTIE_STEP == FIRST ? bucket >> bits : SORTIE_STEP == SECOND ? bucket & ((1u << bits) - 1) : bucket;
    };
    Key row[ROW];
    load(row, job.from, tile);

    // A digit, and the key's rank under it.
    u32 places[ROW];
    const u32 left = tile.count - lesser(tile.count, thread_rank());
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        row[r] = code::encode<KIND>(row[r], transform);
        const u32 digit = digit_of(row[r]);
        places[r] = digit << 16;
        if (r * BLOCK < left) places[r] |= atomic_add<Relaxed, Block>(&shared.counts[digit], 1);
    }
    barrier();
    const u32 count = shared.counts[thread_rank()];
    u64* cursors = job.cursors + (u64(tile.group) << bits);
    // Counts of digits that there are not are zero.
    const u64 room = count > 0 ? atomic_add(&cursors[thread_rank()], count) : 0;
    const u32 start = scan::exclusive<BLOCK>(count, shared.sums);
    shared.starts[thread_rank()] = start;
    barrier();
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r)
        if (r * BLOCK < left) shared.codes[shared.starts[places[r] >> 16] + (places[r] & 0xFFFF)] = row[r];
    // Late: the atomic has had its time.
    shared.moves[thread_rank()] = room - start;
    barrier();
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 i = r * BLOCK + thread_rank();
        if (r * BLOCK < left) {
            const Key code = shared.codes[i];
            job.to[shared.moves[digit_of(code)] + i] = code::decode<KIND>(code, transform);
        }
    }
}

SIMT_KERNEL(BLOCK, RESIDENT / BLOCK) partition(Job job, code::Transform transform) {
    if (classify::plan(*job.profile) != classify::DISTRIBUTE) return;
    Shared& shared = *reinterpret_cast<Shared*>(shared_memory());
    if constexpr (SORTIE_STEP == AGAIN) {
        const u32 tiles = long_buckets::tiles(job.long_buckets);
        for (u32 number = block_rank(); number < tiles; number += grid_blocks()) {
            move_tile(job, number, shared, transform);
            barrier();
        }
    } else {
        if (SORTIE_STEP == FIRST || block_rank() < job.tiles_before[job.groups])
            move_tile(job, block_rank(), shared, transform);
    }
}

} // namespace simt::partition
