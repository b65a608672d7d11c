//! Compresses output in pieces, on all threads.

use std::mem;

use rayon::prelude::*;

use super::{About, Compression, Way, encode};
use crate::error::Error;
use crate::memory::{append, room};

/// Receives the bytes of the compressed pieces in order.
type Write<'a> = &'a mut dyn FnMut(&[u8]) -> Result<(), Error>;

/// Collects text until there is a piece for every thread, then compresses the pieces together.
pub struct Packer {
    how: Compression,
    /// The last piece, which is not full yet.
    open: Vec<u8>,
    whole: Vec<Vec<u8>>,
    /// Whether any piece was written.
    has_written: bool,
}

impl Packer {
    pub fn new(how: Compression) -> Packer {
        Packer { how, open: Vec::new(), whole: Vec::new(), has_written: false }
    }

    /// Adds text. Compresses and writes pieces when there is one for every thread.
    pub fn put(&mut self, mut text: &[u8], write: Write<'_>) -> Result<(), Error> {
        let piece = About::of(self.how.way).piece;
        while !text.is_empty() {
            let (now, rest) = text.split_at(text.len().min(piece - self.open.len()));
            append(&mut self.open, now)?;
            text = rest;
            if self.open.len() == piece {
                // The first piece has no such reservation, so a small output takes little memory.
                self.whole.push(mem::replace(&mut self.open, room(piece)?));
                // Asking for the number of threads starts a pool if there is none. The caller must have started one
                // before the first piece is full.
                if self.whole.len() >= rayon::current_num_threads() {
                    self.flush(write)?;
                }
            }
        }
        Ok(())
    }

    /// Writes the remaining pieces and the end of the file.
    pub fn finish(mut self, write: Write<'_>) -> Result<(), Error> {
        let is_bgzf = self.how.way == Way::Bgzf;
        // An empty file still needs one member. For BGZF, the block that ends the file is that member.
        let has_last = !self.open.is_empty() || !self.has_written && self.whole.is_empty() && !is_bgzf;
        if has_last {
            self.whole.push(mem::take(&mut self.open));
        }
        self.flush(write)?;
        if is_bgzf { write(&encode::BGZF_END) } else { Ok(()) }
    }

    /// Compresses the full pieces and writes them.
    fn flush(&mut self, write: Write<'_>) -> Result<(), Error> {
        let how = self.how;
        let compressed: Vec<Vec<u8>> = match &self.whole[..] {
            [] => return Ok(()),
            [one] => vec![how.compress(one)?],
            several => several.par_iter().map(|piece| how.compress(piece)).collect::<Result<_, _>>()?,
        };
        self.whole.clear();
        self.has_written = true;
        compressed.iter().try_for_each(|piece| write(piece))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read};

    use sortie_formats::compressed::Members;

    use super::super::{Asked, WAYS};
    use super::*;

    fn packed(how: &str, parts: &[&[u8]]) -> Vec<u8> {
        let Asked::Compressed(how) = how.parse().unwrap() else { panic!("{how}") };
        let mut packer = Packer::new(how);
        let mut out = Vec::new();
        let mut write = |bytes: &[u8]| {
            out.extend_from_slice(bytes);
            Ok(())
        };
        parts.iter().try_for_each(|part| packer.put(part, &mut write)).unwrap();
        packer.finish(&mut write).unwrap();
        out
    }

    fn unpacked(way: Way, bytes: Vec<u8>) -> std::io::Result<Vec<u8>> {
        let mut out = Vec::new();
        Members::new(way, Cursor::new(bytes)).unwrap().read_to_end(&mut out).map(|_| out)
    }

    /// Text of several pieces. A part of it compresses well and a part does not.
    fn text() -> Vec<u8> {
        let noise = (0..300_000u32).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 24) as u8);
        b"the same line again\n".repeat(120_000).into_iter().chain(noise).collect()
    }

    #[test]
    fn what_was_packed_is_unpacked_at_every_level() {
        let text = text();
        for about in &WAYS {
            let read_as = if about.way == Way::Bgzf { Way::Gzip } else { about.way };
            let levels = [*about.levels.start(), about.usual, *about.levels.end()];
            for level in levels {
                let how = format!("{}:{level}", about.way.name());
                let (first, rest) = text.split_at(1_000_003);
                let bytes = packed(&how, &[first, b"", rest]);
                assert_eq!(Way::of(&bytes), Some(read_as), "{how}");
                assert!(bytes.len() < text.len() && unpacked(read_as, bytes).unwrap() == text, "{how}");
            }
            let nothing = packed(about.way.name(), &[]);
            assert_eq!(Way::of(&nothing), Some(read_as), "{}", about.way.name());
            assert_eq!(unpacked(read_as, nothing).unwrap(), b"", "{}", about.way.name());
        }
    }

    #[test]
    fn blocks_of_bgzf_say_their_size_and_end_with_an_empty_one() {
        let bytes = packed("bgzf", &[&text()]);
        let (mut at, mut last) = (0, 0);
        while at < bytes.len() {
            let size = usize::from(u16::from_le_bytes([bytes[at + 16], bytes[at + 17]])) + 1;
            (last, at) = (at, at + size);
        }
        assert_eq!((at, &bytes[last..]), (bytes.len(), &encode::BGZF_END[..]));
    }
}
