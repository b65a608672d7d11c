// The sort of a segment by a worker, for wide keys, payloads and argsorts. Stable.
//
// Method:
// 1. An item has 32 bits: the leading bits of a key's code, and below them the key's index in the segment. Codes are
//    counted from the least code of the segment. For floats of 64 bits, the gap that codes have around their middle
//    is removed first, because numbers around zero use a small part of the range of exponents.
// 2. The worker sorts the items.
// 3. Few keys agree in all leading bits, unless keys are spread very unevenly. Runs of such keys that are not in
//    order are sorted by insertion.
// 4. If a run is too long for that, the indices are sorted instead by all digits of the codes, the lowest digit first.
// 5. Keys and payloads move once, through shared memory, in the order of the sorted indices.
//
// - Preconditions: see sort_segments.cu.
// - Shared memory: Notes; per worker, CAPACITY stages of STAGE_BYTES and SPAN items. For `sort_neighbours`: a stage
//   and a byte per key.
// - Cost besides moving: one sort of 32-bit items; in step 4, one more for each 32 - log2(CAPACITY) bits of the range
//   of codes.
// - Source: own; the sort of items is that of worker.cuh.
#pragma once

#include "code.cuh"
#include "segment.cuh"
#include "worker.cuh"

namespace simt::sort_segments {

using namespace worker;

using Code = code::OfBytes<(sizeof(Key) < 4 ? 4 : sizeof(Key))>::Type;

constexpr u32 INDEX_BITS = network::log2_ceil(CAPACITY);
constexpr u32 LEADING_BITS = 32 - INDEX_BITS;
constexpr u32 INDEX_MASK = (1u << INDEX_BITS) - 1;
constexpr u32 PADDING = ~0u;
// The width of a stage, which holds a code, or a word of a payload.
constexpr u32 STAGE_BYTES = sizeof(Word) > sizeof(Code) && WORDS > 0 ? sizeof(Word) : sizeof(Code);
constexpr u32 WARPS = (BLOCK + WARP - 1) / WARP;
// The longest run of items with equal leading bits that is sorted by insertion. Of n random keys with n possible
// leading values, about eight agree at most.
constexpr u32 LONGEST_RUN = 16;

struct Range {
    Code low, high;
};

// What the threads of a block exchange, at the start of shared memory.
struct alignas(16) Notes {
    Range ranges[WARPS];
    u32 any;
};

static_assert(sizeof(Notes) + WORKERS * (CAPACITY * STAGE_BYTES + SPAN * sizeof(u32)) == SORTIE_BLOCK_MEMORY,
              "as the host has it");
static_assert(STAGE_BYTES + sizeof(u8) == SORTIE_TILED_KEY_MEMORY, "as the host has it");

SIMT_FN Code encode(Key key, const code::Transform& transform) { return code::encode<KIND>(key, transform); }
SIMT_FN Key decode(Code code, const code::Transform& transform) { return code::decode<KIND>(Key(code), transform); }

// The number of bits up to the highest that is set.
SIMT_FN u32 width(Code code) { return 8 * sizeof(Code) - leading_zeros(code); }

// Whether two items have equal leading bits.
SIMT_FN bool tied(u32 a, u32 b) { return ((a ^ b) & ~INDEX_MASK) == 0; }

#if SORTIE_SOURCE != TILED

// Whether any thread of the worker says so. Workers that share a warp get the same answer, so that the warp does not
// diverge. Orders memory as worker_barrier does.
SIMT_FN bool worker_any(bool says, Notes& notes) {
    says = any(says);
    worker_barrier();
    if constexpr (THREADS > WARP) {
        if (thread_rank() == 0) notes.any = 0;
        barrier();
        if (lane() == 0 && says) atomic_or<Relaxed, Block>(&notes.any, 1);
        barrier();
        says = notes.any != 0;
    }
    return says;
}

// The range over each group of `lanes` neighbouring lanes, a power of two.
SIMT_FN Range join_lanes(Range range, u32 lanes) {
    for (u32 flip = 1; flip < lanes; flip *= 2) {
        range.low = lesser(range.low, shuffle_xor(range.low, flip));
        range.high = greater(range.high, shuffle_xor(range.high, flip));
    }
    return range;
}

// The range over all threads of the worker. All threads of the block take part.
SIMT_FN Range join_worker(Range own, Notes& notes) {
    const Range joined = join_lanes(own, lesser(THREADS, WARP));
    if constexpr (THREADS <= WARP) return joined;
    if (lane() == 0) notes.ranges[warp_rank()] = joined;
    barrier();
    return join_lanes(notes.ranges[lane() % WARPS], WARPS);
}

#if SORTIE_KEY_BYTES == 8
// For floats of 32 bits, the leading bits suffice.
constexpr bool CLOSES_GAP = KIND != code::Integers;

// Codes are sorted by their distance from the least one, less the gap below `middle`. `bits`: the width of the
// greatest distance.
struct Distance {
    Code low, middle, gap;
    u32 bits;

    SIMT_FN Code of(Code code) const { return code - low - (CLOSES_GAP && code >= middle ? gap : 0); }
};

SIMT_FN Distance find_distance(const Range& range, const Code* codes, u32 count, Notes& notes) {
    Distance distance = {range.low, range.high, 0, width(range.high - range.low)};
    if constexpr (CLOSES_GAP) {
        distance.middle = range.low + (range.high - range.low) / 2 + 1;
        // The bounds of the gap: the least code from the middle on, and the greatest before.
        Range about = {Code(~Code(0)), 0};
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            const u32 i = r * THREADS + own_thread();
            if (i < count && codes[i] >= distance.middle) about.low = lesser(about.low, codes[i]);
            if (i < count && codes[i] < distance.middle) about.high = greater(about.high, codes[i]);
        }
        about = join_worker(about, notes);
        if (range.low < range.high) {
            distance.gap = about.low - about.high - 1;
            distance.bits = width(distance.of(range.high));
        }
    }
    return distance;
}
#else
// Codes are sorted by their distance from the least one. `bits`: the width of the greatest distance.
struct Distance {
    Code low;
    u32 bits;

    SIMT_FN Code of(Code code) const { return code - low; }
};

SIMT_FN Distance find_distance(const Range& range, const Code*, u32, Notes&) {
    return {range.low, width(range.high - range.low)};
}
#endif

// The runs of items with equal leading bits, as the thread with a row of the items sees them.
struct Runs {
    // `ties`: bit r is set if item r agrees with the next one. `within`: whether the first item agrees with the one
    // before it.
    u32 ties;
    bool within;
    // The number of items after the row that agree with its last one, up to LONGEST_RUN.
    u32 beyond;
    // Whether the code of some item of a run is greater than that of the next.
    bool wrong;
};

// Finds the runs that the row is part of. `items` are sorted, at their slots.
SIMT_FN Runs find_runs(const u32 (&row)[ROW], const u32* items, const Code* codes, u32 count) {
    const u32 first = own_thread() * ROW;
    Runs runs = {};
    runs.within = first > 0 && first < count && tied(items[slot(first - 1)], row[0]);
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        if (first + r + 1 < count) {
            const u32 next = r + 1 < ROW ? row[r + 1 < ROW ? r + 1 : 0] : items[slot(first + ROW)];
            if (tied(row[r], next)) {
                runs.ties |= 1u << r;
                runs.wrong |= codes[next & INDEX_MASK] < codes[row[r] & INDEX_MASK];
            }
        }
    }
    if (runs.ties >> (ROW - 1) != 0) {
        u32 i = first + ROW;
        while (i < count && i < first + ROW + LONGEST_RUN && tied(items[slot(i)], row[ROW - 1])) ++i;
        runs.beyond = i - (first + ROW);
    }
    return runs;
}

// Sorts the runs that start in the thread's row, by insertion. Returns false if one is too long for that.
SIMT_FN bool mend(const Runs& runs, u32* items, const Code* codes) {
    for (u32 starts = runs.ties & ~(runs.ties << 1 | u32(runs.within)); starts != 0; starts &= starts - 1) {
        const u32 r = trailing_zeros(starts), agree = trailing_zeros(~(runs.ties >> r));
        const u32 length = r + agree < ROW ? agree + 1 : agree + runs.beyond;
        if (length > LONGEST_RUN) return false;
        const u32 first = own_thread() * ROW + r;
        for (u32 i = first + 1; i < first + length; ++i) {
            const u32 item = items[slot(i)];
            u32 j = i;
            for (; j > first && codes[item & INDEX_MASK] < codes[items[slot(j - 1)] & INDEX_MASK]; --j)
                items[slot(j)] = items[slot(j - 1)];
            items[slot(j)] = item;
        }
    }
    return true;
}

// Sorts the indices of `count` codes in shared memory. The result is in the low bits of `items`, at their slots. All
// threads of the block take part.
SIMT_FN void sort_indices(const Code* codes, u32 count, const Distance& distance, u32* items, Notes& notes) {
    const u32 thread = own_thread();
    const u32 bits = distance.bits;
    u32 row[ROW];
    // The indices in the order of the digits so far. The rolled loops index it dynamically, so it stays out of
    // registers.
    u32 order[ROW];
    bool leading = true;
    u32 shift = bits > LEADING_BITS ? bits - LEADING_BITS : 0;
    while (true) {
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            const u32 i = r * THREADS + thread;
            const u32 index = leading ? i : order[r];
            const u32 digits = u32(distance.of(codes[index]) >> shift) << INDEX_BITS;
            row[r] = i < count ? digits | i : PADDING;
        }
        sort_rows(row, items);
        if (!leading) {
            // The items had indices in the order of the last pass. Replaces them by indices in the segment.
            worker_barrier();
            SIMT_ROLL
            for (u32 r = 0; r < ROW; ++r) items[slot(r * THREADS + thread)] = order[r];
            worker_barrier();
            SIMT_UNROLL
            for (u32 r = 0; r < ROW; ++r) row[r] = thread * ROW + r < count ? items[slot(row[r] & INDEX_MASK)] : PADDING;
            worker_barrier();
        }
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) items[thread * STRIDE + r] = row[r];
        worker_barrier();
        if (leading) {
            const Runs runs = shift > 0 ? find_runs(row, items, codes, count) : Runs{};
            if (!worker_any(runs.wrong, notes) || !worker_any(!mend(runs, items, codes), notes)) return;
            leading = false;
            shift = 0;
        } else {
            shift += LEADING_BITS;
            if (!worker_any(shift < bits, notes)) return;
        }
        SIMT_ROLL
        for (u32 r = 0; r < ROW; ++r) {
            const u32 i = r * THREADS + thread;
            order[r] = shift > 0 && i < count ? items[slot(i)] : i;
        }
        worker_barrier();
    }
}

// Sorts one segment of at most CAPACITY keys per worker. All threads of the block take part.
SIMT_FN void sort_segment(const Segment& segment, const code::Transform& transform) {
    const u32 thread = own_thread(), count = segment.count;
    Notes& notes = *reinterpret_cast<Notes*>(shared_memory());
    u8* stages = reinterpret_cast<u8*>(&notes + 1) + own_worker() * CAPACITY * STAGE_BYTES;
    u32* items = reinterpret_cast<u32*>(reinterpret_cast<u8*>(&notes + 1) + WORKERS * CAPACITY * STAGE_BYTES) + own_worker() * SPAN;

    Code* codes = reinterpret_cast<Code*>(stages);
    Range range = {Code(~Code(0)), Code(0)};
    if (count > 0) {
        // Past the end, the last key is loaded again: loads under a condition would not overlap.
        Key read[ROW];
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            const u32 i = r * THREADS + thread;
            read[r] = segment.keys[r < FULL_ROWS ? i : lesser(i, count - 1)];
        }
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            const u32 i = r * THREADS + thread;
            const Code code = encode(read[r], transform);
            range = {lesser(range.low, code), greater(range.high, code)};
            if (i < count) codes[i] = code;
        }
    }
    range = join_worker(range, notes);
    worker_barrier();
    sort_indices(codes, count, find_distance(range, codes, count, notes), items, notes);

    if constexpr (MOVES_KEYS) {
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            const u32 i = r * THREADS + thread;
            if (i < count) segment.sorted_keys[i] = decode(codes[items[slot(i)] & INDEX_MASK], transform);
        }
    }
    if constexpr (ARGSORT) {
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            const u32 i = r * THREADS + thread;
            if (i < count) segment.sorted_payload[i] = segment.first_index + (items[slot(i)] & INDEX_MASK);
        }
    } else {
        Word* words = reinterpret_cast<Word*>(stages);
        SIMT_UNROLL
        for (u32 w = 0; w < WORDS; ++w) {
            worker_barrier();
            Word read[ROW];
            if (count > 0) {
                SIMT_UNROLL
                for (u32 r = 0; r < ROW; ++r) {
                    const u32 i = r * THREADS + thread;
                    read[r] = segment.payload[(r < FULL_ROWS ? i : lesser(i, count - 1)) * WORDS + w];
                }
                SIMT_UNROLL
                for (u32 r = 0; r < ROW; ++r) {
                    const u32 i = r * THREADS + thread;
                    if (i < count) words[i] = read[r];
                }
            }
            worker_barrier();
            SIMT_UNROLL
            for (u32 r = 0; r < ROW; ++r) {
                const u32 i = r * THREADS + thread;
                if (i < count) segment.sorted_payload[i * WORDS + w] = words[items[slot(i)] & INDEX_MASK];
            }
        }
    }
}

#else

// Sorts `workers` consecutive segments of `length` keys, each by one thread. Global memory is read and written as one
// tile, in coalesced accesses. All threads of the block take part.
SIMT_FN void sort_neighbours(const Segment& first, u32 workers, u32 length, const code::Transform& transform) {
    static_assert(THREADS == 1, "a thread sorts a segment of a tile");
    const u32 count = workers * length;
    Code* codes = reinterpret_cast<Code*>(shared_memory());
    u8* indices = shared_memory() + WORKERS * length * STAGE_BYTES;
    for (u32 i = thread_rank(); i < count; i += BLOCK) codes[i] = encode(first.keys[i], transform);
    barrier();

    if (own_worker() < workers) {
        const u32 start = own_worker() * length;
        const Code* own = codes + start;
        // If segments begin an even number of words apart, each worker begins at another key of its segment, to use
        // different banks.
        const u32 shift = length % 2 == 0 ? own_worker() % length : 0;
        auto shifted = [&](u32 i) { return i + shift < length ? i + shift : i + shift - length; };
        Range range = {Code(~Code(0)), Code(0)};
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            const Code code = own[shifted(lesser(r, length - 1))];
            range = {lesser(range.low, code), greater(range.high, code)};
        }
        const u32 bits = width(range.high - range.low);
        const u32 trailing = bits > LEADING_BITS ? bits - LEADING_BITS : 0;
        u32 row[ROW];
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            const u32 i = shifted(lesser(r, length - 1));
            row[r] = r < length ? u32((own[i] - range.low) >> trailing) << INDEX_BITS | i : PADDING;
        }
        network::sort<ROW>(row);
        bool agree = false;
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            if (r < length) indices[start + r] = u8(row[r] & INDEX_MASK);
            if (r + 1 < ROW) agree |= r + 1 < length && tied(row[r], row[r + 1 < ROW ? r + 1 : 0]);
        }
        if (agree && trailing > 0) {
            // Insertion sort by whole codes.
            for (u32 i = 1; i < length; ++i) {
                const u8 index = indices[start + i];
                u32 j = i;
                for (; j > 0 && own[index] < own[indices[start + j - 1]]; --j) indices[start + j] = indices[start + j - 1];
                indices[start + j] = index;
            }
        }
    }
    barrier();

    // i / length by a multiplication, which is exact for i below 2^16.
    const u32 inverse = u32((0x100000000ull + length - 1) / length);
    auto from = [&](u32 i) { return u32(u64(i) * inverse >> 32) * length + indices[i]; };
    if constexpr (MOVES_KEYS)
        for (u32 i = thread_rank(); i < count; i += BLOCK) first.sorted_keys[i] = decode(codes[from(i)], transform);
    if constexpr (ARGSORT) {
        for (u32 i = thread_rank(); i < count; i += BLOCK) first.sorted_payload[i] = indices[i];
    } else {
        Word* words = reinterpret_cast<Word*>(shared_memory());
        SIMT_UNROLL
        for (u32 w = 0; w < WORDS; ++w) {
            barrier();
            for (u32 i = thread_rank(); i < count; i += BLOCK) words[i] = first.payload[i * WORDS + w];
            barrier();
            for (u32 i = thread_rank(); i < count; i += BLOCK) first.sorted_payload[i * WORDS + w] = words[from(i)];
        }
    }
}

#endif

} // namespace simt::sort_segments
