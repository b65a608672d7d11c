//! Lines: text divided by a terminator (a newline or a NUL), which is not part of the line.
//!
//! [`terminate`], [`count`], [`split`] and [`ends`] work on text in memory, [`LineReader`] on a stream.

use std::io::{self, Read};
use std::ops::Range;

/// A text smaller than this is searched byte by byte. Detecting vector instructions takes longer, because in a
/// virtual machine each query about the processor goes to the host.
const SMALL: usize = 16 << 10;

/// Adds a terminator to text that does not end with one. Empty text has no lines and stays empty.
pub fn terminate(text: &mut Vec<u8>, terminator: u8) {
    if text.last().is_some_and(|&last| last != terminator) {
        text.push(terminator);
    }
}

/// The number of terminators in `text`.
#[must_use]
pub fn count(text: &[u8], terminator: u8) -> usize {
    if text.len() < SMALL {
        return text.iter().filter(|&&byte| byte == terminator).count();
    }
    memchr::memchr_iter(terminator, text).count()
}

/// The position of the first terminator in `text`.
#[must_use]
pub fn first(text: &[u8], terminator: u8) -> Option<usize> {
    if text.len() < SMALL {
        return text.iter().position(|&byte| byte == terminator);
    }
    memchr::memchr(terminator, text)
}

/// The position of the last terminator in `text`.
#[must_use]
pub fn last(text: &[u8], terminator: u8) -> Option<usize> {
    if text.len() < SMALL {
        return text.iter().rposition(|&byte| byte == terminator);
    }
    memchr::memrchr(terminator, text)
}

/// Fills `lines` with the first lines of `text`, without their terminators.
///
/// # Panics
/// If `text` has fewer terminators than `lines` has elements.
///
/// ```
/// let mut lines = [&[][..]; 2];
/// sortie_formats::lines::split(b"one\n\n", b'\n', &mut lines);
/// assert_eq!(lines, [&b"one"[..], b""]);
/// ```
pub fn split<'a>(text: &'a [u8], terminator: u8, lines: &mut [&'a [u8]]) {
    if text.len() < SMALL {
        let ends = text.iter().enumerate().filter(|&(_, &byte)| byte == terminator).map(|(end, _)| end);
        return split_at(ends, text, lines);
    }
    split_at(memchr::memchr_iter(terminator, text), text, lines);
}

fn split_at<'a>(mut ends: impl Iterator<Item = usize>, text: &'a [u8], lines: &mut [&'a [u8]]) {
    let mut start = 0;
    for line in lines {
        let end = ends.next().expect("as many terminators as lines");
        *line = &text[start..end];
        start = end + 1;
    }
}

/// The positions of all terminators. If lines are short, this is faster than to search for one after the other.
///
/// ```
/// let ends: Vec<usize> = sortie_formats::lines::ends(b"one\n\n", b'\n').collect();
/// assert_eq!(ends, [3, 4]);
/// ```
pub fn ends(text: &[u8], terminator: u8) -> impl Iterator<Item = usize> {
    let (chunks, rest) = text.as_chunks();
    let in_chunks = chunks.iter().enumerate().flat_map(move |(place, chunk)| {
        let mut found = equal(chunk, terminator);
        std::iter::from_fn(move || {
            let first = found.trailing_zeros() as usize;
            found &= found.wrapping_sub(1);
            (first < CHUNK).then_some(CHUNK * place + first)
        })
    });
    let is_end = move |&(_, &byte): &(usize, &u8)| byte == terminator;
    in_chunks.chain(rest.iter().enumerate().filter(is_end).map(|(end, _)| CHUNK * chunks.len() + end))
}

/// A bit of [`equal`] for each byte.
const CHUNK: usize = u64::BITS as usize;

/// The bytes that are `byte`, the first one in the lowest bit.
#[inline]
fn equal(chunk: &[u8; CHUNK], byte: u8) -> u64 {
    const EACH: u64 = u64::MAX / 0xff;
    const LOW: u64 = EACH * 0x7f;
    // The product has the lowest bits of the bytes in its highest byte, in order.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (words, _) = chunk.as_chunks();
    words.iter().rev().fold(0, |found, word| {
        let different = u64::from_le_bytes(*word) ^ (EACH * u64::from(byte));
        // The high bit of each byte tells whether the byte is 0.
        let zeros = !(((different & LOW) + LOW) | different | LOW);
        found << 8 | (zeros >> 7).wrapping_mul(GATHER) >> 56
    })
}

/// Divides `text` into at most `parts` parts of similar length, each ending with a terminator.
///
/// ```
/// let parts = sortie_formats::lines::parts(b"aaaa\nb\ncccc\n", b'\n', 2);
/// assert_eq!(parts, [&b"aaaa\nb\n"[..], b"cccc\n"]);
/// ```
#[must_use]
pub fn parts(text: &[u8], terminator: u8, parts: usize) -> Vec<&[u8]> {
    let mut rest = text;
    let mut found = Vec::with_capacity(parts);
    for left in (1..=parts).rev() {
        let aim = rest.len() / left;
        let ended = || memchr::memchr(terminator, &rest[aim..]).map(|at| aim + at + 1);
        let end = if left == 1 { rest.len() } else { ended().unwrap_or(rest.len()) };
        let (part, after) = rest.split_at(end);
        if !part.is_empty() {
            found.push(part);
        }
        rest = after;
    }
    found
}

/// The position of the first such byte. Most lines are so short that no call is needed to find their end.
#[inline]
fn find(byte: u8, text: &[u8]) -> Option<usize> {
    const EACH: u128 = u128::MAX / 0xff;
    const NEAR: usize = 4;
    let (chunks, _) = text.as_chunks();
    for (place, chunk) in chunks.iter().take(NEAR).enumerate() {
        let different = u128::from_le_bytes(*chunk) ^ (EACH * u128::from(byte));
        // Up to the first byte that is 0, the high bit of each byte tells whether it is 0.
        let found = different.wrapping_sub(EACH) & !different & (EACH << 7);
        if found != 0 {
            return Some(chunk.len() * place + found.trailing_zeros() as usize / 8);
        }
    }
    let far = size_of::<u128>() * chunks.len().min(NEAR);
    memchr::memchr(byte, &text[far..]).map(|at| far + at)
}

/// Reads lines from a stream, one at a time. The buffer grows only if a line does not fit in it.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// let mut reader = sortie_formats::lines::LineReader::new(&b"b\na"[..], b'\n', 4096);
/// assert!(reader.advance()?);
/// assert_eq!(reader.line(), b"b");
/// assert!(reader.advance()?);
/// assert_eq!(reader.line(), b"a");
/// assert!(!reader.advance()?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct LineReader<R> {
    source: R,
    terminator: u8,
    buffer: Vec<u8>,
    /// The initial size of the buffer.
    capacity: usize,
    /// The part of the buffer that was read but not returned yet.
    unread: Range<usize>,
    line: Range<usize>,
    ended: bool,
}

impl<R: Read> LineReader<R> {
    /// A reader before the first line. The first read allocates a buffer of `capacity` bytes.
    pub fn new(source: R, terminator: u8, capacity: usize) -> Self {
        LineReader {
            source,
            terminator,
            buffer: Vec::new(),
            capacity: capacity.max(1),
            unread: 0..0,
            line: 0..0,
            ended: false,
        }
    }

    /// Moves to the next line. Returns false after the last line.
    ///
    /// # Errors
    /// Those of the source, and [`io::ErrorKind::OutOfMemory`] if a line does not fit in memory.
    pub fn advance(&mut self) -> io::Result<bool> {
        let mut searched = 0;
        loop {
            let text = &self.buffer[self.unread.clone()];
            let length = match find(self.terminator, &text[searched..]) {
                Some(at) => searched + at,
                None if self.ended && text.is_empty() => return Ok(false),
                None if self.ended => text.len(),
                None => {
                    searched = text.len();
                    self.fill()?;
                    continue;
                }
            };
            self.line = self.unread.start..self.unread.start + length;
            self.unread.start = (self.line.end + 1).min(self.unread.end);
            return Ok(true);
        }
    }

    /// The current line, without its terminator.
    #[must_use]
    pub fn line(&self) -> &[u8] {
        &self.buffer[self.line.clone()]
    }

    fn fill(&mut self) -> io::Result<()> {
        if self.unread.start > 0 {
            self.buffer.copy_within(self.unread.clone(), 0);
            self.unread = 0..self.unread.len();
        }
        if self.unread.end == self.buffer.len() {
            // Grows by a part only, because a line that needs this may already take a large part of memory.
            let more = if self.buffer.is_empty() { self.capacity } else { self.buffer.len() / 8 + 1 };
            self.buffer.try_reserve_exact(more).map_err(|_| {
                let megabytes = (self.buffer.len() + more).div_ceil(1 << 20);
                io::Error::new(io::ErrorKind::OutOfMemory, format!("a line needs {megabytes} MiB of memory"))
            })?;
            self.buffer.resize(self.buffer.len() + more, 0);
        }
        let read = loop {
            match self.source.read(&mut self.buffer[self.unread.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.unread.end += read;
        self.ended = read == 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_ends_with_a_terminator() {
        for (before, after) in [("", ""), ("a", "a\n"), ("a\n", "a\n"), ("\n", "\n")] {
            let mut text = before.as_bytes().to_vec();
            terminate(&mut text, b'\n');
            assert_eq!(text, after.as_bytes());
        }
    }

    #[test]
    fn the_first_and_the_last_end_are_found() {
        for length in [0, 1, 2, 50, SMALL - 1, SMALL, SMALL + 1] {
            for ends in [&[][..], &[0], &[length / 3, length / 2], &[length.saturating_sub(1)]] {
                let mut text = vec![b'x'; length];
                ends.iter().filter(|&&end| end < length).for_each(|&end| text[end] = b'\n');
                let found = (first(&text, b'\n'), last(&text, b'\n'));
                assert_eq!(found, (memchr::memchr(b'\n', &text), memchr::memrchr(b'\n', &text)), "{length}");
            }
        }
    }

    #[test]
    fn all_ends_are_found() {
        for length in 0..300 {
            let text: Vec<u8> = (0..length).map(|i| b"\nab\0\n"[i * i % 67 % 5]).collect();
            for terminator in [b'\n', 0] {
                assert!(ends(&text, terminator).eq(memchr::memchr_iter(terminator, &text)), "{length}");
            }
        }
    }

    #[test]
    fn parts_hold_all_lines_in_order() {
        let text: Vec<u8> =
            (0..200usize).flat_map(|i| format!("{}\n", "x".repeat(i * 7 % 23)).into_bytes()).collect();
        for wanted in 1..40 {
            let parts = parts(&text, b'\n', wanted);
            assert!(parts.len() <= wanted);
            assert!(parts.iter().all(|part| part.ends_with(b"\n")));
            assert_eq!(parts.concat(), text);
        }
    }

    /// A source that returns at most three bytes at a time.
    struct Drip<'a>(&'a [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let n = into.len().min(3);
            self.0.read(&mut into[..n])
        }
    }

    #[test]
    fn a_stream_has_the_lines_that_its_text_has() {
        for text in ["", "\n", "a", "a\n\nbb\nccccccccccccccccc\n", "ab\ncd", "\0a\0", "\n\n\n", "abc\n"] {
            for terminator in [b'\n', 0] {
                let mut whole = text.as_bytes().to_vec();
                terminate(&mut whole, terminator);
                let mut expected = vec![&[][..]; count(&whole, terminator)];
                split(&whole, terminator, &mut expected);
                for capacity in [1, 2, 3, 8, 100] {
                    let mut reader = LineReader::new(Drip(text.as_bytes()), terminator, capacity);
                    let mut found = Vec::new();
                    while reader.advance().unwrap() {
                        found.push(reader.line().to_vec());
                    }
                    assert_eq!(found, expected, "{text:?} with a buffer of {capacity}");
                }
            }
        }
    }
}
