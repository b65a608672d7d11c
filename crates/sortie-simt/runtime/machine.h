// The simulated machine: what a launch is asked and says, and the blocks, warps and threads that it runs.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <memory>
#include <vector>

#include "clocks.h"
#include "fiber.h"
#include "simt_bench.h"

namespace simt {
enum Order : int { Relaxed, Acquire, Release, AcquireRelease };
enum Scope : int { Block, Device };
} // namespace simt

namespace simt::bench {

constexpr u32 WARP = 32;

// Whether the kernel calls hooks.cpp.
#if defined(SIMT_INSTRUMENTED)
constexpr bool INSTRUMENTED = true;
#else
constexpr bool INSTRUMENTED = false;
#endif

// The types up to Outcome are laid out alike in src/runtime.rs.

// An allocation of device memory.
struct Region {
    u64 base;
    u64 bytes;
};

struct Request {
    const Entry* entry;
    void* const* arguments;
    const Region* regions; // in ascending order
    u64 region_count;
    u64 shared;
    u64 seed;
    u32 blocks;
    u32 threads;
    u32 resident_blocks;
    u32 segment_words;
    u8 race;
    u8 count;
    u8 overlaps;
};

// The K-model's costs. A segment has segment_words words of 4 bytes; a memory access is one of a whole warp.
struct Counts {
    u64 global_accesses;
    u64 transactions;
    u64 shared_accesses;
    u64 conflicts;
    u64 divergent_branches;
};

// A place in a message is an address between \1 and \2.
struct Outcome {
    Counts counts;
    u64 module_base;
    u32 failed;
    char message[4096];
};

struct BlockState;
struct Warp;

// A copy_async under way.
struct Copy {
    void* to;
    const void* from;
    u32 bytes;
    u32 group;
    u64 place;
};

// One lane's share of a memory access.
struct Access {
    u64 address;
    u32 place;
    u8 bytes;
    bool shared;
    bool atomic;
};

// Marks a stretch of code in a thread's path.
constexpr u32 TOUCHES_MEMORY = 1u << 31;

struct Thread {
    enum class State : u8 { Ready, InCollective, AtBarrier, Ended };

    Stack stack;
    void* fake_stack = nullptr;
    BlockState* block = nullptr;
    Warp* warp = nullptr;
    u32 rank = 0;
    State state = State::Ready;
    // Whether the work before has ended, for all that it knows.
    bool has_turn = false;

    // What it brings to a collective, and takes from it.
    Collective collective = Collective::Barrier;
    u32 mask = 0;
    u32 argument = 0;
    u64 value = 0;
    u64 result = 0;
    Line line = {"", 0};

    std::vector<Copy> copies;
    u32 copy_group = 0;

    Clock clock;
    std::vector<Access> accesses;
    std::vector<u32> path; // each stretch of code that was entered, with TOUCHES_MEMORY
    u64 steps = 0;

    u32 lane() const { return rank % WARP; }
};

struct Warp {
    // Lanes that have come to a collective and wait for the rest of its mask.
    struct Group {
        u32 mask;
        u32 arrived;
        Collective collective;
    };

    Thread* threads = nullptr;
    u32 runnable = 0;
    u32 ended = 0;
    u32 place_in_ready = 0;
    std::vector<Group> groups;
};

// Shared memory of a block, and what lies behind it to be found out.
class SharedMemory {
  public:
    ~SharedMemory() { free(bytes); }

    void allocate(u64 size) {
        this->size = size;
#if defined(__SANITIZE_ADDRESS__)
        void* at = nullptr;
        if (posix_memalign(&at, 128, size == 0 ? 1 : size) != 0) abort();
#else
        void* at = aligned_alloc(128, (size + 2 * GUARD - 1) / GUARD * GUARD);
        if (at == nullptr) abort();
#endif
        bytes = static_cast<u8*>(at);
    }

    // What is not written has some value, another one each time.
    void clear(u8 filler) {
        memset(bytes, filler, size);
#if !defined(__SANITIZE_ADDRESS__)
        memset(bytes + size, GUARD_BYTE, GUARD);
#endif
    }

    bool intact() const {
#if !defined(__SANITIZE_ADDRESS__)
        for (u64 i = 0; i < GUARD; ++i)
            if (bytes[size + i] != GUARD_BYTE) return false;
#endif
        return true;
    }

    bool holds(u64 address) const { return address - u64(bytes) < size; }

    u8* bytes = nullptr;
    u64 size = 0;

  private:
    static constexpr u64 GUARD = 128;
    static constexpr u8 GUARD_BYTE = 0xA5;
};

class Shadow;

struct BlockState {
    BlockState();
    ~BlockState();

    u32 rank = 0;
    u32 at_barrier = 0;
    u32 ended = 0;
    bool live = false;
    SharedMemory shared;
    std::vector<Thread> threads;
    std::vector<Warp> warps;

    // Barriers passed, and what all its threads know of other blocks since the last.
    u32 phase = 0;
    MapPtr others;
    std::unique_ptr<Shadow> shadow;
};

class Random {
  public:
    explicit Random(u64 seed) : state(seed * 0x9E3779B97F4A7C15 + 0x1234567F) {
        for (int i = 0; i < 4; ++i) next();
    }

    u64 next() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state * 0x2545F4914F6CDD1D;
    }

    u32 below(u32 limit) { return u32((next() >> 32) * limit >> 32); }

  private:
    u64 state;
};

// The thread that runs; null on the host's own stack.
extern __thread Thread* current __attribute__((tls_model("initial-exec")));

// Ends the launch with a message.
[[noreturn]] void fail(const char* format, ...) __attribute__((format(printf, 1, 2)));

} // namespace simt::bench
