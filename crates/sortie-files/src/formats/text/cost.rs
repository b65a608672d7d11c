//! Estimates the memory needed to sort a text.

use sortie_formats::lines;

use super::keyed::encode_key;
use super::order::{LineOrder, MOST_AFTER_KEYS};
use crate::{Error, Keyed};

/// The memory that the sort needs for each line, in addition to the references and a copy of them: two words of
/// cached symbols.
const WORDS: usize = 16;
/// The memory for each line if keys are encoded after one that is cut: a reference to it, another one with its keys, and these.
const AFTER_CUT: usize =
    size_of::<&[u8]>() + size_of::<Keyed<'_, '_>>() + size_of::<usize>() + MOST_AFTER_KEYS;
/// The most bytes of a short text, whose lines may be compared by the rules of a locale without keys.
pub const SHORT: usize = 4 << 10;
/// The memory for the keys of a short text.
const KEYS_OF_SHORT: usize = 4 * SHORT;
/// The key sizes of this many lines are measured and represent all lines that were read with them.
const KEYS_SAMPLED: usize = 64;
/// The bytes of a longer line that are encoded to estimate its key.
const SAMPLE: usize = 64 << 10;

/// Counts the memory needed to sort some text, without the text itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    bytes: usize,
}

impl Cost {
    /// Adds `count` lines. `text` begins with the first of them.
    pub fn add(&mut self, order: &LineOrder, count: usize, text: &[u8], terminator: u8) -> Result<(), Error> {
        if order.plain().is_some() {
            self.bytes += count * (2 * size_of::<&[u8]>() + WORDS);
            return Ok(());
        }
        self.bytes += count * (2 * size_of::<Keyed<'_, '_>>() + WORDS);
        if let Some(cut) = order.cut(0) {
            if order.has_keys_after(cut) {
                self.bytes += count * AFTER_CUT;
            }
            // A few lines are sorted without keys, which are no longer than this otherwise.
            if text.len() <= SHORT {
                self.bytes += KEYS_OF_SHORT;
                return Ok(());
            }
        }
        // The first line was begun in text that was read before, and may be much longer than the others. They do not stand for it, nor
        // it for them.
        let (mut first, mut others, mut start) = (0, 0, 0);
        let sampled = count.min(KEYS_SAMPLED);
        for place in 0..sampled {
            let length = lines::first(&text[start..], terminator).expect("as many lines as counted");
            let key = key_bytes(&text[start..start + length], order)?;
            *if place == 0 { &mut first } else { &mut others } += key;
            start += length + 1;
        }
        self.bytes += first + others * count.saturating_sub(1) / sampled.saturating_sub(1).max(1);
        Ok(())
    }

    /// The memory in bytes.
    pub fn bytes(self) -> u64 {
        self.bytes as u64
    }
}

/// An estimate of the bytes of a line's key.
fn key_bytes(line: &[u8], order: &LineOrder) -> Result<usize, Error> {
    let sample = &line[..line.len().min(SAMPLE)];
    let mut key = Vec::new();
    encode_key(sample, order, 0, &mut key)?;
    Ok((key.len() as u64 * line.len() as u64 / sample.len().max(1) as u64) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::text::key::KeyOptions;
    use crate::formats::text::order::TextOrder;

    /// Once, the key of a long line was estimated from its last piece, and that of each short line after it from the long one.
    #[test]
    fn the_key_of_a_long_line_stands_for_itself() {
        let options = KeyOptions { ignore_case: true, ..KeyOptions::default() };
        let order = LineOrder::new(&TextOrder { options, ..TextOrder::default() }).unwrap();
        let long = 9 << 20;
        let text = [&vec![b'x'; long][..], b"\n", &b"abc\n".repeat(10_000)].concat();
        let mut cost = Cost::default();
        cost.add(&order, 10_001, &text, b'\n').unwrap();
        let lines = 10_001 * (2 * size_of::<Keyed<'_, '_>>() + WORDS) as u64;
        let keys = cost.bytes() - lines;
        assert!((long as u64..long as u64 + 100_000).contains(&keys), "{keys}");
    }
}
