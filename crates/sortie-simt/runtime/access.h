// One access to memory by a thread of a kernel, as the instrumented build sees it.
#pragma once

#include "launch.h"

namespace simt::bench {

// Checks that the memory is there and aligned, looks for races, and keeps the access for the costs.
void access(u64 address, u32 bytes, Kind kind, Scope scope, u64 place);

// For an atomic operation, after its access: what it takes up and publishes.
void order_atomic(u64 address, bool loads, bool stores, Order order, Scope scope);

} // namespace simt::bench
