//! The C interface of Sortie. C programs include `include/sortie.h`, which is made from this crate, and link `libsortie_c.so`
//! or `libsortie_c.a`. `docs/c.md` of the repository is the guide, `examples/sort.c` a program with every function.
//!
//! ```c
//! #include "sortie.h"
//!
//! float keys[] = {2.5f, -1.0f, 0.5f};
//! if (sortie_sort(SORTIE_DTYPE_F32, keys, 3, NULL) != SORTIE_STATUS_OK)
//!     fprintf(stderr, "%s\n", sortie_last_error());
//! ```
//!
//! The comment at the head of the header states errors, memory, order and stability. Rust programs use the crate `sortie`.

// They are named as in C.
#![allow(non_camel_case_types)]
// The header says what callers must keep to; `# Safety` is no heading for C.
#![allow(clippy::missing_safety_doc)]

mod border;
mod choices;
mod strings;
mod types;

use std::ffi::{c_char, c_void};

use sortie::dynamic::{self, Dtype};
use sortie::{Index, Segments};

use border::{Array, Failure, call};
pub use types::{
    DtypeValue, EngineValue, NansValue, sortie_dtype, sortie_engine, sortie_nans, sortie_options,
    sortie_status,
};

/// The message of the last call of this thread that failed: what was wrong and what to do. "" if none has failed.
///
/// The message belongs to Sortie, and is valid until the next call of this thread that fails, or its end.
#[unsafe(no_mangle)]
pub extern "C" fn sortie_last_error() -> *const c_char {
    border::last_error()
}

/// Allows SORTIE_ENGINE_AUTO to use the first CUDA device, for data of at least 4 MiB, if that is predicted to be faster. If
/// the GPU fails, the CPU sorts. The first sort of a kind waits for seconds until its kernels are compiled.
///
/// Errors: SORTIE_STATUS_DEVICE if there is no GPU, its speed is not known, or the library was built without GPUs.
/// SORTIE_ENGINE_AUTO then stays on the CPU.
#[unsafe(no_mangle)]
pub extern "C" fn sortie_enable_gpu() -> sortie_status {
    call(|| {
        #[cfg(feature = "gpu")]
        let reason = match sortie::enable_gpu() {
            sortie::Enabled::Measured | sortie::Enabled::Shipped => return Ok(()),
            sortie::Enabled::NotMeasured => {
                "no GPU whose speed is known; if this machine has one, run `sortie devices --measure`"
            }
        };
        #[cfg(not(feature = "gpu"))]
        let reason = "this library was built without GPUs; build it with --features gpu";
        Err(Failure { status: sortie_status::Device, message: reason.into() })
    })
}

/// Sorts `n` keys in place.
///
/// Memory: 262 KiB per thread, and 1/1024 of the size of the keys. Two sorted runs take half the size of the keys, if the
/// limit allows that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sortie_sort(
    dtype: DtypeValue,
    keys: *mut c_void,
    n: usize,
    options: *const sortie_options,
) -> sortie_status {
    call(|| {
        let dtype = choices::dtype(dtype)?;
        let mut keys = array_of_keys(dtype, keys, n)?;
        // SAFETY: the caller guarantees both, as the header says.
        let (options, keys) = unsafe { (choices::options(options)?, keys.get_mut()) };
        dynamic::sort(&choices::sorter(options)?, dtype, keys)?;
        Ok(())
    })
}

/// Sorts `n` keys in place, and moves with each its payload of `payload_bytes` bytes, which need not be aligned. Stable.
///
/// Memory: a copy of keys and payloads. For payloads of other sizes than 4, 8 and 16 bytes, it is a copy of the keys and
/// 16 bytes per key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sortie_sort_pairs(
    dtype: DtypeValue,
    keys: *mut c_void,
    n: usize,
    payload: *mut c_void,
    payload_bytes: usize,
    options: *const sortie_options,
) -> sortie_status {
    call(|| {
        let dtype = choices::dtype(dtype)?;
        let mut keys = array_of_keys(dtype, keys, n)?;
        if payload_bytes == 0 {
            return Err(Failure::invalid(
                "payload_bytes is 0; give the size of one payload, or call sortie_sort".into(),
            ));
        }
        let mut payload = Array::of_rows("payload", payload.cast_const().cast::<u8>(), n, payload_bytes)?;
        keys.apart_from(&payload)?;
        // SAFETY: the caller guarantees all, as the header says, and they do not overlap.
        let (options, keys, payload) =
            unsafe { (choices::options(options)?, keys.get_mut(), payload.get_mut()) };
        dynamic::sort_pairs(&choices::sorter(options)?, dtype, keys, payload_bytes, payload)?;
        Ok(())
    })
}

/// Writes the indices of `n` keys in order: `keys[indices[0]]` comes first. The keys stay as they are. Stable.
///
/// Memory: a copy of the keys, and up to 8 bytes per key.
///
/// Errors: SORTIE_STATUS_INVALID for more than 2^32 - 1 keys; call sortie_argsort64.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sortie_argsort32(
    dtype: DtypeValue,
    keys: *const c_void,
    n: usize,
    indices: *mut u32,
    options: *const sortie_options,
) -> sortie_status {
    // SAFETY: the caller guarantees it.
    call(|| unsafe { argsort(dtype, keys, n, indices, options) })
}

/// As sortie_argsort32, with indices of 64 bits and for any number of keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sortie_argsort64(
    dtype: DtypeValue,
    keys: *const c_void,
    n: usize,
    indices: *mut u64,
    options: *const sortie_options,
) -> sortie_status {
    // SAFETY: the caller guarantees it.
    call(|| unsafe { argsort(dtype, keys, n, indices, options) })
}

/// Sorts each segment of `length` keys on its own, in place. `n` is the number of all keys, a multiple of `length`.
///
/// Memory: that of sortie_sort at most.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sortie_sort_segments(
    dtype: DtypeValue,
    keys: *mut c_void,
    n: usize,
    length: usize,
    options: *const sortie_options,
) -> sortie_status {
    call(|| {
        let dtype = choices::dtype(dtype)?;
        let mut keys = array_of_keys(dtype, keys, n)?;
        // SAFETY: the caller guarantees both, as the header says.
        let (options, keys) = unsafe { (choices::options(options)?, keys.get_mut()) };
        dynamic::sort_segments(&choices::sorter(options)?, dtype, keys, Segments::Length(length))?;
        Ok(())
    })
}

/// Sorts each of `segments` segments on its own, in place. Segment `i` goes from key `offsets[i]` to before key
/// `offsets[i + 1]`, so that there are `segments` + 1 offsets. They must not decrease, and none may exceed `n`. Keys before
/// the first offset and from the last offset on stay where they are.
///
/// Memory: that of sortie_sort at most.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sortie_sort_segments_by_offsets(
    dtype: DtypeValue,
    keys: *mut c_void,
    n: usize,
    offsets: *const usize,
    segments: usize,
    options: *const sortie_options,
) -> sortie_status {
    call(|| {
        let dtype = choices::dtype(dtype)?;
        let mut keys = array_of_keys(dtype, keys, n)?;
        let offsets = array_of_offsets(offsets, segments)?;
        keys.apart_from(&offsets)?;
        // SAFETY: the caller guarantees all, as the header says, and they do not overlap.
        let (options, keys, offsets) = unsafe { (choices::options(options)?, keys.get_mut(), offsets.get()) };
        dynamic::sort_segments(&choices::sorter(options)?, dtype, keys, Segments::Offsets(offsets))?;
        Ok(())
    })
}

/// Writes the indices of `n` strings in the order of their bytes. String `i` goes from `bytes[offsets[i]]` to before
/// `bytes[offsets[i + 1]]`, as in an Arrow array of type Utf8 or Binary, so that there are `n` + 1 offsets. They must not be
/// negative or decrease, and none may exceed `bytes_len`. Stable.
///
/// Time: O((n + d) log n), where d bytes tell the strings apart.
///
/// Memory: 40 bytes per string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sortie_argsort_strings32(
    offsets: *const i32,
    bytes: *const u8,
    bytes_len: usize,
    n: usize,
    indices: *mut u32,
    options: *const sortie_options,
) -> sortie_status {
    // SAFETY: the caller guarantees it.
    call(|| unsafe { argsort_strings(offsets, bytes, bytes_len, n, indices, options) })
}

/// As sortie_argsort_strings32, with offsets and indices of 64 bits, as in an Arrow array of type LargeUtf8 or LargeBinary.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sortie_argsort_strings64(
    offsets: *const i64,
    bytes: *const u8,
    bytes_len: usize,
    n: usize,
    indices: *mut u64,
    options: *const sortie_options,
) -> sortie_status {
    // SAFETY: the caller guarantees it.
    call(|| unsafe { argsort_strings(offsets, bytes, bytes_len, n, indices, options) })
}

/// # Safety
/// That of the header.
unsafe fn argsort<I: Index>(
    dtype: DtypeValue,
    keys: *const c_void,
    n: usize,
    indices: *mut I,
    options: *const sortie_options,
) -> Result<(), Failure> {
    let dtype = choices::dtype(dtype)?;
    let keys = array_of_keys(dtype, keys, n)?;
    let mut indices = Array::new("indices", indices, n)?;
    indices.apart_from(&keys)?;
    // SAFETY: the caller guarantees all, and they do not overlap.
    let (options, keys, indices) = unsafe { (choices::options(options)?, keys.get(), indices.get_mut()) };
    dynamic::argsort(&choices::sorter(options)?, dtype, keys, indices)?;
    Ok(())
}

/// # Safety
/// That of the header.
unsafe fn argsort_strings<O: Copy + Into<i64>, I: Index>(
    offsets: *const O,
    bytes: *const u8,
    bytes_len: usize,
    n: usize,
    indices: *mut I,
    options: *const sortie_options,
) -> Result<(), Failure> {
    let offsets = array_of_offsets(offsets, n)?;
    let bytes = Array::new("bytes", bytes, bytes_len)?;
    let mut indices = Array::new("indices", indices, n)?;
    indices.apart_from(&offsets)?;
    indices.apart_from(&bytes)?;
    // SAFETY: the caller guarantees all, and what is written overlaps nothing.
    unsafe { strings::argsort(offsets.get(), bytes.get(), indices.get_mut(), choices::options(options)?) }
}

/// Keys as the bytes that `sortie::dynamic` takes. It checks their alignment.
fn array_of_keys(dtype: Dtype, keys: *const c_void, n: usize) -> Result<Array<u8>, Failure> {
    Array::of_rows("keys", keys.cast(), n, dtype.width())
}

/// The offsets of `n` segments or strings: one more, or none for none.
fn array_of_offsets<O>(offsets: *const O, n: usize) -> Result<Array<O>, Failure> {
    Array::new("offsets", offsets, if n == 0 { 0 } else { n.saturating_add(1) })
}
