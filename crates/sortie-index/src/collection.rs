//! The names and lengths of documents: writes them as documents are numbered, and reads them.

use crate::error::Error;
use crate::format::{FILES, LENGTHS, NAME_ENDS, NAMES};
use crate::parse::Batch;
use crate::publish::Sealed;
use crate::stored::Window;

/// Writes the names and lengths of documents in order.
pub struct Collection<'a> {
    files: &'a mut [Sealed; FILES.len()],
    /// The number of documents that have begun.
    documents: u32,
    name_end: u64,
    /// The number of words in the last document so far.
    length: u64,
}

impl<'a> Collection<'a> {
    pub fn new(files: &'a mut [Sealed; FILES.len()]) -> Collection<'a> {
        Collection { files, documents: 0, name_end: 0, length: 0 }
    }

    pub fn documents(&self) -> u32 {
        self.documents
    }

    /// Numbers the documents of the next batch. Returns the number of the first.
    pub fn add(&mut self, batch: &Batch) -> Result<u32, Error> {
        let continues = batch.documents.first().is_some_and(|document| document.continues);
        let first = self.documents - u32::from(continues);
        let (mut name_start, mut words_start) = (0, 0);
        for document in &batch.documents {
            if !document.continues {
                self.begin(&batch.names[name_start..document.name_end])?;
            }
            self.length += (document.words_end - words_start) as u64;
            (name_start, words_start) = (document.name_end, document.words_end);
        }
        Ok(first)
    }

    fn begin(&mut self, name: &str) -> Result<(), Error> {
        self.end()?;
        if self.documents == u32::MAX {
            return Err(Error::TooMuch("an index holds at most 4294967295 documents; build several".into()));
        }
        self.documents += 1;
        self.name_end += name.len() as u64;
        self.files[NAMES].append(name.as_bytes())?;
        self.files[NAME_ENDS].append(&self.name_end.to_le_bytes())
    }

    /// Ends the last document.
    pub fn end(&mut self) -> Result<(), Error> {
        if self.documents == 0 {
            return Ok(());
        }
        let length = u32::try_from(self.length).map_err(|_| {
            Error::TooMuch("a document has more than 4294967295 words; split it into several".into())
        })?;
        self.length = 0;
        self.files[LENGTHS].append(&length.to_le_bytes())
    }
}

/// Reads names and lengths. Fastest by ascending document number.
pub struct Documents<'a> {
    count: u64,
    names: Window<'a>,
    name_ends: Window<'a>,
    lengths: Window<'a>,
}

impl<'a> Documents<'a> {
    /// A reader of `count` documents, of the files that `window` opens.
    pub fn new(count: u64, window: impl Fn(usize) -> Window<'a>) -> Documents<'a> {
        let [names, name_ends, lengths] = [NAMES, NAME_ENDS, LENGTHS].map(window);
        Documents { count, names, name_ends, lengths }
    }

    /// The name of a document.
    pub fn name(&mut self, document: u32) -> Result<&str, Error> {
        let start = if document == 0 { 0 } else { self.name_end(document - 1)? };
        let end = self.name_end(document)?;
        let file = self.names.file();
        let bytes = self.names.bytes(start..end)?;
        std::str::from_utf8(bytes)
            .map_err(|_| file.damaged(format!("the name of document {document} is not UTF-8")))
    }

    fn name_end(&mut self, document: u32) -> Result<u64, Error> {
        let bytes = number(&mut self.name_ends, self.count, document)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// The number of words in a document.
    pub fn length(&mut self, document: u32) -> Result<u32, Error> {
        let bytes = number(&mut self.lengths, self.count, document)?;
        Ok(u32::from_le_bytes(bytes))
    }
}

/// The entry of a document in a file that has one for each document.
fn number<const N: usize>(window: &mut Window<'_>, count: u64, document: u32) -> Result<[u8; N], Error> {
    let document = u64::from(document);
    if document >= count {
        return Err(window.file().damaged(format!("there is no document {document}")));
    }
    let at = N as u64 * document;
    let bytes = window.bytes(at..at + N as u64)?;
    Ok(bytes.try_into().expect("as many as asked for"))
}
