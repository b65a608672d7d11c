//! Sample sort, plain and fine: Leischner, Osipov and Sanders, "GPU sample sort" (2010); Munavalli, "Efficient
//! Algorithms for Sorting on GPUs" (2012).

use std::cmp::Reverse;

use bytemuck::{Pod, Zeroable};
use sortie::Error;
use sortie_device::{Buffer, Kernel, Launch, Stream, View};

use super::quicksort::{Finish, Sequence};
use super::scan::{Scan, sums_of};
use super::{BLOCK, check_count};
use crate::engine::{File, Papers, Pending, scratch};

const BUCKETS: usize = 128;
/// 256 threads with 8 keys each.
const TILE: usize = 2048;
/// M in section 4.1 of the thesis: the number of keys that fit in the 48 KB of shared memory of its GPU.
const SMALL: usize = 12_288;
/// Leischner's oversampling factor.
const OVERSAMPLING: u32 = 30;
/// The size of `sample_sort::Shared` in the kernels, in bytes.
const SHARED: usize = 4 * 3 * BUCKETS;

/// How Fine Sample Sort counts the keys of its buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Histograms {
    /// One histogram per block, as measured in the thesis (section 4.2): 128 words for 2048 keys.
    OfAllBlocks,
    /// A single histogram of 128 words, to which all blocks add (section 5.2). Blocks reserve their space in a bucket
    /// in any order.
    Single,
}

/// Sorts keys in place and ascending by Fine Sample Sort. Waits for the distribution, because it reads back the size of
/// each bucket. Returns when the sort of the buckets is enqueued.
///
/// The steps:
///
/// 1. Of n keys, a random sample of 128·⌈0.005·∛n⌉ is sorted. Every ⌈0.005·∛n⌉-th key of it is a splitter.
/// 2. Blocks of 256 threads with 8 keys each distribute the keys to 128 buckets.
/// 3. Each bucket of more than 12,288 keys is distributed again, with a sample of its own.
/// 4. The second phase of [`quicksort`](super::quicksort) sorts the other buckets, largest first.
///
/// Scratch: the size of the keys, and a sixteenth more for [`Histograms::OfAllBlocks`]. Cost: two reads and one write
/// of the keys per level.
///
/// Differences from the publication, and choices where it leaves something open:
///
/// - Keys are `u32` only.
/// - All buckets of a level are distributed by the same launches.
/// - Equal keys: a bucket holds the keys above one splitter and up to the next, as in section 4.1. With this rule
///   alone, an array of one value would always stay one bucket. So if all keys of a sample are equal, half of the
///   splitters become the number below that value, which gives the value a bucket of its own. A large bucket that can
///   only hold one value is not sorted.
/// - The thesis says only that M keys fit in shared memory. The times in its tables jump where n/128 exceeds about
///   2^18. This suggests that its program used a larger M, and left larger buckets to quicksort.
/// - The sample is drawn with replacement, from the same seed each time.
///
/// # Errors
/// [`Error::Unsupported`] for 2^32 keys or more. [`Error::Device`] if scratch or a kernel is not available; then
/// nothing has been enqueued. Also if the device or its memory fails after a level; then the keys are unspecified.
///
/// # Safety
/// Nothing else uses the keys until the sort is done. The stream belongs to the engine's device.
pub unsafe fn fine_sample_sort<'papers>(
    papers: &'papers Papers,
    stream: &Stream,
    keys: View<'_, u32>,
    histograms: Histograms,
) -> Result<Pending<'papers>, Error> {
    let interval = |n: usize| (0.005 * (n as f64).cbrt()).ceil() as u32;
    // SAFETY: the caller guarantees it.
    unsafe { sort(papers, stream, keys, interval, histograms) }
}

/// Sorts keys in place and ascending by sample sort as described by Leischner, Osipov and Sanders: k = 128 buckets,
/// whose splitters are every 30th key of a sorted random sample of 3840. Waits as [`fine_sample_sort`] does.
///
/// Only the sample differs from Fine Sample Sort, so comparing the two compares the samples. Scratch, cost and the
/// choices are those of [`fine_sample_sort`], including M, which is larger in the publication, and the treatment of
/// equal keys.
///
/// # Errors
/// As for [`fine_sample_sort`].
///
/// # Safety
/// As for [`fine_sample_sort`].
pub unsafe fn sample_sort<'papers>(
    papers: &'papers Papers,
    stream: &Stream,
    keys: View<'_, u32>,
) -> Result<Pending<'papers>, Error> {
    // SAFETY: the caller guarantees it.
    unsafe { sort(papers, stream, keys, |_| OVERSAMPLING, Histograms::OfAllBlocks) }
}

/// `sample_sort::Segment` in the kernels.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Segment {
    start: u32,
    end: u32,
    first_tile: u32,
    interval: u32,
}

// SAFETY: consists of words only, without padding, and any bits are valid.
unsafe impl Zeroable for Segment {}
// SAFETY: as above.
unsafe impl Pod for Segment {}

/// `sample_sort::Level` in the kernels.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Level {
    count: u32,
    single: u32,
    seed: u32,
}

// SAFETY: laid out as its C equivalent.
unsafe impl sortie_device::Argument for Level {}

/// # Safety
/// As for [`fine_sample_sort`].
unsafe fn sort<'papers>(
    papers: &'papers Papers,
    stream: &Stream,
    keys: View<'_, u32>,
    interval: impl Fn(usize) -> u32,
    histograms: Histograms,
) -> Result<Pending<'papers>, Error> {
    let n = keys.len();
    check_count(n)?;
    if n < 2 {
        return papers.pending(stream);
    }
    let finish = Finish::new(papers)?;
    let memory = Memory::new(n, histograms);
    let distribution = Distribution {
        kernels: Kernels::new(papers)?,
        stream,
        interval,
        histograms,
        list: papers.device().alloc(memory.segments)?,
        scratch: scratch(stream, memory.words)?,
        memory,
    };
    let other = distribution.scratch.range(0..n);

    let all = Bucket { start: 0, end: n as u32, constant: false };
    let (mut sequences, mut large) = match n <= SMALL {
        true => (vec![Sequence { start: 0, end: n as u32, in_scratch: 0 }], vec![]),
        false => (vec![], vec![all]),
    };
    let mut level = 0;
    while !large.is_empty() {
        let (from, to) = if level % 2 == 0 { (keys, other) } else { (other, keys) };
        let in_scratch = 1 - level % 2;
        // SAFETY: the caller guarantees it; the scratch is as long as `memory` says.
        let buckets = unsafe { distribution.distribute(from, to, &large, level)? };
        level += 1;
        large.clear();
        for bucket in buckets {
            let range = bucket.start as usize..bucket.end as usize;
            if range.len() <= SMALL {
                sequences.push(Sequence { start: bucket.start, end: bucket.end, in_scratch });
            } else if !bucket.constant {
                large.push(bucket);
            } else if in_scratch == 1 {
                stream.copy_within(keys.range(range.clone()), other.range(range))?;
            }
        }
    }
    sequences.sort_by_key(|sequence| Reverse(sequence.len()));
    let list = papers.device().alloc::<Sequence>(sequences.len())?;
    stream.copy_in(list.view(), &sequences)?;
    // SAFETY: the caller guarantees it; the buckets do not overlap.
    unsafe { finish.launch(stream, keys, other, list.view())? };
    papers.pending(stream)
}

/// The position of a bucket's keys.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    start: u32,
    end: u32,
    /// Whether all its keys are equal.
    constant: bool,
}

struct Kernels {
    choose_splitters: Kernel,
    count_buckets: Kernel,
    scan: Scan,
    distribute: Kernel,
    list_buckets: Kernel,
}

impl Kernels {
    fn new(papers: &Papers) -> Result<Kernels, Error> {
        let names = ["choose_splitters", "count_buckets", "distribute", "list_buckets"];
        let [choose_splitters, count_buckets, distribute, list_buckets] =
            papers.kernels(File::SampleSort, names)?;
        Ok(Kernels { choose_splitters, count_buckets, scan: Scan::new(papers)?, distribute, list_buckets })
    }
}

/// How the scratch is divided, in words. The second array of keys comes first.
struct Memory {
    /// The maximum number of segments in a level.
    segments: usize,
    trees: usize,
    constant: usize,
    starts: usize,
    taken: usize,
    table: usize,
    sums: usize,
    words: usize,
}

impl Memory {
    fn new(n: usize, histograms: Histograms) -> Memory {
        let segments = n / SMALL + 1;
        let rows = match histograms {
            Histograms::OfAllBlocks => n / TILE + segments,
            Histograms::Single => segments,
        };
        let trees = n;
        let constant = trees + segments * BUCKETS;
        let starts = constant + segments * BUCKETS / 32;
        let taken = starts + segments * BUCKETS;
        let table = taken + segments * BUCKETS;
        let sums = table + rows * BUCKETS;
        let words = sums + sums_of(rows * BUCKETS);
        Memory { segments, trees, constant, starts, taken, table, sums, words }
    }
}

/// What the distribution of every level needs.
struct Distribution<'a, Interval> {
    kernels: Kernels,
    stream: &'a Stream,
    interval: Interval,
    histograms: Histograms,
    memory: Memory,
    list: Buffer<Segment>,
    scratch: Buffer<u32>,
}

impl<Interval: Fn(usize) -> u32> Distribution<'_, Interval> {
    /// Distributes every large bucket. Returns the buckets that result, which it reads back.
    ///
    /// # Safety
    /// As for [`fine_sample_sort`]; `from` and `to` are the keys and the second array of keys, and the buckets do not
    /// overlap.
    unsafe fn distribute(
        &self,
        from: View<'_, u32>,
        to: View<'_, u32>,
        large: &[Bucket],
        seed: u32,
    ) -> Result<Vec<Bucket>, Error> {
        let (segments, tiles) = self.segments(large);
        let count = segments.len();
        let list = self.list.range(0..count);
        self.stream.copy_in(list, &segments)?;
        let single = self.histograms == Histograms::Single;
        let words = BUCKETS * if single { count } else { tiles as usize };
        let part = |start: usize, words: usize| self.scratch.range(start..start + words);
        let m = &self.memory;
        let trees = part(m.trees, count * BUCKETS);
        let constant = part(m.constant, count * BUCKETS / 32);
        let (starts, taken) = (part(m.starts, count * BUCKETS), part(m.taken, count * BUCKETS));
        let (table, sums) = (part(m.table, words), part(m.sums, sums_of(words)));
        if single {
            self.stream.fill(table, 0)?;
            self.stream.fill(taken, 0)?;
        }
        let level = Level { count: count as u32, single: u32::from(single), seed };
        let longest = segments.iter().map(|segment| segment.interval).max().unwrap_or(0);
        let sample = 4 * (BUCKETS * longest as usize).next_power_of_two();
        let a_segment = Launch { blocks: count as u32, threads: BLOCK, shared: sample };
        let a_tile = Launch { blocks: tiles, threads: BLOCK, shared: SHARED };
        let a_bucket = Launch { threads: BUCKETS as u32, shared: 0, ..a_segment };
        let (k, stream) = (&self.kernels, self.stream);
        // SAFETY: these are the kernels' arguments; they stay within the segments and the parts of the scratch.
        unsafe {
            k.choose_splitters.launch(stream, a_segment, (from, list, level, trees, constant))?;
            k.count_buckets.launch(stream, a_tile, (from, list, level, trees, table))?;
            k.scan.launch(stream, table, sums)?;
            let arguments = (from, to, list, level, trees, table, sums, taken);
            k.distribute.launch(stream, a_tile, arguments)?;
            k.list_buckets.launch(stream, a_bucket, (list, level, table, sums, starts))?;
        }
        read_buckets(stream, &segments, starts, constant)
    }

    /// The large buckets as segments, and their total number of tiles.
    fn segments(&self, large: &[Bucket]) -> (Vec<Segment>, u32) {
        let mut first_tile = 0;
        let segments = large.iter().map(|&Bucket { start, end, .. }| {
            let interval = (self.interval)((end - start) as usize);
            let segment = Segment { start, end, first_tile, interval };
            first_tile += (end - start).div_ceil(TILE as u32);
            segment
        });
        (segments.collect(), first_tile)
    }
}

fn read_buckets(
    stream: &Stream,
    segments: &[Segment],
    starts: View<'_, u32>,
    constant: View<'_, u32>,
) -> Result<Vec<Bucket>, Error> {
    let mut starts_here = vec![0; starts.len()];
    let mut constant_here = vec![0; constant.len()];
    stream.copy_out(&mut starts_here, starts)?;
    stream.copy_out(&mut constant_here, constant)?;
    let mut buckets = vec![];
    for (s, segment) in segments.iter().enumerate() {
        let starts = &starts_here[s * BUCKETS..(s + 1) * BUCKETS];
        let ends = starts[1..].iter().chain([&segment.end]);
        for (b, (&start, &end)) in starts.iter().zip(ends).enumerate() {
            let bit = s * BUCKETS + b;
            let constant = constant_here[bit / 32] >> (bit % 32) & 1 == 1;
            buckets.push(Bucket { start, end, constant });
        }
    }
    buckets.retain(|bucket| bucket.start < bucket.end);
    Ok(buckets)
}
