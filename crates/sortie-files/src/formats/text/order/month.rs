//! `-M`: names of months.

use crate::formats::text::blank;
use crate::formats::text::locale::Months;

const MONTHS: [&[u8; 3]; 12] =
    [b"JAN", b"FEB", b"MAR", b"APR", b"MAY", b"JUN", b"JUL", b"AUG", b"SEP", b"OCT", b"NOV", b"DEC"];

/// 1 to 12 for a key that starts, after blanks, with the short name of a month in any case; 0 for any other. The names are the English
/// ones, unless a locale has others.
pub fn rank(text: &[u8], names: Option<&Months>) -> u8 {
    if let Some(names) = names {
        return names.read(text).0;
    }
    let Some(name) = blank::trimmed(text).first_chunk::<3>() else { return 0 };
    let upper = name.map(|letter| letter.to_ascii_uppercase());
    MONTHS.iter().position(|month| **month == upper).map_or(0, |place| place as u8 + 1)
}

/// The number of bytes of `text` that are read as a month. `text` must have no leading blanks.
pub fn length(text: &[u8], names: Option<&Months>) -> usize {
    match names {
        Some(names) => names.read(text).1,
        None if rank(text, None) == 0 => 0,
        None => 3,
    }
}
