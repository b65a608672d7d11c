// Buckets by where they begin and end: all between some places, or listed ones, as many as the device alone knows.
#pragma once

#include "simt.cuh"

namespace simt::bucket_bounds {

// Bucket b is ends[b * stride]..ends[b * stride + 1]; there are `count`, or, where that is given, `*listed`.
struct Buckets {
    const u64* ends;
    const u32* listed;
    u32 count, stride;
};

SIMT_FN u32 count(const Buckets& all) { return all.listed ? *all.listed : all.count; }

// The bucket's beginning, which its end follows.
SIMT_FN const u64* ends_of(const Buckets& all, u32 bucket) { return all.ends + u64(bucket) * all.stride; }

} // namespace simt::placed
