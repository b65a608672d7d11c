//! Files and trees of them, in the order of their names.

use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::json_lines::Lines;
use super::{ITEM_BYTES, ITEM_FILES, Item, Kind, Pieces, is_gzip, pieces};
use crate::error::{Error, Skipped, reason};

/// The documents of files and folders.
///
/// Of a folder all files count whose names end as those of a [`Kind`] do; a file that is named by itself is plain text where
/// its name says nothing else.
pub struct Walk {
    files: Box<dyn Iterator<Item = Result<Found, Skipped>> + Send>,
    /// What may have to be in memory as a whole.
    longest: usize,
    /// The file that is read at present.
    lines: Option<Lines>,
    long: Option<Long>,
    /// Found, but not of the batch before it.
    next: Option<Result<Found, Skipped>>,
}

struct Found {
    path: PathBuf,
    kind: Kind,
    bytes: u64,
}

/// A long document, of which some pieces may have been given out.
struct Long {
    path: PathBuf,
    pieces: Pieces,
    begun: bool,
}

impl Walk {
    /// Of these files and folders, which must all be there. What has to be in memory as a whole (Markdown, a line of JSON)
    /// may have up to `longest` bytes.
    pub fn new(inputs: &[PathBuf], longest: usize) -> Result<Walk, Error> {
        for input in inputs {
            input.metadata().map_err(Error::file("read", input))?;
        }
        let inputs = inputs.to_vec();
        let files = inputs.into_iter().flat_map(|input| files(&input));
        Ok(Walk { files: Box::new(files), longest, lines: None, long: None, next: None })
    }

    fn piece(&mut self) -> Option<Item> {
        let long = self.long.as_mut()?;
        let name = || long.path.to_string_lossy().into_owned();
        let item = match long.pieces.next() {
            Some(Ok(text)) => Item::Piece { name: (!long.begun).then(name), text },
            Some(Err(why)) => {
                let why = if long.begun { format!("{why}; what is before it is kept") } else { why };
                let skipped = Item::Skipped(Skipped { place: name(), why });
                self.long = None;
                return Some(skipped);
            }
            // It had no text at all.
            None if !long.begun => Item::Piece { name: Some(name()), text: String::new() },
            None => {
                self.long = None;
                return None;
            }
        };
        long.begun = true;
        Some(item)
    }

    /// Adds short files to the first one, until they are enough.
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
}

impl Iterator for Walk {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(item) = self.piece() {
                return Some(item);
            }
            if let Some(item) = self.lines.as_mut().and_then(Iterator::next) {
                return Some(item);
            }
            self.lines = None;
            let found = match self.next.take().or_else(|| self.files.next())? {
                Ok(found) => found,
                Err(skipped) => return Some(Item::Skipped(skipped)),
            };
            if found.is_short() {
                return Some(self.batch(found));
            }
            if found.kind == Kind::JsonLines {
                match Lines::open(&found.path, self.longest) {
                    Ok(lines) => self.lines = Some(lines),
                    Err(skipped) => return Some(Item::Skipped(skipped)),
                }
            } else {
                let pieces = pieces(&found.path, found.kind, self.longest);
                self.long = Some(Long { path: found.path, pieces, begun: false });
            }
        }
    }
}

impl Found {
    fn is_short(&self) -> bool {
        // How long it is when decompressed is not known.
        self.bytes <= ITEM_BYTES as u64 && self.kind != Kind::JsonLines && !is_gzip(&self.path)
    }
}

/// The files with documents under an input.
fn files(input: &Path) -> Box<dyn Iterator<Item = Result<Found, Skipped>> + Send> {
    let tree = WalkDir::new(input).sort_by_file_name().into_iter();
    Box::new(tree.filter_map(|entry| match entry {
        Err(error) => {
            let place = error.path().map_or_else(String::new, |path| path.to_string_lossy().into_owned());
            let why = error.io_error().map_or_else(|| error.to_string(), reason);
            Some(Err(Skipped { place, why }))
        }
        Ok(entry) if entry.depth() > 0 && !entry.file_type().is_file() => None,
        Ok(entry) => {
            let (depth, path) = (entry.depth(), entry.path().to_owned());
            let meta = if depth == 0 { path.metadata() } else { entry.metadata().map_err(Into::into) };
            match meta {
                Ok(meta) if meta.is_dir() => None,
                Ok(meta) => {
                    let kind = Kind::of(&path).or((depth == 0).then_some(Kind::Text))?;
                    // A pipe says nothing of its length.
                    let bytes = if meta.is_file() { meta.len() } else { u64::MAX };
                    Some(Ok(Found { path, kind, bytes }))
                }
                Err(error) => {
                    Some(Err(Skipped { place: path.to_string_lossy().into_owned(), why: reason(&error) }))
                }
            }
        }
    }))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn trees_are_walked_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("b/c")).unwrap();
        for name in ["z.txt", "a.HTML", "b/c/d.md", "b/c/picture.png", "b.jsonl", "no_ending"] {
            fs::write(root.join(name), "x").unwrap();
        }
        let found: Vec<_> = files(root).map(|found| found.ok().unwrap()).collect();
        let names: Vec<_> = found.iter().map(|found| found.path.strip_prefix(root).unwrap()).collect();
        assert_eq!(names, ["a.HTML", "b/c/d.md", "b.jsonl", "z.txt"].map(Path::new));
        assert_eq!(files(&root.join("no_ending")).count(), 1);
        assert!(Walk::new(&[root.join("gone")], 100).is_err());
    }

    #[test]
    fn a_pipe_may_be_long() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let found = files(&pipe).next().unwrap().ok().unwrap();
        assert!(found.kind == Kind::Text && !found.is_short());
    }

    #[test]
    fn a_long_document_comes_in_pieces_of_one_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long.txt");
        fs::write(&path, "word ".repeat(ITEM_BYTES)).unwrap();
        let mut names = Vec::new();
        for item in Walk::new(std::slice::from_ref(&path), 100).unwrap() {
            let Item::Piece { name, .. } = item else { panic!("{item:?}") };
            names.push(name);
        }
        assert!(names.len() > 5 && names[1..].iter().all(Option::is_none));
        assert_eq!(names[0].as_deref(), path.to_str());
    }
}
