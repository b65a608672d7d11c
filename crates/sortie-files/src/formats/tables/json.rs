//! JSON lines: a value at a path, and the order of values, which is that of jq: false, true, numbers, strings, arrays, objects.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde_core::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::decimal::Number;
use super::key::quoted;

/// Values that are nested deeper are refused.
const DEEPEST: usize = 128;

/// Where a value is in a document: `.a.b[0]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Path(Vec<Step>);

#[derive(Debug, Clone, PartialEq)]
enum Step {
    Field(String),
    Index(usize),
}

impl Path {
    /// Reads `.a.b`, `.a[0]`, `."a b"` or `.["a b"]`. `.` is the whole document. A name that does not begin with a dot is that of a
    /// field.
    pub fn read(text: &str) -> Result<Path, String> {
        let wrong = |why: &str| format!("'{text}' is not a path such as .name, .a.b[0] or .\"a b\": {why}");
        let Some(mut rest) = text.strip_prefix('.') else {
            return Ok(Path(vec![Step::Field(text.to_owned())]));
        };
        let mut steps = Vec::new();
        // After the first dot, and after each other one, there may be a name.
        let mut may_name = true;
        while !rest.is_empty() {
            if let Some(inner) = rest.strip_prefix('[') {
                let (step, after) = if inner.starts_with('"') {
                    let (name, after) = quoted(inner).map_err(|why| wrong(&why))?;
                    (Step::Field(name), after)
                } else {
                    let end = inner.find(']').ok_or_else(|| wrong("a ']' is missing"))?;
                    let index = inner[..end].parse().map_err(|_| wrong("an index is a number, from 0"))?;
                    (Step::Index(index), &inner[end..])
                };
                steps.push(step);
                rest = after.strip_prefix(']').ok_or_else(|| wrong("a ']' is missing"))?;
            } else if may_name && rest.starts_with('"') {
                let (name, after) = quoted(rest).map_err(|why| wrong(&why))?;
                steps.push(Step::Field(name));
                rest = after;
            } else if may_name {
                let end = rest.find(['.', '[', '"']).unwrap_or(rest.len());
                if end == 0 {
                    return Err(wrong("a name is missing"));
                }
                steps.push(Step::Field(rest[..end].to_owned()));
                rest = &rest[end..];
            } else {
                return Err(wrong("a '.' is missing"));
            }
            may_name = false;
            if let Some(after) = rest.strip_prefix('.') {
                if after.is_empty() {
                    return Err(wrong("a name is missing"));
                }
                (rest, may_name) = (after, true);
            }
        }
        Ok(Path(steps))
    }
}

/// Finds the values at all paths of a document, which is read once.
pub fn find<'t, 'p>(
    text: &'t [u8],
    paths: impl Iterator<Item = &'p Path>,
    found: &mut [Option<&'t RawValue>],
) -> Result<(), String> {
    found.fill(None);
    let mut document = serde_json::Deserializer::from_slice(text);
    let mut targets: Vec<Target<'p, 't, '_>> =
        paths.zip(found).map(|(path, found)| Target { rest: &path.0, found }).collect();
    let read = Find { targets: &mut targets }.deserialize(&mut document).and_then(|()| document.end());
    read.map_err(|error| invalid(&error))
}

fn invalid(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or_default();
    format!("invalid JSON at column {}: {what}", error.column().max(1))
}

/// A value that is looked for below the one that is read.
struct Target<'p, 't, 'f> {
    rest: &'p [Step],
    found: &'f mut Option<&'t RawValue>,
}

struct Find<'s, 'p, 't, 'f> {
    targets: &'s mut [Target<'p, 't, 'f>],
}

impl<'p, 't, 'f> Find<'_, 'p, 't, 'f> {
    /// Reads a value, of which the targets that `is_next` accepts are a step below.
    fn step<E>(
        &mut self,
        is_next: impl Fn(&Step) -> bool,
        read: impl FnOnce(Find<'_, 'p, 't, '_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let next = |target: &&mut Target<'p, 't, 'f>| target.rest.first().is_some_and(&is_next);
        let mut targets: Vec<Target<'p, 't, '_>> = self
            .targets
            .iter_mut()
            .filter(next)
            .map(|target| Target { rest: &target.rest[1..], found: &mut *target.found })
            .collect();
        read(Find { targets: &mut targets })
    }
}

impl<'t> DeserializeSeed<'t> for Find<'_, '_, 't, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'t>>(self, value: D) -> Result<(), D::Error> {
        if self.targets.is_empty() {
            return value.deserialize_ignored_any(IgnoredAny).map(|_| ());
        }
        if self.targets.iter().all(|target| !target.rest.is_empty()) {
            return value.deserialize_any(self);
        }
        // A value that is wanted, and maybe others below it.
        let raw = <&'t RawValue as serde_core::Deserialize>::deserialize(value)?;
        let (here, below): (Vec<_>, Vec<_>) =
            self.targets.iter_mut().partition(|target| target.rest.is_empty());
        here.into_iter().for_each(|target| *target.found = Some(raw));
        let mut below: Vec<Target<'_, 't, '_>> =
            below.into_iter().map(|target| Target { rest: target.rest, found: &mut *target.found }).collect();
        if below.is_empty() {
            return Ok(());
        }
        let mut again = serde_json::Deserializer::from_str(raw.get());
        Find { targets: &mut below }.deserialize(&mut again).map_err(D::Error::custom)
    }
}

/// Values without parts have nothing below them.
macro_rules! leaves {
    ($($visit:ident($($type:ty)?)),*) => {
        $(fn $visit<E: Error>(self $(, _: $type)?) -> Result<(), E> {
            Ok(())
        })*
    };
}

impl<'t> Visitor<'t> for Find<'_, '_, 't, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    leaves!(visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str), visit_unit());

    fn visit_map<A: MapAccess<'t>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(Name(name)) = map.next_key()? {
            self.step(
                |step| matches!(step, Step::Field(field) if *field == name),
                |find| {
                    // Of fields with the same name, the last one counts.
                    find.targets.iter_mut().for_each(|target| *target.found = None);
                    map.next_value_seed(find)
                },
            )?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'t>>(mut self, mut values: A) -> Result<(), A::Error> {
        for index in 0.. {
            let mut is_over = false;
            self.step(
                |step| *step == Step::Index(index),
                |find| values.next_element_seed(find).map(|next| is_over = next.is_none()),
            )?;
            if is_over {
                break;
            }
        }
        Ok(())
    }
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
pub fn string(value: &RawValue) -> Option<Cow<'_, str>> {
    let text = value.get();
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(text).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

/// Appends bytes that compare as values do, whatever follows them. The first of them is neither 0 nor more than 252, also if all are
/// complemented. Nothing for null, and for a number that is too large.
///
/// # Errors
/// If the value is nested too deep, or one of its strings is not text.
pub fn encode(value: &RawValue, out: &mut Vec<u8>) -> Result<(), String> {
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

fn encode_nested(value: &RawValue, depth: usize, out: &mut Vec<u8>) -> Result<(), String> {
    let text = value.get();
    let deeper = depth.checked_sub(1).ok_or_else(|| format!("a value is nested more than {DEEPEST} deep"));
    let start = out.len();
    match text.as_bytes()[0] {
        b'n' => {}
        b'f' => out.push(FALSE),
        b't' => out.push(TRUE),
        b'"' => {
            out.push(STRING);
            let string = string(value).ok_or("a string has an invalid escape")?;
            push_string(&string, out);
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
    encode_nested(value, depth, out)?;
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
    use super::*;

    fn found<'t>(text: &'t str, paths: &[&str]) -> Result<Vec<Option<&'t str>>, String> {
        let paths: Vec<_> = paths.iter().map(|path| Path::read(path).unwrap()).collect();
        let mut found = vec![None; paths.len()];
        find(text.as_bytes(), paths.iter(), &mut found)?;
        Ok(found.into_iter().map(|value| value.map(RawValue::get)).collect())
    }

    #[test]
    fn values_are_found_at_their_paths() {
        let text = r#" {"a": {"b": [1, {"c": 12345678901234567890123}], "x y": "\u0041"}, "a.b": null, "a": {"b": [2, {"c": -0.0}]}} "#;
        assert_eq!(
            found(
                text,
                &[
                    ".a.b[1].c",
                    ".a.\"x y\"",
                    ".[\"a.b\"]",
                    ".a.b[0]",
                    ".a.b",
                    ".z",
                    ".a[0]",
                    ".a.b[7]",
                    "a.b"
                ]
            )
            .unwrap(),
            [
                Some("-0.0"),
                None,
                Some("null"),
                Some("2"),
                Some("[2, {\"c\": -0.0}]"),
                None,
                None,
                None,
                Some("null")
            ],
        );
        assert_eq!(
            found("[[3]]", &[".[0][0]", ".", ".[0]"]).unwrap(),
            [Some("3"), Some("[[3]]"), Some("[3]")]
        );
        assert_eq!(found(r#"{"\u0061": 1}"#, &[".a"]).unwrap(), [Some("1")]);
    }

    #[test]
    fn documents_and_paths_that_are_wrong_are_refused() {
        for (text, said) in [
            ("{\"a\": }", "invalid JSON at column 7: expected value"),
            ("{} {}", "invalid JSON at column 4: trailing characters"),
            ("{\"a\": 1", "invalid JSON at column 7: EOF while parsing an object"),
            ("{\"b\": tru}", "invalid JSON"),
        ] {
            let error = found(text, &[".a"]).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
        for path in [".a..b", ".a[", ".a[x]", ".a[\"b\"c]", ".a.", ".\"a", ".[0]b"] {
            assert!(Path::read(path).is_err(), "{path}");
        }
    }

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
            let value: &RawValue = serde_json::from_str(text).unwrap();
            encode(value, &mut out).unwrap();
            out
        };
        let codes: Vec<_> = ascending.iter().map(encode).collect();
        for (pair, texts) in codes.windows(2).zip(ascending.windows(2)) {
            assert!(pair[0] < pair[1], "{texts:?}");
        }
        assert_eq!(encode(&"null"), b"");
        assert_eq!(encode(&"[1e0, \"a\"]"), encode(&"[1.0,\"\\u0061\"]"));
        let deep = "[".repeat(200) + &"]".repeat(200);
        let value: &RawValue = serde_json::from_str(&deep).unwrap();
        assert!(super::encode(value, &mut Vec::new()).unwrap_err().contains("nested more than 128"));
    }
}
