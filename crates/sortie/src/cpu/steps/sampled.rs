//! Whether few codes of a sample are distinct.

use crate::cpu::tuning::PIVOT_OF;
use crate::key::Bits;

/// Whether a sample shows that there are few distinct codes. `n` is not 0.
pub(crate) fn has_few_codes<B: Bits>(n: usize, code: impl Fn(usize) -> B) -> bool {
    count_equal(&sample(n, code)) >= FEW_CODES
}

/// Whether a sample has two codes that are equal. `n` is not 0.
pub(crate) fn has_equal_codes<B: Bits>(n: usize, code: impl Fn(usize) -> B) -> bool {
    count_equal(&sample(n, code)) > 0
}

/// Codes at equal distances.
pub(crate) fn sample<B: Bits>(n: usize, code: impl Fn(usize) -> B) -> [B; PIVOT_OF] {
    let mut sample = [B::ZERO; PIVOT_OF];
    for (i, slot) in sample.iter_mut().enumerate() {
        *slot = code((i as u64 * n as u64 / PIVOT_OF as u64) as usize);
    }
    sample
}

/// The number of equal pairs in a sample. Stops counting at [`FEW_CODES`].
pub(crate) fn count_equal<B: Bits>(sample: &[B; PIVOT_OF]) -> usize {
    let mut equal = 0;
    for (i, code) in sample.iter().enumerate() {
        equal += sample[..i].iter().filter(|&before| before == code).count();
        if equal >= FEW_CODES {
            break;
        }
    }
    equal
}

/// If a sample has at least this many equal pairs, the codes are assumed to have few distinct values.
pub(crate) const FEW_CODES: usize = PIVOT_OF / 4;
