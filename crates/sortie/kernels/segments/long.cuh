// Segments too long for a block, as tiles: where a tile's segment is, and how often its runs are merged.
//
// Contract. Segments of one length, or those that a list names after those of all smaller classes, with the tiles that
// come before each. A pass merges pairs of runs from one buffer to the other; the last pass leaves all in the first.
#pragma once

#include "simt.cuh"

namespace simt::long_segments {

struct Segments {
    // Of one length; 0 where they are listed.
    u64 length;
    u64 segments;
    // Listed.
    const u64* offsets;
    const u32* list;
    const u32* counts;
    // The tiles before each listed segment, and at the end all tiles.
    const u32* tiles_before;
    // Their class.
    u32 size;
    // Keys of a tile.
    u32 tile;
};

struct Tile {
    // Of the segment.
    u64 start, length;
    // Within the segment.
    u64 offset;
};

SIMT_FN u64 tiles_of(u64 length, u32 tile) { return (length + tile - 1) / tile; }

SIMT_FN u64 count(const Segments& all) { return all.length > 0 ? all.segments : all.counts[all.size]; }

struct Whole {
    u64 start, length;
};

// A listed segment, or one of one length.
SIMT_FN Whole segment_at(const Segments& all, u64 number) {
    if (all.length > 0) return {number * all.length, all.length};
    u32 before = 0;
    for (u32 c = 0; c < all.size; ++c) before += all.counts[c];
    const u32 segment = all.list[before + number];
    const u64 start = all.offsets[segment];
    return {start, all.offsets[segment + 1] - start};
}

SIMT_FN u64 tile_count(const Segments& all) {
    return all.length > 0 ? all.segments * tiles_of(all.length, all.tile) : all.tiles_before[all.counts[all.size]];
}

SIMT_FN Tile find_tile(const Segments& all, u64 number) {
    if (all.length > 0) {
        const u64 each = tiles_of(all.length, all.tile);
        return {number / each * all.length, all.length, number % each * all.tile};
    }
    // The last segment that has no more tiles before it than this one's number.
    u32 low = 0, high = all.counts[all.size];
    while (high - low > 1) {
        const u32 middle = low + (high - low) / 2;
        if (all.tiles_before[middle] <= number) low = middle;
        else high = middle;
    }
    const Whole segment = segment_at(all, low);
    return {segment.start, segment.length, (number - all.tiles_before[low]) * all.tile};
}

// Passes until runs of a tile are one.
SIMT_FN u32 passes_of(u64 length, u32 tile) {
    u32 passes = 0;
    for (u64 runs = tiles_of(length, tile); runs > 1; runs = (runs + 1) / 2) ++passes;
    return passes;
}

// Which of two buffers has a segment's runs before a pass, so that the last one moves them to the first.
SIMT_FN u32 buffer_before(u32 passes, u32 pass) { return (passes - pass) % 2; }

} // namespace simt::long_segments
