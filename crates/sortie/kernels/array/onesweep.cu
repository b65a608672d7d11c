// Radix sort by stable passes over digits of 8 bits, the lowest first (onesweep): each pass reads and writes all keys
// once.
//
// Compile-time parameters:
// - SORTIE_KEY_BYTES: the width of a key. SORTIE_KIND: code::Kind.
// - payload.cuh: what moves with each key, a payload or an index.
// - SORTIE_ARGSORT: 1 if that is the index, which the first pass creates.
// - SORTIE_WIDE: 1 if there may be 2^30 keys or more; fewer than 2^62 then.
// - SORTIE_BUCKETS: 1 if the kernels also distribute keys to the buckets of a classifier, see below.
// - SORTIE_THREADS, the threads of a block. SORTIE_ROW, the keys of a thread. A tile is SORTIE_THREADS * SORTIE_ROW
//   keys.
//
// Order: count_digits, then sweep for each digit from the lowest on; at least two launches of sweep.
//
// The keys of the passes:
// - With no profile, or with the plan PASSES, all digits of the codes.
// - With SORTIE_BUCKETS and the plans DISTRIBUTE and FILL, the two digits of the bucket numbers. scan_buckets of
//   count_buckets.cu has counted these.
// - With any other plan, the kernels do nothing.
//
// A pass, for each tile:
// 1. Each warp counts the digits of its keys in shared memory. The sums are published for the tiles after this one.
// 2. Each warp ranks its keys: lanes with the same digit find each other by votes, and the last of them advances the
//    warp's counter, which begins at the index in the tile where the warp's keys of this digit belong.
// 3. Look-back: one thread per digit adds up what the tiles before have published. Each has published its own count,
//    and later the sum up to its end, where the look-back stops.
// 4. Keys and payloads are written in the order of the digit.
// Tiles are taken by tickets, so a tile waits only for tiles whose blocks already run.
//
// A digit in which no keys differ needs no pass. If an odd number of digits is left, one such digit copies the keys,
// so that the result ends in sides[0].
//
// Source: Adinets and Merrill, "Onesweep: a faster least significant digit radix sort for GPUs" (2022), section 3;
// the look-back is that of Merrill and Garland, "Single-pass parallel prefix scan with decoupled look-back" (2016),
// section 4.
#include "classify.cuh"
#include "code.cuh"
#include "digits.cuh"
#include "payload.cuh"
#include "scan.cuh"
#include "simt.cuh"

namespace simt::onesweep {

using Key = code::OfBytes<SORTIE_KEY_BYTES>::Type;
using digits::BITS;
using digits::RADIX;

constexpr code::Kind KIND = code::SORTIE_KIND;
constexpr u32 BLOCK = SORTIE_THREADS;
constexpr u32 WARPS = BLOCK / WARP;
constexpr u32 ROW = SORTIE_ROW;
constexpr u32 TILE = BLOCK * ROW;
// The number of threads that a multiprocessor should hold, which leaves at least 64 registers for each.
constexpr u32 RESIDENT = 1024;
constexpr u32 DIGITS = sizeof(Key);
// The number of threads of count_digits that a multiprocessor should hold, and the keys that each loads at a time.
constexpr u32 COUNTING_RESIDENT = 1536;
constexpr u32 COUNTED = 8;
// Tiles that a look-back reads at a time. For 2^28 u32 on an H200, a pass takes 1.33 ms with one, 1.17 ms with four,
// 1.21 ms with eight.
constexpr u32 WINDOW = 4;
// The bit at which a rotated digit begins, so that it is an offset in bytes in a table of words.
constexpr u32 AT = 2;
static_assert(TILE < 1u << 16, "an index in a tile has 16 bits");
static_assert(RADIX <= BLOCK, "a digit has a thread");

// A count of keys, or the index of a key, in the whole array.
#if SORTIE_WIDE
using Number = u64;
#else
using Number = u32;
#endif
// The state of a tile and digit is 0 (nothing published yet), or one of these flags with a count in the lower bits.
// OWN: the tile's keys with this digit. ALL: the keys with this digit in this tile and all before it.
constexpr Number ALL = Number(1) << (8 * sizeof(Number) - 1), OWN = ALL / 2;

// One of the two buffers between which keys and payloads move.
struct Side {
    Key* keys;
    payload::Word* payload;
};

// - `keys`: `count` keys, which are read by the first pass. May be sides[0].keys, but not in an argsort.
// - `sides[0]`: where the result goes. `sides[1]`: scratch memory of the same size. In an argsort sides[0] has sorted
//   keys afterwards only if they are sorted by buckets.
// - `digits`: the histograms, zero before count_digits. `states`: 2 * tiles * RADIX numbers; the first half is zero
//   before.
// - `tiles`: the number of tiles.
struct Job {
    const Key* keys;
    Side sides[2];
    u64 count;
    digits::Digits* digits;
    // The states of a pass, RADIX for each tile; then those of the other pass. The passes alternate between these two
    // tables.
    Number* states;
    // Null if there is no profile.
    const classify::Profile* profile;
    u32 tiles;
};

struct Counting {
    u32 counts[DIGITS * RADIX];
    u64 sums[WARPS];
    u32 active, is_last;
};
static_assert(sizeof(Counting) == SORTIE_COUNTING_MEMORY, "as the host has it");

constexpr u32 STAGED = TILE * (sizeof(Key) < sizeof(payload::Word) && payload::WORDS > 0 ? sizeof(payload::Word) : sizeof(Key));

struct Shared {
    // The keys of the tile in the order of the digit; later the payloads.
    u64 area[(STAGED + 7) / 8];
    // For each warp and digit a count; later the index in the tile where the next key goes.
    u32 counters[WARPS * RADIX];
    // For each digit, the index where its keys go, minus the index where they begin in the tile.
    Number moves[RADIX];
    u32 sums[WARPS];
    u32 tile;
#if SORTIE_BUCKETS
    // A copy of the profile's cells.
    u32 cells[classify::CELLS + 1];
#endif
};
static_assert(sizeof(Shared) == SORTIE_BLOCK_MEMORY, "as the host has it");

SIMT_FN classify::Plan plan_of(const Job& job) { return job.profile ? classify::plan(*job.profile) : classify::PASSES; }

SIMT_FN bool is_by_buckets(classify::Plan plan) {
    return SORTIE_BUCKETS && (plan == classify::DISTRIBUTE || plan == classify::FILL);
}

SIMT_FN bool is_left_alone(classify::Plan plan) { return plan != classify::PASSES && !is_by_buckets(plan); }

// Rotates a word so that the digit begins at bit AT. The bits around the digit are not masked off.
SIMT_FN u32 turned(u32 word, u32 digit) { return funnel_shift_right(word, word, (BITS * digit - AT) % 32); }

// A digit of a code, rotated to bit AT. IS_CHEAP: it is computed again rather than kept in a register.
struct OfCode {
    static constexpr bool IS_CHEAP = true;
    u32 digit;

    SIMT_FN u32 operator()(Key code) const {
        u32 word = u32(code);
        if constexpr (sizeof(Key) == 8) word = digit < 4 ? word : u32(code >> 32);
        return turned(word, digit);
    }
};

// A digit of the number of a code's bucket, rotated to bit AT.
struct OfBucket {
    static constexpr bool IS_CHEAP = false;
    classify::Classifier<Key, true> classifier;
    u32 digit;

    SIMT_FN u32 operator()(Key code) const { return turned(classifier.bucket(code), digit); }
};

// The entry of a table of RADIX entries for a rotated digit.
template <class T> SIMT_FN T& of_digit(T* table, u32 turned) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a word or two");
    constexpr u32 MASK = (RADIX - 1) << AT;
    return *reinterpret_cast<T*>(reinterpret_cast<u8*>(table) + (turned & MASK) * (sizeof(T) / 4));
}

// Adds the histograms of all digits of the block's share of the keys to the global ones.
SIMT_FN void count_share(const Job& job, u32* counts, const code::Transform& transform) {
    for (u32 i = thread_rank(); i < DIGITS * RADIX; i += BLOCK) counts[i] = 0;
    barrier();
    for (u64 first = u64(block_rank()) * BLOCK * COUNTED; first < job.count; first += u64(grid_blocks()) * BLOCK * COUNTED) {
        const u64 left = job.count - first;
        Key row[COUNTED];
        SIMT_UNROLL
        for (u32 r = 0; r < COUNTED; ++r) row[r] = job.keys[first + lesser(u64(r * BLOCK + thread_rank()), left - 1)];
        SIMT_UNROLL
        for (u32 r = 0; r < COUNTED; ++r) {
            const Key code = code::encode<KIND>(row[r], transform);
            SIMT_UNROLL
            for (u32 d = 0; d < DIGITS; ++d)
                if (r * BLOCK + thread_rank() < left)
                    atomic_add<Relaxed, Block>(&of_digit(counts + d * RADIX, OfCode{d}(code)), 1);
        }
    }
    barrier();
    for (u32 i = thread_rank(); i < DIGITS * RADIX; i += BLOCK)
        if (counts[i] > 0) atomic_add(&job.digits->counts[i], counts[i]);
    barrier();
}

// count_digits: makes a histogram of each digit, and finds the digits in which keys differ.
// - Parameters: `job`: see this struct. `transform`: makes codes of keys.
// - Launch: any number of blocks of BLOCK threads. Shared memory: Counting. By buckets, after scan_buckets of
//   count_buckets.cu.
// - Writes: `job.digits`: the index where the keys with each value of each digit begin, and `active`. The block that
//   finishes last turns the counts into these indices.
// - Cost: one read of the keys and one atomic in shared memory per key and digit. By buckets, no keys are read.
SIMT_KERNEL(BLOCK, COUNTING_RESIDENT / BLOCK) count_digits(Job job, code::Transform transform) {
    await_turn();
    const classify::Plan plan = plan_of(job);
    if (is_left_alone(plan)) return;
    Counting& shared = *reinterpret_cast<Counting*>(shared_memory());
    const bool by_codes = plan == classify::PASSES;
    if (by_codes) count_share(job, shared.counts, transform);
    const u32 digits = by_codes ? DIGITS : 2;
    if (thread_rank() == 0) {
        shared.is_last = atomic_add<AcquireRelease>(&job.digits->done, 1) + 1 == grid_blocks();
        shared.active = (1u << digits) - 1;
    }
    barrier();
    if (!shared.is_last) return;
    for (u32 d = 0; d < digits; ++d) {
        const bool own = thread_rank() < RADIX;
        u64* counts = job.digits->counts + d * RADIX;
        const u64 keys = own ? atomic_load<Relaxed>(&counts[thread_rank()]) : 0;
        if (keys == job.count) atomic_and<Relaxed, Block>(&shared.active, ~(1u << d));
        const u64 before = scan::exclusive<BLOCK>(keys, shared.sums);
        if (own) counts[thread_rank()] = before;
        barrier();
    }
    if (thread_rank() == 0) job.digits->active = shared.active;
}

// The look-back of one digit, whose thread calls it: returns the number of keys with this digit in all tiles before
// `tile`, which has `count` of them itself. Then publishes the sum up to the end of the tile.
SIMT_FN Number look_back(Number* states, u32 tile, u32 count) {
    Number before = 0;
    bool knows = tile == 0;
    for (u32 left = tile; !knows;) {
        Number said[WINDOW];
        SIMT_UNROLL
        for (u32 w = 0; w < WINDOW; ++w)
            said[w] = atomic_load<Relaxed>(states + u64(left - lesser(left, w + 1)) * RADIX + thread_rank());
        bool goes_on = true;
        SIMT_UNROLL
        for (u32 w = 0; w < WINDOW; ++w) {
            goes_on = goes_on && !knows && said[w] != 0;
            if (goes_on) {
                before += said[w] & (OWN - 1);
                knows = said[w] & ALL;
                --left;
            }
        }
    }
    atomic_store<Relaxed>(states + u64(tile) * RADIX + thread_rank(), ALL | (before + count));
    return before;
}

// What one pass reads and writes.
struct Pass {
    const Key* keys;
    const payload::Word* payload;
    Key* keys_to;
    payload::Word* payload_to;
    Number* states;
    Number* next_states;
    u32 digit;
    // Whether the pass encodes the keys it reads, decodes those it writes, and writes keys at all.
    bool is_first, is_last, has_keys;
};

// Loads the thread's elements of a tile of `count`. Each warp has consecutive elements, so that ranks follow their
// order. Past the end, the last element is loaded again.
template <class T, u32 STRIDE = 1> SIMT_FN void load_row(T (&row)[ROW], const T* tile, u32 count) {
    const u32 own = warp_rank() * WARP * ROW + lane();
    if (count == TILE) {
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) row[r] = tile[own * STRIDE + r * WARP * STRIDE];
    } else {
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) row[r] = tile[lesser(own + r * WARP, count - 1) * STRIDE];
    }
}

// Loads the tile's keys as codes. Past the end they are the greatest code, so that they stay last.
SIMT_FN void load_codes(Key (&row)[ROW], const Pass& pass, const Key* tile, u32 count, const code::Transform& transform) {
    load_row(row, tile, count);
    if (pass.is_first) {
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) row[r] = code::encode<KIND>(row[r], transform);
    }
    if (count < TILE) {
        const u32 own = warp_rank() * WARP * ROW + lane();
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r)
            if (own + r * WARP >= count) row[r] = Key(~Key(0));
    }
}

// Counts the digits of the tile per warp, publishes the sums, and turns the counters into indices in the tile.
// - `digits`: the digit of each key of the thread.
// - `count`, `start`: for the digit with the thread's rank, the number of keys, and the index in the tile where they
//   begin.
template <class Digit>
SIMT_FN void count_tile(const Key (&row)[ROW], u32 (&digits)[ROW], const Digit& digit, const Pass& pass, u32 tile,
                        u32 tile_count, Shared& shared, u32& count, u32& start) {
    u32* counters = shared.counters + warp_rank() * RADIX;
    const u32 first = warp_rank() * WARP * ROW + lane();
    SIMT_UNROLL
    for (u32 i = 0; i < RADIX; i += WARP) counters[i + lane()] = 0;
    warp_barrier();
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        digits[r] = digit(row[r]);
        // The greatest code may not be in the last bucket, so padding gets the greatest digit explicitly.
        if (!Digit::IS_CHEAP && first + r * WARP >= tile_count) digits[r] = ~0u;
        atomic_add<Relaxed, Block>(&of_digit(counters, digits[r]), 1);
    }
    barrier();
    count = 0;
    if (thread_rank() < RADIX) {
        SIMT_UNROLL
        for (u32 w = 0; w < WARPS; ++w) count += shared.counters[w * RADIX + thread_rank()];
        // Only the last tile counts padding, and no other tile looks back at it.
        const u64 own = u64(tile) * RADIX + thread_rank();
        atomic_store<Relaxed>(&pass.states[own], Number((tile == 0 ? ALL : OWN) | count));
        pass.next_states[own] = 0;
    }
    start = scan::exclusive<BLOCK>(count, shared.sums);
    if (thread_rank() < RADIX) {
        u32 next = start;
        SIMT_UNROLL
        for (u32 w = 0; w < WARPS; ++w) {
            u32& counter = shared.counters[w * RADIX + thread_rank()];
            const u32 counted = counter;
            counter = next;
            next += counted;
        }
    }
    barrier();
}

// Ranks the codes, and writes each to its index in the tile, in the order of the digit. `indices` has the digits
// before, and these indices afterwards.
template <class Digit>
SIMT_FN void rank_codes(const Key (&row)[ROW], u32 (&indices)[ROW], const Digit& digit, Shared& shared) {
    u32* counters = shared.counters + warp_rank() * RADIX;
    Key* staged = reinterpret_cast<Key*>(shared.area);
    const u32 own = 1u << lane(), below = own - 1;
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 at = Digit::IS_CHEAP ? digit(row[r]) : indices[r], peers = match_bits<AT, BITS>(at);
        u32& counter = of_digit(counters, at);
        indices[r] = counter + popcount(peers & below);
        warp_barrier();
        if ((peers & ~below) == own) counter = indices[r] + 1;
        warp_barrier();
        staged[indices[r]] = row[r];
    }
}

// Writes the keys and the payloads of a ranked tile. `words` has the first word of the thread's payloads.
template <bool IS_FULL, class Digit>
SIMT_FN void write_tile(const Digit& digit, const Pass& pass, Shared& shared, const payload::Word* payloads, u32 count, u32 (&indices)[ROW],
                        payload::Word (&words)[ROW], const code::Transform& transform) {
    constexpr u32 WORDS = payload::WORDS;
    const Key* staged = reinterpret_cast<const Key*>(shared.area);
    const u32 own = thread_rank();
    Key row[ROW];
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) row[r] = staged[r * BLOCK + own];
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 i = r * BLOCK + own, at = digit(row[r]);
        if ((IS_FULL || i < count) && pass.has_keys)
            pass.keys_to[of_digit(shared.moves, at) + i] = pass.is_last ? code::decode<KIND>(row[r], transform) : row[r];
        // The lower half stays the index of the thread's own payload in the tile. The upper half gets the digit at
        // this index.
        if constexpr (WORDS > 0) indices[r] |= (at & (RADIX - 1) << AT) << 16;
    }
    SIMT_UNROLL
    for (u32 w = 0; w < WORDS; ++w) {
        payload::Word* moved = reinterpret_cast<payload::Word*>(shared.area);
        barrier();
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) moved[indices[r] & 0xFFFF] = words[r];
        if (w + 1 < WORDS) load_row<payload::Word, WORDS>(words, payloads + w + 1, count);
        barrier();
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            const u32 i = r * BLOCK + own;
            if (IS_FULL || i < count)
                pass.payload_to[u64(of_digit(shared.moves, indices[r] >> 16) + i) * WORDS + w] = moved[i];
        }
    }
}

// Does a pass on one tile.
template <class Digit>
SIMT_FN void sweep_tile(const Job& job, const Digit& digit, const Pass& pass, u32 tile, Shared& shared,
                        const code::Transform& transform) {
    constexpr u32 WORDS = payload::WORDS;
    const u64 first = u64(tile) * TILE;
    const u32 count = u32(lesser(job.count - first, u64(TILE)));
    Key row[ROW];
    load_codes(row, pass, pass.keys + first, count, transform);
    u32 own_count, own_start;
    u32 indices[ROW];
    count_tile(row, indices, digit, pass, tile, count, shared, own_count, own_start);
    rank_codes(row, indices, digit, shared);
    // Loads the first words of the payloads before the look-back waits, to overlap both.
    payload::Word words[ROW];
    if (SORTIE_ARGSORT && pass.is_first) {
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) words[r] = payload::Word(first) + warp_rank() * WARP * ROW + lane() + r * WARP;
    } else if constexpr (WORDS > 0) {
        load_row<payload::Word, WORDS>(words, pass.payload + first * WORDS, count);
    }
    if (thread_rank() < RADIX) {
        const Number before = look_back(pass.states, tile, own_count);
        shared.moves[thread_rank()] = Number(job.digits->counts[pass.digit * RADIX + thread_rank()]) + before - own_start;
    }
    barrier();
    const payload::Word* payloads = pass.payload + first * WORDS;
    if (count == TILE) write_tile<true>(digit, pass, shared, payloads, count, indices, words, transform);
    else write_tile<false>(digit, pass, shared, payloads, count, indices, words, transform);
}

// The pass of a digit in which no keys differ: copies keys and payloads, encodes or decodes keys, and clears the
// states.
SIMT_FN void copy_all(const Job& job, const Pass& pass, const code::Transform& transform) {
    const u64 step = u64(grid_blocks()) * BLOCK, first = u64(block_rank()) * BLOCK + thread_rank();
    for (u64 i = first; i < u64(job.tiles) * RADIX; i += step) pass.next_states[i] = 0;
    if (pass.has_keys) {
        for (u64 i = first; i < job.count; i += step) {
            Key key = pass.keys[i];
            if (pass.is_first && !pass.is_last) key = code::encode<KIND>(key, transform);
            if (pass.is_last && !pass.is_first) key = code::decode<KIND>(key, transform);
            pass.keys_to[i] = key;
        }
    }
    if (SORTIE_ARGSORT && pass.is_first) {
        for (u64 i = first; i < job.count; i += step) pass.payload_to[i] = payload::Word(i);
    } else {
        for (u64 i = first; i < job.count * payload::WORDS; i += step) pass.payload_to[i] = pass.payload[i];
    }
}

// Sorts tiles until all are taken.
template <class Digit>
SIMT_FN void sweep_tiles(const Job& job, const Digit& digit, const Pass& pass, const code::Transform& transform) {
    Shared& shared = *reinterpret_cast<Shared*>(shared_memory());
    for (;;) {
        if (thread_rank() == 0) shared.tile = atomic_add(&job.digits->tickets[pass.digit], 1);
        barrier();
        const u32 tile = shared.tile;
        if (tile >= job.tiles) return;
        sweep_tile(job, digit, pass, tile, shared, transform);
        // All threads are done with the shared memory of this tile.
        barrier();
    }
}

// sweep: does the pass of one digit.
// - Parameters: `job`, `transform`: as in count_digits. `digit`: the number of the digit, 0 for the lowest.
// - Launch: any number of blocks of BLOCK threads. Shared memory: Shared. After count_digits, and after sweep for all
//   lower digits.
// - Writes: keys and payloads to the other side; the states of the pass; zeros to the states of the next pass.
// - Cost: nothing for a digit in which no keys differ, unless it copies; else one read and one write of keys and
//   payloads, one atomic and two trips to shared memory per key, a look-back per tile.
SIMT_KERNEL(BLOCK, RESIDENT / BLOCK) sweep(Job job, u32 digit, code::Transform transform) {
    await_turn();
    const classify::Plan plan = plan_of(job);
    if (is_left_alone(plan)) return;
    const u32 active = job.digits->active;
    const bool is_odd_number = popcount(active) % 2 == 1;
    // If the number of passes is odd, the lowest digit in which no keys differ gets a pass too, which copies.
    const u32 passes = is_odd_number ? active | (active + 1) : active;
    const u32 passes_before = popcount(passes & ((1u << digit) - 1));
    const bool is_first = passes_before == 0, is_odd = passes_before % 2 == 1;
    // If all keys are equal, an argsort still has to write the indices.
    const bool is_all = SORTIE_ARGSORT && active == 0 && digit == 0;
    if (!(passes >> digit & 1) && !is_all) return;
    const Side &even = job.sides[0], &odd = job.sides[1];
    const bool is_last = is_all || passes >> digit == 1;
    Number* odd_states = job.states + u64(job.tiles) * RADIX;
    const Pass pass{is_first ? job.keys : is_odd ? odd.keys : even.keys,
                    is_odd ? odd.payload : even.payload,
                    is_odd || is_all ? even.keys : odd.keys,
                    is_odd || is_all ? even.payload : odd.payload,
                    is_odd ? odd_states : job.states,
                    is_odd ? job.states : odd_states,
                    digit,
                    is_first,
                    is_last,
                    !(SORTIE_ARGSORT && is_last && plan == classify::PASSES)};
    if (!(active >> digit & 1)) {
        copy_all(job, pass, transform);
        return;
    }
#if SORTIE_BUCKETS
    if (is_by_buckets(plan)) {
        u32* cells = reinterpret_cast<Shared*>(shared_memory())->cells;
        classify::load_cells<BLOCK>(cells, *job.profile);
        sweep_tiles(job, OfBucket{classify::Classifier<Key, true>(job.profile->range, cells), digit}, pass, transform);
        return;
    }
#endif
    sweep_tiles(job, OfCode{digit}, pass, transform);
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::onesweep
