//! The index at the end of an indexed mzML file: the position of each spectrum and chromatogram, and a
//! checksum.

use quick_xml::events::Event;
use sha1::{Digest, Sha1};

use super::Ends;
use crate::spectra::room::append;
use crate::spectra::{NoRoom, Problem};

/// Follows the output of a file, and writes its index.
#[derive(Default)]
pub struct Index {
    moved: Vec<Ends>,
    read: u64,
    written: u64,
    hash: Sha1,
}

impl Index {
    /// Adds the next stretch of the file: its original length, its output, and the spectra that moved in it.
    ///
    /// # Errors
    /// If there is no memory for 16 bytes for each spectrum that moved.
    pub fn follow(&mut self, read: u64, written: &[u8], moved: &[Ends]) -> Result<(), NoRoom> {
        let needed = (self.moved.len() + moved.len() + 1) * size_of::<Ends>();
        let room = self.moved.try_reserve(moved.len() + 1);
        room.map_err(|_| NoRoom::System { needed: needed as u64 })?;
        let ends = moved.iter().map(|end| Ends { old: self.read + end.old, new: self.written + end.new });
        self.moved.extend(ends);
        self.read += read;
        self.written += written.len() as u64;
        self.hash.update(written);
        self.moved.push(Ends { old: self.read, new: self.written });
        Ok(())
    }

    /// The start of the index in the last stretch of a file, or the end of the stretch if there is no index.
    #[must_use]
    pub fn start(text: &[u8]) -> usize {
        memchr::memmem::rfind_iter(text, b"<indexList")
            .find(|at| !text[*at..].starts_with(b"<indexListOffset"))
            .unwrap_or(text.len())
    }

    /// Rewrites the index `text`, which ends the file, with the new positions and checksum.
    ///
    /// # Errors
    /// If it is not well-formed XML, or the system cannot allocate the memory.
    pub fn write(mut self, text: &[u8]) -> Result<Vec<u8>, Problem> {
        let mut out = Vec::new();
        let mut reader = super::reader(text);
        let mut within = Vec::new();
        loop {
            let start = reader.buffer_position() as usize;
            let event =
                reader.read_event().map_err(|error| format!("the index is not well-formed: {error}"))?;
            let piece = &text[start..reader.buffer_position() as usize];
            match event {
                Event::Eof => return Ok(out),
                Event::Start(tag) => within = tag.name().as_ref().to_vec(),
                Event::End(_) => within.clear(),
                Event::Text(_) => {
                    let old = std::str::from_utf8(piece.trim_ascii()).unwrap_or_default();
                    let new = match (&within[..], old.parse()) {
                        (b"offset" | b"indexListOffset", Ok(place)) => {
                            Some(self.new_place(place).to_string())
                        }
                        // The checksum covers everything before it, including its own opening tag.
                        (b"fileChecksum", _) => {
                            self.hash.update(&out);
                            Some(hex(&std::mem::take(&mut self.hash).finalize()))
                        }
                        _ => None,
                    };
                    if let Some(new) = new {
                        append(&mut out, new.as_bytes())?;
                        continue;
                    }
                }
                _ => {}
            }
            append(&mut out, piece)?;
        }
    }

    /// The new position for an old position between two spectra.
    fn new_place(&self, old: u64) -> u64 {
        match self.moved.partition_point(|end| end.old <= old) {
            0 => old,
            after => old - self.moved[after - 1].old + self.moved[after - 1].new,
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
