// Segments that are too long for a block, cut into tiles: which segment a tile belongs to, and how often its runs are
// merged.
//
// - The segments have one length, or they are those of a class that classes.cu has listed.
// - A pass of merges reads runs from one buffer and writes them to the other. The last pass ends in buffer 0.
// - Source: own.
#pragma once

#include "simt.cuh"

namespace simt::long_segments {

struct Segments {
    // If all segments have one length: this length in keys, and the number of segments. `length` is 0 if they are
    // listed.
    u64 length;
    u64 segments;
    // If they are listed: the offsets of all segments, the list of all classes, and the number of segments of each
    // class.
    const u64* offsets;
    const u32* list;
    const u32* counts;
    // The number of tiles of the listed segments before each; the last entry has the number of all tiles.
    const u32* tiles_before;
    // The class whose segments these are.
    u32 size;
    // The keys of a tile.
    u32 tile;
};

struct Tile {
    // The segment: the index of its first key, and its length.
    u64 start, length;
    // The tile's first key, counted from the start of the segment.
    u64 offset;
};

SIMT_FN u64 tiles_of(u64 length, u32 tile) { return (length + tile - 1) / tile; }

// The number of segments.
SIMT_FN u64 count(const Segments& all) { return all.length > 0 ? all.segments : all.counts[all.size]; }

struct Whole {
    u64 start, length;
};

// The bounds of segment `number` of these, in keys.
SIMT_FN Whole segment_at(const Segments& all, u64 number) {
    if (all.length > 0) return {number * all.length, all.length};
    u32 before = 0;
    for (u32 c = 0; c < all.size; ++c) before += all.counts[c];
    const u32 segment = all.list[before + number];
    const u64 start = all.offsets[segment];
    return {start, all.offsets[segment + 1] - start};
}

// The number of tiles of all segments.
SIMT_FN u64 tile_count(const Segments& all) {
    return all.length > 0 ? all.segments * tiles_of(all.length, all.tile) : all.tiles_before[all.counts[all.size]];
}

// Finds tile `number` of all segments. Cost: a binary search if they are listed.
SIMT_FN Tile find_tile(const Segments& all, u64 number) {
    if (all.length > 0) {
        const u64 each = tiles_of(all.length, all.tile);
        return {number / each * all.length, all.length, number % each * all.tile};
    }
    // The last segment with at most `number` tiles before it.
    u32 low = 0, high = all.counts[all.size];
    while (high - low > 1) {
        const u32 middle = low + (high - low) / 2;
        if (all.tiles_before[middle] <= number) low = middle;
        else high = middle;
    }
    const Whole segment = segment_at(all, low);
    return {segment.start, segment.length, (number - all.tiles_before[low]) * all.tile};
}

// The number of merge passes until the runs, of one tile each, are one run.
SIMT_FN u32 passes_of(u64 length, u32 tile) {
    u32 passes = 0;
    for (u64 runs = tiles_of(length, tile); runs > 1; runs = (runs + 1) / 2) ++passes;
    return passes;
}

// The buffer, 0 or 1, that has the runs before a pass. It alternates such that the last pass writes to buffer 0.
SIMT_FN u32 buffer_before(u32 passes, u32 pass) { return (passes - pass) % 2; }

} // namespace simt::long_segments
