//! `-V`: version numbers within text, by the version sort rules of the GNU coreutils manual.
//!
//! The order is defined by an encoding. A text alternates between stretches of non-digits and of digits. Among
//! non-digits, `~` sorts before the end of the stretch, then come letters, then all other bytes. Digits compare
//! as a number. File suffixes such as `.tar.gz` count only between texts that are equal without them.

use std::cmp::Ordering;

use super::common_prefix;

const TILDE: u8 = 1;
/// Marks the end of a stretch of non-digits.
const END: u8 = 2;
const FIRST_LETTER: u8 = 3;
const FIRST_OTHER: u8 = FIRST_LETTER + 52;

/// The rank of each byte among the non-digits; 0 for digits.
static RANKS: [u8; 256] = ranks();

const fn ranks() -> [u8; 256] {
    let mut ranks = [0; 256];
    let (mut letter, mut other) = (FIRST_LETTER, FIRST_OTHER);
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        if b == b'~' {
            ranks[byte] = TILDE;
        } else if b.is_ascii_alphabetic() {
            ranks[byte] = letter;
            letter += 1;
        } else if !b.is_ascii_digit() {
            ranks[byte] = other;
            other += 1;
        }
        byte += 1;
    }
    ranks
}

/// Compares two texts as their encodings compare.
pub fn compare(a: &[u8], b: &[u8]) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    class(a).cmp(&class(b)).then_with(|| {
        let [a_body, b_body] = [a, b].map(without_suffixes);
        compare_stretches(a_body, b_body).then_with(|| compare_stretches(a, b))
    })
}

fn compare_stretches(a: &[u8], b: &[u8]) -> Ordering {
    // Equal texts may begin differently only if a number does, so it is compared from its first digit.
    let mut same = common_prefix(a, b);
    while same > 0 && a[same - 1].is_ascii_digit() {
        same -= 1;
    }
    let (mut a, mut b) = (&a[same..], &b[same..]);
    loop {
        let ranks = (rank(a), rank(b));
        if ranks.0 != ranks.1 {
            return ranks.0.cmp(&ranks.1);
        }
        if ranks.0 != END {
            (a, b) = (&a[1..], &b[1..]);
            continue;
        }
        let (a_number, a_rest) = split_number(a);
        let (b_number, b_rest) = split_number(b);
        let numbers = a_number.len().cmp(&b_number.len()).then_with(|| a_number.cmp(b_number));
        if numbers.is_ne() || a_rest.is_empty() && b_rest.is_empty() {
            return numbers;
        }
        (a, b) = (a_rest, b_rest);
    }
}

/// The rank of the first byte; the end of the text and digits end a stretch of non-digits.
fn rank(text: &[u8]) -> u8 {
    match text.first() {
        Some(&byte) if !byte.is_ascii_digit() => RANKS[usize::from(byte)],
        _ => END,
    }
}

/// The digits at the start of a text without leading zeros, and the rest of the text.
fn split_number(text: &[u8]) -> (&[u8], &[u8]) {
    let (digits, rest) = text.split_at(text.iter().take_while(|b| b.is_ascii_digit()).count());
    (&digits[digits.iter().take_while(|&&d| d == b'0').count()..], rest)
}

/// The empty text comes first, then the special names `.` and `..`, then hidden files.
pub fn class(text: &[u8]) -> u8 {
    match text {
        b"" => 0,
        b"." => 1,
        b".." => 2,
        [b'.', ..] => 3,
        _ => 4,
    }
}

/// Appends an encoding that compares as versions do. No encoding is a prefix of another.
pub fn encode(text: &[u8], out: &mut Vec<u8>) {
    let class = class(text);
    out.push(class);
    if class > 2 {
        encode_stretches(without_suffixes(text), out);
        encode_stretches(text, out);
    }
}

/// The end of a text counts as the number 0 and an empty stretch: `a`, `a0` and `a00` are equal, and less than
/// `a1`.
fn encode_stretches(mut text: &[u8], out: &mut Vec<u8>) {
    loop {
        let letters = text.iter().take_while(|b| !b.is_ascii_digit()).count();
        out.extend(text[..letters].iter().map(|&byte| RANKS[usize::from(byte)]));
        out.push(END);
        text = &text[letters..];
        let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
        encode_number(&text[..digits], out);
        text = &text[digits..];
        if text.is_empty() {
            return out.push(END);
        }
    }
}

/// Appends the number of digits without leading zeros, then these digits in pairs.
fn encode_number(digits: &[u8], out: &mut Vec<u8>) {
    let (digits, _) = split_number(digits);
    match u8::try_from(digits.len()) {
        Ok(few @ ..=254) => out.push(few),
        _ => {
            out.push(255);
            out.extend_from_slice(&(digits.len() as u64).to_be_bytes());
        }
    }
    let pairs = digits.chunks(2).map(|pair| (pair[0] - b'0') * 10 + pair.get(1).map_or(0, |low| low - b'0'));
    out.extend(pairs);
}

/// A text without its file suffixes. Each suffix is a dot, a letter or `~`, then letters, digits and `~`.
fn without_suffixes(text: &[u8]) -> &[u8] {
    let mut end = text.len();
    loop {
        let body = text[..end].iter().rev().take_while(|&&b| b.is_ascii_alphanumeric() || b == b'~').count();
        let start = end - body;
        let is_suffix = start >= 1
            && text[start - 1] == b'.'
            && text[start..end].first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'~');
        if !is_suffix {
            return &text[..end];
        }
        end = start - 1;
    }
}
