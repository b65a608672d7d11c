// One step of a sort over several devices: scatters the keys of one device to the ranges of codes that the devices
// will have.
//
// - Compile-time parameters: SORTIE_KEY_BYTES, the width of a key; SORTIE_KIND, code::Kind; payload.cuh;
//   SORTIE_THREADS, the threads of a block; SORTIE_ROW, the keys of a thread.
// - Method: as partition.cu, but there are few ranges, and many keys may share one. So each range has 16 counters,
//   each for two lanes of a warp: at most two lanes of a warp meet at a counter, whatever the keys are.
// - Source: own.
#include "code.cuh"
#include "mixed.cuh"
#include "payload.cuh"
#include "scan.cuh"
#include "simt.cuh"

namespace simt::ranges {

using Key = code::OfBytes<SORTIE_KEY_BYTES>::Type;
using payload::Word;

constexpr code::Kind KIND = code::SORTIE_KIND;
constexpr u32 BLOCK = SORTIE_THREADS;
constexpr u32 ROW = SORTIE_ROW;
constexpr u32 TILE = BLOCK * ROW;
// The number of threads that a multiprocessor should hold, which leaves 64 registers for each.
constexpr u32 RESIDENT = 1024;
// The number of ranges: one for each lane of a warp.
constexpr u32 RANGES = WARP;
constexpr u32 COUNTERS = BLOCK / RANGES;
static_assert(TILE < 1u << 16, "a rank has 16 bits");
static_assert(COUNTERS == WARP / 2, "a thread for each counter, and a range's in half a warp");

// Marks a range that has no room for the tile's keys.
constexpr u64 NOWHERE = ~u64(0);

union Moved {
    Key key;
    Word word;
};

struct Shared {
    // The keys in the order of their ranges; later a word of each payload in this order.
    Moved moved[TILE];
    // For each range, the index where its keys go, minus the index where they begin in the tile.
    u64 moves[RANGES];
    u32 counts[BLOCK];
    // The index in the tile where each counter's keys begin.
    u32 starts[BLOCK];
    u32 sums[BLOCK / WARP];
    Key splitters[RANGES - 1];
};
static_assert(sizeof(Shared) == SORTIE_BLOCK_MEMORY, "as the host has it");

struct Job {
    const Key* from;
    const Word* payload;
    Key* to;
    Word* payload_to;
    u64 count;
    u64* counts;
    u64 starts[RANGES + 1];
    u64 splitters[RANGES - 1];
};

// The range of a code: the number of splitters that are not greater. A search without branches.
SIMT_FN u32 range_of(Key code, const Key* splitters) {
    u32 range = 0;
    SIMT_UNROLL
    for (u32 step = RANGES / 2; step > 0; step /= 2) range += splitters[range + step - 1] <= code ? step : 0;
    return range;
}

// Calls put(index, to) for each of the thread's indices in the tile, where `to` is the index in the result for the
// key there. Skips keys of a range without room. `end` is the index in the tile where the range with the lane's
// number ends.
template <class Put> SIMT_FN void for_positions(u32 count, u32 end, const u64* moves, Put put) {
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 first = r * BLOCK + warp_rank() * WARP, index = first + lane();
        if (first >= count) break;
        // Usually all indices of a warp are in one range.
        const u32 lowest = popcount(ballot(end <= first)), highest = popcount(ballot(end < first + WARP));
        u32 range = lowest;
        for (u32 other = lowest; other < lesser(highest, RANGES); ++other) range += shuffle(end, other) <= index;
        if (index >= count) continue;
        const u64 move = moves[range];
        if (move != NOWHERE) put(index, move + index);
    }
}

// to_ranges: scatters keys and payloads to their ranges, in any order within a range.
// - Parameters, in `job`:
//   - `from`, `payload`: `count` keys and payloads.
//   - `to`, `payload_to`: where they go; no overlap.
//   - `splitters`: RANGES - 1 codes in ascending order.
//   - `starts`: the index where the room of each range begins, and the end of the last one.
//   - `counts`: a word per range, zero before.
// - Launch: one block of SORTIE_THREADS threads per tile of SORTIE_THREADS * SORTIE_ROW keys. Shared memory: Shared.
// - Writes: `to`, `payload_to`; adds the number of keys of each range to `counts`. If `counts` exceeds the room of a
//   range, some of its keys are missing in `to`.
// - Cost: one read and one write of keys and payloads; five reads and one atomic in shared memory per key; a global
//   atomic per tile and range.
SIMT_KERNEL(BLOCK, RESIDENT / BLOCK) to_ranges(Job job, code::Transform transform) {
    await_turn();
    Shared& shared = *reinterpret_cast<Shared*>(shared_memory());
    const u64 first = u64(block_rank()) * TILE;
    const u32 count = u32(lesser(job.count - first, u64(TILE)));
    Key row[ROW];
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) row[r] = job.from[first + lesser(r * BLOCK + thread_rank(), count - 1)];
    shared.counts[thread_rank()] = 0;
    if (thread_rank() < RANGES - 1) shared.splitters[thread_rank()] = Key(job.splitters[thread_rank()]);
    barrier();

    // First counter << 16 | rank of the key within its counter; later the key's index in the tile.
    u32 positions[ROW];
    const u32 left = count - lesser(count, thread_rank());
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 range = range_of(code::encode<KIND>(row[r], transform), shared.splitters);
        const u32 counter = range * COUNTERS + thread_rank() % COUNTERS;
        positions[r] = counter << 16;
        if (r * BLOCK < left) positions[r] |= atomic_add<Relaxed, Block>(&shared.counts[counter], 1);
    }
    barrier();
    const u32 own = shared.counts[thread_rank()], range = thread_rank() / COUNTERS;
    u32 keys = own;
    SIMT_UNROLL
    for (u32 by = 1; by < COUNTERS; by *= 2) keys += shuffle_xor(keys, by);
    const bool speaks = thread_rank() % COUNTERS == 0;
    u64 to = 0;
    if (speaks && keys > 0) to = job.starts[range] + atomic_add(&job.counts[range], u64(keys));
    const u32 start = scan::exclusive<BLOCK>(own, shared.sums);
    shared.starts[thread_rank()] = start;
    barrier();
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        positions[r] = shared.starts[positions[r] >> 16] + (positions[r] & 0xFFFF);
        if (r * BLOCK < left) shared.moved[positions[r]].key = row[r];
    }
    // As late as possible, because the atomic above takes long.
    if (speaks) shared.moves[range] = to + keys <= job.starts[range + 1] ? to - start : NOWHERE;
    const u32 end = lane() + 1 < RANGES ? shared.starts[(lane() + 1) * COUNTERS] : count;
    barrier();
    for_positions(count, end, shared.moves, [&](u32 index, u64 to) { job.to[to] = shared.moved[index].key; });

    SIMT_UNROLL
    for (u32 w = 0; w < payload::WORDS; ++w) {
        const Word* words = job.payload + first * payload::WORDS + w;
        barrier();
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            const u32 i = r * BLOCK + thread_rank();
            if (r * BLOCK < left) shared.moved[positions[r]].word = words[u64(i) * payload::WORDS];
        }
        barrier();
        for_positions(count, end, shared.moves, [&](u32 index, u64 to) {
            job.payload_to[to * payload::WORDS + w] = shared.moved[index].word;
        });
    }
}

// sample: copies `sampled` keys at random positions, with repetition; all keys in order if `sampled` is `count`.
// - Parameters: `keys` are `count` keys. `seed` determines the positions.
// - Launch: a thread per sampled key, in blocks of SORTIE_THREADS. No shared memory.
// - Writes: `to`, `sampled` keys.
// - Cost: a load of a single key per sampled key.
SIMT_KERNEL(BLOCK, 1) sample(const Key* keys, u64 count, u64 sampled, u64 seed, Key* to) {
    await_turn();
    const u64 i = u64(block_rank()) * BLOCK + thread_rank();
    if (i >= sampled) return;
    to[i] = keys[sampled == count ? i : mixed(mixed(seed) + i) % count];
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::ranges
