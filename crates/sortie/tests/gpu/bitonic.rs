//! The bitonic sort in device memory.

use std::fmt::Debug;

use bytemuck::Pod;
use sortie::gpu::Gpu;
use sortie::{Error, Key, Nans, Order, Sorter};
use sortie_simt::{Bench, Options, Sanitizer};

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

/// A device whose tiles have 2^11 keys of 32 bits.
fn on_small_tiles(test: impl Fn(&Gpu)) {
    on_bench(Options { shared_per_block: 17 << 10, sanitizer: Sanitizer::Race, ..Options::default() }, test);
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

#[test]
fn many_supersteps_a_merge() {
    on_small_tiles(|gpu| {
        // Supersteps of every kind: at the beginning of a merge, within one, over the end of one, the last.
        compare::<u32>(gpu, "random", (1 << 18) + 5000, Order::default());
        for n in [2047, 2049, 6000, 1 << 13, 30_000, 1 << 16, (1 << 16) + 1] {
            compare::<u32>(gpu, "random", n, Order::default());
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

/// What the paper claims of its mapping, counted by its model with transactions of 64 bytes.
#[test]
fn every_transaction_is_full_and_nothing_diverges() {
    let n = 1 << 16;
    let options = Options { count: true, segment_words: 16, ..Options::default() };
    let Ok(bench) = Bench::new(options) else { return };
    let gpu = Gpu::new(bench.device().clone());
    let stream = gpu.device().stream().unwrap();
    let buffer = gpu.device().alloc::<u32>(n).unwrap();
    stream.copy_in(buffer.view(), &cut::<u32>(&keys("random", n, 1))).unwrap();
    // SAFETY: nothing else uses the buffer meanwhile.
    unsafe { gpu.sort_bitonic(&stream, buffer.view(), Order::default()) }.unwrap().wait().unwrap();
    let launches = bench.counts();
    // Tiles of 2^12 keys on this device: the paper's formula of section 6.1, for supersteps that end with a merge,
    // has 9.
    assert_eq!(launches.len(), 7);
    for launch in launches {
        let counts = launch.counts;
        assert_eq!(counts.transactions, 2 * n as u64 / 16, "{launch:?}");
        assert_eq!((counts.conflicts, counts.divergent_branches), (0, 0), "{launch:?}");
    }
}

/// Supersteps of every distance, on a GPU: the bench would take minutes.
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
    });
}
