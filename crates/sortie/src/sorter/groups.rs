//! How a [`Sorter`] groups equal keys: distinct keys, their counts, the most frequent one, and ranks. A sort brings equal keys together.

use std::ops::Range;

use super::{Sorter, index_fits};
use crate::error::same_length;
use crate::key::{self, Transform};
use crate::{Bound, Error, Index, Key, Report, scratch};

/// The groups of equal keys, in order: see [`Sorter::unique_groups`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Groups<I> {
    /// For each group, the index of its first key.
    pub first: Vec<I>,
    /// For each group, the number of its keys.
    pub counts: Vec<I>,
    /// For each key, the index of its group.
    pub inverse: Vec<I>,
}

/// Which rank equal keys get, with the names of SciPy's `rankdata`. Ranks count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum RankMethod {
    /// The mean of the ranks that they would have in their order.
    #[default]
    Average,
    /// The least of these ranks, as in sports.
    Min,
    /// The greatest of these ranks.
    Max,
    /// One more than the number of distinct keys before them.
    Dense,
    /// Different ranks, in the order of their indices, or in any if the sorter was built with `.unstable()`.
    Ordinal,
}

impl Sorter {
    /// Writes the distinct keys in order. Keys stay as they are.
    ///
    /// A copy of the keys is sorted; the engine and the algorithm are those of [`Sorter::sort`]. Keys that are not numbers are not
    /// copied, but argsorted. If NaNs are equal, the one that remains may be any of them.
    ///
    /// Scratch: a copy of the keys, and that of [`Sorter::sort`]; for keys that are not numbers as for [`Sorter::unique_groups`].
    ///
    /// ```
    /// # fn main() -> Result<(), sortie::Error> {
    /// let mut unique = Vec::new();
    /// sortie::Sorter::builder().build()?.unique(&["b", "a", "b"], &mut unique)?;
    /// assert_eq!(unique, ["a", "b"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Sorter::sort`], and [`Error::Memory`] if the limit does not leave room for the scratch, or the system refuses it. `unique` is
    /// then as it was.
    pub fn unique<K: Key + Clone>(&self, keys: &[K], unique: &mut Vec<K>) -> Result<Report, Error> {
        if const { !K::FORM.is_number() } {
            return self.unique_counts(keys, unique, &mut Vec::new());
        }
        let (mut sorted, mut report) = self.sorted_copy(keys)?;
        let (bytes, transform) = (size_of_val(keys), self.comparing::<K>());
        report.phase("finish", bytes, bytes, || {
            // SAFETY: the bits of some of the keys are written.
            let bits = unsafe { key::as_bits_mut(&mut sorted) };
            let mut count = 0;
            let mut last = None;
            for i in 0..bits.len() {
                let (key, code) = (bits[i], transform.encode(bits[i]));
                // Without a branch on the key.
                bits[count] = key;
                count += usize::from(last != Some(code));
                last = Some(code);
            }
            sorted.truncate(count);
        });
        sorted.shrink_to_fit();
        *unique = sorted;
        Ok(report)
    }

    /// [`Sorter::unique`], and how often each key occurs.
    ///
    /// Scratch: that of [`Sorter::unique`]. The counts are part of the result.
    ///
    /// ```
    /// # fn main() -> Result<(), sortie::Error> {
    /// let (mut unique, mut counts) = (Vec::new(), Vec::new());
    /// sortie::Sorter::builder().build()?.unique_counts(&[7, 3, 7], &mut unique, &mut counts)?;
    /// assert_eq!((unique, counts), (vec![3, 7], vec![1, 2]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Sorter::unique`].
    pub fn unique_counts<K: Key + Clone>(
        &self,
        keys: &[K],
        unique: &mut Vec<K>,
        counts: &mut Vec<usize>,
    ) -> Result<Report, Error> {
        if const { !K::FORM.is_number() } {
            let (found, report) = self.ordered::<K, usize>(keys)?;
            *unique = found.bounds[1..].iter().map(|&end| keys[found.indices[end - 1]].clone()).collect();
            *counts = found.counts();
            return Ok(report);
        }
        let (sorted, mut report) = self.sorted_copy(keys)?;
        let (bytes, transform) = (size_of_val(keys), self.comparing::<K>());
        let bounds = report.phase("finish", bytes, bytes, || {
            bounds::<_, usize>(key::as_bits(&sorted), |a, b| transform.encode(*a) == transform.encode(*b))
        })?;
        *unique = bounds[..bounds.len() - 1].iter().map(|&start| sorted[start].clone()).collect();
        *counts = bounds.windows(2).map(|ends| ends[1] - ends[0]).collect();
        Ok(report)
    }

    /// The groups of equal keys, in order: the first index of each, how many keys it has, and for each key the index of its group.
    ///
    /// Indices are sorted with a copy of the keys; the engine and the algorithm are those of [`Sorter::sort_pairs`].
    ///
    /// Scratch: a copy of the keys if they are numbers, their indices, two indices a group, and what [`Sorter::sort_pairs`] or, for
    /// other keys, [`Sorter::argsort`] takes.
    ///
    /// ```
    /// # fn main() -> Result<(), sortie::Error> {
    /// let groups = sortie::Sorter::builder().build()?.unique_groups::<_, u32>(&["b", "a", "b"])?.0;
    /// assert_eq!((groups.first, groups.counts, groups.inverse), (vec![1, 0], vec![1, 2], vec![1, 0, 1]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Sorter::unique`], and [`Error::Unsupported`] if the index type is too narrow for the keys.
    pub fn unique_groups<K: Key + Clone, I: Index>(&self, keys: &[K]) -> Result<(Groups<I>, Report), Error> {
        let (found, mut report) = self.ordered::<K, I>(keys)?;
        let mut inverse = scratch::reserve(keys.len())?;
        let bytes = size_of_val(&found.indices[..]);
        report.phase("gather", bytes, bytes, || {
            inverse.resize(keys.len(), I::default());
            for (group, indices) in found.groups().enumerate() {
                indices.iter().for_each(|index| inverse[index.to_usize()] = I::from_usize(group));
            }
        });
        let least = |indices: &[I]| indices.iter().copied().min_by_key(|index| index.to_usize());
        let first =
            |indices: &[I]| if self.choices.unstable { least(indices) } else { indices.first().copied() };
        let first = found.groups().map(|indices| first(indices).expect("a group has a key")).collect();
        Ok((Groups { first, counts: found.counts(), inverse }, report))
    }

    /// Writes the rank of each key in the order. The first has rank 1, and equal keys the rank that `method` says.
    ///
    /// Takes the time and scratch of [`Sorter::unique_groups`].
    ///
    /// ```
    /// # fn main() -> Result<(), sortie::Error> {
    /// let mut ranks = [0.0; 4];
    /// sortie::Sorter::builder().build()?.rank(&[30, 10, 30, 20], sortie::RankMethod::Average, &mut ranks)?;
    /// assert_eq!(ranks, [3.5, 1.0, 3.5, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], and as [`Sorter::unique`].
    pub fn rank<K: Key + Clone>(
        &self,
        keys: &[K],
        method: RankMethod,
        ranks: &mut [f64],
    ) -> Result<Report, Error> {
        same_length("ranks", keys.len(), ranks.len())?;
        let (found, mut report) = self.ordered::<K, usize>(keys)?;
        report.phase("gather", size_of_val(&found.indices[..]), size_of_val(ranks), || {
            for (group, ends) in found.bounds.windows(2).enumerate() {
                let indices = &found.indices[ends[0]..ends[1]];
                let rank = match method {
                    RankMethod::Average => (ends[0] + 1 + ends[1]) as f64 / 2.0,
                    RankMethod::Min => (ends[0] + 1) as f64,
                    RankMethod::Max => ends[1] as f64,
                    RankMethod::Dense => (group + 1) as f64,
                    RankMethod::Ordinal => {
                        let ordinals = indices.iter().zip(ends[0] + 1..);
                        ordinals.for_each(|(&index, ordinal)| ranks[index] = ordinal as f64);
                        continue;
                    }
                };
                indices.iter().for_each(|&index| ranks[index] = rank);
            }
        });
        Ok(report)
    }

    /// The key that occurs most often, and how often; of several, the first in the order. None if there are no keys.
    ///
    /// Takes the time and scratch of [`Sorter::unique`].
    ///
    /// ```
    /// # fn main() -> Result<(), sortie::Error> {
    /// let sorter = sortie::Sorter::builder().build()?;
    /// assert_eq!(sorter.mode(&[7, 3, 9, 3, 7])?.0, Some((3, 2)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Sorter::unique`].
    pub fn mode<K: Key + Clone>(&self, keys: &[K]) -> Result<(Option<(K, usize)>, Report), Error> {
        // Of several, the first.
        let most = |groups: &mut dyn Iterator<Item = Range<usize>>| {
            groups.reduce(|most, group| if group.len() > most.len() { group } else { most })
        };
        if const { !K::FORM.is_number() } {
            let (found, report) = self.ordered::<K, usize>(keys)?;
            let group = most(&mut found.bounds.windows(2).map(|ends| ends[0]..ends[1]));
            return Ok((group.map(|group| (keys[found.indices[group.start]].clone(), group.len())), report));
        }
        let (sorted, mut report) = self.sorted_copy(keys)?;
        let transform = self.comparing::<K>();
        let group = report.phase("finish", size_of_val(keys), 0, || {
            let groups = key::as_bits(&sorted).chunk_by(|a, b| transform.encode(*a) == transform.encode(*b));
            most(&mut groups.scan(0, |end, group| {
                let start = *end;
                *end += group.len();
                Some(start..*end)
            }))
        });
        Ok((group.map(|group| (sorted[group.start].clone(), group.len())), report))
    }

    /// Where each group of equal keys begins among sorted ones, and the end of the last. `[0]` if there are no keys.
    ///
    /// Reads the keys twice. No scratch.
    ///
    /// ```
    /// # fn main() -> Result<(), sortie::Error> {
    /// let bounds = sortie::Sorter::builder().build()?.group_bounds::<_, u32>(&[3, 3, 7, 8, 8])?;
    /// assert_eq!(bounds, [0, 2, 3, 5]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the index type is too narrow for the keys; [`Error::Memory`] if the system refuses the result.
    pub fn group_bounds<K: Key, I: Index>(&self, sorted: &[K]) -> Result<Vec<I>, Error> {
        index_fits::<I>(sorted.len())?;
        let order = self.choices.order;
        bounds(sorted, |a, b| a.compare(b, order).is_eq())
    }

    /// The keys in order.
    fn sorted_copy<K: Key + Clone>(&self, keys: &[K]) -> Result<(Vec<K>, Report), Error> {
        let held = size_of_val(keys) as u64;
        let sorter = self.holding_for(COPY, held)?;
        let mut sorted = scratch::reserve(keys.len())?;
        sorted.extend_from_slice(keys);
        let report = with_held(sorter.sort(&mut sorted), held)?;
        Ok((sorted, report))
    }

    /// The codes by which numbers are equal.
    fn comparing<K: Key>(&self) -> Transform<K::Bits> {
        Transform::comparing(K::FORM.code(), self.choices.order)
    }

    /// The indices of keys in order, and where each group of equal keys begins.
    fn ordered<K: Key + Clone, I: Index>(&self, keys: &[K]) -> Result<(Ordered<I>, Report), Error> {
        index_fits::<I>(keys.len())?;
        let (n, order) = (keys.len(), self.choices.order);
        // The bounds of n groups are n + 1 indices.
        let held = 2 * n * size_of::<I>() + size_of::<I>();
        let copy = if const { K::FORM.is_number() } { size_of_val(keys) } else { 0 };
        let holding = (held + copy) as u64;
        let sorter = self.holding_for(COPY, holding)?;
        let mut indices: Vec<I> = scratch::reserve(n)?;
        if const { !K::FORM.is_number() } {
            indices.resize(n, I::default());
            let mut report = with_held(sorter.argsort(keys, &mut indices), holding)?;
            let bounds = report.phase("finish", size_of_val(keys), 0, || {
                let equal = |a: &I, b: &I| keys[a.to_usize()].compare(&keys[b.to_usize()], order).is_eq();
                bounds(&indices, equal)
            })?;
            return Ok((Ordered { indices, bounds }, report));
        }
        indices.extend((0..n).map(I::from_usize));
        let mut sorted: Vec<K> = scratch::reserve(n)?;
        sorted.extend_from_slice(keys);
        let mut report = with_held(sorter.sort_pairs(&mut sorted, &mut indices), holding)?;
        let transform = self.comparing::<K>();
        let bounds = report.phase("finish", size_of_val(keys), 0, || {
            bounds(key::as_bits(&sorted), |a, b| transform.encode(*a) == transform.encode(*b))
        })?;
        Ok((Ordered { indices, bounds }, report))
    }
}

/// The result of a sort whose caller holds this many bytes of scratch.
pub(super) fn with_held(result: Result<Report, Error>, held: u64) -> Result<Report, Error> {
    match result {
        Ok(report) => Ok(Report { scratch_peak: report.scratch_peak + held, ..report }),
        Err(Error::Memory { bound: Bound::Limit, needed, available, hint }) => {
            let (needed, available) = (needed.saturating_add(held), available.saturating_add(held));
            Err(Error::Memory { bound: Bound::Limit, needed, available, hint })
        }
        Err(other) => Err(other),
    }
}

const COPY: &str = "keys are copied, so that equal ones can be brought together";

/// Indices in the order of their keys.
struct Ordered<I> {
    indices: Vec<I>,
    /// Where each group begins, and the end of the last.
    bounds: Vec<I>,
}

impl<I: Index> Ordered<I> {
    /// The indices of each group.
    fn groups(&self) -> impl Iterator<Item = &[I]> {
        self.bounds.windows(2).map(|ends| &self.indices[ends[0].to_usize()..ends[1].to_usize()])
    }

    fn counts(&self) -> Vec<I> {
        self.groups().map(|indices| I::from_usize(indices.len())).collect()
    }
}

/// Where each group of equal items begins, and the end of the last.
fn bounds<T, I: Index>(items: &[T], equal: impl Fn(&T, &T) -> bool) -> Result<Vec<I>, Error> {
    let first = usize::from(!items.is_empty());
    let groups = first + items.windows(2).filter(|pair| !equal(&pair[0], &pair[1])).count();
    let mut bounds: Vec<I> = scratch::reserve(groups + 1)?;
    bounds.resize(groups + 1, I::default());
    let mut count = first;
    for (index, pair) in (1..).zip(items.windows(2)) {
        // Overwritten while the group continues, so that there is no branch on the items.
        bounds[count] = I::from_usize(index);
        count += usize::from(!equal(&pair[0], &pair[1]));
    }
    bounds[count] = I::from_usize(items.len());
    Ok(bounds)
}
