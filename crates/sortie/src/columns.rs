//! Encodes several columns as one key: rows of bytes that compare (with `memcmp`) as the columns do from left to right,
//! each with an [`Order`] of its own.
//!
//! ```
//! use sortie::columns::{Column, Cursor, encode};
//! use sortie::Order;
//!
//! let down = Order { descending: true, ..Order::default() };
//! let (cities, people) = (["Bonn", "Bern", "Bern"], [Some(3), None, Some(5)]);
//! let rows = encode(&[Column::new(&cities, Order::default()), Column::new(&people, down)]).unwrap();
//! assert_eq!(sortie::argsort(&rows.strings()), [2, 1, 0]);
//!
//! let mut cells = Cursor::new(rows.strings()[2]);
//! assert_eq!(cells.pop_bytes(Order::default()), Ok(Some(b"Bern".to_vec())));
//! assert_eq!(cells.pop_number::<i32>(down), Ok(Some(5)));
//! assert!(cells.is_empty());
//! ```
//!
//! # Encoding
//!
//! A cell starts with a tag: 0 for a null that sorts first, 1 for a value, 2 for a null that sorts last. A number
//! follows as its order-preserving code, big-endian, in as many bytes as its type has. A string follows with byte 0
//! written as 1 1 and byte 1 as 1 2, and ends with a 0. If a string descends, all of its bytes are complemented. So the
//! end of a cell can be recognised, and no encoded cell is a prefix of another in its column.

use std::fmt;

use crate::Error;
use crate::key::{Bits, Nulls, Order, Transform};

pub use crate::key::Number;

const NULL_FIRST: u8 = 0;
const VALUE: u8 = 1;
const NULL_LAST: u8 = 2;

/// Ends a string.
const END: u8 = 0;
/// Written before `END + 1` for the byte [`END`], and before `ESCAPE + 1` for the byte itself.
const ESCAPE: u8 = 1;

/// Appends the cell of a string to a row: a byte that distinguishes nulls from values; for a value its bytes, where
/// each 0 and 1 takes two bytes, and one more byte. O(bytes). Allocates if the row has no room.
///
/// ```
/// use sortie::{Order, columns};
/// let (mut short, mut long) = (Vec::new(), Vec::new());
/// columns::push_bytes(&mut short, Some(b"a"), Order::default());
/// columns::push_bytes(&mut long, Some(b"ab"), Order::default());
/// assert!(short < long);
/// ```
pub fn push_bytes(row: &mut Vec<u8>, cell: Option<&[u8]>, order: Order) {
    let Some(mut rest) = cell else { return push_null(row, order) };
    row.push(VALUE);
    let start = row.len();
    while let Some(at) = memchr::memchr2(END, ESCAPE, rest) {
        row.extend_from_slice(&rest[..at]);
        row.extend_from_slice(&[ESCAPE, rest[at] + 1]);
        rest = &rest[at + 1..];
    }
    row.extend_from_slice(rest);
    row.push(END);
    if order.descending {
        complement(&mut row[start..]);
    }
}

/// Appends the cell of a number to a row: a byte that distinguishes nulls from values, and the bytes of the number.
/// Allocates if the row has no room.
///
/// ```
/// use sortie::{Order, columns};
/// let (mut below, mut above) = (Vec::new(), Vec::new());
/// columns::push_number(&mut below, Some(-1i32), Order::default());
/// columns::push_number(&mut above, Some(1i32), Order::default());
/// assert!(below < above && below.len() == 5);
/// ```
pub fn push_number<K: Number>(row: &mut Vec<u8>, cell: Option<K>, order: Order) {
    let Some(number) = cell else { return push_null(row, order) };
    row.push(VALUE);
    Transform::new(K::CODE, order).encode(number.to_bits()).push_be(row);
}

fn push_null(row: &mut Vec<u8>, order: Order) {
    row.push(if order.nulls == Nulls::First { NULL_FIRST } else { NULL_LAST });
}

fn complement(bytes: &mut [u8]) {
    bytes.iter_mut().for_each(|b| *b = !*b);
}

/// Reads the cells of a row, from left to right, each with the type and order with which it was pushed.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    row: &'a [u8],
    at: usize,
}

/// Why a cell cannot be read. The [`Cursor`] stays before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellError {
    /// Where the cell starts.
    pub at: usize,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl fmt::Display for CellError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CellError { at, problem } = self;
        write!(
            f,
            "the cell at byte {at} of the row {problem}; read each column with the type and order it was written with"
        )
    }
}

impl std::error::Error for CellError {}

impl<'a> Cursor<'a> {
    /// A cursor before the first cell of a row.
    #[must_use]
    pub fn new(row: &'a [u8]) -> Self {
        Cursor { row, at: 0 }
    }

    /// Whether all cells are read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.at == self.row.len()
    }

    /// Reads a string's cell. Allocates the string.
    ///
    /// # Errors
    /// If the row ends within the cell, or the cell is not that of a string.
    pub fn pop_bytes(&mut self, order: Order) -> Result<Option<Vec<u8>>, CellError> {
        let Some(body) = self.value(order)? else { return Ok(None) };
        let direct = |byte: u8| if order.descending { !byte } else { byte };
        let Some(length) = memchr::memchr(direct(END), body) else {
            return Err(self.error("is cut off: a string without its end"));
        };
        let mut string = Vec::with_capacity(length);
        let mut rest = &body[..length];
        while let Some(at) = memchr::memchr(direct(ESCAPE), rest) {
            string.extend_from_slice(&rest[..at]);
            let escaped = rest.get(at + 1).map(|&byte| direct(byte).wrapping_sub(1));
            let Some(byte @ (END | ESCAPE)) = escaped else {
                return Err(self.error("is not a string: it has an unknown escape"));
            };
            string.push(direct(byte));
            rest = &rest[at + 2..];
        }
        string.extend_from_slice(rest);
        if order.descending {
            complement(&mut string);
        }
        self.at += 1 + length + 1;
        Ok(Some(string))
    }

    /// Reads a number's cell. Allocates nothing.
    ///
    /// # Errors
    /// If the row ends within the cell, or the cell is not that of such a number.
    pub fn pop_number<K: Number>(&mut self, order: Order) -> Result<Option<K>, CellError> {
        let Some(body) = self.value(order)? else { return Ok(None) };
        let Some(code) = K::Bits::read_be(body) else {
            return Err(self.error("is cut off: a number without all its bytes"));
        };
        let Some(number) = K::from_bits(Transform::new(K::CODE, order).decode(code)) else {
            return Err(self.error("is not of this type"));
        };
        self.at += 1 + size_of::<K>();
        Ok(Some(number))
    }

    /// The bytes after the tag of a value. `None` for a null, which is skipped.
    fn value(&mut self, order: Order) -> Result<Option<&'a [u8]>, CellError> {
        match (self.row.get(self.at), order.nulls) {
            (Some(&VALUE), _) => Ok(Some(&self.row[self.at + 1..])),
            (Some(&NULL_FIRST), Nulls::First) | (Some(&NULL_LAST), Nulls::Last) => {
                self.at += 1;
                Ok(None)
            }
            (Some(_), _) => Err(self.error("has an unknown tag")),
            (None, _) => Err(self.error("is missing: the row ends before it")),
        }
    }

    fn error(&self, problem: &'static str) -> CellError {
        CellError { at: self.at, problem }
    }
}

/// A cell of a column: a [`Number`], a string (`&str`, `String`, `&[u8]`, `Vec<u8>`), or an `Option` of one, whose `None` is a
/// null.
pub trait Cell: Sync {
    /// Appends the cell to a row.
    fn push_cell(&self, row: &mut Vec<u8>, order: Order);
}

impl<K: Number> Cell for K {
    fn push_cell(&self, row: &mut Vec<u8>, order: Order) {
        push_number(row, Some(*self), order);
    }
}

macro_rules! strings {
    ($($t:ty),*) => {$(
        impl Cell for $t {
            fn push_cell(&self, row: &mut Vec<u8>, order: Order) {
                push_bytes(row, Some(self.as_ref()), order);
            }
        }
    )*};
}
strings!(&str, String, &[u8], Vec<u8>);

impl<C: Cell> Cell for Option<C> {
    fn push_cell(&self, row: &mut Vec<u8>, order: Order) {
        match self {
            Some(cell) => cell.push_cell(row, order),
            None => push_null(row, order),
        }
    }
}

/// A column to [`encode`]: its cells and their order.
pub struct Column<'a> {
    rows: usize,
    push: Box<PushCell<'a>>,
}

/// Appends the cell of one row.
type PushCell<'a> = dyn Fn(usize, &mut Vec<u8>) + 'a;

impl<'a> Column<'a> {
    /// The column of these cells, which are borrowed and not read yet. Allocates at most 32 bytes.
    #[must_use]
    pub fn new<C: Cell>(cells: &'a [C], order: Order) -> Self {
        Column { rows: cells.len(), push: Box::new(move |i, row| cells[i].push_cell(row, order)) }
    }
}

/// Encoded rows, in the layout of [`sort_string_array`](crate::sort_string_array): row `i` is
/// `bytes[offsets[i]..offsets[i + 1]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    /// One more than there are rows.
    pub offsets: Vec<usize>,
    /// The rows, one after the other.
    pub bytes: Vec<u8>,
}

impl Rows {
    /// The rows as keys, for [`argsort`](crate::argsort) and similar functions. Allocates 16 bytes per row.
    ///
    /// # Panics
    /// If the offsets, which are public, do not fit the bytes.
    #[must_use]
    pub fn strings(&self) -> Vec<&[u8]> {
        self.offsets.windows(2).map(|pair| &self.bytes[pair[0]..pair[1]]).collect()
    }
}

/// Encodes the rows of a table, whose columns are given with the most significant one first. O(bytes), on the caller's thread.
///
/// Allocates the result: 8 bytes per row, and the encoded bytes in a `Vec` that grows, so up to twice as many. A cell has 1
/// byte. A value also has the bytes of its number, or those of its string, 1 more, and 1 more for each byte of 0 or 1.
///
/// # Errors
/// [`Error::LengthMismatch`] if a column is longer or shorter than the first.
pub fn encode(columns: &[Column<'_>]) -> Result<Rows, Error> {
    let expected = columns.first().map_or(0, |column| column.rows);
    if let Some(other) = columns.iter().find(|column| column.rows != expected) {
        return Err(Error::LengthMismatch { what: "a column", expected, found: other.rows });
    }
    let mut rows = Rows { offsets: Vec::with_capacity(expected + 1), bytes: Vec::new() };
    rows.offsets.push(0);
    for i in 0..expected {
        columns.iter().for_each(|column| (column.push)(i, &mut rows.bytes));
        rows.offsets.push(rows.bytes.len());
    }
    Ok(rows)
}
