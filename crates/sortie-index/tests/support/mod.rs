//! A plain index in memory, to compare with.

#![allow(dead_code)] // Each test program uses a part.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use sortie_index::{Counts, Document, Index, List, Posting};
use unicase::UniCase;
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

/// The words of a text in normal form, found by the crates that implement UAX #15 and #29.
pub fn words(text: &str) -> Vec<String> {
    let text: String = text.nfkc().collect();
    // A letter that is also a mark, after a blank or punctuation, forms a word with that character.
    let marked = |c: char| c.is_ascii() && !c.is_ascii_alphanumeric() && c != '_';
    let all = text.unicode_words().map(move |word| word.trim_start_matches(marked));
    let folded = all.flat_map(parts).map(|word| UniCase::unicode(word).to_folded_case());
    folded.filter(|word| word.len() <= 255).collect()
}

/// The parts between full stops and colons, except in numbers and acronyms.
fn parts(word: &str) -> Vec<&str> {
    let is_acronym = word.split(['.', ':']).all(|part| part.chars().count() == 1);
    let separates = |(at, _): &(usize, &str)| !is_acronym && !word[at + 1..].starts_with(char::is_numeric);
    let ends: Vec<usize> = word.match_indices(['.', ':']).filter(separates).map(|(at, _)| at).collect();
    let starts = std::iter::once(0).chain(ends.iter().map(|end| end + 1));
    starts.zip(ends.iter().copied().chain([word.len()])).map(|(start, end)| &word[start..end]).collect()
}

/// The number of occurrences of each term in each document.
#[derive(Default)]
pub struct Plain {
    pub terms: BTreeMap<String, BTreeMap<u32, u32>>,
    pub names: Vec<String>,
    pub lengths: Vec<u32>,
}

impl Plain {
    pub fn of<'a>(documents: impl IntoIterator<Item = &'a Document>) -> Plain {
        let mut plain = Plain::default();
        documents.into_iter().for_each(|document| plain.add(&document.name, &document.text));
        plain
    }

    pub fn add(&mut self, name: &str, text: &str) {
        let number = self.names.len() as u32;
        let mut length = 0;
        for word in words(text) {
            *self.terms.entry(word).or_default().entry(number).or_default() += 1;
            length += 1;
        }
        self.names.push(name.to_owned());
        self.lengths.push(length);
    }

    pub fn counts(&self) -> Counts {
        Counts {
            documents: self.names.len() as u64,
            terms: self.terms.len() as u64,
            postings: self.terms.values().map(|list| list.len() as u64).sum(),
            words: self.lengths.iter().map(|&length| u64::from(length)).sum(),
        }
    }

    /// Checks that the index has the same terms and postings.
    pub fn assert_same(&self, index: &Index) {
        assert_eq!(index.counts(), self.counts());
        for (number, name) in self.names.iter().enumerate() {
            assert_eq!(index.name(number as u32).unwrap(), *name);
            assert_eq!(index.length(number as u32).unwrap(), self.lengths[number], "the length of {name}");
        }
        let mut terms = Vec::new();
        let each = |term: &str, list: List| {
            terms.push((term.to_owned(), list));
            Ok::<_, sortie_index::Error>(true)
        };
        index.terms_with_prefix("", each).unwrap();
        assert!(terms.iter().map(|(term, _)| term).eq(self.terms.keys()), "terms differ");
        for ((term, list), expected) in terms.iter().zip(self.terms.values()) {
            let words = expected.values().map(|&frequency| u64::from(frequency)).sum();
            assert_eq!(*list, List { documents: expected.len() as u64, words }, "{term}");
            let postings = index.postings(term.as_bytes()).unwrap().unwrap().map(Result::unwrap);
            let expected = expected.iter().map(|(&document, &frequency)| Posting { document, frequency });
            assert!(postings.eq(expected), "the postings of {term} differ");
        }
    }

    /// The best documents by a direct implementation of BM25: their names and scores.
    pub fn search(&self, query: &str, n: usize) -> Vec<(String, f64)> {
        let documents = self.names.len() as f64;
        let mean = self.counts().words as f64 / documents;
        let mut scores: BTreeMap<u32, f64> = BTreeMap::new();
        for word in words(query) {
            let Some(list) = self.terms.get(&word) else { continue };
            let with = list.len() as f64;
            let idf = (1.0 + (documents - with + 0.5) / (with + 0.5)).ln();
            for (&document, &frequency) in list {
                let (tf, length) = (f64::from(frequency), f64::from(self.lengths[document as usize]));
                let score = idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length / mean));
                *scores.entry(document).or_default() += score;
            }
        }
        let mut best: Vec<_> = scores.into_iter().collect();
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        best.truncate(n);
        best.into_iter().map(|(document, score)| (self.names[document as usize].clone(), score)).collect()
    }

    /// Checks that the index finds the same documents in the same order, except where scores differ only in the last
    /// bits.
    pub fn assert_finds_same(&self, index: &Index, query: &str) {
        let hits = index.search(query, 10).unwrap();
        let expected = self.search(query, 10);
        assert_eq!(hits.len(), expected.len(), "{query}");
        for (hit, (name, score)) in hits.iter().zip(&expected) {
            assert!((hit.score - score).abs() < 1e-9, "{query}: {hit:?}, not {name} with {score}");
            assert!(
                hit.name == *name || expected.iter().any(|(n, s)| n == &hit.name && (s - score).abs() < 1e-9),
                "{query}: {hit:?}, not {name}"
            );
        }
    }
}

/// The folder with real data, if it exists.
pub fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("SORTIE_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    folder.is_dir().then_some(folder)
}

/// The real documents, if they are available.
pub fn rfcs() -> Option<(PathBuf, Vec<Document>)> {
    let path = data().map(|data| data.join("text/rfcs.jsonl.gz")).filter(|path| path.is_file());
    let Some(path) = path else {
        eprintln!("SKIPPED: no text/rfcs.jsonl.gz in ../shared/data or $SORTIE_DATA");
        return None;
    };
    let lines = BufReader::new(MultiGzDecoder::new(File::open(&path).unwrap())).lines();
    let documents = lines.map(|line| {
        let line: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let field = |name: &str| line[name].as_str().unwrap().to_owned();
        Document { name: field("id"), text: field("text") }
    });
    Some((path, documents.collect()))
}
