//! Makes items from the documents of files and folders.

use std::path::Path;
use std::sync::Arc;

use super::files::{Files, Found, Inputs};
use super::json_lines::Lines;
use super::long::Long;
use super::{Choice, ITEM_BYTES, ITEM_FILES, Item, Kind, is_compressed, pieces};
use crate::error::Trouble;

/// The documents of files and folders.
pub struct Walk<'a> {
    files: Files<'a>,
    /// The folder for the text of long lines.
    folder: Arc<Path>,
    /// The file of JSON lines that is being read.
    lines: Option<Lines>,
    long: Option<Long>,
    /// A file that was found but did not fit in the last batch.
    next: Option<Result<Found, Item>>,
    ended: bool,
}

impl<'a> Walk<'a> {
    /// For an index at `target`. Long lines of JSON go to unnamed files in `folder`.
    pub fn new(inputs: Inputs<'a>, choice: Choice, target: &Path, folder: &Path) -> Walk<'a> {
        let files = Files::new(inputs, choice, target);
        Walk { files, folder: folder.into(), lines: None, long: None, next: None, ended: false }
    }

    /// Adds more short files to the first one until there are enough.
    fn batch(&mut self, first: Found) -> Item {
        let mut bytes = first.bytes;
        let mut batch = vec![(first.path, first.kind)];
        while bytes < ITEM_BYTES as u64 && batch.len() < ITEM_FILES {
            match self.files.next() {
                Some(Ok(found)) if found.is_short() => {
                    bytes += found.bytes;
                    batch.push((found.path, found.kind));
                }
                other => {
                    self.next = other;
                    break;
                }
            }
        }
        Item::Files(batch)
    }

    /// Starts to read a file that may be long. Returns a report if it cannot be read.
    fn begin(&mut self, found: &Found) -> Option<Item> {
        let name = found.path.to_string_lossy().into_owned();
        if found.kind != Kind::JsonLines {
            let pieces = pieces(&found.path, found.kind);
            self.long = Some(Long::new(name.clone(), name, &found.path, pieces));
            return None;
        }
        match Lines::open(&found.path, self.folder.clone()) {
            Ok(lines) => {
                self.lines = Some(lines);
                None
            }
            Err(error) => Some(match Trouble::from(error).of(&found.path, name) {
                Ok(skipped) => Item::Skipped(skipped),
                Err(error) => Item::Failed(error),
            }),
        }
    }
}

impl Iterator for Walk<'_> {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(item) = self.long.as_mut().and_then(Iterator::next) {
                return Some(item);
            }
            self.long = None;
            if let Some(item) = self.lines.as_mut().and_then(Iterator::next) {
                return Some(item);
            }
            self.lines = None;
            match self.next.take().or_else(|| self.files.next()) {
                Some(Ok(found)) if found.is_short() => return Some(self.batch(found)),
                Some(Ok(found)) => {
                    if let Some(item) = self.begin(&found) {
                        return Some(item);
                    }
                }
                Some(Err(item)) => return Some(item),
                None if self.ended => return None,
                None => {
                    self.ended = true;
                    return Some(Item::PassedOver(self.files.passed_over));
                }
            }
        }
    }
}

impl Found {
    fn is_short(&self) -> bool {
        // The decompressed length is not known.
        self.bytes <= ITEM_BYTES as u64 && self.kind != Kind::JsonLines && !is_compressed(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_document_comes_in_pieces_of_one_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long.txt");
        std::fs::write(&path, "word ".repeat(ITEM_BYTES)).unwrap();
        let inputs = Box::new([Ok(path.clone())].into_iter());
        let mut names = Vec::new();
        for item in Walk::new(inputs, Choice::default(), &folder.path().join("index"), folder.path()) {
            match item {
                Item::Piece { name, .. } => names.push(name),
                Item::PassedOver(_) => {}
                other => panic!("{other:?}"),
            }
        }
        assert!(names.len() > 5 && names[1..].iter().all(Option::is_none));
        assert_eq!(names[0].as_deref(), path.to_str());
    }
}
