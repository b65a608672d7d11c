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
    let stable = match (job.algorithm, job.stable) {
        (Algorithm::Radix, _) => {
            return Err(Error::Unsupported(
                "radix sort needs keys of fixed width; these are compared".into(),
            ));
        }
        (Algorithm::Quicksort, true) => return Err(super::unstable_only("quicksort")),
        (Algorithm::Quicksort, false) => false,
        (Algorithm::Merge, _) => true,
        (Algorithm::Auto, stable) => stable,
    };
    let mut report = Report::default();
    let bytes = size_of_val(v);
    if stable {
        // Both sorts take up to half a copy, rayon's a whole one.
        let scratch = if job.threads > 1 { bytes } else { bytes / 2 };
        job.scratch(scratch, "ask for an unstable sort, which needs none")?;
        report.hold(scratch);
    }
    report.phase("finish", bytes, bytes, || match (stable, job.threads > 1) {
        (true, true) => v.par_sort_by(compare),
        (true, false) => v.sort_by(compare),
        (false, true) => v.par_sort_unstable_by(compare),
        (false, false) => v.sort_unstable_by(compare),
    });
    Ok(report)
}
