//! Finds the keys of a block that are in an interval, and counts those before it.

#[cfg(not(target_arch = "x86_64"))]
use super::MOST_LANES;
#[cfg(target_arch = "x86_64")]
use super::{MOST_LANES, Vector, same_interval};
use crate::key::{Bits, Transform, UpTo};

/// The keys of a block. Their positions take 2 KB.
pub(crate) const BLOCK: usize = 1 << 10;

/// The keys whose comparisons fill one word. If none is in the interval, that takes one branch.
#[cfg(target_arch = "x86_64")]
const WORD: usize = u64::BITS as usize;

/// Writes the positions of the keys in the interval, ascending, and returns their number.
///
/// # Safety
/// The machine supports the instructions of `V`; the caller is compiled for them.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) unsafe fn filter<V: Vector>(
    keys: &[V::Lane; BLOCK],
    up_to: &UpTo<V::Lane>,
    positions: &mut [u16; BLOCK],
) -> usize {
    // SAFETY: the caller guarantees it.
    unsafe {
        if up_to.float {
            of_kind::<V, true>(keys, up_to, positions)
        } else {
            of_kind::<V, false>(keys, up_to, positions)
        }
    }
}

/// # Safety
/// As [`filter`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn of_kind<V: Vector, const FLOAT: bool>(
    keys: &[V::Lane; BLOCK],
    up_to: &UpTo<V::Lane>,
    positions: &mut [u16; BLOCK],
) -> usize {
    let mut count = 0;
    // SAFETY: a word of keys consists of whole registers; the caller guarantees the instructions.
    unsafe {
        let [flip, from, more, sign] =
            [up_to.flip, up_to.from, up_to.more, V::Lane::SIGN].map(|lane| V::splat(lane));
        for start in (0..BLOCK).step_by(WORD) {
            let mut outside = 0;
            for row in (0..WORD).step_by(V::LANES) {
                let keys = V::load(keys.as_ptr().add(start + row));
                // The greater one of a mask and the sign is both.
                let flip = if FLOAT { keys.sign_mask().order(sign).1 } else { flip };
                outside |= u64::from(more.less(keys.xor(flip).sub(from))) << row;
            }
            let mut inside = !outside;
            while inside != 0 {
                positions[count] = (start + inside.trailing_zeros() as usize) as u16;
                inside &= inside - 1;
                count += 1;
            }
        }
    }
    count
}

/// The same without vectors, and without a branch on the key.
pub(super) fn portable<B: Bits>(keys: &[B], up_to: &UpTo<B>, positions: &mut [u16; BLOCK]) -> usize {
    let mut count = 0;
    for (i, &key) in keys.iter().enumerate() {
        positions[count] = i as u16;
        count += usize::from(up_to.contains(key));
    }
    count
}

/// Room for the keys of a block that are in a band. Whole registers are stored.
pub(crate) type Inside<B> = [B; BLOCK + MOST_LANES];

/// The keys with codes in an interval, for a filter of few steps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Band<B> {
    /// The keys before it. `None` if it has the first codes.
    before: Option<UpTo<B>>,
    up_to: UpTo<B>,
}

impl<B: Bits> Band<B> {
    /// Keys with codes from `first` up to `last`.
    pub(crate) fn new(transform: &Transform<B>, first: B, last: B) -> Self {
        let before = (first > B::ZERO).then(|| transform.up_to(first.wrapping_sub(B::from_low(1))));
        Band { before, up_to: transform.up_to(last) }
    }

    /// The band of codes of the same type.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn same<L: Bits>(&self) -> Band<L> {
        let Band { before, up_to } = self;
        Band { before: before.as_ref().map(same_interval), up_to: same_interval(up_to) }
    }
}

/// Counts the keys before a band, and copies those in it, in order. Returns both numbers.
///
/// # Safety
/// The machine supports the instructions of `V`; the caller is compiled for them.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) unsafe fn band<V: Vector>(
    keys: &[V::Lane; BLOCK],
    band: &Band<V::Lane>,
    inside: &mut Inside<V::Lane>,
) -> (usize, usize) {
    // SAFETY: the caller guarantees it.
    unsafe {
        if band.up_to.float {
            band_of_kind::<V, true>(keys, band, inside)
        } else {
            band_of_kind::<V, false>(keys, band, inside)
        }
    }
}

/// # Safety
/// As [`band`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn band_of_kind<V: Vector, const FLOAT: bool>(
    keys: &[V::Lane; BLOCK],
    band: &Band<V::Lane>,
    inside: &mut Inside<V::Lane>,
) -> (usize, usize) {
    let Band { before, up_to } = band;
    let (mut less, mut count) = (0, 0);
    // SAFETY: a block consists of whole registers, and there is room for one behind it. The caller guarantees the instructions.
    unsafe {
        let splat = |bits| V::splat(bits);
        let (flip, sign) = (splat(up_to.flip), splat(V::Lane::SIGN));
        let (from, more) = (splat(up_to.from), splat(up_to.more));
        let all = u32::MAX >> (u32::BITS - V::LANES as u32);
        // Without keys before the band, the comparison is with the same interval, and ignored.
        let (is_first, before) = before.as_ref().map_or((all, up_to), |before| (0, before));
        let (before_from, before_more) = (splat(before.from), splat(before.more));
        for start in (0..BLOCK).step_by(V::LANES) {
            let keys = V::load(keys.as_ptr().add(start));
            // The greater one of a mask and the sign is both.
            let flip = if FLOAT { keys.sign_mask().order(sign).1 } else { flip };
            let bits = keys.xor(flip);
            let from_first = before_more.less(bits.sub(before_from)) | is_first;
            let after = more.less(bits.sub(from));
            let lanes = from_first & !after;
            keys.compress(lanes).store(inside.as_mut_ptr().add(count));
            count += lanes.count_ones() as usize;
            less += (all ^ from_first).count_ones() as usize;
        }
    }
    (less, count)
}

/// The same without vectors, and without a branch on the key.
pub(super) fn portable_band<B: Bits>(keys: &[B], band: &Band<B>, inside: &mut Inside<B>) -> (usize, usize) {
    let (mut less, mut count) = (0, 0);
    for &key in keys {
        let is_before = band.before.is_some_and(|before| before.contains(key));
        inside[count] = key;
        count += usize::from(band.up_to.contains(key) && !is_before);
        less += usize::from(is_before);
    }
    (less, count)
}
