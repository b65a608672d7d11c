//! Merging runs of lines by all threads, a window over all runs after the other.
//!
//! A window is what all runs hold up to a bound: the last line that was read of one of them, so that nothing that is read
//! later comes before it. It is cut into pieces at some of its lines, and each piece is merged by one thread. Meanwhile the
//! window before is written, and the next one is read.

use rayon::prelude::*;

use super::LineSort;
use super::merge::{Slice, merge_cursors};
use crate::external::{Content, Part, Sink, Stretch, ends, relay, runners};
use crate::failure::Failure;
use crate::memory::append;
use crate::order::LineOrder;

/// What one thread merges at a time, in bytes: it and what comes of it fit the cache of a core.
const PIECE: usize = 256 << 10;
/// The least memory of a run.
const LEAST: u64 = 16 << 10;

/// Merges runs, which lie in the order in which their lines were read, within `budget` bytes.
pub fn merge(parts: Vec<Part>, budget: u64, job: &LineSort, sink: Sink<'_>) -> Result<(), Failure> {
    let runners = runners(budget);
    // A runner holds a window, and what comes of it.
    let share = budget / (1 + 2 * runners as u64) / parts.len() as u64;
    let open = |part: Part| Source::new(part.open()?, job.terminator, share.max(LEAST) as usize);
    let windows = Windows { sources: parts.into_iter().map(open).collect::<Result<_, _>>()?, job };
    relay(runners, windows, (sink, None), |window: &mut Window, turn| {
        let ended = turn.feed().next(window)?;
        turn.sort(ended);
        window.merge(job)?;
        let Some((sink, last)) = turn.write() else { return Ok(()) };
        window.write(job, last, *sink)
    })
    .map(|_| ())
}

struct Windows<'a> {
    sources: Vec<Source>,
    job: &'a LineSort,
}

impl Windows<'_> {
    /// Puts the next window into `window`; true where it was the last.
    fn next(&mut self, window: &mut Window) -> Result<bool, Failure> {
        self.sources.iter_mut().try_for_each(Source::load)?;
        let ends = ends(&self.sources, |a, b| self.job.order.compare(a, b));
        window.text.clear();
        window.ends.clear();
        for (source, end) in self.sources.iter_mut().zip(ends) {
            append(&mut window.text, &source.read[source.taken..end])?;
            window.ends.push(window.text.len());
            source.taken = end;
        }
        Ok(self.sources.iter().all(|source| source.ended && source.lines().is_empty()))
    }
}

/// A run, a part of which is in memory.
struct Source {
    content: Content,
    terminator: u8,
    /// As much as may be in memory; from `taken` to `filled` it is what was read and not yet taken, up to `whole` in whole
    /// lines.
    read: Vec<u8>,
    taken: usize,
    whole: usize,
    filled: usize,
    ended: bool,
}

impl Source {
    fn new(content: Content, terminator: u8, share: usize) -> Result<Source, Failure> {
        // Its pages are taken as it is filled: a run may be shorter.
        let read = bytemuck::try_zeroed_vec(share).map_err(|()| Failure::Memory(share as u64))?;
        Ok(Source { content, terminator, read, taken: 0, whole: 0, filled: 0, ended: false })
    }

    /// Reads as much as there is room for, and a line at least where there is one.
    fn load(&mut self) -> Result<(), Failure> {
        self.read.copy_within(self.taken..self.filled, 0);
        (self.taken, self.filled) = (0, self.filled - self.taken);
        loop {
            self.fill()?;
            self.whole = memchr::memrchr(self.terminator, &self.read[..self.filled]).map_or(0, |at| at + 1);
            if self.whole > 0 || self.ended {
                return Ok(());
            }
            // By a part only, since a line that needs this may be a good part of memory.
            let more = self.read.len() / 4;
            self.read.try_reserve_exact(more).map_err(|_| Failure::Memory((self.filled + more) as u64))?;
            self.read.resize(self.filled + more, 0);
        }
    }

    fn fill(&mut self) -> Result<(), Failure> {
        if !self.ended {
            let room = &mut self.read[self.filled..];
            let (wanted, read) = (room.len(), self.content.fill(room)?);
            self.filled += read;
            self.ended = read < wanted;
        }
        Ok(())
    }

    /// Whole lines that were not yet taken.
    fn lines(&self) -> &[u8] {
        &self.read[self.taken..self.whole]
    }
}

impl Stretch for Source {
    fn goes_on(&self) -> bool {
        !self.ended
    }

    fn last(&self) -> &[u8] {
        last_line(self.lines(), self.terminator)
    }

    fn end(&self, is_in: impl Fn(&[u8]) -> bool) -> usize {
        self.taken + end(self.lines(), self.terminator, is_in)
    }

    fn whole(&self) -> usize {
        self.whole
    }
}

/// What a runner merges.
#[derive(Default)]
struct Window {
    /// Lines of one run after the other, and where those of each end.
    text: Vec<u8>,
    ends: Vec<usize>,
    /// The pieces in order, each merged.
    pieces: Vec<Vec<u8>>,
}

impl Window {
    fn merge(&mut self, job: &LineSort) -> Result<(), Failure> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let runs: Vec<&[u8]> = starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end]).collect();
        let cuts = cuts(&runs, self.text.len().div_ceil(PIECE), &job.order, job.terminator);
        self.pieces.resize_with(cuts.len() - 1, Vec::new);
        let merge = |(cut, piece): (&[Vec<usize>], &mut Vec<u8>)| {
            let ranges = runs.iter().zip(cut[0].iter().zip(&cut[1]));
            merge_piece(ranges.map(|(run, (&start, &end))| &run[start..end]).collect(), piece, job)
        };
        cuts.par_windows(2).zip(&mut self.pieces).try_for_each(merge)
    }

    /// Writes what was merged. `last` is the line that was written before it, and then its own last one.
    fn write(&self, job: &LineSort, last: &mut Option<Vec<u8>>, sink: Sink<'_>) -> Result<(), Failure> {
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
            append(last, last_line(piece, job.terminator))?;
        }
        Ok(())
    }
}

/// Where about so many pieces begin in each run, and the last one ends: with one of the lines that cut the longest run evenly.
/// Fewer where lines are long.
fn cuts(runs: &[&[u8]], pieces: usize, order: &LineOrder, terminator: u8) -> Vec<Vec<usize>> {
    let longest = *runs.iter().max_by_key(|run| run.len()).expect("there is a run");
    let mut firsts: Vec<&[u8]> = Vec::new();
    let mut start = 0;
    for place in 1..pieces {
        let wanted = (longest.len() as u64 * place as u64 / pieces as u64) as usize;
        // In a line at whose end a piece begins already, a long one.
        if wanted < start {
            continue;
        }
        start = wanted + memchr::memchr(terminator, &longest[wanted..]).expect("every line is ended") + 1;
        if start == longest.len() {
            break;
        }
        firsts.push(line_at(&longest[start..], 0, terminator).1);
    }
    let begin = |first: &&[u8]| -> Vec<usize> {
        let is_before = |line: &[u8]| order.compare(line, first).is_lt();
        runs.iter().map(|run| end(run, terminator, is_before)).collect()
    };
    let mut cuts = vec![vec![0; runs.len()]];
    cuts.par_extend(firsts.par_iter().map(begin));
    cuts.push(runs.iter().map(|run| run.len()).collect());
    cuts
}

/// Where the lines end of which `is_in` is true; it is of the first ones alone.
fn end(lines: &[u8], terminator: u8, is_in: impl Fn(&[u8]) -> bool) -> usize {
    let (mut from, mut to) = (0, lines.len());
    while from < to {
        let (start, line) = line_at(&lines[from..to], (to - from) / 2, terminator);
        if is_in(line) { from += start + line.len() + 1 } else { to = from + start }
    }
    from
}

/// The line that a byte belongs to, and where it starts.
fn line_at(lines: &[u8], byte: usize, terminator: u8) -> (usize, &[u8]) {
    let start = memchr::memrchr(terminator, &lines[..byte]).map_or(0, |at| at + 1);
    let length = memchr::memchr(terminator, &lines[start..]).expect("every line is ended");
    (start, &lines[start..start + length])
}

fn last_line(lines: &[u8], terminator: u8) -> &[u8] {
    line_at(lines, lines.len() - 1, terminator).1
}

fn merge_piece(runs: Vec<&[u8]>, piece: &mut Vec<u8>, job: &LineSort) -> Result<(), Failure> {
    piece.clear();
    let bytes: usize = runs.iter().map(|run| run.len()).sum();
    // What an uneven window has left here is not held beside what the next one makes elsewhere. To shrink it would end the
    // program where there is no room for the smaller one.
    if piece.capacity() > bytes.max(PIECE) {
        *piece = Vec::new();
    }
    piece.try_reserve_exact(bytes).map_err(|_| Failure::Memory(bytes as u64))?;
    merge_cursors(runs.into_iter().map(|run| Slice::new(run, job)), job, |line| {
        // There is room for all of them.
        piece.extend_from_slice(line);
        piece.push(job.terminator);
        Ok(true)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::LinesJob;

    fn cuts_of(runs: &[&[u8]], pieces: usize) -> Vec<Vec<usize>> {
        cuts(runs, pieces, &LineOrder::new(&LinesJob::default()).unwrap(), b'\n')
    }

    /// A line was once cut as often as it is long, each time with a look at all of it.
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
