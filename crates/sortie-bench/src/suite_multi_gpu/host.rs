//! One array in host memory, sorted by one device and by several. The copies to the devices and back are part of the
//! time.

use std::marker::PhantomData;
use std::time::Instant;

use rand::{Rng as _, SeedableRng};
use rayon::prelude::*;
use sortie::{Devices, Engine, Key, Sorter};

use crate::Result;
use crate::distributions::Rng;
use crate::keys::BenchKey;
use crate::measure::{Facts, Measurable, Measured};
use crate::report::{Outcome, Row};

/// The number of keys drawn and checked at a time.
const PART: usize = 1 << 20;

pub struct HostToHost<K> {
    n: usize,
    /// The number of all devices, and their name.
    device: String,
    counts: Vec<usize>,
    key: PhantomData<K>,
}

impl<K: BenchKey + Key> HostToHost<K> {
    /// An array of `n` keys, sorted by 1, 2, 4 and so on up to `devices` devices.
    pub fn new(n: usize, devices: usize, device: String) -> Self {
        let counts = std::iter::successors(Some(1), |count| Some(2 * count));
        HostToHost {
            n,
            device,
            counts: counts.take_while(|&count| count <= devices).collect(),
            key: PhantomData,
        }
    }

    fn label(&self) -> String {
        format!("keys {}, host to host, {}", K::NAME, self.n)
    }

    /// Times the sort on `count` devices. The first repetition is a warm-up.
    fn time(&self, count: usize, keys: &mut [K], reps: usize, seed: u64) -> Result<Measured> {
        let engine = match count {
            1 => Engine::Cuda(0),
            _ => Engine::CudaDevices(Devices::new(&(0..count as u32).collect::<Vec<_>>())?),
        };
        let sorter = Sorter::builder().engine(engine).build()?;
        let bytes = size_of_val(keys);
        let mut measured = Measured { verified: true, bytes, ..Measured::default() };
        for rep in 0..=reps {
            let drawn = draw(keys, seed + rep as u64);
            let start = Instant::now();
            let report = sorter.sort(keys)?;
            let ms = start.elapsed().as_secs_f64() * 1e3;
            let in_order = keys.par_windows(2).all(|pair| pair[0].order(&pair[1]).is_le());
            measured.verified &= sum(keys) == drawn && in_order;
            if rep > 0 {
                measured.times_ms.push(ms);
                measured.reports.push(report);
                measured.note = format!("{:.1} GB/s there and back", 2.0 * bytes as f64 / ms / 1e6);
            }
        }
        Ok(measured)
    }
}

impl<K: BenchKey + Key> Measurable for HostToHost<K> {
    fn keep(&mut self, filter: &str, _: &[usize]) -> bool {
        self.label().contains(&filter.to_lowercase())
    }

    fn describe(&self) -> String {
        let names = self.counts.iter().map(|&count| super::NAMES[count]);
        format!("{}: {}", self.label(), names.collect::<Vec<_>>().join(", "))
    }

    fn measure(&self, reps: usize, seed: u64) -> Result<Outcome> {
        let mut keys = vec![K::of(0); self.n];
        let mut rows = Vec::new();
        for &count in &self.counts {
            let measured = self.time(count, &mut keys, reps, seed)?;
            let facts = Facts {
                suite: "multi-gpu",
                work: "keys, host to host",
                key: K::NAME,
                payload: "",
                n: self.n,
                segments: None,
                length: None,
                distribution: "uniform",
                includes: "transfers, and pinned memory",
            };
            let mut row = Row::new(&facts, super::NAMES[count], rayon::current_num_threads(), &measured);
            row.label = self.label();
            row.engine = "cuda";
            row.device = format!("{count} x {}", self.device);
            rows.push(row);
        }
        Ok(Outcome::Timed(rows))
    }
}

/// Draws keys, and returns their sum.
fn draw<K: BenchKey>(keys: &mut [K], seed: u64) -> u64 {
    keys.par_chunks_mut(PART).enumerate().for_each(|(part, keys)| {
        let mut rng = Rng::seed_from_u64(seed << 32 | part as u64);
        keys.fill_with(|| K::at(rng.next_u64()));
    });
    sum(keys)
}

/// A sum that does not depend on the order of the keys.
fn sum<K: BenchKey>(keys: &[K]) -> u64 {
    let of =
        |key: &K| bytemuck::bytes_of(key).iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
    let sums = keys.par_chunks(PART).map(|keys| keys.iter().map(of).fold(0, u64::wrapping_add));
    sums.reduce(|| 0, u64::wrapping_add)
}
