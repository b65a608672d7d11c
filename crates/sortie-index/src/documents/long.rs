//! A document that may be long, returned in pieces. The first piece has its name.

use std::path::Path;

use super::{Item, Pieces};
use crate::error::{Reason, Skipped};

/// A document, some of whose pieces may have been returned.
pub struct Long {
    name: String,
    /// The position for messages.
    place: String,
    path: Box<Path>,
    /// `None` once it has ended.
    pieces: Option<Pieces>,
    begun: bool,
}

impl Long {
    pub fn new(name: String, place: String, path: &Path, pieces: Pieces) -> Long {
        Long { name, place, path: path.into(), pieces: Some(pieces), begun: false }
    }
}

impl Iterator for Long {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        let begun = std::mem::replace(&mut self.begun, true);
        let name = (!begun).then(|| self.name.clone());
        match self.pieces.as_mut()?.next() {
            Some(Ok(text)) => Some(Item::Piece { name, text }),
            Some(Err(trouble)) => {
                self.pieces = None;
                Some(match trouble.of(&self.path, self.place.clone()) {
                    Ok(Skipped { place, why, reason: Reason::Defective }) if begun => {
                        let why = format!("{why}; the text before it is kept");
                        Item::Skipped(Skipped { place, why, reason: Reason::Defective })
                    }
                    Ok(skipped) => Item::Skipped(skipped),
                    Err(error) => Item::Failed(error),
                })
            }
            None => {
                self.pieces = None;
                // The document has no text.
                name.map(|name| Item::Piece { name: Some(name), text: String::new() })
            }
        }
    }
}
