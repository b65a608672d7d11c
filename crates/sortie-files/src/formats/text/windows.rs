//! Merges runs of lines with all threads, one window at a time.
//!
//! A window has the lines of all runs up to a bound (`crate::merge::windows`). It is cut at some of its lines into pieces, and
//! each thread merges one piece. Meanwhile the window before is written and the next one is read.

use std::cmp::Ordering;
use std::ops::Range;

use rayon::prelude::*;

use super::LineSort;
use super::merge::Slice;
use crate::memory::append;
use crate::merge::merge_cursors;
use crate::merge::windows::{self, Cut, Windows, end};
use crate::relay::{relay, runners};
use crate::run::Part;
use crate::{Error, Sink};

/// The bytes that one thread merges at a time. A piece and its result fit in the cache of a core.
const PIECE: usize = 256 << 10;
/// The minimum memory for each run.
const LEAST: u64 = 16 << 10;

/// Merges runs with `budget` bytes of memory. The runs must be in the order in which their lines were read.
pub fn merge(runs: Vec<Part>, budget: u64, job: &LineSort<'_>, sink: Sink<'_>) -> Result<(), Error> {
    let runners = runners(budget);
    let share = share(budget, runs.len()) as usize;
    let windows = Windows::new(job, runs, share)?;
    relay(runners, windows, (sink, None), |window: &mut Window, turn| {
        let ended = turn.feed().next(&mut window.lines)?;
        turn.sort(ended);
        window.merge(job)?;
        let Some((sink, last)) = turn.write() else { return Ok(()) };
        window.write(job, last, *sink)
    })
    .map(|_| ())
}

/// The bytes of memory for a buffer of each of `runs` runs. A longer line takes more.
pub fn share(budget: u64, runs: usize) -> u64 {
    // A runner holds a window and the merged result.
    (budget / (1 + 2 * runners(budget) as u64) / runs as u64).max(LEAST)
}

/// An item is a line with its terminator.
impl Cut for LineSort<'_> {
    fn whole(&self, bytes: &[u8]) -> usize {
        memchr::memrchr(self.terminator, bytes).map_or(0, |at| at + 1)
    }

    fn at(&self, lines: &[u8], byte: usize) -> Range<usize> {
        let start = self.whole(&lines[..byte]);
        let length = memchr::memchr(self.terminator, &lines[start..]).expect("every line is ended");
        start..start + length + 1
    }

    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        self.order.compare(without_end(a), without_end(b))
    }
}

fn without_end(line: &[u8]) -> &[u8] {
    &line[..line.len() - 1]
}

/// The lines that a runner merges.
#[derive(Default)]
struct Window {
    lines: windows::Window,
    /// The merged pieces, in order.
    pieces: Vec<Vec<u8>>,
}

impl Window {
    fn merge(&mut self, job: &LineSort<'_>) -> Result<(), Error> {
        let runs = self.lines.runs();
        let cuts = cuts(&runs, self.lines.items.filled().len().div_ceil(PIECE), job);
        self.pieces.resize_with(cuts.len() - 1, Vec::new);
        let merge = |(cut, piece): (&[Vec<usize>], &mut Vec<u8>)| {
            let ranges = runs.iter().zip(cut[0].iter().zip(&cut[1]));
            merge_piece(ranges.map(|(run, (&start, &end))| &run[start..end]).collect(), piece, job)
        };
        cuts.par_windows(2).zip(&mut self.pieces).try_for_each(merge)
    }

    /// Writes the merged pieces. `last` is the last line written before them; it is updated to their last line.
    fn write(&self, job: &LineSort<'_>, last: &mut Option<Vec<u8>>, sink: Sink<'_>) -> Result<(), Error> {
        let mut pieces = self.pieces.iter().map(|piece| &piece[..]).filter(|piece| !piece.is_empty());
        if !job.order.unique() {
            return pieces.try_for_each(sink);
        }
        for piece in pieces {
            let end = memchr::memchr(job.terminator, piece).expect("a piece has a line");
            let is_known =
                last.as_ref().is_some_and(|last| job.order.compare_keys(last, &piece[..end]).is_eq());
            sink(&piece[if is_known { end + 1 } else { 0 }..])?;
            let last = last.get_or_insert_default();
            last.clear();
            append(last, without_end(&piece[job.at(piece, piece.len() - 1)]))?;
        }
        Ok(())
    }
}

/// Cuts the runs into about `pieces` pieces. Each entry of the result has a position in every run: the start of a piece, or
/// for the last entry the ends of the runs. The cuts are at lines that divide the longest run evenly. Long lines give fewer
/// pieces.
fn cuts(runs: &[&[u8]], pieces: usize, job: &LineSort<'_>) -> Vec<Vec<usize>> {
    let longest = *runs.iter().max_by_key(|run| run.len()).expect("there is a run");
    let mut firsts: Vec<&[u8]> = Vec::new();
    let mut start = 0;
    for place in 1..pieces {
        let wanted = (longest.len() as u64 * place as u64 / pieces as u64) as usize;
        // This position is inside a long line, at whose end a piece already starts.
        if wanted < start {
            continue;
        }
        start = job.at(longest, wanted).end;
        if start == longest.len() {
            break;
        }
        firsts.push(&longest[start..][job.at(&longest[start..], 0)]);
    }
    let begin = |first: &&[u8]| -> Vec<usize> {
        let is_before = |line: &[u8]| job.compare(line, first).is_lt();
        runs.iter().map(|run| end(job, run, is_before)).collect()
    };
    let mut cuts = vec![vec![0; runs.len()]];
    cuts.par_extend(firsts.par_iter().map(begin));
    cuts.push(runs.iter().map(|run| run.len()).collect());
    cuts
}

fn merge_piece(runs: Vec<&[u8]>, piece: &mut Vec<u8>, job: &LineSort<'_>) -> Result<(), Error> {
    piece.clear();
    let bytes: usize = runs.iter().map(|run| run.len()).sum();
    // Frees the large buffer that an uneven window left here, so that it does not add to the buffers of the next
    // window. Shrinking it instead could fail for lack of memory, which would end the program.
    if piece.capacity() > bytes.max(PIECE) {
        *piece = Vec::new();
    }
    piece.try_reserve_exact(bytes).map_err(|_| Error::Memory(bytes as u64))?;
    merge_cursors(runs.into_iter().map(|run| Slice::new(run, job)), job, |line| {
        // The reserved memory suffices for all lines.
        piece.extend_from_slice(line);
        piece.push(job.terminator);
        Ok(true)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ledger;
    use crate::formats::text::order::{LineOrder, TextOrder};

    fn cuts_of(runs: &[&[u8]], pieces: usize) -> Vec<Vec<usize>> {
        let (order, ledger) = (LineOrder::new(&TextOrder::default()).unwrap(), Ledger::default());
        cuts(runs, pieces, &LineSort::new(order, &|_| Ok(1), &ledger))
    }

    /// A long line used to be cut once for each byte, and each cut scanned the whole line.
    #[test]
    fn a_long_line_is_in_one_piece() {
        let long = [vec![b'x'; 1 << 20], vec![b'\n']].concat();
        assert_eq!(cuts_of(&[&long], 64), [[0], [long.len()]]);
        let before = [b"a\nb\n", &long[..]].concat();
        assert_eq!(cuts_of(&[&before, b"c\n"], 64), [[0, 0], [before.len(), 2]]);
        let after = [&long[..], b"y\nz\n"].concat();
        assert_eq!(cuts_of(&[&after], 64), [[0], [long.len()], [after.len()]]);
    }

    #[test]
    fn pieces_begin_with_lines_of_the_longest_run() {
        let runs: [&[u8]; 3] = [b"a\nb\nb\nc\nd\n", b"", b"b\nz\n"];
        assert_eq!(cuts_of(&runs, 2), [[0, 0, 0], [6, 0, 2], [10, 0, 4]]);
        assert_eq!(cuts_of(&[b""], 0), [[0], [0]]);
    }
}
