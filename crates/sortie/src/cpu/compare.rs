//! Sorting by a comparison, for what has no code: std's sort, or rayon's where there are threads.

use std::cmp::Ordering;

use rayon::slice::ParallelSliceMut;

use super::Job;
use crate::{Algorithm, Error, Report};

/// Sorts by `compare`; stable unless the job says otherwise.
pub(crate) fn sort<T: Send>(
    v: &mut [T],
    compare: impl Fn(&T, &T) -> Ordering + Sync,
    job: &Job,
) -> Result<Report, Error> {
    let bytes = size_of_val(v);
    let (stable, mut report) = check(bytes, job)?;
    report.phase("finish", bytes, bytes, || match (stable, job.threads > 1) {
        (true, true) => v.par_sort_by(compare),
        (true, false) => v.sort_by(compare),
        (false, true) => v.par_sort_unstable_by(compare),
        (false, false) => v.sort_unstable_by(compare),
    });
    Ok(report)
}

/// Whether items of so many bytes are sorted stably, and a report with the scratch that this takes; or why the job
/// does not allow it.
pub(crate) fn check(bytes: usize, job: &Job) -> Result<(bool, Report), Error> {
    let stable = match (job.algorithm, job.stable) {
        (Algorithm::Radix, _) => {
            return Err(Error::Unsupported(
                "radix sort needs keys of fixed width; these are compared".into(),
            ));
        }
        (Algorithm::Bitonic | Algorithm::SampleSort, _) => {
            return Err(Error::Unsupported("this algorithm needs a GPU".into()));
        }
        (Algorithm::Quicksort, true) => return Err(super::unstable_only("quicksort")),
        (Algorithm::Quicksort, false) => false,
        (Algorithm::Merge, _) => true,
        (Algorithm::Auto, stable) => stable,
    };
    let mut report = Report::default();
    // Std's sort takes up to half a copy, rayon's a whole one.
    let scratch = match stable {
        true if job.threads > 1 => bytes,
        true => bytes / 2,
        false => 0,
    };
    job.scratch(scratch, "ask for an unstable sort, which needs none", &mut report)?;
    Ok((stable, report))
}
