// Moves payloads of a size that no sort moves with its keys: the sort orders their indices, and the payloads follow
// here as rows.
//
// - Compile-time parameters: SORTIE_PAYLOAD_BYTES is the size of a row (payload.cuh). SORTIE_INDEX_BYTES is 4 or 8, the
//   width of an index.
// - Launch of each kernel: any number of blocks of BLOCK threads, no shared memory.
// - Source: own.
#include "code.cuh"
#include "payload.cuh"
#include "simt.cuh"

namespace simt::rows {

using Index = code::OfBytes<SORTIE_INDEX_BYTES>::Type;
using payload::Word;

constexpr u32 BLOCK = 256;
constexpr u32 WORDS = payload::WORDS;
// Words that a thread loads before it stores the first. A thread past the end loads the last word again, because
// loads under a condition would not overlap.
constexpr u32 TAKEN = 8;
constexpr u32 STEP = BLOCK * TAKEN;

// number_rows: writes i to indices[i].
// - Parameters: `indices` has `count` entries.
// - Writes: `indices`.
// - Cost: one write of the indices.
SIMT_KERNEL(BLOCK, 4) number_rows(Index* indices, u64 count) {
    await_turn();
    for (u64 i = u64(block_rank()) * BLOCK + thread_rank(); i < count; i += u64(grid_blocks()) * BLOCK) indices[i] = Index(i);
}

// widen_indices: copies indices to integers of 64 bits.
// - Parameters: `from` and `to` have `count` entries each, and do not overlap.
// - Writes: `to`.
// - Cost: one read of `from`, one write of `to`.
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

// gather_rows: copies row indices[i] of `from` to row i of `to`.
// - Parameters: `indices` has `count` entries. `to` has `count` rows. All indices are rows of `from`, which does not
//   overlap `to`.
// - Writes: `to`.
// - Cost: one read of the indices, one read and one write of the rows. Neighbouring threads copy neighbouring words,
//   so each row is read with coalesced loads.
SIMT_KERNEL(BLOCK, 4) gather_rows(const Word* from, const Index* indices, u64 count, Word* to) {
    await_turn();
    const u64 all = count * WORDS;
    for (u64 first = u64(block_rank()) * STEP; first < all; first += u64(grid_blocks()) * STEP) {
        // Only this division is of 64 bits, and it is the same for the whole block.
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
