//! Rows compare as their columns do and decode to them; any other bytes are refused or read as they would be
//! written.
#![no_main]

use std::cmp::Ordering;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use sortie::columns::{Cursor, push_bytes, push_number};
use sortie::{Nans, Nulls, Order, TotalOrder};

#[derive(Arbitrary, Debug)]
struct Input {
    columns: Vec<Column>,
    bytes: Vec<u8>,
}

#[derive(Arbitrary, Debug)]
struct Column {
    descending: bool,
    nans_first: bool,
    nulls_first: bool,
    cells: Cells,
}

/// The cells of two rows.
#[derive(Arbitrary, Debug)]
enum Cells {
    Bytes(Option<Vec<u8>>, Option<Vec<u8>>),
    U8(Option<u8>, Option<u8>),
    I64(Option<i64>, Option<i64>),
    U128(Option<u128>, Option<u128>),
    F32(Option<f32>, Option<f32>),
    F64(Option<f64>, Option<f64>),
    Bool(Option<bool>, Option<bool>),
}

impl Column {
    fn order(&self) -> Order {
        Order {
            descending: self.descending,
            nans: if self.nans_first { Nans::First } else { Nans::Last },
            nulls: if self.nulls_first { Nulls::First } else { Nulls::Last },
        }
    }
}

fuzz_target!(|input: Input| {
    let (mut row_a, mut row_b) = (Vec::new(), Vec::new());
    let mut expected = Ordering::Equal;
    for column in &input.columns {
        let order = column.order();
        let mut numbers = |ordering| expected = expected.then(ordering);
        macro_rules! push {
            ($a:ident, $b:ident) => {{
                push_number(&mut row_a, *$a, order);
                push_number(&mut row_b, *$b, order);
                numbers($a.compare($b, order));
            }};
        }
        match &column.cells {
            Cells::Bytes(a, b) => {
                push_bytes(&mut row_a, a.as_deref(), order);
                push_bytes(&mut row_b, b.as_deref(), order);
                numbers(a.compare(b, order));
            }
            Cells::U8(a, b) => push!(a, b),
            Cells::I64(a, b) => push!(a, b),
            Cells::U128(a, b) => push!(a, b),
            Cells::F32(a, b) => push!(a, b),
            Cells::F64(a, b) => push!(a, b),
            Cells::Bool(a, b) => push!(a, b),
        }
    }
    assert_eq!(row_a.cmp(&row_b), expected);

    let (mut row, mut foreign) = (Cursor::new(&row_a), Cursor::new(&input.bytes));
    for column in &input.columns {
        let order = column.order();
        macro_rules! pop {
            ($a:ident, $t:ty) => {{
                let back = row.pop_number::<$t>(order).unwrap();
                assert!(back.compare($a, order).is_eq());
                let _ = foreign.pop_number::<$t>(order);
            }};
        }
        match &column.cells {
            Cells::Bytes(a, _) => {
                assert_eq!(&row.pop_bytes(order).unwrap(), a);
                let mut whole = Cursor::new(&input.bytes);
                if let Ok(cell) = whole.pop_bytes(order) {
                    let mut again = Vec::new();
                    push_bytes(&mut again, cell.as_deref(), order);
                    assert!(input.bytes.starts_with(&again));
                }
                let _ = foreign.pop_bytes(order);
            }
            Cells::U8(a, _) => pop!(a, u8),
            Cells::I64(a, _) => pop!(a, i64),
            Cells::U128(a, _) => pop!(a, u128),
            Cells::F32(a, _) => pop!(a, f32),
            Cells::F64(a, _) => pop!(a, f64),
            Cells::Bool(a, _) => pop!(a, bool),
        }
    }
    assert!(row.is_empty());
});
