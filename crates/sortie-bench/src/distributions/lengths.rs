//! Lengths of segments.

use rand::Rng as _;

use super::Rng;

/// The longest segment.
const LONGEST: usize = 28_000;

/// Offsets of segments whose lengths are in 1..=28,000, with a probability proportional to length^-1.5. There are
/// enough of them to hold `n` keys. The last one is cut to fit.
pub fn power_law(n: usize, rng: &mut Rng) -> Vec<usize> {
    let weights = (1..=LONGEST).map(|length| (length as f64).powf(-1.5));
    let sums: Vec<f64> = weights
        .scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        })
        .collect();
    let mut offsets = vec![0];
    let mut end = 0;
    while end < n {
        let draw = rng.next_u64() as f64 / 2f64.powi(64) * sums[LONGEST - 1];
        let length = 1 + sums.partition_point(|&sum| sum <= draw).min(LONGEST - 1);
        end = n.min(end + length);
        offsets.push(end);
    }
    offsets
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn lengths_follow_the_power_law() {
        let n = 20_000_000;
        let offsets = power_law(n, &mut Rng::seed_from_u64(3));
        assert_eq!((offsets[0], offsets[offsets.len() - 1]), (0, n));
        let lengths: Vec<_> = offsets.windows(2).map(|w| w[1] - w[0]).collect();
        assert!(lengths.iter().all(|length| (1..=LONGEST).contains(length)));

        let count = |length: usize| lengths.iter().filter(|&&l| l == length).count() as f64;
        assert!((count(1) / count(4) / 8.0 - 1.0).abs() < 0.1, "{} of 1, {} of 4", count(1), count(4));
        let mean = n as f64 / lengths.len() as f64;
        assert!((115.0..140.0).contains(&mean), "a mean of {mean}, 128 expected");
    }
}
