// One launch: which thread runs next, and what becomes of blocks.
#pragma once

#include <memory>
#include <vector>

#include "costs.h"
#include "machine.h"
#include "races.h"

namespace simt::bench {

// A failure that is found on the host's stack.
struct Failed {};

class Launch {
  public:

    Launch(const Request& request, Outcome& outcome, Stacks& stacks);
    ~Launch();

    void run();

    // Goes on with another thread; returns when the present one's turn comes again.
    void switch_away();
    // As switch_away, sometimes, for a thread that could go on.
    void yield();
    // The present thread has ended.
    [[noreturn]] void leave();
    // The launch has failed.
    [[noreturn]] void abandon();

    void set_ready(Warp& warp, u32 lanes);
    void set_waiting(Thread& thread);

    // Something was achieved: nobody spins in vain.
    void progress() { idle = 0; }
    // An atomic was read and nothing was changed.
    void no_progress(u64 place);

    bool in_module(u64 address) const { return address - module_base < module_bytes; }
    // The allocation that holds all the bytes; its number, or -1.
    i64 region_of(u64 address, u32 bytes);

    const Request& request;
    Outcome& outcome;
    Random random;
    std::unique_ptr<Races> races;
    std::unique_ptr<Costs> costs;
    std::vector<Shadow> region_shadows;
    u64 module_base = 0;
    u64 module_bytes = 0;

  private:
    Stacks& stacks;
    std::vector<std::unique_ptr<BlockState>> blocks;
    std::vector<u32> order; // of block ranks, from the last to the first to start
    std::vector<Warp*> ready;
    Warp* latest = nullptr;
    u32 live = 0;
    BlockState* finished = nullptr;
    u64 stay_mask = 0;
    u64 yield_mask = 0;
    u64 idle = 0;
    i64 latest_region = -1;

    void* host_top = nullptr;
    void* host_fake_stack = nullptr;
    const void* host_low = nullptr;
    size_t host_bytes = 0;

    friend void enter_thread();

    void find_module();
    void start_block(BlockState& block);
    Thread& choose(bool stay);
    void switch_to(Thread& next);
    void resume(Thread& thread);
    [[noreturn]] void fail_deadlock();
};

// A thread has come to the end of the kernel.
[[noreturn]] void end_thread();

// The launch under way on this thread of the host.
extern __thread Launch* launch __attribute__((tls_model("initial-exec")));

} // namespace simt::bench
