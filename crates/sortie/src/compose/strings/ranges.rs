//! Sorts strings for which there is too little memory at once. The CPU splits them into ranges, and each range is
//! sorted separately.
//!
//! A sample gives the splitters. Strings equal to a splitter have a range of their own, which needs no sort. So every
//! range has fewer strings than all, whatever the strings are, and can be split again.

use std::ops::Range;

use rayon::prelude::*;

use super::at_once;
use crate::compose::tuning::{MOST_STRING_RANGES, SPLITTER_SAMPLE};
use crate::cpu::prefetch::ahead;
use crate::gpu::{Allowed, Gpu};
use crate::parallel::{self, ITEMS_A_TASK};
use crate::scratch::reserve;
use crate::{Bound, Error, Index, Order, Report};

/// The number of stretches for each thread, enough to balance the threads.
const STRETCHES_A_THREAD: usize = 4;

const HINT: &str =
    "sorting strings in ranges takes about 10 bytes per string, and more for the strings of one range";

/// Writes the sorting indices of strings whose sort at once was refused. Stable.
pub(super) fn argsort<S: Sync, I: Index>(
    gpu: &Gpu,
    strings: &[S],
    string: impl Fn(&S) -> &[u8] + Sync,
    order: Order,
    indices: &mut [I],
    allowed: Allowed,
    refused: Error,
) -> Result<Report, Error> {
    if strings.len() < 2 {
        indices.fill(I::from_usize(0));
        return Ok(Report::default());
    }
    let (mut report, mut ranges) = split(strings, &string, refused, order, indices, allowed, 0)?;
    while let Some(range) = ranges.pop() {
        let own = &mut indices[range.clone()];
        let mut members: Vec<(I, &S)> = reserve(own.len())?;
        let member = |&index: &I| (index, &strings[index.to_usize()]);
        parallel::collect_into(&mut members, allowed.threads, own, member);
        let held = size_of_val(&*members);
        let memory_limit = allowed.memory_limit.saturating_sub(held as u64);
        let rest = Allowed { memory_limit, ..allowed };
        let done = match at_once(gpu, &members, of_member(&string), order, own, rest) {
            Ok(report) => Report { scratch_peak: report.scratch_peak + held as u64, ..report },
            Err(refused @ Error::Memory { bound: Bound::Limit | Bound::Device, .. }) => {
                let (split, parts) = split(&members, of_member(&string), refused, order, own, allowed, held)?;
                ranges.extend(parts.into_iter().map(|part| range.start + part.start..range.start + part.end));
                split
            }
            Err(error) => return Err(error),
        };
        report.absorb(done);
        parallel::for_each(allowed.threads, own.chunks_mut(ITEMS_A_TASK), |part| {
            part.iter_mut().for_each(|index| *index = members[index.to_usize()].0);
        });
    }
    Ok(report)
}

/// The string of a pair of an index and a string.
fn of_member<'s, S: Sync + 's, I: Index>(
    string: &(impl Fn(&S) -> &[u8] + Sync),
) -> impl for<'a> Fn(&'a (I, &'s S)) -> &'a [u8] + Sync {
    move |(_, item)| string(item)
}

/// Ascending strings that divide all strings into about `ranges` ranges of similar size.
fn splitters<S>(strings: &[S], string: impl Fn(&S) -> &[u8], ranges: usize) -> Vec<&[u8]> {
    let sample = (ranges * SPLITTER_SAMPLE).min(strings.len());
    let mut sampled: Vec<&[u8]> = (0..sample)
        .map(|i| string(&strings[(i as u64 * strings.len() as u64 / sample as u64) as usize]))
        .collect();
    sampled.sort_unstable();
    let mut splitters: Vec<&[u8]> = (1..ranges).map(|i| sampled[i * sample / ranges]).collect();
    splitters.dedup();
    splitters
}

/// Writes the indices of the strings by range; within a range they keep their order. Returns the ranges that have to be
/// sorted. They may be small enough for the memory, or may have to be split again.
fn split<S: Sync, I: Index>(
    strings: &[S],
    string: impl Fn(&S) -> &[u8] + Sync,
    refused: Error,
    order: Order,
    indices: &mut [I],
    allowed: Allowed,
    held: usize,
) -> Result<(Report, Vec<Range<usize>>), Error> {
    let Error::Memory { needed, available, .. } = refused else { return Err(refused) };
    let (n, threads) = (strings.len(), allowed.threads);
    let parts = needed.div_ceil(available.max(1)).saturating_mul(2).clamp(4, MOST_STRING_RANGES) as usize;
    let each = n.div_ceil(STRETCHES_A_THREAD * threads);
    let (stretches, most_classes) = (n.div_ceil(each), 2 * parts);
    let table = stretches * most_classes * (size_of::<usize>() + size_of::<(&mut [I], &[I])>());
    let sample = parts * SPLITTER_SAMPLE * size_of::<&[u8]>();
    let scratch = n * (size_of::<u16>() + size_of::<I>()) + table + sample;
    let all_held = (held + scratch) as u64;
    if all_held > allowed.memory_limit {
        let available = allowed.memory_limit;
        return Err(Error::Memory { bound: Bound::Limit, needed: all_held, available, hint: HINT });
    }
    let mut report = Report { scratch_peak: all_held, ..Report::default() };
    let classes = Classes::new(splitters(strings, &string, parts));

    // For each stretch of the strings: the indices by class, and the end of each class among them.
    let classify = |(stretch, strings): (usize, &[S])| {
        let of: Vec<u16> = ahead(strings, &string).map(|item| classes.of(string(item))).collect();
        let mut ends = vec![0; classes.count()];
        of.iter().for_each(|&class| ends[usize::from(class)] += 1);
        let mut taken = 0;
        // These are the starts of the classes until the classes are filled.
        for end in &mut ends {
            taken += std::mem::replace(end, taken);
        }
        let mut by_class = vec![I::default(); of.len()];
        for (class, index) in of.into_iter().zip(stretch * each..) {
            let end = &mut ends[usize::from(class)];
            by_class[*end] = I::from_usize(index);
            *end += 1;
        }
        (by_class, ends)
    };
    let (read, written) = (size_of_val(strings), size_of_val(indices));
    let stretches: Vec<(Vec<I>, Vec<usize>)> = report.phase("classify", read, written, || {
        parallel::map(threads, strings.chunks(each).enumerate(), classify)
    });

    let (mut left, mut taken, mut ranges) = (indices, 0, Vec::new());
    let mut copies = Vec::with_capacity(classes.count() * stretches.len());
    for class in 0..classes.count() {
        // In both directions, the first class is that of strings before (or after) all splitters.
        let class = if order.descending { classes.count() - 1 - class } else { class };
        let start = taken;
        for (by_class, ends) in &stretches {
            let own = &by_class[if class == 0 { 0 } else { ends[class - 1] }..ends[class]];
            copies.push((left.split_off_mut(..own.len()).expect("every string has a class"), own));
            taken += own.len();
        }
        if class % 2 == 0 && taken - start > 1 {
            ranges.push(start..taken);
        }
    }
    let copy = |(to, own): (&mut [I], &[I])| to.copy_from_slice(own);
    // `parallel::for_each` would hold another table of this size.
    report.phase("split", written, written, || match threads {
        1 => copies.into_iter().for_each(copy),
        _ => copies.into_par_iter().for_each(copy),
    });
    // No range has all strings, if the caller's `as_ref` always returns the same bytes.
    if ranges.iter().any(|range| range.len() == n) { Err(refused) } else { Ok((report, ranges)) }
}

/// Classifies strings by the splitters.
struct Classes<'s> {
    splitters: Vec<&'s [u8]>,
    /// The first bytes of the splitters, as words.
    words: Vec<u64>,
}

impl<'s> Classes<'s> {
    fn new(splitters: Vec<&'s [u8]>) -> Self {
        let words = splitters.iter().map(|splitter| first_word(splitter)).collect();
        Classes { splitters, words }
    }

    fn count(&self) -> usize {
        2 * self.splitters.len() + 1
    }

    /// Twice the number of splitters below a string, plus one if it equals the next splitter.
    fn of(&self, string: &[u8]) -> u16 {
        let word = first_word(string);
        let mut below = self.words.partition_point(|&splitter| splitter < word);
        while self.words.get(below) == Some(&word) && self.splitters[below] < string {
            below += 1;
        }
        2 * below as u16 + u16::from(self.splitters.get(below) == Some(&string))
    }
}

/// The first bytes of a string as a number. Strings with different words are in the order of their words.
fn first_word(string: &[u8]) -> u64 {
    let mut word = [0; 8];
    let count = string.len().min(8);
    word[..count].copy_from_slice(&string[..count]);
    u64::from_be_bytes(word)
}

#[cfg(test)]
mod tests {
    use sortie_simt::Options;

    use super::super::argsort_strings;
    use super::*;
    use crate::gpu::on_bench::{ALLOWED, on_bench, on_bench_of};

    fn sets(n: u32) -> Vec<(&'static str, Vec<Vec<u8>>)> {
        let digits = |i: u32| i.wrapping_mul(0x9E37_79B9).to_string().into_bytes();
        vec![
            ("digits", (0..n).map(digits).collect()),
            ("prefixed", (0..n).map(|i| [b"https://example.org/".to_vec(), digits(i)].concat()).collect()),
            ("few", (0..n).map(|i| [vec![b'x'; 30], digits(i % 5)].concat()).collect()),
            ("equal", vec![b"the same again and again".to_vec(); n as usize]),
            ("lengths", (0..n).map(|i| vec![b'a'; (i * 7 % 90) as usize]).collect()),
        ]
    }

    fn assert_sorted<I: Index + PartialEq>(strings: &[Vec<u8>], indices: &[I], descending: bool, what: &str) {
        let mut expected: Vec<usize> = (0..strings.len()).collect();
        expected.sort_by(|&a, &b| {
            let ordering = strings[a].cmp(&strings[b]);
            if descending { ordering.reverse() } else { ordering }
        });
        assert!(
            indices.iter().map(|index| index.to_usize()).eq(expected),
            "{what}, descending: {descending}"
        );
    }

    /// Words and indices of 40,000 strings take 480 KB.
    #[test]
    fn more_than_the_device_has_room_for() {
        on_bench_of(Options { memory: 1 << 19, ..Options::default() }, |gpu| {
            for (what, strings) in sets(40_000) {
                for descending in [false, true] {
                    let order = Order { descending, ..Order::default() };
                    let mut indices = vec![0u32; strings.len()];
                    let report =
                        argsort_strings(gpu, &strings, |string| string, order, &mut indices, ALLOWED)
                            .unwrap();
                    assert_sorted(&strings, &indices, descending, what);
                    assert!(report.phases.iter().any(|phase| phase.name == "classify"), "{what}: {report}");
                }
            }
        });
    }

    #[test]
    fn classes_are_told_by_all_bytes() {
        let classes =
            Classes::new(vec![b"", b"a", b"a\0", b"a prefix of more: m", b"a prefix of more: z", b"b"]);
        for (string, class) in [
            (&b""[..], 1),
            (b"\0", 2),
            (b"a", 3),
            (b"a\0", 5),
            (b"a\0\0", 6),
            (b"a prefix of more", 6),
            (b"a prefix of more: m", 7),
            (b"a prefix of more: n", 8),
            (b"a prefix of more: zz", 10),
            (b"b", 11),
            (b"c", 12),
        ] {
            assert_eq!(classes.of(string), class, "{string:?}");
        }
    }

    #[test]
    fn a_limit_of_a_fraction_is_kept() {
        on_bench(|gpu| {
            for (what, strings) in sets(6000) {
                let sort = |memory_limit| {
                    let (mut indices, order) = (vec![0u64; strings.len()], Order::default());
                    let allowed = Allowed { memory_limit, ..ALLOWED };
                    argsort_strings(gpu, &strings, |string| string, order, &mut indices, allowed)
                        .inspect(|_| assert_sorted(&strings, &indices, false, what))
                };
                let whole = sort(u64::MAX).unwrap().scratch_peak;
                let limit = whole / 4;
                let peak = sort(limit).unwrap_or_else(|error| panic!("{what}: {error}")).scratch_peak;
                assert!(peak <= limit, "{what}: {peak} of {limit}");
                let none = &mut [0u32; 0];
                let nothing = Allowed { memory_limit: 0, ..ALLOWED };
                // Once, this failed because there was no string to use as a splitter.
                let empty =
                    argsort_strings(gpu, &strings[..0], |string| string, Order::default(), none, nothing);
                assert!(empty.is_ok());
                let refused = sort(1000).unwrap_err();
                assert!(matches!(refused, Error::Memory { bound: Bound::Limit, .. }), "{refused}");
            }
        });
    }
}
