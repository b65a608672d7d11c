//! Several CUDA devices, if there are at least two. Simulated ones are in the library's unit tests.

use std::sync::Arc;

use bytemuck::Pod;
use sortie::gpu::Gpu;
use sortie::gpus::{Gpus, Share};
use sortie::{Devices, Engine, Key, Order, Sorter};
use sortie_device::cuda;

use crate::support::{PATTERNS, cut, keys};

/// The number of CUDA devices, if there are several.
fn several() -> Option<u32> {
    match cuda::devices() {
        Ok(devices) if devices.len() > 1 => Some(devices.len().min(8) as u32),
        Ok(_) => {
            println!("skipped: there is one CUDA device alone");
            None
        }
        Err(why) => {
            println!("skipped on CUDA: {why}");
            None
        }
    }
}

#[test]
fn what_lies_on_several_devices() {
    let Some(count) = several() else { return };
    for count in 2..=count {
        let gpus = Gpus::new((0..count).map(|i| Gpu::cuda(i).unwrap()).collect::<Vec<Arc<Gpu>>>()).unwrap();
        for pattern in PATTERNS {
            for each in [0, 1, 1000, 300_000] {
                sort::<u32>(&gpus, pattern, each);
                sort::<u64>(&gpus, pattern, each);
                sort::<f32>(&gpus, pattern, each);
            }
        }
    }
}

/// Sorts shares of keys of a pattern; the share of device number i has `i * each` keys.
pub fn sort<K: Key + Pod>(gpus: &Gpus, pattern: &str, each: usize) {
    let shares: Vec<Vec<K>> =
        (0..gpus.engines().len()).map(|i| cut(&keys(pattern, i * each, i as u64))).collect();
    let all: Vec<K> = shares.concat();
    let (mut expected, room) = (all.clone(), all.len() / shares.len() * 21 / 20 + 2);
    Sorter::builder().engine(Engine::Cpu).build().unwrap().sort(&mut expected).unwrap();
    let mut there = Vec::new();
    for (gpu, share) in gpus.engines().iter().zip(&shares) {
        let stream = gpu.device().stream().unwrap();
        let buffer = gpu.device().alloc::<K>(room.max(share.len())).unwrap();
        stream.copy_in(buffer.range(0..share.len()), share).unwrap();
        there.push((stream, buffer));
    }
    let parts = there.iter().zip(&shares);
    let mut parts: Vec<_> =
        parts.map(|((_, keys), share)| Share { keys: keys.view(), count: share.len() }).collect();
    // SAFETY: each share is on its device, and nothing else uses it.
    unsafe { gpus.sort(&mut parts, Order::default()).unwrap() };
    let mut found = Vec::new();
    for ((stream, _), part) in there.iter().zip(&parts) {
        let mut own = expected[..part.count].to_vec();
        stream.copy_out(&mut own, part.keys.range(0..part.count)).unwrap();
        found.extend(own);
    }
    let same = bytemuck::cast_slice::<K, u8>(&found) == bytemuck::cast_slice::<K, u8>(&expected);
    assert!(same, "{pattern}, {each} times the number of each of {} devices", shares.len());
}

#[test]
fn host_data_by_several_devices() {
    let Some(count) = several() else { return };
    let devices = Devices::new(&(0..count).collect::<Vec<_>>()).unwrap();
    let all: Vec<u32> = cut(&keys("random", 20_000_000, 1));
    let sorted_by = |engine| {
        let sorter = Sorter::builder().engine(engine).threads(16).build().unwrap();
        let (mut alone, mut paired) = (all.clone(), all.clone());
        let mut payload: Vec<u64> = (0..all.len() as u64).collect();
        let mut indices = vec![0u32; all.len()];
        sorter.sort(&mut alone).unwrap();
        sorter.sort_pairs(&mut paired, &mut payload).unwrap();
        sorter.argsort(&all, &mut indices).unwrap();
        (alone, paired, payload, indices)
    };
    assert!(sorted_by(Engine::CudaDevices(devices)) == sorted_by(Engine::Cpu));
}
