// Finds where queries belong in sorted keys.
//
// - Compile-time parameters: those of word.cuh, and the constants below that the host defines.
// - The position of a query is the number of keys before it; if it belongs after equal keys, of those not after it.
// - An index has levels. The entries of the lowest are the last keys of groups of `stride` keys, those of each other
//   level the last entries of nodes of NODE entries of the level below. All keys of a group are before a query if its
//   last one is. So the number of entries before a query is the node or group below that it belongs to. The entries of
//   the top level are in shared memory.
// - A node is a sector of 32 bytes, a group of GROUP keys two of them, aligned. Neighbouring lanes load its parts,
//   because a multiprocessor looks up few cache lines per cycle, whatever is taken of them. Keys are grouped as if
//   `lead` more were before the first.
// - Queries in order share what they read, whatever way they are searched. They need no index, which takes time to build.
// - Order: bound_stretches, build_index and search_sorted. If there are many keys for each query, without the first; for
//   few queries, the last alone.
// - Source: own. The index is a B+-tree without pointers, as in Rao and Ross, "Cache conscious indexing for
//   decision-support in main memory" (1999).
#include "mixed.cuh"
#include "simt.cuh"
#include "word.cuh"

namespace simt::search_sorted {

using select::Code;
using select::Codes;
using select::Key;

constexpr u32 THREADS = SORTIE_THREADS;
constexpr u32 WARPS = THREADS / WARP;
// Blocks that a multiprocessor runs at the same time.
constexpr u32 RESIDENT = SORTIE_RESIDENT;

// Entries of a node.
constexpr u32 NODE = 32 / sizeof(Code);
// Keys of a group.
constexpr u32 GROUP = 64 / sizeof(Code);
static_assert(NODE == SORTIE_NODE && GROUP == SORTIE_GROUP, "as the host has it");
// Keys or entries that a lane loads at once.
constexpr u32 PART = sizeof(Quad) / sizeof(Code);

// A warp takes stretches of this many queries, ROW for each lane.
constexpr u32 STRETCH = SORTIE_STRETCH;
constexpr u32 ROW = STRETCH / WARP;
// Keys that a warp holds in shared memory.
constexpr u32 WINDOW = SORTIE_WINDOW;
// Queries whose positions differ by more are searched as if they were in any order.
constexpr u64 FAR = 1 << 16;

// An entry for which there is no key. It is before no query.
constexpr Code PAST = ~Code(0);

struct Search {
    // Sorted.
    const Key* keys;
    u64 count;
    const Key* queries;
    u64 queried;
    // `position_bytes` bytes, 4 or 8, for each query.
    u8* positions;
    u64 position_bytes;
    // Whether queries belong after equal keys.
    u64 right;
    // The top level, and before it the others, each before the one above it. Null if the entries of the top level are the
    // keys, or if it has none.
    Code* index;
    // Entries of the top level. The last is PAST. The other levels consist of whole nodes.
    u32 top;
    u32 levels;
    // Keys of a group of the lowest level: 1, or a power of two, at least GROUP.
    u64 stride;
    u64 lead;
    // A power of two, at least GROUP and lead + count.
    u64 whole;
    // The position of the first query of each stretch, and whether queries are known to be out of order, 0 before. Both
    // null if stretches are not bounded.
    u64* bounds;
    u32* unordered;

    SIMT_FN u64 stretches() const { return (queried + STRETCH - 1) / STRETCH; }
    SIMT_FN bool has_ordered_queries() const { return unordered != nullptr && *unordered == 0; }
    // The same search without the index.
    SIMT_FN Search plain() const {
        Search plain = *this;
        plain.index = nullptr;
        plain.top = plain.levels = 1;
        plain.stride = whole;
        return plain;
    }
};

SIMT_FN Code code_of_query(const Search& job, const Codes& codes, u64 query) {
    return codes.of(job.queries[lesser(query, job.queried - 1)]);
}

// build_index: writes the levels, unless the queries are in order.
// - Launch: any number of blocks of THREADS threads, no shared memory.
// - Writes: `index`.
// - Cost: a load of a single key per entry of the lowest level.
SIMT_KERNEL(THREADS, 1) build_index(Search job, Codes codes) {
    await_turn();
    if (job.has_ordered_queries()) return;
    u64 width = 1;
    for (u32 l = 1; l < job.levels; ++l) width *= NODE;
    const u64 end = job.lead + job.count, entries = job.top * width;
    for (u64 i = u64(block_rank()) * THREADS + thread_rank(); i < entries; i += u64(grid_blocks()) * THREADS) {
        const u64 last = (i + 1) * job.stride - 1;
        const Code entry = last < end ? Code(codes.of(job.keys[last - job.lead])) : PAST;
        Code* level = job.index;
        u64 in_level = job.top;
        for (u64 each = width; each > 0; each /= NODE) {
            if ((i + 1) % each == 0) level[i / each] = entry;
            in_level *= NODE;
            level -= in_level;
        }
    }
}

// A query is after the keys whose codes are less than this, and if `is_past_all`, after all.
struct Limit {
    Code code;
    bool is_past_all;
};

SIMT_FN Limit limit_of(const Search& job, const Codes& codes, u64 query) {
    const Code code = code_of_query(job, codes, query);
    if (job.right == 0) return {code, false};
    return {Code(code + (code != PAST)), code == PAST};
}

// Returns how many elements are before a limit, of those that a Quad consists of.
template <class T, class CodeOf> SIMT_FN u32 before(Quad part, Code limit, CodeOf code) {
    if constexpr (sizeof(T) == 4)
        return (code(part.x) < limit) + (code(part.y) < limit) + (code(part.z) < limit) + (code(part.w) < limit);
    else return (code(u64(part.y) << 32 | part.x) < limit) + (code(u64(part.w) << 32 | part.z) < limit);
}

// Returns for each lane how many of the SIZE elements from `begin` on are before its limit.
// - `in_part(first, limit)` returns how many are of the PART elements from `first` on.
// - Reached by the whole warp.
template <u32 SIZE, class InPart> SIMT_FN u32 in_parts(u64 begin, Code limit, InPart in_part) {
    // Lanes that share the elements of one lane, and lanes whose elements are looked at in one round.
    constexpr u32 SHARING = SIZE / PART, AT_ONCE = WARP / SHARING;
    static_assert(SHARING <= sizeof(u32) && SIZE <= 0xFF, "a round's count is a byte of a word");
    u32 counts = 0;
    SIMT_UNROLL
    for (u32 round = 0; round < SHARING; ++round) {
        const u32 of = round * AT_ONCE + lane() / SHARING;
        const u64 first = shuffle(begin, of) + lane() % SHARING * PART;
        counts |= in_part(first, shuffle(limit, of)) << 8 * round;
    }
    SIMT_UNROLL
    for (u32 flip = 1; flip < SHARING; flip *= 2) counts += shuffle_xor(counts, flip);
    return shuffle(counts, lane() % AT_ONCE * SHARING) >> 8 * (lane() / AT_ONCE) & 0xFF;
}

// The same for PART keys, of which some may not exist.
SIMT_FN u32 in_part_of_keys(const Search& job, const Codes& codes, u64 first, Code limit) {
    u32 count = 0;
    const u64 end = lesser(first + PART, job.lead + job.count);
    for (u64 i = greater(first, job.lead); i < end; ++i) count += Code(codes.of(job.keys[i - job.lead])) < limit;
    return count;
}

// Loads the entries of the top level. A barrier must follow.
SIMT_FN void load_top(const Search& job, const Codes& codes, Code* top) {
    for (u32 i = thread_rank(); i < job.top; i += THREADS) {
        if (job.index != nullptr) top[i] = job.index[i];
        else top[i] = i + 1 < job.top ? Code(codes.of(job.keys[i])) : PAST;
    }
}

// Sets `before` to how many of `count` sorted codes are before each of COUNT limits. A binary search in which all take the
// same number of steps.
template <u32 COUNT, class CodeAt> SIMT_FN void search(u32 count, const Limit* limits, CodeAt code_at, u32* before) {
    SIMT_UNROLL
    for (u32 c = 0; c < COUNT; ++c) before[c] = 0;
    for (u32 left = count + 1; left > 1;) {
        const u32 half = left / 2;
        left -= half;
        SIMT_UNROLL
        for (u32 c = 0; c < COUNT; ++c)
            if (code_at(before[c] + half - 1) < limits[c].code) before[c] += half;
    }
}

// Returns the position of each lane's query. Reached by the whole warp.
SIMT_FN u64 find(const Search& job, const Codes& codes, const Code* top, const Limit& of) {
    const Code limit = of.code;
    u32 in_top;
    search<1>(job.top - 1, &of, [&](u32 i) { return top[i]; }, &in_top);
    u64 node = in_top;
    const Code* level = job.index;
    u64 in_level = job.top;
    for (u32 l = 1; l < job.levels; ++l) {
        in_level *= NODE;
        level -= in_level;
        node = node * NODE + in_parts<NODE>(node * NODE, limit, [&](u64 first, Code limit) {
            return before<Code>(*reinterpret_cast<const Quad*>(level + first), limit, [](Code code) { return code; });
        });
    }
    if (job.stride == 1) return node;

    u64 begin = node * job.stride;
    const u64 end = job.lead + job.count;
    for (u64 half = job.stride / 2; half >= GROUP; half /= 2) {
        const u64 last = begin + half - 1;
        if (last < end && Code(codes.of(job.keys[last - job.lead])) < limit) begin += half;
    }
    if constexpr (sizeof(Key) >= 4) {
        if (all(begin >= job.lead && begin + GROUP <= end)) {
            const auto code = [&](Key key) { return Code(codes.of(key)); };
            return begin - job.lead + in_parts<GROUP>(begin - job.lead, limit, [&](u64 first, Code limit) {
                return before<Key>(*reinterpret_cast<const Quad*>(job.keys + first), limit, code);
            });
        }
    }
    return greater(begin, job.lead) - job.lead + in_parts<GROUP>(begin, limit, [&](u64 first, Code limit) {
        return in_part_of_keys(job, codes, first, limit);
    });
}

// bound_stretches: finds the positions of the first queries of all stretches, and whether queries are out of order. For
// that, it compares the first query of each stretch with one of the next.
// - Launch: any number of blocks of THREADS threads, no shared memory.
// - Writes: `bounds` and `unordered`.
// - Cost: a binary search of the keys per stretch.
SIMT_KERNEL(THREADS, RESIDENT) bound_stretches(Search asked, Codes codes) {
    await_turn();
    const Search job = asked.plain();
    const u64 stretches = job.stretches();
    for (u64 first = u64(block_rank()) * THREADS; first < stretches; first += u64(grid_blocks()) * THREADS) {
        const u64 stretch = first + thread_rank();
        const u64 later = (stretch + 1) * STRETCH + mixed(stretch) % STRETCH;
        if (code_of_query(job, codes, later) < code_of_query(job, codes, stretch * STRETCH))
            atomic_store<Relaxed>(job.unordered, 1);
        const Limit limit = limit_of(job, codes, stretch * STRETCH);
        const u64 found = find(job, codes, nullptr, limit);
        if (stretch < stretches) job.bounds[stretch] = limit.is_past_all ? job.count : found;
    }
}

SIMT_FN void put(const Search& job, u64 query, const Limit& limit, u64 found) {
    const u64 position = limit.is_past_all ? job.count : found;
    if (job.position_bytes == 4) store_streaming(reinterpret_cast<u32*>(job.positions) + query, u32(position));
    else store_streaming(reinterpret_cast<u64*>(job.positions) + query, position);
}

// Whether the warp's queries are in order, and before `next`, the first one after them.
SIMT_FN bool are_in_order(const Limit (&limits)[ROW], Code next) {
    bool in_order = true;
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        Code after = shuffle_down(limits[r].code, 1);
        const Code first = r + 1 < ROW ? shuffle(limits[(r + 1) % ROW].code, 0) : next;
        if (lane() == WARP - 1) after = first;
        in_order = in_order && limits[r].code <= after;
    }
    return all(in_order);
}

// Loads the codes of `count` keys, at most WINDOW. A warp barrier must follow.
SIMT_FN void load_window(const Key* keys, u32 count, const Codes& codes, Code* window) {
    // Keys that a lane loads before it stores the first.
    constexpr u32 LOADED = 8;
    for (u32 first = lane(); first < count; first += LOADED * WARP) {
        Key taken[LOADED];
        SIMT_UNROLL
        for (u32 l = 0; l < LOADED; ++l) taken[l] = keys[lesser(first + l * WARP, count - 1)];
        SIMT_UNROLL
        for (u32 l = 0; l < LOADED; ++l)
            if (first + l * WARP < count) window[first + l * WARP] = codes.of(taken[l]);
    }
}

// Sets `before` to how many keys from `low` on are before each query. These are in order, and belong between `low` and
// `high`. Returns false if that is too far.
SIMT_FN bool find_between(const Search& job, const Codes& codes, Code* window, const Limit (&limits)[ROW], u64 low,
                          u64 high, u32 (&before)[ROW]) {
    if (high - low > FAR) return false;
    const u32 count = u32(high - low);
    if (count > WINDOW) {
        search<ROW>(count, limits, [&](u32 i) { return Code(codes.of(job.keys[low + i])); }, before);
        return true;
    }
    load_window(job.keys + low, count, codes, window);
    warp_barrier();
    search<ROW>(count, limits, [&](u32 i) { return window[i]; }, before);
    warp_barrier();
    return true;
}

// Writes the positions of the warp's queries, unless they are out of order or belong too far from each other.
SIMT_FN bool put_ordered(const Search& job, const Codes& codes, Code* window, u64 stretch) {
    const u64 stretches = job.stretches(), first = stretch * STRETCH;
    const u32 left = u32(lesser(job.queried - first, u64(STRETCH)));
    Limit limits[ROW];
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) limits[r] = limit_of(job, codes, first + lesser(r * WARP + lane(), left - 1));
    const u64 low = job.bounds[stretch], high = stretch + 1 < stretches ? job.bounds[stretch + 1] : job.count;
    const Code next = limit_of(job, codes, first + STRETCH).code;
    u32 before[ROW];
    if (!are_in_order(limits, next) || !find_between(job, codes, window, limits, low, high, before)) return false;
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r)
        if (r * WARP + lane() < left) put(job, first + r * WARP + lane(), limits[r], low + before[r]);
    return true;
}

// search_sorted: writes the positions of the queries.
// - Preconditions: the index is built, unless it is null or the queries are in order; the stretches are bounded, unless
//   bounds are null.
// - Launch: any number of blocks of THREADS threads. Shared memory: the top level, and WINDOW codes for each warp.
// - Writes: `positions`.
// - Cost: a query reads log2(top) entries of the top level in shared memory, a sector of each other level, and two of the
//   keys. If a group of the lowest level has more than GROUP keys, it reads a sector each time that this is halved. If
//   the queries of a stretch are in order, they share what they read, and if they belong to a window of the keys, these
//   are read once.
SIMT_KERNEL(THREADS, RESIDENT) search_sorted(Search asked, Codes codes) {
    await_turn();
    const Search job = asked.has_ordered_queries() ? asked.plain() : asked;
    Code* const top = reinterpret_cast<Code*>(shared_memory());
    Code* const window = top + asked.top + warp_rank() * WINDOW;
    load_top(job, codes, top);
    barrier();

    // Few queries are dealt to as many warps as possible.
    const u64 taken = job.bounds != nullptr ? STRETCH : WARP;
    for (u64 first = (u64(warp_rank()) * grid_blocks() + block_rank()) * taken; first < job.queried;
         first += u64(grid_blocks()) * WARPS * taken) {
        if (job.bounds != nullptr && put_ordered(job, codes, window, first / STRETCH)) continue;
        // Loading the queries again takes less time than keeping them in registers.
        const u64 end = lesser(first + taken, job.queried);
        SIMT_ROLL
        for (u64 row = first; row < end; row += WARP) {
            const Limit limit = limit_of(job, codes, row + lane());
            const u64 found = find(job, codes, top, limit);
            if (row + lane() < end) put(job, row + lane(), limit, found);
        }
    }
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::search_sorted
