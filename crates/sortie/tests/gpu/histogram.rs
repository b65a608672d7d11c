//! Keys between edges.

use bytemuck::Pod;
use half::f16;
use sortie::gpu::{DeviceHistogram, Gpu};
use sortie::{Error, Key, Nans, Order, Sorter};

use crate::support::{PATTERNS, cut, keys, on_each};

fn counts<K: Key + Pod>(gpu: &Gpu, keys: &[K], edges: &[K], order: Order, by_value: bool) -> Vec<u64> {
    let (device, stream) = (gpu.device(), gpu.device().stream().unwrap());
    let (there, between) = (device.alloc::<K>(keys.len()).unwrap(), device.alloc::<K>(edges.len()).unwrap());
    stream.copy_in(there.view(), keys).unwrap();
    stream.copy_in(between.view(), edges).unwrap();
    let counts = device.alloc::<u64>(edges.len() - 1).unwrap();
    let bins = DeviceHistogram { edges: between.view(), counts: counts.view(), order, by_value };
    // SAFETY: nothing else uses them until the count is done.
    unsafe { gpu.histogram(&stream, there.view(), bins) }.unwrap().wait().unwrap();
    let mut found = vec![7; edges.len() - 1];
    stream.copy_out(&mut found, counts.view()).unwrap();
    found
}

/// Compares with the CPU engine. Edges are some keys of another pattern.
fn check<K: Key + Pod>(gpu: &Gpu, keys: &[K], edges: &[K], order: Order) {
    let sorter = Sorter::builder().descending(order.descending).nans(order.nans).build().unwrap();
    let mut edges = edges.to_vec();
    sorter.sort(&mut edges).unwrap();
    let mut expected = vec![0; edges.len() - 1];
    sorter.histogram(keys, &edges, &mut expected).unwrap();
    let found = counts(gpu, keys, &edges, order, false);
    let (n, m, width) = (keys.len(), edges.len(), size_of::<K>());
    let same = found.iter().zip(&expected).all(|(&found, &expected)| found == expected as u64);
    assert!(same, "{n} keys of {width} bytes between {m} edges, {order:?}: {found:?}, not {expected:?}");
}

fn orders() -> [Order; 2] {
    [Order::default(), Order { descending: true, nans: Nans::First, ..Order::default() }]
}

#[test]
fn counts_are_those_of_the_cpu() {
    on_each(|gpu| {
        let shapes = [(3_000, 2), (1_024, 11), (9_025, 300), (20_000, 2048), (1, 3), (5_000, 101), (0, 4)];
        for ((pattern, of_edges), (n, m)) in PATTERNS.iter().zip(PATTERNS.iter().rev()).zip(shapes) {
            let (wide, edges) = (keys(pattern, n, 3), keys(of_edges, m, 4));
            for order in orders() {
                check::<f32>(gpu, &cut(&wide), &cut(&edges), order);
                check::<f64>(gpu, &cut(&wide), &cut(&edges), order);
                check::<u32>(gpu, &cut(&wide), &cut(&edges), order);
                check::<i64>(gpu, &cut(&wide), &cut(&edges), order);
                check::<f16>(gpu, &cut(&wide), &cut(&edges), order);
                check::<i8>(gpu, &cut(&wide), &cut(&edges), order);
            }
        }
    });
}

/// Edges at equal distances, of numbers and of powers, close together and with infinity.
#[test]
fn edges_of_floats_may_be_anywhere() {
    on_each(|gpu| {
        let keys: Vec<f32> = (0..20_000).map(|i| (i * 7919 % 20_011) as f32 / 10_000.0 - 0.5).collect();
        let even: Vec<f32> = (0..=100).map(|i| i as f32 / 100.0).collect();
        let powers: Vec<f32> = (0..100).map(|i| 0.8f32.powi(100 - i)).chain([1.0, f32::INFINITY]).collect();
        let close: Vec<f32> = (0..200).map(|i| f32::from_bits(0.25f32.to_bits() + i)).chain([2.0]).collect();
        for edges in [even, powers, close, vec![f32::NEG_INFINITY, 0.0, f32::INFINITY], vec![0.5; 9]] {
            check(gpu, &keys, &edges, Order::default());
            check(gpu, &keys, &edges, Order::DESCENDING);
        }
    });
}

#[test]
fn floats_are_compared_by_value_as_in_numpy() {
    on_each(|gpu| {
        let keys = [-1.0, 0.0, -0.0, 0.5, 1.0, f64::NAN, -f64::NAN, f64::INFINITY];
        let order = Order { nans: Nans::EqualLast, ..Order::default() };
        assert_eq!(counts(gpu, &keys, &[0.0, 0.5, 1.0], order, true), [2, 2]);
        assert_eq!(counts(gpu, &keys, &[-1.0, -0.0], order, true), [3]);
        assert_eq!(counts(gpu, &keys, &[1.0, f64::INFINITY], order, true), [2]);
    });
}

#[test]
fn what_cannot_be_counted_is_refused() {
    on_each(|gpu| {
        let (device, stream) = (gpu.device(), gpu.device().stream().unwrap());
        let (keys, counts) = (device.alloc::<u128>(3000).unwrap(), device.alloc::<u64>(3000).unwrap());
        let narrow = keys.view().cast::<f32>();
        let bins = |edges: usize, bins: usize| DeviceHistogram {
            edges: narrow.range(0..edges),
            counts: counts.range(0..bins),
            order: Order::default(),
            by_value: false,
        };
        // SAFETY: all are refused.
        let refused = |bins| unsafe { gpu.histogram(&stream, narrow, bins) }.map(drop).unwrap_err();
        assert!(matches!(refused(bins(9, 9)), Error::LengthMismatch { .. }), "as many bins as edges");
        assert!(refused(bins(2049, 2048)).to_string().contains("2049"), "too many edges");
        assert!(matches!(refused(bins(1, 0)), Error::Unsupported(_)), "no bin");
        let equal =
            DeviceHistogram { order: Order { nans: Nans::EqualLast, ..Order::default() }, ..bins(3, 2) };
        assert!(matches!(refused(equal), Error::Unsupported(_)), "NaNs that are equal");
        let wide = DeviceHistogram {
            edges: keys.range(0..2),
            counts: counts.range(0..1),
            order: Order::default(),
            by_value: false,
        };
        // SAFETY: it is refused.
        let refused = unsafe { gpu.histogram(&stream, keys.view(), wide) };
        assert!(matches!(refused, Err(Error::Unsupported(_))), "keys of 128 bits");
    });
}
