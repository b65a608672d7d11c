//! Keys of 8 and 16 bits: counted, then written anew. One read and one write of the keys.

use crate::key::{Bits, Transform};
use crate::plan::COUNT_16_FROM;

/// Whether `n` such keys are worth counting.
pub(crate) fn applies<B: Bits>(n: usize) -> bool {
    match B::WIDTH {
        8 => n > 1 << 6,
        16 => n >= COUNT_16_FROM,
        _ => false,
    }
}

/// Bytes of counters.
pub(crate) fn scratch<B: Bits>() -> usize {
    size_of::<u32>() << B::WIDTH
}

pub(crate) fn sort<B: Bits>(keys: &mut [B], transform: Transform<B>) {
    // In parts whose counts fit 32 bits, so that the counters stay small.
    let mut counts = vec![0u32; 1 << B::WIDTH];
    let mut wide: Option<Vec<usize>> = None;
    for part in keys.chunks(u32::MAX as usize) {
        if part.len() < keys.len() {
            wide.get_or_insert_with(|| vec![0; 1 << B::WIDTH]);
        }
        part.iter().for_each(|&key| counts[transform.encode(key).low() as usize] += 1);
        if let Some(wide) = &mut wide {
            wide.iter_mut().zip(&mut counts).for_each(|(sum, count)| *sum += std::mem::take(count) as usize);
        }
    }
    let mut rest = keys;
    for code in 0..1 << B::WIDTH {
        let count = wide.as_ref().map_or(counts[code] as usize, |wide| wide[code]);
        let key = transform.decode(B::from_low(code as u64));
        rest.split_off_mut(..count).expect("the counts add up to the keys").fill(key);
    }
}
