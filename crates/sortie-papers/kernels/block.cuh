// What the published algorithms have in common: sums and small sorts by a block.
//
// - Preconditions: blocks of BLOCK threads, all of which reach each function.
// - The sum and the sort end with a barrier. Then the results are visible, and shared memory may be reused.
// - Source: Batcher's bitonic sort; for sums, scan.cuh.
#pragma once

#include "scan.cuh"
#include "simt.cuh"

namespace simt::papers {

constexpr u32 BLOCK = 256;
constexpr u32 WARPS = BLOCK / WARP;

// Returns the sum of the values of all threads of lower rank. Sets `total` to the sum of all. `sums` is shared memory.
SIMT_FN u32 exclusive_sum(u32 value, u32 (&sums)[WARPS], u32& total) {
    const u32 before = scan::exclusive<BLOCK>(value, sums, total);
    barrier();
    return before;
}

// The number of words that a block of scan_table.cu scans.
constexpr u32 SCANNED = BLOCK * 8;

// The sum of all words of a table before this one, after scan_table.cu.
SIMT_FN u32 sum_before(const u32* table, const u32* sums, u64 word) { return table[word] + sums[word / SCANNED]; }

// Sorts `count` keys, a power of two, in shared memory. A barrier must come before.
// Cost: log2(count)^2 / 2 steps, each with a barrier.
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

// The least power of two that is not less than `count`.
SIMT_FN u32 power_of_two_from(u32 count) { return count < 2 ? 1 : 1u << (32 - leading_zeros(count - 1)); }

} // namespace simt::papers
