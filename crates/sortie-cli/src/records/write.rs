//! Writes records in their new order. They are gathered and compressed in parallel, and written in order.

use std::borrow::Cow;

use rayon::prelude::*;

use super::keys::Keyed;
use crate::compression;
use crate::external::Sink;
use crate::failure::Failure;
use crate::memory::room;
use crate::output::Output;
use crate::progress::Progress;

/// Bytes of records that one task gathers.
const PIECE: usize = 1 << 18;
/// The number of pieces that are written while the next ones are gathered.
const WINDOW: usize = 32;

/// Writes the records of `items`. Returns how many bytes were written.
pub fn write(
    items: &[Keyed<'_>],
    compress: bool,
    output: &mut Output,
    progress: &Progress,
) -> Result<u64, Failure> {
    let mut written = 0;
    let mut put = |pieces: Vec<Cow<'_, [u8]>>| {
        pieces.iter().try_for_each(|piece| {
            written += piece.len() as u64;
            output.write(piece)
        })
    };
    let mut gathered = Vec::new();
    for window in cut(items).chunks(WINDOW) {
        let gather =
            || window.par_iter().map(|piece| gather(piece, compress, progress)).collect::<Result<_, _>>();
        let (done, next) = rayon::join(|| put(gathered), gather);
        done?;
        gathered = next?;
    }
    if compress && items.is_empty() {
        // An empty file also has a header and a trailer in gzip.
        gathered.push(compression::gzip(&[])?.into());
    }
    put(gathered)?;
    Ok(written)
}

/// Cuts the records into pieces of about the same size. No record is cut.
fn cut<'i, 'a>(items: &'i [Keyed<'a>]) -> Vec<&'i [Keyed<'a>]> {
    let mut pieces = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (place, item) in items.iter().enumerate() {
        if place > start && bytes + item.record.len() > PIECE {
            pieces.push(&items[start..place]);
            (start, bytes) = (place, 0);
        }
        bytes += item.record.len();
    }
    pieces.extend(Some(&items[start..]).filter(|rest| !rest.is_empty()));
    pieces
}

/// The bytes to write for a piece. A large record is a piece of its own and is not copied.
fn gather<'a>(piece: &[Keyed<'a>], compress: bool, progress: &Progress) -> Result<Cow<'a, [u8]>, Failure> {
    let text = match piece {
        [one] => Cow::Borrowed(one.record),
        many => {
            let mut text = room(many.iter().map(|item| item.record.len()).sum())?;
            many.iter().for_each(|item| text.extend_from_slice(item.record));
            text.into()
        }
    };
    progress.advance(text.len() as u64);
    if compress { compression::gzip(&text).map(Cow::from) } else { Ok(text) }
}

/// Writes text that comes in order. All threads compress it.
pub struct Writer<'a> {
    compress: bool,
    /// Bytes that are compressed at a time.
    window: usize,
    output: &'a mut Output,
    progress: &'a Progress,
    /// Text that is not compressed yet.
    pieces: Vec<Vec<u8>>,
}

impl<'a> Writer<'a> {
    /// Each thread gets at least one piece, however small the window is.
    pub fn new(compress: bool, window: usize, output: &'a mut Output, progress: &'a Progress) -> Self {
        let window = window.max(rayon::current_num_threads() * PIECE);
        Writer { compress, window, output, progress, pieces: Vec::new() }
    }

    pub fn put(&mut self, text: &[u8]) -> Result<(), Failure> {
        self.progress.advance(text.len() as u64);
        if !self.compress {
            return self.output.write(text);
        }
        // A gzip member may end anywhere.
        for text in text.chunks(PIECE) {
            let mut piece = room(text.len())?;
            piece.extend_from_slice(text);
            self.pieces.push(piece);
            if self.pieces.len() * PIECE >= self.window {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Writes the text that was put and is not written yet.
    pub fn flush(&mut self) -> Result<(), Failure> {
        let compressed: Vec<Vec<u8>> =
            self.pieces.par_iter().map(|piece| compression::gzip(piece)).collect::<Result<_, _>>()?;
        self.pieces.clear();
        compressed.iter().try_for_each(|piece| self.output.write(piece))
    }
}

/// Passes the records of `items` to the sink, some at a time.
pub fn gathered(items: &[Keyed<'_>], sink: Sink<'_>) -> Result<(), Failure> {
    for piece in cut(items) {
        match piece {
            [one] => sink(one.record)?,
            many => {
                let mut text = room(many.iter().map(|item| item.record.len()).sum())?;
                many.iter().for_each(|item| text.extend_from_slice(item.record));
                sink(&text)?;
            }
        }
    }
    Ok(())
}
