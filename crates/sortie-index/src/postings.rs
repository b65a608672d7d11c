//! A term's list of postings, as bytes.
//!
//! First come blocks of 128 postings. A block has the numbers of bits for gaps and for frequencies, then the gaps between
//! documents and the frequencies minus one, bit-packed. The rest, up to 127 postings, are varints: twice the gap, plus one if a
//! frequency above one follows. A gap is the difference between two documents, minus one; the first gap is the document itself.
//! The number of documents is known when all runs are merged, and is in the dictionary.

use bitpacking::{BitPacker, BitPacker4x};

use crate::error::Error;
use crate::run::Posting;
use crate::varint;

/// Postings of a block.
pub const BLOCK: usize = BitPacker4x::BLOCK_LEN;

/// Encodes lists, one after the other.
pub struct Encoder {
    packer: BitPacker4x,
    documents: [u32; BLOCK],
    frequencies: [u32; BLOCK],
    held: usize,
    /// The last document of the block before.
    before: Option<u32>,
    list: List,
    /// The number of bytes of the list so far.
    bytes: u64,
}

/// What a list holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct List {
    /// The number of documents that have the term.
    pub documents: u64,
    /// How often these documents have the term in total.
    pub words: u64,
}

impl Default for Encoder {
    fn default() -> Encoder {
        Encoder {
            packer: BitPacker4x::new(),
            documents: [0; BLOCK],
            frequencies: [0; BLOCK],
            held: 0,
            before: None,
            list: List::default(),
            bytes: 0,
        }
    }
}

impl Encoder {
    /// Adds a posting, whose frequency must be at least 1. Documents ascend. If the document is the same as the last
    /// one, a block ended within it, and the frequencies are added.
    ///
    /// # Errors
    /// [`Error::TooMuch`] if a document then has the term more than 2^32 - 1 times.
    pub fn push(&mut self, posting: Posting, out: &mut Vec<u8>) -> Result<(), Error> {
        if let Some(last) = self.held.checked_sub(1)
            && self.documents[last] == posting.document
        {
            // Frequencies are stored minus one, so the largest stored value is 2^32 - 2, for a frequency of 2^32 - 1.
            let sum = self.frequencies[last].checked_add(posting.frequency).filter(|&less| less < u32::MAX);
            self.frequencies[last] = sum.ok_or_else(too_often)?;
            self.list.words += u64::from(posting.frequency);
            return Ok(());
        }
        self.list.words += u64::from(posting.frequency);
        if self.held == BLOCK {
            self.pack(out);
        }
        self.documents[self.held] = posting.document;
        // Packed minus one.
        self.frequencies[self.held] = posting.frequency - 1;
        self.held += 1;
        self.list.documents += 1;
        Ok(())
    }

    fn pack(&mut self, out: &mut Vec<u8>) {
        let start = out.len();
        let bits = [
            self.packer.num_bits_strictly_sorted(self.before, &self.documents),
            self.packer.num_bits(&self.frequencies),
        ];
        out.extend_from_slice(&bits);
        let sizes = bits.map(BitPacker4x::compressed_block_size);
        out.resize(start + 2 + sizes[0] + sizes[1], 0);
        let (gaps, frequencies) = out[start + 2..].split_at_mut(sizes[0]);
        self.packer.compress_strictly_sorted(self.before, &self.documents, gaps, bits[0]);
        self.packer.compress(&self.frequencies, frequencies, bits[1]);
        self.before = Some(self.documents[BLOCK - 1]);
        self.held = 0;
        self.bytes += (out.len() - start) as u64;
    }

    /// Ends the list. Returns its counts and its length in bytes.
    pub fn end(&mut self, out: &mut Vec<u8>) -> (List, u64) {
        if self.held == BLOCK {
            self.pack(out);
        }
        let start = out.len();
        let mut next = self.before.map_or(0, |before| u64::from(before) + 1);
        for (&document, &less) in self.documents.iter().zip(&self.frequencies).take(self.held) {
            let gap = u64::from(document) - next;
            next = u64::from(document) + 1;
            varint::put(gap << 1 | u64::from(less > 0), out);
            if less > 0 {
                varint::put(u64::from(less), out);
            }
        }
        let bytes = self.bytes + (out.len() - start) as u64;
        (self.held, self.before, self.bytes) = (0, None, 0);
        (std::mem::take(&mut self.list), bytes)
    }
}

#[cold]
fn too_often() -> Error {
    Error::TooMuch("a document has a word more than 4294967295 times; split it into several".into())
}

/// Decodes a list in parts.
pub struct Decoder {
    packer: BitPacker4x,
    /// The number of postings that are not decoded yet.
    left: u64,
    documents: [u32; BLOCK],
    frequencies: [u32; BLOCK],
    /// The position of the next decoded posting.
    at: usize,
    held: usize,
    before: Option<u32>,
}

/// A description of what is wrong with an encoded list.
pub type Damage = &'static str;

/// The most bytes that one call of [`Decoder::decode`] can take.
pub const LARGEST_PART: u64 = max(2 + 2 * 4 * BLOCK, (BLOCK - 1) * 2 * varint::LONGEST) as u64;

const fn max(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}

impl Decoder {
    /// A decoder for a list of this many postings.
    pub fn new(postings: u64) -> Decoder {
        Decoder {
            packer: BitPacker4x::new(),
            left: postings,
            documents: [0; BLOCK],
            frequencies: [0; BLOCK],
            at: 0,
            held: 0,
            before: None,
        }
    }

    /// The number of postings that are not decoded yet.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// The next of the decoded postings, by ascending document.
    #[inline]
    pub fn next(&mut self) -> Option<Posting> {
        if self.at == self.held {
            return None;
        }
        let posting = Posting { document: self.documents[self.at], frequency: self.frequencies[self.at] };
        self.at += 1;
        Some(posting)
    }

    /// Decodes more postings, if any are left, in place of those it has. Returns the number of bytes that they took.
    /// `bytes` are the next bytes of the list: at least [`LARGEST_PART`], or all that are left.
    pub fn decode(&mut self, bytes: &[u8]) -> Result<usize, Damage> {
        let count = self.left.min(BLOCK as u64) as usize;
        (self.at, self.held) = (0, 0);
        let mut rest = bytes;
        match count {
            0 => return Ok(0),
            BLOCK => self.unpack(&mut rest)?,
            _ => self.read_rest(count, &mut rest)?,
        }
        self.held = count;
        self.left -= count as u64;
        self.before = Some(self.documents[count - 1]);
        Ok(bytes.len() - rest.len())
    }

    fn unpack(&mut self, bytes: &mut &[u8]) -> Result<(), Damage> {
        let &[gap_bits, frequency_bits, ref rest @ ..] = *bytes else {
            return Err("a block is cut short");
        };
        if gap_bits > 32 || frequency_bits > 32 {
            return Err("a block says that it has numbers of more than 32 bits");
        }
        let sizes = [gap_bits, frequency_bits].map(BitPacker4x::compressed_block_size);
        let gaps = rest.get(..sizes[0]).ok_or("a block is cut short")?;
        let frequencies = rest.get(sizes[0]..sizes[0] + sizes[1]).ok_or("a block is cut short")?;
        // The gaps are added up here, so that a sum that is too large is noticed.
        self.packer.decompress(gaps, &mut self.documents, gap_bits);
        self.packer.decompress(frequencies, &mut self.frequencies, frequency_bits);
        let mut next = self.before.map_or(0, |before| u64::from(before) + 1);
        for document in &mut self.documents {
            next += u64::from(*document) + 1;
            // It is enough to check the last one, which is the largest.
            *document = (next - 1) as u32;
        }
        if next > 1 << 32 {
            return Err("a document has a number of more than 32 bits");
        }
        for frequency in &mut self.frequencies {
            *frequency = frequency.checked_add(1).ok_or("a frequency has more than 32 bits")?;
        }
        *bytes = &rest[sizes[0] + sizes[1]..];
        Ok(())
    }

    fn read_rest(&mut self, count: usize, bytes: &mut &[u8]) -> Result<(), Damage> {
        let mut next = self.before.map_or(0, |before| u64::from(before) + 1);
        for at in 0..count {
            let mut number = || varint::take(bytes).ok_or("a list is cut short");
            let gap = number()?;
            let less = if gap & 1 == 1 { number()? } else { 0 };
            // Both are below 2^63.
            let document = u32::try_from(next + (gap >> 1));
            self.documents[at] = document.map_err(|_| "a document has a number of more than 32 bits")?;
            let frequency = u32::try_from(less).ok().and_then(|less| less.checked_add(1));
            self.frequencies[at] = frequency.ok_or("a frequency has more than 32 bits")?;
            next = u64::from(self.documents[at]) + 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encode(list: &[Posting]) -> (List, Vec<u8>) {
        let (mut encoder, mut bytes) = (Encoder::default(), Vec::new());
        list.iter().for_each(|&posting| encoder.push(posting, &mut bytes).unwrap());
        let (list, length) = encoder.end(&mut bytes);
        assert_eq!(length, bytes.len() as u64);
        (list, bytes)
    }

    /// Decodes a list. Returns the bytes after it too.
    fn decode(postings: u64, mut bytes: &[u8]) -> Result<(Vec<Posting>, &[u8]), Damage> {
        let (mut decoder, mut all) = (Decoder::new(postings), Vec::new());
        while decoder.left() > 0 {
            let part = &bytes[..bytes.len().min(LARGEST_PART as usize)];
            bytes = &bytes[decoder.decode(part)?..];
            all.extend(std::iter::from_fn(|| decoder.next()));
        }
        Ok((all, bytes))
    }

    /// A list of ascending documents; some with large gaps and frequencies.
    fn list() -> impl Strategy<Value = Vec<Posting>> {
        let posting = (0u32..40, 0u32..100_000, 1u32..30, any::<u32>());
        prop::collection::vec(posting, 1..400).prop_map(|gaps| {
            let mut next = 0u64;
            let postings = gaps.into_iter().map(|(kind, gap, few, many)| {
                let document = next + u64::from(if kind == 0 { gap * 40 } else { gap % 50 });
                next = document + 1;
                let frequency = if kind == 1 { many.max(1) } else { few };
                Posting { document: document as u32, frequency }
            });
            postings.collect()
        })
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(list in list()) {
            let (holds, bytes) = encode(&list);
            let words = list.iter().map(|posting| u64::from(posting.frequency)).sum();
            prop_assert_eq!(holds, List { documents: list.len() as u64, words });
            let (decoded, behind) = decode(holds.documents, &bytes).unwrap();
            prop_assert_eq!(decoded, list);
            prop_assert!(behind.is_empty());
        }

        #[test]
        fn damaged_bytes_are_an_error_or_some_list(
            list in list(), place in any::<prop::sample::Index>(), bits in 1u8.., cut in any::<prop::sample::Index>()
        ) {
            let (holds, mut bytes) = encode(&list);
            let place = place.index(bytes.len());
            bytes[place] ^= bits;
            bytes.truncate(cut.index(2 * bytes.len()).max(1));
            let _ = decode(holds.documents, &bytes);
        }

        #[test]
        fn any_bytes_are_an_error_or_some_list(bytes in prop::collection::vec(any::<u8>(), 0..300), postings: u64) {
            let _ = decode(postings, &bytes);
            let _ = decode(postings % 300, &bytes);
        }
    }

    const fn posting(document: u32, frequency: u32) -> Posting {
        Posting { document, frequency }
    }

    #[test]
    fn more_of_the_last_document_is_added_to_it() {
        let parts: Vec<Posting> = (0..BLOCK as u32).flat_map(|d| [posting(d, 2), posting(d, 3)]).collect();
        let (holds, bytes) = encode(&parts);
        assert_eq!(holds, List { documents: BLOCK as u64, words: 5 * BLOCK as u64 });
        assert!(decode(holds.documents, &bytes).unwrap().0.iter().all(|posting| posting.frequency == 5));
    }

    #[test]
    fn a_frequency_that_32_bits_cannot_say_is_refused() {
        let (mut encoder, mut bytes) = (Encoder::default(), Vec::new());
        encoder.push(posting(7, u32::MAX - 1), &mut bytes).unwrap();
        encoder.push(posting(7, 1), &mut bytes).unwrap();
        for more in [1, 2, u32::MAX] {
            let refused = encoder.push(posting(7, more), &mut bytes);
            assert!(matches!(refused, Err(Error::TooMuch(_))), "{refused:?}");
        }
        let (holds, _) = encoder.end(&mut bytes);
        assert_eq!(holds, List { documents: 1, words: u32::MAX.into() });
        assert_eq!(decode(1, &bytes).unwrap().0, [posting(7, u32::MAX)]);
    }
}
