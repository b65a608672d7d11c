//! Keys at indices of an order.

use bytemuck::Pod;
use half::f16;
use sortie::gpu::{DeviceNth, Gpu};
use sortie::{Error, Key, Nans, Order, Sorter};

use crate::support::{PATTERNS, cuda, cut, keys, on_each};

/// Selects keys, and compares with a sort.
fn check<K: Key + Pod>(gpu: &Gpu, keys: &[K], indices: &[usize], order: Order) {
    let (device, stream) = (gpu.device(), gpu.device().stream().unwrap());
    let there = device.alloc::<K>(keys.len()).unwrap();
    let nth = device.alloc::<K>(indices.len()).unwrap();
    stream.copy_in(there.view(), keys).unwrap();
    // SAFETY: nothing else uses them until the selection is done.
    unsafe { gpu.nth(&stream, there.view(), &DeviceNth { indices, nth: nth.view(), order }) }
        .unwrap()
        .wait()
        .unwrap();
    let (mut found, mut untouched) = (vec![K::zeroed(); indices.len()], keys.to_vec());
    stream.copy_out(&mut found, nth.view()).unwrap();
    stream.copy_out(&mut untouched, there.view()).unwrap();

    let sorter = Sorter::builder().descending(order.descending).nans(order.nans).build().unwrap();
    let mut sorted = keys.to_vec();
    sorter.sort(&mut sorted).unwrap();
    let expected: Vec<K> = indices.iter().map(|&index| sorted[index]).collect();
    let bytes = bytemuck::cast_slice::<K, u8>;
    let what = format!("{indices:?} of {} keys of {} bytes, {order:?}", keys.len(), size_of::<K>());
    assert!(bytes(&found) == bytes(&expected), "{what}");
    assert!(bytes(&untouched) == bytes(keys), "{what}");
}

fn orders() -> [Order; 2] {
    [Order::default(), Order { descending: true, nans: Nans::First, ..Order::default() }]
}

#[test]
fn keys_are_those_of_a_sort() {
    on_each(|gpu| {
        for pattern in PATTERNS {
            let (wide, order) = (keys(pattern, 5_000, 7), orders());
            check::<f32>(gpu, &cut(&wide), &[2_500, 0, 4_999, 2_500], order[1]);
            check::<f64>(gpu, &cut(&wide), &[2_499], order[0]);
            check::<u32>(gpu, &cut(&wide), &[100, 50], order[1]);
            check::<i64>(gpu, &cut(&wide), &[1], order[0]);
            check::<i8>(gpu, &cut(&wide), &[1_000, 3_000], order[0]);
            check::<f16>(gpu, &cut(&wide), &[4_990, 9], order[1]);
        }
        check::<f32>(gpu, &[], &[], orders()[0]);
        check::<u16>(gpu, &[7], &[0], orders()[1]);
    });
}

/// Enough keys for a sample: too many for the bench.
#[test]
fn keys_of_many_are_those_of_a_sort() {
    let Some(gpu) = cuda().map(Gpu::new) else { return };
    let n = 5_000_001;
    let tenths: Vec<usize> = (0..=10).map(|i| i * (n / 10)).collect();
    for pattern in PATTERNS {
        let wide = keys(pattern, n, 7);
        for indices in [&[n / 2][..], &[n - 1, 0, n / 2], &tenths] {
            for order in orders() {
                check::<f32>(&gpu, &cut(&wide), indices, order);
                check::<f64>(&gpu, &cut(&wide), indices, order);
            }
            check::<i64>(&gpu, &cut(&wide), indices, orders()[0]);
            check::<u32>(&gpu, &cut(&wide), indices, orders()[1]);
            check::<f16>(&gpu, &cut(&wide), indices, orders()[1]);
            check::<u8>(&gpu, &cut(&wide), indices, orders()[0]);
        }
    }
}

#[test]
fn what_cannot_be_selected_is_refused() {
    on_each(|gpu| {
        let (device, stream) = (gpu.device(), gpu.device().stream().unwrap());
        let keys = device.alloc::<u128>(10).unwrap();
        let (narrow, order) = (keys.range(0..2).cast::<f32>(), Order::default());
        let refused = |indices: &[usize], results: usize, order| {
            let wanted = DeviceNth { indices, nth: narrow.range(0..results), order };
            // SAFETY: it is refused.
            unsafe { gpu.nth(&stream, narrow, &wanted) }.map(drop).unwrap_err()
        };
        assert!(matches!(refused(&[8], 1, order), Error::Unsupported(_)), "an index that does not exist");
        assert!(matches!(refused(&[0], 2, order), Error::LengthMismatch { .. }), "more results than indices");
        let equal = Order { nans: Nans::EqualLast, ..order };
        assert!(matches!(refused(&[0], 1, equal), Error::Unsupported(_)), "NaNs that are equal");
        let wide = DeviceNth { indices: &[0], nth: keys.range(0..1), order };
        // SAFETY: it is refused.
        let refused = unsafe { gpu.nth(&stream, keys.view(), &wide) };
        assert!(matches!(refused, Err(Error::Unsupported(_))), "keys of 128 bits");
    });
}
