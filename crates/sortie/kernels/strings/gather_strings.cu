// Writes strings in the order of their indices: as views, or as offsets and bytes.
//
// - Compile-time parameter: SORTIE_STRINGS, 4, 8 or 16 (strings.cuh).
// - Common parameters: `indices` has `count` entries; the i-th string to write is string indices[i].
// - Order: of views, gather_views alone; of strings with offsets, sum_lengths, sum_tiles, write_offsets, copy_bytes.
// - Launch: any number of blocks of BLOCK threads, unless said otherwise. A tile is TILE strings.
// - The result does not overlap the input.
// - Source: own.
#include "scan.cuh"
#include "search.cuh"
#include "simt.cuh"
#include "strings.cuh"

namespace simt::gather_strings {

constexpr u32 BLOCK = 256;
constexpr u32 ROW = 8;
constexpr u32 TILE = BLOCK * ROW;
constexpr u32 COPIED = 16;

// The sums of the warps, for a scan.
struct Sums {
    u64 sums[BLOCK / WARP];
};

#if SORTIE_STRINGS == 16

// gather_views: writes the views. Their buffers stay as they are.
// - Parameters: `views`: those of all strings.
// - Launch: no shared memory.
// - Writes: `to`, `count` views.
// - Cost: one read of the indices, one read and one write of the views.
SIMT_KERNEL(BLOCK, 4) gather_views(const View* views, const u32* indices, u32 count, View* to) {
    await_turn();
    for (u64 i = u64(block_rank()) * BLOCK + thread_rank(); i < count; i += u64(grid_blocks()) * BLOCK) to[i] = views[indices[i]];
}

#else

SIMT_FN u64 length_of(const Strings& strings, u32 index) { return strings.entries[index + 1] - strings.entries[index]; }

// The sum of the lengths of the thread's strings, which are ROW from `first` on.
SIMT_FN u64 sum_row(const Strings& strings, const u32* indices, u64 first, u32 count) {
    u64 sum = 0;
    for (u32 r = 0; r < ROW && first + r < count; ++r) sum += length_of(strings, indices[first + r]);
    return sum;
}

// sum_lengths: computes the bytes of each tile of strings.
// - Parameters: `strings`: the input.
// - Launch: shared memory: Sums.
// - Writes: `tiles`, an entry per tile.
// - Cost: one read of the indices and of the offsets.
SIMT_KERNEL(BLOCK, 4) sum_lengths(Strings strings, const u32* indices, u32 count, u64* tiles) {
    await_turn();
    u64* sums = reinterpret_cast<Sums*>(shared_memory())->sums;
    for (u64 tile = block_rank(); tile * TILE < count; tile += grid_blocks()) {
        u64 total;
        scan::exclusive<BLOCK>(sum_row(strings, indices, tile * TILE + thread_rank() * ROW, count), sums, total);
        if (thread_rank() == 0) tiles[tile] = total;
        barrier();
    }
}

// sum_tiles: turns the bytes of each of `count` tiles into the number of bytes before it.
// - Launch: one block. Shared memory: Sums. After sum_lengths.
// - Writes: `tiles`.
// - Cost: a scan over the tiles.
SIMT_KERNEL(BLOCK, 1) sum_tiles(u64* tiles, u32 count) {
    await_turn();
    u64* sums = reinterpret_cast<Sums*>(shared_memory())->sums;
    u64 before = 0;
    for (u32 first = 0; first < count; first += BLOCK) {
        const u32 i = first + thread_rank();
        u64 total;
        const u64 own = scan::exclusive<BLOCK>(i < count ? tiles[i] : 0, sums, total);
        if (i < count) tiles[i] = before + own;
        before += total;
        barrier();
    }
}

// write_offsets: writes the offsets of the result.
// - Parameters: `strings`: the input. `tiles`: from sum_tiles.
// - Launch: shared memory: Sums. After sum_tiles.
// - Writes: `offsets`, `count` + 1 entries, the first of which is 0.
// - Cost: two reads of the indices and of the offsets, one write of the offsets.
SIMT_KERNEL(BLOCK, 4)
write_offsets(Strings strings, const u32* indices, u32 count, const u64* tiles, Offset* offsets) {
    await_turn();
    u64* sums = reinterpret_cast<Sums*>(shared_memory())->sums;
    for (u64 tile = block_rank(); tile * TILE < count; tile += grid_blocks()) {
        const u64 first = tile * TILE + thread_rank() * ROW;
        u64 total;
        u64 at = tiles[tile] + scan::exclusive<BLOCK>(sum_row(strings, indices, first, count), sums, total);
        for (u32 r = 0; r < ROW && first + r < count; ++r) {
            offsets[first + r] = Offset(at);
            at += length_of(strings, indices[first + r]);
            if (first + r + 1 == count) offsets[count] = Offset(at);
        }
        barrier();
    }
}

// copy_bytes: writes the bytes of the result. Each thread writes COPIED consecutive bytes, whichever strings they are
// of, so that many threads copy a long string.
// - Parameters: `strings`: the input. `offsets`: from write_offsets.
// - Launch: no shared memory. After write_offsets.
// - Writes: `bytes`.
// - Cost: one read and one write of the bytes, by single bytes; a binary search in the offsets per COPIED bytes.
SIMT_KERNEL(BLOCK, 4) copy_bytes(Strings strings, const u32* indices, u32 count, const Offset* offsets, u8* bytes) {
    await_turn();
    const u64 end = offsets[count], step = u64(grid_blocks()) * BLOCK * COPIED;
    for (u64 at = (u64(block_rank()) * BLOCK + thread_rank()) * COPIED; at < end; at += step) {
        const u64 to = lesser(at + COPIED, end);
        // The string that has this byte: the last that begins here or before. Others that begin here are empty.
        u32 i = search::first_of(1, count, [&](u32 next) { return offsets[next] > at; }) - 1;
        for (u64 b = at; b < to;) {
            const u8* from = strings.data + strings.entries[indices[i]] + (b - offsets[i]);
            const u64 stop = lesser(to, u64(offsets[i + 1]));
            for (; b < stop; ++b) bytes[b] = *from++;
            ++i;
        }
    }
}

#endif

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::gather_strings
