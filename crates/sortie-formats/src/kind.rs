//! [`Kind`]: the number types that files may have.

use std::fmt;

/// A type of number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Bool,
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F16,
    F32,
    F64,
    /// NumPy's `datetime64`: a signed integer, of which the least is NaT, "not a time".
    DateTime,
    /// NumPy's `timedelta64`, which is stored in the same way.
    TimeDelta,
}

/// The types, and their names in NumPy and in Rust.
const NAMES: [(Kind, &str, &str); 14] = [
    (Kind::Bool, "b1", "bool"),
    (Kind::U8, "u1", "u8"),
    (Kind::U16, "u2", "u16"),
    (Kind::U32, "u4", "u32"),
    (Kind::U64, "u8", "u64"),
    (Kind::I8, "i1", "i8"),
    (Kind::I16, "i2", "i16"),
    (Kind::I32, "i4", "i32"),
    (Kind::I64, "i8", "i64"),
    (Kind::F16, "f2", "f16"),
    (Kind::F32, "f4", "f32"),
    (Kind::F64, "f8", "f64"),
    (Kind::DateTime, "M8", "datetime64"),
    (Kind::TimeDelta, "m8", "timedelta64"),
];

impl Kind {
    /// The number of bytes of an element.
    #[must_use]
    pub fn width(self) -> usize {
        match self {
            Kind::Bool | Kind::U8 | Kind::I8 => 1,
            Kind::U16 | Kind::I16 | Kind::F16 => 2,
            Kind::U32 | Kind::I32 | Kind::F32 => 4,
            Kind::U64 | Kind::I64 | Kind::F64 | Kind::DateTime | Kind::TimeDelta => 8,
        }
    }

    /// Whether elements are dates or times.
    #[must_use]
    pub fn is_time(self) -> bool {
        matches!(self, Kind::DateTime | Kind::TimeDelta)
    }

    /// The type with this name in NumPy, which is without the byte order.
    pub(crate) fn of_numpy(name: &str) -> Option<Kind> {
        NAMES.iter().find(|(_, numpy, _)| *numpy == name).map(|(kind, ..)| *kind)
    }

    /// Its names in NumPy and in Rust.
    pub(crate) fn names(self) -> (&'static str, &'static str) {
        NAMES.iter().find(|(kind, ..)| *kind == self).map_or(("", ""), |(_, numpy, rust)| (numpy, rust))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.names().1)
    }
}
