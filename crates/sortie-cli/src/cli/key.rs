//! `-k` and the letters that say how a key is compared.

use std::convert::Infallible;
use std::ops::Range;
use std::str::FromStr;

/// How a key is compared: as options of their own for every key, or as letters after a `-k` place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeyOptions {
    pub blanks: bool,
    pub dictionary: bool,
    pub ignore_case: bool,
    pub general_numeric: bool,
    pub human_numeric: bool,
    pub ignore_nonprinting: bool,
    pub month: bool,
    pub numeric: bool,
    pub random: bool,
    pub reverse: bool,
    pub version: bool,
}

impl KeyOptions {
    /// Turns on the option of this letter; false where there is none.
    pub fn set(&mut self, letter: char) -> bool {
        let option = match letter {
            'b' => &mut self.blanks,
            'd' => &mut self.dictionary,
            'f' => &mut self.ignore_case,
            'g' => &mut self.general_numeric,
            'h' => &mut self.human_numeric,
            'i' => &mut self.ignore_nonprinting,
            'M' => &mut self.month,
            'n' => &mut self.numeric,
            'R' => &mut self.random,
            'r' => &mut self.reverse,
            'V' => &mut self.version,
            _ => return false,
        };
        *option = true;
        true
    }

    /// The letters of the options that decide what a comparison means, in the order that GNU sort names them.
    pub fn meaning(&self) -> String {
        let letters = [
            (self.dictionary, 'd'),
            (self.ignore_case, 'f'),
            (self.general_numeric, 'g'),
            (self.human_numeric, 'h'),
            (self.ignore_nonprinting && !self.dictionary, 'i'),
            (self.month, 'M'),
            (self.numeric, 'n'),
            (self.random, 'R'),
            (self.version, 'V'),
        ];
        letters.iter().filter(|(on, _)| *on).map(|(_, letter)| letter).collect()
    }
}

/// What `-k` says: where a key of lines is, or the bytes of one of records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPlace {
    Line(KeySpec),
    Bytes(Range<usize>),
    /// Neither, and why it is no key of lines. What it was to be, other options tell.
    Wrong {
        text: String,
        why: String,
    },
}

/// What the key of a record looks like.
pub const BYTE_KEY: &str =
    "a key of records is A..B: from byte A, counted from 0, to before byte B, as 0..10";

impl FromStr for KeyPlace {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<KeyPlace, Infallible> {
        let wrong = |why| KeyPlace::Wrong { text: text.to_owned(), why };
        let Some((start, end)) = text.split_once("..") else {
            return Ok(text.parse().map_or_else(wrong, KeyPlace::Line));
        };
        match (start.parse(), end.parse()) {
            (Ok(start), Ok(end)) if start < end => Ok(KeyPlace::Bytes(start..end)),
            _ => Ok(wrong(BYTE_KEY.into())),
        }
    }
}

/// One `-k` of lines: `F[.C][OPTS][,F[.C][OPTS]]`, counted from 1 as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeySpec {
    /// The field that the key starts in, at least 1.
    pub start_field: usize,
    /// The character in it, at least 1.
    pub start_char: usize,
    /// The field that the key ends in; without, the end of the line.
    pub end_field: Option<usize>,
    /// The last character of the key in it; 0 for the field's last.
    pub end_char: usize,
    /// Whether `b` stood after the start: leading blanks are not counted there.
    pub start_blanks: bool,
    /// Whether `b` stood after the end.
    pub end_blanks: bool,
    /// The letters after either place, `b` among them.
    pub options: KeyOptions,
}

impl FromStr for KeySpec {
    type Err = String;

    fn from_str(text: &str) -> Result<KeySpec, String> {
        let mut options = KeyOptions::default();
        let (start_field, rest) = number(text, "at the start")?;
        let (start_char, rest) = match rest.strip_prefix('.') {
            Some(rest) => number(rest, "after '.'")?,
            None => (1, rest),
        };
        let (start_blanks, rest) = letters(rest, &mut options);
        let mut key = KeySpec {
            start_field,
            start_char,
            end_field: None,
            end_char: 0,
            start_blanks,
            end_blanks: false,
            options,
        };
        let mut rest = rest;
        if let Some(end) = rest.strip_prefix(',') {
            let (field, after) = number(end, "after ','")?;
            key.end_field = Some(field);
            rest = after;
            if let Some(after) = rest.strip_prefix('.') {
                (key.end_char, rest) = number(after, "after '.'")?;
            }
            (key.end_blanks, rest) = letters(rest, &mut key.options);
        }
        match rest.chars().next() {
            Some(stray) => Err(format!(
                "'{stray}' is no place and no option of a key; a key is F[.C][OPTS][,F[.C][OPTS]]"
            )),
            None if start_field == 0 || key.end_field == Some(0) => Err("fields are counted from 1".into()),
            None if start_char == 0 => Err("characters are counted from 1".into()),
            None => Ok(key),
        }
    }
}

/// The number that `text` starts with, and what follows. One too large to count with is as good as the largest.
pub fn number<'a>(text: &'a str, place: &str) -> Result<(usize, &'a str), String> {
    let text = unsigned(text);
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    if end == 0 {
        return Err(format!("a number is missing {place}; a key is F[.C][OPTS][,F[.C][OPTS]]"));
    }
    Ok((text[..end].parse().unwrap_or(usize::MAX), &text[end..]))
}

/// What follows the blanks and the plus that may stand before a number, as for C's strtoul.
pub fn unsigned(text: &str) -> &str {
    let text = text.trim_start_matches([' ', '\t', '\n', '\x0B', '\x0C', '\r']);
    text.strip_prefix('+').unwrap_or(text)
}

/// Sets the options whose letters `text` starts with; whether `b` was among them, and what follows.
fn letters<'a>(text: &'a str, options: &mut KeyOptions) -> (bool, &'a str) {
    let end = text.find(|letter| !options.set(letter)).unwrap_or(text.len());
    (text[..end].contains('b'), &text[end..])
}
