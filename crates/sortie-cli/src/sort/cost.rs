//! How much memory text takes to be sorted.

use super::items::encode_key;
use crate::external::Keyed;
use crate::failure::Failure;
use crate::order::LineOrder;

/// What the sort holds a line, beside the references and a copy of them: two words of cached symbols.
const WORDS: usize = 16;
/// The keys of so many lines stand for those of all lines read with them.
const KEYS_SAMPLED: usize = 64;

/// Counts what sorting some text takes, apart from the text.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    bytes: usize,
}

impl Cost {
    /// Adds `count` lines, of which `text` holds the first.
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

    /// In bytes.
    pub fn bytes(self) -> u64 {
        self.bytes as u64
    }
}
