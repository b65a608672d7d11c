//! Sorts one array by stable passes of 8 bits, the lowest digit first: its time does not depend on the values of the
//! keys.
//!
//! Source: Adinets and Merrill, "Onesweep: a faster least significant digit radix sort for GPUs" (2022), section 3.

use sortie_device::{Kernel, Launch, Properties, Stream, View};

use crate::gpu::alloc::scratch;
use crate::gpu::engine::KernelSet;
use crate::gpu::kernels::array::{CELLS, OnesweepDigits, OnesweepJob, OnesweepSide};
use crate::gpu::kernels::{CodeTransform, Define, File, Instance, blocks, kind, numbers, struct_bytes};
use crate::gpu::{Gpu, Pending};
use crate::key::{Bits, Code};
use crate::{Error, Order};

const THREADS: usize = 384;
/// Blocks per multiprocessor that sweep; each takes one tile after another.
const SWEEPING_BLOCKS: u32 = 2;
/// If there are few keys, rows get shorter, down to multiples of this. On an H200, 2^16 pairs of u32 took 54 us with 4
/// and 76 with 20; 2^20 took 93 us with 12 and 102 with 6.
const ROW_STEP: usize = 4;
const RADIX: usize = 256;
/// Blocks per multiprocessor that count digits.
const COUNTING_BLOCKS: u32 = 4;
/// With fewer keys, 32 bits are enough for a tile to publish how many keys have a digit.
const WIDE_FROM: usize = 1 << 30;

/// The keys that are sorted by passes, and what moves with each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Swept {
    pub key_bytes: usize,
    pub code: Code,
    pub order: Order,
    pub beside: Moving,
    /// Whether the passes may sort by buckets instead of by all digits; there is a profile then.
    pub by_buckets: bool,
}

/// The passes over a given number of keys.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passes {
    n: usize,
    pub sweep: Sweep,
}

/// What the kernels of the passes are instantiated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Sweep {
    swept: Swept,
    /// Whether counts of keys have 64 bits.
    is_wide: bool,
    /// Keys per thread.
    row: usize,
}

impl Passes {
    /// The passes over `n` keys on this device.
    pub fn new(n: usize, swept: Swept, device: &Properties) -> Passes {
        let of_row = |row| Sweep { swept, is_wide: n >= WIDE_FROM, row };
        // If there are few keys, all tiles are in flight at once.
        let at_once = device.multiprocessors as usize * SWEEPING_BLOCKS as usize * THREADS;
        let enough = n.div_ceil(at_once).next_multiple_of(ROW_STEP);
        let rows = (1..=longest_row(swept.key_bytes, swept.beside).min(enough)).rev();
        let fits = |sweep: &Sweep| sweep.shared() <= device.shared_per_block;
        Passes { n, sweep: rows.map(of_row).find(fits).unwrap_or(of_row(1)) }
    }

    fn tiles(self) -> usize {
        self.n.div_ceil(THREADS * self.sweep.row)
    }

    /// Words of scratch.
    pub fn words(self) -> usize {
        Parts::new(self).0.iter().sum()
    }
}

impl Sweep {
    /// Bytes of `onesweep::Number`.
    fn number_bytes(self) -> usize {
        if self.is_wide { size_of::<u64>() } else { size_of::<u32>() }
    }

    /// Bytes of `onesweep::Shared`.
    fn shared(self) -> usize {
        let Swept { key_bytes, beside, by_buckets, .. } = self.swept;
        let staged = THREADS * self.row * key_bytes.max(beside.word_bytes());
        let warps = THREADS / 32;
        let cells = if by_buckets { CELLS + 1 } else { 0 };
        struct_bytes(&[
            numbers(size_of::<u64>(), staged.div_ceil(size_of::<u64>())),
            numbers(size_of::<u32>(), warps * RADIX),
            numbers(self.number_bytes(), RADIX),
            numbers(size_of::<u32>(), warps + 1 + cells),
        ])
    }

    /// Bytes of `onesweep::Counting`.
    fn counting_shared(self) -> usize {
        let counts = numbers(size_of::<u32>(), self.swept.key_bytes * RADIX);
        struct_bytes(&[counts, numbers(size_of::<u64>(), THREADS / 32), numbers(size_of::<u32>(), 2)])
    }

    pub fn instances(self) -> Vec<Instance> {
        let Swept { key_bytes, code, order, beside, by_buckets, .. } = self.swept;
        let defines: Vec<Define> = vec![
            ("SORTIE_KEY_BYTES", key_bytes.to_string()),
            ("SORTIE_KIND", kind(code, order).into()),
            ("SORTIE_PAYLOAD_BYTES", beside.bytes().to_string()),
            ("SORTIE_ARGSORT", u8::from(beside == Moving::Index).to_string()),
            ("SORTIE_BUCKETS", u8::from(by_buckets).to_string()),
            ("SORTIE_WIDE", u8::from(self.is_wide).to_string()),
            ("SORTIE_THREADS", THREADS.to_string()),
            ("SORTIE_ROW", self.row.to_string()),
            ("SORTIE_BLOCK_MEMORY", self.shared().to_string()),
            ("SORTIE_COUNTING_MEMORY", self.counting_shared().to_string()),
        ];
        ["count_digits", "sweep"]
            .map(|kernel| Instance { kernel, file: File::Onesweep, defines: defines.clone() })
            .to_vec()
    }
}

impl KernelSet for Sweep {
    fn instances(&self) -> Vec<Vec<Instance>> {
        vec![Sweep::instances(*self)]
    }
}

/// What moves with each key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Moving {
    /// A payload of this many bytes, which may be 0.
    Payload(usize),
    /// Its index. The keys do not move.
    Index,
}

impl Moving {
    pub fn bytes(self) -> usize {
        match self {
            Moving::Payload(bytes) => bytes,
            Moving::Index => size_of::<u32>(),
        }
    }

    /// Bytes that move at a time, as a `payload::Word`.
    pub fn word_bytes(self) -> usize {
        match self.bytes() {
            0 => 0,
            bytes => bytes.min(8),
        }
    }
}

/// The parts of the scratch, in words: the digits, the states of two passes, the destinations of keys that do not move,
/// and copies of keys and payload. Each begins at a multiple of 16 bytes.
struct Parts([usize; 5]);

impl Parts {
    fn new(passes: Passes) -> Parts {
        let words = |bytes: usize| bytes.div_ceil(size_of::<u32>()).next_multiple_of(4);
        let (n, Swept { key_bytes, beside, .. }) = (passes.n, passes.sweep.swept);
        let keys = words(n * key_bytes);
        let apart = if beside == Moving::Index { keys } else { 0 };
        let states = 2 * passes.tiles() * RADIX * passes.sweep.number_bytes();
        let digits = words(size_of::<OnesweepDigits>());
        Parts([digits, words(states), apart, keys, words(n * beside.bytes())])
    }

    fn of<'a>(&self, scratch: View<'a, u32>) -> [View<'a, u32>; 5] {
        let mut start = 0;
        self.0.map(|words| {
            start += words;
            scratch.range(start - words..start)
        })
    }
}

/// Keys per thread, if there is shared memory for them: as many as its 80 registers hold, because with a larger tile
/// there is less waiting for other tiles. On an H200, 2^28 u32 took 5.23 ms with 24 keys, 5.47 with 20, and 5.32 with
/// 28, some of which are spilled; pairs of u32 took 8.1 ms with 20, and 8.9 with 16.
fn longest_row(key_bytes: usize, beside: Moving) -> usize {
    match (key_bytes, beside.bytes()) {
        (..=4, 0) => 24,
        (..=4, 4) => 20,
        (..=4, 8) => 16,
        (..=4, _) => 12,
        (_, 0) => 18,
        (_, 4) => 16,
        (_, 8) => 12,
        _ => 10,
    }
}

/// A sort by passes that is ready to be enqueued.
pub(super) struct Onesweep<'a> {
    kernels: &'a [Kernel],
    job: OnesweepJob,
    /// What must be zero at the start: the digits and the first table of states. The pass that uses it clears the
    /// second table.
    zero: View<'a, u32>,
    /// Memory for a copy of keys and payload.
    copy: View<'a, u32>,
    transform: CodeTransform,
    passes: Passes,
    multiprocessors: u32,
}

impl<'a> Onesweep<'a> {
    /// Prepares a sort of keys and of what is at the address of the payload, or of their indices, which are written
    /// there. The scratch must have [`Passes::words`]. If the address of a profile is given, the sort runs only if the
    /// profile says so.
    pub fn new<B: Bits>(
        kernels: &'a [Kernel],
        scratch: View<'a, u32>,
        (keys, payload): (View<'_, B>, u64),
        passes: Passes,
        profile: u64,
        multiprocessors: u32,
    ) -> Result<Onesweep<'a>, Error> {
        let Swept { code, order, beside, .. } = passes.sweep.swept;
        let parts = Parts::new(passes);
        let [digits, states, apart, copy, payload_copy] = parts.of(scratch);
        let ends_in = if beside == Moving::Index { apart.address() } else { keys.address() };
        let job = OnesweepJob {
            keys: keys.address(),
            sides: [
                OnesweepSide { keys: ends_in, payload },
                OnesweepSide { keys: copy.address(), payload: payload_copy.address() },
            ],
            count: passes.n as u64,
            digits: digits.address(),
            states: states.address(),
            profile,
            tiles: blocks(passes.tiles() as u64)?,
        };
        let copies: usize = parts.0[..3].iter().sum();
        Ok(Onesweep {
            kernels,
            job,
            zero: scratch.range(0..digits.len() + states.len() / 2),
            copy: scratch.range(copies..copies + copy.len() + payload_copy.len()),
            transform: CodeTransform::new::<B>(code, order),
            passes,
            multiprocessors,
        })
    }

    /// The address of the counts of digits.
    pub fn digits(&self) -> u64 {
        self.job.digits
    }

    /// Where keys and payload are after a sort by buckets.
    pub fn sorted(&self) -> OnesweepSide {
        self.job.sides[0]
    }

    /// Memory for a copy of keys and payload, which is free again after a sort by buckets.
    pub fn copy(&self) -> View<'a, u32> {
        self.copy
    }

    /// Clears the tables. To be called before the profile, because if a distribution is chosen instead, its copy lies
    /// in the same memory.
    pub fn clear(&self, stream: &Stream) -> Result<(), Error> {
        Ok(stream.fill(self.zero, 0)?)
    }

    /// Enqueues the sort.
    ///
    /// # Safety
    /// As [`Gpu::sort_pairs`].
    pub unsafe fn enqueue(&self, stream: &Stream) -> Result<(), Error> {
        let [count_digits, sweep] = self.kernels else { unreachable!("as many as instances") };
        let Onesweep { job, transform, passes, multiprocessors, .. } = *self;
        let counting = Launch {
            blocks: job.tiles.min(multiprocessors * COUNTING_BLOCKS),
            threads: THREADS as u32,
            shared: passes.sweep.counting_shared(),
        };
        let sweeping = Launch {
            blocks: job.tiles.min(multiprocessors * SWEEPING_BLOCKS),
            shared: passes.sweep.shared(),
            ..counting
        };
        // SAFETY: the arguments are those of the kernels, which stay within keys, payload and scratch. The engine keeps
        // the kernels.
        unsafe {
            count_digits.launch(stream, counting, (job, transform))?;
            // If the number of digits that sort is odd, one more pass copies.
            for digit in 0..passes.sweep.swept.key_bytes.next_multiple_of(2) as u32 {
                sweep.launch(stream, sweeping, (job, digit, transform))?;
            }
        }
        Ok(())
    }
}

impl Gpu {
    /// Enqueues a sort by passes of keys and of what is at the address of the payload, or of their indices, which are
    /// written there.
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
        let kernels = self.kernel_set(&passes.sweep)?;
        let scratch = scratch(stream, passes.words())?;
        let multiprocessors = self.device().properties().multiprocessors;
        let sort = Onesweep::new(&kernels[0], scratch.view(), (keys, payload), passes, 0, multiprocessors)?;
        sort.clear(stream)?;
        // SAFETY: the caller guarantees it.
        unsafe { sort.enqueue(stream)? };
        self.pending(stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::on_bench::on_bench;

    /// As for 2^30 keys and more.
    #[test]
    fn numbers_of_keys_have_64_bits() {
        let mut random = fastrand::Rng::with_seed(1);
        let keys: Vec<u32> = (0..50_000).map(|_| random.u32(..) & random.u32(..)).collect();
        let payload: Vec<u64> = (0..50_000).collect();
        on_bench(|gpu| {
            let (device, stream) = (gpu.device(), gpu.device().stream().unwrap());
            let (there, moved) = (device.alloc::<u32>(50_000).unwrap(), device.alloc::<u64>(50_000).unwrap());
            stream.copy_in(there.view(), &keys).unwrap();
            stream.copy_in(moved.view(), &payload).unwrap();
            let beside = Moving::Payload(8);
            let (code, order) = (Code::Unsigned, Order::default());
            let swept = Swept { key_bytes: 4, code, order, beside, by_buckets: false };
            let mut passes = Passes::new(50_000, swept, device.properties());
            passes.sweep.is_wide = true;
            // SAFETY: nothing else uses keys and payload meanwhile.
            let sort = unsafe { gpu.onesweep(&stream, there.view(), moved.view().address(), passes) };
            sort.unwrap().wait().unwrap();
            let mut found = vec![0; 50_000];
            stream.copy_out(&mut found, moved.view()).unwrap();
            let mut expected = payload;
            expected.sort_by_key(|&i| keys[i as usize]);
            assert!(found == expected);
        });
    }
}
