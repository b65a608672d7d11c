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

    // One lane's share of an instruction that the warp executes: `what` is an access's number or a branch's target.
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
        for (u32 lane = 0; lane < WARP; ++lane) {
            if ((lanes >> lane & 1) == 0) continue;
            const std::vector<Access>& accesses = warp.threads[lane].accesses;
            // One instruction may reach either memory through a pointer that does not say which.
            add(lane, u32(accesses.size()), [&](u32 i) { return accesses[i].place * 2 + accesses[i].shared; },
                [](u32 i) { return i; });
        }
        for_each_execution([&](const Share* from, const Share* to) {
            if (access(warp, *from).shared) count_shared(warp, from, to);
            else count_global(warp, from, to);
        });
        for (u32 lane = 0; lane < WARP; ++lane)
            if (lanes >> lane & 1) warp.threads[lane].accesses.clear();
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

    // A branch diverges where lanes that execute it together go on to different places.
    void count_branches(Warp& warp, u32 lanes) {
        for (u32 lane = 0; lane < WARP; ++lane) {
            if ((lanes >> lane & 1) == 0) continue;
            // From where the warp met, 0, through each stretch of code entered, to where it meets again, 0.
            const std::vector<u32>& path = warp.threads[lane].path;
            add(lane, u32(path.size()) + 1, [&](u32 i) { return i == 0 ? 0 : path[i - 1]; },
                [&](u32 i) { return i == path.size() ? 0 : path[i]; });
        }
        for_each_execution([&](const Share* from, const Share* to) {
            for (const Share* share = from + 1; share < to; ++share)
                if (share->what != from->what) {
                    counts.divergent_branches += 1;
                    break;
                }
        });
        for (u32 lane = 0; lane < WARP; ++lane)
            if (lanes >> lane & 1) warp.threads[lane].path.clear();
    }
};

} // namespace simt::bench
