//! Distinct keys, ranks and positions of queries, against plain loops over the keys in the order of std's sort.

use sortie::{Error, Nans, Order, RankMethod, Side, Sorter};

use crate::in_turn;
use crate::patterns::{PATTERNS, numbers};
use crate::subject::{PARALLEL, SEQUENTIAL, Subject};
use crate::values::{Value, for_each_key, indices, keys};

const METHODS: [RankMethod; 5] =
    [RankMethod::Average, RankMethod::Min, RankMethod::Max, RankMethod::Dense, RankMethod::Ordinal];

fn check<K: Value>(subject: &Subject, keys: &[K], what: &str) {
    let (n, order) = (keys.len(), subject.order);
    let context = || format!("{n} {}, {what}, {}", std::any::type_name::<K>(), subject.name);
    let sorted = indices(keys, order);
    let equal = |a: &K, b: &K| a.plain(b, order).is_eq();
    let groups: Vec<&[usize]> = sorted.chunk_by(|&a, &b| equal(&keys[a], &keys[b])).collect();

    let (unique, counts) = subject.unique_counts(keys);
    assert!(counts.iter().copied().eq(groups.iter().map(|group| group.len())), "{}", context());
    let same = |(key, group): (&K, &&[usize])| equal(key, &keys[group[0]]);
    assert!(unique.len() == groups.len() && unique.iter().zip(&groups).all(same), "{}", context());
    let unique = subject.unique(keys);
    assert!(unique.len() == groups.len() && unique.iter().zip(&groups).all(same), "{}", context());

    let most = groups.iter().map(|group| group.len()).max();
    let mode = groups.iter().find(|group| Some(group.len()) == most);
    match (subject.mode(keys), mode) {
        (Some((key, count)), Some(group)) => {
            assert!(count == group.len() && equal(&key, &keys[group[0]]), "{}", context())
        }
        (found, _) => assert!(found.is_none() && mode.is_none(), "{}", context()),
    }
    let in_order: Vec<K> = sorted.iter().map(|&index| keys[index].clone()).collect();
    let bounds = groups.iter().scan(0, |end, group| {
        *end += group.len();
        Some(*end)
    });
    assert!(subject.group_bounds(&in_order).into_iter().eq([0].into_iter().chain(bounds)), "{}", context());

    let found = subject.unique_groups(keys);
    assert!(
        found.first.iter().zip(&groups).all(|(&first, group)| first as usize == group[0]),
        "{}",
        context()
    );
    assert!(found.counts.iter().zip(&groups).all(|(&count, group)| count as usize == group.len()));
    assert_eq!((found.first.len(), found.counts.len()), (groups.len(), groups.len()));
    let mut inverse = vec![0; n];
    groups
        .iter()
        .enumerate()
        .for_each(|(at, group)| group.iter().for_each(|&index| inverse[index] = at as u32));
    assert!(found.inverse == inverse, "{}", context());

    for method in METHODS {
        let mut expected = vec![0.0; n];
        let mut before = 0;
        for (at, group) in groups.iter().enumerate() {
            let mean = (1..=group.len()).map(|tie| (before + tie) as f64).sum::<f64>() / group.len() as f64;
            for (tie, &index) in group.iter().enumerate() {
                expected[index] = match method {
                    RankMethod::Average => mean,
                    RankMethod::Min => (before + 1) as f64,
                    RankMethod::Max => (before + group.len()) as f64,
                    RankMethod::Dense => (at + 1) as f64,
                    _ => (before + tie + 1) as f64,
                };
            }
            before += group.len();
        }
        assert!(subject.rank(keys, method) == expected, "{method:?}, {}", context());
    }

    // Every third key is searched for; the queries are in the order of the keys, and sorted.
    let present: Vec<K> =
        sorted.iter().filter(|&&index| index % 3 > 0).map(|&index| keys[index].clone()).collect();
    let mut reversed = in_order.clone();
    reversed.reverse();
    for queries in [keys, &in_order, &reversed, &in_order[..n / 2]] {
        for side in [Side::Left, Side::Right] {
            let is_before = |key: &K, query: &K| match side {
                Side::Left => key.plain(query, order).is_lt(),
                Side::Right => key.plain(query, order).is_le(),
            };
            let expected = queries.iter().map(|query| present.partition_point(|key| is_before(key, query)));
            let found = subject.search_sorted(&present, queries, side);
            assert!(found.iter().copied().eq(expected), "{side:?}, {}", context());
        }
    }
}

/// Every pattern at these sizes, with the subjects in turn.
fn patterns<K: Value>(subjects: &[Subject], sizes: &[usize]) {
    in_turn(|subject, keys: Vec<K>, what| check(subject, &keys, what), subjects, sizes.iter().copied());
}

#[test]
fn few_keys() {
    let sizes = [0, 1, 2, 3, 33, 300];
    for_each_key!(fixed patterns(&SEQUENTIAL, &sizes));
    for_each_key!(wide patterns(&SEQUENTIAL, &sizes));
}

#[test]
fn many_keys() {
    for_each_key!(few patterns(&SEQUENTIAL, &[3_001]));
    patterns::<String>(&SEQUENTIAL, &[2_001]);
}

/// Threads share the queries, and sort the keys together.
#[test]
fn large_keys() {
    for (pattern, subject) in PATTERNS.iter().zip(PARALLEL.iter().cycle()).step_by(9) {
        check(subject, &keys::<f32>(&numbers(pattern, 270_001, 32)), pattern.0);
    }
}

/// Zeros differ by their sign, and NaNs by their bits, unless the order says that NaNs are equal.
#[test]
fn zeros_and_nans() {
    let keys = [f32::NAN, -0.0, 0.0, -f32::NAN, 0.0];
    let up = Order::ASCENDING;
    assert_eq!(sortie::unique_counts(&keys, up).1, [1, 2, 1, 1]);
    let equal = Order { nans: Nans::EqualFirst, ..up };
    assert_eq!(sortie::unique_counts(&keys, equal).1, [2, 1, 2]);
    assert_eq!(sortie::unique(&keys, equal).len(), 3);
    assert_eq!(sortie::rank(&keys, RankMethod::Average, equal), [1.5, 3.0, 4.5, 1.5, 4.5]);
    let sorter = Sorter::builder().build().unwrap().with_order(equal);
    let (groups, _) = sorter.unique_groups::<_, u64>(&keys).unwrap();
    assert_eq!((groups.first, groups.inverse), (vec![0, 1, 2], vec![0, 1, 2, 0, 2]));
    let sorted = [f32::NAN, -f32::NAN, -0.0, 0.0];
    assert_eq!(sortie::search_sorted(&sorted, &[f32::NAN, 0.0, -0.0], Side::Left, equal), [0, 3, 2]);
    assert_eq!(sortie::search_sorted(&sorted, &[f32::NAN, 0.0, -1.0], Side::Right, equal), [2, 4, 2]);
    assert_eq!(sortie::search_sorted(&[], &[1, 2], Side::Right, up), [0, 0]);
}

/// The first index of a group is that of its first key, also if a sort need not be stable.
#[test]
fn groups_are_stable() {
    let sorter = Sorter::builder().unstable().threads(1).build().unwrap();
    let keys: Vec<u32> = (0..5000).map(|i| i % 7).collect();
    let (groups, _) = sorter.unique_groups::<_, u32>(&keys).unwrap();
    assert_eq!(groups.first, [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn lengths_and_limits() {
    let sorter = Sorter::builder().threads(1).memory_limit(50_000).build().unwrap();
    let keys: Vec<u64> = (0..10_000).rev().collect();
    let (mut unique, mut counts) = (vec![7], vec![7]);
    assert!(matches!(sorter.unique(&keys, &mut unique), Err(Error::Memory { needed: 80_000, .. })));
    assert!(matches!(sorter.unique_counts(&keys, &mut unique, &mut counts), Err(Error::Memory { .. })));
    assert_eq!((unique, counts), (vec![7], vec![7]));
    assert!(matches!(sorter.unique_groups::<_, u32>(&keys), Err(Error::Memory { .. })));
    assert!(matches!(sorter.rank(&keys, RankMethod::Min, &mut [0.0]), Err(Error::LengthMismatch { .. })));
    let search = sorter.search_sorted(&[1, 2], &[1, 2], Side::Left, &mut [0u32]);
    assert!(matches!(search, Err(Error::LengthMismatch { .. })));
}
