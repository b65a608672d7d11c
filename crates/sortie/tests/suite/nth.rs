//! Keys at some indices of the order, against std's stable sort.

use sortie::{Error, Nans, Order, QuantileMethod, Sorter};

use crate::in_turn;
use crate::patterns::{PATTERNS, numbers};
use crate::subject::{PARALLEL, SEQUENTIAL, Subject};
use crate::values::{Value, for_each_key, indices, keys};

/// Asks for one index, for few and for many, out of order and twice.
fn check<K: Value>(subject: &Subject, keys: &[K], what: &str) {
    let (n, order) = (keys.len(), subject.order);
    let sorted = indices(keys, order);
    let few: Vec<usize> =
        [n / 2, 0, n - 1, n / 100, n / 2, n / 2 + 1, n / 3].into_iter().filter(|&i| i < n).collect();
    let many: Vec<usize> = (0..40).map(|i| i * (n - 1) / 39).collect();
    for wanted in [&[n / 2][..], &few, &many] {
        let context =
            || format!("{wanted:?} of {n} {}, {what}, {}", std::any::type_name::<K>(), subject.name);
        let same = |key: &K, index: usize| key.plain(&keys[sorted[index]], order).is_eq();
        let found = subject.nth(keys, wanted);
        assert!(found.iter().zip(wanted).all(|(key, &index)| same(key, index)), "{}", context());
        assert_eq!(found.len(), wanted.len());
        let expected: Vec<usize> = wanted.iter().map(|&index| sorted[index]).collect();
        assert!(subject.arg_nth::<K, u32>(keys, wanted) == expected, "{}", context());
        let mut moved = keys.to_vec();
        subject.partition(&mut moved, wanted);
        for &index in wanted {
            let (before, from) = moved.split_at(index);
            assert!(same(&from[0], index), "{}", context());
            assert!(before.iter().all(|key| key.plain(&from[0], order).is_le()), "{}", context());
            assert!(from.iter().all(|key| key.plain(&from[0], order).is_ge()), "{}", context());
        }
        moved.sort_by(|a, b| a.plain(b, order));
        assert!(moved.iter().zip(0..).all(|(key, index)| same(key, index)), "{}", context());
    }
}

/// Every pattern at these sizes, with the subjects in turn.
fn patterns<K: Value>(subjects: &[Subject], sizes: &[usize]) {
    in_turn(|subject, keys: Vec<K>, what| check(subject, &keys, what), subjects, sizes.iter().copied());
}

#[test]
fn few_keys() {
    let sizes = [1, 2, 3, 20, 300, 1025];
    for_each_key!(fixed patterns(&SEQUENTIAL, &sizes));
    for_each_key!(wide patterns(&SEQUENTIAL, &sizes));
}

/// So many keys that a sample bounds those that are looked at again.
#[test]
fn many_keys() {
    for_each_key!(few patterns(&SEQUENTIAL, &[40_001]));
    patterns::<u16>(&SEQUENTIAL, &[60_000]);
    patterns::<u64>(&SEQUENTIAL, &[60_000]);
    patterns::<String>(&SEQUENTIAL, &[40_001]);
}

/// Threads read parts of the keys.
#[test]
fn large_keys() {
    patterns::<u32>(&PARALLEL, &[300_001]);
    for (pattern, subject) in PATTERNS.iter().zip(PARALLEL.iter().cycle()).step_by(4) {
        check(subject, &keys::<f64>(&numbers(pattern, 600_001, 64)), pattern.0);
        check(subject, &keys::<u128>(&numbers(pattern, 300_001, 64)), pattern.0);
        check(subject, &keys::<(u32, u32)>(&numbers(pattern, 300_001, 16)), pattern.0);
    }
}

/// NaNs of all bits, where they go by the order.
#[test]
fn nans_are_where_the_order_says() {
    let mut rng = fastrand::Rng::with_seed(3);
    let keys: Vec<f32> = (0..70_000)
        .map(|i| if i % 3 == 0 { f32::from_bits(rng.u32(..) | 0x7F80_0001) } else { rng.f32() })
        .collect();
    let count = keys.iter().filter(|key| key.is_nan()).count();
    for nans in [Nans::Last, Nans::First, Nans::EqualLast, Nans::EqualFirst] {
        for descending in [false, true] {
            let order = Order { descending, nans, ..Order::default() };
            let sorter = Sorter::builder().threads(1).build().unwrap().with_order(order);
            let wanted: Vec<usize> = [0, 1, count - 1, count, keys.len() - count - 1, keys.len() - count]
                .into_iter()
                .chain([keys.len() / 2, keys.len() - 1])
                .collect();
            let mut all = vec![0u32; keys.len()];
            sorter.argsort(&keys, &mut all).unwrap();
            let mut found = vec![0u32; wanted.len()];
            sorter.arg_nth(&keys, &wanted, &mut found).unwrap();
            assert!(found.iter().zip(&wanted).all(|(&found, &index)| found == all[index]), "{order:?}");
            let mut nth = vec![0.0; wanted.len()];
            sorter.nth(&keys, &wanted, &mut nth).unwrap();
            for (key, &index) in nth.iter().zip(&wanted) {
                let expected = keys[all[index] as usize];
                assert!(*key == expected || key.is_nan() && expected.is_nan(), "{order:?} {index}");
            }
        }
    }
}

#[test]
fn indices_that_do_not_exist() {
    let sorter = Sorter::builder().build().unwrap();
    let mut nth = [7, 7];
    for keys in [&[3, 1, 2][..], &[]] {
        let error = sorter.nth(keys, &[0, 3], &mut nth).unwrap_err();
        assert!(matches!(&error, Error::Unsupported(why) if why.contains("none at index 3")), "{error}");
        assert!(matches!(sorter.nth(keys, &[0], &mut nth), Err(Error::LengthMismatch { .. })));
        assert!(sorter.nth(keys, &[], &mut []).is_ok());
        assert!(sorter.partition(&mut keys.to_vec(), &[3]).is_err());
    }
    assert_eq!(nth, [7, 7]);
}

/// The results of NumPy 2.4 for the keys 1, 2, 3, 5, 8, 13, 21, each with q = 0, 0.1, 0.25, 1/3, 0.5, 0.75, 0.9 and 1.
const NUMPY: &[(&str, [f64; 8])] = &[
    ("inverted_cdf", [1.0, 1.0, 2.0, 3.0, 5.0, 13.0, 21.0, 21.0]),
    ("averaged_inverted_cdf", [1.0, 1.0, 2.0, 3.0, 5.0, 13.0, 21.0, 21.0]),
    ("closest_observation", [1.0, 1.0, 2.0, 2.0, 5.0, 8.0, 13.0, 21.0]),
    ("interpolated_inverted_cdf", [1.0, 1.0, 1.75, 2.333333333333333, 4.0, 9.25, 15.399999999999999, 21.0]),
    ("hazen", [1.0, 1.2000000000000002, 2.25, 2.833333333333333, 5.0, 11.75, 19.4, 21.0]),
    ("weibull", [1.0, 1.0, 2.0, 2.6666666666666665, 5.0, 13.0, 21.0, 21.0]),
    ("linear", [1.0, 1.6, 2.5, 3.0, 5.0, 10.5, 16.200000000000003, 21.0]),
    (
        "median_unbiased",
        [
            1.0,
            1.0666666666666667,
            2.1666666666666665,
            2.7777777777777777,
            5.0,
            12.166666666666664,
            20.46666666666667,
            21.0,
        ],
    ),
    ("normal_unbiased", [1.0, 1.1, 2.1875, 2.7916666666666665, 5.0, 12.0625, 20.199999999999996, 21.0]),
    ("lower", [1.0, 1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0]),
    ("higher", [1.0, 2.0, 3.0, 3.0, 5.0, 13.0, 21.0, 21.0]),
    ("midpoint", [1.0, 1.5, 2.5, 3.0, 5.0, 10.5, 17.0, 21.0]),
    ("nearest", [1.0, 2.0, 3.0, 3.0, 5.0, 8.0, 13.0, 21.0]),
];

#[test]
fn quantiles_are_numpys() {
    let keys = [13, 1, 21, 3, 8, 2, 5];
    let q = [0.0, 0.1, 0.25, 1.0 / 3.0, 0.5, 0.75, 0.9, 1.0];
    assert_eq!(NUMPY.len(), QuantileMethod::ALL.len());
    for (name, expected) in NUMPY {
        let method: QuantileMethod = name.parse().unwrap();
        let found = sortie::quantiles(&keys, &q, method);
        let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-14 * b.abs();
        assert!(found.iter().zip(expected).all(is_near), "{name}: {found:?}, not {expected:?}");
        assert_eq!(sortie::quantiles(&keys.map(|key| key as f32), &q, method), found);
        assert_eq!(sortie::quantiles(&keys.map(|key| half::f16::from_f32(key as f32)), &q, method), found);
        assert_eq!(sortie::quantiles(&keys.map(|key| half::bf16::from_f32(key as f32)), &q, method), found);
        assert_eq!(sortie::quantiles(&keys.map(|key| key as u128), &q, method), found);
        let negative = sortie::quantiles(&keys.map(|key| -(key as i128)), &[1.0], method);
        assert_eq!(negative, [-1.0]);
        for n in 1..40 {
            for q in (0..=120).map(|i| f64::from(i) / 120.0) {
                let at = method.position(q, n);
                let is_valid = at.low <= at.high && at.high < n && (0.0..=1.0).contains(&at.share);
                assert!(is_valid, "{name} {q} of {n}: {at:?}");
                assert!(!method.is_discrete() || at.low == at.high);
            }
        }
    }
    assert!("median".parse::<QuantileMethod>().unwrap_err().to_string().contains("hazen"));
}

#[test]
fn quantiles_of_nan_and_infinity() {
    let sorter = Sorter::builder().descending(true).nans(Nans::First).build().unwrap();
    let keys = [1.0, f32::NAN, 3.0, -f32::NAN, 2.0];
    let mut values = [0.0; 2];
    sorter.quantiles(&keys, &[0.0, 0.5], QuantileMethod::Linear, &mut values).unwrap();
    assert!(values.iter().all(|value| value.is_nan()));
    sorter.quantiles_of_numbers_only(&keys, &[0.0, 0.5], QuantileMethod::Linear, &mut values).unwrap();
    assert_eq!(values, [1.0, 2.0]);
    sorter.quantiles_of_numbers_only(&[f64::NAN], &[0.0, 0.5], QuantileMethod::Linear, &mut values).unwrap();
    assert!(values.iter().all(|value| value.is_nan()));
    let ends = [f64::NEG_INFINITY, 0.0, f64::INFINITY, f64::INFINITY];
    assert_eq!(
        sortie::quantiles(&ends, &[0.0, 1.0, 0.9], QuantileMethod::Linear)[..2],
        [f64::NEG_INFINITY, f64::INFINITY]
    );
    assert_eq!(sortie::quantiles(&ends, &[0.9], QuantileMethod::Linear), [f64::INFINITY]);
    assert_eq!(sortie::median(&[u64::MAX, 0]), 2f64.powi(63));
    assert_eq!(sortie::median(&[true, false, true]), 1.0);
    for q in [-0.1, 1.1, f64::NAN] {
        let error = sorter.quantiles(&[1], &[q], QuantileMethod::Linear, &mut [0.0]).unwrap_err();
        assert!(error.to_string().contains("from 0 to 1"), "{error}");
    }
    let error = sorter.quantiles::<u8>(&[], &[0.5], QuantileMethod::Linear, &mut [0.0]).unwrap_err();
    assert!(error.to_string().contains("there are no keys"), "{error}");
}
