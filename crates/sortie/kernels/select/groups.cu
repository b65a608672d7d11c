// Finds the groups of equal keys among sorted ones, and writes results for each.
//
// - Compile-time parameters: SORTIE_KEY_BYTES is 1, 2, 4 or 8. SORTIE_BY_VALUE is 1 if keys are floats of which -0.0 equals 0.0
//   and all NaNs are equal, else 0: keys are equal if their bits are.
// - A head is a key that differs from the one before it: the first key of a group.
// - Keys are read in tiles of TILE keys. The table has how many heads each has, and where they begin.
// - Order: count_heads, sum_heads. Then the caller reads how many groups there are. Then write_groups.
// - Source: own. Tiles are counted first and then written, as in Blelloch, "Prefix sums and their applications" (1990).
#include "code.cuh"
#include "scan.cuh"
#include "simt.cuh"

namespace simt::groups {

using Key = code::OfBytes<SORTIE_KEY_BYTES>::Type;
constexpr bool BY_VALUE = SORTIE_BY_VALUE != 0;
// Holds a key when lanes exchange it.
using Register = code::OfBytes<(SORTIE_KEY_BYTES < 4 ? 4 : SORTIE_KEY_BYTES)>::Type;

constexpr u32 THREADS = 256;
constexpr u32 WARPS = THREADS / WARP;
// Threads of the block that sums.
constexpr u32 SUMMING = 1024;
// A warp has rows of keys, a lane one key of each.
constexpr u32 ROWS = 16;
constexpr u32 PART = ROWS * WARP;
constexpr u32 TILE = WARPS * PART;
static_assert(TILE == SORTIE_TILE, "as the host has it");
// Blocks of write_groups on a multiprocessor, so that a thread has registers for its keys and their heads.
constexpr u32 WRITING = sizeof(Key) == 8 ? 2 : 3;

struct Sorted {
    const Key* keys;
    u64 count;
    // The heads of each tile; once they are summed, those of all tiles before it.
    u64* heads;
    // The position of each tile's first head, if it has one.
    u64* first;
    // The number of groups.
    u64* groups;
    // The bits of positive infinity, and whether each NaN is a group of its own. Of no meaning unless BY_VALUE.
    u64 infinity;
    u64 nans_differ;

    SIMT_FN u64 tiles() const { return (count + TILE - 1) / TILE; }
    // Once heads are summed, those of all tiles before this one, which may be the one after the last.
    SIMT_FN u64 heads_before(u64 tile) const { return tile < tiles() ? heads[tile] : *groups; }
    // The position of the first head in this tile or after it, or the number of keys.
    SIMT_FN u64 next_head(u64 tile) const {
        const u64 before = heads_before(tile);
        u64 end = tiles();
        // Most often, the next tile has one.
        if (tile < end && heads_before(tile + 1) > before) end = tile;
        while (tile < end) {
            const u64 middle = tile + (end - tile) / 2;
            if (heads_before(middle + 1) > before) end = middle;
            else tile = middle + 1;
        }
        return tile < tiles() ? first[tile] : count;
    }
};

// Numbers of `bytes` bytes each, 4 or 8, or null.
struct Numbers {
    u8* numbers;
    u64 bytes;

    SIMT_FN bool are_wanted() const { return numbers != nullptr; }
    SIMT_FN u64 get(u64 at) const {
        return bytes == 4 ? reinterpret_cast<const u32*>(numbers)[at] : reinterpret_cast<const u64*>(numbers)[at];
    }
    SIMT_FN void put(u64 at, u64 number) const {
        if (bytes == 4) reinterpret_cast<u32*>(numbers)[at] = u32(number);
        else reinterpret_cast<u64*>(numbers)[at] = number;
    }
};

// The results for each group.
struct Groups {
    // The first key of each group, or null.
    Key* keys;
    // How many keys each group has, or null.
    u8* counts;
    // Where the keys were before they were sorted. Null unless one of the next two is wanted.
    u8* indices;
    // The index of the first key of each group, or null.
    u8* first;
    // For each index, the group of the key that was there, or null.
    u8* inverse;
    // Bytes of each of these numbers.
    u64 number_bytes;

    // Numbers from the one at `at` on.
    SIMT_FN Numbers numbers(u8* all, u64 at) const {
        return {all == nullptr ? nullptr : all + at * number_bytes, number_bytes};
    }
};

// Whether a key differs from the one before it. The sign is no part of a magnitude.
SIMT_FN bool is_head(Key key, Key before, const Sorted& job) {
    if constexpr (!BY_VALUE) return key != before;
    const Key magnitude = Key(key << 1), other = Key(before << 1), infinity = Key(job.infinity << 1);
    const bool is_nan = magnitude > infinity;
    if (is_nan && job.nans_differ) return true;
    return key != before && (magnitude | other) != 0 && !(is_nan && other > infinity);
}

// Reads the part of a warp: row[r] is key `from` + r * WARP + lane(), or the last key if there is no such one. Returns the key
// before the part, or its first key if it is the first part.
SIMT_FN Key load(const Sorted& job, u64 from, Key (&row)[ROWS]) {
    if (from >= job.count) return 0;
    const u32 left = u32(lesser(job.count - from, u64(PART)));
    const Key* part = job.keys + from;
    if (left == PART) {
        SIMT_UNROLL
        for (u32 r = 0; r < ROWS; ++r) row[r] = part[r * WARP + lane()];
    } else {
        SIMT_UNROLL
        for (u32 r = 0; r < ROWS; ++r) row[r] = part[lesser(r * WARP + lane(), left - 1)];
    }
    return part[from == 0 ? 0 : -1];
}

// Calls visit(r, begins_group) for each row that was read. `before` is what load() returned. The whole warp reaches it.
template <class Visit> SIMT_FN void for_rows(const Sorted& job, u64 from, const Key (&row)[ROWS], Key before, Visit visit) {
    if (from >= job.count) return;
    const u32 left = u32(lesser(job.count - from, u64(PART)));
    SIMT_UNROLL
    for (u32 r = 0; r < ROWS; ++r) {
        const Key rotated = Key(shuffle(Register(row[r]), (lane() + WARP - 1) % WARP));
        // Lane 0 has the last key of the row before.
        if (lane() != 0) before = rotated;
        const bool is_first = r == 0 && from + lane() == 0;
        // What stands for a key that is not there may be a NaN.
        visit(r, is_first || (is_head(row[r], before, job) && r * WARP + lane() < left));
        before = rotated;
    }
}

// What the warps of a block know of their parts.
struct Parts {
    u32 heads[WARPS];
    // The first head, counted from the beginning of the tile, or TILE if there is none.
    u32 first[WARPS];
};
static_assert(sizeof(Parts) == SORTIE_PARTS_MEMORY, "as the host has it");

// Shares how many heads the part of this warp has, and where in the part the first is, or PART, with the other warps. Returns what all
// have shared. The whole block reaches it.
SIMT_FN const Parts& share(u32 heads, u32 first) {
    Parts& parts = *reinterpret_cast<Parts*>(shared_memory());
    if (lane() == 0) {
        parts.heads[warp_rank()] = heads;
        parts.first[warp_rank()] = first == PART ? TILE : warp_rank() * PART + first;
    }
    barrier();
    return parts;
}

// count_heads: counts the heads of each tile, and finds the first.
// - Launch: a block of THREADS threads per tile. Shared memory for Parts.
// - Writes: `heads`, `first`.
// - Cost: reads all keys.
SIMT_KERNEL(THREADS, 4) count_heads(Sorted job) {
    await_turn();
    const u64 start = u64(block_rank()) * TILE, from = start + warp_rank() * PART;
    // The heads of this lane, and the row of the first.
    u32 own = 0, row_of_first = ROWS;
    Key row[ROWS];
    const Key before = load(job, from, row);
    for_rows(job, from, row, before, [&](u32 r, bool begins_group) {
        if (begins_group && own == 0) row_of_first = r;
        own += begins_group;
    });
    u32 first = lesser(row_of_first * WARP + lane(), PART);
    SIMT_UNROLL
    for (u32 by = WARP / 2; by > 0; by /= 2) {
        own += shuffle_xor(own, by);
        first = lesser(first, shuffle_xor(first, by));
    }
    const Parts& parts = share(own, first);
    if (thread_rank() != 0) return;
    u32 heads = 0;
    first = TILE;
    SIMT_UNROLL
    for (u32 w = 0; w < WARPS; ++w) {
        heads += parts.heads[w];
        first = lesser(first, parts.first[w]);
    }
    job.heads[block_rank()] = heads;
    job.first[block_rank()] = start + first;
}

// sum_heads: counts the heads before each tile, and all.
// - Launch: one block of SUMMING threads. Shared memory for Sums.
// - Writes: `heads`, `groups`.
// - Cost: reads and writes `heads`.
struct Sums {
    // Of one round and of the next.
    u64 warps[2][SUMMING / WARP];
};
static_assert(sizeof(Sums) == SORTIE_SUMS_MEMORY, "as the host has it");

SIMT_KERNEL(SUMMING, 1) sum_heads(Sorted job) {
    await_turn();
    Sums& sums = *reinterpret_cast<Sums*>(shared_memory());
    const u64 tiles = job.tiles();
    u64 before = 0, own = thread_rank() < tiles ? job.heads[thread_rank()] : 0;
    for (u64 first = 0; first < tiles; first += SUMMING) {
        const u64 tile = first + thread_rank(), later = tile + SUMMING;
        // Loaded before it is needed.
        const u64 next = later < tiles ? job.heads[later] : 0;
        u64 total;
        const u64 sum = before + scan::exclusive<SUMMING>(own, sums.warps[first / SUMMING % 2], total);
        if (tile < tiles) job.heads[tile] = sum;
        before += total;
        own = next;
    }
    if (thread_rank() == 0) *job.groups = before;
}

// write_groups: writes the results that are wanted.
// - Launch: a block of THREADS threads per tile. Shared memory for Parts.
// - Requires: results do not overlap the keys, the table, or each other, and have room for all groups; `inverse` for all keys.
// - Writes: the results in `to` that are not null.
// - Cost: reads the keys of tiles with heads; if there is `inverse`, all keys and indices.
SIMT_KERNEL(THREADS, WRITING) write_groups(Sorted job, Groups to) {
    await_turn();
    const u64 tile = block_rank(), from = tile * TILE + warp_rank() * PART;
    const bool has_inverse = to.inverse != nullptr;
    const u64 before = job.heads[tile];
    if (job.heads_before(tile + 1) == before && !has_inverse) return;

    Key row[ROWS];
    const Key key_before = load(job, from, row);
    // The heads of each row, a bit for each lane.
    u32 heads[ROWS];
    u32 sum = 0, first = PART;
    SIMT_UNROLL
    for (u32 r = 0; r < ROWS; ++r) heads[r] = 0;
    for_rows(job, from, row, key_before, [&](u32 r, bool begins_group) { heads[r] = ballot(begins_group); });
    SIMT_UNROLL
    for (u32 r = ROWS; r-- > 0;) {
        sum += popcount(heads[r]);
        if (heads[r] != 0) first = r * WARP + trailing_zeros(heads[r]);
    }
    const Parts& parts = share(sum, first);
    if (from >= job.count) return;
    // The first group that begins in this part, and where the first one after the part begins.
    u64 base = before;
    u32 next = TILE;
    SIMT_UNROLL
    for (u32 w = 0; w < WARPS; ++w) {
        if (w < warp_rank()) base += parts.heads[w];
        if (w > warp_rank()) next = lesser(next, parts.first[w]);
    }
    // How far that is from the start of a row.
    u64 gap = (next < TILE ? tile * TILE + next : job.next_head(tile + 1)) - from - (ROWS - 1) * WARP;
    const Numbers counts = to.numbers(to.counts, base), firsts = to.numbers(to.first, base);
    const Numbers indices = to.numbers(to.indices, from), inverse = to.numbers(to.inverse, 0);
    Key* const keys = to.keys == nullptr ? nullptr : to.keys + base;
    const u32 left = u32(lesser(job.count - from, u64(PART)));
    // From the last row to the first, as a group ends where the next begins.
    u32 end = sum;
    SIMT_UNROLL
    for (u32 r = ROWS; r-- > 0;) {
        end -= popcount(heads[r]);
        if (heads[r] != 0 || has_inverse) {
            const u32 at = r * WARP + lane(), later = heads[r] >> lane() >> 1;
            // The key's group, counted from `base`. It may have begun before this part.
            const u32 group = end + popcount(heads[r]) - popcount(later) - 1;
            if (heads[r] >> lane() & 1) {
                if (keys != nullptr) keys[group] = row[r];
                if (counts.are_wanted()) counts.put(group, later == 0 ? gap - lane() : trailing_zeros(later) + 1);
                if (firsts.are_wanted()) firsts.put(group, indices.get(at));
            }
            if (has_inverse && at < left) inverse.put(indices.get(at), base + i64(i32(group)));
        }
        gap = WARP + (heads[r] == 0 ? gap : trailing_zeros(heads[r]));
    }
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::groups
