//! Keys of every kind: prefixes never contradict the order, and a sort follows it.
#![no_main]

use std::cmp::Ordering;
use std::fmt::Debug;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use sortie::{Key, Nans, Nulls, Order, Sorter};

#[derive(Arbitrary, Debug)]
struct Input {
    descending: bool,
    nans_first: bool,
    nulls_first: bool,
    keys: Keys,
}

#[derive(Arbitrary, Debug)]
enum Keys {
    U8(Vec<u8>),
    I16(Vec<i16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    I128(Vec<i128>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Optional(Vec<Option<f32>>),
    Tuple(Vec<(u16, Option<bool>, String)>),
    Bytes(Vec<[u8; 5]>),
    Strings(Vec<Vec<u8>>),
}

fuzz_target!(|input: Input| {
    let order = Order {
        descending: input.descending,
        nans: if input.nans_first { Nans::First } else { Nans::Last },
        nulls: if input.nulls_first { Nulls::First } else { Nulls::Last },
    };
    match input.keys {
        Keys::U8(keys) => check(keys, order),
        Keys::I16(keys) => check(keys, order),
        Keys::U32(keys) => check(keys, order),
        Keys::U64(keys) => check(keys, order),
        Keys::I128(keys) => check(keys, order),
        Keys::F32(keys) => check(keys, order),
        Keys::F64(keys) => check(keys, order),
        Keys::Optional(keys) => check(keys, order),
        Keys::Tuple(keys) => check(keys, order),
        Keys::Bytes(keys) => check(keys, order),
        Keys::Strings(keys) => check(keys, order),
    }
});

fn check<K: Key + Clone + Debug>(keys: Vec<K>, order: Order) {
    for pair in keys.windows(2) {
        let (ordering, reverse) = (pair[0].compare(&pair[1], order), pair[1].compare(&pair[0], order));
        assert_eq!(ordering, reverse.reverse());
        let prefixes = pair[0].prefix(order).cmp(&pair[1].prefix(order));
        assert!(prefixes == Ordering::Equal || prefixes == ordering, "{pair:?}");
    }
    let mut expected: Vec<usize> = (0..keys.len()).collect();
    expected.sort_by(|&a, &b| keys[a].compare(&keys[b], order));

    let choices =
        Sorter::builder().threads(1).descending(order.descending).nans(order.nans).nulls(order.nulls);
    let sorter = choices.build().unwrap();
    let (mut sorted, mut places) = (keys.clone(), vec![0u32; keys.len()]);
    sorter.sort(&mut sorted).unwrap();
    sorter.argsort(&keys, &mut places).unwrap();
    assert!(places.iter().map(|&place| place as usize).eq(expected.iter().copied()));
    for (key, &place) in sorted.iter().zip(&expected) {
        assert!(key.compare(&keys[place], order).is_eq());
    }
}
