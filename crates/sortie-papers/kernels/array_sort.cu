// GPU-ArraySort, as published: many arrays of one length, each sorted by a block of its own, in three phases. In place.
//
// Contract. `keys` has an array of `length` f32 for each block, by their bits. `buckets` is 1 to 1024; from 2 on there
// are at least as many `samples`, of which 1 to `length`. The phases run one after the other, with one block an array:
// - choose_splitters, a warp a block, writes `buckets - 1` splitters an array, as codes.
//   Dynamic shared memory: length + samples words.
// - fill_buckets, a thread a bucket in whole warps, moves each array's keys to where their buckets lie and writes
//   `buckets` sizes an array. Dynamic shared memory: length + 2 * buckets words.
// - sort_buckets, with as many threads, sorts each bucket. Dynamic shared memory: length + buckets words.
// Cost: three reads and two writes of the keys; `buckets` visits to every key in shared memory, twice; the square of
// a bucket's size, which for equal keys is the length.
//
// Source: Awan and Saeed, "GPU-ArraySort: A parallel, in-place algorithm for sorting large number of arrays" (2016); the
// numbers of sections and definitions are theirs.
#include "code.cuh"
#include "simt.cuh"

namespace simt::array_sort {

constexpr u32 MOST_BUCKETS = 1024;
constexpr code::Kind KIND = code::Floats;

// Keys are codes in shared memory, and keys outside.
SIMT_FN u32* shared_codes() { return reinterpret_cast<u32*>(shared_memory()); }

SIMT_FN u32* own_keys(u32* keys, u32 length) { return keys + u64(block_rank()) * length; }

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

// Definition 5: a thread's pair of splitters, and the keys that are its own. The first bucket has no lower bound and
// the last no upper one, where the paper adds splitters below and above all keys: no code lies beyond all codes.
struct Pair {
    u32 low, high;
    bool last;

    SIMT_FN Pair(const u32* splitters, u32 bucket, u32 buckets)
        : low(bucket == 0 ? 0 : splitters[bucket - 1]),
          high(bucket + 1 < buckets ? splitters[bucket] : 0),
          last(bucket + 1 == buckets) {}

    SIMT_FN bool holds(u32 code) const { return code >= low && (last || code < high); }
};

SIMT_FN u32 start_of(u32 bucket, const u32* sizes) {
    u32 start = 0;
    for (u32 b = 0; b < bucket; ++b) start += sizes[b];
    return start;
}

// Phase 1, section 5.1.
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

// Phase 2, section 5.2.
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

// Phase 3, section 5.3.
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
