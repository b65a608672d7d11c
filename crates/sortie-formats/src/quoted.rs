//! Quotes text of files and file names in messages: always on one line, and so that a shell would read the same text.
//!
//! The quoting is that of GNU sort for names in the C locale: every byte that is not printable ASCII is escaped, as in
//! `'a'$'\n''b'`. So a file cannot send control characters to a terminal, or make its text look like a message of the
//! program.

use std::fmt;

/// The maximum number of bytes to show of a text, so that the message around it stays visible.
const SHOWN: usize = 80;

/// The characters that have a meaning in a shell outside of quotes.
const SPECIAL: &[u8] = b" !\"$&'()*:;<=>?[\\^`|";
/// The special characters that are literal between double quotes. GNU sort uses double quotes only for text with an apostrophe.
const PLAIN_IN_DOUBLE: &[u8] = b" ':";

/// Quoted text of a file. A long text is cut and ends in `...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quoted(String);

impl Quoted {
    /// Quotes a text of any length. Keeps only the part that is shown.
    #[must_use]
    pub fn new(text: impl AsRef<[u8]>) -> Quoted {
        let text = text.as_ref();
        let (beginning, rest) = text.split_at(text.len().min(SHOWN));
        Quoted(quote(beginning) + if rest.is_empty() { "" } else { "..." })
    }
}

impl fmt::Display for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a text needs no quotes: for a shell, and for a reader who looks for the colon after a file name.
#[must_use]
pub fn is_plain(text: &[u8]) -> bool {
    let special = |byte: &u8| SPECIAL.contains(byte) || !byte.is_ascii_graphic();
    let first = matches!(text, [] | [b'#' | b'~', ..] | [b'{' | b'}']);
    !first && !text.iter().any(special)
}

/// The whole text in quotes.
#[must_use]
pub fn quote(text: &[u8]) -> String {
    let simple = |byte: &u8| {
        PLAIN_IN_DOUBLE.contains(byte)
            || byte.is_ascii_graphic() && !SPECIAL.contains(byte) && !b"#~{}".contains(byte)
    };
    if text.contains(&b'\'') && text.iter().all(simple) {
        return format!("\"{}\"", ascii(text));
    }
    let mut quoted = String::from("'");
    for stretch in text.chunk_by(|&a, &b| is_printable(a) == is_printable(b)) {
        if is_printable(stretch[0]) {
            quoted.push_str(&ascii(stretch).replace('\'', r"'\''"));
        } else {
            quoted.push_str("'$'");
            quoted.extend(stretch.iter().map(|&byte| escape(byte)));
            quoted.push_str("''");
        }
    }
    // A quote was opened after the last escapes. If no text follows them, it is removed.
    match text.last() {
        Some(&last) if !is_printable(last) => drop(quoted.pop()),
        _ => quoted.push('\''),
    }
    quoted
}

fn is_printable(byte: u8) -> bool {
    byte == b' ' || byte.is_ascii_graphic()
}

fn ascii(text: &[u8]) -> String {
    text.iter().copied().map(char::from).collect()
}

fn escape(byte: u8) -> String {
    match byte {
        0x07 => r"\a".into(),
        0x08 => r"\b".into(),
        b'\t' => r"\t".into(),
        b'\n' => r"\n".into(),
        0x0B => r"\v".into(),
        0x0C => r"\f".into(),
        b'\r' => r"\r".into(),
        _ => format!(r"\{byte:03o}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_leaves_its_quotes_or_its_line() {
        for (text, shown) in [
            (&b"a b"[..], "'a b'"),
            (b"", "''"),
            (b"it's", "\"it's\""),
            (b"\x1b[31mred\r", r"''$'\033''[31mred'$'\r'"),
            (b"\xc2\x9b", r"''$'\302\233'"),
        ] {
            assert_eq!(Quoted::new(text).to_string(), shown);
        }
        let long = Quoted::new([b'a'; 1000]).to_string();
        assert_eq!(long, format!("'{}'...", "a".repeat(80)));
    }
}
