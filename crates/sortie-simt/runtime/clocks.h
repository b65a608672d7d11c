// What a thread knows to have happened, for races: a vector clock in the shape of the machine.
//
// A block barrier lets every thread of the block know all that the others did before it, so an event is dated by the
// number of barriers its block had passed (phase) and by its thread's own time since the last one. To know any event of
// another block's phase is to know all of its earlier phases; within the phase, times are kept for each lane.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "simt_bench.h"

namespace simt::bench {

using Times = std::array<u32, 32>;

struct WarpTimes {
    u32 warp;
    Times lanes;
};

using Details = std::vector<WarpTimes>; // by warp
using DetailsPtr = std::shared_ptr<const Details>;

// Of one block: all of its phases before `phase`, and of this one what `details` says.
struct Known {
    u32 block;
    u32 phase;
    DetailsPtr details;
};

using Map = std::vector<Known>; // by block
using MapPtr = std::shared_ptr<const Map>;

inline bool covers(const Details& a, const Details& b) {
    auto at = a.begin();
    for (const WarpTimes& times : b) {
        while (at != a.end() && at->warp < times.warp) ++at;
        if (at == a.end() || at->warp != times.warp) return false;
        for (u32 lane = 0; lane < 32; ++lane)
            if (at->lanes[lane] < times.lanes[lane]) return false;
    }
    return true;
}

inline DetailsPtr join(const DetailsPtr& a, const DetailsPtr& b) {
    if (a == b || covers(*a, *b)) return a;
    if (covers(*b, *a)) return b;
    auto joined = std::make_shared<Details>();
    auto x = a->begin(), y = b->begin();
    while (x != a->end() || y != b->end()) {
        if (y == b->end() || (x != a->end() && x->warp < y->warp)) joined->push_back(*x++);
        else if (x == a->end() || y->warp < x->warp) joined->push_back(*y++);
        else {
            WarpTimes both = *x++;
            for (u32 lane = 0; lane < 32; ++lane) both.lanes[lane] = std::max(both.lanes[lane], y->lanes[lane]);
            ++y;
            joined->push_back(both);
        }
    }
    return joined;
}

inline bool covers(const Known& a, const Known& b) {
    return a.phase > b.phase || (a.phase == b.phase && (a.details == b.details || covers(*a.details, *b.details)));
}

inline bool covers(const Map& a, const Map& b) {
    if (a.size() < b.size()) return false;
    auto at = a.begin();
    for (const Known& known : b) {
        while (at != a.end() && at->block < known.block) ++at;
        if (at == a.end() || at->block != known.block || !covers(*at, known)) return false;
    }
    return true;
}

inline MapPtr join(const MapPtr& a, const MapPtr& b) {
    if (b == nullptr || a == b) return a;
    if (a == nullptr) return b;
    if (covers(*a, *b)) return a;
    if (covers(*b, *a)) return b;
    auto joined = std::make_shared<Map>();
    joined->reserve(a->size() + b->size());
    auto x = a->begin(), y = b->begin();
    while (x != a->end() || y != b->end()) {
        if (y == b->end() || (x != a->end() && x->block < y->block)) joined->push_back(*x++);
        else if (x == a->end() || y->block < x->block) joined->push_back(*y++);
        else {
            if (x->phase == y->phase) joined->push_back({x->block, x->phase, join(x->details, y->details)});
            else joined->push_back(x->phase > y->phase ? *x : *y);
            ++x, ++y;
        }
    }
    return joined;
}

inline const Known* find(const MapPtr& map, u32 block) {
    if (map == nullptr) return nullptr;
    auto at = std::lower_bound(map->begin(), map->end(), block,
                               [](const Known& known, u32 block) { return known.block < block; });
    return at != map->end() && at->block == block ? &*at : nullptr;
}

inline const Times* find(const Details& details, u32 warp) {
    for (const WarpTimes& times : details)
        if (times.warp == warp) return &times.lanes;
    return nullptr;
}

// A thread's own.
struct Clock {
    // Times of the own warp's lanes in this phase, the own time among them.
    Times lanes;
    // All else it knows: other blocks, and other warps of the own block in this phase.
    MapPtr others;
    // What a fence made ready for relaxed stores to publish, by scope.
    MapPtr fenced_block, fenced_device;
    // What relaxed loads saw published and a fence will take up: by threads of the own block, by any.
    MapPtr seen_block, seen_device;

    void begin_phase(const MapPtr& others) {
        lanes.fill(0);
        this->others = others;
    }
};

} // namespace simt::bench
