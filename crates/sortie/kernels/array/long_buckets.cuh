// Buckets that are too long for a block and are distributed a second time.
//
// - Each long bucket is cut into at most 2^BITS buckets of its own, of about `share` keys each.
// - The keys of a long bucket are processed in tiles of `tile` keys. The last tile of a bucket may be shorter.
// - Source: own.
#pragma once

#include "classify.cuh"
#include "simt.cuh"

namespace simt::long_buckets {

constexpr u32 BITS = 7;

// A long bucket: the keys start..end of the array.
struct Bucket {
    u64 start, end;
    // The least and the greatest code in it.
    u64 low, high;
};

// All long buckets.
// - `buckets`: the list, in any order; `*listed` is its length.
// - `tiles_before`: for each long bucket the number of tiles of those before it in the list; one entry more than
//   buckets.
// - `tile`: keys of a tile. `share`: keys that a bucket of a long bucket should have.
struct Buckets {
    Bucket* buckets;
    const u32* listed;
    const u32* tiles_before;
    u32 tile, share;
};

// The number of buckets that a long bucket is cut into, at least 2.
SIMT_FN u32 own_buckets(const Bucket& bucket, u32 share) {
    return u32(lesser((bucket.end - bucket.start) / share + 2, u64(1) << BITS));
}

// The range that cuts a long bucket into its buckets.
template <class Code> SIMT_FN classify::Range range_of(const Bucket& bucket, u32 share) {
    return classify::cut<Code>(Code(bucket.low), Code(bucket.high - bucket.low), own_buckets(bucket, share));
}

// Whether each bucket of the long bucket has only one code.
SIMT_FN bool is_exact(const Bucket& bucket, u32 share) {
    return bucket.high - bucket.low < own_buckets(bucket, share);
}

// The number of tiles of all long buckets.
SIMT_FN u32 tiles(const Buckets& all) { return *all.listed == 0 ? 0 : all.tiles_before[*all.listed]; }

// The long bucket that a tile belongs to. Cost: a binary search in `tiles_before`.
SIMT_FN u32 bucket_of(const Buckets& all, u32 tile) {
    u32 low = 0, high = *all.listed;
    while (high - low > 1) {
        const u32 middle = low + (high - low) / 2;
        if (all.tiles_before[middle] <= tile) low = middle;
        else high = middle;
    }
    return low;
}

// The keys first..first + count of the array.
struct Tile {
    u64 first;
    u32 count;
};

// The keys of a tile of this long bucket.
SIMT_FN Tile tile_of(const Buckets& all, u32 bucket, u32 tile) {
    const u64 first = all.buckets[bucket].start + u64(tile - all.tiles_before[bucket]) * all.tile;
    return {first, u32(lesser(all.buckets[bucket].end - first, u64(all.tile)))};
}

} // namespace simt::long_buckets
