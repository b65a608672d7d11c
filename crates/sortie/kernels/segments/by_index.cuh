// A worker's sort of a segment by places, for wide keys, payloads and argsort: an item is the leading bits of a key's
// code and, below them, its place in the segment. What is sorted is 32 bits wide, whatever moves in the end.
//
// The leading bits are those of the code's distance from the least code of the segment; of floats of 64 bits, less the gap
// that their codes have about the middle: numbers around zero have exponents in a small part of the range. Few keys agree in
// all of them, unless the keys are far from evenly spread; those that do, and are not in order by chance or because they are
// equal, are sorted by insertion. If there are too many, the segment is sorted by all digits of its codes, the last digit first.
//
// Contract. As sort_segments.cu states. Stable. Shared memory a worker: SPAN items and CAPACITY stages, and a block's notes;
// in tiles, a stage and a byte a key. Cost besides moving: a sort of 32-bit items, one more for each 32 - log2(CAPACITY)
// bits of the codes' range where the leading bits do not tell keys apart.
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
// A stage takes a code or a word of a payload.
constexpr u32 STAGE_BYTES = sizeof(Word) > sizeof(Code) && WORDS > 0 ? sizeof(Word) : sizeof(Code);
constexpr u32 WARPS = (BLOCK + WARP - 1) / WARP;
// The longest run of items that agree that is sorted by itself. Of n keys at random by as many leading values, about eight
// agree at most.
constexpr u32 LONGEST_RUN = 16;

struct Range {
    Code low, high;
};

// What the threads of a block tell one another, before its stages.
struct alignas(16) Notes {
    Range ranges[WARPS];
    u32 any;
};

static_assert(sizeof(Notes) + WORKERS * (CAPACITY * STAGE_BYTES + SPAN * sizeof(u32)) == SORTIE_BLOCK_MEMORY,
              "as the host has it");
static_assert(STAGE_BYTES + sizeof(u8) == SORTIE_TILED_KEY_MEMORY, "as the host has it");

SIMT_FN Code encode(Key key, const code::Transform& transform) { return code::encode<KIND>(key, transform); }
SIMT_FN Key decode(Code code, const code::Transform& transform) { return code::decode<KIND>(Key(code), transform); }

SIMT_FN u32 width(Code code) { return 8 * sizeof(Code) - leading_zeros(code); }

SIMT_FN bool tied(u32 a, u32 b) { return ((a ^ b) & ~INDEX_MASK) == 0; }

#if SORTIE_SOURCE != TILED

// Whether any thread of the worker says so; workers that share a warp answer together, so that they stay in step. Orders
// memory as worker_barrier does.
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

// Over neighbouring lanes, 2^n of them.
SIMT_FN Range join_lanes(Range range, u32 lanes) {
    for (u32 flip = 1; flip < lanes; flip *= 2) {
        range.low = lesser(range.low, shuffle_xor(range.low, flip));
        range.high = greater(range.high, shuffle_xor(range.high, flip));
    }
    return range;
}

SIMT_FN Range join_worker(Range own, Notes& notes) {
    const Range joined = join_lanes(own, lesser(THREADS, WARP));
    if constexpr (THREADS <= WARP) return joined;
    if (lane() == 0) notes.ranges[warp_rank()] = joined;
    barrier();
    return join_lanes(notes.ranges[lane() % WARPS], WARPS);
}

#if SORTIE_KEY_BYTES == 8
// Of floats of 32 bits there are leading bits enough.
constexpr bool CLOSES_GAP = KIND != code::Integers;

// Codes are sorted by their distance from the least one, without the gap below `middle`.
struct Distance {
    Code low, middle, gap;
    u32 bits;

    SIMT_FN Code of(Code code) const { return code - low - (CLOSES_GAP && code >= middle ? gap : 0); }
};

SIMT_FN Distance find_distance(const Range& range, const Code* codes, u32 count, Notes& notes) {
    Distance distance = {range.low, range.high, 0, width(range.high - range.low)};
    if constexpr (CLOSES_GAP) {
        distance.middle = range.low + (range.high - range.low) / 2 + 1;
        // The least from the middle on, and the greatest before.
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
// Codes are sorted by their distance from the least one.
struct Distance {
    Code low;
    u32 bits;

    SIMT_FN Code of(Code code) const { return code - low; }
};

SIMT_FN Distance find_distance(const Range& range, const Code*, u32, Notes&) {
    return {range.low, width(range.high - range.low)};
}
#endif

// Runs of items that agree in their leading bits, seen from a row.
struct Runs {
    // Whether item r agrees with the next one, a bit each; whether the first item agrees with the one before it.
    u32 ties;
    bool within;
    // Items after the row that agree with its last one, as far as they matter.
    u32 beyond;
    // Whether any item is followed by a lesser code.
    bool wrong;
};

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

// Sorts the runs that start in the own row, by insertion. False if one is too long for that.
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

// Sorts the places of the codes, which lie in shared memory, into the low bits of `items`.
SIMT_FN void sort_indices(const Code* codes, u32 count, const Distance& distance, u32* items, Notes& notes) {
    const u32 thread = own_thread();
    const u32 bits = distance.bits;
    u32 row[ROW];
    // The places as sorted by the digits so far. Indexed by what the compiler does not know, it takes no registers.
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
            // From places in the last order to places in the segment.
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

SIMT_FN void sort_segment(const Segment& segment, const code::Transform& transform) {
    const u32 thread = own_thread(), count = segment.count;
    Notes& notes = *reinterpret_cast<Notes*>(shared_memory());
    u8* stages = reinterpret_cast<u8*>(&notes + 1) + own_worker() * CAPACITY * STAGE_BYTES;
    u32* items = reinterpret_cast<u32*>(reinterpret_cast<u8*>(&notes + 1) + WORKERS * CAPACITY * STAGE_BYTES) + own_worker() * SPAN;

    Code* codes = reinterpret_cast<Code*>(stages);
    Range range = {Code(~Code(0)), Code(0)};
    if (count > 0) {
        // Every load is made, of the last key where there is none: loads under conditions of their own would wait for one
        // another.
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

// Sorts `workers` segments of `length` keys that lie side by side, each by a thread of its own.
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
        // Where segments start an even number of words apart, workers begin at different keys, in different banks.
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
            // By insertion.
            for (u32 i = 1; i < length; ++i) {
                const u8 index = indices[start + i];
                u32 j = i;
                for (; j > 0 && own[index] < own[indices[start + j - 1]]; --j) indices[start + j] = indices[start + j - 1];
                indices[start + j] = index;
            }
        }
    }
    barrier();

    // i / length, exact where i is less than 2^16.
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
