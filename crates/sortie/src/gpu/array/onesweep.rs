//! One array by stable passes of 8 bits, the lowest digit first: its time does not depend on what the keys are.
//!
//! Source: Adinets and Merrill, "Onesweep: a faster least significant digit radix sort for GPUs" (2022), section 3.

use sortie_device::{Kernel, Launch, Stream, View};

use crate::gpu::alloc::scratch;
use crate::gpu::kernels::array::{OnesweepDigits, OnesweepJob, OnesweepSide, OnesweepStarts};
use crate::gpu::kernels::{CodeTransform, Define, File, Instance, blocks, kind, numbers, struct_bytes};
use crate::gpu::{Gpu, Pending};
use crate::key::{Bits, Code};
use crate::{Error, Order};

const THREADS: usize = 384;
/// Blocks on a multiprocessor that sweep: each takes one tile after the other.
const SWEEPING_BLOCKS: u32 = 2;
const RADIX: usize = 256;
/// Blocks on a multiprocessor that count digits, or copy.
const COUNTING_BLOCKS: u32 = 4;
/// Of so many keys each is counted in what tiles say of their digits.
pub(super) const FEWER_THAN: usize = 1 << 30;

/// Keys that are sorted by passes, and what goes with each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passes {
    pub code: Code,
    pub order: Order,
    pub beside: Moving,
    /// Keys of a thread.
    row: usize,
}

impl Passes {
    /// Of keys of so many bytes, on a device with so much shared memory a block.
    pub fn new(
        key_bytes: usize,
        code: Code,
        order: Order,
        beside: Moving,
        shared_per_block: usize,
    ) -> Passes {
        let fits = |row| shared(key_bytes, beside, row) <= shared_per_block;
        let row = (1..=row(key_bytes, beside)).rev().find(|&row| fits(row)).unwrap_or(1);
        Passes { code, order, beside, row }
    }
}

/// What moves with each key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moving {
    /// So many bytes of payload, perhaps none.
    Payload(usize),
    /// Its index. The keys stay where they are.
    Place,
}

impl Moving {
    fn bytes(self) -> usize {
        match self {
            Moving::Payload(bytes) => bytes,
            Moving::Place => size_of::<u32>(),
        }
    }

    /// Bytes that move at a time, as `payload::Word`.
    fn word_bytes(self) -> usize {
        match self.bytes() {
            0 => 0,
            bytes => bytes.min(8),
        }
    }
}

/// Words of scratch: the digits, the states of two passes, copies of keys and payload. Each begins where 16 bytes do.
struct Parts([usize; 5]);

impl Parts {
    fn new<B: Bits>(n: usize, passes: Passes) -> Parts {
        let words = |bytes: usize| bytes.div_ceil(size_of::<u32>()).next_multiple_of(4);
        let keys = words(n * size_of::<B>());
        let apart = if passes.beside == Moving::Place { keys } else { 0 };
        let states = 2 * tiles(n, passes) * RADIX * size_of::<u32>();
        let digits = words(size_of::<OnesweepDigits>());
        Parts([digits, words(states), keys, apart, words(n * passes.beside.bytes())])
    }

    fn of<'a>(&self, scratch: View<'a, u32>) -> [View<'a, u32>; 5] {
        let mut start = 0;
        self.0.map(|words| {
            start += words;
            scratch.range(start - words..start)
        })
    }
}

/// Keys of a thread, where there is shared memory for them: as many as its 80 registers hold, for a larger tile waits less for
/// others. On an H200 2^28 u32 took 5.23 ms with 24 keys, 5.47 with 20, and 5.32 with 28, of which some are spilled; pairs of u32
/// 8.1 ms with 20, 8.9 with 16.
fn row(key_bytes: usize, beside: Moving) -> usize {
    match (key_bytes, beside.bytes()) {
        (..=4, 0) => 24,
        (..=4, 4) => 20,
        (..=4, 8) => 16,
        (..=4, _) => 12,
        (_, 0) => 18,
        (_, 4) => 14,
        _ => 10,
    }
}

fn tiles(n: usize, passes: Passes) -> usize {
    n.div_ceil(THREADS * passes.row)
}

/// Bytes of `onesweep::Shared` for rows of so many keys.
fn shared(key_bytes: usize, beside: Moving, row: usize) -> usize {
    let staged = THREADS * row * key_bytes.max(beside.word_bytes());
    let area = numbers(size_of::<u64>(), staged.div_ceil(size_of::<u64>()));
    let warps = THREADS / 32;
    struct_bytes(&[area, numbers(size_of::<u32>(), warps * RADIX + RADIX + warps + 1)])
}

/// Words of scratch that the sort of so many keys takes.
pub(crate) fn onesweep_words<B: Bits>(n: usize, passes: Passes) -> usize {
    Parts::new::<B>(n, passes).0.iter().sum()
}

pub(super) fn instances<B: Bits>(passes: Passes) -> Vec<Instance> {
    let defines: Vec<Define> = vec![
        ("SORTIE_KEY_BYTES", size_of::<B>().to_string()),
        ("SORTIE_KIND", kind(passes.code, passes.order).into()),
        ("SORTIE_PAYLOAD_BYTES", passes.beside.bytes().to_string()),
        ("SORTIE_PLACES", u8::from(passes.beside == Moving::Place).to_string()),
        ("SORTIE_THREADS", THREADS.to_string()),
        ("SORTIE_ROW", passes.row.to_string()),
        ("SORTIE_BLOCK_MEMORY", shared(size_of::<B>(), passes.beside, passes.row).to_string()),
    ];
    ["count_digits", "start_digits", "sweep", "bring_back"]
        .map(|kernel| Instance { kernel, file: File::Onesweep, defines: defines.clone() })
        .to_vec()
}

/// A sort by passes that is ready to be enqueued.
pub(super) struct Onesweep<'a> {
    kernels: &'a [Kernel],
    job: OnesweepJob,
    /// What is zero before: the digits, and the first table of states. The pass that uses it clears the second.
    zero: View<'a, u32>,
    transform: CodeTransform,
    key_bytes: usize,
    shared: usize,
    multiprocessors: u32,
}

impl<'a> Onesweep<'a> {
    /// Of keys, and what is at the address of the payload; or of their indices, written there. Its scratch has
    /// [`onesweep_words`]. With the address of a profile, it sorts only where that says so.
    pub fn new<B: Bits>(
        kernels: &'a [Kernel],
        scratch: View<'a, u32>,
        (keys, payload): (View<'_, B>, u64),
        passes: Passes,
        profile: u64,
        multiprocessors: u32,
    ) -> Result<Onesweep<'a>, Error> {
        let n = keys.len();
        let parts = Parts::new::<B>(n, passes);
        let [digits, states, copy, apart, payload_copy] = parts.of(scratch);
        let tiles = tiles(n, passes);
        let ends_in = if passes.beside == Moving::Place { apart.address() } else { keys.address() };
        let job = OnesweepJob {
            keys: keys.address(),
            sides: [
                OnesweepSide { keys: ends_in, payload },
                OnesweepSide { keys: copy.address(), payload: payload_copy.address() },
            ],
            count: n as u64,
            digits: digits.address(),
            states: states.address(),
            profile,
            tiles: blocks(tiles as u64)?,
        };
        Ok(Onesweep {
            kernels,
            job,
            zero: scratch.range(0..digits.len() + tiles * RADIX),
            transform: CodeTransform::new::<B>(passes.code, passes.order),
            key_bytes: size_of::<B>(),
            shared: shared(size_of::<B>(), passes.beside, passes.row),
            multiprocessors,
        })
    }

    /// Clears the tables. Before the profile: they lie where a distribution that is taken instead has its copy.
    pub fn clear(&self, stream: &Stream) -> Result<(), Error> {
        Ok(stream.fill(self.zero, 0)?)
    }

    /// Enqueues the sort.
    ///
    /// # Safety
    /// As [`Gpu::sort_pairs`].
    pub unsafe fn enqueue(&self, stream: &Stream) -> Result<(), Error> {
        let [count_digits, start_digits, sweep, bring_back] = self.kernels else {
            unreachable!("as many as instances")
        };
        let Onesweep { job, transform, multiprocessors, .. } = *self;
        let counting = Launch {
            blocks: job.tiles.min(multiprocessors * COUNTING_BLOCKS),
            threads: THREADS as u32,
            shared: self.key_bytes * RADIX * size_of::<u32>(),
        };
        let starting = Launch { blocks: 1, threads: RADIX as u32, shared: size_of::<OnesweepStarts>() };
        let sweeping = Launch {
            blocks: job.tiles.min(multiprocessors * SWEEPING_BLOCKS),
            shared: self.shared,
            ..counting
        };
        // SAFETY: the arguments are the kernels'; they stay within keys, payload and scratch. The engine keeps them.
        unsafe {
            count_digits.launch(stream, counting, (job, transform))?;
            start_digits.launch(stream, starting, (job,))?;
            for digit in 0..self.key_bytes as u32 {
                sweep.launch(stream, sweeping, (job, digit, transform))?;
            }
            bring_back.launch(stream, Launch { shared: 0, ..counting }, (job,))?;
        }
        Ok(())
    }
}

impl Gpu {
    /// Enqueues a sort by passes of keys, and what is at the address of the payload; or of their indices, written there.
    ///
    /// # Safety
    /// As [`Gpu::sort_pairs`].
    pub(super) unsafe fn onesweep<B: Bits>(
        &self,
        stream: &Stream,
        keys: View<'_, B>,
        payload: u64,
        passes: Passes,
    ) -> Result<Pending<'_>, Error> {
        let kernels = self.kernels(&instances::<B>(passes))?;
        let scratch = scratch(stream, onesweep_words::<B>(keys.len(), passes))?;
        let multiprocessors = self.device().properties().multiprocessors;
        let sort = Onesweep::new(&kernels, scratch.view(), (keys, payload), passes, 0, multiprocessors)?;
        sort.clear(stream)?;
        // SAFETY: as the caller states.
        unsafe { sort.enqueue(stream)? };
        self.pending(stream)
    }
}
