//! How a [`Sorter`] sorts elements by keys that are computed from them, or by a comparison.

use std::cmp::Ordering;

use super::{PARALLEL_FROM, Sorter};
#[cfg(doc)]
use crate::Algorithm;
use crate::cpu::long_runs::{LongRuns, MOST_RUNS};
use crate::cpu::profile::Runs;
use crate::cpu::sorts::{self, CpuSorts};
use crate::cpu::tuning::{MERGED_BY_THREADS, PAIRS_AT_ONCE};
use crate::cpu::{self, Job, gather, packed};
use crate::key::{self, Bits, Code, Transform};
use crate::plan::CpuWay;
use crate::request::{Beside, Budget, KeyForm, Operation};
use crate::scratch::{Scratch, room_for};
use crate::{Error, Index, Key, Order, Report, parallel};

/// Bytes up to which a key and its element are sorted together; larger elements are moved by indices afterwards.
const MOVED_WITH_KEYS_BYTES: usize = 40;

impl Sorter {
    /// Sorts by a key that `key` computes from each element. Stable, unless the sorter was built with `.unstable()`. Runs on the
    /// engine that [`Sorter::argsort`] of the keys uses.
    ///
    /// Calls `key` once for each element, but one thread calls it more often in two cases:
    ///
    /// - If the elements begin with long runs, it merges these with the others. It calls `key` twice for each comparison, up to
    ///   twice as often as std's `sort_by_key`.
    /// - If there are up to 131,072 elements with keys of 32 or 64 bits, it calls `key` again for those whose keys begin with the
    ///   same bits, and for up to 150 others.
    ///
    /// To call it once whatever the order, use [`Sorter::sort_by_cached_key`].
    ///
    /// Scratch: the keys, and
    ///
    /// - for numbers of `K` bytes and elements of `V` bytes, if `K + V` is at most 40 or the keys are two runs: that of
    ///   [`Sorter::sort_pairs`];
    /// - for others: 8 bytes per element, and the larger of what [`Sorter::argsort`] takes and a copy of the elements.
    ///
    /// If the limit has no room for the copy, one thread exchanges the elements.
    ///
    /// # Panics
    /// If `key` panics. The slice is a permutation of what it was.
    ///
    /// # Errors
    /// As [`Sorter::argsort`].
    pub fn sort_by_key<T: Send + Sync, K: Key>(
        &self,
        v: &mut [T],
        key: impl Fn(&T) -> K + Sync,
    ) -> Result<Report, Error> {
        self.sort_by_key_of(v, &key)
    }

    /// [`Sorter::sort_by_key`], which calls itself for a part of the elements.
    fn sort_by_key_of<T: Send + Sync, K: Key>(
        &self,
        v: &mut [T],
        key: &(impl Fn(&T) -> K + Sync),
    ) -> Result<Report, Error> {
        if const { !K::FORM.is_bytes() } && self.sorts_at_once(v.len()) {
            if const { K::FORM.is_number() } {
                cpu::few::sort_by_key(v, key, self.carrying(K::FORM.code()), self.choices.order);
            } else {
                cpu::few::sort_by_wide_key(v, key, self.choices.order);
            }
            return Ok(Report::default());
        }
        if let Some(report) = self.merge_long_runs(v, key) {
            return report;
        }
        if const { K::FORM.is_number() && matches!(K::Bits::WIDTH, 32 | 64) }
            && let Some(report) = self.sort_by_words(v, key)
        {
            return Ok(report);
        }
        let mut keys: Vec<K> = self.collect(v, key);
        let held = size_of_val(&*keys) + size_of::<usize>() * v.len();
        if const { !K::FORM.is_number() } {
            return self.sort_by_indices(v, held, |indices| self.argsort_holding(&keys, indices, held));
        }
        let code = K::FORM.code();
        if let Some(report) = self.put_in_order(v, key::as_bits(&keys), code) {
            return Ok(report);
        }
        self.sort_by_numbers(v, &mut keys, code, held)
    }

    /// Sorts elements that begin with long runs, by one thread: sorts the others, and merges all. `None`, and the elements are as
    /// they were, if there are no such runs, or a memory limit, which the sort of the others might exceed.
    fn merge_long_runs<T: Send + Sync, K: Key>(
        &self,
        v: &mut [T],
        key: &(impl Fn(&T) -> K + Sync),
    ) -> Option<Result<Report, Error>> {
        if !self.is_left_to_cpu() || self.threads(v.len(), PARALLEL_FROM) > 1 {
            return None;
        }
        // The order is chosen here once, not again for every key.
        let order = self.choices.order;
        if order == Order::default() {
            self.merge_long_runs_by(v, key, |a, b| key(a).compare(&key(b), Order::default()).is_lt())
        } else {
            self.merge_long_runs_by(v, key, |a, b| key(a).compare(&key(b), order).is_lt())
        }
    }

    /// [`Sorter::merge_long_runs`], where `less` compares two elements by their keys.
    fn merge_long_runs_by<T: Send + Sync, K: Key>(
        &self,
        v: &mut [T],
        key: &(impl Fn(&T) -> K + Sync),
        less: impl Fn(&T, &T) -> bool,
    ) -> Option<Result<Report, Error>> {
        let (n, bytes, mut report) = (v.len(), size_of_val(v), Report::default());
        // With a limit there is no merge, only a check whether all are one run.
        let most = if self.choices.memory_limit.is_some() { 1 } else { MOST_RUNS };
        let runs = report.phase("profile", bytes, 0, || LongRuns::of::<true, T>(v, most, &less))?;
        let room = runs.room(n);
        if room > 0 && self.choices.memory_limit.is_some() {
            return None;
        }
        let mut scratch = Scratch::new(room).ok()?;
        let mut others = Ok(Report::default());
        report.phase("finish", bytes, bytes, || {
            let sort = |rest: &mut [T]| others = self.sort_by_key_of(rest, key);
            runs.sort(v, &less, &mut scratch, sort);
        });
        report.scratch_peak = (room * size_of::<T>()) as u64;
        Some(others.map(|others| {
            report.scratch_peak += others.scratch_peak;
            report
        }))
    }

    /// Sorts up to [`PAIRS_AT_ONCE`] elements by words of their keys and indices. `None`, and the
    /// elements are as they were, if there are more elements, few distinct keys, or too little memory.
    fn sort_by_words<T: Send + Sync, K: Key>(
        &self,
        v: &mut [T],
        key: &(impl Fn(&T) -> K + Sync),
    ) -> Option<Report> {
        let (n, bytes, word) = (v.len(), size_of_val(v), size_of::<u64>());
        if n > PAIRS_AT_ONCE || !self.is_left_to_cpu() {
            return None;
        }
        // In one piece, which allocators keep. The copy may have to begin some bytes later, for its alignment.
        let copy = (bytes + align_of::<T>()).div_ceil(word);
        let scratch_peak = ((n + copy) * word + n.div_ceil(8)) as u64;
        if self.choices.memory_limit.is_some_and(|limit| limit < scratch_peak) {
            return None;
        }
        let mut report = Report { scratch_peak, ..Report::default() };
        let mut scratch = Scratch::<u64>::new(n + copy).ok()?;
        let (words, room) = scratch.split_at_mut(n);
        let room = room_for(room);
        // Elements without a size have no room.
        if room.len() < n {
            return None;
        }
        let transform: Transform<K::Bits> = self.carrying(K::FORM.code());
        let indices = report.phase("finish", bytes, n * word, || {
            packed::order(|i| transform.encode(key::to_bits(&key(&v[i]))), words)
        })?;
        report.phase("move", bytes, bytes, || gather::gather_through(v, indices, room, 1));
        Some(report)
    }

    /// Leaves elements that are in the order of their keys, and reverses those that are in reverse order. `None` if they are in
    /// neither.
    fn put_in_order<T, B: CpuSorts>(&self, v: &mut [T], keys: &[B], code: Code) -> Option<Report> {
        let mut report = Report { scratch_peak: size_of_val(keys) as u64, ..Report::default() };
        if !self.is_left_to_cpu()
            || self.choices.memory_limit.is_some_and(|limit| limit < report.scratch_peak)
        {
            return None;
        }
        let runs = report.phase("profile", size_of_val(keys), 0, || {
            self.in_pool(self.threads(keys.len(), PARALLEL_FROM), |threads| {
                B::runs(keys, self.carrying(code), true, threads)
            })
        });
        match runs {
            Runs::Ascending => {}
            Runs::Descending => v.reverse(),
            Runs::Mixed => return None,
        }
        Some(report)
    }

    /// [`Sorter::sort_by_key`] for keys of any ordered type, on the CPU.
    ///
    /// Scratch: the keys, 8 bytes per element, and the larger of a copy of the elements and, if the sort is stable, 8 bytes per
    /// element. If the limit has no room for the copy, one thread exchanges the elements.
    ///
    /// # Panics
    /// If `key` or the comparison panics. Like std's sort, it may panic if the [`Ord`] of the keys is not a total order. Either
    /// way, the slice is as it was.
    ///
    /// # Errors
    /// As [`Sorter::argsort`].
    pub fn sort_by_cached_key<T: Send + Sync, K: Ord + Send + Sync>(
        &self,
        v: &mut [T],
        key: impl Fn(&T) -> K + Sync,
    ) -> Result<Report, Error> {
        let keys: Vec<K> = self.collect(v, key);
        let mut indices: Vec<usize> = (0..v.len()).collect();
        let order = self.choices.order;
        let beside = Beside::Payload { bytes: size_of::<usize>(), stable: true };
        let mut request = self.request(Operation::Array, KeyForm::Compared, beside, v.len());
        let held = size_of_val(&*keys) + size_of_val(&*indices);
        request.budget = request.budget.holding(held);
        let mut report = self.run_on_cpu(request, |job| {
            cpu::compare::sort(&mut indices, |&a, &b| order.direct(keys[a].cmp(&keys[b])), job)
        })?;
        self.bring(v, &mut indices, held, &mut report);
        Ok(report)
    }

    /// Sorts by a comparison, with std's or rayon's sort, on the CPU. `descending` reverses the comparison.
    ///
    /// Scratch, if the sort is stable: a copy of the slice. With one thread, half a copy, or a whole one of up to 8 MB.
    ///
    /// # Panics
    /// If `compare` panics. Like std's sort, it may panic if `compare` is not a total order. Either way, the slice is a
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
        let beside = Beside::Payload { bytes: size_of::<T>(), stable: true };
        let request = self.request(Operation::Array, KeyForm::Compared, beside, v.len());
        self.run_on_cpu(request, |job| cpu::compare::sort(v, |a, b| order.direct(compare(a, b)), job))
    }

    /// Sorts elements by their keys and consumes the keys. `held` is the scratch that is held already, in bytes.
    fn sort_by_numbers<T: Send, K: Key>(
        &self,
        v: &mut [T],
        keys: &mut [K],
        code: key::Code,
        held: usize,
    ) -> Result<Report, Error> {
        let beside = Beside::Indices { stable: true };
        let mut request = self.request(Operation::Array, KeyForm::of::<K>(), beside, keys.len());
        request.budget = request.budget.holding(held);
        // Small elements move with their keys, which saves a second pass over them; so do large ones that are merged.
        let together = size_of::<K>() + size_of::<T>();
        let index_bytes = size_of::<usize>() * keys.len();
        let fits = (together * keys.len()) as u64 <= request.budget.left() + index_bytes as u64;
        self.run(
            request,
            &mut (keys, v),
            |(keys, v), on| {
                self.sort_by_indices(v, held, |indices| {
                    self.argsort_on_gpus(on, key::as_bits(keys), indices, code)
                })
            },
            |(keys, v), job| {
                let transform: Transform<K::Bits> = self.carrying(code);
                let moves_pairs = job.way != CpuWay::Merge && transform.is_bijection();
                // SAFETY: the sort leaves a permutation.
                let bits = unsafe { key::as_bits_mut(keys) };
                let merged =
                    || job.budget.threads <= MERGED_BY_THREADS && cpu::runs::two(bits, transform).is_some();
                if moves_pairs && fits && (together <= MOVED_WITH_KEYS_BYTES || merged()) {
                    // No indices are held.
                    let budget = Budget { held: (held - index_bytes) as u64, ..job.budget };
                    return sorts::sort_pairs(bits, v, transform, &Job { budget, ..*job });
                }
                self.sort_by_indices(v, held, |indices| {
                    K::Bits::argsort(key::as_bits(keys), usize::by_width(indices), self.carrying(code), job)
                })
            },
        )
    }

    /// Moves elements by the indices that `sort` finds. `held` is the scratch that is held, that of the indices included.
    fn sort_by_indices<T: Send>(
        &self,
        v: &mut [T],
        held: usize,
        sort: impl FnOnce(&mut [usize]) -> Result<Report, Error>,
    ) -> Result<Report, Error> {
        let mut indices = vec![0usize; v.len()];
        let mut report = sort(&mut indices)?;
        self.bring(v, &mut indices, held, &mut report);
        Ok(report)
    }

    /// Moves elements by indices. `held` is the scratch that is held already, in bytes.
    fn bring<T: Send, I: Index>(&self, v: &mut [T], indices: &mut [I], held: usize, report: &mut Report) {
        let bytes = size_of_val(v);
        let memory = self.choices.memory_limit.unwrap_or(u64::MAX);
        self.in_pool(self.threads(v.len(), PARALLEL_FROM), |threads| {
            let budget = Budget { threads, memory, held: held as u64 };
            let copy = report.phase("move", bytes, bytes, || gather::bring(v, indices, &budget));
            report.scratch_peak = report.scratch_peak.max((held + copy) as u64);
        });
    }

    /// The key of each element, in order.
    fn collect<T: Sync, K: Send>(&self, v: &[T], key: impl Fn(&T) -> K + Sync) -> Vec<K> {
        self.in_pool(self.threads(v.len(), PARALLEL_FROM), |threads| parallel::collect(threads, v, &key))
    }
}
