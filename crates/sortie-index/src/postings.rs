//! A term's list of postings, as bytes.
//!
//! Blocks of 128 postings: the bits a number of each kind, then the gaps between documents and the frequencies less one,
//! bit-packed. Then what is left, up to 127, as varints: twice the gap, one more where a frequency above one follows. Then
//! the tail of the list: how many documents there are and how often the term is in them; so that a list is written while it
//! is still being merged. A gap is that between documents less one; the first is the document itself.
//!
//! A list is found by where its tail begins.

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
    /// Where it begins, and its bytes until now.
    start: u64,
    bytes: u64,
}

/// What the tail of a list says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct List {
    /// In how many documents the term is.
    pub documents: u64,
    /// How often it is in all of them.
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
            start: 0,
            bytes: 0,
        }
    }
}

impl Encoder {
    /// Adds a posting of a frequency from 1. Documents ascend; one that was the last already, for it began in another block, is
    /// more of that.
    ///
    /// # Errors
    /// [`Error::TooMuch`] where a document then has the term more than 2^32 - 1 times.
    pub fn push(&mut self, posting: Posting, out: &mut Vec<u8>) -> Result<(), Error> {
        if let Some(last) = self.held.checked_sub(1)
            && self.documents[last] == posting.document
        {
            // The frequency is held less one, so that the largest sum is one below what 32 bits can say.
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
        // Packed less one.
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

    /// Ends the list, and says where in all that was encoded its tail begins.
    pub fn end(&mut self, out: &mut Vec<u8>) -> (u64, List) {
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
        let (tail, tail_start) = (self.start + bytes, out.len());
        let list = std::mem::take(&mut self.list);
        varint::put(list.documents, out);
        varint::put(list.words - list.documents, out);
        varint::put(bytes, out);
        self.start = tail + (out.len() - tail_start) as u64;
        (self.held, self.before, self.bytes) = (0, None, 0);
        (tail, list)
    }
}

#[cold]
fn too_often() -> Error {
    Error::TooMuch("a document has a word more than 4294967295 times; cut it to several".into())
}

/// Decodes a list.
#[derive(Clone)]
pub struct Decoder<'a> {
    packer: BitPacker4x,
    list: List,
    bytes: &'a [u8],
    /// How many postings are not decoded.
    left: u64,
    documents: [u32; BLOCK],
    frequencies: [u32; BLOCK],
    /// Of those decoded.
    at: usize,
    held: usize,
    before: Option<u32>,
}

/// A list is not what an encoder writes; it says in which way.
pub type Damage = &'static str;

impl<'a> Decoder<'a> {
    /// The list whose tail begins at a place in the postings of an index, and where it ends.
    pub fn new(postings: &'a [u8], tail: u64) -> Result<(Decoder<'a>, usize), Damage> {
        let tail = usize::try_from(tail).ok().filter(|&tail| tail < postings.len());
        let tail = tail.ok_or("a list is not among the postings")?;
        let mut rest = &postings[tail..];
        let mut number = || varint::take(&mut rest).ok_or("the tail of a list is cut short");
        let (documents, more, bytes) = (number()?, number()?, number()?);
        let start = usize::try_from(bytes).ok().and_then(|bytes| tail.checked_sub(bytes));
        let bytes = &postings[start.ok_or("a list is longer than what is before its tail")?..tail];
        let words = documents.checked_add(more).ok_or("a list has more words than can be counted")?;
        let decoder = Decoder {
            packer: BitPacker4x::new(),
            list: List { documents, words },
            bytes,
            left: documents,
            documents: [0; BLOCK],
            frequencies: [0; BLOCK],
            at: 0,
            held: 0,
            before: None,
        };
        Ok((decoder, postings.len() - rest.len()))
    }

    pub fn list(&self) -> List {
        self.list
    }

    /// Bytes that the postings take, without the tail.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The next posting, by ascending document.
    #[inline]
    pub fn next(&mut self) -> Result<Option<Posting>, Damage> {
        if self.at == self.held && !self.decode()? {
            return Ok(None);
        }
        let posting = Posting { document: self.documents[self.at], frequency: self.frequencies[self.at] };
        self.at += 1;
        Ok(Some(posting))
    }

    /// Decodes the next postings, where there are any.
    fn decode(&mut self) -> Result<bool, Damage> {
        if self.left == 0 {
            return if self.bytes.is_empty() {
                Ok(false)
            } else {
                Err("a list goes on behind its last posting")
            };
        }
        (self.at, self.held) = (0, self.left.min(BLOCK as u64) as usize);
        if self.held == BLOCK {
            self.unpack()?
        } else {
            self.read_rest()?
        }
        self.left -= self.held as u64;
        self.before = Some(self.documents[self.held - 1]);
        Ok(true)
    }

    fn unpack(&mut self) -> Result<(), Damage> {
        let &[gap_bits, frequency_bits, ref rest @ ..] = self.bytes else {
            return Err("a block is cut short");
        };
        if gap_bits > 32 || frequency_bits > 32 {
            return Err("a block says that it has numbers of more than 32 bits");
        }
        let sizes = [gap_bits, frequency_bits].map(BitPacker4x::compressed_block_size);
        let gaps = rest.get(..sizes[0]).ok_or("a block is cut short")?;
        let frequencies = rest.get(sizes[0]..sizes[0] + sizes[1]).ok_or("a block is cut short")?;
        // The sums of gaps are made here, where one that is too large is seen.
        self.packer.decompress(gaps, &mut self.documents, gap_bits);
        self.packer.decompress(frequencies, &mut self.frequencies, frequency_bits);
        let mut next = self.before.map_or(0, |before| u64::from(before) + 1);
        for document in &mut self.documents {
            next += u64::from(*document) + 1;
            // The last one is the largest.
            *document = (next - 1) as u32;
        }
        if next > 1 << 32 {
            return Err("a document has a number of more than 32 bits");
        }
        for frequency in &mut self.frequencies {
            *frequency = frequency.checked_add(1).ok_or("a frequency has more than 32 bits")?;
        }
        self.bytes = &rest[sizes[0] + sizes[1]..];
        Ok(())
    }

    fn read_rest(&mut self) -> Result<(), Damage> {
        let mut next = self.before.map_or(0, |before| u64::from(before) + 1);
        for at in 0..self.held {
            let mut number = || varint::take(&mut self.bytes).ok_or("a list is cut short");
            let gap = number()?;
            let less = if gap & 1 == 1 { number()? } else { 0 };
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

    fn encode(lists: &[Vec<Posting>]) -> (Vec<u8>, Vec<u64>) {
        let (mut encoder, mut bytes, mut tails) = (Encoder::default(), Vec::new(), Vec::new());
        for list in lists {
            list.iter().for_each(|&posting| encoder.push(posting, &mut bytes).unwrap());
            let (tail, told) = encoder.end(&mut bytes);
            tails.push(tail);
            assert_eq!(told.words, list.iter().map(|posting| u64::from(posting.frequency)).sum::<u64>());
        }
        (bytes, tails)
    }

    fn decode(mut decoder: Decoder<'_>) -> Result<Vec<Posting>, Damage> {
        std::iter::from_fn(|| decoder.next().transpose()).collect()
    }

    /// Lists of ascending documents; some with large gaps and frequencies.
    fn lists() -> impl Strategy<Value = Vec<Vec<Posting>>> {
        let posting = (0u32..40, 0u32..100_000, 1u32..30, any::<u32>());
        let list = prop::collection::vec(posting, 1..400).prop_map(|gaps| {
            let mut next = 0u64;
            let postings = gaps.into_iter().map(|(kind, gap, few, many)| {
                let document = next + u64::from(if kind == 0 { gap * 40 } else { gap % 50 });
                next = document + 1;
                let frequency = if kind == 1 { many.max(1) } else { few };
                Posting { document: document as u32, frequency }
            });
            postings.collect()
        });
        prop::collection::vec(list, 1..5)
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(lists in lists()) {
            let (bytes, tails) = encode(&lists);
            let mut start = 0;
            for (list, tail) in lists.iter().zip(tails) {
                let (decoder, end) = Decoder::new(&bytes, tail).unwrap();
                prop_assert_eq!(decoder.list().documents, list.len() as u64);
                prop_assert_eq!(decoder.bytes() as u64, tail - start);
                prop_assert_eq!(&decode(decoder).unwrap(), list);
                start = end as u64;
            }
            prop_assert_eq!(start, bytes.len() as u64);
        }

        #[test]
        fn damaged_bytes_are_an_error_or_some_list(
            lists in lists(), place in any::<prop::sample::Index>(), bits in 1u8.., cut in any::<prop::sample::Index>()
        ) {
            let (mut bytes, tails) = encode(&lists);
            let place = place.index(bytes.len());
            bytes[place] ^= bits;
            bytes.truncate(cut.index(2 * bytes.len()).max(1));
            for tail in tails {
                if let Ok((decoder, _)) = Decoder::new(&bytes, tail) {
                    let _ = decode(decoder);
                }
            }
        }

        #[test]
        fn any_bytes_are_an_error_or_some_list(bytes in prop::collection::vec(any::<u8>(), 0..300), tail in 0u64..300) {
            if let Ok((decoder, _)) = Decoder::new(&bytes, tail) {
                let _ = decode(decoder);
            }
        }
    }

    #[test]
    fn more_of_the_last_document_is_added_to_it() {
        let posting = |document, frequency| Posting { document, frequency };
        let parts: Vec<Posting> = (0..BLOCK as u32).flat_map(|d| [posting(d, 2), posting(d, 3)]).collect();
        let (bytes, tails) = encode(&[parts]);
        let (decoder, _) = Decoder::new(&bytes, tails[0]).unwrap();
        assert_eq!(decoder.list(), List { documents: BLOCK as u64, words: 5 * BLOCK as u64 });
        assert!(decode(decoder).unwrap().iter().all(|posting| posting.frequency == 5));
    }

    #[test]
    fn a_frequency_that_32_bits_cannot_say_is_refused() {
        let posting = |frequency| Posting { document: 7, frequency };
        let (mut encoder, mut bytes) = (Encoder::default(), Vec::new());
        encoder.push(posting(u32::MAX - 1), &mut bytes).unwrap();
        encoder.push(posting(1), &mut bytes).unwrap();
        for more in [1, 2, u32::MAX] {
            let refused = encoder.push(posting(more), &mut bytes);
            assert!(matches!(refused, Err(Error::TooMuch(_))), "{refused:?}");
        }
        let (tail, list) = encoder.end(&mut bytes);
        assert_eq!(list, List { documents: 1, words: u32::MAX.into() });
        let (decoder, _) = Decoder::new(&bytes, tail).unwrap();
        assert_eq!(decode(decoder).unwrap(), [posting(u32::MAX)]);
    }
}
