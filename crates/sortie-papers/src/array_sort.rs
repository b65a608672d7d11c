//! GPU-ArraySort: Awan and Saeed, "GPU-ArraySort: A parallel, in-place algorithm for sorting large number of arrays"
//! (2016).

use sortie::{Error, internals};
use sortie_device::{Argument, Launch, Stream, View, WARP};

use crate::engine::{File, Papers, Pending, scratch};

/// Section 5.1: the keys that a bucket should have.
const BUCKET: usize = 20;
/// Section 5.1: one key of so many is a sample.
const SAMPLING: usize = 10;
/// A block has a thread for each.
const MOST_BUCKETS: usize = 1024;

/// Enqueues GPU-ArraySort of arrays of `length` keys, each by itself, in place and ascending, and does not wait.
///
/// Three launches of one block an array (sections 4.1 and 5): choose splitters from a sample of 10%, move keys to
/// buckets of about 20, sort each bucket by insertion. Scratch: two words a bucket, a tenth of the keys. Time: to fill
/// its buckets, an array of n keys is visited n/20 times; insertion sort takes the square of a bucket's size, and with
/// equal keys, which all fall into one bucket, that is the square of n by one thread.
///
/// What follows from the text where the paper leaves it open, or contradicts itself:
///
/// - A pair's bounds are half-open, `low <= key < high`. Algorithm 2 excludes both, and would lose every key that equals
///   a splitter; Definition 5 gives neighbours a splitter in common, so one of them has to take it.
/// - Splitters below and above all keys (section 5.2) are left out, and the first and last pair open instead: with
///   infinities and NaNs among the keys, there may be no such value.
/// - Definition 2 reads as n/20 rounded down, since a bucket has "at least 20" keys; one bucket under 40.
/// - Algorithm 1 takes the least sample for the first splitter, which leaves the first bucket short and the last long.
///   The text says only "at regular intervals", and that buckets are balanced: splitters start one interval in.
/// - Algorithm 2 collects a bucket while it traverses the array, and does not say where: its size is not known yet, and
///   each can grow to all n keys. Here a thread traverses the array twice: it counts, and when all have counted, it
///   writes its keys to their place. The array is in shared memory (section 3.3) and its old place free, so this takes
///   no memory.
/// - One thread of a block chooses the splitters (section 5.1), but a warp brings it the array.
/// - Where phase 3 sorts is not said; shared memory, by section 3.3.
/// - Keys compare by their codes, so that zeros and NaNs come out as everywhere in Sortie.
///
/// # Errors
/// [`Error::Segments`] if the length does not divide the keys; [`Error::Unsupported`] if an array is too long for
/// the shared memory of a block or needs more than 1024 buckets; [`Error::Memory`] if the device has too little free
/// for the scratch; [`Error::Device`] if a kernel is not available. Nothing has been enqueued that changes the keys then.
///
/// # Safety
/// Nothing else uses the keys until the sort is done. The stream is of the engine's device.
pub unsafe fn array_sort<'papers>(
    papers: &'papers Papers,
    stream: &Stream,
    keys: View<'_, f32>,
    length: usize,
) -> Result<Pending<'papers>, Error> {
    if keys.is_empty() {
        return papers.pending(stream);
    }
    if length == 0 || !keys.len().is_multiple_of(length) {
        return Err(Error::Segments(format!("{} keys are no multiple of the length {length}", keys.len())));
    }
    let arrays = keys.len() / length;
    let shape = Shape::new(length);
    shape.check(papers.device().properties().shared_per_block)?;
    let [choose, fill, sort] =
        papers.kernels(File::ArraySort, ["choose_splitters", "fill_buckets", "sort_buckets"])?;
    let blocks = i32::try_from(arrays).map_err(|_| {
        Error::Unsupported(format!("{arrays} arrays are more than the blocks of a launch; sort in parts"))
    })? as u32;
    let scratch = scratch(stream, arrays * (2 * shape.buckets - 1))?;
    let (sizes, splitters) =
        (scratch.range(0..arrays * shape.buckets), scratch.range(arrays * shape.buckets..scratch.len()));

    let transform = Transform(internals::float_transform());
    let threads = (shape.buckets as u32).next_multiple_of(WARP);
    let [n, m, p] = [length, shape.samples, shape.buckets].map(|number| number as u32);
    let launch = |threads, words| Launch { blocks, threads, shared: 4 * words };
    // SAFETY: these are the kernels' arguments; they stay within the keys and the scratch, which is large enough. The
    // engine keeps the kernels.
    unsafe {
        choose.launch(stream, launch(WARP, shape.choosing()), (keys, n, m, p, splitters, transform))?;
        fill.launch(stream, launch(threads, shape.filling()), (keys, n, p, splitters, sizes, transform))?;
        sort.launch(stream, launch(threads, shape.sorting()), (keys, n, p, sizes, transform))?;
    }
    papers.pending(stream)
}

/// `code::Transform` of the kernels.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Transform([u64; 4]);

// SAFETY: laid out as its C equivalent.
unsafe impl Argument for Transform {}

/// How an array is divided.
struct Shape {
    length: usize,
    samples: usize,
    buckets: usize,
}

impl Shape {
    fn new(length: usize) -> Shape {
        Shape { length, samples: length / SAMPLING, buckets: (length / BUCKET).max(1) }
    }

    /// Words of shared memory that each phase needs.
    fn choosing(&self) -> usize {
        self.length + self.samples
    }

    fn filling(&self) -> usize {
        self.length + 2 * self.buckets
    }

    fn sorting(&self) -> usize {
        self.length + self.buckets
    }

    fn check(&self, shared_per_block: usize) -> Result<(), Error> {
        let needed = 4 * self.choosing().max(self.filling());
        if self.buckets > MOST_BUCKETS || needed > shared_per_block {
            return Err(Error::Unsupported(format!(
                "GPU-ArraySort of arrays of {} keys takes {} threads and {needed} bytes of shared memory; a block of \
                 this device has {MOST_BUCKETS} and {shared_per_block}: use sort_segments",
                self.length, self.buckets
            )));
        }
        Ok(())
    }
}
