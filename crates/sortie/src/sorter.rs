//! [`Sorter`]: everything about a sort that can be chosen.

#[cfg(feature = "gpu")]
pub(crate) mod auto;
mod builder;
mod by_key;
mod gather;
mod groups;
mod histogram;
mod nth;
mod numbers;
#[cfg_attr(not(feature = "gpu"), path = "sorter/no_gpus.rs")]
mod on_gpus;
mod search;
mod sorted;
mod strings;
mod top;

use std::sync::{Arc, LazyLock};
use std::time::Instant;

use crate::cpu::tuning::FEW;
use crate::cpu::{self, Job};
use crate::error::same_length;
use crate::key::{self, index_fits};
use crate::parallel;
use crate::plan::{self, Machine, Plan, Vectors};
use crate::request::{Beside, Budget, KeyForm, Lengths, Operation, Request};
use crate::threads;
use crate::{Algorithm, Bound, Engine, Error, Index, Key, Order, Ran, Report, Segments};
pub use builder::SorterBuilder;
pub use groups::{Groups, RankMethod};
use on_gpus::OnGpus;
pub use sorted::Joined;

/// Fewer items than this are sorted by the calling thread alone. Waking another thread and waiting for it takes about 100
/// microseconds, several times a sort. If the keys have few runs or few values, one thread sorts this many in that time.
const PARALLEL_FROM: usize = 1 << 18;

/// The same for strings and for comparisons of the caller, which take more time.
const PARALLEL_FROM_COMPARED: usize = 1 << 16;

/// A sort with all its choices, made by [`Sorter::builder`].
///
/// A call either sorts and reports what it did, or returns an error and leaves the data as it was. The exception is a device
/// that fails while it works: segments are then a permutation, and the keys of one array are unspecified if they were being
/// copied back.
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
    /// Its own threads; without them, it uses the current rayon pool.
    pool: Option<Arc<rayon::ThreadPool>>,
}

impl Sorter {
    /// A builder with every choice at its default.
    #[must_use]
    pub fn builder() -> SorterBuilder {
        SorterBuilder::default()
    }

    /// This sorter with another order. Both share their threads.
    ///
    /// ```
    /// # fn main() -> Result<(), sortie::Error> {
    /// let sorter = sortie::Sorter::builder().threads(2).build()?;
    /// let mut keys = [1, 3, 2];
    /// sorter.with_order(sortie::Order { descending: true, ..Default::default() }).sort(&mut keys)?;
    /// assert_eq!(keys, [3, 2, 1]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_order(&self, order: Order) -> Sorter {
        Sorter { choices: SorterBuilder { order, ..self.choices.clone() }, pool: self.pool.clone() }
    }

    /// This sorter for a caller that already holds this many of the bytes that the memory limit allows. Errors and reports of its
    /// calls do not count them. Both share their threads.
    ///
    /// # Errors
    /// [`Error::Memory`] if the limit is less.
    pub fn holding(&self, bytes: u64) -> Result<Sorter, Error> {
        self.holding_for("the caller holds more than that", bytes)
    }

    fn holding_for(&self, hint: &'static str, bytes: u64) -> Result<Sorter, Error> {
        let left = self.choices.memory_limit.map(|limit| {
            let refused = Error::Memory { bound: Bound::Limit, needed: bytes, available: limit, hint };
            limit.checked_sub(bytes).ok_or(refused)
        });
        let choices = SorterBuilder { memory_limit: left.transpose()?, ..self.choices.clone() };
        Ok(Sorter { choices, pool: self.pool.clone() })
    }

    /// The most scratch memory that a call may hold, see [`SorterBuilder::memory_limit`].
    #[must_use]
    pub fn memory_limit(&self) -> Option<u64> {
        self.choices.memory_limit
    }

    /// The sorter behind the free functions: every choice at its default.
    pub(crate) fn shared() -> &'static Sorter {
        static SHARED: LazyLock<Sorter> =
            LazyLock::new(|| Sorter { choices: SorterBuilder::default(), pool: None });
        &SHARED
    }

    /// The request that this sorter makes for `n` keys: see [`Sorter::explain`].
    ///
    /// The stability of a payload is that of this sorter, whatever `beside` says.
    #[must_use]
    pub fn request(&self, operation: Operation, keys: KeyForm, beside: Beside, n: usize) -> Request {
        let SorterBuilder { engine, algorithm, order, gpu_share, unstable, memory_limit, .. } = self.choices;
        let stable = !unstable;
        let beside = match beside {
            Beside::Nothing => Beside::Nothing,
            Beside::Payload { bytes, .. } => Beside::Payload { bytes, stable },
            Beside::Indices { .. } => Beside::Indices { stable },
        };
        let costly = matches!(keys, KeyForm::Strings | KeyForm::Compared);
        let from = if costly { PARALLEL_FROM_COMPARED } else { PARALLEL_FROM };
        let budget =
            Budget { threads: self.threads(n, from), memory: memory_limit.unwrap_or(u64::MAX), held: 0 };
        Request { operation, keys, beside, n, order, algorithm, engine, gpu_share, budget }
    }

    /// How this sorter would carry out a request on this machine, and why. Sorts nothing.
    ///
    /// With [`Engine::Auto`], this does not start a GPU.
    ///
    /// ```
    /// # fn main() -> Result<(), sortie::Error> {
    /// use sortie::request::{Beside, KeyForm, Operation};
    /// let sorter = sortie::Sorter::builder().threads(1).build()?;
    /// let request = sorter.request(Operation::Array, KeyForm::of::<u64>(), Beside::Nothing, 1_000_000);
    /// let plan = sorter.explain(&request)?;
    /// assert!(plan.to_string().starts_with("route:     cpu"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] if no engine has the requested sort; [`Error::Device`] if a device that was named is not
    /// available.
    pub fn explain(&self, request: &Request) -> Result<Plan, Error> {
        plan::plan(request, &on_gpus::machine_to_explain(request)?)
    }

    /// Sorts keys in place. Scratch on the CPU is as in the [table](crate#memory-panics-and-gpus). With [`Algorithm::Merge`],
    /// it is a copy of the keys; with one thread half a copy, or a whole one of up to 8 MB.
    ///
    /// Scratch on a GPU is two copies of the keys on the device, or one if the limit or the device has no room for two, and 32
    /// MiB of pinned memory, or 6 MiB for each thread.
    ///
    /// With [`Algorithm::Auto`] or [`Algorithm::Radix`], keys of up to 64 bits may exceed what the device or the limit has room
    /// for. They are then copied to the device in chunks, twice. That takes a copy of them on the host, and 4 MiB of pinned
    /// memory for each of up to 16 threads. If the limit forbids the copy, the CPU splits the keys in place into ranges that
    /// the limit allows, and each range is sorted on the device. The limit must leave room for about 64 KiB of keys.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for an algorithm that does not apply to such keys. On a GPU: [`Error::Memory`] if there is too
    /// little memory, with the needed and the available bytes, and [`Error::Device`] if the device is not available or fails.
    /// The keys are then as they were, unless they were being copied back: in that case they are unspecified.
    pub fn sort<K: Key>(&self, keys: &mut [K]) -> Result<Report, Error> {
        if const { K::FORM.is_number() } {
            // SAFETY: the sort leaves a permutation.
            return self.sort_numbers(unsafe { key::as_bits_mut(keys) }, K::FORM.code());
        }
        if const { K::FORM.is_bytes() } {
            return self.sort_referred(keys, K::bytes);
        }
        let order = self.choices.order;
        if self.sorts_at_once(keys.len()) {
            cpu::few::sort_wide(keys, order);
            return Ok(Report::default());
        }
        let request = self.request(Operation::Array, KeyForm::of::<K>(), Beside::Nothing, keys.len());
        self.run_on_cpu(request, |job| cpu::wide::sort(keys, order, job))
    }

    /// Sorts keys and moves each payload with its key. Stable, unless the sorter was built with `.unstable()`.
    ///
    /// Scratch on the CPU is as in the [table](crate#memory-panics-and-gpus). If NaNs are equal, and with [`Algorithm::Merge`],
    /// indices are sorted: that takes 8 bytes a key, and the scratch of [`Sorter::argsort`]. On a GPU it is that of
    /// [`Sorter::sort`], with the bytes of the payload added to those of the key, and a copy of the payload on the host.
    /// Payloads of other sizes than 4, 8 and 16 bytes are moved by indices of 8 bytes. Keys that are not numbers are sorted on
    /// the CPU.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::Memory`] if the limit does not leave room for a copy of the data;
    /// [`Error::Unsupported`] for an algorithm that does not apply to such keys or cannot be stable; on a GPU those of
    /// [`Sorter::sort`].
    pub fn sort_pairs<K: Key, V: Send>(&self, keys: &mut [K], payload: &mut [V]) -> Result<Report, Error> {
        if const { K::FORM.is_number() } {
            // SAFETY: the sort leaves a permutation.
            return self.sort_pairs_of_numbers(unsafe { key::as_bits_mut(keys) }, K::FORM.code(), payload);
        }
        let order = self.choices.order;
        let beside = payload_for(keys.len(), payload)?;
        if const { K::FORM.is_wide() } && self.sorts_at_once(keys.len()) {
            cpu::few::sort_wide_pairs(keys, payload, order);
            return Ok(Report::default());
        }
        let request = self.request(Operation::Array, KeyForm::without_strings::<K>(), beside, keys.len());
        self.run_on_cpu(request, |job| cpu::wide::sort_pairs(keys, payload, order, job))
    }

    /// Writes the indices of the keys in order: `keys[indices[0]]` comes first. Stable, unless the sorter was built with
    /// `.unstable()`.
    ///
    /// Scratch on the CPU is as in the [table](crate#memory-panics-and-gpus); with [`Algorithm::Merge`] it is a copy of
    /// the indices, or with one thread as for [`Sorter::sort_by`]. On a GPU it is as for [`Sorter::sort_pairs`] with
    /// payloads of 4 bytes, and 4 bytes per key on the host.
    ///
    /// # Errors
    /// As [`Sorter::sort_pairs`], and [`Error::Unsupported`] if the index type is too narrow for the keys.
    pub fn argsort<K: Key, I: Index>(&self, keys: &[K], indices: &mut [I]) -> Result<Report, Error> {
        self.argsort_holding(keys, indices, 0)
    }

    /// The same if `held` bytes of the memory limit are already taken.
    fn argsort_holding<K: Key, I: Index>(
        &self,
        keys: &[K],
        indices: &mut [I],
        held: usize,
    ) -> Result<Report, Error> {
        if const { K::FORM.is_number() } {
            return self.argsort_numbers(key::as_bits(keys), K::FORM.code(), indices, held);
        }
        let order = self.choices.order;
        let request = self.argsort_request(KeyForm::of::<K>(), keys.len(), indices, held)?;
        if const { K::FORM.is_bytes() } {
            return self.argsort_referred(request, keys, K::bytes, indices);
        }
        if self.sorts_at_once(keys.len()) {
            cpu::few::argsort_wide(keys, indices, order);
            return Ok(Report::default());
        }
        self.run_on_cpu(request, |job| cpu::wide::argsort(keys, indices, order, job))
    }

    /// The request for indices. `held` are bytes that the caller has taken from the memory limit.
    fn argsort_request<I: Index>(
        &self,
        keys: KeyForm,
        n: usize,
        indices: &[I],
        held: usize,
    ) -> Result<Request, Error> {
        index_fits::<I>(n)?;
        same_length("indices", n, indices.len())?;
        let mut request = self.request(Operation::Array, keys, Beside::Indices { stable: true }, n);
        request.budget = request.budget.holding(held);
        Ok(request)
    }

    /// Sorts each segment on its own, in place. Takes at most O(n log l) time for `n` keys if the longest segment has
    /// `l`.
    ///
    /// On the CPU, threads sort segments side by side. Scratch is at most that of [`Sorter::sort`], except that each thread has
    /// its own counters for keys of 8 and 16 bits. Keys that are not numbers take none, or those counters.
    ///
    /// Scratch on a GPU is three chunks of 64 MiB in flight, in pinned memory and on the device. If the limit or the free
    /// memory of the device requires it, chunks are fewer and smaller. The least is one chunk of 64 KiB, or of the longest
    /// segment, with 8 bytes per segment on the host and 16 on the device for offsets, and a copy of the chunk on the device if
    /// its longest segment does not fit in a block. A segment for which that is too much is sorted as by [`Sorter::sort`] or
    /// [`Sorter::sort_pairs`].
    /// # Errors
    /// [`Error::Segments`] if the segments do not fit the keys; [`Error::Unsupported`] for an algorithm that does not apply to
    /// such keys.
    ///
    /// If the engine is a device: [`Error::Unsupported`] for any algorithm but [`Algorithm::Auto`], and for keys that are not
    /// numbers; [`Error::Memory`] if there is too little memory, with the needed and the available bytes; [`Error::Device`] if
    /// the device is not available or fails. After [`Error::Memory`] the keys are as they were, except segments that were
    /// already sorted as an array. After [`Error::Device`] the keys are a permutation.
    pub fn sort_segments<K: Key>(&self, keys: &mut [K], segments: Segments<'_>) -> Result<Report, Error> {
        if const { K::FORM.is_number() } {
            // SAFETY: the sort leaves a permutation.
            return self.sort_segments_of_numbers(
                unsafe { key::as_bits_mut(keys) },
                K::FORM.code(),
                segments,
            );
        }
        let order = self.choices.order;
        let form = KeyForm::without_strings::<K>();
        let request = self.segments_request(form, Beside::Nothing, keys.len(), segments)?;
        self.run_on_cpu(request, |job| cpu::wide::sort_segments(keys, segments, order, job))
    }

    /// Sorts each segment on its own and moves each payload with its key. Stable, unless the sorter was built with
    /// `.unstable()`. Takes the time of [`Sorter::sort_segments`].
    ///
    /// Scratch on the CPU, for each thread:
    ///
    /// - 40 bytes per key of the longest segment that it sorts (84 for keys of 128 bits), at most 328 KB (689 KB);
    /// - if that segment has more than 8192 keys, also a copy of it, at least 16 bytes per key, or if NaNs are equal,
    ///   16 bytes per key and a copy of its keys; up to 131,072 keys, also the size of a key and 8 bytes for each;
    /// - for keys that are not numbers, 40 bytes per key of that segment instead of all this.
    ///
    /// On a GPU it is that of [`Sorter::sort_segments`], with the bytes of the payload added to those of the key, and 8 bytes
    /// per key on the host for payloads of other sizes than 4, 8 and 16 bytes.
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
    /// # Panics
    /// If the system refuses scratch that the limit allows.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::Segments`] if the segments do not fit the keys; [`Error::Memory`] if the
    /// limit does not leave room for the scratch; [`Error::Unsupported`] for an algorithm that does not apply to such
    /// keys or cannot be stable; [`Error::Device`] if a device is not available or fails: the keys are then a
    /// permutation, and each payload is with its key.
    pub fn sort_pairs_segments<K: Key, V: Send>(
        &self,
        keys: &mut [K],
        payload: &mut [V],
        segments: Segments<'_>,
    ) -> Result<Report, Error> {
        if const { K::FORM.is_number() } {
            // SAFETY: the sort leaves a permutation.
            let bits = unsafe { key::as_bits_mut(keys) };
            return self.sort_pairs_segments_of_numbers(bits, K::FORM.code(), payload, segments);
        }
        let order = self.choices.order;
        let beside = payload_for(keys.len(), payload)?;
        let request = self.segments_request(KeyForm::without_strings::<K>(), beside, keys.len(), segments)?;
        self.run_on_cpu(request, |job| cpu::wide::sort_pairs_segments(keys, payload, segments, order, job))
    }

    /// Writes the indices of the keys of each segment in order, counted from the start of the segment. Keys do not
    /// move, and indices that belong to no segment are not written. Stable, unless the sorter was built with
    /// `.unstable()`. Takes the time of [`Sorter::sort_segments`].
    ///
    /// Scratch on the CPU, for each thread:
    ///
    /// - 40 bytes per key of the longest segment that it sorts (84 for keys of 128 bits), at most 328 KB (689 KB);
    /// - if that segment has more than 8192 keys, also a copy of it and 8 bytes per key;
    /// - for keys that are not numbers, 32 bytes per key of that segment instead of both.
    ///
    /// On a GPU it is that of [`Sorter::sort_segments`], with 4 more bytes per key on the device, and 4 bytes per key on the
    /// host.
    ///
    /// ```
    /// # fn main() -> Result<(), sortie::Error> {
    /// use sortie::{Segments, Sorter};
    /// let mut indices = [0u32; 5];
    /// Sorter::builder().build()?.argsort_segments(&[2, 1, 9, 8, 9], &mut indices, Segments::Offsets(&[0, 2, 5]))?;
    /// assert_eq!(indices, [1, 0, 1, 0, 2]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// If the system refuses scratch that the limit allows.
    ///
    /// # Errors
    /// As [`Sorter::sort_pairs_segments`]; [`Error::Unsupported`] if the index type is too narrow for the longest segment.
    /// If a device fails, indices are unspecified.
    pub fn argsort_segments<K: Key, I: Index>(
        &self,
        keys: &[K],
        indices: &mut [I],
        segments: Segments<'_>,
    ) -> Result<Report, Error> {
        if const { K::FORM.is_number() } {
            return self.argsort_segments_of_numbers(key::as_bits(keys), K::FORM.code(), indices, segments);
        }
        let order = self.choices.order;
        let form = KeyForm::without_strings::<K>();
        let request = self.argsort_segments_request(form, keys.len(), indices, segments)?;
        self.run_on_cpu(request, |job| cpu::wide::argsort_segments(keys, indices, segments, order, job))
    }

    /// The request for segments, which must fit the keys. Their lengths are read only if something depends on them.
    fn segments_request(
        &self,
        keys: KeyForm,
        beside: Beside,
        n: usize,
        segments: Segments<'_>,
    ) -> Result<Request, Error> {
        segments.check(n)?;
        let mut request = self.request(Operation::Segments(None), keys, beside, n);
        if on_gpus::may_take(&request) {
            request.operation = Operation::Segments(Some(Box::new(Lengths::of(n, segments))));
        }
        Ok(request)
    }

    /// The request for the indices of segments.
    fn argsort_segments_request<I: Index>(
        &self,
        keys: KeyForm,
        n: usize,
        indices: &[I],
        segments: Segments<'_>,
    ) -> Result<Request, Error> {
        same_length("indices", n, indices.len())?;
        let request = self.segments_request(keys, Beside::Indices { stable: true }, n, segments)?;
        let longest = match segments {
            Segments::Length(length) => length.min(n),
            Segments::Offsets(offsets) => offsets.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0),
        };
        index_fits::<I>(longest)?;
        Ok(request)
    }

    /// Whether there are so few keys that a plan and a report would take as long as the sort.
    fn sorts_at_once(&self, n: usize) -> bool {
        n <= FEW && self.is_left_to_cpu()
    }

    /// Whether no GPU and no algorithm was named.
    fn is_left_to_cpu(&self) -> bool {
        let SorterBuilder { engine, algorithm, .. } = self.choices;
        algorithm == Algorithm::Auto && matches!(engine, Engine::Auto | Engine::Cpu)
    }

    /// Plans the request and runs the plan on the data. If a GPU fails and the plan has the CPU as an alternative, that sorts;
    /// `on_gpus` must leave the data in a state in which that is possible.
    fn run<D: ?Sized + Send>(
        &self,
        request: Request,
        data: &mut D,
        on_gpus: impl FnOnce(&mut D, &OnGpus) -> Result<Report, Error>,
        on_cpu: impl FnOnce(&mut D, &Job) -> Result<Report, Error> + Send,
    ) -> Result<Report, Error> {
        let mut abandoned = Report::default();
        let planned = on_gpus::planned(&request)?;
        if let Some(on) = planned.on_gpus {
            let start = Instant::now();
            match on_gpus(data, &on) {
                Err(error) if planned.on_cpu.is_some() => {
                    on.abandon(&error);
                    abandoned.push(Ran::Cuda, "abandoned", start.elapsed(), 0, 0);
                }
                decided => return decided,
            }
        }
        let budget = request.budget;
        let way = planned.on_cpu.expect("a plan without GPUs is for the CPU");
        let job = Job { way, stable: request.is_stable(), budget };
        let mut report = self.in_pool(budget.threads, |_| on_cpu(data, &job))?;
        report.phases.splice(0..0, abandoned.phases);
        Ok(report)
    }

    /// The same for requests that no GPU can carry out.
    fn run_on_cpu(
        &self,
        request: Request,
        on_cpu: impl FnOnce(&Job) -> Result<Report, Error> + Send,
    ) -> Result<Report, Error> {
        let on_gpus = |_: &mut (), _: &OnGpus| unreachable!("no plan of this sort has a GPU");
        self.run(request, &mut (), on_gpus, |_, job| on_cpu(job))
    }

    /// Runs `work` in this sorter's pool if several threads are to work, and passes it their number.
    fn in_pool<R: Send>(&self, threads: usize, work: impl FnOnce(usize) -> R + Send) -> R {
        match &self.pool {
            Some(pool) if threads > 1 => parallel::install(pool, || work(threads)),
            _ => work(threads),
        }
    }

    /// How many threads work on `n` items, if several are used from `from` items on.
    fn threads(&self, n: usize, from: usize) -> usize {
        if self.choices.threads == Some(1) || n < from {
            return 1;
        }
        self.pool.as_ref().map_or_else(threads::of_current_pool, |pool| pool.current_num_threads())
    }
}

/// This machine without its GPUs.
fn machine_without_gpu() -> &'static Machine {
    static MACHINE: LazyLock<Machine> = LazyLock::new(|| Machine::of_cpu(Vectors::detect()));
    &MACHINE
}

/// What moves with `n` keys: a payload for each.
fn payload_for<V>(n: usize, payload: &[V]) -> Result<Beside, Error> {
    same_length("payload", n, payload.len())?;
    Ok(Beside::Payload { bytes: size_of::<V>(), stable: true })
}
