//! The terms of an index on disk, each with the counts and the length of its list.
//!
//! The file has blocks of [`BLOCK`] terms in byte order, the last one shorter, followed by the index of the blocks.
//!
//! - A term is a byte with two numbers of 4 bits: the number of bytes it shares with the term before, and the number
//!   of bytes that follow, minus one. 15 means that the number is in a byte of its own. Then come the bytes that
//!   follow. The first term of a block is only in the index.
//! - Its list is described by two or three varints: twice the number of documents, plus one if there are more words
//!   than documents; only then, how many more; and the bytes of the list. Lists are stored one after the other, so the lengths
//!   give their positions.
//! - The index has for each block the length of its first term in a byte, that term, and as varints the bytes of the
//!   block and of its lists. The last 8 bytes of the file give the position of the index.
//!
//! A reader holds the index of the blocks in memory, and reads one block to look up a term. It trusts no number in
//! the file: data that is out of order, or outside its block or file, is an error.

use std::io::{self, Write};
use std::ops::Range;

use crate::error::Error;
use crate::format::Counts;
use crate::postings::List;
use crate::stored::{SCAN, Stored, Window};
use crate::tokens::LONGEST;
use crate::varint;

/// The number of terms in a block. With twice as many the file would be 1% smaller, but a look-up, which decodes half
/// a block on average, would take twice as long.
const BLOCK: usize = 64;
/// The maximum bytes of a block: for each term, one byte for both numbers, two for large numbers, the term, and
/// three varints.
const LARGEST_BLOCK: u64 = (BLOCK * (3 + LONGEST + 3 * varint::LONGEST)) as u64;
/// The maximum bytes of a block's entry in the index: a term and its length, and two varints.
const LARGEST_IN_INDEX: u64 = (1 + LONGEST + 2 * varint::LONGEST) as u64;
/// Marks a number that does not fit in 4 bits.
const ESCAPE: u8 = 15;
/// The size of the number at the end of the file.
const FOOTER: u64 = 8;

/// Writes terms. Keeps the index of the blocks in memory until the end, about 20 bytes for 64 terms.
pub struct Writer<W> {
    out: W,
    block: Vec<u8>,
    /// The number of terms in the current block.
    held: usize,
    /// The bytes of the current block's lists.
    postings: u64,
    index: Vec<u8>,
    /// The bytes of all blocks written so far.
    written: u64,
    term: Vec<u8>,
}

impl<W: Write> Writer<W> {
    pub fn new(out: W) -> Writer<W> {
        let (block, index, term) = (Vec::new(), Vec::new(), Vec::new());
        Writer { out, block, held: 0, postings: 0, index, written: 0, term }
    }

    /// Adds a term of 1 to 255 bytes that is greater than all terms before. Its list has `bytes` bytes.
    pub fn push(&mut self, term: &[u8], list: List, bytes: u64) -> io::Result<()> {
        if term.len() > LONGEST || self.term.as_slice() >= term {
            return Err(io::Error::other("terms are too long or out of order"));
        }
        if self.held == BLOCK {
            self.end_block()?;
        }
        if self.held == 0 {
            self.index.push(term.len() as u8);
            self.index.extend_from_slice(term);
        } else {
            let shared = self.term.iter().zip(term).take_while(|(a, b)| a == b).count();
            put_suffix(shared, &term[shared..], &mut self.block);
        }
        self.term.clear();
        self.term.extend_from_slice(term);
        let more = list.words - list.documents;
        varint::put(list.documents << 1 | u64::from(more > 0), &mut self.block);
        if more > 0 {
            varint::put(more, &mut self.block);
        }
        varint::put(bytes, &mut self.block);
        self.held += 1;
        self.postings += bytes;
        Ok(())
    }

    fn end_block(&mut self) -> io::Result<()> {
        varint::put(self.block.len() as u64, &mut self.index);
        varint::put(self.postings, &mut self.index);
        self.out.write_all(&self.block)?;
        self.written += self.block.len() as u64;
        self.block.clear();
        (self.held, self.postings) = (0, 0);
        Ok(())
    }

    /// Writes the last block and the index of the blocks.
    pub fn finish(mut self) -> io::Result<()> {
        if self.held > 0 {
            self.end_block()?;
        }
        self.out.write_all(&self.index)?;
        self.out.write_all(&self.written.to_le_bytes())
    }
}

/// Encodes the part of a term that it does not share with the term before.
fn put_suffix(shared: usize, suffix: &[u8], out: &mut Vec<u8>) {
    let numbers = [shared as u8, (suffix.len() - 1) as u8];
    let [high, low] = numbers.map(|number| number.min(ESCAPE));
    out.push(high << 4 | low);
    out.extend(numbers.into_iter().filter(|&number| number >= ESCAPE));
    out.extend_from_slice(suffix);
}

/// Decodes the same from the front of `bytes`: the number of shared bytes, and the bytes that follow.
fn take_suffix<'a>(bytes: &mut &'a [u8]) -> Option<(usize, &'a [u8])> {
    let (&head, mut rest) = bytes.split_first()?;
    let mut number = |bits: u8| {
        if bits < ESCAPE { Some(bits.into()) } else { rest.split_off_first().map(|&byte| usize::from(byte)) }
    };
    let (shared, more) = (number(head >> 4)?, number(head & 15)?);
    let suffix = rest.split_off(..more + 1)?;
    *bytes = rest;
    Some((shared, suffix))
}

/// The list of a term: its counts, and its position among the postings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub list: List,
    pub postings: Range<u64>,
}

/// The terms of an index. Keeps the index of the blocks in memory: about 50 bytes for 64 terms.
#[derive(Debug)]
pub struct Terms {
    file: Stored,
    counts: Counts,
    blocks: Blocks,
}

/// The index of the blocks.
#[derive(Debug, Default)]
struct Blocks {
    /// The first terms of the blocks, one after the other.
    firsts: Vec<u8>,
    each: Vec<Block>,
    /// The end of the last block, and of its last list.
    ends: (u64, u64),
}

#[derive(Debug)]
struct Block {
    /// The range of its first term in `firsts`.
    first: Range<usize>,
    /// The start of the block, and of its first list among the postings.
    start: u64,
    postings: u64,
}

impl Terms {
    /// Reads the index of the blocks, O(terms / 64). Checks that it is in order and covers the whole file and all
    /// postings.
    pub fn open(file: Stored, counts: Counts, postings: u64) -> Result<Terms, Error> {
        let footer = file.bytes().checked_sub(FOOTER).ok_or_else(|| file.damaged("it is cut short"))?;
        let mut window = file.window(SCAN);
        let bytes = window.bytes(footer..file.bytes())?;
        let end = u64::from_le_bytes(bytes.try_into().expect("as many as asked for"));
        if end > footer {
            return Err(file.damaged("the index of its blocks is outside the file"));
        }
        let blocks = Blocks::read(&mut window, end..footer)?;
        if blocks.ends.0 != end {
            return Err(file.damaged(format!("its blocks have {} bytes, not {end}", blocks.ends.0)));
        }
        if blocks.ends.1 != postings {
            return Err(file.damaged(format!("its lists have {} bytes, not {postings}", blocks.ends.1)));
        }
        let count = blocks.each.len() as u64;
        if count != counts.terms.div_ceil(BLOCK as u64) {
            return Err(
                file.damaged(format!("it has {count} blocks, which do not match {} terms", counts.terms))
            );
        }
        Ok(Terms { file, counts, blocks })
    }

    pub fn file(&self) -> &Stored {
        &self.file
    }

    /// The entry of a term, if there is one. Reads one block.
    pub fn find(&self, term: &[u8]) -> Result<Option<Entry>, Error> {
        let Some(block) = self.block_of(term) else { return Ok(None) };
        let mut cursor = self.cursor(block, 0);
        while cursor.block == block {
            let Some(entry) = cursor.next()? else { break };
            if cursor.term() >= term {
                return Ok((cursor.term() == term).then_some(entry));
            }
        }
        Ok(None)
    }

    /// A cursor over the terms, from the block that would contain `term`.
    pub fn from(&self, term: &[u8]) -> Cursor<'_> {
        self.cursor(self.block_of(term).unwrap_or(0), SCAN)
    }

    /// The last block whose first term is not greater than `term`.
    fn block_of(&self, term: &[u8]) -> Option<usize> {
        self.blocks.each.partition_point(|block| self.blocks.first(block) <= term).checked_sub(1)
    }

    fn cursor(&self, block: usize, ahead: usize) -> Cursor<'_> {
        let window = self.file.window(ahead);
        Cursor { terms: self, window, block, at: 0, passed: 0, postings: 0, term: Vec::new() }
    }

    /// The number of terms in a block, from the total number of terms.
    fn length(&self, block: usize) -> usize {
        let before = (block * BLOCK) as u64;
        (self.counts.terms - before).min(BLOCK as u64) as usize
    }
}

impl Blocks {
    /// Reads the index from a part of the file.
    fn read(window: &mut Window<'_>, mut index: Range<u64>) -> Result<Blocks, Error> {
        let mut blocks = Blocks::default();
        while !index.is_empty() {
            let file = window.file();
            let bytes = window.bytes(index.start..index.end.min(index.start + LARGEST_IN_INDEX))?;
            let mut rest = bytes;
            blocks.push(&mut rest).map_err(|why| file.damaged(why))?;
            index.start += (bytes.len() - rest.len()) as u64;
        }
        Ok(blocks)
    }

    /// Adds the next block of the index.
    fn push(&mut self, rest: &mut &[u8]) -> Result<(), &'static str> {
        let cut_short = "the index of its blocks is cut short";
        let length = rest.split_off_first().ok_or(cut_short)?;
        let term = rest.split_off(..usize::from(*length)).ok_or(cut_short)?;
        if self.each.last().map_or(&[][..], |block| self.first(block)) >= term {
            return Err("its blocks are not in order");
        }
        let (bytes, lists) = varint::take(rest).zip(varint::take(rest)).ok_or(cut_short)?;
        if bytes > LARGEST_BLOCK {
            return Err("a block is too large for 64 terms");
        }
        let (start, postings) = self.ends;
        let end = start.checked_add(bytes).ok_or("its blocks are longer than any file")?;
        let postings_end = postings.checked_add(lists).ok_or("its lists are longer than any file")?;
        let first = self.firsts.len()..self.firsts.len() + term.len();
        self.firsts.extend_from_slice(term);
        self.each.push(Block { first, start, postings });
        self.ends = (end, postings_end);
        Ok(())
    }

    fn first(&self, block: &Block) -> &[u8] {
        &self.firsts[block.first.clone()]
    }

    /// The end of a block, and of its last list.
    fn ends(&self, block: usize) -> (u64, u64) {
        self.each.get(block + 1).map_or(self.ends, |next| (next.start, next.postings))
    }
}

/// A cursor over terms in order.
pub struct Cursor<'a> {
    terms: &'a Terms,
    window: Window<'a>,
    block: usize,
    /// In the current block: the position of the next term, and the number of terms passed.
    at: usize,
    passed: usize,
    /// The position of the next list.
    postings: u64,
    term: Vec<u8>,
}

impl Cursor<'_> {
    /// The term of the last entry returned.
    pub fn term(&self) -> &[u8] {
        &self.term
    }

    /// The entry of the next term. `None` at the end.
    pub fn next(&mut self) -> Result<Option<Entry>, Error> {
        let blocks = &self.terms.blocks;
        let Some(block) = blocks.each.get(self.block) else { return Ok(None) };
        let (end, postings_end) = blocks.ends(self.block);
        let file = self.terms.file();
        let bytes = self.window.bytes(block.start..end)?;
        let mut rest = bytes.get(self.at..).unwrap_or_default();
        if self.passed == 0 {
            let first = blocks.first(block);
            if &*self.term >= first {
                return Err(file.damaged("terms of consecutive blocks are out of order"));
            }
            self.term.clear();
            self.term.extend_from_slice(first);
            self.postings = block.postings;
        } else {
            next_term(&mut self.term, &mut rest).map_err(|why| file.damaged(why))?;
        }
        let (list, length) = take_list(&mut rest).ok_or_else(|| file.damaged("a block is cut short"))?;
        if list.documents == 0 || list.documents > self.terms.counts.documents {
            let documents = self.terms.counts.documents;
            return Err(file.damaged(format!("a term is in {} of {documents} documents", list.documents)));
        }
        let list_end = self.postings.checked_add(length).filter(|&end| length > 0 && end <= postings_end);
        let list_end = list_end.ok_or_else(|| file.damaged("a list is not among those of its block"))?;
        let entry = Entry { list, postings: self.postings..list_end };
        (self.at, self.passed, self.postings) = (bytes.len() - rest.len(), self.passed + 1, list_end);
        if self.passed == self.terms.length(self.block) {
            if !rest.is_empty() || list_end != postings_end {
                return Err(file.damaged("a block continues after its last term"));
            }
            (self.block, self.at, self.passed) = (self.block + 1, 0, 0);
        }
        Ok(Some(entry))
    }
}

/// Decodes the next term.
fn next_term(term: &mut Vec<u8>, rest: &mut &[u8]) -> Result<(), &'static str> {
    let (shared, suffix) = take_suffix(rest).ok_or("a block is cut short")?;
    if shared > term.len() || shared + suffix.len() > LONGEST {
        return Err("a term is too long");
    }
    // A term shares as many bytes as possible with the one before, so the first byte that differs gives the
    // order.
    if term.get(shared).is_some_and(|&byte| suffix[0] <= byte) {
        return Err("terms are out of order");
    }
    term.truncate(shared);
    term.extend_from_slice(suffix);
    Ok(())
}

/// The counts of a list, and its length in bytes.
fn take_list(rest: &mut &[u8]) -> Option<(List, u64)> {
    let documents = varint::take(rest)?;
    let more = if documents & 1 == 1 { varint::take(rest)? } else { 0 };
    let documents = documents >> 1;
    Some((List { documents, words: documents.checked_add(more)? }, varint::take(rest)?))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs::File;

    use proptest::prelude::*;

    use super::*;

    const DOCUMENTS: u64 = 1 << 32;

    fn list() -> impl Strategy<Value = (List, u64)> {
        (1u64..=DOCUMENTS, 0u32..20, 0u64..1 << 40, 1u64..1 << 40).prop_map(
            |(documents, kind, more, bytes)| {
                let (documents, more) =
                    (if kind < 15 { 1 + documents % 3 } else { documents }, if kind < 10 { 0 } else { more });
                (List { documents, words: documents + more }, if kind < 18 { 1 + bytes % 300 } else { bytes })
            },
        )
    }

    /// Terms, some of which share long prefixes, and some of the maximum length.
    fn terms() -> impl Strategy<Value = BTreeMap<Vec<u8>, (List, u64)>> {
        let term =
            prop_oneof!["[ab]{1,9}", "[a-z]{1,20}", "(ab){110}[ab]{0,35}"].prop_map(String::into_bytes);
        prop::collection::btree_map(term, list(), 0..300)
    }

    fn write(terms: &BTreeMap<Vec<u8>, (List, u64)>) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        terms.iter().try_for_each(|(term, &(list, bytes))| writer.push(term, list, bytes)).unwrap();
        writer.finish().unwrap();
        bytes
    }

    fn open(bytes: &[u8], terms: usize, postings: u64) -> (tempfile::TempDir, Result<Terms, Error>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("terms");
        std::fs::write(&path, bytes).unwrap();
        let file = Stored::new(File::open(&path).unwrap(), path, bytes.len() as u64).unwrap();
        let counts = Counts { documents: DOCUMENTS, terms: terms as u64, ..Counts::default() };
        (folder, Terms::open(file, counts, postings))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_is_written_is_found(terms in terms(), others in prop::collection::vec("[ab]{0,10}|[a-z]{1,3}", 20)) {
            let postings = terms.values().map(|(_, bytes)| bytes).sum();
            let (_folder, read) = open(&write(&terms), terms.len(), postings);
            let read = read.unwrap();
            let mut start = 0;
            let entries: BTreeMap<&[u8], Entry> = terms.iter().map(|(term, &(list, bytes))| {
                start += bytes;
                (&**term, Entry { list, postings: start - bytes..start })
            }).collect();
            let (mut cursor, mut all) = (read.from(b""), Vec::new());
            while let Some(entry) = cursor.next().unwrap() {
                all.push((cursor.term().to_vec(), entry));
            }
            prop_assert!(all.iter().map(|(term, entry)| (&**term, entry)).eq(entries.iter().map(|(term, entry)| (*term, entry))));
            for wanted in terms.keys().map(|term| &**term).chain(others.iter().map(|term| term.as_bytes())) {
                let found = read.find(wanted).unwrap();
                prop_assert_eq!(found.as_ref(), entries.get(wanted));
                let mut cursor = read.from(wanted);
                while cursor.next().unwrap().is_some() && cursor.term() < wanted {}
                if let Some((first, _)) = entries.range(wanted..).next() {
                    prop_assert_eq!(cursor.term(), *first);
                }
            }
        }

        #[test]
        fn any_bytes_are_an_error_or_some_terms(
            terms in terms(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)
        ) {
            let mut bytes = write(&terms);
            for (place, byte) in changes {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
            let postings = terms.values().map(|(_, bytes)| bytes).sum();
            let (_folder, read) = open(&bytes, terms.len(), postings);
            let Ok(read) = read else { return Ok(()) };
            let mut cursor = read.from(b"");
            let (mut before, mut end) = (Vec::new(), 0);
            while let Ok(Some(entry)) = cursor.next() {
                prop_assert!(*before < *cursor.term() && cursor.term().len() <= LONGEST);
                prop_assert!(entry.postings.start == end && end < entry.postings.end && entry.postings.end <= postings);
                (before, end) = (cursor.term().to_vec(), entry.postings.end);
            }
        }
    }

    #[test]
    fn terms_that_do_not_ascend_are_not_written() {
        let list = List { documents: 1, words: 1 };
        for (first, second) in [("b", "b"), ("b", "a"), ("b", ""), ("b", &*"c".repeat(256))] {
            let mut writer = Writer::new(Vec::new());
            writer.push(first.as_bytes(), list, 1).unwrap();
            assert!(writer.push(second.as_bytes(), list, 1).is_err(), "{second}");
        }
        assert!(Writer::new(Vec::new()).push(b"", list, 1).is_err());
    }
}
