// The race detector: who touched each granule of memory last, and whether the next to do so knows.
//
// A race is two accesses to one place, at least one of them a write and not both atomic, with no order between them through
// a block or warp barrier, or through release and acquire with their fences. Two atomics race too where one
// has the scope of a block and the other comes from another block.
#pragma once

#include <unordered_map>

#include "machine.h"

namespace simt::bench {

enum class Kind : u8 { Read, Write, AtomicRead, AtomicWrite };

// Lanes of one warp that did the same at the same time.
struct Touch {
    u32 block;
    u32 phase;
    u32 time;
    u32 lanes; // none: nobody
    u32 place;
    u8 warp;
    Kind kind;
    Scope scope;
};

// Touches that later ones have not made superfluous, apart from the one write: by kind, then by block.
struct Touches {
    struct OfBlock {
        u32 block;
        std::vector<Touch> touches;
    };
    std::vector<OfBlock> reads, atomic_reads, atomic_writes;
    // Whether an atomic had the scope of a block. While none had, those of wider scope cannot race with one another.
    bool narrow = false;
};

struct Granule {
    Touch write = {};
    Touch read = {}; // the first; more are in `touches`
    std::unique_ptr<Touches> touches;
};

// What is known of a stretch of memory: in words, or in bytes from when a part of a word was touched.
class Shadow {
  public:
    static constexpr u32 STRETCH = 512;

    void clear() {
        stretches.clear();
        published.clear();
    }

    // Calls visit with each granule of the access.
    template <class Visit> void visit(u64 offset, u32 bytes, Visit visit) {
        while (bytes > 0) {
            u64 within = offset % STRETCH;
            u32 here = u32(std::min<u64>(bytes, STRETCH - within));
            Stretch& stretch = at(offset / STRETCH);
            if (stretch.granule == 4 && (within % 4 != 0 || here % 4 != 0)) stretch.split();
            for (u64 i = within / stretch.granule; i < (within + here) / stretch.granule; ++i)
                visit(stretch.granules[i]);
            offset += here, bytes -= here;
        }
    }

    // What releases have published at an address.
    struct Published {
        MapPtr to_block, to_device;
        u32 block;
    };
    std::unordered_map<u64, Published> published;

  private:
    struct Stretch {
        u32 granule = 4;
        std::vector<Granule> granules = std::vector<Granule>(STRETCH / 4);

        void split() {
            std::vector<Granule> bytes(STRETCH);
            for (u32 i = 0; i < STRETCH; ++i) {
                const Granule& word = granules[i / 4];
                bytes[i].write = word.write;
                bytes[i].read = word.read;
                if (word.touches) bytes[i].touches = std::make_unique<Touches>(*word.touches);
            }
            granules = std::move(bytes);
            granule = 1;
        }
    };

    std::vector<std::unique_ptr<Stretch>> stretches;

    Stretch& at(u64 index) {
        if (index >= stretches.size()) stretches.resize(index + 1);
        if (stretches[index] == nullptr) stretches[index] = std::make_unique<Stretch>();
        return *stretches[index];
    }
};

class Races {
  public:
    void begin_block(BlockState& block) {
        block.phase = 0;
        block.others = nullptr;
        block.shadow->clear();
        for (Thread& thread : block.threads) {
            thread.clock = Clock{};
            begin_phase(thread, nullptr);
        }
    }

    // All threads of the block have met.
    void barrier(BlockState& block) {
        MapPtr all = block.others;
        for (Thread& thread : block.threads) all = join(all, thread.clock.others);
        if (find(all, block.rank) != nullptr) {
            auto foreign = std::make_shared<Map>();
            for (const Known& known : *all)
                if (known.block != block.rank) foreign->push_back(known);
            all = foreign;
        }
        block.others = all;
        block.phase += 1;
        for (Thread& thread : block.threads) begin_phase(thread, all);
    }

    // The lanes of the mask have met.
    void warp_barrier(Warp& warp, u32 mask) {
        Clock joined = {};
        for_lanes(mask, [&](u32 lane) {
            const Clock& clock = warp.threads[lane].clock;
            for (u32 i = 0; i < WARP; ++i) joined.lanes[i] = std::max(joined.lanes[i], clock.lanes[i]);
            joined.others = join(joined.others, clock.others);
        });
        for_lanes(mask, [&](u32 lane) {
            warp.threads[lane].clock.lanes = joined.lanes;
            warp.threads[lane].clock.others = joined.others;
            tick(warp.threads[lane]);
        });
    }

    void fence(Thread& thread, Scope scope) {
        Clock& clock = thread.clock;
        clock.others = join(clock.others, clock.seen_block);
        if (scope == Device) clock.others = join(clock.others, clock.seen_device);
        clock.fenced_block = all_known(thread);
        if (scope == Device) clock.fenced_device = clock.fenced_block;
        tick(thread);
    }

    // What an atomic operation takes up and publishes, besides being an access.
    void order(Thread& thread, Shadow& shadow, u64 address, bool loads, bool stores, Order order, Scope scope) {
        Clock& clock = thread.clock;
        u32 block = thread.block->rank;
        bool acquires = order == Acquire || order == AcquireRelease;
        bool releases = order == Release || order == AcquireRelease;
        auto at = shadow.published.find(address);
        if (loads && at != shadow.published.end()) {
            MapPtr own = at->second.block == block ? at->second.to_block : nullptr;
            MapPtr any = scope == Device ? at->second.to_device : nullptr;
            if (acquires) clock.others = join(join(clock.others, own), any);
            else {
                clock.seen_block = join(clock.seen_block, own);
                clock.seen_device = join(clock.seen_device, any);
            }
        }
        if (!stores) return;
        MapPtr to_block = releases ? all_known(thread) : clock.fenced_block;
        MapPtr to_device = scope != Device ? nullptr : releases ? to_block : clock.fenced_device;
        // Read-modify-write carries on what was published before; a plain store ends it.
        if (loads && at != shadow.published.end()) {
            if (at->second.block == block) to_block = join(to_block, at->second.to_block);
            to_device = join(to_device, at->second.to_device);
        }
        if (to_block == nullptr && to_device == nullptr) {
            if (at != shadow.published.end()) shadow.published.erase(at);
        } else {
            shadow.published[address] = {to_block, to_device, block};
        }
        if (releases) tick(thread);
    }

    // Looks for a race, and says with whom: true, `other` and its lane.
    bool access(Thread& thread, Granule& granule, Kind kind, Scope scope, u32 place, Touch& other, u32& lane) {
        auto raced = [&](const Touch& touch) {
            if (touch.lanes == 0 || !conflict(thread, touch, kind, scope)) return false;
            i32 unknown = first_unknown(thread, touch);
            if (unknown < 0) return false;
            other = touch, lane = u32(unknown);
            return true;
        };
        auto any_raced = [&](const std::vector<Touches::OfBlock>& list) {
            for (const Touches::OfBlock& of_block : list)
                for (const Touch& touch : of_block.touches)
                    if (raced(touch)) return true;
            return false;
        };
        Touches* touches = granule.touches.get();
        if (raced(granule.write)) return true;
        if ((kind == Kind::Write || kind == Kind::AtomicWrite) &&
            (raced(granule.read) || (touches && any_raced(touches->reads))))
            return true;
        bool safe_among_atomics = kind >= Kind::AtomicRead && scope == Device && touches && !touches->narrow;
        if (touches && !safe_among_atomics &&
            (any_raced(touches->atomic_writes) || (kind != Kind::Read && any_raced(touches->atomic_reads))))
            return true;

        Touch now = {thread.block->rank, thread.block->phase, thread.clock.lanes[thread.lane()], 1u << thread.lane(),
                     place, u8(thread.rank / WARP), kind, scope};
        if (kind == Kind::Write) {
            granule.write = now;
            granule.read.lanes = 0;
            granule.touches = nullptr;
        } else if (kind == Kind::Read && granule.read.lanes == 0 && (!touches || touches->reads.empty())) {
            granule.read = now;
        } else if (kind == Kind::Read && granule.read.lanes != 0 && replace(thread, granule.read, now)) {
        } else {
            if (!granule.touches) granule.touches = std::make_unique<Touches>();
            granule.touches->narrow |= scope == Block;
            add(thread, list_of(*granule.touches, kind), now);
        }
        return false;
    }

  private:
    using i32 = int;

    template <class Visit> static void for_lanes(u32 mask, Visit visit) {
        for (; mask != 0; mask &= mask - 1) visit(u32(__builtin_ctz(mask)));
    }

    static void tick(Thread& thread) { thread.clock.lanes[thread.lane()] += 1; }

    static void begin_phase(Thread& thread, const MapPtr& others) {
        thread.clock.begin_phase(others);
        thread.clock.lanes[thread.lane()] = 1;
    }

    // Everything that is known to a thread, its own doings included.
    static MapPtr all_known(const Thread& thread) {
        const BlockState& block = *thread.block;
        auto own = std::make_shared<Details>(Details{{thread.rank / WARP, thread.clock.lanes}});
        auto map = std::make_shared<Map>(Map{{block.rank, block.phase, own}});
        return join(thread.clock.others, map);
    }

    static std::vector<Touches::OfBlock>& list_of(Touches& touches, Kind kind) {
        return kind == Kind::Read         ? touches.reads
               : kind == Kind::AtomicRead ? touches.atomic_reads
                                          : touches.atomic_writes;
    }

    static bool conflict(const Thread& thread, const Touch& touch, Kind kind, Scope scope) {
        bool writes = kind == Kind::Write || kind == Kind::AtomicWrite || touch.kind == Kind::Write ||
                      touch.kind == Kind::AtomicWrite;
        bool atomic = kind >= Kind::AtomicRead && touch.kind >= Kind::AtomicRead;
        bool in_reach = touch.block == thread.block->rank || (scope == Device && touch.scope == Device);
        return writes && !(atomic && in_reach);
    }

    // The first of the touch's lanes whose doing the thread does not know, or -1.
    static i32 first_unknown(const Thread& thread, const Touch& touch) {
        const Times* times = nullptr;
        if (touch.block == thread.block->rank && touch.phase < thread.block->phase) return -1;
        if (touch.block == thread.block->rank && touch.warp == thread.rank / WARP) times = &thread.clock.lanes;
        else if (const Known* known = find(thread.clock.others, touch.block)) {
            if (known->phase > touch.phase) return -1;
            if (known->phase == touch.phase) times = find(*known->details, touch.warp);
        }
        if (times == nullptr) return __builtin_ctz(touch.lanes);
        for (u32 lanes = touch.lanes; lanes != 0; lanes &= lanes - 1)
            if ((*times)[u32(__builtin_ctz(lanes))] < touch.time) return __builtin_ctz(lanes);
        return -1;
    }

    // Puts `now` in the place of `old` where it stands for all of it: the thread knows it, or they are one.
    static bool replace(const Thread& thread, Touch& old, const Touch& now) {
        if (old.block == now.block && old.phase == now.phase && old.warp == now.warp && old.time == now.time &&
            old.place == now.place && old.scope == now.scope) {
            old.lanes |= now.lanes;
            return true;
        }
        if (first_unknown(thread, old) >= 0) return false;
        old = now;
        return true;
    }

    static void add(const Thread& thread, std::vector<Touches::OfBlock>& list, const Touch& now) {
        auto at = std::lower_bound(list.begin(), list.end(), now.block,
                                   [](const Touches::OfBlock& of, u32 block) { return of.block < block; });
        if (at == list.end() || at->block != now.block) at = list.insert(at, {now.block, {}});
        std::vector<Touch>& touches = at->touches;
        // What this thread did itself it knows, so an old touch of its own never stays beside the new one.
        for (size_t i = 0; i < touches.size();) {
            if (first_unknown(thread, touches[i]) >= 0 || touches[i].scope != now.scope) {
                ++i;
                continue;
            }
            touches[i] = touches.back();
            touches.pop_back();
        }
        for (Touch& touch : touches)
            if (touch.phase == now.phase && touch.warp == now.warp && touch.time == now.time &&
                touch.place == now.place && touch.scope == now.scope) {
                touch.lanes |= now.lanes;
                return;
            }
        touches.push_back(now);
    }
};

} // namespace simt::bench
