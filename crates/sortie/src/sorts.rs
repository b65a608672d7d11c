//! [`Key`]: what Sortie can sort. The bits of a key select the engines of this build.

#[cfg(feature = "gpu")]
pub use crate::compose::sorts::GpuSorts as Sorts;
#[cfg(not(feature = "gpu"))]
pub use crate::cpu::sorts::CpuSorts as Sorts;
use crate::key::TotalOrder;

/// A type that Sortie can sort: `u8..u128`, `i8..i128`, `usize`, `isize`, `f32`, `f64`, `half::f16` and
/// `half::bf16` (with the feature `half`), `bool`, `char`, `[u8; N]`, strings (`&str`, `String`, `&[u8]`, `Vec<u8>`), `Option`, tuples and slices of these.
///
/// Sealed: for other types use [`sort_by_key`](crate::sort_by_key) or [`sort_by`](crate::sort_by).
pub trait Key: TotalOrder<Bits: Sorts> {}

impl<K: TotalOrder<Bits: Sorts>> Key for K {}
