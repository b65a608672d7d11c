//! GPU-Quicksort: Cederman and Tsigas, "A Practical Quicksort Algorithm for Graphics Processors" (2008).

use bytemuck::{Pod, Zeroable};
use sortie::Error;
use sortie_device::{Buffer, Kernel, Launch, Stream, View};

use super::{BLOCK, check_count};
use crate::engine::{File, Papers, Pending, scratch};

/// Sequences of up to this many keys are sorted by one block in shared memory.
const SMALL: usize = 1024;
/// The first phase ends when there are this many sequences per multiprocessor.
const SEQUENCES_A_MULTIPROCESSOR: usize = 8;
/// The size of `quicksort::Shared` in the kernels, in bytes.
const SHARED: usize = 4 * (8 + 3 + 4 + 3 * 34 + SMALL);

/// `quicksort::Sequence` in the kernels.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Sequence {
    pub start: u32,
    pub end: u32,
    pub in_scratch: u32,
}

/// `quicksort::Parent` in the kernels.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Parent {
    all: Sequence,
    pivot: u32,
    low: u32,
    high: u32,
    left: u32,
    low_min: u32,
    low_max: u32,
    high_min: u32,
    high_max: u32,
}

/// `quicksort::Piece` in the kernels.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Piece {
    start: u32,
    end: u32,
    parent: u32,
}

// SAFETY: consists of words only, without padding, and any bits are valid.
unsafe impl Zeroable for Sequence {}
// SAFETY: as above.
unsafe impl Pod for Sequence {}
// SAFETY: as above.
unsafe impl Zeroable for Parent {}
// SAFETY: as above.
unsafe impl Pod for Parent {}
// SAFETY: as above.
unsafe impl Zeroable for Piece {}
// SAFETY: as above.
unsafe impl Pod for Piece {}

impl Sequence {
    pub fn len(&self) -> usize {
        (self.end - self.start) as usize
    }
}

/// Sorts keys in place and ascending by quicksort. Waits for the first phase, because it reads back the result of each
/// split. Returns when the second phase is enqueued.
///
/// Scratch: the size of the keys, plus some kilobytes. Cost: two reads and one write of the keys per split. Keys that
/// equal a pivot are not moved again.
///
/// Differences from the publication, and choices where it leaves something open:
///
/// - Keys are `u32` only.
/// - The first pivot, and all pivots of the second phase, are the median of three. The other pivots of the first phase
///   are the midpoint between the smallest and the greatest key, as in the authors' program; Algorithm 2 shows the
///   median of three.
/// - The first phase ends at 8 sequences per multiprocessor. A block has 256 threads. Up to 1024 keys are sorted in
///   shared memory, by a bitonic network. The paper chooses all three numbers by measuring on its GPU.
/// - Prefix sums within a block use shuffles, which that GPU did not have.
///
/// # Errors
/// [`Error::Unsupported`] for 2^32 keys or more. [`Error::Device`] if scratch or a kernel is not available; then
/// nothing has been enqueued. Also if the device fails between two splits; then the keys are unspecified.
///
/// # Safety
/// Nothing else uses the keys until the sort is done. The stream belongs to the engine's device.
pub unsafe fn quicksort<'papers>(
    papers: &'papers Papers,
    stream: &Stream,
    keys: View<'_, u32>,
) -> Result<Pending<'papers>, Error> {
    check_count(keys.len())?;
    if keys.len() < 2 {
        return papers.pending(stream);
    }
    let most = papers.device().properties().multiprocessors as usize * SEQUENCES_A_MULTIPROCESSOR;
    let [split] = papers.kernels(File::Quicksort, ["split_sequences"])?;
    let finish = Finish::new(papers)?;
    let scratch = scratch(stream, keys.len())?;
    let other = scratch.range(0..keys.len());
    let lists = Lists {
        pieces: papers.device().alloc(2 * most)?,
        parents: papers.device().alloc(most)?,
        sequences: papers.device().alloc(2 * most)?,
    };
    // SAFETY: the caller guarantees it; the scratch is as long as the keys.
    let sequences = unsafe { lists.split(&split, stream, keys, other, most)? };
    let list = lists.sequences.range(0..sequences.len());
    stream.copy_in(list, &sequences)?;
    // SAFETY: as above; the sequences do not overlap.
    unsafe { finish.launch(stream, keys, other, list)? };
    // The list is freed in stream order, like all device memory.
    papers.pending(stream)
}

/// The second phase, for sequences from any source. GPU sample sort also ends with it.
pub(super) struct Finish(Kernel);

impl Finish {
    pub fn new(papers: &Papers) -> Result<Finish, Error> {
        let [sort] = papers.kernels(File::Quicksort, ["sort_sequences"])?;
        Ok(Finish(sort))
    }

    /// # Safety
    /// The sequences do not overlap and are within keys and scratch. Nothing else uses keys or scratch.
    pub unsafe fn launch(
        &self,
        stream: &Stream,
        keys: View<'_, u32>,
        scratch: View<'_, u32>,
        sequences: View<'_, Sequence>,
    ) -> Result<(), Error> {
        let launch = Launch { blocks: sequences.len() as u32, threads: BLOCK, shared: SHARED };
        // SAFETY: these are the kernel's arguments; it stays within the sequences.
        unsafe { self.0.launch(stream, launch, (keys, scratch, sequences))? };
        Ok(())
    }
}

/// Device memory for the lists that the host makes.
struct Lists {
    pieces: Buffer<Piece>,
    parents: Buffer<Parent>,
    sequences: Buffer<Sequence>,
}

impl Lists {
    /// The first phase (Algorithm 1): splits until there are enough sequences.
    ///
    /// # Safety
    /// As for [`quicksort`]; `scratch` is as long as the keys.
    unsafe fn split(
        &self,
        kernel: &Kernel,
        stream: &Stream,
        keys: View<'_, u32>,
        scratch: View<'_, u32>,
        most: usize,
    ) -> Result<Vec<Sequence>, Error> {
        let n = keys.len();
        let done_at = (n / most).max(SMALL);
        let (mut work, mut done) = (vec![], vec![]);
        let all = Sequence { start: 0, end: n as u32, in_scratch: 0 };
        if n > done_at {
            work.push((all, median_of_three(stream, keys)?));
        } else {
            done.push(all);
        }
        while !work.is_empty() && work.len() + done.len() < most {
            let keys_left: usize = work.iter().map(|(all, _)| all.len()).sum();
            let piece = keys_left.div_ceil(most).max(SMALL);
            let (pieces, mut parents) = plan(&work, piece as u32);
            let (on_device, parents_on_device) =
                (self.pieces.range(0..pieces.len()), self.parents.range(0..parents.len()));
            stream.copy_in(on_device, &pieces)?;
            stream.copy_in(parents_on_device, &parents)?;
            let launch = Launch { blocks: pieces.len() as u32, threads: BLOCK, shared: SHARED };
            // SAFETY: these are the kernel's arguments; it stays within the sequences of the pieces.
            unsafe { kernel.launch(stream, launch, (keys, scratch, on_device, parents_on_device))? };
            stream.copy_out(&mut parents, parents_on_device)?;
            work.clear();
            for (sequence, pivot) in parents.iter().flat_map(Parent::children) {
                match sequence.len() {
                    0 => {}
                    len if len <= done_at => done.push(sequence),
                    _ => work.push((sequence, pivot)),
                }
            }
        }
        done.extend(work.iter().map(|(all, _)| all));
        Ok(done)
    }
}

/// Cuts sequences into pieces, one for each block.
fn plan(work: &[(Sequence, u32)], piece: u32) -> (Vec<Piece>, Vec<Parent>) {
    let (mut pieces, mut parents) = (vec![], vec![]);
    for &(all, pivot) in work {
        let parent = parents.len() as u32;
        let before = pieces.len();
        let mut start = all.start;
        while start < all.end {
            let end = start + piece.min(all.end - start);
            pieces.push(Piece { start, end, parent });
            start = end;
        }
        parents.push(Parent {
            all,
            pivot,
            low: all.start,
            high: all.end,
            left: (pieces.len() - before) as u32,
            low_min: u32::MAX,
            low_max: 0,
            high_min: u32::MAX,
            high_max: 0,
        });
    }
    (pieces, parents)
}

impl Parent {
    /// The two new sequences after a split. The pivot of each is the midpoint of its range of values.
    fn children(&self) -> [(Sequence, u32); 2] {
        let in_scratch = 1 - self.all.in_scratch;
        let child = |start, end, min: u32, max| (Sequence { start, end, in_scratch }, min.midpoint(max));
        [
            child(self.all.start, self.low, self.low_min, self.low_max),
            child(self.high, self.all.end, self.high_min, self.high_max),
        ]
    }
}

fn median_of_three(stream: &Stream, keys: View<'_, u32>) -> Result<u32, Error> {
    let mut three = [0; 3];
    for (key, at) in three.iter_mut().zip([0, keys.len() / 2, keys.len() - 1]) {
        stream.copy_out(std::slice::from_mut(key), keys.range(at..at + 1))?;
    }
    three.sort_unstable();
    Ok(three[1])
}
