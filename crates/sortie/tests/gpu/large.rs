//! One large array in device memory.

use std::fmt::Debug;

use bytemuck::Pod;
use sortie::gpu::Gpu;
use sortie::{Engine, Key, Nans, Order, Sorter};
use sortie_simt::{Options, Sanitizer};

use crate::support::{PATTERNS, cuda, keys, on_bench, on_each};

/// The smallest number of keys that is distributed: 2^16 on the test bench.
fn large(gpu: &Gpu) -> usize {
    (gpu.device().properties().multiprocessors as usize) << 15
}

/// Sorts on the device and on the CPU; both must leave the same bits.
fn compare<K: Key + Pod + Debug>(gpu: &Gpu, keys: &[K], order: Order, what: &str) {
    let stream = gpu.device().stream().unwrap();
    // Guarded by keys that are not sorted.
    let guard: Vec<K> = vec![K::zeroed(); 3];
    let all = [&guard, keys, &guard].concat();
    let buffer = gpu.device().alloc::<K>(all.len()).unwrap();
    stream.copy_in(buffer.view(), &all).unwrap();
    // SAFETY: nothing else uses the buffer meanwhile.
    unsafe { gpu.sort(&stream, buffer.range(3..3 + keys.len()), order) }.unwrap().wait().unwrap();
    let mut sorted = all.clone();
    stream.copy_out(&mut sorted, buffer.view()).unwrap();

    let mut expected = keys.to_vec();
    let sorter = Sorter::builder().threads(1).descending(order.descending).nans(order.nans).build().unwrap();
    sorter.sort(&mut expected).unwrap();
    let bits = |keys: &[K]| bytemuck::cast_slice::<K, u8>(keys).to_vec();
    let what = format!("{} {} {order:?} {what}", keys.len(), std::any::type_name::<K>());
    assert!(bits(&sorted[3..3 + keys.len()]) == bits(&expected), "{what}");
    let beyond = [&sorted[..3], &sorted[3 + keys.len()..]].concat();
    assert!(bits(&beyond) == bits(&[&guard[..], &guard].concat()), "{what}: beyond");
}

/// Keys in order and their indices, by the CPU. Stable.
fn in_order<K: Key + Pod>(keys: &[K], order: Order) -> (Vec<K>, Vec<u32>) {
    let mut indices: Vec<u32> = (0..keys.len() as u32).collect();
    let sorter = Sorter::builder().threads(1).descending(order.descending).nans(order.nans).build().unwrap();
    let mut sorted = keys.to_vec();
    sorter.sort_pairs(&mut sorted, &mut indices).unwrap();
    (sorted, indices)
}

/// Sorts pairs on the device. The payloads have `words` words each, and begin at word `at` of an allocation.
fn sorted_pairs<K: Key + Pod>(
    gpu: &Gpu,
    keys: &[K],
    payload: &[u32],
    (words, at): (usize, usize),
    stable: bool,
    order: Order,
) -> (Vec<K>, Vec<u32>) {
    let stream = gpu.device().stream().unwrap();
    let buffer = gpu.device().alloc::<K>(keys.len()).unwrap();
    // Guarded by words that do not move.
    let guard = u32::MAX;
    let guarded = [&vec![guard; at], payload, &[guard]].concat();
    let moved = gpu.device().alloc::<u32>(guarded.len()).unwrap();
    stream.copy_in(buffer.view(), keys).unwrap();
    stream.copy_in(moved.view(), &guarded).unwrap();
    let (there, beside) = (buffer.view(), moved.range(at..at + payload.len()));
    // SAFETY: nothing else uses the buffers meanwhile.
    let pending = unsafe {
        match words {
            1 if !stable => gpu.sort_pairs_unstable(&stream, there, beside, order),
            1 => gpu.sort_pairs(&stream, there, beside, order),
            2 => gpu.sort_pairs(&stream, there, beside.cast::<u64>(), order),
            3 if !stable => gpu.sort_pairs_unstable(&stream, there, beside.cast::<[u32; 3]>(), order),
            3 => gpu.sort_pairs(&stream, there, beside.cast::<[u32; 3]>(), order),
            5 => gpu.sort_pairs(&stream, there, beside.cast::<[u32; 5]>(), order),
            6 => gpu.sort_pairs(&stream, there, beside.cast::<[u64; 3]>(), order),
            _ => gpu.sort_pairs(&stream, there, beside.cast::<[u64; 2]>(), order),
        }
    };
    pending.unwrap().wait().unwrap();
    let (mut sorted, mut found) = (keys.to_vec(), guarded);
    stream.copy_out(&mut sorted, there).unwrap();
    stream.copy_out(&mut found, moved.view()).unwrap();
    assert!(
        found[..at].iter().all(|&word| word == guard) && found.pop() == Some(guard),
        "beyond the payload"
    );
    (sorted, found.split_off(at))
}

/// Sorts pairs stably on the device and on the CPU, and compares. The payloads have `words` words each, and begin at word `at`
/// of an allocation.
fn compare_stable<K: Key + Pod>(
    gpu: &Gpu,
    keys: &[K],
    (words, at): (usize, usize),
    order: Order,
    what: &str,
) {
    let (expected, indices) = in_order(keys, order);
    let payload: Vec<u32> = (0..(keys.len() * words) as u32).collect();
    let (sorted, found) = sorted_pairs(gpu, keys, &payload, (words, at), true, order);
    let what = format!("{} {} {order:?} {what}, {words} words", keys.len(), std::any::type_name::<K>());
    assert!(
        bytemuck::cast_slice::<K, u8>(&sorted) == bytemuck::cast_slice::<K, u8>(&expected),
        "{what}: keys"
    );
    let right = found.chunks(words).zip(&indices).all(|(moved, &index)| {
        moved.iter().enumerate().all(|(w, &word)| word as usize == index as usize * words + w)
    });
    assert!(right, "{what}: payload");
}

/// Sorts pairs, stably and not, and their indices, on the device and on the CPU.
fn compare_pairs<K: Key + Pod + Debug>(gpu: &Gpu, keys: &[K], order: Order, what: &str) {
    let n = keys.len();
    // Payloads of 16 bytes that are not at a multiple of 16 need narrower accesses.
    for at in [(1, 1), (2, 2), (4, 2)] {
        compare_stable(gpu, keys, at, order, what);
    }
    let what = format!("{n} {} {order:?} {what}", std::any::type_name::<K>());
    let (expected, indices) = in_order(keys, order);
    let expected = bytemuck::cast_slice::<K, u8>(&expected);
    // Payloads repeat, so that whole pairs repeat too.
    let payload: Vec<u32> = (0..n as u32).map(|i| i.wrapping_mul(0x9E37_79B9) >> 28).collect();
    let mut pairs: Vec<(Vec<u8>, u32)> = indices
        .iter()
        .map(|&index| (bytemuck::bytes_of(&keys[index as usize]).to_vec(), payload[index as usize]))
        .collect();
    let (sorted, found) = sorted_pairs(gpu, keys, &payload, (1, 0), false, order);
    assert!(bytemuck::cast_slice::<K, u8>(&sorted) == expected, "{what}: keys, unstable");
    let mut found: Vec<_> = found
        .into_iter()
        .zip(expected.chunks(size_of::<K>()))
        .map(|(payload, key)| (key.to_vec(), payload))
        .collect();
    pairs.sort_unstable();
    found.sort_unstable();
    assert!(pairs == found, "{what}: unstable");

    let stream = gpu.device().stream().unwrap();
    let buffer = gpu.device().alloc::<K>(n).unwrap();
    stream.copy_in(buffer.view(), keys).unwrap();
    let found = gpu.device().alloc::<u32>(n).unwrap();
    // SAFETY: as above.
    unsafe { gpu.argsort(&stream, buffer.view(), found.view(), order) }.unwrap().wait().unwrap();
    let (mut untouched, mut argsorted) = (vec![K::zeroed(); n], vec![0; n]);
    stream.copy_out(&mut untouched, buffer.view()).unwrap();
    stream.copy_out(&mut argsorted, found.view()).unwrap();
    assert!(argsorted == indices, "{what}: argsort");
    let found = gpu.device().alloc::<u64>(n).unwrap();
    // SAFETY: as above.
    unsafe { gpu.argsort(&stream, buffer.view(), found.view(), order) }.unwrap().wait().unwrap();
    let mut wide = vec![0; n];
    stream.copy_out(&mut wide, found.view()).unwrap();
    assert!(
        wide.iter().zip(&indices).all(|(&wide, &index)| wide == u64::from(index)),
        "{what}: indices of 64 bits"
    );
    stream.copy_out(&mut untouched, buffer.view()).unwrap();
    assert!(
        bytemuck::cast_slice::<K, u8>(&untouched) == bytemuck::cast_slice::<K, u8>(keys),
        "{what}: keys of an argsort"
    );
}

fn cut<K: Pod>(wide: &[u64]) -> Vec<K> {
    wide.iter().map(|key| bytemuck::pod_read_unaligned(&key.to_le_bytes()[8 - size_of::<K>()..])).collect()
}

#[test]
fn every_pattern() {
    on_each(|gpu| {
        for (seed, pattern) in PATTERNS.into_iter().enumerate() {
            let wide = keys(pattern, large(gpu) + 4321, seed as u64);
            compare::<u32>(gpu, &cut(&wide), Order::default(), pattern);
            compare::<u64>(gpu, &wide, Order::default(), pattern);
        }
    });
}

#[test]
fn every_type_and_order() {
    on_each(|gpu| {
        for descending in [false, true] {
            let wide = keys("random", large(gpu), 11);
            let order = Order { descending, ..Order::default() };
            compare::<u8>(gpu, &cut(&wide), order, "random");
            compare::<i16>(gpu, &cut(&wide), order, "random");
            compare::<i32>(gpu, &cut(&wide), order, "random");
            compare::<i64>(gpu, &cut(&wide), order, "random");
            for nans in [Nans::Last, Nans::First] {
                let order = Order { descending, nans, ..Order::default() };
                compare::<f32>(gpu, &cut(&wide), order, "random");
            }
            compare::<f64>(gpu, &cut(&wide), order, "random");
        }
    });
}

#[test]
fn lengths_at_the_edges_of_tiles() {
    on_each(|gpu| {
        let (large, tiles) = (large(gpu), large(gpu).next_multiple_of(12_288));
        for n in [0, 1, 2, 5000, large - 1, large + 1, tiles - 1, tiles, tiles + 1] {
            compare::<u32>(gpu, &cut(&keys("random", n, n as u64)), Order::default(), "random");
        }
    });
}

#[test]
fn pairs_and_argsort_of_every_pattern() {
    on_each(|gpu| {
        for (seed, pattern) in PATTERNS.into_iter().enumerate() {
            let wide = keys(pattern, large(gpu) + 321, seed as u64);
            compare_pairs::<u32>(gpu, &cut(&wide), Order::default(), pattern);
        }
    });
}

#[test]
fn pairs_and_argsort_of_every_type() {
    on_each(|gpu| {
        let wide = keys("random", large(gpu), 21);
        let descending = Order { descending: true, ..Order::default() };
        compare_pairs::<u8>(gpu, &cut(&wide), Order::default(), "random");
        compare_pairs::<i16>(gpu, &cut(&wide), descending, "random");
        compare_pairs::<f32>(gpu, &cut(&wide), Order { nans: Nans::First, ..descending }, "random");
        compare_pairs::<u64>(gpu, &keys("random", 3000, 22), Order::default(), "wide");
        compare_pairs::<u64>(gpu, &keys("few", large(gpu), 23), Order::default(), "wide");
        compare_pairs::<f32>(gpu, &cut(&keys("random", 1000, 23)), Order::default(), "few");
    });
}

/// Too few keys for a distribution and too many for a block, so they are sorted by stable passes. Tiles are full or nearly
/// empty, or only the last one is not full. Keys differ in an even or odd number of their bytes, or in none.
#[test]
fn pairs_and_argsort_by_passes() {
    on_each(|gpu| {
        let few = large(gpu) / 16;
        for (seed, pattern) in PATTERNS.into_iter().enumerate() {
            let wide = keys(pattern, few + 17, seed as u64);
            compare_pairs::<u32>(gpu, &cut(&wide), Order::default(), pattern);
        }
        for n in [few, 7680, 7681, 2 * 7680, large(gpu) - 1] {
            compare_pairs::<u32>(gpu, &cut(&keys("random", n, 41)), Order::default(), "random");
        }
        let random = keys("random", few + 1, 42);
        for bytes in [0, 0xFF, 0xFF00, 0xFF_0000, 0xFF00_00FF, 0x00FF_FFFF, 0xFFFF_FF00] {
            let keys: Vec<u32> = random.iter().map(|key| *key as u32 & bytes).collect();
            compare_pairs(gpu, &keys, Order::default(), "some bytes");
        }
        let wide = keys("random", few + 2, 43);
        let descending = Order { descending: true, ..Order::default() };
        compare_pairs::<u8>(gpu, &cut(&wide), Order::default(), "random");
        compare_pairs::<i8>(gpu, &cut(&wide), descending, "random");
        compare_pairs::<u16>(gpu, &cut(&wide), descending, "random");
        compare_pairs::<i32>(gpu, &cut(&wide), descending, "random");
        compare_pairs::<f32>(gpu, &cut(&wide), Order::default(), "random");
        compare_pairs::<f32>(gpu, &cut(&wide), Order { nans: Nans::First, ..descending }, "random");
    });
}

/// Payloads that are gathered by indices, with every way to sort pairs.
#[test]
fn payloads_of_any_size() {
    on_each(|gpu| {
        let descending = Order { descending: true, ..Order::default() };
        for n in [0, 1, 700, large(gpu) / 16, large(gpu) + 77] {
            for pattern in ["random", "few", "descending"] {
                let wide = keys(pattern, n, 51);
                compare_stable::<u32>(gpu, &cut(&wide), (3, 1), Order::default(), pattern);
                compare_stable::<i16>(gpu, &cut(&wide), (6, 2), descending, pattern);
            }
            let wide = keys("crowded", n, 52);
            compare_stable::<u64>(gpu, &wide, (5, 1), Order::default(), "crowded");
            let widest: Vec<u128> = wide.iter().map(|&key| u128::from(key % 1000) << 64 | 1).collect();
            compare_stable(gpu, &widest, (3, 1), Order::default(), "of 128 bits");
            // Equal keys keep their order here too, although that is not promised.
            let payload: Vec<u32> = (0..3 * n as u32).collect();
            let keys: Vec<u32> = cut(&wide);
            let (expected, indices) = in_order(&keys, Order::default());
            let (sorted, found) = sorted_pairs(gpu, &keys, &payload, (3, 1), false, Order::default());
            assert!(sorted == expected, "{n} unstable");
            assert!(
                found.chunks(3).zip(indices).all(|(row, index)| row[0] == 3 * index && row[2] == row[0] + 2)
            );
        }
    });
}

/// Pairs with payloads of 16 bytes that are not at a multiple of 16.
pub fn sort_odd_payloads(gpu: &Gpu) {
    compare_stable::<u32>(gpu, &cut(&keys("random", large(gpu) / 4, 32)), (4, 2), Order::default(), "passes");
    compare_stable::<u32>(gpu, &cut(&keys("random", large(gpu), 31)), (4, 2), Order::default(), "random");
}

/// Buckets for blocks of the largest number of threads, for which the bench's other devices have too little shared memory.
#[test]
fn pairs_on_devices_of_much_shared_memory() {
    let shared_per_block = sortie_simt::SHARED_227K;
    on_bench(Options { shared_per_block, sanitizer: Sanitizer::Race, ..Options::default() }, |gpu| {
        for pattern in ["random", "few"] {
            let keys: Vec<u32> = cut(&keys(pattern, large(gpu) + 321, 13));
            for at in [(1, 1), (2, 2), (4, 2)] {
                compare_stable(gpu, &keys, at, Order::default(), pattern);
            }
        }
    });
}

/// Items that agree in their leading bits, in buckets where these bits are whole codes, and in a last bucket that
/// covers most of the range of codes.
#[test]
fn pairs_that_their_places_order() {
    let shared_per_block = sortie_simt::SHARED_227K;
    on_bench(Options { shared_per_block, sanitizer: Sanitizer::Race, ..Options::default() }, |gpu| {
        let mut random = fastrand::Rng::with_seed(14);
        let n = large(gpu) + 9;
        for dense in [1 << 12, 1 << 14, 1 << 18] {
            let keys: Vec<u32> =
                (0..n).map(|i| if i % 10 == 0 { random.u32(..) } else { random.u32(..dense) }).collect();
            compare_stable(gpu, &keys, (1, 0), Order::default(), "dense and wide");
            compare_stable(
                gpu,
                &keys,
                (4, 2),
                Order { descending: true, ..Order::default() },
                "dense and wide",
            );
        }
    });
}

/// Keys in a tight cluster within a wide bucket. Keys that crowd in one bin, or that are too many for a block even after a
/// second distribution, are sorted as segments.
#[test]
fn pairs_in_buckets_that_are_left() {
    on_each(|gpu| {
        let mut random = fastrand::Rng::with_seed(15);
        let n = large(gpu) + 55;
        let nested: Vec<u32> = (0..n)
            .map(|i| match i % 8 {
                0 => random.u32(..),
                1 => (1 << 30) + random.u32(0..1 << 18),
                _ => (1 << 30) + (1 << 16) + random.u32(0..3),
            })
            .collect();
        for at in [(1, 1), (2, 2), (4, 2)] {
            compare_stable(gpu, &nested, at, Order::default(), "nested clusters");
        }
    });
}

#[test]
fn scratch_is_used_again() {
    on_bench(Options::default(), |gpu| {
        let keys: Vec<u32> = cut(&keys("random", large(gpu), 9));
        compare(gpu, &keys, Order::default(), "random");
        let free = gpu.device().free_memory().unwrap();
        for _ in 0..4 {
            compare(gpu, &keys, Order::default(), "random");
        }
        assert_eq!(gpu.device().free_memory().unwrap(), free);
    });
}

/// Codes about which a sample is misleading.
#[test]
fn outliers_and_skew() {
    on_each(|gpu| {
        let mut random = fastrand::Rng::with_seed(5);
        let n = large(gpu) + 77;
        let mut narrow: Vec<u64> = (0..n).map(|_| 1 << 40 | random.u64(0..50)).collect();
        compare::<u64>(gpu, &narrow, Order::default(), "few codes close together");
        (narrow[n / 3], narrow[n - 1], narrow[0]) = (0, u64::MAX, 1 << 39);
        compare::<u64>(gpu, &narrow, Order::default(), "few codes close together, and outliers");
        // A tight cluster, far from an outlier. Most of its keys are in a tighter cluster, or are equal.
        for width in [1 << 12, 200, 1] {
            let mut nested: Vec<u64> = (0..n)
                .map(|_| match random.u32(0..4) {
                    0 => (1 << 50) + random.u64(0..1 << 30),
                    _ => (1 << 50) + (1 << 20) + random.u64(0..width),
                })
                .collect();
            nested.iter_mut().step_by(100).for_each(|key| *key = random.u64(..));
            if width != 200 {
                compare::<u64>(gpu, &nested, Order::default(), "nested clusters");
                continue;
            }
            let nested: Vec<i64> = nested.into_iter().map(|key| key as i64).collect();
            compare(gpu, &nested, Order { descending: true, ..Order::default() }, "nested clusters");
        }
        // The head of a power law: some buckets are longer than a block sorts.
        let skewed: Vec<u32> = (0..n).map(|_| (1.0 / (1e-9 + random.f64())) as u32).collect();
        compare::<u32>(gpu, &skewed, Order::default(), "power law");
    });
}

/// Codes that are far apart, each in a bucket of its own, and one more code, which a sample mostly misses.
#[test]
fn few_distinct_keys_and_one_that_no_sample_shows() {
    on_each(|gpu| {
        let mut random = fastrand::Rng::with_seed(8);
        let n = large(gpu) + 55;
        for distinct in [3, 200] {
            let mut values: Vec<u64> = (0..distinct).map(|_| random.u64(..)).collect();
            values[0] = 0;
            let mut keys: Vec<u64> = (0..n).map(|_| values[random.usize(..distinct)]).collect();
            for what in ["few distinct", "few distinct and another"] {
                let narrow: Vec<u32> = keys.iter().map(|&key| (key >> 32) as u32).collect();
                let floats: Vec<f32> = narrow.iter().map(|&key| f32::from_bits(key)).collect();
                compare(gpu, &keys, Order::default(), what);
                compare(gpu, &narrow, Order::default(), what);
                compare(gpu, &floats, Order { descending: true, ..Order::default() }, what);
                keys[random.usize(..n)] = values[distinct / 2] + 1;
            }
            compare_pairs(gpu, &keys, Order::default(), "few distinct and two others");
        }
    });
}

/// Arrays that one block sorts, also with equal keys.
#[test]
fn few_pairs_and_indices() {
    on_each(|gpu| {
        let mut random = fastrand::Rng::with_seed(11);
        for n in [1, 2, 33, 1024, 1500, 16_384] {
            let uniform: Vec<u64> = (0..n).map(|_| random.u64(..)).collect();
            let skewed: Vec<u64> = uniform.iter().map(|&key| key >> (key % 64)).collect();
            let few: Vec<u64> = uniform.iter().map(|&key| [5, 1 << 50, u64::MAX][key as usize % 3]).collect();
            for (what, keys) in
                [("uniform", uniform), ("skewed", skewed), ("few distinct", few), ("equal", vec![7; n])]
            {
                let narrow: Vec<u32> = keys.iter().map(|&key| (key >> 32) as u32).collect();
                let floats: Vec<f32> = narrow.iter().map(|&key| f32::from_bits(key)).collect();
                compare_pairs(gpu, &keys, Order::default(), what);
                compare_pairs(gpu, &narrow, Order::default(), what);
                compare_pairs(gpu, &floats, Order { descending: true, ..Order::default() }, what);
            }
        }
    });
}

/// Buckets too long for a block, in which all but a few keys are equal. A sample hardly shows the few, but the buckets must not
/// be taken for ordered.
#[test]
fn long_buckets_of_nearly_one_code() {
    on_each(|gpu| {
        let mut random = fastrand::Rng::with_seed(10);
        let n = large(gpu) + 33;
        for (length, is_narrow) in [(2300, false), (4400, true), (20_000, false)] {
            let mut keys: Vec<u64> = (0..n).map(|_| random.u64(..)).collect();
            let centres: Vec<u64> = (0..5).map(|_| random.u64(..) & !0xFFFF).collect();
            for (i, key) in keys.iter_mut().enumerate().take(5 * length) {
                *key = centres[i % 5] + u64::from(i < 20);
            }
            random.shuffle(&mut keys);
            if is_narrow {
                let narrow: Vec<u32> = keys.iter().map(|&key| (key >> 12) as u32).collect();
                compare_pairs(gpu, &narrow, Order::default(), "nearly one code");
            } else {
                compare_pairs(gpu, &keys, Order::default(), "nearly one code");
            }
        }
    });
}

/// Keys that are spread so unevenly that buckets are chosen by a sample.
#[test]
fn keys_that_are_spread_unevenly() {
    on_each(|gpu| {
        let mut random = fastrand::Rng::with_seed(6);
        let n = large(gpu) + 99;
        let unit: Vec<f32> = (0..n).map(|_| random.f32()).collect();
        compare(gpu, &unit, Order::default(), "from 0 to 1");
        compare(gpu, &unit, Order { descending: true, ..Order::default() }, "from 0 to 1");
        compare_pairs(gpu, &unit, Order::default(), "from 0 to 1");
        let normal: Vec<f64> = (0..n).map(|_| (0..12).map(|_| random.f64()).sum::<f64>() - 6.0).collect();
        compare(gpu, &normal, Order::default(), "normal");
        let zipf: Vec<u32> = (0..n).map(|_| (random.f64() * 20.0).exp2() as u32).collect();
        compare(gpu, &zipf, Order::default(), "zipf");
        compare_pairs(gpu, &zipf, Order::default(), "zipf");
        // Nearly all in one cell, at an end of the range or in its middle.
        for middle in [0u64, 1 << 40, u64::MAX - (1 << 20)] {
            let mut crowded: Vec<u64> = (0..n).map(|_| middle + random.u64(0..1 << 20)).collect();
            crowded.iter_mut().step_by(50).for_each(|key| *key = random.u64(..));
            compare(gpu, &crowded, Order::default(), "one cell");
        }
    });
}

#[test]
fn order_that_is_almost_there() {
    on_each(|gpu| {
        let n = large(gpu) + 5;
        let ascending: Vec<u32> = (0..n as u32).map(|i| i * 7).collect();
        // Two neighbours are exchanged: at the ends, within a tile, and between two tiles.
        for at in [1, 8191, 8192, 16_384, n - 1] {
            let mut keys = ascending.clone();
            keys.swap(at - 1, at);
            compare(gpu, &keys, Order::default(), &format!("swapped at {at}"));
            if at == 8192 {
                keys.reverse();
                compare(gpu, &keys, Order::default(), &format!("reversed, swapped at {at}"));
            }
        }
        let twice: Vec<u32> = (0..n as u32).map(|i| i / 2).collect();
        compare(gpu, &twice, Order { descending: true, ..Order::default() }, "each twice");
    });
}

/// More keys of one code in a block's share than a counter of 16 bits can hold: on the test bench there are four
/// blocks.
#[test]
fn counts_past_their_range() {
    on_each(|gpu| {
        let mut random = fastrand::Rng::with_seed(8);
        let keys: Vec<u32> =
            (0..3 * large(gpu)).map(|_| u32::from(random.u32(0..10) == 0) << 30 | 5).collect();
        compare(gpu, &keys, Order::default(), "two values");
        // Whole warps with one code.
        let stretches: Vec<u32> = (0..3 * large(gpu) as u32).map(|i| (i / 100_000 % 3) << 29).collect();
        compare(gpu, &stretches, Order::default(), "stretches");
    });
}

#[test]
fn devices_of_little_shared_memory() {
    let shared_per_block = sortie_simt::SHARED_48K;
    on_bench(Options { shared_per_block, sanitizer: Sanitizer::Race, ..Options::default() }, |gpu| {
        compare::<u32>(gpu, &cut(&keys("random", large(gpu), 3)), Order::default(), "random");
    });
}

#[test]
fn every_interleaving_gives_the_same() {
    for seed in 1..4 {
        on_bench(Options { seed, sanitizer: Sanitizer::Race, ..Options::default() }, |gpu| {
            compare::<u32>(gpu, &cut(&keys("random", large(gpu), seed)), Order::default(), "random");
        });
    }
}

/// Just under 2^32 keys, the number of tiles of a group would overflow to zero, and the keys would stay unsorted.
#[test]
fn too_many_places_are_told() {
    on_bench(Options::default(), |gpu| {
        let stream = gpu.device().stream().unwrap();
        let n = (1 << 32) - (1 << 16) + 1;
        // SAFETY: nothing is sorted there.
        let refused = unsafe {
            let keys = sortie_device::View::<u8>::from_raw(1 << 20, n);
            gpu.argsort(&stream, keys, sortie_device::View::<u32>::from_raw(1 << 20, n), Order::default())
        };
        assert!(matches!(refused, Err(sortie::Error::Unsupported(why)) if why.contains("4294901760")));
    });
}

/// On a GPU whose free memory holds only a part of the keys. `SORTIE_TRIP_KEYS` is the number of keys.
#[test]
fn what_is_larger_than_the_device_goes_there_twice() {
    let Some(device) = cuda() else { return };
    let asked = std::env::var("SORTIE_TRIP_KEYS").ok().and_then(|keys| keys.parse().ok());
    let n: usize = asked.unwrap_or(1 << 27);
    let left = (size_of::<u64>() * n) as u64 / 5;
    let taken = device.alloc::<u8>((device.free_memory().unwrap() - left) as usize).unwrap();
    let all = keys("random", n, 12);
    let sorted_by = |engine| {
        let sorter = Sorter::builder().engine(engine).threads(16).build().unwrap();
        let mut sorted = all.clone();
        let start = std::time::Instant::now();
        let report = sorter.sort(&mut sorted).unwrap();
        println!("{n} keys, {left} bytes left on the device, {engine:?}: {:?}\n{report}", start.elapsed());
        (sorted, report)
    };
    let (expected, _) = sorted_by(Engine::Cpu);
    for _ in 0..2 {
        let (found, report) = sorted_by(Engine::Cuda(0));
        assert!(found == expected);
        assert_eq!(report.phases.last().unwrap().name, "sort ranges");
    }
    drop(taken);
}
