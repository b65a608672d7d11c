//! The code that a sort would put at an index, in O(n).
//!
//! A sample gives a pivot next to the wanted code, on the side where most codes are. Nearly all of those are left out by one
//! partition, and most of the others by the next one. If samples mislead, std's selection takes over, which takes O(n) for
//! every input.
//!
//! Source: Floyd and Rivest, "Expected time bounds for selection" (1975) for pivots next to the wanted code.

use crate::cpu::draw::Draw;
use crate::cpu::vector::{self, Isa};
use crate::key::Bits;

/// Up to this many codes are left to std's selection.
const FEW_CODES: usize = 256;

/// One code in this many is sampled for a pivot, within bounds. Of 10^7 codes, a selection moves 15 x 10^6 with a sample of 2048, and
/// 22 x 10^6 with one of 128.
const SAMPLED: usize = 1 << 7;
const LEAST_SAMPLE: usize = 128;
const LARGEST_SAMPLE: usize = 2048;

/// Partitions may read this many times the codes. Random codes are read about twice.
const MOST_READS: usize = 8;

/// Reorders codes so that the one at `index` is where a sort would put it, and returns it. No lesser code is after it, and no
/// greater one before it.
pub(crate) fn nth<B: Bits>(mut codes: &mut [B], mut index: usize, isa: Isa) -> B {
    let mut left_to_read = MOST_READS * codes.len();
    let mut draw = Draw::new();
    while codes.len() > FEW_CODES && left_to_read >= codes.len() {
        let (pivot, is_frequent) = pivot(codes, index, &mut draw, isa);
        left_to_read -= codes.len();
        let less = vector::partition(codes, pivot, isa);
        if index < less {
            codes = &mut codes[..less];
            continue;
        }
        (codes, index) = (&mut codes[less..], index - less);
        if pivot == B::MAX {
            return pivot;
        }
        // If none is less, this makes the rest shorter.
        if codes.len() > FEW_CODES && (is_frequent || less == 0) {
            left_to_read = left_to_read.saturating_sub(codes.len());
            let equal = vector::partition(codes, pivot.wrapping_add(B::from_low(1)), isa);
            if index < equal {
                return pivot;
            }
            (codes, index) = (&mut codes[equal..], index - equal);
        }
    }
    *codes.select_nth_unstable(index).1
}

/// [`nth`] for several indices, which ascend. `from` is the index of the first code.
pub(crate) fn nth_of_each<B: Bits>(codes: &mut [B], indices: &[usize], from: usize, isa: Isa) {
    let half = indices.len() / 2;
    let Some(&index) = indices.get(half) else { return };
    nth(codes, index - from, isa);
    let (less, others) = codes.split_at_mut(index - from);
    nth_of_each(less, &indices[..half], from, isa);
    nth_of_each(&mut others[1..], &indices[half + 1..], index + 1, isa);
}

/// A code of a sample, a little further from the nearer end of the codes than `index` is, and whether the sample has it twice.
fn pivot<B: Bits>(codes: &[B], index: usize, draw: &mut Draw, isa: Isa) -> (B, bool) {
    let mut sample = [B::ZERO; LARGEST_SAMPLE];
    let sample = &mut sample[..(codes.len() / SAMPLED).clamp(LEAST_SAMPLE, LARGEST_SAMPLE)];
    sample.fill_with(|| codes[draw.below(codes.len())]);
    vector::sort(sample, isa);
    let drawn = sample.len() as f64;
    let share = (index as f64 + 0.5) / codes.len() as f64;
    // Twice the standard deviation of the number of lesser codes in the sample.
    let margin = 1.0 + 2.0 * (drawn * share * (1.0 - share)).sqrt();
    let rank = if share < 0.5 { share * drawn + margin } else { share * drawn - margin };
    let at = (rank as usize).min(sample.len() - 1);
    let equals = |other: Option<&B>| other == Some(&sample[at]);
    (
        sample[at],
        equals(sample.get(at + 1)) || equals(at.checked_sub(1).and_then(|before| sample.get(before))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<B: Bits>() {
        let mut rng = fastrand::Rng::with_seed(1);
        for n in [1, 2, 17, 256, 257, 1000, 20_000] {
            for values in [1, 2, 3, 100, u64::MAX] {
                for highest in [B::ZERO, B::MAX] {
                    // Complements reach the largest code.
                    let codes: Vec<B> = (0..n).map(|_| B::from_low(rng.u64(..values)).xor(highest)).collect();
                    let mut sorted = codes.clone();
                    sorted.sort_unstable();
                    for index in [0, n / 100, n / 3, n / 2, n - 1] {
                        for isa in [Isa::Portable, Isa::detect()] {
                            let mut moved = codes.clone();
                            let context = format!("{index} of {n}, {values} values, {isa:?}");
                            assert_eq!(nth(&mut moved, index, isa), sorted[index], "{context}");
                            assert_eq!(moved[index], sorted[index], "{context}");
                            let (before, after) = moved.split_at(index);
                            assert!(before.iter().all(|&code| code <= sorted[index]), "{context}");
                            assert!(after.iter().all(|&code| code >= sorted[index]), "{context}");
                            moved.sort_unstable();
                            assert!(moved == sorted, "{context}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_code_is_where_a_sort_would_put_it() {
        check::<u16>();
        check::<u32>();
        check::<u64>();
    }
}
