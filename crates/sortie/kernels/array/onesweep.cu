// A sort by stable passes of 8 bits, the lowest digit first: each pass reads and writes all keys once, whatever they are.
//
// Contract. An instantiation is made for SORTIE_KEY_BYTES, SORTIE_KIND, and payload.cuh for what goes with each key: its
// payload, or its place where SORTIE_PLACES; for blocks of SORTIE_THREADS with SORTIE_ROW keys a thread, and fewer than 2^30 keys.
// In turn: `count_digits`, `start_digits` by one block, `sweep` for each digit from the lowest on, `bring_back`; all others by any
// number of blocks. A tile has SORTIE_THREADS * SORTIE_ROW keys. The digits' counts, the tickets and the first of the two tables of
// states are zero before. Keys are read from `keys`, and end in sides[0], which may be the same; places are only written, and
// end there alone: both sides have room for keys, and their order is lost. Dynamic shared memory: a Counts, a Starts or a
// Shared. Cost: a read of the keys; for each digit in which keys differ a read and a write of keys and payload; another of
// each where such digits are an odd number.
//
// A tile's items are ranked by warp: lanes with the same digit find one another by votes, and the first of them adds their
// number to the warp's counter. A tile learns where its digits go from the tiles before it: each says how many items of a
// digit it has, and, once it knows, how many there are up to its end; a look back ends at the first that knows. Tiles are
// taken by tickets, so whoever is waited for is running.
//
// Source: Adinets and Merrill, "Onesweep: a faster least significant digit radix sort for GPUs" (2022), section 3; the look
// back is that of Merrill and Garland, "Single-pass parallel prefix scan with decoupled look-back" (2016), section 4.
#include "code.cuh"
#include "payload.cuh"
#include "scan.cuh"
#include "simt.cuh"

namespace simt::onesweep {

using Key = code::OfBytes<SORTIE_KEY_BYTES>::Type;

constexpr code::Kind KIND = code::SORTIE_KIND;
constexpr u32 BLOCK = SORTIE_THREADS;
constexpr u32 WARPS = BLOCK / WARP;
constexpr u32 ROW = SORTIE_ROW;
constexpr u32 TILE = BLOCK * ROW;
// Threads that a multiprocessor is to hold: 64 registers are left for each.
constexpr u32 RESIDENT = 1024;
constexpr u32 BITS = 8;
constexpr u32 RADIX = 1u << BITS;
constexpr u32 DIGITS = sizeof(Key);
constexpr u32 MOST_DIGITS = 8;
// Keys that a thread counts at a time.
constexpr u32 COUNTED = 16;
static_assert(TILE < 1u << 16, "a place in a tile has 16 bits");
static_assert(RADIX <= BLOCK, "a digit has a thread");

// What a tile says of a digit, beside a number of items: its own, or all up to its end. Zero says nothing yet.
constexpr u32 OWN = 1u << 30, ALL = 1u << 31;

struct Digits {
    // Of each digit; of `start_digits` on, where its items begin in all.
    u32 counts[MOST_DIGITS * RADIX];
    u32 tickets[MOST_DIGITS];
    // A bit for each digit in which keys differ.
    u32 active;
};

struct Side {
    Key* keys;
    payload::Word* payload;
};

struct Job {
    const Key* keys;
    Side sides[2];
    u64 count;
    Digits* digits;
    // Of the tiles of two passes, RADIX for each.
    u32* states;
    u32 tiles;
};

struct Counts {
    u32 counts[DIGITS * RADIX];
};

struct Starts {
    u32 sums[RADIX / WARP];
    u32 active;
};

constexpr u32 STAGED = TILE * (sizeof(Key) < sizeof(payload::Word) && payload::WORDS > 0 ? sizeof(payload::Word) : sizeof(Key));
constexpr u32 COUNTERS = WARPS * RADIX * sizeof(u32);

struct Shared {
    // The counters of each warp; then keys, then payloads, in order of the digit.
    u64 area[((STAGED < COUNTERS ? COUNTERS : STAGED) + 7) / 8];
    // Where a digit's items go, less where they begin in the tile.
    u32 moves[RADIX];
    u32 sums[WARPS];
    u32 tile;
};
static_assert(sizeof(Shared) == SORTIE_BLOCK_MEMORY, "as the host has it");

SIMT_FN u32 digit_of(Key code, u32 digit) { return u32(code >> (BITS * digit)) & (RADIX - 1); }

SIMT_KERNEL(BLOCK, RESIDENT / BLOCK) count_digits(Job job, code::Transform transform) {
    u32* counts = reinterpret_cast<Counts*>(shared_memory())->counts;
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
                if (r * BLOCK + thread_rank() < left) atomic_add<Relaxed, Block>(&counts[d * RADIX + digit_of(code, d)], 1);
        }
    }
    barrier();
    for (u32 i = thread_rank(); i < DIGITS * RADIX; i += BLOCK)
        if (counts[i] > 0) atomic_add(&job.digits->counts[i], counts[i]);
}

SIMT_KERNEL(RADIX, 1) start_digits(Job job) {
    Starts& shared = *reinterpret_cast<Starts*>(shared_memory());
    if (thread_rank() == 0) shared.active = (1u << DIGITS) - 1;
    barrier();
    for (u32 d = 0; d < DIGITS; ++d) {
        u32& count = job.digits->counts[d * RADIX + thread_rank()];
        if (count == job.count) atomic_and<Relaxed, Block>(&shared.active, ~(1u << d));
        count = scan::exclusive<RADIX>(count, shared.sums);
        barrier();
    }
    if (thread_rank() == 0) job.digits->active = shared.active;
}

// Lanes whose lowest bits, a digit, are the same.
SIMT_FN u32 peers_of(u32 bits) {
    u32 peers = FULL;
    SIMT_UNROLL
    for (u32 b = 0; b < BITS; ++b) {
        const bool is_set = bits & 1u << b;
        peers &= ballot(is_set) ^ (is_set ? 0 : FULL);
    }
    return peers;
}

// Where the tile's items of the own digit begin among all of that digit, of which the tile has `count`.
SIMT_FN u32 look_back(u32* states, u32 tile, u32 count) {
    u32* own = states + u64(tile) * RADIX + thread_rank();
    u32 before = 0;
    for (u32* at = own; at != states + thread_rank();) {
        at -= RADIX;
        u32 said = atomic_load<Relaxed>(at);
        while (said == 0) said = atomic_load<Relaxed>(at);
        before += said & (OWN - 1);
        if (said & ALL) break;
    }
    atomic_store<Relaxed>(own, ALL | (before + count));
    return before;
}

// Where one pass reads and writes.
struct Pass {
    const Key* keys;
    const payload::Word* payload;
    Key* keys_to;
    payload::Word* payload_to;
    u32* states;
    u32* next_states;
    u32 digit;
    bool is_first, is_last;
};

// A thread's elements of a tile, which has `count`. A warp's lie together, so that ranks go by their places.
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

SIMT_FN void sweep_tile(const Job& job, const Pass& pass, u32 tile, Shared& shared, const code::Transform& transform) {
    const u32 digit = pass.digit;
    u32* all_counters = reinterpret_cast<u32*>(shared.area);
    u32* counters = all_counters + warp_rank() * RADIX;
    SIMT_UNROLL
    for (u32 i = 0; i < RADIX; i += WARP) counters[i + lane()] = 0;
    const u64 first = u64(tile) * TILE;
    const u32 count = u32(lesser(job.count - first, u64(TILE)));
    Key row[ROW];
    load_row(row, pass.keys + first, count);
    if (pass.is_first) {
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) row[r] = code::encode<KIND>(row[r], transform);
    }
    if (count < TILE) {
        // What is missing goes behind all that is there.
        const u32 own = warp_rank() * WARP * ROW + lane();
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r)
            if (own + r * WARP >= count) row[r] = Key(~Key(0));
    }
    warp_barrier();

    // A digit, and the item's rank under it in the warp; then its place in the tile.
    u32 places[ROW];
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 bits = u32(row[r] >> (BITS * digit)), d = bits & (RADIX - 1), peers = peers_of(bits);
        const u32 before = popcount(peers & ((1u << lane()) - 1)), base = counters[d];
        warp_barrier();
        if (before == 0) counters[d] = base + popcount(peers);
        warp_barrier();
        places[r] = d << 16 | (base + before);
    }
    barrier();

    u32 tile_count = 0;
    if (thread_rank() < RADIX) {
        SIMT_UNROLL
        for (u32 w = 0; w < WARPS; ++w) tile_count += all_counters[w * RADIX + thread_rank()];
        // Nobody looks back at the last tile, which may count what is missing.
        const u64 own = u64(tile) * RADIX + thread_rank();
        atomic_store<Relaxed>(&pass.states[own], (tile == 0 ? ALL : OWN) | tile_count);
        pass.next_states[own] = 0;
    }
    const u32 start = scan::exclusive<BLOCK>(tile_count, shared.sums);
    if (thread_rank() < RADIX) {
        u32 next = start;
        SIMT_UNROLL
        for (u32 w = 0; w < WARPS; ++w) {
            u32& counter = all_counters[w * RADIX + thread_rank()];
            const u32 counted = counter;
            counter = next;
            next += counted;
        }
    }
    barrier();
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) places[r] = counters[places[r] >> 16] + (places[r] & 0xFFFF);
    barrier();
    Key* staged = reinterpret_cast<Key*>(shared.area);
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) staged[places[r]] = row[r];
    // While others are waited for, the first words of the payloads are on the way.
    constexpr u32 WORDS = payload::WORDS;
    [[maybe_unused]] payload::Word words[ROW];
    if (SORTIE_PLACES && pass.is_first) {
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) words[r] = payload::Word(first) + warp_rank() * WARP * ROW + lane() + r * WARP;
    } else if constexpr (WORDS > 0) {
        load_row<payload::Word, WORDS>(words, pass.payload + first * WORDS, count);
    }
    if (thread_rank() < RADIX) {
        const u32 before = look_back(pass.states, tile, tile_count);
        shared.moves[thread_rank()] = job.digits->counts[digit * RADIX + thread_rank()] + before - start;
    }
    barrier();
    const u32 left = count - lesser(count, thread_rank());
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 i = r * BLOCK + thread_rank();
        if (r * BLOCK < left) {
            const Key code = staged[i];
            const u32 d = digit_of(code, digit);
            if (!(SORTIE_PLACES && pass.is_last))
                pass.keys_to[shared.moves[d] + i] = pass.is_last ? code::decode<KIND>(code, transform) : code;
            // Beside where the own payload goes in the tile, where that goes on to which comes here.
            if constexpr (WORDS > 0) places[r] |= d << 16;
        }
    }
    SIMT_UNROLL
    for (u32 w = 0; w < WORDS; ++w) {
        payload::Word* moved = reinterpret_cast<payload::Word*>(shared.area);
        barrier();
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) moved[places[r] & 0xFFFF] = words[r];
        if (w + 1 < WORDS) load_row<payload::Word, WORDS>(words, pass.payload + first * WORDS + w + 1, count);
        barrier();
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            const u32 i = r * BLOCK + thread_rank();
            if (r * BLOCK < left) pass.payload_to[u64(shared.moves[places[r] >> 16] + i) * WORDS + w] = moved[i];
        }
    }
}

SIMT_KERNEL(BLOCK, RESIDENT / BLOCK) sweep(Job job, u32 digit, code::Transform transform) {
    const u32 active = job.digits->active;
    if (!(active >> digit & 1)) return;
    const u32 passes_before = popcount(active & ((1u << digit) - 1));
    const bool is_first = passes_before == 0, is_odd = passes_before % 2 == 1;
    const Side &even = job.sides[0], &odd = job.sides[1];
    u32* odd_states = job.states + u64(job.tiles) * RADIX;
    const Pass pass{is_first ? job.keys : is_odd ? odd.keys : even.keys,
                    is_odd ? odd.payload : even.payload,
                    is_odd ? even.keys : odd.keys,
                    is_odd ? even.payload : odd.payload,
                    is_odd ? odd_states : job.states,
                    is_odd ? job.states : odd_states,
                    digit,
                    is_first,
                    active >> digit == 1};
    Shared& shared = *reinterpret_cast<Shared*>(shared_memory());
    for (;;) {
        if (thread_rank() == 0) shared.tile = atomic_add(&job.digits->tickets[digit], 1);
        barrier();
        const u32 tile = shared.tile;
        if (tile >= job.tiles) return;
        sweep_tile(job, pass, tile, shared, transform);
        // Before the next tile's counters are where payloads were.
        barrier();
    }
}

SIMT_KERNEL(BLOCK, RESIDENT / BLOCK) bring_back(Job job) {
    const u32 passes = popcount(job.digits->active);
    const u64 step = u64(grid_blocks()) * BLOCK, first = u64(block_rank()) * BLOCK + thread_rank();
    const Side &from = job.sides[1], &to = job.sides[0];
    if (SORTIE_PLACES && passes == 0)
        for (u64 i = first; i < job.count; i += step) to.payload[i] = payload::Word(i);
    if (passes % 2 == 0) return;
    if (!SORTIE_PLACES)
        for (u64 i = first; i < job.count; i += step) to.keys[i] = from.keys[i];
    for (u64 i = first; i < job.count * payload::WORDS; i += step) to.payload[i] = from.payload[i];
}

// As the host has them.
SORTIE_LAYOUTS

} // namespace simt::onesweep
