// Sorts buckets that fit a block: each item goes almost to its place at once, and its neighbours settle the rest.
//
// Contract. An instantiation is made as item.cuh says, for SORTIE_PAYLOAD_BYTES, and blocks of SORTIE_THREADS with SORTIE_ROW
// items a thread, an even number. Keys alone are sorted in place. Other items are read from `items` and taken apart: to keys and
// payloads; or, at PLACE, to places where SORTIE_PAYLOAD_BYTES is 0, else to keys and the payloads of these places in `payload_from`.
// Buckets of more than `longest` items are passed over. Those that are too long for a block, and those whose items crowd in few of
// the bins, are left as they are and listed in `left`: where each begins, where it ends, and NO_PLACE, `left_count` of them,
// which is zero before; none has fewer than LEAST_LEFT items. `take_apart` does that with items which have been left, and are in
// order since. Any number of blocks. Dynamic shared memory: a Shared. Cost: one read and one write of the items, an atomic in
// shared memory an item.
//
// The range of a bucket is cut into as many bins as a block has items, which are put in the order of their bins. Few
// share one, so none is far from its place: rows of neighbouring items are sorted in registers, and then the rows between
// them, from the middle of one to the middle of the next. An item that is no more than half a row off is in its place then.
//
// Source: the bins are those of Dobosiewicz, "Sorting by distributive partitioning" (1978).
#include "classify.cuh"
#include "code.cuh"
#include "item.cuh"
#include "network.cuh"
#include "scan.cuh"
#include "simt.cuh"

namespace simt::finish_buckets {

using item::Item;
using item::Key;
// An item as a word that has atomics.
using Word = classify::WordOf<Item>::Type;
// Whether items are to be taken apart.
constexpr bool APART = SORTIE_LOW != ALONE;

constexpr code::Kind KIND = code::SORTIE_KIND;
constexpr u32 BLOCK = SORTIE_THREADS;
constexpr u32 ROW = SORTIE_ROW;
constexpr u32 HALF = ROW / 2;
constexpr u32 CAPACITY = BLOCK * ROW;
constexpr u32 BINS = CAPACITY;
constexpr u32 WARPS = BLOCK / WARP;
// Threads that a multiprocessor is to hold: 64 registers are left for each.
constexpr u32 RESIDENT = 1024;
// Odd, so that what threads read of their own rows lies in different banks.
constexpr u32 STRIDE = ROW | 1;
// Rounds after which a bucket of this many keys is left to who sorts by comparison.
constexpr u32 ROUNDS = 3;
constexpr u32 LEAST_LEFT = 1024;
// More than any number of keys: between offsets, what ends or begins there is no segment.
constexpr u64 NO_PLACE = 0x8080808080808080;
static_assert(ROW % 2 == 0 && BLOCK * STRIDE < 1u << 16, "a bin's place and a rank have 16 bits each");

// Bucket b is ends[b * stride]..ends[b * stride + 1]; there are `count`, or, where that is given, `*listed`.
struct Buckets {
    const u64* ends;
    const u32* listed;
    u32 count, stride;
};

// Payloads of 16 bytes may lie at any 8: they are two words.
constexpr u32 WORDS = SORTIE_PAYLOAD_BYTES == 16 ? 2 : 1;
template <u32 bytes> struct WordOfPayload { using Type = u64; };
template <> struct WordOfPayload<0> { using Type = u32; };
template <> struct WordOfPayload<4> { using Type = u32; };
using PayloadWord = WordOfPayload<SORTIE_PAYLOAD_BYTES>::Type;

struct Arrays {
    Item* items;
    Key* keys;
    // Or places.
    PayloadWord* payload;
    const PayloadWord* payload_from;
};

SIMT_FN void put(const Arrays& arrays, u64 place, Item item, [[maybe_unused]] const code::Transform& transform) {
    if (!APART || SORTIE_PAYLOAD_BYTES > 0) arrays.keys[place] = code::decode<KIND>(item::code_of(item), transform);
#if SORTIE_LOW == PLACE && SORTIE_PAYLOAD_BYTES > 0
    SIMT_UNROLL
    for (u32 w = 0; w < WORDS; ++w)
        arrays.payload[place * WORDS + w] = arrays.payload_from[u64(item::low_of(item)) * WORDS + w];
#elif SORTIE_LOW != ALONE
    arrays.payload[place] = item::low_of(item);
#endif
}

struct Shared {
    Word least[WARPS], greatest[WARPS];
    classify::Range range;
    u32 sums[WARPS];
    // Whether neighbours are in the wrong order.
    u32 wrong;
    // Items of each bin; then the items, in rows.
    Word items[BLOCK * STRIDE];
};

// Where the item of a place is kept, or the count of a bin.
SIMT_FN u32 spot(u32 place) { return place + place / ROW * (STRIDE - ROW); }

// The range of the block's codes.
SIMT_FN classify::Range find_range(const Word (&row)[ROW], Shared& shared) {
    Word least = row[0], greatest = row[0];
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
        if (lane() == 0) shared.range = classify::cut<Item>(Item(least), Item(greatest - least), BINS);
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
    Word row[ROW];
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
#if SORTIE_LOW == ALONE
        row[r] = code::encode<KIND>(read[r], transform);
#else
        row[r] = read[r];
#endif
    }
    const classify::Range range = find_range(row, shared);
    if (!APART && range.span == 0) return true;
    // A bin, and the item's rank in it.
    const classify::Classifier<Item> classifier(range);
    u32 places[ROW];
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 bin = spot(classifier.bucket_within(Item(row[r])));
        places[r] = bin << 16;
        if (r * BLOCK < left) places[r] |= atomic_add<Relaxed, Block>(&bins[bin], 1);
    }
    barrier();
    sum_bins(bins, shared);
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const bool there = r * BLOCK < left;
        places[r] = there ? bins[places[r] >> 16] + (places[r] & 0xFFFF) : r * BLOCK + thread;
        row[r] = there ? row[r] : ~Word(0);
    }
    barrier();
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) shared.items[spot(places[r])] = row[r];
    barrier();
    u32 round = 1;
    while (!sort_neighbours(shared)) {
        if (round == ROUNDS && count >= LEAST_LEFT) return false;
        if (round < ROUNDS) ++round;
    }
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 i = r * BLOCK + thread;
        if (r * BLOCK < left) put(arrays, start + i, Item(shared.items[spot(i)]), transform);
    }
    return true;
}

SIMT_KERNEL(BLOCK, RESIDENT / BLOCK)
finish_buckets(Arrays arrays, Buckets buckets, u64 longest, u64* left, u32* left_count, code::Transform transform) {
    Shared& shared = *reinterpret_cast<Shared*>(shared_memory());
    const u32 bucket_count = buckets.listed ? *buckets.listed : buckets.count;
    for (u32 b = block_rank(); b < bucket_count; b += grid_blocks()) {
        const u64* ends = buckets.ends + u64(b) * buckets.stride;
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

SIMT_KERNEL(BLOCK, RESIDENT / BLOCK)
take_apart(Arrays arrays, const u64* left, const u32* left_count, code::Transform transform) {
    const u64 all = u64(grid_blocks()) * BLOCK, own = u64(block_rank()) * BLOCK + thread_rank();
    for (u32 s = 0; s < *left_count; ++s) {
        const u64 start = left[3 * u64(s)], end = left[3 * u64(s) + 1];
        const bool shared = end - start > OWN_STRETCH;
        if (!shared && s % grid_blocks() != block_rank()) continue;
        for (u64 i = start + (shared ? own : thread_rank()); i < end; i += shared ? all : BLOCK)
            put(arrays, i, arrays.items[i], transform);
    }
}

} // namespace simt::finish_buckets
