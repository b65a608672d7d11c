//! Finds the keys of a block that are in an interval.

#[cfg(target_arch = "x86_64")]
use super::Vector;
use crate::key::{Bits, UpTo};

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
