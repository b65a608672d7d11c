// Draws the arrays of suite `grid` on the device, and checks what became of them. Keys are words of KEY_BITS, 32 or 64, and a
// kind says what type the words are.

#include "simt.cuh"

#if !defined(__CUDACC__)
// NVRTC has declared these.
extern "C" double sqrt(double), log(double), exp(double), exp2(double), cos(double), floor(double), fabs(double);
#endif

namespace simt::grid {

/// In the order of suite_grid/cells.rs.
enum Kind { Unsigned, Signed, Float };

/// In the order of grid/shape.rs, which describes them.
enum Shape {
    Uniform,
    And1,
    And2,
    And3,
    And4,
    And5,
    Zero,
    TwoValues,
    SixteenValues,
    LowBits,
    TopBits,
    OrganPipe,
    SawTooth,
    SortedRuns,
    Rotated,
    Outlier,
    Expo,
    Clusters,
    Sorted,
    Reversed,
    NearlySorted,
    Normal,
    LogNormal,
    Fractions,
    Zipf,
    Poisson,
    Staggered,
    BucketSorted
};

/// `Recipe` of grid/recipe.rs, which describes it.
struct Recipe {
    u64 runs, distinct, ands, expo, right, left, mask, clusters, cluster_bits;
};

constexpr u32 THREADS = 256;
constexpr int BITS = KEY_BITS;
using Word = detail::Unsigned<BITS / 8>::Type;
constexpr int EXPONENT = BITS == 32 ? 8 : 11;
constexpr Word SIGN = Word(1) << (BITS - 1);

/// The finish of splitmix64: every bit of the result depends on every bit of `x`.
SIMT_FN u64 mix(u64 x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

SIMT_FN u64 random(u64 seed, u64 at) { return mix(mix(seed) + at * 0x9E3779B97F4A7C15ull); }
SIMT_FN u64 rank() { return u64(block_rank()) * THREADS + thread_rank(); }
SIMT_FN u64 threads() { return u64(grid_blocks()) * THREADS; }

// ---- Drawing ----

SIMT_FN Word word(u64 fraction) { return Word(fraction >> (64 - BITS)); }
SIMT_FN Word random_word(u64 seed, u64 at) { return word(random(seed, at)); }

/// The `i`th of `n` ascending fractions of the whole range, in units of 2^-64.
SIMT_FN u64 ascending(u64 i, u64 n, u64 seed) {
    const u64 step = ~0ull / n;
    return i * step + random(seed, i) % step;
}

/// Where the key of this position comes from: two of each 1000 positions have swapped their keys.
SIMT_FN u64 swapped(u64 at, u64 n, u64 seed) {
    constexpr u64 STRETCH = 500;
    const u64 stretches = n / STRETCH, own = at / STRETCH;
    if (own >= stretches) return at;
    auto picked = [&](u64 stretch) { return stretch * STRETCH + random(seed ^ 2, stretch) % STRETCH; };
    // Stretches are paired by a sum, so swaps reach over any distance.
    const u64 other = (random(seed, ~0ull) % stretches + stretches - own) % stretches;
    return at == picked(own) ? picked(other) : at;
}

/// The start of a cluster: clusters lie at random places, and fill no more than `low` bits each.
SIMT_FN Word cluster(u64 number, u64 low, u64 seed) {
    return low >= BITS ? 0 : random_word(seed ^ 3, number) >> low << low;
}

SIMT_FN double between(u64 random) { return (double(random >> 11) + 0.5) / double(1ull << 53); }

constexpr double TWO_PI = 6.283185307179586;

SIMT_FN double normal(u64 at, u64 seed) {
    const double angle = TWO_PI * between(random(seed ^ 1, at));
    return ::sqrt(-2 * ::log(between(random(seed, at)))) * ::cos(angle);
}

/// A place in the range, in units of 2^-64. The lowest bits, which a double lacks, come from another random number.
SIMT_FN u64 bell(u64 at, u64 seed) {
    double place = 0.5 + 0.125 * normal(at, seed);
    place = place < 0 ? 0 : place > 1 - 0x1p-52 ? 1 - 0x1p-52 : place;
    return u64(place * 0x1p64) ^ random(seed ^ 2, at) >> 53;
}

SIMT_FN u64 zipf(u64 at, u64 seed) { return u64(::exp2(20 * between(random(seed, at)))); }

/// By transformed rejection, as draw.rs explains.
SIMT_FN u64 poisson(u64 at, u64 seed) {
    const double mean = 1000;
    const double b = 0.931 + 2.53 * ::sqrt(mean), a = -0.059 + 0.02483 * b;
    for (u64 trial = 0;; trial += 2) {
        const double u = between(random(mix(seed) + trial, at)) - 0.5, v = between(random(mix(seed) + trial + 1, at));
        const double us = 0.5 - ::fabs(u), k = ::floor((2 * a / us + b) * u + mean + 0.43);
        if (us >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return u64(k);
        if (k < 1 || (us < 0.013 && v > us)) continue;
        const double hat = v * (1.1239 + 1.1328 / (b - 3.4)) / (a / (us * us) + b);
        const double factorial = (k + 0.5) * ::log(k) - k + 0.9189385332046727 + 1 / (12 * k);
        if (::log(hat) <= k * ::log(mean) - mean - factorial) return u64(k);
    }
}

SIMT_FN bool is_ordered(int shape) {
    return shape == OrganPipe || shape == SortedRuns || shape == Rotated || (shape >= Sorted && shape <= NearlySorted);
}

SIMT_FN Word drawn(int shape, u64 at, u64 n, u64 seed) {
    Word x = random_word(seed, at);
    auto in_order = [&](u64 i) { return word(ascending(i, n, seed)); };
    auto in_slot = [&](u64 slot) { return word(slot << 57 | random(seed, at) >> 7); };
    constexpr u64 BLOCKS = 128;
    const u64 block = at * BLOCKS / n;
    switch (shape) {
        case And1:
        case And2:
        case And3:
        case And4:
        case And5:
            for (int k = 0; k < shape - Uniform; ++k) x &= random_word(seed + 1 + k, at);
            return x;
        case Zero: return 0;
        case TwoValues: return random_word(seed ^ 1, x & 1);
        case SixteenValues: return random_word(seed ^ 1, x & 15);
        case LowBits: return x >> (BITS - BITS / 4);
        case TopBits: return x >> (BITS - BITS / 4) << (BITS - BITS / 4);
        case OrganPipe: return in_order(at < n / 2 ? 2 * at : 2 * (n - 1 - at));
        case SawTooth: return Word(at % 1000);
        case SortedRuns: {
            const u64 length = n / 1024 + 1;
            return word(ascending(at % length, length, seed + at / length));
        }
        case Rotated: return in_order((at + n / 3) % n);
        case Outlier: return at == random(seed, n) % n ? ~Word(0) : x % 1000;
        case Expo: return x & ((Word(1) << (at % BITS)) - 1);
        case Clusters: return cluster(random(seed ^ 1, at) % 64, BITS / 2, seed) + (x >> BITS / 2);
        case Sorted: return in_order(at);
        case Reversed: return in_order(n - 1 - at);
        case NearlySorted: return in_order(swapped(at, n, seed));
        case Normal: return word(bell(at, seed));
        case Zipf: return Word(zipf(at, seed));
        case Poisson: return Word(poisson(at, seed));
        case Staggered: return in_slot(block < BLOCKS / 2 ? 2 * block + 1 : 2 * block - BLOCKS);
        case BucketSorted: return in_slot(at * BLOCKS * BLOCKS / n % BLOCKS);
        default: return x;
    }
}

/// The key with this number in the order of its type, by bits. Floats start at the least finite one. They have 2^(BITS -
/// EXPONENT) finite numbers too few: where the order of numbers counts, all are squeezed, else the highest move down.
SIMT_FN Word key_of(Word number, int kind, bool ordered) {
    if (kind == Unsigned) return number;
    if (kind == Signed) return number ^ SIGN;
    constexpr Word MISSING = Word(1) << (BITS - EXPONENT);
    if (ordered) number -= number >> EXPONENT;
    if (number > Word(~MISSING + 1) - 1) number -= MISSING;
    const Word code = number + MISSING / 2;
    return code & SIGN ? code ^ SIGN : ~code;
}

SIMT_FN void store(double value, u32 *key) { *key = detail::cast<u32>(float(value)); }
SIMT_FN void store(double value, u64 *key) { *key = detail::cast<u64>(value); }

SIMT_KERNEL(THREADS, 1)
draw(Word *keys, u64 n, u64 seed, int kind, int shape) {
    await_turn();
    for (u64 at = rank(); at < n; at += threads()) {
        if (shape == Normal && kind == Float) {
            store(normal(at, seed), keys + at);
        } else if (shape == Fractions) {
            constexpr int DIGITS = BITS - EXPONENT;
            store(double(random(seed, at) >> (64 - DIGITS)) / double(1ull << DIGITS), keys + at);
        } else if (shape == LogNormal) {
            // One in 64 is a NaN, and one each a zero of either sign.
            const u64 special = random(seed ^ 4, at) % 64;
            store(::exp(2 * normal(at, seed)), keys + at);
            if (special < 2) keys[at] = special ? SIGN : 0;
            if (special == 2) keys[at] = ((Word(2) << EXPONENT) - 1) << (BITS - EXPONENT - 2);
        } else {
            keys[at] = key_of(drawn(shape, at, n, seed), kind, is_ordered(shape));
        }
    }
}

/// Keys of a random shape.
SIMT_KERNEL(THREADS, 1)
compose(Word *keys, u64 n, u64 seed, int kind, Recipe recipe) {
    await_turn();
    const u64 length = recipe.runs ? n / recipe.runs + 1 : 1;
    for (u64 at = rank(); at < n; at += threads()) {
        const u64 value = recipe.distinct ? random(seed ^ 5, at) % recipe.distinct : at;
        u64 fraction = random(seed, value);
        if (recipe.runs) {
            fraction = ascending(at % length, length, seed + at / length);
            if (recipe.distinct) fraction -= fraction % (~0ull / recipe.distinct);
        }
        Word x = word(fraction);
        for (u64 k = 0; k < recipe.ands; ++k) x &= random_word(seed + 1 + k, value);
        if (recipe.expo) x &= (Word(1) << (at % BITS)) - 1;
        x = (x >> recipe.right << recipe.left) & Word(recipe.mask);
        if (recipe.clusters) {
            x &= (Word(1) << recipe.cluster_bits) - 1;
            x += cluster(random(seed ^ 6, at) % recipe.clusters, recipe.cluster_bits, seed);
        }
        keys[at] = key_of(x, kind, false);
    }
}

/// The positions, as payloads of either width.
SIMT_KERNEL(THREADS, 1)
number(u32 *narrow, u64 *wide, u64 n) {
    await_turn();
    for (u64 at = rank(); at < n; at += threads()) {
        narrow[at] = u32(at);
        wide[at] = at;
    }
}

// ---- Checking ----

/// Unsigned numbers in the order of the keys. Where `zeros_equal`, both zeros of floats have one.
SIMT_FN Word code(Word key, int kind, int zeros_equal) {
    if (kind == Unsigned) return key;
    if (kind == Signed) return key ^ SIGN;
    if (zeros_equal && key == SIGN) return SIGN;
    return key & SIGN ? ~key : key | SIGN;
}

/// Adds the sums of a warp's threads to `totals`.
SIMT_FN void add(u64 first, u64 second, u64 *totals) {
    for (u32 lanes = 16; lanes > 0; lanes /= 2) {
        first += shuffle_xor(first, lanes);
        second += shuffle_xor(second, lanes);
    }
    if (lane() == 0) {
        atomic_add(totals, first);
        atomic_add(totals + 1, second);
    }
}

SIMT_FN u64 hash(Word key) { return mix(key); }
SIMT_FN u64 hash(Word key, u64 position) { return mix(key + mix(position)); }

/// Adds to `totals` the sums over hashes of the keys, and of the keys with their positions.
SIMT_KERNEL(THREADS, 1)
sums(const Word *keys, u64 n, u64 *totals) {
    await_turn();
    u64 alone = 0, placed = 0;
    for (u64 at = rank(); at < n; at += threads()) {
        alone += hash(keys[at]);
        placed += hash(keys[at], at);
    }
    add(alone, placed, totals);
}

/// Adds to `totals` the sum over hashes of the keys, or of the keys with their payloads, and how many neighbours are out of
/// order. Payloads of `payload_bytes` are the positions that the keys had, so equal keys must have them ascending. Of an
/// argsort there is no `sorted`: its keys are those of `input` at the indices.
SIMT_KERNEL(THREADS, 1)
check(const Word *input, const Word *sorted, const void *payload, int payload_bytes, u64 n,
                                 int kind, int zeros_equal, u64 *totals) {
    await_turn();
    u64 sum = 0, wrong = 0;
    auto payload_at = [&](u64 at) {
        if (payload_bytes == 0) return at;
        return payload_bytes == 4 ? u64(((const u32 *)payload)[at]) : ((const u64 *)payload)[at];
    };
    auto key_at = [&](u64 at, u64 place) {
        if (sorted) return sorted[at];
        return place < n ? input[place] : Word(0);
    };
    // A warp goes on together, for its lanes ask each other for the key before theirs.
    for (u64 first = rank() - lane(); first < n; first += threads()) {
        const bool there = first + lane() < n;
        const u64 at = there ? first + lane() : n - 1;
        const u64 place = payload_at(at);
        const Word key = key_at(at, place);
        u64 place_before = shuffle_up(place, 1);
        Word before = shuffle_up(key, 1);
        if (lane() == 0 && at > 0) {
            place_before = payload_at(at - 1);
            before = key_at(at - 1, place_before);
        }
        if (!there) continue;
        sum += payload_bytes ? hash(key, place) : hash(key);
        if (at == 0) continue;
        const Word low = code(before, kind, zeros_equal), high = code(key, kind, zeros_equal);
        wrong += low > high || (low == high && payload_bytes && place_before >= place);
    }
    add(sum, wrong, totals);
}

/// Adds to `totals` the sum over hashes of the keys with their segments, and how many neighbours of a segment are out of
/// order. Without `offsets` the segments have one `length`.
SIMT_KERNEL(THREADS, 1)
check_segments(const Word *keys, u64 n, u64 segments, u64 length, const u64 *offsets, int kind,
                                          u64 *totals) {
    await_turn();
    u64 sum = 0, wrong = 0;
    for (u64 at = rank(); at < n; at += threads()) {
        u64 segment = offsets ? 0 : at / length;
        if (offsets) {
            // The last one that starts here or before. Lengths differ too much for a warp a segment.
            for (u64 end = segments; end - segment > 1;) {
                const u64 middle = segment + (end - segment) / 2;
                if (offsets[middle] <= at) segment = middle;
                else end = middle;
            }
        }
        sum += hash(keys[at], segment);
        const bool starts = at == (offsets ? offsets[segment] : segment * length);
        wrong += !starts && code(keys[at - 1], kind, 1) > code(keys[at], kind, 1);
    }
    add(sum, wrong, totals);
}

}  // namespace simt::grid
