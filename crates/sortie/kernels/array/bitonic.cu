// Bitonic sort of one array, in place, by tiles that do many steps of the network on each trip to shared memory.
//
// Contract. An instantiation is made for SORTIE_KEY_BYTES (1, 2, 4, 8), SORTIE_KIND (code::Kind), payload.cuh, tiles of
// 2^SORTIE_TILE_BITS keys and threads of 2^SORTIE_ROW_BITS: more than two rows of bits and no more than three. The lowest SORTIE_COALESCED_BITS bits are in every sequence. `count` is 1 or more. Not stable.
//
// A step compares keys whose places differ in one bit; a thread does the steps of a window of ROW_BITS bits in
// registers, so a tile has three windows.
// - sort_tiles: each block sorts a tile of neighbours. Keys become codes, which they stay until the `last` launch.
// - run_superstep: each block takes a part: the keys whose places agree in all bits but those of the superstep's
//   sequence, of which there are TILE_BITS. What it writes no other block reads.
// Places past the end hold the last code; they are neither read nor written. Nothing takes the place of an equal code, so
// they stay behind what is there. Dynamic shared memory: (TILE + TILE / 32) items. Cost: one read and one write of the keys
// a launch, each item to shared memory and back up to five times. No scratch.
//
// Source: Capannini, Silvestri and Baraglia, "Sorting on GPUs for large scale datasets: A thorough comparison"
// (2011), section 5; a sequence is their gamma, a part an element of their gamma-partition. There, every other run
// descends. Here all ascend, and the first step of a merge is against the mirror image: the same network with wires
// renamed, but the last code then never leaves the end. A part of such a step has the mirror image of its lower half
// for its upper half.
#include "code.cuh"
#include "network.cuh"
#include "payload.cuh"
#include "simt.cuh"

namespace simt::bitonic {

using Key = code::OfBytes<SORTIE_KEY_BYTES>::Type;
// Narrow keys are sorted as words.
using Code = code::OfBytes<(SORTIE_KEY_BYTES < 4 ? 4 : SORTIE_KEY_BYTES)>::Type;
// What places past the end hold.
constexpr Code LAST_CODE = ~Code(0);

#if SORTIE_PAYLOAD_BYTES == 0
struct Payload {};
using Item = Code;

SIMT_FN Code code_of(Item item) { return item; }
SIMT_FN Payload payload_of(Item) { return {}; }
SIMT_FN Item join(Code code, Payload) { return code; }
SIMT_FN void exchange(Item& a, Item& b) { network::exchange(a, b); }
#else
struct Payload {
    payload::Word words[payload::WORDS];
};
struct Item {
    Code code;
    Payload payload;
};

SIMT_FN Code code_of(const Item& item) { return item.code; }
SIMT_FN Payload payload_of(const Item& item) { return item.payload; }
SIMT_FN Item join(Code code, const Payload& payload) { return {code, payload}; }

template <class T> SIMT_FN void swap_if(bool swapped, T& a, T& b) {
    const T first = swapped ? b : a;
    b = swapped ? a : b;
    a = first;
}

SIMT_FN void exchange(Item& a, Item& b) {
    const bool swapped = b.code < a.code;
    swap_if(swapped, a.code, b.code);
    SIMT_UNROLL
    for (u32 w = 0; w < payload::WORDS; ++w) swap_if(swapped, a.payload.words[w], b.payload.words[w]);
}
#endif

constexpr code::Kind KIND = code::SORTIE_KIND;
constexpr u32 TILE_BITS = SORTIE_TILE_BITS;
constexpr u32 ROW_BITS = SORTIE_ROW_BITS;
constexpr u32 ROW = 1u << ROW_BITS, TILE = 1u << TILE_BITS;
constexpr u32 THREADS = TILE / ROW;
// The lowest bit of each window. The low one does the steps that the middle one does not.
constexpr u32 HIGH = TILE_BITS - ROW_BITS, MIDDLE = TILE_BITS - 2 * ROW_BITS, LOW = 0;
static_assert(MIDDLE > 0 && MIDDLE <= ROW_BITS, "a tile has three windows");
// Columns of the middle and the low window are exchanged among 2^MIDDLE threads: a warp's barrier is enough.
static_assert((1u << MIDDLE) <= WARP, "a middle window lies within a warp");
// Threads that a multiprocessor is to hold: 64 registers are left for each, twice as many where a row fills them.
constexpr u32 RESIDENT = sizeof(Item) * ROW > 256 ? 256 : sizeof(Item) * ROW > 128 ? 512 : 1024;
constexpr u32 RESIDENT_BLOCKS = THREADS < RESIDENT ? RESIDENT / THREADS : 1;

// What one launch does, as the host has planned it.
struct Superstep {
    // The sequence: so many of the lowest bits, and from high_first on as many as are left.
    u32 low_bits;
    u32 high_first;
    // The steps of bits below this come first; then all of the high bits.
    u32 low_steps;
    // Whether the highest bit's step begins a merge.
    u32 mirrored;
    u32 last;
};

// Bank conflicts of items of a word: none, in any window.
SIMT_FN constexpr u32 padded(u32 position) { return position + position / WARP; }

static_assert((TILE + TILE / WARP) * sizeof(Item) == SORTIE_TILE_MEMORY, "as the host has it");

SIMT_FN Item* shared_items() { return reinterpret_cast<Item*>(shared_memory()); }

// ------------------------------------------------------------------------------------------------------------- columns

// The items of a tile that a thread holds while it does the steps of a window.
template <u32 FIRST> struct Column {
    // Where it is in the tile; where the mirrored half of it is.
    u32 position, other;

    SIMT_FN explicit Column(bool mirrored) {
        constexpr u32 below = (1u << FIRST) - 1;
        position = (thread_rank() & ~below) << ROW_BITS | (thread_rank() & below);
        other = mirrored ? position ^ below : position;
    }

    // Items with bit UPPER of the window set are the mirrored half. Of `(b ? p : q)[i]`, which this stands for, g++ 12
    // computes i on one side alone under its sanitizers.
    template <u32 UPPER> SIMT_FN Item* half_of(u32 j) const {
        return shared_items() + padded(j >> UPPER & 1 ? other : position);
    }

    template <u32 UPPER = ROW_BITS - 1> SIMT_FN void take(Item (&row)[ROW]) const {
        SIMT_UNROLL
        for (u32 j = 0; j < ROW; ++j) row[j] = half_of<UPPER>(j)[padded(j << FIRST)];
    }

    template <u32 UPPER = ROW_BITS - 1> SIMT_FN void put(const Item (&row)[ROW]) const {
        SIMT_UNROLL
        for (u32 j = 0; j < ROW; ++j) half_of<UPPER>(j)[padded(j << FIRST)] = row[j];
    }
};

// --------------------------------------------------------------------------------------------------------------- steps

template <u32 BIT> SIMT_FN void step(Item (&row)[ROW]) {
    SIMT_UNROLL
    for (u32 j = 0; j < ROW; ++j)
        if ((j >> BIT & 1) == 0) exchange(row[j], row[j | 1u << BIT]);
}

// The first step of a merge of runs of 2^BIT.
template <u32 BIT> SIMT_FN void mirrored_step(Item (&row)[ROW]) {
    SIMT_UNROLL
    for (u32 j = 0; j < ROW; ++j)
        if ((j >> BIT & 1) == 0) exchange(row[j], row[j ^ ((2u << BIT) - 1)]);
}

// All steps of a window below bit COUNT of it.
template <u32 COUNT> SIMT_FN void all_steps(Item (&row)[ROW]) {
    if constexpr (COUNT > 0) {
        step<COUNT - 1>(row);
        all_steps<COUNT - 1>(row);
    }
}

// The steps of a window for those of its lowest COUNT bits that are, of the tile, `from` or more and less than `to`.
template <u32 FIRST, u32 COUNT = ROW_BITS> SIMT_FN void some_steps(Item (&row)[ROW], u32 from, u32 to) {
    if constexpr (COUNT > 0) {
        if (from < FIRST + COUNT && FIRST + COUNT <= to) step<COUNT - 1>(row);
        some_steps<FIRST, COUNT - 1>(row, from, to);
    }
}

// Merges runs until they have 2^STAGE items, and goes on to the whole tile. Rows are columns of the low window.
template <u32 STAGE> SIMT_FN void merge_rows(Item (&row)[ROW]) {
    if constexpr (STAGE <= TILE_BITS) {
        const Column<LOW> low(false);
        low.put(row);
        if constexpr (STAGE > HIGH) {
            const Column<HIGH> high(true);
            barrier();
            high.take<STAGE - HIGH - 1>(row);
            mirrored_step<STAGE - HIGH - 1>(row);
            all_steps<STAGE - HIGH - 1>(row);
            high.put<STAGE - HIGH - 1>(row);
            barrier();
            const Column<MIDDLE> middle(false);
            middle.take(row);
            all_steps<ROW_BITS>(row);
            middle.put(row);
        } else {
            const Column<MIDDLE> middle(true);
            warp_barrier();
            middle.take<STAGE - MIDDLE - 1>(row);
            mirrored_step<STAGE - MIDDLE - 1>(row);
            all_steps<STAGE - MIDDLE - 1>(row);
            middle.put<STAGE - MIDDLE - 1>(row);
        }
        warp_barrier();
        low.take(row);
        all_steps<MIDDLE>(row);
        merge_rows<STAGE + 1>(row);
    }
}

// --------------------------------------------------------------------------------------------------------------- parts

// Where the keys of a block's part are in the array.
struct Part {
    u32 low_bits, high_first;
    // Of the tile's lower and upper half.
    u64 lower, upper;

    SIMT_FN explicit Part(const Superstep& s) : low_bits(s.low_bits), high_first(s.high_first) {
        const u32 between = s.high_first - s.low_bits, block = block_rank();
        const u64 mask = (u64(1) << between) - 1;
        const u64 outer = u64(block) >> between << (s.high_first + TILE_BITS - s.low_bits);
        lower = outer | (block & mask) << s.low_bits;
        upper = s.mirrored ? outer | (~block & mask) << s.low_bits : lower;
    }

    // The bits of a place in the tile at their places in the array.
    SIMT_FN u64 spread(u32 position) const {
        return (position & ((1u << low_bits) - 1)) | u64(position >> low_bits) << high_first;
    }

    SIMT_FN u64 index(u32 position) const { return (position >> (TILE_BITS - 1) & 1 ? upper : lower) + spread(position); }

    SIMT_FN bool within(u64 count) const { return index(TILE - 1) < count; }
};

// The distances between a column's keys in the array, by the bits of their number.
template <u32 FIRST> struct Distances {
    u64 bit[ROW_BITS];

    SIMT_FN explicit Distances(const Part& part) {
        SIMT_UNROLL
        for (u32 b = 0; b < ROW_BITS; ++b) bit[b] = part.spread(1u << (FIRST + b));
    }

    SIMT_FN u64 of(u32 j) const {
        u64 distance = 0;
        SIMT_UNROLL
        for (u32 b = ROW_BITS; b-- > 0;)
            if (j >> b & 1) distance += bit[b];
        return distance;
    }
};

// Keys and payloads of the array, or of it from an index on.
struct Arrays {
    Key* keys;
    Payload* payload;
    u64 count;

    SIMT_FN Arrays from(u64 index) const {
        return {keys + index, payload + (payload::WORDS > 0 ? index : 0), index < count ? count - index : 0};
    }

    SIMT_FN Item get(u64 i) const {
        if constexpr (payload::WORDS == 0) return join(keys[i], {});
        else return join(keys[i], payload[i]);
    }

    SIMT_FN void put(u64 i, const Item& item) const {
        keys[i] = Key(code_of(item));
        if constexpr (payload::WORDS > 0) payload[i] = payload_of(item);
    }
};

SIMT_FN void load(Item (&row)[ROW], const Column<HIGH>& column, const Part& part, const Arrays& all) {
    const Arrays lower = all.from(part.lower + part.spread(column.position));
    const Arrays upper = all.from(part.upper + part.spread(column.other));
    const Distances<HIGH> distances(part);
    if (part.within(all.count)) {
        SIMT_UNROLL
        for (u32 j = 0; j < ROW; ++j) row[j] = (j < ROW / 2 ? lower : upper).get(distances.of(j));
    } else {
        SIMT_UNROLL
        for (u32 j = 0; j < ROW; ++j) {
            const Arrays& half = j < ROW / 2 ? lower : upper;
            row[j] = join(LAST_CODE, {});
            if (distances.of(j) < half.count) row[j] = half.get(distances.of(j));
        }
    }
}

// Stores a column whose lower half begins at one index of the array and whose upper half at another.
template <u32 FIRST>
SIMT_FN void store(const Item (&row)[ROW], const Arrays& lower, const Arrays& upper, const Part& part, bool within) {
    const Distances<FIRST> distances(part);
    if (within) {
        SIMT_UNROLL
        for (u32 j = 0; j < ROW; ++j) (j < ROW / 2 ? lower : upper).put(distances.of(j), row[j]);
    } else {
        SIMT_UNROLL
        for (u32 j = 0; j < ROW; ++j) {
            const Arrays& half = j < ROW / 2 ? lower : upper;
            if (distances.of(j) < half.count) half.put(distances.of(j), row[j]);
        }
    }
}

SIMT_FN void store_high(const Item (&row)[ROW], const Column<HIGH>& column, const Part& part, const Arrays& all) {
    const Arrays lower = all.from(part.lower + part.spread(column.position));
    const Arrays upper = all.from(part.upper + part.spread(column.other));
    store<HIGH>(row, lower, upper, part, part.within(all.count));
}

SIMT_FN void store_middle(const Item (&row)[ROW], const Column<MIDDLE>& column, const Part& part, const Arrays& all) {
    const Arrays own = all.from(part.index(column.position));
    store<MIDDLE>(row, own, own, part, part.within(all.count));
}

SIMT_FN void decode(Item (&row)[ROW], const code::Transform& transform) {
    SIMT_UNROLL
    for (u32 j = 0; j < ROW; ++j)
        row[j] = join(code::decode<KIND>(Key(code_of(row[j])), transform), payload_of(row[j]));
}

// ------------------------------------------------------------------------------------------------------------- kernels

SIMT_KERNEL(THREADS, RESIDENT_BLOCKS)
sort_tiles(Arrays arrays, u32 last, code::Transform transform) {
    await_turn();
    const Arrays own = arrays.from(u64(block_rank()) << TILE_BITS);
    const u32 there = own.count < TILE ? u32(own.count) : TILE;
    const Column<HIGH> high(false);
    const Column<LOW> low(false);
    Item row[ROW];
    // A row takes any keys of the tile.
    SIMT_UNROLL
    for (u32 j = 0; j < ROW; ++j) {
        const u32 position = high.position + (j << HIGH);
        const Item item = own.get(lesser(position, there - 1));
        const Code code = code::encode<KIND>(Key(code_of(item)), transform);
        row[j] = join(position < there ? code : LAST_CODE, payload_of(item));
    }
    if (payload::WORDS > 0 && there < TILE) {
        // But where a last code may have a payload, what is past the end must be there from the start.
        high.put(row);
        barrier();
        low.take(row);
    }
    network::sort<ROW>(row, [](Item& a, Item& b, u32) { exchange(a, b); });
    merge_rows<ROW_BITS + 1>(row);
    low.put(row);
    barrier();
    high.take(row);
    if (last) decode(row, transform);
    SIMT_UNROLL
    for (u32 j = 0; j < ROW; ++j) {
        const u32 position = high.position + (j << HIGH);
        if (position < there) own.put(position, row[j]);
    }
}

SIMT_KERNEL(THREADS, RESIDENT_BLOCKS)
run_superstep(Arrays arrays, Superstep s, code::Transform transform) {
    await_turn();
    const Part part(s);
    const Column<HIGH> high(s.mirrored);
    const Column<MIDDLE> middle(false);
    Item row[ROW];
    load(row, high, part, arrays);
    if (s.low_steps > 0) {
        some_steps<HIGH>(row, 0, s.low_steps);
        high.put(row);
        barrier();
        if (s.low_steps > MIDDLE) {
            middle.take(row);
            some_steps<MIDDLE>(row, 0, s.low_steps);
            middle.put(row);
            warp_barrier();
        }
        const Column<LOW> low(false);
        low.take(row);
        some_steps<LOW, MIDDLE>(row, 0, s.low_steps);
        low.put(row);
        barrier();
        high.take(row);
    }
    if (s.low_bits < TILE_BITS) {
        if (s.mirrored) mirrored_step<ROW_BITS - 1>(row);
        else step<ROW_BITS - 1>(row);
        some_steps<HIGH, ROW_BITS - 1>(row, s.low_bits, TILE_BITS);
        if (s.low_bits < HIGH) {
            high.put(row);
            barrier();
            middle.take(row);
            some_steps<MIDDLE>(row, s.low_bits, TILE_BITS);
            if constexpr (MIDDLE >= SORTIE_COALESCED_BITS) {
                store_middle(row, middle, part, arrays);
                return;
            }
            middle.put(row);
            barrier();
            high.take(row);
        }
    }
    if (s.last) decode(row, transform);
    store_high(row, high, part, arrays);
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::bitonic
