//! Memory on the stack for up to [`FEW`] items.

use std::mem::MaybeUninit;

use crate::cpu::tuning::FEW;

/// Memory on the stack for one item for each key.
pub type Room<T> = [MaybeUninit<T>; FEW];

pub(crate) const fn room<T>() -> Room<T> {
    [const { MaybeUninit::uninit() }; FEW]
}

/// Fills the room with items, and returns them as a slice. There must be no more items than the room holds.
#[inline(always)]
pub(crate) fn fill<T: Copy>(
    room: &mut [MaybeUninit<T>],
    items: impl ExactSizeIterator<Item = T>,
) -> &mut [T] {
    let room = &mut room[..items.len()];
    let mut written = 0;
    for (slot, item) in room.iter_mut().zip(items) {
        slot.write(item);
        written += 1;
    }
    // SAFETY: `written` items were just initialised.
    unsafe { &mut *(std::ptr::from_mut(&mut room[..written]) as *mut [T]) }
}
