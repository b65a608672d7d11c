//! What other crates of this workspace need from the engines beyond the public interface. It is not part of that
//! interface.

use crate::compose::strings::by_cut;
use crate::cpu::strings::Cut;
use crate::error::same_length;
use crate::gpu::{self, Allowed, Gpu};
use crate::key::{Form, TotalOrder, Transform};
use crate::{Error, Order, Report};

/// Headers that kernels outside this crate include.
pub const SIMT_HEADER: &str = include_str!("../kernels/common/simt.cuh");
pub const CODE_HEADER: &str = include_str!("../kernels/common/code.cuh");
pub const SCAN_HEADER: &str = include_str!("../kernels/common/scan.cuh");

/// `code::Transform` of the header `code.cuh` for ascending `f32`.
pub fn float_transform() -> [u64; 4] {
    let Form::Bits(code) = f32::FORM else { unreachable!("floats have codes") };
    Transform::<u32>::new(code, Order::default()).numbers()
}

/// What is sent to the device for each string. These are the two ways of Drozd, Pericas and Matsuoka, "Efficient string
/// sorting on multi- and many-core architectures" (2014), to sort strings in host memory with a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// All of its bytes, as in section III: the device sorts to the end.
    Whole,
    /// Its first symbols, the communication-reducing strategy of section IV B: the CPU finishes what ties.
    Cut,
}

/// Writes the indices of the strings in order, with a GPU and the threads of the current rayon pool. Stable. The caller
/// chooses the way; [`Sorter::argsort_strings`](crate::Sorter::argsort_strings) has the same two and takes the one that
/// a sample shows to be faster.
///
/// Here, a cut string is a word of 8 bytes; the smaller the alphabet, the more symbols it holds.
///
/// # Errors
/// [`Error::LengthMismatch`] if the numbers of indices and strings differ, and the errors of
/// [`Sorter::argsort_strings`](crate::Sorter::argsort_strings).
pub fn argsort_sent_strings<S: AsRef<[u8]> + Sync>(
    gpu: &Gpu,
    strings: &[S],
    sent: Sent,
    indices: &mut [u32],
) -> Result<Report, Error> {
    same_length("indices", strings.len(), indices.len())?;
    let allowed = Allowed { threads: crate::threads::of_current_pool(), memory_limit: u64::MAX };
    let order = Order::default();
    match sent {
        Sent::Whole => gpu::argsort_strings(gpu, strings, S::as_ref, order, indices, allowed),
        Sent::Cut => by_cut(gpu, Cut::of_sample(strings, S::as_ref), order, indices, allowed),
    }
}
