//! The inputs of a layout as one stream of whole items.

use std::io::{Cursor, Read};
use std::path::Path;

use super::Layout;
use crate::{Error, Input, Inputs, quote};

/// The bytes to read at a time at the beginning of an input.
const PIECE: u64 = 256 << 10;
pub const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The inputs as one stream.
pub struct Feed {
    pub inputs: Inputs<Opened>,
    /// The start of an item that was read.
    pub rest: Vec<u8>,
    /// What was read of the current input before it is needed, and whether it is the last of it.
    pub ahead: Option<Result<(Vec<u8>, bool), Error>>,
}

impl Feed {
    pub fn new(inputs: Vec<Input>) -> Feed {
        Feed { inputs: Inputs::new(inputs), rest: Vec::new(), ahead: None }
    }
}

/// An input whose header was read.
pub struct Opened {
    pub header: Vec<u8>,
    /// The lines before the items that were not cut yet.
    pub lines: u64,
    pub items: Box<dyn Read + Send>,
    /// Whether the input has neither a header nor items.
    pub is_empty: bool,
}

impl Opened {
    /// Appends the next `most` bytes of the items. Returns whether they are the last. `name` is that of the input.
    pub fn read(&mut self, most: u64, name: &Path, out: &mut Vec<u8>) -> Result<bool, Error> {
        out.try_reserve(most as usize).map_err(|_| Error::Memory(most))?;
        // In the pool, where blocks of an input are decompressed by all threads.
        let read = rayon::scope(|_| (&mut self.items).take(most).read_to_end(out));
        Ok((read.map_err(Error::file("read", name))? as u64) < most)
    }

    /// Opens an input.
    pub fn input(layout: &(impl Layout + ?Sized), input: &Input) -> Result<Opened, Error> {
        let content = match layout.ending() {
            Some(_) => input.read_text(),
            None => input.read_raw(),
        }?;
        Opened::new(layout, content, input.name())
    }

    /// Reads the header of an input that is open.
    pub fn new(
        layout: &(impl Layout + ?Sized),
        mut content: Box<dyn Read + Send>,
        name: &Path,
    ) -> Result<Opened, Error> {
        let mut header = Vec::new();
        let mut ended = false;
        loop {
            let end = layout.header(&header, ended).map_err(|problem| wrong(name, None, &problem))?;
            if let Some(end) = end.or(ended.then_some(header.len())) {
                let rest = header.split_off(end);
                let is_empty = header.is_empty() && rest.is_empty();
                if ended && rest.is_empty() && header != BYTE_ORDER_MARK {
                    end_last(layout, &mut header);
                }
                let lines = sortie_formats::lines::count(&header, b'\n') as u64;
                let items = Box::new(Cursor::new(rest).chain(content));
                return Ok(Opened { header, lines, items, is_empty });
            }
            let read = Read::by_ref(&mut content).take(PIECE).read_to_end(&mut header);
            ended = read.map_err(Error::file("read", name))? == 0;
        }
    }
}

/// Adds a missing end of the last item to a text that is not empty.
pub fn end_last(layout: &(impl Layout + ?Sized), text: &mut Vec<u8>) {
    if let (Some(ending), Some(last)) = (layout.ending(), text.last())
        && ending.last() != Some(last)
    {
        text.extend_from_slice(ending);
    }
}

/// The error for a problem of an input, in a line if it is known.
pub fn wrong(name: &Path, line: Option<u64>, problem: &str) -> Error {
    let line = line.map_or(String::new(), |line| format!("{line}: "));
    let gap = if line.is_empty() { " " } else { "" };
    Error::invalid(format!("{}:{gap}{line}{problem}", quote::name(name)))
}
