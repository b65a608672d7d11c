//! Decides whether a distribution is worth its time, from how fast this machine partitions and distributes.
//!
//! A distribution replaces as many levels of partitioning as the entropy of its buckets has bits. The first sort of a large
//! array measures both rates, once per process and key width, while it does steps that it needs anyway. Only keys alone are
//! sorted this way, so the choice does not affect the result.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use crate::cpu::distribute::Classifier;
use crate::cpu::parallel_partition::split_in_two;
use crate::cpu::tuning::{DISTRIBUTE_FROM_BYTES, NEAR_BYTES};
use crate::cpu::vector::Isa;
use crate::key::Bits;

/// To find out whether keys are nearly in order, this many pairs are compared at equal distances. They are if at most one pair
/// in `FALLS_IN_ORDER` descends.
const PROBES: usize = 128;
const FALLS_IN_ORDER: usize = 8;

/// The lowest measurement in picoseconds per byte, or `u64::MAX` before the first one.
struct Rates {
    /// For partitions of more keys than the caches next to a core hold.
    far: AtomicU64,
    /// For partitions of fewer keys.
    near: AtomicU64,
    distribution: AtomicU64,
}

/// For codes of 32 and of 64 bits.
static RATES: [Rates; 2] = [const { Rates::unknown() }; 2];

impl Rates {
    const fn unknown() -> Rates {
        Rates {
            far: AtomicU64::new(u64::MAX),
            near: AtomicU64::new(u64::MAX),
            distribution: AtomicU64::new(u64::MAX),
        }
    }

    /// `None` for codes that have no vectorised sort.
    fn of<B: Bits>() -> Option<&'static Rates> {
        match B::WIDTH {
            32 => Some(&RATES[0]),
            64 => Some(&RATES[1]),
            _ => None,
        }
    }

    fn pays(&self, entropy: f64, bytes: usize) -> bool {
        let far = (bytes as f64 / NEAR_BYTES as f64).log2().clamp(0.0, entropy);
        let of = |rate: &AtomicU64| rate.load(Relaxed) as f64;
        far * of(&self.far) + (entropy - far) * of(&self.near) > of(&self.distribution)
    }
}

/// Whether few of the keys at equal distances are greater than the next one. A distribution hardly moves the keys of such an
/// array, so it takes less time than the measured rate says: for 10^7 `u64` with ten swaps a fifth less than the quicksort,
/// with 10^5 swaps the same.
fn is_nearly_in_order<B: Bits>(keys: &[B]) -> bool {
    let at = |i: usize| keys[i * (keys.len() - 1) / PROBES];
    let falls = (0..PROBES).filter(|&i| at(i) > at(i + 1)).count();
    falls <= PROBES / FALLS_IN_ORDER
}

/// Runs a step on the keys and records its rate.
fn timed<B: Bits, R>(rate: &AtomicU64, keys: &mut [B], step: impl FnOnce(&mut [B]) -> R) -> R {
    let start = Instant::now();
    let result = step(keys);
    let picoseconds = 1000 * start.elapsed().as_nanos() as u64 / size_of_val(keys).max(1) as u64;
    rate.fetch_min(picoseconds, Relaxed);
    result
}

/// Distributes the keys by `distribute` if that is worth its time. Returns the ranges that remain to be sorted, in order.
pub(crate) fn distribute<B: Bits>(
    keys: &mut [B],
    classifier: impl Fn(&[B]) -> Classifier<B>,
    distribute: impl Fn(&mut [B], &Classifier<B>) -> Vec<Range<usize>>,
    isa: Isa,
) -> Vec<Range<usize>> {
    let whole = |keys: &[B]| std::iter::once(0..keys.len()).collect();
    let by = classifier(keys);
    if !by.is_even() {
        return whole(keys);
    }
    let Some(rates) = Rates::of::<B>() else { return distribute(keys, &by) };
    if rates.distribution.load(Relaxed) < u64::MAX {
        let pays = rates.pays(by.entropy(), size_of_val(keys)) || is_nearly_in_order(keys);
        return if pays { distribute(keys, &by) } else { whole(keys) };
    }
    if size_of_val(keys) < 2 * DISTRIBUTE_FROM_BYTES {
        return distribute(keys, &by);
    }
    let middle = timed(&rates.far, keys, |keys| split_in_two(keys, 1, isa));
    let near = NEAR_BYTES / size_of::<B>();
    if middle < near || middle == keys.len() {
        return distribute(keys, &classifier(keys));
    }
    for _ in 0..3 {
        timed(&rates.near, &mut keys[..near], |keys| split_in_two(keys, 1, isa));
    }
    let (low, high) = keys.split_at_mut(middle);
    let mut ranges = Vec::new();
    for (half, start) in [(low, 0), (high, middle)] {
        let by = classifier(half);
        let buckets = timed(&rates.distribution, half, |half| distribute(half, &by));
        ranges.extend(buckets.into_iter().map(|bucket| start + bucket.start..start + bucket.end));
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_swaps_leave_keys_nearly_in_order() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut keys: Vec<u64> = (0..100_000).collect();
        assert!(is_nearly_in_order(&keys));
        for _ in 0..1000 {
            keys.swap(random.usize(..100_000), random.usize(..100_000));
        }
        assert!(is_nearly_in_order(&keys));
        random.shuffle(&mut keys);
        assert!(!is_nearly_in_order(&keys));
        keys.sort_unstable_by(|a, b| b.cmp(a));
        assert!(!is_nearly_in_order(&keys));
    }

    #[test]
    fn a_distribution_pays_where_it_replaces_enough_partitions() {
        let rates = Rates::unknown();
        rates.far.store(100, Relaxed);
        rates.near.store(50, Relaxed);
        rates.distribution.store(600, Relaxed);
        assert!(rates.pays(8.0, 64 * NEAR_BYTES));
        assert!(!rates.pays(8.0, 2 * NEAR_BYTES), "partitions are near");
        assert!(!rates.pays(4.0, 64 * NEAR_BYTES), "there are 16 distinct keys");
    }
}
