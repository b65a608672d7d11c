//! Plain text.

use std::io::Read;

use super::{ITEM_BYTES, cut, not_utf8};
use crate::error::Trouble;

/// The text of a file in pieces.
pub struct Pieces<R> {
    reader: R,
    /// Bytes that were read but not returned.
    held: Vec<u8>,
    /// The position of these bytes in the document.
    offset: u64,
    ended: bool,
}

impl<R: Read> Pieces<R> {
    pub fn new(reader: R) -> Self {
        Pieces { reader, held: Vec::new(), offset: 0, ended: false }
    }

    fn read(&mut self) -> Result<Option<String>, Trouble> {
        let wanted = (ITEM_BYTES - self.held.len()) as u64;
        let read = self.reader.by_ref().take(wanted).read_to_end(&mut self.held)?;
        self.ended = (read as u64) < wanted;
        let mark = if self.offset == 0 && self.held.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        let end = if self.ended { self.held.len() } else { cut(&self.held) };
        let rest = self.held.split_off(end);
        let mut piece = std::mem::replace(&mut self.held, rest);
        piece.drain(..mark);
        let offset = self.offset + mark as u64;
        self.offset += end as u64;
        let piece = String::from_utf8(piece)
            .map_err(|error| Trouble::Content(not_utf8(offset + error.utf8_error().valid_up_to() as u64)))?;
        Ok(Some(piece).filter(|piece| !piece.is_empty()))
    }
}

impl<R: Read> Iterator for Pieces<R> {
    type Item = Result<String, Trouble>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let piece = self.read();
        self.ended |= piece.is_err();
        piece.transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(bytes: &[u8]) -> Vec<Result<String, String>> {
        let told = |trouble| match trouble {
            Trouble::Content(why) => why,
            Trouble::Read(error) => panic!("{error}"),
        };
        Pieces::new(bytes).map(|piece| piece.map_err(told)).collect()
    }

    #[test]
    fn pieces_are_the_text_and_end_with_words() {
        let text: String = (0..200_000).map(|number| format!("{number}\n")).collect();
        let pieces: Vec<String> = pieces(text.as_bytes()).into_iter().map(Result::unwrap).collect();
        assert!(pieces.len() > 2 && pieces.iter().all(|piece| piece.ends_with('\n')));
        assert_eq!(pieces.concat(), text);
    }

    #[test]
    fn text_without_a_blank_is_cut_between_characters() {
        let text = "x".to_owned() + &"é".repeat(ITEM_BYTES);
        let pieces: Vec<String> = pieces(text.as_bytes()).into_iter().map(Result::unwrap).collect();
        assert!(pieces.len() > 2);
        assert_eq!(pieces.concat(), text);
    }

    #[test]
    fn what_is_no_text_is_told() {
        assert_eq!(pieces(b"ab \xFF"), [Err("not UTF-8 at byte 4".to_owned())]);
        assert_eq!(pieces(b"\xEF\xBB\xBFab"), [Ok("ab".to_owned())]);
        assert_eq!(pieces(b""), []);
        let late = [vec![b' '; ITEM_BYTES], vec![0xC3]].concat();
        assert_eq!(pieces(&late)[1], Err(format!("not UTF-8 at byte {}", ITEM_BYTES + 1)));
    }
}
