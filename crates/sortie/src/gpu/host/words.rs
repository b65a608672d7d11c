//! Sorts words that the host makes. They are copied to the device through pinned buffers while more are made. Their indices in
//! order come back, and which words tie.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::time::Instant;

use sortie_device::{Buffer, Properties};

use super::allowed::Allowed;
use super::strings::take_indices;
use crate::gpu::Gpu;
use crate::gpu::alloc::alloc;
use crate::gpu::ring::{Ring, Slots};
use crate::gpu::strings::Ties;
use crate::gpu::strings::{self, check_count, scratch_of_words};
use crate::ways::Scratch;
use crate::{Error, Index, Order, Ran, Report};

const HINT: &str = "a GPU needs about 90 bytes per string; sort in parts, or use the CPU engine";

/// Words that a device has sorted, whose indices are not all copied back yet.
pub(crate) struct SortedWords {
    ring: Ring,
    /// `None` if there is nothing to sort.
    indices: Option<Buffer<u32>>,
    /// The words that tie.
    pub ties: Ties,
    pub report: Report,
}

const WORD: usize = size_of::<u64>();

/// What a sort of `n` words takes.
pub(crate) fn words_scratch(n: usize, device: &Properties) -> Result<Scratch, Error> {
    check_count(n)?;
    // On the host: at most as many slots as indices, and half as many starts.
    let host = n * (size_of::<u32>() + size_of::<u64>() / 2) + Slots::of_all_threads(n * WORD).pinned();
    let device = n * (WORD + size_of::<u32>()) + size_of::<u32>() * scratch_of_words(device, n)?;
    Ok(Scratch { host: host as u64, device: device as u64 })
}

/// Sorts `n` words, stably. `write` is called with the number of the first word and eight bytes for each word. If it reports
/// that there is no such word, nothing is sorted. A word that is a multiple of `base` ties with no other.
pub(crate) fn sort_words(
    gpu: &Gpu,
    n: usize,
    base: u32,
    mut write: impl FnMut(usize, &mut [MaybeUninit<u8>]) -> bool,
    order: Order,
    allowed: Allowed,
) -> Result<Option<SortedWords>, Error> {
    let needed = words_scratch(n, gpu.device().properties())?;
    needed.check(allowed.memory_limit, u64::MAX, HINT)?;
    let slots = Slots::of_all_threads(n * WORD);
    let mut report = Report { scratch_peak: needed.bytes(), ..Report::default() };
    if n < 2 {
        let ring = Ring::new(gpu.device(), gpu.rings(), slots)?;
        return Ok(Some(SortedWords { ring, indices: None, ties: Ties::default(), report }));
    }
    let device = gpu.device();
    let (words, indices) = (alloc::<u64>(device, n)?, alloc::<u32>(device, n)?);
    let mut ring = Ring::new(device, gpu.rings(), slots)?;

    let start = Instant::now();
    let mut all_there = true;
    let mut fill = |range: Range<usize>, to: &mut [MaybeUninit<u8>]| {
        all_there = all_there && write(range.start / WORD, to);
    };
    // SAFETY: what is written are words.
    unsafe { ring.fill_in(words.view().cast(), &mut fill)? };
    if !all_there {
        return Ok(None);
    }
    report.push(Ran::Cpu, "cut", start.elapsed(), n * WORD, n * WORD);
    let start = Instant::now();
    // SAFETY: the words and the indices are on the device for this sort alone.
    let tied = unsafe { strings::sort_words(gpu, ring.stream(), words.view(), indices.view(), base, order)? };
    report.push(Ran::Cuda, "sort", start.elapsed(), n * WORD, n * size_of::<u32>());

    let start = Instant::now();
    let mut ties = Ties::default();
    if let Some(tied) = tied {
        ties = Ties::with_room(tied.slots().len(), tied.groups())?;
        let slots: &mut [u8] = bytemuck::cast_slice_mut(&mut ties.slots);
        ring.take_out(tied.slots().cast(), |range, from| slots[range].copy_from_slice(from))?;
        let starts: &mut [u8] = bytemuck::cast_slice_mut(&mut ties.starts);
        ring.take_out(tied.starts().cast(), |range, from| starts[range].copy_from_slice(from))?;
    }
    report.push(Ran::Cuda, "copy out", start.elapsed(), ties.bytes(), ties.bytes());
    Ok(Some(SortedWords { ring, indices: Some(indices), ties, report }))
}

impl SortedWords {
    /// Writes their indices in order. Whenever more have arrived, calls `there` with their number so far, while the next ones
    /// are copied.
    pub fn take_indices<I: Index>(
        &mut self,
        to: &mut [I],
        threads: usize,
        mut there: impl FnMut(&mut [I], usize),
    ) -> Result<(), Error> {
        match &self.indices {
            Some(indices) => take_indices(&mut self.ring, to, indices.view(), threads, there),
            None => {
                to.fill(I::from_usize(0));
                there(to, to.len());
                Ok(())
            }
        }
    }
}
