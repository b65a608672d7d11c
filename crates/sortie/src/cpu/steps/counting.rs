//! Sorts keys of 8 and 16 bits by counting: reads the keys once and writes them again.

use crate::cpu::sampled::has_few_codes;
use crate::cpu::tuning::{COUNT_16_FROM, COUNTED_BY_THREADS};
use crate::key::{Bits, Transform};

/// Whether keys of this type may be counted. Used as a constant, so that nothing here is compiled for wider keys.
pub(crate) const fn are_narrow<B: Bits>() -> bool {
    B::WIDTH <= u16::BITS
}

/// Whether such keys should be sorted by counting, and not by vectors and `threads` threads.
pub(crate) fn pays<B: Bits>(keys: &[B], transform: Transform<B>, threads: usize) -> bool {
    match B::WIDTH {
        8 => keys.len() > 1 << 6,
        16 => {
            threads <= COUNTED_BY_THREADS
                && keys.len() >= COUNT_16_FROM
                && !has_few_codes(keys.len(), |i| transform.encode(keys[i]))
        }
        _ => false,
    }
}

/// The number of tables of counters, which keys use in turn. With a single table, equal neighbours would wait for the
/// increment before.
const fn tables<B: Bits>() -> usize {
    if B::WIDTH == u8::BITS { BYTE_TABLES } else { 1 }
}

/// The number of tables for 8-bit keys.
const BYTE_TABLES: usize = 4;

/// The size of the counters in bytes.
pub(crate) const fn scratch<B: Bits>() -> usize {
    tables::<B>() * (size_of::<u32>() << B::WIDTH)
}

pub(crate) fn sort<B: Bits>(keys: &mut [B], transform: Transform<B>) {
    // The keys are counted in parts whose counts fit in 32 bits, so the counters stay small.
    let codes = 1 << B::WIDTH;
    let mut counts = vec![0u32; tables::<B>() * codes];
    let mut wide: Option<Vec<usize>> = None;
    for part in keys.chunks(u32::MAX as usize) {
        if part.len() < keys.len() {
            wide.get_or_insert_with(|| vec![0; codes]);
        }
        // Choosing the transform once, here, avoids a choice for every key.
        if const { B::OF_INTEGERS } || transform.is_integer() {
            count(part, &mut counts, |key| transform.encode_integer(key));
        } else {
            count(part, &mut counts, |key| transform.encode(key));
        }
        let (sums, others) = counts.split_at_mut(codes);
        for table in others.chunks_mut(codes) {
            sums.iter_mut().zip(table).for_each(|(sum, count)| *sum += std::mem::take(count));
        }
        if let Some(wide) = &mut wide {
            wide.iter_mut().zip(sums).for_each(|(sum, count)| *sum += std::mem::take(count) as usize);
        }
    }
    let mut rest = keys;
    for code in 0..codes {
        let count = wide.as_ref().map_or(counts[code] as usize, |wide| wide[code]);
        let key = transform.decode(B::from_low(code as u64));
        rest.split_off_mut(..count).expect("the counts add up to the keys").fill(key);
    }
}

/// Counts keys by their codes.
#[inline(always)]
fn count<B: Bits>(keys: &[B], counts: &mut [u32], code: impl Fn(B) -> B) {
    if const { B::WIDTH == u8::BITS } {
        count_in_turn::<B, BYTE_TABLES>(keys, counts, code);
    } else {
        count_in_turn::<B, 1>(keys, counts, code);
    }
}

/// Counts keys in `TABLES` tables, which take turns.
#[inline(always)]
fn count_in_turn<B: Bits, const TABLES: usize>(keys: &[B], counts: &mut [u32], code: impl Fn(B) -> B) {
    let codes = 1 << B::WIDTH;
    let counts = &mut counts[..TABLES * codes];
    let mut add = |table: usize, key: B| counts[table * codes + code(key).low() as usize % codes] += 1;
    let (groups, rest) = keys.as_chunks::<TABLES>();
    for group in groups {
        (0..TABLES).for_each(|table| add(table, group[table]));
    }
    rest.iter().enumerate().for_each(|(table, &key)| add(table, key));
}
