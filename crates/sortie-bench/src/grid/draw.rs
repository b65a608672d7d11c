//! Draws arrays on the host. It can draw the shapes that `kernels/grid.cu` draws on a device for more types, and also
//! shapes that only the host draws.

use super::recipe::Recipe;
use super::shape::Shape;

/// What to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    Shape(Shape),
    Recipe(Recipe),
}

/// How random words become keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Unsigned,
    Signed,
    Float {
        /// The number of exponent bits.
        exponent: u32,
    },
}

/// A type that can be drawn.
pub trait Drawn: Copy {
    const BITS: u32;
    const KIND: Kind;

    /// The key whose bits are the low bits of this number.
    fn of_bits(bits: u128) -> Self;

    /// The nearest float. Only called for float types.
    fn of_float(_: f64) -> Self {
        unreachable!("only floats are drawn as floats")
    }
}

macro_rules! drawn {
    ($($t:ty, $kind:expr, |$bits:ident| $key:expr $(, |$float:ident| $rounded:expr)?;)*) => {$(
        impl Drawn for $t {
            const BITS: u32 = 8 * size_of::<$t>() as u32;
            const KIND: Kind = $kind;
            fn of_bits($bits: u128) -> Self {
                $key
            }
            $(fn of_float($float: f64) -> Self {
                $rounded
            })?
        }
    )*};
}

drawn! {
    u8, Kind::Unsigned, |bits| bits as u8;
    u16, Kind::Unsigned, |bits| bits as u16;
    u32, Kind::Unsigned, |bits| bits as u32;
    u64, Kind::Unsigned, |bits| bits as u64;
    u128, Kind::Unsigned, |bits| bits;
    i8, Kind::Signed, |bits| bits as i8;
    i16, Kind::Signed, |bits| bits as i16;
    i32, Kind::Signed, |bits| bits as i32;
    i64, Kind::Signed, |bits| bits as i64;
    i128, Kind::Signed, |bits| bits as i128;
    half::f16, Kind::Float { exponent: 5 }, |bits| half::f16::from_bits(bits as u16), |x| half::f16::from_f64(x);
    f32, Kind::Float { exponent: 8 }, |bits| f32::from_bits(bits as u32), |x| x as f32;
    f64, Kind::Float { exponent: 11 }, |bits| f64::from_bits(bits as u64), |x| x;
    (u32, u32), Kind::Unsigned, |bits| ((bits >> 32) as u32, bits as u32);
    (u64, u64), Kind::Unsigned, |bits| ((bits >> 64) as u64, bits as u64);
    [u8; 16], Kind::Unsigned, |bits| bits.to_be_bytes();
}

pub fn draw<K: Drawn>(source: Source, n: usize, seed: u64) -> Vec<K> {
    let form = Form { bits: K::BITS, kind: K::KIND };
    let mut keys: Vec<K> = match source {
        Source::Shape(Shape::Normal) if form.is_float() => {
            (0..n as u64).map(|at| K::of_float(normal(at, seed))).collect()
        }
        Source::Shape(Shape::Fractions) => (0..n as u64).map(|at| form.fraction(at, seed)).collect(),
        Source::Shape(Shape::LogNormal) => (0..n as u64).map(|at| log_normal(form, at, seed)).collect(),
        Source::Shape(shape) => {
            let ordered = is_ordered(shape);
            let number = |at| K::of_bits(form.key(form.drawn(shape, at, n as u64, seed), ordered));
            (0..n as u64).map(number).collect()
        }
        Source::Recipe(recipe) => {
            let number = |at| K::of_bits(form.key(form.composed(&recipe, at, n as u64, seed), false));
            (0..n as u64).map(number).collect()
        }
    };
    if source == Source::Shape(Shape::SampledKiller) {
        for at in sampled_by_length(n) {
            keys[at] = K::of_bits(form.key(form.word(narrow(random(seed ^ 1, at as u64))), false));
        }
    }
    keys
}

/// The finalizer of splitmix64: every bit of the result depends on every bit of `x`.
fn mix(x: u64) -> u64 {
    let x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ x >> 31
}

fn random(seed: u64, at: u64) -> u64 {
    mix(mix(seed).wrapping_add(at.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
}

/// The `i`th of `n` ascending fractions that cover the whole range, in units of 2^-64.
fn ascending(i: u64, n: u64, seed: u64) -> u64 {
    let step = u64::MAX / n;
    i * step + random(seed, i) % step
}

/// The position in the sorted array whose key comes to this position. Of each 1000 positions, two have swapped their
/// keys.
fn swapped(at: u64, n: u64, seed: u64) -> u64 {
    const STRETCH: u64 = 500;
    let (stretches, own) = (n / STRETCH, at / STRETCH);
    if own >= stretches {
        return at;
    }
    let picked = |stretch: u64| stretch * STRETCH + random(seed ^ 2, stretch) % STRETCH;
    let other = (random(seed, u64::MAX) % stretches + stretches - own) % stretches;
    if at == picked(own) { picked(other) } else { at }
}

/// The rank at this position, in a permutation for which medians of three are bad pivots. Musser, "Introspective
/// sorting and selection algorithms" (1997).
fn median_killer(at: u64, n: u64) -> u64 {
    let half = n / 2;
    let number = match at {
        _ if at < half && at.is_multiple_of(2) => at + 1,
        _ if at < half => half + at,
        _ if at < 2 * half => 2 * (at - half + 1),
        _ => n,
    };
    number - 1
}

/// A fraction in the lowest 2^-16 of the range.
fn narrow(fraction: u64) -> u64 {
    fraction >> 16
}

/// Positions drawn by a generator whose seed is the length alone: the high bits of the generator of Knuth's MMIX.
fn sampled_by_length(n: usize) -> impl Iterator<Item = usize> {
    const SAMPLE: usize = 4096;
    let mut state = n as u64;
    let draw = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(state >> 32) * n as u128) >> 32) as usize
    };
    std::iter::repeat_with(draw).take(SAMPLE.min(n / 2))
}

fn is_ordered(shape: Shape) -> bool {
    use Shape::*;
    let random = [Shape::StridedKiller, Shape::SampledKiller, Shape::Duplicates, Shape::GGroup];
    matches!(shape, OrganPipe | SortedRuns | Rotated | Sorted | Reversed | NearlySorted)
        || (!Shape::ON_DEVICES.contains(&shape) && !random.contains(&shape))
}

fn between(random: u64) -> f64 {
    ((random >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

fn normal(at: u64, seed: u64) -> f64 {
    let angle = std::f64::consts::TAU * between(random(seed ^ 1, at));
    (-2.0 * between(random(seed, at)).ln()).sqrt() * angle.cos()
}

/// A place in the range, in units of 2^-64.
fn bell(at: u64, seed: u64) -> u64 {
    let place = (0.5 + 0.125 * normal(at, seed)).clamp(0.0, 1.0 - f64::EPSILON);
    // A float has fewer bits than the place. The lowest ones come from another random number.
    (place * 2f64.powi(64)) as u64 ^ random(seed ^ 2, at) >> 53
}

fn zipf(at: u64, seed: u64) -> u64 {
    (20.0 * between(random(seed, at))).exp2() as u64
}

/// Hoermann, "The transformed rejection method for generating Poisson random variables" (1993), algorithm PTRS.
fn poisson(at: u64, seed: u64) -> u64 {
    const MEAN: f64 = 1000.0;
    let b = 0.931 + 2.53 * MEAN.sqrt();
    let a = -0.059 + 0.02483 * b;
    let mut trial = 0;
    loop {
        let draw = |trial| between(random(mix(seed).wrapping_add(trial), at));
        let (u, v) = (draw(trial) - 0.5, draw(trial + 1));
        let us = 0.5 - u.abs();
        let k = ((2.0 * a / us + b) * u + MEAN + 0.43).floor();
        if us >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2.0) {
            return k as u64;
        }
        trial += 2;
        if k < 1.0 || (us < 0.013 && v > us) {
            continue;
        }
        let hat = v * (1.1239 + 1.1328 / (b - 3.4)) / (a / (us * us) + b);
        // Stirling's series for the logarithm of k!, which is exact enough for numbers near the mean.
        let factorial = (k + 0.5) * k.ln() - k + 0.918_938_533_204_672_7 + 1.0 / (12.0 * k);
        if hat.ln() <= k * MEAN.ln() - MEAN - factorial {
            return k as u64;
        }
    }
}

/// Of 64 keys, one is a NaN, one is 0.0, and one is -0.0.
fn log_normal<K: Drawn>(form: Form, at: u64, seed: u64) -> K {
    match random(seed ^ 4, at) % 64 {
        0 => K::of_bits(0),
        1 => K::of_bits(form.sign()),
        2 => K::of_float(f64::NAN),
        _ => K::of_float((2.0 * normal(at, seed)).exp()),
    }
}

/// Words as wide as a key, in the low bits.
#[derive(Debug, Clone, Copy)]
struct Form {
    bits: u32,
    kind: Kind,
}

impl Form {
    fn is_float(self) -> bool {
        matches!(self.kind, Kind::Float { .. })
    }

    /// A float in [0, 1), with as many bits as a float has.
    fn fraction<K: Drawn>(self, at: u64, seed: u64) -> K {
        let Kind::Float { exponent } = self.kind else { unreachable!("only floats are fractions") };
        let digits = self.bits - exponent;
        K::of_float((random(seed, at) >> (64 - digits)) as f64 / (1u64 << digits) as f64)
    }

    fn all(self) -> u128 {
        u128::MAX >> (128 - self.bits)
    }

    fn sign(self) -> u128 {
        1 << (self.bits - 1)
    }

    /// In a word of 128 bits, the low half is a hash of the high half.
    fn word(self, fraction: u64) -> u128 {
        match self.bits {
            128 => u128::from(fraction) << 64 | u128::from(mix(fraction)),
            bits => u128::from(fraction >> (64 - bits)),
        }
    }

    fn random_word(self, seed: u64, at: u64) -> u128 {
        self.word(random(seed, at))
    }

    /// The start of a cluster. Clusters are at random positions, and each covers at most `low` bits.
    fn cluster(self, number: u64, low: u32, seed: u64) -> u128 {
        if low >= self.bits { 0 } else { self.random_word(seed ^ 3, number) >> low << low }
    }

    fn drawn(self, shape: Shape, at: u64, n: u64, seed: u64) -> u128 {
        let bits = self.bits;
        let x = self.random_word(seed, at);
        let in_order = |i: u64| self.word(ascending(i, n, seed));
        let in_run = |length: u64| self.word(ascending(at % length, length, seed.wrapping_add(at / length)));
        let ands = |count: u64| (1..=count).fold(x, |x, k| x & self.random_word(seed.wrapping_add(k), at));
        // Blocks of the positions, and slots of the range.
        let in_slot = |slot: u64| self.word(slot << 57 | random(seed, at) >> 7);
        let (blocks, block) = (128, at * 128 / n);
        let number = |number: u64| u128::from(number) & self.all();
        let appended = |tail: u64, end: u128| {
            if at < n - tail { self.word(ascending(at, n - tail, seed)) } else { end }
        };
        match shape {
            Shape::And1 => ands(1),
            Shape::And2 => ands(2),
            Shape::And3 => ands(3),
            Shape::And4 => ands(4),
            Shape::And5 => ands(5),
            Shape::Zero => 0,
            Shape::TwoValues => self.random_word(seed ^ 1, x as u64 & 1),
            Shape::SixteenValues => self.random_word(seed ^ 1, x as u64 & 15),
            Shape::LowBits => x >> (bits - bits / 4),
            Shape::TopBits => x >> (bits - bits / 4) << (bits - bits / 4),
            Shape::OrganPipe => in_order(if at < n / 2 { 2 * at } else { 2 * (n - 1 - at) }),
            Shape::SawTooth => number(at % 1000),
            Shape::SortedRuns => in_run(n / 1024 + 1),
            Shape::Rotated => in_order((at + n / 3) % n),
            Shape::Outlier if at == random(seed, n) % n => self.all(),
            Shape::Outlier => x % 1000,
            Shape::Expo => x & ((1 << (at % u64::from(bits))) - 1),
            Shape::Clusters => {
                self.cluster(random(seed ^ 1, at) % 64, bits / 2, seed).wrapping_add(x >> (bits / 2))
                    & self.all()
            }
            Shape::Sorted => in_order(at),
            Shape::Reversed => in_order(n - 1 - at),
            Shape::NearlySorted => in_order(swapped(at, n, seed)),
            Shape::EightRuns => in_run(n / 8 + 1),
            Shape::ShortRuns => in_run(64),
            Shape::OneAppended => appended(1, x),
            Shape::RandomTail => appended(n.div_ceil(100), x),
            Shape::SortedTail => {
                let tail = n.div_ceil(10);
                appended(tail, self.word(ascending((at + tail).saturating_sub(n), tail, seed ^ 1)))
            }
            Shape::MedianKiller => in_order(median_killer(at, n)),
            Shape::StridedKiller if at.is_multiple_of((n / 1024).max(2)) => {
                self.word(narrow(random(seed ^ 1, at)))
            }
            Shape::Normal => self.word(bell(at, seed)),
            Shape::Zipf => number(zipf(at, seed)),
            Shape::Poisson => number(poisson(at, seed)),
            Shape::Staggered if block < blocks / 2 => in_slot(2 * block + 1),
            Shape::Staggered => in_slot(2 * block - blocks),
            Shape::BucketSorted => in_slot(at * blocks * blocks / n % blocks),
            Shape::GGroup => in_slot((block / 2 * 2 + blocks / 2 + at * blocks * 2 / n % 2) % blocks),
            Shape::Duplicates => number((n.ilog2() - (n / (n - at)).ilog2()).into()),
            Shape::Uniform | Shape::StridedKiller | Shape::SampledKiller => x,
            Shape::LogNormal | Shape::Fractions => unreachable!("drawn as floats"),
        }
    }

    fn composed(self, recipe: &Recipe, at: u64, n: u64, seed: u64) -> u128 {
        let value = if recipe.distinct > 0 { random(seed ^ 5, at) % recipe.distinct } else { at };
        let mut fraction = random(seed, value);
        if let Some(most) = n.checked_div(recipe.runs) {
            let length = most + 1;
            fraction = ascending(at % length, length, seed.wrapping_add(at / length));
            if let Some(step) = u64::MAX.checked_div(recipe.distinct) {
                fraction -= fraction % step;
            }
        }
        let ands = (1..=recipe.ands).map(|k| self.random_word(seed.wrapping_add(k), value));
        let mut x = ands.fold(self.word(fraction), |x, word| x & word);
        if recipe.expo > 0 {
            x &= (1 << (at % u64::from(self.bits))) - 1;
        }
        let mask = u128::from(recipe.mask) << 64 | u128::from(recipe.mask);
        x = x >> recipe.right << recipe.left & mask & self.all();
        if recipe.clusters > 0 {
            let low = recipe.cluster_bits as u32;
            x &= (1 << low) - 1;
            x = x.wrapping_add(self.cluster(random(seed ^ 6, at) % recipe.clusters, low, seed)) & self.all();
        }
        x
    }

    /// The bits of the key with this number in the order of its type. Floats start at the lowest finite one. There are
    /// 2^(BITS - EXPONENT) fewer finite floats than numbers. If `ordered`, all numbers are scaled to fit; otherwise the
    /// highest numbers are reduced by that count.
    fn key(self, mut number: u128, ordered: bool) -> u128 {
        match self.kind {
            Kind::Unsigned => number,
            Kind::Signed => number ^ self.sign(),
            Kind::Float { exponent } => {
                let missing = 1u128 << (self.bits - exponent);
                if ordered {
                    number -= number >> exponent;
                }
                if number > self.all() - missing {
                    number -= missing;
                }
                let code = number + missing / 2;
                if code & self.sign() != 0 { code ^ self.sign() } else { !code & self.all() }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: usize = 5000;

    fn drawn(shape: Shape) -> Vec<u64> {
        draw(Source::Shape(shape), N, 7)
    }

    fn descents<K: PartialOrd>(keys: &[K]) -> usize {
        keys.windows(2).filter(|pair| pair[0] > pair[1]).count()
    }

    #[test]
    fn runs_and_tails_are_as_described() {
        assert_eq!(descents(&drawn(Shape::EightRuns)), 7);
        assert_eq!(descents(&drawn(Shape::ShortRuns)), N.div_ceil(64) - 1);
        assert_eq!(descents(&drawn(Shape::OneAppended)[..N - 1]), 0);
        let tail = N - N / 100;
        assert_eq!(descents(&drawn(Shape::RandomTail)[..tail]), 0);
        assert!(descents(&drawn(Shape::RandomTail)[tail..]) > 10);
        assert_eq!(descents(&drawn(Shape::SortedTail)), 1);
    }

    #[test]
    fn the_median_killer_is_a_permutation_that_puts_low_keys_in_the_middle() {
        let n = 1000;
        let mut ranks: Vec<_> = (0..n).map(|at| median_killer(at, n)).collect();
        let mut three = [ranks[0], ranks[n as usize / 2], ranks[n as usize - 1]];
        three.sort_unstable();
        assert_eq!(three[1], 1, "the median of the first, middle and last is the second least");
        ranks.sort_unstable();
        assert!(ranks.into_iter().eq(0..n));
    }

    #[test]
    fn killers_hide_the_range_from_samples() {
        let low = |key: &u64| *key < 1 << 48;
        let keys: Vec<u64> = draw(Source::Shape(Shape::StridedKiller), 100_000, 7);
        assert!(keys.iter().step_by(100_000 / 1024).all(low));
        assert!(keys.iter().filter(|key| low(key)).count() < 1100);
        let keys: Vec<u64> = draw(Source::Shape(Shape::SampledKiller), 100_000, 7);
        assert!(sampled_by_length(100_000).all(|at| low(&keys[at])));
        assert!(keys.iter().filter(|key| low(key)).count() <= 4096);
    }

    #[test]
    fn numbers_have_their_frequencies() {
        let keys = |shape| draw::<u64>(Source::Shape(shape), 1 << 18, 7);
        let share =
            |keys: &[u64], of: u64| keys.iter().filter(|&&key| key == of).count() as f64 / 2f64.powi(18);
        let zipf = keys(Shape::Zipf);
        assert!(zipf.iter().all(|key| (1..1 << 20).contains(key)));
        assert!((share(&zipf, 1) - 0.05).abs() < 0.002, "{}", share(&zipf, 1));
        let moments = |keys: &[f64]| crate::measured::mean_and_deviation(keys);
        let numbers = keys(Shape::Poisson).iter().map(|&key| key as f64).collect::<Vec<_>>();
        let (mean, deviation) = moments(&numbers);
        assert!(
            (mean - 1000.0).abs() < 1.0 && (deviation - 1000f64.sqrt()).abs() < 0.3,
            "{mean}, {deviation}"
        );
        let places: Vec<_> = keys(Shape::Normal).iter().map(|&key| key as f64 / 2f64.powi(64)).collect();
        let (mean, deviation) = moments(&places);
        assert!((mean - 0.5).abs() < 0.002 && (deviation - 0.125).abs() < 0.002, "{mean}, {deviation}");
        let halves = keys(Shape::Duplicates);
        assert_eq!([18, 17, 16].map(|number| share(&halves, number)), [0.5, 0.25, 0.125]);
    }

    #[test]
    fn blocks_have_the_keys_of_their_slots() {
        let slots =
            |shape| draw::<u64>(Source::Shape(shape), 1 << 18, 7).iter().map(|key| key >> 57).collect();
        let blocks = |shape| -> Vec<Vec<u64>> {
            let slots: Vec<u64> = slots(shape);
            slots.chunks(1 << 11).map(<[u64]>::to_vec).collect()
        };
        let is = |slots: &[u64], slot| slots.iter().all(|&one| one == slot);
        for (block, slots) in (0..).zip(blocks(Shape::Staggered)) {
            assert!(is(&slots, if block < 64 { 2 * block + 1 } else { 2 * block - 128 }), "block {block}");
        }
        for slots in blocks(Shape::BucketSorted) {
            assert!(slots.into_iter().eq((0..128).flat_map(|slot| [slot; 16])));
        }
        for (block, slots) in (0..).zip(blocks(Shape::GGroup)) {
            let first = (block / 2 * 2 + 64) % 128;
            assert!(is(&slots[..1 << 10], first) && is(&slots[1 << 10..], first + 1), "block {block}");
        }
    }

    /// Checks for every type that the sorted shapes are in the order of the type, and that shapes of few values have
    /// equal keys.
    fn keeps_order<K: Drawn + PartialOrd + std::fmt::Debug>() {
        let keys = |shape| draw::<K>(Source::Shape(shape), N, 7);
        assert_eq!(descents(&keys(Shape::Sorted)), 0);
        assert_eq!(descents(&keys(Shape::SortedTail)), 1, "{:?}", K::KIND);
        let two = keys(Shape::TwoValues);
        assert!(
            two.iter().all(|key| *key == two[0] || two.iter().find(|other| **other != two[0]) == Some(key))
        );
        for shape in Shape::ALL.iter().filter(|shape| shape.takes(false)) {
            for n in [1, 2, 3, 10] {
                assert_eq!(draw::<K>(Source::Shape(*shape), n, 7).len(), n);
            }
        }
    }

    #[test]
    fn every_type_keeps_the_order_of_a_shape() {
        keeps_order::<u8>();
        keeps_order::<u16>();
        keeps_order::<u32>();
        keeps_order::<u128>();
        keeps_order::<i8>();
        keeps_order::<i16>();
        keeps_order::<i64>();
        keeps_order::<i128>();
        keeps_order::<half::f16>();
        keeps_order::<f32>();
        keeps_order::<f64>();
        keeps_order::<(u32, u32)>();
        keeps_order::<(u64, u64)>();
        keeps_order::<[u8; 16]>();
    }
}
