//! The number types that files may have, and their NumPy names.

use std::fmt;

use crate::Error;

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

/// The byte order of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endian {
    Little,
    Big,
}

/// A number type as stored in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dtype {
    pub kind: Kind,
    /// Has no meaning for kinds of one byte, for which it is [`Endian::Little`].
    pub endian: Endian,
}

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

    fn names(self) -> (&'static str, &'static str) {
        NAMES.iter().find(|(kind, ..)| *kind == self).map_or(("", ""), |(_, numpy, rust)| (numpy, rust))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.names().1)
    }
}

impl Endian {
    /// The byte order of this machine.
    pub const NATIVE: Endian = if cfg!(target_endian = "big") { Endian::Big } else { Endian::Little };
}

impl Dtype {
    /// Parses a NumPy type name, such as `<f8`, `>i2` or `|b1`. Dates and times are without their unit.
    ///
    /// # Errors
    /// [`Error::Dtype`] for any other name.
    pub fn parse(name: &str) -> Result<Self, Error> {
        let unsupported = || Error::Dtype(describe(name));
        let (order, short) = name.split_at_checked(1).ok_or_else(unsupported)?;
        let (kind, ..) = *NAMES.iter().find(|(_, numpy, _)| *numpy == short).ok_or_else(unsupported)?;
        let endian = match order {
            "<" | ">" | "|" if kind.width() == 1 => Endian::Little,
            "<" => Endian::Little,
            ">" => Endian::Big,
            _ => return Err(unsupported()),
        };
        Ok(Dtype { kind, endian })
    }
}

impl fmt::Display for Dtype {
    /// Writes the NumPy name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = match self.endian {
            _ if self.kind.width() == 1 => '|',
            Endian::Little => '<',
            Endian::Big => '>',
        };
        write!(f, "{order}{}", self.kind.names().0)
    }
}

/// The quoted name of an unsupported dtype, with the meaning of its letter.
pub(crate) fn describe(name: &str) -> String {
    let meaning = match name.trim_start_matches(['<', '>', '|', '=']).chars().next() {
        Some('c') => " (complex)",
        Some('S' | 'a') => " (byte strings)",
        Some('U') => " (strings)",
        Some('O') => " (Python objects)",
        Some('V') => " (raw or structured data)",
        Some('M' | 'm') => " (dates or times in an unknown unit)",
        Some('f') => " (a wider float)",
        _ => "",
    };
    let shown: String = name.chars().take(40).flat_map(char::escape_debug).collect();
    format!("'{shown}'{meaning}")
}
