//! Arguments that are wrong: each is refused with a message, and nothing is written.

use std::ffi::{c_uint, c_void};
use std::ptr;

use sortie_c::*;

use crate::support::{message, refused};

const U64: c_uint = sortie_dtype::U64 as c_uint;

const NULL: *const sortie_options = ptr::null();

#[test]
fn null_is_refused_for_every_array() {
    let (mut keys, mut indices) = ([3u64, 1, 2], [7u32; 3]);
    let (mut payload, nothing) = ([0u8; 3], ptr::null_mut::<c_void>());
    let start = keys.as_mut_ptr().cast();
    // SAFETY: null is refused; the other arrays are there.
    unsafe {
        refused(sortie_sort(U64, nothing, 3, NULL), "keys is NULL, but should have 3 elements");
        refused(sortie_sort_pairs(U64, nothing, 3, payload.as_mut_ptr().cast(), 1, NULL), "keys is NULL");
        refused(sortie_sort_pairs(U64, start, 3, nothing, 1, NULL), "payload is NULL");
        refused(sortie_argsort32(U64, nothing, 3, indices.as_mut_ptr(), NULL), "keys is NULL");
        refused(sortie_argsort32(U64, start, 3, ptr::null_mut(), NULL), "indices is NULL");
        refused(sortie_argsort64(U64, start, 3, ptr::null_mut(), NULL), "indices is NULL");
        refused(sortie_sort_segments(U64, nothing, 3, 1, NULL), "keys is NULL");
        refused(sortie_sort_segments_by_offsets(U64, start, 3, ptr::null(), 1, NULL), "offsets is NULL");
        let (ends, bytes) = ([0, 1, 2, 3], b"bac".as_ptr());
        let indices = indices.as_mut_ptr();
        refused(sortie_argsort_strings32(ptr::null(), bytes, 3, 3, indices, NULL), "offsets is NULL");
        refused(sortie_argsort_strings32(ends.as_ptr(), ptr::null(), 3, 3, indices, NULL), "bytes is NULL");
        let nothing = ptr::null_mut();
        refused(sortie_argsort_strings32(ends.as_ptr(), bytes, 3, 3, nothing, NULL), "indices is NULL");
    }
    assert_eq!((keys, indices), ([3, 1, 2], [7; 3]));
}

#[test]
fn nothing_may_be_null_and_is_sorted() {
    let (nothing, ok) = (ptr::null_mut::<c_void>(), sortie_status::Ok);
    // SAFETY: no element is announced.
    unsafe {
        assert_eq!(sortie_sort(U64, nothing, 0, NULL), ok);
        assert_eq!(sortie_sort_pairs(U64, nothing, 0, nothing, 3, NULL), ok);
        assert_eq!(sortie_argsort32(U64, nothing, 0, ptr::null_mut(), NULL), ok);
        assert_eq!(sortie_argsort64(U64, nothing, 0, ptr::null_mut(), NULL), ok);
        assert_eq!(sortie_sort_segments(U64, nothing, 0, 0, NULL), ok);
        assert_eq!(sortie_sort_segments_by_offsets(U64, nothing, 0, ptr::null(), 0, NULL), ok);
        assert_eq!(sortie_argsort_strings32(ptr::null(), ptr::null(), 0, 0, ptr::null_mut(), NULL), ok);
        assert_eq!(sortie_argsort_strings64(ptr::null(), ptr::null(), 0, 0, ptr::null_mut(), NULL), ok);
    }
    // Strings without bytes, and segments without keys.
    let (ends, mut indices) = ([0, 0, 0], [7u32; 2]);
    let offsets = [0usize, 0, 0];
    // SAFETY: the arrays that have elements are there.
    unsafe {
        let indices = indices.as_mut_ptr();
        assert_eq!(sortie_argsort_strings32(ends.as_ptr(), ptr::null(), 0, 2, indices, NULL), ok);
        assert_eq!(sortie_sort_segments_by_offsets(U64, nothing, 0, offsets.as_ptr(), 2, NULL), ok);
    }
    assert_eq!(indices, [0, 1]);
}

#[test]
fn lengths_that_overflow_are_refused() {
    let (mut keys, mut indices) = ([3u64, 1, 2], [7u64; 3]);
    let start: *mut c_void = keys.as_mut_ptr().cast();
    let words = "do not fit in the address space; give the number of elements";
    // SAFETY: refused before anything is read.
    unsafe {
        // 8 bytes each: 0 modulo 2^64, more than half of the address space, and past its end.
        for n in [1 << 61, 1 << 60, usize::MAX, (isize::MAX as usize - 7) / 8 + 1] {
            refused(sortie_sort(U64, start, n, NULL), words);
            refused(sortie_argsort64(U64, start, n, indices.as_mut_ptr(), NULL), words);
            refused(sortie_sort_segments(U64, start, n, 1, NULL), words);
        }
        let at_the_end = ptr::without_provenance_mut(usize::MAX - 7);
        refused(sortie_sort(U64, at_the_end, 3, NULL), words);
        let payload = indices.as_mut_ptr().cast();
        for bytes in [usize::MAX, usize::MAX / 3 + 1, isize::MAX as usize] {
            refused(sortie_sort_pairs(U64, start, 3, payload, bytes, NULL), words);
        }
        let offsets = [0usize, 3];
        for segments in [usize::MAX, usize::MAX - 1, 1 << 61] {
            let status = sortie_sort_segments_by_offsets(U64, start, 3, offsets.as_ptr(), segments, NULL);
            refused(status, words);
            let (ends, indices) = ([0i64, 1], indices.as_mut_ptr());
            let status = sortie_argsort_strings64(ends.as_ptr(), start.cast(), 1, segments, indices, NULL);
            refused(status, words);
        }
        let (ends, indices) = ([0i64, 1], indices.as_mut_ptr());
        refused(sortie_argsort_strings64(ends.as_ptr(), start.cast(), usize::MAX, 1, indices, NULL), words);
    }
    assert_eq!((keys, indices), ([3, 1, 2], [7; 3]));
}

#[test]
fn misaligned_arrays_are_refused() {
    let mut memory = [0u64; 8];
    let start = memory.as_mut_ptr();
    let off = start.wrapping_byte_add(1);
    let (mut indices, ends) = ([7u64; 3], [0i64, 0]);
    let mut keys = [3u64, 1, 2];
    // SAFETY: misaligned arrays are refused; the other arrays are there.
    unsafe {
        refused(sortie_sort(U64, off.cast(), 2, NULL), "not aligned to 8 bytes; copy them");
        let four = start.wrapping_byte_add(4).cast();
        refused(sortie_sort(sortie_dtype::F64 as c_uint, four, 2, NULL), "not aligned to 8 bytes");
        let eight = start.wrapping_byte_add(8 + start.addr() % 16).cast();
        refused(sortie_sort(sortie_dtype::U128 as c_uint, eight, 1, NULL), "not aligned to 16 bytes");
        let keys = keys.as_mut_ptr().cast();
        refused(sortie_argsort64(U64, keys, 3, off, NULL), "indices at address");
        refused(sortie_argsort32(U64, keys, 3, off.cast(), NULL), "not aligned to 4 bytes; copy it");
        refused(sortie_sort_segments_by_offsets(U64, keys, 3, off.cast(), 1, NULL), "offsets at address");
        let indices = indices.as_mut_ptr();
        refused(sortie_argsort_strings64(off.cast(), ptr::null(), 0, 1, indices, NULL), "offsets at address");
        refused(sortie_argsort_strings64(ends.as_ptr(), ptr::null(), 0, 1, off, NULL), "indices at address");
        refused(sortie_sort(U64, keys, 3, off.cast()), "options at address");
        // Bytes need no alignment, as keys or as a payload.
        assert_eq!(sortie_sort(sortie_dtype::U8 as c_uint, off.cast(), 9, NULL), sortie_status::Ok);
        assert_eq!(sortie_sort_pairs(U64, keys, 3, off.cast(), 8, NULL), sortie_status::Ok);
    }
    assert_eq!((keys, indices), ([1, 2, 3], [7; 3]));
}

#[test]
fn arrays_that_overlap_are_refused() {
    let mut memory = [3u64, 1, 2, 0, 0];
    let start = memory.as_mut_ptr();
    let third = start.wrapping_add(2);
    let mut indices = [7u64; 3];
    // SAFETY: overlapping arrays are refused; the others are there.
    unsafe {
        let keys = start.cast();
        refused(sortie_argsort64(U64, keys, 3, start, NULL), "indices at address");
        refused(sortie_argsort64(U64, keys, 3, third, NULL), "overlaps keys at address");
        refused(sortie_sort_pairs(U64, keys, 3, third.cast(), 8, NULL), "overlaps payload");
        refused(sortie_sort_segments_by_offsets(U64, keys, 3, third.cast(), 1, NULL), "overlaps offsets");
        let offsets = start.cast();
        refused(sortie_argsort_strings64(offsets, keys.cast(), 8, 3, third, NULL), "overlaps offsets");
        let ends = [0i64, 1, 2, 3];
        refused(sortie_argsort_strings64(ends.as_ptr(), third.cast(), 8, 3, start, NULL), "overlaps bytes");
        // Neighbours do not overlap, and arrays that are only read may.
        assert_eq!(sortie_argsort64(U64, keys, 2, third, NULL), sortie_status::Ok);
        let (ends, indices) = (ends.as_ptr(), indices.as_mut_ptr());
        assert_eq!(sortie_argsort_strings64(ends, ends.cast(), 32, 3, indices, NULL), sortie_status::Ok);
    }
    // Nothing but these indices was written.
    assert_eq!(memory, [3, 1, 1, 0, 0]);
}

#[test]
fn values_that_do_not_exist_are_refused() {
    let mut keys = [3u64, 1, 2];
    let mut indices = [7u32; 3];
    let mut sort = |change: &dyn Fn(&mut sortie_options)| {
        let mut options = sortie_options::default();
        change(&mut options);
        // SAFETY: an array of its own.
        unsafe { sortie_sort(U64, keys.as_mut_ptr().cast(), 3, &options) }
    };
    refused(sort(&|o| o.engine = 3), "engine 3 does not exist; give one of SORTIE_ENGINE_AUTO");
    refused(sort(&|o| o.nans = 4), "nans 4 does not exist; give one of SORTIE_NANS_LAST");
    refused(sort(&|o| o.threads = 4097), "threads is 4097, but may be at most 4096");
    refused(sort(&|o| o.threads = u32::MAX), "set the fields that you do not use to 0");
    // SAFETY: arrays of their own.
    unsafe {
        let start = keys.as_mut_ptr().cast();
        let words = "does not exist; give one of SORTIE_DTYPE_U8 to SORTIE_DTYPE_F64";
        for dtype in [14, 255, c_uint::MAX] {
            refused(sortie_sort(dtype, start, 3, NULL), words);
            refused(sortie_sort(dtype, start, 0, NULL), words);
            refused(sortie_argsort32(dtype, start, 3, indices.as_mut_ptr(), NULL), words);
            refused(sortie_sort_segments(dtype, start, 3, 3, NULL), words);
        }
        let payload = indices.as_mut_ptr().cast();
        refused(sortie_sort_pairs(U64, start, 3, payload, 0, NULL), "payload_bytes is 0");
    }
    assert_eq!((keys, indices), ([3, 1, 2], [7; 3]));
}

#[test]
fn segments_that_do_not_fit_the_keys_are_refused() {
    let mut keys = [3u64, 1, 2];
    // SAFETY: arrays of their own.
    unsafe {
        let start = keys.as_mut_ptr().cast();
        refused(sortie_sort_segments(U64, start, 3, 0, NULL), "a length of 0 cannot hold any key");
        refused(sortie_sort_segments(U64, start, 3, 2, NULL), "3 keys are not a multiple of the length 2");
        refused(sortie_sort_segments(U64, start, 3, usize::MAX, NULL), "not a multiple");
        let by = |offsets: &[usize]| {
            sortie_sort_segments_by_offsets(U64, start, 3, offsets.as_ptr(), offsets.len() - 1, NULL)
        };
        refused(by(&[0, 2, 1]), "offsets decrease: 2 at 1, then 1");
        refused(by(&[0, 4]), "the last offset is 4, but there are 3 keys");
        refused(by(&[0, usize::MAX]), "but there are 3 keys");
        refused(by(&[usize::MAX, 3]), "decrease");
    }
    assert_eq!(keys, [3, 1, 2]);
}

#[test]
fn offsets_that_do_not_fit_the_bytes_are_refused() {
    let mut indices = [7u32; 2];
    let mut sort = |ends: [i32; 3]| {
        // SAFETY: arrays of their own.
        unsafe { sortie_argsort_strings32(ends.as_ptr(), b"bac".as_ptr(), 3, 2, indices.as_mut_ptr(), NULL) }
    };
    let words = "offsets must not be negative, decrease, or exceed the 3 bytes";
    for (ends, which) in [
        ([0, 2, 1], "string 1 goes from offset 2 to 1;"),
        ([0, 2, 4], "string 1 goes from offset 2 to 4;"),
        ([-1, 2, 3], "string 0 goes from offset -1 to 2;"),
        ([0, i32::MAX, 3], "string 0 goes from offset 0 to 2147483647;"),
        ([4, 4, 4], "string 0 goes from offset 4 to 4;"),
    ] {
        refused(sort(ends), words);
        refused(sort(ends), which);
    }
    let ends = [0, i64::MIN, i64::MAX];
    let mut wide = [7u64; 2];
    // SAFETY: arrays of their own.
    let status =
        unsafe { sortie_argsort_strings64(ends.as_ptr(), b"bac".as_ptr(), 3, 2, wide.as_mut_ptr(), NULL) };
    refused(status, words);
    assert_eq!((indices, wide), ([7; 2], [7; 2]));
}

#[test]
fn a_memory_limit_holds() {
    let mut keys: Vec<u64> = (0..100_000).rev().map(|i| i * i % 1000).collect();
    let before = keys.clone();
    let mut payload = vec![0u32; keys.len()];
    let mut options = sortie_options { memory_limit: 1000, ..sortie_options::default() };
    // SAFETY: arrays of their own.
    let status = unsafe {
        let payload = payload.as_mut_ptr().cast();
        sortie_sort_pairs(U64, keys.as_mut_ptr().cast(), keys.len(), payload, 4, &options)
    };
    assert_eq!(status, sortie_status::Memory);
    assert!(message().contains("raise memory_limit"), "{}", message());
    assert!(keys == before);

    // 20,000 strings of 2 bytes: 16 bytes refer to each, and the sort takes 20 more.
    let (n, bytes) = (20_000, b"ba".repeat(20_000));
    let ends: Vec<i32> = (0..=n).map(|i| 2 * i).collect();
    let mut indices = vec![7u32; n as usize];
    let mut sort = |limit: u64| {
        options.memory_limit = limit;
        // SAFETY: arrays of their own.
        unsafe {
            let indices = indices.as_mut_ptr();
            sortie_argsort_strings32(
                ends.as_ptr(),
                bytes.as_ptr(),
                bytes.len(),
                n as usize,
                indices,
                &options,
            )
        }
    };
    for limit in [1, 16 * 20_000, 16 * 20_000 + 1000] {
        assert_eq!(sort(limit), sortie_status::Memory, "{limit}");
        assert!(message().contains("raise memory_limit"), "{}", message());
        assert!(message().contains(&limit.to_string()), "not the limit that was set: {}", message());
    }
    assert_eq!(sort(40 * 20_000), sortie_status::Ok, "{}", message());
    assert!(indices.into_iter().eq(0..20_000), "equal strings keep their order");
}

#[test]
fn a_gpu_that_is_not_there_is_an_error() {
    let mut keys = [3u64, 1, 2];
    let cuda = sortie_engine::Cuda as c_uint;
    let options = sortie_options { engine: cuda, device: 1_000_000, ..sortie_options::default() };
    // SAFETY: an array of its own.
    let status = unsafe { sortie_sort(U64, keys.as_mut_ptr().cast(), 3, &options) };
    // Which of them depends on whether the library was built with GPUs.
    assert!(matches!(status, sortie_status::Invalid | sortie_status::Device), "{status:?}");
    assert_ne!(message(), "");
    assert_eq!(keys, [3, 1, 2]);
}

#[cfg(not(feature = "gpu"))]
#[test]
fn gpus_cannot_be_enabled_in_a_library_without_them() {
    assert_eq!(sortie_enable_gpu(), sortie_status::Device);
    assert!(message().contains("build it with --features gpu"), "{}", message());
}
