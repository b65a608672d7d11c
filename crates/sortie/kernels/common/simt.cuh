// The functions through which kernels use the machine. Kernels use nothing else of CUDA.
//
// - With CUDA (NVRTC or nvcc) they map to intrinsics and inline PTX. All inline PTX is in this file, with a plain C++
//   equivalent.
// - g++ compiles the kernels for the test bench. simt_bench.h then replaces the machine: each thread is a fiber, and
//   each function that touches the machine calls the bench.
//
// Rules for a kernel file:
// - It opens a namespace within this one, `namespace simt::sort_segments { ... }`. It does not say `using namespace
//   simt`: NVRTC declares its own ballot, any and all in the global namespace, which would make calls ambiguous.
// - A kernel calls await_turn() before anything else.
// - Grids and blocks have one dimension. The threads of a block are whole warps.
// - A collective is reached by every lane of its mask, and barrier() by every thread of the block, in code that does
//   not diverge.
// - Of the collectives, only warp_barrier() orders the memory accesses of the lanes.
// - All shared memory is dynamic, from shared_memory(). The bench interleaves blocks, so it has no static __shared__.
// - Blocks start in no particular order. A kernel whose blocks wait for one another takes tickets from a counter.
#pragma once

#if defined(__CUDACC__)
#define SIMT_FN __device__ __forceinline__
#define SIMT_KERNEL(threads, min_blocks) extern "C" __global__ void __launch_bounds__(threads, min_blocks)
#define SIMT_UNROLL _Pragma("unroll")
#define SIMT_ROLL _Pragma("unroll 1")
// The offset of a field in its struct, in bytes. NVRTC 13.0 has neither offsetof nor __builtin_offsetof.
#define SIMT_OFFSET_OF(type, field) static_cast<unsigned long long>(__INTADDR__(&static_cast<type*>(nullptr)->field))
#else
#include "simt_bench.h"
#define SIMT_FN inline __attribute__((always_inline))
#define SIMT_KERNEL(threads, min_blocks) extern "C" ::simt::bench::kernel<(threads), (min_blocks)>
#define SIMT_UNROLL
#define SIMT_ROLL
#define SIMT_OFFSET_OF(type, field) __builtin_offsetof(type, field)
#endif

namespace simt {

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i32 = int;
using i64 = long long;

constexpr u32 WARP = 32;
constexpr u32 FULL = ~0u;

// Memory order and scope of an atomic. Block: between threads of one block. Device: between all threads of the launch.
enum Order : int { Relaxed, Acquire, Release, AcquireRelease };
enum Scope : int { Block, Device };

// 16 bytes that one instruction loads or stores.
struct alignas(16) Quad {
    u32 x, y, z, w;
#if !defined(__CUDACC__)
    Quad() = default;
    Quad(const Quad&) = default;
    // Without this, g++ stores each assigned word separately, and the bench sees four stores.
    SIMT_FN Quad& operator=(const Quad& other) {
        bench::copy_quad(this, &other);
        return *this;
    }
#endif
};

namespace detail {

template <class T> struct Same {
    using Type = T;
};

template <u32 bytes> struct Unsigned;
template <> struct Unsigned<1> { using Type = u8; };
template <> struct Unsigned<2> { using Type = u16; };
template <> struct Unsigned<4> { using Type = u32; };
template <> struct Unsigned<8> { using Type = u64; };

// The unsigned integer as wide as T.
template <class T> using Bits = typename Unsigned<sizeof(T)>::Type;

template <class To, class From> SIMT_FN To cast(From from) {
    static_assert(sizeof(To) == sizeof(From), "a cast of bits keeps the size");
    union {
        From from;
        To to;
    } both = {from};
    return both.to;
}

template <class T> constexpr bool is_signed = T(-1) < T(0);

} // namespace detail

template <class T> SIMT_FN T lesser(T a, T b) { return b < a ? b : a; }
template <class T> SIMT_FN T greater(T a, T b) { return a < b ? b : a; }

#if defined(__CUDACC__)

// ----------------------------------------------------------------------------------------------------------- CUDA: turns

// Programmatic dependent launch: lets blocks of the stream's next kernel start as soon as multiprocessors have room,
// then waits until all earlier work of the stream has ended. This hides most of the launch latency: on an H200, sorts
// of 2^24 u64 took 8% less time, of 2^24 pairs of u64 and u32 5%.
SIMT_FN void await_turn() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// ---------------------------------------------------------------------------------------------------------- CUDA: ranks

SIMT_FN u32 thread_rank() { return threadIdx.x; }
SIMT_FN u32 block_rank() { return blockIdx.x; }
SIMT_FN u32 block_threads() { return blockDim.x; }
SIMT_FN u32 grid_blocks() { return gridDim.x; }
SIMT_FN u32 lane() { return threadIdx.x % WARP; }
SIMT_FN u32 warp_rank() { return threadIdx.x / WARP; }

SIMT_FN u8* shared_memory() {
    extern __shared__ __align__(128) u8 simt_shared_memory[];
    return simt_shared_memory;
}

// ----------------------------------------------------------------------------------------------- CUDA: threads together

SIMT_FN void barrier() { __syncthreads(); }
SIMT_FN void warp_barrier(u32 mask = FULL) { __syncwarp(mask); }

SIMT_FN u32 ballot(bool predicate, u32 mask = FULL) { return __ballot_sync(mask, predicate); }
SIMT_FN bool any(bool predicate, u32 mask = FULL) { return __any_sync(mask, predicate); }
SIMT_FN bool all(bool predicate, u32 mask = FULL) { return __all_sync(mask, predicate); }

// A mask of the lanes that have the same value as this one.
template <class T> SIMT_FN u32 match_any(T value, u32 mask = FULL) {
    return __match_any_sync(mask, detail::cast<detail::Bits<T>>(value));
}

// A mask of the lanes that have the same bits LOW..LOW + BITS as this one. All lanes of the warp take part. In PTX,
// each bit takes two instructions besides the vote; compiled from C++, five.
template <u32 LOW, u32 BITS> SIMT_FN u32 match_bits(u32 value) {
    u32 peers = FULL;
    SIMT_UNROLL
    for (u32 b = LOW; b < LOW + BITS; ++b) {
        u32 same;
        asm volatile("{\n"
                     ".reg .pred set;\n"
                     ".reg .b32 bit;\n"
                     "and.b32 bit, %1, %2;\n"
                     "setp.ne.u32 set, bit, 0;\n"
                     "vote.sync.ballot.b32 %0, set, 0xFFFFFFFF;\n"
                     "@!set not.b32 %0, %0;\n"
                     "}"
                     : "=r"(same)
                     : "r"(value), "r"(1u << b));
        peers &= same;
    }
    return peers;
}

template <class T> SIMT_FN T shuffle(T value, u32 from, u32 mask = FULL) {
    return detail::cast<T>(__shfl_sync(mask, detail::cast<detail::Bits<T>>(value), from));
}

template <class T> SIMT_FN T shuffle_xor(T value, u32 flip, u32 mask = FULL) {
    return detail::cast<T>(__shfl_xor_sync(mask, detail::cast<detail::Bits<T>>(value), flip));
}

// The value of the lane that is `by` lower; the lowest `by` lanes keep their own.
template <class T> SIMT_FN T shuffle_up(T value, u32 by, u32 mask = FULL) {
    return detail::cast<T>(__shfl_up_sync(mask, detail::cast<detail::Bits<T>>(value), by));
}

// The value of the lane that is `by` higher; the highest `by` lanes keep their own.
template <class T> SIMT_FN T shuffle_down(T value, u32 by, u32 mask = FULL) {
    return detail::cast<T>(__shfl_down_sync(mask, detail::cast<detail::Bits<T>>(value), by));
}

// --------------------------------------------------------------------------------------------------------- CUDA: atomics

template <Scope scope = Device> SIMT_FN void fence() {
    if constexpr (scope == Block) __threadfence_block();
    else __threadfence();
}

namespace detail {

constexpr bool releases(Order order) { return order == Release || order == AcquireRelease; }
constexpr bool acquires(Order order) { return order == Acquire || order == AcquireRelease; }

// Runs a relaxed atomic between the fences that the order requires. Intrinsics, unlike PTX, let the compiler see
// whether the address is in shared memory.
template <Order order, Scope scope, class T, class Operation> SIMT_FN T ordered(Operation operation) {
    if constexpr (releases(order)) fence<scope>();
    T before = T(operation());
    if constexpr (acquires(order)) fence<scope>();
    return before;
}

} // namespace detail

#define SIMT_ATOMIC(name, intrinsic, Operand)                                                                          \
    template <Order order = Relaxed, Scope scope = Device, class T>                                                    \
    SIMT_FN T name(T* at, typename detail::Same<T>::Type value) {                                                      \
        static_assert(sizeof(T) == 4 || sizeof(T) == 8, "an atomic has 32 or 64 bits");                                \
        using Word = Operand;                                                                                          \
        return detail::ordered<order, scope, T>([=] {                                                                  \
            if constexpr (scope == Block) return intrinsic##_block(reinterpret_cast<Word*>(at), Word(value));          \
            else return intrinsic(reinterpret_cast<Word*>(at), Word(value));                                           \
        });                                                                                                            \
    }
// Each returns the value before the operation.
SIMT_ATOMIC(atomic_add, atomicAdd, detail::Bits<T>)
SIMT_ATOMIC(atomic_and, atomicAnd, detail::Bits<T>)
SIMT_ATOMIC(atomic_or, atomicOr, detail::Bits<T>)
SIMT_ATOMIC(atomic_min, atomicMin, T)
SIMT_ATOMIC(atomic_max, atomicMax, T)
SIMT_ATOMIC(atomic_exchange, atomicExch, detail::Bits<T>)
#undef SIMT_ATOMIC

// Compare-and-swap: writes `value` if *at is `expected`. Returns the value before.
template <Order order = Relaxed, Scope scope = Device, class T>
SIMT_FN T atomic_cas(T* at, typename detail::Same<T>::Type expected, typename detail::Same<T>::Type value) {
    using Word = detail::Bits<T>;
    return detail::ordered<order, scope, T>([=] {
        if constexpr (scope == Block) return atomicCAS_block(reinterpret_cast<Word*>(at), Word(expected), Word(value));
        else return atomicCAS(reinterpret_cast<Word*>(at), Word(expected), Word(value));
    });
}

template <Order order, Scope scope = Device, class T> SIMT_FN T atomic_load(const T* at) {
    static_assert(order == Relaxed || order == Acquire, "a load is relaxed or acquires");
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "an atomic has 32 or 64 bits");
    if constexpr (scope == Block) {
        // A volatile access lets the compiler see whether the address is in shared memory.
        T value = *const_cast<const volatile T*>(at);
        if constexpr (order == Acquire) fence<Block>();
        return value;
    } else {
        detail::Bits<T> value;
        if constexpr (sizeof(T) == 4 && order == Relaxed)
            asm volatile("ld.relaxed.gpu.b32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
        else if constexpr (sizeof(T) == 4) asm volatile("ld.acquire.gpu.b32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
        else if constexpr (order == Relaxed)
            asm volatile("ld.relaxed.gpu.b64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
        else asm volatile("ld.acquire.gpu.b64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
        return T(value);
    }
}

template <Order order, Scope scope = Device, class T>
SIMT_FN void atomic_store(T* at, typename detail::Same<T>::Type value) {
    static_assert(order == Relaxed || order == Release, "a store is relaxed or releases");
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "an atomic has 32 or 64 bits");
    if constexpr (scope == Block) {
        if constexpr (order == Release) fence<Block>();
        *const_cast<volatile T*>(at) = value;
    } else {
        detail::Bits<T> bits(value);
        if constexpr (sizeof(T) == 4 && order == Relaxed)
            asm volatile("st.relaxed.gpu.b32 [%0], %1;" ::"l"(at), "r"(bits) : "memory");
        else if constexpr (sizeof(T) == 4) asm volatile("st.release.gpu.b32 [%0], %1;" ::"l"(at), "r"(bits) : "memory");
        else if constexpr (order == Relaxed) asm volatile("st.relaxed.gpu.b64 [%0], %1;" ::"l"(at), "l"(bits) : "memory");
        else asm volatile("st.release.gpu.b64 [%0], %1;" ::"l"(at), "l"(bits) : "memory");
    }
}

// ------------------------------------------------------------------------------------- CUDA: loads, stores, copies

// Loads and stores of global memory that is accessed only once: the cache evicts it first. T has 4, 8 or 16 bytes.
template <class T> SIMT_FN T load_streaming(const T* from) {
    u64 at = __cvta_generic_to_global(from);
    if constexpr (sizeof(T) == 4) {
        u32 value;
        asm volatile("ld.global.cs.b32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
        return detail::cast<T>(value);
    } else if constexpr (sizeof(T) == 8) {
        u64 value;
        asm volatile("ld.global.cs.b64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
        return detail::cast<T>(value);
    } else {
        Quad value;
        asm volatile("ld.global.cs.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                     : "l"(at)
                     : "memory");
        return detail::cast<T>(value);
    }
}

template <class T> SIMT_FN void store_streaming(T* to, typename detail::Same<T>::Type value) {
    u64 at = __cvta_generic_to_global(to);
    if constexpr (sizeof(T) == 4)
        asm volatile("st.global.cs.b32 [%0], %1;" ::"l"(at), "r"(detail::cast<u32>(value)) : "memory");
    else if constexpr (sizeof(T) == 8)
        asm volatile("st.global.cs.b64 [%0], %1;" ::"l"(at), "l"(detail::cast<u64>(value)) : "memory");
    else {
        Quad quad = detail::cast<Quad>(value);
        asm volatile("st.global.cs.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(quad.x), "r"(quad.y), "r"(quad.z),
                     "r"(quad.w)
                     : "memory");
    }
}

// Starts a copy of 4, 8 or 16 bytes from global to shared memory that bypasses the registers. The copying thread may
// read them after copy_async_wait for their group, other threads after a barrier that follows it.
template <class T> SIMT_FN void copy_async(T* to_shared, const T* from_global) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "an asynchronous copy has 4, 8 or 16 bytes");
#if __CUDA_ARCH__ >= 800
    u32 to = u32(__cvta_generic_to_shared(to_shared));
    u64 from = __cvta_generic_to_global(from_global);
    if constexpr (sizeof(T) == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
    else asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(sizeof(T)) : "memory");
#else
    *to_shared = *from_global;
#endif
}

// Makes a group of the copies that this thread has started since the last group.
SIMT_FN void copy_async_commit() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits for all groups of this thread but the last `left`.
template <u32 left> SIMT_FN void copy_async_wait() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
#endif
}

// ------------------------------------------------------------------------------------------------- CUDA: bits and floats

SIMT_FN u32 popcount(u32 x) { return __popc(x); }
SIMT_FN u32 popcount(u64 x) { return __popcll(x); }
// Leading and trailing zeros of 0 are the width of the type.
SIMT_FN u32 leading_zeros(u32 x) { return __clz(x); }
SIMT_FN u32 leading_zeros(u64 x) { return __clzll(x); }
SIMT_FN u32 trailing_zeros(u32 x) { return x == 0 ? 32 : __ffs(x) - 1; }
SIMT_FN u32 trailing_zeros(u64 x) { return x == 0 ? 64 : __ffsll(x) - 1; }
SIMT_FN u32 reverse_bits(u32 x) { return __brev(x); }
SIMT_FN u64 reverse_bits(u64 x) { return __brevll(x); }
// Byte n of the result is the byte that hexadecimal digit n of the selector names: 0 to 3 are bytes of a, 4 to 7 of b.
SIMT_FN u32 permute_bytes(u32 a, u32 b, u32 selector) { return __byte_perm(a, b, selector); }
// Shifts of the 64-bit number high:low by `by` modulo 32. Left returns the upper word of the result, right the lower
// word.
SIMT_FN u32 funnel_shift_left(u32 low, u32 high, u32 by) { return __funnelshift_l(low, high, by); }
SIMT_FN u32 funnel_shift_right(u32 low, u32 high, u32 by) { return __funnelshift_r(low, high, by); }
// The nearest number from 0 to 1; 0 for NaN.
SIMT_FN float saturated(float x) { return __saturatef(x); }
// x * y + z, rounded once.
SIMT_FN float multiply_add(float x, float y, float z) { return __fmaf_rn(x, y, z); }

// Promises the compiler that a condition holds. The bench checks it.
SIMT_FN void assume(bool holds) { __builtin_assume(holds); }

#else

// -------------------------------------------------------------------------------------- on the bench, in the same order

SIMT_FN void await_turn() { bench::await_turn(); }

SIMT_FN u32 thread_rank() { return bench::thread_rank(); }
SIMT_FN u32 block_rank() { return bench::block_rank(); }
SIMT_FN u32 block_threads() { return bench::block_threads(); }
SIMT_FN u32 grid_blocks() { return bench::grid_blocks(); }
SIMT_FN u32 lane() { return bench::thread_rank() % WARP; }
SIMT_FN u32 warp_rank() { return bench::thread_rank() / WARP; }

SIMT_FN u8* shared_memory() { return bench::shared_memory(); }

SIMT_FN void barrier(bench::Line line = bench::here()) { bench::barrier(line); }
SIMT_FN void warp_barrier(u32 mask = FULL, bench::Line line = bench::here()) {
    bench::collective(bench::Collective::Barrier, 0, 0, mask, line);
}

SIMT_FN u32 ballot(bool predicate, u32 mask = FULL, bench::Line line = bench::here()) {
    return u32(bench::collective(bench::Collective::Ballot, predicate, 0, mask, line));
}
SIMT_FN bool any(bool predicate, u32 mask = FULL, bench::Line line = bench::here()) {
    return ballot(predicate, mask, line) != 0;
}
SIMT_FN bool all(bool predicate, u32 mask = FULL, bench::Line line = bench::here()) {
    return ballot(predicate, mask, line) == mask;
}

template <class T> SIMT_FN u32 match_any(T value, u32 mask = FULL, bench::Line line = bench::here()) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a collective takes values of 4 or 8 bytes");
    return u32(bench::collective(bench::Collective::Match, detail::cast<detail::Bits<T>>(value), 0, mask, line));
}

template <u32 LOW, u32 BITS> SIMT_FN u32 match_bits(u32 value, bench::Line line = bench::here()) {
    return match_any(value >> LOW & ((1u << BITS) - 1), FULL, line);
}

template <class T> SIMT_FN T shuffle(T value, u32 from, u32 mask = FULL, bench::Line line = bench::here()) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a collective takes values of 4 or 8 bytes");
    using Word = detail::Bits<T>;
    u64 taken = bench::collective(bench::Collective::Shuffle, detail::cast<Word>(value), from % WARP, mask, line);
    return detail::cast<T>(Word(taken));
}
template <class T> SIMT_FN T shuffle_xor(T value, u32 flip, u32 mask = FULL, bench::Line line = bench::here()) {
    return shuffle(value, lane() ^ flip, mask, line);
}
template <class T> SIMT_FN T shuffle_up(T value, u32 by, u32 mask = FULL, bench::Line line = bench::here()) {
    return shuffle(value, lane() < by ? lane() : lane() - by, mask, line);
}
template <class T> SIMT_FN T shuffle_down(T value, u32 by, u32 mask = FULL, bench::Line line = bench::here()) {
    return shuffle(value, lane() + by < WARP ? lane() + by : lane(), mask, line);
}

template <Scope scope = Device> SIMT_FN void fence() { bench::fence(scope); }

#define SIMT_ATOMIC(name, operation)                                                                                   \
    template <Order order = Relaxed, Scope scope = Device, class T>                                                    \
    SIMT_FN T name(T* at, typename detail::Same<T>::Type value) {                                                      \
        static_assert(sizeof(T) == 4 || sizeof(T) == 8, "an atomic has 32 or 64 bits");                                \
        return T(bench::atomic(bench::Atomic::operation, at, sizeof(T), detail::is_signed<T>, u64(value), 0, order,    \
                               scope));                                                                                \
    }
SIMT_ATOMIC(atomic_add, Add)
SIMT_ATOMIC(atomic_and, And)
SIMT_ATOMIC(atomic_or, Or)
SIMT_ATOMIC(atomic_min, Min)
SIMT_ATOMIC(atomic_max, Max)
SIMT_ATOMIC(atomic_exchange, Exchange)
#undef SIMT_ATOMIC

template <Order order = Relaxed, Scope scope = Device, class T>
SIMT_FN T atomic_cas(T* at, typename detail::Same<T>::Type expected, typename detail::Same<T>::Type value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "an atomic has 32 or 64 bits");
    return T(bench::atomic(bench::Atomic::Cas, at, sizeof(T), false, u64(value), u64(expected), order, scope));
}

template <Order order, Scope scope = Device, class T> SIMT_FN T atomic_load(const T* at) {
    static_assert(order == Relaxed || order == Acquire, "a load is relaxed or acquires");
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "an atomic has 32 or 64 bits");
    return T(bench::atomic(bench::Atomic::Load, const_cast<T*>(at), sizeof(T), false, 0, 0, order, scope));
}

template <Order order, Scope scope = Device, class T>
SIMT_FN void atomic_store(T* at, typename detail::Same<T>::Type value) {
    static_assert(order == Relaxed || order == Release, "a store is relaxed or releases");
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "an atomic has 32 or 64 bits");
    bench::atomic(bench::Atomic::Store, at, sizeof(T), false, u64(value), 0, order, scope);
}

template <class T> SIMT_FN T load_streaming(const T* from) { return *from; }
template <class T> SIMT_FN void store_streaming(T* to, typename detail::Same<T>::Type value) { *to = value; }

template <class T> SIMT_FN void copy_async(T* to_shared, const T* from_global) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "an asynchronous copy has 4, 8 or 16 bytes");
    bench::copy_async(to_shared, from_global, sizeof(T));
}
SIMT_FN void copy_async_commit() { bench::copy_async_commit(); }
template <u32 left> SIMT_FN void copy_async_wait() { bench::copy_async_wait(left); }

SIMT_FN u32 popcount(u32 x) { return u32(__builtin_popcount(x)); }
SIMT_FN u32 popcount(u64 x) { return u32(__builtin_popcountll(x)); }
SIMT_FN u32 leading_zeros(u32 x) { return x == 0 ? 32 : u32(__builtin_clz(x)); }
SIMT_FN u32 leading_zeros(u64 x) { return x == 0 ? 64 : u32(__builtin_clzll(x)); }
SIMT_FN u32 trailing_zeros(u32 x) { return x == 0 ? 32 : u32(__builtin_ctz(x)); }
SIMT_FN u32 trailing_zeros(u64 x) { return x == 0 ? 64 : u32(__builtin_ctzll(x)); }
SIMT_FN u64 reverse_bits(u64 x) {
    x = (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
    x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
    x = (x >> 4 & 0x0F0F0F0F0F0F0F0F) | (x & 0x0F0F0F0F0F0F0F0F) << 4;
    return __builtin_bswap64(x);
}
SIMT_FN u32 reverse_bits(u32 x) { return u32(reverse_bits(u64(x)) >> 32); }
SIMT_FN u32 permute_bytes(u32 a, u32 b, u32 selector) {
    u64 both = u64(b) << 32 | a;
    u32 result = 0;
    for (u32 n = 0; n < 4; ++n) result |= u32(both >> (selector >> 4 * n & 7) * 8 & 0xFF) << 8 * n;
    return result;
}
SIMT_FN u32 funnel_shift_left(u32 low, u32 high, u32 by) { return u32((u64(high) << 32 | low) << (by & 31) >> 32); }
SIMT_FN u32 funnel_shift_right(u32 low, u32 high, u32 by) { return u32((u64(high) << 32 | low) >> (by & 31)); }
SIMT_FN float saturated(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
SIMT_FN float multiply_add(float x, float y, float z) { return __builtin_fmaf(x, y, z); }

SIMT_FN void assume(bool holds, bench::Line line = bench::here()) {
    if (!holds) bench::fail_assumption(line);
}

#endif

// --------------------------------------------------------------------------------------------------- on both: a whole warp

// The least, and the greatest, of the values of a warp's 32 lanes, for all lanes.
SIMT_FN u32 warp_least(u32 value) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 800
    return __reduce_min_sync(FULL, value);
#else
    for (u32 flip = 1; flip < WARP; flip *= 2) value = lesser(value, shuffle_xor(value, flip));
    return value;
#endif
}
SIMT_FN u64 warp_least(u64 value) {
    const u32 high = warp_least(u32(value >> 32));
    return u64(high) << 32 | warp_least(u32(value >> 32) == high ? u32(value) : FULL);
}
template <class T> SIMT_FN T warp_greatest(T value) { return T(~warp_least(T(~value))); }

} // namespace simt
