//! Selects from one array.

use std::hash::{BuildHasher, Hasher, RandomState};

use sortie_device::{Launch, View};

use super::rows::{row_defines, row_shared};
use super::{Content, Job, Rows, word_bits, word_bytes};
use crate::gpu::Gpu;
use crate::gpu::alloc::scratch;
use crate::gpu::array::{MOST_KEYS, Wanted};
use crate::gpu::engine::KernelSet;
use crate::gpu::kernels::select::{SelectCandidates, SelectJob, SelectRows};
use crate::gpu::kernels::{File, Instance, blocks};
use crate::key::{Bits, Code};
use crate::request::Beside;
use crate::{Error, Order};

const BLOCK: usize = 256;
const CHOOSING: usize = 1024;
/// Blocks that read rows, for each that runs at the same time.
const WAVES: usize = 8;
/// Keys of a long row that make a block worth its launch.
const BLOCK_OF_ROW: usize = 1 << 13;
/// Blocks per multiprocessor that read all keys: as many as run at the same time.
const READING_BLOCKS: u32 = 4;
/// Words of a sample that a block looks at.
const SAMPLED: usize = 1 << 11;
/// The largest sample. On an H200, the first 16 of 2^28 f32 took 0.32 ms; with 2^17 and a sort of the candidates, of which
/// there are four times as many then, 0.48 ms.
const MOST_SAMPLED: usize = 1 << 19;
/// With room for at most this many candidates, each is compared with every other. On an H200, that took 10 us for 2,500
/// candidates and 40 us for 12,000; a sort of 2^16 words takes 100 us.
const MOST_PLACED: usize = 1 << 15;
/// Bytes of shared memory for a block that finishes one of several rows.
const MOST_FINISHING: usize = 80 << 10;
/// Candidates that a block places at a time.
const PLACED: usize = 32;
/// A sample has at most one key in this many.
const SAMPLED_FROM: usize = 16;
/// If k is large, the k-th key of all is about this one of the sample: a larger sample would leave fewer candidates to sort,
/// but take longer itself.
const SAMPLED_RANK: usize = 64;
/// With fewer keys, all are sorted: the launches of a selection would take longer.
const SELECT_FROM: usize = 1 << 15;
/// All keys are sorted unless there are at least this many times k.
const SELECT_FROM_TIMES: usize = 8;
/// A sample of one of several rows has one key in this many.
const ROWS_SAMPLED_FROM: usize = 64;
/// The most threads of a block that finishes a row.
const FINISHING: usize = 1024;
const ATTEMPTS: usize = 2;
const DIGIT_BITS: usize = 13;
/// Bytes of `select::Level`.
const LEVEL_BYTES: usize = 32;

impl<B: Bits> Job<'_, '_, B> {
    /// # Safety
    /// As [`Gpu::top_k`].
    pub(super) unsafe fn select_from_array(&self, selection: &Selection) -> Result<(), Error> {
        let Job { gpu, stream, content, to, .. } = self;
        let kernels = gpu.kernel_set(&OfArray { content: content.clone() })?;
        let [sample, choose, count, filter, place, pad, take] = &kernels[0][..] else {
            unreachable!("as many as instances")
        };
        let codes = content.codes::<B>();
        let scratch = scratch(stream, selection.own_words())?;
        let parts = selection.parts(scratch.view());
        let job = SelectJob {
            seed: seed(),
            parts: gpu.reading_blocks(selection.n) as u64,
            ..selection.job(self.keys.address(), &parts)
        };
        stream.fill(parts.zero, 0)?;
        let launch = |items: usize, shared: usize| Launch {
            blocks: gpu.reading_blocks(items) as u32,
            threads: BLOCK as u32,
            shared,
        };
        let key_bytes = selection.key_bytes;
        let filtering = launch(selection.n, shared::filter(key_bytes));
        // SAFETY: the arguments are those of the kernels, which stay within keys, results and scratch. The engine keeps the
        // kernels. The caller guarantees the rest.
        unsafe {
            if selection.takes_all() {
                stream.fill(parts.bound, 0xFF)?;
                filter.launch(stream, filtering, (job, 0u32, codes))?;
            } else {
                sample.launch(stream, selection.sampling()?, (job, codes))?;
                if selection.sampling_blocks() > 1 {
                    choose.launch(stream, selection.choosing()?, (job,))?;
                }
                filter.launch(stream, filtering, (job, 0u32, codes))?;
                for round in 0..rounds(key_bytes) as u32 {
                    count.launch(stream, launch(selection.n, shared::count()), (job, round, codes))?;
                }
                filter.launch(stream, filtering, (job, 1u32, codes))?;
            }
            if selection.places() {
                let placing = Launch {
                    blocks: selection.capacity.div_ceil(PLACED) as u32,
                    threads: BLOCK as u32,
                    shared: 0,
                };
                return Ok(place.launch(stream, placing, (job, *to))?);
            }
            pad.launch(stream, launch(selection.capacity, 0), (job,))?;
            drop(match word_bytes(key_bytes) {
                8 => gpu.sort_array(stream, parts.words.cast::<u64>(), 0, of_words())?,
                _ => gpu.sort_array(stream, parts.words.cast::<u128>(), 0, of_words())?,
            });
            take.launch(stream, launch(selection.k, 0), (job, *to))?;
        }
        Ok(())
    }

    /// Selects from rows that are too long for a block to hold.
    ///
    /// # Safety
    /// As [`Gpu::top_k`].
    pub(super) unsafe fn select_from_long_rows(&self, selection: &Selection) -> Result<(), Error> {
        let Job { gpu, stream, content, to, .. } = self;
        let kernels = gpu.kernel_set(&OfArray { content: content.clone() })?;
        let [sample, choose, _, filter, ..] = &kernels[0][..] else { unreachable!("as many as instances") };
        let finishing = Finishing::of(selection);
        let finish = gpu.kernel_set(&OfLongRows { content: content.clone(), finishing })?;
        let codes = content.codes::<B>();
        let scratch = scratch(stream, selection.own_words())?;
        let parts = selection.parts(scratch.view());
        // Several for each that runs at the same time, so that none is left alone at the end.
        let blocks_of_row = (WAVES * gpu.reading_blocks(usize::MAX))
            .div_ceil(selection.rows)
            .min(selection.n.div_ceil(BLOCK_OF_ROW));
        let job = SelectJob {
            seed: seed(),
            parts: blocks_of_row as u64,
            ..selection.job(self.keys.address(), &parts)
        };
        let filtering = Launch {
            blocks: blocks((blocks_of_row * selection.rows) as u64)?,
            threads: BLOCK as u32,
            shared: shared::filter(selection.key_bytes),
        };
        let launch = Launch {
            blocks: blocks(selection.rows as u64)?,
            threads: finishing.threads as u32,
            shared: finishing.shared,
        };
        let rows = SelectRows { keys: job.keys, length: job.count, k: job.k };
        let candidates = SelectCandidates { found: job.found, words: job.words, capacity: job.capacity };
        stream.fill(parts.zero, 0)?;
        // SAFETY: the arguments are those of the kernels, which stay within keys, results and scratch. The engine keeps the
        // kernels. The caller guarantees the rest.
        unsafe {
            sample.launch(stream, selection.sampling()?, (job, codes))?;
            if selection.sampling_blocks() > 1 {
                choose.launch(stream, selection.choosing()?, (job,))?;
            }
            filter.launch(stream, filtering, (job, 0u32, codes))?;
            finish[0][0].launch(stream, launch, (rows, *to, codes, candidates))?;
        }
        Ok(())
    }
}

/// The seed of a sample. It differs from call to call, so that no input can be built against it.
pub(super) fn seed() -> u64 {
    RandomState::new().build_hasher().finish()
}

impl Gpu {
    /// Blocks that read this many keys.
    pub(super) fn reading_blocks(&self, keys: usize) -> usize {
        let most = self.device().properties().multiprocessors * READING_BLOCKS;
        keys.div_ceil(BLOCK).min(most as usize)
    }

    /// Words of each piece of scratch.
    pub(super) fn words_of_selection(&self, selection: &Selection) -> Result<Vec<usize>, Error> {
        let n = selection.capacity;
        let mut words = match word_bytes(selection.key_bytes) {
            _ if selection.places() => Vec::new(),
            8 => self.array_words::<u64>(&self.way::<u64>(n, of_words())?, n, of_words()),
            _ => self.array_words::<u128>(&self.way::<u128>(n, of_words())?, n, of_words()),
        };
        words.insert(0, selection.own_words());
        Ok(words)
    }
}

/// How words are sorted.
pub(super) fn of_words() -> Wanted {
    Wanted { beside: Beside::Nothing, code: Code::Unsigned, order: Order::default() }
}

/// The kernels of a selection.
#[derive(Clone, PartialEq, Eq, Hash)]
struct OfArray {
    content: Content,
}

impl KernelSet for OfArray {
    fn instances(&self) -> Vec<Vec<Instance>> {
        let key_bytes = self.content.key_bytes;
        let mut defines = self.content.defines();
        defines.extend([
            ("SORTIE_ROUNDS", rounds(key_bytes).to_string()),
            ("SORTIE_LEVEL_BYTES", LEVEL_BYTES.to_string()),
            ("SORTIE_SAMPLE_MEMORY", shared::sample(key_bytes).to_string()),
            ("SORTIE_CHOOSE_MEMORY", shared::choose(key_bytes).to_string()),
            ("SORTIE_COUNT_MEMORY", shared::count().to_string()),
            ("SORTIE_FILTER_MEMORY", shared::filter(key_bytes).to_string()),
        ]);
        let of = |kernel| Instance { kernel, file: File::Select, defines: defines.clone() };
        vec![["sample", "choose", "count", "filter", "place", "pad", "take"].map(of).to_vec()]
    }
}

/// A block that puts the candidates of a long row in order.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Finishing {
    threads: usize,
    room: usize,
    shared: usize,
}

impl Finishing {
    fn threads(room: usize) -> usize {
        (room / 4).clamp(64, FINISHING)
    }

    fn of(selection: &Selection) -> Finishing {
        let room = selection.capacity.next_power_of_two();
        let threads = Finishing::threads(room);
        Finishing { threads, room, shared: row_shared(selection.key_bytes, threads, room) }
    }
}

/// The kernel that finishes long rows.
#[derive(Clone, PartialEq, Eq, Hash)]
struct OfLongRows {
    content: Content,
    finishing: Finishing,
}

impl KernelSet for OfLongRows {
    fn instances(&self) -> Vec<Vec<Instance>> {
        let Finishing { threads, room, .. } = self.finishing;
        let defines = row_defines(&self.content, threads, room);
        vec![vec![Instance { kernel: "finish_row", file: File::FinishRows, defines }]]
    }
}

/// The digits of a word of keys of this width.
fn rounds(key_bytes: usize) -> usize {
    word_bits(key_bytes).div_ceil(DIGIT_BITS)
}

/// Bytes of shared memory, as the kernels assert.
mod shared {
    use super::{BLOCK, CHOOSING, DIGIT_BITS, word_bytes};

    const WARP: usize = sortie_device::WARP as usize;
    const WARPS: usize = BLOCK / WARP;
    /// Words that a warp holds before it appends them.
    const HELD: usize = 128;
    /// Values of a digit of a bound.
    const BYTES: usize = 1 << 8;

    pub fn sample(key_bytes: usize) -> usize {
        (bound(key_bytes) + size_of::<u32>()).next_multiple_of(word_bytes(key_bytes))
    }

    pub fn choose(key_bytes: usize) -> usize {
        CHOOSING / WARP * word_bytes(key_bytes) + bound(key_bytes)
    }

    /// Of `BoundShared`.
    fn bound(key_bytes: usize) -> usize {
        let word = word_bytes(key_bytes);
        (word + (BYTES + 2) * size_of::<u32>()).next_multiple_of(word)
    }

    pub fn count() -> usize {
        size_of::<u32>() << DIGIT_BITS
    }

    pub fn filter(key_bytes: usize) -> usize {
        let level = word_bytes(key_bytes) + 2 * size_of::<u64>();
        WARPS * (HELD * word_bytes(key_bytes) + size_of::<u64>()) + level
    }
}

/// How the first `k` of `n` keys are selected, of one row or of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Selection {
    rows: usize,
    n: usize,
    k: usize,
    key_bytes: usize,
    /// The keys that are sampled; 0 if all are taken.
    sampled: usize,
    /// The rank of the bound in the sample.
    rank: usize,
    /// The candidates for which there is room.
    capacity: usize,
}

/// The parts of the scratch.
struct Parts<'a> {
    /// What must be zero at the start: `found`, `digits` and `levels`.
    zero: View<'a, u32>,
    found: u64,
    digits: u64,
    levels: u64,
    bound: View<'a, u32>,
    firsts: u64,
    words: View<'a, u32>,
}

impl Selection {
    pub fn of(n: usize, k: usize, key_bytes: usize) -> Result<Selection, Error> {
        if n > MOST_KEYS {
            return Err(Error::Unsupported(format!(
                "a GPU selects from at most {MOST_KEYS} keys; select from parts"
            )));
        }
        if n < SELECT_FROM || n / SELECT_FROM_TIMES < k {
            return Ok(Selection { rows: 1, n, k, key_bytes, sampled: 0, rank: 0, capacity: n });
        }
        let wanted = (n / SAMPLED_FROM).min(SAMPLED_RANK * n / k.max(1)).min(MOST_SAMPLED);
        Ok(Selection::by_sample(1, n, k, key_bytes, wanted))
    }

    /// A selection from rows that are too long for a block to hold. `None` if there may be too many candidates for a block with
    /// this many bytes of shared memory.
    pub fn of_rows(rows: &Rows, key_bytes: usize, shared: usize) -> Option<Selection> {
        let Rows { keys, length, k } = *rows;
        if !(SAMPLED * 2..=MOST_KEYS).contains(&length) {
            return None;
        }
        let selection = Selection::by_sample(keys / length, length, k, key_bytes, length / ROWS_SAMPLED_FROM);
        let room = selection.capacity.next_power_of_two();
        let needed = row_shared(key_bytes, Finishing::threads(room), room);
        (needed <= shared.min(MOST_FINISHING)).then_some(selection)
    }

    /// With a sample of about `wanted` keys.
    fn by_sample(rows: usize, n: usize, k: usize, key_bytes: usize, wanted: usize) -> Selection {
        let sampled = (1 << wanted.max(1).ilog2()).max(SAMPLED);
        // The number of sampled words among the first k, and the number up to a bound, have at most the deviation of a
        // Poisson distribution. The terms beside four deviations are for the tails of small means: then, too, about one in
        // 10^5 bounds is before the k-th word, and one has too many words before it.
        let expected = k as f64 * sampled as f64 / n as f64;
        let rank = (expected + 4.0 * expected.sqrt() + 3.0).ceil();
        let most = rank + 5.0 * rank.sqrt() + 4.0;
        let capacity = ((most * n as f64 / sampled as f64).ceil() as usize).min(n);
        Selection { rows, n, k, key_bytes, sampled, rank: rank as usize, capacity }
    }

    fn takes_all(&self) -> bool {
        self.sampled == 0
    }

    /// Whether the candidates are compared with each other instead of sorted.
    fn places(&self) -> bool {
        self.capacity <= MOST_PLACED
    }

    /// Blocks that sample a row.
    fn sampling_blocks(&self) -> usize {
        self.sampled / SAMPLED
    }

    fn sampling(&self) -> Result<Launch, Error> {
        let blocks = blocks((self.rows * self.sampling_blocks()) as u64)?;
        Ok(Launch { blocks, threads: BLOCK as u32, shared: shared::sample(self.key_bytes) })
    }

    fn choosing(&self) -> Result<Launch, Error> {
        let blocks = blocks(self.rows as u64)?;
        Ok(Launch { blocks, threads: CHOOSING as u32, shared: shared::choose(self.key_bytes) })
    }

    /// Words of scratch besides that of a sort.
    pub fn own_words(&self) -> usize {
        self.part_words().iter().sum()
    }

    /// Words of `found`, `digits`, `levels`, `bound`, `firsts` and the candidates. Each begins at a multiple of 16 bytes.
    fn part_words(&self) -> [usize; 6] {
        let words = |bytes: usize| bytes.next_multiple_of(16) / size_of::<u32>();
        let (word, rounds) = (word_bytes(self.key_bytes), rounds(self.key_bytes));
        let firsts = self.sampling_blocks() * self.rank.min(SAMPLED);
        // Only one row has a second attempt.
        let rounds = if self.rows == 1 { rounds } else { 0 };
        [
            words(self.rows * ATTEMPTS * size_of::<u64>()),
            words((rounds << DIGIT_BITS) * size_of::<u32>()),
            words(rounds * LEVEL_BYTES),
            words(self.rows * word),
            words(self.rows * firsts * word),
            words(self.rows * self.capacity * word),
        ]
    }

    fn parts<'a>(&self, scratch: View<'a, u32>) -> Parts<'a> {
        let mut end = 0;
        let [found, digits, levels, bound, firsts, words] = self.part_words().map(|words| {
            end += words;
            scratch.range(end - words..end)
        });
        let words_of_candidates = self.capacity * word_bytes(self.key_bytes) / size_of::<u32>();
        Parts {
            zero: scratch.range(0..found.len() + digits.len() + levels.len()),
            found: found.address(),
            digits: digits.address(),
            levels: levels.address(),
            bound,
            firsts: firsts.address(),
            words: words.range(0..words_of_candidates),
        }
    }

    fn job(&self, keys: u64, parts: &Parts<'_>) -> SelectJob {
        SelectJob {
            keys,
            count: self.n as u64,
            k: self.k as u64,
            capacity: self.capacity as u64,
            sampled: self.sampled as u32,
            rank: self.rank as u32,
            found: parts.found,
            seed: 0,
            parts: 0,
            bound: parts.bound.address(),
            firsts: parts.firsts,
            digits: parts.digits,
            levels: parts.levels,
            words: parts.words.address(),
        }
    }
}

#[cfg(test)]
mod tests {
    use bytemuck::Pod;

    use super::*;
    use crate::TotalOrder;
    use crate::gpu::DeviceTop;
    use crate::gpu::kernels::select::TopResults;
    use crate::gpu::on_bench::on_bench;

    /// The indices that a selection writes.
    fn selected<K: TotalOrder + Pod>(gpu: &Gpu, keys: &[K], selection: &Selection) -> Vec<u32> {
        let (device, stream) = (gpu.device(), gpu.device().stream().unwrap());
        let count = selection.rows * selection.k;
        let (there, to) = (device.alloc::<K>(keys.len()).unwrap(), device.alloc::<u32>(count).unwrap());
        stream.copy_in(there.view(), keys).unwrap();
        let content = Content::of::<K>(Order::default(), false).unwrap();
        let results = TopResults { keys: 0, indices: to.view().address(), index_bytes: 4 };
        let job = Job { gpu, stream: &stream, keys: there.view().cast::<K::Bits>(), content, to: results };
        // SAFETY: nothing else uses keys and results.
        unsafe {
            match selection.rows {
                1 => job.select_from_array(selection).unwrap(),
                _ => job.select_from_long_rows(selection).unwrap(),
            }
        }
        let mut found = vec![0; count];
        stream.copy_out(&mut found, to.view()).unwrap();
        found
    }

    fn expected<K: Ord>(keys: &[K], k: usize) -> Vec<u32> {
        let mut indices: Vec<u32> = (0..keys.len() as u32).collect();
        indices.sort_by_key(|&i| &keys[i as usize]);
        indices.truncate(k);
        indices
    }

    /// The bound of the sample is before the k-th word, or has too many words before it.
    #[test]
    fn digits_are_counted_if_the_sample_misleads() {
        let mut random = fastrand::Rng::with_seed(1);
        let n = 40_000;
        let narrow: [Vec<u32>; 3] = [
            (0..n).map(|_| random.u32(..)).collect(),
            (0..n).map(|_| random.u32(0..3)).collect(),
            vec![u32::MAX; n],
        ];
        on_bench(|gpu| {
            for keys in &narrow {
                let k = 2_000;
                let usual = Selection::of(n, k, 4).unwrap();
                assert!(!usual.takes_all());
                for misled in [
                    Selection { rank: 1, ..usual.clone() },
                    Selection { capacity: k, ..usual.clone() },
                    Selection { capacity: k + 300, rank: 900, ..usual.clone() },
                    Selection { capacity: MOST_PLACED + 1, rank: 1, ..usual.clone() },
                ] {
                    assert!(selected(gpu, keys, &misled) == expected(keys, k), "{misled:?}");
                }
                let wide: Vec<u64> = keys.iter().map(|&key| u64::from(key) << 20).collect();
                let misled = Selection { capacity: k, ..Selection::of(n, k, 8).unwrap() };
                assert!(selected(gpu, &wide, &misled) == expected(&wide, k), "{misled:?}");
            }
            let last = vec![u64::MAX; n];
            for capacity in [2_000, MOST_PLACED + 1] {
                let misled = Selection { rank: 1, capacity, ..Selection::of(n, 2_000, 8).unwrap() };
                assert!(selected(gpu, &last, &misled) == expected(&last, 2_000));
            }
        });
    }

    /// The same in each of several rows.
    #[test]
    fn a_row_is_read_again_if_its_sample_misleads() {
        let mut random = fastrand::Rng::with_seed(1);
        let (length, k) = (9_000, 50);
        let rows = Rows { keys: 3 * length, length, k };
        on_bench(|gpu| {
            for few in [u64::MAX, 3, 1] {
                let keys: Vec<u64> = (0..rows.keys).map(|_| random.u64(..) % few).collect();
                let narrow: Vec<u32> = keys.iter().map(|&key| key as u32).collect();
                for misled in [(1, 200), (40, k), (9, 200)] {
                    let (rank, capacity) = misled;
                    let of = |key_bytes| {
                        let usual = Selection::of_rows(&rows, key_bytes, 48 << 10).unwrap();
                        Selection { rank, capacity, ..usual }
                    };
                    let first: Vec<u32> = keys.chunks(length).flat_map(|row| expected(row, k)).collect();
                    assert!(selected(gpu, &keys, &of(8)) == first, "{few} {misled:?}");
                    let first: Vec<u32> = narrow.chunks(length).flat_map(|row| expected(row, k)).collect();
                    assert!(selected(gpu, &narrow, &of(4)) == first, "{few} {misled:?}");
                }
            }
        });
    }

    /// Unless the sample misleads, which happens once in 10^5 times.
    #[test]
    fn one_read_is_enough_whatever_the_keys_are() {
        let (n, k) = (270_000, 30);
        let patterns: [fn(u32) -> u32; 5] =
            [|_| 7, |i| i, |i| !i, |i| i.wrapping_mul(0x9E37_79B9), |i| u32::from(i == 60_000)];
        on_bench(|gpu| {
            let (device, stream) = (gpu.device(), gpu.device().stream().unwrap());
            let (there, to) = (device.alloc::<u32>(n).unwrap(), device.alloc::<u32>(k).unwrap());
            let selection = Selection::of(n, k, 4).unwrap();
            let largest = DeviceTop::<u32, u32>::of(to.view(), Order::DESCENDING);
            let scratch = device.alloc::<u8>(gpu.workspace_bytes_of_top_k(n, &largest).unwrap()).unwrap();
            for pattern in patterns {
                let keys: Vec<u32> = (0..n as u32).map(pattern).collect();
                stream.copy_in(there.view(), &keys).unwrap();
                // SAFETY: nothing else uses keys, results and scratch.
                unsafe {
                    let within = stream.with_workspace(scratch.view());
                    gpu.top_k(&within, there.view(), largest).unwrap().wait().unwrap();
                }
                let mut found = [0u64; ATTEMPTS];
                stream.copy_out(&mut found, scratch.view().cast::<u64>().range(0..ATTEMPTS)).unwrap();
                assert!((k..=selection.capacity).contains(&(found[0] as usize)), "{found:?}");
                assert_eq!(found[1], 0);
            }
        });
    }

    #[test]
    fn candidates_are_few() {
        for (n, k, most) in [
            (1 << 28, 1, 10_000),
            (1 << 28, 4096, MOST_PLACED),
            (1 << 28, 1 << 20, 3 << 20),
            (1 << 20, 1 << 17, 1 << 19),
        ] {
            let Selection { capacity, sampled, rank, .. } = Selection::of(n, k, 4).unwrap();
            assert!(k < capacity && capacity <= most, "{n} {k}: {capacity}");
            assert!(rank < sampled && sampled.is_multiple_of(SAMPLED));
        }
    }
}
