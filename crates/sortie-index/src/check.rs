//! Looking at all of an index: every checksum, every order, every count.

use fst::Streamer;

use crate::error::Error;
use crate::format::{Counts, FILES, LENGTHS, NAMES, POSTINGS, TERMS};
use crate::index::Index;

impl Index {
    /// Whether it is as it was built: the checksum of every file; that terms and the documents of a list ascend, that lists are
    /// one after the other without gaps, and that all counts are right, each document's words among them.
    ///
    /// O(bytes). Holds 4 bytes a document.
    ///
    /// # Errors
    /// [`Error::Damaged`], with the first that is not right.
    pub fn check(&self) -> Result<(), Error> {
        (0..FILES.len()).try_for_each(|file| self.check_file(file))?;
        let counts = self.counts();
        let mut found = Counts { documents: counts.documents, ..Counts::default() };
        let mut lengths = vec![0u32; self.file(LENGTHS).len() / 4];
        let (mut before, mut start) = (None::<Vec<u8>>, 0);
        let mut terms = self.terms().stream();
        while let Some((term, tail)) = terms.next() {
            if before.as_deref().is_some_and(|before| before >= term) {
                return Err(self.damaged(TERMS, "terms do not ascend"));
            }
            let term = before.insert(term.to_vec());
            let mut list = self.postings_at(tail)?;
            let told = |what: &str| {
                self.damaged(POSTINGS, format!("the list of {:?} {what}", String::from_utf8_lossy(term)))
            };
            if tail != (start + list.bytes()) as u64 {
                return Err(told("does not begin where the one before it ends"));
            }
            start = list.end;
            let (mut next, mut documents, mut words) = (0, 0, 0);
            for posting in list.by_ref() {
                let posting = posting?;
                let length = lengths.get_mut(posting.document as usize);
                let length = length.ok_or_else(|| told("has a document that there is not"))?;
                if posting.document < next {
                    return Err(told("does not ascend"));
                }
                next = posting.document + 1;
                *length = length.checked_add(posting.frequency).ok_or_else(|| told("has too many words"))?;
                documents += 1;
                words += u64::from(posting.frequency);
            }
            if (documents, words) != (list.list().documents, list.list().words) {
                return Err(told("has not as many postings as it says"));
            }
            found.terms += 1;
            found.postings += documents;
            found.words += words;
        }
        if start != self.file(POSTINGS).len() {
            return Err(self.damaged(POSTINGS, "there is more behind the last list"));
        }
        if found != counts {
            return Err(self.damaged(POSTINGS, format!("there are {found:?}, not {counts:?}")));
        }
        let mut names = 0;
        for (document, length) in (0..).zip(lengths) {
            names += self.name(document)?.len();
            let told = self.length(document)?;
            if length != told {
                let why = format!("document {document} has {length} words, not {told}");
                return Err(self.damaged(LENGTHS, why));
            }
        }
        if names != self.file(NAMES).len() {
            return Err(self.damaged(NAMES, "there is more behind the last name"));
        }
        Ok(())
    }
}
