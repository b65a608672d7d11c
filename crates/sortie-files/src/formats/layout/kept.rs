//! Which of several items with equal keys are written, how many items, and how.

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
    /// The first, of those whose key others have too.
    Repeated,
}

/// Passes on items of sorted pieces as they are written.
pub struct Kept<'a, L: ?Sized> {
    layout: &'a L,
    /// Which of the items with equal keys are passed on, if not all.
    keep: Option<Keep>,
    /// How many items may still be passed on.
    left: u64,
    /// Gets the items that are left out because others have their keys.
    others: Option<Sink<'a>>,
    /// The item that may have to be written, the key, and how many items had that key.
    last: Vec<u8>,
    key: Vec<u8>,
    count: u64,
    next_key: Vec<u8>,
}

/// The items of a piece.
#[derive(Default)]
struct Piece {
    kept: Vec<u8>,
    others: Vec<u8>,
}

impl<'a, L: Layout + ?Sized> Kept<'a, L> {
    pub fn new(layout: &'a L, keep: Option<Keep>, most: Option<u64>, others: Option<Sink<'a>>) -> Self {
        Kept {
            layout,
            keep,
            left: most.unwrap_or(u64::MAX),
            others,
            last: Vec::new(),
            key: Vec::new(),
            count: 0,
            next_key: Vec::new(),
        }
    }

    /// Takes a piece of whole items.
    pub fn take(&mut self, mut bytes: &[u8], sink: Sink<'_>) -> Result<(), Error> {
        let mut piece = Piece::default();
        while !bytes.is_empty() {
            let first = self.layout.first(bytes);
            let length = first.ok().flatten().expect("the items were whole when they were read");
            let (item, rest) = bytes.split_at(length);
            bytes = rest;
            match self.keep {
                Some(keep) => self.choose(item, keep, &mut piece)?,
                None => self.layout.write(item, 1, &mut piece.kept)?,
            }
        }
        self.pass(&piece, sink)
    }

    /// Ends the items.
    pub fn end(mut self, sink: Sink<'_>) -> Result<(), Error> {
        let mut piece = Piece::default();
        self.put_last(&mut piece)?;
        self.pass(&piece, sink)
    }

    fn pass(&mut self, piece: &Piece, sink: Sink<'_>) -> Result<(), Error> {
        if let Some(others) = &mut self.others {
            others(&piece.others)?;
        }
        sink(&piece.kept)
    }

    fn choose(&mut self, item: &[u8], keep: Keep, piece: &mut Piece) -> Result<(), Error> {
        if self.layout.is_comment(item) {
            self.put_last(piece)?;
            self.count = 0;
            return self.put(item, 1, piece);
        }
        self.next_key.clear();
        self.layout.group(item, &mut self.next_key);
        if self.count == 0 || self.key != self.next_key {
            self.put_last(piece)?;
            std::mem::swap(&mut self.key, &mut self.next_key);
            self.count = 1;
            self.last.clear();
            return append(&mut self.last, item);
        }
        self.count += 1;
        if self.others.is_some() && (keep == Keep::Last || keep == Keep::None && self.count == 2) {
            append(&mut piece.others, &self.last)?;
        }
        if keep == Keep::Last {
            self.last.clear();
            append(&mut self.last, item)?;
        } else if self.others.is_some() {
            append(&mut piece.others, item)?;
        }
        Ok(())
    }

    /// Adds the last item, unless it is to be left out.
    fn put_last(&mut self, piece: &mut Piece) -> Result<(), Error> {
        let is_in = match self.keep {
            Some(Keep::First | Keep::Last) => self.count > 0,
            Some(Keep::None) => self.count == 1,
            Some(Keep::Repeated) => self.count > 1,
            None => false,
        };
        if is_in {
            let last = std::mem::take(&mut self.last);
            self.put(&last, self.count, piece)?;
            self.last = last;
        }
        Ok(())
    }

    /// Adds an item, unless there are enough.
    fn put(&mut self, item: &[u8], count: u64, piece: &mut Piece) -> Result<(), Error> {
        if self.left > 0 {
            self.left -= 1;
            self.layout.write(item, count, &mut piece.kept)?;
        }
        Ok(())
    }
}
