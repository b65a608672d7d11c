//! A batch on the device. Its keys are drawn there. Times sorts of the batch and checks their results.

use std::cell::Cell;
use std::cmp::Ordering;
use std::ops::Range;

use bytemuck::Pod;
use rand::{Rng as _, SeedableRng};
use sortie_device::{Buffer, Device, Event, Kernel, Launch, Program, Stream, View};

use crate::Result;
use crate::distributions::{Distribution, Rng, power_law};
use crate::keys::BenchKey;

/// An operation that Sortie performs on one array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OneArray {
    Keys,
    /// With payloads of 4 bytes.
    Pairs,
    UnstablePairs,
    Argsort,
    /// With indices of 64 bits.
    WideArgsort,
    /// Keys, only by comparison.
    Compared,
}

impl OneArray {
    pub fn is_argsort(self) -> bool {
        matches!(self, OneArray::Argsort | OneArray::WideArgsort)
    }
}

/// Sorts the batch once. Returns the milliseconds, and whether the result is correct.
pub type Run<'a> = Box<dyn FnMut(u64) -> Result<(f64, bool)> + 'a>;

/// The number and the lengths of segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Even {
        segments: u64,
        length: u64,
    },
    /// Lengths with a power-law distribution, drawn from a seed.
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

/// The number of segments that are compared with the host's sort key by key, except those longer than `SAMPLED_UP_TO`.
const SAMPLE: u64 = 16;
const SAMPLED_UP_TO: u64 = 1 << 20;

/// The launch of kernels that draw and check: a few blocks of 256 threads for each multiprocessor of any device.
const GRID: Launch = Launch { blocks: 2048, threads: 256, shared: 0 };

pub struct Batch<K> {
    pub stream: Stream,
    /// The input of every sort. If empty, the input is drawn to `keys` before each run.
    pub input: Buffer<K>,
    /// The result of the sort.
    pub keys: Buffer<K>,
    pub segments: u64,
    /// The length of the segments, if all have the same.
    pub length: Option<u64>,
    /// The start of each segment followed by the end of the last one, if their lengths differ.
    pub offsets: Option<Buffer<u64>>,
    starts: Vec<u64>,
    draw: Kernel,
    number: Kernel,
    check: Kernel,
    check_places: Kernel,
    check_wide_places: Kernel,
    totals: Buffer<u64>,
    start: Event,
    end: Event,
    /// The sum over the input, see the kernel `check`.
    sum: Cell<u64>,
}

/// What `keys` contains before a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// A copy of the input, to sort in place.
    Copy,
    /// Nothing useful: the sort reads the input and writes to `keys`.
    Poison,
}

/// What the result must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    Sorted,
    Descending,
    /// The keys of the input, in any order.
    Same,
}

impl<K: BenchKey + Pod> Batch<K> {
    pub fn new(device: &Device, shape: Shape) -> Result<Batch<K>> {
        Batch::with_input(device, shape, shape.n())
    }

    /// A batch that does not keep its input, so the keys can fill the device memory.
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
            overlaps: false,
        })?;
        Ok(Batch {
            input: device.alloc(kept)?,
            keys: device.alloc(shape.n())?,
            segments,
            length,
            offsets,
            starts,
            draw: module.kernel("draw")?,
            number: module.kernel("number")?,
            check: module.kernel("check")?,
            check_places: module.kernel("check_places")?,
            check_wide_places: module.kernel("check_wide_places")?,
            totals: device.alloc(2)?,
            start: device.event()?,
            end: device.event()?,
            sum: Cell::new(0),
            stream,
        })
    }

    /// The number of keys in the longest segment.
    pub fn longest(&self) -> u64 {
        let lengths = self.starts.windows(2).map(|pair| pair[1] - pair[0]);
        self.length.or_else(|| lengths.max()).unwrap_or(0)
    }

    /// Draws uniform keys as the input.
    pub fn draw(&self, seed: u64) -> Result<()> {
        self.draw_from(Distribution::Uniform, seed)
    }

    /// Draws the input from a distribution that devices can draw.
    pub fn draw_from(&self, distribution: Distribution, seed: u64) -> Result<()> {
        let to = if self.input.is_empty() { self.keys.view() } else { self.input.view() };
        // SAFETY: these are the kernel's arguments, and it stays within the keys.
        unsafe { self.draw.launch(&self.stream, GRID, (to, to.len() as u64, seed, distribution as i32))? };
        self.sum.set(self.totals_of(to)?.0);
        Ok(())
    }

    /// The milliseconds that the device takes for the work that `work` enqueues.
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

    /// Whether `keys` is correct: each segment has its own keys and is in order. If the input is kept, some segments
    /// are also compared with the host's sort.
    pub fn verify(&self, after: After, seed: u64) -> Result<bool> {
        let (sum, descents) = self.totals_of(self.keys.view())?;
        let in_order = descents == 0 || after == After::Descending;
        let as_asked = after == After::Same
            || (in_order && (self.input.is_empty() || self.verify_sample(after, seed)?));
        Ok(sum == self.sum.get() && as_asked)
    }

    /// Fills the payload, `words` words for each key, with the index of the key.
    pub fn number(&self, payload: View<'_, u32>, words: usize) -> Result<()> {
        // SAFETY: these are the kernel's arguments, and it stays within the payload.
        unsafe { self.number.launch(&self.stream, GRID, (payload, words, self.keys.len()))? };
        Ok(())
    }

    /// Checks some segments: whether each payload is the index of its key in the input, and whether equal keys kept
    /// their order. For an argsort, indices count from the start of the segment, and the keys have not moved.
    pub fn verify_places(
        &self,
        payload: View<'_, u32>,
        words: usize,
        argsort: bool,
        seed: u64,
    ) -> Result<bool> {
        let mut rng = Rng::seed_from_u64(seed);
        for _ in 0..self.segments.min(SAMPLE) {
            let range = self.range(rng.next_u64() % self.segments);
            let mut input = vec![K::of(0); range.len()];
            self.stream.copy_out(&mut input, self.input.range(range.clone()))?;
            let mut sorted = input.clone();
            self.stream.copy_out(&mut sorted, self.keys.range(range.clone()))?;
            let mut moved = vec![0; range.len() * words];
            self.stream.copy_out(&mut moved, payload.range(range.start * words..range.end * words))?;
            let start = if argsort { 0 } else { range.start };
            let places: Vec<_> = moved.iter().step_by(words).map(|&place| place as usize - start).collect();
            if argsort {
                sorted = places.iter().map(|&place| input[place]).collect();
            }
            let all_there = places.iter().zip(&sorted).all(|(&place, key)| key.order(&input[place]).is_eq());
            let stable = (1..places.len()).all(|i| match sorted[i - 1].order(&sorted[i]) {
                Ordering::Equal => places[i - 1] < places[i],
                order => order.is_lt(),
            });
            if !all_there || !stable {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the payload of every key of one array is its index in the input, and the keys are in order. 64-bit
    /// indices are two words of the payload.
    pub fn verify_one_array(&self, payload: View<'_, u32>, work: OneArray) -> Result<bool> {
        if matches!(work, OneArray::Keys | OneArray::Compared) {
            return Ok(true);
        }
        let check = if work == OneArray::WideArgsort { &self.check_wide_places } else { &self.check_places };
        let sorted = if work.is_argsort() { 0 } else { self.keys.address() };
        let stable = i32::from(work != OneArray::UnstablePairs);
        let wrong = self.totals.view();
        self.stream.fill(wrong, 0)?;
        let arguments = (&self.input, sorted, payload, self.keys.len() as u64, stable, wrong);
        // SAFETY: these are the kernel's arguments. A payload that is not an index would be out of bounds, which the
        // kernel reports.
        unsafe { check.launch(&self.stream, GRID, arguments)? };
        let mut found = [0; 2];
        self.stream.copy_out(&mut found, wrong)?;
        Ok(found == [0; 2])
    }

    /// The keys of a segment.
    fn range(&self, segment: u64) -> Range<usize> {
        let at = segment as usize;
        match self.length {
            Some(length) => at * length as usize..(at + 1) * length as usize,
            None => self.starts[at] as usize..self.starts[at + 1] as usize,
        }
    }

    /// The sum and the number of descents of keys in one array, see the kernel `check`.
    pub fn totals_of_one(&self, keys: View<'_, K>) -> Result<(u64, u64)> {
        self.totals_between(keys, 1, keys.len() as u64, 0)
    }

    /// The sum and the number of descents of all segments.
    fn totals_of(&self, keys: View<'_, K>) -> Result<(u64, u64)> {
        let offsets = self.offsets.as_ref().map_or(0, |offsets| offsets.address());
        self.totals_between(keys, self.segments, self.length.unwrap_or(0), offsets)
    }

    fn totals_between(
        &self,
        keys: View<'_, K>,
        segments: u64,
        length: u64,
        offsets: u64,
    ) -> Result<(u64, u64)> {
        self.stream.fill(self.totals.view(), 0)?;
        let arguments = (keys, segments, length, offsets, &self.totals);
        // SAFETY: these are the kernel's arguments; the segments lie within the keys, and `totals` has two words.
        unsafe { self.check.launch(&self.stream, GRID, arguments)? };
        let mut totals = [0; 2];
        self.stream.copy_out(&mut totals, self.totals.view())?;
        Ok(totals.into())
    }

    fn verify_sample(&self, after: After, seed: u64) -> Result<bool> {
        if self.longest() > SAMPLED_UP_TO {
            return Ok(true);
        }
        let mut rng = Rng::seed_from_u64(seed);
        for _ in 0..self.segments.min(SAMPLE) {
            let range = self.range(rng.next_u64() % self.segments);
            let mut expected = vec![K::of(0); range.len()];
            let mut found = expected.clone();
            self.stream.copy_out(&mut expected, self.input.range(range.clone()))?;
            self.stream.copy_out(&mut found, self.keys.range(range))?;
            K::std_sort(&mut expected);
            if after == After::Descending {
                expected.reverse();
            }
            if expected.iter().zip(&found).any(|(expected, found)| expected.order(found).is_ne()) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The name of the type in C.
fn c_name<K: BenchKey>() -> &'static str {
    match K::NAME {
        "f32" => "float",
        "f64" => "double",
        "u32" => "unsigned",
        "u64" => "unsigned long long",
        "u128" => "Wide",
        other => unreachable!("no batches of {other} are measured"),
    }
}
