//! The keys of GNU sort's `-k`, and the letters for how a key is compared.

use std::str::FromStr;

/// How a key is compared: the letters after a position in `-k`, or the options of the same letters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeyOptions {
    /// `b`: blanks before a field do not count for the positions of the key.
    pub blanks: bool,
    /// `d`: only blanks, letters and digits are compared.
    pub dictionary: bool,
    /// `f`: lower-case letters are compared as upper case.
    pub ignore_case: bool,
    /// `g`: numbers with exponents, also in hexadecimal, as C's `strtold` reads them.
    pub general_numeric: bool,
    /// `h`: numbers with a suffix: `2K` before `1G`.
    pub human_numeric: bool,
    /// `i`: only printable characters are compared.
    pub ignore_nonprinting: bool,
    /// `M`: names of months, after anything else.
    pub month: bool,
    /// `n`: decimal numbers of any length.
    pub numeric: bool,
    /// `R`: a shuffle that keeps equal keys together.
    pub random: bool,
    /// `r`: descending.
    pub reverse: bool,
    /// `V`: versions within text: `a-9` before `a-10`.
    pub version: bool,
}

impl KeyOptions {
    /// Sets the option with this letter. Returns false if there is none.
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

    /// The letters of the options that determine the kind of comparison, in the order in which GNU sort names
    /// them.
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

/// A key of lines. It is read from text as `-k` is: `F[.C][OPTS][,F[.C][OPTS]]`. Numbers count from 1, as written.
///
/// ```
/// let second: sortie_files::formats::text::KeySpec = "2,2n".parse()?;
/// assert!(second.start_field == 2 && second.end_field == Some(2) && second.options.numeric);
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeySpec {
    /// The field in which the key starts, at least 1.
    pub start_field: usize,
    /// The first character of the key in that field, at least 1.
    pub start_char: usize,
    /// The field in which the key ends. If `None`, the key ends with the line.
    pub end_field: Option<usize>,
    /// The last character of the key in that field; 0 means the last of the field.
    pub end_char: usize,
    /// Whether `b` follows the start, so that characters are counted after leading blanks.
    pub start_blanks: bool,
    /// Whether `b` follows the end.
    pub end_blanks: bool,
    /// The letters after either position, including `b`.
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
                "'{stray}' is neither a position nor an option of a key; a key is F[.C][OPTS][,F[.C][OPTS]]"
            )),
            None if start_field == 0 || key.end_field == Some(0) => Err("fields are counted from 1".into()),
            None if start_char == 0 => Err("characters are counted from 1".into()),
            None => Ok(key),
        }
    }
}

/// The number at the start of `text`, and the rest. A number too large for `usize` becomes the maximum.
pub fn number<'a>(text: &'a str, place: &str) -> Result<(usize, &'a str), String> {
    let text = unsigned(text);
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    if end == 0 {
        return Err(format!("a number is missing {place}; a key is F[.C][OPTS][,F[.C][OPTS]]"));
    }
    Ok((text[..end].parse().unwrap_or(usize::MAX), &text[end..]))
}

/// The text after the blanks and the plus sign that C's strtoul allows before a number.
pub fn unsigned(text: &str) -> &str {
    let text = text.trim_start_matches([' ', '\t', '\n', '\x0B', '\x0C', '\r']);
    text.strip_prefix('+').unwrap_or(text)
}

/// Sets the options for the letters at the start of `text`. Returns whether `b` was among them, and the rest.
fn letters<'a>(text: &'a str, options: &mut KeyOptions) -> (bool, &'a str) {
    let end = text.find(|letter| !options.set(letter)).unwrap_or(text.len());
    (text[..end].contains('b'), &text[end..])
}
