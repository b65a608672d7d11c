//! The tests that every sort of this project must pass, through the public API alone.
//!
//! A [`subject::Subject`] is a way to sort. Its result is compared with that of std's stable sort under a plain
//! definition of the order, element by element and payload by payload. There is only one right result, so no extra test
//! is needed to show that results depend neither on the number of threads nor on the run.

mod callers;
mod choices;
mod groups;
mod keys;
mod killers;
mod nth;
mod others;
mod pairs;
mod patterns;
mod segments;
mod sorted;
mod strings;
mod subject;
mod top;
mod values;

use patterns::{PATTERNS, numbers};
use subject::Subject;
use values::{Value, keys};

/// Small sizes, where every single one matters.
fn small_sizes() -> impl Iterator<Item = usize> {
    0..=200
}

/// The sizes around the powers of two with these exponents, where size classes end.
fn edge_sizes(exponents: std::ops::RangeInclusive<u32>) -> impl Iterator<Item = usize> {
    exponents.flat_map(|e| [(1 << e) - 1, 1 << e, (1 << e) + 1])
}

/// Checks every pattern at these sizes, with the subjects in turn.
fn in_turn<K: Value>(
    check: impl Fn(&Subject, Vec<K>, &str),
    subjects: &[Subject],
    sizes: impl Iterator<Item = usize> + Clone,
) {
    let mut turn = subjects.iter().cycle();
    for pattern in PATTERNS {
        for n in sizes.clone() {
            check(turn.next().unwrap(), keys(&numbers(pattern, n, K::BITS)), pattern.0);
        }
        // Another start for each pattern, so that each subject gets each size.
        turn.next();
    }
}
