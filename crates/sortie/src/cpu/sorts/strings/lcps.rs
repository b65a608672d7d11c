//! The lengths of common prefixes of neighbours, as a by-product of sorting. For most strings, the words by which they
//! are ordered give these lengths, without reading the strings.
//!
//! A sort of items writes the lengths for all items but the first, whose neighbour is not among them.

use super::{Sort, Strings};
use crate::cpu::tuning::STRINGS_A_TASK;
use crate::parallel;
use crate::report::Work;
use crate::{Index, Report};

/// The number of bytes that a string shares with the one before. `()` if nobody asked for it: a slice of `()` takes no
/// memory, and the code for it is compiled away.
pub(crate) trait Lcp: Copy + Send {
    const ASKED: bool;
    fn of(bytes: usize) -> Self;
}

impl Lcp for () {
    const ASKED: bool = false;

    fn of(_: usize) {}
}

impl<I: Index> Lcp for I {
    const ASKED: bool = true;

    #[inline(always)]
    fn of(bytes: usize) -> I {
        I::from_usize(bytes)
    }
}

impl<F> Sort<'_, F> {
    /// Compares each item but the first with the one before. This is a separate phase, for sorts that do not give the
    /// lengths.
    pub(super) fn lcps_phase<P: Sync, L: Lcp>(
        &self,
        items: &[P],
        lcps: &mut [L],
        depth: usize,
        report: &mut Report,
    ) where
        F: Strings<P>,
    {
        if L::ASKED {
            let (read, written) = (size_of_val(items), size_of_val(lcps));
            report.phase_by_thread("lcps", self.job.budget.threads, read, written, |work| {
                self.compare_all_neighbours(items, lcps, depth, work);
            });
        }
    }

    /// Compares each item but the first with the one before, on all threads.
    fn compare_all_neighbours<P: Sync, L: Lcp>(&self, items: &[P], lcps: &mut [L], depth: usize, work: &Work)
    where
        F: Strings<P>,
    {
        let tasks = items.chunks(STRINGS_A_TASK).zip(lcps.chunks_mut(STRINGS_A_TASK));
        parallel::for_each(work.threads(), tasks, |(items, lcps)| {
            work.task(|| self.compare_neighbours(items, lcps, depth))
        });
        let firsts = (0..items.len()).step_by(STRINGS_A_TASK);
        work.task(|| self.compare_with_previous(items, lcps, firsts, depth));
    }

    /// Compares each item but the first with the one before.
    pub(super) fn compare_neighbours<P, L: Lcp>(&self, items: &[P], lcps: &mut [L], depth: usize)
    where
        F: Strings<P>,
    {
        self.compare_with_previous(items, lcps, 0..items.len(), depth);
    }

    /// Compares the items at these indices with the one before, except the first item of all.
    pub(super) fn compare_with_previous<P, L: Lcp>(
        &self,
        items: &[P],
        lcps: &mut [L],
        indices: impl Iterator<Item = usize>,
        depth: usize,
    ) where
        F: Strings<P>,
    {
        if L::ASKED {
            for i in indices.filter(|&i| i > 0) {
                let (before, item) = (self.rest(&items[i - 1], depth), self.rest(&items[i], depth));
                lcps[i] = L::of(depth + shared(before, item));
            }
        }
    }
}

/// The number of bytes at the start that two strings have in common.
pub(super) fn shared(a: &[u8], b: &[u8]) -> usize {
    let length = a.len().min(b.len());
    let (a, b) = (&a[..length], &b[..length]);
    if length < 8 {
        return ((first_eight(a) ^ first_eight(b)).leading_zeros() as usize / 8).min(length);
    }
    // Long prefixes are compared in chunks that the processor compares at once.
    let lines = 64 * equal_chunks::<64>(a, b);
    let eights = lines + 8 * equal_chunks::<8>(&a[lines..], &b[lines..]);
    // The chunk that differs, or the last eight bytes, which may overlap the chunk before.
    let at = eights.min(length - 8);
    at + (first_eight(&a[at..]) ^ first_eight(&b[at..])).leading_zeros() as usize / 8
}

/// The number of chunks of `N` bytes at the start that two strings have in common.
#[inline(always)]
fn equal_chunks<const N: usize>(a: &[u8], b: &[u8]) -> usize {
    a.as_chunks::<N>().0.iter().zip(b.as_chunks::<N>().0).take_while(|(a, b)| a == b).count()
}

/// The first eight bytes, the first one highest. Zeros follow the end.
#[inline(always)]
pub(super) fn first_eight(string: &[u8]) -> u64 {
    if let Some(eight) = string.first_chunk::<8>() {
        return u64::from_be_bytes(*eight);
    }
    let empty_bits = 64 - 8 * string.len() as u32;
    if let (Some(first), Some(last)) = (string.first_chunk::<4>(), string.last_chunk::<4>()) {
        return u64::from(u32::from_be_bytes(*first)) << 32
            | u64::from(u32::from_be_bytes(*last)) << empty_bits;
    }
    let [first, .., last] = string else {
        return string.first().map_or(0, |&byte| u64::from(byte) << 56);
    };
    let middle = u64::from(string[string.len() / 2]) << (56 - 8 * (string.len() / 2));
    u64::from(*first) << 56 | middle | u64::from(*last) << empty_bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_strings_share_is_what_their_bytes_share() {
        for length in 0..200 {
            let a: Vec<u8> = (0..length as u8).map(|byte| byte % 3).collect();
            assert_eq!(shared(&a, &a), length);
            for differs in 0..length {
                let mut b = a.clone();
                b[differs] = 7;
                assert_eq!(shared(&a, &b), differs);
                assert_eq!(shared(&a, &a[..differs]), differs);
            }
        }
    }
}
