// What the published algorithms have in common: sums and small sorts by a block.
//
// Contract. Blocks of BLOCK threads. Each call is reached by all of them, and ends with a barrier, after which its
// shared memory is free.
//
// Source: Batcher's bitonic sort; for sums, scan.cuh.
#pragma once

#include "scan.cuh"
#include "simt.cuh"

namespace simt::papers {

constexpr u32 BLOCK = 256;
constexpr u32 WARPS = BLOCK / WARP;

// The sum of all lower threads' values, and of all. `sums` is shared memory.
SIMT_FN u32 exclusive_sum(u32 value, u32 (&sums)[WARPS], u32& total) {
    const u32 before = scan::exclusive<BLOCK>(value, sums, total);
    barrier();
    return before;
}

// Words that a block of scan_table.cu takes.
constexpr u32 SCANNED = BLOCK * 8;

// What scan_table.cu has found to come before a word of a table.
SIMT_FN u32 sum_before(const u32* table, const u32* sums, u64 word) { return table[word] + sums[word / SCANNED]; }

// Sorts keys in shared memory; `count` is a power of two.
SIMT_FN void sort_bitonic(u32* keys, u32 count) {
    for (u32 run = 2; run <= count; run *= 2) {
        for (u32 distance = run / 2; distance > 0; distance /= 2) {
            for (u32 i = thread_rank(); i < count / 2; i += BLOCK) {
                const u32 low = i / distance * distance * 2 + i % distance, high = low + distance;
                const u32 a = keys[low], b = keys[high];
                const bool ascending = (low & run) == 0;
                keys[low] = ascending ? lesser(a, b) : greater(a, b);
                keys[high] = ascending ? greater(a, b) : lesser(a, b);
            }
            barrier();
        }
    }
}

SIMT_FN u32 power_of_two_from(u32 count) { return count < 2 ? 1 : 1u << (32 - leading_zeros(count - 1)); }

} // namespace simt::papers
