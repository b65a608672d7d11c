//! An index on disk, mapped to be read.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use rustix::fs::{CWD, Mode, OFlags, openat};

use crate::error::Error;
use crate::format::{
    Counts, FILES, HEADER, HEADER_BYTES, Header, LENGTHS, NAME_ENDS, NAMES, POSTINGS, Seal, TERMS,
};
use crate::postings::{Decoder, List};

/// An index, open to be searched.
///
/// Its files are mapped, not read: it takes no more memory than is looked at. They stay what they were when it was opened,
/// also where another index takes their place. What is in them is believed only as far as it makes sense: a damaged file gives
/// [`Error::Damaged`]; [`Index::check`] looks at all of them.
pub struct Index {
    path: PathBuf,
    header: Header,
    terms: fst::Map<Mmap>,
    files: [Mmap; FILES.len() - 1],
}

impl Index {
    /// Opens the index in a folder. Reads the header and, since a damaged dictionary leads anywhere, that.
    ///
    /// # Errors
    /// [`Error::NotAnIndex`], [`Error::Damaged`], [`Error::File`].
    pub fn open(path: &Path) -> Result<Index, Error> {
        match Index::open_once(path) {
            // Another index may just have taken the place of the one whose folder was opened.
            Err(Error::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Index::open_once(path)
            }
            other => other,
        }
    }

    fn open_once(path: &Path) -> Result<Index, Error> {
        let folder = openat(CWD, path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        let folder = folder.map_err(|error| Error::file("read", path)(error.into()))?;
        let mut bytes = Vec::new();
        let file = open_in(&folder, path, HEADER)?;
        let read = file.take(HEADER_BYTES as u64 + 1).read_to_end(&mut bytes);
        read.map_err(Error::file("read", &path.join(HEADER)))?;
        let header = Header::parse(&bytes, &path.join(HEADER))?;

        let map = |file: usize| map(&folder, path, file, header.seals[file]);
        let terms_path = path.join(FILES[TERMS]);
        let terms = map(TERMS)?;
        check_seal(&terms, header.seals[TERMS], &terms_path)?;
        let terms = fst::Map::new(terms);
        let terms = terms.map_err(|error| Error::damaged(&terms_path, error.to_string()))?;
        let index = Index {
            path: path.to_owned(),
            terms,
            files: [map(POSTINGS)?, map(NAMES)?, map(NAME_ENDS)?, map(LENGTHS)?],
            header,
        };
        index.check_counts().map(|()| index)
    }

    /// Whether the files are as long as the counts say.
    fn check_counts(&self) -> Result<(), Error> {
        let Counts { documents, terms, .. } = self.header.counts;
        let is = [
            (TERMS, self.terms.len() as u64, terms),
            (NAME_ENDS, self.file(NAME_ENDS).len() as u64, documents.saturating_mul(8)),
            (LENGTHS, self.file(LENGTHS).len() as u64, documents.saturating_mul(4)),
        ];
        match is.into_iter().find(|(_, is, should)| is != should) {
            None if documents <= u32::MAX.into() => Ok(()),
            None => Err(self.damaged(LENGTHS, "more documents than can be counted")),
            Some((file, is, should)) => Err(self.damaged(file, format!("its size is {is}, not {should}"))),
        }
    }

    /// How much of what it holds.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.header.counts
    }

    /// Each file's name and length in bytes.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let header = (HEADER, HEADER_BYTES as u64);
        let seals = self.header.seals;
        std::iter::once(header).chain(FILES.into_iter().zip(seals.map(|seal| seal.bytes)))
    }

    /// The name of a document. O(1).
    ///
    /// # Errors
    /// [`Error::Damaged`], also where there is no document of that number.
    pub fn name(&self, document: u32) -> Result<&str, Error> {
        let end = |document: usize| {
            let bytes = self.file(NAME_ENDS).get(8 * document..8 * document + 8)?;
            usize::try_from(u64::from_le_bytes(bytes.try_into().ok()?)).ok()
        };
        let document = document as usize;
        let start = if document == 0 { Some(0) } else { end(document - 1) };
        let name = start.zip(end(document)).and_then(|(start, end)| self.file(NAMES).get(start..end));
        let name = name.ok_or_else(|| self.damaged(NAME_ENDS, format!("no name of document {document}")))?;
        std::str::from_utf8(name)
            .map_err(|_| self.damaged(NAMES, format!("the name of document {document} is not UTF-8")))
    }

    /// How many words a document has. O(1).
    ///
    /// # Errors
    /// [`Error::Damaged`], also where there is no document of that number.
    pub fn length(&self, document: u32) -> Result<u32, Error> {
        let at = 4 * document as usize;
        let bytes = self.file(LENGTHS).get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        let bytes =
            bytes.ok_or_else(|| self.damaged(POSTINGS, format!("there is no document {document}")))?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// The list of a term, which must be folded as [`Tokenizer`](crate::Tokenizer) does; nothing where it is in no document.
    /// O(bytes of the term).
    ///
    /// # Errors
    /// [`Error::Damaged`].
    pub fn postings(&self, term: &[u8]) -> Result<Option<Postings<'_>>, Error> {
        self.terms.get(term).map(|tail| self.postings_at(tail)).transpose()
    }

    /// The list whose tail begins at a place.
    pub(crate) fn postings_at(&self, tail: u64) -> Result<Postings<'_>, Error> {
        let decoder = Decoder::new(self.file(POSTINGS), tail);
        let (decoder, end) = decoder.map_err(|why| self.damaged(POSTINGS, why))?;
        Ok(Postings { index: self, decoder, end, failed: false })
    }

    pub(crate) fn terms(&self) -> &fst::Map<Mmap> {
        &self.terms
    }

    pub(crate) fn file(&self, file: usize) -> &[u8] {
        &self.files[file - 1]
    }

    /// Whether a file holds what was written.
    pub(crate) fn check_file(&self, file: usize) -> Result<(), Error> {
        let bytes = if file == TERMS { self.terms.as_fst().as_bytes() } else { self.file(file) };
        check_seal(bytes, self.header.seals[file], &self.path.join(FILES[file]))
    }

    pub(crate) fn damaged(&self, file: usize, why: impl Into<String>) -> Error {
        Error::damaged(&self.path.join(FILES[file]), why)
    }
}

/// The list of a term: the documents that it is in, in the order of their numbers.
pub struct Postings<'a> {
    index: &'a Index,
    decoder: Decoder<'a>,
    /// Where it ends, its tail included.
    pub(crate) end: usize,
    failed: bool,
}

impl Postings<'_> {
    /// How many documents there are, and how often the term is in all of them.
    #[must_use]
    pub fn list(&self) -> List {
        self.decoder.list()
    }

    /// Bytes of the list without its tail.
    pub(crate) fn bytes(&self) -> usize {
        self.decoder.bytes()
    }
}

impl Iterator for Postings<'_> {
    type Item = Result<Posting, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let posting = self.decoder.next();
        self.failed = posting.is_err();
        posting.map_err(|why| self.index.damaged(POSTINGS, why)).transpose()
    }
}

pub use crate::run::Posting;

fn open_in(folder: &OwnedFd, path: &Path, name: &str) -> Result<File, Error> {
    let file = openat(folder, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    match file {
        Ok(file) => Ok(file.into()),
        Err(rustix::io::Errno::NOENT) if name == HEADER && path.is_dir() && !path.join(HEADER).exists() => {
            let why = "a folder without the header of an index".into();
            Err(Error::NotAnIndex { path: path.to_owned(), why })
        }
        Err(error) => Err(Error::file("read", &path.join(name))(error.into())),
    }
}

/// A file of an index, of the length that its header says.
fn map(folder: &OwnedFd, path: &Path, file: usize, seal: Seal) -> Result<Mmap, Error> {
    let name = path.join(FILES[file]);
    let open = open_in(folder, path, FILES[file])?;
    // SAFETY: the files of an index are written before they have a name, and replaced by others, never changed. Where someone
    // changes them all the same, bytes are others than they were, as with any file, and all that is read is checked.
    let map = unsafe { Mmap::map(&open) }.map_err(Error::file("read", &name))?;
    if map.len() as u64 == seal.bytes {
        return Ok(map);
    }
    Err(Error::damaged(&name, format!("{} bytes, not {}", map.len(), seal.bytes)))
}

fn check_seal(bytes: &[u8], seal: Seal, path: &Path) -> Result<(), Error> {
    if crc32fast::hash(bytes) == seal.crc {
        return Ok(());
    }
    Err(Error::damaged(path, "the checksum is another"))
}
