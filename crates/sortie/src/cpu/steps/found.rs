//! The order of codes, as it was found.

use crate::Index;
use crate::key::Indices;

/// The order of codes.
#[derive(Debug)]
pub enum Found<'a> {
    AsIs,
    /// The indices are in these words, under a mask.
    Narrow(&'a [u32], u32),
    Wide(&'a [u64], u64),
}

impl Found<'_> {
    /// Calls `put(to, from)` for each index `to` of `n`, in ascending order.
    #[inline(always)]
    pub(crate) fn put(self, n: usize, mut put: impl FnMut(usize, usize)) {
        match self {
            Found::AsIs => (0..n).for_each(|i| put(i, i)),
            Found::Narrow(words, mask) => {
                words.iter().enumerate().for_each(|(to, &word)| put(to, (word & mask) as usize));
            }
            Found::Wide(words, mask) => {
                words.iter().enumerate().for_each(|(to, &word)| put(to, (word & mask) as usize));
            }
        }
    }

    /// Writes the order as indices.
    pub(crate) fn write(self, indices: Indices<'_>) {
        match indices {
            Indices::Narrow(indices) => self.put(indices.len(), |to, from| indices[to] = from as u32),
            Indices::Wide(indices) => self.put(indices.len(), |to, from| indices[to] = from as u64),
        }
    }
}

/// The words of one bucket, or ranks.
#[derive(Debug, Default)]
pub struct Words {
    pub(crate) narrow: Vec<u32>,
    pub(crate) wide: Vec<u64>,
    pub(crate) ranks: Vec<u8>,
}

/// The sorted order of some codes.
#[derive(Debug)]
pub enum Ordered<'r> {
    AsIs,
    Reversed,
    /// The indices of the codes in sorted order: a permutation.
    By(&'r mut [u32]),
}

impl Ordered<'_> {
    pub(crate) fn write<I: Index>(self, indices: &mut [I]) {
        let n = indices.len();
        match self {
            Ordered::AsIs => indices.iter_mut().zip(0..).for_each(|(to, i)| *to = I::from_usize(i)),
            Ordered::Reversed => {
                indices.iter_mut().zip((0..n).rev()).for_each(|(to, i)| *to = I::from_usize(i));
            }
            Ordered::By(order) => {
                indices.iter_mut().zip(order).for_each(|(to, &mut i)| *to = I::from_usize(i as usize));
            }
        }
    }
}
