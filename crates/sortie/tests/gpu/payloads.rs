//! Segments of keys that have payloads, and argsorts of segments.

use std::fmt::Debug;

use bytemuck::Pod;
use sortie::gpu::{self, Gpu};
use sortie::{Error, Key, Order, Sorter};
use sortie_device::{Buffer, Stream};
use sortie_simt::{Options, Sanitizer};

use crate::support::{PATTERNS, cut, keys, on_bench, on_each, widen};

/// Segments on the host, and the same segments on a device.
struct Cut {
    host: Vec<usize>,
    length: Option<usize>,
    offsets: Buffer<u64>,
}

impl Cut {
    fn length(gpu: &Gpu, stream: &Stream, length: usize, count: usize) -> Cut {
        Cut { length: Some(length), ..Cut::offsets(gpu, stream, (0..=count).map(|i| i * length).collect()) }
    }

    fn offsets(gpu: &Gpu, stream: &Stream, host: Vec<usize>) -> Cut {
        let wide: Vec<u64> = host.iter().map(|&offset| offset as u64).collect();
        let offsets = gpu.device().alloc(wide.len()).unwrap();
        stream.copy_in(offsets.view(), &wide).unwrap();
        Cut { host, length: None, offsets }
    }

    fn there(&self) -> gpu::DeviceSegments<'_> {
        let longest = self.host.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap() as u64;
        match self.length {
            Some(length) => gpu::DeviceSegments::Length(length as u64),
            None => gpu::DeviceSegments::Offsets { offsets: self.offsets.view(), longest },
        }
    }

    fn here(&self) -> sortie::Segments<'_> {
        sortie::Segments::Offsets(&self.host)
    }
}

fn on_device<T: Pod>(gpu: &Gpu, stream: &Stream, host: &[T]) -> Buffer<T> {
    let buffer = gpu.device().alloc(host.len()).unwrap();
    stream.copy_in(buffer.view(), host).unwrap();
    buffer
}

fn on_host<T: Pod>(stream: &Stream, buffer: &Buffer<T>) -> Vec<T> {
    let mut host = vec![T::zeroed(); buffer.len()];
    stream.copy_out(&mut host, buffer.view()).unwrap();
    host
}

/// Sorts pairs, and the indices of the same keys, on the device and on the CPU; both must leave the same bits. All
/// payloads differ, so an unstable sort would be noticed.
fn compare<K: Key + Pod + Debug, V: Pod + Send>(
    gpu: &Gpu,
    stream: &Stream,
    keys: &[K],
    cut: &Cut,
    order: Order,
    what: &str,
) {
    let bits = |slice: &[u8]| slice.to_vec();
    let bytes = |i: u128| ((i << 64) | (i * 3)).to_le_bytes().into_iter().cycle().take(size_of::<V>());
    let payload: Vec<V> =
        bytemuck::pod_collect_to_vec(&(0..keys.len() as u128).flat_map(bytes).collect::<Vec<u8>>());
    let (keys_there, payload_there) = (on_device(gpu, stream, keys), on_device(gpu, stream, &payload));
    let indices_there = on_device(gpu, stream, &vec![u32::MAX; keys.len()]);
    // SAFETY: nothing else uses the buffers meanwhile.
    unsafe {
        gpu.argsort_segments(stream, keys_there.view(), indices_there.view(), cut.there(), order)
            .unwrap()
            .wait()
            .unwrap();
        assert!(
            bits(bytemuck::cast_slice(&on_host(stream, &keys_there))) == bits(bytemuck::cast_slice(keys)),
            "{what}: an argsort changed the keys"
        );
        gpu.sort_pairs_segments(stream, keys_there.view(), payload_there.view(), cut.there(), order)
            .unwrap()
            .wait()
            .unwrap();
    }

    let sorter = Sorter::builder().threads(1).descending(order.descending).nans(order.nans).build().unwrap();
    let (mut sorted, mut moved) = (keys.to_vec(), payload);
    sorter.sort_pairs_segments(&mut sorted, &mut moved, cut.here()).unwrap();
    let mut indices = vec![u32::MAX; keys.len()];
    for range in cut.host.windows(2) {
        for (index, slot) in indices[range[0]..range[1]].iter_mut().enumerate() {
            *slot = index as u32;
        }
    }
    sorter.sort_pairs_segments(&mut keys.to_vec(), &mut indices, cut.here()).unwrap();
    assert!(
        bits(bytemuck::cast_slice(&on_host(stream, &keys_there))) == bits(bytemuck::cast_slice(&sorted)),
        "{what}: keys"
    );
    assert!(
        bits(bytemuck::cast_slice(&on_host(stream, &payload_there))) == bits(bytemuck::cast_slice(&moved)),
        "{what}: payload"
    );
    assert!(on_host(stream, &indices_there) == indices, "{what}: indices");
}

/// Every pattern, in segments of one length.
fn one_length<K: Key + Pod + Debug, V: Pod + Send>(gpu: &Gpu, length: usize, count: usize, order: Order) {
    let stream = gpu.device().stream().unwrap();
    let segments = Cut::length(gpu, &stream, length, count);
    for (seed, pattern) in PATTERNS.into_iter().enumerate() {
        let keys: Vec<K> = cut(&keys(pattern, length * count, seed as u64));
        let what = format!("{} of {length}, {pattern}, {order:?}", std::any::type_name::<(K, V)>());
        compare::<K, V>(gpu, &stream, &keys, &segments, order, &what);
    }
}

#[test]
fn short_segments() {
    on_each(|gpu| {
        for length in [1, 2, 3, 5, 8, 9, 16, 31, 33, 50, 63, 64] {
            one_length::<f32, u32>(gpu, length, 130, Order::default());
            one_length::<u64, [u64; 2]>(gpu, length, 33, Order::default());
        }
    });
}

#[test]
fn segments_at_the_edges_of_workers() {
    on_each(|gpu| {
        for length in [65, 96, 97, 128, 129, 192, 193, 257, 385, 512, 769, 1025, 2049] {
            one_length::<u32, u32>(gpu, length, 5, Order::default());
            one_length::<u64, u64>(gpu, length, 5, Order::default());
        }
    });
}

#[test]
fn every_type_and_size() {
    on_each(|gpu| {
        for descending in [false, true] {
            let order = Order { descending, ..Order::default() };
            for length in [7, 300] {
                one_length::<u8, u32>(gpu, length, 5, order);
                one_length::<i16, u64>(gpu, length, 5, order);
                one_length::<f32, [u64; 2]>(gpu, length, 5, order);
                one_length::<f32, [u8; 4]>(gpu, length, 5, order);
                one_length::<f64, u32>(gpu, length, 5, order);
                one_length::<i64, u64>(gpu, length, 5, order);
            }
        }
    });
}

#[test]
fn ragged_segments() {
    on_each(|gpu| {
        let lengths = [0, 1, 2, 3, 16, 17, 33, 64, 65, 97, 129, 200, 300, 513, 777, 1025];
        for (seed, pattern) in PATTERNS.into_iter().enumerate() {
            let stream = gpu.device().stream().unwrap();
            let mut random = fastrand::Rng::with_seed(seed as u64);
            // Keys before the first offset and after the last belong to no segment.
            let mut offsets = vec![random.usize(0..5)];
            for _ in 0..40 {
                offsets.push(offsets[offsets.len() - 1] + lengths[random.usize(0..lengths.len())]);
            }
            let n = offsets[offsets.len() - 1] + 3;
            let segments = Cut::offsets(gpu, &stream, offsets);
            let wide = keys(pattern, n, 7);
            compare::<u32, u32>(gpu, &stream, &cut(&wide), &segments, Order::default(), pattern);
            compare::<f64, [u64; 2]>(gpu, &stream, &cut(&wide), &segments, Order::default(), pattern);
        }
    });
}

#[test]
fn long_segments() {
    on_each(|gpu| {
        let stream = gpu.device().stream().unwrap();
        for pattern in ["random", "few", "crowded"] {
            let segments = Cut::length(gpu, &stream, 17_001, 2);
            let wide = keys(pattern, 34_002, 1);
            compare::<u32, u64>(gpu, &stream, &cut(&wide), &segments, Order::default(), pattern);
            let segments = Cut::offsets(gpu, &stream, vec![2, 2, 3, 9000, 9100, 31_000]);
            compare::<u64, [u64; 2]>(gpu, &stream, &cut(&wide), &segments, Order::default(), pattern);
        }
    });
}

/// Payloads that are gathered by indices: one word larger than a size that moves with its keys, and many words.
#[test]
fn payloads_of_any_size() {
    on_each(|gpu| {
        let stream = gpu.device().stream().unwrap();
        for length in [1, 7, 300] {
            one_length::<f32, [u32; 3]>(gpu, length, 5, Order::default());
        }
        let descending = Order { descending: true, ..Order::default() };
        one_length::<u64, [u32; 5]>(gpu, 33, 70, descending);
        one_length::<i16, [u64; 3]>(gpu, 64, 33, descending);
        one_length::<u8, [u64; 25]>(gpu, 100, 3, Order::default());
        for pattern in ["random", "few"] {
            let wide = keys(pattern, 34_002, 1);
            let segments = Cut::offsets(gpu, &stream, vec![2, 2, 3, 9000, 9100, 31_000]);
            compare::<u32, [u32; 3]>(gpu, &stream, &cut(&wide), &segments, Order::default(), pattern);
            compare::<u64, [u32; 7]>(gpu, &stream, &wide, &segments, Order::default(), pattern);
        }
    });
}

#[test]
fn keys_of_128_bits() {
    on_each(|gpu| {
        let stream = gpu.device().stream().unwrap();
        for (seed, pattern) in PATTERNS.into_iter().enumerate() {
            let wide = widen(&keys(pattern, 900, seed as u64), seed % 2 == 1);
            let signed: Vec<i128> = wide.iter().copied().map(u128::cast_signed).collect();
            let order = Order { descending: seed % 3 == 0, ..Order::default() };
            for length in [5, 60, 300] {
                let segments = Cut::length(gpu, &stream, length, 900 / length);
                compare::<u128, u32>(gpu, &stream, &wide, &segments, Order::default(), pattern);
                compare::<i128, [u64; 2]>(gpu, &stream, &signed, &segments, order, pattern);
            }
            let segments = Cut::offsets(gpu, &stream, vec![2, 2, 3, 30, 500, 899]);
            compare::<i128, [u32; 3]>(gpu, &stream, &signed, &segments, order, pattern);
        }
        let segments = Cut::offsets(gpu, &stream, vec![2, 3, 9000, 9100, 20_000]);
        for pattern in ["random", "crowded"] {
            let wide = widen(&keys(pattern, 20_002, 1), true);
            compare::<u128, u64>(gpu, &stream, &wide, &segments, Order::default(), pattern);
        }
    });
}

#[test]
fn every_interleaving_gives_the_same() {
    for seed in 1..5 {
        on_bench(Options { seed, sanitizer: Sanitizer::Race, ..Options::default() }, |gpu| {
            one_length::<u64, u64>(gpu, 700, 2, Order::default());
        });
    }
}

#[test]
fn payloads_of_other_sizes_are_told() {
    on_bench(Options::default(), |gpu| {
        let stream = gpu.device().stream().unwrap();
        let keys = gpu.device().alloc::<u32>(8).unwrap();
        let (short, odd) = (gpu.device().alloc::<u32>(7).unwrap(), gpu.device().alloc::<[u8; 3]>(8).unwrap());
        let segments = gpu::DeviceSegments::Length(4);
        // SAFETY: nothing else uses the buffers.
        unsafe {
            let refused =
                gpu.sort_pairs_segments(&stream, keys.view(), short.view(), segments, Order::default());
            assert!(matches!(refused, Err(Error::LengthMismatch { expected: 8, found: 7, .. })));
            let refused =
                gpu.sort_pairs_segments(&stream, keys.view(), odd.view(), segments, Order::default());
            assert!(matches!(refused, Err(Error::Unsupported(why)) if why.contains("payloads of 3 bytes")));
            // Rows of 24 bytes that begin at an odd word.
            let words = gpu.device().alloc::<u32>(49).unwrap();
            let crooked = words.range(1..49).cast::<[[u8; 8]; 3]>();
            let refused = gpu.sort_pairs_segments(&stream, keys.view(), crooked, segments, Order::default());
            assert!(
                matches!(refused, Err(Error::Unsupported(why)) if why.contains("not aligned to 8 bytes"))
            );
            let twenty = words.range(1..41).cast::<[[u8; 4]; 5]>();
            gpu.sort_pairs_segments(&stream, keys.view(), twenty, segments, Order::default())
                .unwrap()
                .wait()
                .unwrap();
        }
    });
}
