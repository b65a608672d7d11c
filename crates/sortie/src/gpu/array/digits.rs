//! One large array: distributed by digits, then its buckets finished.
//!
//! Keys alone are moved to their buckets in any order, and so are narrow keys with their indices, or with payloads of 4 bytes
//! that need not be stable. Other keys with something beside them are moved by stable passes (`stable`). Keys that are spread too
//! unevenly go through stable passes over all their digits, except wide keys alone, which are then sorted by samples.
//!
//! Keys that are in order, in reverse order, or that have few codes are put in order at once. All of this is decided on the
//! device: nothing is read back.

use sortie_device::{Buffer, Properties, Stream, View};

use super::compared::by_codes;
use super::count::{Counting, CountingKernels, Tables};
use super::distribute::{Distribution, DistributionKernels};
use super::finish::Finish;
use super::items::{Items, Low};
use super::left::Left;
use super::onesweep::{Onesweep, Passes, Sweep};
use super::redistribute::{LongTables, RedistributionKernels};
use super::sample_sort::{Keys, SampleSort, sample_sort_words};
use super::shape::{Blocks, Shape};
use super::stable::stable_words;
use crate::Error;
use crate::gpu::alloc::scratch;
use crate::gpu::engine::KernelSet;
use crate::gpu::kernels::array::{BucketBounds, ItemArrays};
use crate::gpu::kernels::{CodeTransform, Instance};
use crate::gpu::segments::{Moved, Payload, Rest, listed_words};
use crate::gpu::{Gpu, Pending};
use crate::key::{Bits, Code};

impl Gpu {
    /// Sorts items of these keys, and what is at the address of the payload.
    ///
    /// # Safety
    /// As [`Gpu::sort_pairs`].
    pub(super) unsafe fn sort_items<B: Bits>(
        &self,
        stream: &Stream,
        keys: View<'_, B>,
        payload: u64,
        items: Items,
    ) -> Result<Pending<'_>, Error> {
        if let Low::Beside(moving) = items.low {
            // SAFETY: the caller guarantees it.
            return unsafe { self.sort_stably(stream, keys, payload, (items, moving)) };
        }
        let shape = Shape::new(keys.len(), items, self.device().properties());
        // SAFETY: the caller guarantees it.
        unsafe { self.sort_shaped(shape, stream, keys, payload, items) }
    }

    /// The same, in this shape.
    ///
    /// # Safety
    /// As [`Gpu::sort_pairs`].
    unsafe fn sort_shaped<B: Bits>(
        &self,
        shape: Shape,
        stream: &Stream,
        keys: View<'_, B>,
        payload: u64,
        items: Items,
    ) -> Result<Pending<'_>, Error> {
        let n = keys.len();
        // Kernels first: if one is not available, that is found before any of them runs.
        let uneven = Uneven::new::<B>(n, items, self.device().properties());
        let kernels =
            self.kernel_set(&DigitKernels { items, blocks: shape.blocks, uneven: uneven.sweep() })?;
        let [counting, sweeping, distributing, redistributing, finishing] = &kernels[..] else {
            unreachable!("as many as steps")
        };
        let parts = Parts::new(n, shape, items);
        let scratch = scratch(stream, parts.words(uneven.words(n, self.device().properties())))?;
        let [copy, items_apart] = parts.of(&scratch);
        let arrays = ItemArrays {
            items: if items.are_alone() { keys.address() } else { items_apart.address() },
            keys: keys.address(),
            payload,
        };
        let transform = CodeTransform::new::<B>(items.code, items.order);
        let counting = Counting {
            stream,
            n,
            key_bytes: items.key_bytes,
            keys: keys.address(),
            shape,
            tables: Tables::new(scratch.view(), shape),
            kernels: CountingKernels::new(counting),
            transform,
        };
        let profile = counting.tables.profile.address();
        let room = scratch.range(parts.0[0]..scratch.len());
        let uneven = match &uneven {
            Uneven::Passes(passes) => {
                let multiprocessors = shape.multiprocessors;
                let arrays = (keys, payload);
                let sweep = Onesweep::new(sweeping, room, arrays, *passes, profile, multiprocessors)?;
                UnevenSort::Passes(Box::new(sweep))
            }
            Uneven::Samples(sorted) => {
                let arrays = (keys.address(), n, payload);
                UnevenSort::Samples(Box::new(SampleSort::new(self, arrays, sorted, room, profile)?))
            }
        };
        let steps = Steps {
            uneven,
            again: (0..redistributions(items))
                .map(|_| LongTables::new(stream, n, shape.blocks.finishing.capacity()))
                .collect::<Result<_, _>>()?,
            redistribution: RedistributionKernels::new(redistributing),
            finish: Finish::new(finishing, shape.blocks.finishing, Left::new(stream, n)?),
            job: Distribution {
                counting,
                arrays,
                copy: copy.address(),
                kernels: DistributionKernels::new(distributing),
                item_transform: if items.are_alone() { transform } else { CodeTransform::default() },
            },
            copy,
        };
        // SAFETY: the caller guarantees it; items that are not the keys are where they are distributed to.
        unsafe {
            if items.are_alone() {
                return self.enqueue_steps(&steps, keys, items);
            }
            let placed = View::<u64>::from_raw(arrays.items, n);
            self.enqueue_steps(&steps, placed, items.as_keys())
        }
    }

    /// Enqueues all steps, for items that are keys of their own at these addresses.
    ///
    /// # Safety
    /// As [`Gpu::sort_pairs`].
    unsafe fn enqueue_steps<I: Bits>(
        &self,
        steps: &Steps<'_>,
        placed: View<'_, I>,
        items: Items,
    ) -> Result<Pending<'_>, Error> {
        let Steps { job, uneven, redistribution, again, finish, copy } = steps;
        let Counting { stream, n, ref shape, ref tables, .. } = job.counting;
        let longest = shape.blocks.finishing.capacity();
        let rest = Rest { offsets: finish.left.offsets(), longest: n as u64, shortest: longest, copy: *copy };
        let moved = Moved { keys: placed, payload: 0, kind: Payload::None };
        let rest = self.prepare_rest(stream, moved, rest, items.code, items.order)?;
        // SAFETY: the caller guarantees it. Keys that are not settled fall into the buckets.
        unsafe {
            uneven.clear(stream)?;
            job.counting.profile()?;
            job.counting.count(0)?;
            uneven.enqueue(stream)?;
            job.distribute()?;
            job.settle()?;
            let mut buckets = vec![BucketBounds::between(tables.ends)];
            for tables in again {
                redistribution.redistribute(job, tables, buckets[buckets.len() - 1], longest)?;
                buckets.push(tables.ready());
            }
            finish.left.clear(stream)?;
            for (i, &those) in buckets.iter().enumerate() {
                // Buckets that are too long and were not distributed again are left.
                finish.sort(job.finishing(), those, if i < again.len() { longest } else { n })?;
            }
            rest.enqueue()?;
            finish.take_apart(job.finishing())?;
        }
        self.pending(stream)
    }
}

/// What the kernels of a distribution, and of the passes over uneven keys, depend on.
#[derive(Clone, PartialEq, Eq, Hash)]
struct DigitKernels {
    items: Items,
    blocks: Blocks,
    uneven: Option<Sweep>,
}

impl KernelSet for DigitKernels {
    fn instances(&self) -> Vec<Vec<Instance>> {
        let DigitKernels { items, blocks, uneven } = *self;
        vec![
            CountingKernels::instances(blocks, items),
            uneven.map_or(vec![], Sweep::instances),
            DistributionKernels::instances(blocks, items),
            RedistributionKernels::instances(blocks, items),
            Finish::instances(blocks.finishing, items, false),
        ]
    }
}

/// How often buckets that are too long are distributed again. Items with something beside the key are never equal: 2^24 of one
/// code need two rounds to fit in blocks. Equal keys alone need none, and each round costs nine launches even if there is
/// nothing to do.
fn redistributions(items: Items) -> usize {
    if items.are_alone() { 1 } else { 2 }
}

/// What sorts all keys if the profile finds too many of them close together.
enum Uneven {
    Passes(Passes),
    /// For integers of 64 bits, which would take many passes.
    Samples(Keys),
}

impl Uneven {
    fn new<B: Bits>(n: usize, items: Items, device: &Properties) -> Uneven {
        // For floats, each comparison would compute two codes.
        let is_float = matches!(items.code, Code::Float { .. });
        if items.are_alone() && B::WIDTH > 32 && !is_float {
            let compare = by_codes::<B>(items.code, items.order);
            return Uneven::Samples(Keys { bytes: size_of::<B>(), compare, total: true, placed: None });
        }
        Uneven::Passes(items.passes(n, device))
    }

    /// The kernels of passes; a sample sort gets its own.
    fn sweep(&self) -> Option<Sweep> {
        match self {
            Uneven::Passes(passes) => Some(passes.sweep),
            Uneven::Samples(_) => None,
        }
    }

    /// Words of scratch.
    fn words(&self, n: usize, device: &Properties) -> usize {
        match self {
            Uneven::Passes(passes) => passes.words(),
            Uneven::Samples(sorted) => sample_sort_words(n, sorted, device),
        }
    }
}

/// The same, ready to be enqueued.
enum UnevenSort<'a> {
    Passes(Box<Onesweep<'a>>),
    Samples(Box<SampleSort<'a>>),
}

impl UnevenSort<'_> {
    /// Before the profile.
    fn clear(&self, stream: &Stream) -> Result<(), Error> {
        match self {
            UnevenSort::Passes(passes) => passes.clear(stream),
            UnevenSort::Samples(_) => Ok(()),
        }
    }

    /// # Safety
    /// As [`Gpu::sort_pairs`].
    unsafe fn enqueue(&self, stream: &Stream) -> Result<(), Error> {
        // SAFETY: the caller guarantees it.
        unsafe {
            match self {
                UnevenSort::Passes(passes) => passes.enqueue(stream),
                UnevenSort::Samples(samples) => samples.enqueue(stream),
            }
        }
    }
}

/// The steps of a sort, one after the other.
struct Steps<'a> {
    job: Distribution<'a>,
    uneven: UnevenSort<'a>,
    redistribution: RedistributionKernels,
    /// One for each redistribution.
    again: Vec<LongTables>,
    finish: Finish,
    /// Room for a copy of the items.
    copy: View<'a, u32>,
}

/// Words of each piece of scratch that a distribution of `n` items takes.
pub(super) fn digits_words<B: Bits>(n: usize, items: Items, device: &Properties) -> Vec<usize> {
    let shape = Shape::new(n, items, device);
    if let Low::Beside(_) = items.low {
        return stable_words(n, shape, items, device);
    }
    let again = LongTables::words(n, shape.blocks.finishing.capacity());
    let rest = listed_words(Left::most(n));
    let uneven = Uneven::new::<B>(n, items, device).words(n, device);
    let mut words = vec![Parts::new(n, shape, items).words(uneven), Left::words(n), rest];
    words.extend(vec![again; redistributions(items)]);
    words
}

/// The words of each part of the scratch: the tables, a copy of the items, and a second copy if the items are not the
/// keys. Each begins at a multiple of 16 bytes.
struct Parts([usize; 3]);

impl Parts {
    fn new(n: usize, shape: Shape, items: Items) -> Parts {
        let copy = (n * items.bytes()).div_ceil(4).next_multiple_of(4);
        Parts([Tables::words(shape), copy, if items.are_alone() { 0 } else { copy }])
    }

    /// The words of all parts. The sort of uneven keys uses all but the tables, and gets more if that is too little.
    fn words(&self, uneven: usize) -> usize {
        let [tables, copies @ ..] = self.0;
        tables + uneven.max(copies.iter().sum())
    }

    /// All parts but the tables.
    fn of<'a>(&self, scratch: &'a Buffer<u32>) -> [View<'a, u32>; 2] {
        let mut start = self.0[0];
        [1, 2].map(|part| {
            start += self.0[part];
            scratch.range(start - self.0[part]..start)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Order;
    use crate::gpu::on_bench::on_bench;

    /// As with more keys than there are counters for buckets, on an H200 from about 2^30.7 keys on.
    #[test]
    fn buckets_that_are_counted_in_slices() {
        let mut random = fastrand::Rng::with_seed(1);
        let even: Vec<u32> = (0..70_000).map(|_| random.u32(..)).collect();
        let skewed: Vec<u32> = even.iter().map(|key| key >> (key % 30)).collect();
        let few: Vec<u32> = even.iter().map(|key| key % 300).collect();
        let ascending: Vec<u32> = (0..70_000).collect();
        on_bench(|gpu| {
            for keys in [even, skewed, few, ascending] {
                let buffer = gpu.device().alloc::<u32>(keys.len()).unwrap();
                let stream = gpu.device().stream().unwrap();
                stream.copy_in(buffer.view(), &keys).unwrap();
                let order = Order::default();
                let items = Items { key_bytes: 4, code: Code::Unsigned, order, low: Low::Nothing };
                let shape = Shape::new(keys.len(), items, gpu.device().properties()).sliced(700);
                // SAFETY: nothing else uses the keys meanwhile.
                unsafe { gpu.sort_shaped(shape, &stream, buffer.view(), 0, items) }.unwrap().wait().unwrap();
                let (mut expected, mut found) = (keys, vec![0; 70_000]);
                stream.copy_out(&mut found, buffer.view()).unwrap();
                expected.sort_unstable();
                assert!(found == expected);
            }
        });
    }
}
