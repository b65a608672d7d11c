// Selects the first k keys of each row of an array, with their indices in the row. A block holds a row, and reads it once.
//
// - Compile-time parameters: those of row.cuh; SORTIE_LOADED, the keys that a thread holds.
// - Preconditions: a row has at least k and at most THREADS * LOADED keys. `k` is at most ROOM.
// - Method: the k-th of the first keys of all threads is a limit that at least k keys do not exceed, and in most rows
//   few more. If too many do not, because many are equal to it, those with the lowest indices are taken. Otherwise, or if k
//   is large, digits are counted.
// - Source: own.
#include "row.cuh"
#include "simt.cuh"
#include "word.cuh"

namespace simt::select {

constexpr u32 LOADED = SORTIE_LOADED;
// Blocks of a multiprocessor that have registers for their keys.
constexpr u32 RESIDENT = 512 / THREADS;
// For greater k, the threads' first keys are too few for a limit.
constexpr u32 MOST_BY_FIRSTS = THREADS / 4 * 3;
static_assert(sizeof(Code) * THREADS <= sizeof(Word) * ROOM, "the first codes are kept where words will be");

SIMT_FN u32 index_of(u32 r) { return r * THREADS + thread_rank(); }

// Returns a code that at least k of the threads' first codes do not exceed, and few more unless codes are equal.
// - `first`: the least code of the thread.
// - Cost: the first warp compares the THREADS codes up to CODE_BITS times.
SIMT_FN Code limit_of_firsts(Code first, u32 k, RowShared& shared) {
    Code* const firsts = reinterpret_cast<Code*>(shared.words);
    firsts[thread_rank()] = first;
    barrier();
    if (warp_rank() == 0) {
        constexpr u32 OWN = THREADS / WARP;
        Code own[OWN];
        SIMT_UNROLL
        for (u32 o = 0; o < OWN; ++o) own[o] = firsts[o * WARP + lane()];
        Code last = 0;
        SIMT_ROLL
        for (u32 bit = CODE_BITS; bit-- > 0;) {
            const Code bound = last | Code(1) << bit;
            u32 below = 0;
            SIMT_UNROLL
            for (u32 o = 0; o < OWN; ++o) below += popcount(ballot(own[o] < bound));
            if (below < k) last = bound;
            if (below >= k && below <= k + k / 4) {
                last = bound - 1;
                break;
            }
        }
        if (lane() == 0) shared.limit = last;
    }
    barrier();
    return Code(shared.limit);
}

SIMT_FN u32 sum_of_warp(u32 value) {
    SIMT_UNROLL
    for (u32 flip = 1; flip < WARP; flip *= 2) value += shuffle_xor(value, flip);
    return value;
}

// Returns the number of codes of the block that are at most this one.
SIMT_FN u32 count_through(Code code, const Code (&row)[LOADED], RowShared& shared) {
    if (thread_rank() == 0) shared.held = 0;
    barrier();
    u32 through = 0;
    SIMT_UNROLL
    for (u32 r = 0; r < LOADED; ++r) through += row[r] <= code;
    through = sum_of_warp(through);
    if (lane() == 0) atomic_add<Relaxed, Block>(&shared.held, through);
    barrier();
    through = shared.held;
    barrier();
    return through;
}

// Sets a limit that takes at least k words. Returns whether it takes at most ROOM.
// - `first`: the least code of the thread. `row`: its codes.
SIMT_FN bool limit_by_firsts(Code first, const Code (&row)[LOADED], u32 k, u32 length, Limit& limit,
                             RowShared& shared) {
    const Code code = limit_of_firsts(first, k, shared);
    limit = {code, length - 1};
    if (count_through(code, row, shared) <= ROOM) return true;

    // For each r, the words of this code that the threads hold in row[r]; and the words of lower codes.
    u32* const equal = shared.counts;
    u32* const lower = &shared.counts[LOADED];
    for (u32 i = thread_rank(); i <= LOADED; i += THREADS) shared.counts[i] = 0;
    barrier();
    u32 own_lower = 0;
    SIMT_UNROLL
    for (u32 r = 0; r < LOADED; ++r) {
        own_lower += row[r] < code;
        const u32 equals = ballot(row[r] == code && index_of(r) < length);
        if (lane() == 0 && equals != 0) atomic_add<Relaxed, Block>(&equal[r], popcount(equals));
    }
    own_lower = sum_of_warp(own_lower);
    if (lane() == 0) atomic_add<Relaxed, Block>(lower, own_lower);
    barrier();
    u32 taken = *lower;
    limit = {Code(code - 1), length - 1};
    if (taken < k) {
        // Those of this code with the lowest indices.
        u32 rows = 0;
        SIMT_ROLL
        while (taken < k) taken += equal[rows++];
        limit = {code, rows * THREADS - 1};
    }
    barrier();
    return taken <= ROOM;
}

// select_row: selects from one row.
// - Launch: a block of THREADS threads per row. Shared memory: RowShared.
// - Writes: `top`, k results for each row.
// - Cost: one read of the keys.
SIMT_KERNEL(THREADS, RESIDENT) select_row(Rows rows, Top top, Codes codes) {
    await_turn();
    RowShared& shared = *reinterpret_cast<RowShared*>(shared_memory());
    const u32 length = u32(rows.length), k = u32(rows.k);
    const Key* const from = rows.keys + u64(block_rank()) * length;
    Key keys[LOADED];
    SIMT_UNROLL
    for (u32 r = 0; r < LOADED; ++r) keys[r] = from[lesser(index_of(r), length - 1)];
    Code row[LOADED];
    Code first = Code(~Code(0));
    SIMT_UNROLL
    for (u32 r = 0; r < LOADED; ++r) {
        // Keys beyond the row get the last code.
        row[r] = index_of(r) < length ? Code(codes.of(keys[r])) : Code(~Code(0));
        first = lesser(first, row[r]);
    }

    // Calls see(code, index, is_there) for each word of the thread.
    const auto visit = [&](auto see) {
        SIMT_UNROLL
        for (u32 r = 0; r < LOADED; ++r) see(row[r], index_of(r), index_of(r) < length);
    };
    Limit limit;
    if (k > MOST_BY_FIRSTS || !limit_by_firsts(first, row, k, length, limit, shared))
        limit = limit_of_words(k, ROOM, length, shared, visit);
    write_in_order(block_rank(), collect(limit, shared, visit), rows, top, shared);
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::select
