//! The first keys of an order.

use bytemuck::Pod;
use half::f16;
use sortie::gpu::{DeviceTop, Gpu};
use sortie::{Error, Index, Key, Nans, Order, Sorter};

use crate::support::{PATTERNS, cut, keys, on_each};

/// Selects the first `k` keys of each row, and compares with a stable sort of it.
fn check_rows<K: Key + Pod, I: Index + Pod>(gpu: &Gpu, keys: &[K], row: usize, k: usize, order: Order) {
    let (device, stream) = (gpu.device(), gpu.device().stream().unwrap());
    let results = keys.len().checked_div(row).map_or(0, |rows| rows * k);
    let there = device.alloc::<K>(keys.len()).unwrap();
    let (top, indices) = (device.alloc::<K>(results).unwrap(), device.alloc::<I>(results).unwrap());
    stream.copy_in(there.view(), keys).unwrap();
    let row_or_all = (row < keys.len()).then_some(row);
    let to = DeviceTop { keys: Some(top.view()), row: row_or_all, ..DeviceTop::of(indices.view(), order) };
    // SAFETY: nothing else uses them until the selection is done.
    unsafe { gpu.top_k(&stream, there.view(), to) }.unwrap().wait().unwrap();
    let (mut found, mut untouched) = (vec![I::default(); results], keys.to_vec());
    let mut first = vec![K::zeroed(); results];
    stream.copy_out(&mut found, indices.view()).unwrap();
    stream.copy_out(&mut first, top.view()).unwrap();
    stream.copy_out(&mut untouched, there.view()).unwrap();
    let found: Vec<usize> = found.into_iter().map(Index::to_usize).collect();

    let sorter = Sorter::builder().descending(order.descending).nans(order.nans).build().unwrap();
    let mut all = vec![0u64; row];
    let bytes = bytemuck::cast_slice::<K, u8>;
    for (i, keys) in keys.chunks(row.max(1)).enumerate() {
        sorter.argsort(keys, &mut all).unwrap();
        let expected: Vec<usize> = all[..k].iter().map(|&index| index as usize).collect();
        let what = format!("{k} of row {i} of {row} keys of {} bytes, {order:?}", size_of::<K>());
        assert!(found[i * k..][..k] == expected, "{what}");
        let expected: Vec<K> = expected.iter().map(|&index| keys[index]).collect();
        assert!(bytes(&first[i * k..][..k]) == bytes(&expected), "{what}");
    }
    assert!(bytes(&untouched) == bytes(keys));
}

/// The same for one row.
fn check<K: Key + Pod, I: Index + Pod>(gpu: &Gpu, keys: &[K], k: usize, order: Order) {
    check_rows::<K, I>(gpu, keys, keys.len(), k, order);
}

fn orders() -> [Order; 2] {
    [Order::default(), Order { descending: true, nans: Nans::First, ..Order::default() }]
}

#[test]
fn the_first_keys_are_those_of_a_stable_sort() {
    on_each(|gpu| {
        for (pattern, k) in PATTERNS.iter().zip([1, 16, 300, 700, 900, 500, 2]) {
            let wide = keys(pattern, 40_000, 7);
            for order in orders() {
                check::<f32, u32>(gpu, &cut(&wide), k, order);
                check::<f64, u64>(gpu, &cut(&wide), k, order);
            }
            check::<u32, u64>(gpu, &cut(&wide), 2 * k, orders()[0]);
            check::<i64, u32>(gpu, &cut(&wide), 2 * k, orders()[1]);
        }
    });
}

#[test]
fn narrow_keys_and_few_keys_are_selected() {
    on_each(|gpu| {
        let wide = keys("random", 12_345, 3);
        check::<u8, u32>(gpu, &cut(&wide), 700, orders()[1]);
        check::<f16, u32>(gpu, &cut(&wide), 70, orders()[1]);
        for (n, k) in [(1, 1), (100, 100), (5000, 7), (12_000, 12_000)] {
            check::<f32, u32>(gpu, &cut(&wide[..n]), k, orders()[1]);
            check::<u64, u32>(gpu, &cut(&wide[..n]), k, orders()[0]);
        }
        check::<u32, u32>(gpu, &[], 0, orders()[0]);
        check::<u32, u32>(gpu, &[1, 2], 0, orders()[0]);
    });
}

#[test]
fn each_row_is_selected_from() {
    on_each(|gpu| {
        for (pattern, (row, k)) in
            PATTERNS.iter().zip([(1000, 8), (33, 5), (3000, 100), (9, 9), (700, 699), (2500, 2), (600, 300)])
        {
            let wide = keys(pattern, 4 * row, 5);
            for order in orders() {
                check_rows::<f32, u32>(gpu, &cut(&wide), row, k, order);
                check_rows::<f64, u64>(gpu, &cut(&wide), row, k, order);
            }
            check_rows::<u8, u32>(gpu, &cut(&wide), row, k, orders()[0]);
            check_rows::<i64, u32>(gpu, &cut(&wide), row, k.min(20), orders()[1]);
        }
    });
}

#[test]
fn each_long_row_is_selected_from() {
    on_each(|gpu| {
        let wide = keys("random", 40_000, 11);
        // By a block that holds it, by a sample, and by a sort.
        for (row, k) in [(10_000, 16), (10_000, 2_000), (20_000, 7), (20_000, 60), (10_000, 5_000)] {
            check_rows::<f32, u32>(gpu, &cut(&wide), row, k, orders()[1]);
        }
        for pattern in PATTERNS {
            check_rows::<f32, u32>(gpu, &cut(&keys(pattern, 40_000, 2)), 20_000, 10, orders()[0]);
        }
        check_rows::<u64, u32>(gpu, &cut(&wide), 10_000, 40, orders()[0]);
        check_rows::<u64, u32>(gpu, &cut(&wide), 8_000, 40, orders()[0]);
    });
}

/// All keys before the k-th one are of one thread, so the first keys of the threads are a poor limit.
#[test]
fn the_first_keys_of_a_row_may_belong_to_one_thread() {
    on_each(|gpu| {
        for (row, threads) in [(1000, 32), (8000, 256)] {
            let keys: Vec<u32> =
                (0..2 * row as u32).map(|i| if i % row as u32 % threads == 3 { i } else { !i }).collect();
            check_rows::<u32, u32>(gpu, &keys, row, 20, orders()[0]);
        }
    });
}

#[test]
fn floats_are_equal_by_value_as_in_numpy() {
    on_each(|gpu| {
        let (device, stream) = (gpu.device(), gpu.device().stream().unwrap());
        let row = [0.0, -f32::NAN, -0.0, 1.0, f32::NAN, -1.0, -0.0, 0.0];
        for length in [row.len(), 40_000] {
            let mut keys = vec![-2.0; length];
            keys[length - row.len()..].copy_from_slice(&row);
            keys = [keys.clone(), keys].concat();
            let there = device.alloc::<f32>(keys.len()).unwrap();
            let indices = device.alloc::<u64>(2 * row.len()).unwrap();
            stream.copy_in(there.view(), &keys).unwrap();
            let order = Order { nans: Nans::EqualFirst, ..Order::DESCENDING };
            for row_length in [Some(length), None] {
                let to =
                    DeviceTop { row: row_length, by_value: true, ..DeviceTop::of(indices.view(), order) };
                // SAFETY: nothing else uses them until the selection is done.
                unsafe { gpu.top_k(&stream, there.view(), to) }.unwrap().wait().unwrap();
                let mut found = vec![0; 2 * row.len()];
                stream.copy_out(&mut found, indices.view()).unwrap();
                let first = (length - row.len()) as u64;
                let of_row = [1, 4, 3, 0, 2, 6, 7, 5].map(|i| i + first);
                let both = [1, 4, 3, 0, 2, 6, 7, 5].map(|i| [i + first, i + first + length as u64]);
                let expected = match row_length {
                    Some(_) => [of_row, of_row].concat(),
                    None => [&both[..2], &both[2..3], &both[3..7], &both[7..]]
                        .map(|equal| {
                            let mut indices = equal.concat();
                            indices.sort_unstable();
                            indices
                        })
                        .concat(),
                };
                assert_eq!(found, expected, "{length} {row_length:?}");
            }
        }
    });
}

/// The indices of the first keys of each row by value.
fn by_value(gpu: &Gpu, keys: &[f32], row: usize, k: usize, order: Order) -> Vec<u32> {
    let (device, stream) = (gpu.device(), gpu.device().stream().unwrap());
    let there = device.alloc::<f32>(keys.len()).unwrap();
    let indices = device.alloc::<u32>(keys.len() / row * k).unwrap();
    stream.copy_in(there.view(), keys).unwrap();
    let to = DeviceTop { row: Some(row), by_value: true, ..DeviceTop::of(indices.view(), order) };
    // SAFETY: nothing else uses them until the selection is done.
    unsafe { gpu.top_k(&stream, there.view(), to) }.unwrap().wait().unwrap();
    let mut found = vec![0; indices.len()];
    stream.copy_out(&mut found, indices.view()).unwrap();
    found
}

/// Limits of rows of several tiles, and of a single one, are compared with floats as such.
#[test]
fn floats_by_value_are_selected_tile_by_tile() {
    let sorted = |keys: &[f32], order: Order| {
        let mut indices: Vec<u32> = (0..keys.len() as u32).collect();
        indices.sort_by(|&a, &b| {
            let (a, b) = (keys[a as usize], keys[b as usize]);
            let nans = b.is_nan().cmp(&a.is_nan());
            let nans = if order.nans == Nans::EqualFirst { nans } else { nans.reverse() };
            nans.then(a.partial_cmp(&b).map_or(std::cmp::Ordering::Equal, |numbers| {
                if order.descending { numbers.reverse() } else { numbers }
            }))
        });
        indices
    };
    on_each(|gpu| {
        let mut random = fastrand::Rng::with_seed(8);
        for (row, k) in [(9_000, 20), (700, 8), (700, 300), (700, 690), (20_000, 100), (9_000, 1_200)] {
            let patterns: [&mut dyn FnMut(usize) -> f32; 6] = [
                &mut |_| random.f32() - 0.5,
                &mut |i| [0.0, -0.0, 1.0, f32::NAN, -f32::NAN][i * i % 5],
                &mut |i| if i < row / 2 { f32::NAN } else { i as f32 },
                &mut |i| if i % row < k / 2 { f32::INFINITY } else { f32::NAN },
                &mut |i| -(i as f32),
                &mut |i| (i % 7) as f32,
            ];
            for (number, pattern) in patterns.into_iter().enumerate() {
                let keys: Vec<f32> = (0..2 * row).map(pattern).collect();
                for order in [
                    Order { nans: Nans::EqualLast, ..Order::DESCENDING },
                    Order { nans: Nans::EqualFirst, ..Order::DESCENDING },
                    Order { nans: Nans::EqualLast, ..Order::ASCENDING },
                ] {
                    let expected: Vec<u32> =
                        keys.chunks(row).flat_map(|row| sorted(row, order)[..k].to_vec()).collect();
                    assert!(by_value(gpu, &keys, row, k, order) == expected, "{row} {k} {number} {order:?}");
                }
            }
        }
    });
}

#[test]
fn what_cannot_be_selected_is_refused() {
    on_each(|gpu| {
        let (device, stream) = (gpu.device(), gpu.device().stream().unwrap());
        let (keys, indices) = (device.alloc::<u128>(10).unwrap(), device.alloc::<u32>(11).unwrap());
        let narrow = keys.range(0..2).cast::<f32>();
        let first = |count| DeviceTop::<f32, u32>::of(indices.range(0..count), Order::default());
        // SAFETY: all are refused.
        let refused = |to| unsafe { gpu.top_k(&stream, narrow, to) }.map(drop).unwrap_err();
        assert!(matches!(refused(first(9)), Error::Unsupported(_)), "more than there are");
        let in_threes = DeviceTop { row: Some(3), ..first(3) };
        assert!(matches!(refused(in_threes), Error::Segments(_)), "rows of another length");
        let uneven = DeviceTop { row: Some(4), ..first(3) };
        assert!(matches!(refused(uneven), Error::LengthMismatch { .. }), "indices that rows cannot share");
        let alone = DeviceTop { keys: Some(narrow.range(0..2)), ..first(3) };
        assert!(matches!(refused(alone), Error::LengthMismatch { .. }), "fewer keys than indices");
        let equal = DeviceTop { order: Order { nans: Nans::EqualLast, ..Order::default() }, ..first(3) };
        assert!(matches!(refused(equal), Error::Unsupported(_)), "NaNs that are equal");
        let wide = DeviceTop::of(indices.range(0..1), Order::default());
        // SAFETY: it is refused.
        let refused = unsafe { gpu.top_k(&stream, keys.view(), wide) };
        assert!(matches!(refused, Err(Error::Unsupported(_))));
    });
}
