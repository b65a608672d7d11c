// Reads all keys of an array or a row, and collects some of what is made of them.
//
// - Compile-time parameters: those of word.cuh.
// - Source: own.
#pragma once

#include "simt.cuh"
#include "word.cuh"

namespace simt::select {

constexpr u32 BLOCK = 256;
constexpr u32 WARPS = BLOCK / WARP;

// What a block reads: one of `parts` parts of `count` keys.
struct Share {
    const Key* keys;
    u64 count;
    u32 part, parts;
};

// Calls visit(row, first, left) for all keys of the share, the whole warp at the same time. row[r] is the key of index
// first + r * WARP + lane() if that is among the `left` keys from the first on. Only the last row of the array may lack keys.
template <u32 LENGTH, class Visit> SIMT_FN void for_rows(const Share& share, Visit visit) {
    constexpr u32 STEP = WARP * LENGTH;
    const u64 step = u64(share.parts) * WARPS * STEP;
    u64 first = (u64(share.part) * WARPS + warp_rank()) * STEP;
    const Key* own = share.keys + first + lane();
    Key row[LENGTH];
    for (; first + STEP <= share.count; first += step, own += step) {
        SIMT_UNROLL
        for (u32 r = 0; r < LENGTH; ++r) row[r] = own[r * WARP];
        visit(row, first, STEP);
    }
    if (first >= share.count) return;
    const u32 left = u32(share.count - first);
    SIMT_UNROLL
    for (u32 r = 0; r < LENGTH; ++r) row[r] = share.keys[first + lesser(r * WARP + lane(), left - 1)];
    visit(row, first, left);
}

// Items that a warp holds before it appends them.
constexpr u32 HELD = 128;

// A list to which warps append items, in any order. The whole warp reaches each function.
template <class Item> struct List {
    // Shared memory of the warp, for HELD items.
    Item* held;
    // Room for `capacity` items. Others are counted only.
    Item* items;
    u64 capacity;
    // The number of items; zero before.
    u64* length;
    u32 holds = 0;

    // Appends item(r) for each bit r of `passing`.
    template <u32 LENGTH, class Of> SIMT_FN void append(u32 passing, Of item) {
        const u32 own = popcount(passing);
        u32 end = own;
        SIMT_UNROLL
        for (u32 by = 1; by < WARP; by *= 2) {
            const u32 below = shuffle_up(end, by);
            if (lane() >= by) end += below;
        }
        const u32 all = shuffle(end, WARP - 1);
        if (holds + all > HELD) flush();
        u64 at = end - own;
        if (all > HELD) {
            at += reserve(all);
            SIMT_UNROLL
            for (u32 r = 0; r < LENGTH; ++r) {
                if (!(passing >> r & 1)) continue;
                if (at < capacity) items[at] = item(r);
                ++at;
            }
        } else {
            SIMT_UNROLL
            for (u32 r = 0; r < LENGTH; ++r)
                if (passing >> r & 1) held[holds + at++] = item(r);
            holds += all;
        }
    }

    // Appends the items of lanes where `passes`.
    SIMT_FN void append(bool passes, Item item) {
        const u32 passing = ballot(passes), all = popcount(passing);
        if (all == 0) return;
        if (holds + all > HELD) flush();
        if (passes) held[holds + popcount(passing & ((1u << lane()) - 1))] = item;
        holds += all;
    }

    // Appends what is held.
    SIMT_FN void flush() {
        if (holds == 0) return;
        const u64 at = reserve(holds);
        warp_barrier();
        for (u32 i = lane(); i < holds; i += WARP)
            if (at + i < capacity) items[at + i] = held[i];
        warp_barrier();
        holds = 0;
    }

    // Reserves room for items of the warp, and returns where it begins.
    SIMT_FN u64 reserve(u32 count) {
        u64 at = 0;
        if (lane() == 0) at = atomic_add(length, u64(count));
        return shuffle(at, 0);
    }
};

} // namespace simt::select
