//! The items that may be among the first `k`, and a bound that the others do not reach.
//!
//! Items are read in order, a block at a time. Those within the bound become candidates. When there is no more room, a selection
//! keeps the first `k` candidates, and the last of these is the new bound. An item that is equal to it has a greater index, so it
//! need not become a candidate.

use std::ops::Range;

use crate::cpu::items::Items;
use crate::cpu::nth::nth;
use crate::cpu::vector::{self, BLOCK, Isa};
use crate::key::Bits;
use crate::{Error, scratch};

/// Candidates beyond twice `k`: with few of them, a selection would often be necessary.
const MORE: usize = 1 << 12;

/// Where a candidate comes from, if that matters.
pub(crate) trait Origin: Copy + Send {
    /// Whether it is the item's index. If not, codes are the whole order, and the candidates are in no order.
    const IS_INDEX: bool;
    fn of(index: usize) -> Self;
    fn index(self) -> usize;
}

impl Origin for usize {
    const IS_INDEX: bool = true;
    #[inline(always)]
    fn of(index: usize) -> Self {
        index
    }
    #[inline(always)]
    fn index(self) -> usize {
        self
    }
}

impl Origin for () {
    const IS_INDEX: bool = false;
    #[inline(always)]
    fn of(_: usize) -> Self {}
    fn index(self) -> usize {
        unreachable!("codes are the whole order")
    }
}

/// Candidates for the first `k` items, in the order of their indices if these are known.
pub(crate) struct Candidates<L, O> {
    k: usize,
    codes: Vec<L>,
    origins: Vec<O>,
    /// Codes that a selection reorders. Empty if it may reorder `codes`.
    copy: Vec<L>,
    bound: Bound<L>,
    /// The last of the first `k` candidates. Known only if codes are not the whole order.
    last: Option<usize>,
}

/// Which items may become candidates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Bound<L> {
    All,
    /// Those with codes up to this one.
    UpTo(L),
    None,
}

impl<L: Bits> Bound<L> {
    /// Those with codes before this one.
    fn before(code: L) -> Self {
        if code == L::ZERO { Bound::None } else { Bound::UpTo(code.wrapping_sub(L::from_low(1))) }
    }
}

/// The most candidates among `n` items.
const fn capacity(n: usize, k: usize) -> usize {
    let most = k.saturating_mul(2).saturating_add(MORE);
    if most < n { most } else { n }
}

/// The scratch memory in bytes for the codes of the first `k` of `n` items, which have `code` bytes each.
pub(crate) const fn scratch_of_codes(n: usize, k: usize, code: usize) -> usize {
    capacity(n, k).saturating_mul(code)
}

/// The same for codes and indices. If codes are not the whole order, a selection also lists the indices of candidates with equal
/// codes.
pub(crate) const fn scratch(n: usize, k: usize, code: usize, are_whole: bool) -> usize {
    let lists = if are_whole { 1 } else { 2 };
    capacity(n, k).saturating_mul(2 * code + lists * size_of::<usize>())
}

impl<L: Bits, O: Origin> Candidates<L, O> {
    /// Room for the candidates among `n` items. Those that are not within the bound are left out.
    pub(crate) fn new(n: usize, k: usize, bound: Bound<L>) -> Result<Self, Error> {
        let capacity = capacity(n, k);
        let (codes, origins) = (scratch::reserve(capacity)?, scratch::reserve(capacity)?);
        let copy = scratch::reserve(if O::IS_INDEX { capacity } else { 0 })?;
        Ok(Candidates { k, codes, origins, copy, bound, last: None })
    }

    pub(crate) fn len(&self) -> usize {
        self.codes.len()
    }

    /// The codes and the origins of the candidates.
    pub(crate) fn into_parts(self) -> (Vec<L>, Vec<O>) {
        (self.codes, self.origins)
    }

    /// The candidates of ranges of items that follow each other.
    pub(crate) fn join(parts: Vec<Self>) -> Result<Self, Error> {
        let count = parts.iter().map(Candidates::len).sum();
        let mut all = Candidates::new(count, count, Bound::All)?;
        all.k = parts.first().map_or(0, |part| part.k);
        for part in parts {
            all.codes.extend(part.codes);
            all.origins.extend(part.origins);
        }
        Ok(all)
    }

    /// Reads these items. There may be fewer candidates than `k` if there are fewer items, or because of the first bound.
    pub(crate) fn read<S: Items<L>>(&mut self, items: &S, range: Range<usize>, isa: Isa) {
        let (mut positions, mut room) = ([0; BLOCK], [L::ZERO; BLOCK]);
        let transform = items.transform();
        for start in range.clone().step_by(BLOCK) {
            let block = start..range.end.min(start + BLOCK);
            if self.len() + block.len() > self.codes.capacity() {
                self.keep_first(items, isa);
            }
            match self.bound {
                Bound::All => block.for_each(|index| self.push(items, index)),
                Bound::UpTo(code) => {
                    let keys = items.block(block, &mut room);
                    let count = vector::filter(keys, &transform.up_to(code), &mut positions, isa);
                    for &position in &positions[..count] {
                        self.push(items, start + usize::from(position));
                    }
                }
                Bound::None => return,
            }
        }
    }

    /// Adds a candidate, unless a comparison shows that it comes after the last one.
    #[inline(always)]
    fn push<S: Items<L>>(&mut self, items: &S, index: usize) {
        let code = items.code(index);
        if !S::HAS_WHOLE_CODES
            && let Some(last) = self.last
            && self.bound == Bound::UpTo(code)
            && items.compare(index, last).is_ge()
        {
            return;
        }
        self.codes.push(code);
        self.origins.push(O::of(index));
    }

    /// Keeps the first `k` candidates, and bounds those that follow by the last of them.
    pub(crate) fn keep_first<S: Items<L>>(&mut self, items: &S, isa: Isa) {
        if self.len() <= self.k {
            return;
        }
        if !O::IS_INDEX {
            let code = nth(&mut self.codes, self.k - 1, isa);
            self.codes.truncate(self.k);
            self.origins.truncate(self.k);
            self.bound = Bound::before(code);
            return;
        }
        self.copy.clear();
        self.copy.extend_from_slice(&self.codes);
        let code = nth(&mut self.copy, self.k - 1, isa);
        let less = self.codes.iter().filter(|&&other| other < code).count();
        let mut wanted = self.k - less;
        if S::HAS_WHOLE_CODES {
            self.bound = Bound::before(code);
            return self.retain(|other, _| {
                let tie = other == code && wanted > 0;
                wanted -= usize::from(tie);
                tie || other < code
            });
        }
        let last = last_of_ties(self, items, code, wanted);
        (self.bound, self.last) = (Bound::UpTo(code), Some(last));
        self.retain(|other, index| {
            other < code || other == code && items.compare(index, last).then(index.cmp(&last)).is_le()
        });
    }

    /// Keeps some of the candidates, in order.
    fn retain(&mut self, mut keeps: impl FnMut(L, usize) -> bool) {
        let mut kept = 0;
        for i in 0..self.len() {
            let (code, origin) = (self.codes[i], self.origins[i]);
            (self.codes[kept], self.origins[kept]) = (code, origin);
            kept += usize::from(keeps(code, origin.index()));
        }
        self.codes.truncate(kept);
        self.origins.truncate(kept);
    }
}

/// The index of the last of the first `wanted` candidates with this code.
fn last_of_ties<L: Bits, S: Items<L>>(
    candidates: &Candidates<L, impl Origin>,
    items: &S,
    code: L,
    wanted: usize,
) -> usize {
    let mut ties = Vec::with_capacity(candidates.codes.iter().filter(|&&other| other == code).count());
    let all = candidates.codes.iter().zip(&candidates.origins);
    ties.extend(all.filter(|&(&other, _)| other == code).map(|(_, origin)| origin.index()));
    *ties.select_nth_unstable_by(wanted - 1, |&a, &b| items.compare(a, b).then(a.cmp(&b))).1
}
