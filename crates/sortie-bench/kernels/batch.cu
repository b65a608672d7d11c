// Draws the keys of suite `batch` on the device, and checks what became of them. KEY is `float`, `double`, `unsigned`,
// `unsigned long long` or `Wide`.

typedef unsigned long long u64;

static_assert(sizeof(u64) == 8, "as the host counts");

/// A number of 128 bits.
struct alignas(16) Wide {
    u64 low, high;
    __device__ bool operator<(const Wide &other) const {
        return high != other.high ? high < other.high : low < other.low;
    }
};

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
__device__ void key_at(u64 fraction, Wide *key) { *key = {mix(fraction), fraction}; }

__device__ u64 bits(float key) { return __float_as_uint(key); }
__device__ u64 bits(double key) { return __double_as_longlong(key); }
__device__ u64 bits(unsigned key) { return key; }
__device__ u64 bits(u64 key) { return key; }
__device__ u64 bits(Wide key) { return key.high + mix(key.low); }

/// The number as a key.
template <class Key> __device__ void key_of(u64 number, Key *key) { *key = Key(number); }
__device__ void key_of(u64 number, Wide *key) { *key = {number, 0}; }

/// Distributions, in the order of distributions/keys.rs, which describes them; those after Poisson are not drawn here.
enum Distribution {
    Uniform,
    Sorted,
    Reversed,
    Equal,
    AlmostSorted,
    FewDistinct,
    Zipf,
    Normal,
    Staggered,
    BucketSorted,
    Poisson
};

/// Blocks of the input and slots of the range.
constexpr u64 P = 128;
constexpr u64 SWAPPED_OF = 500;

__device__ u64 random(u64 seed, u64 at) { return mix(mix(seed) + at * 0x9E3779B97F4A7C15ull); }

/// The place whose key of the order this place has: one of each 500 has changed places with one of another 500.
__device__ u64 almost(u64 at, u64 n, u64 seed) {
    const u64 stretches = n / SWAPPED_OF, own = at / SWAPPED_OF;
    if (own >= stretches / 2 * 2) return at;
    auto picked = [&](u64 stretch) { return stretch * SWAPPED_OF + random(seed, stretch) % SWAPPED_OF; };
    const u64 other = own < stretches / 2 ? own + stretches / 2 : own - stretches / 2;
    return at == picked(own) ? picked(other) : at;
}

/// A place in the range, in units of 2^-64.
__device__ u64 fraction(int distribution, u64 at, u64 n, u64 seed) {
    const u64 uniform = random(seed, at), step = ~0ull / n;
    auto ascending = [&](u64 i) { return i * step + random(seed, i) % (step / 2); };
    auto in_slot = [&](u64 slot) { return slot << 57 | uniform >> 7; };
    const u64 block = at * P / n;
    switch (distribution) {
        case Sorted: return ascending(at);
        case Reversed: return ascending(n - 1 - at);
        case Equal: return random(seed, 0);
        case AlmostSorted: return ascending(almost(at, n, seed));
        case FewDistinct: return random(seed ^ 1, uniform >> 60);
        case Normal: {
            const double radius = sqrt(-2 * log((double(uniform >> 11) + 1) / double(1ull << 53)));
            const u64 angle = random(seed ^ 1, at);
            const double place = 0.5 + 0.125 * radius * cospi(2 * double(angle >> 11) / double(1ull << 53));
            // A double has 53 digits; the lowest come from elsewhere.
            return u64(fmin(fmax(place, 0.0), 1.0 - 0x1p-53) * 0x1p64) ^ angle >> 53;
        }
        case Staggered: return in_slot(block < P / 2 ? 2 * block + 1 : 2 * block - P);
        case BucketSorted: return in_slot(at * P * P / n % P);
        default: return uniform;
    }
}

/// A number between 0 and 1, neither of them.
__device__ double between(u64 random) { return (double(random >> 11) + 0.5) / double(1ull << 53); }

/// A Poisson variate of mean 1000, by Hoermann's transformed rejection (PTRS, 1993).
__device__ u64 poisson(u64 at, u64 seed) {
    const double mean = 1000;
    const double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
    for (u64 trial = 0;; trial += 2) {
        const double u = between(random(mix(seed) + trial, at)) - 0.5, v = between(random(mix(seed) + trial + 1, at));
        const double us = 0.5 - fabs(u), k = floor((2 * a / us + b) * u + mean + 0.43);
        if (us >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return u64(k);
        if (k < 0 || (us < 0.013 && v > us)) continue;
        const double hat = v * (1.1239 + 1.1328 / (b - 3.4)) / (a / (us * us) + b);
        if (log(hat) <= k * log(mean) - mean - lgamma(k + 1)) return u64(k);
    }
}

/// Keys of a distribution.
extern "C" __global__ void draw(KEY *keys, u64 n, u64 seed, int distribution) {
    for (u64 at = rank(); at < n; at += threads()) {
        if (distribution == Zipf) {
            // 1 to 2^20, each with a probability that falls as its reciprocal.
            const double place = double(random(seed, at) >> 11) / double(1ull << 53);
            key_of(u64(exp2(20 * place)), keys + at);
        } else if (distribution == Poisson) {
            key_of(poisson(at, seed), keys + at);
        } else {
            key_at(fraction(distribution, at, n, seed), keys + at);
        }
    }
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

/// Adds to `wrong` how many places of one array hold what they must not, and to the word after it a sum that is zero if they
/// hold each place once. The payload was the places of the input: each must name its key, of an argsort without sorted keys
/// too, and these must be in order, by place where they are equal and the sort is stable.
template <typename Place>
__device__ void check_each_place(const KEY *input, const KEY *sorted, const Place *payload, u64 n, int stable, u64 *wrong) {
    u64 found = 0, sum = 0;
    for (u64 at = rank(); at < n; at += threads()) {
        sum += mix(payload[at]) - mix(at);
        const KEY key = input[payload[at]];
        bool right = !sorted || bits(sorted[at]) == bits(key);
        if (at > 0) {
            const KEY before = input[payload[at - 1]];
            right = right && !(key < before) && (!stable || before < key || payload[at - 1] < payload[at]);
        }
        found += !right;
    }
    if (found) atomicAdd(wrong, found);
    if (sum) atomicAdd(wrong + 1, sum);
}

extern "C" __global__ void check_places(const KEY *input, const KEY *sorted, const unsigned *payload, u64 n, int stable,
                                        u64 *wrong) {
    check_each_place(input, sorted, payload, n, stable, wrong);
}

extern "C" __global__ void check_wide_places(const KEY *input, const KEY *sorted, const u64 *payload, u64 n, int stable,
                                             u64 *wrong) {
    check_each_place(input, sorted, payload, n, stable, wrong);
}
