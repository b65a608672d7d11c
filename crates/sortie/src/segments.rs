//! Many arrays in one slice.

use std::ops::Range;

use crate::Error;

/// How a slice of keys is divided into segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Segments<'a> {
    /// Segments of one length, which divides the number of keys (if there are no keys, any length will do).
    Length(usize),
    /// Segment `i` is `offsets[i]..offsets[i + 1]`. Offsets never decrease and stay within the keys. Keys before the
    /// first offset and after the last are left as they are.
    Offsets(&'a [usize]),
}

impl<'a> Segments<'a> {
    /// Checks that the segments fit `keys` keys.
    pub(crate) fn check(self, keys: usize) -> Result<(), Error> {
        match self {
            Segments::Length(0) if keys > 0 => {
                Err(Error::Segments("a length of 0 cannot hold any key; give a length of at least 1".into()))
            }
            Segments::Length(length) if keys > 0 && !keys.is_multiple_of(length) => {
                Err(Error::Segments(format!(
                    "{keys} keys are not a multiple of the length {length}; give a length that divides them, or offsets"
                )))
            }
            Segments::Offsets(offsets) => {
                if let Some(i) = offsets.windows(2).position(|pair| pair[0] > pair[1]) {
                    let (from, to) = (offsets[i], offsets[i + 1]);
                    return Err(Error::Segments(format!("offsets decrease: {from} at {i}, then {to}")));
                }
                match offsets.last() {
                    Some(&last) if last > keys => {
                        Err(Error::Segments(format!("the last offset is {last}, but there are {keys} keys")))
                    }
                    _ => Ok(()),
                }
            }
            Segments::Length(_) => Ok(()),
        }
    }

    /// The number of segments in `keys` keys.
    pub(crate) fn count(self, keys: usize) -> usize {
        match self {
            Segments::Length(0) => 0,
            Segments::Length(length) => keys / length,
            Segments::Offsets(offsets) => offsets.len().saturating_sub(1),
        }
    }

    /// The range of segment `i`.
    pub(crate) fn range(self, i: usize) -> Range<usize> {
        match self {
            Segments::Length(length) => i * length..(i + 1) * length,
            Segments::Offsets(offsets) => offsets[i]..offsets[i + 1],
        }
    }
}
