// Kernels of one warp whose costs are known. All take data, which begins at a segment, and its length.

#include "simt.cuh"

namespace simt::costs {

SIMT_FN u32* words() { return reinterpret_cast<u32*>(shared_memory()); }

// A warp's 32 words are one segment of 32 words, or four of 8.
SIMT_KERNEL(32, 1) coalesced(u32* data, u32) { data[lane()] = 1; }
// Each lane has a segment of its own.
SIMT_KERNEL(32, 1) strided(u32* data, u32) { data[lane() * 32] = 1; }
// One word of the next segment.
SIMT_KERNEL(32, 1) shifted(u32* data, u32) { data[lane() + 1] = 1; }
// 16 bytes a lane: four segments, read and written by one instruction each.
SIMT_KERNEL(32, 1) wide(u32* data, u32) {
    Quad* quads = reinterpret_cast<Quad*>(data);
    Quad quad = load_streaming(quads + lane());
    quad.x += 1;
    store_streaming(quads + lane(), quad);
}
// Eight rounds over neighbouring segments.
SIMT_KERNEL(32, 1) rounds(u32* data, u32) {
    for (u32 i = 0; i < 8; ++i) data[i * WARP + lane()] = i;
}
SIMT_KERNEL(32, 1) global_atomics(u32* data, u32) { atomic_add(data + lane() / 16 * 32, 1); }

SIMT_KERNEL(32, 1) no_conflict(u32*, u32) { words()[lane()] = 1; }
// All lanes read one word.
SIMT_KERNEL(32, 1) broadcast(u32* data, u32) {
    if (lane() == 0) words()[5] = 1;
    warp_barrier();
    data[lane()] = words()[5];
}
// Words two apart: each bank has two of them, and two turns are one more than one.
SIMT_KERNEL(32, 1) conflict_of_two(u32*, u32) { words()[lane() * 2] = 1; }
SIMT_KERNEL(32, 1) conflict_of_all(u32*, u32) { words()[lane() * 32] = 1; }
SIMT_KERNEL(32, 1) padded(u32*, u32) { words()[lane() * 33] = 1; }
// 16 bytes a lane: a quarter of the warp at a time, without conflicts.
SIMT_KERNEL(32, 1) quads(u32*, u32) { reinterpret_cast<Quad*>(shared_memory())[lane()] = Quad{1, 2, 3, 4}; }
SIMT_KERNEL(32, 1) shared_atomics(u32*, u32) { atomic_add<Relaxed, Block>(words(), 1); }

SIMT_KERNEL(32, 1) uniform_branch(u32* data, u32 count) {
    if (count > 100) data[lane()] = 1;
    else data[lane() * 2] = 2;
}
SIMT_KERNEL(32, 1) divergent_branch(u32* data, u32) {
    if (lane() % 2 == 0) data[lane()] = 1;
    else data[lane() + 32] = 2;
}
// A choice between values is none.
SIMT_KERNEL(32, 1) choice(u32* data, u32 count) {
    u32 value = data[lane()];
    if (value % 2 == lane() % 2) value = value * count + 1;
    else value = value / (count + 3);
    data[lane()] = value;
}
// Rounds 0 to 30 are some lane's last, and others go on.
SIMT_KERNEL(32, 1) divergent_loop(u32* data, u32) {
    for (u32 i = 0; i <= lane(); ++i) data[lane() * 32 + i] = i;
}
// The branch of each of four rounds diverges, the loop does not.
SIMT_KERNEL(32, 1) divergent_in_loop(u32* data, u32) {
    for (u32 i = 0; i < 4; ++i) {
        if ((lane() + i) % 3 == 0) data[lane()] = i;
        warp_barrier();
    }
}

} // namespace simt::costs
