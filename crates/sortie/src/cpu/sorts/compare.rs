//! Sorts items that have no code by a comparison: with std's sort, or with rayon's if there are several threads.

use std::cmp::Ordering;

use rayon::slice::ParallelSliceMut;

use crate::cpu::Job;
use crate::ways::CpuWay;
use crate::{Error, Report};

/// Sorts by `compare`. Stable unless the job says otherwise.
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

/// [`sort`] by the way [`CpuWay::Merge`]. A function of its own, so that no unstable sort is compiled for it.
pub(crate) fn merge<T: Send>(
    v: &mut [T],
    compare: impl Fn(&T, &T) -> Ordering + Sync,
    job: &Job,
) -> Result<Report, Error> {
    let bytes = size_of_val(v);
    let (_, mut report) = check(bytes, job)?;
    report.phase("finish", bytes, bytes, || {
        if job.budget.threads > 1 { v.par_sort_by(compare) } else { v.sort_by(compare) }
    });
    Ok(report)
}

/// Whether items are sorted stably, and a report with the scratch memory for `bytes` bytes of them; or an error if the job does
/// not allow that much.
pub(crate) fn check(bytes: usize, job: &Job) -> Result<(bool, Report), Error> {
    let stable = match job.way {
        CpuWay::Distribute | CpuWay::Select => job.stable,
        CpuWay::Quicksort => false,
        CpuWay::Merge => true,
    };
    let mut report = Report::default();
    let scratch = if stable { scratch(bytes as u64, job.budget.threads) as usize } else { 0 };
    job.budget.scratch(scratch, "choose an unstable sort, which needs none", &mut report)?;
    Ok((stable, report))
}

/// Up to this many bytes, std's stable sort copies all items.
const COPIED_WHOLE: u64 = 8_000_000;

/// Scratch memory of a stable sort of this many bytes. Rayon's takes a copy, std's takes half of one, or a whole one if there
/// are few items.
pub(crate) fn scratch(bytes: u64, threads: usize) -> u64 {
    if threads > 1 { bytes } else { (bytes / 2).max(bytes.min(COPIED_WHOLE)) }
}
