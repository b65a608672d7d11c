//! GPU-ArraySort: Awan and Saeed, "GPU-ArraySort: A parallel, in-place algorithm for sorting large number of arrays"
//! (2016).

use sortie::{Error, internals};
use sortie_device::{Argument, Launch, Stream, View, WARP};

use crate::engine::{File, Papers, Pending, scratch};

/// Section 5.1: the target size of a bucket.
const BUCKET: usize = 20;
/// Section 5.1: one key in this number is sampled.
const SAMPLING: usize = 10;
/// A block has one thread for each bucket.
const MOST_BUCKETS: usize = 1024;

/// Enqueues GPU-ArraySort and returns without waiting. Sorts each array of `length` keys in place and ascending.
///
/// There are three phases (sections 4.1 and 5), each one launch with one block per array:
///
/// 1. Choose splitters from a sample of 10%.
/// 2. Move keys to buckets of about 20.
/// 3. Sort each bucket by insertion.
///
/// Scratch: two words per bucket, a tenth of the size of the keys. Time: phase 2 reads an array of n keys twice for each
/// of its n/20 buckets. Insertion sort takes quadratic time in the size of a bucket. If most keys fall into one bucket,
/// as with few distinct keys, one thread takes O(n²).
///
/// Where the paper leaves something open or contradicts itself, this implementation does the following:
///
/// - The range of a bucket is half-open, `low <= key < high`. Algorithm 2 excludes both bounds and would lose every key
///   that equals a splitter. In Definition 5, neighbouring buckets share a splitter, so one of them has to take it.
/// - There are no splitters below and above all keys (section 5.2). Instead, the first and the last bucket are
///   unbounded on one side: with infinities and NaNs among the keys, no value may lie outside them.
/// - The number of buckets is n/20 rounded down, because Definition 2 says that a bucket has "at least 20" keys. An
///   array of fewer than 40 keys has one bucket.
/// - The first splitter is one interval into the sorted sample. Algorithm 1 takes the smallest sample, which makes the
///   first bucket small and the last one large. The text only says "at regular intervals", and that buckets are
///   balanced.
/// - Algorithm 2 collects a bucket while it traverses the array, but does not say where to store it: its size is not
///   known yet, and each bucket can grow to all n keys. Here a thread traverses the array twice: it counts its keys,
///   waits until all threads have counted, and then writes its keys to their final positions. This takes no extra
///   memory, because the array is in shared memory (section 3.3) and its global memory can be overwritten.
/// - One thread of a block chooses the splitters (section 5.1), but a whole warp loads the array.
/// - Phase 3 sorts in shared memory. The paper does not say where, but section 3.3 implies it.
/// - Keys are compared by their codes, so zeros and NaNs have the same order as everywhere in Sortie.
///
/// # Errors
/// [`Error::Segments`] if the number of keys is not a multiple of the length; [`Error::Unsupported`] if an array is too
/// long for the shared memory of a block or needs more than 1024 buckets; [`Error::Memory`] if the device has too
/// little free memory for the scratch; [`Error::Device`] if a kernel is not available. After an error, no enqueued work
/// changes the keys.
///
/// # Safety
/// Nothing else uses the keys until the sort is done. The stream belongs to the engine's device.
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
        return Err(Error::Segments(format!(
            "{} keys are not a multiple of the length {length}",
            keys.len()
        )));
    }
    let arrays = keys.len() / length;
    let shape = Shape::new(length);
    shape.check(papers.device().properties().shared_per_block)?;
    let [choose, fill, sort] =
        papers.kernels(File::ArraySort, ["choose_splitters", "fill_buckets", "sort_buckets"])?;
    let blocks = i32::try_from(arrays).map_err(|_| {
        Error::Unsupported(format!("{arrays} arrays need more blocks than a launch can have; sort in parts"))
    })? as u32;
    let scratch = scratch(stream, arrays * (2 * shape.buckets - 1))?;
    let (sizes, splitters) =
        (scratch.range(0..arrays * shape.buckets), scratch.range(arrays * shape.buckets..scratch.len()));

    let transform = Transform(internals::float_transform());
    let threads = (shape.buckets as u32).next_multiple_of(WARP);
    let [n, m, p] = [length, shape.samples, shape.buckets].map(|number| number as u32);
    let launch = |threads, words| Launch { blocks, threads, shared: 4 * words };
    // SAFETY: these are the kernels' arguments. The kernels stay within the keys and the scratch, which is large
    // enough. The engine keeps them loaded.
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

    /// The words of shared memory that each phase needs.
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
                "GPU-ArraySort of arrays of {} keys needs {} threads and {needed} bytes of shared memory, but a block \
                 of this device has {MOST_BUCKETS} and {shared_per_block}; use sort_segments",
                self.length, self.buckets
            )));
        }
        Ok(())
    }
}
