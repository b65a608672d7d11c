//! Names in messages: on one line whatever they hold, and as a shell would read them back.
//!
//! A name of ordinary characters stands as it is. Others are quoted as GNU sort quotes them in the C locale, where
//! every byte that is not printable ASCII is an escape of its own: `'a'$'\n''b'`.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What a shell, or a reader who looks for the colon after the name, could take for something else.
const SPECIAL: &[u8] = b" !\"$&'()*:;<=>?[\\^`|";
/// Of those, what means itself between double quotes. GNU sort uses them for nothing but an apostrophe.
const PLAIN_IN_DOUBLE: &[u8] = b" ':";

/// `name` where it is ordinary, else quoted.
pub fn name(name: &Path) -> String {
    let bytes = name.as_os_str().as_bytes();
    let special = |byte: &u8| SPECIAL.contains(byte) || !byte.is_ascii_graphic();
    let first = matches!(bytes, [] | [b'#' | b'~', ..] | [b'{' | b'}']);
    if first || bytes.iter().any(special) { always(name) } else { text(bytes) }
}

/// `name` in quotes.
pub fn always(name: &Path) -> String {
    let bytes = name.as_os_str().as_bytes();
    let simple = |byte: &u8| {
        PLAIN_IN_DOUBLE.contains(byte)
            || byte.is_ascii_graphic() && !SPECIAL.contains(byte) && !b"#~{}".contains(byte)
    };
    if bytes.contains(&b'\'') && bytes.iter().all(simple) {
        return format!("\"{}\"", text(bytes));
    }
    let mut quoted = String::from("'");
    let stretches = bytes.chunk_by(|&a, &b| is_printable(a) == is_printable(b));
    for stretch in stretches {
        if is_printable(stretch[0]) {
            quoted.push_str(&text(stretch).replace('\'', r"'\''"));
        } else {
            quoted.push_str("'$'");
            quoted.extend(stretch.iter().map(|&byte| escape(byte)));
            quoted.push_str("''");
        }
    }
    // A stretch of escapes has opened the quotes for what follows it.
    match bytes.last() {
        Some(&last) if !is_printable(last) => drop(quoted.pop()),
        _ => quoted.push('\''),
    }
    quoted
}

fn is_printable(byte: u8) -> bool {
    byte == b' ' || byte.is_ascii_graphic()
}

fn text(ascii: &[u8]) -> String {
    ascii.iter().copied().map(char::from).collect()
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
