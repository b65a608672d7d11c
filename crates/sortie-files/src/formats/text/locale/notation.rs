//! How numbers are written.

use std::sync::Arc;

use crate::formats::text::blank;

/// The decimal point and the separator of thousands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notation {
    point: u8,
    thousands: Option<u8>,
    /// The decimal point of `-g`, which may have several bytes.
    float_point: Arc<[u8]>,
}

impl Default for Notation {
    /// That of the C locale.
    fn default() -> Notation {
        Notation::new(b".", b"")
    }
}

impl Notation {
    /// Signs of several bytes are no signs for `-n` and `-h`, nor is a separator that is not ASCII, as in GNU sort.
    pub fn new(point: &[u8], thousands: &[u8]) -> Notation {
        let single = |sign: &[u8]| if let [byte] = sign { Some(*byte) } else { None };
        Notation {
            point: single(point).unwrap_or(b'.'),
            thousands: single(thousands).filter(u8::is_ascii),
            float_point: if point.is_empty() { b".".as_slice() } else { point }.into(),
        }
    }

    pub fn point(&self) -> u8 {
        self.point
    }

    pub fn is_of_c(&self) -> bool {
        self.point == b'.' && self.thousands.is_none()
    }

    /// Calls `then` with the number at the start of `text`, written as in the C locale: blanks, `-`, digits, `.`, digits.
    pub fn with_number<T>(&self, text: &[u8], then: impl FnOnce(&[u8]) -> T) -> T {
        if self.is_of_c() {
            return then(text);
        }
        let text = blank::trimmed(text);
        let is_digit = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
        let is_separator = |at: usize| self.thousands.is_some() && text.get(at).copied() == self.thousands;
        let mut whole = usize::from(text.first() == Some(&b'-'));
        let mut is_plain = true;
        while is_digit(whole) || is_separator(whole) {
            is_plain &= is_digit(whole);
            whole += 1;
        }
        let (mut end, mut fraction) = (whole, &text[..0]);
        if text.get(whole) == Some(&self.point) {
            end += 1 + text[whole + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            fraction = &text[whole + 1..end];
        }
        if is_plain && (end == whole || self.point == b'.') {
            return then(&text[..end]);
        }
        let digits = text[..whole].iter().filter(|&&byte| Some(byte) != self.thousands);
        let number: Vec<u8> = digits.chain(b".").chain(fraction).copied().collect();
        then(&number)
    }

    /// The number of bytes of `text` before the unit of `-h`, and whether a digit other than 0 is among them. `None` if there is no
    /// digit. A single separator may follow each digit; if it is the last, it ends the number.
    pub fn before_unit(&self, text: &[u8]) -> Option<(usize, bool)> {
        let digit = |at: usize| text.get(at).filter(|byte| byte.is_ascii_digit());
        let mut at = usize::from(text.first() == Some(&b'-'));
        let (mut found, mut ends_with_separator) = (None, false);
        while let Some(byte) = digit(at) {
            found = Some(found == Some(true) || *byte != b'0');
            at += 1;
            ends_with_separator = self.thousands.is_some() && text.get(at).copied() == self.thousands;
            at += usize::from(ends_with_separator);
        }
        if ends_with_separator {
            return found.map(|found| (at - 1, found));
        }
        if text.get(at) == Some(&self.point) {
            at += 1;
            while let Some(byte) = digit(at) {
                found = Some(found == Some(true) || *byte != b'0');
                at += 1;
            }
        }
        found.map(|found| (at, found))
    }

    /// The number of bytes of `text` that `length` finds, which takes text as [`Notation::with_float`] passes it.
    pub fn float_length(&self, text: &[u8], length: impl FnOnce(&[u8]) -> usize) -> usize {
        let found = self.with_float(text, length);
        let has_point = found > 0
            && *self.float_point != *b"."
            && self.with_float(text, |text| text[..found].contains(&b'.'));
        found + if has_point { self.float_point.len() - 1 } else { 0 }
    }

    /// Calls `then` with `text`, in which the decimal point of `-g` is written as in the C locale.
    pub fn with_float<T>(&self, text: &[u8], then: impl FnOnce(&[u8]) -> T) -> T {
        if *self.float_point == *b"." {
            return then(text);
        }
        let at = text.windows(self.float_point.len()).position(|bytes| *bytes == *self.float_point);
        let stop = memchr::memchr(b'.', text).unwrap_or(text.len());
        match at {
            Some(at) if at < stop => {
                let rest = &text[at + self.float_point.len()..];
                let end = memchr::memchr(b'.', rest).unwrap_or(rest.len());
                then(&[&text[..at], b".", &rest[..end]].concat())
            }
            _ => then(&text[..stop]),
        }
    }
}
