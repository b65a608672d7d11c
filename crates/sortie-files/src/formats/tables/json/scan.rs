//! Reads a JSON document once: finds the values at some paths, and checks the rest as far as the grammar goes.

use serde_core::de::IgnoredAny;

use super::invalid;
use super::path::Paths;

/// Finds the values at all paths of a document, as they are written.
///
/// # Errors
/// Why the text is not a JSON document.
pub fn find<'t>(text: &'t [u8], paths: &Paths, found: &mut [Option<&'t str>]) -> Result<(), String> {
    found.fill(None);
    let mut scan = Scan { text, at: 0 };
    let read = scan.value(paths, found);
    scan.blanks();
    let end = scan.at;
    if read.is_some() && end == text.len() {
        return match str::from_utf8(text) {
            Ok(_) => Ok(()),
            Err(error) => {
                Err(format!("invalid JSON at column {}: a string is not UTF-8", error.valid_up_to() + 1))
            }
        };
    }
    Err(match serde_json::from_slice::<IgnoredAny>(text) {
        Err(error) => invalid(&error),
        Ok(_) => format!("invalid JSON at column {}: a string is not UTF-8", end.max(1)),
    })
}

/// A document that is read. The methods return `None` for what does not conform to the grammar.
struct Scan<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Scan<'t> {
    /// Reads a value that has these paths below it.
    fn value(&mut self, paths: &Paths, found: &mut [Option<&'t str>]) -> Option<()> {
        self.blanks();
        let start = self.at;
        match self.peek() {
            Some(b'{') if !paths.fields.is_empty() => self.object(&paths.fields, found)?,
            Some(b'[') if !paths.items.is_empty() => self.array(&paths.items, found)?,
            _ => self.skip()?,
        }
        if !paths.ends.is_empty() {
            let value = str::from_utf8(&self.text[start..self.at]).ok()?;
            paths.ends.iter().for_each(|&number| found[number] = Some(value));
        }
        Some(())
    }

    fn object(&mut self, fields: &[(String, Paths)], found: &mut [Option<&'t str>]) -> Option<()> {
        self.at += 1;
        self.blanks();
        if self.takes(b'}') {
            return Some(());
        }
        loop {
            let name = self.name()?;
            match fields.iter().find(|(field, _)| name.is(field)) {
                Some((_, paths)) => {
                    // Of fields with the same name, the last one counts.
                    forget(paths, found);
                    self.value(paths, found)?;
                }
                None => self.skip()?,
            }
            self.blanks();
            if self.takes(b'}') {
                return Some(());
            }
            self.takes(b',').then_some(())?;
            self.blanks();
        }
    }

    fn array(&mut self, items: &[(usize, Paths)], found: &mut [Option<&'t str>]) -> Option<()> {
        self.at += 1;
        self.blanks();
        if self.takes(b']') {
            return Some(());
        }
        for index in 0.. {
            match items.iter().find(|(item, _)| *item == index) {
                Some((_, paths)) => self.value(paths, found)?,
                None => self.skip()?,
            }
            self.blanks();
            if self.takes(b']') {
                return Some(());
            }
            self.takes(b',').then_some(())?;
        }
        None
    }

    /// Reads the name of a field and the colon after it.
    fn name(&mut self) -> Option<Name<'t>> {
        let start = self.at;
        let has_escapes = self.string()?;
        let quoted = &self.text[start..self.at];
        self.blanks();
        self.takes(b':').then_some(Name { quoted, has_escapes })
    }

    /// Reads a value of any depth.
    fn skip(&mut self) -> Option<()> {
        let mut open = Open::default();
        loop {
            self.blanks();
            match self.peek()? {
                b'"' => {
                    self.string()?;
                }
                b'{' => {
                    self.at += 1;
                    self.blanks();
                    if !self.takes(b'}') {
                        open.push(true);
                        self.name()?;
                        continue;
                    }
                }
                b'[' => {
                    self.at += 1;
                    self.blanks();
                    if !self.takes(b']') {
                        open.push(false);
                        continue;
                    }
                }
                b't' => self.literal(b"true")?,
                b'f' => self.literal(b"false")?,
                b'n' => self.literal(b"null")?,
                _ => self.number()?,
            }
            loop {
                let Some(is_object) = open.last() else { return Some(()) };
                self.blanks();
                if self.takes(b',') {
                    if is_object {
                        self.blanks();
                        self.name()?;
                    }
                    break;
                }
                self.takes(if is_object { b'}' } else { b']' }).then_some(())?;
                open.pop();
            }
        }
    }

    /// Reads a string, and returns whether it has escapes.
    #[inline]
    fn string(&mut self) -> Option<bool> {
        self.takes(b'"').then_some(())?;
        let mut has_escapes = false;
        loop {
            self.at = self.special();
            match self.next()? {
                b'"' => return Some(has_escapes),
                b'\\' => {
                    has_escapes = true;
                    match self.next()? {
                        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                        b'u' => {
                            let digits = self.text.get(self.at..self.at + 4)?;
                            digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
                            self.at += 4;
                        }
                        _ => return None,
                    }
                }
                // A control character.
                _ => return None,
            }
        }
    }

    /// Where the next quote, backslash or control character is, or the end.
    #[inline]
    fn special(&self) -> usize {
        const ONES: u64 = u64::MAX / 255;
        const HIGH: u64 = ONES * 0x80;
        let mut at = self.at;
        while let Some(word) = self.text[at..].first_chunk() {
            // The lowest bit set is that of the first such byte. Bits above it may be wrong.
            let word = u64::from_le_bytes(*word);
            let (quotes, slashes) = (word ^ (ONES * u64::from(b'"')), word ^ (ONES * u64::from(b'\\')));
            let zero = |word: u64| word.wrapping_sub(ONES) & !word;
            let found = (zero(quotes) | zero(slashes) | word.wrapping_sub(ONES * 0x20) & !word) & HIGH;
            if found != 0 {
                return at + found.trailing_zeros() as usize / 8;
            }
            at += size_of::<u64>();
        }
        let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | ..0x20);
        let rest = &self.text[at..];
        at + rest.iter().position(is_special).unwrap_or(rest.len())
    }

    fn number(&mut self) -> Option<()> {
        self.takes(b'-');
        if !self.takes(b'0') {
            self.digits()?;
        }
        if self.takes(b'.') {
            self.digits()?;
        }
        if self.takes(b'e') || self.takes(b'E') {
            if !self.takes(b'+') {
                self.takes(b'-');
            }
            self.digits()?;
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn literal(&mut self, word: &[u8]) -> Option<()> {
        let is_there = self.text[self.at..].starts_with(word);
        self.at += word.len();
        is_there.then_some(())
    }

    #[inline]
    fn blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[inline]
    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    #[inline]
    fn takes(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }
}

/// Forgets what was found at these paths.
fn forget(paths: &Paths, found: &mut [Option<&str>]) {
    paths.ends.iter().for_each(|&number| found[number] = None);
    paths.fields.iter().for_each(|(_, paths)| forget(paths, found));
    paths.items.iter().for_each(|(_, paths)| forget(paths, found));
}

/// The name of a field.
struct Name<'t> {
    quoted: &'t [u8],
    has_escapes: bool,
}

impl Name<'_> {
    fn is(&self, field: &str) -> bool {
        if self.has_escapes {
            // A name with half a surrogate pair is none that a path can have.
            return serde_json::from_slice::<String>(self.quoted).is_ok_and(|name| name == field);
        }
        &self.quoted[1..self.quoted.len() - 1] == field.as_bytes()
    }
}

/// The objects and arrays that are open, one bit for each: set for an object.
#[derive(Default)]
struct Open {
    depth: usize,
    bits: u64,
    /// The bits of those outside of the last 64.
    outer: Vec<u64>,
}

impl Open {
    fn push(&mut self, is_object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.outer.push(std::mem::take(&mut self.bits));
        }
        self.depth += 1;
        self.bits = self.bits << 1 | u64::from(is_object);
    }

    fn last(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.bits & 1 == 1)
    }

    fn pop(&mut self) {
        self.depth -= 1;
        self.bits >>= 1;
        if self.depth.is_multiple_of(64) {
            self.bits = self.outer.pop().unwrap_or(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::super::path::Path;
    use super::*;

    fn found<'t>(text: &'t [u8], paths: &[&str]) -> Result<Vec<Option<&'t str>>, String> {
        let read: Vec<_> = paths.iter().map(|path| Path::read(path).unwrap()).collect();
        let mut found = vec![None; paths.len()];
        find(text, &Paths::of(read.iter()), &mut found)?;
        Ok(found)
    }

    #[test]
    fn values_are_found_at_their_paths() {
        let text = r#" {"a": {"b": [1, {"c": 12345678901234567890123}], "x y": "\u0041"}, "a.b": null, "a": {"b": [2, {"c": -0.0}]}} "#;
        assert_eq!(
            found(
                text.as_bytes(),
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
            found(b"[[3]]", &[".[0][0]", ".", ".[0]"]).unwrap(),
            [Some("3"), Some("[[3]]"), Some("[3]")]
        );
        assert_eq!(found(br#"{"\u0061": 1}"#, &[".a"]).unwrap(), [Some("1")]);
    }

    #[test]
    fn documents_that_are_wrong_are_refused() {
        for (text, said) in [
            ("{\"a\": }", "invalid JSON at column 7: expected value"),
            ("{} {}", "invalid JSON at column 4: trailing characters"),
            ("{\"a\": 1", "invalid JSON at column 7: EOF while parsing an object"),
            ("{\"b\": tru}", "invalid JSON"),
        ] {
            let error = found(text.as_bytes(), &[".a"]).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    /// Documents with mistakes are those that serde_json refuses, and those that are not UTF-8.
    fn is_judged_alike(text: &[u8]) {
        let theirs = serde_json::from_slice::<IgnoredAny>(text);
        for paths in [&[][..], &["."], &[".a"], &[".a[1].a", ".b", ".a"], &[".[0]", ".[2].a"]] {
            let ours = found(text, paths);
            if str::from_utf8(text).is_ok() {
                assert_eq!(ours.is_ok(), theirs.is_ok(), "{} {paths:?}", String::from_utf8_lossy(text));
            } else {
                assert!(ours.is_err(), "{text:?} {paths:?}");
            }
        }
    }

    #[test]
    fn every_short_text_is_judged_as_serde_json_does() {
        let tokens = [
            "{", "}", "[", "]", ",", ":", "\"a\"", "\"", "\\", "1", "0", "-", ".", "e", "+", " ", "true",
            "nul", "\u{1}", "\\u00e",
        ];
        let mut texts = vec![String::new()];
        for _ in 0..4 {
            texts.iter().for_each(|text| is_judged_alike(text.as_bytes()));
            texts = texts.iter().flat_map(|text| tokens.map(|token| format!("{text}{token}"))).collect();
        }
        let wrap = |text: &String| is_judged_alike(format!("{{\"a\":[0,{text}]}}").as_bytes());
        texts.iter().step_by(7).for_each(wrap);
        let deep = |depth| "[{\"a\":".repeat(depth) + "1" + &"}]".repeat(depth);
        for depth in [31, 32, 33, 63, 64, 65, 128, 10_000] {
            let text = deep(depth);
            assert!(found(text.as_bytes(), &[".b"]).is_ok(), "{depth}");
            assert!(found(&text.as_bytes()[..text.len() - 1], &[]).is_err());
            assert!(found(text.replacen("}]", "]}", 1).as_bytes(), &[]).is_err());
        }
    }

    fn documents() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            any::<i16>().prop_map(|number| Value::from(f64::from(number) / 8.0)),
            "[a\"\\\\\u{1}é ]{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[abé\"]{1,2}", inner, 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn values_are_those_that_serde_json_finds(document in documents(), is_pretty in any::<bool>()) {
            let text = if is_pretty { serde_json::to_string_pretty(&document) } else { serde_json::to_string(&document) }.unwrap();
            let paths = [(".a", "/a"), (".b[1]", "/b/1"), (".a.a", "/a/a"), (".[0]", "/0"), (".", ""), (".\"é\"", "/é"), (".[1].a[0]", "/1/a/0")];
            let found = found(text.as_bytes(), &paths.map(|(path, _)| path)).unwrap();
            for ((path, pointer), found) in paths.iter().zip(found) {
                let value = document.pointer(pointer);
                let ours: Option<Value> = found.map(|text| serde_json::from_str(text).unwrap());
                prop_assert_eq!(ours.as_ref(), value, "{} in {}", path, text);
            }
        }

        #[test]
        fn damaged_documents_are_refused(document in documents(), at in any::<prop::sample::Index>(), byte in prop::sample::select(&b"{}[],:\"\\0e-. ax\x01\xFF"[..]), kind in 0..3) {
            let mut text = serde_json::to_vec(&document).unwrap();
            let at = at.index(text.len());
            match kind {
                0 => text[at] = byte,
                1 => text.insert(at, byte),
                _ => text.truncate(at),
            }
            is_judged_alike(&text);
        }
    }
}
