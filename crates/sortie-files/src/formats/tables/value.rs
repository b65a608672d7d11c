//! The values of columns as bytes that compare as the values are to be sorted.

use super::date::Instant;
use super::decimal::Number;
use super::key::ColumnType;
use crate::formats::text::{Collator, encode_version};

/// What stands for a value that is missing. Every other encoding begins with a byte between these.
const NULL_FIRST: u8 = 0;
const NULL_LAST: u8 = 0xfe;
/// Begins the key of what comes after all records.
pub const AFTER_ALL: u8 = 0xff;

/// What was found where a value was expected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Found {
    Value,
    Null,
    /// A value that does not have the type of its column. It is sorted as a null.
    Other,
}

/// In which direction a column is sorted.
#[derive(Debug, Clone, Copy)]
pub struct Direction {
    pub descending: bool,
    pub nulls_first: bool,
}

impl Direction {
    /// Appends what `encode` appends for a value, or what stands for a null if that is nothing.
    pub fn encode(self, out: &mut Vec<u8>, encode: impl FnOnce(&mut Vec<u8>)) {
        let start = out.len();
        encode(out);
        if out.len() == start {
            out.push(if self.nulls_first { NULL_FIRST } else { NULL_LAST });
        } else if self.descending {
            out[start..].iter_mut().for_each(|byte| *byte = !*byte);
        }
    }
}

/// Appends the encoding of a value of this type. `collator` is for types whose text is not compared by its bytes.
#[inline]
pub fn encode(
    value: &[u8],
    kind: ColumnType,
    collator: &Collator,
    direction: Direction,
    out: &mut Vec<u8>,
) -> Found {
    let mut found = if value.is_empty() { Found::Null } else { Found::Value };
    match kind {
        ColumnType::Text if found == Found::Value => {
            let order = sortie::Order { descending: direction.descending, ..Default::default() };
            sortie::columns::push_bytes(out, Some(value), order);
        }
        ColumnType::Text => direction.encode(out, |_| {}),
        ColumnType::Number => {
            let number = Number::read(value);
            found = match number {
                Some(Number::Missing) => Found::Null,
                None if !value.trim_ascii().is_empty() => Found::Other,
                None => Found::Null,
                Some(_) => found,
            };
            direction.encode(out, |out| number.iter().for_each(|number| number.encode(out)));
        }
        ColumnType::Date => {
            let date = Instant::read(value);
            if date.is_none() {
                found = if value.trim_ascii().is_empty() { Found::Null } else { Found::Other };
            }
            direction.encode(out, |out| date.iter().for_each(|date| date.encode(out)));
        }
        ColumnType::Version => direction.encode(out, |out| {
            if found == Found::Value {
                // Its first byte may be 1, whose complement would stand for a null.
                out.push(2);
                encode_version(value, out);
            }
        }),
        ColumnType::Natural | ColumnType::Locale | ColumnType::Unicode => direction.encode(out, |out| {
            if found == Found::Value {
                // As above.
                out.push(2);
                collator.encode(value, out);
            }
        }),
    }
    found
}

/// Appends the encoding of a value of this type in ascending order, or of a null for what is not one.
#[cfg(feature = "parquet")]
pub(crate) fn encode_value(value: &[u8], kind: ColumnType, out: &mut Vec<u8>) -> Found {
    encode(value, kind, &Collator::default(), Direction { descending: false, nulls_first: false }, out)
}

/// The type that all values have. Missing values have every type.
pub fn sniff<'v>(values: impl Iterator<Item = &'v [u8]> + Clone) -> ColumnType {
    let mut given = values.filter(|value| !value.trim_ascii().is_empty()).peekable();
    if given.peek().is_none() {
        return ColumnType::Text;
    }
    if given.clone().all(|value| Number::read(value).is_some()) {
        return ColumnType::Number;
    }
    if given.all(|value| Instant::read(value).is_some()) { ColumnType::Date } else { ColumnType::Text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nulls_are_at_one_end_in_both_directions() {
        use ColumnType::{Date, Locale, Natural, Number, Text, Version};
        for kind in [Text, Number, Date, Version, Natural, Locale] {
            for (descending, nulls_first) in [(false, false), (false, true), (true, false), (true, true)] {
                let direction = Direction { descending, nulls_first };
                let encode = |value: &str| {
                    let mut out = Vec::new();
                    encode(value.as_bytes(), kind, &Collator::default(), direction, &mut out);
                    out
                };
                let (null, low, high) = (encode(""), encode("1"), encode("9"));
                assert_eq!(low < high, !descending, "{kind:?}");
                assert_eq!(null < low && null < high, nulls_first, "{kind:?}");
                assert_eq!(null > low && null > high, !nulls_first, "{kind:?}");
                assert!([&null, &low, &high].iter().all(|code| code[0] != AFTER_ALL));
            }
        }
    }

    #[test]
    fn types_are_those_that_all_values_have() {
        let sniff = |values: &[&str]| sniff(values.iter().map(|value| value.as_bytes()));
        assert_eq!(sniff(&["1", "", "-2.5e3", "NaN"]), ColumnType::Number);
        assert_eq!(sniff(&["2024-01-01", " ", "12:00"]), ColumnType::Text);
        assert_eq!(sniff(&["2024-01-01", "", "1700000000"]), ColumnType::Date);
        assert_eq!(sniff(&["1", "x"]), ColumnType::Text);
        assert_eq!(sniff(&["", ""]), ColumnType::Text);
    }
}
