// Kernels for AddressSanitizer and UndefinedBehaviorSanitizer: blocks of 64 threads, data of 128 words that are 1, 256
// bytes of shared memory.

#include "simt.cuh"

namespace simt::address {

SIMT_FN u32* words() { return reinterpret_cast<u32*>(shared_memory()); }

// Every word of the first 64 gets the sum of all and one more.
SIMT_KERNEL(64, 1) proper(u32* data, u32) {
    u32 local[4];
    for (u32 i = 0; i < 4; ++i) local[i] = shuffle_xor(i, 1);
    words()[thread_rank()] = local[thread_rank() % 4] - thread_rank() % 4 + 1;
    barrier();
    u32 sum = words()[thread_rank()] + 1;
    for (u32 by = 1; by < 64; ++by) sum += words()[thread_rank() ^ by];
    if (block_rank() == 0) atomic_store<Relaxed>(data + thread_rank(), sum);
}

SIMT_KERNEL(64, 1) past_global(u32* data, u32 count) { data[count + thread_rank()] = 1; } // past_global
SIMT_KERNEL(64, 1) past_shared(u32*, u32) { words()[thread_rank() + 1] = 1; } // past_shared

SIMT_KERNEL(64, 1) past_local(u32* data, u32 count) {
    u32 local[4];
    for (u32 i = 0; i <= count / 32; ++i) local[i] = shuffle(i, 0); // past_local
    data[thread_rank()] = local[data[1] % 4];
}

SIMT_KERNEL(64, 1) atomic_past_global(u32* data, u32 count) { atomic_add(data + count, 1); } // atomic_past_global

SIMT_KERNEL(64, 1) shift_too_far(u32* data, u32) { data[0] = 1u << (31 + data[1]); } // shift_too_far

} // namespace simt::address
