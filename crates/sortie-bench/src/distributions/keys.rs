//! Distributions of keys. Unless stated otherwise, keys are drawn from the whole range of their type.
//!
//! Staggered, bucket sorted, deterministic duplicates and g-group are those of Helman, Bader and JaJa (A randomized
//! parallel sorting algorithm with an experimental study, 1998). They divide the input into `P` blocks, one for each of
//! their processors, and the range into `P` slots.

use rand::Rng as _;
use rand_distr::{Distribution as _, Normal, Poisson, Zipf};

use super::Rng;
use crate::keys::BenchKey;

/// The number of blocks in the input, and of slots in the range.
const P: u64 = 128;

/// The number of consecutive blocks in a group of [`Distribution::GGroup`].
const G: u64 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distribution {
    Uniform,
    /// Strictly ascending, about evenly spaced.
    Sorted,
    /// Strictly descending.
    Reversed,
    Equal,
    /// Sorted, with n/1000 random swaps.
    AlmostSorted,
    /// 16 values with equal frequency.
    FewDistinct,
    /// The number k in 1..=2^20, with probability proportional to 1/k.
    Zipf,
    /// Normal, centred in the range, with a standard deviation of an eighth of the range.
    Normal,
    /// Block i is in slot 2i + 1; in the second half of the input, in slot 2i - P.
    Staggered,
    /// Each block contains keys of all slots, in order.
    BucketSorted,
    /// A Poisson distribution with mean 1000.
    Poisson,
    /// The first half is the number log2 n, the next quarter log2 n - 1, and so on.
    Duplicates,
    /// Each block contains keys of the slots of another group, which is half the input away.
    GGroup,
}

impl Distribution {
    /// The distributions that the kernel `draw` of kernels/batch.cu can also draw.
    pub const DRAWN_ON_DEVICES: &[Distribution] = Distribution::ALL.split_at(11).0;

    pub const ALL: [Distribution; 13] = [
        Distribution::Uniform,
        Distribution::Sorted,
        Distribution::Reversed,
        Distribution::Equal,
        Distribution::AlmostSorted,
        Distribution::FewDistinct,
        Distribution::Zipf,
        Distribution::Normal,
        Distribution::Staggered,
        Distribution::BucketSorted,
        Distribution::Poisson,
        Distribution::Duplicates,
        Distribution::GGroup,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Distribution::Uniform => "uniform",
            Distribution::Sorted => "sorted",
            Distribution::Reversed => "reversed",
            Distribution::Equal => "equal",
            Distribution::AlmostSorted => "almost sorted",
            Distribution::FewDistinct => "few distinct",
            Distribution::Zipf => "zipf",
            Distribution::Normal => "normal",
            Distribution::Poisson => "poisson",
            Distribution::Staggered => "staggered",
            Distribution::BucketSorted => "bucket sorted",
            Distribution::Duplicates => "deterministic duplicates",
            Distribution::GGroup => "g-group",
        }
    }

    pub fn draw<K: BenchKey>(self, n: usize, rng: &mut Rng) -> Vec<K> {
        match self {
            Distribution::Uniform => (0..n).map(|_| K::at(rng.next_u64())).collect(),
            Distribution::Sorted => ascending(n, rng),
            Distribution::Reversed => {
                let mut keys = ascending(n, rng);
                keys.reverse();
                keys
            }
            Distribution::Equal => vec![K::at(rng.next_u64()); n],
            Distribution::AlmostSorted => {
                let mut keys = ascending(n, rng);
                for _ in 0..n / 1000 {
                    keys.swap(below(n, rng), below(n, rng));
                }
                keys
            }
            Distribution::FewDistinct => {
                let values: [K; 16] = std::array::from_fn(|_| K::at(rng.next_u64()));
                (0..n).map(|_| values[(rng.next_u64() >> 60) as usize]).collect()
            }
            Distribution::Zipf => {
                let ranks = Zipf::new(f64::from(1 << 20), 1.0).expect("valid by construction");
                (0..n).map(|_| K::of(ranks.sample(rng) as u64)).collect()
            }
            Distribution::Normal => {
                let places = Normal::new(0.5, 0.125).expect("valid by construction");
                // A float has 53 significant bits. The lowest 11 bits come from another random number; otherwise all
                // 64-bit keys would end in zeros.
                let fraction =
                    |rng: &mut Rng| (places.sample(rng) * 2f64.powi(64)) as u64 ^ rng.next_u64() >> 53;
                (0..n).map(|_| K::at(fraction(rng))).collect()
            }
            Distribution::Poisson => {
                let counts = Poisson::new(1000.0).expect("valid by construction");
                (0..n).map(|_| K::of(counts.sample(rng) as u64)).collect()
            }
            Distribution::Staggered => {
                slotted(n, rng, |block, _| if block < P / 2 { 2 * block + 1 } else { 2 * block - P })
            }
            Distribution::BucketSorted => slotted(n, rng, |_, within| (within * P) >> 32),
            Distribution::Duplicates => {
                let log = |i: usize| n.ilog2() - (n / (n - i)).ilog2();
                (0..n).map(|i| K::of(log(i).into())).collect()
            }
            Distribution::GGroup => {
                slotted(n, rng, |block, within| (block / G * G + P / 2 + ((within * G) >> 32)) % P)
            }
        }
    }
}

/// Strictly ascending keys: the range is divided into n parts, and each key is in the first half of its part.
fn ascending<K: BenchKey>(n: usize, rng: &mut Rng) -> Vec<K> {
    let step = u64::MAX / n.max(1) as u64;
    (0..n as u64).map(|i| K::at(i * step + rng.next_u64() % (step / 2))).collect()
}

/// Keys that are uniform within their slot. `slot` gets the block, and the key's position in the block in units of
/// 2^-32.
fn slotted<K: BenchKey>(n: usize, rng: &mut Rng, slot: impl Fn(u64, u64) -> u64) -> Vec<K> {
    let width = u64::MAX / P + 1;
    (0..n as u128)
        .map(|i| {
            // The block, followed by the position in it as 32 binary digits.
            let at = ((i * u128::from(P)) << 32) / n as u128;
            let slot = slot((at >> 32) as u64, at as u32 as u64);
            K::at(slot * width + rng.next_u64() % width)
        })
        .collect()
}

/// A random number in 0..n.
fn below(n: usize, rng: &mut Rng) -> usize {
    ((u128::from(rng.next_u64()) * n as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    const N: usize = 1 << 18;

    fn draw(distribution: Distribution) -> Vec<u64> {
        distribution.draw(N, &mut Rng::seed_from_u64(7))
    }

    fn slot(key: u64) -> u64 {
        key >> 57
    }

    /// The blocks of the input, with their numbers.
    fn blocks(keys: &[u64]) -> impl Iterator<Item = (u64, &[u64])> {
        (0..).zip(keys.chunks(N / P as usize))
    }

    #[test]
    fn a_seed_means_one_input() {
        for distribution in Distribution::ALL {
            assert_eq!(draw(distribution), draw(distribution));
            assert_eq!(distribution.draw::<u32>(1, &mut Rng::seed_from_u64(1)).len(), 1);
            assert_eq!(distribution.draw::<u32>(0, &mut Rng::seed_from_u64(1)).len(), 0);
        }
        let other: Vec<u64> = Distribution::Uniform.draw(N, &mut Rng::seed_from_u64(8));
        assert_ne!(draw(Distribution::Uniform), other);
    }

    #[test]
    fn uniform_fills_all_slots_alike() {
        let mut counts = [0u32; P as usize];
        draw(Distribution::Uniform).iter().for_each(|&key| counts[slot(key) as usize] += 1);
        // 2048 are expected, with a standard deviation of 45.
        assert!(counts.iter().all(|count| (1820..2280).contains(count)), "{counts:?}");
    }

    #[test]
    fn sorted_and_reversed_are_strict_and_mirror_each_other() {
        let sorted = draw(Distribution::Sorted);
        assert!(sorted.windows(2).all(|w| w[0] < w[1]));
        let mut reversed = draw(Distribution::Reversed);
        assert!(reversed.windows(2).all(|w| w[0] > w[1]));
        reversed.reverse();
        assert_eq!(reversed, sorted);
        let narrow: Vec<u32> = Distribution::Sorted.draw(10_000_000, &mut Rng::seed_from_u64(7));
        assert!(narrow.windows(2).all(|w| w[0] < w[1]), "strict in 32 bits too");
    }

    #[test]
    fn almost_sorted_is_sorted_but_for_a_few_swaps() {
        let mut keys = draw(Distribution::AlmostSorted);
        let sorted = draw(Distribution::Sorted);
        let moved = keys.iter().zip(&sorted).filter(|(a, b)| a != b).count();
        assert!((N / 1000..=2 * (N / 1000)).contains(&moved), "{moved} moved");
        keys.sort_unstable();
        assert_eq!(keys, sorted);
    }

    #[test]
    fn equal_has_one_value_and_few_distinct_sixteen() {
        let mut equal = draw(Distribution::Equal);
        equal.dedup();
        assert_eq!(equal.len(), 1);
        let mut few = draw(Distribution::FewDistinct);
        few.sort_unstable();
        few.dedup();
        assert_eq!(few.len(), 16);
    }

    #[test]
    fn zipf_has_its_frequencies() {
        let keys = draw(Distribution::Zipf);
        assert!(keys.iter().all(|key| (1..=1 << 20).contains(key)));
        let harmonic: f64 = (1..=1 << 20).map(|k| 1.0 / f64::from(k)).sum();
        for rank in [1, 2, 10] {
            let found = keys.iter().filter(|&&key| key == rank).count() as f64;
            let expected = N as f64 / (rank as f64 * harmonic);
            assert!((found / expected - 1.0).abs() < 0.1, "rank {rank}: {found}, expected {expected}");
        }
    }

    #[test]
    fn normal_has_its_middle_and_deviation() {
        let keys = draw(Distribution::Normal);
        let places: Vec<f64> = keys.iter().map(|&key| key as f64 / 2f64.powi(64)).collect();
        let mean = places.iter().sum::<f64>() / N as f64;
        let variance = places.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / N as f64;
        assert!((mean - 0.5).abs() < 0.002 && (variance.sqrt() - 0.125).abs() < 0.002, "{mean}, {variance}");
        assert!(keys.iter().fold(0, |or, key| or | key) << 53 != 0, "the low digits vary");
    }

    #[test]
    fn poisson_has_its_mean_and_variance() {
        let keys = draw(Distribution::Poisson);
        let mean = keys.iter().sum::<u64>() as f64 / N as f64;
        let variance = keys.iter().map(|&key| (key as f64 - mean).powi(2)).sum::<f64>() / N as f64;
        assert!((mean - 1000.0).abs() < 1.0 && (variance - 1000.0).abs() < 30.0, "{mean}, {variance}");
    }

    #[test]
    fn staggered_follows_its_formula() {
        for (block, keys) in blocks(&draw(Distribution::Staggered)) {
            let expected = if block < 64 { 2 * block + 1 } else { 2 * block - 128 };
            assert!(keys.iter().all(|&key| slot(key) == expected), "block {block}");
        }
    }

    #[test]
    fn bucket_sorted_goes_through_all_slots_in_every_block() {
        for (block, keys) in blocks(&draw(Distribution::BucketSorted)) {
            let slots: Vec<_> = keys.iter().map(|&key| slot(key)).collect();
            let expected: Vec<_> = (0..128).flat_map(|s| [s; N / 128 / 128]).collect();
            assert_eq!(slots, expected, "block {block}");
        }
    }

    #[test]
    fn g_group_goes_through_the_slots_of_the_opposite_group() {
        for (block, keys) in blocks(&draw(Distribution::GGroup)) {
            let first = (block / 2 * 2 + 64) % 128;
            let (one, two) = keys.split_at(keys.len() / 2);
            assert!(one.iter().all(|&key| slot(key) == first), "block {block}");
            assert!(two.iter().all(|&key| slot(key) == first + 1), "block {block}");
        }
    }

    #[test]
    fn duplicates_halve() {
        let keys = draw(Distribution::Duplicates);
        let count = |value: u64| keys.iter().filter(|&&key| key == value).count();
        assert_eq!((count(18), count(17), count(16)), (N / 2, N / 4, N / 8));
        assert!(keys.is_sorted_by(|a, b| a >= b));
    }
}
