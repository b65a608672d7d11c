// Puts the first k keys of long rows in order, of the candidates that the kernels of select.cu have collected.
//
// - Compile-time parameters: those of row.cuh.
// - Source: own.
#include "row.cuh"
#include "simt.cuh"
#include "word.cuh"

namespace simt::select {

// Keys that a thread loads before it looks at the first.
constexpr u32 LOADED = 8;

// The candidates of each row.
struct Candidates {
    // For each row, the number of words before its bound, and a number of no meaning here.
    const u64* found;
    // For each row, room for `capacity` words, at least k and at most ROOM.
    const Word* words;
    u64 capacity;
};

// finish_row: writes the first k results of a row.
// - Preconditions: the candidates of all rows are collected.
// - Launch: a block of THREADS threads per row. Shared memory: RowShared.
// - Writes: `top`.
// - Cost: a read of the candidates. If the row's bound was wrong, up to a read of the row per digit of a word, and one more.
SIMT_KERNEL(THREADS, 1) finish_row(Rows rows, Top top, Codes codes, Candidates candidates) {
    await_turn();
    RowShared& shared = *reinterpret_cast<RowShared*>(shared_memory());
    const u64 row = block_rank(), found = candidates.found[2 * row];
    const u32 k = u32(rows.k);
    if (k <= found && found <= candidates.capacity) {
        const Word* const words = candidates.words + row * candidates.capacity;
        for (u32 i = thread_rank(); i < found; i += THREADS) shared.words[i] = words[i];
        barrier();
        write_in_order(row, u32(found), rows, top, shared);
        return;
    }

    const u32 length = u32(rows.length);
    const Key* const from = rows.keys + row * rows.length;
    const auto visit = [&](auto see) {
        for (u64 first = 0; first < length; first += LOADED * THREADS) {
            Key keys[LOADED];
            SIMT_UNROLL
            for (u32 l = 0; l < LOADED; ++l)
                keys[l] = from[lesser(first + l * THREADS + thread_rank(), rows.length - 1)];
            SIMT_UNROLL
            for (u32 l = 0; l < LOADED; ++l) {
                const u64 index = first + l * THREADS + thread_rank();
                see(Code(codes.of(keys[l])), u32(index), index < length);
            }
        }
    };
    const Limit limit = limit_of_words(k, ROOM, length, shared, visit);
    write_in_order(row, collect(limit, shared, visit), rows, top, shared);
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::select
