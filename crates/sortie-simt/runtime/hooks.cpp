// What the compiler calls from an instrumented kernel: at every access to memory, and on entry to every stretch of code
// without a branch.

#include "access.h"

using namespace simt::bench;

#define HOOK extern "C" __attribute__((visibility("default")))
#define PLACE u64(__builtin_return_address(0))

namespace {

void plain(void* at, u32 bytes, Kind kind, u64 place) {
    if (current != nullptr) access(u64(at), bytes, kind, simt::Device, place);
}

// What the source has as several accesses and the compiler made one: a device makes as many as the alignment asks for.
void pieces(void* at, u32 bytes, Kind kind, u64 place) {
    const u64 alignment = u64(at) & -u64(at);
    for (u32 done = 0; done < bytes;) {
        const u64 left = bytes - done, piece = alignment < left ? alignment : left;
        plain(static_cast<char*>(at) + done, u32(piece), kind, place);
        done += u32(piece);
    }
}

void shared_with_others(void* at, u32 bytes, Kind kind, u64 place) {
    if (current == nullptr) return;
    launch->yield();
    plain(at, bytes, kind, place);
}

} // namespace

#define HOOKS_FOR(size)                                                                                                \
    HOOK void __tsan_read##size(void* at) { plain(at, size, Kind::Read, PLACE); }                                      \
    HOOK void __tsan_write##size(void* at) { plain(at, size, Kind::Write, PLACE); }                                    \
    HOOK void __tsan_unaligned_read##size(void* at) { pieces(at, size, Kind::Read, PLACE); }                           \
    HOOK void __tsan_unaligned_write##size(void* at) { pieces(at, size, Kind::Write, PLACE); }                         \
    HOOK void __tsan_volatile_read##size(void* at) { shared_with_others(at, size, Kind::Read, PLACE); }                \
    HOOK void __tsan_volatile_write##size(void* at) { shared_with_others(at, size, Kind::Write, PLACE); }              \
    HOOK void __tsan_unaligned_volatile_read##size(void* at) { shared_with_others(at, size, Kind::Read, PLACE); }      \
    HOOK void __tsan_unaligned_volatile_write##size(void* at) { shared_with_others(at, size, Kind::Write, PLACE); }
HOOKS_FOR(1)
HOOKS_FOR(2)
HOOKS_FOR(4)
HOOKS_FOR(8)
HOOKS_FOR(16)

HOOK void __tsan_read_range(void* at, unsigned long bytes) { pieces(at, u32(bytes), Kind::Read, PLACE); }
HOOK void __tsan_write_range(void* at, unsigned long bytes) { pieces(at, u32(bytes), Kind::Write, PLACE); }
HOOK void __tsan_func_entry(void*) {}
HOOK void __tsan_func_exit() {}
HOOK void __tsan_init() {}

HOOK void __sanitizer_cov_trace_pc() {
    if (current == nullptr) return;
    u64 place = PLACE;
    if (launch->costs) current->path.push_back(u32(place - launch->module_base));
    // Nobody else runs meanwhile, so nothing that the thread reads will change.
    if (++current->steps > 2'000'000'000)
        fail("nothing moves: block %u thread %u loops at \1%llx\2 without an atomic or a barrier", current->block->rank,
             current->rank, place);
}
