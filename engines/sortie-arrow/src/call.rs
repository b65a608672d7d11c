//! [`Call`]: what one call of an [`ArrowSorter`](crate::ArrowSorter) sorts with, and what its sorts report.

use std::cell::RefCell;

use arrow_array::Array;
use arrow_schema::ArrowError;
use sortie::{Error, Index, Key, Report, Sorter};

/// The sorters of a call, one for each direction, and the report of the sorts so far.
pub(crate) struct Call {
    ascending: Sorter,
    descending: Sorter,
    report: RefCell<Report>,
}

impl Call {
    pub(crate) fn new(ascending: Sorter, descending: Sorter) -> Call {
        Call { ascending, descending, report: RefCell::default() }
    }

    /// The sorts in a direction.
    pub(crate) fn facing(&self, descending: bool) -> Sorts<'_> {
        Sorts { sorter: if descending { &self.descending } else { &self.ascending }, report: &self.report }
    }

    pub(crate) fn into_report(self) -> Report {
        self.report.into_inner()
    }
}

/// Sorts in one direction, whose reports are collected.
pub(crate) struct Sorts<'a> {
    sorter: &'a Sorter,
    report: &'a RefCell<Report>,
}

impl Sorts<'_> {
    pub(crate) fn sort<K: Key>(&self, keys: &mut [K]) -> Result<(), Error> {
        self.reported(self.sorter.sort(keys))
    }

    pub(crate) fn sort_pairs<K: Key>(&self, keys: &mut [K], indices: &mut [u32]) -> Result<(), Error> {
        self.reported(self.sorter.sort_pairs(keys, indices))
    }

    pub(crate) fn argsort<K: Key, I: Index>(&self, keys: &[K], indices: &mut [I]) -> Result<(), Error> {
        self.reported(self.sorter.argsort(keys, indices))
    }

    pub(crate) fn argsort_strings(&self, strings: &[&[u8]], indices: &mut [u32]) -> Result<(), Error> {
        self.reported(self.sorter.argsort_strings(strings, indices))
    }

    fn reported(&self, sorted: Result<Report, Error>) -> Result<(), Error> {
        sorted.map(|report| self.report.borrow_mut().absorb(report))
    }
}

/// An error of Sortie as one of Arrow.
pub(crate) fn failed(error: Error) -> ArrowError {
    match error {
        Error::Memory { .. } => ArrowError::MemoryError(error.to_string()),
        other => ArrowError::ExternalError(Box::new(other)),
    }
}

/// The number of rows, if 32 bits hold their indices.
pub(crate) fn rows(array: &dyn Array) -> Result<u32, ArrowError> {
    u32::try_from(array.len()).map_err(|_| {
        ArrowError::ComputeError(format!(
            "the indices of {} rows do not fit in 32 bits; sort the rows in parts",
            array.len()
        ))
    })
}
