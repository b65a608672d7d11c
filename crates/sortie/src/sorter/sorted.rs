//! What a [`Sorter`] does with keys that are in order: it tells whether they are, merges them, and joins them.

use super::groups::with_held;
use super::{PARALLEL_FROM, Sorter, index_fits};
use crate::parallel::{self, ITEMS_A_TASK};
use crate::{Error, Index, Key, Report, Side, scratch};

/// The pairs of equal keys of two slices, by their indices: see [`Sorter::merge_join`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Joined<I> {
    /// For each pair, the index of the left key.
    pub left: Vec<I>,
    /// For each pair, the index of the right key.
    pub right: Vec<I>,
}

impl Sorter {
    /// Whether keys are in the order of this sorter. Reads them once, or until one is out of order. No scratch.
    ///
    /// ```
    /// # fn main() -> Result<(), sortie::Error> {
    /// let sorter = sortie::Sorter::builder().descending(true).build()?;
    /// assert!(sorter.is_sorted(&[3.5, 1.0, 1.0, f32::NAN]));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn is_sorted<K: Key>(&self, keys: &[K]) -> bool {
        let order = self.choices.order;
        self.in_pool(self.threads(keys.len(), PARALLEL_FROM), |threads| {
            let starts = (0..keys.len()).step_by(ITEMS_A_TASK);
            parallel::all(threads, starts, |start| {
                // With the first key of the next part.
                let part = &keys[start..keys.len().min(start + ITEMS_A_TASK + 1)];
                part.is_sorted_by(|a, b| a.compare(b, order).is_le())
            })
        })
    }

    /// Writes the keys of sorted slices in one order. Of equal keys, those of earlier slices come first.
    ///
    /// The slices are copied to the result, which is then sorted: the sort finds the runs, and merges them if that is faster. So the result is
    /// in order whether the slices are or not. Scratch: that of [`Sorter::sort`].
    ///
    /// ```
    /// # fn main() -> Result<(), sortie::Error> {
    /// let mut merged = Vec::new();
    /// sortie::Sorter::builder().build()?.merge(&[&[1, 4], &[2, 3, 9]], &mut merged)?;
    /// assert_eq!(merged, [1, 2, 3, 4, 9]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Sorter::sort`], and [`Error::Memory`] if the system refuses the result. `merged` is then as it was.
    pub fn merge<K: Key + Clone>(&self, slices: &[&[K]], merged: &mut Vec<K>) -> Result<Report, Error> {
        let mut all = scratch::reserve(slices.iter().map(|slice| slice.len()).sum())?;
        slices.iter().for_each(|slice| all.extend_from_slice(slice));
        let report = self.sort(&mut all)?;
        *merged = all;
        Ok(report)
    }

    /// Finds the pairs of equal keys of two slices that are in the order of this sorter: the rows of an inner join. Pairs are in the order of their
    /// left keys, those of one left key in that of the right ones.
    ///
    /// Takes O(n + m + p) for n and m keys and p pairs. Runs on the CPU; from 262,144 left keys on, threads share them.
    ///
    /// Scratch: two indices for each left key.
    ///
    /// ```
    /// # fn main() -> Result<(), sortie::Error> {
    /// let (joined, _) = sortie::Sorter::builder().build()?.merge_join::<_, u32>(&["a", "b", "d"], &["b", "b", "c", "d"])?;
    /// assert_eq!(joined.left, [1, 1, 2]);
    /// assert_eq!(joined.right, [0, 1, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] if a slice is not in order, the index type is too narrow for the keys, the engine is a device, or the algorithm is not
    /// [`Algorithm::Auto`](crate::Algorithm::Auto); [`Error::Memory`] if the limit does not leave room for the scratch, or the system refuses it
    /// or the result.
    pub fn merge_join<K: Key, I: Index>(
        &self,
        left: &[K],
        right: &[K],
    ) -> Result<(Joined<I>, Report), Error> {
        for (side, keys) in [("left", left), ("right", right)] {
            index_fits::<I>(keys.len())?;
            if !self.is_sorted(keys) {
                return Err(Error::Unsupported(format!("the {side} keys are not in order; sort them first")));
            }
        }
        let held = (2 * size_of::<I>() * left.len()) as u64;
        let sorter = self.holding_for("each left key is searched among the right ones", held)?;
        let [mut starts, mut ends] = [scratch::reserve::<I>(left.len())?, scratch::reserve(left.len())?];
        starts.resize(left.len(), I::default());
        ends.resize(left.len(), I::default());
        let mut report = with_held(sorter.search_sorted(right, left, Side::Left, &mut starts), held)?;
        report.absorb(sorter.search_sorted(right, left, Side::Right, &mut ends)?);

        let pairs_from = |part: usize| {
            let part = part..left.len().min(part + ITEMS_A_TASK);
            starts[part.clone()].iter().zip(&ends[part]).map(|(start, end)| end.to_usize() - start.to_usize())
        };
        let parts = (0..left.len()).step_by(ITEMS_A_TASK);
        let lengths: Vec<usize> = parts.clone().map(|part| pairs_from(part).sum()).collect();
        let pairs = lengths.iter().sum();
        let mut joined = Joined { left: scratch::reserve(pairs)?, right: scratch::reserve(pairs)? };
        report.phase("finish", 2 * size_of_val(&starts[..]), 2 * pairs * size_of::<I>(), || {
            joined.left.resize(pairs, I::default());
            joined.right.resize(pairs, I::default());
            let (mut lefts, mut rights) = (&mut joined.left[..], &mut joined.right[..]);
            let mut work = Vec::new();
            for (part, &length) in parts.zip(&lengths) {
                let lefts = lefts.split_off_mut(..length).expect("the lengths add up");
                work.push((part, lefts, rights.split_off_mut(..length).expect("as many")));
            }
            self.in_pool(self.threads(left.len(), PARALLEL_FROM), |threads| {
                parallel::for_each(threads, work, |(part, lefts, rights)| {
                    let mut pair = 0;
                    for (index, length) in (part..).zip(pairs_from(part)) {
                        lefts[pair..pair + length].fill(I::from_usize(index));
                        let first = starts[index].to_usize();
                        for (to, at) in rights[pair..pair + length].iter_mut().zip(first..) {
                            *to = I::from_usize(at);
                        }
                        pair += length;
                    }
                });
            });
        });
        Ok((joined, report))
    }
}
