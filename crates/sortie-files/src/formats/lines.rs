//! Lines of text, by a key that a function finds in each.

use super::Layout;

/// Lines, without those of a header.
pub struct Lines<K> {
    /// The number of lines at the start of each file that are not sorted.
    pub header: usize,
    /// Appends the key of a line, which it gets without its end: bytes that compare as the lines are to be sorted.
    pub key: K,
}

/// The end of a line.
const END: u8 = b'\n';

impl<K: Fn(&[u8], &mut Vec<u8>) + Sync> Layout for Lines<K> {
    fn first(&self, bytes: &[u8]) -> Result<Option<usize>, String> {
        Ok(memchr::memchr(END, bytes).map(|end| end + 1))
    }

    fn key(&self, line: &[u8], key: &mut Vec<u8>) -> Result<(), String> {
        (self.key)(&line[..line.len() - 1], key);
        Ok(())
    }

    fn ending(&self) -> Option<&'static [u8]> {
        Some(&[END])
    }

    fn header(&self, bytes: &[u8], _is_all: bool) -> Result<Option<usize>, String> {
        Ok(match self.header.checked_sub(1) {
            Some(last) => memchr::memchr_iter(END, bytes).nth(last).map(|end| end + 1),
            None => Some(0),
        })
    }
}
