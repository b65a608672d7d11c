//! All threads sort segments, each thread its own.

use std::ops::Range;

use crate::cpu::Job;
use crate::parallel::{self, ITEMS_A_TASK};
use crate::request::Budget;
use crate::{Error, Report, Segments};

/// Segments with `keys` keys in total, which take `bytes` bytes together with their payloads or indices.
pub(crate) struct Batch<'a> {
    pub segments: Segments<'a>,
    pub keys: usize,
    pub bytes: usize,
}

impl Batch<'_> {
    /// Calls `sort` for all segments. Segments with enough work for all threads are sorted one by one, the others in parallel.
    ///
    /// `sort` gets the numbers of consecutive segments, and leaves out those with at least as many keys as it is told. A segment takes
    /// `scratch(length)` bytes. Where the system refuses them, `sort` panics.
    pub(crate) fn each(
        &self,
        scratch: &dyn Fn(usize) -> usize,
        job: &Job,
        sort: &(dyn Fn(Range<usize>, usize, &Job) -> Report + Sync),
    ) -> Result<Report, Error> {
        let count = self.segments.count(self.keys);
        let lengths = || (0..count).map(|i| self.segments.range(i).len());
        let large = if job.budget.threads > 1 { self.keys / job.budget.threads + 1 } else { usize::MAX };
        let longest = lengths().filter(|&length| length < large).max().unwrap_or(0);
        let longest_of_all = lengths().max().unwrap_or(0);
        let mut report = Report::default();
        job.budget.scratch(
            scratch(longest_of_all).max(scratch(longest).saturating_mul(job.budget.threads)),
            "a stable sort of pairs needs a copy of the longest segment for each thread; use fewer threads",
            &mut report,
        )?;
        let job = Job { budget: Budget { memory: u64::MAX, ..job.budget }, ..*job };
        for i in (0..count).filter(|&i| self.segments.range(i).len() >= large) {
            report.absorb(sort(i..i + 1, usize::MAX, &job));
        }
        let alone = Job { budget: Budget { threads: 1, ..job.budget }, ..job };
        report.phase("finish", self.bytes, self.bytes, || {
            self.side_by_side(0..count, job.budget.threads, &|range| drop(sort(range, large, &alone)));
        });
        Ok(report)
    }

    /// Calls `work` for parts of a range of segments, of about the same number of keys if all segments have.
    pub(crate) fn side_by_side(
        &self,
        range: Range<usize>,
        threads: usize,
        work: &(dyn Fn(Range<usize>) + Sync),
    ) {
        let start = |i: usize| if i == 0 { 0 } else { self.segments.range(i - 1).end };
        if threads < 2 || range.len() <= 1 || start(range.end) - start(range.start) <= ITEMS_A_TASK / 4 {
            return work(range);
        }
        let middle = range.start + range.len() / 2;
        parallel::join(
            || self.side_by_side(range.start..middle, threads, work),
            || self.side_by_side(middle..range.end, threads, work),
        );
    }

    /// The keys of each segment of a range that has fewer than `large` keys.
    pub(crate) fn ranges(&self, range: Range<usize>, large: usize) -> impl Iterator<Item = Range<usize>> {
        range.map(|i| self.segments.range(i)).filter(move |keys| keys.len() < large)
    }
}
