//! Sorts and selects numbers whose type is known only at run time: a [`Dtype`] and bytes take the place of a typed slice.
//!
//! For programs that read arrays from files, and for bindings to other languages. Each function does the same as the method of
//! [`Sorter`] or [`Gpu`](crate::gpu::Gpu) that it names, with the same order, stability, scratch, memory limits and errors. It
//! is compiled in the crate that calls it, so that others do not pay for it. Sorts of keys in host memory are compiled once for
//! each width, because types of one width share their code.
//!
//! ```
//! use sortie::Sorter;
//! use sortie::dynamic::{self, Dtype};
//!
//! # fn main() -> Result<(), sortie::Error> {
//! let mut keys = [2.5f32, -1.0, 0.5];
//! dynamic::sort(&Sorter::builder().build()?, Dtype::F32, bytemuck::bytes_of_mut(&mut keys))?;
//! assert_eq!(keys, [-1.0, 0.5, 2.5]);
//! # Ok(())
//! # }
//! ```

use std::cmp::Ordering;

use bytemuck::{Pod, PodCastError};

use crate::error::same_length;
use crate::key::{Bits, Code, Transform};
use crate::request::KeyForm;
use crate::{Error, Index, Order, QuantileMethod, Report, Segments, Side, Sorter};

/// A type of number, in the byte order of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dtype {
    /// One byte; sorted as [`Dtype::U8`], so it need not be 0 or 1.
    Bool,
    U8,
    U16,
    U32,
    U64,
    U128,
    I8,
    I16,
    I32,
    I64,
    I128,
    F16,
    Bf16,
    F32,
    F64,
}

/// Evaluates an expression with `$name` as a type.
macro_rules! with_type {
    ($type:ty, $name:ident, $body:expr) => {{
        type $name = $type;
        $body
    }};
}

/// Evaluates an expression with `$key` as the type of the keys.
#[cfg(feature = "gpu")]
macro_rules! with_key {
    ($dtype:expr, $key:ident => $body:expr) => {
        match $dtype {
            Dtype::Bool | Dtype::U8 => with_type!(u8, $key, $body),
            Dtype::U16 => with_type!(u16, $key, $body),
            Dtype::U32 => with_type!(u32, $key, $body),
            Dtype::U64 => with_type!(u64, $key, $body),
            Dtype::U128 => with_type!(u128, $key, $body),
            Dtype::I8 => with_type!(i8, $key, $body),
            Dtype::I16 => with_type!(i16, $key, $body),
            Dtype::I32 => with_type!(i32, $key, $body),
            Dtype::I64 => with_type!(i64, $key, $body),
            Dtype::I128 => with_type!(i128, $key, $body),
            Dtype::F16 => with_type!(f16, $key, $body),
            Dtype::Bf16 => with_type!(bf16, $key, $body),
            Dtype::F32 => with_type!(f32, $key, $body),
            Dtype::F64 => with_type!(f64, $key, $body),
        }
    };
}

/// Evaluates an expression with `$bits` as the unsigned integer of `$width` bytes. The CPU sorts all keys of that width as such
/// integers.
macro_rules! with_bits {
    ($width:expr, $bits:ident => $body:expr) => {
        match $width {
            1 => with_type!(u8, $bits, $body),
            2 => with_type!(u16, $bits, $body),
            4 => with_type!(u32, $bits, $body),
            8 => with_type!(u64, $bits, $body),
            16 => with_type!(u128, $bits, $body),
            other => unreachable!("no type has {other} bytes"),
        }
    };
}

/// Evaluates an expression with `$payload` as a type of `$bytes` bytes, or another expression if no such type is compiled.
macro_rules! with_payload {
    ($bytes:expr, $payload:ident => $body:expr, else $other:expr) => {
        match $bytes {
            4 => with_type!([u8; 4], $payload, $body),
            8 => with_type!([u8; 8], $payload, $body),
            16 => with_type!([u8; 16], $payload, $body),
            _ => $other,
        }
    };
}

impl Dtype {
    /// The bytes of a number.
    #[must_use]
    pub fn width(self) -> usize {
        self.layout().0
    }

    /// What a [`Request`](crate::request::Request) says about keys of this type, for [`Sorter::explain`].
    ///
    /// ```
    /// # fn main() -> Result<(), sortie::Error> {
    /// use sortie::dynamic::Dtype;
    /// use sortie::request::{Beside, KeyForm, Operation};
    /// assert_eq!(Dtype::F16.form(), KeyForm::Number { bytes: 2, float: true });
    /// let sorter = sortie::Sorter::builder().threads(1).build()?;
    /// let request = sorter.request(Operation::Array, Dtype::F16.form(), Beside::Nothing, 1_000_000);
    /// println!("{}", sorter.explain(&request)?);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn form(self) -> KeyForm {
        let (bytes, code) = self.layout();
        KeyForm::Number { bytes, float: code.is_float() }
    }

    /// What the bits of a number mean.
    fn code(self) -> Code {
        self.layout().1
    }

    /// The bytes of a number, and what its bits mean.
    fn layout(self) -> (usize, Code) {
        match self {
            Dtype::Bool | Dtype::U8 => (1, Code::Unsigned),
            Dtype::U16 => (2, Code::Unsigned),
            Dtype::U32 => (4, Code::Unsigned),
            Dtype::U64 => (8, Code::Unsigned),
            Dtype::U128 => (16, Code::Unsigned),
            Dtype::I8 => (1, Code::Signed),
            Dtype::I16 => (2, Code::Signed),
            Dtype::I32 => (4, Code::Signed),
            Dtype::I64 => (8, Code::Signed),
            Dtype::I128 => (16, Code::Signed),
            Dtype::F16 => (2, Code::F16),
            Dtype::Bf16 => (2, Code::BF16),
            Dtype::F32 => (4, Code::F32),
            Dtype::F64 => (8, Code::F64),
        }
    }
}

/// [`Sorter::sort`] of keys in host memory.
///
/// # Errors
/// As [`Sorter::sort`]; [`Error::Unsupported`] if the bytes are not aligned for the type, or end within a key.
#[inline]
pub fn sort(sorter: &Sorter, dtype: Dtype, keys: &mut [u8]) -> Result<Report, Error> {
    with_bits!(dtype.width(), B => sorter.sort_numbers(typed_mut::<B>("keys", keys)?, dtype.code()))
}

/// [`Sorter::sort_pairs`] of keys in host memory, each with a payload of `payload_bytes` bytes.
///
/// Payloads of 4, 8 and 16 bytes move with their keys. For other payloads, indices of 8 bytes do, whose memory counts as
/// scratch. The payloads are gathered by them in the end.
///
/// # Errors
/// As [`Sorter::sort_pairs`] and [`sort`]; [`Error::LengthMismatch`] if the payload does not have `payload_bytes` bytes per
/// key.
#[inline]
pub fn sort_pairs(
    sorter: &Sorter,
    dtype: Dtype,
    keys: &mut [u8],
    payload_bytes: usize,
    payload: &mut [u8],
) -> Result<Report, Error> {
    with_bits!(dtype.width(), B => {
        let (keys, code) = (typed_mut::<B>("keys", keys)?, dtype.code());
        with_payload!(
            payload_bytes,
            V => sorter.sort_pairs_of_numbers(keys, code, typed_mut::<V>("payload", payload)?),
            else sorter.sort_rows(keys, payload, payload_bytes, |sorter, keys, indices| {
                sorter.sort_pairs_of_numbers(keys, code, indices)
            })
        )
    })
}

/// [`Sorter::argsort`] of keys in host memory.
///
/// # Errors
/// As [`Sorter::argsort`] and [`sort`].
#[inline]
pub fn argsort<I: Index>(
    sorter: &Sorter,
    dtype: Dtype,
    keys: &[u8],
    indices: &mut [I],
) -> Result<Report, Error> {
    with_bits!(dtype.width(), B => {
        sorter.argsort_numbers(typed::<B>("keys", keys)?, dtype.code(), indices, 0)
    })
}

/// [`Sorter::sort_segments`] of keys in host memory. Segments are counted in keys.
///
/// # Errors
/// As [`Sorter::sort_segments`] and [`sort`].
#[inline]
pub fn sort_segments(
    sorter: &Sorter,
    dtype: Dtype,
    keys: &mut [u8],
    segments: Segments<'_>,
) -> Result<Report, Error> {
    with_bits!(dtype.width(), B => {
        sorter.sort_segments_of_numbers(typed_mut::<B>("keys", keys)?, dtype.code(), segments)
    })
}

/// [`Sorter::sort_pairs_segments`] of keys in host memory, each with a payload as for [`sort_pairs`].
///
/// # Errors
/// As [`Sorter::sort_pairs_segments`] and [`sort_pairs`].
#[inline]
pub fn sort_pairs_segments(
    sorter: &Sorter,
    dtype: Dtype,
    keys: &mut [u8],
    payload_bytes: usize,
    payload: &mut [u8],
    segments: Segments<'_>,
) -> Result<Report, Error> {
    with_bits!(dtype.width(), B => {
        let (keys, code) = (typed_mut::<B>("keys", keys)?, dtype.code());
        with_payload!(
            payload_bytes,
            V => sorter.sort_pairs_segments_of_numbers(keys, code, typed_mut::<V>("payload", payload)?, segments),
            else sorter.sort_rows(keys, payload, payload_bytes, |sorter, keys, indices| {
                sorter.sort_pairs_segments_of_numbers(keys, code, indices, segments)
            })
        )
    })
}

/// [`Sorter::argsort_segments`] of keys in host memory. Segments are counted in keys.
///
/// # Errors
/// As [`Sorter::argsort_segments`] and [`sort`].
#[inline]
pub fn argsort_segments<I: Index>(
    sorter: &Sorter,
    dtype: Dtype,
    keys: &[u8],
    indices: &mut [I],
    segments: Segments<'_>,
) -> Result<Report, Error> {
    with_bits!(dtype.width(), B => {
        sorter.argsort_segments_of_numbers(typed::<B>("keys", keys)?, dtype.code(), indices, segments)
    })
}

/// [`Sorter::top_k`] of keys in host memory. `top` has room for `k` keys.
///
/// # Errors
/// As [`Sorter::top_k`] and [`sort`].
#[inline]
pub fn top_k(sorter: &Sorter, dtype: Dtype, keys: &[u8], top: &mut [u8]) -> Result<Report, Error> {
    with_bits!(dtype.width(), B => {
        let (keys, top) = (typed::<B>("keys", keys)?, typed_mut::<B>("top", top)?);
        sorter.top_k_of_numbers(keys, dtype.code(), top, true)
    })
}

/// [`Sorter::top_k_unsorted`] of keys in host memory. `top` has room for `k` keys.
///
/// # Errors
/// As [`Sorter::top_k`] and [`sort`].
#[inline]
pub fn top_k_unsorted(sorter: &Sorter, dtype: Dtype, keys: &[u8], top: &mut [u8]) -> Result<Report, Error> {
    with_bits!(dtype.width(), B => {
        let (keys, top) = (typed::<B>("keys", keys)?, typed_mut::<B>("top", top)?);
        sorter.top_k_of_numbers(keys, dtype.code(), top, false)
    })
}

/// [`Sorter::arg_top_k`] of keys in host memory.
///
/// # Errors
/// As [`Sorter::arg_top_k`] and [`sort`].
#[inline]
pub fn arg_top_k<I: Index>(
    sorter: &Sorter,
    dtype: Dtype,
    keys: &[u8],
    indices: &mut [I],
) -> Result<Report, Error> {
    with_bits!(dtype.width(), B => {
        sorter.arg_top_k_of_numbers(typed::<B>("keys", keys)?, dtype.code(), indices, true)
    })
}

/// [`Sorter::arg_top_k_unsorted`] of keys in host memory.
///
/// # Errors
/// As [`Sorter::arg_top_k`] and [`sort`].
#[inline]
pub fn arg_top_k_unsorted<I: Index>(
    sorter: &Sorter,
    dtype: Dtype,
    keys: &[u8],
    indices: &mut [I],
) -> Result<Report, Error> {
    with_bits!(dtype.width(), B => {
        sorter.arg_top_k_of_numbers(typed::<B>("keys", keys)?, dtype.code(), indices, false)
    })
}

/// [`Sorter::nth`] of keys in host memory. `nth` has room for a key for each index.
///
/// # Errors
/// As [`Sorter::nth`] and [`sort`].
#[inline]
pub fn nth(
    sorter: &Sorter,
    dtype: Dtype,
    keys: &[u8],
    indices: &[usize],
    nth: &mut [u8],
) -> Result<Report, Error> {
    with_bits!(dtype.width(), B => {
        let (keys, nth) = (typed::<B>("keys", keys)?, typed_mut::<B>("results", nth)?);
        sorter.nth_of_numbers(keys, dtype.code(), indices, nth)
    })
}

/// [`Sorter::arg_nth`] of keys in host memory.
///
/// # Errors
/// As [`Sorter::arg_nth`] and [`sort`].
#[inline]
pub fn arg_nth<I: Index>(
    sorter: &Sorter,
    dtype: Dtype,
    keys: &[u8],
    indices: &[usize],
    found: &mut [I],
) -> Result<Report, Error> {
    with_bits!(dtype.width(), B => {
        sorter.arg_nth_of_numbers(typed::<B>("keys", keys)?, dtype.code(), indices, found)
    })
}

/// [`Sorter::partition`] of keys in host memory.
///
/// # Errors
/// As [`Sorter::partition`] and [`sort`].
#[inline]
pub fn partition(sorter: &Sorter, dtype: Dtype, keys: &mut [u8], indices: &[usize]) -> Result<Report, Error> {
    with_bits!(dtype.width(), B => {
        sorter.partition_numbers(typed_mut::<B>("keys", keys)?, dtype.code(), indices)
    })
}

/// [`Sorter::search_sorted`] of queries in sorted keys in host memory, of the same type.
///
/// # Errors
/// As [`Sorter::search_sorted`] and [`sort`].
#[inline]
pub fn search_sorted<I: Index>(
    sorter: &Sorter,
    dtype: Dtype,
    keys: &[u8],
    queries: &[u8],
    side: Side,
    positions: &mut [I],
) -> Result<Report, Error> {
    with_bits!(dtype.width(), B => {
        let (keys, queries) = (typed::<B>("keys", keys)?, typed::<B>("queries", queries)?);
        sorter.search_sorted_numbers(keys, queries, dtype.code(), side, positions)
    })
}

/// [`Sorter::histogram`] of keys in host memory, between edges of the same type.
///
/// # Errors
/// As [`Sorter::histogram`] and [`sort`].
#[inline]
pub fn histogram(
    sorter: &Sorter,
    dtype: Dtype,
    keys: &[u8],
    edges: &[u8],
    counts: &mut [usize],
) -> Result<Report, Error> {
    with_bits!(dtype.width(), B => {
        let (keys, edges) = (typed::<B>("keys", keys)?, typed::<B>("edges", edges)?);
        sorter.histogram_of_numbers(keys, edges, dtype.code(), counts)
    })
}

/// [`Sorter::quantiles`] of keys in host memory.
///
/// # Errors
/// As [`Sorter::quantiles`] and [`sort`].
#[inline]
pub fn quantiles(
    sorter: &Sorter,
    dtype: Dtype,
    keys: &[u8],
    q: &[f64],
    method: QuantileMethod,
    values: &mut [f64],
) -> Result<Report, Error> {
    with_bits!(dtype.width(), B => {
        sorter.quantiles_of(typed::<B>("keys", keys)?, dtype.code(), q, method, false, values)
    })
}

/// [`Sorter::quantiles_of_numbers_only`] of keys in host memory.
///
/// # Errors
/// As [`Sorter::quantiles`] and [`sort`].
#[inline]
pub fn quantiles_of_numbers_only(
    sorter: &Sorter,
    dtype: Dtype,
    keys: &[u8],
    q: &[f64],
    method: QuantileMethod,
    values: &mut [f64],
) -> Result<Report, Error> {
    with_bits!(dtype.width(), B => {
        sorter.quantiles_of(typed::<B>("keys", keys)?, dtype.code(), q, method, true, values)
    })
}

/// How the first key of `a` compares with the first key of `b`, as [`TotalOrder::compare`](crate::TotalOrder::compare) does. Neither
/// need be aligned.
///
/// # Panics
/// If one of them has fewer bytes than a key.
#[inline]
#[must_use]
pub fn compare(dtype: Dtype, a: &[u8], b: &[u8], order: Order) -> Ordering {
    with_bits!(dtype.width(), B => {
        let code = Transform::<B>::comparing(dtype.code(), order);
        let code_of = |key: &[u8]| code.encode(bytemuck::pod_read_unaligned(&key[..size_of::<B>()]));
        code_of(a).cmp(&code_of(b))
    })
}

/// Writes a number for each key, such that the unsigned order of the numbers is the order of the keys: `a < b` if key `a` goes
/// before key `b`, and `a == b` if the keys are equal. With these numbers, keys can be compared, merged and put into larger
/// keys without their type.
///
/// # Errors
/// As [`sort`]; [`Error::LengthMismatch`]; [`Error::Unsupported`] for keys of 128 bits, which have no such number of 64.
#[inline]
pub fn codes(dtype: Dtype, keys: &[u8], order: Order, codes: &mut [u64]) -> Result<(), Error> {
    with_bits!(dtype.width(), B => {
        if size_of::<B>() > size_of::<u64>() {
            return Err(Error::Unsupported("keys of 128 bits have no code of 64 bits; compare them".into()));
        }
        let keys = typed::<B>("keys", keys)?;
        same_length("codes", keys.len(), codes.len())?;
        let code = Transform::<B>::comparing(dtype.code(), order);
        codes.iter_mut().zip(keys).for_each(|(number, key)| *number = code.encode(*key).left_aligned());
        Ok(())
    })
}

fn typed<'a, T: Pod>(what: &str, bytes: &'a [u8]) -> Result<&'a [T], Error> {
    let (address, len) = (bytes.as_ptr() as u64, bytes.len());
    bytemuck::try_cast_slice(bytes).map_err(|error| refused::<T>(what, address, len, error))
}

fn typed_mut<'a, T: Pod>(what: &str, bytes: &'a mut [u8]) -> Result<&'a mut [T], Error> {
    let (address, len) = (bytes.as_ptr() as u64, bytes.len());
    bytemuck::try_cast_slice_mut(bytes).map_err(|error| refused::<T>(what, address, len, error))
}

fn refused<T>(what: &str, address: u64, bytes: usize, error: PodCastError) -> Error {
    let each = size_of::<T>();
    Error::Unsupported(match error {
        PodCastError::TargetAlignmentGreaterAndInputNotAligned => {
            format!(
                "{what} at address {address:#x} are not aligned to {} bytes; copy them to memory that is",
                align_of::<T>()
            )
        }
        _ => format!(
            "{what} of {bytes} bytes are not a whole number of elements of {each} bytes; give a multiple of {each}"
        ),
    })
}

#[cfg(feature = "gpu")]
mod on_device;
#[cfg(test)]
mod tests;

#[cfg(feature = "gpu")]
pub use on_device::{
    argsort_on_device, sort_on_device, sort_pairs_on_device, sort_segments_on_device, workspace_bytes,
    workspace_bytes_of_segments,
};
