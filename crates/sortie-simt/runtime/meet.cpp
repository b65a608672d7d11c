// Where threads meet: block barriers, warp collectives, and the end of the kernel.

#include "launch.h"

namespace simt::bench {

namespace {

// All lanes of the mask have met. Only a barrier orders what they did to memory: CUDA promises that of no other
// collective.
void meet(Warp& warp, u32 mask, Collective collective) {
    if (launch->races && collective == Collective::Barrier) launch->races->warp_barrier(warp, mask);
    if (launch->costs && (mask | warp.ended) == ~0u) launch->costs->meet(warp, mask);
    launch->progress();
}

[[noreturn]] void fail_missing(const Thread& thread, u32 mask, u32 missing, const Line& line) {
    fail("warp collective at %s:%u: block %u warp %u has mask %08x, but lanes %08x have ended", line.file, line.line,
         thread.block->rank, thread.rank / WARP, mask, missing);
}

// Gives each lane of the mask what the collective makes of all their values.
void resolve(Warp& warp, u32 mask, Collective collective) {
    Thread* threads = warp.threads;
    u64 votes = 0;
    for (u32 left = mask; left != 0; left &= left - 1) {
        u32 lane = u32(__builtin_ctz(left));
        Thread& thread = threads[lane];
        switch (collective) {
        case Collective::Barrier: break;
        case Collective::Ballot: votes |= u64(thread.value != 0) << lane; break;
        case Collective::Shuffle:
            if ((mask >> thread.argument & 1) == 0)
                fail("shuffle at %s:%u: block %u thread %u takes from lane %u, which is not in mask %08x",
                     thread.line.file, thread.line.line, thread.block->rank, thread.rank, thread.argument, mask);
            thread.result = threads[thread.argument].value;
            break;
        case Collective::Match:
            thread.result = 0;
            for (u32 others = mask; others != 0; others &= others - 1) {
                u32 other = u32(__builtin_ctz(others));
                thread.result |= u64(threads[other].value == thread.value) << other;
            }
            break;
        }
    }
    if (collective != Collective::Ballot) return;
    for (u32 left = mask; left != 0; left &= left - 1) threads[__builtin_ctz(left)].result = votes;
}

[[noreturn]] void fail_barrier(const BlockState& block, const Line& line) {
    fail("barrier at %s:%u in divergent code: %u of block %u's %zu threads wait there, %u have ended", line.file,
         line.line, block.at_barrier, block.rank, block.threads.size(), block.ended);
}

// All threads of the block wait at a barrier.
void pass_barrier(BlockState& block) {
    for (Warp& warp : block.warps)
        for (u32 lane = 1; lane < WARP && (warp.ended >> lane & 1) == 0; ++lane) {
            const Line &one = warp.threads[0].line, &other = warp.threads[lane].line;
            if (one.line != other.line || strcmp(one.file, other.file) != 0)
                fail("barrier in divergent code: block %u warp %u waits at %s:%u and at %s:%u", block.rank,
                     u32(&warp - block.warps.data()), one.file, one.line, other.file, other.line);
        }
    if (launch->races) launch->races->barrier(block);
    if (launch->costs)
        for (Warp& warp : block.warps) launch->costs->meet(warp, ~warp.ended);
    block.at_barrier = 0;
    for (Thread& thread : block.threads) thread.state = Thread::State::Ready;
    for (Warp& warp : block.warps) launch->set_ready(warp, ~warp.ended);
    launch->progress();
}

} // namespace

void barrier(Line line) {
    Thread& self = *current;
    BlockState& block = *self.block;
    self.line = line;
    self.state = Thread::State::AtBarrier;
    self.steps = 0;
    launch->set_waiting(self);
    if (++block.at_barrier == block.threads.size()) pass_barrier(block);
    else if (block.at_barrier + block.ended == block.threads.size()) fail_barrier(block, line);
    launch->switch_away();
}

u64 collective(Collective kind, u64 value, u32 argument, u32 mask, Line line) {
    Thread& self = *current;
    Warp& warp = *self.warp;
    u32 own = 1u << self.lane();
    self.collective = kind;
    self.value = value;
    self.argument = argument;
    self.mask = mask;
    self.line = line;
    self.steps = 0;
    if ((mask & own) == 0)
        fail("warp collective at %s:%u: block %u thread %u is lane %u and not in its own mask %08x", line.file, line.line,
             self.block->rank, self.rank, self.lane(), mask);
    if ((mask & warp.ended) != 0) fail_missing(self, mask, mask & warp.ended, line);

    auto group = std::find_if(warp.groups.begin(), warp.groups.end(), [&](const Warp::Group& group) {
        return group.mask == mask && group.collective == kind;
    });
    if (group == warp.groups.end()) group = warp.groups.insert(group, {mask, 0, kind});
    group->arrived |= own;
    if (group->arrived == mask) {
        warp.groups.erase(group);
        resolve(warp, mask, kind);
        meet(warp, mask, kind);
        for (u32 left = mask; left != 0; left &= left - 1)
            warp.threads[__builtin_ctz(left)].state = Thread::State::Ready;
        launch->set_ready(warp, mask);
    } else {
        self.state = Thread::State::InCollective;
        launch->set_waiting(self);
        launch->switch_away();
    }
    return self.result;
}

void end_thread() {
    Thread& self = *current;
    BlockState& block = *self.block;
    Warp& warp = *self.warp;
    if (!self.copies.empty())
        fail("block %u thread %u ends with asynchronous copies that it did not wait for, from \1%llx\2", block.rank,
             self.rank, self.copies.front().place);
    self.state = Thread::State::Ended;
    warp.ended |= 1u << self.lane();
    block.ended += 1;
    for (const Warp::Group& group : warp.groups)
        if ((group.mask & warp.ended) != 0)
            fail_missing(self, group.mask, group.mask & warp.ended, warp.threads[__builtin_ctz(group.arrived)].line);
    if (block.at_barrier > 0 && block.at_barrier + block.ended == block.threads.size())
        for (const Thread& thread : block.threads)
            if (thread.state == Thread::State::AtBarrier) fail_barrier(block, thread.line);
    if (launch->costs && warp.ended == ~0u) {
        u32 present = launch->request.threads - u32(warp.threads - block.threads.data());
        launch->costs->meet(warp, present >= WARP ? ~0u : (1u << present) - 1);
    }
    launch->progress();
    launch->leave();
}

[[noreturn]] void fail_assumption(Line line) {
    fail("assumption at %s:%u does not hold: block %u thread %u", line.file, line.line, current->block->rank,
         current->rank);
}

u32 thread_rank() { return current->rank; }
u32 block_rank() { return current->block->rank; }
u32 block_threads() { return launch->request.threads; }
u32 grid_blocks() { return launch->request.blocks; }
u8* shared_memory() { return current->block->shared.bytes; }

} // namespace simt::bench
