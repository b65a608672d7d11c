//! Writes records in their new order. They are gathered in parallel, and written in order.

use std::borrow::Cow;

use rayon::prelude::*;

use super::keys::Keyed;
use crate::external::Sink;
use crate::failure::Failure;
use crate::memory::room;
use crate::output::Output;
use crate::progress::Progress;

/// Bytes of records that one task gathers.
const PIECE: usize = 1 << 18;
/// The number of pieces that are written while the next ones are gathered.
const WINDOW: usize = 32;

/// Writes the records of `items`.
pub fn write(items: &[Keyed<'_>], output: &mut Output, progress: &Progress) -> Result<(), Failure> {
    let mut put = |pieces: Vec<Cow<'_, [u8]>>| pieces.iter().try_for_each(|piece| output.write(piece));
    let mut gathered = Vec::new();
    for window in cut(items).chunks(WINDOW) {
        let gather = || window.par_iter().map(|piece| gather(piece, progress)).collect::<Result<_, _>>();
        let (done, next) = rayon::join(|| put(gathered), gather);
        done?;
        gathered = next?;
    }
    put(gathered)
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
fn gather<'a>(piece: &[Keyed<'a>], progress: &Progress) -> Result<Cow<'a, [u8]>, Failure> {
    let text = match piece {
        [one] => Cow::Borrowed(one.record),
        many => {
            let mut text = room(many.iter().map(|item| item.record.len()).sum())?;
            many.iter().for_each(|item| text.extend_from_slice(item.record));
            text.into()
        }
    };
    progress.advance(text.len() as u64);
    Ok(text)
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
