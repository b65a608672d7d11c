// The K-model's costs of a launch: memory transactions, bank conflicts and divergent branches.
//
// Lanes run one after another here, from one meeting of their warp to the next. What they did in between is put side by
// side again: the n-th time that each lane comes to an instruction counts as one execution by the warp.
#pragma once

#include "machine.h"

namespace simt::bench {

class Costs {
  public:
    Costs(Counts& counts, u32 segment_words) : counts(counts), segment_bytes(segment_words * 4) {}

    // The lanes of the warp have met: what they did since they met last is counted.
    void meet(Warp& warp, u32 lanes) {
        count_accesses(warp, lanes);
        count_branches(warp, lanes);
    }

  private:
    static constexpr u32 BANKS = 32;

    Counts& counts;
    u64 segment_bytes;

    // One lane's share of an instruction that the warp executes: `what` is the number of an access, or of a
    // branch's target, among the lane's.
    struct Share {
        u32 place;
        u32 time;
        u32 lane;
        u32 what;

        bool same_instruction(const Share& other) const { return place == other.place && time == other.time; }
    };
    std::vector<Share> shares;
    std::vector<u32> order;
    std::vector<u64> parts;

    template <class Visit> static void for_lanes(u32 lanes, Visit visit) {
        for (; lanes != 0; lanes &= lanes - 1) visit(u32(__builtin_ctz(lanes)));
    }

    // Adds a lane's shares: for each of its `count` doings, the place, and which time it is there.
    template <class Place, class What> void add(u32 lane, u32 count, Place place, What what) {
        order.resize(count);
        for (u32 i = 0; i < count; ++i) order[i] = i;
        std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return place(a) < place(b); });
        u32 time = 0;
        for (u32 i = 0; i < count; ++i) {
            time = i > 0 && place(order[i]) == place(order[i - 1]) ? time + 1 : 0;
            shares.push_back({place(order[i]), time, lane, what(order[i])});
        }
    }

    // Calls visit with the shares of each execution by the warp.
    template <class Visit> void for_each_execution(Visit visit) {
        std::sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) {
            return a.place != b.place ? a.place < b.place : a.time != b.time ? a.time < b.time : a.lane < b.lane;
        });
        for (size_t from = 0; from < shares.size();) {
            size_t to = from + 1;
            while (to < shares.size() && shares[to].same_instruction(shares[from])) ++to;
            visit(&shares[from], &shares[to]);
            from = to;
        }
        shares.clear();
    }

    void count_accesses(Warp& warp, u32 lanes) {
        u32 together = accesses_together(warp, lanes);
        for (u32 i = 0; i < together; ++i) {
            for_lanes(lanes, [&](u32 lane) { shares.push_back({0, 0, lane, i}); });
            count_access(warp, shares.data(), shares.data() + shares.size());
            shares.clear();
        }
        for_lanes(lanes, [&](u32 lane) {
            const std::vector<Access>& accesses = warp.threads[lane].accesses;
            // One instruction may reach either memory through a pointer that does not say which.
            add(lane, u32(accesses.size()) - together,
                [&](u32 i) { return accesses[together + i].place * 2 + accesses[together + i].shared; },
                [&](u32 i) { return together + i; });
        });
        for_each_execution([&](const Share* from, const Share* to) { count_access(warp, from, to); });
        for_lanes(lanes, [&](u32 lane) { warp.threads[lane].accesses.clear(); });
    }

    // How many accesses all lanes made alike, from the first on.
    static u32 accesses_together(const Warp& warp, u32 lanes) {
        const std::vector<Access>& first = warp.threads[__builtin_ctz(lanes)].accesses;
        size_t together = first.size();
        for_lanes(lanes, [&](u32 lane) {
            const std::vector<Access>& other = warp.threads[lane].accesses;
            size_t alike = 0;
            while (alike < together && alike < other.size() && first[alike].place == other[alike].place &&
                   first[alike].shared == other[alike].shared)
                ++alike;
            together = alike;
        });
        return u32(together);
    }

    void count_access(const Warp& warp, const Share* from, const Share* to) {
        if (access(warp, *from).shared) count_shared(warp, from, to);
        else count_global(warp, from, to);
    }

    static const Access& access(const Warp& warp, const Share& share) {
        return warp.threads[share.lane].accesses[share.what];
    }

    // A transaction for each segment touched.
    void count_global(const Warp& warp, const Share* from, const Share* to) {
        parts.clear();
        for (const Share* share = from; share < to; ++share) {
            const Access& a = access(warp, *share);
            for (u64 s = a.address / segment_bytes; s <= (a.address + a.bytes - 1) / segment_bytes; ++s)
                parts.push_back(s);
        }
        std::sort(parts.begin(), parts.end());
        counts.global_accesses += 1;
        counts.transactions += u64(std::unique(parts.begin(), parts.end()) - parts.begin());
    }

    // Lanes are served as many at a time as 32 words hold; each group takes as many turns as its busiest bank has
    // different words. Atomics on one word take turns as well.
    void count_shared(const Warp& warp, const Share* from, const Share* to) {
        counts.shared_accesses += 1;
        u32 at_a_time = std::min(WARP, BANKS * 4 / std::max<u32>(4, access(warp, *from).bytes));
        while (from < to) {
            u32 group = from->lane / at_a_time;
            parts.clear();
            for (; from < to && from->lane / at_a_time == group; ++from) {
                const Access& a = access(warp, *from);
                for (u64 word = a.address / 4; word <= (a.address + a.bytes - 1) / 4; ++word)
                    parts.push_back(a.atomic ? word << 5 | from->lane : word << 5);
            }
            std::sort(parts.begin(), parts.end());
            parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
            u32 turns[BANKS] = {};
            u32 most = 0;
            for (u64 part : parts) most = std::max(most, ++turns[(part >> 5) % BANKS]);
            counts.conflicts += most - 1;
        }
    }

    // A branch diverges where lanes that execute it together go on to different places. Ways that touch no memory and
    // join at once do not count: a GPU's compiler makes a choice between values of them.
    void count_branches(Warp& warp, u32 lanes) {
        u32 at[WARP] = {};
        if (!walk_together(warp, lanes, at)) {
            for_lanes(lanes, [&](u32 lane) {
                // From the last place that all entered, or 0 where the warp met, to where it meets again, 0.
                const Thread& thread = warp.threads[lane];
                add(lane, u32(thread.path.size()) - at[lane] + 1,
                    [&](u32 i) { return at[lane] + i == 0 ? 0 : entered(thread, at[lane] + i - 1); },
                    [&](u32 i) { return at[lane] + i; });
            });
            for_each_execution([&](const Share* from, const Share* to) {
                bool together = std::all_of(from, to, [&](const Share& share) {
                    return entered(warp.threads[share.lane], share.what) == entered(warp.threads[from->lane], from->what);
                });
                if (!together && joined(warp, from, to) == 0) counts.divergent_branches += 1;
            });
        }
        for_lanes(lanes, [&](u32 lane) { warp.threads[lane].path.clear(); });
    }

    // Follows the lanes' paths for as long as they do not diverge, to `at`; true where that is to the end.
    bool walk_together(const Warp& warp, u32 lanes, u32 (&at)[WARP]) {
        u32 first = u32(__builtin_ctz(lanes));
        for (;;) {
            u32 place = entered(warp.threads[first], at[first]);
            bool together = true;
            for_lanes(lanes, [&](u32 lane) { together = together && entered(warp.threads[lane], at[lane]) == place; });
            if (together && place == 0) return true;
            if (together) {
                for_lanes(lanes, [&](u32 lane) { at[lane] += 1; });
                continue;
            }
            for_lanes(lanes, [&](u32 lane) { shares.push_back({0, 0, lane, at[lane]}); });
            u32 join = joined(warp, shares.data(), shares.data() + shares.size());
            shares.clear();
            if (join == 0) return false;
            for_lanes(lanes, [&](u32 lane) { at[lane] += entered(warp.threads[lane], at[lane]) != join; });
        }
    }

    // Where lanes that take different ways are together again after one place each that touches no memory; else 0.
    static u32 joined(const Warp& warp, const Share* from, const Share* to) {
        auto joins = [&](u32 place) {
            return place != 0 && std::all_of(from, to, [&](const Share& share) {
                const Thread& thread = warp.threads[share.lane];
                return entered(thread, share.what) == place ||
                       (!touches(thread, share.what) && entered(thread, share.what + 1) == place);
            });
        };
        const Thread& first = warp.threads[from->lane];
        for (u32 next : {0, 1})
            if (joins(entered(first, from->what + next))) return entered(first, from->what + next);
        return 0;
    }

    static u32 entered(const Thread& thread, u32 i) {
        return i < thread.path.size() ? thread.path[i] & ~TOUCHES_MEMORY : 0;
    }

    static bool touches(const Thread& thread, u32 i) {
        return i >= thread.path.size() || (thread.path[i] & TOUCHES_MEMORY) != 0;
    }
};

} // namespace simt::bench
