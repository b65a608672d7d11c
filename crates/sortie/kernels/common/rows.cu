// Rows of a payload that no sort moves with its keys: a sort moves their indices, which then bring the rows.
//
// Contract. An instantiation is made for rows of SORTIE_PAYLOAD_BYTES, as payload.cuh says, and indices of
// SORTIE_INDEX_BYTES (4, 8). Any number of blocks.
// - number_rows writes each index to itself. Cost: one write of the indices.
// - widen_indices writes indices as integers of 64 bits, elsewhere. Cost: a read and a write of them.
// - gather_rows writes row i of `to` from row indices[i] of `from`. Cost: a read of the indices, a read and a write of the
//   rows; neighbouring threads take neighbouring words, so that each row is read as a whole.
#include "code.cuh"
#include "payload.cuh"
#include "simt.cuh"

namespace simt::rows {

using Index = code::OfBytes<SORTIE_INDEX_BYTES>::Type;
using payload::Word;

constexpr u32 BLOCK = 256;
constexpr u32 WORDS = payload::WORDS;
// What a thread loads before it stores. Every load is made, of the last item where there is none: loads under conditions of
// their own would wait for one another.
constexpr u32 TAKEN = 8;
constexpr u32 STEP = BLOCK * TAKEN;

SIMT_KERNEL(BLOCK, 4) number_rows(Index* indices, u64 count) {
    await_turn();
    for (u64 i = u64(block_rank()) * BLOCK + thread_rank(); i < count; i += u64(grid_blocks()) * BLOCK) indices[i] = Index(i);
}

SIMT_KERNEL(BLOCK, 4) widen_indices(const Index* from, u64 count, u64* to) {
    await_turn();
    for (u64 first = u64(block_rank()) * STEP; first < count; first += u64(grid_blocks()) * STEP) {
        const u32 left = u32(lesser(count - first, u64(STEP)));
        Index taken[TAKEN];
        SIMT_UNROLL
        for (u32 t = 0; t < TAKEN; ++t) taken[t] = from[first + lesser(t * BLOCK + thread_rank(), left - 1)];
        SIMT_UNROLL
        for (u32 t = 0; t < TAKEN; ++t) {
            const u32 i = t * BLOCK + thread_rank();
            if (i < left) to[first + i] = taken[t];
        }
    }
}

SIMT_KERNEL(BLOCK, 4) gather_rows(const Word* from, const Index* indices, u64 count, Word* to) {
    await_turn();
    const u64 all = count * WORDS;
    for (u64 first = u64(block_rank()) * STEP; first < all; first += u64(grid_blocks()) * STEP) {
        // Of 32 bits, so that a thread divides by no more.
        const u64 row = first / WORDS;
        const u32 word = u32(first % WORDS), left = u32(lesser(all - first, u64(STEP)));
        Word taken[TAKEN];
        SIMT_UNROLL
        for (u32 t = 0; t < TAKEN; ++t) {
            const u32 i = word + lesser(t * BLOCK + thread_rank(), left - 1);
            taken[t] = from[u64(indices[row + i / WORDS]) * WORDS + i % WORDS];
        }
        SIMT_UNROLL
        for (u32 t = 0; t < TAKEN; ++t) {
            const u32 i = t * BLOCK + thread_rank();
            if (i < left) to[first + i] = taken[t];
        }
    }
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::rows
