//! The bitonic sort in device memory.

use std::fmt::Debug;

use bytemuck::Pod;
use sortie::gpu::Gpu;
use sortie::{Error, Key, Nans, Order, Sorter};
use sortie_simt::{Bench, Options, Sanitizer, or_skip};

use crate::support::{PATTERNS, cuda, cut, keys, on_bench, on_each};

/// Sorts keys of a pattern on the device and on the CPU; both must leave the same bits.
pub fn compare<K: Key + Pod + Debug>(gpu: &Gpu, pattern: &str, n: usize, order: Order) {
    let keys: Vec<K> = cut(&keys(pattern, n, n as u64));
    let stream = gpu.device().stream().unwrap();
    let guard: Vec<K> = vec![K::zeroed(); 8];
    let mut sorted = [&guard[..], &keys, &guard].concat();
    let buffer = gpu.device().alloc::<K>(sorted.len()).unwrap();
    stream.copy_in(buffer.view(), &sorted).unwrap();
    // SAFETY: nothing else uses the buffer meanwhile.
    unsafe { gpu.sort_bitonic(&stream, buffer.range(8..8 + n), order) }.unwrap().wait().unwrap();
    stream.copy_out(&mut sorted, buffer.view()).unwrap();

    let mut expected = keys;
    let sorter = Sorter::builder().threads(1).descending(order.descending).nans(order.nans).build().unwrap();
    sorter.sort(&mut expected).unwrap();
    let bits = |keys: &[K]| bytemuck::cast_slice::<K, u8>(keys).to_vec();
    let what = format!("{n} {}, {pattern}, {order:?}", std::any::type_name::<K>());
    assert!(bits(&sorted) == bits(&[&guard[..], &expected, &guard].concat()), "{what}");
}

/// Sorts pairs of a pattern on the device: the keys are as on the CPU, and each still has a payload of its own.
fn compare_pairs<K: Key + Pod + Debug, V: Pod + Ord + Debug>(
    gpu: &Gpu,
    pattern: &str,
    n: usize,
    order: Order,
    payload: impl Fn(u64) -> V,
) {
    let keys: Vec<K> = cut(&keys(pattern, n, n as u64));
    let payload: Vec<V> = (0..n as u64 + 6).map(payload).collect();
    let stream = gpu.device().stream().unwrap();
    let keys_there = gpu.device().alloc::<K>(n).unwrap();
    let payload_there = gpu.device().alloc::<V>(n + 6).unwrap();
    stream.copy_in(keys_there.view(), &keys).unwrap();
    stream.copy_in(payload_there.view(), &payload).unwrap();
    let (mut sorted, mut moved) = (keys.clone(), payload.clone());
    // SAFETY: nothing else uses the buffers meanwhile.
    unsafe { gpu.sort_pairs_bitonic(&stream, keys_there.view(), payload_there.range(3..3 + n), order) }
        .unwrap()
        .wait()
        .unwrap();
    stream.copy_out(&mut sorted, keys_there.view()).unwrap();
    stream.copy_out(&mut moved, payload_there.view()).unwrap();

    let what = format!(
        "{n} {} with {}, {pattern}, {order:?}",
        std::any::type_name::<K>(),
        std::any::type_name::<V>()
    );
    let mut expected = keys.clone();
    let sorter = Sorter::builder().threads(1).descending(order.descending).nans(order.nans).build().unwrap();
    sorter.sort(&mut expected).unwrap();
    let bits = |keys: &[K]| bytemuck::cast_slice::<K, u8>(keys).to_vec();
    assert!(bits(&sorted) == bits(&expected), "{what}");
    assert!(moved[..3] == payload[..3] && moved[3 + n..] == payload[3 + n..], "{what}: beyond");
    let pairs = |keys: &[K], payload: &[V]| {
        let mut pairs: Vec<(Vec<u8>, V)> =
            keys.iter().map(|key| bytemuck::bytes_of(key).to_vec()).zip(payload.iter().copied()).collect();
        pairs.sort_unstable();
        pairs
    };
    assert!(pairs(&sorted, &moved[3..3 + n]) == pairs(&keys, &payload[3..3 + n]), "{what}: pairs");
}

/// Runs a test on a device whose tiles have 2^11 keys of this many bytes.
fn on_small_tiles(bytes: usize, test: impl Fn(&Gpu)) {
    let shared_per_block = (17 << 8) * bytes;
    on_bench(Options { shared_per_block, sanitizer: Sanitizer::Race, ..Options::default() }, test);
}

#[test]
fn any_number_of_keys() {
    on_each(|gpu| {
        for n in [0, 1, 2, 3, 31, 33, 1000, 8191, 8192, 8193, 16_384, 20_000, 50_001] {
            compare::<u32>(gpu, "random", n, Order::default());
        }
    });
}

#[test]
fn every_pattern() {
    on_each(|gpu| {
        for pattern in PATTERNS {
            compare::<u32>(gpu, pattern, 20_000, Order::default());
        }
    });
}

#[test]
fn every_type_and_order() {
    on_each(|gpu| {
        for descending in [false, true] {
            for nans in [Nans::Last, Nans::First] {
                let order = Order { descending, nans, ..Order::default() };
                for pattern in ["random", "ends"] {
                    compare::<half::f16>(gpu, pattern, 9000, order);
                    compare::<f32>(gpu, pattern, 9000, order);
                    compare::<f64>(gpu, pattern, 9000, order);
                    compare::<f64>(gpu, pattern, 70, order);
                }
            }
            let order = Order { descending, ..Order::default() };
            compare::<u8>(gpu, "random", 4000, order);
            compare::<u8>(gpu, "random", 9000, order);
            compare::<i16>(gpu, "random", 9000, order);
            compare::<i32>(gpu, "random", 9000, order);
            compare::<u64>(gpu, "random", 9000, order);
            compare::<i64>(gpu, "random", 9000, order);
        }
    });
}

/// Some keys have the largest code, which is also used past the end.
#[test]
fn pairs_of_every_width() {
    on_each(|gpu| {
        for n in [0, 1, 2, 33, 1000, 5001, 12_001] {
            for (pattern, descending) in [("random", false), ("ends", true), ("equal", false), ("few", true)]
            {
                let order = Order { descending, ..Order::default() };
                compare_pairs::<u32, u32>(gpu, pattern, n, order, |i| i as u32);
            }
            let order = Order::default();
            compare_pairs::<u8, u32>(gpu, "random", n, order, |i| i as u32);
            compare_pairs::<i16, u64>(gpu, "ends", n, order, |i| i << 32 | 7);
            compare_pairs::<f32, u64>(gpu, "random", n, order, |i| !i);
            compare_pairs::<u32, [u64; 2]>(gpu, "ends", n, order, |i| [i, !i]);
            compare_pairs::<u32, [u32; 3]>(gpu, "few", n, order, |i| [i as u32, 7, !i as u32]);
            compare_pairs::<i64, [u64; 3]>(gpu, "random", n, order, |i| [7, i, !i]);
            compare_pairs::<u8, [u32; 11]>(gpu, "random", n, order, |i| [i as u32; 11]);
            compare_pairs::<u64, [u64; 8]>(gpu, "ends", n, order, |i| [i; 8]);
            compare_pairs::<f64, u32>(gpu, "ends", n, order, |i| i as u32);
            compare_pairs::<u64, u64>(gpu, "random", n, order, |i| i << 40);
            compare_pairs::<u64, [u64; 2]>(gpu, "ends", n, order, |i| [!i, i]);
        }
    });
}

#[test]
fn many_supersteps_a_merge() {
    on_small_tiles(4, |gpu| {
        // Supersteps of every kind: at the beginning of a merge, within one, across the end of one, and the last.
        compare::<u32>(gpu, "random", (1 << 18) + 5000, Order::default());
        for n in [2047, 2049, 6000, 1 << 13, 30_000, 1 << 16, (1 << 16) + 1] {
            compare::<u32>(gpu, "random", n, Order::default());
        }
    });
    on_small_tiles(8, |gpu| {
        for n in [2049, 30_000, (1 << 16) + 1] {
            compare_pairs::<u32, u32>(gpu, "ends", n, Order::default(), |i| i as u32);
            compare_pairs::<u64, u32>(gpu, "few", n / 4, Order::default(), |i| i as u32);
        }
    });
}

#[test]
fn devices_of_every_size_of_shared_memory() {
    for shared_per_block in [sortie_simt::SHARED_48K, sortie_simt::SHARED_99K, sortie_simt::SHARED_227K] {
        on_bench(Options { shared_per_block, sanitizer: Sanitizer::Race, ..Options::default() }, |gpu| {
            for n in [70, 16_385, 40_000] {
                compare::<u32>(gpu, "random", n, Order::default());
                compare::<u64>(gpu, "random", n, Order { descending: true, ..Order::default() });
            }
        });
    }
}

#[test]
fn every_interleaving_gives_the_same() {
    for seed in 1..5 {
        let shared_per_block = 17 << 10;
        let options = Options { seed, shared_per_block, sanitizer: Sanitizer::Race, ..Options::default() };
        on_bench(options, |gpu| compare::<u32>(gpu, "random", 20_000, Order::default()));
    }
}

/// The paper's claims about its mapping, counted in its model with transactions of 64 bytes.
#[test]
fn every_transaction_is_full_and_nothing_diverges() {
    let n = 1 << 16;
    let options = Options { count: true, segment_words: 16, ..Options::default() };
    let Some(bench) = or_skip(Bench::new(options)) else { return };
    let gpu = Gpu::new(bench.device().clone());
    let stream = gpu.device().stream().unwrap();
    let buffer = gpu.device().alloc::<u32>(n).unwrap();
    stream.copy_in(buffer.view(), &cut::<u32>(&keys("random", n, 1))).unwrap();
    // SAFETY: nothing else uses the buffer meanwhile.
    unsafe { gpu.sort_bitonic(&stream, buffer.view(), Order::default()) }.unwrap().wait().unwrap();
    let launches = bench.counts();
    // Tiles of 2^12 keys on this device. The paper's formula of section 6.1, for supersteps that end with a merge,
    // gives 9 launches.
    assert_eq!(launches.len(), 7);
    for launch in launches {
        let counts = launch.counts;
        assert_eq!(counts.transactions, 2 * n as u64 / 16, "{launch:?}");
        assert_eq!((counts.conflicts, counts.divergent_branches), (0, 0), "{launch:?}");
    }
}

/// Supersteps of every distance, only on a GPU, because the test bench would take minutes.
#[test]
fn many_keys() {
    let Some(device) = cuda() else { return };
    let gpu = Gpu::new(device);
    for n in [1 << 24, 20_000_003, (1 << 26) + 1] {
        compare::<u32>(&gpu, "random", n, Order::default());
    }
    compare::<f64>(&gpu, "random", 20_000_003, Order { descending: true, ..Order::default() });
}

#[test]
fn what_it_cannot_sort_is_told() {
    let shared_per_block = 8 << 10;
    on_bench(Options { shared_per_block, ..Options::default() }, |gpu| {
        let stream = gpu.device().stream().unwrap();
        let keys = gpu.device().alloc::<u32>(100).unwrap();
        // SAFETY: nothing else uses the keys.
        let few = unsafe { gpu.sort_bitonic(&stream, keys.view(), Order::default()) }.unwrap_err();
        assert!(matches!(&few, Error::Unsupported(why) if why.contains("8192 bytes")), "{few}");
        let keys = gpu.device().alloc::<u128>(100).unwrap();
        // SAFETY: as above.
        let wide = unsafe { gpu.sort_bitonic(&stream, keys.view(), Order::default()) }.unwrap_err();
        assert!(matches!(&wide, Error::Unsupported(why) if why.contains("128 bits")), "{wide}");
        // SAFETY: as above.
        let few = unsafe {
            let payload = gpu.device().alloc::<u64>(99).unwrap();
            gpu.sort_pairs_bitonic(&stream, keys.view(), payload.view(), Order::default()).unwrap_err()
        };
        assert!(matches!(few, Error::LengthMismatch { .. }), "{few}");
    });
}
