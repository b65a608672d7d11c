//! One array by stable passes of 8 bits, the lowest digit first: its time does not depend on what the keys are.
//!
//! Source: Adinets and Merrill, "Onesweep: a faster least significant digit radix sort for GPUs" (2022), section 3.

use sortie_device::{Buffer, Launch, Stream, View};

use crate::gpu::alloc::scratch;
use crate::gpu::kernels::array::{OnesweepDigits, OnesweepJob, OnesweepSide, OnesweepStarts};
use crate::gpu::kernels::{CodeTransform, Define, File, Instance, blocks, kind, numbers, struct_bytes};
use crate::gpu::{Gpu, Pending};
use crate::key::{Bits, Code};
use crate::{Error, Order};

/// Threads of a block, and words that each holds in registers: of keys, or of their payloads where those are wider. On an H200
/// 2^28 pairs of u32 took 9.9 ms with 384 threads and 20 words, 10.4 with 512 and 16, 11.2 with 384 and 24, of which some are
/// spilled.
const THREADS: usize = 384;
const WORDS: usize = 20;
/// Blocks on a multiprocessor that sweep: each takes one tile after the other.
const SWEEPING_BLOCKS: u32 = 2;
const RADIX: usize = 256;
/// Blocks on a multiprocessor that count digits, or copy.
const COUNTING_BLOCKS: u32 = 2;
/// Of so many keys each is counted in what tiles say of their digits.
pub(super) const FEWER_THAN: usize = 1 << 30;

/// Keys that are sorted by passes, and what goes with each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passes {
    pub code: Code,
    pub order: Order,
    pub beside: Moving,
}

/// What moves with each key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moving {
    /// So many bytes of payload, perhaps none.
    Payload(usize),
    /// Its place. The keys stay where they are.
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
        let states = 2 * tiles::<B>(n, passes) * RADIX * size_of::<u32>();
        let digits = words(size_of::<OnesweepDigits>());
        Parts([digits, words(states), keys, apart, words(n * passes.beside.bytes())])
    }

    fn of<'a>(&self, scratch: &'a Buffer<u32>) -> [View<'a, u32>; 5] {
        let mut start = 0;
        self.0.map(|words| {
            start += words;
            scratch.range(start - words..start)
        })
    }
}

/// Keys of a thread.
fn row<B: Bits>(passes: Passes) -> usize {
    let words = size_of::<B>().max(passes.beside.word_bytes()).div_ceil(size_of::<u32>());
    WORDS / words
}

fn tiles<B: Bits>(n: usize, passes: Passes) -> usize {
    n.div_ceil(THREADS * row::<B>(passes))
}

/// Bytes of `onesweep::Shared`.
fn shared<B: Bits>(passes: Passes) -> usize {
    let staged = THREADS * row::<B>(passes) * size_of::<B>().max(passes.beside.word_bytes());
    let counters = THREADS / 32 * RADIX * size_of::<u32>();
    let area = numbers(size_of::<u64>(), staged.max(counters).div_ceil(size_of::<u64>()));
    struct_bytes(&[area, numbers(size_of::<u32>(), RADIX + THREADS / 32 + 1)])
}

/// Words of scratch that the sort of so many keys takes.
pub(crate) fn onesweep_words<B: Bits>(n: usize, passes: Passes) -> usize {
    Parts::new::<B>(n, passes).0.iter().sum()
}

fn instances<B: Bits>(passes: Passes) -> Vec<Instance> {
    let defines: Vec<Define> = vec![
        ("SORTIE_KEY_BYTES", size_of::<B>().to_string()),
        ("SORTIE_KIND", kind(passes.code, passes.order).into()),
        ("SORTIE_PAYLOAD_BYTES", passes.beside.bytes().to_string()),
        ("SORTIE_PLACES", u8::from(passes.beside == Moving::Place).to_string()),
        ("SORTIE_THREADS", THREADS.to_string()),
        ("SORTIE_ROW", row::<B>(passes).to_string()),
        ("SORTIE_BLOCK_MEMORY", shared::<B>(passes).to_string()),
    ];
    ["count_digits", "start_digits", "sweep", "bring_back"]
        .map(|kernel| Instance { kernel, file: File::Onesweep, defines: defines.clone() })
        .to_vec()
}

impl Gpu {
    /// Enqueues a sort by passes of keys, and what is at the address of the payload; or of their places, written there.
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
        let n = keys.len();
        let kernels = self.kernels(&instances::<B>(passes))?;
        let [count_digits, start_digits, sweep, bring_back] = &kernels[..] else {
            unreachable!("as many as instances")
        };
        let parts = Parts::new::<B>(n, passes);
        let scratch = scratch(stream, parts.0.iter().sum())?;
        let [digits, states, copy, apart, payload_copy] = parts.of(&scratch);
        let tiles = tiles::<B>(n, passes);
        // The second table is cleared by the pass that uses the first.
        let zero = digits.len() + tiles * RADIX;
        stream.fill(scratch.range(0..zero), 0)?;
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
            tiles: blocks(tiles as u64)?,
        };
        let transform = CodeTransform::new::<B>(passes.code, passes.order);
        let multiprocessors = self.device().properties().multiprocessors;
        let counts = size_of::<B>() * RADIX * size_of::<u32>();
        let counting = Launch {
            blocks: job.tiles.min(multiprocessors * COUNTING_BLOCKS),
            threads: THREADS as u32,
            shared: counts,
        };
        let starting = Launch { blocks: 1, threads: RADIX as u32, shared: size_of::<OnesweepStarts>() };
        let sweeping = Launch {
            blocks: job.tiles.min(multiprocessors * SWEEPING_BLOCKS),
            shared: shared::<B>(passes),
            ..counting
        };
        // SAFETY: the arguments are the kernels'; they stay within keys, payload and scratch. The engine keeps them.
        unsafe {
            count_digits.launch(stream, counting, (job, transform))?;
            start_digits.launch(stream, starting, (job,))?;
            for digit in 0..size_of::<B>() as u32 {
                sweep.launch(stream, sweeping, (job, digit, transform))?;
            }
            bring_back.launch(stream, Launch { shared: 0, ..counting }, (job,))?;
        }
        self.pending(stream)
    }
}
