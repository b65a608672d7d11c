//! Where the records of a delimited text end, and their fields. RFC 4180 and Python's `csv`: a quote opens a quoted field only at the
//! start of a field, and a doubled quote in it stands for one.

use std::borrow::Cow;

use memchr::{memchr, memchr2_iter};

pub const QUOTE: u8 = b'"';
/// The separators among which that of a text is guessed.
const SEPARATORS: [u8; 4] = *b",\t;|";

/// How records are divided into fields.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dialect {
    pub separator: u8,
    /// Lines that begin with this byte are comments.
    pub comment: Option<u8>,
}

impl Dialect {
    /// The length of the first record, with its line end. `None` if it does not end in `text`.
    pub fn first(&self, text: &[u8]) -> Option<usize> {
        if self.is_comment(text) {
            return memchr(b'\n', text).map(|at| at + 1);
        }
        let (mut is_quoted, mut after_quotes) = (false, 0);
        for at in memchr2_iter(b'\n', QUOTE, text) {
            if text[at] == b'\n' {
                if !is_quoted {
                    return Some(at + 1);
                }
            } else if is_quoted {
                (is_quoted, after_quotes) = (false, at + 1);
            } else {
                // After a quoted part, a quote is the second of a doubled one.
                is_quoted = at == after_quotes || text[at - 1] == self.separator;
            }
        }
        None
    }

    /// # Errors
    /// If this byte between fields begins comments: then a record whose first field is empty would be one.
    pub fn refuse_separator(&self, separator: u8) -> Result<(), String> {
        if self.comment == Some(separator) {
            let byte = separator.escape_ascii();
            return Err(format!(
                "'{byte}' cannot separate fields and begin comments; choose another --comment or --delimiter"
            ));
        }
        Ok(())
    }

    pub fn is_comment(&self, record: &[u8]) -> bool {
        self.comment.is_some() && record.first().copied() == self.comment
    }

    /// The fields of a record without its line end, as they are written.
    pub fn fields<'t>(&self, record: &'t [u8]) -> Fields<'t> {
        Fields { rest: Some(record), separator: self.separator }
    }
}

/// A record without its line end.
pub fn without_end(record: &[u8]) -> &[u8] {
    let record = record.strip_suffix(b"\n").unwrap_or(record);
    record.strip_suffix(b"\r").unwrap_or(record)
}

/// The separator that the first record of a text has most often outside of quotes.
pub fn guess_separator(text: &[u8], comment: Option<u8>) -> Option<u8> {
    let fields = |&separator: &u8| {
        let dialect = Dialect { separator, comment };
        let record = &text[..dialect.first(text).unwrap_or(text.len())];
        dialect.fields(without_end(record)).count()
    };
    let (count, separator) =
        SEPARATORS.iter().rev().map(|each| (fields(each), *each)).max_by_key(|each| each.0)?;
    (count > 1).then_some(separator)
}

/// See [`Dialect::fields`].
pub struct Fields<'t> {
    rest: Option<&'t [u8]>,
    separator: u8,
}

impl<'t> Iterator for Fields<'t> {
    type Item = &'t [u8];

    #[inline]
    fn next(&mut self) -> Option<&'t [u8]> {
        let rest = self.rest?;
        let from = if rest.first() == Some(&QUOTE) { after_quotes(rest) } else { 0 };
        let Some(length) = memchr(self.separator, &rest[from..]) else {
            self.rest = None;
            return Some(rest);
        };
        let (field, after) = rest.split_at(from + length);
        self.rest = Some(&after[1..]);
        Some(field)
    }
}

/// The end of the quoted part at the start of `field`.
pub fn after_quotes(field: &[u8]) -> usize {
    let mut at = 1;
    while let Some(length) = memchr(QUOTE, &field[at..]) {
        at += length + 1;
        if field.get(at) != Some(&QUOTE) {
            return at;
        }
        at += 1;
    }
    field.len()
}

/// The value that a field stands for.
#[inline]
pub fn value(field: &[u8]) -> Cow<'_, [u8]> {
    let Some(inner) = field.strip_prefix(&[QUOTE]) else { return Cow::Borrowed(field) };
    let end = memchr(QUOTE, inner);
    if end.is_some_and(|end| end + 1 == inner.len()) {
        return Cow::Borrowed(&inner[..inner.len() - 1]);
    }
    let (quoted, rest) = inner.split_at(after_quotes(field) - 1);
    let quoted = quoted.strip_suffix(&[QUOTE]).unwrap_or(quoted);
    let mut value = Vec::with_capacity(field.len());
    let mut left = quoted;
    while let Some(at) = memchr(QUOTE, left) {
        value.extend_from_slice(&left[..=at]);
        left = left.get(at + 2..).unwrap_or_default();
    }
    value.extend_from_slice(left);
    value.extend_from_slice(rest);
    Cow::Owned(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The records of a text as Python's `csv` reads them, byte by byte, with the length of each.
    fn plainly(text: &[u8], separator: u8) -> Vec<(Vec<Vec<u8>>, usize)> {
        let (mut records, mut record, mut field) = (Vec::new(), Vec::new(), Vec::new());
        let (mut start, mut at) = (0, 0);
        let (mut is_new, mut is_quoted) = (true, false);
        while at < text.len() {
            let byte = text[at];
            at += 1;
            if is_quoted {
                if byte != QUOTE {
                    field.push(byte);
                } else if text.get(at) == Some(&QUOTE) {
                    field.push(QUOTE);
                    at += 1;
                } else {
                    is_quoted = false;
                }
            } else if byte == QUOTE && is_new {
                (is_quoted, is_new) = (true, false);
            } else if byte == separator {
                record.push(std::mem::take(&mut field));
                is_new = true;
            } else if byte == b'\n' {
                record.push(std::mem::take(&mut field));
                records.push((std::mem::take(&mut record), at - start));
                (start, is_new) = (at, true);
            } else {
                field.push(byte);
                is_new = false;
            }
        }
        records
    }

    proptest! {
        #[test]
        fn records_and_values_are_those_found_byte_by_byte(
            text in prop::collection::vec(prop::sample::select(&b"ab\"\",,\n"[..]), 0..60),
        ) {
            let dialect = Dialect { separator: b',', comment: None };
            let mut rest = &text[..];
            for (fields, length) in plainly(&text, b',') {
                prop_assert_eq!(dialect.first(rest), Some(length));
                // No shorter text has a whole record.
                prop_assert!((0..length).all(|short| dialect.first(&rest[..short]).is_none()));
                let found: Vec<_> = dialect.fields(without_end(&rest[..length])).map(|field| value(field).into_owned()).collect();
                prop_assert_eq!(found, fields);
                rest = &rest[length..];
            }
            prop_assert_eq!(dialect.first(rest), None);
        }
    }

    #[test]
    fn a_comment_ends_with_its_line() {
        let dialect = Dialect { separator: b',', comment: Some(b'#') };
        assert_eq!(dialect.first(b"#,\"\nx"), Some(4));
        assert_eq!(dialect.first(b"a#,\"\nx"), None);
        assert_eq!(without_end(b"a\r\n"), b"a");
    }

    #[test]
    fn separators_are_guessed_from_the_first_record() {
        let guess = |text: &str| guess_separator(text.as_bytes(), None);
        assert_eq!(guess("a;b;c,d\n1,2,3,4,5\n"), Some(b';'));
        assert_eq!(guess("\"a;;;b\",c\n"), Some(b','));
        assert_eq!(guess("a\tb"), Some(b'\t'));
        assert_eq!(guess("a,b|c"), Some(b','));
        assert_eq!(guess("abc\n"), None);
    }
}
