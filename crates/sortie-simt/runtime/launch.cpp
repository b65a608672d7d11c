#include "launch.h"

#include <link.h>

namespace simt::bench {

__thread Thread* current = nullptr;
__thread Launch* launch = nullptr;

BlockState::BlockState() : shadow(std::make_unique<Shadow>()) {}
BlockState::~BlockState() = default;

Launch::Launch(const Request& request, Outcome& outcome, Stacks& stacks)
    : request(request), outcome(outcome), random(request.seed), stacks(stacks) {
    find_module();
    if (request.race) {
        races = std::make_unique<Races>();
        region_shadows.resize(request.region_count);
    }
    if (request.count) costs = std::make_unique<Costs>(outcome.counts, request.segment_words);

    // Every launch has a temper of its own: how long a warp stays, how often an atomic lets others run, how many blocks
    // there are at a time.
    stay_mask = (1u << random.below(9)) - 1;
    yield_mask = (1u << random.below(5)) - 1;
    u32 most = std::min(request.resident_blocks, request.blocks);
    u32 resident = random.below(2) == 0 ? most : 1 + random.below(most);

    for (u32 rank = 0; rank < request.blocks; ++rank) order.push_back(rank);
    for (u32 left = request.blocks; left > 1; --left) std::swap(order[left - 1], order[random.below(left)]);

    for (u32 i = 0; i < resident; ++i) {
        blocks.push_back(std::make_unique<BlockState>());
        BlockState& block = *blocks.back();
        block.shared.allocate(request.shared);
        block.threads.resize(request.threads);
        block.warps.resize((request.threads + WARP - 1) / WARP);
        for (u32 rank = 0; rank < request.threads; ++rank) {
            Thread& thread = block.threads[rank];
            thread.stack = stacks.take();
            thread.rank = rank;
            thread.block = &block;
            thread.warp = &block.warps[rank / WARP];
        }
        for (u32 warp = 0; warp < block.warps.size(); ++warp) block.warps[warp].threads = &block.threads[warp * WARP];
    }
}

Launch::~Launch() {
    for (auto& block : blocks)
        for (Thread& thread : block->threads) stacks.give_back(thread.stack);
}

void Launch::run() {
    u32 started = 0;
    while (started < request.blocks && live < blocks.size()) start_block(*blocks[started++]);
    while (live > 0) {
        resume(choose(false));
        if (outcome.failed) return;
        BlockState& block = *finished;
        finished = nullptr;
        block.live = false;
        live -= 1;
        if (!block.shared.intact())
            fail("block %u wrote past its %llu bytes of shared memory", block.rank, request.shared);
        if (started++ < request.blocks) start_block(block);
        progress();
    }
}

void Launch::start_block(BlockState& block) {
    block.rank = order.back();
    order.pop_back();
    block.at_barrier = block.ended = 0;
    block.live = true;
    block.shared.clear(u8(random.next()));
    live += 1;
    for (Thread& thread : block.threads) {
        thread.stack.rewind();
        thread.fake_stack = nullptr;
        thread.state = Thread::State::Ready;
        thread.has_turn = !request.overlaps;
        thread.copies.clear();
        thread.copy_group = 0;
        thread.steps = 0;
    }
    if (races) races->begin_block(block);
    for (Warp& warp : block.warps) {
        u32 lanes = std::min(WARP, request.threads - u32(&warp - block.warps.data()) * WARP);
        u32 present = lanes == WARP ? ~0u : (1u << lanes) - 1;
        warp.ended = ~present;
        warp.groups.clear();
        set_ready(warp, present);
    }
}

void Launch::set_ready(Warp& warp, u32 lanes) {
    if (lanes == 0) return;
    if (warp.runnable == 0) {
        warp.place_in_ready = u32(ready.size());
        ready.push_back(&warp);
    }
    warp.runnable |= lanes;
}

void Launch::set_waiting(Thread& thread) {
    Warp& warp = *thread.warp;
    warp.runnable &= ~(1u << thread.lane());
    if (warp.runnable != 0) return;
    ready[warp.place_in_ready] = ready.back();
    ready[warp.place_in_ready]->place_in_ready = warp.place_in_ready;
    ready.pop_back();
}

Thread& Launch::choose(bool stay) {
    if (ready.empty()) fail_deadlock();
    u64 die = random.next();
    if (!stay || latest == nullptr || latest->runnable == 0 || (die & stay_mask) == 0)
        latest = ready[u32((die >> 32) * ready.size() >> 32)];
    u32 turn = u32(die >> 16) % WARP;
    u32 turned = turn == 0 ? latest->runnable : latest->runnable >> turn | latest->runnable << (WARP - turn);
    return latest->threads[(u32(__builtin_ctz(turned)) + turn) % WARP];
}

void Launch::yield() {
    if ((random.next() & yield_mask) == 0) switch_to(choose(false));
}

void Launch::switch_away() { switch_to(choose(true)); }

void Launch::switch_to(Thread& next) {
    Thread& self = *current;
    if (&next == &self) return;
    current = &next;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&self.fake_stack, next.stack.low, Stack::BYTES);
#endif
    simt_switch(&self.stack.top, next.stack.top);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(self.fake_stack, nullptr, nullptr);
#endif
}

// From the host's stack to a thread's, until a block has ended or the launch has failed.
void Launch::resume(Thread& thread) {
    current = &thread;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&host_fake_stack, thread.stack.low, Stack::BYTES);
#endif
    simt_switch(&host_top, thread.stack.top);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(host_fake_stack, nullptr, nullptr);
#endif
}

// For good: what was on this stack is done with.
void Launch::abandon() {
    void* nowhere;
    current = nullptr;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(nullptr, host_low, host_bytes);
#endif
    simt_switch(&nowhere, host_top);
    __builtin_unreachable();
}

void Launch::leave() {
    Thread& self = *current;
    BlockState& block = *self.block;
    set_waiting(self);
    if (block.ended == block.threads.size()) {
        finished = &block;
        abandon();
    }
    void* nowhere;
    Thread& next = choose(true);
    current = &next;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(nullptr, next.stack.low, Stack::BYTES);
#endif
    simt_switch(&nowhere, next.stack.top);
    __builtin_unreachable();
}

void Launch::no_progress(u64 place) {
    // Each runnable thread had thousands of turns.
    if (++idle < 4'000'000 + 10'000 * ready.size()) return;
    fail("nothing moves: block %u thread %u waits at \1%llx\2 for a value that nobody writes", current->block->rank,
         current->rank, place);
}

i64 Launch::region_of(u64 address, u32 bytes) {
    auto holds = [&](const Region& region) {
        return address >= region.base && address + bytes <= region.base + region.bytes;
    };
    if (latest_region >= 0 && holds(request.regions[latest_region])) return latest_region;
    const Region* end = request.regions + request.region_count;
    const Region* after = std::upper_bound(request.regions, end, address,
                                           [](u64 address, const Region& region) { return address < region.base; });
    if (after == request.regions || !holds(after[-1])) return -1;
    return latest_region = after - 1 - request.regions;
}

// Where the kernel's code and constants lie.
void Launch::find_module() {
    auto visit = [](dl_phdr_info* info, size_t, void* self) {
        Launch& launch = *static_cast<Launch*>(self);
        u64 low = ~0ull, high = 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
            const auto& header = info->dlpi_phdr[i];
            if (header.p_type != PT_LOAD) continue;
            low = std::min<u64>(low, info->dlpi_addr + header.p_vaddr);
            high = std::max<u64>(high, info->dlpi_addr + header.p_vaddr + header.p_memsz);
        }
        if (u64(launch.request.entry) - low >= high - low) return 0;
        launch.module_base = low;
        launch.module_bytes = high - low;
        launch.outcome.module_base = info->dlpi_addr;
        return 1;
    };
    dl_iterate_phdr(visit, this);
}

// Says of the first few groups of a block's threads where they wait, and for whom.
void Launch::fail_deadlock() {
    char text[2048];
    int length = 0;
    auto say = [&](const char* format, auto... values) {
        if (length < int(sizeof text) - 256) length += snprintf(text + length, 256, format, values...);
    };
    for (auto& slot : blocks) {
        if (!slot->live) continue;
        say("block %u:", slot->rank);
        for (Warp& warp : slot->warps) {
            u32 number = u32(&warp - slot->warps.data());
            for (const Warp::Group& group : warp.groups) {
                const Line& line = warp.threads[__builtin_ctz(group.arrived)].line;
                say(" lanes %08x of warp %u wait at %s:%u for lanes %08x;", group.arrived, number, line.file, line.line,
                    group.mask & ~group.arrived);
            }
            u32 at_barrier = 0;
            for (u32 lane = 0; lane < WARP; ++lane)
                if ((warp.ended >> lane & 1) == 0 && warp.threads[lane].state == Thread::State::AtBarrier)
                    at_barrier |= 1u << lane;
            if (at_barrier == 0) continue;
            const Line& line = warp.threads[__builtin_ctz(at_barrier)].line;
            say(" lanes %08x of warp %u wait at the barrier %s:%u;", at_barrier, number, line.file, line.line);
        }
        break;
    }
    fail("deadlock, a barrier or collective in divergent code: no thread can go on. %s", text);
}

void fail(const char* format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(launch->outcome.message, sizeof launch->outcome.message, format, values);
    va_end(values);
    launch->outcome.failed = 1;
    if (current == nullptr) throw Failed{};
    launch->abandon();
}

// The first thing on a thread's stack.
void enter_thread() {
#if defined(__SANITIZE_ADDRESS__)
    const void* low;
    size_t bytes;
    __sanitizer_finish_switch_fiber(nullptr, &low, &bytes);
    if (launch->host_low == nullptr) launch->host_low = low, launch->host_bytes = bytes;
#endif
    launch->request.entry->call(launch->request.arguments);
    end_thread();
}

} // namespace simt::bench

extern "C" void simt_thread_main() { simt::bench::enter_thread(); }

// Runs a kernel. What comes of it is in `outcome`.
extern "C" __attribute__((visibility("default"))) void simt_launch(const simt::bench::Request* request,
                                                                   simt::bench::Outcome* outcome) {
    using namespace simt::bench;
    // Stacks stay with the host's thread, for its next launch.
    static thread_local Stacks stacks;
    Launch here(*request, *outcome, stacks);
    launch = &here;
    try {
        here.run();
    } catch (const Failed&) {
    }
    launch = nullptr;
    current = nullptr;
}
