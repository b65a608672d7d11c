// Sorts buckets that fit in a block, or one array that does, with payloads or indices. Stable.
//
// Compile-time parameters:
// - SORTIE_KEY_BYTES: 4 or 8, the width of a key. SORTIE_KIND: code::Kind.
// - payload.cuh and bins.cuh.
// - SORTIE_ARGSORT: 1 if only the indices are wanted, so that the keys stay unsorted; else 0.
//
// Method, for a bucket:
// 1. For each key, a word of 32 bits is sorted: the leading bits of its code minus the bucket's least code, and below
//    them the key's index in the bucket. The words are sorted by bins (bins.cuh).
// 2. Few keys agree in all leading bits. The thread that holds the first of such a run sorts the run by insertion, by
//    whole codes.
// 3. If keys crowd in few bins, the indices are sorted instead by stable passes over the digits of the codes.
// 4. Codes and payloads wait in shared memory, and are written in the order of the sorted indices.
//
// Source: own; the bins are those of bins.cuh.
#include "bins.cuh"
#include "classify.cuh"
#include "code.cuh"
#include "left.cuh"
#include "payload.cuh"
#include "bucket_bounds.cuh"
#include "simt.cuh"

namespace simt::finish_stable {

using namespace bins;
using Key = code::OfBytes<SORTIE_KEY_BYTES>::Type;

constexpr code::Kind KIND = code::SORTIE_KIND;
constexpr u32 INDEX_BITS = network::log2_ceil(CAPACITY);
constexpr u32 LEADING_BITS = 32 - INDEX_BITS;
constexpr u32 INDEX_MASK = (1u << INDEX_BITS) - 1;
// If a bin has more keys than this, the bucket is sorted by digits: too many keys may agree in their leading bits.
constexpr u32 CROWD = 4 * ROW;
// The bits of a digit. Each of its values has a thread.
constexpr u32 BITS = BLOCK < 256 ? 7 : 8;
constexpr u32 RADIX = 1u << BITS;
static_assert(RADIX <= BLOCK, "a digit's value has a thread");

struct Arrays {
    Key* keys;
    payload::Word* payload;
    // The same array; or null if the payload to write is the index of the key in its bucket.
    const payload::Word* payload_from;
};

// How a code and an index are packed into a word of 32 bits.
struct Packing {
    // The least code of the bucket; the number of low bits that do not fit.
    Key least;
    u32 shift;

    SIMT_FN u32 pack(Key code, u32 index) const { return u32(Key(code - least) >> shift) << INDEX_BITS | index; }
};

// Whether two packed words agree in all leading bits.
SIMT_FN bool agree(u32 a, u32 b) { return (a ^ b) <= INDEX_MASK; }

// The shared memory of `sort_by_digits`, which overlays the items.
struct Ranking {
    // For each warp and value of the digit a count, later the index where the next key goes.
    u32 counters[WARPS * RADIX];
    // The indices in the order of the digits so far.
    u16 order[CAPACITY];
};

constexpr u32 RANKING_WORDS = sizeof(Ranking) / sizeof(u32);

struct Shared {
    Key least[WARPS], greatest[WARPS];
    Packing packing;
    classify::Range range;
    // The number of low bits in which codes may differ, after the least code is subtracted.
    u32 bits;
    u32 sums[WARPS];
    // Whether neighbours are in the wrong order, or a bin is crowded.
    u32 wrong;
    // The counts of the bins; later the words, at their slots.
    u32 items[BLOCK * STRIDE < RANKING_WORDS ? RANKING_WORDS : BLOCK * STRIDE];
    // The code, and one word of the payload, of each key of the bucket.
    Key codes[CAPACITY];
    payload::Word payload[CAPACITY];
};
static_assert(sizeof(Shared) == SORTIE_BLOCK_MEMORY, "as the host has it");

// Finds the least and the greatest code, how codes are packed, and the range of the packed words. Returns whether
// codes differ. All threads of the block take part. Begins after the thread's own writes; contains barriers.
SIMT_FN bool find_range(const Key (&row)[ROW], Shared& shared) {
    Key least = row[0], greatest = row[0];
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
            const u32 bits = 64 - leading_zeros(u64(Key(greatest - least)));
            shared.bits = bits;
            shared.packing = {least, greater(bits, LEADING_BITS) - LEADING_BITS};
            shared.range = classify::cut<u32>(0u, shared.packing.pack(greatest, INDEX_MASK), CAPACITY);
            shared.wrong = 0;
        }
    }
    barrier();
    return shared.bits > 0;
}

// Starts to copy word `word` of each payload to shared memory. It may be read after copy_async_wait and a barrier.
SIMT_FN void bring_payload(const Arrays& arrays, u64 start, u32 count, u32 word, Shared& shared) {
    const payload::Word* from = arrays.payload_from + start * payload::WORDS + word;
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 i = r * BLOCK + thread_rank();
        if (SORTIE_ARGSORT && !arrays.payload_from) shared.payload[i] = payload::Word(i);
        else if (i < count) copy_async(&shared.payload[i], from + i * payload::WORDS);
    }
    copy_async_commit();
}

// Sorts each run of words that agree in their leading bits, by their codes. The thread that holds the first word of a
// run sorts it by insertion.
SIMT_FN void settle_agreeing(u32 count, Shared& shared) {
    // Bit r is set if word r of the thread is the first of a run.
    u32 firsts = 0;
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 i = r * BLOCK + thread_rank(), own = shared.items[slot(i)];
        const bool is_first = i + 1 < count && agree(own, shared.items[slot(i + 1)]);
        firsts |= u32(is_first && (i == 0 || !agree(own, shared.items[slot(i - 1)]))) << r;
    }
    barrier();
    SIMT_ROLL
    for (; firsts > 0; firsts &= firsts - 1) {
        const u32 first = trailing_zeros(firsts) * BLOCK + thread_rank(), own = shared.items[slot(first)];
        for (u32 next = first + 1; next < count; ++next) {
            const u32 word = shared.items[slot(next)];
            if (!agree(own, word)) break;
            const Key code = shared.codes[word & INDEX_MASK];
            u32 to = next;
            for (; to > first; --to) {
                const u32 before = shared.items[slot(to - 1)];
                if (shared.codes[before & INDEX_MASK] <= code) break;
                shared.items[slot(to)] = before;
            }
            shared.items[slot(to)] = word;
        }
    }
    barrier();
}

// Sorts the packed words by bins. Returns false, with the words unsorted, if they crowd in few bins.
SIMT_FN bool sort_by_bins(const Key (&row)[ROW], u32 count, Shared& shared) {
    const u32 thread = thread_rank();
    const u32 left = count - lesser(count, thread);
    const Packing packing = shared.packing;
    const classify::Classifier<u32> classifier(shared.range);
    // `positions`: first bin << 16 | rank of the key within it; later the key's index in the bucket.
    u32 words[ROW], positions[ROW];
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        words[r] = packing.pack(row[r], r * BLOCK + thread);
        const u32 bin = slot(classifier.bucket_within(words[r]));
        positions[r] = bin << 16;
        if (r * BLOCK < left) positions[r] |= atomic_add<Relaxed, Block>(&shared.items[bin], 1);
    }
    barrier();
    if (bins::sum(shared.items, shared.sums) > CROWD) atomic_or<Relaxed, Block>(&shared.wrong, 1);
    barrier();
    if (shared.wrong) return false;
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const bool there = r * BLOCK < left;
        positions[r] = there ? shared.items[positions[r] >> 16] + (positions[r] & 0xFFFF) : r * BLOCK + thread;
        words[r] = there ? words[r] : ~0u;
    }
    barrier();
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) shared.items[slot(positions[r])] = words[r];
    barrier();
    for (u32 round = 1; !sort_neighbours(shared.items, shared.wrong); ++round)
        if (round == ROUNDS) return false;
    if (packing.shift > 0) settle_agreeing(count, shared);
    return true;
}

// Sorts the indices of the codes by stable passes over their digits, the lowest digit first. Each warp has
// consecutive indices, so that ranks follow their order.
SIMT_FN void sort_by_digits(u32 count, Shared& shared) {
    // Digits are shifted to the left by this, so that they are offsets in bytes in a table of words.
    constexpr u32 AT = 2;
    Ranking& ranking = *reinterpret_cast<Ranking*>(shared.items);
    const u32 first = warp_rank() * WARP * ROW + lane(), own = 1u << lane(), below = own - 1;
    u32* counters = ranking.counters + warp_rank() * RADIX;
    u32 order[ROW];
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) order[r] = first + r * WARP;
    SIMT_ROLL
    for (u32 low = 0; low < shared.bits; low += BITS) {
        // All threads have read their items, whose memory is now overwritten.
        barrier();
        SIMT_UNROLL
        for (u32 i = 0; i < RADIX; i += WARP) counters[i + lane()] = 0;
        warp_barrier();
        u32 digits[ROW];
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            // Indices past the end get the greatest digit, so that they stay last.
            const Key code = shared.codes[order[r]] - shared.packing.least;
            digits[r] = (order[r] < count ? u32(code >> low) % RADIX : RADIX - 1) << AT;
            atomic_add<Relaxed, Block>(&counters[digits[r] >> AT], 1);
        }
        barrier();
        u32 all = 0;
        if (thread_rank() < RADIX) {
            SIMT_UNROLL
            for (u32 w = 0; w < WARPS; ++w) all += ranking.counters[w * RADIX + thread_rank()];
        }
        u32 next = scan::exclusive<BLOCK>(all, shared.sums);
        if (thread_rank() < RADIX) {
            SIMT_UNROLL
            for (u32 w = 0; w < WARPS; ++w) {
                u32& counter = ranking.counters[w * RADIX + thread_rank()];
                const u32 counted = counter;
                counter = next;
                next += counted;
            }
        }
        barrier();
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            const u32 peers = match_bits<AT, BITS>(digits[r]);
            u32& counter = counters[digits[r] >> AT];
            const u32 index = counter + popcount(peers & below);
            warp_barrier();
            if ((peers & ~below) == own) counter = index + 1;
            warp_barrier();
            ranking.order[index] = u16(order[r]);
        }
        barrier();
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) order[r] = ranking.order[first + r * WARP];
    }
    barrier();
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) shared.items[slot(first + r * WARP)] = order[r];
    barrier();
}

// Writes keys and payloads in the order of the sorted indices, payloads word by word. Each word of all payloads has
// been read before any is written.
SIMT_FN void put(const Arrays& arrays, u64 start, u32 count, Shared& shared, const code::Transform& transform) {
    u32 indices[ROW];
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) indices[r] = shared.items[slot(r * BLOCK + thread_rank())] & INDEX_MASK;
    if (!SORTIE_ARGSORT) {
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            const u32 i = r * BLOCK + thread_rank();
            if (i < count) arrays.keys[start + i] = code::decode<KIND>(shared.codes[indices[r]], transform);
        }
    }
    SIMT_UNROLL
    for (u32 w = 0; w < payload::WORDS; ++w) {
        if (w > 0) {
            barrier();
            bring_payload(arrays, start, count, w, shared);
            copy_async_wait<0>();
            barrier();
        }
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            const u32 i = r * BLOCK + thread_rank();
            if (i < count) arrays.payload[(start + i) * payload::WORDS + w] = shared.payload[indices[r]];
        }
    }
}

// Sorts the bucket of `count` keys, 1 to CAPACITY, that begins at `start`.
SIMT_FN void finish(const Arrays& arrays, u64 start, u32 count, Shared& shared, const code::Transform& transform) {
    bring_payload(arrays, start, count, 0, shared);
    Key row[ROW];
    // Past the end, the last key is loaded again: loads under a condition would not overlap.
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) row[r] = arrays.keys[start + lesser(r * BLOCK + thread_rank(), count - 1)];
    SIMT_UNROLL
    for (u32 r = 0; r < STRIDE; ++r) shared.items[r * BLOCK + thread_rank()] = 0;
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        row[r] = code::encode<KIND>(row[r], transform);
        shared.codes[r * BLOCK + thread_rank()] = row[r];
    }
    const bool differ = find_range(row, shared);
    if (differ && !sort_by_bins(row, count, shared)) sort_by_digits(count, shared);
    copy_async_wait<0>();
    barrier();
    if (differ) put(arrays, start, count, shared, transform);
    else if (SORTIE_ARGSORT && !arrays.payload_from)
        for (u32 i = thread_rank(); i < count; i += BLOCK) arrays.payload[start + i] = payload::Word(i);
}

// finish_stable: sorts each bucket.
// - Parameters:
//   - `arrays`: `keys`, whose codes are sorted; `payload`, where payloads or indices are written; `payload_from`, see
//     above.
//   - `buckets`: the buckets, in indices of keys. If `ends` is null, there is one of `count` keys, which fits in a
//     block; `profile`, `codes` and `list` are then not used.
//   - `profile`, `codes`: from profile.cu and count_buckets.cu. A long bucket that has only one code is sorted already.
//   - `list`: see left.cuh.
// - Launch: any number of blocks of BLOCK threads. Shared memory: Shared. After the keys have been moved to their
//   buckets.
// - Writes: keys (not with SORTIE_ARGSORT) and payloads of the sorted buckets. Buckets that are too long for a block
//   are left unsorted, and added to `list`.
// - Cost: one read and one write of keys and payloads, one atomic in shared memory per key, networks over 1.5 rows
//   per thread.
SIMT_KERNEL(BLOCK, RESIDENT / BLOCK)
finish_stable(Arrays arrays, bucket_bounds::Buckets buckets, const classify::Profile* profile,
              classify::Codes<Key> codes, left::List list, code::Transform transform) {
    await_turn();
    Shared& shared = *reinterpret_cast<Shared*>(shared_memory());
    if (!buckets.ends) {
        finish(arrays, 0, buckets.count, shared, transform);
        return;
    }
    const u32 bucket_count = bucket_bounds::count(buckets);
    for (u32 b = block_rank(); b < bucket_count; b += grid_blocks()) {
        const u64* ends = bucket_bounds::ends_of(buckets, b);
        const u64 start = ends[0], end = ends[1], count = end - start;
        if (count < 2) continue;
        if (count <= CAPACITY) {
            finish(arrays, start, u32(count), shared, transform);
            barrier();
        } else if (thread_rank() == 0) {
            const bool is_single = classify::compares_codes(*profile) && codes.noted[b] != 0 && codes.others[b] == 0;
            if (!is_single) left::add(list, start, end);
        }
    }
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::finish_stable
