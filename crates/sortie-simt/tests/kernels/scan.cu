// Inclusive sums: each block scans a tile, then looks back over the tiles before its own. A tile's sums are plain
// memory, published by flags.

#include "simt.cuh"

namespace simt::scan {

enum : u32 { EMPTY, TILE_SUM, SUM_SO_FAR };

SIMT_FN u32 scan_warp(u32 value) {
    for (u32 by = 1; by < WARP; by *= 2) {
        u32 below = shuffle_up(value, by);
        if (lane() >= by) value += below;
    }
    return value;
}

SIMT_KERNEL(256, 1) scan(const u32* from, u32* to, u32 count, u32* ticket, u32* flags, u32* tile_sums, u32* sums_so_far) {
    u32* warp_sums = reinterpret_cast<u32*>(shared_memory());
    u32* tile_shared = warp_sums + WARP;
    u32* before_shared = tile_shared + 1;

    if (thread_rank() == 0) *tile_shared = atomic_add(ticket, 1);
    barrier();
    u32 tile = *tile_shared;
    u32 i = tile * block_threads() + thread_rank();
    u32 sum = scan_warp(i < count ? from[i] : 0);
    if (lane() == WARP - 1) warp_sums[warp_rank()] = sum;
    barrier();
    u32 warps = block_threads() / WARP;
    if (warp_rank() == 0) {
        u32 warp_sum = scan_warp(lane() < warps ? warp_sums[lane()] : 0);
        if (lane() < warps) warp_sums[lane()] = warp_sum;
    }
    barrier();
    if (warp_rank() > 0) sum += warp_sums[warp_rank() - 1];

    if (thread_rank() == 0) {
        u32 tile_sum = warp_sums[warps - 1];
        tile_sums[tile] = tile_sum;
        atomic_store<Release>(flags + tile, TILE_SUM);
        u32 before = 0;
        for (u32 back = tile; back > 0;) {
            u32 flag = atomic_load<Acquire>(flags + back - 1);
            if (flag == EMPTY) continue;
            if (flag == SUM_SO_FAR) {
                before += sums_so_far[back - 1];
                break;
            }
            before += tile_sums[--back];
        }
        sums_so_far[tile] = before + tile_sum;
        atomic_store<Release>(flags + tile, SUM_SO_FAR);
        *before_shared = before;
    }
    barrier();
    if (i < count) to[i] = sum + *before_shared;
}

} // namespace simt::scan
