// Sorts many segments, each by a worker of its own: a thread, part of a warp, a warp, or a block. In place.
//
// Contract. An instantiation is made for SORTIE_KEY_BYTES (1, 2, 4, 8) and SORTIE_KIND (code::Kind), workers of
// SORTIE_THREADS (1 to 1024, a power of two) with SORTIE_ROW keys a thread, and SORTIE_WORKERS workers a block, whole
// warps in all. It sorts segments of SORTIE_FULL * THREADS to ROW * THREADS keys. Cost: one read and one write of the keys. SORTIE_SOURCE
// says where the segments are, and has one kernel:
// - FIXED, sort_segments: segments of one length. Dynamic shared memory: WORKERS * SPAN items.
// - TILED, sort_tiled: the same for workers of at most four threads, which would read keys that lie far apart: the
//   block copies its segments to shared memory as they lie. Dynamic shared memory: WORKERS * length keys.
// - LISTED, sort_listed: segments between offsets, those that a list of places names for class `size`. Any number of
//   blocks; shared memory as for FIXED.
// - TILES, sort_tiles: segments too long for a worker of a block, as tiles of THREADS * ROW keys, each sorted by itself
//   to where the first merge expects it (long.cuh). Any number of blocks; shared memory as for FIXED.
//
// Each thread sorts a row in registers. Rows merge in pairs, pairs of pairs, and so on. A merge compares keys that lie
// many rows apart; for that, the steps between rows take keys by columns: a thread loads the same place of many rows,
// does up to five steps on them in registers, and puts them back. The first merges, of few lanes, go by shuffles.
//
// Source: Batcher's bitonic merge with the first step of each merge against the mirror image, so that all keys
// ascend and padding stays at the end; grouping its steps by what fits registers follows Capannini, Silvestri,
// Baraglia and Nardini, "Sorting using bitonic network with CUDA" (2009).
#include "code.cuh"
#include "long.cuh"
#include "network.cuh"
#include "simt.cuh"

#define FIXED 0
#define TILED 1
#define LISTED 2
#define TILES 3

namespace simt::sort_segments {

using Key = code::OfBytes<SORTIE_KEY_BYTES>::Type;
// Narrow keys are sorted as words.
using Item = code::OfBytes<(SORTIE_KEY_BYTES < 4 ? 4 : SORTIE_KEY_BYTES)>::Type;

constexpr code::Kind KIND = code::SORTIE_KIND;
constexpr u32 THREADS = SORTIE_THREADS;
constexpr u32 ROW = SORTIE_ROW;
constexpr u32 WORKERS = SORTIE_WORKERS;
// Keys that each thread has in every segment, whatever its length.
constexpr u32 FULL = SORTIE_FULL;
constexpr u32 BLOCK = THREADS * WORKERS;
// Threads that a multiprocessor is to hold: 64 registers are left for each.
constexpr u32 RESIDENT = 1024;
// Odd, so that a column of a warp's rows lies in 32 banks.
constexpr u32 STRIDE = ROW | 1;
constexpr u32 SPAN = THREADS * STRIDE;
// Merges of up to so many lanes go by shuffles. Of four, for a warp or more: a step by columns costs half of one by
// shuffles, but only where there are several of them to share the way to shared memory and back.
constexpr u32 SHUFFLED = THREADS < WARP ? THREADS : 4;
// Steps that a column takes at a time: 32 registers.
constexpr u32 LANE_BITS = 5;

SIMT_FN void worker_barrier() {
    if constexpr (THREADS <= WARP) warp_barrier();
    else barrier();
}

// The steps of a merge that compare rows 2^(LOW + BITS - 1) to 2^LOW apart, on a column of 2^BITS keys; `first` is its
// first key, `mirrored` the first of its mirror image. With MIRROR, the first step compares with that.
template <u32 BITS, u32 LOW, bool MIRROR> SIMT_FN void merge_column(Item* first, Item* mirrored) {
    constexpr u32 N = 1u << BITS;
    constexpr u32 STEP = STRIDE << LOW;
    Item column[N];
    SIMT_UNROLL
    for (u32 j = 0; j < N; ++j) column[j] = MIRROR && j >= N / 2 ? mirrored[j * STEP] : first[j * STEP];
    if constexpr (MIRROR) {
        SIMT_UNROLL
        for (u32 j = 0; j < N / 2; ++j) network::exchange(column[j], column[N - 1 - j]);
        network::sort_bitonic<N / 2, 0>(column);
        network::sort_bitonic<N / 2, N / 2>(column);
    } else {
        network::sort_bitonic<N>(column);
    }
    SIMT_UNROLL
    for (u32 j = 0; j < N; ++j) (MIRROR && j >= N / 2 ? mirrored[j * STEP] : first[j * STEP]) = column[j];
}

// Columns of 2^BITS neighbouring rows, all within the own warp.
template <u32 BITS, bool MIRROR> SIMT_FN void merge_near(Item* items) {
    constexpr u32 COLUMNS = ROW * (WARP >> BITS);
    Item* rows = items + thread_rank() % THREADS / WARP * WARP * STRIDE;
    SIMT_UNROLL
    for (u32 i = 0; i < (COLUMNS + WARP - 1) / WARP; ++i) {
        const u32 c = lane() + i * WARP;
        const u32 r = c % ROW;
        Item* group = rows + c / ROW * (STRIDE << BITS);
        if (COLUMNS % WARP == 0 || c < COLUMNS) merge_column<BITS, 0, MIRROR>(group + r, group + (ROW - 1 - r));
    }
}

// Columns of 2^BITS rows, one of each of as many warps, with the mirror image.
template <u32 BITS> SIMT_FN void merge_far(Item* items) {
    const u32 warp = thread_rank() % THREADS / WARP;
    const u32 group = warp >> BITS, part = warp & ((1u << BITS) - 1);
    Item* rows = items + (group << BITS) * WARP * STRIDE;
    Item* first = rows + lane() * STRIDE;
    Item* mirrored = rows + (WARP - 1 - lane()) * STRIDE + (ROW - 1);
    SIMT_UNROLL
    for (u32 i = 0; i < (ROW + (1u << BITS) - 1) >> BITS; ++i) {
        const u32 r = part + (i << BITS);
        if (ROW % (1u << BITS) == 0 || r < ROW) merge_column<BITS, LANE_BITS, true>(first + r, mirrored - r);
    }
}

// Merges until rows are in order over 2^BITS threads, and goes on to the whole worker.
template <u32 BITS> SIMT_FN void merge_rows(Item (&row)[ROW], Item* items) {
    if constexpr (1u << BITS <= THREADS) {
        if constexpr (1u << BITS <= SHUFFLED) {
            network::merge_lanes<(1u << BITS) / 2>(row);
        } else {
            Item* own = items + thread_rank() % THREADS * STRIDE;
            SIMT_UNROLL
            for (u32 r = 0; r < ROW; ++r) own[r] = row[r];
            if constexpr (BITS <= LANE_BITS) {
                warp_barrier();
                merge_near<BITS, true>(items);
            } else {
                barrier();
                merge_far<BITS - LANE_BITS>(items);
                barrier();
                merge_near<LANE_BITS, false>(items);
            }
            warp_barrier();
            SIMT_UNROLL
            for (u32 r = 0; r < ROW; ++r) row[r] = own[r];
            network::sort_bitonic<ROW>(row);
        }
        merge_rows<BITS + 1>(row, items);
    }
}

// A key as an item; places past the end are padded with the last code.
SIMT_FN Item item(Key key, bool there, const code::Transform& transform) {
    return there ? Item(code::encode<KIND>(key, transform)) : Item(~Item(0));
}

// Sorts `count` keys, of which there are none or at least FULL rows.
SIMT_FN void sort_segment(const Key* from, Key* to, u32 count, Item* items, const code::Transform& transform) {
    // A thread reads and writes every THREADS-th key: neighbours have neighbouring keys.
    const u32 thread = thread_rank() % THREADS;
    const i32 left = i32(count) - i32(thread);
    Key read[ROW] = {};
    if (count > 0) {
        // Every load is made, of the last key where there is none: loads under conditions of their own would wait for one another.
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            const u32 i = r * THREADS + thread;
            read[r] = from[r < FULL ? i : lesser(i, count - 1)];
        }
    }
    Item row[ROW];
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) row[r] = item(read[r], i32(r * THREADS) < left, transform);
    network::sort<ROW>(row);
    merge_rows<1>(row, items);
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) items[thread * STRIDE + r] = code::decode<KIND>(Key(row[r]), transform);
    worker_barrier();
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 i = r * THREADS + thread;
        if (i32(r * THREADS) < left) to[i] = Key(items[i + i / ROW * (STRIDE - ROW)]);
    }
}

SIMT_FN Item* own_items() { return reinterpret_cast<Item*>(shared_memory()) + thread_rank() / THREADS * SPAN; }

#if SORTIE_SOURCE == FIXED

SIMT_KERNEL(BLOCK, RESIDENT / BLOCK)
sort_segments(Key* keys, u64 length, u64 segments, code::Transform transform) {
    const u64 segment = u64(block_rank()) * WORKERS + thread_rank() / THREADS;
    // A worker beyond the last sorts nothing, and keeps step with its warp.
    const bool live = segment < segments;
    Key* own = keys + (live ? segment * length : 0);
    sort_segment(own, own, live ? u32(length) : 0, own_items(), transform);
}

#elif SORTIE_SOURCE == TILED

// Copies keys between global and shared memory, 16 bytes at a time where both lie so.
SIMT_FN void copy_tile(Key* to, const Key* from, const Key* global, u32 count) {
    constexpr u32 PACK = sizeof(Quad) / sizeof(Key);
    const u32 packs = reinterpret_cast<u64>(global) % sizeof(Quad) == 0 ? count / PACK : 0;
    for (u32 i = thread_rank(); i < packs; i += BLOCK)
        reinterpret_cast<Quad*>(to)[i] = reinterpret_cast<const Quad*>(from)[i];
    for (u32 i = packs * PACK + thread_rank(); i < count; i += BLOCK) to[i] = from[i];
}

SIMT_KERNEL(BLOCK, RESIDENT / BLOCK)
sort_tiled(Key* keys, u64 length, u64 segments, code::Transform transform) {
    Key* tile = reinterpret_cast<Key*>(shared_memory());
    const u64 first = u64(block_rank()) * WORKERS;
    const u32 count = u32(length), workers = u32(lesser(u64(WORKERS), segments - first));
    Key* global = keys + first * length;
    copy_tile(tile, global, global, workers * count);
    barrier();

    const u32 worker = thread_rank() / THREADS, thread = thread_rank() % THREADS;
    const u32 live = worker < workers ? count : 0;
    Key* segment = tile + worker * count;
    // Where segments start an even number of words apart, workers begin at different keys, in different banks.
    const u32 shift = count % 2 == 0 && live > 0 ? worker % count : 0;
    Item row[ROW];
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 i = r * THREADS + thread;
        const u32 shifted = i + shift < count ? i + shift : i + shift - count;
        row[r] = item(i < live ? segment[shifted] : Key(0), i < live, transform);
    }
    barrier();
    network::sort<ROW>(row);
    merge_rows<1>(row, nullptr);
    SIMT_UNROLL
    for (u32 r = 0; r < ROW; ++r) {
        const u32 i = thread * ROW + r;
        if (i < live) segment[i] = code::decode<KIND>(Key(row[r]), transform);
    }
    barrier();
    copy_tile(global, tile, global, workers * count);
}
#elif SORTIE_SOURCE == LISTED

// `counts` has the segments of each class; the list has those of class 0 first, then those of class 1, and so on.
SIMT_KERNEL(BLOCK, RESIDENT / BLOCK)
sort_listed(Key* keys, const u64* offsets, const u32* list, const u32* counts, u32 size, code::Transform transform) {
    u32 before = 0;
    for (u32 c = 0; c < size; ++c) before += counts[c];
    const u32 segments = counts[size];
    for (u64 first = u64(block_rank()) * WORKERS; first < segments; first += u64(grid_blocks()) * WORKERS) {
        const u64 place = first + thread_rank() / THREADS;
        u64 start = 0, end = 0;
        if (place < segments) {
            const u32 segment = list[before + place];
            start = offsets[segment];
            end = offsets[segment + 1];
        }
        sort_segment(keys + start, keys + start, u32(end - start), own_items(), transform);
        worker_barrier();
    }
}

#elif SORTIE_SOURCE == TILES

SIMT_KERNEL(BLOCK, RESIDENT / BLOCK)
sort_tiles(Key* keys, Key* scratch, long_segments::Segments segments, code::Transform transform) {
    constexpr u32 TILE = THREADS * ROW;
    const u64 tiles = long_segments::tile_count(segments, TILE);
    for (u64 number = block_rank(); number < tiles; number += grid_blocks()) {
        const long_segments::Tile tile = long_segments::find_tile(segments, number, TILE);
        const u64 start = tile.start + tile.place;
        Key* to = long_segments::in_scratch(long_segments::passes_of(tile.length, TILE), 0) ? scratch : keys;
        const u32 count = u32(lesser(u64(TILE), tile.length - tile.place));
        sort_segment(keys + start, to + start, count, own_items(), transform);
        worker_barrier();
    }
}

#endif

} // namespace simt::sort_segments
