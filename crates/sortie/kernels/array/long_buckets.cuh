// Buckets too long for a block, which are distributed again: where each lies, and its tiles.
//
// Contract. The buckets are listed in no given order, `listed` of them. `tiles_before` says how many tiles of `tile` keys
// come before each, one more than buckets. Each has buckets of its own, 2^BITS at most, of about `share` keys.
#pragma once

#include "classify.cuh"
#include "simt.cuh"

namespace simt::long_buckets {

constexpr u32 BITS = 7;

struct Bucket {
    u64 start, end;
    // The least and the greatest code.
    u64 low, high;
};

struct Buckets {
    Bucket* buckets;
    const u32* listed;
    const u32* tiles_before;
    u32 tile, share;
};

// How many buckets of its own it has, at least 2.
SIMT_FN u32 own_buckets(const Bucket& bucket, u32 share) {
    return u32(lesser((bucket.end - bucket.start) / share + 2, u64(1) << BITS));
}

template <class Code> SIMT_FN classify::Range range_of(const Bucket& bucket, u32 share) {
    return classify::cut<Code>(Code(bucket.low), Code(bucket.high - bucket.low), own_buckets(bucket, share));
}

// Whether each of its own buckets has equal keys.
SIMT_FN bool is_exact(const Bucket& bucket, u32 share) {
    return bucket.high - bucket.low < own_buckets(bucket, share);
}

SIMT_FN u32 tiles(const Buckets& all) { return *all.listed == 0 ? 0 : all.tiles_before[*all.listed]; }

// The bucket that a tile is of.
SIMT_FN u32 bucket_of(const Buckets& all, u32 tile) {
    u32 low = 0, high = *all.listed;
    while (high - low > 1) {
        const u32 middle = low + (high - low) / 2;
        if (all.tiles_before[middle] <= tile) low = middle;
        else high = middle;
    }
    return low;
}

struct Tile {
    u64 first;
    u32 count;
};

SIMT_FN Tile tile_of(const Buckets& all, u32 bucket, u32 tile) {
    const u64 first = all.buckets[bucket].start + u64(tile - all.tiles_before[bucket]) * all.tile;
    return {first, u32(lesser(all.buckets[bucket].end - first, u64(all.tile)))};
}

} // namespace simt::long_buckets
