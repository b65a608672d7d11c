//! A step of a sort over several devices: samples the keys of one device, and moves them to the ranges of codes, one
//! for each device.

use std::ops::Range;

use sortie_device::{Launch, Stream, View};

use super::shape::PARTITION_BLOCK;
use super::way::Wanted;
use crate::gpu::kernels::array::{RANGES, RangesPass};
use crate::gpu::kernels::{CodeTransform, File, Instance, blocks, kind, numbers, struct_bytes};
use crate::gpu::{Gpu, Pending};
use crate::key::{Bits, Code};
use crate::request::Beside;
use crate::{Error, Order};

/// Words of keys that a thread holds in registers: the first for which there is shared memory. With 24, one register is
/// spilled.
const WORDS: [usize; 2] = [22, 16];

/// What is moved: keys of a type, in an order, each perhaps with a payload.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Divided {
    pub code: Code,
    pub order: Order,
    pub payload_bytes: usize,
}

/// Where keys and payloads are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a, B> {
    pub keys: View<'a, B>,
    pub payload: u64,
}

impl<B: Bits> Place<'_, B> {
    /// A range of the keys, whose payloads have this many bytes each.
    pub fn range(self, range: Range<usize>, payload_bytes: usize) -> Self {
        let payload = self.payload + (range.start * payload_bytes) as u64;
        Place { keys: self.keys.range(range), payload }
    }
}

impl Divided {
    fn wanted(self) -> Wanted {
        let beside = match self.payload_bytes {
            0 => Beside::Nothing,
            bytes => Beside::Payload { bytes, stable: false },
        };
        Wanted { beside, code: self.code, order: self.order }
    }

    /// Keys that a thread holds.
    fn row<B: Bits>(self, shared: usize) -> usize {
        let words = self.moved_bytes::<B>() / 4;
        let [large, small] = WORDS.map(|row| row / words);
        if self.shared::<B>(large) <= shared { large } else { small }
    }

    /// Bytes of `ranges::Moved`.
    fn moved_bytes<B: Bits>(self) -> usize {
        size_of::<B>().max(if self.payload_bytes < 8 { 4 } else { 8 })
    }

    /// Bytes of `ranges::Shared`, with rows of this many keys.
    fn shared<B: Bits>(self, row: usize) -> usize {
        let threads = PARTITION_BLOCK as usize;
        struct_bytes(&[
            numbers(self.moved_bytes::<B>(), threads * row),
            numbers(size_of::<u64>(), RANGES),
            numbers(size_of::<u32>(), 2 * threads + threads / 32),
            numbers(size_of::<B>(), RANGES - 1),
        ])
    }

    fn instance<B: Bits>(self, kernel: &'static str, shared: usize) -> Instance {
        let row = self.row::<B>(shared);
        let defines = vec![
            ("SORTIE_KEY_BYTES", size_of::<B>().to_string()),
            ("SORTIE_KIND", kind(self.code, self.order).into()),
            ("SORTIE_PAYLOAD_BYTES", self.payload_bytes.to_string()),
            ("SORTIE_THREADS", PARTITION_BLOCK.to_string()),
            ("SORTIE_ROW", row.to_string()),
            ("SORTIE_BLOCK_MEMORY", self.shared::<B>(row).to_string()),
        ];
        Instance { kernel, file: File::Ranges, defines }
    }
}

impl Gpu {
    /// Enqueues drawing keys at random positions, or all keys if the sample has room for them.
    ///
    /// # Safety
    /// As [`Gpu::sort`]; nothing else uses the sample until it is drawn.
    pub(crate) unsafe fn sample<B: Bits>(
        &self,
        stream: &Stream,
        keys: View<'_, B>,
        sample: View<'_, B>,
        divided: Divided,
        seed: u64,
    ) -> Result<(), Error> {
        let kernel = self.kernel(&divided.instance::<B>("sample", self.shared_per_block()))?;
        let count = blocks(sample.len().div_ceil(PARTITION_BLOCK as usize) as u64)?;
        let launch = Launch { blocks: count, threads: PARTITION_BLOCK, shared: 0 };
        let arguments = (keys, keys.len() as u64, sample.len() as u64, seed, sample);
        // SAFETY: the arguments are those of the kernel, which stays within keys and sample. The engine keeps the
        // kernel.
        unsafe { kernel.launch(stream, launch, arguments)? };
        Ok(())
    }

    /// Enqueues moving keys and payloads to their ranges, and counting these. Range i begins at `starts[i]`; keys that
    /// do not fit before the next start are missing.
    ///
    /// # Safety
    /// As [`Gpu::sort_pairs`]; `to` does not overlap with the keys, is as large as the last start, and is used by
    /// nothing else.
    pub(crate) unsafe fn to_ranges<B: Bits>(
        &self,
        stream: &Stream,
        [from, to]: [Place<'_, B>; 2],
        divided: Divided,
        splitters: &[B; RANGES - 1],
        starts: [u64; RANGES + 1],
        counts: View<'_, u64>,
    ) -> Result<(), Error> {
        let shared = self.shared_per_block();
        let kernel = self.kernel(&divided.instance::<B>("to_ranges", shared))?;
        let row = divided.row::<B>(shared);
        let tiles = from.keys.len().div_ceil(row * PARTITION_BLOCK as usize) as u64;
        let launch =
            Launch { blocks: blocks(tiles)?, threads: PARTITION_BLOCK, shared: divided.shared::<B>(row) };
        let job = RangesPass {
            from: from.keys.address(),
            payload: from.payload,
            to: to.keys.address(),
            payload_to: to.payload,
            count: from.keys.len() as u64,
            counts: counts.address(),
            starts,
            splitters: splitters.map(B::low),
        };
        let transform = CodeTransform::new::<B>(divided.code, divided.order);
        stream.fill(counts, 0)?;
        // SAFETY: the arguments are those of the kernel, which stays within both places, as the caller guarantees. The
        // engine keeps the kernel.
        unsafe { kernel.launch(stream, launch, (job, transform))? };
        Ok(())
    }

    /// Words of each piece of scratch for the sort of a range of at most this many keys.
    pub(crate) fn words_of_ranges<B: Bits>(
        &self,
        most: usize,
        divided: Divided,
    ) -> Result<Vec<usize>, Error> {
        divided.wanted().words_up_to::<B>(most, self.device().properties())
    }

    /// Enqueues a sort of the keys that came to a range, in this workspace.
    ///
    /// # Safety
    /// As [`Gpu::sort_pairs`], and nothing else uses the workspace until the sort is done.
    pub(crate) unsafe fn sort_range<B: Bits>(
        &self,
        stream: &Stream,
        workspace: View<'_, u8>,
        place: Place<'_, B>,
        divided: Divided,
    ) -> Result<Pending<'_>, Error> {
        // SAFETY: the caller guarantees it.
        unsafe { self.sort_array_within(stream, workspace, place.keys, place.payload, divided.wanted()) }
    }

    pub(crate) fn shared_per_block(&self) -> usize {
        self.device().properties().shared_per_block
    }
}
