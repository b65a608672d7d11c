//! What the functions return: every type, option and function.

use std::ffi::c_uint;
use std::ptr;

use sortie_c::*;

use crate::support::message;

fn options(change: impl FnOnce(&mut sortie_options)) -> sortie_options {
    let mut options = sortie_options::default();
    change(&mut options);
    options
}

/// Sorts numbers, which must succeed.
fn sorted<T: Copy, const N: usize>(
    dtype: sortie_dtype,
    mut keys: [T; N],
    options: &sortie_options,
) -> [T; N] {
    // SAFETY: an array of its own.
    let status = unsafe { sortie_sort(dtype as c_uint, keys.as_mut_ptr().cast(), N, options) };
    assert_eq!(status, sortie_status::Ok, "{}", message());
    keys
}

#[test]
fn every_type_is_sorted_by_its_own_order() {
    use sortie_dtype::*;
    let plain = sortie_options::default();
    // The upper half of an unsigned number is what is negative in a signed one.
    assert_eq!(sorted(U8, [200u8, 1, 100], &plain), [1, 100, 200]);
    assert_eq!(sorted(U16, [40_000u16, 1, 256], &plain), [1, 256, 40_000]);
    assert_eq!(sorted(U32, [1u32 << 31, 1, 1 << 16], &plain), [1, 1 << 16, 1 << 31]);
    assert_eq!(sorted(U64, [1u64 << 63, 1, 1 << 32], &plain), [1, 1 << 32, 1 << 63]);
    assert_eq!(sorted(U128, [1u128 << 127, 1, 1 << 64], &plain), [1, 1 << 64, 1 << 127]);
    assert_eq!(sorted(I8, [1i8, -2, -1], &plain), [-2, -1, 1]);
    assert_eq!(sorted(I16, [256i16, -2, 1], &plain), [-2, 1, 256]);
    assert_eq!(sorted(I32, [1i32 << 16, -2, 1], &plain), [-2, 1, 1 << 16]);
    assert_eq!(sorted(I64, [1i64 << 32, -2, 1], &plain), [-2, 1, 1 << 32]);
    assert_eq!(sorted(I128, [1i128 << 64, -2, 1], &plain), [-2, 1, 1 << 64]);
    assert_eq!(sorted(F32, [1.5f32, -2.0, -1.0], &plain), [-2.0, -1.0, 1.5]);
    assert_eq!(sorted(F64, [1.5f64, -2.0, -1.0], &plain), [-2.0, -1.0, 1.5]);
    // 1, -2 and -1, and bits that are a NaN in one of the two types only.
    let first = options(|o| o.nans = sortie_nans::First as c_uint);
    assert_eq!(sorted(F16, [0x3C00u16, 0xC000, 0xBC00, 0x7E00], &first), [0x7E00, 0xC000, 0xBC00, 0x3C00]);
    assert_eq!(sorted(Bf16, [0x3F80u16, 0xC000, 0xBF80, 0x7E00], &first), [0xC000, 0xBF80, 0x3F80, 0x7E00]);
}

#[test]
fn options_choose_direction_and_the_place_of_nans() {
    let numbers = [1.0, f64::NAN, -1.0];
    let by = |options: &sortie_options| sorted(sortie_dtype::F64, numbers, options).map(|x| x.to_string());
    assert_eq!(by(&sortie_options::default()), ["-1", "1", "NaN"]);
    assert_eq!(by(&options(|o| o.descending = -1)), ["1", "-1", "NaN"]);
    for first in [sortie_nans::First, sortie_nans::EqualFirst] {
        assert_eq!(by(&options(|o| o.nans = first as c_uint)), ["NaN", "-1", "1"]);
    }
    assert_eq!(by(&options(|o| o.nans = sortie_nans::EqualLast as c_uint)), ["-1", "1", "NaN"]);
    assert_eq!(by(&options(|o| o.engine = sortie_engine::Cpu as c_uint)), ["-1", "1", "NaN"]);
    assert_eq!(by(&options(|o| o.unstable = 1)), ["-1", "1", "NaN"]);
}

#[test]
fn only_equal_nans_keep_their_order() {
    let nans = [f32::from_bits(0x7FC0_0002), f32::from_bits(0x7FC0_0001)];
    let indices = |nans_are: sortie_nans| {
        let (mut indices, options) = ([9u32; 2], options(|o| o.nans = nans_are as c_uint));
        // SAFETY: arrays of their own.
        let status = unsafe {
            let dtype = sortie_dtype::F32 as c_uint;
            sortie_argsort32(dtype, nans.as_ptr().cast(), 2, indices.as_mut_ptr(), &options)
        };
        assert_eq!(status, sortie_status::Ok, "{}", message());
        indices
    };
    assert_eq!(indices(sortie_nans::Last), [1, 0]);
    assert_eq!(indices(sortie_nans::EqualLast), [0, 1]);
    assert_eq!(indices(sortie_nans::First), [1, 0]);
    assert_eq!(indices(sortie_nans::EqualFirst), [0, 1]);
}

/// Enough for several threads, with many equal keys.
fn many() -> Vec<u32> {
    (0..300_000u32).map(|i| i.wrapping_mul(0x9E37_79B9) >> 12).collect()
}

/// The indices of `many` in stable order, found by the sort of the standard library.
fn order_of_many() -> Vec<u32> {
    let (keys, mut order) = (many(), (0..300_000).collect::<Vec<u32>>());
    order.sort_by_key(|&i| keys[i as usize]);
    order
}

#[test]
fn pairs_of_any_size_and_indices_of_both_widths_are_stable() {
    let (dtype, order) = (sortie_dtype::U32 as c_uint, order_of_many());
    let options = options(|o| o.threads = 2);
    // Payloads that move with their keys, and those that are moved by indices.
    for bytes in [1, 4, 7, 8, 16, 24] {
        let mut keys = many();
        let payload_of = |i: u32| (0..bytes).map(move |byte| (i.wrapping_mul(31) >> (byte % 3)) as u8);
        let mut payload: Vec<u8> = (0..300_000).flat_map(payload_of).collect();
        // SAFETY: arrays of their own.
        let status = unsafe {
            let payload = payload.as_mut_ptr().cast();
            sortie_sort_pairs(dtype, keys.as_mut_ptr().cast(), keys.len(), payload, bytes, &options)
        };
        assert_eq!(status, sortie_status::Ok, "{}", message());
        assert!(keys.is_sorted());
        assert!(payload.into_iter().eq(order.iter().flat_map(|&i| payload_of(i))), "{bytes} bytes");
    }
    let keys = many();
    let (mut narrow, mut wide) = (vec![0u32; keys.len()], vec![0u64; keys.len()]);
    // SAFETY: arrays of their own.
    let statuses = unsafe {
        let start = keys.as_ptr().cast();
        [
            sortie_argsort32(dtype, start, keys.len(), narrow.as_mut_ptr(), &options),
            sortie_argsort64(dtype, start, keys.len(), wide.as_mut_ptr(), &options),
        ]
    };
    assert_eq!(statuses, [sortie_status::Ok; 2], "{}", message());
    assert!(narrow == order);
    assert!(wide.into_iter().eq(order.into_iter().map(u64::from)));
}

#[test]
fn segments_of_one_length_and_between_offsets_are_sorted() {
    let (dtype, null) = (sortie_dtype::U32 as c_uint, ptr::null());
    let mut keys = many();
    // SAFETY: an array of its own.
    let status = unsafe { sortie_sort_segments(dtype, keys.as_mut_ptr().cast(), keys.len(), 1000, null) };
    assert_eq!(status, sortie_status::Ok, "{}", message());
    let mut expected = many();
    expected.chunks_mut(1000).for_each(<[u32]>::sort_unstable);
    assert!(keys == expected);

    let offsets = [5, 5, 40_000, 40_001, 299_990];
    let mut keys = many();
    // SAFETY: arrays of their own.
    let status = unsafe {
        let start = keys.as_mut_ptr().cast();
        sortie_sort_segments_by_offsets(dtype, start, keys.len(), offsets.as_ptr(), 4, null)
    };
    assert_eq!(status, sortie_status::Ok, "{}", message());
    let mut expected = many();
    offsets.windows(2).for_each(|pair| expected[pair[0]..pair[1]].sort_unstable());
    assert!(keys == expected);
}

#[test]
fn strings_are_sorted_by_their_bytes() {
    let strings = ["pear", "", "\u{e4}pfel", "apple", "pear", "app"];
    let bytes = strings.concat();
    // The strings begin within the bytes, as those of an Arrow array that was cut do.
    let bytes = format!("--{bytes}--");
    let mut ends = vec![2];
    strings.iter().for_each(|string| ends.push(ends.last().unwrap() + string.len() as i32));
    let wide_ends: Vec<i64> = ends.iter().map(|&end| end.into()).collect();
    let (mut narrow, mut wide) = ([9u32; 6], [9u64; 6]);
    let descending = options(|o| o.descending = 1);
    // SAFETY: arrays of their own.
    let statuses = unsafe {
        let (start, len) = (bytes.as_ptr(), bytes.len());
        [
            sortie_argsort_strings32(ends.as_ptr(), start, len, 6, narrow.as_mut_ptr(), ptr::null()),
            sortie_argsort_strings64(wide_ends.as_ptr(), start, len, 6, wide.as_mut_ptr(), &descending),
        ]
    };
    assert_eq!(statuses, [sortie_status::Ok; 2], "{}", message());
    assert_eq!(narrow, [1, 5, 3, 0, 4, 2]);
    assert_eq!(wide, [2, 0, 4, 3, 5, 1]);
}

#[test]
fn threads_of_other_options_do_not_stay_in_the_way() {
    for threads in [2, 3, 1, 0, 3] {
        let options = options(|o| o.threads = threads);
        let mut keys = many();
        // SAFETY: an array of its own.
        let status = unsafe {
            sortie_sort(sortie_dtype::U32 as c_uint, keys.as_mut_ptr().cast(), keys.len(), &options)
        };
        assert_eq!(status, sortie_status::Ok, "{}", message());
        assert!(keys.is_sorted());
    }
}
