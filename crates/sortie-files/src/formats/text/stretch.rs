//! Text that is read piece by piece. Each piece is searched for lines once, while it is in the cache. A long line is a part of its own, so
//! that nothing searches it again.

use sortie_formats::lines;

/// One thread splits a part of about this many bytes into lines.
pub const PART: usize = 1 << 20;
/// A line of at least this many bytes is a part of its own.
const LONG: usize = 256 << 10;

/// Text in memory, and the parts into which its whole lines were divided.
#[derive(Default)]
pub struct Text {
    /// New text is appended here.
    pub bytes: Vec<u8>,
    /// The number of bytes that were searched.
    searched: usize,
    parts: Vec<Part>,
    /// The whole lines after these parts.
    open: Part,
    lines: usize,
    longest: usize,
}

/// The end of some lines, and their number.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Part {
    end: usize,
    lines: usize,
}

impl Text {
    /// Removes all text, but keeps its memory. The first `searched` bytes of the next text are known to have no terminator.
    pub fn clear(&mut self, searched: usize) {
        let (mut bytes, mut parts) = (std::mem::take(&mut self.bytes), std::mem::take(&mut self.parts));
        bytes.clear();
        parts.clear();
        *self = Text { bytes, searched, parts, ..Text::default() };
    }

    /// Searches what was appended. Returns its number of terminators.
    pub fn search(&mut self, terminator: u8) -> usize {
        let (start, new) = (self.searched, &self.bytes[self.searched..]);
        let count = lines::count(new, terminator);
        self.searched = self.bytes.len();
        self.lines += count;
        let (Some(first), Some(last)) = (lines::first(new, terminator), lines::last(new, terminator)) else {
            // What was appended may be in a long line, before which a part ends.
            self.close();
            return 0;
        };
        let length = start + first - self.open.end;
        let long = usize::from(self.open.lines == 0 && length >= LONG);
        if long == 1 {
            self.longest = self.longest.max(length);
            self.parts.push(Part { end: start + first + 1, lines: 1 });
        }
        self.open = Part { end: start + last + 1, lines: self.open.lines + count - long };
        let begin = self.parts.last().map_or(0, |part| part.end);
        if self.open.end - begin >= PART {
            self.close();
        }
        count
    }

    fn close(&mut self) {
        if self.open.lines > 0 {
            self.parts.push(self.open);
            self.open.lines = 0;
        }
    }

    /// The number of whole lines that were found.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// The bytes of these lines.
    pub fn whole(&self) -> usize {
        self.open.end
    }

    /// The bytes of the longest line of those that are parts of their own.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// The start of a line of which no end was found.
    pub fn rest(&self) -> &[u8] {
        &self.bytes[self.whole()..]
    }

    /// Removes [`Text::rest`].
    pub fn drop_rest(&mut self) {
        self.bytes.truncate(self.whole());
        self.searched = self.whole();
    }

    /// The parts, and the number of lines in each. The whole text must have been searched, and end with a terminator.
    pub fn parts(&self) -> impl Iterator<Item = (&[u8], usize)> {
        debug_assert!(self.searched == self.bytes.len() && self.rest().is_empty());
        let all = self.parts.iter().chain(std::iter::once(&self.open).filter(|part| part.lines > 0));
        all.scan(0, |start, part| {
            let bytes = &self.bytes[*start..part.end];
            *start = part.end;
            Some((bytes, part.lines))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_all_lines_and_long_lines_alone() {
        let mut random = fastrand::Rng::with_seed(1);
        for round in 0..200 {
            let lines: Vec<Vec<u8>> = (0..random.usize(1..30))
                .map(|_| match random.u8(..8) {
                    0 => vec![b'x'; LONG + random.usize(..3 * LONG)],
                    1 => vec![b'y'; PART / 8],
                    _ => vec![b'z'; random.usize(..2000)],
                })
                .collect();
            let whole: Vec<u8> = lines.iter().flat_map(|line| [line, &b"\n"[..]].concat()).collect();
            let mut text = Text::default();
            text.clear(0);
            let mut found = 0;
            while text.bytes.len() < whole.len() {
                let more = random.usize(1..2 * LONG).min(whole.len() - text.bytes.len());
                text.bytes.extend_from_slice(&whole[text.bytes.len()..][..more]);
                found += text.search(b'\n');
                assert_eq!(found, lines::count(&text.bytes, b'\n'));
                let end = memchr::memrchr(b'\n', &text.bytes).map_or(0, |at| at + 1);
                assert_eq!(text.rest().len(), text.bytes.len() - end);
            }
            assert_eq!((found, text.lines()), (lines.len(), lines.len()), "{round}");
            let parts: Vec<_> = text.parts().collect();
            assert!(parts.iter().map(|part| part.0).collect::<Vec<_>>().concat() == whole, "{round}");
            for (part, count) in parts {
                assert_eq!(lines::count(part, b'\n'), count, "{round}");
                assert!(count == 1 || part.len() < 2 * PART + 2 * LONG, "{round}: {count} in {}", part.len());
            }
        }
    }

    #[test]
    fn a_start_that_was_searched_is_not_searched_again() {
        let mut text = Text::default();
        text.clear(3);
        text.bytes.extend_from_slice(b"abc");
        assert_eq!(text.search(b'\n'), 0);
        text.bytes.extend_from_slice(b"d\ne\nf");
        assert_eq!(text.search(b'\n'), 2);
        assert_eq!(text.rest(), b"f");
        text.drop_rest();
        assert_eq!(text.parts().collect::<Vec<_>>(), [(&b"abcd\ne\n"[..], 2)]);
    }
}
