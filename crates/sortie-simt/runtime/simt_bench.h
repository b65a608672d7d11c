// What simt.cuh calls where there is no GPU. Kernels never see this file but through simt.cuh.
//
// The functions live in an object of their own that is not instrumented; what a kernel does itself is.
#pragma once

namespace simt {

enum Order : int;
enum Scope : int;

namespace bench {

using u8 = unsigned char;
using u32 = unsigned int;
using u64 = unsigned long long;
using i64 = long long;

// A line of a kernel: the one that calls a function of simt.cuh.
struct Line {
    const char* file;
    u32 line;
};

inline __attribute__((always_inline)) constexpr Line here(const char* file = __builtin_FILE(),
                                                          u32 line = __builtin_LINE()) {
    return {file, line};
}

enum class Collective : u32 { Barrier, Ballot, Match, Shuffle };
enum class Atomic : u32 { Load, Store, Add, And, Or, Min, Max, Exchange, Cas };

#pragma GCC visibility push(default)

// Constant for a thread, and a function runs in one thread only.
u32 thread_rank() __attribute__((const));
u32 block_rank() __attribute__((const));
u32 block_threads() __attribute__((const));
u32 grid_blocks() __attribute__((const));
u8* shared_memory() __attribute__((const));

void await_turn();
void barrier(Line line);
u64 collective(Collective kind, u64 value, u32 argument, u32 mask, Line line);
u64 atomic(Atomic operation, void* at, u32 bytes, bool is_signed, u64 value, u64 expected, Order order, Scope scope);
void fence(Scope scope);
void copy_async(void* to, const void* from, u32 bytes);
void copy_async_commit();
void copy_async_wait(u32 left);
[[noreturn]] void fail_assumption(Line line);

#pragma GCC visibility pop

// 16 bytes, read at once and written at once.
inline __attribute__((always_inline)) void copy_quad(void* to, const void* from) {
    typedef u32 Whole __attribute__((vector_size(16)));
    *static_cast<Whole*>(to) = *static_cast<const Whole*>(from);
}

// What a kernel returns. The bench finds kernels by this name, and their number of threads in it.
template <u32 threads, u32 min_blocks> using kernel = void;

// How the bench calls a kernel: as CUDA does, with a pointer to each argument. For a launch that is put off the arguments
// are copied: `sizes` has the bytes of each, and then 0.
struct Entry {
    void (*call)(void* const* arguments);
    u32 threads;
    const u64* sizes;
};

template <auto kernel> struct Caller;
template <class... Arguments, void (*kernel)(Arguments...)> struct Caller<kernel> {
    __attribute__((no_sanitize_thread, no_sanitize_coverage)) static void call(void* const* arguments) {
        spread(arguments, static_cast<Numbers<sizeof...(Arguments)>*>(nullptr));
    }
    // Hidden, since libraries have kernels of one name that take other arguments.
    __attribute__((visibility("hidden"))) static constexpr u64 sizes[] = {sizeof(Arguments)..., 0};

  private:
    template <u32... places> struct Places {};
    template <u32 count, u32... places> struct Count : Count<count - 1, count - 1, places...> {};
    template <u32... places> struct Count<0, places...> : Places<places...> {};
    template <u32 count> using Numbers = Count<count>;

    template <u32... places>
    __attribute__((no_sanitize_thread, no_sanitize_coverage)) static void spread(void* const* arguments,
                                                                                  Places<places...>*) {
        kernel(*static_cast<Arguments*>(arguments[places])...);
    }
};

} // namespace bench
} // namespace simt
