// Copies the first indices of sorted rows, and the keys that they name.
//
// - Compile-time parameters: those of word.cuh.
// - Source: own.
#include "simt.cuh"
#include "word.cuh"

namespace simt::select {

constexpr u32 BLOCK = 256;

// take_sorted: writes the first k results of each row.
// - Parameters: `sorted` has the indices of all keys of a row in order, one row after the other. `results` is k times the
//   number of rows.
// - Launch: a thread per result, in blocks of BLOCK. No shared memory.
// - Writes: `top`.
SIMT_KERNEL(BLOCK, 1) take_sorted(Rows rows, const u32* sorted, u64 results, Top top) {
    await_turn();
    const u64 at = u64(block_rank()) * BLOCK + thread_rank();
    if (at >= results) return;
    const u64 first = at / rows.k * rows.length;
    top.put_index(at, sorted[first + at % rows.k], rows.keys + first);
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::select
