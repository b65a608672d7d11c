//! Words that are made on the host: they go to the device through pinned buffers as they are made, and their places in order
//! come back, with what ties.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::time::Instant;

use super::host_array::reserve;
use super::host_segments::{Allowed, bytes_mut};
use super::host_strings::take_places;
use super::stage::Stage;
use super::strings::{check_count, scratch_of_words, sort_words};
use super::{Gpu, memory};
use crate::{Bound, Error, Index, Order, Ran, Report};

const HINT: &str = "some 90 bytes for each string; sort in parts, or use the CPU engine";

/// Which words tie.
pub(crate) struct Ties {
    /// Where each that does belongs, run by run, and where the runs begin there.
    slots: Vec<u32>,
    starts: Vec<u64>,
}

impl Ties {
    /// Runs of places whose words tie.
    pub fn count(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Bytes that are held.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.slots) + size_of_val(&*self.starts)
    }

    pub fn get(&self, i: usize) -> Range<usize> {
        let (start, end) = (self.starts[i] as usize, self.starts[i + 1] as usize);
        let slot = self.slots[start] as usize;
        slot..slot + (end - start)
    }
}

/// Writes the places of words in order, as many as there are places. `write` is called with the first one's number and eight
/// bytes for each; where it says that there is no such word, nothing is sorted. A multiple of `base` ties with no other. Stable.
pub(crate) fn argsort_words<I: Index>(
    gpu: &Gpu,
    base: u32,
    mut write: impl FnMut(usize, &mut [MaybeUninit<u8>]) -> bool,
    order: Order,
    places: &mut [I],
    allowed: Allowed,
) -> Result<Option<(Ties, Report)>, Error> {
    const WORD: usize = size_of::<u64>();
    let n = places.len();
    check_count(n)?;
    let staged = n * WORD;
    let device_bytes = n * (WORD + size_of::<u32>()) + size_of::<u32>() * scratch_of_words(gpu, n)?;
    // Of the host: no more slots than places, and half as many starts.
    let held = n * (size_of::<u32>() + size_of::<u64>() / 2);
    let needed = (device_bytes + held + Stage::bytes(staged)) as u64;
    if needed > allowed.memory_limit {
        let available = allowed.memory_limit;
        return Err(Error::Memory { bound: Bound::Limit, needed, available, hint: HINT });
    }
    let mut report = Report { scratch_peak: needed, ..Report::default() };
    if n < 2 {
        places.fill(I::from_place(0));
        return Ok(Some((Ties { slots: Vec::new(), starts: Vec::new() }, report)));
    }
    let device = gpu.device();
    let (words, places_there) =
        gpu.take_room(|| Ok((memory::alloc::<u64>(device, n)?, memory::alloc::<u32>(device, n)?)))?;
    let mut stage = Stage::new(gpu, staged, allowed.threads)?;

    let start = Instant::now();
    let mut all_there = true;
    stage.fill_in(words.view().cast(), |range, to| {
        all_there = all_there && write(range.start / WORD, to);
    })?;
    if !all_there {
        return Ok(None);
    }
    report.push(Ran::Cpu, "cut", start.elapsed(), n * WORD, n * WORD);
    let start = Instant::now();
    // SAFETY: the words and the places are on the device for this sort alone.
    let tied = unsafe { sort_words(gpu, &stage.stream, words.view(), places_there.view(), base, order)? };
    report.push(Ran::Cuda, "sort", start.elapsed(), n * WORD, n * size_of::<u32>());

    let start = Instant::now();
    let (mut slots, mut starts) = (Vec::new(), Vec::new());
    if let Some(tied) = &tied {
        slots = reserve(tied.count)?;
        slots.resize(tied.count, 0u32);
        starts = reserve(tied.starts().len())?;
        starts.resize(tied.starts().len(), 0u64);
        stage.copy_out(bytes_mut(&mut slots), tied.slots().cast())?;
        stage.copy_out(bytes_mut(&mut starts), tied.starts().cast())?;
    }
    take_places(&mut stage, places, places_there.view(), allowed.threads)?;
    let copied = size_of_val(places) + size_of_val(&*slots) + size_of_val(&*starts);
    report.push(Ran::Cuda, "copy out", start.elapsed(), copied, copied);
    if let Some(tied) = tied {
        gpu.pending(&stage.stream, Some(tied.into_scratch()))?.wait()?;
    }
    Ok(Some((Ties { slots, starts }, report)))
}
