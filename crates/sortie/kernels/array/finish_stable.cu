// Sorts buckets that fit a block, or one array that does, with what goes beside their keys. Stable.
//
// Contract. An instantiation is made for SORTIE_KEY_BYTES (4 or 8), SORTIE_KIND, as payload.cuh and bins.cuh say, and for
// SORTIE_PLACES: 1 where nobody reads the keys afterwards, which are left as they are. Without `ends` there is one bucket of `count`
// keys, which fits a block. Buckets that are too long for a block are
// left as they are and listed, unless the codes say that they have one code. Any number of blocks. Dynamic shared memory: a Shared. Cost: one read and one write of keys and
// payload.
//
// What is sorted is 32 bits for each key: its leading ones, counted from the bucket's least code, and its index in the bucket.
// Keys whose leading bits agree are few; who has the first of them puts them in order. Where keys crowd in few of the bins,
// their indices are sorted by stable passes over the digits of their codes instead. Codes and payloads wait in shared memory
// until an index asks for them.
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
// More keys than that in one bin are not sorted by bins: many may agree.
constexpr u32 CROWD = 4 * ROW;
// Of a digit: a thread for each of its values.
constexpr u32 BITS = BLOCK < 256 ? 7 : 8;
constexpr u32 RADIX = 1u << BITS;
static_assert(RADIX <= BLOCK, "a digit's value has a thread");

struct Arrays {
    Key* keys;
    payload::Word* payload;
    // The same; or null, where indices are to be written.
    const payload::Word* payload_from;
};

// What a key is sorted as.
struct Packing {
    // The least code, and bits below the leading ones.
    Key least;
    u32 shift;

    SIMT_FN u32 pack(Key code, u32 index) const { return u32(Key(code - least) >> shift) << INDEX_BITS | index; }
};

SIMT_FN bool agree(u32 a, u32 b) { return (a ^ b) <= INDEX_MASK; }

// What `sort_by_digits` has in place of the items.
struct Ranking {
    // Of each warp and value: how many, then where the next one goes.
    u32 counters[WARPS * RADIX];
    // Indices in order of the last digit.
    u16 order[CAPACITY];
};

constexpr u32 RANKING_WORDS = sizeof(Ranking) / sizeof(u32);

struct Shared {
    Key least[WARPS], greatest[WARPS];
    Packing packing;
    classify::Range range;
    // Bits of codes, less the least one, that are not all zero.
    u32 bits;
    u32 sums[WARPS];
    // Whether neighbours are in the wrong order, or a bin is crowded.
    u32 wrong;
    // Keys of each bin; then what is sorted, in rows.
    u32 items[BLOCK * STRIDE < RANKING_WORDS ? RANKING_WORDS : BLOCK * STRIDE];
    // By the index: the code, and a word of the payload.
    Key codes[CAPACITY];
    payload::Word payload[CAPACITY];
};
static_assert(sizeof(Shared) == SORTIE_BLOCK_MEMORY, "as the host has it");

// Finds how the codes are packed, and the range of that. Returns whether there are two.
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

// Brings a word of each payload; it is there once its copy has been waited for.
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

// Puts keys whose words agree in the order of their codes: who has the first of them inserts the others.
SIMT_FN void settle_agreeing(u32 count, Shared& shared) {
    // A bit for each that agrees with the next one, and not with the one before.
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

// Puts the words of the codes in order. Returns false where they crowd in few bins.
SIMT_FN bool sort_by_bins(const Key (&row)[ROW], u32 count, Shared& shared) {
    const u32 thread = thread_rank();
    const u32 left = count - lesser(count, thread);
    const Packing packing = shared.packing;
    const classify::Classifier<u32> classifier(shared.range);
    // A bin, and the key's rank in it.
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

// Puts the indices of the codes in order, one digit after the other. A warp's lie together, so that ranks go by their places.
SIMT_FN void sort_by_digits(u32 count, Shared& shared) {
    // A digit is turned to the bits of its offset in a table of words.
    constexpr u32 AT = 2;
    Ranking& ranking = *reinterpret_cast<Ranking*>(shared.items);
    const u32 first = warp_rank() * WARP * ROW + lane(), own = 1u << lane(), below = own - 1;
    u32* counters = ranking.counters + warp_rank() * RADIX;
    u32 order[ROW];
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) order[r] = first + r * WARP;
    SIMT_ROLL
    for (u32 low = 0; low < shared.bits; low += BITS) {
        // All have read what is there.
        barrier();
        SIMT_UNROLL
        for (u32 i = 0; i < RADIX; i += WARP) counters[i + lane()] = 0;
        warp_barrier();
        u32 digits[ROW];
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            // What is missing goes behind all that is there.
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

// Writes what the indices ask for: keys, and payloads word by word. Each word of all has been read before it is written.
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

SIMT_FN void finish(const Arrays& arrays, u64 start, u32 count, Shared& shared, const code::Transform& transform) {
    bring_payload(arrays, start, count, 0, shared);
    Key row[ROW];
    // Every load is made, of the last key where there is none: loads under conditions of their own would wait for one another.
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
