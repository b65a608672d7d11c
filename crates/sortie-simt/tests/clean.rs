//! Correct kernels pass with many seeds and sizes, and compute the right results.

mod common;

use sortie_device::{Device, Error, Launch};
use sortie_simt::{Options, SHARED_48K, SHARED_99K, SHARED_227K, Sanitizer};

fn device(seed: u64, sanitizer: Sanitizer) -> Device {
    let shared_per_block = [SHARED_48K, SHARED_99K, SHARED_227K][seed as usize % 3];
    let multiprocessors = 1 + (seed % 5) as u32;
    let options = Options { seed, sanitizer, shared_per_block, multiprocessors, ..Options::default() };
    sortie_simt::device(options).unwrap()
}

fn sort(device: &Device, keys: &mut [u32], length: usize) {
    let stream = device.stream().unwrap();
    let buffer = device.alloc::<u32>(keys.len()).unwrap();
    stream.copy_in(buffer.view(), keys).unwrap();
    let per_lane = length.div_ceil(32).next_power_of_two() as u32;
    let program = common::program("sort", include_str!("kernels/sort.cu"), &[("KEYS", per_lane)]);
    let kernel = device.load(&program).unwrap().kernel("sort_segments").unwrap();
    let segments = (keys.len() / length) as u32;
    let shape = Launch { blocks: segments.div_ceil(4), threads: 128, shared: 0 };
    // SAFETY: the arguments are the kernel's, and it stays within the buffer.
    unsafe { kernel.launch(&stream, shape, (&buffer, length as u32, segments)).unwrap() };
    stream.copy_out(keys, buffer.view()).unwrap();
}

#[test]
fn segments_are_sorted_by_shuffles() {
    for sanitizer in [Sanitizer::None, Sanitizer::Race] {
        for seed in 0..12 {
            let mut random = fastrand::Rng::with_seed(seed);
            let length = random.usize(1..=[32, 64, 256, 1000][seed as usize % 4]);
            let mut keys: Vec<u32> = (0..length * random.usize(1..20)).map(|_| random.u32(..)).collect();
            let mut expected = keys.clone();
            expected.chunks_mut(length).for_each(<[u32]>::sort);
            sort(&device(seed, sanitizer), &mut keys, length);
            assert_eq!(keys, expected, "length {length}, seed {seed}, {sanitizer:?}");
        }
    }
}

fn scan(device: &Device, numbers: &[u32], threads: u32) -> Vec<u32> {
    let stream = device.stream().unwrap();
    let tiles = (numbers.len() as u32).div_ceil(threads);
    let from = device.alloc::<u32>(numbers.len()).unwrap();
    let to = device.alloc::<u32>(numbers.len()).unwrap();
    let control = device.alloc::<u32>(1 + 3 * tiles as usize).unwrap();
    stream.copy_in(from.view(), numbers).unwrap();
    stream.fill(control.view(), 0).unwrap();
    let kernel = device
        .load(&common::program("scan", include_str!("kernels/scan.cu"), &[]))
        .unwrap()
        .kernel("scan")
        .unwrap();
    let part = |n: usize| control.range(1 + n * tiles as usize..1 + (n + 1) * tiles as usize);
    let shape = Launch { blocks: tiles, threads, shared: 256 };
    let arguments = (&from, &to, numbers.len() as u32, control.range(0..1), part(0), part(1), part(2));
    // SAFETY: the arguments are the kernel's, and it stays within the buffers.
    unsafe { kernel.launch(&stream, shape, arguments).unwrap() };
    let mut sums = vec![0; numbers.len()];
    stream.copy_out(&mut sums, to.view()).unwrap();
    sums
}

#[test]
fn blocks_look_back() {
    for sanitizer in [Sanitizer::None, Sanitizer::Race] {
        for seed in 0..24 {
            let mut random = fastrand::Rng::with_seed(seed);
            let numbers: Vec<u32> = (0..random.usize(1..10_000)).map(|_| random.u32(..)).collect();
            let threads = 32 * random.u32(1..=8);
            let sums = scan(&device(seed, sanitizer), &numbers, threads);
            let mut sum = 0u32;
            let expected: Vec<u32> = numbers
                .iter()
                .map(|&number| {
                    sum = sum.wrapping_add(number);
                    sum
                })
                .collect();
            assert_eq!(sums, expected, "seed {seed}, {threads} threads, {sanitizer:?}");
        }
    }
}

/// The test bench is slow, but fast enough for tests.
#[test]
fn a_thousand_keys_take_about_a_millisecond() {
    let device = device(0, Sanitizer::None);
    let mut random = fastrand::Rng::with_seed(0);
    let mut keys: Vec<u32> = (0..400_000).map(|_| random.u32(..)).collect();
    sort(&device, &mut keys[..4000], 1000);
    let start = std::time::Instant::now();
    sort(&device, &mut keys, 1000);
    let each = start.elapsed() / 400;
    assert!(keys.chunks(1000).all(<[u32]>::is_sorted));
    println!("{each:?} a segment of 1000 keys");
    assert!(each.as_micros() < 10_000, "{each:?}");
}

#[test]
fn memory_is_limited() {
    let device = sortie_simt::device(Options { memory: 1 << 20, ..Options::default() }).unwrap();
    let half = device.alloc::<u8>(1 << 19).unwrap();
    assert_eq!(device.free_memory().unwrap(), 1 << 19);
    let error = device.alloc::<u8>((1 << 19) + 1).unwrap_err().to_string();
    assert!(error.contains("524289") && error.contains("524288"), "{error}");
    drop(half);
    assert_eq!(device.free_memory().unwrap(), 1 << 20);
}

#[test]
fn copies_between_devices_stay_within_both() {
    let bench = |failing| sortie_simt::device(Options { failing, ..Options::default() }).unwrap();
    let (here, there) = (bench(Some(2)), bench(None));
    let (to, from) = (here.alloc::<u32>(100).unwrap(), there.alloc::<u32>(50).unwrap());
    let (stream, their_stream) = (here.stream().unwrap(), there.stream().unwrap());
    their_stream.copy_in(from.view(), &[7; 50]).unwrap();
    assert!(here.is_linked_to(&there).unwrap());
    // SAFETY: the test bench copies before the call returns.
    let copy = |to, from| unsafe { stream.copy_from_peer(to, &there, from) };
    copy(to.range(10..60), from.view()).unwrap();
    let mut found = vec![0; 50];
    stream.copy_out(&mut found, to.range(10..60)).unwrap();
    assert_eq!(found, [7; 50]);
    // The third operation of this device was asked to fail. Memory of another device is not a valid source.
    assert!(copy(to.range(10..60), from.view()).is_err());
    let error = copy(to.range(0..50), to.range(50..100)).unwrap_err().to_string();
    assert!(error.contains("no allocation holds"), "{error}");
}

#[test]
fn events_of_another_device_are_refused() {
    let bench =
        |multiprocessors| sortie_simt::device(Options { multiprocessors, ..Options::default() }).unwrap();
    let (here, there) = (bench(4), bench(5));
    let (own, foreign, stream) = (here.event().unwrap(), there.event().unwrap(), here.stream().unwrap());
    let error = stream.record(&foreign).unwrap_err();
    assert!(matches!(error, Error::ForeignEvent { .. }), "{error}");
    stream.record(&own).unwrap();
    there.stream().unwrap().record(&foreign).unwrap();
    assert!(matches!(own.milliseconds_since(&foreign), Err(Error::ForeignEvent { .. })));
    // Devices of the same kind can wait for each other.
    stream.wait_for(&foreign).unwrap();
}
