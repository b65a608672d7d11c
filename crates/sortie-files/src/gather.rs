//! Writes sorted items: several threads copy items from memory into windows, and the windows are written in order.
//!
//! One thread writes a window while the others gather the next one; when it has finished writing, it joins them. More
//! writing threads would gain nothing, because the file system serialises writes to one file.

use std::ops::Range;

use rayon::prelude::*;

use crate::Error;
use crate::memory::{append, append_line, room};
use crate::sink::Sink;

/// The approximate number of bytes in a block. One thread gathers one block of a window at a time.
const BLOCK: usize = 128 << 10;
/// The number of bytes that a single thread gathers before it writes them.
const BLOCK_ALONE: usize = 64 << 10;

/// An item that compares by its key, which `as_ref` returns.
pub trait Item<'a>: AsRef<[u8]> + Copy + Send + Sync {
    fn bytes(&self) -> &'a [u8];
}

impl<'a> Item<'a> for &'a [u8] {
    fn bytes(&self) -> &'a [u8] {
        self
    }
}

/// An item and its key.
#[derive(Debug, Clone, Copy)]
pub struct Keyed<'k, 'a> {
    pub key: &'k [u8],
    pub bytes: &'a [u8],
}

impl AsRef<[u8]> for Keyed<'_, '_> {
    fn as_ref(&self) -> &[u8] {
        self.key
    }
}

impl<'a> Item<'a> for Keyed<'_, 'a> {
    fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

/// How sorted items are written.
pub struct Gather {
    /// The number of bytes that are gathered and written at a time.
    pub window: usize,
    /// The byte to write after each item, if any.
    pub terminator: Option<u8>,
    /// Whether only the first of several items with equal keys is written.
    pub unique: bool,
    /// Whether an item and its terminator must reach the sink in one piece.
    pub whole: bool,
    /// Whether the calling thread does all the work.
    pub alone: bool,
}

impl Gather {
    /// Writes `items` in order.
    pub fn write<'a, T: Item<'a>>(&self, items: &[T], sink: Sink<'_>) -> Result<(), Error> {
        if self.alone { self.write_alone(items, sink) } else { self.write_windows(items, sink) }
    }

    /// Writes with one thread. Short items are gathered in a block that stays in the cache.
    fn write_alone<'a, T: Item<'a>>(&self, items: &[T], sink: Sink<'_>) -> Result<(), Error> {
        let mut block = room(self.bytes(items).min(BLOCK_ALONE))?;
        for (place, item) in items.iter().enumerate() {
            if !self.is_written(items, place) {
                continue;
            }
            self.put(&mut block, BLOCK_ALONE, item, sink)?;
        }
        if block.is_empty() { Ok(()) } else { sink(&block) }
    }

    /// Adds an item to a block. If the block would have more than `most` bytes, it is written first. An item of `most` bytes or
    /// more is written directly, unless items must stay in one piece.
    pub fn put<'a>(
        &self,
        block: &mut Vec<u8>,
        most: usize,
        item: &impl Item<'a>,
        sink: Sink<'_>,
    ) -> Result<(), Error> {
        if block.len() + self.length(item) > most && !block.is_empty() {
            sink(block)?;
            block.clear();
        }
        if item.bytes().len() >= most && !self.whole {
            self.write_one(item, sink)
        } else {
            self.append(block, item)
        }
    }

    fn write_windows<'a, T: Item<'a>>(&self, items: &[T], sink: Sink<'_>) -> Result<(), Error> {
        let mut start = 0;
        let mut full: Vec<Vec<u8>> = Vec::new();
        let mut empty: Vec<Vec<u8>> = Vec::new();
        loop {
            let window = self.window(items, start);
            let end = window.places.end;
            if let [item] = &items[window.places.clone()]
                && item.bytes().len() >= self.window
                && !self.whole
            {
                // An item of this size is written without a copy.
                write(&mut full, sink)?;
                if self.is_written(items, start) {
                    self.write_one(item, sink)?;
                }
            } else if full.is_empty() && end == items.len() {
                // No window waits to be written and none follows this one, so nothing can overlap.
                self.fill(items, window, &mut empty)?;
                write(&mut empty, sink)?;
            } else {
                let (written, filled) =
                    rayon::join(|| write(&mut full, sink), || self.fill(items, window, &mut empty));
                written.and(filled)?;
                std::mem::swap(&mut full, &mut empty);
            }
            if end == items.len() {
                return write(&mut full, sink);
            }
            start = end;
        }
    }

    /// The window that starts at `start`. An item longer than a window is a window of its own.
    fn window<'a, T: Item<'a>>(&self, items: &[T], start: usize) -> Window {
        let mut bytes = 0;
        for (place, item) in items.iter().enumerate().skip(start) {
            let length = self.length(item);
            if bytes > 0 && bytes + length > self.window {
                return Window { places: start..place, bytes };
            }
            bytes += length;
        }
        Window { places: start..items.len(), bytes }
    }

    fn fill<'a, T: Item<'a>>(
        &self,
        items: &[T],
        window: Window,
        blocks: &mut Vec<Vec<u8>>,
    ) -> Result<(), Error> {
        let Window { places, bytes } = window;
        blocks.resize_with(bytes.div_ceil(BLOCK).max(1), Vec::new);
        let share = places.len().div_ceil(blocks.len());
        let fill_block = |(i, block): (usize, &mut Vec<u8>)| {
            let start = (places.start + i * share).min(places.end);
            let end = (start + share).min(places.end);
            (start..end)
                .filter(|&place| self.is_written(items, place))
                .try_for_each(|place| self.append(block, &items[place]))
        };
        if blocks.len() == 1 {
            blocks.iter_mut().enumerate().try_for_each(fill_block)
        } else {
            blocks.par_iter_mut().enumerate().try_for_each(fill_block)
        }
    }

    /// The bytes of all items as they are written, including those that may be left out as equal.
    pub fn bytes<'a, T: Item<'a>>(&self, items: &[T]) -> usize {
        items.iter().map(|item| self.length(item)).sum()
    }

    /// The bytes of the items that are copied before they are written: those shorter than a window.
    pub fn copied<'a, T: Item<'a>>(&self, items: &[T]) -> usize {
        items.iter().map(|item| self.length(item)).filter(|&length| length < self.window).sum()
    }

    /// The bytes of the items that are written.
    pub fn written<'a, T: Item<'a>>(&self, items: &[T]) -> usize {
        let written = (0..items.len()).filter(|&place| self.is_written(items, place));
        written.map(|place| self.length(&items[place])).sum()
    }

    fn length<'a>(&self, item: &impl Item<'a>) -> usize {
        item.bytes().len() + usize::from(self.terminator.is_some())
    }

    /// Whether the item is written. Under `unique` it is left out if the item before has the same key.
    fn is_written<'a, T: Item<'a>>(&self, items: &[T], place: usize) -> bool {
        !self.unique || place == 0 || items[place].as_ref() != items[place - 1].as_ref()
    }

    fn append<'a>(&self, block: &mut Vec<u8>, item: &impl Item<'a>) -> Result<(), Error> {
        match self.terminator {
            Some(terminator) => append_line(block, item.bytes(), terminator),
            None => append(block, item.bytes()),
        }
    }

    /// Writes an item without copying it.
    fn write_one<'a>(&self, item: &impl Item<'a>, sink: Sink<'_>) -> Result<(), Error> {
        sink(item.bytes())?;
        self.terminator.map_or(Ok(()), |terminator| sink(&[terminator]))
    }
}

/// The range of items to write next, and their bytes.
struct Window {
    places: Range<usize>,
    bytes: usize,
}

fn write(blocks: &mut [Vec<u8>], sink: Sink<'_>) -> Result<(), Error> {
    blocks.iter_mut().try_for_each(|block| {
        let written = sink(block);
        block.clear();
        written
    })
}
