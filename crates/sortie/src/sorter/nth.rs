//! How a [`Sorter`] finds the keys at some indices of its order, and quantiles.

use super::numbers::form;
use super::{Sorter, index_fits};
use crate::cpu::bands::pairs;
use crate::cpu::{self, Job};
use crate::error::same_length;
use crate::key::{self, Code, Number, Transform};
use crate::quantile::{self, QuantileMethod};
use crate::request::{Beside, KeyForm, Operation};
use crate::sorts::Sorts;
use crate::{Error, Index, Key, Order, Report};

impl Sorter {
    /// Writes the keys at these indices of the order: to `nth[i]` that which a sort would put at `indices[i]`. Keys stay as they are.
    /// The indices may be in any order, and equal.
    ///
    /// Takes O(n) time for every input and up to 16 indices, where two neighbours count as one. For more, a copy of the keys is sorted.
    /// Numbers are read once: a sample bounds each key. Other keys are read once more for each index. Once in more than 10^5 calls a
    /// bound is wrong, and the keys are read some times more for that index. Runs on the CPU.
    ///
    /// If the sorter regards NaNs as equal, a NaN that is found may be any of them.
    ///
    /// Scratch for many numbers, for each index: of 10^6 keys a third, of 10^7 a tenth, of 10^8 a fourteenth, but for all indices at most a
    /// copy of the keys. Several threads take that once more each. For up to 32,768 keys it is a copy, and for more than 16 indices a copy
    /// and what [`Sorter::sort`] takes. Keys of 8 bits count as 16. Those that are not numbers take at least 8 bytes each.
    ///
    /// ```
    /// # fn main() -> Result<(), sortie::Error> {
    /// let mut nth = [0; 2];
    /// sortie::Sorter::builder().build()?.nth(&[50, 10, 40, 20, 30], &[4, 0], &mut nth)?;
    /// assert_eq!(nth, [50, 10]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] unless there are as many results as indices; [`Error::Unsupported`] if an index is not less than the
    /// number of keys, the engine is a device, or the algorithm is not [`Algorithm::Auto`](crate::Algorithm::Auto); [`Error::Memory`]
    /// if the limit does not leave room for the scratch, or the system refuses it.
    pub fn nth<K: Key + Clone>(&self, keys: &[K], indices: &[usize], nth: &mut [K]) -> Result<Report, Error> {
        if const { K::FORM.is_number() } {
            // SAFETY: the bits of some of the keys are written.
            let nth = unsafe { key::as_bits_mut(nth) };
            return self.nth_of_numbers(key::as_bits(keys), K::FORM.code(), indices, nth);
        }
        same_length("results", indices.len(), nth.len())?;
        let (found, report) = self.find_nth(keys, indices)?;
        for (slot, index) in nth.iter_mut().zip(found) {
            slot.clone_from(&keys[index]);
        }
        Ok(report)
    }

    /// Writes the indices of the keys at these indices of the stable order: to `found[i]` what [`Sorter::argsort`] would write to
    /// `indices[i]`.
    ///
    /// Takes the time of [`Sorter::nth`], and another read for each index. The scratch is the same.
    ///
    /// ```
    /// # fn main() -> Result<(), sortie::Error> {
    /// let mut found = [0u32; 2];
    /// sortie::Sorter::builder().build()?.arg_nth(&["b", "c", "a", "b"], &[1, 2], &mut found)?;
    /// assert_eq!(found, [0, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Sorter::nth`], and [`Error::Unsupported`] if the type of `found` is too narrow for the keys.
    pub fn arg_nth<K: Key, I: Index>(
        &self,
        keys: &[K],
        indices: &[usize],
        found: &mut [I],
    ) -> Result<Report, Error> {
        index_fits::<I>(keys.len())?;
        same_length("results", indices.len(), found.len())?;
        let (all, report) = self.find_nth(keys, indices)?;
        for (slot, index) in found.iter_mut().zip(all) {
            *slot = I::from_usize(index);
        }
        Ok(report)
    }

    /// Moves keys so that those at `indices` are where a sort would put them. Between two of these indices are the keys that a sort
    /// would put between them, in any order. Takes O(n log i) time for `i` indices, and no scratch. Runs on the calling thread.
    ///
    /// ```
    /// # fn main() -> Result<(), sortie::Error> {
    /// let mut keys = [50, 10, 40, 20, 30];
    /// sortie::Sorter::builder().build()?.partition(&mut keys, &[2])?;
    /// assert_eq!(keys[2], 30);
    /// assert!(keys[..2].iter().all(|&key| key < 30));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] as [`Sorter::nth`].
    pub fn partition<K: Key>(&self, keys: &mut [K], indices: &[usize]) -> Result<Report, Error> {
        if const { K::FORM.is_number() } {
            // SAFETY: a partition leaves a permutation.
            return self.partition_numbers(unsafe { key::as_bits_mut(keys) }, K::FORM.code(), indices);
        }
        let (n, order) = (keys.len(), self.choices.order);
        let indices = distinct(n, indices)?;
        let request = self.request(Operation::Partition, KeyForm::of::<K>(), Beside::Nothing, n);
        self.run_on_cpu(request, |_| {
            cpu::select::partition_by(keys, &indices, 0, &|a, b| a.compare(b, order));
            Ok(Report::default())
        })
    }

    /// Writes a quantile of the keys for each number of `q`: 0 is the least key, 0.5 the median, 1 the greatest. The direction of the
    /// sorter does not matter.
    ///
    /// The results are those of NumPy's `quantile` for the keys as `f64`, except that a quantile at an infinite key is infinite where
    /// NumPy computes a NaN. Each is computed from the one or two keys that `method` says. If a key is NaN, so are all results; see [`Sorter::quantiles_of_numbers_only`] for those of the other keys. Integers of
    /// more than 53 bits are rounded to `f64` first. A `bool` counts as 0 or 1, a `char` as its code point.
    ///
    /// Takes the time and the scratch of [`Sorter::nth`] for the keys that the quantiles are computed from, and for floats the last one
    /// of the order.
    ///
    /// ```
    /// # fn main() -> Result<(), sortie::Error> {
    /// use sortie::QuantileMethod;
    /// let mut quartiles = [0.0; 3];
    /// let sorter = sortie::Sorter::builder().build()?;
    /// sorter.quantiles(&[7u8, 1, 3, 9], &[0.25, 0.5, 0.75], QuantileMethod::Linear, &mut quartiles)?;
    /// assert_eq!(quartiles, [2.5, 5.0, 7.5]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Sorter::nth`], and [`Error::Unsupported`] if there are no keys, or a number of `q` is not from 0 to 1.
    pub fn quantiles<K: Key + Number>(
        &self,
        keys: &[K],
        q: &[f64],
        method: QuantileMethod,
        values: &mut [f64],
    ) -> Result<Report, Error> {
        self.quantiles_of(key::as_bits(keys), K::CODE, q, method, false, values)
    }

    /// [`Sorter::quantiles`] of the keys that are not NaN, as NumPy's `nanquantile`. Floats are read once more, to count them. Without
    /// any, the results are NaN.
    ///
    /// # Errors
    /// As [`Sorter::quantiles`].
    pub fn quantiles_of_numbers_only<K: Key + Number>(
        &self,
        keys: &[K],
        q: &[f64],
        method: QuantileMethod,
        values: &mut [f64],
    ) -> Result<Report, Error> {
        self.quantiles_of(key::as_bits(keys), K::CODE, q, method, true, values)
    }

    /// [`Sorter::nth`] of numbers.
    pub(crate) fn nth_of_numbers<B: Sorts>(
        &self,
        keys: &[B],
        code: Code,
        indices: &[usize],
        nth: &mut [B],
    ) -> Result<Report, Error> {
        same_length("results", indices.len(), nth.len())?;
        // Equal NaNs may be told apart.
        let transform = Transform::new(code, self.choices.order);
        let (found, report) =
            self.find(form::<B>(code), Beside::Nothing, keys.len(), indices, |sorted, job| {
                B::nth(keys, transform, sorted, job)
            })?;
        nth.copy_from_slice(&found);
        Ok(report)
    }

    /// [`Sorter::arg_nth`] of numbers.
    pub(crate) fn arg_nth_of_numbers<B: Sorts, I: Index>(
        &self,
        keys: &[B],
        code: Code,
        indices: &[usize],
        found: &mut [I],
    ) -> Result<Report, Error> {
        index_fits::<I>(keys.len())?;
        same_length("results", indices.len(), found.len())?;
        let (all, report) = self.find_nth_of_numbers(keys, code, indices)?;
        found.iter_mut().zip(all).for_each(|(slot, index)| *slot = I::from_usize(index));
        Ok(report)
    }

    /// [`Sorter::partition`] of numbers.
    pub(crate) fn partition_numbers<B: Sorts>(
        &self,
        keys: &mut [B],
        code: Code,
        indices: &[usize],
    ) -> Result<Report, Error> {
        let indices = distinct(keys.len(), indices)?;
        let request = self.request(Operation::Partition, form::<B>(code), Beside::Nothing, keys.len());
        self.run_on_cpu(request, |_| B::partition(keys, Transform::new(code, self.choices.order), &indices))
    }

    /// [`Sorter::quantiles`] of numbers, or if `only` of those that are not NaN.
    pub(crate) fn quantiles_of<B: Sorts>(
        &self,
        keys: &[B],
        code: Code,
        q: &[f64],
        method: QuantileMethod,
        only: bool,
        values: &mut [f64],
    ) -> Result<Report, Error> {
        same_length("results", q.len(), values.len())?;
        if let Some(q) = q.iter().find(|q| !(0.0..=1.0).contains(*q)) {
            return Err(Error::Unsupported(format!("there is no quantile {q}; give numbers from 0 to 1")));
        }
        let ascending = self.with_order(Order::ASCENDING);
        let n = if only { keys.len() - quantile::count_nans(keys, code) } else { keys.len() };
        if n == 0 && only && !keys.is_empty() {
            values.fill(f64::NAN);
            return Ok(Report::default());
        }
        if n == 0 {
            return Err(Error::Unsupported("there are no keys, so there are no quantiles".into()));
        }
        let positions: Vec<_> = q.iter().map(|&q| method.position(q, n)).collect();
        let mut indices: Vec<usize> = positions.iter().flat_map(|at| [at.low, at.high]).collect();
        // NaNs are last, so they are found there.
        indices.extend((!only && code.is_float()).then_some(n - 1));
        let mut found = vec![B::ZERO; indices.len()];
        let report = ascending.nth_of_numbers(keys, code, &indices, &mut found)?;
        let number = |bits| quantile::to_f64(bits, code);
        let has_nan = found.get(2 * q.len()).is_some_and(|&last| number(last).is_nan());
        for ((value, at), ends) in values.iter_mut().zip(positions).zip(found.chunks_exact(2)) {
            *value = if has_nan { f64::NAN } else { at.between(number(ends[0]), number(ends[1])) };
        }
        Ok(report)
    }

    fn find_nth<K: Key>(&self, keys: &[K], indices: &[usize]) -> Result<(Vec<usize>, Report), Error> {
        if const { K::FORM.is_number() } {
            return self.find_nth_of_numbers(key::as_bits(keys), K::FORM.code(), indices);
        }
        let (form, beside) = (KeyForm::of::<K>(), Beside::Indices { stable: true });
        self.find(form, beside, keys.len(), indices, |sorted, job| {
            cpu::select::of_keys(keys, self.choices.order, sorted, job)
        })
    }

    fn find_nth_of_numbers<B: Sorts>(
        &self,
        keys: &[B],
        code: Code,
        indices: &[usize],
    ) -> Result<(Vec<usize>, Report), Error> {
        let transform = Transform::comparing(code, self.choices.order);
        let beside = Beside::Indices { stable: true };
        self.find(form::<B>(code), beside, keys.len(), indices, |sorted, job| {
            B::arg_nth(keys, transform, sorted, job)
        })
    }

    /// What `find` returns for these indices of `n` keys. It gets each once, ascending.
    fn find<T: Copy + Send>(
        &self,
        form: KeyForm,
        beside: Beside,
        n: usize,
        indices: &[usize],
        find: impl FnOnce(&[usize], &Job) -> Result<(Vec<T>, Report), Error> + Send,
    ) -> Result<(Vec<T>, Report), Error> {
        let sorted = distinct(n, indices)?;
        let request = self.request(Operation::Nth { count: pairs(&sorted).count() }, form, beside, n);
        let mut found = Vec::new();
        let report = self.run_on_cpu(request, |job| {
            let (all, report) = find(&sorted, job)?;
            found = all;
            Ok(report)
        })?;
        let at = |index| sorted.binary_search(index).expect("all are among the distinct ones");
        Ok((indices.iter().map(|index| found[at(index)]).collect(), report))
    }
}

/// Each of these indices of `n` keys once, ascending.
fn distinct(n: usize, indices: &[usize]) -> Result<Vec<usize>, Error> {
    let mut distinct = indices.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    match distinct.last() {
        Some(&last) if last >= n => Err(Error::Unsupported(format!(
            "there are {n} keys, so there is none at index {last} of their order; ask for less than {n}"
        ))),
        _ => Ok(distinct),
    }
}
