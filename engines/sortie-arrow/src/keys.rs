//! [`Keys`]: what the values of an array are sorted by, and the operations on it.

use std::borrow::Cow;

use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, SortOptions};
use sortie::Error;

use crate::arrow_order::Code;
use crate::call::{Call, Sorts, failed};
use crate::pack::Pack;
use crate::select;

/// The keys of some or all values of an array. A position counts among the keys, an index in the array. `of` holds the
/// index of each key, ascending, or is `None` if positions and indices are the same. All orders are stable.
pub(crate) trait Keys<'a> {
    fn len(&self) -> usize;

    /// The positions of the first `k` keys in order. Positions ascend.
    fn first(&self, k: usize, descending: bool) -> Vec<u32>;

    /// The keys at these positions.
    fn keep(&self, positions: &[u32]) -> Box<dyn Keys<'a> + 'a>;

    /// The indices in the order of the keys.
    fn order(self: Box<Self>, of: Option<Vec<u32>>, sorts: &Sorts<'_>) -> Result<Vec<u32>, Error>;

    /// The indices in the order of the keys, and for each index whether its key equals the one before.
    fn groups(
        self: Box<Self>,
        of: Option<Vec<u32>>,
        sorts: &Sorts<'_>,
    ) -> Result<(Vec<u32>, Vec<bool>), Error>;

    /// Appends the keys, one for each row, to the packed columns. Returns whether they are wholly packed.
    fn pack(self: Box<Self>, nulls: Option<&NullBuffer>, options: SortOptions, pack: &mut Pack) -> bool;
}

/// Keys that Sortie sorts as numbers or as tuples of two.
pub(crate) struct Numbers<'a, C: Code>(pub Cow<'a, [C]>);

impl<'a, C: Code> Keys<'a> for Numbers<'a, C> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn first(&self, k: usize, descending: bool) -> Vec<u32> {
        select::first(&self.0, k, descending)
    }

    fn keep(&self, positions: &[u32]) -> Box<dyn Keys<'a> + 'a> {
        Box::new(Numbers(Cow::Owned(positions.iter().map(|&i| self.0[i as usize]).collect::<Vec<C>>())))
    }

    fn order(self: Box<Self>, of: Option<Vec<u32>>, sorts: &Sorts<'_>) -> Result<Vec<u32>, Error> {
        if let Some(mut indices) = of {
            // These keys are a copy, so they can be sorted with their indices. That saves looking the indices up afterwards.
            sorts.sort_pairs(&mut self.0.into_owned(), &mut indices)?;
            return Ok(indices);
        }
        let mut indices = vec![0; self.0.len()];
        sorts.argsort(&self.0, &mut indices)?;
        Ok(indices)
    }

    fn groups(
        self: Box<Self>,
        of: Option<Vec<u32>>,
        sorts: &Sorts<'_>,
    ) -> Result<(Vec<u32>, Vec<bool>), Error> {
        let mut keys = self.0.into_owned();
        let mut indices = of.unwrap_or_else(|| (0..keys.len() as u32).collect());
        sorts.sort_pairs(&mut keys, &mut indices)?;
        let equal = std::iter::once(false).chain(keys.windows(2).map(|pair| pair[0] == pair[1]));
        Ok((indices, equal.collect()))
    }

    fn pack(self: Box<Self>, nulls: Option<&NullBuffer>, options: SortOptions, pack: &mut Pack) -> bool {
        pack.push(&self.0, nulls, options) && C::IS_NUMBER
    }
}

/// Keys that are strings of bytes.
pub(crate) struct Strings<'a>(pub Vec<&'a [u8]>);

impl<'a> Keys<'a> for Strings<'a> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn first(&self, k: usize, descending: bool) -> Vec<u32> {
        select::first(&self.0, k, descending)
    }

    fn keep(&self, positions: &[u32]) -> Box<dyn Keys<'a> + 'a> {
        Box::new(Strings(positions.iter().map(|&i| self.0[i as usize]).collect()))
    }

    fn order(self: Box<Self>, of: Option<Vec<u32>>, sorts: &Sorts<'_>) -> Result<Vec<u32>, Error> {
        let longest = longest(&self.0);
        if longest <= LONGEST_IN_A_WORD {
            let words: Vec<u64> = self.0.iter().map(|string| whole(string, longest) as u64).collect();
            drop(self);
            return Box::new(Numbers(Cow::Owned(words))).order(of, sorts);
        }
        let mut indices = vec![0u32; self.0.len()];
        sorts.argsort_strings(&self.0, &mut indices)?;
        look_up(&mut indices, of);
        Ok(indices)
    }

    fn groups(
        self: Box<Self>,
        of: Option<Vec<u32>>,
        sorts: &Sorts<'_>,
    ) -> Result<(Vec<u32>, Vec<bool>), Error> {
        let mut indices = vec![0u32; self.0.len()];
        sorts.argsort_strings(&self.0, &mut indices)?;
        let mut before = None;
        let equal = indices.iter().map(|&i| {
            let string = self.0[i as usize];
            before.replace(string) == Some(string)
        });
        let equal = equal.collect();
        look_up(&mut indices, of);
        Ok((indices, equal))
    }

    fn pack(self: Box<Self>, nulls: Option<&NullBuffer>, options: SortOptions, pack: &mut Pack) -> bool {
        let longest = longest(&self.0);
        let numbers: Vec<u128> = match longest {
            ..=LONGEST_IN_A_NUMBER => self.0.iter().map(|string| whole(string, longest)).collect(),
            _ => self.0.iter().map(|string| first_sixteen(string)).collect(),
        };
        pack.push(&numbers, nulls, options) && longest <= LONGEST_IN_A_NUMBER
    }
}

/// The first `shown` indices in the order of the keys.
pub(crate) fn first_in_order<'a>(
    keys: Box<dyn Keys<'a> + 'a>,
    of: Option<Vec<u32>>,
    shown: usize,
    descending: bool,
    call: &Call,
) -> Result<Vec<u32>, ArrowError> {
    let sorts = call.facing(descending);
    if !select::pays(shown, keys.len()) {
        return Ok(shortened(keys.order(of, &sorts).map_err(failed)?, shown));
    }
    let positions = keys.first(shown, descending);
    let kept = keys.keep(&positions);
    let of = match of {
        None => positions,
        Some(of) => positions.iter().map(|&position| of[position as usize]).collect(),
    };
    kept.order(Some(of), &sorts).map_err(failed)
}

/// The first `shown` indices, without the memory of the others if that is the greater part.
pub(crate) fn shortened(mut indices: Vec<u32>, shown: usize) -> Vec<u32> {
    indices.truncate(shown);
    if indices.len() < indices.capacity() / 2 {
        indices.shrink_to_fit();
    }
    indices
}

/// Replaces each position by the index of its key.
fn look_up(positions: &mut [u32], of: Option<Vec<u32>>) {
    if let Some(of) = of {
        positions.iter_mut().for_each(|position| *position = of[*position as usize]);
    }
}

fn longest(strings: &[&[u8]]) -> usize {
    strings.iter().map(|string| string.len()).max().unwrap_or(0)
}

/// The bytes of the longest string that a number of 128 bits holds with its length.
const LONGEST_IN_A_NUMBER: usize = 15;
/// The same for 64 bits.
const LONGEST_IN_A_WORD: usize = 7;
/// How many bits the length takes.
const LENGTH_BITS: usize = 4;

/// A string among those of up to `longest` bytes as a number with the same order: its bytes, padded with zeros, then its length.
fn whole(string: &[u8], longest: usize) -> u128 {
    let unused = 128 - 8 * longest.max(1);
    first_sixteen(string) >> unused << LENGTH_BITS | string.len() as u128
}

/// The first 16 bytes as a number, padded with zeros.
fn first_sixteen(string: &[u8]) -> u128 {
    match string.first_chunk() {
        Some(sixteen) => u128::from_be_bytes(*sixteen),
        None => {
            let mut padded = [0; 16];
            padded[..string.len()].copy_from_slice(string);
            u128::from_be_bytes(padded)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_strings_are_ordered_as_their_numbers() {
        let strings: [&[u8]; 8] = [b"", b"\0", b"\0\0", b"\0a", b"a", b"a\0", b"ab", b"\xff"];
        for longest in 2..=LONGEST_IN_A_NUMBER {
            assert!(strings.map(|string| whole(string, longest)).is_sorted_by(|a, b| a < b), "{longest}");
        }
        assert_eq!(whole(b"", 0), 0);
        assert!(whole(&[255; 15], 15) > whole(&[255; 14], 15));
        assert!(first_sixteen(b"abcdefghijklmnopq") > first_sixteen(b"abcdefghijklmno"));
    }
}
