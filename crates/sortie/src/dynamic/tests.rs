use std::collections::BTreeSet;

use bytemuck::{bytes_of_mut, cast_slice, cast_slice_mut};

use half::{bf16, f16};

use super::*;
use crate::key::Number;
use crate::rates::random;
use crate::{Nans, TotalOrder, argsort as static_argsort};

const ALL: [Dtype; 15] = [
    Dtype::Bool,
    Dtype::U8,
    Dtype::U16,
    Dtype::U32,
    Dtype::U64,
    Dtype::U128,
    Dtype::I8,
    Dtype::I16,
    Dtype::I32,
    Dtype::I64,
    Dtype::I128,
    Dtype::F16,
    Dtype::Bf16,
    Dtype::F32,
    Dtype::F64,
];

fn sorter() -> Sorter {
    Sorter::builder().threads(1).build().unwrap()
}

/// Random bits, aligned for every type.
fn bits() -> Vec<u128> {
    random::<u128>(300)
}

#[test]
fn every_type_is_sorted_as_its_slice_is() {
    for dtype in ALL {
        let unsorted = bits();
        let bytes: &[u8] = cast_slice(&unsorted);
        with_key!(dtype, K => {
            assert_eq!(dtype.layout(), (size_of::<K>(), K::CODE), "{dtype:?}");
            let keys: &[K] = cast_slice(bytes);
            let mut expected = keys.to_vec();
            crate::sort(&mut expected);
            let mut sorted = unsorted.clone();
            sort(&sorter(), dtype, cast_slice_mut(&mut sorted)).unwrap();
            assert_eq!(cast_slice::<_, u8>(&sorted), cast_slice::<_, u8>(&expected), "{dtype:?}");

            let mut indices = vec![0usize; keys.len()];
            argsort(&sorter(), dtype, bytes, &mut indices).unwrap();
            assert_eq!(indices, static_argsort(keys), "{dtype:?}");

            let k = keys.len() / 4;
            let mut first = vec![0usize; k];
            arg_top_k(&sorter(), dtype, bytes, &mut first).unwrap();
            assert_eq!(first, indices[..k], "{dtype:?}");
            arg_top_k_unsorted(&sorter(), dtype, bytes, &mut first).unwrap();
            assert_eq!(BTreeSet::from_iter(&first), BTreeSet::from_iter(&indices[..k]), "{dtype:?}");
            let mut top = vec![0u128; unsorted.len() / 4];
            top_k(&sorter(), dtype, bytes, cast_slice_mut(&mut top)).unwrap();
            assert_eq!(top, sorted[..top.len()], "{dtype:?}");
            top_k_unsorted(&sorter(), dtype, bytes, cast_slice_mut(&mut top)).unwrap();
            sort(&sorter(), dtype, cast_slice_mut(&mut top)).unwrap();
            assert_eq!(top, sorted[..top.len()], "{dtype:?}");

            let wanted = [k, 0, keys.len() - 1];
            let mut found = [0usize; 3];
            arg_nth(&sorter(), dtype, bytes, &wanted, &mut found).unwrap();
            assert_eq!(found, wanted.map(|index| indices[index]), "{dtype:?}");
            let mut nth_keys = [keys[0]; 3];
            nth(&sorter(), dtype, bytes, &wanted, bytemuck::cast_slice_mut(&mut nth_keys)).unwrap();
            let sorted_keys: &[K] = cast_slice(&sorted);
            assert_eq!(cast_slice::<_, u8>(&nth_keys), cast_slice::<_, u8>(&wanted.map(|index| sorted_keys[index])));
            let mut parted = unsorted.clone();
            partition(&sorter(), dtype, cast_slice_mut(&mut parted), &wanted).unwrap();
            let parted_keys: &[K] = cast_slice(&parted);
            assert_eq!(parted_keys[k].to_bits(), sorted_keys[k].to_bits(), "{dtype:?}");
            let mut positions = [0u32; 3];
            let queries = cast_slice(&nth_keys);
            search_sorted(&sorter(), dtype, cast_slice(&sorted), queries, Side::Left, &mut positions).unwrap();
            assert_eq!(positions.to_vec(), crate::search_sorted(sorted_keys, &nth_keys, Side::Left, Order::default()).iter().map(|&x| x as u32).collect::<Vec<_>>());
            let (mut values, mut others) = ([0.0; 2], [0.0; 2]);
            quantiles(&sorter(), dtype, bytes, &[0.3, 0.5], QuantileMethod::Lower, &mut values).unwrap();
            quantiles_of_numbers_only(&sorter(), dtype, bytes, &[0.3, 0.5], QuantileMethod::Lower, &mut others).unwrap();
            let expected = crate::quantiles(keys, &[0.3, 0.5], QuantileMethod::Lower);
            assert_eq!(values.map(f64::to_bits), *expected.into_iter().map(f64::to_bits).collect::<Vec<_>>());
            assert!(others.iter().all(|value| !value.is_nan()), "{dtype:?}");

            let (mut moved, mut numbers) = (unsorted.clone(), Vec::from_iter(0..keys.len() as u64));
            sort_pairs(&sorter(), dtype, cast_slice_mut(&mut moved), 8, cast_slice_mut(&mut numbers)).unwrap();
            assert_eq!(moved, sorted, "{dtype:?}");
            assert!(numbers.iter().map(|&number| number as usize).eq(indices.iter().copied()), "{dtype:?}");

            // Payloads of a size that no type has.
            moved.copy_from_slice(&unsorted);
            let mut rows: Vec<u8> = (0..keys.len() as u64).flat_map(|i| (i << 8 | 7).to_le_bytes()[..5].to_vec()).collect();
            sort_pairs(&sorter(), dtype, cast_slice_mut(&mut moved), 5, &mut rows).unwrap();
            assert_eq!(moved, sorted, "{dtype:?}");
            let found = rows.chunks(5).map(|row| u32::from_le_bytes(row[1..].try_into().unwrap()) as usize);
            assert!(found.eq(indices.iter().copied()) && rows.iter().step_by(5).all(|&byte| byte == 7), "{dtype:?}");

            let segments = Segments::Length(keys.len() / 3);
            let (mut alone, mut carried) = (unsorted.clone(), unsorted.clone());
            sort_segments(&sorter(), dtype, cast_slice_mut(&mut alone), segments).unwrap();
            let mut payload = vec![[0u8; 16]; keys.len()];
            sort_pairs_segments(
                &sorter(), dtype, cast_slice_mut(&mut carried), 16, payload.as_flattened_mut(), segments,
            )
            .unwrap();
            let mut expected = keys.to_vec();
            crate::sort_segments(&mut expected, segments);
            assert_eq!(cast_slice::<_, u8>(&alone), cast_slice::<_, u8>(&expected), "{dtype:?}");
            assert_eq!(carried, alone, "{dtype:?}");
            let mut found = vec![0usize; keys.len()];
            argsort_segments(&sorter(), dtype, bytes, &mut found, segments).unwrap();
            assert_eq!(found, crate::argsort_segments(keys, segments), "{dtype:?}");
            let each = keys.len() / 3;
            assert!(found.chunks(each).zip(keys.chunks(each)).all(|(found, keys)| found == static_argsort(keys)), "{dtype:?}");
        });
    }
}

#[test]
fn comparisons_and_codes_are_those_of_the_types() {
    let orders = [false, true].into_iter().flat_map(|descending| {
        [Nans::Last, Nans::First, Nans::EqualLast, Nans::EqualFirst].map(|nans| Order {
            descending,
            nans,
            ..Order::default()
        })
    });
    for (dtype, order) in ALL.into_iter().flat_map(|dtype| orders.clone().map(move |order| (dtype, order))) {
        let bits = bits();
        let bytes: &[u8] = cast_slice(&bits);
        let width = dtype.width();
        let mut numbers = vec![0; bytes.len() / width];
        let coded = codes(dtype, bytes, order, &mut numbers);
        assert_eq!(coded.is_ok(), width <= 8, "{dtype:?}");
        with_key!(dtype, K => {
            let keys: &[K] = cast_slice(bytes);
            for (i, pair) in keys.windows(2).enumerate() {
                let expected = pair[0].compare(&pair[1], order);
                assert_eq!(compare(dtype, &bytes[i * width..], &bytes[(i + 1) * width..], order), expected);
                if width <= 8 {
                    assert_eq!(numbers[i].cmp(&numbers[i + 1]), expected, "{dtype:?}, {order:?}");
                }
            }
        });
    }
}

#[test]
fn bytes_that_are_no_keys_are_refused_and_stay() {
    let mut bits = [3u64, 1];
    let before = bits;
    let bytes = bytes_of_mut(&mut bits);
    let said = |error: Error| error.to_string();
    let slop = said(sort(&sorter(), Dtype::U32, &mut bytes[..7]).unwrap_err());
    assert_eq!(slop, "keys of 7 bytes are not a whole number of elements of 4 bytes; give a multiple of 4");
    let crooked = said(sort(&sorter(), Dtype::U32, &mut bytes[1..9]).unwrap_err());
    assert!(crooked.contains("are not aligned to 4 bytes; copy them to memory that is"), "{crooked}");
    let short = argsort(&sorter(), Dtype::U32, bytes, &mut [0u32; 3]).unwrap_err();
    assert!(matches!(short, Error::LengthMismatch { expected: 4, found: 3, .. }), "{short}");
    let odd = sort_pairs(&sorter(), Dtype::U64, bytes, 5, &mut [0; 9]).unwrap_err();
    assert!(matches!(odd, Error::LengthMismatch { expected: 10, found: 9, .. }), "{odd}");
    let limited = Sorter::builder().threads(1).memory_limit(15).build().unwrap();
    let refused = sort_pairs(&limited, Dtype::U64, bytes, 5, &mut [0; 10]).unwrap_err();
    assert!(matches!(refused, Error::Memory { needed: 16, available: 15, .. }), "{refused}");
    assert_eq!(bits, before);
}
