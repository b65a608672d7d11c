//! Blanks, as GNU sort defines them in the C locale.

/// Whether a byte is a blank, which may precede a field or a number. A line contains a newline only under `-z`.
#[inline(always)]
pub fn is_blank(byte: u8) -> bool {
    const BLANKS: u64 = 1 << b' ' | 1 << b'\t' | 1 << b'\n';
    // The first condition alone decides for nearly all bytes.
    byte <= b' ' && BLANKS >> byte & 1 == 1
}

/// The number of blanks at the start of `text`.
pub fn leading(text: &[u8]) -> usize {
    text.iter().take_while(|&&b| is_blank(b)).count()
}

/// `text` without its leading blanks.
pub fn trimmed(text: &[u8]) -> &[u8] {
    &text[leading(text)..]
}
