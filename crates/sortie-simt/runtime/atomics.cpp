// Atomics, fences and asynchronous copies. At an atomic another thread may run.

#include "access.h"

namespace simt::bench {

namespace {

template <class T> T combine(Atomic operation, T before, T value, T expected) {
    switch (operation) {
    case Atomic::Load: return before;
    case Atomic::Store:
    case Atomic::Exchange: return value;
    case Atomic::Add: return T(u64(before) + u64(value));
    case Atomic::And: return before & value;
    case Atomic::Or: return before | value;
    case Atomic::Min: return value < before ? value : before;
    case Atomic::Max: return before < value ? value : before;
    case Atomic::Cas: return before == expected ? value : before;
    }
    return before;
}

// Returns what was there before, and says whether it was changed.
template <class T> u64 apply(Atomic operation, void* at, u64 value, u64 expected, bool& changed) {
    T& place = *static_cast<T*>(at);
    T before = place;
    T after = combine<T>(operation, before, T(value), T(expected));
    changed = after != before;
    if (changed) place = after;
    return u64(before);
}

u64 apply(Atomic operation, void* at, u32 bytes, bool is_signed, u64 value, u64 expected, bool& changed) {
    if (bytes == 4 && is_signed) return apply<int>(operation, at, value, expected, changed);
    if (bytes == 4) return apply<u32>(operation, at, value, expected, changed);
    if (is_signed) return apply<long long>(operation, at, value, expected, changed);
    return apply<u64>(operation, at, value, expected, changed);
}

} // namespace

u64 atomic(Atomic operation, void* at, u32 bytes, bool is_signed, u64 value, u64 expected, Order order, Scope scope) {
    u64 place = u64(__builtin_return_address(0));
    launch->yield();
    current->steps = 0;
    if constexpr (INSTRUMENTED)
        access(u64(at), bytes, operation == Atomic::Load ? Kind::AtomicRead : Kind::AtomicWrite, scope, place);
    bool changed;
    u64 before = apply(operation, at, bytes, is_signed, value, expected, changed);
    if constexpr (INSTRUMENTED) {
        bool fails = operation == Atomic::Cas && !changed && before != expected;
        order_atomic(u64(at), operation != Atomic::Store, operation != Atomic::Load && !fails, order, scope);
    }
    if (changed) launch->progress();
    else launch->no_progress(place);
    return before;
}

void await_turn() { current->has_turn = true; }

void fence(Scope scope) {
    if (INSTRUMENTED && launch->races) launch->races->fence(*current, scope);
}

// The copy is made as late as can be: a kernel that does not wait for it reads what was there before.
void copy_async(void* to, const void* from, u32 bytes) {
    Thread& self = *current;
    self.copies.push_back({to, from, bytes, self.copy_group, u64(__builtin_return_address(0))});
}

void copy_async_commit() { current->copy_group += 1; }

void copy_async_wait(u32 left) {
    Thread& self = *current;
    auto done = self.copies.begin();
    for (; done != self.copies.end() && done->group + left < self.copy_group; ++done) {
        if constexpr (INSTRUMENTED) {
            access(u64(done->from), done->bytes, Kind::Read, Device, done->place);
            access(u64(done->to), done->bytes, Kind::Write, Device, done->place);
        }
        memcpy(done->to, done->from, done->bytes);
    }
    self.copies.erase(self.copies.begin(), done);
}

} // namespace simt::bench
