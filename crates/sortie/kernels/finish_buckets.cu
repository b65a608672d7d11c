// Sorts buckets that fit a block, in place: each key goes almost to its place at once, and its neighbours settle the rest.
//
// Contract. An instantiation is made for SORTIE_KEY_BYTES and SORTIE_KIND, blocks of SORTIE_THREADS with SORTIE_ROW keys a
// thread, an even number. Buckets of more than `longest` keys are passed over. Those that are too long for a block, and those
// whose keys crowd in few of the bins, are left as they are and listed in `left`: where each begins, where it ends, and NO_PLACE,
// `left_count` of them, which is zero before; none has fewer than LEAST_LEFT keys. Any number of blocks. Dynamic shared memory: a
// Shared. Cost: one read and one write of the keys, an atomic in shared memory a key.
//
// The range of a bucket's codes is cut into as many bins as a block has keys, and keys are put in the order of their bins. Few
// share one, so none is far from its place: rows of neighbouring keys are sorted in registers, and then the rows between
// them, from the middle of one to the middle of the next. A key that is no more than half a row off is in its place then.
//
// Source: the bins are those of Dobosiewicz, "Sorting by distributive partitioning" (1978).
#include "classify.cuh"
#include "code.cuh"
#include "network.cuh"
#include "scan.cuh"
#include "simt.cuh"

namespace simt::finish_buckets {

using Key = code::OfBytes<SORTIE_KEY_BYTES>::Type;
// A code as a word that has atomics.
using Word = classify::WordOf<Key>::Type;

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

struct Shared {
    Word least[WARPS], greatest[WARPS];
    classify::Range range;
    u32 sums[WARPS];
    // Whether neighbours are in the wrong order.
    u32 wrong;
    // Keys of each bin; then the codes, in rows.
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
        if (lane() == 0) shared.range = classify::cut<Key>(Key(least), Key(greatest - least), BINS);
    }
    barrier();
    return shared.range;
}

// Turns the keys of each bin into how many come before it.
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

// Returns false where the keys are left as they were.
SIMT_FN bool finish(Key* keys, u32 count, Shared& shared, const code::Transform& transform) {
    const u32 thread = thread_rank();
    const u32 left = count - lesser(count, thread);
    Key read[ROW];
    // Every load is made, of the last key where there is none: loads under conditions of their own would wait for one another.
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) read[r] = keys[lesser(r * BLOCK + thread, count - 1)];
    u32* bins = reinterpret_cast<u32*>(shared.items);
    SIMT_UNROLL
    for (u32 r = 0; r < STRIDE; ++r) bins[r * BLOCK + thread] = 0;
    Word row[ROW];
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) row[r] = code::encode<KIND>(read[r], transform);
    const classify::Range range = find_range(row, shared);
    if (range.span == 0) return true;

    // A bin, and the key's rank in it.
    const classify::Classifier<Key> classifier(range);
    u32 places[ROW];
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 bin = spot(classifier.bucket_within(Key(row[r])));
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
        if (r * BLOCK < left) keys[i] = code::decode<KIND>(Key(shared.items[spot(i)]), transform);
    }
    return true;
}

SIMT_KERNEL(BLOCK, RESIDENT / BLOCK)
finish_buckets(Key* keys, Buckets buckets, u64 longest, u64* left, u32* left_count, code::Transform transform) {
    Shared& shared = *reinterpret_cast<Shared*>(shared_memory());
    const u32 bucket_count = buckets.listed ? *buckets.listed : buckets.count;
    for (u32 b = block_rank(); b < bucket_count; b += grid_blocks()) {
        const u64* ends = buckets.ends + u64(b) * buckets.stride;
        const u64 start = ends[0], end = ends[1], count = end - start;
        if (count < 2 || count > longest) continue;
        const bool done = count <= CAPACITY && finish(keys + start, u32(count), shared, transform);
        if (!done && thread_rank() == 0) {
            u64* own = left + 3 * u64(atomic_add(left_count, 1));
            own[0] = start;
            own[1] = end;
            own[2] = NO_PLACE;
        }
        barrier();
    }
}

} // namespace simt::finish_buckets
