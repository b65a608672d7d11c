//! Tests on simulated devices.

use sortie_device::{Buffer, Stream};
use sortie_simt::{Options, Sanitizer, or_skip};

use super::split::Cut;
use super::*;
use crate::Key;
use crate::gpu::kernels::array::RANGES;
use crate::key::as_bits;
use crate::{Nans, Sorter};

/// Engines on this number of devices. `None` if there is no test bench.
fn devices(count: usize, options: Options) -> Option<Gpus> {
    let bench = |_| or_skip(sortie_simt::device(options.clone())).map(|device| Arc::new(Gpu::new(device)));
    Some(Gpus::new((0..count).map(bench).collect::<Option<_>>()?).unwrap())
}

fn options() -> Options {
    Options { sanitizer: Sanitizer::Race, multiprocessors: 1, ..Options::default() }
}

/// Keys in the memory of the devices.
struct There<K> {
    streams: Vec<Stream>,
    keys: Vec<Buffer<K>>,
    counts: Vec<usize>,
}

impl<K: Key + Pod> There<K> {
    fn new(gpus: &Gpus, shares: &[Vec<K>], room: usize) -> There<K> {
        let mut there = There { streams: vec![], keys: vec![], counts: vec![] };
        for (gpu, share) in gpus.engines().iter().zip(shares) {
            let stream = gpu.device().stream().unwrap();
            let keys = gpu.device().alloc(room.max(share.len())).unwrap();
            stream.copy_in(keys.range(0..share.len()), share).unwrap();
            there.streams.push(stream);
            there.keys.push(keys);
            there.counts.push(share.len());
        }
        there
    }

    fn sort(&mut self, gpus: &Gpus, order: Order) -> Result<Exchange, Error> {
        let mut shares: Vec<_> = self.keys.iter().zip(&self.counts).map(share).collect();
        // SAFETY: the shares are on their devices, and nothing else uses them.
        let sorted = unsafe { gpus.sort(&mut shares, order) };
        self.counts = shares.iter().map(|share| share.count).collect();
        sorted
    }

    fn read(&self) -> Vec<K> {
        let mut all = Vec::new();
        for ((stream, keys), &count) in self.streams.iter().zip(&self.keys).zip(&self.counts) {
            let mut here = bytemuck::zeroed_vec(count);
            stream.copy_out(&mut here, keys.range(0..count)).unwrap();
            all.extend(here);
        }
        all
    }
}

fn share<'a, K: Pod>((keys, &count): (&'a Buffer<K>, &usize)) -> Share<'a, K> {
    Share { keys: keys.view(), count }
}

/// Sorts these shares and compares with the CPU. Also checks that the parts are as even as promised.
fn check<K: Key + Pod>(gpus: &Gpus, shares: &[Vec<K>], order: Order) {
    let mut expected = shares.concat();
    let (n, devices) = (expected.len(), shares.len());
    let builder = Sorter::builder().threads(1).descending(order.descending).nans(order.nans);
    builder.build().unwrap().sort(&mut expected).unwrap();
    let mut there = There::new(gpus, shares, n / devices + n / devices / 20 + 2);
    there.sort(gpus, order).unwrap();
    assert!(as_bits(&there.read()) == as_bits(&expected), "{n} keys on {devices} devices, {order:?}");
    let mean = n / devices;
    assert!(there.counts.iter().all(|&count| count.abs_diff(mean) <= mean / 20 + 1), "{:?}", there.counts);
}

/// Shares of `each` keys. `draw` gets the index of each key among all, and a random number.
fn shares<K>(devices: usize, each: usize, draw: impl Fn(usize, u64) -> K) -> Vec<Vec<K>> {
    let mut random = fastrand::Rng::with_seed(each as u64);
    let share = |d: usize| (0..each).map(|i| draw(d * each + i, random.u64(..))).collect();
    (0..devices).map(share).collect()
}

#[test]
fn every_size_as_on_the_cpu() {
    for count in [2, 3, 4, 8] {
        let Some(gpus) = devices(count, options()) else { return };
        let order = Order::default();
        for each in [0, 1, 3, 100, 40_000] {
            check(&gpus, &shares(count, each, |_, random| random as u32), order);
        }
    }
}

#[test]
fn every_pattern_as_on_the_cpu() {
    for count in [2, 3] {
        let Some(gpus) = devices(count, options()) else { return };
        let order = Order::default();
        let each = 40_000;
        check(&gpus, &shares(count, each, |_, random| random), order);
        check(&gpus, &shares(count, each, |_, _| 5u32), order);
        check(&gpus, &shares(count, each, |_, random| (random % 2) as u32 * 7), order);
        check(&gpus, &shares(count, each, |i, _| i as u32), order);
        check(&gpus, &shares(count, each, |i, _| !(i as u32)), order);
        // Approximately a Zipf distribution.
        let zipf = |_, random: u64| (20.0 * (random >> 11) as f64 / (1u64 << 53) as f64).exp2() as u32;
        check(&gpus, &shares(count, each, zipf), order);
        check(&gpus, &shares(count, each, |_, random| random as u8), order);
        check(&gpus, &shares(count, each, |_, random| random as i16), order);
    }
}

/// Enough keys that a step is distributed by digits.
#[test]
fn many_keys() {
    let Some(gpus) = devices(2, options()) else { return };
    check(&gpus, &shares(2, 290_000, |_, random| random as u32), Order::default());
    check(&gpus, &shares(2, 290_000, |_, random| random % 1000), Order::default());
}

#[test]
fn floats_in_every_order() {
    let Some(gpus) = devices(3, options()) else { return };
    for descending in [false, true] {
        for nans in [Nans::First, Nans::Last] {
            let order = Order { descending, nans, ..Order::default() };
            check(&gpus, &shares(3, 20_000, |_, random| f32::from_bits(random as u32)), order);
            check(&gpus, &shares(3, 10_000, |_, random| f64::from_bits(random)), order);
            check(&gpus, &shares(3, 10_000, |_, random| random as i64), order);
        }
    }
}

#[test]
fn shares_that_differ() {
    let Some(gpus) = devices(4, options()) else { return };
    let draw = |n: usize, seed| {
        let mut random = fastrand::Rng::with_seed(seed);
        (0..n).map(|_| random.u32(..)).collect::<Vec<_>>()
    };
    let sizes = [[120_000, 100, 0, 5000], [0, 0, 0, 90_000], [1, 0, 0, 0], [70_000, 70_000, 0, 3]];
    for (i, sizes) in sizes.into_iter().enumerate() {
        check(&gpus, &sizes.map(|n| draw(n, i as u64)), Order::default());
    }
}

/// The ranges get too little room, because the sample does not represent the keys.
#[test]
fn too_little_room_for_a_range_is_mended() {
    let Some(gpus) = devices(2, options()) else { return };
    let keys: Vec<Vec<u32>> = shares(2, 70_000, |_, random| random as u32);
    let there = There::new(&gpus, &keys, 70_000);
    let shares: Vec<_> = there.keys.iter().zip(&there.counts).map(share).collect();
    let divided = Divided { code: code::<u32>().unwrap(), order: Order::default(), payload_bytes: 0 };
    let mut members = Members::new(gpus.engines(), &shares, &[], divided).unwrap();
    for member in &mut members.members {
        member.reserve(1000, 0).unwrap();
        member.guess_starts(&Cut::new(&[7, 8, 9], 2), &[1; 1000]);
    }
    let mut sorted = keys.concat();
    sorted.sort_unstable();
    let cut = Cut::new(&sorted, 2);
    // SAFETY: the shares are on their devices, and nothing else uses them.
    unsafe {
        assert_eq!(members.move_to_ranges(&cut, &[0, 1]).unwrap(), [0, 1]);
        assert_eq!(members.move_to_ranges(&cut, &[0, 1]).unwrap(), []);
    }
    for member in &members.members {
        assert_eq!(member.counts.iter().sum::<usize>(), 70_000);
        assert_eq!(member.starts[RANGES], 70_000);
    }
}

#[test]
fn a_share_without_room_is_refused_before_anything_moves() {
    let Some(gpus) = devices(2, options()) else { return };
    let keys = vec![(0..5000u32).rev().collect::<Vec<_>>(), vec![3; 100]];
    let mut there = There::new(&gpus, &keys, 0);
    let error = there.sort(&gpus, Order::default()).unwrap_err();
    assert!(error.to_string().contains("device 1 gets 2550 keys, but has room for 100"), "{error}");
    assert!(there.read() == keys.concat());
}

/// Payloads are the index of their key among all keys.
fn check_pairs<K: Key + Pod, V: Pod>(gpus: &Gpus, keys: &[Vec<K>], payload: impl Fn(u32) -> V) {
    let (all, devices) = (keys.concat(), keys.len());
    let room = all.len() / devices + all.len() / devices / 20 + 2;
    let mut there = There::new(gpus, keys, room);
    let mut first = 0;
    let mut payloads = Vec::new();
    for (i, share) in keys.iter().enumerate() {
        let numbered: Vec<V> = (first..first + share.len() as u32).map(&payload).collect();
        first += share.len() as u32;
        let buffer = gpus.engines()[i].device().alloc::<V>(there.keys[i].len()).unwrap();
        there.streams[i].copy_in(buffer.range(0..numbered.len()), &numbered).unwrap();
        payloads.push(buffer);
    }
    let mut shares: Vec<_> = there.keys.iter().zip(&there.counts).map(share).collect();
    let views: Vec<_> = payloads.iter().map(Buffer::view).collect();
    // SAFETY: the shares are on their devices, and nothing else uses them.
    unsafe { gpus.sort_pairs_unstable(&mut shares, &views, Order::default()).unwrap() };
    there.counts = shares.iter().map(|share| share.count).collect();
    let sorted = there.read();
    let mut indices = Vec::new();
    for ((stream, payloads), &count) in there.streams.iter().zip(&payloads).zip(&there.counts) {
        let mut here: Vec<V> = bytemuck::zeroed_vec(count);
        stream.copy_out(&mut here, payloads.range(0..count)).unwrap();
        indices.extend(here.iter().map(|v| bytemuck::pod_read_unaligned::<u32>(&bytemuck::bytes_of(v)[..4])));
    }
    let mut expected = all.clone();
    Sorter::builder().threads(1).build().unwrap().sort(&mut expected).unwrap();
    assert!(as_bits(&sorted) == as_bits(&expected));
    let named: Vec<K> = indices.iter().map(|&index| all[index as usize]).collect();
    assert!(as_bits(&named) == as_bits(&sorted), "payloads move with their keys");
    indices.sort_unstable();
    assert!(indices.iter().copied().eq(0..all.len() as u32), "each payload once");
}

#[test]
fn payloads_move_with_their_keys() {
    for count in [2, 4] {
        let Some(gpus) = devices(count, options()) else { return };
        for each in [1, 10_000] {
            check_pairs(&gpus, &shares(count, each, |_, random| random as u32), |index| index);
            check_pairs(&gpus, &shares(count, each, |_, random| (random % 3) as u32), u64::from);
            check_pairs(&gpus, &shares(count, each, |_, random| random), u128::from);
            check_pairs(&gpus, &shares(count, each, |_, random| random as u8), |index| index);
        }
    }
}

/// Enough keys for every step, but few enough to sort them often.
fn small_shares() -> Vec<Vec<u32>> {
    shares(2, 3000, |_, random| random as u32)
}

/// Checks that all memory is free again after the engines are dropped.
fn assert_all_given_back(gpus: Gpus, there: There<u32>) {
    let devices: Vec<_> = gpus.engines().iter().map(|gpu| gpu.device().clone()).collect();
    drop((gpus, there));
    for device in devices {
        assert_eq!(device.free_memory(), Ok(device.properties().memory_total));
    }
}

/// The first allocation on both devices is refused, then the second, and so on.
#[test]
fn an_allocation_that_fails_leaves_the_keys() {
    let keys = small_shares();
    let mut sorted = keys.concat();
    sorted.sort_unstable();
    // The first allocation is that of the keys.
    for allocations in 1.. {
        let Some(gpus) = devices(2, Options { allocations, ..Options::default() }) else { return };
        let mut there = There::new(&gpus, &keys, 4000);
        match there.sort(&gpus, Order::default()) {
            Ok(_) => {
                assert!(there.read() == sorted);
                assert!(allocations > 1, "it takes no scratch");
                return;
            }
            Err(Error::Memory { .. }) => assert!(there.read() == keys.concat(), "by {allocations}"),
            Err(other) => panic!("by {allocations}: {other}"),
        }
        assert_all_given_back(gpus, there);
    }
}

/// The first launch, copy or fill fails on both devices, then the second, and so on.
#[test]
fn work_that_fails_is_an_error_and_the_engines_go_on() {
    let keys = small_shares();
    let mut sorted = keys.concat();
    sorted.sort_unstable();
    // The first operation copies the keys.
    for failing in 1.. {
        let Some(gpus) = devices(2, Options { failing: Some(failing), ..Options::default() }) else { return };
        let mut there = There::new(&gpus, &keys, 4000);
        let result = there.sort(&gpus, Order::default());
        if result.is_ok() {
            // Only the copies of the result are left to fail.
            assert!(failing > 20, "few points");
            return;
        }
        assert!(matches!(result, Err(Error::Device(_))), "point {failing}: {result:?}");
        // The other device has not reached its failing operation yet.
        let failed = |there: &mut There<u32>| there.sort(&gpus, Order::default()).is_err();
        while failed(&mut there) {}
        let mut again = There::new(&gpus, &keys, 4000);
        again.sort(&gpus, Order::default()).unwrap();
        assert!(again.read() == sorted, "after point {failing}");
        drop(again);
        assert_all_given_back(gpus, there);
    }
}
