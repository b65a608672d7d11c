//! `-g`: numbers as C's `strtold` reads them in the C locale, rounded to x86's 80-bit long double.
//!
//! Reads decimal and hexadecimal numbers with exponents, `inf`, `infinity`, `nan` and `nan(...)`, in any case. The
//! rounding matters, because keys that round to the same number are equal. The result is the same on every platform.

use num_bigint::BigUint;

/// The code that orders a key, of 80 bits: text that is not a number comes first, then NaNs, then numbers.
pub fn code(text: &[u8]) -> u128 {
    const ZERO: u128 = 1 << 79;
    match read(text) {
        None => 0,
        Some(Float { negative, value: Value::Nan(payload), .. }) => 1 + nan_code(negative, payload),
        Some(Float { negative: true, value: Value::Size(size @ 1..), .. }) => ZERO - 1 - size,
        Some(Float { value: Value::Size(size), .. }) => ZERO + size,
    }
}

/// The code of a NaN. NaNs compare by their bytes, least significant byte first, as in GNU sort on x86. The sign is
/// in the last byte.
fn nan_code(negative: bool, payload: u64) -> u128 {
    let bytes = payload.swap_bytes() >> 8 << 6 | payload >> 56;
    u128::from(bytes << 1) + u128::from(negative)
}

/// The number of bytes at the start of `text` that are read as a number.
pub fn length(text: &[u8]) -> usize {
    read(text).map_or(0, |float| text.len() - float.rest)
}

/// The number at the start of a key.
struct Float {
    negative: bool,
    value: Value,
    /// The number of bytes that follow it.
    rest: usize,
}

enum Value {
    /// The magnitude: 15 bits of exponent, then 64 bits of significand, so that magnitudes compare as integers.
    Size(u128),
    /// The payload of a NaN, of [`PAYLOAD`] bits.
    Nan(u64),
}

/// The number of significand bits that `nan(...)` can set in a NaN. The two bits above them are always set.
const PAYLOAD: u32 = 62;
/// Infinity, without the top bit of its significand. Codes below that of negative infinity belong to NaNs.
const INFINITY: u128 = 0x7fff << 64;
/// The exponent of the lowest bit of the smallest subnormal number.
const LOWEST_BIT: i64 = -16445;

fn read(text: &[u8]) -> Option<Float> {
    let spaces = text.iter().take_while(|b| matches!(b, b' ' | b'\t'..=b'\r')).count();
    let text = &text[spaces..];
    let (negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let (value, rest) = match *text.first()? | 0x20 {
        b'i' => (Value::Size(INFINITY), after_word(text, b"infinity").or_else(|| after_word(text, b"inf"))?),
        b'n' => {
            let (payload, rest) = read_payload(after_word(text, b"nan")?);
            (Value::Nan(payload), rest)
        }
        _ => {
            let (size, rest) = after_word(text, b"0x").and_then(read_hex).or_else(|| read_decimal(text))?;
            (Value::Size(size), rest)
        }
    };
    Some(Float { negative, value, rest: rest.len() })
}

/// The rest of `text` after `word`, if it starts with that word in any case.
fn after_word<'t>(text: &'t [u8], word: &[u8]) -> Option<&'t [u8]> {
    let (start, rest) = text.split_at_checked(word.len())?;
    start.eq_ignore_ascii_case(word).then_some(rest)
}

/// The payload after `nan` and the rest of the text. The payload is `(NUMBER)`, as C's strtoull reads it; other text
/// in parentheses is skipped.
fn read_payload(text: &[u8]) -> (u64, &[u8]) {
    let inner = text.strip_prefix(b"(").unwrap_or_default();
    let length = inner.iter().take_while(|&&b| b.is_ascii_alphanumeric() || b == b'_').count();
    let (inner, Some(rest)) = (&inner[..length], inner[length..].strip_prefix(b")")) else {
        return (0, text);
    };
    let (digits, radix) = match (after_word(inner, b"0x"), inner) {
        (Some(digits), _) => (digits, 16),
        (None, [b'0', ..]) => (inner, 8),
        _ => (inner, 10),
    };
    let value = |digit: &u8| char::from(*digit).to_digit(radix).map(u64::from);
    let number = digits.iter().try_fold(0u64, |number, digit| {
        value(digit).map(|digit| number.saturating_mul(radix.into()).saturating_add(digit))
    });
    (number.unwrap_or(0) & ((1 << PAYLOAD) - 1), rest)
}

/// The digits of a number, and where its decimal point is.
struct Digits<'t> {
    integer: &'t [u8],
    fraction: &'t [u8],
    rest: &'t [u8],
}

impl<'t> Digits<'t> {
    /// Reads digits around an optional point. At least one digit is required.
    fn read(text: &'t [u8], is_digit: fn(&u8) -> bool) -> Option<Digits<'t>> {
        let count = |text: &[u8]| text.iter().take_while(|b| is_digit(b)).count();
        let (integer, rest) = text.split_at(count(text));
        let (fraction, rest) = match rest {
            [b'.', after @ ..] => after.split_at(count(after)),
            _ => (&rest[..0], rest),
        };
        (integer.len() + fraction.len() > 0).then_some(Digits { integer, fraction, rest })
    }

    /// The digits from the first nonzero one.
    fn significant(&self) -> impl Iterator<Item = u8> {
        self.integer.iter().chain(self.fraction).copied().skip_while(|&digit| digit == b'0')
    }
}

/// The exponent after `letter` at the start of `text`, or 0 if there is none, and the rest of the text. Exponents too
/// large to matter are clamped.
fn read_exponent(text: &[u8], letter: u8) -> (i64, &[u8]) {
    const BEYOND: i64 = 1 << 48;
    let [first, after @ ..] = text else { return (0, text) };
    let (negative, digits) = match after {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        _ => (false, after),
    };
    let length = digits.iter().take_while(|b| b.is_ascii_digit()).count();
    if first.to_ascii_lowercase() != letter || length == 0 {
        return (0, text);
    }
    let size = digits[..length].iter().fold(0, |size, d| (size * 10 + i64::from(d - b'0')).min(BEYOND));
    (if negative { -size } else { size }, &digits[length..])
}

/// Reads the digits that follow `0x`.
fn read_hex(text: &[u8]) -> Option<(u128, &[u8])> {
    /// The number of digits that fit beside the sticky bit.
    const KEPT: usize = 31;
    let digits = Digits::read(text, u8::is_ascii_hexdigit)?;
    let (exponent, rest) = read_exponent(digits.rest, b'p');
    let (mut significand, mut dropped, mut sticky) = (0, 0, false);
    for (place, digit) in digits.significant().enumerate() {
        if place < KEPT {
            let value = char::from(digit).to_digit(16).expect("only digits were taken");
            significand = significand << 4 | u128::from(value);
        } else {
            dropped += 1;
            sticky |= digit != b'0';
        }
    }
    let exponent = exponent + 4 * (dropped - digits.fraction.len() as i64);
    Some((round(significand, exponent, sticky), rest))
}

fn read_decimal(text: &[u8]) -> Option<(u128, &[u8])> {
    /// The number of digits that always fit in a `u64`.
    const SHORT: usize = 19;
    let digits = Digits::read(text, u8::is_ascii_digit)?;
    let (exponent, rest) = read_exponent(digits.rest, b'e');
    let exponent = exponent - digits.fraction.len() as i64;
    let length = digits.significant().count();
    let short = if length <= SHORT {
        let number = digits.significant().fold(0, |number, d| number * 10 + u64::from(d - b'0'));
        scale_short(number, exponent)
    } else {
        None
    };
    Some((short.unwrap_or_else(|| scale_long(&digits, length, exponent)), rest))
}

/// `number * 10^exponent`, if both are small enough for exact arithmetic in 128 bits.
fn scale_short(number: u64, exponent: i64) -> Option<u128> {
    /// 5^27 is the largest power of 5 below 2^63.
    const MOST: u32 = 27;
    let power = u32::try_from(exponent.unsigned_abs()).ok().filter(|&power| power <= MOST || number == 0)?;
    if number == 0 {
        return Some(0);
    }
    let five = 5u128.pow(power);
    if exponent >= 0 {
        return Some(round(u128::from(number) * five, exponent, false));
    }
    // With the dividend's top bit at 2^127, the quotient has at least 65 bits, one more than the result.
    let shift = number.leading_zeros() + 64;
    let dividend = u128::from(number) << shift;
    Some(round(dividend / five, exponent - i64::from(shift), !dividend.is_multiple_of(five)))
}

/// `digits * 10^exponent` for any number of digits and any exponent.
fn scale_long(digits: &Digits, length: usize, exponent: i64) -> u128 {
    /// The midpoint of two adjacent numbers has fewer digits than this. For digits beyond, it only matters whether
    /// all are 0.
    const DECISIVE: usize = 12_000;
    let (smallest, largest) = (-4960, 4940);
    match length as i64 + exponent {
        _ if length == 0 => return 0,
        size if size < smallest => return 0,
        size if size > largest => return INFINITY,
        _ => {}
    }
    let mut kept: Vec<u8> = digits.significant().take(DECISIVE).collect();
    let mut exponent = exponent;
    if length > DECISIVE {
        let more = digits.significant().skip(DECISIVE).any(|digit| digit != b'0');
        kept.push(if more { b'1' } else { b'0' });
        exponent += (length - kept.len()) as i64;
    }
    let number = BigUint::parse_bytes(&kept, 10).expect("only digits were taken");
    let power = BigUint::from(10u8).pow(exponent.unsigned_abs() as u32);
    if exponent >= 0 {
        return round_big(&(number * power), 0, false);
    }
    let shift = (130 + power.bits()).saturating_sub(number.bits());
    let dividend = number << shift;
    let quotient = &dividend / &power;
    let exact = &quotient * &power == dividend;
    round_big(&quotient, -(shift as i64), !exact)
}

/// [`round`] for a significand of any length.
fn round_big(significand: &BigUint, exponent: i64, sticky: bool) -> u128 {
    let excess = significand.bits().saturating_sub(128);
    let lost = significand.trailing_zeros().is_some_and(|zeros| zeros < excess);
    let top = u128::try_from(significand >> excess).expect("128 bits are left");
    round(top, exponent + excess as i64, sticky || lost)
}

/// The magnitude nearest to `significand * 2^exponent`; ties go to the even one. If `sticky` is set, the exact number
/// is a little larger; the significand then has at least 65 bits.
fn round(significand: u128, exponent: i64, sticky: bool) -> u128 {
    if significand == 0 {
        return 0;
    }
    let top = exponent + 127 - i64::from(significand.leading_zeros());
    if top > 16383 {
        return INFINITY;
    }
    let lowest = (top - 63).max(LOWEST_BIT);
    let mantissa = match lowest - exponent {
        left @ ..=0 => significand << -left,
        129.. => 0,
        right => {
            let half = 1 << (right - 1);
            let kept = significand.checked_shr(right as u32).unwrap_or(0);
            let lost = significand & (half | (half - 1));
            let is_odd = kept & 1 == 1;
            let up = lost > half || lost == half && (sticky || is_odd);
            kept + u128::from(up)
        }
    };
    // A carry out of the 64 bits increments the exponent, which gives the bits of the next number. The same
    // holds for the carry from the largest subnormal number.
    let (mantissa, lowest) =
        if mantissa >> 64 == 1 { (mantissa >> 1, lowest + 1) } else { (mantissa, lowest) };
    let biased = if mantissa >> 63 == 1 { (lowest - LOWEST_BIT + 1) as u128 } else { 0 };
    if biased >= 0x7fff { INFINITY } else { biased << 64 | mantissa }
}
