// A segment a warp: a bitonic sort in registers, by shuffles. The lane with rank l holds keys l * KEYS to (l + 1) * KEYS.

#include "simt.cuh"

namespace simt::sort {

SIMT_FN void order(u32& a, u32& b, bool ascending) {
    u32 low = lesser(a, b), high = greater(a, b);
    a = ascending ? low : high;
    b = ascending ? high : low;
}

SIMT_KERNEL(128, 1) sort_segments(u32* keys, u32 length, u32 segments) {
    u32 segment = block_rank() * (block_threads() / WARP) + warp_rank();
    if (segment >= segments) return;
    u32* own = keys + u64(segment) * length;
    u32 key[KEYS];
    SIMT_UNROLL
    for (u32 r = 0; r < KEYS; ++r) {
        u32 i = lane() * KEYS + r;
        key[r] = i < length ? own[i] : ~0u;
    }
    SIMT_UNROLL
    for (u32 size = 2; size <= KEYS * WARP; size *= 2) {
        SIMT_UNROLL
        for (u32 stride = size / 2; stride >= 1; stride /= 2) {
            SIMT_UNROLL
            for (u32 r = 0; r < KEYS; ++r) {
                u32 i = lane() * KEYS + r;
                bool ascending = (i & size) == 0;
                if (stride >= KEYS) {
                    u32 other = shuffle_xor(key[r], stride / KEYS);
                    key[r] = ascending == ((i & stride) == 0) ? lesser(key[r], other) : greater(key[r], other);
                } else if ((r & stride) == 0) {
                    order(key[r], key[r | stride], ascending);
                }
            }
        }
    }
    SIMT_UNROLL
    for (u32 r = 0; r < KEYS; ++r) {
        u32 i = lane() * KEYS + r;
        if (i < length) own[i] = key[r];
    }
}

} // namespace simt::sort
