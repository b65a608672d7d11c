//! The two ways of Drozd, Pericas and Matsuoka, "Efficient string sorting on multi- and many-core architectures" (2014), to sort
//! strings of the host by a GPU.

use crate::compose::strings::by_cut;
use crate::cpu::strings::Cut;
use crate::error::same_length;
use crate::gpu::{self, Allowed, Gpu};
use crate::{Error, Order, Report};

/// What of each string goes to the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// All of its bytes, as in section III: the device sorts to the end.
    Whole,
    /// Its first symbols, the communication-reducing strategy of section IV B: the CPU finishes what ties.
    Cut,
}

/// Writes the places of the strings in order, by a GPU and the threads of the current rayon pool. Stable. The way is the
/// caller's choice; [`Sorter::argsort_strings`](crate::Sorter::argsort_strings) has the same two and takes the one that a
/// sample says is faster.
///
/// Here a cut is a word of 8 bytes, which holds the more symbols the smaller the alphabet is.
///
/// # Errors
/// [`Error::LengthMismatch`] where there are not as many places as strings, and those of
/// [`Sorter::argsort_strings`](crate::Sorter::argsort_strings).
pub fn argsort_sent_strings<S: AsRef<[u8]> + Sync>(
    gpu: &Gpu,
    strings: &[S],
    sent: Sent,
    places: &mut [u32],
) -> Result<Report, Error> {
    same_length("places", strings.len(), places.len())?;
    let allowed = Allowed { threads: crate::threads::of_current_pool(), memory_limit: u64::MAX };
    let order = Order::default();
    match sent {
        Sent::Whole => gpu::argsort_strings(gpu, strings, S::as_ref, order, places, allowed),
        Sent::Cut => by_cut(gpu, Cut::of_sample(strings, S::as_ref), order, places, allowed),
    }
}
