//! NaNs that count as equal: what moves with them keeps its order, and they keep their bits.

use std::cmp::Ordering;

use fastrand::Rng;
use sortie::{Engine, Error, Nans, Order, Segments, Sorter, TotalOrder};

/// Few distinct numbers, and NaNs with many different bits.
fn keys(n: usize) -> Vec<f32> {
    let mut random = Rng::with_seed(n as u64);
    let key = |i: usize| match random.u8(0..4) {
        0 => f32::from_bits(0x7FC0_0000 | (i as u32 % 1000)),
        1 => f32::from_bits(0xFFC0_0000 | (i as u32 % 999)),
        _ => f32::from(random.i8(-9..9)),
    };
    (0..n).map(key).collect()
}

/// The order, defined as plainly as possible.
fn plain(a: f32, b: f32, order: Order) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => Ordering::Equal,
        (false, false) if order.descending => b.total_cmp(&a),
        (false, false) => a.total_cmp(&b),
        (nan, _) if nan == (order.nans == Nans::EqualLast) => Ordering::Greater,
        _ => Ordering::Less,
    }
}

#[test]
fn what_goes_with_equal_nans_keeps_its_order() {
    for (n, threads) in [(2, 1), (13, 1), (300, 1), (20_000, 1), (265_000, 3)] {
        for (descending, nans) in [
            (false, Nans::EqualLast),
            (true, Nans::EqualLast),
            (false, Nans::EqualFirst),
            (true, Nans::EqualFirst),
        ] {
            let sorter =
                Sorter::builder().threads(threads).descending(descending).nans(nans).build().unwrap();
            let (before, order) = (keys(n), Order { descending, nans, ..Order::default() });
            let mut expected: Vec<u32> = (0..n as u32).collect();
            expected.sort_by(|&a, &b| plain(before[a as usize], before[b as usize], order));
            let bits: Vec<u32> = expected.iter().map(|&index| before[index as usize].to_bits()).collect();
            let what = format!("{n} keys, {order:?}");

            let mut indices = vec![0u32; n];
            sorter.argsort(&before, &mut indices).unwrap();
            assert!(indices == expected, "{what}");
            let wide: Vec<Option<f32>> = before.iter().copied().map(Some).collect();
            sorter.argsort(&wide, &mut indices).unwrap();
            assert!(indices == expected, "{what}");
            let tuples: Vec<(f32, bool)> = before.iter().map(|&key| (key, true)).collect();
            sorter.argsort(&tuples, &mut indices).unwrap();
            assert!(indices == expected, "{what}");

            for segments in [None, Some(Segments::Length(n))] {
                let (mut sorted, mut payload) =
                    (before.clone(), (0..n as u32).map(Box::new).collect::<Vec<_>>());
                match segments {
                    None => sorter.sort_pairs(&mut sorted, &mut payload).unwrap(),
                    Some(segments) => {
                        sorter.sort_pairs_segments(&mut sorted, &mut payload, segments).unwrap()
                    }
                };
                assert!(sorted.iter().map(|key| key.to_bits()).eq(bits.iter().copied()), "{what}");
                assert!(payload.iter().map(|index| **index).eq(expected.iter().copied()), "{what}");
            }
            let mut indices: Vec<u32> = (0..n as u32).collect();
            sorter.sort_by_key(&mut indices, |&index| before[index as usize]).unwrap();
            assert!(indices == expected, "{what}");

            // Keys alone: in any order among equals, but none is lost.
            let (mut sorted, mut left) = (before.clone(), before.clone());
            sorter.sort(&mut sorted).unwrap();
            assert!(sorted.is_sorted_by(|&a, &b| plain(a, b, order).is_le()), "{what}");
            for keys in [&mut sorted, &mut left] {
                keys.sort_by(f32::total_cmp);
            }
            assert!(sorted.iter().zip(&left).all(|(a, b)| a.to_bits() == b.to_bits()), "{what}");
        }
    }
    let equal = Order { nans: Nans::EqualFirst, ..Order::default() };
    assert_eq!((-f64::NAN).compare(&f64::NAN, equal), Ordering::Equal);
}

/// The error comes before a device is opened.
#[test]
fn a_gpu_refuses_to_carry_something_with_equal_nans() {
    let sorter = Sorter::builder().engine(Engine::Cuda(0)).nans(Nans::EqualLast);
    let stable = sorter.clone().build().unwrap();
    let refused = [
        stable.argsort(&keys(5), &mut [0u32; 5]),
        stable.sort_pairs(&mut keys(5), &mut [0u32; 5]),
        stable.sort_pairs_segments(&mut keys(4), &mut [0u32; 4], Segments::Length(2)),
    ];
    for result in refused {
        assert!(matches!(&result, Err(Error::Unsupported(why)) if why.contains("NaNs")), "{result:?}");
    }
    for result in [
        sorter.unstable().build().unwrap().sort_pairs(&mut keys(5), &mut [0u32; 5]),
        stable.sort(&mut keys(5)),
        stable.argsort(&[3, 1, 2], &mut [0u32; 3]),
    ] {
        assert!(!matches!(result, Err(Error::Unsupported(_))), "{result:?}");
    }
}
