//! Positions of queries in sorted keys.

use std::fmt::Debug;

use bytemuck::Pod;
use half::f16;
use sortie::gpu::{DeviceSearch, Gpu};
use sortie::{Error, Index, Key, Nans, Order, Side, Sorter};
use sortie_simt::Options;

use crate::support::{PATTERNS, cuda, cut, keys, on_bench, on_each};

/// How positions are asked for.
#[derive(Debug, Clone, Copy)]
struct Asked {
    side: Side,
    order: Order,
    by_value: bool,
}

fn found<K: Key + Pod, I: Index + Pod>(gpu: &Gpu, keys: &[K], queries: &[K], asked: Asked) -> Vec<usize> {
    let (device, stream) = (gpu.device(), gpu.device().stream().unwrap());
    let (there, sought) = (device.alloc::<K>(keys.len()).unwrap(), device.alloc::<K>(queries.len()).unwrap());
    let positions = device.alloc::<I>(queries.len()).unwrap();
    stream.copy_in(there.view(), keys).unwrap();
    stream.copy_in(sought.view(), queries).unwrap();
    let Asked { side, order, by_value } = asked;
    let search = DeviceSearch { side, by_value, ..DeviceSearch::of(sought.view(), positions.view(), order) };
    // SAFETY: nothing else uses them until the search is done.
    unsafe { gpu.search_sorted(&stream, there.view(), search) }.unwrap().wait().unwrap();
    let mut found = vec![I::default(); queries.len()];
    stream.copy_out(&mut found, positions.view()).unwrap();
    found.into_iter().map(Index::to_usize).collect()
}

/// Compares with the CPU engine, on both sides.
fn check<K: Key + Pod + Debug, I: Index + Pod>(gpu: &Gpu, keys: &[K], queries: &[K], order: Order) {
    let sorter = Sorter::builder().descending(order.descending).nans(order.nans).build().unwrap();
    let mut keys = keys.to_vec();
    sorter.sort(&mut keys).unwrap();
    let mut expected = vec![0u64; queries.len()];
    for side in [Side::Left, Side::Right] {
        let found = found::<K, I>(gpu, &keys, queries, Asked { side, order, by_value: false });
        sorter.search_sorted(&keys, queries, side, &mut expected).unwrap();
        for ((query, found), &expected) in queries.iter().zip(found).zip(&expected) {
            let (n, width) = (keys.len(), size_of::<K>());
            assert_eq!(found as u64, expected, "{query:?} in {n} keys of {width} bytes, {side:?}, {order:?}");
        }
    }
}

fn orders() -> [Order; 2] {
    [Order::default(), Order { descending: true, nans: Nans::First, ..Order::default() }]
}

#[test]
fn positions_are_those_of_the_cpu() {
    on_each(|gpu| {
        for (pattern, n) in PATTERNS.iter().zip([3_000, 1_024, 1_025, 40_000, 1, 20_000, 5_000]) {
            let (wide, queries) = (keys(pattern, n, 3), keys(pattern, 700, 4));
            for order in orders() {
                check::<f32, u32>(gpu, &cut(&wide), &cut(&queries), order);
                check::<f64, u64>(gpu, &cut(&wide), &cut(&queries), order);
                check::<u32, u64>(gpu, &cut(&wide), &cut(&queries), order);
                check::<i64, u32>(gpu, &cut(&wide), &cut(&queries), order);
                check::<f16, u32>(gpu, &cut(&wide), &cut(&queries), order);
                check::<i8, u32>(gpu, &cut(&wide), &cut(&queries), order);
            }
        }
    });
}

/// On the test bench without a check for races, which the library's own tests have for fewer queries.
#[test]
fn many_queries_are_searched_by_an_index_or_in_order() {
    let test = |gpu: &Gpu| {
        let (wide, mut queries) = (keys("random", 30_000, 3), keys("random", (1 << 20) + 77, 4));
        check::<f32, u32>(gpu, &cut(&wide), &cut(&queries), orders()[1]);
        queries.sort_unstable();
        check::<u64, u32>(gpu, &wide, &queries, orders()[0]);
    };
    on_bench(Options { multiprocessors: 2, ..Options::default() }, test);
    if let Some(device) = cuda() {
        test(&Gpu::new(device));
    }
}

#[test]
fn there_may_be_no_keys_and_no_queries() {
    on_each(|gpu| {
        for n in [0, 1, 2000] {
            let wide = keys("random", n, 1);
            check::<u32, u32>(gpu, &cut(&wide), &[], orders()[0]);
            check::<u32, u32>(gpu, &cut(&wide), &[0, u32::MAX, 7], orders()[1]);
            check::<f64, u64>(gpu, &cut(&wide), &[0.0, -0.0, f64::NAN, f64::INFINITY], orders()[0]);
        }
    });
}

#[test]
fn floats_are_compared_by_value_as_in_numpy() {
    on_each(|gpu| {
        let few = [-1.0, 0.0, -0.0, 0.0, 2.0, -f32::NAN, f32::NAN, f32::NAN];
        let many: Vec<f32> = few.iter().flat_map(|&key| [key; 300]).collect();
        let queries = [-0.0, 0.0, f32::NAN, -f32::NAN, f32::INFINITY, -2.0, 1.0];
        let order = Order { nans: Nans::EqualLast, ..Order::default() };
        let left = found::<f32, u32>(gpu, &few, &queries, Asked { side: Side::Left, order, by_value: true });
        assert_eq!(left, [1, 1, 5, 5, 5, 0, 4]);
        for side in [Side::Left, Side::Right] {
            let asked = Asked { side, order, by_value: true };
            let (small, large) = (
                found::<f32, u64>(gpu, &few, &queries, asked),
                found::<f32, u32>(gpu, &many, &queries, asked),
            );
            assert_eq!(small.iter().map(|i| 300 * i).collect::<Vec<_>>(), large);
        }
        let right =
            found::<f32, u32>(gpu, &few, &queries, Asked { side: Side::Right, order, by_value: true });
        assert_eq!(right, [4, 4, 8, 8, 5, 0, 4]);
    });
}

#[test]
fn keys_out_of_order_do_no_harm() {
    on_each(|gpu| {
        let (wide, queries) = (keys("random", 40_000, 1), keys("random", 1 << 20, 2));
        let asked = Asked { side: Side::Left, order: Order::default(), by_value: false };
        for queries in [&queries[..1000], &queries] {
            let found = found::<u32, u32>(gpu, &cut(&wide), &cut(queries), asked);
            assert!(found.iter().all(|&position| position <= wide.len()));
        }
    });
}

#[test]
fn what_cannot_be_searched_is_refused() {
    on_each(|gpu| {
        let (device, stream) = (gpu.device(), gpu.device().stream().unwrap());
        let (keys, positions) = (device.alloc::<u128>(10).unwrap(), device.alloc::<u32>(11).unwrap());
        let narrow = keys.range(0..2).cast::<f32>();
        let search = |count| DeviceSearch::of(narrow, positions.range(0..count), Order::default());
        // SAFETY: all are refused.
        let refused = |search| unsafe { gpu.search_sorted(&stream, narrow, search) }.map(drop).unwrap_err();
        assert!(matches!(refused(search(9)), Error::LengthMismatch { .. }), "more positions than queries");
        let equal = DeviceSearch { order: Order { nans: Nans::EqualLast, ..Order::default() }, ..search(8) };
        assert!(matches!(refused(equal), Error::Unsupported(_)), "NaNs that are equal");
        let wide = DeviceSearch::of(keys.view(), positions.range(0..10), Order::default());
        // SAFETY: it is refused.
        let refused = unsafe { gpu.search_sorted(&stream, keys.view(), wide) };
        assert!(matches!(refused, Err(Error::Unsupported(_))), "keys of 128 bits");
    });
}
