//! The first lines of a sort, found without sorting the others.
//!
//! The threads take turns to read blocks of whole lines. Each of them keeps the lines of its blocks that may be among the first `count`:
//! when it has about twice as many, it selects the first `count`, and the last of these is its bound from then on. A line that does not
//! come before the bound is refused, usually by its first bytes. At the end, the lines that the threads have kept are sorted as any
//! other text. If they become too many for the memory, the sort takes over at once: it gets them and the rest of the input.

use std::sync::Mutex;
use std::time::Instant;

use rayon::prelude::*;
use sortie_formats::lines;

use super::LineSort;
use super::blocks::Blocks;
use super::external::Feed;
use super::order::{Code, LineOrder};
use crate::memory::{append, append_line, room};
use crate::{Error, Input, Sink, Task};

/// A thread makes its selection only from this many lines more than it needs.
const LEAST_MORE: usize = 64;
/// The part of the memory, divided among the threads, that the lines kept may take. A block of empty lines may add some 60 times its size
/// to them.
const KEPT: u64 = 4;

impl LineSort<'_> {
    /// Writes the first `count` lines into `sink` that a sort of all inputs would write. `size` is the number of bytes of the inputs, if
    /// it is known.
    pub fn top_inputs(
        &self,
        count: u64,
        inputs: Vec<Input>,
        size: Option<u64>,
        task: &Task<'_>,
        sink: Sink<'_>,
    ) -> Result<(), Error> {
        if count == 0 {
            return Ok(());
        }
        self.start_threads(size)?;
        self.ledger.progress.stage("selecting", size.unwrap_or(0));
        let start = Instant::now();
        let threads = self.readers();
        let blocks = Mutex::new(Blocks::new(inputs, size, self));
        let share = self.budget / (KEPT * threads as u64);
        let select = |_| {
            let mut kept = Candidates::new(count.try_into().unwrap_or(usize::MAX), share as usize, self);
            kept.take(&blocks, self)?;
            Ok(kept)
        };
        let kept = if threads == 1 {
            vec![select(0)?]
        } else {
            (0..threads).into_par_iter().map(select).collect::<Result<_, Error>>()?
        };
        let blocks = blocks.into_inner().expect("no thread panicked");
        let handed_out = blocks.handed_out();
        let (rest, inputs) = blocks.into_rest();
        let mut text = in_input_order(kept, self.terminator)?;
        append(&mut text, &rest)?;
        self.ledger.note("select", start.elapsed(), handed_out as usize, text.len());
        let mut left = count;
        task.sort(self, Feed::after(text, inputs), None, &mut |text| {
            sink(first_lines(text, &mut left, self.terminator))
        })
    }
}

/// What of `text` is within the next `left` lines. Takes its lines from them.
fn first_lines<'t>(text: &'t [u8], left: &mut u64, terminator: u8) -> &'t [u8] {
    let mut end = 0;
    for at in memchr::memchr_iter(terminator, text).take(usize::try_from(*left).unwrap_or(usize::MAX)) {
        *left -= 1;
        end = at + 1;
    }
    if *left == 0 { &text[..end] } else { text }
}

/// The lines of one thread that may be among the first `count`.
struct Candidates<'a> {
    order: &'a LineOrder,
    terminator: u8,
    count: usize,
    /// The bytes that may be taken.
    share: usize,
    lines: Vec<Candidate>,
    /// The bytes of these lines, one after the other.
    text: Vec<u8>,
    bound: Option<Bound>,
    /// Whether the first `count` lines fit in the share.
    fit: bool,
}

struct Candidate {
    code: Code,
    /// The line in the text of all candidates.
    start: usize,
    length: usize,
    position: u64,
}

impl Candidate {
    fn line<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        &text[self.start..][..self.length]
    }
}

/// The last of the first `count` lines so far.
struct Bound {
    line: Vec<u8>,
    code: Code,
}

impl<'a> Candidates<'a> {
    fn new(count: usize, share: usize, job: &'a LineSort<'_>) -> Self {
        Candidates {
            order: &job.order,
            terminator: job.terminator,
            count,
            share,
            lines: Vec::new(),
            text: Vec::new(),
            bound: None,
            fit: true,
        }
    }

    /// Takes block after block, until there are no more or the candidates of any thread take too much memory.
    fn take(&mut self, blocks: &Mutex<Blocks>, job: &LineSort<'_>) -> Result<(), Error> {
        let mut block = Vec::new();
        loop {
            let position = {
                let mut blocks = blocks.lock().expect("no thread panicked");
                if !self.fit {
                    blocks.stop();
                }
                blocks.next(&mut block, job)?
            };
            let Some(position) = position else { return Ok(()) };
            self.search(&block, position)?;
        }
    }

    /// Keeps the lines of a block that may be among the first.
    fn search(&mut self, block: &[u8], position: u64) -> Result<(), Error> {
        let mut first = self.first_bytes();
        let mut start = 0;
        lines::ends(block, self.terminator).try_for_each(|end| {
            let line = start..end;
            start = end + 1;
            if first.refuse(&block[line.start..]) {
                return Ok(());
            }
            let (position, line) = (position + line.start as u64, &block[line]);
            if self.consider(line, position)? {
                first = self.first_bytes();
            }
            Ok(())
        })
    }

    /// Keeps a line that comes before the bound. Returns whether there is a new bound.
    fn consider(&mut self, line: &[u8], position: u64) -> Result<bool, Error> {
        let code = self.order.code(line);
        if let Some(bound) = &self.bound
            && self.order.compare_coded((line, code), (&bound.line, bound.code)).is_ge()
        {
            return Ok(false);
        }
        let (start, length) = (self.text.len(), line.len());
        append(&mut self.text, line)?;
        self.lines.try_reserve(1).map_err(|_| Error::Memory(self.taken() as u64))?;
        self.lines.push(Candidate { code, start, length, position });
        let most = self.count.saturating_add(self.count.max(LEAST_MORE));
        let is_full = self.lines.len() >= most || (self.fit && self.taken() > self.share);
        if is_full {
            self.select();
        }
        Ok(is_full)
    }

    /// The bytes that the candidates take.
    fn taken(&self) -> usize {
        self.text.len() + size_of_val(&self.lines[..])
    }

    /// Removes all candidates but the first `count`.
    fn select(&mut self) {
        let Candidates { order, count, lines, text, .. } = self;
        let coded = |line: &Candidate| (line.line(text), line.code);
        let compare = |a: &Candidate, b: &Candidate| {
            order.compare_coded(coded(a), coded(b)).then(a.position.cmp(&b.position))
        };
        if order.unique() {
            lines.sort_unstable_by(compare);
            lines.dedup_by(|next, first| order.compare_coded_keys(coded(first), coded(next)).is_eq());
        } else if lines.len() > *count {
            lines.select_nth_unstable_by(*count - 1, compare);
        }
        lines.truncate(*count);
        if let Some(last) = lines.get(*count - 1) {
            self.bound = Some(Bound { line: last.line(text).to_vec(), code: last.code });
        }
        // Closes the gaps.
        lines.sort_unstable_by_key(|line| line.start);
        let mut end = 0;
        for line in lines {
            text.copy_within(line.start..line.start + line.length, end);
            line.start = end;
            end += line.length;
        }
        text.truncate(end);
        self.fit &= self.taken() <= self.share / 2;
    }

    /// What lines begin with that come after the bound.
    fn first_bytes(&self) -> FirstBytes {
        match (&self.bound, self.order.plain()) {
            (Some(bound), Some(descending)) => FirstBytes::after(&bound.line, descending, self.terminator),
            _ => FirstBytes { last: u64::MAX, flipped: 0 },
        }
    }
}

/// Refuses lines by the first 8 bytes of the text from their start on, which may go beyond their end.
struct FirstBytes {
    /// The bytes are those of a line to be refused if they are more than this.
    last: u64,
    /// What turns bytes around if the order is descending.
    flipped: u64,
}

impl FirstBytes {
    /// Refuses only lines that come after `bound`.
    ///
    /// If a line ends within its first 8 bytes, its terminator is compared too. In ascending order, the line would seem to come after a
    /// bound that has a lesser byte in its place. So from such a byte on, the bound is replaced by the greatest bytes, after which nothing
    /// comes. In descending order, a terminator that is less than the bound's byte decides rightly, and one that is greater refuses nothing.
    /// A bound of fewer bytes is filled up likewise.
    fn after(bound: &[u8], descending: bool, terminator: u8) -> Self {
        let is_decided = |&&byte: &&u8| descending || byte >= terminator;
        let mut bytes = [if descending { 0 } else { u8::MAX }; 8];
        bytes.iter_mut().zip(bound.iter().take_while(is_decided)).for_each(|(byte, of)| *byte = *of);
        let flipped = if descending { u64::MAX } else { 0 };
        FirstBytes { last: u64::from_be_bytes(bytes) ^ flipped, flipped }
    }

    #[inline]
    fn refuse(&self, text: &[u8]) -> bool {
        text.first_chunk().is_some_and(|bytes| u64::from_be_bytes(*bytes) ^ self.flipped > self.last)
    }
}

/// The lines that all threads have kept, in the order of the input, each with a terminator.
fn in_input_order(kept: Vec<Candidates<'_>>, terminator: u8) -> Result<Vec<u8>, Error> {
    let mut lines = room(kept.iter().map(|kept| kept.lines.len()).sum())?;
    lines.extend(
        kept.iter().flat_map(|kept| kept.lines.iter().map(|line| (line.position, line.line(&kept.text)))),
    );
    lines.sort_unstable_by_key(|(position, _)| *position);
    let mut text = Vec::new();
    for (_, line) in lines {
        append_line(&mut text, line, terminator)?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn first_bytes_refuse_only_lines_after_the_bound(
            bound in prop::collection::vec(prop::sample::select(&b"\0\t\n\x0Ba\xFF"[..]), 0..10),
            line in prop::collection::vec(prop::sample::select(&b"\0\t\n\x0Ba\xFF"[..]), 0..10),
            next in prop::collection::vec(any::<u8>(), 0..9),
            terminator in prop::sample::select(&b"\0\n"[..]),
        ) {
            let [bound, line] = [bound, line].map(|line| {
                line.into_iter().filter(|&byte| byte != terminator).collect::<Vec<_>>()
            });
            let text = [&line[..], &[terminator], &next].concat();
            for descending in [false, true] {
                let refused = FirstBytes::after(&bound, descending, terminator).refuse(&text);
                let comes_after = if descending { line < bound } else { line > bound };
                prop_assert!(!refused || comes_after, "{descending}");
            }
        }
    }
}
