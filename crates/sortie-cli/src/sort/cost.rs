//! Estimates the memory needed to sort a text.

use super::items::encode_key;
use crate::external::Keyed;
use crate::failure::Failure;
use crate::order::LineOrder;

/// The memory that the sort needs for each line, in addition to the references and a copy of them: two words of
/// cached symbols.
const WORDS: usize = 16;
/// The key sizes of this many lines are measured and represent all lines that were read with them.
const KEYS_SAMPLED: usize = 64;

/// Counts the memory needed to sort some text, without the text itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    bytes: usize,
}

impl Cost {
    /// Adds `count` lines. `text` begins with the first of them.
    pub fn add(
        &mut self,
        order: &LineOrder,
        count: usize,
        text: &[u8],
        terminator: u8,
    ) -> Result<(), Failure> {
        if order.plain().is_some() {
            self.bytes += count * (2 * size_of::<&[u8]>() + WORDS);
            return Ok(());
        }
        let (mut key, mut bytes, mut sampled) = (Vec::new(), 0, 0);
        for line in text.split(|&byte| byte == terminator).take(count.min(KEYS_SAMPLED)) {
            key.clear();
            encode_key(line, order, &mut key)?;
            bytes += key.len();
            sampled += 1;
        }
        self.bytes += count * (2 * size_of::<Keyed<'_>>() + WORDS)
            + (bytes as u64 * count as u64 / sampled.max(1)) as usize;
        Ok(())
    }

    /// The memory in bytes.
    pub fn bytes(self) -> u64 {
        self.bytes as u64
    }
}
