//! What a selection reads: numbers, or keys without a fixed-width code, as codes in blocks.

use std::cmp::Ordering;
use std::ops::Range;

use crate::cpu::vector::BLOCK;
use crate::key::{Bits, Transform};
use crate::{Order, TotalOrder};

/// The items among which a selection chooses, ordered by a code, and if codes are equal by a comparison.
pub(crate) trait Items<L>: Sync {
    /// Whether items with equal codes are equal.
    const HAS_WHOLE_CODES: bool;
    fn len(&self) -> usize;
    fn code(&self, index: usize) -> L;
    /// The bits of a block of items, whose codes are those under [`Items::transform`]. They may be written to `room`.
    fn block<'a>(&'a self, block: Range<usize>, room: &'a mut [L; BLOCK]) -> &'a [L];
    fn transform(&self) -> Transform<L>;
    /// Compares items whose codes are equal.
    fn compare(&self, a: usize, b: usize) -> Ordering;
}

/// Numbers, and what their bits mean.
pub(crate) struct Numbers<'a, B> {
    pub keys: &'a [B],
    pub transform: Transform<B>,
}

impl<B: Bits, L: Bits> Items<L> for Numbers<'_, B> {
    const HAS_WHOLE_CODES: bool = B::WIDTH <= L::WIDTH;

    fn len(&self) -> usize {
        self.keys.len()
    }

    fn code(&self, index: usize) -> L {
        first_bits(self.transform.encode(self.keys[index]))
    }

    fn block<'a>(&'a self, block: Range<usize>, room: &'a mut [L; BLOCK]) -> &'a [L] {
        let keys = &self.keys[block];
        if B::WIDTH == L::WIDTH {
            return bytemuck::cast_slice(keys);
        }
        write_codes(keys, |&key| first_bits(self.transform.encode(key)), room)
    }

    fn transform(&self) -> Transform<L> {
        if B::WIDTH == L::WIDTH { self.transform.same() } else { Transform::IDENTITY }
    }

    fn compare(&self, a: usize, b: usize) -> Ordering {
        self.transform.encode(self.keys[a]).cmp(&self.transform.encode(self.keys[b]))
    }
}

/// A code in a register that may be wider, or if it is narrower the first bits of the code.
#[inline(always)]
fn first_bits<B: Bits, L: Bits>(code: B) -> L {
    if const { B::WIDTH > L::WIDTH } { L::from_low(code.left_aligned()) } else { resized(code) }
}

/// A code in a register of another width, which has room for its value.
#[inline(always)]
pub(crate) fn resized<B: Bits, L: Bits>(code: B) -> L {
    if const { B::WIDTH == L::WIDTH } { bytemuck::cast(code) } else { L::from_low(code.low()) }
}

/// Writes the codes of a block of keys.
fn write_codes<'a, K, L: Bits>(keys: &[K], code_of: impl Fn(&K) -> L, room: &'a mut [L; BLOCK]) -> &'a [L] {
    let codes = &mut room[..keys.len()];
    for (code, key) in codes.iter_mut().zip(keys) {
        *code = code_of(key);
    }
    codes
}

/// Keys without a fixed-width code.
pub(crate) struct Keys<'a, K> {
    pub keys: &'a [K],
    pub order: Order,
}

impl<K: TotalOrder> Items<u64> for Keys<'_, K> {
    const HAS_WHOLE_CODES: bool = K::IS_PREFIX;

    fn len(&self) -> usize {
        self.keys.len()
    }

    fn code(&self, index: usize) -> u64 {
        self.keys[index].prefix(self.order)
    }

    fn block<'a>(&'a self, block: Range<usize>, room: &'a mut [u64; BLOCK]) -> &'a [u64] {
        write_codes(&self.keys[block], |key| key.prefix(self.order), room)
    }

    fn transform(&self) -> Transform<u64> {
        Transform::IDENTITY
    }

    fn compare(&self, a: usize, b: usize) -> Ordering {
        self.keys[a].compare(&self.keys[b], self.order)
    }
}
