//! [`Sorter`]: everything about a sort that can be chosen.

mod devices;
mod engine;
mod strings;

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::Instant;

use crate::compose::{self, array::Chosen};
use crate::cpu::{self, Job};
use crate::error::same_length;
use crate::gpu::{self, Gpu, HostArray};
use crate::key::{self, Bits, Code, Form, Transform};
use crate::plan::auto;
use crate::threads;
use crate::{Bound, Error, Index, Key, Nans, Nulls, Order, Ran, Report, Segments};
pub use devices::Devices;
pub use engine::Engine;

/// How a sort goes about its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Algorithm {
    /// Whatever the plan finds fastest for the input.
    #[default]
    Auto,
    /// Distribution to buckets by the leading bits of the code, then a finish a bucket. Stable. For keys of fixed width
    /// and strings.
    Radix,
    /// Quicksort, without a distribution. Not stable, so pairs and argsort need `.unstable()`.
    Quicksort,
    /// Merge sort by comparison (std's or rayon's); on a GPU tiles that are merged by pairs, of keys of up to 64 bits.
    /// Stable.
    Merge,
    /// A bitonic network on a GPU, of keys of up to 64 bits, alone or, with `.unstable()`, with a payload: in place, without
    /// scratch there, and as fast whatever the keys are.
    Bitonic,
    /// Distribution by samples and a merge sort of each bucket, by comparison alone, on a GPU: keys of 32 to 128 bits, and
    /// what goes with them. Stable.
    SampleSort,
}

/// Sorts with everything chosen that can be chosen; made by [`Sorter::builder`].
///
/// A call either sorts and says what it did, or returns an error and leaves the data as it was; a device that fails while it
/// works leaves a permutation of segments, and keys of one array unspecified where they were on their way back.
///
/// ```
/// # fn main() -> Result<(), sortie::Error> {
/// let sorter = sortie::Sorter::builder().threads(2).descending(true).build()?;
/// let mut v = vec![1u32, 3, 2];
/// let report = sorter.sort(&mut v)?;
/// assert_eq!(v, [3, 2, 1]);
/// println!("{report}");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Sorter {
    choices: SorterBuilder,
    /// Threads of its own; without, the current rayon pool's.
    pool: Option<Arc<rayon::ThreadPool>>,
}

/// Collects the choices for a [`Sorter`].
#[derive(Debug, Clone, Default)]
pub struct SorterBuilder {
    engine: Engine,
    algorithm: Algorithm,
    threads: Option<usize>,
    memory_limit: Option<u64>,
    gpu_share: Option<f64>,
    order: Order,
    unstable: bool,
}

impl SorterBuilder {
    /// Where to sort; by default wherever it is fastest.
    #[must_use]
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// How to sort; by default however it is fastest.
    #[must_use]
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// How many threads may work, at least 1; by default those of the rayon pool that the caller is in. Outside of any that
    /// is rayon's global pool, which the first sort of 65,536 keys or more starts; where the system refuses its threads, the
    /// caller's thread sorts alone.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// The most scratch, in bytes, that a call may hold beyond the data; by default as much as its plan needs. What lies
    /// where does not matter: for a sort on a GPU, pinned memory and the device's count too.
    #[must_use]
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = Some(bytes);
        self
    }

    /// The part of the keys that [`Engine::Hybrid`] has the GPU sort, between 0 and 1; by default what
    /// [`rates::tune`](crate::rates::tune) has found fastest on this machine.
    #[must_use]
    pub fn gpu_share(mut self, share: f64) -> Self {
        self.gpu_share = Some(share);
        self
    }

    /// Whether the largest key goes first. NaNs and nulls keep their places, and equal keys their order.
    #[must_use]
    pub fn descending(mut self, descending: bool) -> Self {
        self.order.descending = descending;
        self
    }

    /// Where NaNs go, and whether they are told apart; by default last, in the order of their bits.
    #[must_use]
    pub fn nans(mut self, nans: Nans) -> Self {
        self.order.nans = nans;
        self
    }

    /// Where `None` goes; by default last.
    #[must_use]
    pub fn nulls(mut self, nulls: Nulls) -> Self {
        self.order.nulls = nulls;
        self
    }

    /// Lets payloads under equal keys come out in any order, where that is faster.
    #[must_use]
    pub fn unstable(mut self) -> Self {
        self.unstable = true;
        self
    }

    /// The sorter with these choices.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for 0 threads, and for a share that is not between 0 and 1; [`Error::Threads`] where the
    /// system refuses to start them.
    pub fn build(self) -> Result<Sorter, Error> {
        if let Some(share) = self.gpu_share
            && !(share > 0.0 && share < 1.0)
        {
            return Err(Error::Unsupported(format!(
                "a GPU's share of {share} leaves nothing to share; give one between 0 and 1, or choose one engine"
            )));
        }
        let pool = match self.threads {
            Some(0) => {
                return Err(Error::Unsupported("a sort needs at least 1 thread; 0 were asked for".into()));
            }
            None | Some(1) => None,
            Some(threads) => {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .map_err(|e| Error::Threads { threads, reason: e.to_string() })?;
                Some(Arc::new(pool))
            }
        };
        Ok(Sorter { choices: self, pool })
    }
}

impl Sorter {
    /// Starts the choosing.
    #[must_use]
    pub fn builder() -> SorterBuilder {
        SorterBuilder::default()
    }

    /// The sorter behind the free functions: every choice at its default.
    pub(crate) fn shared() -> &'static Sorter {
        static SHARED: std::sync::LazyLock<Sorter> =
            std::sync::LazyLock::new(|| Sorter { choices: SorterBuilder::default(), pool: None });
        &SHARED
    }

    /// Sorts keys. In place; at most 5% of the data as scratch.
    ///
    /// On a GPU, which is only taken where the engine is one: two copies of the keys on the device, or one where the limit
    /// or the device have no room for two, and 128 MiB of pinned memory at most. With
    /// [`Algorithm::Auto`] or [`Algorithm::Radix`], keys of up to 64 bits that are more than the device or the limit has room for
    /// go there in chunks, twice, with a copy of them on the host and 4 MiB of pinned memory for each of up to 16 threads. Where
    /// the limit forbids the copy, the CPU splits them in place to ranges that it allows, each of which goes there by itself; it
    /// must leave room for some 64 KiB of keys.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for an algorithm that does not apply to such keys. On a GPU: [`Error::Memory`] where that is
    /// more than there is, with both numbers, and [`Error::Device`] where it cannot be had or fails; the keys are untouched
    /// then, unless they were on their way back: those are unspecified.
    pub fn sort<K: Key>(&self, keys: &mut [K]) -> Result<Report, Error> {
        let order = self.choices.order;
        if let Form::Bits(code) = K::FORM
            && let Some(gpus) = self.gpus_for_array()?
        {
            // SAFETY: the engine leaves a permutation.
            let keys = unsafe { key::as_bits_mut(keys) };
            return self.array_on_gpus(&gpus, HostArray::Sorted { keys, payload: None }, code, 0);
        }
        self.run(keys.len(), |job| match K::FORM {
            Form::Bits(code) => {
                // SAFETY: the engine leaves a permutation.
                let bits = unsafe { key::as_bits_mut(keys) };
                cpu::keys::sort(bits, Transform::new(code, order), job)
            }
            Form::Bytes => cpu::strings::sort(keys, K::bytes, order.descending, job),
            Form::Wide => cpu::wide::sort(keys, order, job),
        })
    }

    /// Sorts keys and moves each payload with its key.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::Memory`] where the limit does not leave room for a copy of the data;
    /// [`Error::Unsupported`] for an algorithm that does not apply to such keys or cannot be stable; on a GPU those of
    /// [`Sorter::sort`].
    pub fn sort_pairs<K: Key, V: Send>(&self, keys: &mut [K], payload: &mut [V]) -> Result<Report, Error> {
        same_length("payload", keys.len(), payload.len())?;
        self.carries_on_gpu::<K>()?;
        let order = self.choices.order;
        if let Form::Bits(code) = K::FORM
            && let Some(gpus) = self.gpus_for_array()?
        {
            // SAFETY: the engine leaves a permutation.
            let keys = unsafe { key::as_bits_mut(keys) };
            let stable = !self.choices.unstable;
            // SAFETY: the sort leaves a permutation of the payload.
            if let Some(moved) = unsafe { gpu::HostPayload::of(payload) } {
                let array = HostArray::Sorted { keys, payload: Some((moved, stable)) };
                return self.array_on_gpus(&gpus, array, code, 0);
            }
            let held = self.hold_places(keys.len())?;
            let mut places: Vec<usize> = gpu::reserve(keys.len())?;
            places.extend(0..keys.len());
            let moved = gpu::HostPayload::of_pod(&mut places).map(|moved| (moved, stable));
            let report = self.array_on_gpus(&gpus, HostArray::Sorted { keys, payload: moved }, code, held)?;
            cpu::permute(payload, &mut places);
            return Ok(report);
        }
        self.run(keys.len(), |job| match K::FORM {
            Form::Bits(code) => {
                // SAFETY: the engine leaves a permutation.
                let bits = unsafe { key::as_bits_mut(keys) };
                cpu::pairs::sort(bits, payload, self.carrying(code), job)
            }
            _ => cpu::wide::sort_pairs(keys, payload, order, job),
        })
    }

    /// Writes the places of the keys in order: `keys[places[0]]` comes first.
    ///
    /// # Errors
    /// As [`Sorter::sort_pairs`], and [`Error::Unsupported`] where the index type is too narrow for the keys.
    pub fn argsort<K: Key, I: Index>(&self, keys: &[K], places: &mut [I]) -> Result<Report, Error> {
        index_fits::<I>(keys.len())?;
        same_length("places", keys.len(), places.len())?;
        self.carries_on_gpu::<K>()?;
        if let Form::Bits(code) = K::FORM
            && let Some(gpus) = self.gpus_for_array()?
        {
            let keys = key::as_bits(keys);
            let held = (size_of::<u32>() * keys.len()) as u64;
            self.check_held(held, "places come from a GPU as 32 bits; use the CPU engine")?;
            let mut found: Vec<u32> = gpu::reserve(keys.len())?;
            found.resize(keys.len(), 0);
            let report =
                self.array_on_gpus(&gpus, HostArray::Argsorted { keys, places: &mut found }, code, held)?;
            places.iter_mut().zip(found).for_each(|(place, found)| *place = I::from_place(found as usize));
            return Ok(report);
        }
        self.run(keys.len(), |job| self.argsort_job(keys, places, job))
    }

    fn argsort_job<K: Key, I: Index>(
        &self,
        keys: &[K],
        places: &mut [I],
        job: &Job,
    ) -> Result<Report, Error> {
        let order = self.choices.order;
        match K::FORM {
            Form::Bits(code) => cpu::pairs::argsort(key::as_bits(keys), places, self.carrying(code), job),
            Form::Bytes => cpu::strings::argsort(keys, K::bytes, places, order.descending, job),
            Form::Wide => cpu::wide::argsort(keys, places, order, job),
        }
    }

    /// Sorts every segment by itself. In place.
    ///
    /// Scratch on a GPU: three chunks of 64 MiB under way, in pinned memory and on the device; fewer and smaller ones where
    /// the limit or the device's free memory ask for it. At the least a chunk of 64 KiB, or as long as the longest segment;
    /// with it 8 bytes a segment here and 16 there for offsets, and a copy of it there where its longest segment does not
    /// fit a block. A segment for which that is too much is sorted as [`Sorter::sort`] would, or [`Sorter::sort_pairs`].
    ///
    /// # Errors
    /// [`Error::Segments`] where they do not fit the keys. Where the engine is a device: [`Error::Unsupported`] for any
    /// algorithm but [`Algorithm::Auto`]; [`Error::Memory`] where that is more than there is, with both numbers and the keys
    /// untouched, but for segments that were sorted as an array by then; [`Error::Device`] where it cannot be had or fails: the
    /// keys are a permutation then.
    pub fn sort_segments<K: Key>(&self, keys: &mut [K], segments: Segments<'_>) -> Result<Report, Error> {
        segments.check(keys.len())?;
        let order = self.choices.order;
        let mut abandoned = Report::default();
        if let Form::Bits(code) = K::FORM
            && let Some(gpu) = self.gpu_for_segments(size_of::<K>(), keys.len(), segments)?
        {
            let start = Instant::now();
            // SAFETY: the engine leaves a permutation.
            let bits = unsafe { key::as_bits_mut(keys) };
            let host = gpu::Host { keys: bits, payload: None, pinned: false };
            match (self.on_gpu(&gpu, host, segments, code, 0), self.choices.engine) {
                (Err(error), Engine::Auto) => {
                    if !matches!(error, Error::Memory { .. }) {
                        auto::give_up();
                    }
                    abandoned.push(Ran::Cuda, "abandoned", start.elapsed(), 0, 0);
                }
                (result, _) => return result,
            }
        }
        let mut report = self.run(keys.len(), |job| match K::FORM {
            Form::Bits(code) => {
                // SAFETY: the engine leaves a permutation.
                let bits = unsafe { key::as_bits_mut(keys) };
                cpu::segments::sort(bits, segments, Transform::new(code, order), job)
            }
            _ => cpu::wide::sort_segments(keys, segments, order, job),
        })?;
        report.phases.splice(0..0, abandoned.phases);
        Ok(report)
    }

    /// Sorts segments on a GPU, with this sorter's threads and within its limit, of which so many bytes are held already.
    fn on_gpu<B: Bits>(
        &self,
        gpu: &Arc<Gpu>,
        host: gpu::Host<'_, B>,
        segments: Segments<'_>,
        code: Code,
        held: u64,
    ) -> Result<Report, Error> {
        let SorterBuilder { engine, order, .. } = self.choices;
        let memory_limit = self.memory_limit() - held;
        let mut report = self.in_pool(host.keys.len(), |threads| {
            let allowed = gpu::Allowed { threads, memory_limit };
            match engine {
                // What does not fit there is for the CPU.
                Engine::Auto => gpu::sort_segments(gpu, host, segments, code, order, allowed),
                _ => compose::segments::sort(gpu, host, segments, code, order, allowed),
            }
        })?;
        report.scratch_peak += held;
        Ok(report)
    }

    /// The codes by which what goes with keys is sorted. Where it may come out in any order, NaNs may be told apart.
    fn carrying<B: Bits>(&self, code: Code) -> Transform<B> {
        let SorterBuilder { order, unstable, .. } = self.choices;
        if unstable { Transform::new(code, order) } else { Transform::comparing(code, order) }
    }

    /// Refuses what no GPU carries with its keys.
    fn carries_on_gpu<K: Key>(&self) -> Result<(), Error> {
        let SorterBuilder { engine, order, unstable, .. } = self.choices;
        match K::FORM {
            Form::Bits(code) if engine.has_gpu() && !unstable => order.carries_on_gpu(code),
            _ => Ok(()),
        }
    }

    /// The GPUs that are to sort an array, if any are.
    fn gpus_for_array(&self) -> Result<Option<Vec<Arc<Gpu>>>, Error> {
        match self.choices.engine {
            Engine::Cuda(ordinal) | Engine::Hybrid(ordinal) => Ok(Some(vec![Gpu::cuda(ordinal)?])),
            Engine::CudaDevices(devices) => devices.gpus().map(Some),
            _ => Ok(None),
        }
    }

    /// Sorts one array on a GPU or several, as [`Sorter::on_gpu`].
    fn array_on_gpus<B: Bits>(
        &self,
        gpus: &[Arc<Gpu>],
        array: HostArray<'_, B>,
        code: Code,
        held: u64,
    ) -> Result<Report, Error> {
        let SorterBuilder { engine, algorithm, order, gpu_share, .. } = self.choices;
        let gpu_share = if let Engine::Hybrid(_) = engine { gpu_share } else { Some(1.0) };
        let memory_limit = self.memory_limit() - held;
        let mut report = self.in_pool(array.keys().len(), |threads| {
            let allowed = gpu::Allowed { threads, memory_limit };
            compose::array::sort(gpus, array, code, Chosen { algorithm, order, gpu_share }, allowed)
        })?;
        report.scratch_peak += held;
        Ok(report)
    }

    /// Bytes of the places that move payloads of odd sizes, where the limit allows them.
    fn hold_places(&self, n: usize) -> Result<u64, Error> {
        let held = (size_of::<usize>() * n) as u64;
        let hint = "payloads that have not 4, 8 or 16 bytes are moved by their places; use the CPU engine";
        self.check_held(held, hint).map(|()| held)
    }

    fn check_held(&self, needed: u64, hint: &'static str) -> Result<(), Error> {
        let available = self.memory_limit();
        if needed <= available {
            Ok(())
        } else {
            Err(Error::Memory { bound: Bound::Limit, needed, available, hint })
        }
    }

    /// The GPU that is to sort the segments, if one is.
    fn gpu_for_segments(
        &self,
        key_bytes: usize,
        keys: usize,
        segments: Segments<'_>,
    ) -> Result<Option<Arc<Gpu>>, Error> {
        match (self.choices.engine, self.choices.algorithm) {
            (Engine::Cuda(ordinal) | Engine::Hybrid(ordinal), _) => self.gpu_of_segments(ordinal).map(Some),
            (Engine::Auto, Algorithm::Auto) => {
                let threads = || self.threads(keys);
                Ok(auto::gpu_for(key_bytes, keys, segments, threads))
            }
            _ => Ok(None),
        }
    }

    /// The GPU for segments, where no other algorithm was named than the one that there is.
    fn gpu_of_segments(&self, ordinal: u32) -> Result<Arc<Gpu>, Error> {
        match self.choices.algorithm {
            Algorithm::Auto => Gpu::cuda(ordinal),
            other => Err(Error::Unsupported(format!(
                "{other:?} does not sort segments on a GPU; choose Auto or another engine"
            ))),
        }
    }

    /// Sorts every segment by itself and moves each payload with its key.
    ///
    /// Scratch: for each thread at most 328 KB and a copy of the longest segment that it sorts; for keys without a fixed
    /// width 36 bytes a key of that segment. On a GPU, which is only taken where the engine is one: as
    /// [`Sorter::sort_segments`], with the payload's bytes beside the key's; and 8 bytes a key here for payloads that have
    /// not 4, 8 or 16 bytes.
    ///
    /// ```
    /// # fn main() -> Result<(), sortie::Error> {
    /// use sortie::{Segments, Sorter};
    /// let (mut k, mut v) = ([2, 1, 9, 8, 9], ["b", "a", "z", "x", "y"]);
    /// Sorter::builder().build()?.sort_pairs_segments(&mut k, &mut v, Segments::Offsets(&[0, 2, 5]))?;
    /// assert_eq!((k, v), ([1, 2, 8, 9, 9], ["a", "b", "x", "z", "y"]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::Segments`] where they do not fit the keys; [`Error::Memory`] where the limit
    /// does not leave room for the scratch; [`Error::Unsupported`] for an algorithm that does not apply to such keys or
    /// cannot be stable; [`Error::Device`] where a device cannot be had, or fails: keys are a permutation then, and each
    /// payload is with its key.
    pub fn sort_pairs_segments<K: Key, V: Send>(
        &self,
        keys: &mut [K],
        payload: &mut [V],
        segments: Segments<'_>,
    ) -> Result<Report, Error> {
        same_length("payload", keys.len(), payload.len())?;
        segments.check(keys.len())?;
        self.carries_on_gpu::<K>()?;
        let order = self.choices.order;
        if let (Some(ordinal), Form::Bits(code)) = (self.choices.engine.device(), K::FORM) {
            let gpu = self.gpu_of_segments(ordinal)?;
            // SAFETY: the engine leaves a permutation.
            let bits = unsafe { key::as_bits_mut(keys) };
            // SAFETY: the sort leaves a permutation of the payload.
            if let Some(moved) = unsafe { gpu::HostPayload::of(payload) } {
                let host = gpu::Host { keys: bits, payload: Some(moved), pinned: false };
                return self.on_gpu(&gpu, host, segments, code, 0);
            }
            let held = self.hold_places(bits.len())?;
            let mut places: Vec<usize> = (0..bits.len()).collect();
            let moved = gpu::HostPayload::of_pod(&mut places);
            let host = gpu::Host { keys: bits, payload: moved, pinned: false };
            let result = self.on_gpu(&gpu, host, segments, code, held);
            // Whatever failed: what was sorted by then has its places.
            cpu::permute(payload, &mut places);
            return result;
        }
        self.run(keys.len(), |job| match K::FORM {
            Form::Bits(code) => {
                // SAFETY: the engine leaves a permutation.
                let bits = unsafe { key::as_bits_mut(keys) };
                cpu::segment_pairs::sort(bits, payload, segments, self.carrying(code), job)
            }
            _ => cpu::wide::sort_pairs_segments(keys, payload, segments, order, job),
        })
    }

    /// Sorts by a key that `key` draws from each element, called once an element.
    ///
    /// # Errors
    /// As [`Sorter::argsort`].
    pub fn sort_by_key<T: Send + Sync, K: Key>(
        &self,
        v: &mut [T],
        key: impl Fn(&T) -> K + Sync,
    ) -> Result<Report, Error> {
        let keys: Vec<K> = self.collect(v, key);
        let mut places = vec![0usize; v.len()];
        let held = size_of_val(&*keys) + size_of_val(&*places);
        let report = self.run(v.len(), |job| self.argsort_job(&keys, &mut places, &job.holding(held)))?;
        cpu::permute(v, &mut places);
        Ok(report)
    }

    /// [`Sorter::sort_by_key`] for keys of any ordered type.
    ///
    /// # Panics
    /// Where `key` or the comparison panics. It may where the keys' [`Ord`] is no total order, as std's sort does. Either way
    /// the slice is as it was.
    ///
    /// # Errors
    /// As [`Sorter::argsort`].
    pub fn sort_by_cached_key<T: Send + Sync, K: Ord + Send + Sync>(
        &self,
        v: &mut [T],
        key: impl Fn(&T) -> K + Sync,
    ) -> Result<Report, Error> {
        let keys: Vec<K> = self.collect(v, key);
        let mut places: Vec<usize> = (0..v.len()).collect();
        let order = self.choices.order;
        let held = size_of_val(&*keys) + size_of_val(&*places);
        let report = self.run(v.len(), |job| {
            cpu::compare::sort(&mut places, |&a, &b| order.direct(keys[a].cmp(&keys[b])), &job.holding(held))
        })?;
        cpu::permute(v, &mut places);
        Ok(report)
    }

    /// Sorts by a comparison, with std's or rayon's sort. `descending` reverses the comparison.
    ///
    /// # Panics
    /// Where `compare` panics. It may where `compare` is no total order, as std's sort does. Either way the slice is a
    /// permutation of what it was.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for [`Algorithm::Radix`].
    pub fn sort_by<T: Send>(
        &self,
        v: &mut [T],
        compare: impl Fn(&T, &T) -> Ordering + Sync,
    ) -> Result<Report, Error> {
        let order = self.choices.order;
        self.run(v.len(), |job| cpu::compare::sort(v, |a, b| order.direct(compare(a, b)), job))
    }

    /// Runs `work` with this sorter's threads.
    fn run(
        &self,
        n: usize,
        work: impl FnOnce(&Job) -> Result<Report, Error> + Send,
    ) -> Result<Report, Error> {
        if self.choices.engine.has_gpu() {
            return Err(Error::Unsupported(
                "this sort has no GPU engine, or none on several; choose the CPU engine for it, or one GPU"
                    .into(),
            ));
        }
        if let Algorithm::Bitonic | Algorithm::SampleSort = self.choices.algorithm {
            return Err(Error::Unsupported(
                "Bitonic and SampleSort sort one array, on a GPU; choose such an engine, or Auto".into(),
            ));
        }
        self.in_pool(n, |threads| work(&self.job(threads)))
    }

    /// The job of a whole sort.
    fn job(&self, threads: usize) -> Job {
        Job {
            threads,
            algorithm: self.choices.algorithm,
            memory_limit: self.memory_limit(),
            stable: !self.choices.unstable,
            held: 0,
        }
    }

    fn memory_limit(&self) -> u64 {
        self.choices.memory_limit.unwrap_or(u64::MAX)
    }

    /// Runs `work` on `n` keys where this sorter's threads are, and tells it how many those are.
    fn in_pool<R: Send>(&self, n: usize, work: impl FnOnce(usize) -> R + Send) -> R {
        let threads = self.threads(n);
        match &self.pool {
            Some(pool) if threads > 1 => pool.install(|| work(threads)),
            _ => work(threads),
        }
    }

    /// How many threads are to work on `n` keys.
    fn threads(&self, n: usize) -> usize {
        if self.choices.threads == Some(1) || n < crate::plan::PARALLEL_FROM {
            return 1;
        }
        self.pool.as_ref().map_or_else(threads::of_current_pool, |pool| pool.current_num_threads())
    }

    /// The key of each element, in order.
    fn collect<T: Sync, K: Send>(&self, v: &[T], key: impl Fn(&T) -> K + Sync) -> Vec<K> {
        use rayon::prelude::*;
        let key = &key;
        self.in_pool(v.len(), |threads| match threads {
            1 => v.iter().map(key).collect(),
            _ => v.par_iter().map(key).collect(),
        })
    }
}

fn index_fits<I: Index>(n: usize) -> Result<(), Error> {
    if n as u64 <= I::LARGEST {
        return Ok(());
    }
    Err(Error::Unsupported(format!(
        "{n} places do not fit indices of {} bits; use wider ones",
        8 * size_of::<I>()
    )))
}
