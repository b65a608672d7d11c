// Does what is left to do where the profile says that keys need no distribution: they descend, or all have one of few codes;
// or they are in order, which an argsort has to say.
//
// Contract. An instantiation is made for SORTIE_KEY_BYTES and SORTIE_KIND. Any number of blocks; nothing is done where the
// profile has another plan. Cost: `reverse` reads and writes the keys once, `fill` writes them once.
// - reverse.
// - number writes each place to itself. Cost: one write of the places.
// - fill: `counts` has the keys of each bucket, in groups of 2^bits, of which there are no more than BLOCK, as are buckets
//   in one, and `codes` the only one of each, where the range does not say that; `group_starts` and `tiles_before` say where groups begin and how many tiles of `tile` keys come before each.
//   Dynamic shared memory: a Shared.
#include "classify.cuh"
#include "code.cuh"
#include "scan.cuh"
#include "simt.cuh"

namespace simt::settle {

using Key = code::OfBytes<SORTIE_KEY_BYTES>::Type;
using classify::Profile;

constexpr code::Kind KIND = code::SORTIE_KIND;
constexpr u32 BLOCK = 512;
// Keys that a thread exchanges at a time.
constexpr u32 ROW = 8;

SIMT_KERNEL(BLOCK, 2) reverse(Key* keys, u64 count, const Profile* profile) {
    await_turn();
    if (classify::plan(*profile) != classify::REVERSE) return;
    const u64 half = count / 2, step = u64(BLOCK) * ROW;
    for (u64 own = block_rank() * step + thread_rank(); own < half; own += grid_blocks() * step) {
        // Every load is made, of the first key where there is none: another's may be written by now.
        Key low[ROW], high[ROW];
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            const u64 i = own + r * BLOCK < half ? own + r * BLOCK : own;
            low[r] = keys[i];
            high[r] = keys[count - 1 - i];
        }
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            const u64 i = own + r * BLOCK;
            if (i < half) {
                keys[i] = high[r];
                keys[count - 1 - i] = low[r];
            }
        }
    }
}

SIMT_KERNEL(BLOCK, 2) number(u32* indices, u64 count, const Profile* profile) {
    await_turn();
    if (classify::plan(*profile) != classify::LEAVE) return;
    for (u64 i = u64(block_rank()) * BLOCK + thread_rank(); i < count; i += u64(grid_blocks()) * BLOCK) indices[i] = u32(i);
}

struct Shared {
    // Where the buckets of the group begin in it.
    u32 starts[BLOCK];
    u32 sums[BLOCK / WARP];
    u32 group, tiles_before;
};

// The last bucket from `low` to `high` that does not begin after the place.
SIMT_FN u32 bucket_at(u32 index, const u32* starts, u32 low, u32 high) {
    while (low < high) {
        const u32 middle = (low + high + 1) / 2;
        if (starts[middle] <= index) low = middle;
        else high = middle - 1;
    }
    return low;
}

SIMT_KERNEL(BLOCK, 2)
fill(Key* keys, const Profile* profile, classify::Codes<classify::WordOf<Key>::Type> codes, u32 bits, u32 groups, const u32* counts, const u64* group_starts,
     const u32* tiles_before, u32 tile, code::Transform transform) {
    await_turn();
    if (classify::plan(*profile) != classify::FILL) return;
    Shared& shared = *reinterpret_cast<Shared*>(shared_memory());
    const classify::Classifier<Key> classifier(profile->range);
    const u32 thread = thread_rank();
    for (u32 number = block_rank(); number < tiles_before[groups]; number += grid_blocks()) {
        if (thread < groups && tiles_before[thread] <= number && number < tiles_before[thread + 1]) {
            shared.group = thread;
            shared.tiles_before = tiles_before[thread];
        }
        barrier();
        const u32 group = shared.group, first = (number - shared.tiles_before) * tile;
        const bool own = thread < 1u << bits;
        shared.starts[thread] = scan::exclusive<BLOCK>(own ? counts[(u64(group) << bits) + thread] : 0, shared.sums);
        barrier();
        const u64 start = group_starts[group];
        const u32 last = u32(lesser(u64(first) + tile, group_starts[group + 1] - start));
        // A tile has keys of few buckets, or of many that have few.
        const u32 low = bucket_at(first, shared.starts, 0, (1u << bits) - 1);
        const u32 high = bucket_at(last - 1, shared.starts, low, (1u << bits) - 1);
        for (u32 i = first + thread; i < last; i += BLOCK) {
            const u32 bucket = (group << bits) + bucket_at(i, shared.starts, low, high);
            const Key code = profile->exact ? classifier.code_of(bucket) : Key(classify::note(codes.noted[bucket]));
            keys[start + i] = code::decode<KIND>(code, transform);
        }
        barrier();
    }
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::settle
