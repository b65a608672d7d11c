//! Writing sorted lines: gathered in parallel from wherever they lie, written in order.
//!
//! One thread writes a window of lines while the others, and it too once it is done, gather the next. More
//! writers would gain nothing: writes to one file wait for each other in the file system.

use std::ops::Range;

use rayon::prelude::*;

use super::LineSort;
use super::items::Item;
use crate::external::Sink;
use crate::failure::Failure;
use crate::memory::{append_line, room};

/// Bytes of a block, approximately. One thread gathers a block of a window.
const BLOCK: usize = 128 << 10;
/// Bytes that a single thread gathers before it writes them.
const BLOCK_ALONE: usize = 64 << 10;

/// Writes `items` in order, and of equal keys only the first where the order is `unique`.
pub fn gather<'a, T: Item<'a>>(items: &[T], job: &LineSort, sink: Sink<'_>) -> Result<(), Failure> {
    let bytes = items.iter().map(|item| item.line().len() + 1).sum();
    job.ledger.timed("write", bytes, bytes, || match job.is_alone() {
        true => write_alone(items, job, sink),
        false => write_windows(items, job, sink),
    })
}

/// Writes with one thread. Short lines are gathered in a block that stays in the cache; a line as long as the block is written
/// directly.
fn write_alone<'a, T: Item<'a>>(items: &[T], job: &LineSort, sink: Sink<'_>) -> Result<(), Failure> {
    let mut block = room(items.iter().map(|item| item.line().len() + 1).sum::<usize>().min(BLOCK_ALONE))?;
    for (place, item) in items.iter().enumerate() {
        if job.order.unique() && !is_new(items, place) {
            continue;
        }
        let line = item.line();
        if block.len() + line.len() + 1 > BLOCK_ALONE && !block.is_empty() {
            sink(&block)?;
            block.clear();
        }
        // Marks are put under a line as a whole.
        if line.len() >= BLOCK_ALONE && !job.debug {
            sink(line)?;
            sink(&[job.terminator])?;
        } else {
            append_line(&mut block, line, job.terminator)?;
        }
    }
    if block.is_empty() { Ok(()) } else { sink(&block) }
}

fn write_windows<'a, T: Item<'a>>(items: &[T], job: &LineSort, sink: Sink<'_>) -> Result<(), Failure> {
    let mut start = 0;
    let mut full: Vec<Vec<u8>> = Vec::new();
    let mut empty: Vec<Vec<u8>> = Vec::new();
    loop {
        let window = window(items, start, job.window);
        let end = window.places.end;
        if let [item] = items[window.places.clone()]
            && item.line().len() >= job.window
            && !job.debug
        {
            // A line of this size is written from where it lies.
            write(&mut full, sink)?;
            if !job.order.unique() || is_new(items, start) {
                sink(item.line())?;
                sink(&[job.terminator])?;
            }
        } else if full.is_empty() && end == items.len() {
            // All that there is, so nothing goes on at the same time.
            fill(items, window, &mut empty, job)?;
            write(&mut empty, sink)?;
        } else {
            let (written, filled) =
                rayon::join(|| write(&mut full, sink), || fill(items, window, &mut empty, job));
            written.and(filled)?;
            std::mem::swap(&mut full, &mut empty);
        }
        if end == items.len() {
            return write(&mut full, sink);
        }
        start = end;
    }
}

/// The lines that are written next.
struct Window {
    places: Range<usize>,
    bytes: usize,
}

/// The window that begins at `start` and has at most `most` bytes. A longer line is a window of its own.
fn window<'a, T: Item<'a>>(items: &[T], start: usize, most: usize) -> Window {
    let mut bytes = 0;
    for (place, item) in items.iter().enumerate().skip(start) {
        let length = item.line().len() + 1;
        if bytes > 0 && bytes + length > most {
            return Window { places: start..place, bytes };
        }
        bytes += length;
    }
    Window { places: start..items.len(), bytes }
}

fn write(blocks: &mut [Vec<u8>], sink: Sink<'_>) -> Result<(), Failure> {
    blocks.iter_mut().try_for_each(|block| {
        let written = sink(block);
        block.clear();
        written
    })
}

fn fill<'a, T: Item<'a>>(
    items: &[T],
    window: Window,
    blocks: &mut Vec<Vec<u8>>,
    job: &LineSort,
) -> Result<(), Failure> {
    let Window { places, bytes } = window;
    blocks.resize_with(bytes.div_ceil(BLOCK).max(1), Vec::new);
    let share = places.len().div_ceil(blocks.len());
    let fill_block = |(i, block): (usize, &mut Vec<u8>)| {
        let start = (places.start + i * share).min(places.end);
        let end = (start + share).min(places.end);
        for place in start..end {
            if job.order.unique() && !is_new(items, place) {
                continue;
            }
            append_line(block, items[place].line(), job.terminator)?;
        }
        Ok(())
    };
    if blocks.len() == 1 {
        blocks.iter_mut().enumerate().try_for_each(fill_block)
    } else {
        blocks.par_iter_mut().enumerate().try_for_each(fill_block)
    }
}

/// Whether the item's key is not that of the item before.
fn is_new<'a, T: Item<'a>>(items: &[T], place: usize) -> bool {
    place == 0 || items[place].as_ref() != items[place - 1].as_ref()
}
