//! Keys at some indices of the order of one array.

use bytemuck::Pod;
use sortie_device::{Launch, Stream, View};

use super::Content;
use super::array::{of_words, seed};
use crate::error::same_length;
use crate::gpu::alloc::{check_workspace, scratch, workspace_bytes};
use crate::gpu::array::MOST_KEYS;
use crate::gpu::engine::KernelSet;
use crate::gpu::kernels::select::{NthJob, NthNumbers, PUT};
use crate::gpu::kernels::{Fields, File, Instance, numbers, struct_bytes};
use crate::gpu::{Gpu, Pending};
use crate::{Error, Order, TotalOrder};

const BLOCK: usize = 256;
const BOUNDING: usize = 1024;
const WARP: usize = sortie_device::WARP as usize;
const WARPS: usize = BLOCK / WARP;
const HELD: usize = 128;
const DIGITS: usize = 256;
/// Codes of a sample that a block looks at.
const SAMPLED: usize = 1 << 10;
/// A sample has at most one key in this many.
const SAMPLED_FROM: usize = 16;
/// The distance of a bound from where the key is expected in the sample, in standard deviations.
const DEVIATIONS: f64 = 5.0;
/// The same besides, for the tails of small means.
const BESIDE: f64 = 4.0;
/// With fewer keys, all are sorted. On an H200, the median of 2^21 f32 took 91 us by a sort and 120 by a selection, of 2^22 as long by both.
const SELECT_FROM: usize = 1 << 22;
/// All keys are sorted if more than one in this many may be collected.
const SORTED_FROM: usize = 4;
/// Bounds for which the kernels have shared memory. Two belong to a range.
const MOST_BOUNDS: usize = 256;
/// The binary logarithm of the cells that the kernels look up. With more, a block would take more than 48 KB of shared memory.
const CELL_BITS: u32 = 13;
const COPIES: usize = 4;

/// Which keys [`Gpu::nth`] finds, and where it writes them.
#[derive(Debug, Clone, Copy)]
pub struct DeviceNth<'a, K> {
    /// The indices in the order, in any order, and each less than the number of keys.
    pub indices: &'a [usize],
    /// Where their keys go. As long as `indices`.
    pub nth: View<'a, K>,
    /// The order of the keys.
    pub order: Order,
}

impl Gpu {
    /// Enqueues a selection: writes the keys at some indices of the order, to `nth[i]` that which [`Gpu::sort`] would put at
    /// `indices[i]`. The keys stay as they are. The result is that of [`Sorter::nth`](crate::Sorter::nth).
    ///
    /// - At least 2^22 keys: reads them once. Two bounds for each index come from a sample at random positions, and the keys
    ///   between them are sorted. Which keys are equal, or in order, makes no difference. About once in 10^6 calls for each
    ///   index, a bound is wrong. Digits of the keys are counted for that index then, at a read of the keys for each of their
    ///   bytes.
    /// - Fewer keys, or so many indices that a quarter of the keys would be between bounds: all keys are sorted.
    ///
    /// Scratch: 4 bytes (8 for keys of 64 bits) for each key that is sampled or sorted and the scratch of that sort, 1 KB for each
    /// index and byte of a key, and up to 25 KB more. Of 2^28 keys, 2^19 are sampled and 2 million sorted for one index; for 9
    /// indices, four times as many.
    ///
    /// [`Gpu::workspace_bytes_of_nth`] is the size of a workspace.
    ///
    /// ```no_run
    /// use sortie::{Order, gpu};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let device = sortie_device::cuda::device(0)?;
    /// let gpu = gpu::Gpu::new(device.clone());
    /// let stream = device.stream()?;
    /// let keys = device.alloc::<f32>(1 << 20)?;
    /// stream.copy_in(keys.view(), &vec![0.5; keys.len()])?;
    /// let nth = device.alloc::<f32>(1)?;
    /// let middle = gpu::DeviceNth { indices: &[1 << 19], nth: nth.view(), order: Order::default() };
    /// // SAFETY: nothing else uses any of them until the selection is done.
    /// unsafe { gpu.nth(&stream, keys.view(), &middle)? }.wait()?;
    /// let mut median = [0.0];
    /// stream.copy_out(&mut median, nth.view())?;
    /// assert_eq!(median, [0.5]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Gpu::sort`]; [`Error::LengthMismatch`] unless there are as many results as indices; [`Error::Unsupported`] for keys of
    /// 128 bits, more than 2^32 - 2^16 keys, or an index that is not less than their number.
    ///
    /// # Safety
    /// As [`Gpu::sort`]. Nothing else uses the results until the selection is done, and they do not overlap the keys.
    pub unsafe fn nth<K: TotalOrder + Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        wanted: &DeviceNth<'_, K>,
    ) -> Result<Pending<'_>, Error> {
        same_length("results", wanted.indices.len(), wanted.nth.len())?;
        let content = Content::of::<K>(wanted.order, false)?;
        let plan = Plan::of::<K>(keys.len(), wanted.indices)?;
        if !wanted.indices.is_empty() {
            let words = self.words_of_nth(&plan)?;
            check_workspace(stream, || words)?;
            // SAFETY: the caller guarantees it.
            unsafe { self.select_nth(stream, keys, wanted, &content, &plan)? };
        }
        self.pending(stream)
    }

    /// Bytes of a workspace for [`Gpu::nth`] of this many keys and these indices.
    ///
    /// # Errors
    /// As [`Gpu::nth`].
    pub fn workspace_bytes_of_nth<K: TotalOrder>(
        &self,
        keys: usize,
        indices: &[usize],
    ) -> Result<usize, Error> {
        let plan = Plan::of::<K>(keys, indices)?;
        Ok(if indices.is_empty() { 0 } else { workspace_bytes(&self.words_of_nth(&plan)?) })
    }

    /// Words of each piece of scratch.
    fn words_of_nth(&self, plan: &Plan) -> Result<Vec<usize>, Error> {
        let of_sort = |codes: usize| match (codes, plan.code_bytes()) {
            (0, _) => Ok(Vec::new()),
            (n, 4) => Ok(self.array_words::<u32>(&self.way::<u32>(n, of_words())?, n, of_words())),
            (n, _) => {
                Ok::<_, Error>(self.array_words::<u64>(&self.way::<u64>(n, of_words())?, n, of_words()))
            }
        };
        // One sort follows the other.
        let (sample, collected) = (of_sort(plan.sampled)?, of_sort(plan.capacity)?);
        let longer = if workspace_bytes(&sample) > workspace_bytes(&collected) { sample } else { collected };
        Ok([vec![plan.parts(0).1], longer].concat())
    }

    /// # Safety
    /// As [`Gpu::nth`].
    unsafe fn select_nth<K: TotalOrder + Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        wanted: &DeviceNth<'_, K>,
        content: &Content,
        plan: &Plan,
    ) -> Result<(), Error> {
        let kernels = self.kernel_set(&OfNth { content: content.clone() })?;
        let [put, encode, sample, bound, filter_one, filter_all, locate, pad, count, take] = &kernels[0][..]
        else {
            unreachable!("as many as instances")
        };
        let codes = content.codes::<K::Bits>();
        let scratch = scratch(stream, plan.parts(0).1)?;
        let (parts, _) = plan.parts(scratch.view().address());
        let job = NthJob { keys: keys.address(), seed: seed(), nth: wanted.nth.address(), ..parts };
        let launch = |items: usize, shared: usize| Launch {
            blocks: self.reading_blocks(items) as u32,
            threads: BLOCK as u32,
            shared,
        };
        let one_block = |threads: usize, shared: usize| Launch { blocks: 1, threads: threads as u32, shared };
        let sort = |address: u64, codes: usize| -> Result<(), Error> {
            // SAFETY: the scratch has this many codes.
            unsafe {
                drop(match plan.code_bytes() {
                    4 => self.sort_array(stream, View::<u32>::from_raw(address, codes), 0, of_words())?,
                    _ => self.sort_array(stream, View::<u64>::from_raw(address, codes), 0, of_words())?,
                });
            }
            Ok(())
        };
        let shared = shared(plan.code_bytes());
        // SAFETY: the arguments are those of the kernels, which stay within keys, results and scratch. The engine keeps the
        // kernels. The caller guarantees the rest.
        unsafe {
            for numbers in plan.numbers(wanted.indices) {
                put.launch(stream, one_block(BLOCK, 0), (job, numbers))?;
            }
            if plan.takes_all() {
                encode.launch(stream, launch(plan.n, 0), (job, codes))?;
                sort(job.words, plan.n)?;
            } else {
                stream.fill(scratch.range(0..plan.zero_words()), 0)?;
                sample.launch(
                    stream,
                    Launch { blocks: (plan.sampled / SAMPLED) as u32, ..launch(1, 0) },
                    (job, codes),
                )?;
                sort(job.sample, plan.sampled)?;
                bound.launch(stream, one_block(BOUNDING, shared.bound), (job, codes))?;
                let (filter, room) = match plan.ranges.len() {
                    1 => (filter_one, shared.one),
                    _ => (filter_all, shared.all),
                };
                filter.launch(stream, launch(plan.n, room), (job, codes))?;
                locate.launch(stream, one_block(BLOCK, shared.locate), (job,))?;
                pad.launch(stream, launch(plan.capacity, 0), (job,))?;
                sort(job.words, plan.capacity)?;
                for round in 0..plan.key_bytes as u32 {
                    count.launch(stream, launch(plan.n, shared.count), (job, round, codes))?;
                }
            }
            let each = Launch { blocks: wanted.indices.len() as u32, ..launch(1, shared.descent) };
            take.launch(stream, each, (job, codes))?;
        }
        Ok(())
    }
}

/// The kernels of a selection.
#[derive(Clone, PartialEq, Eq, Hash)]
struct OfNth {
    content: Content,
}

impl KernelSet for OfNth {
    fn instances(&self) -> Vec<Vec<Instance>> {
        let code = code_bytes(self.content.key_bytes);
        let shared = shared(code);
        let mut defines = self.content.defines();
        defines.extend([
            ("SORTIE_MOST_BOUNDS", MOST_BOUNDS.to_string()),
            ("SORTIE_CELL_BITS", CELL_BITS.to_string()),
            ("SORTIE_TABLE_BYTES", struct_bytes(&table(code)).to_string()),
            ("SORTIE_COPIES", COPIES.to_string()),
            ("SORTIE_PUT", PUT.to_string()),
            ("SORTIE_BOUND_MEMORY", shared.bound.to_string()),
            ("SORTIE_ONE_MEMORY", shared.one.to_string()),
            ("SORTIE_ALL_MEMORY", shared.all.to_string()),
            ("SORTIE_LOCATE_MEMORY", shared.locate.to_string()),
            ("SORTIE_COUNT_MEMORY", shared.count.to_string()),
        ]);
        let of = |kernel| Instance { kernel, file: File::Nth, defines: defines.clone() };
        let kernels = [
            "put",
            "encode",
            "sample",
            "bound",
            "filter_one",
            "filter_all",
            "locate",
            "pad",
            "count",
            "take",
        ];
        vec![kernels.map(of).to_vec()]
    }
}

/// Bytes of shared memory, as the kernels assert.
struct Shared {
    bound: usize,
    one: usize,
    all: usize,
    locate: usize,
    descent: usize,
    count: usize,
}

fn shared(code: usize) -> Shared {
    let (classes, locating) = (2 * MOST_BOUNDS + 1, (2 * MOST_BOUNDS + 1).next_multiple_of(BLOCK));
    let descent = numbers(8, WARPS + 2);
    Shared {
        bound: struct_bytes(&[
            numbers(code, MOST_BOUNDS),
            numbers(4, MOST_BOUNDS + 2 + (2 << CELL_BITS) / 32 + 2),
            numbers(code, BOUNDING / WARP),
        ]),
        one: struct_bytes(&[numbers(code, WARPS * HELD)]),
        all: struct_bytes(&[
            numbers(code, WARPS * (HELD + pending(code)) + MOST_BOUNDS + MOST_BOUNDS / 2),
            numbers(4, COPIES * (classes + 1)),
            numbers(2, 1 << CELL_BITS),
        ]),
        locate: struct_bytes(&[numbers(8, 2 * WARPS + 2 * locating)]),
        descent: struct_bytes(&[descent]),
        count: struct_bytes(&[descent, numbers(4, DIGITS)]),
    }
}

/// Codes of a warp that wait to be looked at.
fn pending(code_bytes: usize) -> usize {
    WARP - 1 + WARP * if code_bytes > 4 { 4 } else { 8 }
}

/// The table: which cells there are, and their entries.
fn table(code_bytes: usize) -> [Fields; 3] {
    [numbers(code_bytes, 2), numbers(4, 4), numbers(2, 1 << CELL_BITS)]
}

/// Bytes of the code of a key.
fn code_bytes(key_bytes: usize) -> usize {
    key_bytes.max(4)
}

/// How the keys at some indices of `n` are found.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Plan {
    n: usize,
    wanted: usize,
    key_bytes: usize,
    /// The keys that are sampled; 0 if all are sorted.
    sampled: usize,
    /// For each range, one more than the index of its lower bound in the sample, where 0 is the first code, and that of its upper
    /// bound, where `sampled` is the last code.
    ranges: Vec<(u32, u32)>,
    /// The codes that are sorted.
    capacity: usize,
}

impl Plan {
    fn of<K: TotalOrder>(n: usize, indices: &[usize]) -> Result<Plan, Error> {
        let key_bytes = size_of::<K>();
        let refused = |what| Err(Error::Unsupported(what));
        if key_bytes > 8 {
            return refused("a GPU selects keys of at most 64 bits; sort these".into());
        }
        if n > MOST_KEYS {
            return refused(format!("a GPU selects from at most {MOST_KEYS} keys; select from parts"));
        }
        if let Some(index) = indices.iter().find(|&&index| index >= n) {
            return refused(format!(
                "there are {n} keys, so none has the index {index}; ask for less than {n}"
            ));
        }
        let mut ordered = indices.to_vec();
        ordered.sort_unstable();
        // The last key of all needs no range, if there is another.
        let others = ordered.partition_point(|&index| index + 1 < n).max(1).min(ordered.len());
        ordered.truncate(others);
        let all = Plan { n, wanted: indices.len(), key_bytes, sampled: 0, ranges: Vec::new(), capacity: n };
        if n < SELECT_FROM {
            return Ok(all);
        }
        let plan = all.clone().by_sample(&ordered, sampled(n, &ordered));
        let fits = plan.ranges.len() <= MOST_BOUNDS / 2 && plan.capacity <= n / SORTED_FROM;
        Ok(if fits { plan } else { all })
    }

    /// With a sample of this many keys, for indices in order.
    fn by_sample(self, indices: &[usize], sampled: usize) -> Plan {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for &index in indices {
            let share = (index as f64 + 0.5) / self.n as f64;
            let expected = share * sampled as f64;
            // The number of sampled keys before this one deviates at most as that of as many coins.
            let reach = DEVIATIONS * (expected * (1.0 - share)).sqrt() + BESIDE;
            let low = (expected - reach + 1.0).max(0.0) as u32;
            let high = ((expected + reach).ceil() as u32).min(sampled as u32);
            match ranges.last_mut() {
                Some(range) if low <= range.1 + 1 => range.1 = range.1.max(high),
                _ => ranges.push((low, high)),
            }
        }
        let between: f64 = ranges.iter().map(|(low, high)| f64::from(high + 1 - low)).sum();
        let most = between + DEVIATIONS * between.sqrt() + BESIDE;
        let capacity = ((most * self.n as f64 / sampled as f64).ceil() as usize).min(self.n);
        Plan { sampled, ranges, capacity, ..self }
    }

    fn takes_all(&self) -> bool {
        self.sampled == 0
    }

    fn code_bytes(&self) -> usize {
        code_bytes(self.key_bytes)
    }

    /// The numbers that the kernels need, in launches.
    fn numbers(&self, indices: &[usize]) -> Vec<NthNumbers> {
        let indices = indices.iter().map(|&index| index as u32);
        let bounds = self.ranges.iter().map(|range| range.0).chain(self.ranges.iter().map(|range| range.1));
        let all: Vec<u32> = indices.chain(bounds).collect();
        let of = |(i, some): (usize, &[u32])| {
            let mut values = [0; PUT];
            values[..some.len()].copy_from_slice(some);
            NthNumbers { first: (i * PUT) as u32, count: some.len() as u32, values }
        };
        all.chunks(PUT).enumerate().map(of).collect()
    }

    /// Words of what must be zero at the start: `counts`, `found`, `missed`, `greatest` and `digits`.
    fn zero_words(&self) -> usize {
        let counts = 4 * self.ranges.len() + 1;
        (counts + 3) * 2 + self.wanted * self.key_bytes * DIGITS
    }

    /// The parts of the scratch at an address, and its words.
    fn parts(&self, address: u64) -> (NthJob, usize) {
        let mut end = address;
        let mut part = |bytes: usize| {
            let start = end;
            end += bytes.next_multiple_of(16) as u64;
            start
        };
        let (code, ranges, wanted) = (self.code_bytes(), self.ranges.len(), self.wanted);
        let sampling = usize::from(!self.takes_all());
        let zero = part(sampling * self.zero_words() * size_of::<u32>());
        let found = zero + 8 * (4 * ranges as u64 + 1);
        let job = NthJob {
            keys: 0,
            count: self.n as u64,
            seed: 0,
            sampled: self.sampled as u32,
            ranges: ranges as u32,
            wanted: wanted as u32,
            takes_all: u32::from(self.takes_all()),
            capacity: self.capacity as u64,
            counts: zero,
            found,
            missed: found + 8,
            greatest: found + 16,
            digits: found + 24,
            sample: part(self.sampled * code),
            numbers: part((wanted + 2 * ranges) * size_of::<u32>()),
            bounds: part(2 * ranges * code),
            bases: part(ranges * code),
            table: part(sampling * struct_bytes(&table(code))),
            at: part(sampling * wanted * size_of::<u32>()),
            known: part(sampling * wanted * code),
            levels: part(sampling * self.key_bytes * wanted * 16),
            words: part(self.capacity * code),
            nth: 0,
        };
        (job, (end - address) as usize / size_of::<u32>())
    }
}

/// The keys to sample for these indices, which are in order. On an H200, sampling and sorting a code takes about twice the time of sorting
/// one that is collected. The more are sampled, the fewer are collected.
fn sampled(n: usize, indices: &[usize]) -> usize {
    let mut counted = None;
    let mut spread = 0.0;
    for &index in indices {
        // Ranges of neighbours are one.
        if counted.is_some_and(|last| index - last < n / MOST_BOUNDS) {
            continue;
        }
        counted = Some(index);
        let share = (index as f64 + 0.5) / n as f64;
        spread += (share * (1.0 - share)).sqrt();
    }
    let best = (DEVIATIONS / 2.0 * spread * n as f64).powf(2.0 / 3.0);
    let most = (n / SAMPLED_FROM).max(SAMPLED).ilog2();
    1 << (best.log2().round() as u32).clamp(SAMPLED.ilog2(), most)
}

#[cfg(test)]
mod tests {
    use sortie_simt::{Options, Sanitizer};

    use super::*;
    use crate::gpu::on_bench::on_bench_of;
    use crate::{Key, Nans, Sorter};

    const N: usize = 10_000;

    /// With a check for races.
    fn on_bench(test: impl FnOnce(&Gpu)) {
        on_bench_of(Options { sanitizer: Sanitizer::Race, multiprocessors: 2, ..Options::default() }, test);
    }

    /// The keys that a plan finds.
    fn found<K: Key + Pod>(gpu: &Gpu, keys: &[K], indices: &[usize], plan: &Plan, order: Order) -> Vec<K> {
        let (device, stream) = (gpu.device(), gpu.device().stream().unwrap());
        let there = device.alloc::<K>(keys.len()).unwrap();
        let nth = device.alloc::<K>(indices.len()).unwrap();
        stream.copy_in(there.view(), keys).unwrap();
        let wanted = DeviceNth { indices, nth: nth.view(), order };
        let content = Content::of::<K>(wanted.order, false).unwrap();
        // SAFETY: nothing else uses keys and results.
        unsafe { gpu.select_nth(&stream, there.view(), &wanted, &content, plan).unwrap() };
        let mut found = vec![K::zeroed(); indices.len()];
        stream.copy_out(&mut found, nth.view()).unwrap();
        found
    }

    fn check_order<K: Key + Pod>(gpu: &Gpu, keys: &[K], indices: &[usize], plan: &Plan, order: Order) {
        let mut sorted = keys.to_vec();
        let sorter = Sorter::builder().descending(order.descending).nans(order.nans).build().unwrap();
        sorter.sort(&mut sorted).unwrap();
        let expected: Vec<K> = indices.iter().map(|&index| sorted[index]).collect();
        let found = found(gpu, keys, indices, plan, order);
        let bytes = bytemuck::cast_slice::<K, u8>;
        assert!(bytes(&found) == bytes(&expected), "{indices:?} {order:?} {plan:?}");
    }

    fn check<K: Key + Pod>(gpu: &Gpu, keys: &[K], indices: &[usize], plan: &Plan) {
        check_order(gpu, keys, indices, plan, Order::default());
    }

    /// With a sample of this many keys, however few keys there are.
    fn plan<K>(indices: &[usize], sampled: usize) -> Plan {
        let mut ordered = indices.to_vec();
        ordered.sort_unstable();
        let (wanted, key_bytes) = (indices.len(), size_of::<K>());
        Plan { n: N, wanted, key_bytes, sampled: 0, ranges: Vec::new(), capacity: N }
            .by_sample(&ordered, sampled)
    }

    fn patterns() -> Vec<Vec<u32>> {
        let mut random = fastrand::Rng::with_seed(1);
        let n = N as u32;
        vec![
            (0..n).map(|_| random.u32(..)).collect(),
            (0..n).map(|_| random.u32(0..3) << 30).collect(),
            (0..n).map(|i| if i == 9 { 0 } else { 1 << 31 | random.u32(0..100) }).collect(),
            (0..n).collect(),
            (0..n).rev().collect(),
            vec![u32::MAX; N],
            vec![0; N],
        ]
    }

    #[test]
    fn the_sample_gives_bounds() {
        on_bench(|gpu| {
            for keys in patterns() {
                let wide: Vec<i64> = keys.iter().map(|&key| (i64::from(key) << 31) - (1 << 61)).collect();
                let narrow: Vec<u8> = keys.iter().map(|&key| (key >> 24 ^ key) as u8).collect();
                let several = [7_000, 1_000, 5_001, 3_000, 1_001, N - 1];
                check(gpu, &keys, &[N / 2, N / 2 - 1], &plan::<u32>(&[N / 2, N / 2 - 1], 2048));
                check(gpu, &keys, &several, &plan::<u32>(&several, 2048));
                check(gpu, &wide, &several, &plan::<i64>(&several, 2048));
                check(gpu, &narrow, &[0, 4_000], &plan::<u8>(&[0, 4_000], 1024));
            }
        });
    }

    /// Floats are divided by value where that leaves fewer beside bounds. NaNs have no value, and lie at one end or the other.
    #[test]
    fn floats_of_every_distribution_are_found() {
        on_bench(|gpu| {
            let mut random = fastrand::Rng::with_seed(2);
            let mut normal = || (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
            let around_zero: Vec<f64> = (0..N).map(|_| normal()).collect();
            let mixed = |i: usize| match i % 7 {
                0 => f64::NAN,
                1 => -f64::NAN,
                2 => [f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0][i % 4],
                3 => around_zero[i] * f64::MAX,
                4 => around_zero[i] * f64::MIN_POSITIVE,
                _ => around_zero[i],
            };
            let cases: [Vec<f64>; 6] = [
                around_zero.clone(),
                (0..N).map(mixed).collect(),
                around_zero.iter().map(|x| x.abs().powi(40)).collect(),
                around_zero.iter().map(|x| 1e9 + x * 1e-6).collect(),
                (0..N).map(|i| (i % 10) as f64).collect(),
                around_zero.iter().map(|&x| if x < 1.0 { f64::NAN } else { x }).collect(),
            ];
            let indices = [9_990, 1, 1_000, 2_500, 2_501, 5_000, 7_000, N - 1];
            for keys in &cases {
                let narrow: Vec<f32> = keys.iter().map(|&key| key as f32).collect();
                for (descending, nans) in [(false, Nans::Last), (true, Nans::Last), (false, Nans::First)] {
                    let order = Order { descending, nans, ..Order::default() };
                    check_order(gpu, keys, &indices, &plan::<f64>(&indices, 2048), order);
                    check_order(gpu, &narrow, &indices, &plan::<f32>(&indices, 2048), order);
                }
            }
        });
    }

    /// Bounds that are beside the keys, or with too many keys between them.
    #[test]
    fn digits_are_counted_if_the_sample_misleads() {
        on_bench(|gpu| {
            for keys in patterns().into_iter().take(3) {
                let wide: Vec<u64> = keys.iter().map(|&key| u64::from(key) << 20 | 5).collect();
                let indices = [5_000, 10, 8_750];
                let usual = plan::<u32>(&indices, 1024);
                assert_eq!(usual.ranges.len(), 3);
                for misled in [
                    Plan { ranges: vec![(1, 5)], ..usual.clone() },
                    Plan { ranges: vec![(0, 1), (400, 600), (700, 1024)], ..usual.clone() },
                    Plan { capacity: 10, ..usual },
                ] {
                    check(gpu, &keys, &indices, &misled);
                    if misled.ranges.len() == 1 {
                        check(gpu, &wide, &indices, &Plan { key_bytes: 8, ..misled });
                    }
                }
            }
        });
    }

    #[test]
    fn few_codes_are_sorted() {
        let n = 1 << 28;
        let hundredths: Vec<usize> = (1..100).map(|i| i * (n / 100)).collect();
        for (indices, ranges, most) in [
            (&[n / 2][..], 1, n / 100),
            (&[n / 2, n / 2 - 1], 1, n / 100),
            (&[n - 1, 0, n / 2, n - 1], 2, n / 100),
            (&[n - 1], 1, n / 50),
            (&[n / 4, n / 2, n / 4 * 3], 3, n / 50),
            (&hundredths, 99, n / 5),
        ] {
            let plan = Plan::of::<f32>(n, indices).unwrap();
            assert_eq!(plan.ranges.len(), ranges, "{plan:?}");
            assert!(plan.capacity <= most && plan.sampled <= n / SAMPLED_FROM, "{plan:?}");
        }
        let many: Vec<usize> = (0..2000).map(|i| i * (n / 2000)).collect();
        assert!(Plan::of::<f32>(n, &many).unwrap().takes_all());
        assert!(Plan::of::<f32>(1000, &[3]).unwrap().takes_all());
    }
}
