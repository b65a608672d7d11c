//! Many segments in device memory.

use std::fmt::Debug;

use bytemuck::Pod;
use sortie::gpu::{self, Gpu};
use sortie::{Key, Nans, Order, Sorter};
use sortie_simt::{Options, Sanitizer};

use crate::support::{PATTERNS, cut, keys, on_bench, on_each, widen};

/// Sorts segments on the device and on the CPU; both must leave the same bits.
pub fn compare<K: Key + Pod + Debug>(
    gpu: &Gpu,
    keys: &[K],
    segments: sortie::Segments<'_>,
    order: Order,
    what: &str,
) {
    let stream = gpu.device().stream().unwrap();
    // Guarded by keys that belong to no segment.
    let guard: Vec<K> = vec![K::zeroed(); 8];
    let all = [&guard, keys, &guard].concat();
    let buffer = gpu.device().alloc::<K>(all.len()).unwrap();
    stream.copy_in(buffer.view(), &all).unwrap();
    let view = buffer.range(8..8 + keys.len());
    let offsets;
    let on_device = match segments {
        sortie::Segments::Length(length) => gpu::DeviceSegments::Length(length as u64),
        sortie::Segments::Offsets(host) => {
            let host: Vec<u64> = host.iter().map(|&offset| offset as u64).collect();
            offsets = gpu.device().alloc::<u64>(host.len()).unwrap();
            stream.copy_in(offsets.view(), &host).unwrap();
            let longest = (0..host.len() - 1).map(|i| host[i + 1] - host[i]).max().unwrap_or(0);
            gpu::DeviceSegments::Offsets { offsets: offsets.view(), longest }
        }
    };
    // SAFETY: nothing else uses the buffers meanwhile.
    unsafe { gpu.sort_segments(&stream, view, on_device, order) }.unwrap().wait().unwrap();
    let mut sorted = all.clone();
    stream.copy_out(&mut sorted, buffer.view()).unwrap();

    let mut expected = keys.to_vec();
    let sorter = Sorter::builder().threads(1).descending(order.descending).nans(order.nans).build().unwrap();
    sorter.sort_segments(&mut expected, segments).unwrap();
    let bits = |keys: &[K]| bytemuck::cast_slice::<K, u8>(keys).to_vec();
    assert!(bits(&sorted[8..8 + keys.len()]) == bits(&expected), "{what}");
    assert!(
        bits(&sorted[..8]) == bits(&guard) && bits(&sorted[8 + keys.len()..]) == bits(&guard),
        "{what}: beyond"
    );
}

/// `count` segments of one length, with every pattern.
fn one_length<K: Key + Pod + Debug>(gpu: &Gpu, length: usize, count: usize, order: Order) {
    for (seed, pattern) in PATTERNS.into_iter().enumerate() {
        let keys: Vec<K> = cut(&keys(pattern, length * count, seed as u64));
        let what = format!("{} of {length}, {pattern}, {order:?}", std::any::type_name::<K>());
        compare(gpu, &keys, sortie::Segments::Length(length), order, &what);
    }
}

#[test]
fn short_segments_of_every_length() {
    on_each(|gpu| {
        for length in 1..=70 {
            one_length::<f32>(gpu, length, 33, Order::default());
        }
    });
}

#[test]
fn segments_at_the_edges_of_workers() {
    on_each(|gpu| {
        for length in [80, 81, 160, 161, 320, 321, 640, 641, 1279, 1280, 1281, 2559, 2561, 4000, 5121, 10_000]
        {
            one_length::<u32>(gpu, length, 3, Order::default());
        }
    });
}

#[test]
fn every_type_and_order() {
    on_each(|gpu| {
        for descending in [false, true] {
            for nans in [Nans::Last, Nans::First] {
                let order = Order { descending, nans, ..Order::default() };
                for length in [7, 100, 300, 1500] {
                    one_length::<f32>(gpu, length, 5, order);
                    one_length::<f64>(gpu, length, 5, order);
                    one_length::<half::f16>(gpu, length, 5, order);
                }
            }
            let order = Order { descending, ..Order::default() };
            for length in [7, 100, 1500] {
                one_length::<u8>(gpu, length, 5, order);
                one_length::<i16>(gpu, length, 5, order);
                one_length::<i32>(gpu, length, 5, order);
                one_length::<u64>(gpu, length, 5, order);
                one_length::<i64>(gpu, length, 5, order);
            }
        }
    });
}

#[test]
fn keys_of_128_bits() {
    on_each(|gpu| {
        for (seed, pattern) in PATTERNS.into_iter().enumerate() {
            let of = |n| widen(&keys(pattern, n, seed as u64), seed % 2 == 0);
            for length in [1, 2, 7, 16, 17, 64, 65, 300, 1100] {
                compare(gpu, &of(3 * length), sortie::Segments::Length(length), Order::default(), pattern);
            }
            let offsets = [3, 3, 4, 20, 37, 101, 300, 1400, 1401];
            let signed: Vec<i128> = of(1500).into_iter().map(u128::cast_signed).collect();
            let order = Order { descending: seed % 3 == 0, ..Order::default() };
            compare(gpu, &signed, sortie::Segments::Offsets(&offsets), order, pattern);
        }
        for is_high in [false, true] {
            let long = widen(&keys("random", 20_002, 8), is_high);
            compare(gpu, &long, sortie::Segments::Length(10_001), Order::default(), "long");
            let order = Order { descending: true, ..Order::default() };
            compare(gpu, &long, sortie::Segments::Offsets(&[1, 9, 9000, 20_000]), order, "long");
        }
    });
}

#[test]
fn ragged_segments() {
    on_each(|gpu| {
        let lengths = [
            0, 1, 2, 3, 16, 17, 0, 0, 33, 64, 65, 97, 128, 129, 200, 257, 300, 513, 777, 1025, 1537, 2049,
            3000,
        ];
        for (seed, pattern) in PATTERNS.into_iter().enumerate() {
            let mut random = fastrand::Rng::with_seed(seed as u64);
            // Keys before the first offset and after the last belong to no segment.
            let mut offsets = vec![random.usize(0..5)];
            for _ in 0..60 {
                offsets.push(offsets[offsets.len() - 1] + lengths[random.usize(0..lengths.len())]);
            }
            let keys: Vec<u32> = cut(&keys(pattern, offsets[offsets.len() - 1] + 3, 7));
            compare(gpu, &keys, sortie::Segments::Offsets(&offsets), Order::default(), pattern);
        }
    });
}

#[test]
fn long_segments() {
    on_each(|gpu| {
        for length in [13_000, 33_001] {
            one_length::<u32>(gpu, length, 2, Order::default());
        }
        one_length::<u8>(gpu, 33_000, 1, Order { descending: true, ..Order::default() });
        one_length::<f64>(gpu, 33_000, 1, Order { descending: true, ..Order::default() });
        let keys: Vec<u32> = cut(&keys("random", 90_000, 3));
        let offsets = [5, 5, 6, 12_000, 12_100, 40_000, 40_000, 85_000, 85_001, 85_050];
        compare(gpu, &keys, sortie::Segments::Offsets(&offsets), Order::default(), "long and short");
    });
}

/// Keys of several distributions that no single range of codes divides well: numbers around zero, each the AND of
/// several words; powers; clusters; and two values, one of them rare.
fn uneven(n: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut normal = || (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
    let numbers: Vec<f64> = (0..n).map(|_| normal()).collect();
    let mut random = fastrand::Rng::with_seed(seed);
    let and = |random: &mut fastrand::Rng| (0..4).fold(u64::MAX, |word, _| word & random.u64(..));
    let ands = (0..n).map(|_| f64::from_bits(and(&mut random))).collect();
    let powers = (0..n).map(|_| f64::from(random.u32(1..1000)).powi(random.i32(-90..90))).collect();
    let clusters = (0..n).map(|_| f64::from(random.u8(0..7)) * 1e9 + random.f64()).collect();
    let two = (0..n).map(|_| if random.u16(..) == 0 { -0.0 } else { 0.0 }).collect();
    vec![numbers, ands, powers, clusters, two]
}

#[test]
fn long_segments_of_uneven_keys() {
    on_each(|gpu| {
        for keys in uneven(2 * 70_001, 1) {
            compare(gpu, &keys, sortie::Segments::Length(70_001), Order::default(), "f64");
            let narrow: Vec<f32> = keys.iter().map(|&key| key as f32).collect();
            let offsets = [3, 50_000, 50_001, 50_001, 129_000, 140_000];
            compare(gpu, &narrow, sortie::Segments::Offsets(&offsets), Order::default(), "f32");
        }
    });
}

/// Sorted by bins, and by workers if keys crowd in few bins; for each size of shared memory, the longest that fit.
#[test]
fn segments_of_uneven_keys_that_fit_a_block() {
    for shared_per_block in [sortie_simt::SHARED_48K, sortie_simt::SHARED_99K, sortie_simt::SHARED_227K] {
        let options = Options { shared_per_block, multiprocessors: 2, ..Options::default() };
        on_bench(options, |gpu| {
            for length in [700, 2_500, 4_096, 7_000] {
                let offsets: Vec<usize> = (0..=8).map(|i| i * length).collect();
                for keys in uneven(8 * length, 2) {
                    compare(gpu, &keys, sortie::Segments::Length(length), Order::default(), "f64");
                    compare(
                        gpu,
                        &keys,
                        sortie::Segments::Offsets(&offsets),
                        Order::default(),
                        "f64, offsets",
                    );
                    let narrow: Vec<f32> = keys.iter().map(|&key| key as f32).collect();
                    compare(gpu, &narrow, sortie::Segments::Length(length), Order::default(), "f32");
                }
            }
        });
    }
}

/// More buckets than one level can make, and one long segment among many short ones.
#[test]
fn a_segment_that_is_split_twice() {
    on_bench(Options { shared_per_block: sortie_simt::SHARED_48K, ..Options::default() }, |gpu| {
        for pattern in ["random", "few", "crowded"] {
            let keys: Vec<u64> = cut(&keys(pattern, 700_000, 9));
            let mut offsets: Vec<usize> = (0..100).map(|i| i * 40).collect();
            offsets.push(700_000);
            compare(gpu, &keys, sortie::Segments::Offsets(&offsets), Order::default(), pattern);
        }
    });
}

#[test]
fn one_offset_is_no_segment() {
    on_each(|gpu| {
        let keys: Vec<u32> = cut(&keys("random", 40_000, 5));
        let stream = gpu.device().stream().unwrap();
        let buffer = gpu.device().alloc::<u32>(keys.len()).unwrap();
        stream.copy_in(buffer.view(), &keys).unwrap();
        let offsets = gpu.device().alloc::<u64>(1).unwrap();
        stream.copy_in(offsets.view(), &[7]).unwrap();
        let segments = gpu::DeviceSegments::Offsets { offsets: offsets.view(), longest: 40_000 };
        // SAFETY: nothing else uses the buffers meanwhile.
        unsafe { gpu.sort_segments(&stream, buffer.view(), segments, Order::default()) }
            .unwrap()
            .wait()
            .unwrap();
        let mut sorted = vec![0; keys.len()];
        stream.copy_out(&mut sorted, buffer.view()).unwrap();
        assert!(sorted == keys);
    });
}

#[test]
fn segments_longer_than_said_are_left() {
    on_each(|gpu| {
        let keys: Vec<u32> = cut(&keys("random", 9100, 4));
        let stream = gpu.device().stream().unwrap();
        let buffer = gpu.device().alloc::<u32>(keys.len()).unwrap();
        stream.copy_in(buffer.view(), &keys).unwrap();
        let offsets = gpu.device().alloc::<u64>(4).unwrap();
        stream.copy_in(offsets.view(), &[0, 100, 9000, 9100]).unwrap();
        let segments = gpu::DeviceSegments::Offsets { offsets: offsets.view(), longest: 100 };
        // SAFETY: nothing else uses the buffers meanwhile.
        unsafe { gpu.sort_segments(&stream, buffer.view(), segments, Order::default()) }
            .unwrap()
            .wait()
            .unwrap();
        let mut sorted = keys.clone();
        stream.copy_out(&mut sorted, buffer.view()).unwrap();
        let mut expected = keys;
        expected[..100].sort_unstable();
        expected[9000..].sort_unstable();
        assert!(sorted == expected);
    });
}

#[test]
fn devices_of_every_size_of_shared_memory() {
    for shared_per_block in [sortie_simt::SHARED_48K, sortie_simt::SHARED_99K, sortie_simt::SHARED_227K] {
        on_bench(Options { shared_per_block, sanitizer: Sanitizer::Race, ..Options::default() }, |gpu| {
            for length in [5000, 11_000] {
                one_length::<u32>(gpu, length, 2, Order::default());
            }
        });
    }
}

#[test]
fn every_interleaving_gives_the_same() {
    for seed in 1..5 {
        on_bench(Options { seed, sanitizer: Sanitizer::Race, ..Options::default() }, |gpu| {
            one_length::<u32>(gpu, 2100, 2, Order::default());
        });
    }
}

/// Segments so long that each is sorted as an array: keys alone, and indices.
#[test]
fn segments_as_arrays() {
    on_each(|gpu| {
        let multiprocessors = gpu.device().properties().multiprocessors as usize;
        let length = (multiprocessors << 15) + 5;
        one_length::<u32>(gpu, length, 2, Order::default());
        one_length::<f64>(gpu, length, 2, Order { descending: true, ..Order::default() });
        let length = (multiprocessors << 14) + 5;
        let keys: Vec<u32> = keys(PATTERNS[0], 2 * length, 3).into_iter().map(|key| key as u32).collect();
        let (stream, device) = (gpu.device().stream().unwrap(), gpu.device());
        let (there, indices) =
            (device.alloc::<u32>(keys.len()).unwrap(), device.alloc::<u32>(keys.len()).unwrap());
        stream.copy_in(there.view(), &keys).unwrap();
        let segments = gpu::DeviceSegments::Length(length as u64);
        // SAFETY: nothing else uses the buffers meanwhile.
        let sort = unsafe {
            gpu.argsort_segments(&stream, there.view(), indices.view(), segments, Order::default())
        };
        sort.unwrap().wait().unwrap();
        let mut found = vec![0; keys.len()];
        stream.copy_out(&mut found, indices.view()).unwrap();
        for (keys, found) in keys.chunks(length).zip(found.chunks(length)) {
            let mut expected: Vec<u32> = (0..length as u32).collect();
            expected.sort_by_key(|&i| keys[i as usize]);
            assert!(found == expected, "argsort");
        }
    });
}
