//! Keys alone.

use half::{bf16, f16};

use crate::patterns::{PATTERNS, numbers};
use crate::subject::{ALGORITHMS, PARALLEL, SEQUENTIAL, Subject};
use crate::values::{Value, for_each_key, indices, keys};
use crate::{edge_sizes, in_turn, small_sizes};

/// Sorts the keys in the middle of a slice, so that reads or writes past their ends are noticed.
pub fn check<K: Value>(subject: &Subject, keys: Vec<K>, what: &str) {
    let (n, order) = (keys.len(), subject.order);
    let context = || format!("{} of {n} {}, {what}", subject.name, std::any::type_name::<K>());
    let (before, after) = (1 + n % 5, 20);
    let guard = |i: usize| K::from_number(if i.is_multiple_of(2) { 0 } else { u64::MAX >> (64 - K::BITS) });

    let mut slice: Vec<K> = (0..before).map(guard).collect();
    slice.extend(keys.iter().cloned());
    slice.extend((0..after).map(guard));
    subject.sort(&mut slice[before..before + n]);

    let indices = indices(&keys, order);
    let same = |a: &K, b: &K| a.plain(b, order).is_eq();
    if let Some(i) = (0..n).find(|&i| !same(&slice[before + i], &keys[indices[i]])) {
        panic!("{}: {:?} at {i}, expected {:?}", context(), slice[before + i], keys[indices[i]]);
    }
    let guards = slice[..before].iter().enumerate().chain(slice[before + n..].iter().enumerate());
    for (i, found) in guards {
        assert!(same(found, &guard(i)), "{}: wrote outside the keys", context());
    }
}

/// Every pattern at these sizes, with the subjects in turn.
fn patterns<K: Value>(subjects: &[Subject], sizes: impl Iterator<Item = usize> + Clone) {
    in_turn(check::<K>, subjects, sizes);
}

fn sizes_to(exponent: u32) -> impl Iterator<Item = usize> + Clone {
    let sizes: Vec<usize> = small_sizes().chain(edge_sizes(8..=exponent)).collect();
    sizes.into_iter()
}

#[test]
fn fixed_keys() {
    for_each_key!(fixed patterns(&SEQUENTIAL, sizes_to(12)));
}

#[test]
fn wide_keys() {
    for_each_key!(wide patterns(&SEQUENTIAL, sizes_to(11)));
}

#[test]
fn every_algorithm() {
    for_each_key!(fixed patterns(&ALGORITHMS, sizes_to(11)));
}

/// Sizes at which threads share the work, and those just below.
fn large_sizes() -> impl Iterator<Item = usize> + Clone {
    [262_143, 262_144, 400_003].into_iter()
}

#[test]
fn large_u32() {
    patterns::<u32>(&PARALLEL, large_sizes());
}

#[test]
fn large_u64() {
    patterns::<u64>(&PARALLEL, large_sizes());
}

#[test]
fn large_f64() {
    patterns::<f64>(&PARALLEL, large_sizes());
}

#[test]
fn large_keys_of_every_type() {
    fn one_size<K: Value>() {
        for (pattern, subject) in PATTERNS.iter().zip(PARALLEL.iter().cycle()).step_by(3) {
            check::<K>(subject, keys(&numbers(pattern, 300_001, K::BITS)), pattern.0);
        }
    }
    for_each_key!(fixed one_size());
    for_each_key!(wide one_size());
}

#[test]
fn every_algorithm_on_large_input() {
    for (pattern, subject) in PATTERNS.iter().zip(ALGORITHMS.iter().cycle()) {
        check::<u32>(subject, keys(&numbers(pattern, 300_003, 32)), pattern.0);
        check::<i64>(subject, keys(&numbers(pattern, 262_145, 64)), pattern.0);
    }
}

#[test]
fn a_million() {
    for name in
        ["random", "all largest", "all smallest", "half of it one key", "every size of number", "zipf"]
    {
        let pattern = PATTERNS.iter().find(|pattern| pattern.0 == name).expect("a pattern");
        for (n, subject) in [999_999, 1_000_001].into_iter().zip(PARALLEL.iter().skip(1)) {
            check::<u32>(subject, keys(&numbers(pattern, n, 32)), name);
            check::<u64>(subject, keys(&numbers(pattern, n, 64)), name);
        }
    }
}

/// Random bits, and mixtures of NaNs of both signs, infinities, zeros and the smallest numbers.
#[test]
fn floats_by_their_bits() {
    fn mixtures<K: Value>(bits: u32, mantissa: u32, from_bits: impl Fn(u64) -> K) {
        let sign = 1 << (bits - 1);
        let infinity = (sign - 1) ^ ((1 << mantissa) - 1);
        let special = [
            0,
            1,
            infinity - 1,
            infinity,
            infinity + 1,
            infinity | 1 << (mantissa - 1),
            sign - 1, // the NaN of all ones
        ];
        let mut rng = fastrand::Rng::with_seed(7);
        for n in small_sizes().chain(edge_sizes(8..=12)).chain([265_000]) {
            let subjects = if n < 60_000 { SEQUENTIAL.iter() } else { PARALLEL.iter() };
            let subject = rng.choice(subjects).unwrap();
            let random = (0..n).map(|_| from_bits(rng.u64(..))).collect();
            check(subject, random, "random bits");
            let signed = |rng: &mut fastrand::Rng, x| from_bits(if rng.bool() { x | sign } else { x });
            let mixed = (0..n).map(|_| *rng.choice(&special).unwrap()).collect::<Vec<u64>>();
            check(subject, mixed.into_iter().map(|x| signed(&mut rng, x)).collect(), "special");
            let nans =
                (0..n).map(|_| infinity + 1 + rng.u64(..) % (sign - 1 - infinity)).collect::<Vec<u64>>();
            check(subject, nans.into_iter().map(|x| signed(&mut rng, x)).collect(), "all NaN");
            let zeros = (0..n).map(|_| signed(&mut rng, 0)).collect();
            check(subject, zeros, "zeros of both signs");
        }
    }
    mixtures(16, 10, |x| f16::from_bits(x as u16));
    mixtures(16, 7, |x| bf16::from_bits(x as u16));
    mixtures(32, 23, |x| f32::from_bits(x as u32));
    mixtures(64, 52, f64::from_bits);
}

/// Keys of size zero: there is nothing to move, and any number of them fits.
#[test]
fn keys_of_no_size() {
    for subject in SEQUENTIAL.iter().chain(PARALLEL.iter()) {
        let mut keys = vec![[0u8; 0]; 3_000_000];
        subject.sort(&mut keys);
        assert_eq!(keys.len(), 3_000_000);
        assert_eq!(subject.argsort::<[u8; 0], u32>(&keys[..1000]), (0..1000).collect::<Vec<_>>());
    }
}
