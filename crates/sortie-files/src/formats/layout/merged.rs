//! The items of runs and of sorted inputs, one after the other.

use std::io::Read;
use std::path::PathBuf;

use super::Layout;
use super::feed::{Opened, end_last, wrong};
use crate::run::{Content, Part};
use crate::{Error, merge};

/// The items of a run or an input, read through a buffer.
pub struct PartItems<'a, L: ?Sized> {
    layout: &'a L,
    reader: Box<dyn Read + Send>,
    doing: &'static str,
    name: PathBuf,
    buffer: Vec<u8>,
    /// The bytes `buffer[taken..filled]` were read and are not taken yet.
    taken: usize,
    filled: usize,
    /// The bytes of the current item.
    item: usize,
    /// The lines before it.
    lines: u64,
    has_ended: bool,
    is_run: bool,
    scratch: Vec<u8>,
}

impl<'a, L: Layout + ?Sized> PartItems<'a, L> {
    /// Opens a part. Its buffer has `share` bytes, until a longer item needs more. `see` gets the header if it is an input that is not
    /// empty.
    pub fn open(part: Part, share: usize, layout: &'a L, see: impl FnOnce(Vec<u8>)) -> Result<Self, Error> {
        let (is_run, bytes) = (part.is_run(), part.bytes);
        let Content { reader, doing, name } = part.open()?;
        let (reader, lines) = if is_run {
            (reader, 0)
        } else {
            let Opened { header, lines, items, is_empty } = Opened::new(layout, reader, &name)?;
            if !is_empty {
                see(header);
            }
            (items, lines)
        };
        // One byte more than a part has, because only a read that returns nothing shows its end.
        let room = if bytes > 0 { share.min(bytes as usize + 1) } else { share };
        let buffer = bytemuck::try_zeroed_vec(room).map_err(|()| Error::Memory(room as u64))?;
        Ok(PartItems {
            layout,
            reader,
            doing,
            name,
            buffer,
            taken: 0,
            filled: 0,
            item: 0,
            lines,
            has_ended: false,
            is_run,
            scratch: Vec::new(),
        })
    }

    /// Reads more bytes. Enlarges the buffer if an item fills it.
    fn read(&mut self) -> Result<(), Error> {
        self.buffer.copy_within(self.taken..self.filled, 0);
        (self.taken, self.filled) = (0, self.filled - self.taken);
        if self.filled == self.buffer.len() {
            // Grows by a quarter only, because an item that needs this may already take a large part of memory.
            let more = self.buffer.len() / 4 + 1;
            let bytes = self.buffer.len() + more;
            self.buffer.try_reserve_exact(more).map_err(|_| Error::Memory(bytes as u64))?;
            self.buffer.resize(bytes, 0);
        }
        // One read at a time: a run is read by whole blocks then, directly into this buffer.
        match self.reader.read(&mut self.buffer[self.filled..]) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            read => {
                let read = read.map_err(Error::file(self.doing, &self.name))?;
                self.filled += read;
                self.has_ended = read == 0;
            }
        }
        if self.has_ended && self.filled > 0 {
            self.buffer.truncate(self.filled);
            end_last(self.layout, &mut self.buffer);
            self.filled = self.buffer.len();
        }
        Ok(())
    }
}

impl<L: Layout + ?Sized> merge::Cursor for PartItems<'_, L> {
    fn advance(&mut self) -> Result<bool, Error> {
        if !self.is_run {
            self.lines += sortie_formats::lines::count(self.item(), b'\n') as u64;
        }
        self.taken += self.item;
        self.item = 0;
        loop {
            let rest = &self.buffer[self.taken..self.filled];
            if !rest.is_empty() {
                let line = (!self.is_run && self.layout.ending().is_some()).then_some(self.lines + 1);
                let first = self.layout.first(rest).map_err(|problem| wrong(&self.name, line, &problem))?;
                if let Some(bytes) = first {
                    self.item = bytes;
                    if !self.is_run {
                        // Nobody has looked at the items of an input yet.
                        self.scratch.clear();
                        let known = self.layout.key(&rest[..bytes], &mut self.scratch);
                        known.map_err(|problem| wrong(&self.name, line, &problem))?;
                    }
                    return Ok(true);
                }
                if self.has_ended {
                    return Err(wrong(&self.name, line, self.layout.unfinished()));
                }
            } else if self.has_ended {
                return Ok(false);
            }
            self.read()?;
        }
    }

    fn item(&self) -> &[u8] {
        &self.buffer[self.taken..][..self.item]
    }
}
