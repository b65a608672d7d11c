//! [`Dtype`]: a number type as stored in a file, and its NumPy name.

use std::fmt;

use crate::{Error, Kind};

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
        let kind = Kind::of_numpy(short).ok_or_else(unsupported)?;
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
