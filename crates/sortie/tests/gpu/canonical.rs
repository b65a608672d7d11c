//! Floats whose bits say whether they are equal.

use std::cmp::Ordering;
use std::fmt::Debug;

use bytemuck::Pod;
use half::{bf16, f16};
use sortie::gpu::Gpu;
use sortie::{Error, Key, Order};

use crate::support::{cut, keys, on_each};

/// The order of NumPy: zeros are equal, and so are NaNs, which come last.
fn compare<K: PartialOrd>(a: &K, b: &K) -> Ordering {
    let is_nan = |key: &K| key.partial_cmp(key).is_none();
    a.partial_cmp(b).unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)))
}

fn check<K: Key + Pod + PartialOrd + Debug>(gpu: &Gpu, wide: &[u64], zeros: [K; 2]) {
    let mut keys = cut::<K>(wide);
    keys.iter_mut().step_by(7).zip(zeros.iter().cycle()).for_each(|(key, &zero)| *key = zero);
    let (stream, n) = (gpu.device().stream().unwrap(), keys.len());
    let [there, copy] = [0, 1].map(|_| gpu.device().alloc::<K>(n).unwrap());
    let indices = gpu.device().alloc::<u64>(n).unwrap();
    stream.copy_in(there.view(), &keys).unwrap();
    let mut expected: Vec<u64> = (0..n as u64).collect();
    expected.sort_by(|&a, &b| compare(&keys[a as usize], &keys[b as usize]));
    // SAFETY: nothing else uses them until the sort is done.
    unsafe {
        gpu.canonical_floats(&stream, there.view(), copy.view()).unwrap();
        gpu.argsort(&stream, copy.view(), indices.view(), Order::default()).unwrap().wait().unwrap();
    }
    let (mut found, mut floats) = (vec![0; n], keys.clone());
    stream.copy_out(&mut found, indices.view()).unwrap();
    stream.copy_out(&mut floats, copy.view()).unwrap();
    assert!(found == expected, "{n} keys of {} bytes", size_of::<K>());
    let same = |(a, b)| compare::<K>(a, b) == Ordering::Equal;
    assert!(floats.iter().zip(&keys).all(same), "{n} keys of {} bytes", size_of::<K>());
}

#[test]
fn indices_of_canonical_floats_are_those_of_a_stable_sort() {
    on_each(|gpu| {
        for n in [0, 1, 100, 2049, 9000] {
            for pattern in ["random", "few", "equal", "ends"] {
                let wide = keys(pattern, n, n as u64);
                check::<f32>(gpu, &wide, [0.0, -0.0]);
                check::<f64>(gpu, &wide, [0.0, -0.0]);
                check::<f16>(gpu, &wide, [f16::ZERO, f16::NEG_ZERO]);
                check::<bf16>(gpu, &wide, [bf16::ZERO, bf16::NEG_ZERO]);
            }
        }
    });
}

#[test]
fn only_floats_have_a_canonical_form() {
    on_each(|gpu| {
        let (stream, keys) = (gpu.device().stream().unwrap(), gpu.device().alloc::<u32>(10).unwrap());
        // SAFETY: it is refused.
        let refused = unsafe { gpu.canonical_floats(&stream, keys.view(), keys.view()) };
        assert!(matches!(refused, Err(Error::Unsupported(_))));
    });
}
