//! One array on several devices: each draws its share and checks its part.

use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytemuck::Pod;
use sortie::gpu::Gpu;
use sortie::gpus::{Exchange, Gpus, Share};
use sortie::{Order, Report};
use sortie_device::Device;

use super::NAMES;
use crate::Result;
use crate::distributions::Distribution;
use crate::keys::BenchKey;
use crate::measure::{Facts, Measurable, Measured};
use crate::report::{Outcome, Row};
use crate::suite_batch::batch::{Batch, Before, Shape};

pub struct Resident<K> {
    devices: Rc<Vec<Device>>,
    /// The number of keys on each device.
    each: usize,
    distribution: Distribution,
    /// The numbers of devices to measure.
    counts: Vec<usize>,
    key: PhantomData<K>,
}

impl<K: BenchKey + Pod> Resident<K> {
    pub fn new(devices: &Rc<Vec<Device>>, each: usize, distribution: Distribution) -> Self {
        let counts = (2..=devices.len().min(NAMES.len() - 1)).collect();
        Resident { devices: devices.clone(), each, distribution, counts, key: PhantomData }
    }

    fn label(&self) -> String {
        let (each, distribution) = (self.each, self.distribution.name());
        format!("keys {} on several devices, {each} each, {distribution}", K::NAME)
    }

    /// Draws all shares. Returns the sum that identifies the keys.
    fn draw(&self, batches: &[Batch<K>], seed: u64) -> Result<u64> {
        let mut sum = 0u64;
        for (number, batch) in batches.iter().enumerate() {
            // With other distributions, all shares are the same, so that equal keys occur on all devices.
            let own = if self.distribution == Distribution::Uniform { number as u64 } else { 0 };
            batch.draw_from(self.distribution, seed.wrapping_mul(1000).wrapping_add(own))?;
            sum = sum.wrapping_add(batch.totals_of_one(batch.keys.range(0..self.each))?.0);
        }
        Ok(sum)
    }

    /// One device sorts its own share.
    fn alone(&self, batch: &Batch<K>, reps: usize, seed: u64) -> Result<Measured> {
        let gpu = Gpu::new(self.devices[0].clone());
        let keys = batch.keys.range(0..self.each);
        let mut measured = self.measured(1);
        for rep in 0..=reps {
            let sum = self.draw(std::slice::from_ref(batch), seed + rep as u64)?;
            let ms = batch.time(Before::Copy, || {
                // SAFETY: nothing else uses the keys meanwhile.
                Ok(unsafe { gpu.sort(&batch.stream, keys, Order::default())? }.wait()?)
            })?;
            measured.verified &= batch.totals_of_one(keys)? == (sum, 0);
            // The first repetition is the warm-up.
            if rep > 0 {
                measured.times_ms.push(ms);
            }
        }
        Ok(measured)
    }

    fn several(&self, batches: &[Batch<K>], reps: usize, seed: u64) -> Result<Measured> {
        let count = batches.len();
        let gpus = self.devices[..count].iter().map(|device| Arc::new(Gpu::new(device.clone()))).collect();
        let gpus = Gpus::new(gpus)?;
        let mut measured = self.measured(count);
        for rep in 0..=reps {
            let sum = self.draw(batches, seed + rep as u64)?;
            let shares = batches.iter().map(|batch| Share { keys: batch.keys.view(), count: self.each });
            let mut shares: Vec<_> = shares.collect();
            // SAFETY: each share is on its device, and nothing else uses it meanwhile.
            let exchange = unsafe { gpus.sort(&mut shares, Order::default())? };
            let counts: Vec<_> = shares.iter().map(|share| share.count).collect();
            measured.verified &= self.is_sorted(batches, &counts, sum)?;
            measured.note = note(&exchange, &counts);
            if rep > 0 {
                measured.times_ms.push(exchange.total_ms);
                measured.reports.push(phases(&exchange));
            }
        }
        Ok(measured)
    }

    fn measured(&self, count: usize) -> Measured {
        Measured { verified: true, bytes: count * self.each * size_of::<K>(), ..Measured::default() }
    }

    /// Whether the parts hold the keys that were drawn, in order, and differ in size by no more than promised.
    fn is_sorted(&self, batches: &[Batch<K>], counts: &[usize], sum: u64) -> Result<bool> {
        let (mut right, mut found) = (counts.iter().sum::<usize>() == self.each * batches.len(), 0u64);
        let mut last: Option<K> = None;
        for (batch, &count) in batches.iter().zip(counts) {
            let (own, descents) = batch.totals_of_one(batch.keys.range(0..count))?;
            found = found.wrapping_add(own);
            right &= descents == 0 && count.abs_diff(self.each) <= self.each / 20 + 1;
            if count > 0 {
                let mut ends = [K::of(0); 2];
                batch.stream.copy_out(&mut ends[..1], batch.keys.range(0..1))?;
                batch.stream.copy_out(&mut ends[1..], batch.keys.range(count - 1..count))?;
                right &= last.is_none_or(|last| last.order(&ends[0]).is_le());
                last = Some(ends[1]);
            }
        }
        Ok(right && found == sum)
    }

    fn row(&self, count: usize, measured: &Measured) -> Row {
        let facts = Facts {
            suite: "multi-gpu",
            work: "keys",
            key: K::NAME,
            payload: "",
            n: count * self.each,
            segments: None,
            length: None,
            distribution: self.distribution.name(),
            includes: "nothing",
        };
        let mut row = Row::new(&facts, NAMES[count], 1, measured);
        row.label = self.label();
        row.engine = "cuda";
        row.device = format!("{count} x {}", self.devices[0].properties().name);
        row
    }
}

impl<K: BenchKey + Pod> Measurable for Resident<K> {
    fn keep(&mut self, filter: &str, _: &[usize]) -> bool {
        let filter = filter.to_lowercase();
        let whole = self.label().contains(&filter);
        self.counts.retain(|&count| whole || NAMES[count].contains(&filter));
        !self.counts.is_empty()
    }

    fn describe(&self) -> String {
        let names = [1].iter().chain(&self.counts).map(|&count| NAMES[count]);
        format!("{}: {}", self.label(), names.collect::<Vec<_>>().join(", "))
    }

    fn measure(&self, reps: usize, seed: u64) -> Result<Outcome> {
        // A part may be larger than a share.
        let length = (self.each + self.each / 16 + 16) as u64;
        let most = self.counts.iter().copied().max().unwrap_or(1);
        let batch = |device| Batch::<K>::in_place(device, Shape::Even { segments: 1, length });
        let batches = self.devices[..most].iter().map(batch).collect::<Result<Vec<_>>>()?;
        let mut rows = vec![self.row(1, &self.alone(&batches[0], reps, seed)?)];
        for &count in &self.counts {
            rows.push(self.row(count, &self.several(&batches[..count], reps, seed)?));
        }
        Ok(Outcome::Timed(rows))
    }
}

/// The phases of a sort, one after the other.
fn phases(exchange: &Exchange) -> Report {
    let Exchange { sample_ms, distribute_ms, waited_ms, total_ms, .. } = *exchange;
    let sort_ms = total_ms - sample_ms - distribute_ms - waited_ms;
    let mut report = Report::default();
    for (name, ms) in [
        ("sample", sample_ms),
        ("distribute", distribute_ms),
        ("exchange, waited for", waited_ms),
        ("sort", sort_ms),
    ] {
        report.add(name, Duration::from_secs_f64(ms.max(0.0) / 1e3), 0, 0);
    }
    report
}

/// A description of a sort's times and parts.
fn note(exchange: &Exchange, counts: &[usize]) -> String {
    let Exchange { sample_ms, distribute_ms, copies_ms, waited_ms, total_ms, bytes, .. } = *exchange;
    let mean = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
    let uneven = counts.iter().map(|&count| (count as f64 / mean - 1.0).abs()).fold(0.0, f64::max);
    format!(
        "sample {sample_ms:.2} ms, distribution {distribute_ms:.2} ms, exchange {copies_ms:.2} ms ({:.0}% of the time, \
         {:.1} GB), of which {waited_ms:.2} ms were waited for, parts within {:.2}%",
        100.0 * copies_ms / total_ms,
        bytes as f64 / 1e9,
        100.0 * uneven,
    )
}
