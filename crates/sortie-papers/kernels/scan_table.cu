// Exclusive prefix sums of a table, in place and modulo 2^32.
//
// - Order: scan_table, scan_sums. papers::sum_before then adds the results of the two.
// - Launch: blocks of BLOCK threads. Shared memory: papers::WARPS words.
// - Cost of both: one read and one write of the table.
// - Source: Harris, Sengupta and Owens, "Parallel prefix sum (scan) with CUDA" (2007), for sums of any length.
#include "block.cuh"
#include "simt.cuh"

namespace simt::scan_table {

using papers::BLOCK;
using papers::SCANNED;

constexpr u32 WORDS = SCANNED / BLOCK;

// Scans the SCANNED words from `first` on, of `count`, and adds `before` to each. Sets `total` to their sum. A thread
// has consecutive words.
SIMT_FN void scan_part(u32* table, u64 first, u64 count, u32 before, u32& total) {
    auto& sums = *reinterpret_cast<u32(*)[papers::WARPS]>(shared_memory());
    first += thread_rank() * WORDS;
    u32 words[WORDS], sum = 0;
    SIMT_UNROLL
    for (u32 w = 0; w < WORDS; ++w) {
        words[w] = first + w < count ? table[first + w] : 0;
        sum += words[w];
    }
    before += papers::exclusive_sum(sum, sums, total);
    SIMT_UNROLL
    for (u32 w = 0; w < WORDS; ++w) {
        if (first + w < count) table[first + w] = before;
        before += words[w];
    }
}

// scan_table: turns each of `count` words into the sum of the words before it in its part of SCANNED words.
// - Launch: one block per part.
// - Writes: `table`; `sums`, the sum of each part.
// - Cost: one read and one write of the table.
SIMT_KERNEL(BLOCK, 4) scan_table(u32* table, u64 count, u32* sums) {
    await_turn();
    u32 total;
    scan_part(table, u64(block_rank()) * SCANNED, count, 0, total);
    if (thread_rank() == 0) sums[block_rank()] = total;
}

// scan_sums: turns each of `count` sums of parts into the sum of the parts before it.
// - Launch: one block. After scan_table.
// - Writes: `sums`.
// - Cost: one read and one write of the sums.
SIMT_KERNEL(BLOCK, 1) scan_sums(u32* sums, u64 count) {
    await_turn();
    u32 before = 0;
    for (u64 first = 0; first < count; first += SCANNED) {
        u32 total;
        scan_part(sums, first, count, before, total);
        before += total;
    }
}

} // namespace simt::scan_table
