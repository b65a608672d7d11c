//! The first `k` keys and their indices, against the beginning of std's stable sort.

use sortie::{Error, Order, Sorter};

use crate::patterns::{PATTERNS, numbers};
use crate::subject::{PARALLEL, SEQUENTIAL, Subject};
use crate::values::{Value, for_each_key, indices, keys};
use crate::{edge_sizes, in_turn};

/// Selects the first `k` for several `k`.
fn check<K: Value>(subject: &Subject, keys: &[K], what: &str) {
    let (n, order) = (keys.len(), subject.order);
    let all = indices(keys, order);
    let mut counts = vec![0, 1, 2, 10, 100, n / 30, n / 2, n.saturating_sub(1), n];
    counts.retain(|&k| k <= n);
    counts.dedup();
    for k in counts {
        let context = || format!("{k} of {n} {}, {what}, {}", std::any::type_name::<K>(), subject.name);
        let expected = &all[..k];
        assert!(subject.arg_top_k::<K, u32>(keys, k) == expected, "{}", context());
        let mut unsorted = subject.arg_top_k_unsorted::<K, u64>(keys, k);
        unsorted.sort_unstable();
        let mut set = expected.to_vec();
        set.sort_unstable();
        assert!(unsorted == set, "{}", context());
        let top = subject.top_k(keys, k);
        let same = |(key, &index): (&K, &usize)| key.plain(&keys[index], order).is_eq();
        assert!(top.len() == k && top.iter().zip(expected).all(same), "{}", context());
    }
}

/// Every pattern at these sizes, with the subjects in turn.
fn patterns<K: Value>(subjects: &[Subject], sizes: &[usize]) {
    in_turn(|subject, keys: Vec<K>, what| check(subject, &keys, what), subjects, sizes.iter().copied());
}

#[test]
fn few_keys() {
    let sizes: Vec<usize> = [0, 1, 2, 3, 20, 100].into_iter().chain(edge_sizes(10..=10)).collect();
    for_each_key!(fixed patterns(&SEQUENTIAL, &sizes));
    for_each_key!(wide patterns(&SEQUENTIAL, &sizes));
}

/// More keys than there is room for candidates, so that some are left out by a bound.
#[test]
fn many_keys() {
    for_each_key!(few patterns(&SEQUENTIAL, &[20_001]));
    patterns::<u16>(&SEQUENTIAL, &[60_000]);
    patterns::<u64>(&SEQUENTIAL, &[60_000]);
    patterns::<String>(&SEQUENTIAL, &[20_001]);
}

/// Threads read parts of the keys.
#[test]
fn large_keys() {
    patterns::<u32>(&PARALLEL, &[600_001]);
    for (pattern, subject) in PATTERNS.iter().zip(PARALLEL.iter().cycle()).step_by(4) {
        check(subject, &keys::<f64>(&numbers(pattern, 600_001, 64)), pattern.0);
        check(subject, &keys::<u128>(&numbers(pattern, 300_001, 64)), pattern.0);
        check(subject, &keys::<(u32, u32)>(&numbers(pattern, 300_001, 16)), pattern.0);
    }
}

#[test]
fn more_than_there_are() {
    let sorter = Sorter::builder().build().unwrap();
    let mut indices = [7u32; 4];
    let error = sorter.arg_top_k(&[3, 1, 2], &mut indices).unwrap_err();
    assert!(matches!(&error, Error::Unsupported(why) if why.contains("at most 3")), "{error}");
    assert_eq!(indices, [7; 4]);
    assert_eq!(sortie::arg_top_k(&[3, 1, 2], 4, Order::ASCENDING), [1, 2, 0]);
    assert_eq!(sortie::top_k(&[3, 1, 2], 4, Order::DESCENDING), [3, 2, 1]);
}
