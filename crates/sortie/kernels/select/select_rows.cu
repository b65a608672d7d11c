// Selects the first k keys of each row of an array, with their indices in the row. A block reads its row once, tile by tile.
//
// - Compile-time parameters: those of row.cuh; SORTIE_LOADED, the keys that a thread loads of a tile; SORTIE_RESIDENT, the
//   blocks of a multiprocessor that have registers for this.
// - Preconditions: a row has at least k keys, and its first tile too. ROOM is at least 2 * k, and k + THREADS; if the first
//   tile is the only one, and the limit comes from a sample, k.
// - Method: a limit that at least k keys of the first tile do not exceed, and few more. Of later tiles, only keys before it
//   are taken. If they get too many, the first k of them and the tile give the next limit.
// - Source: own.
#include "row.cuh"
#include "simt.cuh"
#include "word.cuh"

namespace simt::select {

constexpr u32 LOADED = SORTIE_LOADED;
constexpr u32 TILE = THREADS * LOADED;
static_assert(LOADED <= 32, "a word has a bit for each");
// Whether the first tile has all keys of a row.
constexpr bool ONE_TILE = SORTIE_ONE_TILE != 0;
// The sample for a large k has one key in as many.
constexpr u32 SAMPLED_OF = 8;
constexpr u32 SAMPLED = (LOADED + SAMPLED_OF - 1) / SAMPLED_OF;

// The index in a tile of the thread's key `r`.
SIMT_FN u32 index_of(u32 r) { return r * THREADS + thread_rank(); }

// Returns the sum of a value over the threads of the block. Begins with a barrier.
SIMT_FN u32 sum_of_block(u32 value, RowShared& shared) {
    barrier();
    if (thread_rank() == 0) shared.before = 0;
    barrier();
    SIMT_UNROLL
    for (u32 flip = 1; flip < WARP; flip *= 2) value += shuffle_xor(value, flip);
    if (lane() == 0) atomic_add<Relaxed, Block>(&shared.before, value);
    barrier();
    return shared.before;
}

// Adds to the number of words that are held, and returns where those of the thread go. The whole warp reaches it.
SIMT_FN u32 reserve(u32 own, RowShared& shared) {
    if (!any(own != 0)) return 0;
    u32 end = own;
    SIMT_UNROLL
    for (u32 by = 1; by < WARP; by *= 2) {
        const u32 below = shuffle_up(end, by);
        if (lane() >= by) end += below;
    }
    u32 at = 0;
    if (lane() == WARP - 1) at = atomic_add<Relaxed, Block>(&shared.held, end);
    return shuffle(at, WARP - 1) + end - own;
}

// Returns a code that at least k of the threads' first codes do not exceed, and few more unless codes are equal.
// - `first`: the least code of the thread. `firsts`: memory for THREADS codes. `k` is at most THREADS.
// - Cost: the first warp compares the THREADS codes up to CODE_BITS times.
SIMT_FN Code limit_of_firsts(Code first, u32 k, Code* firsts, RowShared& shared) {
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

// Returns a code that `rank` keys of a sample of a tile, or a few more, do not exceed.
SIMT_FN Code limit_of_sample(const Key* tile, u32 length, u32 rank, const Codes& codes, RowShared& shared) {
    Code sample[SAMPLED];
    u32 at[SAMPLED];
    SIMT_UNROLL
    for (u32 s = 0; s < SAMPLED; ++s) {
        const u32 pick = (thread_rank() * 5 + thread_rank() / SAMPLED_OF + s * 3) % SAMPLED_OF;
        // That of a group which is not complete may be beyond the tile.
        at[s] = index_of(s * SAMPLED_OF + pick);
        sample[s] = codes.of(tile[lesser(at[s], length - 1)]);
    }
    u32 before = 0;
    bool settled = false;
    return limit_by_digits<Code>(rank, rank + rank / 16, CODE_BITS, before, settled, shared, [&](auto see) {
        SIMT_UNROLL
        for (u32 s = 0; s < SAMPLED; ++s) see(sample[s], at[s] < length);
    });
}

// Takes the keys of a tile that do not exceed a limit, or fewer if many are equal to it. Returns whether they are at least k
// and at most `room`.
// - `there`: a bit for each key of the thread that is in the tile. `taken`: the same of keys that are taken.
SIMT_FN bool take(const Bound& limit, const Key (&tile)[LOADED], u32 there, u32 k, u32 room, const Codes& codes, u32& taken,
                  RowShared& shared) {
    taken = limit.before<true>(tile, codes) & there;
    const u32 through = sum_of_block(popcount(taken), shared);
    if (through <= room) return through >= k;
    const u32 lower = limit.before<false>(tile, codes) & there;
    u32 count = sum_of_block(popcount(lower), shared);
    if (count < k) {
        // For each r, the keys r of all threads that are equal to the limit. Those with the lowest indices are taken.
        for (u32 r = thread_rank(); r < LOADED; r += THREADS) shared.counts[r] = 0;
        barrier();
        SIMT_UNROLL
        for (u32 r = 0; r < LOADED; ++r) {
            const u32 equal = ballot(((taken & ~lower) >> r & 1) != 0);
            if (lane() == 0 && equal != 0) atomic_add<Relaxed, Block>(&shared.counts[r], popcount(equal));
        }
        barrier();
        u32 rows = 0;
        SIMT_ROLL
        while (count < k) count += shared.counts[rows++];
        taken &= lower | u32((u64(1) << rows) - 1);
    } else {
        taken = lower;
    }
    barrier();
    return count <= room;
}

// Returns which keys of a tile are taken: at least k, and at most `room`. Sets `code` to the greatest code that is.
// - `from`: the tile, of `length` keys. `firsts`: memory for THREADS codes. `rank`: as below.
SIMT_FN u32 take_first(const Key (&tile)[LOADED], const Key* from, u32 length, u32 there, u32 k, u32 room, u32 rank,
                       Code* firsts, const Codes& codes, Code& code, RowShared& shared) {
    if (rank == 0) code = limit_of_firsts(there == 0 ? Code(~Code(0)) : Bound::first(tile, codes), k, firsts, shared);
    else code = rank > length ? Code(~Code(0)) : limit_of_sample(from, length, rank, codes, shared);
    u32 taken;
    if (take(Bound(code, codes), tile, there, k, room, codes, taken, shared)) return taken;
    barrier();
    const Limit limit = limit_of_words(k, room, length, shared, [&](auto see) {
        SIMT_UNROLL
        for (u32 r = 0; r < LOADED; ++r) see(Code(codes.of(tile[r])), index_of(r), index_of(r) < length);
    });
    code = limit.code;
    taken = 0;
    SIMT_UNROLL
    for (u32 r = 0; r < LOADED; ++r) taken |= u32(limit.takes(Code(codes.of(tile[r])), index_of(r))) << r;
    return taken & there;
}

// What a block holds of a row: words, and after them indices whose keys have not been loaded again.
struct Held {
    u32 words, all;

    // Writes the indices of keys that are taken, from `at` on.
    // - `start`: the index of the tile.
    SIMT_FN static void put(u32 taken, u32 at, u32 start, RowShared& shared) {
        SIMT_ROLL
        for (; taken != 0; taken &= taken - 1) shared.words[at++] = Word(start + index_of(trailing_zeros(taken)));
    }

    // Makes words of all indices. Ends with a barrier.
    SIMT_FN void complete(const Key* row, const Codes& codes, RowShared& shared) {
        for (u32 i = words + thread_rank(); i < all; i += THREADS) {
            u64 code;
            u32 index;
            split(shared.words[i], code, index);
            shared.words[i] = word_of(row[index], index, codes);
        }
        words = all;
        barrier();
    }
};

// select_row: selects from one row.
// - Parameters: `rank`: that of the limit in a sample of the first tile, so that few more than k words do not exceed it; 0 if
//   k is at most three quarters of THREADS; more than the tile has keys if all are taken.
// - Launch: a block of THREADS threads per row. Shared memory: RowShared.
// - Writes: `top`, k results for each row.
// - Cost: one read of the keys.
SIMT_KERNEL(THREADS, SORTIE_RESIDENT) select_row(Rows rows, Top top, Codes codes, u32 rank) {
    await_turn();
    RowShared& shared = *reinterpret_cast<RowShared*>(shared_memory());
    const u32 length = u32(rows.length), k = u32(rows.k);
    const Key* const from = rows.keys + u64(block_rank()) * length;
    // Of keys beyond the row, which are not taken.
    const Key last = code::decode<KIND>(Key(~Key(0)), codes.transform);
    Key next[LOADED];
    const auto load = [&](u32 start) {
        if (length - start >= TILE) {
            SIMT_UNROLL
            for (u32 r = 0; r < LOADED; ++r) next[r] = from[start + index_of(r)];
        } else {
            SIMT_UNROLL
            for (u32 r = 0; r < LOADED; ++r) next[r] = index_of(r) < length - start ? from[start + index_of(r)] : last;
        }
    };
    load(0);
    Held held = {0, 0};
    // After the first tile, at least k words are held that no later key of this code or a greater one precedes.
    Bound bound(0, codes);
    SIMT_ROLL
    for (u32 start = 0; start < length; start += TILE) {
        const u32 in_tile = lesser(length - start, TILE);
        const u32 own = in_tile > thread_rank() ? (in_tile - thread_rank() + THREADS - 1) / THREADS : 0;
        const u32 there = u32((u64(1) << own) - 1);
        Key tile[LOADED];
        SIMT_UNROLL
        for (u32 r = 0; r < LOADED; ++r) tile[r] = next[r];
        if (!ONE_TILE && start > 0) {
            // While this tile is looked at.
            if (start + in_tile < length) load(start + TILE);
            const u32 passing = bound.before<false>(tile, codes) & there, at = reserve(popcount(passing), shared);
            barrier();
            const u32 would_hold = shared.held;
            if (would_hold <= ROOM) {
                Held::put(passing, at, start, shared);
                held.all = would_hold;
                barrier();
                continue;
            }
            held.complete(from, codes, shared);
            if (held.all > k) {
                sort(held.all, shared);
                held = {k, k};
                bound = Bound(code_of(shared.words[k - 1]), codes);
            }
        }
        Code code;
        u32 taken = take_first(tile, from + start, in_tile, there, lesser(k, in_tile), ROOM - held.all, start == 0 ? rank : 0,
                               reinterpret_cast<Code*>(&shared.words[held.all]), codes, code, shared);
        if (start > 0) taken &= bound.before<false>(tile, codes);
        barrier();
        if (thread_rank() == 0) shared.held = held.all;
        barrier();
        Held::put(taken, reserve(popcount(taken), shared), start, shared);
        barrier();
        held.all = shared.held;
        if (start == 0 || code < bound.code) bound = Bound(code, codes);
        // Anew, so that it takes no registers meanwhile.
        if (ONE_TILE) break;
        if (start + in_tile < length) load(start + TILE);
        barrier();
    }
    held.complete(from, codes, shared);
    write_in_order(block_rank(), held.all, rows, top, shared);
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::select
