// Counts the keys between edges.
//
// - Compile-time parameters: those of cells.cuh, SORTIE_MOST_EDGES, and SORTIE_MOST_COUNTERS, at least one more than that.
// - Edge i begins bin i, and the last edge belongs to the last bin. Keys before the first edge or after the last are not counted.
// - Preconditions: the edges are in order, and there are 2 to SORTIE_MOST_EDGES of them.
// - A table tells of each cell how many edges come before it and how many it has, so that few keys are searched for.
// - Source: own.
#include "cells.cuh"
#include "read.cuh"
#include "search.cuh"
#include "simt.cuh"
#include "word.cuh"

namespace simt::histogram {

using select::BLOCK;
using select::CELLS;
using select::Cells;
using select::Code;
using select::Codes;
using select::Key;

constexpr u32 ROW = sizeof(Key) == 8 ? 4 : 8;
constexpr u32 MOST_EDGES = SORTIE_MOST_EDGES;
constexpr u32 MOST_COUNTERS = SORTIE_MOST_COUNTERS;
// What the table says of a cell: the edges in it, where MANY may be more, and those before it << BEFORE_FROM.
constexpr u32 BEFORE_FROM = 4;
constexpr u32 MANY = (1u << BEFORE_FROM) - 1;
static_assert(MOST_EDGES <= 1u << (16 - BEFORE_FROM), "they fit an entry");

struct Job {
    const Key* keys;
    u64 count;
    const Key* edges;
    u32 edge_count;
    // Counters of a bin, which lanes take in turn: a power of two.
    u32 copies;
    // Zero before.
    u64* counts;
};

struct Shared {
    // The codes of the edges.
    Code edges[MOST_EDGES];
    // The first and the last edge that is a finite number.
    u32 low, high;
    // How many edges are in the cell of the edge before them, of cells by code and by value.
    u32 crowded[2];
    // The counters of what is before the first bin, of each bin, and of what is after the last one.
    u32 counters[MOST_COUNTERS];
    u16 entries[CELLS];
};
static_assert(sizeof(Shared) == SORTIE_HISTOGRAM_MEMORY, "as the host has it");

// The cells for the edges: those by code or by value, whichever have fewer edges together.
SIMT_FN Cells best_cells(u32 edges, const Codes& codes, Shared& shared) {
    const Cells by_code = select::cells_of_codes(shared.edges[0], shared.edges[edges - 1]);
    if constexpr (select::HAS_VALUES) {
        for (u32 i = thread_rank(); i < edges; i += BLOCK) {
            if (!select::is_finite(shared.edges[i], codes)) continue;
            atomic_min<Relaxed, Block>(&shared.low, i);
            atomic_max<Relaxed, Block>(&shared.high, i);
        }
        barrier();
        if (shared.low >= shared.high) return by_code;
        const Cells by_value = select::cells_of_values(shared.edges[shared.low], shared.edges[shared.high], codes);
        if (by_value.scale == 0) return by_code;
        for (u32 i = thread_rank() + 1; i < edges; i += BLOCK) {
            const auto meet = [&](const Cells& cells) { return cells.of(shared.edges[i], codes) == cells.of(shared.edges[i - 1], codes); };
            if (meet(by_code)) atomic_add<Relaxed, Block>(&shared.crowded[0], 1);
            if (meet(by_value)) atomic_add<Relaxed, Block>(&shared.crowded[1], 1);
        }
        barrier();
        if (shared.crowded[1] < shared.crowded[0]) return by_value;
    }
    return by_code;
}

// count: adds the keys of each bin to its count.
// - Launch: any number of blocks of BLOCK threads. Shared memory: Shared.
// - Writes: `counts`.
// - Cost: one read of the keys; for each, a look at the table and one at an edge, and an atomic in shared memory. Keys of cells with several
//   edges take a search among these. Before that, each block makes the table, by two searches among the edges for each of its cells.
SIMT_KERNEL(BLOCK, 4) count(Job job, Codes codes) {
    await_turn();
    Shared& shared = *reinterpret_cast<Shared*>(shared_memory());
    const u32 edges = job.edge_count, lower = edges - 1;
    for (u32 i = thread_rank(); i < edges; i += BLOCK) shared.edges[i] = Code(codes.of(job.edges[i]));
    for (u32 i = thread_rank(); i < (edges + 1) * job.copies; i += BLOCK) shared.counters[i] = 0;
    if (thread_rank() == 0) {
        shared.low = ~0u;
        shared.high = shared.crowded[0] = shared.crowded[1] = 0;
    }
    barrier();
    const Cells cells = best_cells(edges, codes, shared);
    // The last edge begins no bin.
    for (u32 cell = thread_rank(); cell < CELLS; cell += BLOCK) {
        const auto cell_of = [&](u32 i) { return cells.of(shared.edges[i], codes); };
        const u32 before = search::first_of(0, lower, [&](u32 i) { return cell_of(i) >= cell; });
        const u32 end = search::first_of(before, lower, [&](u32 i) { return cell_of(i) > cell; });
        shared.entries[select::entry_of(cell)] = u16(before << BEFORE_FROM | lesser(end - before, MANY));
    }
    barrier();

    const Code last = shared.edges[lower];
    u32* const own = shared.counters + lane() % job.copies;
    select::for_rows<ROW>(select::Share{job.keys, job.count, block_rank(), grid_blocks()}, [&](const Key(&row)[ROW], u64, u32 left) {
        Code code[ROW];
        u32 found[ROW];
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) code[r] = Code(codes.of(row[r]));
        cells.of_row(row, code, found);
        SIMT_UNROLL
        for (u32 r = 0; r < ROW; ++r) {
            const u32 entry = shared.entries[select::entry_of(found[r])], before = entry >> BEFORE_FROM, inside = entry & MANY;
            u32 begun = before + (inside != 0 && shared.edges[before] <= code[r]);
            if (inside > 1) {
                const u32 end = inside == MANY ? lower : before + inside;
                begun = search::first_of(before, end, [&](u32 i) { return code[r] < shared.edges[i]; });
            }
            if (r * WARP + lane() < left) atomic_add<Relaxed, Block>(&own[(begun + (last < code[r])) * job.copies], 1);
        }
    });
    barrier();
    for (u32 bin = thread_rank(); bin < lower; bin += BLOCK) {
        u32 sum = 0;
        for (u32 i = 0; i < job.copies; ++i) sum += shared.counters[(bin + 1) * job.copies + i];
        if (sum != 0) atomic_add(&job.counts[bin], u64(sum));
    }
}

// Asserts that the host has the same layouts.
SORTIE_LAYOUTS

} // namespace simt::histogram
