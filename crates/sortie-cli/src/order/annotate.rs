//! `--debug`: marks under a line.

use std::ops::Range;

/// Appends a line of underscores that stand under a part of `line` where it is printed.
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

/// How many columns a text takes: none for control characters but the tab, which is shown as `>`.
fn width(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte == b'\t' || !byte.is_ascii_control()).count()
}
