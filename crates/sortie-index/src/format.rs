//! The files of an index, and the header that describes them.
//!
//! All numbers are little-endian. The header has the magic number, the version, the counts, the length and checksum
//! (CRC-32) of each of the other files, and last a checksum of the header. Each of these has 64 bits. The files are:
//!
//! - `terms`: the terms, with the counts and lengths of their lists, see [`terms`](crate::terms);
//! - `postings`: the lists, see [`postings`](crate::postings);
//! - `names`: the names of the documents, one after the other, and `name-ends`: where each ends, 64 bits;
//! - `lengths`: the number of words in each document, 32 bits.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::error::Error;

pub const HEADER: &str = "header";
pub const FILES: [&str; 5] = ["terms", "postings", "names", "name-ends", "lengths"];

/// Indices in [`FILES`].
pub const TERMS: usize = 0;
pub const POSTINGS: usize = 1;
pub const NAMES: usize = 2;
pub const NAME_ENDS: usize = 3;
pub const LENGTHS: usize = 4;

const MAGIC: u64 = u64::from_le_bytes(*b"SORTIE\x00I");
/// Changes whenever the format of the files changes.
const VERSION: u64 = 2;

/// The numbers of documents, terms, postings and words in an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub documents: u64,
    pub terms: u64,
    /// The number of pairs of a term and a document that contains it.
    pub postings: u64,
    /// The number of words in all documents.
    pub words: u64,
}

/// The length of a file and its checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seal {
    pub bytes: u64,
    pub crc: u32,
}

/// The content of the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub counts: Counts,
    pub seals: [Seal; FILES.len()],
}

const WORDS: usize = 2 + 4 + 2 * FILES.len() + 1;
/// The size of the header in bytes.
pub const HEADER_BYTES: usize = 8 * WORDS;

impl Header {
    pub fn to_bytes(self) -> Vec<u8> {
        let Counts { documents, terms, postings, words } = self.counts;
        let mut all = vec![MAGIC, VERSION, documents, terms, postings, words];
        all.extend(self.seals.iter().flat_map(|seal| [seal.bytes, seal.crc.into()]));
        let mut bytes: Vec<u8> = all.into_iter().flat_map(u64::to_le_bytes).collect();
        let crc = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&u64::from(crc).to_le_bytes());
        bytes
    }

    /// Whether a file starts like a header.
    pub fn begins(path: &Path) -> io::Result<bool> {
        let mut bytes = Vec::new();
        File::open(path)?.take(8).read_to_end(&mut bytes)?;
        Ok(bytes == MAGIC.to_le_bytes())
    }

    /// Decodes the header from the bytes of its file.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Header, Error> {
        let not = |why: String| Error::NotAnIndex { path: path.to_owned(), why };
        let words: Vec<u64> = bytes
            .chunks_exact(8)
            .take(WORDS)
            .map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")))
            .collect();
        if words.first() != Some(&MAGIC) {
            return Err(not("not a Sortie index".into()));
        }
        match words.get(1) {
            Some(&VERSION) => {}
            Some(other) => {
                let why = format!(
                    "an index of version {other}, but this program reads version {VERSION}; build it again"
                );
                return Err(not(why));
            }
            None => return Err(Error::damaged(path, "the header is cut short")),
        }
        if bytes.len() != HEADER_BYTES {
            return Err(Error::damaged(path, format!("{} bytes, not {HEADER_BYTES}", bytes.len())));
        }
        if words[WORDS - 1] != u64::from(crc32fast::hash(&bytes[..HEADER_BYTES - 8])) {
            return Err(Error::damaged(path, "the checksum is wrong"));
        }
        let counts = Counts { documents: words[2], terms: words[3], postings: words[4], words: words[5] };
        let seal = |file| Seal { bytes: words[6 + 2 * file], crc: words[7 + 2 * file] as u32 };
        Ok(Header { counts, seals: std::array::from_fn(seal) })
    }
}
