//! `-n` and `-h`: decimal numbers of any length, compared exactly.

use std::cmp::Ordering;

use super::code::{Code, first_bytes};
use super::padded;
use crate::formats::text::blank;
use crate::formats::text::locale::Notation;

/// A number as parsed from the start of a key: blanks, `-`, digits, `.`, digits, each of which is optional.
///
/// Text that is not a number counts as 0. Leading zeros of the integer and trailing zeros of the fraction are
/// dropped, and 0 is not negative, so that equal numbers have equal fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number<'t> {
    negative: bool,
    integer: &'t [u8],
    fraction: &'t [u8],
}

/// The leading digits of a number.
#[derive(Debug, Clone, Copy)]
pub struct Leading<'t> {
    /// The sign, the number of integer digits, then [`DIGITS`] digits. Compares as the numbers do, as far as it goes.
    pub code: u64,
    /// Whether the number has no more digits than the code.
    pub exact: bool,
    is_zero: bool,
    negative: bool,
    /// The text after the number.
    rest: &'t [u8],
}

/// The rank of numbers without a unit.
const NO_UNIT: u8 = 128;
/// The number of digits that a code has. They fit in `SHIFT` bits.
const DIGITS: usize = 17;
const SHIFT: u32 = 57;
/// The number of integer digits from which on codes do not distinguish numbers.
const MANY: usize = 63;

static POWERS: [u64; DIGITS + 1] = {
    let mut powers = [1; DIGITS + 1];
    let mut place = 1;
    while place <= DIGITS {
        powers[place] = 10 * powers[place - 1];
        place += 1;
    }
    powers
};

impl<'t> Leading<'t> {
    #[inline]
    pub fn read(text: &'t [u8]) -> Leading<'t> {
        let text = blank::trimmed(text);
        let unsigned = text.strip_prefix(b"-");
        let (negative, mut integer) = (unsigned.is_some(), unsigned.unwrap_or(text));
        while let [b'0', after @ ..] = integer {
            integer = after;
        }
        let (whole, value) = read_digits(integer, 0);
        let (integer, mut rest) = integer.split_at(whole);
        let (mut fraction, mut value) = (&rest[..0], value);
        if let [b'.', after @ ..] = rest {
            let (part, more) = read_digits(after, value);
            (fraction, rest) = after.split_at(part);
            value = more;
        }
        let count = whole + fraction.len();
        let (size, is_zero, exact) = if count <= DIGITS {
            let leading = value * POWERS[DIGITS - count];
            ((whole as u64) << SHIFT | leading, value == 0, true)
        } else {
            leading(integer, fraction)
        };
        let code = 1 << 63 | size;
        let code = if negative && !is_zero { !code } else { code };
        Leading { code, exact, is_zero, negative, rest }
    }

    /// The rank of the number's unit for `-h`. Positive numbers rank by unit: none, then K to Y. Negative numbers rank in the
    /// reverse order, below them. Zero has no unit.
    pub fn unit(&self) -> u8 {
        match self.rest.first().and_then(|&byte| power(byte)) {
            Some(power) if !self.is_zero && self.negative => NO_UNIT - power,
            Some(power) if !self.is_zero => NO_UNIT + power,
            _ => NO_UNIT,
        }
    }
}

/// The size of a number with more digits than a code has, whether it is 0, and whether the other digits are all 0.
#[cold]
fn leading(integer: &[u8], fraction: &[u8]) -> (u64, bool, bool) {
    let digits = || integer.iter().chain(fraction).map(|digit| digit - b'0');
    let is_zero = digits().all(|digit| digit == 0);
    if integer.len() >= MANY {
        return ((MANY as u64) << SHIFT, is_zero, false);
    }
    let leading = digits().take(DIGITS).fold(0, |value, digit| 10 * value + u64::from(digit));
    let exact = digits().skip(DIGITS).all(|digit| digit == 0);
    ((integer.len() as u64) << SHIFT | leading, is_zero, exact)
}

/// The code of 0.
const ZERO: u128 = 1 << 127;

/// The code of a number, and what decides its unit.
struct Coded<'t> {
    /// The sign, the number of integer digits, then 15 digits of a byte each.
    code: u128,
    /// Whether the number has no more digits than the code.
    exact: bool,
    /// The text after the number, if it is known.
    rest: Option<&'t [u8]>,
}

/// The code of a key of `-n`.
#[inline]
pub fn code(text: &[u8]) -> Code {
    let Coded { code, exact, .. } = coded(text);
    Code::new(code, exact)
}

/// The code of a key of `-h`: the rank of its unit, then its number.
pub fn human_code(text: &[u8], notation: &Notation) -> Code {
    if !notation.is_of_c() {
        let Coded { code, exact, .. } =
            notation.with_number(text, |number| Coded { rest: None, ..coded(number) });
        return Coded::with_unit(code, exact, unit(text, notation));
    }
    let Coded { code, exact, rest } = coded(text);
    let unit = match rest.map(|rest| rest.first().and_then(|&byte| power(byte))) {
        None => Leading::read(text).unit(),
        Some(Some(power)) if code < ZERO => NO_UNIT - power,
        Some(Some(power)) if code > ZERO => NO_UNIT + power,
        Some(_) => NO_UNIT,
    };
    Coded::with_unit(code, exact, unit)
}

/// The rank of the unit of a number of `-h`, as [`Leading::unit`].
pub fn unit(text: &[u8], notation: &Notation) -> u8 {
    if notation.is_of_c() {
        return Leading::read(text).unit();
    }
    let text = blank::trimmed(text);
    let is_negative = text.first() == Some(&b'-');
    match notation.before_unit(text).map(|(end, is_other_than_zero)| (text.get(end), is_other_than_zero)) {
        Some((Some(&byte), true)) => match power(byte).unwrap_or(0) {
            power if is_negative => NO_UNIT - power,
            power => NO_UNIT + power,
        },
        _ => NO_UNIT,
    }
}

impl Coded<'_> {
    fn with_unit(code: u128, exact: bool, unit: u8) -> Code {
        // The digit that is dropped is 0 in an exact code, whose bits are all inverted for a negative number.
        let dropped = code as u8;
        Code::new(u128::from(unit) << 120 | code >> 8, exact && (dropped == 0 || dropped == 0xff))
    }
}

#[inline(always)]
fn coded(text: &[u8]) -> Coded<'_> {
    let text = blank::trimmed(text);
    let unsigned = text.strip_prefix(b"-");
    let mut number = unsigned.unwrap_or(text);
    while let [b'0', after @ ..] = number {
        number = after;
    }
    let values = first_bytes(number) ^ ZEROS;
    let [first, second] = [(values >> 64) as u64, values as u64];
    let whole = match (digits_before(others(first)), digits_before(others(second))) {
        (WORD, WORD) => return coded_long(values, number, unsigned.is_some()),
        (WORD, more) => WORD + more,
        (few, _) => few,
    };
    let mut digits = values & !AFTER[whole];
    let (mut end, mut exact) = (whole, true);
    if number.get(whole) == Some(&b'.') {
        // The point is dropped.
        let after = u128::from(others(first)) << 64 | u128::from(others(second));
        end = (after & AFTER[whole + 1]).leading_zeros() as usize / 8;
        exact = end < 2 * WORD;
        digits |= values << 8 & AFTER[whole] & !AFTER[if exact { end - 1 } else { end }];
    }
    let code = ZERO | (whole as u128) << 120 | digits >> 8;
    let is_negative = unsigned.is_some() && (digits != 0 || !exact && !Leading::read(number).is_zero);
    Coded {
        code: if is_negative { !code } else { code },
        exact,
        rest: exact.then(|| &number[end.min(number.len())..]),
    }
}

/// The digit 0 in each byte.
const ZEROS: u128 = u128::MAX / 0xff * b'0' as u128;
/// The number of bytes of a word.
const WORD: usize = size_of::<u64>();
/// The bits after each number of bytes.
static AFTER: [u128; 2 * WORD + 1] = {
    let mut after = [0; 2 * WORD + 1];
    let mut bytes = 0;
    while bytes < 2 * WORD {
        after[bytes] = u128::MAX >> (8 * bytes);
        bytes += 1;
    }
    after
};

/// 1 in each byte.
const EACH: u64 = u64::MAX / 0xff;

/// The high bit of each byte tells whether it is more than 9.
#[inline]
fn others(values: u64) -> u64 {
    (((values & (EACH * 0x7f)) + EACH * (0x7f - 9)) | values) & (EACH << 7)
}

/// The number of bytes before the first that is more than 9. The first byte is the highest.
#[inline]
fn digits_before(others: u64) -> usize {
    others.leading_zeros() as usize / 8
}

/// The code of a number with at least 16 integer digits.
#[cold]
fn coded_long(values: u128, number: &[u8], is_negative: bool) -> Coded<'static> {
    /// The number of digits from which on codes do not distinguish numbers.
    const MANY: usize = 0x7f;
    let whole = number.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let digits = if whole < MANY { values >> 8 } else { 0 };
    let code = ZERO | (whole.min(MANY) as u128) << 120 | digits;
    Coded { code: if is_negative { !code } else { code }, exact: false, rest: None }
}

impl<'t> Number<'t> {
    pub fn read(text: &'t [u8]) -> Number<'t> {
        let Parts { negative, mut integer, mut fraction } = Parts::read(blank::trimmed(text));
        while let [b'0', rest @ ..] = integer {
            integer = rest;
        }
        while let [rest @ .., b'0'] = fraction {
            fraction = rest;
        }
        let is_zero = integer.is_empty() && fraction.is_empty();
        Number { negative: negative && !is_zero, integer, fraction }
    }

    /// The number of bytes of `text` that are read as a number, and its unit if `with_unit` is set.
    pub fn length(text: &[u8], with_unit: bool, notation: &Notation) -> usize {
        let Some((end, _)) = notation.before_unit(text) else { return 0 };
        let unit = with_unit && text.get(end).is_some_and(|&byte| power(byte).is_some());
        end + usize::from(unit)
    }

    /// Appends an encoding that compares as the numbers do; no encoding is a prefix of another. It has the sign
    /// and the number of integer digits, then all digits in pairs, then a 0. For a negative number, everything
    /// is complemented.
    pub fn encode(&self, out: &mut Vec<u8>) {
        const ZERO: u8 = 0x80;
        const LONG: usize = 0x7e;
        if self.integer.is_empty() && self.fraction.is_empty() {
            return out.push(ZERO);
        }
        let start = out.len();
        match self.integer.len() {
            few if few < LONG => out.push(ZERO + 1 + few as u8),
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
            let integers = a.integer.len().cmp(&b.integer.len()).then_with(|| a.integer.cmp(b.integer));
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
    fraction: &'t [u8],
}

impl<'t> Parts<'t> {
    fn read(text: &'t [u8]) -> Parts<'t> {
        let unsigned = text.strip_prefix(b"-");
        let written = unsigned.unwrap_or(text);
        let (integer, rest) = written.split_at(read_digits(written, 0).0);
        let fraction = match rest {
            [b'.', after @ ..] => &after[..read_digits(after, 0).0],
            _ => &rest[..0],
        };
        Parts { negative: unsigned.is_some(), integer, fraction }
    }
}

/// The number of digits at the start of `text`, and the value of the digits of `value` and these, modulo 2^64.
#[inline]
pub fn read_digits(text: &[u8], mut value: u64) -> (usize, u64) {
    let mut count = 0;
    loop {
        let rest = &text[count..];
        let word = rest.first_chunk().map_or_else(|| padded(rest), |word| u64::from_le_bytes(*word));
        let (digits, more) = read_word(word);
        value = value.wrapping_mul(POWERS[digits]).wrapping_add(more);
        count += digits;
        if digits < size_of::<u64>() {
            return (count, value);
        }
    }
}

/// The number of digits at the start of 8 characters, and their value. The first character is in the lowest byte.
#[inline]
fn read_word(word: u64) -> (usize, u64) {
    let values = word ^ ZEROS as u64;
    let count = (others(values).trailing_zeros() / 8) as usize;
    // The digits move to the end, after zeros.
    let digits = if count == 0 { 0 } else { values << (64 - 8 * count) };
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    (count, (fours * 10_000 + (fours >> 32)) & 0xffff_ffff)
}

/// The power of 1000 or 1024 that a unit stands for.
fn power(unit: u8) -> Option<u8> {
    Some(match unit {
        b'K' | b'k' => 1,
        b'M' => 2,
        b'G' => 3,
        b'T' => 4,
        b'P' => 5,
        b'E' => 6,
        b'Z' => 7,
        b'Y' => 8,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A number that has few digits, or more than a code.
    fn number() -> impl Strategy<Value = String> {
        prop_oneof![
            " ?-?0{0,2}[0-9]{0,3}(\\.[0-9]{0,2})?",
            "-?1234567[0-9]{10,12}(\\.[01]{0,2})?",
            "-?0?\\.0{15}[01]{0,4}"
        ]
    }

    proptest! {
        #[test]
        fn digits_are_read_up_to_the_first_other_byte(digits in "[0-9]{0,19}", rest in "([^0-9].{0,9})?") {
            let text = [digits.as_bytes(), rest.as_bytes()].concat();
            let value = digits.bytes().fold(7u64, |value, digit| value.wrapping_mul(10).wrapping_add((digit - b'0').into()));
            prop_assert_eq!(read_digits(&text, 7), (digits.len(), value));
        }

        #[test]
        fn leading_digits_compare_as_the_numbers_do(a in number(), b in number()) {
            let expected = Number::read(a.as_bytes()).cmp(&Number::read(b.as_bytes()));
            let codes = code(a.as_bytes()).compare(code(b.as_bytes()));
            let [a, b] = [&a, &b].map(|text| Leading::read(text.as_bytes()));
            let found = a.code.cmp(&b.code);
            prop_assert!(found == expected || found.is_eq() && !(a.exact && b.exact), "{:?}", found);
            prop_assert!(codes.is_none_or(|found| found == expected), "{:?}", codes);
        }
    }
}
