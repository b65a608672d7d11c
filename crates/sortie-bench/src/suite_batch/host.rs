//! Segments in host memory, sorted on the GPU. The copies to the GPU and back are part of the time.

use std::ops::DerefMut;
use std::rc::Rc;
use std::time::Instant;

use rand::{Rng as _, SeedableRng};
use rayon::prelude::*;
use sortie::gpu::Gpu;
use sortie::{Engine, Order, Segments, Sorter};
use sortie_device::rates;

use super::Shared;
use crate::Result;
use crate::distributions::Rng;
use crate::measure::{Facts, Measurable, Measured};
use crate::report::{Outcome, Row};

/// 20 GB of keys.
const KEYS: usize = 5_000_000_000;
const LENGTH: usize = 1000;
/// The number of keys drawn and checked at a time.
const PART: usize = 1 << 20;

const LABEL: &str = "host to host f32, segments of 1000";

pub struct HostToHost {
    shared: Rc<Shared>,
    keys: usize,
    /// Whether to measure keys in pinned memory, and keys in ordinary memory.
    pinned: bool,
    pageable: bool,
}

impl HostToHost {
    pub fn new(shared: Rc<Shared>, n: Option<usize>) -> HostToHost {
        let keys = n.unwrap_or(KEYS).next_multiple_of(LENGTH);
        HostToHost { shared, keys, pinned: true, pageable: true }
    }

    /// Times a sort of these keys, which are drawn again for each repetition. The first repetition is a warm-up.
    fn time<T: DerefMut<Target = [f32]>>(
        &self,
        keys: &mut T,
        reps: usize,
        seed: u64,
        mut sort: impl FnMut(&mut T) -> Result<()>,
    ) -> Result<Measured> {
        let bytes = size_of_val(&keys[..]);
        let mut measured = Measured { verified: true, bytes, ..Measured::default() };
        for rep in 0..=reps {
            let drawn = draw(keys, seed + rep as u64);
            let start = Instant::now();
            sort(keys)?;
            let ms = start.elapsed().as_secs_f64() * 1e3;
            measured.verified &= sum(keys) == drawn && keys.par_chunks(LENGTH).all(|keys| keys.is_sorted());
            if rep > 0 {
                measured.times_ms.push(ms);
            }
        }
        Ok(measured)
    }

    fn row(&self, contender: &'static str, includes: &'static str, measured: &Measured, name: &str) -> Row {
        let facts = Facts {
            suite: "batch",
            work: "segments, host to host",
            key: "f32",
            payload: "",
            n: self.keys,
            segments: Some(self.keys / LENGTH),
            length: Some(LENGTH),
            distribution: "uniform",
            includes,
        };
        let mut row = Row::new(&facts, contender, 1, measured);
        row.label = LABEL.into();
        row.engine = "cuda";
        row.device = name.into();
        let there_and_back = 2.0 * measured.bytes as f64 / (row.median_ms / 1e3);
        row.note = format!("{:.1} GB/s there and back", there_and_back / 1e9);
        row
    }
}

impl Measurable for HostToHost {
    fn keep(&mut self, filter: &str, _: &[usize]) -> bool {
        let filter = filter.to_lowercase();
        if !LABEL.contains(&filter) {
            self.pinned = "sortie, pinned".contains(&filter);
            self.pageable = "sortie, pageable".contains(&filter);
        }
        self.pinned || self.pageable
    }

    fn describe(&self) -> String {
        let sides = [("sortie, pinned", self.pinned), ("sortie, pageable", self.pageable)];
        let names: Vec<_> = sides.iter().filter(|side| side.1).map(|side| side.0).collect();
        format!("{LABEL}: transfers, {}", names.join(", "))
    }

    fn measure(&self, reps: usize, seed: u64) -> Result<Outcome> {
        let device = &self.shared.rig()?.device;
        let name = device.properties().name.clone();
        let bytes = self.keys * size_of::<f32>();
        let transfers_ms = 2.0 * bytes as f64 / rates::measure(device)?.pinned_both * 1e3;
        let transfers =
            Measured { times_ms: vec![transfers_ms], bytes, verified: true, ..Measured::default() };
        let mut rows = vec![self.row("transfers", "as measured with 128 MiB", &transfers, &name)];
        if self.pinned {
            let gpu = Gpu::new(device.clone());
            let mut keys = device.alloc_pinned::<f32>(self.keys)?;
            let measured = self.time(&mut keys, reps, seed, |keys| {
                gpu.sort_pinned_segments(keys, Segments::Length(LENGTH), Order::default())?;
                Ok(())
            })?;
            rows.push(self.row("sortie, pinned", "transfers", &measured, &name));
        }
        if self.pageable {
            let sorter = Sorter::builder().engine(Engine::Cuda(device.properties().ordinal)).build()?;
            let measured = self.time(&mut vec![0.0; self.keys], reps, seed, |keys| {
                sorter.sort_segments(keys, Segments::Length(LENGTH))?;
                Ok(())
            })?;
            rows.push(self.row("sortie, pageable", "transfers, and pinned memory", &measured, &name));
        }
        Ok(Outcome::Timed(rows))
    }
}

/// Draws keys, and returns their sum.
fn draw(keys: &mut [f32], seed: u64) -> u64 {
    keys.par_chunks_mut(PART).enumerate().for_each(|(part, keys)| {
        let mut rng = Rng::seed_from_u64(seed << 32 | part as u64);
        keys.fill_with(|| (rng.next_u32() >> 8) as f32);
    });
    sum(keys)
}

/// A sum that does not depend on the order of the keys.
fn sum(keys: &[f32]) -> u64 {
    keys.par_chunks(PART).map(|keys| keys.iter().map(|key| u64::from(key.to_bits())).sum::<u64>()).sum()
}
