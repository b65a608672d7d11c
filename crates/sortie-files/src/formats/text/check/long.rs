//! Compares lines of any length with their predecessors while they are read, in an order of plain bytes.
//!
//! Only one line is in memory. While a line agrees with the one before, its bytes are there already. From the first difference on, they
//! replace those of the line before.

use std::cmp::Ordering;

use super::super::long::common;
use crate::Error;
use crate::memory::append;

/// A line, and the next one, which replaces it.
pub struct Successor {
    /// The line before, until the current line differs from it.
    line: Vec<u8>,
    /// The number of bytes in which both lines agree so far.
    agree: usize,
    /// How the current line compares with the one before, once they differ.
    found: Option<Ordering>,
    is_first: bool,
    has_begun: bool,
}

impl Successor {
    /// A line that follows `before`, if there is a line before.
    pub fn of(before: Option<&[u8]>) -> Result<Successor, Error> {
        let mut line = Vec::new();
        append(&mut line, before.unwrap_or_default())?;
        let is_first = before.is_none();
        let found = is_first.then_some(Ordering::Greater);
        Ok(Successor { line, agree: 0, found, is_first, has_begun: false })
    }

    /// Adds bytes to the current line.
    pub fn push(&mut self, mut more: &[u8]) -> Result<(), Error> {
        self.has_begun |= !more.is_empty();
        if self.found.is_none() {
            let rest = &self.line[self.agree..];
            let length = rest.len().min(more.len());
            let same = common(&rest[..length], &more[..length]);
            self.agree += same;
            more = &more[same..];
            let Some(next) = more.first() else { return Ok(()) };
            // The line before may end here.
            self.found = Some(Some(next).cmp(&self.line.get(self.agree)));
            self.line.truncate(self.agree);
        }
        append(&mut self.line, more)
    }

    /// Whether the current line has any bytes.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Ends the current line, which becomes the line before. Returns how it compares with the one before it, if there is one.
    pub fn end(&mut self) -> Option<Ordering> {
        let found = self.found.take().unwrap_or_else(|| {
            let found = self.agree.cmp(&self.line.len());
            self.line.truncate(self.agree);
            found
        });
        (self.agree, self.has_begun) = (0, false);
        let is_first = std::mem::replace(&mut self.is_first, false);
        (!is_first).then_some(found)
    }

    /// The last line that ended.
    pub fn line(&self) -> &[u8] {
        &self.line
    }

    pub fn into_line(self) -> Vec<u8> {
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_compare_with_those_before_whatever_pieces_they_are_read_in() {
        let lines: [&[u8]; 9] = [b"", b"a", b"aa", b"ab", b"ab", b"a", b"", b"", b"abcdefgh"];
        for piece in 1..4 {
            let mut successor = Successor::of(None).unwrap();
            let mut before = None;
            for line in lines {
                line.chunks(piece).for_each(|piece| successor.push(piece).unwrap());
                assert_eq!(successor.has_begun(), !line.is_empty());
                assert_eq!(successor.end(), before.map(|before| line.cmp(before)));
                assert_eq!(successor.line(), line);
                before = Some(line);
            }
        }
    }
}
