// Draws the keys of suite `batch` on the device, and checks what became of them. KEY is `float`, `double`, `unsigned` or
// `unsigned long long`.

typedef unsigned long long u64;

static_assert(sizeof(u64) == 8, "as the host counts");

/// The finish of splitmix64: every bit of the result depends on every bit of `x`.
__device__ u64 mix(u64 x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

__device__ u64 rank() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ u64 threads() { return u64(gridDim.x) * blockDim.x; }

/// The key at a fraction, in units of 2^-64, of the type's range; of floats, of [0, 1).
__device__ void key_at(u64 fraction, float *key) { *key = float(fraction >> 40) / float(1 << 24); }
__device__ void key_at(u64 fraction, double *key) { *key = double(fraction >> 11) / double(1ull << 53); }
__device__ void key_at(u64 fraction, unsigned *key) { *key = unsigned(fraction >> 32); }
__device__ void key_at(u64 fraction, u64 *key) { *key = fraction; }

__device__ u64 bits(float key) { return __float_as_uint(key); }
__device__ u64 bits(double key) { return __double_as_longlong(key); }
__device__ u64 bits(unsigned key) { return key; }
__device__ u64 bits(u64 key) { return key; }

/// Uniform keys.
extern "C" __global__ void draw(KEY *keys, u64 n, u64 seed) {
    for (u64 at = rank(); at < n; at += threads()) key_at(mix(mix(seed) + at * 0x9E3779B97F4A7C15ull), keys + at);
}

/// Payloads of so many words, whose first is their place.
extern "C" __global__ void number(unsigned *payload, u64 words, u64 n) {
    for (u64 at = rank(); at < n; at += threads())
        for (u64 word = 0; word < words; ++word) payload[at * words + word] = unsigned(at);
}

/// Adds to `totals` a sum over all keys that tells which keys are in which segment but not in what order, and the number
/// of keys that are less than the one before in their segment. The segments have `length` keys each, or lie between
/// `offsets`: then a warp takes one.
extern "C" __global__ void check(const KEY *keys, u64 segments, u64 length, const u64 *offsets, u64 *totals) {
    u64 sum = 0, descents = 0;
    auto see = [&](u64 at, u64 segment, bool first) {
        sum += mix(bits(keys[at]) + mix(segment));
        descents += !first && keys[at] < keys[at - 1];
    };
    if (offsets) {
        for (u64 segment = rank() / 32; segment < segments; segment += threads() / 32)
            for (u64 at = offsets[segment] + threadIdx.x % 32; at < offsets[segment + 1]; at += 32)
                see(at, segment, at == offsets[segment]);
    } else {
        for (u64 at = rank(); at < segments * length; at += threads()) see(at, at / length, at % length == 0);
    }
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        sum += __shfl_xor_sync(~0u, sum, lanes);
        descents += __shfl_xor_sync(~0u, descents, lanes);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(totals, sum);
        atomicAdd(totals + 1, descents);
    }
}
