//! The value of `-k`.

use std::convert::Infallible;
use std::ops::Range;
use std::str::FromStr;

use sortie_files::formats::text::KeySpec;

/// The value of `-k`: the position of a key in lines, or the bytes of a key in records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPlace {
    Line(KeySpec),
    Bytes(Range<usize>),
    /// Neither of the two, and why it is not a key of lines. Other options decide which of them was meant.
    Wrong {
        text: String,
        why: String,
    },
}

/// The syntax of a key of records.
pub const BYTE_KEY: &str =
    "a key of records is A..B, such as 0..10: from byte A, counted from 0, up to but not including byte B";

impl FromStr for KeyPlace {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<KeyPlace, Infallible> {
        let wrong = |why| KeyPlace::Wrong { text: text.to_owned(), why };
        let Some((start, end)) = text.split_once("..") else {
            return Ok(text.parse().map_or_else(wrong, KeyPlace::Line));
        };
        match (start.parse(), end.parse()) {
            (Ok(start), Ok(end)) if start < end => Ok(KeyPlace::Bytes(start..end)),
            _ => Ok(wrong(BYTE_KEY.into())),
        }
    }
}
