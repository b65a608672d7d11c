#include "access.h"

namespace simt::bench {

namespace {

const char* verb(Kind kind) {
    switch (kind) {
    case Kind::Read: return "reads";
    case Kind::Write: return "writes";
    case Kind::AtomicRead: return "reads (atomic)";
    case Kind::AtomicWrite: return "writes (atomic)";
    }
    return "";
}

// Names the nearest memory that the thread may use.
[[noreturn]] void fail_outside(u64 address, u32 bytes, Kind kind, u64 place) {
    const Thread& self = *current;
    const SharedMemory& shared = self.block->shared;
    i64 distance = 1 << 20, offset = 0;
    u64 size = 0;
    const char* what = nullptr;
    auto near = [&](u64 base, u64 length, const char* name) {
        i64 before = i64(base) - i64(address), after = i64(address + bytes) - i64(base + length);
        i64 apart = std::max(before, after);
        if (apart < 0 || apart >= distance) return;
        distance = apart, offset = -before, size = length, what = name;
    };
    near(u64(shared.bytes), shared.size, "shared memory");
    for (u64 i = 0; i < launch->request.region_count; ++i)
        near(launch->request.regions[i].base, launch->request.regions[i].bytes, "an allocation");
    if (what == nullptr)
        fail("out of bounds: block %u thread %u %s %u bytes at \1%llx\2, far from all memory of the device",
             self.block->rank, self.rank, verb(kind), bytes, place);
    fail("out of bounds: block %u thread %u %s %u bytes at \1%llx\2, at offset %lld of %s of %llu bytes", self.block->rank,
         self.rank, verb(kind), bytes, place, offset, what, size);
}

[[noreturn]] void fail_race(u64 offset, const char* what, Kind kind, u64 place, const Touch& other, u32 lane) {
    const Thread& self = *current;
    fail("race at offset %llu of %s: block %u thread %u %s at \1%llx\2, block %u thread %u %s at \1%llx\2, and nothing "
         "orders the two",
         offset, what, self.block->rank, self.rank, verb(kind), place, other.block, other.warp * WARP + lane,
         verb(other.kind), launch->module_base + other.place);
}

} // namespace

void access(u64 address, u32 bytes, Kind kind, Scope scope, u64 place) {
    Thread& self = *current;
    if (self.stack.holds(address)) return;
    SharedMemory& shared = self.block->shared;
    bool in_shared = shared.holds(address);
    if (!in_shared && !self.has_turn)
        fail("too early: block %u thread %u %s %u bytes at \1%llx\2, before await_turn()", self.block->rank, self.rank, verb(kind),
             bytes, place);
    u64 offset;
    Shadow* shadow = nullptr;
    if (in_shared) {
        offset = address - u64(shared.bytes);
        if (offset + bytes > shared.size) fail_outside(address, bytes, kind, place);
        shadow = self.block->shadow.get();
    } else {
        i64 region = launch->region_of(address, bytes);
        if (region < 0) {
            // Constants are part of the module.
            if (launch->in_module(address) && kind == Kind::Read) return;
            fail_outside(address, bytes, kind, place);
        }
        offset = address - launch->request.regions[region].base;
        if (launch->races) shadow = &launch->region_shadows[u64(region)];
    }
    if (bytes <= 16 && (bytes & (bytes - 1)) == 0 && address % bytes != 0)
        fail("misaligned: block %u thread %u %s %u bytes at \1%llx\2, at an address that is not a multiple of that",
             self.block->rank, self.rank, verb(kind), bytes, place);
    if (launch->races)
        shadow->visit(offset, bytes, [&](Granule& granule) {
            Touch other;
            u32 lane;
            if (launch->races->access(self, granule, kind, scope, u32(place - launch->module_base), other, lane))
                fail_race(offset, in_shared ? "shared memory" : "an allocation", kind, place, other, lane);
        });
    if (launch->costs) {
        self.accesses.push_back({address, u32(place - launch->module_base), u8(bytes), in_shared,
                                 kind == Kind::AtomicRead || kind == Kind::AtomicWrite});
        if (!self.path.empty()) self.path.back() |= TOUCHES_MEMORY;
    }
}

void order_atomic(u64 address, bool loads, bool stores, Order order, Scope scope) {
    Thread& self = *current;
    if (!launch->races || self.stack.holds(address)) return;
    Shadow& shadow = self.block->shared.holds(address) ? *self.block->shadow
                                                       : launch->region_shadows[u64(launch->region_of(address, 1))];
    launch->races->order(self, shadow, address, loads, stores, order, scope);
}

} // namespace simt::bench
