//! One large array of keys alone: distributed by digits, then finished as segments. In place, with a copy as scratch.
//!
//! One read counts the keys of every bucket and completes the profile. Two unstable passes move the keys to groups of
//! buckets in the copy, and from there to their buckets, which are finished as segments. What is in order already, in reverse
//! order or has few codes close together is put in order at once. All of it is decided on the device: nothing is read back.

use bytemuck::Pod;
use sortie_device::{Kernel, Launch, Properties, Stream, View};

use super::kernels::{File, Instance, kind};
use super::finish::{self, Block, Finish};
use super::redistribute::{self, LongBuckets};
use super::segments::{Numbers, Rest, blocks};
use super::{Gpu, Pending, Segments};
use crate::key::{Bits, Code, Form, Transform};
use crate::{Error, Key, Order};

/// Places are 32 bits wide, also those just past a tile that is the last.
const MOST_KEYS: u64 = (1 << 32) - (1 << 16);
/// Fewer keys are one segment: the launches of a distribution take longer than merges.
const DISTRIBUTE_FROM: usize = 1 << 17;
/// Buckets are in groups of at least two warps, and at most a thread each.
const GROUP_BITS: std::ops::RangeInclusive<u32> = 6..=9;
const MOST_GROUPS: usize = PARTITION_BLOCK as usize;

const SAMPLE_BLOCK: u32 = 1024;
const COUNT_BLOCK: u32 = 1024;
const COUNT_TILE: usize = 1024 * 8;
const PLACE_BLOCK: u32 = 512;
const SETTLE_BLOCK: u32 = 512;
/// Its blocks on a multiprocessor: all that there is room for.
const SETTLE_BLOCKS: u32 = 4;

pub(super) const PARTITION_BLOCK: u32 = 512;
/// Words of keys that a thread of a pass holds in registers, as many as there is shared memory for. The first pass of
/// 2^28 u32 by 226 groups on an H200: 0.79 ms with 24, 0.82 with 20, 0.89 with 16. A block takes one tile: with blocks that
/// stay and load the next tile's keys while they write, two passes of u32 took 0.13 ms more, of u64 0.6.
const PARTITION_WORDS: [usize; 2] = [24, 16];

/// `classify::Profile` of the kernels, in words.
const PROFILE_WORDS: usize = 8;

impl Gpu {
    /// Enqueues a sort of all keys, in place, and does not wait.
    ///
    /// Keys are sorted alone, so equal ones cannot be told apart. They are read three times and written twice before
    /// their buckets are finished, which is one more read and write. Keys in order cost one read, keys in reverse order or of
    /// few codes close together one more write. Buckets that close keys make too long for a block are distributed once
    /// more, by their own range, at two reads and writes more; what is too long still is merged as long segments are. Scratch:
    /// two copies of the keys, one of them for what may have to be merged, and a tenth of a byte for each on a device with 227
    /// KB of shared memory a block, half a byte with 48 KB.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for keys without codes of 8 to 64 bits, or more than 2^32 - 2^16 of them; [`Error::Memory`]
    /// where the device has too little free for the scratch; [`Error::Device`] where a kernel could not be had. The keys are a
    /// permutation of what they were then.
    ///
    /// # Safety
    /// Nothing else uses the keys until the sort is done. The stream is of this engine's device.
    pub unsafe fn sort<K: Key + Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        let n = keys.len();
        let code = match K::FORM {
            Form::Bits(code) if n >= DISTRIBUTE_FROM && K::Bits::WIDTH <= 64 => code,
            // Which tells what it does not sort.
            // SAFETY: as the caller states.
            _ => unsafe {
                return self.sort_segments(stream, keys, Segments::Length(n.max(1) as u64), order);
            },
        };
        if n as u64 > MOST_KEYS {
            return Err(Error::Unsupported(format!(
                "{n} keys are more than {MOST_KEYS}; sort them in parts"
            )));
        }
        let shape = Shape::new(n, size_of::<K>(), self.device().properties());
        // Kernels first: what cannot be had is found out before any of them runs.
        let kernels = Kernels::new(self, shape, size_of::<K>(), code, order)?;
        let scratch = self.scratch(Tables::lengths(shape, keys.bytes()).into_iter().sum())?;
        let job = Job {
            stream,
            keys: keys.cast::<K::Bits>(),
            shape,
            tables: Tables::new(scratch.view(), shape, keys.bytes()),
            kernels,
            transform: Numbers(Transform::<K::Bits>::new(code, order).numbers()),
        };
        let longest = shape.block.capacity();
        let again = redistribute::Tables::new(self, n, longest)?;
        let finish = Finish::new(self, shape.block, n, code, order)?;
        let rest = Rest { offsets: finish.left(), longest: n as u64, shortest: longest, copy: job.tables.copy };
        // SAFETY: as the caller states. What is not settled falls into the buckets.
        let rest = unsafe {
            job.profile()?;
            job.distribute()?;
            job.settle()?;
            job.redistribute(&job.kernels.redistribute, &again, longest)?;
            finish.begin(stream)?;
            job.finish(&finish, finish::Buckets::between(job.tables.ends), longest)?;
            job.finish(&finish, again.placed(), n)?;
            self.sort_rest(stream, job.keys, rest, code, order)?
        };
        Ok(rest.holding(again.into_scratch()).holding(finish.into_scratch()).holding(scratch))
    }
}

/// How many buckets there are: groups of 2^bits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Buckets {
    bits: u32,
    groups: usize,
}

impl Buckets {
    /// The most that there can be on a device whose blocks have so many bytes of shared memory: a counter has two.
    fn most(shared: usize) -> usize {
        (shared / 2).min(MOST_GROUPS << GROUP_BITS.end())
    }

    /// For so many keys, and blocks that sort a bucket each.
    fn new(keys: usize, block: Block, shared: usize) -> Buckets {
        let wanted = (keys / block.bucket_keys()).clamp(1, Buckets::most(shared));
        let half = wanted.next_power_of_two().ilog2().div_ceil(2);
        let bits = half.clamp(*GROUP_BITS.start(), *GROUP_BITS.end());
        Buckets { bits, groups: (wanted >> bits).max(1) }
    }

    pub fn count(self) -> usize {
        self.groups << self.bits
    }
}

/// What decides on how many buckets, keys and threads there are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub buckets: Buckets,
    pub block: Block,
    /// Keys that a thread of a pass holds.
    row: usize,
    pub multiprocessors: u32,
}

impl Shape {
    fn new(keys: usize, key_bytes: usize, device: &Properties) -> Shape {
        let shared = device.shared_per_block;
        let block = Block::new(keys, key_bytes, Buckets::most(shared), shared);
        let buckets = Buckets::new(keys, block, shared);
        let [large, small] = PARTITION_WORDS.map(|words| words / key_bytes.div_ceil(4));
        let row = if partition_shared(large, key_bytes) <= shared { large } else { small };
        Shape { buckets, block, row, multiprocessors: device.multiprocessors }
    }

    pub fn tile(self) -> usize {
        PARTITION_BLOCK as usize * self.row
    }
}

/// Bytes of `partition::Shared`, with rows of so many keys.
fn partition_shared(row: usize, key_bytes: usize) -> usize {
    let threads = PARTITION_BLOCK as usize;
    (threads * row * key_bytes + threads * (8 + 4 + 4) + threads / 32 * 4 + 8).next_multiple_of(8)
}

/// Bytes of `settle::Shared`.
fn settle_shared() -> usize {
    let threads = SETTLE_BLOCK as usize;
    threads * 4 + threads / 32 * 4 + 8
}

struct Kernels {
    sample: Kernel,
    count_buckets: Kernel,
    place_buckets: Kernel,
    first: Kernel,
    second: Kernel,
    reverse: Kernel,
    fill: Kernel,
    redistribute: redistribute::Kernels,
}

impl Kernels {
    fn new(gpu: &Gpu, shape: Shape, key_bytes: usize, code: Code, order: Order) -> Result<Kernels, Error> {
        let kernel = |file: File, kernel: &'static str, more: &[(&'static str, String)]| {
            let keys =
                [("SORTIE_KEY_BYTES", key_bytes.to_string()), ("SORTIE_KIND", kind(code, order).to_string())];
            gpu.kernel(&Instance { kernel, file, defines: [&keys, more].concat() })
        };
        let pass = |step: &str| {
            let more = [
                ("SORTIE_THREADS", PARTITION_BLOCK.to_string()),
                ("SORTIE_ROW", shape.row.to_string()),
                ("SORTIE_STEP", step.to_string()),
            ];
            kernel(File::Partition, "partition", &more)
        };
        let again = |name| kernel(File::Redistribute, name, &[]);
        Ok(Kernels {
            sample: kernel(File::CountBuckets, "sample", &[])?,
            count_buckets: kernel(File::CountBuckets, "count_buckets", &[])?,
            place_buckets: kernel(File::CountBuckets, "place_buckets", &[])?,
            first: pass("FIRST")?,
            second: pass("SECOND")?,
            reverse: kernel(File::Settle, "reverse", &[])?,
            fill: kernel(File::Settle, "fill", &[])?,
            redistribute: redistribute::Kernels::new(again, pass("AGAIN")?)?,
        })
    }
}

/// The scratch of a sort, as the kernels say.
#[derive(Clone, Copy)]
pub(super) struct Tables<'a> {
    /// What is zero before: the profile, counts and groups.
    zero: View<'a, u32>,
    profile: View<'a, u32>,
    counts: View<'a, u32>,
    groups: View<'a, u32>,
    group_starts: View<'a, u64>,
    group_cursors: View<'a, u64>,
    tiles_before: View<'a, u32>,
    pub ends: View<'a, u64>,
    pub copy: View<'a, u32>,
}

impl<'a> Tables<'a> {
    /// Words of each, in order.
    fn lengths(shape: Shape, key_bytes: usize) -> [usize; 8] {
        let (buckets, groups) = (shape.buckets.count(), shape.buckets.groups);
        let (starts, ends) = (2 * (groups + 1), 2 * (buckets + 1));
        let copy = key_bytes.div_ceil(4);
        // Each begins where 16 bytes do.
        [PROFILE_WORDS, buckets, groups, starts, starts, groups + 1, ends, copy]
            .map(|words| words.next_multiple_of(4))
    }

    fn new(scratch: View<'a, u32>, shape: Shape, key_bytes: usize) -> Tables<'a> {
        let lengths = Tables::lengths(shape, key_bytes);
        let mut taken = 0;
        let parts = lengths.map(|words| {
            taken += words;
            scratch.range(taken - words..taken)
        });
        let [profile, counts, groups, group_starts, group_cursors, tiles_before, ends, copy] = parts;
        Tables {
            zero: scratch.range(0..lengths[..3].iter().sum()),
            profile,
            counts,
            groups,
            group_starts: group_starts.cast(),
            group_cursors: group_cursors.cast(),
            tiles_before,
            ends: ends.range(0..2 * (shape.buckets.count() + 1)).cast(),
            copy,
        }
    }
}

/// `partition::Job` of the kernels.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Pass {
    from: u64,
    to: u64,
    keys: u64,
    profile: u64,
    bits: u32,
    groups: u32,
    group_starts: u64,
    tiles_before: u64,
    cursors: u64,
    long_buckets: LongBuckets,
}

// SAFETY: laid out as its C equivalent.
unsafe impl sortie_device::Argument for Pass {}

/// Its methods enqueue, in this order. Each needs what [`Gpu::sort`] needs.
pub(super) struct Job<'a, B> {
    pub stream: &'a Stream,
    pub keys: View<'a, B>,
    pub shape: Shape,
    pub tables: Tables<'a>,
    kernels: Kernels,
    pub transform: Numbers,
}

// SAFETY of all launches: the arguments are the kernel's; it stays within the keys and the tables, whose lengths are as it
// says. The engine keeps the kernels.
impl<'a, B: Bits> Job<'a, B> {
    /// Counts the keys of each bucket, and says where the buckets are.
    unsafe fn profile(&self) -> Result<(), Error> {
        let Tables { profile, counts, groups, .. } = self.tables;
        let Tables { group_starts, group_cursors, tiles_before, ends, .. } = self.tables;
        let n = self.keys.len();
        self.stream.fill(self.tables.zero, 0)?;
        let launch = Launch { blocks: 1, threads: SAMPLE_BLOCK, shared: 2 * size_of::<u64>() };
        let arguments = (self.keys, n, self.bucket_count(), profile, self.transform);
        // SAFETY: see above.
        unsafe { self.kernels.sample.launch(self.stream, launch, arguments)? };
        let launch = Launch {
            blocks: blocks(n.div_ceil(COUNT_TILE) as u64)?.min(self.shape.multiprocessors),
            threads: COUNT_BLOCK,
            shared: self.shape.buckets.count() * size_of::<u16>(),
        };
        let arguments =
            (self.keys, n, profile, self.bits(), self.bucket_count(), counts, groups, self.transform);
        // SAFETY: see above.
        unsafe { self.kernels.count_buckets.launch(self.stream, launch, arguments)? };
        let launch = Launch {
            blocks: self.group_count(),
            threads: PLACE_BLOCK,
            shared: (PLACE_BLOCK as usize / 32 + 2) * size_of::<u32>(),
        };
        let (bits, group_count, tile) = (self.bits(), self.group_count(), self.tile());
        #[rustfmt::skip]
        let arguments =
            (profile, bits, group_count, counts, groups, tile, group_starts, group_cursors, tiles_before, ends);
        // SAFETY: see above.
        unsafe { self.kernels.place_buckets.launch(self.stream, launch, arguments)? };
        Ok(())
    }

    /// Moves the keys to their buckets.
    unsafe fn distribute(&self) -> Result<(), Error> {
        let (keys, copy) = (self.keys.address(), self.tables.copy.address());
        let tiles = self.keys.len().div_ceil(self.shape.tile()) as u64;
        let shared = self.partition_shared();
        let to_groups = Launch { blocks: blocks(tiles)?, threads: PARTITION_BLOCK, shared };
        // Each group may have one tile that is not full.
        let to_buckets = Launch { blocks: blocks(tiles + self.shape.buckets.groups as u64)?, ..to_groups };
        let first = self.pass(keys, copy, self.tables.group_cursors.address());
        // The cursors of the buckets are their ends, one place further on.
        let second = self.pass(copy, keys, self.tables.ends.address() + size_of::<u64>() as u64);
        // SAFETY: see above.
        unsafe {
            self.kernels.first.launch(self.stream, to_groups, (first, self.transform))?;
            self.kernels.second.launch(self.stream, to_buckets, (second, self.transform))?;
        }
        Ok(())
    }

    fn pass(&self, from: u64, to: u64, cursors: u64) -> Pass {
        Pass {
            from,
            to,
            keys: self.keys.len() as u64,
            profile: self.tables.profile.address(),
            bits: self.bits(),
            groups: self.group_count(),
            group_starts: self.tables.group_starts.address(),
            tiles_before: self.tables.tiles_before.address(),
            cursors,
            long_buckets: LongBuckets::default(),
        }
    }

    /// The pass that moves the keys of long buckets to the copy.
    pub fn pass_again(&self, cursors: u64, long_buckets: LongBuckets) -> Pass {
        // Each has 2^7 buckets, whose cursors lie together.
        Pass {
            bits: redistribute::OWN.ilog2(),
            long_buckets,
            ..self.pass(self.keys.address(), self.tables.copy.address(), cursors)
        }
    }

    /// Bytes of shared memory of a pass.
    pub fn partition_shared(&self) -> usize {
        partition_shared(self.shape.row, size_of::<B>())
    }

    /// Puts in order what was not distributed.
    unsafe fn settle(&self) -> Result<(), Error> {
        let Tables { profile, counts, group_starts, tiles_before, .. } = self.tables;
        let blocks = self.shape.multiprocessors * SETTLE_BLOCKS;
        let launch = Launch { blocks, threads: SETTLE_BLOCK, shared: settle_shared() };
        let (bits, groups, tile) = (self.bits(), self.group_count(), self.tile());
        let arguments =
            (self.keys, profile, bits, groups, counts, group_starts, tiles_before, tile, self.transform);
        // SAFETY: see above.
        unsafe {
            self.kernels.reverse.launch(self.stream, launch, (self.keys, self.keys.len(), profile))?;
            self.kernels.fill.launch(self.stream, launch, arguments)?;
        }
        Ok(())
    }

    unsafe fn finish(&self, finish: &Finish, buckets: finish::Buckets, longest: usize) -> Result<(), Error> {
        // SAFETY: the buckets lie within the keys.
        unsafe { finish.sort(self.stream, self.keys, buckets, longest, self.transform, self.shape.multiprocessors) }
    }

    fn bits(&self) -> u32 {
        self.shape.buckets.bits
    }

    fn group_count(&self) -> u32 {
        self.shape.buckets.groups as u32
    }

    fn bucket_count(&self) -> u32 {
        self.shape.buckets.count() as u32
    }

    fn tile(&self) -> u32 {
        self.shape.tile() as u32
    }
}
