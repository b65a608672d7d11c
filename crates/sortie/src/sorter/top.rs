//! How a [`Sorter`] selects the first `k` keys of its order.

use super::numbers::form;
use super::{Sorter, index_fits};
use crate::cpu::Job;
use crate::key::{Code, Transform};
use crate::request::{Beside, KeyForm, Operation, Request};
use crate::sorts::Sorts;
use crate::{Error, Index, Key, Report, cpu, key};

impl Sorter {
    /// Writes the first `k` keys in order, where `k` is the length of `top`: those with which the sorted keys would begin. Keys
    /// stay as they are.
    ///
    /// The order is that of the sorter: ascending, the smallest keys come first. For the largest, build it with
    /// `.descending(true)`. Takes the time of [`Sorter::arg_top_k`] or less.
    ///
    /// Scratch: for numbers of up to 64 bits, unless equal NaNs may differ, one code for each of 2k + 4096 candidates, or for all
    /// keys if they are fewer; twice that a thread if threads read the keys together; then that of [`Sorter::sort`] for the
    /// result. For other keys that of [`Sorter::arg_top_k`], and 8 bytes for each key of the result.
    ///
    /// ```
    /// # fn main() -> Result<(), sortie::Error> {
    /// let mut top = [0.0; 2];
    /// let sorter = sortie::Sorter::builder().descending(true).build()?;
    /// sorter.top_k(&[0.5, 2.5, f32::NAN, -1.0, 1.5], &mut top)?;
    /// assert_eq!(top, [2.5, 1.5]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Sorter::arg_top_k`].
    pub fn top_k<K: Key + Clone>(&self, keys: &[K], top: &mut [K]) -> Result<Report, Error> {
        self.write_top_k(keys, top, true)
    }

    /// [`Sorter::top_k`] in any order.
    ///
    /// # Errors
    /// As [`Sorter::arg_top_k`].
    pub fn top_k_unsorted<K: Key + Clone>(&self, keys: &[K], top: &mut [K]) -> Result<Report, Error> {
        self.write_top_k(keys, top, false)
    }

    /// Writes the indices of the first `k` keys in order, where `k` is the length of `indices`: the first `k` of those that
    /// [`Sorter::argsort`] writes. Of equal keys, those with smaller indices come first, also if the sorter was built with
    /// `.unstable()`.
    ///
    /// Takes O(n + k log k) time for every input, and reads the keys once: a sample bounds the `k`-th key, and only keys before
    /// the bound are looked at again. Once in more than 10^6 calls the bound is wrong, and the keys are read twice. Runs on the
    /// CPU.
    ///
    /// Scratch: room for 2k + 4096 candidates, or for all keys if they are fewer. A candidate takes 8 bytes and twice those of
    /// its key, at most twice 8. Keys of more than 64 bits, compound keys and strings take 8 bytes more. The sort of the result
    /// takes up to 24 bytes for each of the `k` keys. From 524,288 keys on, and if there are at least 16 times `k`, threads read
    /// the keys together; each takes twice that for its candidates.
    ///
    /// ```
    /// # fn main() -> Result<(), sortie::Error> {
    /// let mut indices = [0u32; 3];
    /// sortie::Sorter::builder().build()?.arg_top_k(&["b", "c", "a", "b"], &mut indices)?;
    /// assert_eq!(indices, [2, 0, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] if there are fewer keys than `k`, the index type is too narrow for the keys, the engine is a
    /// device, or the algorithm is not [`Algorithm::Auto`](crate::Algorithm::Auto); [`Error::Memory`] if the limit does not
    /// leave room for the scratch, or the system refuses it.
    pub fn arg_top_k<K: Key, I: Index>(&self, keys: &[K], indices: &mut [I]) -> Result<Report, Error> {
        write_indices(keys.len(), indices, |k| self.find_top_k(keys, k, true))
    }

    /// [`Sorter::arg_top_k`] in any order of the indices.
    ///
    /// # Errors
    /// As [`Sorter::arg_top_k`].
    pub fn arg_top_k_unsorted<K: Key, I: Index>(
        &self,
        keys: &[K],
        indices: &mut [I],
    ) -> Result<Report, Error> {
        write_indices(keys.len(), indices, |k| self.find_top_k(keys, k, false))
    }

    /// [`Sorter::top_k`], or in any order, of numbers.
    pub(crate) fn top_k_of_numbers<B: Sorts>(
        &self,
        keys: &[B],
        code: Code,
        top: &mut [B],
        sorted: bool,
    ) -> Result<Report, Error> {
        let transform = Transform::comparing(code, self.choices.order);
        if B::WIDTH > u64::BITS || !transform.is_bijection() {
            return write_keys(keys, top, |k| self.find_top_k_of_numbers(keys, code, k, sorted));
        }
        let request = self.top_request(form::<B>(code), keys.len(), top.len(), sorted, Beside::Nothing)?;
        self.run_on_cpu(request, |job| B::top_k(keys, top, transform, sorted, job))
    }

    /// [`Sorter::arg_top_k`], or in any order, of numbers.
    pub(crate) fn arg_top_k_of_numbers<B: Sorts, I: Index>(
        &self,
        keys: &[B],
        code: Code,
        indices: &mut [I],
        sorted: bool,
    ) -> Result<Report, Error> {
        write_indices(keys.len(), indices, |k| self.find_top_k_of_numbers(keys, code, k, sorted))
    }

    fn write_top_k<K: Key + Clone>(&self, keys: &[K], top: &mut [K], sorted: bool) -> Result<Report, Error> {
        if const { !K::FORM.is_number() } {
            return write_keys(keys, top, |k| self.find_top_k(keys, k, sorted));
        }
        // SAFETY: the bits of some of the keys are written.
        let top = unsafe { key::as_bits_mut(top) };
        self.top_k_of_numbers(key::as_bits(keys), K::FORM.code(), top, sorted)
    }

    /// The indices of the first `k` keys.
    fn find_top_k<K: Key>(&self, keys: &[K], k: usize, sorted: bool) -> Result<(Vec<usize>, Report), Error> {
        if const { K::FORM.is_number() } {
            return self.find_top_k_of_numbers(key::as_bits(keys), K::FORM.code(), k, sorted);
        }
        let order = self.choices.order;
        self.select(KeyForm::of::<K>(), keys.len(), k, sorted, |job| {
            cpu::top::of_keys(keys, order, k, sorted, job)
        })
    }

    fn find_top_k_of_numbers<B: Sorts>(
        &self,
        keys: &[B],
        code: Code,
        k: usize,
        sorted: bool,
    ) -> Result<(Vec<usize>, Report), Error> {
        let transform = Transform::comparing(code, self.choices.order);
        self.select(form::<B>(code), keys.len(), k, sorted, |job| {
            B::arg_top_k(keys, transform, k, sorted, job)
        })
    }

    /// The indices that `find` returns: those of the first `k` of `n` keys.
    fn select(
        &self,
        form: KeyForm,
        n: usize,
        k: usize,
        sorted: bool,
        find: impl FnOnce(&Job) -> Result<(Vec<usize>, Report), Error> + Send,
    ) -> Result<(Vec<usize>, Report), Error> {
        let request = self.top_request(form, n, k, sorted, Beside::Indices { stable: true })?;
        let mut indices = Vec::new();
        let report = self.run_on_cpu(request, |job| {
            let (found, report) = find(job)?;
            indices = found;
            Ok(report)
        })?;
        Ok((indices, report))
    }

    fn top_request(
        &self,
        form: KeyForm,
        n: usize,
        k: usize,
        sorted: bool,
        beside: Beside,
    ) -> Result<Request, Error> {
        if k > n {
            return Err(Error::Unsupported(format!(
                "there are {n} keys, so the first {k} cannot be selected; ask for at most {n}"
            )));
        }
        Ok(self.request(Operation::TopK { k, sorted }, form, beside, n))
    }
}

/// Fills `top` with the keys whose indices `find` returns for its length.
fn write_keys<K: Clone>(
    keys: &[K],
    top: &mut [K],
    find: impl FnOnce(usize) -> Result<(Vec<usize>, Report), Error>,
) -> Result<Report, Error> {
    let (found, report) = find(top.len())?;
    for (slot, index) in top.iter_mut().zip(found) {
        slot.clone_from(&keys[index]);
    }
    Ok(report)
}

/// Fills `indices` with those that `find` returns for its length, of `n` keys.
fn write_indices<I: Index>(
    n: usize,
    indices: &mut [I],
    find: impl FnOnce(usize) -> Result<(Vec<usize>, Report), Error>,
) -> Result<Report, Error> {
    index_fits::<I>(n)?;
    let (found, report) = find(indices.len())?;
    for (slot, index) in indices.iter_mut().zip(found) {
        *slot = I::from_usize(index);
    }
    Ok(report)
}
