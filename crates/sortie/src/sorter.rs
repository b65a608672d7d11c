//! [`Sorter`]: everything about a sort that can be chosen.

use std::cmp::Ordering;
use std::str::FromStr;
use std::sync::Arc;

use crate::cpu::{self, Job};
use crate::gpu::{self, Gpu};
use crate::key::{self, Bits, Code, Form, Transform};
use crate::{Error, Index, Key, Nans, Nulls, Order, Report, Segments};

/// Where a sort runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Engine {
    /// Wherever the plan predicts the shortest time.
    #[default]
    Auto,
    /// On the CPU.
    Cpu,
    /// On the CUDA device of this number. [`Sorter::sort_segments`] alone has an engine there so far; other calls return
    /// [`Error::Unsupported`].
    Cuda(u32),
}

/// As it is written: `auto`, `cpu`, `cuda` or `cuda:1`.
impl FromStr for Engine {
    type Err = Error;

    fn from_str(text: &str) -> Result<Engine, Error> {
        let ordinal = |text: &str| text.strip_prefix("cuda:").and_then(|number| number.parse().ok());
        match text {
            "auto" => Ok(Engine::Auto),
            "cpu" => Ok(Engine::Cpu),
            "cuda" => Ok(Engine::Cuda(0)),
            _ => ordinal(text).map(Engine::Cuda).ok_or_else(|| {
                Error::Unsupported(format!(
                    "there is no engine {text:?}; there are auto, cpu, cuda and cuda:N"
                ))
            }),
        }
    }
}

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
    /// Merge sort by comparison (std's or rayon's). Stable.
    Merge,
}

/// Sorts with everything chosen that can be chosen; made by [`Sorter::builder`].
///
/// A call either sorts and says what it did, or returns an error and leaves the data as it was.
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

    /// How many threads may work, at least 1; by default those of the rayon pool that the caller is in.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// The most scratch, in bytes, that a call may hold beyond the data; by default as much as its plan needs.
    #[must_use]
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = Some(bytes);
        self
    }

    /// Whether the largest key goes first. NaNs and nulls keep their places, and equal keys their order.
    #[must_use]
    pub fn descending(mut self, descending: bool) -> Self {
        self.order.descending = descending;
        self
    }

    /// Where NaNs go; by default last.
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
    /// [`Error::Unsupported`] for 0 threads, [`Error::Threads`] where the system refuses to start them.
    pub fn build(self) -> Result<Sorter, Error> {
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
    /// # Errors
    /// [`Error::Unsupported`] for an algorithm that does not apply to such keys.
    pub fn sort<K: Key>(&self, keys: &mut [K]) -> Result<Report, Error> {
        let order = self.choices.order;
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
    /// [`Error::Unsupported`] for an algorithm that does not apply to such keys or cannot be stable.
    pub fn sort_pairs<K: Key, V: Send>(&self, keys: &mut [K], payload: &mut [V]) -> Result<Report, Error> {
        same_length("payload", keys.len(), payload.len())?;
        let order = self.choices.order;
        self.run(keys.len(), |job| match K::FORM {
            Form::Bits(code) => {
                // SAFETY: the engine leaves a permutation.
                let bits = unsafe { key::as_bits_mut(keys) };
                cpu::pairs::sort(bits, payload, Transform::new(code, order), job)
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
            Form::Bits(code) => {
                cpu::pairs::argsort(key::as_bits(keys), places, Transform::new(code, order), job)
            }
            Form::Bytes => cpu::strings::argsort(keys, K::bytes, places, order.descending, job),
            Form::Wide => cpu::wide::argsort(keys, places, order, job),
        }
    }

    /// Sorts every segment by itself. In place.
    ///
    /// # Errors
    /// [`Error::Segments`] where they do not fit the keys; [`Error::Device`] where the engine is a device that cannot be had or
    /// fails: the keys are a permutation then.
    pub fn sort_segments<K: Key>(&self, keys: &mut [K], segments: Segments<'_>) -> Result<Report, Error> {
        segments.check(keys.len())?;
        let order = self.choices.order;
        if let (Engine::Cuda(ordinal), Form::Bits(code)) = (self.choices.engine, K::FORM) {
            let gpu = Gpu::cuda(ordinal)?;
            // SAFETY: the engine leaves a permutation.
            let bits = unsafe { key::as_bits_mut(keys) };
            return gpu::sort_segments(&gpu, bits, None, segments, code, order);
        }
        self.run(keys.len(), |job| match K::FORM {
            Form::Bits(code) => {
                // SAFETY: the engine leaves a permutation.
                let bits = unsafe { key::as_bits_mut(keys) };
                cpu::segments::sort(bits, segments, Transform::new(code, order), job)
            }
            _ => cpu::wide::sort_segments(keys, segments, order, job),
        })
    }

    /// Sorts every segment by itself and moves each payload with its key.
    ///
    /// Scratch: for each thread at most 328 KB and a copy of the longest segment that it sorts; for keys without a fixed
    /// width 36 bytes a key of that segment.
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
    /// cannot be stable.
    pub fn sort_pairs_segments<K: Key, V: Send>(
        &self,
        keys: &mut [K],
        payload: &mut [V],
        segments: Segments<'_>,
    ) -> Result<Report, Error> {
        same_length("payload", keys.len(), payload.len())?;
        segments.check(keys.len())?;
        let order = self.choices.order;
        if let (Engine::Cuda(ordinal), Form::Bits(code)) = (self.choices.engine, K::FORM) {
            let gpu = Gpu::cuda(ordinal)?;
            // SAFETY: the engine leaves a permutation.
            let bits = unsafe { key::as_bits_mut(keys) };
            if let Some(moved) = gpu::Payload::of(payload) {
                return gpu::sort_segments(&gpu, bits, Some(moved), segments, code, order);
            }
            return sort_by_places(&gpu, bits, payload, segments, code, order);
        }
        self.run(keys.len(), |job| match K::FORM {
            Form::Bits(code) => {
                // SAFETY: the engine leaves a permutation.
                let bits = unsafe { key::as_bits_mut(keys) };
                cpu::segment_pairs::sort(bits, payload, segments, Transform::new(code, order), job)
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

    /// Sorts strings by their bytes; moves references, never bodies.
    ///
    /// # Errors
    /// [`Error::Memory`] where the limit does not leave room for the references.
    pub fn sort_strings<S: AsRef<[u8]> + Send + Sync>(&self, strings: &mut [S]) -> Result<Report, Error> {
        let descending = self.choices.order.descending;
        self.run(strings.len(), |job| cpu::strings::sort(strings, S::as_ref, descending, job))
    }

    /// Writes the places of the strings in order.
    ///
    /// # Errors
    /// As [`Sorter::argsort`].
    pub fn argsort_strings<S: AsRef<[u8]> + Sync, I: Index>(
        &self,
        strings: &[S],
        places: &mut [I],
    ) -> Result<Report, Error> {
        index_fits::<I>(strings.len())?;
        same_length("places", strings.len(), places.len())?;
        let descending = self.choices.order.descending;
        self.run(strings.len(), |job| cpu::strings::argsort(strings, S::as_ref, places, descending, job))
    }

    /// Sorts strings stored as offsets into bytes, see [`sort_string_array`](crate::sort_string_array).
    ///
    /// # Errors
    /// [`Error::Segments`] where the offsets are empty, go backwards or past the end.
    pub fn sort_string_array<O: Index>(&self, offsets: &mut [O], bytes: &mut [u8]) -> Result<Report, Error> {
        let descending = self.choices.order.descending;
        self.run(offsets.len(), |job| cpu::strings::sort_array(offsets, bytes, descending, job))
    }

    /// Runs `work` with this sorter's threads.
    fn run(
        &self,
        n: usize,
        work: impl FnOnce(&Job) -> Result<Report, Error> + Send,
    ) -> Result<Report, Error> {
        if let Engine::Cuda(_) = self.choices.engine {
            return Err(Error::Unsupported(
                "this sort has no GPU engine; choose the CPU engine for it".into(),
            ));
        }
        let sequential = self.choices.threads == Some(1) || n < crate::plan::PARALLEL_FROM;
        let job = |threads| Job {
            threads,
            algorithm: self.choices.algorithm,
            memory_limit: self.choices.memory_limit.unwrap_or(u64::MAX),
            stable: !self.choices.unstable,
            held: 0,
        };
        match &self.pool {
            _ if sequential => work(&job(1)),
            Some(pool) => pool.install(|| work(&job(pool.current_num_threads()))),
            None => work(&job(rayon::current_num_threads())),
        }
    }

    /// The key of each element, in order.
    fn collect<T: Sync, K: Send>(&self, v: &[T], key: impl Fn(&T) -> K + Sync) -> Vec<K> {
        use rayon::prelude::*;
        let sequential = self.choices.threads == Some(1) || v.len() < crate::plan::PARALLEL_FROM;
        match &self.pool {
            _ if sequential => v.iter().map(key).collect(),
            Some(pool) => pool.install(|| v.par_iter().map(&key).collect()),
            None => v.par_iter().map(&key).collect(),
        }
    }
}

/// Sorts keys on a device, each with its place, and then puts payloads of any size in their places.
fn sort_by_places<B: Bits, V: Send>(
    gpu: &Gpu,
    keys: &mut [B],
    payload: &mut [V],
    segments: Segments<'_>,
    code: Code,
    order: Order,
) -> Result<Report, Error> {
    let mut places: Vec<usize> = (0..keys.len()).collect();
    let report = gpu::sort_segments(gpu, keys, gpu::Payload::of(&mut places), segments, code, order);
    // Whatever failed: what was sorted by then has its places.
    cpu::permute(payload, &mut places);
    report
}

fn same_length(what: &'static str, expected: usize, found: usize) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::LengthMismatch { what, expected, found }) }
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
