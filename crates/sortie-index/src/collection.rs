//! Documents get their numbers, and their names and lengths go to the index.

use crate::error::Error;
use crate::format::{FILES, LENGTHS, NAME_ENDS, NAMES};
use crate::parse::Batch;
use crate::publish::Sealed;

/// Documents in order.
pub struct Collection<'a> {
    files: &'a mut [Sealed; FILES.len()],
    /// Those that have begun.
    documents: u32,
    name_end: u64,
    /// Words of the last one until now.
    length: u64,
}

impl<'a> Collection<'a> {
    pub fn new(files: &'a mut [Sealed; FILES.len()]) -> Collection<'a> {
        Collection { files, documents: 0, name_end: 0, length: 0 }
    }

    pub fn documents(&self) -> u32 {
        self.documents
    }

    /// Numbers the documents of the next batch, and says the number of the first.
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
            return Err(Error::TooMuch("an index holds 4294967295 documents; build several".into()));
        }
        self.documents += 1;
        self.name_end += name.len() as u64;
        self.files[NAMES].append(name.as_bytes())?;
        self.files[NAME_ENDS].append(&self.name_end.to_le_bytes())
    }

    /// The last document is complete.
    pub fn end(&mut self) -> Result<(), Error> {
        if self.documents == 0 {
            return Ok(());
        }
        let length = u32::try_from(self.length).map_err(|_| {
            Error::TooMuch("a document has more than 4294967295 words; cut it to several".into())
        })?;
        self.length = 0;
        self.files[LENGTHS].append(&length.to_le_bytes())
    }
}
