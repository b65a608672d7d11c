//! One array sorted by comparison alone.

use std::cmp::Ordering;
use std::fmt::Debug;

use bytemuck::Pod;
use sortie::gpu::{Compared, Gpu};
use sortie::{Error, Key, Order};
use sortie_simt::{Options, Sanitizer};

use crate::support::{PATTERNS, cut, keys, on_bench, on_each};

/// So many keys that every device sorts them in two levels.
const MANY: usize = 20_000;

fn sorted<K: Key + Pod>(keys: &[K], order: Order) -> (Vec<K>, Vec<u32>) {
    let mut indices: Vec<u32> = (0..keys.len() as u32).collect();
    indices.sort_by(|&a, &b| keys[a as usize].compare(&keys[b as usize], order));
    (indices.iter().map(|&index| keys[index as usize]).collect(), indices)
}

fn bits<K: Pod>(keys: &[K]) -> &[u8] {
    bytemuck::cast_slice(keys)
}

/// Compares keys sorted alone on the device with the result of std.
fn compare<K: Compared + Key + Debug>(gpu: &Gpu, keys: &[K], order: Order, what: &str) {
    let stream = gpu.device().stream().unwrap();
    // Guarded by keys that are not sorted.
    let guard: Vec<K> = vec![K::zeroed(); 4];
    let all = [&guard, keys, &guard].concat();
    let buffer = gpu.device().alloc::<K>(all.len()).unwrap();
    stream.copy_in(buffer.view(), &all).unwrap();
    let part = buffer.range(4..4 + keys.len());
    // SAFETY: nothing else uses the buffer meanwhile.
    unsafe { gpu.sort_by_comparison(&stream, part, order) }.unwrap().wait().unwrap();
    let mut found = all.clone();
    stream.copy_out(&mut found, buffer.view()).unwrap();
    let expected = [&guard[..], &sorted(keys, order).0, &guard].concat();
    let what = format!("{} {} {order:?} {what}", keys.len(), std::any::type_name::<K>());
    assert!(bits(&found) == bits(&expected), "{what}");
}

/// Compares pairs and an argsort.
fn compare_pairs<K: Compared + Key + Debug>(gpu: &Gpu, keys: &[K], order: Order, what: &str) {
    let n = keys.len();
    let what = format!("{n} {} {order:?} {what}", std::any::type_name::<K>());
    let (expected, indices) = sorted(keys, order);
    let stream = gpu.device().stream().unwrap();
    let buffer = gpu.device().alloc::<K>(n).unwrap();
    let mut found = vec![K::zeroed(); n];

    stream.copy_in(buffer.view(), keys).unwrap();
    let moved = gpu.device().alloc::<[u32; 3]>(n).unwrap();
    let payload: Vec<[u32; 3]> = (0..n as u32).map(|i| [i, !i, i ^ 5]).collect();
    stream.copy_in(moved.view(), &payload).unwrap();
    // SAFETY: nothing else uses the buffers meanwhile.
    unsafe { gpu.sort_pairs_by_comparison(&stream, buffer.view(), moved.view(), order) }
        .unwrap()
        .wait()
        .unwrap();
    let mut payload = payload.clone();
    stream.copy_out(&mut found, buffer.view()).unwrap();
    stream.copy_out(&mut payload, moved.view()).unwrap();
    assert!(bits(&found) == bits(&expected), "{what}: keys of pairs");
    let right = payload.iter().zip(&indices).all(|(&payload, &i)| payload == [i, !i, i ^ 5]);
    assert!(right, "{what}: payload");

    stream.copy_in(buffer.view(), keys).unwrap();
    let argsorted = gpu.device().alloc::<u32>(n).unwrap();
    // SAFETY: as above.
    unsafe { gpu.argsort_by_comparison(&stream, buffer.view(), argsorted.view(), order) }
        .unwrap()
        .wait()
        .unwrap();
    let mut found_places = vec![0; n];
    stream.copy_out(&mut found, buffer.view()).unwrap();
    stream.copy_out(&mut found_places, argsorted.view()).unwrap();
    assert!(bits(&found) == bits(keys), "{what}: keys of an argsort");
    assert!(found_places == indices, "{what}: argsort");
}

/// Wide keys: the last bytes follow the pattern, and the bytes before them have few values.
fn wide<const N: usize>(pattern: &str, n: usize, seed: u64) -> Vec<[u8; N]> {
    keys(pattern, n, seed)
        .into_iter()
        .map(|key| {
            let mut bytes = [0; N];
            bytes[N - 8..].copy_from_slice(&key.to_be_bytes());
            bytes[1] = (key >> 7) as u8 & 3;
            bytes
        })
        .collect()
}

#[test]
fn every_pattern() {
    on_each(|gpu| {
        for (seed, pattern) in PATTERNS.into_iter().enumerate() {
            let narrow = keys(pattern, MANY, seed as u64);
            compare::<u32>(gpu, &cut(&narrow), Order::default(), pattern);
            compare::<[u8; 16]>(gpu, &wide(pattern, MANY / 2, 7), Order::default(), pattern);
            compare_pairs::<u64>(gpu, &narrow[MANY / 3..], Order::default(), pattern);
        }
    });
}

#[test]
fn every_type_and_order() {
    on_each(|gpu| {
        for (descending, n) in [(false, 12_000), (true, 5_000)] {
            let order = Order { descending, ..Order::default() };
            let narrow = keys("random", n, 3);
            compare::<i32>(gpu, &cut(&narrow), order, "random");
            compare::<i64>(gpu, &narrow.iter().map(|&key| key as i64).collect::<Vec<_>>(), order, "random");
            compare::<f32>(gpu, &cut(&narrow), order, "random");
            compare::<f64>(gpu, bytemuck::cast_slice::<u64, f64>(&narrow), order, "random");
            let doubled = |key: &u64| u128::from(key % 50) << 64 | u128::from(key.reverse_bits());
            compare::<u128>(gpu, &narrow.iter().map(doubled).collect::<Vec<_>>(), order, "random");
            let signed = |key: &u64| (doubled(key) << 63) as i128;
            compare::<i128>(gpu, &narrow.iter().map(signed).collect::<Vec<_>>(), order, "random");
            compare::<[u8; 12]>(gpu, &wide("random", n / 2, 1), order, "random");
            compare::<[u8; 20]>(gpu, &wide("few", n / 2, 2), order, "few");
            compare::<[u8; 32]>(gpu, &wide("random", n / 2, 3), order, "random");
            compare::<[u8; 64]>(gpu, &wide("crowded", n / 2, 4), order, "crowded");
            compare_pairs::<[u8; 16]>(gpu, &wide("few", n / 2, 5), order, "few");
            compare_pairs::<[u8; 64]>(gpu, &wide("random", n / 4, 6), order, "random");
            compare_pairs::<u32>(gpu, &cut(&keys("few", n / 2, 7)), order, "few");
        }
    });
}

#[test]
fn lengths_at_the_edges_of_blocks() {
    on_each(|gpu| {
        for n in [0, 1, 2, 3, 30, 31, 257, 3841, 4864, 4865, 7935, 7936, 7937, 16_384] {
            let narrow = keys("random", n, n as u64);
            compare::<u32>(gpu, &cut(&narrow), Order::default(), "edge");
            compare::<u64>(gpu, &narrow, Order::default(), "edge");
            if n < 2000 {
                compare::<[u8; 64]>(gpu, &wide("random", n, 1), Order::default(), "edge");
                compare_pairs::<u32>(gpu, &cut(&narrow), Order::default(), "edge");
            }
        }
    });
}

/// Puts the greatest key where splitters.cu takes its samples, if it takes this many samples of all keys.
fn plant<K: Copy>(keys: &mut [K], greatest: K, sampled: usize) {
    let stretch = keys.len() / sampled;
    for i in 0..sampled {
        let random = (i as u32 + 1).wrapping_mul(0x9E37_79B9);
        keys[stretch * i + ((u64::from(random) * stretch as u64) >> 32) as usize] = greatest;
    }
}

/// One bucket gets nearly all keys. When runs are merged, they come from the first run, the second, or both.
#[test]
fn buckets_that_no_sample_foresees() {
    on_each(|gpu| {
        let mut random = fastrand::Rng::with_seed(5);
        for ascending in [false, true] {
            let mut narrow: Vec<u32> =
                (0..40_000).map(|i| if ascending { i } else { random.u32(0..1 << 20) }).collect();
            for sampled in [128, 256, 512] {
                plant(&mut narrow, u32::MAX, sampled);
            }
            compare::<u32>(gpu, &narrow, Order::default(), "unforeseen");
            compare_pairs::<u32>(gpu, &narrow, Order::default(), "unforeseen");
        }
        for n in [21_000, 23_000, 25_002] {
            let mut rows: Vec<u64> = (0..n).collect();
            for sampled in [256, 512, 1024, 1536, 2048, 3584] {
                plant(&mut rows, u64::MAX, sampled);
            }
            let bytes = |key: &u64| {
                let mut bytes = [0u8; 20];
                bytes[12..].copy_from_slice(&key.to_be_bytes());
                bytes
            };
            let rows: Vec<[u8; 20]> = rows.iter().map(bytes).collect();
            compare::<[u8; 20]>(gpu, &rows, Order::default(), "unforeseen");
        }
    });
}

#[test]
fn little_shared_memory() {
    let options = Options { sanitizer: Sanitizer::Race, shared_per_block: 48 << 10, ..Options::default() };
    on_bench(options, |gpu| {
        compare::<u32>(gpu, &cut(&keys("random", MANY, 1)), Order::default(), "48 KB");
        compare::<[u8; 64]>(gpu, &wide("random", 10_000, 2), Order::default(), "48 KB");
        compare_pairs::<[u8; 64]>(gpu, &wide("few", 5_000, 2), Order::default(), "48 KB");
    });
}

/// A record that is sorted by its mass, then by its number in descending order.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Peak {
    number: u32,
    scan: u32,
    mass: f64,
}

// SAFETY: a strict weak order of the words of a `Peak`.
unsafe impl Compared for Peak {
    fn key_compare(_: Order) -> String {
        "const u64 mass = number<u64>(a, 1), other = number<u64>(b, 1);
         if (mass != other) return mass < other;
         return a.words[0] > b.words[0];"
            .into()
    }
}

#[test]
fn a_comparison_of_the_callers() {
    on_each(|gpu| {
        let mut random = fastrand::Rng::with_seed(9);
        let peaks: Vec<Peak> = (0..30_000)
            .map(|i| Peak { number: random.u32(0..9), scan: i, mass: f64::from(random.u32(0..900)) / 8.0 })
            .collect();
        let order = |a: &Peak, b: &Peak| a.mass.total_cmp(&b.mass).then(b.number.cmp(&a.number));
        let stream = gpu.device().stream().unwrap();
        let buffer = gpu.device().alloc::<Peak>(peaks.len()).unwrap();
        stream.copy_in(buffer.view(), &peaks).unwrap();
        // SAFETY: nothing else uses the buffer meanwhile.
        unsafe { gpu.sort_by_comparison(&stream, buffer.view(), Order::default()) }.unwrap().wait().unwrap();
        let mut found = peaks.clone();
        stream.copy_out(&mut found, buffer.view()).unwrap();
        assert!(found.is_sorted_by(|a, b| order(a, b) != Ordering::Greater));
        // No peak is lost that differs from an equal one only in its scan.
        let mut scans: Vec<u32> = found.iter().map(|peak| peak.scan).collect();
        scans.sort_unstable();
        assert!(scans.into_iter().eq(0..30_000));

        struct_that_does_not_compile(gpu, &stream);
    });
}

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
struct Wrong(u32);

// SAFETY: it does not compile, so it never runs.
unsafe impl Compared for Wrong {
    fn key_compare(_: Order) -> String {
        "return a.wrods[0] < b.words[0];".into()
    }
}

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
struct Commented(u32);

// SAFETY: as for `Wrong`.
unsafe impl Compared for Commented {
    fn key_compare(_: Order) -> String {
        "// By the number.
         return a.words[0] < b.words[0];"
            .into()
    }
}

/// Once, a comment made the rest of the line disappear, and the whole comparison is one line.
#[test]
fn a_comparison_with_a_comment_is_refused() {
    on_bench(Options::default(), |gpu| {
        let stream = gpu.device().stream().unwrap();
        let buffer = gpu.device().alloc::<Commented>(10).unwrap();
        // SAFETY: nothing else uses the buffer.
        let error = unsafe { gpu.sort_by_comparison(&stream, buffer.view(), Order::default()) }.unwrap_err();
        assert!(error.to_string().contains("comments"), "{error}");
    });
}

fn struct_that_does_not_compile(gpu: &Gpu, stream: &sortie_device::Stream) {
    let buffer = gpu.device().alloc::<Wrong>(10).unwrap();
    // SAFETY: nothing else uses the buffer.
    let error = unsafe { gpu.sort_by_comparison(stream, buffer.view(), Order::default()) }.unwrap_err();
    assert!(error.to_string().contains("wrods"), "{error}");
}

#[test]
fn keys_that_are_not_compared_are_named() {
    on_bench(Options::default(), |gpu| {
        let stream = gpu.device().stream().unwrap();
        let buffer = gpu.device().alloc::<[u8; 6]>(8).unwrap();
        // SAFETY: nothing else uses the buffer.
        let odd = unsafe { gpu.sort_by_comparison(&stream, buffer.view(), Order::default()) };
        assert!(matches!(odd, Err(Error::Unsupported(_))));
        // SAFETY: as above.
        let askew = unsafe {
            let askew = sortie_device::View::<[u8; 16]>::from_raw(buffer.address() + 4, 2);
            gpu.sort_by_comparison(&stream, askew, Order::default())
        };
        assert!(askew.unwrap_err().to_string().contains("aligned"));
    });
}
