//! Search: ranks documents for a query by BM25.
//!
//! Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with an inverse document
//! frequency that is never negative: ln(1 + (N - n + 0.5) / (n + 0.5)).

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::error::Error;
use crate::format::TERMS;
use crate::index::{Index, Posting, Postings};
use crate::postings::List;
use crate::tokens::{Tokenizer, folded};

/// Controls how quickly further occurrences of a word stop raising the score.
const K1: f64 = 1.2;
/// Controls how much the length of a document affects the score.
const B: f64 = 0.75;
/// The number of bytes of document lengths to read at a time: one page, because the documents of a rare word
/// are far apart.
const LENGTHS: usize = 4 << 10;

/// A document that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub document: u32,
    pub name: String,
    pub score: f64,
}

/// A word of a query, and the position of the search in its list.
struct Cursor<'a> {
    postings: Postings<'a>,
    weight: f64,
    head: Option<Posting>,
}

/// A document and its score. A higher score is greater; of equal scores, the lower document number is greater.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Scored {
    score: f64,
    document: u32,
}

impl Eq for Scored {}

impl Ord for Scored {
    fn cmp(&self, other: &Scored) -> Ordering {
        self.score.total_cmp(&other.score).then(other.document.cmp(&self.document))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Scored) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Index {
    /// The best `n` documents with any of the words of the query `words`, best first. A word that occurs twice counts
    /// twice.
    ///
    /// O(postings of the words). Takes memory for `n` documents, and 18 KiB for each word.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::File`].
    pub fn search(&self, words: &str, n: usize) -> Result<Vec<Hit>, Error> {
        let mut lists = Vec::new();
        Tokenizer::default().words(words, |word| lists.push(self.postings(word)));
        let mut cursors = Vec::new();
        for list in lists {
            cursors.extend(list?.map(|postings| self.cursor(postings)).transpose()?);
        }
        let counts = self.counts();
        let mean_length = counts.words as f64 / (counts.documents as f64).max(1.0);
        let mut documents = self.documents(LENGTHS);
        let mut best = BinaryHeap::new();
        while let Some(document) =
            cursors.iter().filter_map(|cursor| cursor.head).map(|head| head.document).min()
        {
            let length = f64::from(documents.length(document)?);
            let dampening = K1 * (1.0 - B + B * length / mean_length);
            let mut score = 0.0;
            for cursor in &mut cursors {
                if let Some(Posting { frequency, .. }) = cursor.head.filter(|head| head.document == document)
                {
                    let frequency = f64::from(frequency);
                    score += cursor.weight * (frequency * (K1 + 1.0) / (frequency + dampening));
                    cursor.head = cursor.postings.next().transpose()?;
                }
            }
            best.push(Reverse(Scored { score, document }));
            if best.len() > n {
                best.pop();
            }
        }
        let hit =
            |Reverse(Scored { score, document })| Ok(Hit { document, name: self.name(document)?, score });
        best.into_sorted_vec().into_iter().map(hit).collect()
    }

    fn cursor<'a>(&self, mut postings: Postings<'a>) -> Result<Cursor<'a>, Error> {
        let with = postings.list().documents as f64;
        let weight = (1.0 + (self.counts().documents as f64 - with + 0.5) / (with + 0.5)).ln();
        let head = postings.next().transpose()?;
        Ok(Cursor { postings, weight, head })
    }

    /// Calls `each` with the terms that start with a prefix, in byte order, and what their lists hold, until it
    /// returns false. The prefix is case-folded first.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::File`], and the error of `each`.
    pub fn terms_with_prefix<E: From<Error>>(
        &self,
        prefix: &str,
        mut each: impl FnMut(&str, List) -> Result<bool, E>,
    ) -> Result<(), E> {
        let prefix = folded(prefix);
        let mut terms = self.terms_from(prefix.as_bytes());
        while let Some(entry) = terms.next()? {
            let term = terms.term();
            if !term.starts_with(prefix.as_bytes()) {
                if term < prefix.as_bytes() {
                    continue;
                }
                break;
            }
            let term = std::str::from_utf8(term).map_err(|_| self.damaged(TERMS, "a term is not UTF-8"))?;
            if !each(term, entry.list)? {
                break;
            }
        }
        Ok(())
    }
}
