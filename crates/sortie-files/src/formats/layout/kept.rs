//! Which of several items with equal keys are written, and how many items.

use crate::memory::append;
use crate::{Error, Sink};

use super::Layout;

/// Which of several items with equal keys is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Keep {
    #[default]
    First,
    Last,
    /// Only items whose key no other has.
    None,
}

/// Passes on some of the items of sorted pieces.
pub struct Kept<'a, L: ?Sized> {
    layout: &'a L,
    keep: Keep,
    /// How many items may still be passed on.
    left: u64,
    /// The item that may have to be written, or was, and its key.
    last: Vec<u8>,
    key: Vec<u8>,
    next_key: Vec<u8>,
    is_repeated: bool,
}

impl<'a, L: Layout + ?Sized> Kept<'a, L> {
    pub fn new(layout: &'a L, keep: Keep, count: Option<u64>) -> Self {
        let left = count.unwrap_or(u64::MAX);
        Kept {
            layout,
            keep,
            left,
            last: Vec::new(),
            key: Vec::new(),
            next_key: Vec::new(),
            is_repeated: false,
        }
    }

    /// Takes a piece of whole items.
    pub fn take(&mut self, mut piece: &[u8], sink: Sink<'_>) -> Result<(), Error> {
        let mut kept = Vec::new();
        while !piece.is_empty() {
            let first = self.layout.first(piece);
            let bytes = first.ok().flatten().expect("the items were whole when they were read");
            let (item, rest) = piece.split_at(bytes);
            piece = rest;
            self.next_key.clear();
            self.layout.group(item, &mut self.next_key);
            let is_equal = !self.last.is_empty() && self.key == self.next_key;
            if !is_equal {
                self.put_last(&mut kept)?;
                std::mem::swap(&mut self.key, &mut self.next_key);
            }
            self.is_repeated = is_equal;
            if !is_equal || self.keep == Keep::Last {
                self.last.clear();
                append(&mut self.last, item)?;
            }
        }
        sink(&kept)
    }

    /// Ends the items.
    pub fn end(mut self, sink: Sink<'_>) -> Result<(), Error> {
        let mut kept = Vec::new();
        self.put_last(&mut kept)?;
        sink(&kept)
    }

    /// Adds the last item, unless it is to be left out.
    fn put_last(&mut self, kept: &mut Vec<u8>) -> Result<(), Error> {
        let is_out = self.last.is_empty() || self.keep == Keep::None && self.is_repeated || self.left == 0;
        if is_out {
            Ok(())
        } else {
            self.left -= 1;
            append(kept, &self.last)
        }
    }
}
