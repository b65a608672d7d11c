//! `-n` and `-h`: decimal numbers of any length, compared exactly.

use std::cmp::Ordering;

use super::blank;

/// A number as parsed from the start of a key: blanks, `-`, digits, `.`, digits, each of which is optional.
///
/// Text that is not a number counts as 0. Leading zeros of the integer and trailing zeros of the fraction are
/// dropped, and 0 is not negative, so that equal numbers have equal fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number<'t> {
    negative: bool,
    integer: &'t [u8],
    /// The integer part, or `u64::MAX` if it has more than 19 digits.
    value: u64,
    fraction: &'t [u8],
}

/// A number with this many digits always fits in 64 bits.
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

    /// The rank of a number's unit for `-h`. Positive numbers rank by unit: none, then K to Y. Negative numbers
    /// rank in the reverse order, below them. Zero has no unit.
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

    /// The number of bytes of `text` that are read as a number, and its unit if `with_unit` is set.
    pub fn length(text: &[u8], with_unit: bool) -> usize {
        let parts = Parts::read(text);
        if parts.integer.is_empty() && parts.fraction.is_empty() {
            return 0;
        }
        let unit = with_unit && parts.rest.first().is_some_and(|&byte| power(byte).is_some());
        text.len() - parts.rest.len() + usize::from(unit)
    }

    /// Appends an encoding that compares as the numbers do; no encoding is a prefix of another. It has the sign
    /// and the number of integer digits, then all digits in pairs, then a 0. For a negative number, everything
    /// is complemented.
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
        // Trailing zeros of an integer are dropped: the number of integer digits already implies them.
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

/// The parts of a number as written.
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

/// The digits at the start of `text`, their value modulo 2^64, and the rest of the text.
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
