// Sorts buckets that fit a block: each item goes almost to its place at once, and its neighbours settle the rest.
//
// Contract. An instantiation is made as item.cuh and payload.cuh say, for blocks of SORTIE_THREADS with SORTIE_ROW items a
// thread, an even number. Keys alone are sorted in place. Other items are read from `items` and taken apart: at PAYLOAD to
// keys and payloads; at PLACE to places, or, where payloads go beside them, to keys, and the payloads in order in their
// place. Items' places are less than `count`, no two are equal. Buckets of more than `longest` items are passed over. Those
// that are too long for a block, and those whose items crowd in few of the bins, are left as they are and listed in `left`:
// where each begins, where it ends, and NO_PLACE, `left_count` of them, which is zero before; none has fewer than LEAST_LEFT
// items. `take_apart` does that with items which have been left, and are in order since, as are payloads beside them. Any
// number of blocks. Dynamic shared memory: a Shared; of take_apart a Stretches. Cost: one read and one write of the items and the payload, an atomic in
// shared memory an item.
//
// The range of a bucket is cut into as many bins as a block has items, which are put in the order of their bins. Few
// share one, so none is far from its place: rows of neighbouring items are sorted in registers, and then the rows between
// them, from the middle of one to the middle of the next. An item that is no more than half a row off is in its place then.
//
// Items that have payloads beside them are sorted as 32 bits: their leading ones, counted from the bucket's least item, and
// their indexes in the bucket. Those whose leading bits agree are few; all of their bits settle it as they are written.
// Payloads wait in shared memory until an index asks for them.
//
// Source: the bins are those of Dobosiewicz, "Sorting by distributive partitioning" (1978).
#include "classify.cuh"
#include "code.cuh"
#include "item.cuh"
#include "network.cuh"
#include "payload.cuh"
#include "placed.cuh"
#include "scan.cuh"
#include "simt.cuh"

namespace simt::finish_buckets {

using item::Item;
using item::Key;
// What is sorted, and that and an item as words that have atomics.
#if SORTIE_PAYLOAD_BYTES > 0
using Sorted = u32;
#else
using Sorted = Item;
#endif
using Word = classify::WordOf<Sorted>::Type;
using Wide = classify::WordOf<Item>::Type;
// Whether items are to be taken apart.
constexpr bool APART = SORTIE_LOW != ALONE;
// Whether payloads go beside them.
constexpr bool BESIDE = payload::WORDS > 0;

constexpr code::Kind KIND = code::SORTIE_KIND;
constexpr u32 BLOCK = SORTIE_THREADS;
constexpr u32 ROW = SORTIE_ROW;
constexpr u32 HALF = ROW / 2;
constexpr u32 CAPACITY = BLOCK * ROW;
constexpr u32 BINS = CAPACITY;
constexpr u32 INDEX_BITS = network::log2_ceil(CAPACITY);
constexpr u32 LEADING_BITS = 32 - INDEX_BITS;
constexpr u32 WARPS = BLOCK / WARP;
// Threads that a multiprocessor is to hold: 64 registers are left for each.
constexpr u32 RESIDENT = 1024;
// Odd, so that what threads read of their own rows lies in different banks.
constexpr u32 STRIDE = ROW | 1;
// Rounds after which a bucket of this many keys is left to who sorts by comparison.
constexpr u32 ROUNDS = 3;
constexpr u32 LEAST_LEFT = 1024;
// With more items than that in one bin those that have payloads beside them are left at once: many may agree.
constexpr u32 CROWD = 4 * ROW;
// More than any number of keys: between offsets, what ends or begins there is no segment.
constexpr u64 NO_PLACE = 0x8080808080808080;
static_assert(ROW % 2 == 0 && BLOCK * STRIDE < 1u << 16, "a bin's place and a rank have 16 bits each");

struct Arrays {
    Item* items;
    Key* keys;
    // Or places.
    payload::Word* payload;
    // Of items.
    u64 count;
};

// All but the payload beside an item.
SIMT_FN void put(const Arrays& arrays, u64 place, Item item, [[maybe_unused]] const code::Transform& transform) {
    if (SORTIE_LOW != PLACE || BESIDE) arrays.keys[place] = code::decode<KIND>(item::code_of(item), transform);
#if SORTIE_LOW != ALONE
    if (!BESIDE) arrays.payload[place] = item::low_of(item);
#endif
}

#if SORTIE_PAYLOAD_BYTES > 0
// What an item is sorted as.
struct Packing {
    u64 least;
    // Bits of a place, and those below the leading ones.
    u32 place_bits, shift;

    SIMT_FN u64 close_up(Item item) const { return u64(item::code_of(item)) << place_bits | item::low_of(item); }
    SIMT_FN Word pack(Item item, u32 index) const { return u32((close_up(item) - least) >> shift) << INDEX_BITS | index; }

    // Where all bits of the code are leading ones. Of the place there may be more than all others.
    SIMT_FN Key code_of(Word word) const {
        return Key((least >> place_bits) + (word >> INDEX_BITS >> lesser(place_bits - shift, LEADING_BITS)));
    }
    SIMT_FN bool has_codes() const { return shift <= place_bits; }
};

// For items from the least to the greatest, and places less than `count`.
SIMT_FN Packing packing_for(Item least, Item greatest, u64 count) {
    // Counted from the first place, no place carries into a code.
    if (item::code_of(least) != item::code_of(greatest)) least = item::join(item::code_of(least), 0);
    Packing packing = {0, 64 - leading_zeros(count - 1), 0};
    packing.least = packing.close_up(least);
    const u32 bits = 64 - leading_zeros(packing.close_up(greatest) - packing.least);
    packing.shift = greater(bits, LEADING_BITS) - LEADING_BITS;
    return packing;
}

SIMT_FN u32 index_of(Word word) { return word % CAPACITY; }
SIMT_FN bool agree(Word a, Word b) { return (a ^ b) < CAPACITY; }
#endif

struct Shared {
    Wide least[WARPS], greatest[WARPS];
#if SORTIE_PAYLOAD_BYTES > 0
    Packing packing;
#endif
    classify::Range range;
    u32 sums[WARPS];
    // Whether neighbours are in the wrong order, or a bin is crowded.
    u32 wrong;
    // Items of each bin; then the items, in rows.
    Word items[BLOCK * STRIDE];
#if SORTIE_PAYLOAD_BYTES > 0
    // By the index: a word of each payload; and of each item the half that its word does not tell, the place or the code.
    payload::Word payload[CAPACITY];
    u32 halves[CAPACITY];
#endif
};
static_assert(sizeof(Shared) == SORTIE_BLOCK_MEMORY, "as the host has it");

// Where the item of a place is kept, or the count of a bin.
SIMT_FN u32 spot(u32 place) { return place + place / ROW * (STRIDE - ROW); }

// The range of what is sorted.
SIMT_FN classify::Range find_range(const Wide (&row)[ROW], [[maybe_unused]] const Arrays& arrays, Shared& shared) {
    Wide least = row[0], greatest = row[0];
    SIMT_UNROLL
    for (u32 r = 1; r < ROW; ++r) {
        least = lesser(least, row[r]);
        greatest = greater(greatest, row[r]);
    }
    least = warp_least(least);
    greatest = warp_greatest(greatest);
    if (lane() == 0) {
        shared.least[warp_rank()] = least;
        shared.greatest[warp_rank()] = greatest;
    }
    barrier();
    if (thread_rank() < WARP) {
        least = warp_least(shared.least[lane() % WARPS]);
        greatest = warp_greatest(shared.greatest[lane() % WARPS]);
        if (lane() == 0) {
            shared.wrong = 0;
#if SORTIE_PAYLOAD_BYTES > 0
            shared.packing = packing_for(least, greatest, arrays.count);
            greatest = shared.packing.pack(greatest, CAPACITY - 1);
            least = 0;
#endif
            shared.range = classify::cut<Sorted>(Sorted(least), Sorted(greatest - least), BINS);
        }
    }
    barrier();
    return shared.range;
}

// Turns the items of each bin into how many come before it.
SIMT_FN void sum_bins(u32* bins, Shared& shared) {
    u32* own = bins + thread_rank() * STRIDE;
    u32 sum = 0;
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) sum += own[r];
    if constexpr (BESIDE) {
        bool crowded = false;
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) crowded |= own[r] > CROWD;
        if (crowded) atomic_or<Relaxed, Block>(&shared.wrong, 1);
    }
    sum = scan::exclusive<BLOCK>(sum, shared.sums);
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 keys = own[r];
        own[r] = sum;
        sum += keys;
    }
    barrier();
}

// Sorts rows, and then the rows between them. Returns whether all is in order.
SIMT_FN bool sort_neighbours(Shared& shared) {
    const u32 thread = thread_rank();
    const bool last = thread + 1 == BLOCK;
    Word* own = shared.items + thread * STRIDE;
    Word* next = own + STRIDE;
    Word row[ROW];
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) row[r] = own[r];
    network::sort<ROW>(row);
    SIMT_UNROLL
    for (u32 r = 0; r < HALF; ++r) own[r] = row[r];
    barrier();
    if (thread == 0) shared.wrong = 0;
    SIMT_UNROLL
    for (u32 r = 0; r < HALF; ++r) {
        row[r] = row[HALF + r];
        row[HALF + r] = last ? ~Word(0) : next[r];
    }
    // Both halves ascend: each against the other's mirror image.
    SIMT_UNROLL
    for (u32 r = 0; r < HALF; ++r) network::exchange(row[r], row[ROW - 1 - r]);
    network::sort_bitonic<HALF, 0>(row);
    network::sort_bitonic<HALF, HALF>(row);
    SIMT_UNROLL
    for (u32 r = 0; r < HALF; ++r) {
        own[HALF + r] = row[r];
        if (!last) next[r] = row[HALF + r];
    }
    barrier();
    bool wrong = thread == 0 && own[HALF] < own[HALF - 1];
    if (!last) wrong |= next[HALF] < next[HALF - 1];
    wrong = any(wrong);
    if (lane() == 0 && wrong) atomic_or<Relaxed, Block>(&shared.wrong, 1);
    barrier();
    return shared.wrong == 0;
}

#if SORTIE_PAYLOAD_BYTES > 0
// Brings a word of each payload; it is there once its copy has been waited for.
SIMT_FN void bring_payload(const Arrays& arrays, u64 start, u32 count, u32 word, Shared& shared) {
    const payload::Word* from = arrays.payload + start * payload::WORDS + word;
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 i = r * BLOCK + thread_rank();
        if (i < count) copy_async(&shared.payload[i], from + i * payload::WORDS);
    }
    copy_async_commit();
}

// The code of a word's item, and all of it.
SIMT_FN Key code_of(Word word, const Packing& packing, const Shared& shared) {
    return packing.has_codes() ? packing.code_of(word) : Key(shared.halves[index_of(word)]);
}
SIMT_FN Item item_of(Word word, const Packing& packing, const Item* items, const Shared& shared) {
    if (!packing.has_codes()) return items[index_of(word)];
    return item::join(packing.code_of(word), shared.halves[index_of(word)]);
}

// Where an item belongs among those whose words agree with its.
SIMT_FN u32 place_among(u32 i, u32 count, const Packing& packing, const Item* items, const Shared& shared) {
    const Word own = shared.items[spot(i)];
    u32 first = i;
    while (first > 0 && agree(own, shared.items[spot(first - 1)])) --first;
    const Item item = item_of(own, packing, items, shared);
    u32 place = first;
    for (u32 other = first; other < count && agree(own, shared.items[spot(other)]); ++other)
        place += item_of(shared.items[spot(other)], packing, items, shared) < item;
    return place;
}

// Writes keys, and payloads word by word. Each word of all has been read before it is written.
SIMT_FN void put_with_payload(const Arrays& arrays, u64 start, u32 count, Shared& shared, const code::Transform& transform) {
    const Item* items = arrays.items + start;
    const Packing packing = shared.packing;
    Word words[ROW];
    // A bit for each that agrees with a neighbour.
    u32 agreeing = 0;
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 i = r * BLOCK + thread_rank();
        words[r] = shared.items[spot(i)];
        bool agrees = i > 0 && agree(words[r], shared.items[spot(i - 1)]);
        agrees |= i + 1 < count && agree(words[r], shared.items[spot(i + 1)]);
        agreeing |= u32(agrees && i < count) << r;
    }
    SIMT_UNROLL
    for (u32 w = 0; w < payload::WORDS; ++w) {
        auto put_word = [&](Word word, u32 place) {
            if (w == 0) put(arrays, start + place, item::join(code_of(word, packing, shared), 0), transform);
            arrays.payload[(start + place) * payload::WORDS + w] = shared.payload[index_of(word)];
        };
        if (w > 0) {
            barrier();
            bring_payload(arrays, start, count, w, shared);
            copy_async_wait<0>();
            barrier();
        }
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            const u32 i = r * BLOCK + thread_rank();
            if (i < count && !(agreeing >> r & 1)) put_word(words[r], i);
        }
        // Few, so that a warp has few rounds of them.
        SIMT_ROLL
        for (u32 left = agreeing; left > 0; left &= left - 1) {
            const u32 i = trailing_zeros(left) * BLOCK + thread_rank();
            put_word(shared.items[spot(i)], place_among(i, count, packing, items, shared));
        }
    }
}
#endif

// Returns false where the items are left as they were.
SIMT_FN bool finish(const Arrays& arrays, u64 start, u32 count, Shared& shared, const code::Transform& transform) {
    const u32 thread = thread_rank();
    const u32 left = count - lesser(count, thread);
    const Item* items = arrays.items + start;
    Item read[ROW];
    // Every load is made, of the last item where there is none: loads under conditions of their own would wait for one
    // another.
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) read[r] = items[lesser(r * BLOCK + thread, count - 1)];
    u32* bins = reinterpret_cast<u32*>(shared.items);
    SIMT_UNROLL
    for (u32 r = 0; r < STRIDE; ++r) bins[r * BLOCK + thread] = 0;
#if SORTIE_PAYLOAD_BYTES > 0
    bring_payload(arrays, start, count, 0, shared);
#endif
    Wide whole[ROW];
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
#if SORTIE_LOW == ALONE
        whole[r] = code::encode<KIND>(read[r], transform);
#else
        whole[r] = read[r];
#endif
    }
    const classify::Range range = find_range(whole, arrays, shared);
    if (!APART && range.span == 0) return true;
    Word row[ROW];
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
#if SORTIE_PAYLOAD_BYTES > 0
        shared.halves[r * BLOCK + thread] = shared.packing.has_codes() ? item::low_of(whole[r]) : item::code_of(whole[r]);
        row[r] = shared.packing.pack(whole[r], r * BLOCK + thread);
#else
        row[r] = whole[r];
#endif
    }
    // A bin, and the item's rank in it.
    const classify::Classifier<Sorted> classifier(range);
    u32 places[ROW];
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 bin = spot(classifier.bucket_within(Sorted(row[r])));
        places[r] = bin << 16;
        if (r * BLOCK < left) places[r] |= atomic_add<Relaxed, Block>(&bins[bin], 1);
    }
    barrier();
    sum_bins(bins, shared);
#if SORTIE_PAYLOAD_BYTES > 0
    if (shared.wrong && count >= LEAST_LEFT) {
        copy_async_wait<0>();
        return false;
    }
#endif
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const bool there = r * BLOCK < left;
        places[r] = there ? bins[places[r] >> 16] + (places[r] & 0xFFFF) : r * BLOCK + thread;
        row[r] = there ? row[r] : ~Word(0);
    }
    barrier();
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) shared.items[spot(places[r])] = row[r];
#if SORTIE_PAYLOAD_BYTES > 0
    copy_async_wait<0>();
#endif
    barrier();
    u32 round = 1;
    while (!sort_neighbours(shared)) {
        if (round == ROUNDS && count >= LEAST_LEFT) return false;
        if (round < ROUNDS) ++round;
    }
#if SORTIE_PAYLOAD_BYTES > 0
    put_with_payload(arrays, start, count, shared, transform);
#else
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 i = r * BLOCK + thread;
        if (r * BLOCK < left) put(arrays, start + i, Item(shared.items[spot(i)]), transform);
    }
#endif
    return true;
}

SIMT_KERNEL(BLOCK, RESIDENT / BLOCK)
finish_buckets(Arrays arrays, placed::Buckets buckets, u64 longest, u64* left, u32* left_count, code::Transform transform) {
    Shared& shared = *reinterpret_cast<Shared*>(shared_memory());
    const u32 bucket_count = placed::count(buckets);
    for (u32 b = block_rank(); b < bucket_count; b += grid_blocks()) {
        const u64* ends = placed::ends_of(buckets, b);
        const u64 start = ends[0], end = ends[1], count = end - start;
        if (count < (APART ? 1 : 2) || count > longest) continue;
        const bool done = count <= CAPACITY && finish(arrays, start, u32(count), shared, transform);
        if (!done && thread_rank() == 0) {
            u64* own = left + 3 * u64(atomic_add(left_count, 1));
            own[0] = start;
            own[1] = end;
            own[2] = NO_PLACE;
        }
        barrier();
    }
}

// Stretches of up to so many items are a block's, longer ones that of all blocks.
constexpr u64 OWN_STRETCH = 1 << 16;

struct Stretches {
    u32 listed;
    u32 list[BLOCK];
};
static_assert(sizeof(Stretches) == SORTIE_STRETCHES_MEMORY, "as the host has it");

SIMT_KERNEL(BLOCK, RESIDENT / BLOCK)
take_apart(Arrays arrays, const u64* left, const u32* left_count, code::Transform transform) {
    Stretches& longer = *reinterpret_cast<Stretches*>(shared_memory());
    const u32 count = *left_count, thread = thread_rank();
    auto length = [&](u32 s) { return left[3 * u64(s) + 1] - left[3 * u64(s)]; };
    auto put_each = [&](u32 s, u64 first, u64 step) {
        const u64 start = left[3 * u64(s)], end = left[3 * u64(s) + 1];
        for (u64 i = start + first; i < end; i += step) put(arrays, i, arrays.items[i], transform);
    };
    for (u32 s = block_rank(); s < count; s += grid_blocks())
        if (length(s) <= OWN_STRETCH) put_each(s, thread, BLOCK);
    // All blocks look through all stretches: a thread each, for one after the other would take longer than what they do.
    for (u32 first = 0; first < count; first += BLOCK) {
        if (thread == 0) longer.listed = 0;
        barrier();
        const u32 s = first + thread;
        if (s < count && length(s) > OWN_STRETCH) longer.list[atomic_add<Relaxed, Block>(&longer.listed, 1)] = s;
        barrier();
        for (u32 l = 0; l < longer.listed; ++l)
            put_each(longer.list[l], u64(block_rank()) * BLOCK + thread, u64(grid_blocks()) * BLOCK);
        barrier();
    }
}

// As the host has them.
SORTIE_LAYOUTS

} // namespace simt::finish_buckets
