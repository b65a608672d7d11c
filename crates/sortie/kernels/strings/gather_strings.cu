// Strings in the order of their places: offsets, and then bytes.
//
// Contract. An instantiation is made for SORTIE_STRINGS (4, 8, 16), see strings.cuh. The i-th string to be written is string
// places[i], of `count`. Any number of blocks of BLOCK threads, but where said. Of views:
// - gather_views: the views; their buffers stay.
// Of strings with offsets, in this order:
// - sum_lengths: the bytes of each tile of strings. Dynamic shared memory: Sums.
// - sum_tiles, of one block: how many bytes come before each tile. Dynamic shared memory: Sums.
// - write_offsets: where each string goes, from 0 on, and where the last one ends. Dynamic shared memory: Sums.
// - copy_bytes: the bytes. Each thread writes COPIED of them that lie together, whichever strings they are of, so a long
//   string is copied by many. Cost: a search among the offsets for each.
#include "scan.cuh"
#include "search.cuh"
#include "simt.cuh"
#include "strings.cuh"

namespace simt::gather_strings {

constexpr u32 BLOCK = 256;
constexpr u32 ROW = 8;
constexpr u32 TILE = BLOCK * ROW;
constexpr u32 COPIED = 16;

// Over the block.
struct Sums {
    u64 sums[BLOCK / WARP];
};

#if SORTIE_STRINGS == 16

SIMT_KERNEL(BLOCK, 4) gather_views(const View* views, const u32* indices, u32 count, View* to) {
    await_turn();
    for (u64 i = u64(block_rank()) * BLOCK + thread_rank(); i < count; i += u64(grid_blocks()) * BLOCK) to[i] = views[indices[i]];
}

#else

SIMT_FN u64 length_of(const Strings& strings, u32 index) { return strings.entries[index + 1] - strings.entries[index]; }

// The lengths of a thread's strings.
SIMT_FN u64 sum_row(const Strings& strings, const u32* indices, u64 first, u32 count) {
    u64 sum = 0;
    for (u32 r = 0; r < ROW && first + r < count; ++r) sum += length_of(strings, indices[first + r]);
    return sum;
}

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

SIMT_KERNEL(BLOCK, 4) copy_bytes(Strings strings, const u32* indices, u32 count, const Offset* offsets, u8* bytes) {
    await_turn();
    const u64 end = offsets[count], step = u64(grid_blocks()) * BLOCK * COPIED;
    for (u64 at = (u64(block_rank()) * BLOCK + thread_rank()) * COPIED; at < end; at += step) {
        const u64 to = lesser(at + COPIED, end);
        // The last that begins here or before; of those that begin here all but one are empty.
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
