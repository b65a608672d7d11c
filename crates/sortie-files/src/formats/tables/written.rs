//! Records that are written otherwise than they were read: with a count, other columns or another separator.

use std::slice;

use memchr::memchr2;

use super::json::is_blank;
use super::records::{Dialect, QUOTE, after_quotes, value, without_end};
use super::{BYTE_ORDER_MARK, Form};
use crate::Error;
use crate::memory::append;

/// The name of a count, if no other is given.
pub const DEFAULT_COUNT: &str = "count";
/// The member of a counted line of JSON that is the line.
pub const RECORD: &str = "record";

/// How records are written.
#[derive(Debug)]
pub struct Written {
    pub form: Form,
    pub dialect: Dialect,
    /// The indices of the columns, if not all.
    pub columns: Option<Vec<usize>>,
    /// The byte between fields.
    pub separator: u8,
    /// The name of the count, if there is one.
    pub count: Option<String>,
}

impl Written {
    /// Appends a record. Comments stay as they are.
    pub fn record(&self, record: &[u8], count: u64, out: &mut Vec<u8>) -> Result<(), Error> {
        if self.dialect.is_comment(record) {
            return append(out, record);
        }
        let mut digits = itoa::Buffer::new();
        match (&self.count, self.form) {
            (None, _) => self.fields(record, None, out),
            (Some(_), Form::Delimited(_)) => self.fields(record, Some(digits.format(count).as_bytes()), out),
            (Some(name), Form::JsonLines) => object(record, name, digits.format(count), out),
        }
    }

    /// Appends a header. The first of its records names the count, and the others have an empty field for it.
    pub fn header(&self, header: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let mark = if header.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        append(out, &header[..mark])?;
        let mut rest = &header[mark..];
        let mut name = self.count.as_ref().map(|name| self.quoted_if_needed(name.as_bytes()));
        while !rest.is_empty() {
            let (record, after) = rest.split_at(self.dialect.first(rest).unwrap_or(rest.len()));
            rest = after;
            if self.dialect.is_comment(record) {
                append(out, record)?;
            } else {
                self.fields(record, name.as_deref(), out)?;
                name = name.map(|_| Vec::new());
            }
        }
        Ok(())
    }

    /// Appends a field with the count, if there is one, the chosen fields of a record, and its line end.
    fn fields(&self, record: &[u8], count: Option<&[u8]>, out: &mut Vec<u8>) -> Result<(), Error> {
        let body = without_end(record);
        if let Some(count) = count {
            append(out, count)?;
            append(out, slice::from_ref(&self.separator))?;
        }
        match &self.columns {
            None if self.separator == self.dialect.separator => append(out, body)?,
            // An empty line has no fields.
            _ if body.is_empty() => {}
            None => self.joined(self.dialect.fields(body), count.is_some(), out)?,
            Some(columns) => {
                let fields: Vec<&[u8]> = self.dialect.fields(body).collect();
                let chosen = columns.iter().map(|&column| fields.get(column).copied().unwrap_or_default());
                if let ([column], None) = (&columns[..], count)
                    && fields.get(*column).is_none_or(|field| field.is_empty())
                {
                    // Not a line without fields.
                    append(out, &[QUOTE; 2])?;
                } else {
                    self.joined(chosen, count.is_some(), out)?;
                }
            }
        }
        append(out, &record[body.len()..])
    }

    /// Appends fields with separators between them. `follows` says that the record has begun before them.
    fn joined<'f>(
        &self,
        fields: impl Iterator<Item = &'f [u8]>,
        follows: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        for (index, field) in fields.enumerate() {
            if index > 0 {
                append(out, slice::from_ref(&self.separator))?;
            }
            // What is in quotes already needs no others. At the end of a record, a carriage return would belong to the line end.
            let unquoted = if field.first() == Some(&QUOTE) { &field[after_quotes(field)..] } else { field };
            let begins_comment = index == 0 && !follows && self.dialect.is_comment(field);
            if begins_comment || memchr2(self.separator, b'\r', unquoted).is_some() {
                append(out, &quoted(&value(field)))?;
            } else {
                append(out, field)?;
            }
        }
        Ok(())
    }

    /// A value as a field at the start of a record.
    fn quoted_if_needed(&self, value: &[u8]) -> Vec<u8> {
        let is_special = |byte: &u8| [self.separator, QUOTE, b'\n', b'\r'].contains(byte);
        if self.dialect.is_comment(value) || value.iter().any(is_special) {
            quoted(value)
        } else {
            value.to_vec()
        }
    }
}

/// A value in quotes.
fn quoted(value: &[u8]) -> Vec<u8> {
    let mut field = vec![QUOTE];
    for &byte in value {
        field.push(byte);
        if byte == QUOTE {
            field.push(QUOTE);
        }
    }
    field.push(QUOTE);
    field
}

/// Appends a line of JSON as a member of an object that also has its count.
fn object(line: &[u8], name: &str, count: &str, out: &mut Vec<u8>) -> Result<(), Error> {
    let body = without_end(line);
    let document = if is_blank(body) { b"null" } else { body.trim_ascii() };
    let name = serde_json::Value::from(name);
    append(out, format!("{{{name}:{count},\"{RECORD}\":").as_bytes())?;
    append(out, document)?;
    append(out, b"}")?;
    append(out, &line[body.len()..])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(columns: &[usize], separator: u8, count: Option<&str>) -> Written {
        Written {
            form: Form::Delimited(b','),
            dialect: Dialect { separator: b',', comment: Some(b'#') },
            columns: (!columns.is_empty()).then(|| columns.to_vec()),
            separator,
            count: count.map(str::to_owned),
        }
    }

    fn record(written: &Written, text: &str) -> String {
        let mut out = Vec::new();
        written.record(text.as_bytes(), 3, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn records_are_written_as_was_asked() {
        let all = written(&[], b';', None);
        assert_eq!(record(&all, "a,\"b,c\",d;e,\"f\"\"\"\r\n"), "a;\"b,c\";\"d;e\";\"f\"\"\"\r\n");
        assert_eq!(record(&all, "5\"; x,\"a\";b\n"), "\"5\"\"; x\";\"a;b\"\n");
        assert_eq!(record(&all, "# a,b;\n\n"), "# a,b;\n\n");
        let some = written(&[2, 0], b',', None);
        assert_eq!(record(&some, "a,b,\"c\nd\",e\n"), "\"c\nd\",a\n");
        assert_eq!(record(&some, "a\r\n"), ",a\r\n");
        assert_eq!(record(&some, "a,b,#c\n"), "\"#c\",a\n");
        assert_eq!(record(&some, "\n"), "\n");
        assert_eq!(record(&written(&[1], b',', None), "a\n"), "\"\"\n");
        assert_eq!(record(&written(&[1, 0], b',', None), "x\r,y\n"), "y,\"x\r\"\n");
        let counted = written(&[], b',', Some("count"));
        assert_eq!(record(&counted, "a,\"b\"\n"), "3,a,\"b\"\n");
        assert_eq!(record(&counted, "\n"), "3,\n");
        assert_eq!(record(&counted, "#a\n"), "#a\n");
        assert_eq!(record(&written(&[1], b'\t', Some("n")), "a,b\n"), "3\tb\n");
        let json = Written { form: Form::JsonLines, ..written(&[], b',', Some("n\"")) };
        assert_eq!(record(&json, " {\"a\": 1} \r\n"), "{\"n\\\"\":3,\"record\":{\"a\": 1}}\r\n");
        assert_eq!(record(&json, "\n"), "{\"n\\\"\":3,\"record\":null}\n");
    }

    #[test]
    fn headers_name_the_count_once() {
        let header = |written: &Written, text: &str| {
            let mut out = Vec::new();
            written.header(text.as_bytes(), &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let counted = written(&[], b',', Some("co,unt"));
        assert_eq!(header(&counted, "\u{FEFF}#x\na,b\n#y\nc,\n"), "\u{FEFF}#x\n\"co,unt\",a,b\n#y\n,c,\n");
        assert_eq!(header(&written(&[1, 1], b';', None), "a,b\n"), "b;b\n");
        assert_eq!(header(&counted, ""), "");
    }

    proptest! {
        /// Whatever the fields are, a reader finds the same values.
        #[test]
        fn values_stay(record in "[ab\";,#\r]{0,30}[ab\";,#]", columns in prop::collection::vec(0usize..4, 0..4)) {
            let dialect = Dialect { separator: b',', comment: None };
            prop_assume!(dialect.first(format!("{record}\n").as_bytes()) == Some(record.len() + 1));
            let written = Written { dialect, ..written(&columns, b';', None) };
            let mut out = Vec::new();
            written.record(format!("{record}\n").as_bytes(), 1, &mut out).unwrap();
            let values = |text: &[u8], separator| {
                let dialect = Dialect { separator, comment: None };
                dialect.fields(text).map(|field| value(field).into_owned()).collect::<Vec<_>>()
            };
            let read = values(record.as_bytes(), b',');
            let expected = match &columns[..] {
                [] => read,
                columns => columns.iter().map(|&column| read.get(column).cloned().unwrap_or_default()).collect(),
            };
            let again = Dialect { separator: b';', comment: None };
            prop_assert_eq!(again.first(&out), Some(out.len()));
            prop_assert_eq!(values(without_end(&out), b';'), expected);
        }
    }
}
