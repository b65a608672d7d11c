//! Rows compare as their columns do, and decode to what was encoded.

use std::cmp::Ordering;

use proptest::prelude::*;
use sortie::columns::{Column, Cursor, Number, encode, push_bytes, push_number};
use sortie::{Error, Nans, Nulls, Order, TotalOrder};

fn orders() -> impl Strategy<Value = Order> {
    (any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(descending, nan_first, null_first)| Order {
        descending,
        nans: if nan_first { Nans::First } else { Nans::Last },
        nulls: if null_first { Nulls::First } else { Nulls::Last },
    })
}

/// Strings that often contain bytes which are escaped.
fn strings() -> impl Strategy<Value = Option<Vec<u8>>> {
    let byte = prop_oneof![Just(0u8), Just(1), Just(2), Just(0xfe), Just(0xff), any::<u8>()];
    proptest::option::of(proptest::collection::vec(byte, 0..6))
}

fn string_row(cell: &Option<Vec<u8>>, order: Order) -> Vec<u8> {
    let mut row = Vec::new();
    push_bytes(&mut row, cell.as_deref(), order);
    row
}

fn number_row<K: Number>(cell: Option<K>, order: Order) -> Vec<u8> {
    let mut row = Vec::new();
    push_number(&mut row, cell, order);
    row
}

/// Every truncated row is refused, and the cursor does not move.
fn truncated_is_refused<T>(row: &[u8], pop: impl Fn(&mut Cursor) -> Result<T, sortie::columns::CellError>) {
    for end in 0..row.len() {
        let mut cursor = Cursor::new(&row[..end]);
        assert!(pop(&mut cursor).is_err(), "{:?}", &row[..end]);
        assert_eq!(cursor.is_empty(), end == 0);
    }
}

fn number_round_trip<K: Number + PartialEq + std::fmt::Debug>(a: Option<K>, b: Option<K>, order: Order) {
    let (row_a, row_b) = (number_row(a, order), number_row(b, order));
    assert_eq!(row_a.cmp(&row_b), a.compare(&b, order), "{a:?} {b:?} {order:?}");
    let mut cursor = Cursor::new(&row_a);
    let back = cursor.pop_number::<K>(order).unwrap();
    assert_eq!(back.compare(&a, order), Ordering::Equal, "{back:?} {a:?}");
    assert!(cursor.is_empty());
    truncated_is_refused(&row_a, |cursor| cursor.pop_number::<K>(order));
}

macro_rules! numbers {
    ($($name:ident: $strategy:expr;)*) => {
        proptest! {$(
            #[test]
            fn $name(a in proptest::option::of($strategy), b in proptest::option::of($strategy), order in orders()) {
                number_round_trip(a, b, order);
            }
        )*}
    };
}
numbers! {
    numbers_u8: any::<u8>();
    numbers_u16: any::<u16>();
    numbers_u32: any::<u32>();
    numbers_u64: any::<u64>();
    numbers_u128: any::<u128>();
    numbers_usize: any::<usize>();
    numbers_i8: any::<i8>();
    numbers_i16: any::<i16>();
    numbers_i32: any::<i32>();
    numbers_i64: any::<i64>();
    numbers_i128: any::<i128>();
    numbers_isize: any::<isize>();
    numbers_bool: any::<bool>();
    numbers_f16: any::<u16>().prop_map(half::f16::from_bits);
    numbers_bf16: any::<u16>().prop_map(half::bf16::from_bits);
    numbers_f32: any::<u32>().prop_map(f32::from_bits);
    numbers_f64: any::<u64>().prop_map(f64::from_bits);
}

proptest! {
    #[test]
    fn strings_round_trip(a in strings(), b in strings(), order in orders()) {
        let (row_a, row_b) = (string_row(&a, order), string_row(&b, order));
        prop_assert_eq!(row_a.cmp(&row_b), a.compare(&b, order));
        prop_assert!(a == b || !row_b.starts_with(&row_a));
        let mut cursor = Cursor::new(&row_a);
        prop_assert_eq!(cursor.pop_bytes(order).unwrap(), a);
        prop_assert!(cursor.is_empty());
        truncated_is_refused(&row_a, |cursor| cursor.pop_bytes(order));
    }

    /// A table of strings, numbers and strings again, each column with its own order.
    #[test]
    fn tables_sort_as_their_columns(
        table in proptest::collection::vec((strings(), proptest::option::of(-2i16..3), strings()), 0..40),
        (a, b, c) in (orders(), orders(), orders()),
    ) {
        let first: Vec<_> = table.iter().map(|row| row.0.clone()).collect();
        let second: Vec<_> = table.iter().map(|row| row.1).collect();
        let third: Vec<_> = table.iter().map(|row| row.2.clone()).collect();
        let rows = encode(&[Column::new(&first, a), Column::new(&second, b), Column::new(&third, c)]).unwrap();

        let mut expected: Vec<usize> = (0..table.len()).collect();
        expected.sort_by(|&i, &j| {
            first[i].compare(&first[j], a)
                .then(second[i].compare(&second[j], b))
                .then(third[i].compare(&third[j], c))
        });
        prop_assert_eq!(sortie::argsort(&rows.strings()), &expected[..]);

        let (mut offsets, mut bytes) = (rows.offsets.clone(), rows.bytes.clone());
        sortie::sort_string_array(&mut offsets, &mut bytes);
        for (i, &index) in expected.iter().enumerate() {
            let mut cursor = Cursor::new(&bytes[offsets[i]..offsets[i + 1]]);
            prop_assert_eq!(&cursor.pop_bytes(a).unwrap(), &first[index]);
            prop_assert_eq!(cursor.pop_number::<i16>(b).unwrap(), second[index]);
            prop_assert_eq!(&cursor.pop_bytes(c).unwrap(), &third[index]);
            prop_assert!(cursor.is_empty());
        }
    }

    /// Any bytes are either read or refused; a value that was read encodes to the same bytes.
    #[test]
    fn what_decodes_is_canonical(row in proptest::collection::vec(prop_oneof![0u8..3, 253u8..], 0..12), order in orders()) {
        let mut cursor = Cursor::new(&row);
        if let Ok(cell) = cursor.pop_bytes(order) {
            prop_assert!(row.starts_with(&string_row(&cell, order)));
        }
        let mut cursor = Cursor::new(&row);
        if let Ok(cell) = cursor.pop_number::<bool>(order) {
            prop_assert!(row.starts_with(&number_row(cell, order)));
        }
    }
}

#[test]
fn the_encoding_is_as_documented() {
    let up = Order::default();
    let down = Order { descending: true, nulls: Nulls::First, ..up };
    let mut row = Vec::new();
    push_bytes(&mut row, Some(b"a\0b\x01"), up);
    assert_eq!(row, [1, b'a', 1, 1, b'b', 1, 2, 0]);
    assert_eq!(string_row(&Some(b"a\0".to_vec()), down), [1, !b'a', !1, !1, 0xff]);
    assert_eq!(string_row(&None, up), [2]);
    assert_eq!(string_row(&None, down), [0]);
    assert_eq!(number_row(Some(0x0102u16), up), [1, 1, 2]);
    assert_eq!(number_row(Some(-1i8), up), [1, 0x7f]);
}

#[test]
fn errors_say_where_and_what() {
    let mut row = string_row(&Some(b"ab".to_vec()), Order::default());
    row.extend([1, 0]);
    let mut cursor = Cursor::new(&row);
    cursor.pop_bytes(Order::default()).unwrap();
    let error = cursor.pop_number::<u32>(Order::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the cell at byte 4 of the row is cut off: a number without all its bytes; \
         read each column with the type and order it was written with"
    );
    assert!(Cursor::new(&[1, 7]).pop_number::<bool>(Order::default()).is_err());
    assert!(Cursor::new(&[3]).pop_bytes(Order::default()).is_err());

    let error = encode(&[Column::new(&[1, 2], Order::default()), Column::new(&["a"], Order::default())]);
    assert_eq!(error, Err(Error::LengthMismatch { what: "a column", expected: 2, found: 1 }));
    assert_eq!(encode(&[]).unwrap().strings(), Vec::<&[u8]>::new());
}
