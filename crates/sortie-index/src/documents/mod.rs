//! Where documents come from: files and trees of them, or whatever a program has at hand.
//!
//! A [`Source`] cuts them to items, which threads take one after the other and parse at the same time. What is long comes
//! in pieces, so that no document has to fit memory; [`text`], [`html`] and [`markdown`] make text of what a file holds.

mod files;
mod html;
mod json_lines;
mod long;
mod long_line;
mod markdown;
mod text;
mod walk;

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::read::MultiGzDecoder;

use crate::error::{Error, Skipped, Trouble};
pub use files::{Choice, PassedOver};
pub use json_lines::documents as json_documents;
pub use walk::Walk;

/// A document of a program's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// What it is called in results; need not be unique.
    pub name: String,
    pub text: String,
}

/// What one thread parses at a time. Documents are numbered in the order of items, and within them.
#[derive(Debug)]
pub enum Item {
    /// Documents at hand.
    Documents(Vec<Document>),
    /// Files of one document each, none of them long.
    Files(Vec<(PathBuf, Kind)>),
    /// Whole lines of a file of JSON lines.
    Lines { path: Arc<Path>, first_line: u64, text: Vec<u8> },
    /// A part of a long document: of a new one where it has a name, else of the one before.
    Piece { name: Option<String>, text: String },
    /// What is not indexed.
    Skipped(Skipped),
    /// Why there are no more.
    Failed(Error),
    /// What was not looked at, told once at the end.
    PassedOver(PassedOver),
}

/// Items in order.
pub type Source<'a> = Box<dyn Iterator<Item = Item> + Send + 'a>;

/// So many bytes of documents are parsed at a time.
const ITEM_BYTES: usize = 512 << 10;
/// So many files at most: the last of them has to wait for the others.
const ITEM_FILES: usize = 64;

/// Documents that a program has at hand.
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

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    Markdown,
    Html,
    JsonLines,
}

/// Whether a file is compressed, by its name.
fn is_gzip(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}

/// The text of a document in pieces that end where a word does, of about [`ITEM_BYTES`] at most, or why it ends early.
pub type Pieces = Box<dyn Iterator<Item = Result<String, Trouble>> + Send>;

/// The text of a file of one document.
pub fn pieces(path: &Path, kind: Kind) -> Pieces {
    let file = match open(path) {
        Ok(file) => file,
        Err(error) => return Box::new(std::iter::once(Err(Trouble::Read(error)))),
    };
    match kind {
        Kind::Html => Box::new(html::Pieces::new(file)),
        Kind::Markdown => Box::new(markdown::Pieces::new(file)),
        _ => Box::new(text::Pieces::new(file)),
    }
}

/// What a file holds, decompressed.
fn open(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    let file = File::open(path)?;
    Ok(if is_gzip(path) { Box::new(MultiGzDecoder::new(BufReader::new(file))) } else { Box::new(file) })
}

/// What is said of a document whose byte `at`, counted from 0, begins no character.
fn not_utf8(at: u64) -> String {
    format!("not UTF-8 at byte {}", at + 1)
}

/// Where to cut text that goes on: after its last blank, else between two characters.
fn cut(text: &[u8]) -> usize {
    if let Some(blank) = text.iter().rposition(u8::is_ascii_whitespace) {
        return blank + 1;
    }
    // No character has more than four bytes.
    let starts = |at: usize| text[at] & 0xC0 != 0x80;
    (text.len().saturating_sub(4)..text.len()).rev().find(|&at| at > 0 && starts(at)).unwrap_or(text.len())
}
