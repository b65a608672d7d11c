//! An index on disk, open to be read.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};

use crate::collection::Documents;
use crate::error::Error;
use crate::format::{
    Counts, FILES, HEADER, HEADER_BYTES, Header, LENGTHS, NAME_ENDS, NAMES, POSTINGS, TERMS,
};
use crate::postings::{Decoder, LARGEST_PART, List};
use crate::stored::{Stored, Window};
use crate::terms::{Cursor, Entry, Terms};

/// An index that is open for searching.
///
/// Its files are open and read as needed; memory holds the first of every 64 terms. The files stay as they were when
/// the index was opened, even if another index replaces it.
///
/// An index from an untrusted source is safe to open. A damaged file, or one that becomes shorter while it is open,
/// gives [`Error::Damaged`], and no number in a file makes a reader allocate more memory than the files have bytes.
/// [`Index::check`] verifies all files.
pub struct Index {
    header: Header,
    terms: Terms,
    /// All files except the first of [`FILES`].
    files: [Stored; FILES.len() - 1],
}

/// The number of bytes of a list to read at a time.
const LIST: u64 = 16 << 10;

impl Index {
    /// Opens the index in a folder. O(terms / 64).
    ///
    /// # Errors
    /// [`Error::NotAnIndex`], also for an index of another version; [`Error::Damaged`], [`Error::File`].
    pub fn open(path: &Path) -> Result<Index, Error> {
        match Index::open_once(path) {
            // Another index may have just replaced the one whose folder was opened.
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

        let open = |file: usize| {
            let name = FILES[file];
            Stored::new(open_in(&folder, path, name)?, path.join(name), header.seals[file].bytes)
        };
        let files = [open(POSTINGS)?, open(NAMES)?, open(NAME_ENDS)?, open(LENGTHS)?];
        let terms = Terms::open(open(TERMS)?, header.counts, files[POSTINGS - 1].bytes())?;
        let index = Index { header, terms, files };
        index.check_counts().map(|()| index)
    }

    /// Checks that the files have the lengths that the counts imply.
    fn check_counts(&self) -> Result<(), Error> {
        let bytes =
            self.header.seals.iter().try_fold(HEADER_BYTES as u64, |sum, seal| sum.checked_add(seal.bytes));
        if bytes.is_none() {
            return Err(self.damaged(POSTINGS, "its files are longer than 64 bits allow"));
        }
        let documents = self.header.counts.documents;
        if documents > u32::MAX.into() {
            return Err(self.damaged(LENGTHS, "more documents than can be counted"));
        }
        for (file, should) in [(NAME_ENDS, 8 * documents), (LENGTHS, 4 * documents)] {
            let is = self.file(file).bytes();
            if is != should {
                return Err(self.damaged(file, format!("its size is {is}, not {should}")));
            }
        }
        Ok(())
    }

    /// The numbers of documents, terms, postings and words.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.header.counts
    }

    /// The name and length in bytes of each file.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let header = (HEADER, HEADER_BYTES as u64);
        let seals = self.header.seals;
        std::iter::once(header).chain(FILES.into_iter().zip(seals.map(|seal| seal.bytes)))
    }

    /// The name of a document. O(1): at most three reads.
    ///
    /// # Errors
    /// [`Error::Damaged`], also if there is no document with that number; [`Error::File`].
    pub fn name(&self, document: u32) -> Result<String, Error> {
        self.documents(0).name(document).map(str::to_owned)
    }

    /// The number of words in a document. O(1): one read.
    ///
    /// # Errors
    /// [`Error::Damaged`], also if there is no document with that number; [`Error::File`].
    pub fn length(&self, document: u32) -> Result<u32, Error> {
        self.documents(0).length(document)
    }

    /// The postings of a term, or `None` if no document has it. The term must be case-folded as
    /// [`Tokenizer`](crate::Tokenizer) does. O(log terms) in memory, and one read of 64 terms.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::File`].
    pub fn postings(&self, term: &[u8]) -> Result<Option<Postings<'_>>, Error> {
        let entry = self.terms.find(term)?;
        Ok(entry.map(|entry| {
            let ahead = LIST.min(entry.postings.end - entry.postings.start) as usize;
            let window = self.file(POSTINGS).window(ahead);
            Postings { window, list: entry.list, reading: Reading::new(entry), failed: false }
        }))
    }

    /// A reader of names and lengths that reads `ahead` bytes of each file at a time.
    pub(crate) fn documents(&self, ahead: usize) -> Documents<'_> {
        Documents::new(self.counts().documents, |file| self.file(file).window(ahead))
    }

    /// A cursor over the terms in order. It starts at `term`, or up to 63 terms before it.
    pub(crate) fn terms_from(&self, term: &[u8]) -> Cursor<'_> {
        self.terms.from(term)
    }

    pub(crate) fn file(&self, file: usize) -> &Stored {
        if file == TERMS { self.terms.file() } else { &self.files[file - 1] }
    }

    /// Checks that a file is unchanged since it was written, by its checksum.
    pub(crate) fn check_file(&self, file: usize) -> Result<(), Error> {
        if self.file(file).checksum()? == self.header.seals[file].crc {
            return Ok(());
        }
        Err(self.damaged(file, "the checksum is wrong"))
    }

    pub(crate) fn damaged(&self, file: usize, why: impl Into<String>) -> Error {
        self.file(file).damaged(why)
    }
}

/// A list of postings that is read step by step.
pub(crate) struct Reading {
    decoder: Decoder,
    rest: Range<u64>,
}

impl Reading {
    pub fn new(entry: Entry) -> Reading {
        Reading { decoder: Decoder::new(entry.list.documents), rest: entry.postings }
    }

    /// The next posting, by ascending document. `window` must be on the file of postings.
    #[inline]
    pub fn next(&mut self, window: &mut Window<'_>) -> Result<Option<Posting>, Error> {
        match self.decoder.next() {
            None => self.read_on(window),
            posting => Ok(posting),
        }
    }

    fn read_on(&mut self, window: &mut Window<'_>) -> Result<Option<Posting>, Error> {
        if self.decoder.left() == 0 && !self.rest.is_empty() {
            return Err(window.file().damaged("a list continues after its last posting"));
        }
        let part = self.rest.start..self.rest.end.min(self.rest.start.saturating_add(LARGEST_PART));
        let file = window.file();
        let taken = self.decoder.decode(window.bytes(part)?).map_err(|why| file.damaged(why))?;
        self.rest.start += taken as u64;
        Ok(self.decoder.next())
    }
}

/// The postings of a term: the documents that contain it, in the order of their numbers. Takes at most 18 KiB
/// of memory.
pub struct Postings<'a> {
    window: Window<'a>,
    list: List,
    reading: Reading,
    failed: bool,
}

impl Postings<'_> {
    /// The number of documents with the term, and its number of occurrences in all of them.
    #[must_use]
    pub fn list(&self) -> List {
        self.list
    }
}

impl Iterator for Postings<'_> {
    type Item = Result<Posting, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let posting = self.reading.next(&mut self.window);
        self.failed = posting.is_err();
        posting.transpose()
    }
}

pub use crate::run::Posting;

/// Opens a file of an index. If it is not a regular file but, for example, a pipe, this returns an error and
/// does not block.
fn open_in(folder: &OwnedFd, path: &Path, name: &str) -> Result<File, Error> {
    let file_path = path.join(name);
    let failed = Error::file("read", &file_path);
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file: File = match openat(folder, name, flags, Mode::empty()) {
        Ok(file) => file.into(),
        Err(rustix::io::Errno::NOENT) if name == HEADER && path.is_dir() && !file_path.exists() => {
            let why = "a folder without the header of an index".into();
            return Err(Error::NotAnIndex { path: path.to_owned(), why });
        }
        Err(error) => return Err(failed(error.into())),
    };
    match file.metadata() {
        Ok(metadata) if metadata.is_file() => Ok(file),
        Ok(_) => Err(Error::NotAnIndex { path: path.join(name), why: "not a regular file".into() }),
        Err(error) => Err(failed(error)),
    }
}
