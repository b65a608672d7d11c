//! Profiles the keys of a large array and counts the keys of each bucket, in two reads at most. All results stay on the device.

use sortie_device::{Kernel, Launch, Stream, View};

use super::items::Items;
use super::shape::{Blocks, Shape};
use crate::Error;
use crate::gpu::kernels::array::{
    Before, BucketCodes, CellCounts, Cells, Crowded, PROFILE_BLOCK, Profile, SCAN_BLOCK,
};
use crate::gpu::kernels::{CodeTransform, File, Instance, blocks, numbers, struct_bytes};

/// Blocks per multiprocessor that compare or sample.
const PROFILE_BLOCKS: u32 = 2;
/// One key in `SAMPLED_OF` is sampled to see how the keys are spread. Of 2^28 keys that is about 500 per cell, so the share of
/// a cell is right within a tenth. Of fewer keys, a larger part is sampled.
const SAMPLED_OF: usize = 512;
const SAMPLED_LEAST: usize = 1 << 16;
const COUNT_BLOCK: u32 = 1024;
const COUNT_TILE: usize = 1024 * 8;
/// The size of a profile in words of scratch memory.
const PROFILE_WORDS: usize = size_of::<Profile>() / size_of::<u32>();

/// Bytes of `profile::Ends`: two codes, in words that have atomics.
fn ends_shared(key_bytes: usize) -> usize {
    struct_bytes(&[numbers(key_bytes.max(size_of::<u32>()), 2)])
}

pub(super) struct CountingKernels {
    sample: Kernel,
    check_order: Kernel,
    sample_cells: Kernel,
    share_buckets: Kernel,
    sample_buckets: Kernel,
    look_for_long: Kernel,
    count_buckets: Kernel,
    scan_buckets: Kernel,
}

impl CountingKernels {
    pub fn instances(blocks: Blocks, items: Items) -> Vec<Instance> {
        let profiling = |kernel| {
            let mut defines = items.defines();
            defines.push(("SORTIE_ENDS_MEMORY", ends_shared(items.key_bytes).to_string()));
            Instance { kernel, file: File::Profile, defines }
        };
        let counting = |kernel| {
            let mut defines = items.defines();
            defines.push(("SORTIE_SLICED", u8::from(blocks.is_sliced).to_string()));
            Instance { kernel, file: File::CountBuckets, defines }
        };
        vec![
            profiling("sample"),
            profiling("check_order"),
            profiling("sample_cells"),
            profiling("share_buckets"),
            profiling("sample_buckets"),
            profiling("look_for_long"),
            counting("count_buckets"),
            counting("scan_buckets"),
        ]
    }

    /// The kernels of those instances.
    pub fn new(kernels: &[Kernel]) -> CountingKernels {
        let kernels = <[Kernel; 8]>::try_from(kernels.to_vec()).expect("as many as instances");
        let [sample, check_order, sample_cells, share_buckets, rest @ ..] = kernels;
        let [sample_buckets, look_for_long, count_buckets, scan_buckets] = rest;
        CountingKernels {
            sample,
            check_order,
            sample_cells,
            share_buckets,
            sample_buckets,
            look_for_long,
            count_buckets,
            scan_buckets,
        }
    }
}

/// The scratch memory of a distribution, as the kernels describe it.
#[derive(Clone, Copy)]
pub(super) struct Tables<'a> {
    /// What must be zero at the start: the profile, counts, groups, and for each bucket a code and whether it has others.
    zero: View<'a, u32>,
    pub profile: View<'a, u32>,
    pub counts: View<'a, u32>,
    groups: View<'a, u32>,
    pub codes: BucketCodes,
    pub group_starts: View<'a, u64>,
    pub group_cursors: View<'a, u64>,
    pub tiles_before: View<'a, u32>,
    pub ends: View<'a, u64>,
}

impl<'a> Tables<'a> {
    /// The words of each table, in order.
    fn lengths(shape: Shape) -> [usize; 9] {
        let (buckets, groups) = (shape.buckets.count(), shape.buckets.groups);
        let (starts, ends) = (2 * (groups + 1), 2 * (buckets + 1));
        // Each table begins at a multiple of 16 bytes.
        let codes = buckets * shape.blocks.code_words();
        [PROFILE_WORDS, buckets, groups, codes, buckets, starts, starts, groups + 1, ends]
            .map(|words| words.next_multiple_of(4))
    }

    /// The words of all tables.
    pub fn words(shape: Shape) -> usize {
        Tables::lengths(shape).into_iter().sum()
    }

    pub fn new(scratch: View<'a, u32>, shape: Shape) -> Tables<'a> {
        let lengths = Tables::lengths(shape);
        let mut taken = 0;
        let parts = lengths.map(|words| {
            taken += words;
            scratch.range(taken - words..taken)
        });
        let [profile, counts, groups, noted, others, group_starts, group_cursors, tiles_before, ends] = parts;
        Tables {
            zero: scratch.range(0..lengths[..5].iter().sum()),
            profile,
            counts,
            groups,
            codes: BucketCodes { noted: noted.address(), others: others.address() },
            group_starts: group_starts.cast(),
            group_cursors: group_cursors.cast(),
            tiles_before,
            ends: ends.range(0..2 * (shape.buckets.count() + 1)).cast(),
        }
    }
}

/// A large array whose keys are counted. Its methods enqueue work and are called in this order. Each needs what [`Gpu::sort`]
/// needs.
///
/// [`Gpu::sort`]: crate::gpu::Gpu::sort
pub(super) struct Counting<'a> {
    pub stream: &'a Stream,
    pub n: usize,
    pub key_bytes: usize,
    /// The address of the keys.
    pub keys: u64,
    pub shape: Shape,
    pub tables: Tables<'a>,
    pub kernels: CountingKernels,
    pub transform: CodeTransform,
}

// SAFETY of all launches: the arguments are those of the kernel, and it stays within the keys and the tables, which have the
// lengths that it expects. The engine keeps the kernels.
impl Counting<'_> {
    /// Profiles the keys: their range, their order, how they are spread, and whether too many of them fall into long buckets
    /// for a distribution to pay.
    pub unsafe fn profile(&self) -> Result<(), Error> {
        let (keys, n, profile) = (self.keys, self.n, self.tables.profile);
        let (stream, kernels, buckets) = (self.stream, &self.kernels, self.bucket_count());
        let even = self.shape.buckets.even() as u32;
        stream.fill(self.tables.zero, 0)?;
        let one = Launch { blocks: 1, threads: PROFILE_BLOCK, shared: ends_shared(self.key_bytes) };
        let many = Launch { blocks: self.shape.multiprocessors * PROFILE_BLOCKS, ..one };
        let sampled = (n / SAMPLED_OF).max((n / 8).min(SAMPLED_LEAST)) as u32;
        let sampling = Launch {
            blocks: many.blocks.min(sampled.div_ceil(PROFILE_BLOCK)),
            shared: size_of::<CellCounts>(),
            ..many
        };
        let sharing = Launch { shared: size_of::<Crowded>(), ..one };
        // SAFETY: see above.
        unsafe {
            kernels.sample.launch(stream, one, (keys, n, even, profile, self.transform))?;
            kernels.check_order.launch(stream, many, (keys, n, profile, self.transform))?;
            kernels.sample_cells.launch(stream, sampling, (keys, n, sampled, profile, self.transform))?;
            kernels.share_buckets.launch(stream, sharing, (sampled, even, buckets, profile))?;
        }
        let counts = self.tables.counts;
        let counting = Launch { shared: size_of::<Cells>(), ..sampling };
        let looking = Launch { blocks: buckets.div_ceil(PROFILE_BLOCK).min(many.blocks), shared: 0, ..many };
        // How many keys of the sample a bucket of the largest length for a block has on average; it hardly ever exceeds that by
        // four deviations.
        let fitting = (self.shape.blocks.finishing.capacity() as u64 * u64::from(sampled) / n as u64) as u32;
        let most = fitting + 4 * fitting.isqrt() + 4;
        // SAFETY: see above.
        unsafe {
            kernels.sample_buckets.launch(
                stream,
                counting,
                (keys, n, sampled, profile, counts, self.tables.codes, self.transform),
            )?;
            kernels.look_for_long.launch(
                stream,
                looking,
                (buckets, most, counts, self.tables.codes, profile),
            )?;
        }
        Ok(())
    }

    /// Counts the keys of each bucket and computes where the buckets are. Also counts the digits of the bucket numbers, if
    /// `digits` is an address for these counts.
    pub unsafe fn count(&self, digits: u64) -> Result<(), Error> {
        let Tables { profile, counts, groups, codes, .. } = self.tables;
        let Tables { group_starts, group_cursors, tiles_before, ends, .. } = self.tables;
        let (keys, n) = (self.keys, self.n);
        for slice in self.shape.buckets.slices() {
            let buckets = slice.start << self.bits()..slice.end << self.bits();
            let launch = Launch {
                blocks: blocks(n.div_ceil(COUNT_TILE) as u64)?.min(self.shape.multiprocessors),
                threads: COUNT_BLOCK,
                shared: size_of::<Cells>() + buckets.len() * size_of::<u16>(),
            };
            let (first, count, transform) = (buckets.start as u32, buckets.len() as u32, self.transform);
            let (counts, groups) = (counts.range(buckets), groups.range(slice));
            let arguments = (keys, n, profile, codes, self.bits(), first, count, counts, groups, transform);
            // SAFETY: see above.
            unsafe { self.kernels.count_buckets.launch(self.stream, launch, arguments)? };
        }
        let launch = Launch { blocks: self.group_count(), threads: SCAN_BLOCK, shared: size_of::<Before>() };
        let (bits, group_count, tile) = (self.bits(), self.group_count(), self.tile());
        #[rustfmt::skip]
        let arguments =
            (profile, bits, group_count, counts, groups, tile, group_starts, group_cursors, tiles_before, ends, digits);
        // SAFETY: see above.
        unsafe { self.kernels.scan_buckets.launch(self.stream, launch, arguments)? };
        Ok(())
    }

    pub fn bits(&self) -> u32 {
        self.shape.buckets.bits
    }

    pub fn group_count(&self) -> u32 {
        self.shape.buckets.groups as u32
    }

    fn bucket_count(&self) -> u32 {
        self.shape.buckets.count() as u32
    }

    pub fn tile(&self) -> u32 {
        self.shape.blocks.tile() as u32
    }
}
