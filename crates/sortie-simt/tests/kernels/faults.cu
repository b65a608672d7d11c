// Kernels that do what they must not, each beside one that does the same as it should be. All take data and its length.

#include "simt.cuh"

namespace simt::faults {

SIMT_FN u32* words() { return reinterpret_cast<u32*>(shared_memory()); }

// The work before may not have ended.
SIMT_KERNEL(64, 1) early(u32* data, u32) {
    u32 before = data[thread_rank()]; // reads early
    await_turn();
    data[thread_rank()] = before + 1;
}

SIMT_KERNEL(64, 1) in_turn(u32* data, u32) {
    await_turn();
    data[thread_rank()] += 1;
}

// Each thread reads what its neighbour in another warp wrote.
SIMT_KERNEL(64, 1) shared_race(u32* data, u32) {
    words()[thread_rank()] = data[thread_rank()]; // shared_race writes
    data[thread_rank()] = words()[thread_rank() ^ WARP]; // shared_race reads
}

SIMT_KERNEL(64, 1) shared_ordered(u32* data, u32) {
    words()[thread_rank()] = data[thread_rank()];
    barrier();
    data[thread_rank()] = words()[thread_rank() ^ WARP];
}

// A warp barrier does not order what another warp did.
SIMT_KERNEL(64, 1) shared_race_across_warps(u32* data, u32) {
    words()[thread_rank()] = data[thread_rank()];
    warp_barrier();
    data[thread_rank()] = words()[thread_rank() ^ WARP]; // reads across warps
}

// Nor does a collective that is no barrier order what its own warp did.
SIMT_KERNEL(64, 1) shared_race_across_ballot(u32* data, u32) {
    words()[thread_rank()] = data[thread_rank()];
    data[thread_rank()] = ballot(true) + words()[thread_rank() ^ 1]; // reads across ballot
}

SIMT_KERNEL(64, 1) shared_ordered_in_warp(u32* data, u32) {
    words()[thread_rank()] = data[thread_rank()];
    warp_barrier();
    data[thread_rank()] = words()[thread_rank() ^ 1];
}

// Bytes side by side are not one place.
SIMT_KERNEL(64, 1) bytes_apart(u32* data, u32) {
    shared_memory()[thread_rank()] = u8(data[thread_rank()]);
    barrier();
    data[thread_rank()] = shared_memory()[thread_rank() ^ WARP];
}

SIMT_KERNEL(64, 1) bytes_race(u32* data, u32) {
    shared_memory()[thread_rank() / 2] = u8(data[thread_rank()]); // bytes_race writes
}

// Two blocks write one word.
SIMT_KERNEL(32, 1) global_race(u32* data, u32) {
    if (thread_rank() == 0) data[0] = block_rank(); // global_race writes
}

// Blocks pass a word on, in the order of tickets: data[0] counts them, data[1] says whose turn it is.
template <Order order> SIMT_FN void pass_on(u32* data) {
    if (thread_rank() != 0) return;
    u32 ticket = atomic_add(data, 1);
    while (atomic_load<order == Release ? Acquire : Relaxed>(data + 1) != ticket) {
    }
    data[2] += ticket; // pass_on
    atomic_store<order>(data + 1, ticket + 1);
}

SIMT_KERNEL(32, 1) global_relaxed(u32* data, u32) { pass_on<Relaxed>(data); }
SIMT_KERNEL(32, 1) global_released(u32* data, u32) { pass_on<Release>(data); }

// The same by fences, with what all threads wrote, and with the last block reading it all.
template <bool fenced> SIMT_FN void last_block(u32* data) {
    u32 own = 8 + block_rank() * block_threads() + thread_rank();
    data[own] += 1;
    barrier();
    if (thread_rank() == 0) {
        if (fenced) fence();
        words()[0] = atomic_add(data, 1);
        if (fenced) fence();
    }
    barrier();
    if (words()[0] != grid_blocks() - 1) return;
    u32 sum = 0;
    for (u32 block = 0; block < grid_blocks(); ++block) sum += data[8 + block * block_threads() + thread_rank()]; // last_block
    atomic_add(data + 1, sum);
}

SIMT_KERNEL(64, 1) last_block_fenced(u32* data, u32) { last_block<true>(data); }
SIMT_KERNEL(64, 1) last_block_unfenced(u32* data, u32) { last_block<false>(data); }

// An atomic of a block's scope, on a word of all blocks.
SIMT_KERNEL(32, 1) narrow_scope(u32* data, u32) { atomic_add<Relaxed, Block>(data, 1); } // narrow_scope
SIMT_KERNEL(32, 1) wide_scope(u32* data, u32) { atomic_add(data, 1); }

// A plain read beside atomics.
SIMT_KERNEL(64, 1) unordered_read(u32* data, u32) {
    atomic_add(data, 1); // unordered_read adds
    data[1 + thread_rank()] = data[0]; // unordered_read reads
}

SIMT_KERNEL(32, 1) past_global(u32* data, u32 count) { data[count + thread_rank()] = 1; } // past_global
SIMT_KERNEL(32, 1) before_global(u32* data, u32) { data[thread_rank()] = *(data - 1); } // before_global
SIMT_KERNEL(32, 1) past_shared(u32* data, u32) { words()[256 + thread_rank()] = data[0]; } // past_shared
SIMT_KERNEL(32, 1) misaligned(u32* data, u32) {
    data[0] = u32(*reinterpret_cast<u64*>(data + 1)); // misaligned
}

SIMT_KERNEL(64, 1) barrier_of_some(u32* data, u32) {
    if (thread_rank() < 40) barrier(); // barrier_of_some
    data[thread_rank()] = 1;
}

SIMT_KERNEL(64, 1) barrier_apart(u32* data, u32) {
    if (thread_rank() % 2 == 0) {
        barrier(); // barrier_apart, even
    } else {
        barrier(); // barrier_apart, odd
    }
    data[thread_rank()] = 1;
}

SIMT_KERNEL(64, 1) barrier_by_warp(u32* data, u32) {
    if (warp_rank() == 0) {
        barrier();
    } else {
        barrier();
    }
    data[thread_rank()] = 1;
}

SIMT_KERNEL(32, 1) lane_ended(u32* data, u32) {
    if (lane() == 7) return;
    data[lane()] = ballot(true); // lane_ended
}

SIMT_KERNEL(64, 1) lane_elsewhere(u32* data, u32) {
    if (lane() == 7) barrier(); // lane_elsewhere, barrier
    else data[thread_rank()] = ballot(true); // lane_elsewhere, ballot
}

SIMT_KERNEL(32, 1) lanes_in_halves(u32* data, u32) {
    u32 half = lane() < 16 ? 0xFFFF : 0xFFFF0000;
    data[lane()] = lane() < 16 ? ballot(lane() % 2 == 0, half) : ballot(lane() % 4 == 0, half);
}

SIMT_KERNEL(32, 1) shuffle_from_outside(u32* data, u32) {
    if (lane() < 16) data[lane()] = shuffle(lane(), lane() + 1, 0xFFFF); // shuffle_from_outside
}

SIMT_KERNEL(32, 1) spin(u32* data, u32) {
    while (atomic_load<Acquire>(data) == 0) { // spin
    }
}

SIMT_KERNEL(32, 1) false_promise(u32* data, u32) {
    assume(thread_rank() < 31); // false_promise
    data[thread_rank()] = 1;
}

template <bool waits> SIMT_FN void copy(u32* data) {
    copy_async(words() + thread_rank(), data + thread_rank());
    copy_async_commit();
    if (waits) copy_async_wait<0>();
    u32 word = words()[thread_rank()];
    copy_async_wait<0>();
    data[thread_rank()] = word + 1;
}

SIMT_KERNEL(32, 1) copy_waited_for(u32* data, u32) { copy<true>(data); }
SIMT_KERNEL(32, 1) copy_read_early(u32* data, u32) { copy<false>(data); }
SIMT_KERNEL(32, 1) copy_left_alone(u32* data, u32) { copy_async(words() + thread_rank(), data + thread_rank()); } // copy_left_alone

} // namespace simt::faults
