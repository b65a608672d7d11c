//! `--debug`: underscores that mark the keys of a line.

use std::ops::Range;

/// Appends a line of underscores that stand under `part` when `line` is printed above it.
pub fn mark(line: &[u8], part: Range<usize>, out: &mut Vec<u8>) {
    let (indent, width) = (width(&line[..part.start]), width(&line[part]));
    out.resize(out.len() + indent, b' ');
    if width == 0 {
        out.extend_from_slice(b"^ no match for key\n");
    } else {
        out.resize(out.len() + width, b'_');
        out.push(b'\n');
    }
}

/// The number of columns that a text takes on the terminal. Control characters take none, except tab, which is
/// shown as `>`.
fn width(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte == b'\t' || !byte.is_ascii_control()).count()
}
