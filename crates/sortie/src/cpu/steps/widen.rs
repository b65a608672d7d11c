//! Indices of 64 bits, of fewer than 2^32 items. They are found as indices of 32 bits in the upper half of the same memory, and then
//! widened, so that no sort is compiled for both.

use crate::parallel::{self, ITEMS_A_TASK};
use crate::report::Work;

/// The upper half of the memory of the indices, as indices of 32 bits.
pub(crate) fn narrow(indices: &mut [u64]) -> &mut [u32] {
    let n = indices.len();
    &mut bytemuck::cast_slice_mut(indices)[n..]
}

/// Widens the indices that are in [`narrow`]'s half.
pub(crate) fn widen(mut indices: &mut [u64], work: &Work) {
    // The lower half of the indices does not overlap the narrow ones. It is widened, and then what is left in the same way.
    while indices.len() > ITEMS_A_TASK {
        let half = indices.len() / 2;
        let (wide, rest) = indices.split_at_mut(half);
        // The narrow indices are all of them the last of the memory.
        let narrow = &bytemuck::cast_slice::<u64, u32>(rest)[rest.len() - half..][..half];
        let parts = wide.chunks_mut(ITEMS_A_TASK).zip(narrow.chunks(ITEMS_A_TASK));
        parallel::for_each(work.threads(), parts, |(wide, narrow)| {
            work.task(|| wide.iter_mut().zip(narrow).for_each(|(wide, &narrow)| *wide = u64::from(narrow)));
        });
        indices = rest;
    }
    work.task(|| {
        for i in 0..indices.len() {
            // It is read before its memory is written.
            indices[i] = u64::from(bytemuck::cast_slice::<u64, u32>(indices)[indices.len() + i]);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_of_any_number_are_widened() {
        for n in [0, 1, 2, 3, 1000, ITEMS_A_TASK + 1, 5 * ITEMS_A_TASK + 3] {
            for threads in [1, 3] {
                let mut indices = vec![u64::MAX; n];
                narrow(&mut indices).iter_mut().zip(7..).for_each(|(index, i)| *index = i);
                let report = &mut crate::Report::default();
                report.phase_by_thread("finish", threads, 0, 0, |work| widen(&mut indices, work));
                assert!(indices.into_iter().eq((7..).take(n)), "{n}");
            }
        }
    }
}
