// Radix sort, as published: digits of four bits, the lowest first, in tiles of 1024 keys. Stable.
//
// - Common parameters: `count` keys of 32 bits, fewer than 2^32. `shift`: the lowest bit of the digit.
// - Order, for each digit from the lowest on: sort_tiles, then scan_table.cu on `table`, then scatter.
// - Launch: one block of BLOCK threads per tile. Shared memory: sizeof(Shared).
// - Cost: two reads and two writes of the keys per digit.
// - Source: section 6.1 of Capannini, Silvestri and Baraglia, "Sorting on GPUs for large scale datasets: A thorough
//   comparison" (2011); the sort is that of Satish, Harris and Garland, "Designing efficient sorting algorithms for
//   manycore GPUs" (2009).
#include "block.cuh"
#include "simt.cuh"

namespace simt::radix_sort {

using papers::BLOCK;

constexpr u32 DIGIT_BITS = 4, VALUES = 1u << DIGIT_BITS;
constexpr u32 KEYS_A_THREAD = 4;
constexpr u32 TILE = BLOCK * KEYS_A_THREAD;

struct Shared {
    u32 sums[papers::WARPS];
    u32 keys[TILE];
    // For each value of the digit, the indices in the tile where its keys begin and end.
    u32 starts[VALUES], ends[VALUES];
};

SIMT_FN Shared& shared() { return *reinterpret_cast<Shared*>(shared_memory()); }

SIMT_FN u32 digit(u32 key, u32 shift) { return key >> shift & (VALUES - 1); }

// The number of keys of the block's tile.
SIMT_FN u32 keys_of_tile(u64 count) {
    const u64 left = count - u64(block_rank()) * TILE;
    return left < TILE ? u32(left) : TILE;
}

// Moves the keys with a 0 at `bit` before those with a 1, and keeps the order otherwise. A thread has consecutive
// keys. Ends with a barrier.
SIMT_FN void split(u32 (&own)[KEYS_A_THREAD], u32 bit) {
    Shared& s = shared();
    u32 zeros = 0, all_zeros;
    SIMT_UNROLL
    for (u32 k = 0; k < KEYS_A_THREAD; ++k) zeros += ~(own[k] >> bit) & 1;
    u32 before = papers::exclusive_sum(zeros, s.sums, all_zeros);
    SIMT_UNROLL
    for (u32 k = 0; k < KEYS_A_THREAD; ++k) {
        const bool one = own[k] >> bit & 1;
        s.keys[one ? all_zeros + thread_rank() * KEYS_A_THREAD + k - before : before] = own[k];
        before += !one;
    }
    barrier();
    SIMT_UNROLL
    for (u32 k = 0; k < KEYS_A_THREAD; ++k) own[k] = s.keys[thread_rank() * KEYS_A_THREAD + k];
    barrier();
}

// sort_tiles: sorts each tile by the digit, one bit after the other.
// - Writes:
//   - `sorted`: the sorted tiles.
//   - `table`: for each value of the digit, and within it for each tile, the number of keys: VALUES * tiles words.
//   - `starts`: for each tile and value, the index in the tile where its keys begin: VALUES words per tile.
// - Cost: one read and one write of the keys; two trips to shared memory per bit.
SIMT_KERNEL(BLOCK, 4)
sort_tiles(const u32* keys, u64 count, u32 shift, u32* sorted, u32* table, u32* starts) {
    await_turn();
    Shared& s = shared();
    keys += u64(block_rank()) * TILE;
    sorted += u64(block_rank()) * TILE;
    const u32 there = keys_of_tile(count);
    u32 own[KEYS_A_THREAD];
    SIMT_UNROLL
    for (u32 k = 0; k < KEYS_A_THREAD; ++k) {
        const u32 i = thread_rank() * KEYS_A_THREAD + k;
        // The sort is stable, so padding past the end stays behind all keys.
        own[k] = i < there ? keys[i] : ~0u;
    }
    for (u32 bit = shift; bit < shift + DIGIT_BITS; ++bit) split(own, bit);

    if (thread_rank() < VALUES) s.starts[thread_rank()] = s.ends[thread_rank()] = 0;
    barrier();
    // A value begins and ends where the neighbouring key has another value.
    SIMT_UNROLL
    for (u32 k = 0; k < KEYS_A_THREAD; ++k) {
        const u32 i = thread_rank() * KEYS_A_THREAD + k, value = digit(own[k], shift);
        if (i >= there) break;
        if (i > 0 && digit(s.keys[i - 1], shift) != value) s.starts[value] = i;
        if (i + 1 == there || digit(s.keys[i + 1], shift) != value) s.ends[value] = i + 1;
        sorted[i] = own[k];
    }
    barrier();
    if (thread_rank() < VALUES) {
        const u32 start = s.starts[thread_rank()];
        table[u64(thread_rank()) * grid_blocks() + block_rank()] = s.ends[thread_rank()] - start;
        starts[u64(block_rank()) * VALUES + thread_rank()] = start;
    }
}

// scatter: moves each key to where the table says.
// - Parameters: `sorted` and `starts` from sort_tiles; `table` and `sums` from scan_table.cu.
// - Writes: `keys`.
// - Cost: one read and one write of the keys.
SIMT_KERNEL(BLOCK, 4)
scatter(const u32* sorted, u64 count, u32 shift, const u32* table, const u32* sums, const u32* starts, u32* keys) {
    await_turn();
    Shared& s = shared();
    sorted += u64(block_rank()) * TILE;
    const u32 there = keys_of_tile(count);
    if (thread_rank() < VALUES) {
        const u64 word = u64(thread_rank()) * grid_blocks() + block_rank();
        // The index where keys of this value go, minus their start in the tile, modulo 2^32.
        s.starts[thread_rank()] =
            papers::sum_before(table, sums, word) - starts[u64(block_rank()) * VALUES + thread_rank()];
    }
    barrier();
    for (u32 i = thread_rank(); i < there; i += BLOCK) {
        const u32 key = sorted[i];
        keys[s.starts[digit(key, shift)] + i] = key;
    }
}

} // namespace simt::radix_sort
