// GPU-ArraySort, as published: sorts many arrays of one length, each by a block of its own, in three phases. In
// place, not stable.
//
// - Common parameters: `keys`: an array of `length` f32, as bits, for each block. `buckets`: 1 to 1024. `samples`: 1
//   to `length`, and at least `buckets` if there are two buckets or more. `transform`: makes codes of keys.
// - Order: choose_splitters, fill_buckets, sort_buckets. Each is launched with one block per array.
// - Cost of all: three reads and two writes of the keys. Each array needs 2 * buckets * length comparisons in shared
//   memory, and the square of a bucket's length; for equal keys that is the square of `length`.
// - Source: Awan and Saeed, "GPU-ArraySort: A parallel, in-place algorithm for sorting large number of arrays"
//   (2016). Numbers of sections and definitions are theirs.
#include "code.cuh"
#include "simt.cuh"

namespace simt::array_sort {

constexpr u32 MOST_BUCKETS = 1024;
constexpr code::Kind KIND = code::Floats;

// Shared memory begins with the codes of the array.
SIMT_FN u32* shared_codes() { return reinterpret_cast<u32*>(shared_memory()); }

// The array of this block.
SIMT_FN u32* own_keys(u32* keys, u32 length) { return keys + u64(block_rank()) * length; }

// Loads the codes of the block's array. A barrier must follow.
SIMT_FN void load(u32* codes, const u32* keys, u32 length, const code::Transform& transform) {
    for (u32 i = thread_rank(); i < length; i += block_threads()) codes[i] = code::encode<KIND>(keys[i], transform);
}

SIMT_FN void insertion_sort(u32* codes, u32 count) {
    for (u32 i = 1; i < count; ++i) {
        const u32 code = codes[i];
        u32 at = i;
        for (; at > 0 && codes[at - 1] > code; --at) codes[at] = codes[at - 1];
        codes[at] = code;
    }
}

// Definition 5: the pair of splitters that bound a bucket. The paper adds splitters below and above all keys. No code
// is beyond all codes, so here the first bucket has no lower bound and the last no upper bound.
struct Pair {
    u32 low, high;
    bool last;

    SIMT_FN Pair(const u32* splitters, u32 bucket, u32 buckets)
        : low(bucket == 0 ? 0 : splitters[bucket - 1]),
          high(bucket + 1 < buckets ? splitters[bucket] : 0),
          last(bucket + 1 == buckets) {}

    SIMT_FN bool holds(u32 code) const { return code >= low && (last || code < high); }
};

// The index in the array where a bucket begins.
SIMT_FN u32 start_of(u32 bucket, const u32* sizes) {
    u32 start = 0;
    for (u32 b = 0; b < bucket; ++b) start += sizes[b];
    return start;
}

// choose_splitters: phase 1, section 5.1. Takes splitters from a sorted, regular sample of each array.
// - Launch: WARP threads per block. Shared memory: length + samples words.
// - Writes: `splitters`, buckets - 1 codes per array.
// - Cost: one read of the keys; an insertion sort of the sample by one thread.
SIMT_KERNEL(WARP, 1)
choose_splitters(u32* keys, u32 length, u32 samples, u32 buckets, u32* splitters, code::Transform transform) {
    await_turn();
    u32* array = shared_codes();
    u32* sampled = array + length;
    load(array, own_keys(keys, length), length, transform);
    barrier();
    if (thread_rank() > 0) return;
    for (u32 i = 0; i < samples; ++i) sampled[i] = array[i * length / samples];
    insertion_sort(sampled, samples);
    u32* own = splitters + u64(block_rank()) * (buckets - 1);
    for (u32 i = 1; i < buckets; ++i) own[i - 1] = sampled[i * samples / buckets];
}

// fill_buckets: phase 2, section 5.2. Moves the keys of each array to its buckets.
// - Parameters: `splitters`: from choose_splitters.
// - Launch: a thread per bucket, rounded up to whole warps. Shared memory: length + 2 * buckets words. After
//   choose_splitters.
// - Writes: `keys`, bucket after bucket; `sizes`, `buckets` words per array.
// - Cost: one read and one write of the keys; each thread reads all codes of the array twice in shared memory.
SIMT_KERNEL(MOST_BUCKETS, 1)
fill_buckets(u32* keys, u32 length, u32 buckets, const u32* splitters, u32* sizes, code::Transform transform) {
    await_turn();
    u32* array = shared_codes();
    u32* own_splitters = array + length;
    u32* own_sizes = own_splitters + buckets;
    keys = own_keys(keys, length);
    const u32 bucket = thread_rank();
    load(array, keys, length, transform);
    if (bucket + 1 < buckets) own_splitters[bucket] = splitters[u64(block_rank()) * (buckets - 1) + bucket];
    barrier();

    if (bucket < buckets) {
        const Pair own(own_splitters, bucket, buckets);
        u32 size = 0;
        for (u32 i = 0; i < length; ++i) size += own.holds(array[i]);
        own_sizes[bucket] = size;
        sizes[u64(block_rank()) * buckets + bucket] = size;
    }
    barrier();

    if (bucket < buckets) {
        const Pair own(own_splitters, bucket, buckets);
        u32* to = keys + start_of(bucket, own_sizes);
        for (u32 i = 0; i < length; ++i)
            if (own.holds(array[i])) *to++ = code::decode<KIND>(array[i], transform);
    }
}

// sort_buckets: phase 3, section 5.3. Sorts each bucket by insertion.
// - Parameters: `sizes`: from fill_buckets.
// - Launch: as fill_buckets. Shared memory: length + buckets words. After fill_buckets.
// - Writes: `keys`.
// - Cost: one read and one write of the keys; the square of each bucket's length, by one thread.
SIMT_KERNEL(MOST_BUCKETS, 1)
sort_buckets(u32* keys, u32 length, u32 buckets, const u32* sizes, code::Transform transform) {
    await_turn();
    u32* array = shared_codes();
    u32* own_sizes = array + length;
    keys = own_keys(keys, length);
    const u32 bucket = thread_rank();
    load(array, keys, length, transform);
    if (bucket < buckets) own_sizes[bucket] = sizes[u64(block_rank()) * buckets + bucket];
    barrier();
    if (bucket < buckets) insertion_sort(array + start_of(bucket, own_sizes), own_sizes[bucket]);
    barrier();
    for (u32 i = thread_rank(); i < length; i += block_threads()) keys[i] = code::decode<KIND>(array[i], transform);
}

} // namespace simt::array_sort
