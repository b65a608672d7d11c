// Sorts keys that need no distribution, by the plan of the profile: keys in descending order, and keys of few
// different codes.
//
// - Compile-time parameters: SORTIE_KEY_BYTES, the width of a key; SORTIE_KIND, code::Kind.
// - Launch of each kernel: any number of blocks of BLOCK threads. After profile.cu; `fill` also after count_buckets.cu.
// - A kernel does nothing if the profile has another plan.
// - Source: own.
#include "classify.cuh"
#include "code.cuh"
#include "scan.cuh"
#include "simt.cuh"

namespace simt::settle {

using Key = code::OfBytes<SORTIE_KEY_BYTES>::Type;
using classify::Profile;

constexpr code::Kind KIND = code::SORTIE_KIND;
constexpr u32 BLOCK = 512;
// Pairs of keys that a thread exchanges at a time.
constexpr u32 ROW = 8;

// reverse: reverses the array, for the plan REVERSE.
// - Parameters: `keys` are `count` keys.
// - Writes: `keys`. No shared memory.
// - Cost: one read and one write of the keys.
SIMT_KERNEL(BLOCK, 2) reverse(Key* keys, u64 count, const Profile* profile) {
    await_turn();
    if (classify::plan(*profile) != classify::REVERSE) return;
    const u64 half = count / 2, step = u64(BLOCK) * ROW;
    for (u64 own = block_rank() * step + thread_rank(); own < half; own += grid_blocks() * step) {
        // Without a pair, the thread loads its first pair again: loads under a condition would not overlap, and other
        // threads may already have written theirs.
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

// number: writes i to indices[i], for the plan LEAVE: the indices of an argsort of keys that are in order.
// - Parameters: `indices` has `count` entries.
// - Writes: `indices`. No shared memory.
// - Cost: one write of the indices.
SIMT_KERNEL(BLOCK, 2) number(u32* indices, u64 count, const Profile* profile) {
    await_turn();
    if (classify::plan(*profile) != classify::LEAVE) return;
    for (u64 i = u64(block_rank()) * BLOCK + thread_rank(); i < count; i += u64(grid_blocks()) * BLOCK) indices[i] = u32(i);
}

struct Shared {
    // The index in the group where each of its buckets begins.
    u32 starts[BLOCK];
    u32 sums[BLOCK / WARP];
    u32 group, tiles_before;
};

// The bucket that has this index in the group: the last of low..=high that does not begin after it.
SIMT_FN u32 bucket_at(u32 index, const u32* starts, u32 low, u32 high) {
    while (low < high) {
        const u32 middle = (low + high + 1) / 2;
        if (starts[middle] <= index) low = middle;
        else high = middle - 1;
    }
    return low;
}

// fill: writes each bucket's only code as often as it was counted, for the plan FILL.
// - Parameters:
//   - `keys`: the array to write. `profile`: the result of profile.cu, with the range.
//   - `bits`, `groups`: the buckets form `groups` groups of 2^bits; both are at most BLOCK.
//   - `counts`: the keys of each bucket. `codes`: the code of each bucket, not used if the range is exact.
//   - `group_starts`, `tiles_before`: from scan_buckets, for tiles of `tile` keys.
// - Shared memory: Shared.
// - Writes: `keys`, as many as were counted.
// - Cost: one write of the keys, a binary search in shared memory per key, and a scan of a group's counts per tile.
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
        // The first and the last bucket of the tile bound the search for each key.
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
