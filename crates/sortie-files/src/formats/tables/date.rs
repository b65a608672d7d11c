//! Dates and times: ISO 8601 and RFC 3339, and seconds since 1970.

use super::decimal::{self, Decimal, Number, push_pairs, split_digits};

const DAY: i64 = 86_400;
/// Seconds since 1970 have at most this many digits before the point.
const SECONDS: i64 = 18;
/// Zeros after the point before a digit of a number of seconds.
const ZEROS: i64 = 30;

/// A moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Instant {
    /// Whole seconds since 1970, in UTC.
    seconds: i64,
    /// The digits of the fraction that follows, as numbers, without zeros at the end.
    fraction: Vec<u8>,
}

impl Instant {
    /// Reads a date such as `2024-02-29` or `2024-02`, with a time such as `T12:30:59.5+01:00` or not, or a number of seconds since
    /// 1970. A time without a zone is in UTC. Blanks around it are left out.
    pub fn read(text: &[u8]) -> Option<Instant> {
        let text = text.trim_ascii();
        match Number::read(text) {
            Some(Number::Finite(seconds)) => Instant::since_1970(seconds),
            Some(_) => None,
            None => Instant::of_calendar(text),
        }
    }

    fn since_1970(number: Decimal<'_>) -> Option<Instant> {
        if number.is_zero() {
            return Some(Instant { seconds: 0, fraction: Vec::new() });
        }
        if !(-ZEROS..=SECONDS).contains(&number.exponent) {
            return None;
        }
        let zeros = std::iter::repeat_n(0, (-number.exponent).max(0) as usize);
        let mut digits = zeros.chain(number.digits());
        let whole =
            (0..number.exponent).fold(0, |whole, _| 10 * whole + i64::from(digits.next().unwrap_or(0)));
        let mut fraction: Vec<u8> = digits.collect();
        if !number.negative {
            return Some(Instant { seconds: whole, fraction });
        }
        // Before 1970, the fraction still counts forward from a whole second.
        let Some((last, others)) = fraction.split_last_mut() else {
            return Some(Instant { seconds: -whole, fraction });
        };
        others.iter_mut().for_each(|digit| *digit = 9 - *digit);
        *last = 10 - *last;
        Some(Instant { seconds: -whole - 1, fraction })
    }

    fn of_calendar(text: &[u8]) -> Option<Instant> {
        let (year, rest) = number(text, 4)?;
        let (month, rest) = number(rest.strip_prefix(b"-")?, 2)?;
        let (day, rest) = match rest {
            [b'-', rest @ ..] => number(rest, 2)?,
            rest => (1, rest),
        };
        if !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
            return None;
        }
        let midnight = DAY * days_since_1970(year, month, day);
        match rest {
            [] => Some(Instant { seconds: midnight, fraction: Vec::new() }),
            [b'T' | b't' | b' ', time @ ..] => Instant::on_day(midnight, time),
            _ => None,
        }
    }

    /// Reads `12:30`, `12:30:59` or `12:30:59.5`, and a zone.
    fn on_day(midnight: i64, text: &[u8]) -> Option<Instant> {
        let (hour, rest) = number(text, 2)?;
        let (minute, rest) = number(rest.strip_prefix(b":")?, 2)?;
        let (second, rest) = match rest {
            [b':', rest @ ..] => number(rest, 2)?,
            rest => (0, rest),
        };
        let (fraction, zone) = match rest {
            [b'.' | b',', digit, ..] if digit.is_ascii_digit() => split_digits(&rest[1..]),
            rest => (&[][..], rest),
        };
        let fraction: Vec<u8> =
            decimal::without_trailing_zeros(fraction).iter().map(|digit| digit - b'0').collect();
        let is_end_of_day = (hour, minute, second) == (24, 0, 0) && fraction.is_empty();
        // A leap second has the number 60.
        if !(hour <= 23 || is_end_of_day) || minute > 59 || second > 60 {
            return None;
        }
        let seconds = midnight + 3600 * hour + 60 * minute + second - offset(zone.trim_ascii_start())?;
        Some(Instant { seconds, fraction })
    }

    /// Appends bytes that compare as moments do, whatever follows them. The first of them is 2, or 253 if all are complemented.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(2);
        out.extend_from_slice(&((self.seconds as u64) ^ (1 << 63)).to_be_bytes());
        push_pairs(self.fraction.iter().copied(), out);
    }
}

/// The seconds by which the time in a zone is ahead of UTC: `Z`, `+01:00`, `+0100`, `+01`, or nothing for UTC.
fn offset(zone: &[u8]) -> Option<i64> {
    let (sign, rest) = match zone {
        [] | [b'Z' | b'z'] => return Some(0),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let (hours, rest) = number(rest, 2)?;
    let (minutes, rest) = match rest {
        [] => (0, rest),
        [b':', rest @ ..] | rest => number(rest, 2)?,
    };
    (rest.is_empty() && hours <= 23 && minutes <= 59).then_some(sign * (3600 * hours + 60 * minutes))
}

/// The number of `count` digits at the start of a text, and the rest.
fn number(text: &[u8], count: usize) -> Option<(i64, &[u8])> {
    let (digits, rest) = text.split_at_checked(count)?;
    let add = |number: i64, digit: &u8| digit.is_ascii_digit().then(|| 10 * number + i64::from(digit - b'0'));
    Some((digits.iter().try_fold(0, add)?, rest))
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The days from 1970-01-01 to a day of the Gregorian calendar.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the leap day is the last.
    let year = if month <= 2 { year - 1 } else { year };
    let months = (month + 9) % 12;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leap_days + (153 * months + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<i64> {
        Instant::read(text.as_bytes()).map(|instant| instant.seconds)
    }

    #[test]
    fn days_follow_each_other() {
        let mut expected = days_since_1970(0, 1, 1);
        assert_eq!(expected, -719_528);
        for year in 0..2500 {
            for month in 1..=12 {
                for day in 1..=days_in(year, month) {
                    assert_eq!(days_since_1970(year, month, day), expected, "{year}-{month}-{day}");
                    expected += 1;
                }
            }
        }
        assert_eq!(days_since_1970(1970, 1, 1), 0);
    }

    #[test]
    fn dates_are_read() {
        for (text, expected) in [
            ("1970-01-01", 0),
            ("2000-03-01", 951_868_800),
            ("2024-02", 1_706_745_600),
            ("2024-02-29T12:30:59Z", 1_709_209_859),
            ("2024-02-29 12:30:59", 1_709_209_859),
            ("2024-02-29t13:30:59+01:00", 1_709_209_859),
            ("2024-02-29T07:00:59.25-0530", 1_709_209_859),
            ("2024-02-29T12:30 z", 1_709_209_800),
            ("2024-02-29T24:00", 1_709_251_200),
            ("2016-12-31T23:59:60Z", 1_483_228_800),
            ("1709209859", 1_709_209_859),
            ("1.7e9", 1_700_000_000),
            ("-1.25", -2),
            (" 0001-01-01 ", -62_135_596_800),
        ] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        for text in [
            "",
            "2024",
            "2024-13-01",
            "2023-02-29",
            "2024-1-1",
            "20240101T00",
            "2024-01-01T25:00",
            "2024-01-01T12",
            "2024-01-01T12:60",
            "2024-01-01T12:00:00.",
            "2024-01-01T12:00+1",
            "2024-01-01X",
            "31.12.2024",
            "inf",
            "nan",
            "1e30",
            "2024-01-01T24:00:01",
            "2024-01-01T24:00:00.5",
        ] {
            // A year alone is a number of seconds.
            assert_eq!(seconds(text), (text == "2024").then_some(2024), "{text}");
        }
    }

    #[test]
    fn moments_are_in_order() {
        let ascending = [
            "-1e17",
            "1969-12-31T23:59:58",
            "-1.75",
            "-1.5",
            "-1",
            "-0.000000000000000000000000001",
            "0",
            "1e-9",
            "0.5",
            "1970-01-01T00:00:00.51Z",
            "1970-01-01T02:00:01+02:00",
            "1970-01-02",
            "2024-05-05T00:00:00.123456789123",
            "2024-05-05T00:00:00.1234567892",
        ];
        let encode = |text: &&str| {
            let mut out = Vec::new();
            Instant::read(text.as_bytes()).unwrap().encode(&mut out);
            out
        };
        let codes: Vec<_> = ascending.iter().map(encode).collect();
        assert!(codes.is_sorted_by(|a, b| a < b), "{codes:?}");
    }
}
