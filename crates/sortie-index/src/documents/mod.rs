//! Sources of documents: files, folders, or documents that a program has in memory.
//!
//! A [`Source`] divides them into items, which threads parse in parallel. A long document comes in pieces, so that no
//! document has to fit in memory. [`text`], [`html`] and [`markdown`] extract the text of a file.

mod files;
mod html;
mod json_lines;
mod long;
mod long_line;
mod markdown;
mod text;
mod walk;

use std::fs::File;
use std::io::{self, Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sortie_formats::compressed::{HEAD, Members, Way};

use crate::error::{Error, Skipped, Trouble};
pub use files::{Choice, PassedOver};
pub use json_lines::documents as json_documents;
pub use walk::Walk;

/// A document in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The name of the document in results. It need not be unique.
    pub name: String,
    pub text: String,
}

/// The unit that one thread parses at a time. Documents are numbered in the order of the items, and within an
/// item in their order.
#[derive(Debug)]
pub enum Item {
    /// Documents in memory.
    Documents(Vec<Document>),
    /// Short files that are one document each.
    Files(Vec<(PathBuf, Kind)>),
    /// Whole lines of a file of JSON lines.
    Lines { path: Arc<Path>, first_line: u64, text: Vec<u8> },
    /// A part of a long document. With a name it starts a new document, else it continues the one before.
    Piece { name: Option<String>, text: String },
    /// A document that is not indexed, and why.
    Skipped(Skipped),
    /// The error that ended the source.
    Failed(Error),
    /// Counts of files that were not read, reported once at the end.
    PassedOver(PassedOver),
}

/// Items in order.
pub type Source<'a> = Box<dyn Iterator<Item = Item> + Send + 'a>;

/// The number of bytes of documents to parse at a time.
const ITEM_BYTES: usize = 512 << 10;
/// The maximum number of files in an item.
const ITEM_FILES: usize = 64;

/// Documents that a program has in memory.
pub fn given<'a>(documents: impl Iterator<Item = Document> + Send + 'a) -> Source<'a> {
    let mut documents = documents.fuse();
    Box::new(std::iter::from_fn(move || {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while bytes < ITEM_BYTES {
            let Some(document) = documents.next() else { break };
            bytes += document.text.len() + document.name.len();
            batch.push(document);
        }
        (!batch.is_empty()).then_some(Item::Documents(batch))
    }))
}

/// The kind of content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    Markdown,
    Html,
    JsonLines,
}

/// Whether a file is compressed, by its name.
fn is_compressed(path: &Path) -> bool {
    Way::of_name(path).is_some()
}

/// The text of a document in pieces of at most about [`ITEM_BYTES`], each cut between words. An error says why the
/// text ends early.
pub type Pieces = Box<dyn Iterator<Item = Result<String, Trouble>> + Send>;

/// The text of a file that is one document.
pub fn pieces(path: &Path, kind: Kind) -> Pieces {
    let file = match open(path) {
        Ok(file) => file,
        Err(error) => return Box::new(std::iter::once(Err(error.into()))),
    };
    match kind {
        Kind::Html => Box::new(html::Pieces::new(file)),
        Kind::Markdown => Box::new(markdown::Pieces::new(file)),
        _ => Box::new(text::Pieces::new(file)),
    }
}

/// Opens a file. If its name says that it is compressed, decompresses it by whatever format its content has.
fn open(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    let mut file = File::open(path)?;
    let Some(named) = Way::of_name(path) else { return Ok(Box::new(file)) };
    let mut head = Vec::with_capacity(HEAD);
    file.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
    let Some(way) = Way::of(&head) else {
        let why = format!("it is not compressed, although its name means {}", named.name());
        return Err(io::Error::new(ErrorKind::InvalidData, why));
    };
    Ok(Box::new(Members::new(way, Cursor::new(head).chain(file))?))
}

/// The message for a document whose byte `at`, counted from 0, is not valid UTF-8.
fn not_utf8(at: u64) -> String {
    format!("not UTF-8 at byte {}", at + 1)
}

/// Where to cut text that continues: after the last blank, else between two characters.
fn cut(text: &[u8]) -> usize {
    if let Some(blank) = text.iter().rposition(u8::is_ascii_whitespace) {
        return blank + 1;
    }
    // A character has at most four bytes.
    let starts = |at: usize| text[at] & 0xC0 != 0x80;
    (text.len().saturating_sub(4)..text.len()).rev().find(|&at| at > 0 && starts(at)).unwrap_or(text.len())
}
