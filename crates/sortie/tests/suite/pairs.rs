//! Keys with something that moves along: pairs, indices, elements sorted by their keys.

use std::fmt::Debug;

use crate::patterns::{PATTERNS, numbers};
use crate::subject::{ALGORITHMS, PARALLEL, SEQUENTIAL, Subject, UNSTABLE};
use crate::values::{Value, for_each_key, indices, indices_by, keys};
use crate::{edge_sizes, in_turn, small_sizes};

/// A payload made from its original index.
trait Payload: Send + Sync + Clone + PartialEq + Debug {
    fn from_usize(i: usize) -> Self;
}

macro_rules! payloads {
    ($($t:ty: $from:expr;)*) => {$(
        impl Payload for $t {
            fn from_usize(i: usize) -> Self { $from(i) }
        }
    )*};
}
payloads! {
    (): |_| ();
    u8: |i| i as u8;
    [u8; 3]: |i: usize| *i.to_le_bytes().first_chunk().unwrap();
    u32: |i| i as u32;
    u64: |i| i as u64;
    u128: |i| i as u128;
    [u64; 3]: |i| [i as u64, !0, i as u64];
    [u8; 100]: |i: usize| { let mut bytes = [i as u8; 100]; bytes[..8].copy_from_slice(&i.to_le_bytes()); bytes };
    String: |i: usize| i.to_string();
    Box<usize>: Box::new;
}

fn check<K: Value, V: Payload>(subject: &Subject, keys: Vec<K>, what: &str) {
    let context = || {
        let types = (std::any::type_name::<K>(), std::any::type_name::<V>());
        format!("{} of {} {types:?}, {what}", subject.name, keys.len())
    };
    let expected = indices(&keys, subject.order);
    let (mut sorted, mut payload) = (keys.clone(), (0..keys.len()).map(V::from_usize).collect::<Vec<V>>());
    subject.sort_pairs(&mut sorted, &mut payload);
    for (i, &index) in expected.iter().enumerate() {
        assert!(sorted[i].plain(&keys[index], subject.order).is_eq(), "{}: key {i}", context());
        assert_eq!(payload[i], V::from_usize(index), "{}: payload {i}", context());
    }
}

fn check_argsort<K: Value>(subject: &Subject, keys: Vec<K>, what: &str) {
    let context = || format!("{} of {} {}, {what}", subject.name, keys.len(), std::any::type_name::<K>());
    let expected = indices(&keys, subject.order);
    assert!(subject.argsort::<K, u32>(&keys) == expected, "{}", context());
    assert!(subject.argsort::<K, usize>(&keys) == expected, "{}", context());
}

fn check_unstable<K: Value>(subject: &Subject, keys: Vec<K>, what: &str) {
    let context = || format!("{} of {} {}, {what}", subject.name, keys.len(), std::any::type_name::<K>());
    let in_order = |sorted: &[K], from: &[usize]| {
        let mut seen = vec![false; keys.len()];
        for (key, &index) in sorted.iter().zip(from) {
            assert!(!std::mem::replace(&mut seen[index], true), "{}: {index} twice", context());
            assert!(key.plain(&keys[index], subject.order).is_eq(), "{}: key and payload parted", context());
        }
        assert!(sorted.is_sorted_by(|a, b| a.plain(b, subject.order).is_le()), "{}", context());
    };
    let (mut sorted, mut payload) = (keys.clone(), (0..keys.len()).collect::<Vec<_>>());
    subject.sort_pairs(&mut sorted, &mut payload);
    in_order(&sorted, &payload);
    let indices = subject.argsort::<K, u32>(&keys);
    let sorted: Vec<K> = indices.iter().map(|&index| keys[index].clone()).collect();
    in_order(&sorted, &indices);
}

fn sizes_to(exponent: u32) -> impl Iterator<Item = usize> + Clone {
    let sizes: Vec<usize> = small_sizes().step_by(3).chain(edge_sizes(7..=exponent)).collect();
    sizes.into_iter()
}

/// Sizes around the one from which threads share the work.
const LARGE: [usize; 3] = [262_143, 262_144, 400_003];

#[test]
fn pairs_of_every_kind_of_key() {
    fn run<K: Value>() {
        in_turn::<K>(check::<K, u64>, &SEQUENTIAL, sizes_to(11));
    }
    for_each_key!(few run());
}

#[test]
fn pairs_of_every_payload() {
    fn run<V: Payload>() {
        in_turn::<f32>(check::<f32, V>, &SEQUENTIAL, sizes_to(11));
        for (pattern, subject) in PATTERNS.iter().zip(PARALLEL.iter().cycle()).step_by(4) {
            check::<u32, V>(subject, keys(&numbers(pattern, 265_000, 32)), pattern.0);
        }
    }
    run::<()>();
    run::<u8>();
    run::<[u8; 3]>();
    run::<u32>();
    run::<u128>();
    run::<[u64; 3]>();
    run::<[u8; 100]>();
    run::<String>();
    run::<Box<usize>>();
}

#[test]
fn large_pairs() {
    in_turn::<u64>(check::<u64, u64>, &PARALLEL, LARGE.into_iter());
    in_turn::<u32>(check::<u32, u32>, &PARALLEL, LARGE.into_iter());
    in_turn::<i16>(check::<i16, u32>, &PARALLEL, [400_003].into_iter());
}

#[test]
fn a_million_pairs() {
    for (name, n) in [("random", 999_999), ("half of it one key", 1_000_001), ("all largest", 1_000_000)] {
        let pattern = PATTERNS.iter().find(|pattern| pattern.0 == name).expect("a pattern");
        check::<u64, u64>(&PARALLEL[2], keys(&numbers(pattern, n, 64)), name);
        check::<u32, u32>(&PARALLEL[1], keys(&numbers(pattern, n, 32)), name);
    }
}

#[test]
fn argsort_of_every_kind_of_key() {
    fn run<K: Value>() {
        in_turn::<K>(check_argsort, &SEQUENTIAL, sizes_to(10));
    }
    for_each_key!(few run());
}

#[test]
fn indices_of_every_width() {
    let keys = keys::<u64>(&numbers(&PATTERNS[0], 3000, 64));
    for subject in SEQUENTIAL.iter() {
        let expected = indices(&keys, subject.order);
        assert!(subject.argsort::<u64, u32>(&keys) == expected);
        assert!(subject.argsort::<u64, u64>(&keys) == expected);
        assert!(subject.argsort::<u64, usize>(&keys) == expected);
    }
}

#[test]
fn large_argsort() {
    in_turn::<u64>(check_argsort, &PARALLEL, [262_144, 300_001].into_iter());
    in_turn::<f32>(check_argsort, &PARALLEL, [262_145].into_iter());
}

#[test]
fn unstable_pairs_and_argsort() {
    in_turn::<u64>(check_unstable, &UNSTABLE, sizes_to(11));
    in_turn::<f32>(check_unstable, &UNSTABLE, sizes_to(11));
    in_turn::<u8>(check_unstable, &UNSTABLE, [300, 3000, 265_000].into_iter());
    in_turn::<u32>(check_unstable, &UNSTABLE, [300_001].into_iter());
}

/// Stable algorithms stay so when they are named.
#[test]
fn stable_algorithms_by_name() {
    let stable: Vec<&Subject> =
        ALGORITHMS.iter().filter(|subject| !subject.name.contains("Quicksort")).collect();
    for (pattern, subject) in PATTERNS.iter().zip(stable.into_iter().cycle()) {
        for n in [37, 200, 1025, 265_000] {
            check::<u32, u32>(subject, keys(&numbers(pattern, n, 32)), pattern.0);
            check_argsort::<i64>(subject, keys(&numbers(pattern, n, 64)), pattern.0);
        }
    }
}

/// Elements sorted by keys of any type that are computed from them; each key is dropped once.
#[test]
fn elements_by_key() {
    fn run<K: Value>() {
        for (pattern, subject) in PATTERNS.iter().zip(SEQUENTIAL.iter().cycle()) {
            for n in [0, 1, 2, 20, 200, 1000] {
                by_key::<K>(subject, n, keys(&numbers(pattern, n, K::BITS)));
            }
        }
        let pattern = &PATTERNS[0];
        by_key::<K>(&PARALLEL[3], 265_000, keys(&numbers(pattern, 265_000, K::BITS)));
    }
    fn by_key<K: Value>(subject: &Subject, n: usize, keys: Vec<K>) {
        let expected = indices(&keys, subject.order);
        let mut v: Vec<Box<(usize, K)>> = keys.into_iter().enumerate().map(Box::new).collect();
        subject.sort_by_key(&mut v, |element| element.1.clone());
        let found: Vec<usize> = v.iter().map(|element| element.0).collect();
        assert!(found == expected, "{} of {n} {}", subject.name, std::any::type_name::<K>());
    }
    for_each_key!(few run());
}

/// With a cached key of the caller's own type, and with a comparison.
#[test]
fn elements_by_any_ordered_key_or_comparison() {
    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
    struct Own(Vec<u64>);
    for (pattern, subjects) in PATTERNS.iter().flat_map(|p| [(p, &SEQUENTIAL), (p, &PARALLEL)]) {
        for (n, subject) in [0, 1, 2, 33, 500, 70_000].into_iter().zip(subjects.iter().cycle()) {
            let (few, numbers) = (1 + n as u64 / 4, numbers(pattern, n, 64));
            let mut expected: Vec<(u64, usize)> = numbers.iter().map(|x| x % few).zip(0..).collect();
            let (mut cached, mut compared) = (expected.clone(), expected.clone());
            let compare = |a: usize, b: usize| expected[a].0.cmp(&expected[b].0);
            let indices =
                indices_by(n, &|a, b| if subject.order.descending { compare(b, a) } else { compare(a, b) });
            expected = indices.into_iter().map(|index| expected[index]).collect();
            subject.sort_by_cached_key(&mut cached, |element| Own(vec![element.0]));
            assert!(cached == expected, "cached key, {}, {n}, {}", subject.name, pattern.0);
            subject.sort_by(&mut compared, |a, b| a.0.cmp(&b.0));
            assert!(compared == expected, "comparison, {}, {n}, {}", subject.name, pattern.0);
        }
    }
}

/// Elements and payloads of size zero.
#[test]
fn elements_of_no_size() {
    for subject in SEQUENTIAL.iter().chain(PARALLEL.iter()) {
        let mut v = vec![(); 70_000];
        subject.sort_by_key(&mut v, |()| 1u32);
        subject.sort_by_cached_key(&mut v, |()| 1u32);
        subject.sort_by(&mut v, |(), ()| std::cmp::Ordering::Equal);
        subject.sort_pairs(&mut [[0u8; 0]; 70_000], &mut v);
        assert_eq!(v.len(), 70_000);
    }
}

/// Scratch memory of 8 MiB or more is mapped, and a mapping is aligned to a page. These payloads once made the sort panic.
#[test]
fn payloads_aligned_beyond_a_page() {
    #[repr(align(8192))]
    #[derive(Clone)]
    struct Aligned(usize);
    let n = 1100;
    let keys: Vec<u64> = (0..n as u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 500).collect();
    let expected = indices(&keys, Default::default());
    let aligned: Vec<Aligned> = (0..n).map(Aligned).collect();
    for subject in SEQUENTIAL.iter().take(1).chain(PARALLEL.iter().take(1)) {
        let (mut sorted, mut payload) = (keys.clone(), aligned.clone());
        subject.sort_pairs(&mut sorted, &mut payload);
        assert!(payload.iter().map(|aligned| aligned.0).eq(expected.iter().copied()), "{}", subject.name);
        let mut elements = aligned.clone();
        subject.sort_by_key(&mut elements, |element| keys[element.0]);
        assert!(elements.iter().map(|aligned| aligned.0).eq(expected.iter().copied()), "{}", subject.name);
        let mut elements = aligned.clone();
        subject.sort_by(&mut elements, |a, b| keys[a.0].cmp(&keys[b.0]));
        assert!(elements.iter().map(|aligned| aligned.0).eq(expected.iter().copied()), "{}", subject.name);
    }
}
