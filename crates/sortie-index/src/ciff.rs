//! Exports an index in the Common Index File Format, which Lucene (Anserini), PISA, JASS and Terrier can read.
//!
//! Lin and others, "Supporting Interoperability Between Open-Source Search Engines with the Common Index File Format"
//! (2020). A file has a header, the lists by ascending term, and the documents. Each is a Protocol Buffers message
//! after its length. In a list, each document is stored as its difference from the one before. The field numbers of
//! the messages are those in the format's `.proto` file.

use std::io::{self, Write};

use crate::error::Error;
use crate::format::{FILES, POSTINGS, TERMS};
use crate::index::{Index, Posting, Reading};
use crate::stored::{SCAN, Window};
use crate::terms::Entry;
use crate::varint;

/// Wire types: what a field holds, in the lowest bits of its tag.
const NUMBER: u64 = 0;
const DOUBLE: u64 = 1;
const BYTES: u64 = 2;

impl Index {
    /// Writes the index in this format. `path` is only used in error messages.
    ///
    /// O(postings). Reads each posting twice, because the length of a list comes before it. Never holds a whole
    /// list in memory.
    ///
    /// # Errors
    /// [`Error::TooMuch`] if a count is too large for the format, which has 31 bits for all counts except words.
    /// [`Error::File`], [`Error::Damaged`].
    pub fn export_ciff(&self, out: &mut impl Write, path: &std::path::Path) -> Result<(), Error> {
        let counts = self.counts();
        if counts.documents.max(counts.terms) > i32::MAX as u64 {
            return Err(Error::TooMuch("CIFF allows at most 2147483647 documents and terms".into()));
        }
        // The exported file has no checksums, so damage must be detected here.
        (0..FILES.len()).try_for_each(|file| self.check_file(file))?;
        let failed = |error| Error::file("write", path)(error);
        out.write_all(&delimited(&self.header())).map_err(failed)?;
        let mut terms = self.terms_from(b"");
        let mut postings = self.file(POSTINGS).window(SCAN);
        while let Some(entry) = terms.next()? {
            let term = std::str::from_utf8(terms.term());
            let term = term.map_err(|_| self.damaged(TERMS, "a term is not UTF-8"))?;
            self.write_list(term, &entry, &mut postings, out, path)?;
        }
        let mut documents = self.documents(SCAN);
        for document in 0..counts.documents as u32 {
            let mut record = Vec::new();
            put_number(1, document.into(), &mut record);
            put_bytes(2, documents.name(document)?.as_bytes(), &mut record);
            let length = i32::try_from(documents.length(document)?);
            let length =
                length.map_err(|_| Error::TooMuch("a CIFF document has at most 2147483647 words".into()));
            put_number(3, length? as u64, &mut record);
            out.write_all(&delimited(&record)).map_err(failed)?;
        }
        out.flush().map_err(failed)
    }

    fn header(&self) -> Vec<u8> {
        let counts = self.counts();
        let mut header = Vec::new();
        put_number(1, 1, &mut header);
        // The counts of lists and documents in the file, then those of the whole collection.
        put_number(2, counts.terms, &mut header);
        put_number(3, counts.documents, &mut header);
        put_number(4, counts.terms, &mut header);
        put_number(5, counts.documents, &mut header);
        put_number(6, counts.words, &mut header);
        varint::put(7 << 3 | DOUBLE, &mut header);
        let mean = counts.words as f64 / (counts.documents as f64).max(1.0);
        header.extend_from_slice(&mean.to_le_bytes());
        put_bytes(8, b"Sortie: words of UAX #29, case-folded", &mut header);
        header
    }

    fn write_list(
        &self,
        term: &str,
        entry: &Entry,
        postings: &mut Window<'_>,
        out: &mut impl Write,
        path: &std::path::Path,
    ) -> Result<(), Error> {
        let mut head = Vec::new();
        put_bytes(1, term.as_bytes(), &mut head);
        put_number(2, entry.list.documents, &mut head);
        put_number(3, entry.list.words, &mut head);
        let mut length = head.len() as u64;
        let mut message = Vec::new();
        each_posting(entry, postings, &mut message, |message| {
            length += message.len() as u64;
            Ok(())
        })?;
        let failed = |error: io::Error| Error::file("write", path)(error);
        let mut start = Vec::new();
        varint::put(length, &mut start);
        out.write_all(&start).and_then(|()| out.write_all(&head)).map_err(failed)?;
        each_posting(entry, postings, &mut message, |message| out.write_all(message).map_err(failed))
    }
}

/// Calls `each` with every posting of a list, encoded as a field.
fn each_posting(
    entry: &Entry,
    postings: &mut Window<'_>,
    message: &mut Vec<u8>,
    mut each: impl FnMut(&[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut before = 0;
    let mut reading = Reading::new(entry.clone());
    while let Some(Posting { document, frequency }) = reading.next(postings)? {
        let gap = u64::from(document - before);
        before = document;
        let frequency = i32::try_from(frequency)
            .map_err(|_| Error::TooMuch("a CIFF frequency is at most 2147483647".into()))?;
        message.clear();
        // The same as `put_bytes` of both numbers, but the length is computed first.
        let frequency = frequency as u64;
        let gap_length = if gap == 0 { 0 } else { 1 + varint::length(gap) };
        varint::put(4 << 3 | BYTES, message);
        varint::put((gap_length + 1 + varint::length(frequency)) as u64, message);
        put_number(1, gap, message);
        put_number(2, frequency, message);
        each(message)?;
    }
    Ok(())
}

/// A field with a number. A 0 is left out, as Protocol Buffers readers expect.
fn put_number(field: u64, number: u64, out: &mut Vec<u8>) {
    if number != 0 {
        varint::put(field << 3 | NUMBER, out);
        varint::put(number, out);
    }
}

fn put_bytes(field: u64, bytes: &[u8], out: &mut Vec<u8>) {
    varint::put(field << 3 | BYTES, out);
    varint::put(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// A message preceded by its length.
fn delimited(message: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    varint::put(message.len() as u64, &mut out);
    out.extend_from_slice(message);
    out
}
