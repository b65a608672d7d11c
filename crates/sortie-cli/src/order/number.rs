//! `-n` and `-h`: decimal numbers of any length, compared exactly.

use std::cmp::Ordering;

use super::blank;

/// A number as read from the start of a key: blanks, `-`, digits, `.`, digits, each of which may be missing.
///
/// What is no number counts as 0. Leading zeros of the integer and trailing zeros of the fraction are left out,
/// and 0 is not negative, so that equal numbers are equal field by field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number<'t> {
    negative: bool,
    integer: &'t [u8],
    /// The integer part; `u64::MAX` where it has more than 19 digits.
    value: u64,
    fraction: &'t [u8],
}

/// Digits that always fit 64 bits.
const FITTING: usize = 19;

impl<'t> Number<'t> {
    #[inline]
    pub fn read(text: &'t [u8]) -> Number<'t> {
        let Parts { negative, mut integer, value, mut fraction, .. } = Parts::read(blank::trimmed(text));
        while let [b'0', rest @ ..] = integer {
            integer = rest;
        }
        while let [rest @ .., b'0'] = fraction {
            fraction = rest;
        }
        let is_zero = integer.is_empty() && fraction.is_empty();
        let value = if integer.len() <= FITTING { value } else { u64::MAX };
        Number { negative: negative && !is_zero, integer, value, fraction }
    }

    /// The rank of a number's unit for `-h`: none, then K to Y; the other way round and before these for
    /// negative numbers. Zero has no unit.
    pub fn unit(text: &[u8]) -> u8 {
        const NONE: u8 = 128;
        let parts = Parts::read(blank::trimmed(text));
        let is_zero = parts.integer.iter().chain(parts.fraction).all(|&digit| digit == b'0');
        match parts.rest.first().and_then(|&byte| power(byte)) {
            Some(power) if !is_zero && parts.negative => NONE - power,
            Some(power) if !is_zero => NONE + power,
            _ => NONE,
        }
    }

    /// How much of `text` is read as a number, and as its unit.
    pub fn length(text: &[u8], with_unit: bool) -> usize {
        let parts = Parts::read(text);
        if parts.integer.is_empty() && parts.fraction.is_empty() {
            return 0;
        }
        let unit = with_unit && parts.rest.first().is_some_and(|&byte| power(byte).is_some());
        text.len() - parts.rest.len() + usize::from(unit)
    }

    /// Appends bytes that compare as numbers do, none the beginning of another's: the sign with the count of
    /// integer digits, then all digits by two, closed by a 0; for a negative number the complement of that.
    pub fn encode(&self, out: &mut Vec<u8>) {
        const ZERO: u8 = 0x80;
        const MANY: usize = 0x7e;
        if self.integer.is_empty() && self.fraction.is_empty() {
            return out.push(ZERO);
        }
        let start = out.len();
        match self.integer.len() {
            few if few < MANY => out.push(ZERO + 1 + few as u8),
            many => {
                out.push(0xff);
                out.extend_from_slice(&(many as u64).to_be_bytes());
            }
        }
        let mut digits = self.integer.iter().chain(self.fraction).map(|digit| digit - b'0');
        let mut significant = out.len();
        while let Some(high) = digits.next() {
            let pair = high * 10 + digits.next().unwrap_or(0);
            out.push(pair + 1);
            if pair != 0 {
                significant = out.len();
            }
        }
        // 100 and 1e2 have as many integer digits; the zeros that end them say nothing more.
        out.truncate(significant);
        out.push(0);
        if self.negative {
            out[start..].iter_mut().for_each(|byte| *byte = !*byte);
        }
    }
}

impl Ord for Number<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let size = |a: &Self, b: &Self| {
            if a.value != b.value {
                return a.value.cmp(&b.value);
            }
            let integers = match a.value {
                u64::MAX => a.integer.len().cmp(&b.integer.len()).then_with(|| a.integer.cmp(b.integer)),
                _ => Ordering::Equal,
            };
            integers.then_with(|| a.fraction.cmp(b.fraction))
        };
        match (self.negative, other.negative) {
            (false, false) => size(self, other),
            (true, true) => size(other, self),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Number<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// What a number is written with.
struct Parts<'t> {
    negative: bool,
    integer: &'t [u8],
    /// The integer part modulo 2^64.
    value: u64,
    fraction: &'t [u8],
    rest: &'t [u8],
}

impl<'t> Parts<'t> {
    fn read(text: &'t [u8]) -> Parts<'t> {
        let unsigned = text.strip_prefix(b"-");
        let (integer, value, rest) = digits(unsigned.unwrap_or(text));
        let (fraction, rest) = match rest {
            [b'.', after @ ..] => {
                let (fraction, _, rest) = digits(after);
                (fraction, rest)
            }
            _ => (&rest[..0], rest),
        };
        Parts { negative: unsigned.is_some(), integer, value, fraction, rest }
    }
}

/// The digits that `text` starts with, their value modulo 2^64, and what follows.
#[inline]
fn digits(text: &[u8]) -> (&[u8], u64, &[u8]) {
    let (mut count, mut value) = (0, 0u64);
    for digit in text.iter().map(|byte| byte.wrapping_sub(b'0')).take_while(|&digit| digit <= 9) {
        value = value.wrapping_mul(10).wrapping_add(digit.into());
        count += 1;
    }
    let (digits, rest) = text.split_at(count);
    (digits, value, rest)
}

/// The power of 1000 or 1024 that a unit stands for.
fn power(unit: u8) -> Option<u8> {
    b" KMGTPEZY".iter().skip(1).position(|&u| u == unit || (unit == b'k' && u == b'K')).map(|p| p as u8 + 1)
}
