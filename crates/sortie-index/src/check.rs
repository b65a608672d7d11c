//! Checks a whole index: every checksum, every order and every count.

use std::io;

use crate::error::Error;
use crate::format::{Counts, FILES, LENGTHS, NAMES, POSTINGS};
use crate::index::{Index, Reading};
use crate::stored::{SCAN, Window};
use crate::terms::Entry;

impl Index {
    /// Checks that the index is as it was built: that the checksum of every file is right, terms and the documents of
    /// each list ascend, lists follow each other without gaps, and all counts are right, including the words of each
    /// document.
    ///
    /// O(bytes). Takes 4 bytes of memory for each document.
    ///
    /// # Errors
    /// [`Error::Damaged`], for the first thing that is wrong.
    pub fn check(&self) -> Result<(), Error> {
        (0..FILES.len()).try_for_each(|file| self.check_file(file))?;
        let counts = self.counts();
        let mut found = Counts { documents: counts.documents, ..Counts::default() };
        let mut lengths = Vec::new();
        let documents = counts.documents as usize;
        let no_memory = |_| Error::file("read", self.file(LENGTHS).path())(io::ErrorKind::OutOfMemory.into());
        lengths.try_reserve_exact(documents).map_err(no_memory)?;
        lengths.resize(documents, 0);
        let mut terms = self.terms_from(b"");
        let mut postings = self.file(POSTINGS).window(SCAN);
        while let Some(entry) = terms.next()? {
            found.terms += 1;
            found.postings += entry.list.documents;
            let words = self.check_list(terms.term(), entry, &mut postings, &mut lengths)?;
            found.words = found.words.saturating_add(words);
        }
        if found != counts {
            let told = |Counts { terms, postings, words, .. }: Counts| {
                format!("{terms} terms, {postings} postings and {words} words")
            };
            let why = format!("there are {}, but {} are recorded", told(found), told(counts));
            return Err(self.damaged(POSTINGS, why));
        }
        self.check_documents(&lengths)
    }

    /// Checks that a list has the number of words that its entry says. Adds its frequencies to the lengths of the
    /// documents.
    fn check_list(
        &self,
        term: &[u8],
        entry: Entry,
        postings: &mut Window<'_>,
        lengths: &mut [u32],
    ) -> Result<u64, Error> {
        let told = |what: &str| {
            self.damaged(POSTINGS, format!("the list of {:?} {what}", String::from_utf8_lossy(term)))
        };
        let (mut words, should) = (0u64, entry.list.words);
        let mut reading = Reading::new(entry);
        while let Some(posting) = reading.next(postings)? {
            let length = lengths.get_mut(posting.document as usize);
            let length = length.ok_or_else(|| told("has a document that does not exist"))?;
            *length = length.checked_add(posting.frequency).ok_or_else(|| told("has too many words"))?;
            words += u64::from(posting.frequency);
        }
        if words != should {
            return Err(told("does not have as many words as it says"));
        }
        Ok(words)
    }

    /// Checks the names and lengths of the documents.
    fn check_documents(&self, lengths: &[u32]) -> Result<(), Error> {
        let mut documents = self.documents(SCAN);
        let mut names = 0;
        for (document, &length) in (0..).zip(lengths) {
            names += documents.name(document)?.len() as u64;
            let told = documents.length(document)?;
            if length != told {
                let why = format!("document {document} has {length} words, not {told}");
                return Err(self.damaged(LENGTHS, why));
            }
        }
        if names != self.file(NAMES).bytes() {
            return Err(self.damaged(NAMES, "there is more data after the last name"));
        }
        Ok(())
    }
}
