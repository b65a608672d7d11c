//! Sorting by a comparison, for what has no code: std's sort, or rayon's where there are threads.

use std::cmp::Ordering;

use rayon::slice::ParallelSliceMut;

use super::Job;
use crate::ways::CpuWay;
use crate::{Error, Report};

/// Sorts by `compare`; stable unless the job says otherwise.
pub(crate) fn sort<T: Send>(
    v: &mut [T],
    compare: impl Fn(&T, &T) -> Ordering + Sync,
    job: &Job,
) -> Result<Report, Error> {
    let bytes = size_of_val(v);
    let (stable, mut report) = check(bytes, job)?;
    report.phase("finish", bytes, bytes, || match (stable, job.budget.threads > 1) {
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
    let stable = match job.way {
        CpuWay::Distribute => job.stable,
        CpuWay::Quicksort => false,
        CpuWay::Merge => true,
    };
    let mut report = Report::default();
    let scratch = if stable { scratch(bytes as u64, job.budget.threads) as usize } else { 0 };
    job.budget.scratch(scratch, "ask for an unstable sort, which needs none", &mut report)?;
    Ok((stable, report))
}

/// Bytes of which std's stable sort takes a whole copy.
const COPIED_WHOLE: u64 = 8_000_000;

/// Scratch of a stable sort of so many bytes: rayon's takes a copy, std's half of one, but a whole one of little.
pub(crate) fn scratch(bytes: u64, threads: usize) -> u64 {
    if threads > 1 { bytes } else { (bytes / 2).max(bytes.min(COPIED_WHOLE)) }
}
