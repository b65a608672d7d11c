//! How a [`Sorter`]'s calls for numbers reach an engine: as unsigned integers of their width, with the meaning of the bits.
//!
//! The methods of [`Sorter`] know the type at compile time, those of [`dynamic`](crate::dynamic) only at run time. Types of one
//! width share these functions, so that each engine's code is compiled once per width.

use super::{Sorter, SorterBuilder, payload_for};
use crate::cpu::sorts;
use crate::error::same_length;
use crate::key::{Bits, Code, Transform};
use crate::request::{Beside, KeyForm, Operation};
use crate::sorts::Sorts;
use crate::{Error, Index, Report, Segments, cpu, scratch};

impl Sorter {
    /// [`Sorter::sort`]; leaves a permutation, as the others here do.
    pub(crate) fn sort_numbers<B: Sorts>(&self, keys: &mut [B], code: Code) -> Result<Report, Error> {
        if self.sorts_at_once(keys.len()) {
            B::sort_few(keys, Transform::new(code, self.choices.order));
            return Ok(Report::default());
        }
        self.run(
            self.request(Operation::Array, form::<B>(code), Beside::Nothing, keys.len()),
            keys,
            |keys, on| self.keys_on_gpus(on, keys, code),
            |keys, job| B::sort(keys, Transform::new(code, self.choices.order), job),
        )
    }

    /// [`Sorter::sort_pairs`].
    pub(crate) fn sort_pairs_of_numbers<B: Sorts, V: Send>(
        &self,
        keys: &mut [B],
        code: Code,
        payload: &mut [V],
    ) -> Result<Report, Error> {
        let beside = payload_for(keys.len(), payload)?;
        if self.sorts_at_once(keys.len()) {
            cpu::few::sort_pairs(keys, payload, self.carrying(code));
            return Ok(Report::default());
        }
        self.run(
            self.request(Operation::Array, form::<B>(code), beside, keys.len()),
            &mut (keys, payload),
            |(keys, payload), on| self.pairs_on_gpus(on, keys, payload, code),
            |(keys, payload), job| sorts::sort_pairs(keys, payload, self.carrying(code), job),
        )
    }

    /// [`Sorter::argsort`]. `held` are bytes that the caller has taken from the memory limit.
    pub(crate) fn argsort_numbers<B: Sorts, I: Index>(
        &self,
        keys: &[B],
        code: Code,
        indices: &mut [I],
        held: usize,
    ) -> Result<Report, Error> {
        if self.sorts_at_once(keys.len()) {
            same_length("indices", keys.len(), indices.len())?;
            cpu::few::argsort(keys, indices, self.carrying(code));
            return Ok(Report::default());
        }
        self.run(
            self.argsort_request(form::<B>(code), keys.len(), indices, held)?,
            indices,
            |indices, on| self.argsort_on_gpus(on, keys, indices, code),
            |indices, job| B::argsort(keys, I::by_width(indices), self.carrying(code), job),
        )
    }

    /// [`Sorter::sort_segments`].
    pub(crate) fn sort_segments_of_numbers<B: Sorts>(
        &self,
        keys: &mut [B],
        code: Code,
        segments: Segments<'_>,
    ) -> Result<Report, Error> {
        self.run(
            self.segments_request(form::<B>(code), Beside::Nothing, keys.len(), segments)?,
            keys,
            |keys, on| self.segments_of_keys_on_gpu(on, keys, segments, code),
            |keys, job| B::sort_segments(keys, segments, Transform::new(code, self.choices.order), job),
        )
    }

    /// [`Sorter::sort_pairs_segments`].
    pub(crate) fn sort_pairs_segments_of_numbers<B: Sorts, V: Send>(
        &self,
        keys: &mut [B],
        code: Code,
        payload: &mut [V],
        segments: Segments<'_>,
    ) -> Result<Report, Error> {
        let beside = payload_for(keys.len(), payload)?;
        self.run(
            self.segments_request(form::<B>(code), beside, keys.len(), segments)?,
            &mut (keys, payload),
            |(keys, payload), on| self.segments_of_pairs_on_gpu(on, keys, payload, segments, code),
            |(keys, payload), job| {
                sorts::sort_pairs_segments(keys, payload, segments, self.carrying(code), job)
            },
        )
    }

    /// [`Sorter::argsort_segments`].
    pub(crate) fn argsort_segments_of_numbers<B: Sorts, I: Index>(
        &self,
        keys: &[B],
        code: Code,
        indices: &mut [I],
        segments: Segments<'_>,
    ) -> Result<Report, Error> {
        self.run(
            self.argsort_segments_request(form::<B>(code), keys.len(), indices, segments)?,
            indices,
            |indices, on| self.argsort_segments_on_gpu(on, keys, indices, segments, code),
            |indices, job| {
                B::argsort_segments(keys, I::by_width(indices), segments, self.carrying(code), job)
            },
        )
    }

    /// Sorts keys by what `sort` does with their indices. The indices then move the payload, of `each` bytes per key.
    pub(crate) fn sort_rows<B: Sorts>(
        &self,
        keys: &mut [B],
        payload: &mut [u8],
        each: usize,
        sort: impl FnOnce(&Sorter, &mut [B], &mut [usize]) -> Result<Report, Error>,
    ) -> Result<Report, Error> {
        let n = keys.len();
        same_length("bytes of the payload", n.saturating_mul(each), payload.len())?;
        let held = (n * size_of::<usize>()) as u64;
        let hint = "payloads of other than 4, 8 or 16 bytes are moved by their indices";
        let sorter = self.holding_for(hint, held)?;
        let mut indices: Vec<usize> = scratch::reserve(n)?;
        indices.extend(0..n);
        let sorted = sort(&sorter, keys, &mut indices);
        // Even after a failure: the keys that were sorted until then have their indices.
        cpu::permute_rows(payload, each, &mut indices);
        let mut report = sorted?;
        report.scratch_peak += held;
        Ok(report)
    }

    /// The codes for sorting keys with a payload or indices. If equal keys may come out in any order, NaNs may be told apart.
    pub(super) fn carrying<B: Bits>(&self, code: Code) -> Transform<B> {
        let SorterBuilder { order, unstable, .. } = self.choices;
        if unstable { Transform::new(code, order) } else { Transform::comparing(code, order) }
    }
}

pub(super) fn form<B>(code: Code) -> KeyForm {
    KeyForm::Number { bytes: size_of::<B>(), float: code.is_float() }
}
