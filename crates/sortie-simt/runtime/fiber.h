// Stacks and the switch between them: a thread of a kernel is a fiber.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// Saves the registers that a call preserves on the own stack, its top in *save, and goes on from the stack `load`.
extern "C" void simt_switch(void** save, void* load);
// Where a new stack begins: calls simt_thread_main.
extern "C" void simt_begin();
extern "C" void simt_thread_main();

namespace simt::bench {

// A stack that is ready to be switched to.
struct Stack {
    static constexpr size_t BYTES = 256 * 1024;

    char* low = nullptr;
    void* top = nullptr;
    size_t stagger = 0;

    bool holds(uint64_t address) const { return address - reinterpret_cast<uint64_t>(low) < BYTES; }

    // The next switch to `top` enters simt_thread_main.
    void rewind() {
#if defined(__SANITIZE_ADDRESS__)
        __asan_unpoison_memory_region(low, BYTES);
#endif
        // Stacks are a power of two apart; staggered, their tops do not share the same few lines of the caches.
        uint64_t* at = reinterpret_cast<uint64_t*>(low + BYTES - 64 - stagger);
#if defined(__x86_64__)
        // A stack is aligned to 16 bytes where a call is made.
        at -= 2;
        *--at = reinterpret_cast<uint64_t>(&simt_begin);
        at -= 6;
#else
        at -= 20;
        at[11] = reinterpret_cast<uint64_t>(&simt_begin);
#endif
        top = at;
    }
};

// Stacks are made once and used again, launch after launch. Below each lies a page that nobody may touch.
class Stacks {
  public:
    ~Stacks() {
        for (char* slab : slabs) {
#if defined(__SANITIZE_ADDRESS__)
            // The marks that frames left would hold for whatever is mapped here next.
            __asan_unpoison_memory_region(slab, SLAB * STRIDE);
#endif
            munmap(slab, SLAB * STRIDE);
        }
    }

    Stack take() {
        if (idle.empty()) grow();
        Stack stack = idle.back();
        idle.pop_back();
        return stack;
    }

    void give_back(const Stack& stack) { idle.push_back(stack); }

  private:
    static constexpr size_t SLAB = 32;
    static constexpr size_t GUARD = 64 * 1024;
    static constexpr size_t STRIDE = Stack::BYTES + GUARD;

    std::vector<char*> slabs;
    std::vector<Stack> idle;

    void grow() {
        void* slab = mmap(nullptr, SLAB * STRIDE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (slab == MAP_FAILED) abort();
        slabs.push_back(static_cast<char*>(slab));
        for (size_t i = 0; i < SLAB; ++i) {
            char* low = static_cast<char*>(slab) + i * STRIDE + GUARD;
            if (mprotect(low, Stack::BYTES, PROT_READ | PROT_WRITE) != 0) abort();
            idle.push_back(Stack{low, nullptr, (slabs.size() * SLAB + i) * 832 % 16384 / 64 * 64});
        }
    }
};

} // namespace simt::bench
