// The sum of what comes before each word of a table, in place.
//
// Contract. Blocks of 256 threads. scan_table, a block for each 2048 words: turns a word into the sum of those before
// it in its block, and writes the block's sum. scan_sums, one block: turns those sums into the sums of what comes
// before each. papers::sum_before adds the two. Sums are modulo 2^32. Dynamic shared memory: papers::WARPS words.
// Cost: one read and one write of the table.
//
// Source: Harris, Sengupta and Owens, "Parallel prefix sum (scan) with CUDA" (2007), sums of any length.
#include "block.cuh"
#include "simt.cuh"

namespace simt::scan_table {

using papers::BLOCK;
using papers::SCANNED;

constexpr u32 WORDS = SCANNED / BLOCK;

// A thread takes neighbours.
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

SIMT_KERNEL(BLOCK, 4) scan_table(u32* table, u64 count, u32* sums) {
    await_turn();
    u32 total;
    scan_part(table, u64(block_rank()) * SCANNED, count, 0, total);
    if (thread_rank() == 0) sums[block_rank()] = total;
}

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
