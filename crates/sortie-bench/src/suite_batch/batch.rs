//! A batch on the device: its keys, drawn there; how a sort of them is timed, and how its result is checked.

use std::cell::Cell;

use bytemuck::Pod;
use rand::{Rng as _, SeedableRng};
use sortie_device::{Buffer, Device, Event, Kernel, Launch, Program, Stream, View};

use crate::Result;
use crate::distributions::{Rng, power_law};
use crate::keys::BenchKey;

/// How many segments of what lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Even {
        segments: u64,
        length: u64,
    },
    /// Lengths by the power law, from a seed.
    Ragged {
        n: usize,
        seed: u64,
    },
}

impl Shape {
    pub fn n(self) -> usize {
        match self {
            Shape::Even { segments, length } => (segments * length) as usize,
            Shape::Ragged { n, .. } => n,
        }
    }
}

/// Segments of a result that are compared with the host's sort, key by key.
const SAMPLE: usize = 16;

/// Blocks of 256 threads that draw and check; a few for each multiprocessor of any device.
const GRID: Launch = Launch { blocks: 2048, threads: 256, shared: 0 };

pub struct Batch<K> {
    pub stream: Stream,
    /// Where every sort starts from; empty where that is `keys`, which are then drawn for every run.
    pub input: Buffer<K>,
    /// Where its result belongs.
    pub keys: Buffer<K>,
    pub segments: u64,
    /// Of each segment, where all have the same.
    pub length: Option<u64>,
    /// Where each segment starts, and the last one ends, where their lengths differ.
    pub offsets: Option<Buffer<u64>>,
    starts: Vec<u64>,
    draw: Kernel,
    check: Kernel,
    totals: Buffer<u64>,
    start: Event,
    end: Event,
    /// Of the input, see the kernel `check`.
    sum: Cell<u64>,
}

/// What a run finds in `keys`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// A copy of the input, to sort in place.
    Copy,
    /// Nothing of use: the result is made from the input.
    Poison,
}

/// What the result must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    Sorted,
    /// As the input, in whatever order.
    Same,
}

impl<K: BenchKey + Pod> Batch<K> {
    pub fn new(device: &Device, shape: Shape) -> Result<Batch<K>> {
        Batch::with_input(device, shape, shape.n())
    }

    /// One that keeps no input, so that the keys can be as many as the device holds.
    pub fn in_place(device: &Device, shape: Shape) -> Result<Batch<K>> {
        Batch::with_input(device, shape, 0)
    }

    fn with_input(device: &Device, shape: Shape, kept: usize) -> Result<Batch<K>> {
        let stream = device.stream()?;
        let (segments, length, starts) = match shape {
            Shape::Even { segments, length } => (segments, Some(length), vec![]),
            Shape::Ragged { n, seed } => {
                let offsets = power_law(n, &mut Rng::seed_from_u64(seed));
                let starts: Vec<_> = offsets.into_iter().map(|offset| offset as u64).collect();
                (starts.len() as u64 - 1, None, starts)
            }
        };
        let offsets = match length {
            Some(_) => None,
            None => Some(device.alloc(starts.len())?),
        };
        if let Some(offsets) = &offsets {
            stream.copy_in(offsets.view(), &starts)?;
        }
        let module = device.load(&Program {
            name: format!("batch of {}", K::NAME),
            source: include_str!("../../kernels/batch.cu"),
            headers: &[],
            defines: vec![("KEY".into(), c_name::<K>().into())],
        })?;
        Ok(Batch {
            input: device.alloc(kept)?,
            keys: device.alloc(shape.n())?,
            segments,
            length,
            offsets,
            starts,
            draw: module.kernel("draw")?,
            check: module.kernel("check")?,
            totals: device.alloc(2)?,
            start: device.event()?,
            end: device.event()?,
            sum: Cell::new(0),
            stream,
        })
    }

    /// Keys in the longest segment.
    pub fn longest(&self) -> u64 {
        let lengths = self.starts.windows(2).map(|pair| pair[1] - pair[0]);
        self.length.or_else(|| lengths.max()).unwrap_or(0)
    }

    /// Draws the input, uniform.
    pub fn draw(&self, seed: u64) -> Result<()> {
        let to = if self.input.is_empty() { self.keys.view() } else { self.input.view() };
        // SAFETY: the arguments are the kernel's, which stays within the keys.
        unsafe { self.draw.launch(&self.stream, GRID, (to, to.len() as u64, seed))? };
        self.sum.set(self.totals_of(to)?.0);
        Ok(())
    }

    /// Milliseconds that the device takes for what `work` enqueues.
    pub fn time(&self, before: Before, work: impl FnOnce() -> Result<()>) -> Result<f64> {
        match before {
            Before::Copy if self.input.is_empty() => {}
            Before::Copy => self.stream.copy_within(self.keys.view(), self.input.view())?,
            Before::Poison => self.stream.fill(self.keys.view(), 0xFF)?,
        }
        self.stream.record(&self.start)?;
        work()?;
        self.stream.record(&self.end)?;
        self.end.wait()?;
        Ok(self.end.milliseconds_since(&self.start)?.into())
    }

    /// Whether `keys` holds what it must: each segment its own keys, all of them in order, and, where there is the input,
    /// those of some segments as the host sorts them.
    pub fn verify(&self, after: After, seed: u64) -> Result<bool> {
        let (sum, descents) = self.totals_of(self.keys.view())?;
        let as_asked =
            after == After::Same || (descents == 0 && (self.input.is_empty() || self.verify_sample(seed)?));
        Ok(sum == self.sum.get() && as_asked)
    }

    /// The sum and the descents, see the kernel `check`.
    fn totals_of(&self, keys: View<'_, K>) -> Result<(u64, u64)> {
        self.stream.fill(self.totals.view(), 0)?;
        let length = self.length.unwrap_or(0);
        let offsets = self.offsets.as_ref().map_or(0, |offsets| offsets.address());
        // SAFETY: the arguments are the kernel's; the segments lie within the keys, and `totals` holds two.
        unsafe {
            self.check.launch(&self.stream, GRID, (keys, self.segments, length, offsets, &self.totals))?
        };
        let mut totals = [0; 2];
        self.stream.copy_out(&mut totals, self.totals.view())?;
        Ok(totals.into())
    }

    fn verify_sample(&self, seed: u64) -> Result<bool> {
        let mut rng = Rng::seed_from_u64(seed);
        for _ in 0..SAMPLE {
            let at = (rng.next_u64() % self.segments) as usize;
            let range = match self.length {
                Some(length) => at * length as usize..(at + 1) * length as usize,
                None => self.starts[at] as usize..self.starts[at + 1] as usize,
            };
            let mut expected = vec![K::of(0); range.len()];
            let mut found = expected.clone();
            self.stream.copy_out(&mut expected, self.input.range(range.clone()))?;
            self.stream.copy_out(&mut found, self.keys.range(range))?;
            K::std_sort(&mut expected);
            if expected.iter().zip(&found).any(|(expected, found)| expected.order(found).is_ne()) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// What C calls the type.
fn c_name<K: BenchKey>() -> &'static str {
    match K::NAME {
        "f32" => "float",
        "u64" => "unsigned long long",
        other => unreachable!("no batches of {other} are measured"),
    }
}
