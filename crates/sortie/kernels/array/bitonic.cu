// Bitonic sort of one array, in place, in tiles that do many steps of the network between a read and a write. Not
// stable.
//
// Compile-time parameters:
// - SORTIE_KEY_BYTES: 1, 2, 4 or 8, the width of a key. SORTIE_KIND: code::Kind. payload.cuh.
// - SORTIE_TILE_BITS: a block sorts a tile of 2^TILE_BITS keys.
// - SORTIE_ROW_BITS: a thread has 2^ROW_BITS keys. TILE_BITS is more than two times ROW_BITS, and at most three times.
// - SORTIE_COALESCED_BITS: each superstep has at least this many of the lowest bits, so that accesses coalesce.
//
// Terms:
// - The step of a bit compares pairs of keys whose indices differ in that bit only. The first step of a merge is
//   mirrored: it compares the i-th key from the start of a pair of runs with the i-th from its end.
// - A superstep is a launch that does several steps. Its sequence is the TILE_BITS bits of the index that vary within
//   a tile: the lowest `low_bits` bits, and from bit `high_first` on as many as are left.
// - A part is the keys that one block handles in a superstep: those whose indices agree in all bits outside the
//   sequence. Within it, a key has a position of TILE_BITS bits.
// - A window is ROW_BITS bits of the position. A thread does the steps of a window in registers, on a column: the
//   keys whose positions differ only in these bits. A tile has three windows.
//
// - Order: sort_tiles, then one run_superstep for each superstep. Keys are stored as codes until the launch with
//   `last`.
// - Launch of both: one block of THREADS threads per tile. Shared memory: TILE + TILE / 32 items. No scratch memory.
// - Cost of each launch: one read and one write of keys and payloads; up to five trips of each item to shared memory
//   and back.
//
// Past the end, tiles are filled with the greatest code, which is neither read nor written. A key is never exchanged
// with an equal code, so the padding stays behind all keys.
//
// Source: Capannini, Silvestri and Baraglia, "Sorting on GPUs for large scale datasets: A thorough comparison"
// (2011), section 5. A sequence is their gamma, a part an element of their gamma-partition. They let every other run
// descend. Here all runs ascend, and the first step of each merge is mirrored: the same network with renamed wires,
// but the padding never leaves the end.
#include "code.cuh"
#include "network.cuh"
#include "payload.cuh"
#include "simt.cuh"

namespace simt::bitonic {

using Key = code::OfBytes<SORTIE_KEY_BYTES>::Type;
// Narrow keys are sorted as words.
using Code = code::OfBytes<(SORTIE_KEY_BYTES < 4 ? 4 : SORTIE_KEY_BYTES)>::Type;
// The padding past the end.
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

// The lesser item to a, the greater to b. Items with equal codes stay.
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
// The lowest bit of each window. The low window does only the steps below the middle window.
constexpr u32 HIGH = TILE_BITS - ROW_BITS, MIDDLE = TILE_BITS - 2 * ROW_BITS, LOW = 0;
static_assert(MIDDLE > 0 && MIDDLE <= ROW_BITS, "a tile has three windows");
// Between the middle and the low window, items move only among 2^MIDDLE threads, so a warp barrier is enough.
static_assert((1u << MIDDLE) <= WARP, "a middle window lies within a warp");
// The number of threads that a multiprocessor should hold: with 64 registers each, or with more if a row fills them.
constexpr u32 RESIDENT = sizeof(Item) * ROW > 256 ? 256 : sizeof(Item) * ROW > 128 ? 512 : 1024;
constexpr u32 RESIDENT_BLOCKS = THREADS < RESIDENT ? RESIDENT / THREADS : 1;

// What one launch does. The host plans it.
struct Superstep {
    // The sequence of bits, see above.
    u32 low_bits;
    u32 high_first;
    // The steps of all bits of the sequence below this, from the highest to the lowest, come first; then those of the
    // high bits.
    u32 low_steps;
    // Whether the step of the highest bit is the mirrored first step of a merge.
    u32 mirrored;
    u32 last;
};

// The slot of a position in shared memory. With this padding, items of one word have no bank conflicts in any window.
SIMT_FN constexpr u32 padded(u32 position) { return position + position / WARP; }

static_assert((TILE + TILE / WARP) * sizeof(Item) == SORTIE_TILE_MEMORY, "as the host has it");

SIMT_FN Item* shared_items() { return reinterpret_cast<Item*>(shared_memory()); }

// ------------------------------------------------------------------------------------------------------------- columns

// The items of a tile that a thread holds while it does the steps of the window from bit FIRST on.
template <u32 FIRST> struct Column {
    // The position of its first item; that of the first item of its upper half, which may be mirrored.
    u32 position, other;

    SIMT_FN explicit Column(bool mirrored) {
        constexpr u32 below = (1u << FIRST) - 1;
        position = (thread_rank() & ~below) << ROW_BITS | (thread_rank() & below);
        other = mirrored ? position ^ below : position;
    }

    // The first item of the half that item j is in; the upper half has bit UPPER of the window set. This replaces
    // `(b ? p : q)[i]`, because g++ 12 with sanitizers computes that index on only one side.
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

// The mirrored first step of a merge of runs of 2^BIT items.
template <u32 BIT> SIMT_FN void mirrored_step(Item (&row)[ROW]) {
    SIMT_UNROLL
    for (u32 j = 0; j < ROW; ++j)
        if ((j >> BIT & 1) == 0) exchange(row[j], row[j ^ ((2u << BIT) - 1)]);
}

// The steps of bits COUNT - 1 down to 0 of a window.
template <u32 COUNT> SIMT_FN void all_steps(Item (&row)[ROW]) {
    if constexpr (COUNT > 0) {
        step<COUNT - 1>(row);
        all_steps<COUNT - 1>(row);
    }
}

// The steps of those of the lowest COUNT bits of the window whose bit of the position, FIRST + bit, is in from..to.
template <u32 FIRST, u32 COUNT = ROW_BITS> SIMT_FN void some_steps(Item (&row)[ROW], u32 from, u32 to) {
    if constexpr (COUNT > 0) {
        if (from < FIRST + COUNT && FIRST + COUNT <= to) step<COUNT - 1>(row);
        some_steps<FIRST, COUNT - 1>(row, from, to);
    }
}

// Merges runs of 2^(STAGE - 1) items to runs of 2^STAGE, and so on until the tile is one run. `row` is a column of
// the low window, before and after.
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

// The indices of a block's part in the array.
struct Part {
    u32 low_bits, high_first;
    // The index of the first key of the tile's lower half, and of its upper half.
    u64 lower, upper;

    SIMT_FN explicit Part(const Superstep& s) : low_bits(s.low_bits), high_first(s.high_first) {
        const u32 between = s.high_first - s.low_bits, block = block_rank();
        const u64 mask = (u64(1) << between) - 1;
        const u64 outer = u64(block) >> between << (s.high_first + TILE_BITS - s.low_bits);
        lower = outer | (block & mask) << s.low_bits;
        upper = s.mirrored ? outer | (~block & mask) << s.low_bits : lower;
    }

    // Moves the bits of a position in the tile to those of the index that the sequence names.
    SIMT_FN u64 spread(u32 position) const {
        return (position & ((1u << low_bits) - 1)) | u64(position >> low_bits) << high_first;
    }

    SIMT_FN u64 index(u32 position) const { return (position >> (TILE_BITS - 1) & 1 ? upper : lower) + spread(position); }

    SIMT_FN bool within(u64 count) const { return index(TILE - 1) < count; }
};

// The distances in the array between the keys of a column: key j is `of(j)` after key 0.
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

// `count` keys and payloads: the array, or the rest of it from an index on.
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

// Loads a column of the high window of a part. Past the end, items are padding.
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

// Stores a column. `lower` and `upper` are the array from the first key of its lower and its upper half on. `within`:
// no key of the part is past the end.
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

// sort_tiles: sorts each tile of 2^TILE_BITS neighbouring keys.
// - Parameters: `arrays`, of one key or more. `last`: whether to store keys instead of codes, because this is the
//   only launch.
// - Writes: the sorted tiles, in place.
SIMT_KERNEL(THREADS, RESIDENT_BLOCKS)
sort_tiles(Arrays arrays, u32 last, code::Transform transform) {
    await_turn();
    const Arrays own = arrays.from(u64(block_rank()) << TILE_BITS);
    const u32 there = own.count < TILE ? u32(own.count) : TILE;
    const Column<HIGH> high(false);
    const Column<LOW> low(false);
    Item row[ROW];
    // A row may have any keys of the tile, so these are coalesced loads.
    SIMT_UNROLL
    for (u32 j = 0; j < ROW; ++j) {
        const u32 position = high.position + (j << HIGH);
        const Item item = own.get(lesser(position, there - 1));
        const Code code = code::encode<KIND>(Key(code_of(item)), transform);
        row[j] = join(position < there ? code : LAST_CODE, payload_of(item));
    }
    if (payload::WORDS > 0 && there < TILE) {
        // A key with the greatest code has a payload, so it must not be mixed up with the padding: each item moves to
        // its position before the first exchange.
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

// run_superstep: does the steps of a superstep on each part.
// - Parameters: `arrays`, with codes. `s`: the superstep.
// - Before: sort_tiles, and all earlier supersteps.
// - Writes: the array, in place. A block writes only its own part.
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
