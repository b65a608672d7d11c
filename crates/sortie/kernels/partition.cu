// One unstable pass of a distribution: moves keys to groups of buckets, or those of each group to its buckets.
//
// Contract. An instantiation is made for SORTIE_KEY_BYTES and SORTIE_KIND, blocks of SORTIE_THREADS with SORTIE_ROW keys a
// thread, and SORTIE_STEP: FIRST moves all keys to groups of 2^bits buckets, SECOND those of each group to its buckets, each
// from one buffer to another. No more than SORTIE_THREADS groups, nor buckets in one. `cursors` says where the next key of
// each group, or bucket, goes, and is moved on. `group_starts` and `tiles_before` are as count_buckets.cu leaves them for tiles
// of SORTIE_THREADS * SORTIE_ROW keys, and SECOND's alone. Any number of blocks. Nothing is moved where the profile's plan is
// not to distribute. Dynamic shared memory: a Shared.
// Cost: one read and one write of the keys, an atomic in shared memory a key, one in global memory for each digit and tile.
//
// A key's rank in its tile is what the atomic returned that counted its digit. A tile's room in each bucket is reserved by
// one atomic, so tiles are written in no given order and wait for nothing. Keys are put in order of their digits in shared
// memory, so that they are written in runs.
#include "classify.cuh"
#include "code.cuh"
#include "scan.cuh"
#include "simt.cuh"

#define FIRST 0
#define SECOND 1

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
    // The group of the next tile, and how many tiles come before that group.
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
};

struct Tile {
    u64 first;
    u32 count, group;
};

// Looks for the group of a tile; the answer is there after a barrier.
SIMT_FN void look_up(const Job& job, u32 tile, Shared& shared) {
    if constexpr (SORTIE_STEP == SECOND) {
        if (thread_rank() < job.groups) {
            const u32 before = job.tiles_before[thread_rank()];
            if (before <= tile && tile < job.tiles_before[thread_rank() + 1]) {
                shared.group = thread_rank();
                shared.tiles_before = before;
            }
        }
    }
}

SIMT_FN Tile found(const Job& job, u32 tile, const Shared& shared) {
    Tile result = {u64(tile) * TILE, 0, 0};
    u64 last = job.keys;
    if constexpr (SORTIE_STEP == SECOND) {
        result.group = shared.group;
        result.first = job.group_starts[result.group] + u64(tile - shared.tiles_before) * TILE;
        last = job.group_starts[result.group + 1];
    }
    result.count = u32(lesser(last - result.first, u64(TILE)));
    return result;
}

SIMT_FN void load(Key (&row)[ROW], const Key* from, const Tile& tile) {
    const Key* own = from + tile.first;
    if (tile.count == TILE) {
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) row[r] = own[r * BLOCK + thread_rank()];
    } else {
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) row[r] = own[lesser(r * BLOCK + thread_rank(), tile.count - 1)];
    }
}

SIMT_KERNEL(BLOCK, RESIDENT / BLOCK) partition(Job job, code::Transform transform) {
    if (classify::plan(*job.profile) != classify::DISTRIBUTE) return;
    Shared& shared = *reinterpret_cast<Shared*>(shared_memory());
    const classify::Classifier<Key> classifier(job.profile->range);
    const u32 bits = job.bits;
    auto digit_of = [&](Key code) {
        const u32 bucket = classifier.bucket(code);
        return SORTIE_STEP == FIRST ? bucket >> bits : bucket & ((1u << bits) - 1);
    };
    const u32 tiles = SORTIE_STEP == FIRST ? u32((job.keys + TILE - 1) / TILE) : job.tiles_before[job.groups];
    const u32 digits = SORTIE_STEP == FIRST ? job.groups : 1u << bits;
    u32 number = block_rank();
    if (number >= tiles) return;
    shared.counts[thread_rank()] = 0;
    look_up(job, number, shared);
    barrier();
    Tile tile = found(job, number, shared);
    Key row[ROW];
    load(row, job.from, tile);
    while (true) {
        u32 places[ROW];
        const u32 left = tile.count - lesser(tile.count, thread_rank());
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            row[r] = code::encode<KIND>(row[r], transform);
            const u32 digit = digit_of(row[r]);
            places[r] = digit << 16;
            if (r * BLOCK < left) places[r] |= atomic_add<Relaxed, Block>(&shared.counts[digit], 1);
        }
        const u32 next = number + grid_blocks();
        barrier();
        const u32 own = shared.counts[thread_rank()];
        shared.counts[thread_rank()] = 0;
        if (next < tiles) look_up(job, next, shared);
        u64 room = 0;
        if (thread_rank() < digits && own > 0)
            room = atomic_add(&job.cursors[(SORTIE_STEP == FIRST ? 0 : u64(tile.group) << bits) + thread_rank()], own);
        const u32 start = scan::exclusive<BLOCK>(own, shared.sums);
        shared.starts[thread_rank()] = start;
        barrier();
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r)
            if (r * BLOCK < left) shared.codes[shared.starts[places[r] >> 16] + (places[r] & 0xFFFF)] = row[r];
        // The next keys are on their way while these are written.
        if (next < tiles) {
            tile = found(job, next, shared);
            load(row, job.from, tile);
        }
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
        if (next >= tiles) return;
        number = next;
    }
}

} // namespace simt::partition
