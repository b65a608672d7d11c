// Buckets, given by where each begins and ends in an array: consecutive buckets, or a list of pairs.
//
// - A list may have been written by an earlier kernel, so that only the device knows its length.
// - Source: own.
#pragma once

#include "simt.cuh"

namespace simt::bucket_bounds {

// Bucket b is ends[b * stride]..ends[b * stride + 1], in items.
// - `stride` is 1 for consecutive buckets (`ends` has one entry more than buckets), and 2 for listed pairs.
// - There are `*listed` buckets, or `count` if `listed` is null.
struct Buckets {
    const u64* ends;
    const u32* listed;
    u32 count, stride;
};

SIMT_FN u32 count(const Buckets& all) { return all.listed ? *all.listed : all.count; }

// Points to the bucket's start, which is followed by its end.
SIMT_FN const u64* ends_of(const Buckets& all, u32 bucket) { return all.ends + u64(bucket) * all.stride; }

} // namespace simt::bucket_bounds
