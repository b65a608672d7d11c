//! Histograms, merges, joins and gathered values, against plain loops over the keys in the order of std's sort.

use sortie::{Error, Order, Sorter};

use crate::in_turn;
use crate::patterns::{PATTERNS, numbers};
use crate::subject::{PARALLEL, SEQUENTIAL, Subject};
use crate::values::{Value, for_each_key, indices, keys};

fn check<K: Value>(subject: &Subject, keys: &[K], what: &str) {
    let (n, order) = (keys.len(), subject.order);
    let context = || format!("{n} {}, {what}, {}", std::any::type_name::<K>(), subject.name);
    let sorted = indices(keys, order);
    let every =
        |step: usize| -> Vec<K> { sorted.iter().step_by(step).map(|&index| keys[index].clone()).collect() };
    let all = every(1);
    assert!(subject.is_sorted(&all), "{}", context());
    let in_order = keys.is_sorted_by(|a, b| a.plain(b, order).is_le());
    assert_eq!(subject.is_sorted(keys), in_order, "{}", context());

    // The edges are some of the keys; edges that are equal, few and many.
    for edges in [every(1 + n / 3), every(1 + n / 40), every(1 + n / 700), every(2)] {
        let [lower @ .., last] = &edges[..] else {
            assert!(subject.histogram(keys, &edges).is_empty());
            continue;
        };
        let mut expected = vec![0; lower.len()];
        for key in keys.iter().filter(|key| last.plain(key, order).is_ge()) {
            let begun = lower.partition_point(|edge| edge.plain(key, order).is_le());
            if begun > 0 {
                expected[begun - 1] += 1;
            }
        }
        assert_eq!(subject.histogram(keys, &edges), expected, "{} edges, {}", edges.len(), context());
    }

    let (half, others) = (every(2), every(3));
    let merged = subject.merge(&[&half, &[], &others, &all]);
    let mut expected = [&half[..], &others, &all].concat();
    expected.sort_by(|a, b| a.plain(b, order));
    let same = |(a, b): (&K, &K)| a.plain(b, order).is_eq();
    assert!(merged.len() == expected.len() && merged.iter().zip(&expected).all(same), "{}", context());

    let (few, most) = (every(1 + n / 50), every(1 + n / 300));
    for (left, right) in
        [(&few, &most), (&most, &few), (&few, &all), (&Vec::new(), &all), (&all, &Vec::new())]
    {
        let pairs = left.iter().enumerate().flat_map(|(i, key)| {
            let equal = right.iter().enumerate().filter(move |(_, other)| key.plain(other, order).is_eq());
            equal.map(move |(j, _)| (i, j))
        });
        let found = subject.merge_join(left, right);
        assert!(found.into_iter().eq(pairs), "{} and {}, {}", left.len(), right.len(), context());
    }

    let order: Vec<u32> = sorted.iter().map(|&index| index as u32).collect();
    assert!(subject.gather(keys, &order).iter().zip(&all).all(same), "{}", context());
    let ends: Vec<u32> = order.iter().copied().step_by(5).chain(order.first().copied()).collect();
    let expected = ends.iter().map(|&index| &keys[index as usize]);
    assert!(subject.gather(keys, &ends).iter().zip(expected).all(same), "{}", context());
}

/// Every pattern at these sizes, with the subjects in turn.
fn patterns<K: Value>(subjects: &[Subject], sizes: &[usize]) {
    in_turn(|subject, keys: Vec<K>, what| check(subject, &keys, what), subjects, sizes.iter().copied());
}

#[test]
fn few_keys() {
    let sizes = [0, 1, 2, 3, 33, 300];
    for_each_key!(few patterns(&SEQUENTIAL, &sizes));
    patterns::<String>(&SEQUENTIAL, &sizes);
}

#[test]
fn many_keys() {
    for_each_key!(few patterns(&SEQUENTIAL, &[3_001]));
    patterns::<String>(&SEQUENTIAL, &[2_001]);
}

/// Threads share the keys.
#[test]
fn large_keys() {
    for (pattern, subject) in PATTERNS.iter().zip(PARALLEL.iter().cycle()).step_by(9) {
        check(subject, &keys::<f32>(&numbers(pattern, 270_001, 32)), pattern.0);
        check(subject, &keys::<u16>(&numbers(pattern, 270_001, 16)), pattern.0);
    }
}

/// More edges than there are tables of counters for, close to each other and far apart.
#[test]
fn many_edges() {
    let keys: Vec<u64> = (0..100_000).map(|i: u64| (i * i) % 10_007 * (i % 5)).collect();
    let edges: Vec<u64> = (0..9000).chain([20_000, 20_000, u64::MAX - 1, u64::MAX]).collect();
    let counts = sortie::histogram(&keys, &edges, Order::ASCENDING);
    let expected = edges.windows(2).enumerate().map(|(bin, ends)| {
        let is_last = bin + 2 == edges.len();
        keys.iter().filter(|&&key| ends[0] <= key && (key < ends[1] || is_last && key == ends[1])).count()
    });
    // All pairs of a key and an edge are too many.
    assert_eq!(counts[8000..], expected.skip(8000).collect::<Vec<_>>());
    assert_eq!(counts.iter().sum::<usize>(), keys.len());
}

#[test]
fn of_floats_as_numpy() {
    let keys = [-0.0, 0.0, 0.5, 1.0, f64::NAN, f64::INFINITY, -1.0];
    assert_eq!(sortie::histogram(&keys, &[-0.0, 0.5, 1.0], Order::ASCENDING), [2, 2]);
    assert_eq!(sortie::histogram(&keys, &[0.0, 0.5, 1.0], Order::ASCENDING), [1, 2]);
    assert_eq!(sortie::histogram(&keys, &[1.0, 0.5, -1.0], Order::DESCENDING), [1, 4]);
    assert_eq!(sortie::histogram(&keys, &[0.0, 0.25, 0.5, 1.0, f64::NAN], Order::ASCENDING), [1, 0, 1, 3]);
    assert_eq!(sortie::histogram(&[1.0; 3], &[1.0, 1.0], Order::ASCENDING), [3]);
    assert_eq!(sortie::histogram(&[1.0; 3], &[], Order::ASCENDING), []);
}

fn refused<R>(result: Result<R, Error>, what: &str) {
    let error = result.err().unwrap().to_string();
    assert!(error.contains(what), "{error}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let sorter = Sorter::builder().threads(1).memory_limit(300).build().unwrap();
    let mut counts = [7, 7];
    refused(sorter.histogram(&[1, 2], &[1, 2], &mut counts), "counts has 2 elements");
    refused(sorter.histogram(&[1, 2], &[1, 3, 2], &mut counts), "edge 2 comes before edge 1");
    refused(sorter.histogram(&[1, 2], &[1, 2, 3], &mut counts), "memory");
    assert_eq!(counts, [7, 7]);
    refused(sorter.merge_join::<_, u32>(&[2, 1], &[1]), "left keys are not in order");
    refused(sorter.merge_join::<_, u32>(&[0; 1000], &[1]), "memory");
    let mut gathered = vec!["x"];
    refused(sorter.gather(&["a", "b"], &[0u32, 2], &mut gathered), "none has the index 2");
    assert_eq!(gathered, ["x"]);
}
