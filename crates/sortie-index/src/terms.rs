//! The terms of an index on disk, each with what its list holds and how long it is.
//!
//! Blocks of [`BLOCK`] terms in the order of their bytes, the last one shorter, and behind them the index of the blocks.
//!
//! - A term is a byte with two numbers of 4 bits: how many bytes it shares with the term before, and how many follow, less
//!   one. 15 stands for a number that is a byte of its own. Then come the bytes that follow. The first term of a block is in
//!   the index alone.
//! - Its list is three varints: twice the number of documents, one more where there are more words than documents; how many
//!   more words, where there are; and the bytes of the list. Lists are one after the other, so that is where each begins.
//! - The index has for each block its first term, after a byte that says how long it is, and as varints the bytes of the block
//!   and of its lists. The last 8 bytes of the file say where the index begins.
//!
//! A reader holds the index of the blocks in memory, and reads one block to look a term up. It trusts no number: what it reads
//! is in order, within its block and its file, or an error.

use std::io::{self, Write};
use std::ops::Range;

use crate::error::Error;
use crate::format::Counts;
use crate::postings::List;
use crate::stored::{SCAN, Stored, Window};
use crate::tokens::LONGEST;
use crate::varint;

/// Terms of a block. Twice as many make the file 1% smaller, and a look-up decodes half of a block.
const BLOCK: usize = 64;
/// More bytes than this no block has: with each term a byte for both numbers, two for large ones, and three varints.
const LARGEST_BLOCK: u64 = (BLOCK * (3 + LONGEST + 3 * varint::LONGEST)) as u64;
/// And no block more than this in the index: a term and its length, and two varints.
const LARGEST_IN_INDEX: u64 = (1 + LONGEST + 2 * varint::LONGEST) as u64;
/// Stands for a number that does not fit in 4 bits.
const ESCAPE: u8 = 15;
/// Bytes of the number at the end of the file.
const FOOTER: u64 = 8;

/// Writes terms. Holds the index of the blocks, about 20 bytes for 64 terms, until the end.
pub struct Writer<W> {
    out: W,
    block: Vec<u8>,
    /// Terms of the block.
    held: usize,
    /// Bytes of the block's lists.
    postings: u64,
    index: Vec<u8>,
    /// Bytes of all blocks that are written.
    written: u64,
    term: Vec<u8>,
}

impl<W: Write> Writer<W> {
    pub fn new(out: W) -> Writer<W> {
        let (block, index, term) = (Vec::new(), Vec::new(), Vec::new());
        Writer { out, block, held: 0, postings: 0, index, written: 0, term }
    }

    /// Adds a term of 1 to 255 bytes that is greater than all before, with its list of so many bytes.
    pub fn push(&mut self, term: &[u8], list: List, bytes: u64) -> io::Result<()> {
        if term.len() > LONGEST || self.term.as_slice() >= term {
            return Err(io::Error::other("terms are too long or do not ascend"));
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

    /// Writes what is left, and the index of the blocks.
    pub fn finish(mut self) -> io::Result<()> {
        if self.held > 0 {
            self.end_block()?;
        }
        self.out.write_all(&self.index)?;
        self.out.write_all(&self.written.to_le_bytes())
    }
}

/// What a term does not share with the one before.
fn put_suffix(shared: usize, suffix: &[u8], out: &mut Vec<u8>) {
    let numbers = [shared as u8, (suffix.len() - 1) as u8];
    let [high, low] = numbers.map(|number| number.min(ESCAPE));
    out.push(high << 4 | low);
    out.extend(numbers.into_iter().filter(|&number| number >= ESCAPE));
    out.extend_from_slice(suffix);
}

/// The same from the front of what is left of a block: how much is shared, and the bytes that follow.
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

/// A term's list: what it holds, and where it is among the postings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub list: List,
    pub postings: Range<u64>,
}

/// The terms of an index. Holds the index of the blocks: about 50 bytes for 64 terms.
#[derive(Debug)]
pub struct Terms {
    file: Stored,
    counts: Counts,
    blocks: Blocks,
}

/// The blocks of terms, by their index.
#[derive(Debug, Default)]
struct Blocks {
    /// The first terms, end to end.
    firsts: Vec<u8>,
    each: Vec<Block>,
    /// Where the last one ends, and its last list.
    ends: (u64, u64),
}

#[derive(Debug)]
struct Block {
    /// Its first term, among those.
    first: Range<usize>,
    /// Where it begins, and its first list among the postings.
    start: u64,
    postings: u64,
}

impl Terms {
    /// Reads the index of the blocks, O(terms / 64), and checks that it is in order and covers the file and the postings.
    pub fn open(file: Stored, counts: Counts, postings: u64) -> Result<Terms, Error> {
        let footer = file.bytes().checked_sub(FOOTER).ok_or_else(|| file.damaged("it is cut short"))?;
        let mut window = file.window(SCAN);
        let bytes = window.bytes(footer..file.bytes())?;
        let end = u64::from_le_bytes(bytes.try_into().expect("as many as asked for"));
        if end > footer {
            return Err(file.damaged("the index of its blocks is not in it"));
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
            return Err(file.damaged(format!("{count} blocks are not those of {} terms", counts.terms)));
        }
        Ok(Terms { file, counts, blocks })
    }

    pub fn file(&self) -> &Stored {
        &self.file
    }

    /// The list of a term, where there is one. Reads a block of terms.
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

    /// All terms, or those from the block on that a term would be in.
    pub fn from(&self, term: &[u8]) -> Cursor<'_> {
        self.cursor(self.block_of(term).unwrap_or(0), SCAN)
    }

    /// The last block whose first term is not greater.
    fn block_of(&self, term: &[u8]) -> Option<usize> {
        self.blocks.each.partition_point(|block| self.blocks.first(block) <= term).checked_sub(1)
    }

    fn cursor(&self, block: usize, ahead: usize) -> Cursor<'_> {
        let window = self.file.window(ahead);
        Cursor { terms: self, window, block, at: 0, passed: 0, postings: 0, term: Vec::new() }
    }

    /// How many terms a block has, by the count of all.
    fn length(&self, block: usize) -> usize {
        let before = (block * BLOCK) as u64;
        (self.counts.terms - before).min(BLOCK as u64) as usize
    }
}

impl Blocks {
    /// Reads the index that is in a part of the file.
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

    /// Adds the block that comes next in the index.
    fn push(&mut self, rest: &mut &[u8]) -> Result<(), &'static str> {
        let cut_short = "the index of its blocks is cut short";
        let length = rest.split_off_first().ok_or(cut_short)?;
        let term = rest.split_off(..usize::from(*length)).ok_or(cut_short)?;
        if self.each.last().map_or(&[][..], |block| self.first(block)) >= term {
            return Err("its blocks are not in order");
        }
        let (bytes, lists) = varint::take(rest).zip(varint::take(rest)).ok_or(cut_short)?;
        if bytes > LARGEST_BLOCK {
            return Err("a block is larger than 64 terms can be");
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

    /// Where a block ends, and its last list.
    fn ends(&self, block: usize) -> (u64, u64) {
        self.each.get(block + 1).map_or(self.ends, |next| (next.start, next.postings))
    }
}

/// Goes through terms in order.
pub struct Cursor<'a> {
    terms: &'a Terms,
    window: Window<'a>,
    block: usize,
    /// Within the block: where the next term begins, and how many are passed.
    at: usize,
    passed: usize,
    /// Where the next list begins.
    postings: u64,
    term: Vec<u8>,
}

impl Cursor<'_> {
    /// The term whose entry came last.
    pub fn term(&self) -> &[u8] {
        &self.term
    }

    /// The entry of the next term; nothing at the end.
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
                return Err(file.damaged("terms do not ascend from block to block"));
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
                return Err(file.damaged("a block goes on behind its last term"));
            }
            (self.block, self.at, self.passed) = (self.block + 1, 0, 0);
        }
        Ok(Some(entry))
    }
}

/// Makes a term the next one.
fn next_term(term: &mut Vec<u8>, rest: &mut &[u8]) -> Result<(), &'static str> {
    let (shared, suffix) = take_suffix(rest).ok_or("a block is cut short")?;
    if shared > term.len() || shared + suffix.len() > LONGEST {
        return Err("a term is longer than a term can be");
    }
    // All that can be shared is, so that the first byte that is not tells the order.
    if term.get(shared).is_some_and(|&byte| suffix[0] <= byte) {
        return Err("terms do not ascend");
    }
    term.truncate(shared);
    term.extend_from_slice(suffix);
    Ok(())
}

/// What a list holds, and its bytes.
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

    /// Terms, some of which share a lot, and the longest that there are.
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
