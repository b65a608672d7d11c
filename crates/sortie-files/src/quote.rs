//! Quotes file names and text from files in messages: always on one line, and without control characters that a
//! terminal would obey.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use sortie_formats::{is_plain, quote};

/// `name` as it is if it is an ordinary name, else in quotes.
pub fn name(name: &Path) -> String {
    let bytes = name.as_os_str().as_bytes();
    if is_plain(bytes) { name.display().to_string() } else { quote(bytes) }
}

/// `name` in quotes.
pub fn always(name: &Path) -> String {
    quote(name.as_os_str().as_bytes())
}

/// `text` with each character that a terminal would obey replaced by its number: line ends, control characters, and
/// characters that change the direction of text.
pub fn harmless(text: &str) -> String {
    let obeyed = |c: char| {
        c.is_control()
            || matches!(c, '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
    };
    let escape = |c: char| if obeyed(c) { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(escape).collect()
}
