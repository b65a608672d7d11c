//! JSON lines: a value at a path, and the order of values, which is that of jq: false, true, numbers, strings, arrays, objects.

mod path;
mod scan;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use memchr::memchr;
use serde_core::de::{Deserializer, Visitor};
use serde_json::value::RawValue;

use super::decimal::Number;
pub use path::{Path, Paths};
pub use scan::find;

/// Whether a line has nothing but what may be between the tokens of JSON.
pub fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

/// Values that are nested deeper are refused.
const DEEPEST: usize = 128;

fn invalid(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or_default();
    // As of a document with its parts on lines of their own.
    let whole = if error.is_eof() { "; each line must be a whole document" } else { "" };
    format!("invalid JSON at column {}: {what}{whole}", error.column().max(1))
}

/// The name of a field, borrowed if it has no escapes.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Name<'t>(Cow<'t, str>);

impl<'t> serde_core::Deserialize<'t> for Name<'t> {
    fn deserialize<D: Deserializer<'t>>(name: D) -> Result<Name<'t>, D::Error> {
        struct Read;
        impl<'t> Visitor<'t> for Read {
            type Value = Name<'t>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, name: &'t str) -> Result<Name<'t>, E> {
                Ok(Name(Cow::Borrowed(name)))
            }

            fn visit_str<E>(self, name: &str) -> Result<Name<'t>, E> {
                Ok(Name(Cow::Owned(name.to_owned())))
            }
        }
        name.deserialize_str(Read)
    }
}

/// The string that a value is, if it is one.
///
/// # Errors
/// If it is not text, because half of a surrogate pair is missing.
pub fn string(text: &str) -> Result<Option<Cow<'_, str>>, String> {
    let Some(inner) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else { return Ok(None) };
    if memchr(b'\\', inner.as_bytes()).is_none() {
        return Ok(Some(Cow::Borrowed(inner)));
    }
    let decoded = serde_json::from_str(text).map(|string| Some(Cow::Owned(string)));
    decoded.map_err(|_| format!("{text} has half of a surrogate pair, which is not text"))
}

/// Appends bytes for a value that [`find`] has found. They compare as values do, whatever follows them. The first is neither 0 nor more
/// than 252, also if all are complemented. Nothing is appended for null, and for a number that is too large.
///
/// # Errors
/// If the value is nested too deep, or one of its strings is not text.
pub fn encode(value: &str, out: &mut Vec<u8>) -> Result<(), String> {
    encode_nested(value, DEEPEST, out)
}

const FALSE: u8 = 2;
const TRUE: u8 = 3;
const NUMBER: u8 = 4;
const STRING: u8 = 5;
const ARRAY: u8 = 6;
const OBJECT: u8 = 7;
/// Within arrays and objects: the end, and null.
const END: u8 = 0;
const NULL: u8 = 1;

fn encode_nested(text: &str, depth: usize, out: &mut Vec<u8>) -> Result<(), String> {
    let deeper = depth.checked_sub(1).ok_or_else(|| format!("a value is nested more than {DEEPEST} deep"));
    let start = out.len();
    match text.as_bytes()[0] {
        b'n' => {}
        b'f' => out.push(FALSE),
        b't' => out.push(TRUE),
        b'"' => {
            out.push(STRING);
            push_string(&string(text)?.unwrap_or_default(), out);
        }
        b'[' => {
            out.push(ARRAY);
            let values: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| invalid(&error))?;
            let deeper = deeper?;
            values.into_iter().try_for_each(|value| encode_part(value, deeper, out))?;
            out.push(END);
        }
        b'{' => {
            out.push(OBJECT);
            let fields: BTreeMap<Name<'_>, &RawValue> =
                serde_json::from_str(text).map_err(|error| invalid(&error))?;
            let deeper = deeper?;
            // As in jq, objects compare by their names first, then by their values.
            for Name(name) in fields.keys() {
                out.push(STRING);
                push_string(name, out);
            }
            out.push(END);
            fields.values().try_for_each(|value| encode_part(value, deeper, out))?;
        }
        _ => {
            out.push(NUMBER);
            let digits = out.len();
            if let Some(number) = Number::read(text.as_bytes()) {
                number.encode(out);
            }
            if out.len() == digits {
                out.truncate(start);
            }
        }
    }
    Ok(())
}

fn encode_part(value: &RawValue, depth: usize, out: &mut Vec<u8>) -> Result<(), String> {
    let start = out.len();
    encode_nested(value.get(), depth, out)?;
    if out.len() == start {
        out.push(NULL);
    }
    Ok(())
}

fn push_string(text: &str, out: &mut Vec<u8>) {
    sortie::columns::push_bytes(out, Some(text.as_bytes()), sortie::Order::default());
}

#[cfg(test)]
mod tests {
    #[test]
    fn values_are_in_the_order_of_jq() {
        let ascending = [
            "false",
            "true",
            "-1e400",
            "-2",
            "0.5",
            "9007199254740993",
            "9007199254740994",
            "\"\"",
            "\"a\"",
            "\"a\\u0000\"",
            "\"a!\"",
            "\"b\"",
            "\"\u{e9}\"",
            "[]",
            "[null]",
            "[false]",
            "[1]",
            "[1, null]",
            "[1, 2]",
            "[2]",
            "[[]]",
            "{}",
            "{\"a\": null}",
            "{\"a\": 1}",
            "{\"a\": 2}",
            "{\"b\": 0, \"a\": 3}",
            "{\"a\": 4, \"b\": -1}",
            "{\"b\": 0}",
        ];
        let encode = |text: &&str| {
            let mut out = Vec::new();
            super::encode(text, &mut out).unwrap();
            out
        };
        let codes: Vec<_> = ascending.iter().map(encode).collect();
        for (pair, texts) in codes.windows(2).zip(ascending.windows(2)) {
            assert!(pair[0] < pair[1], "{texts:?}");
        }
        assert_eq!(encode(&"null"), b"");
        assert_eq!(encode(&"[1e0, \"a\"]"), encode(&"[1.0,\"\\u0061\"]"));
        let deep = "[".repeat(200) + &"]".repeat(200);
        assert!(super::encode(&deep, &mut Vec::new()).unwrap_err().contains("nested more than 128"));
    }
}
