//! Blanks, as GNU sort has them in the C locale.

/// Whether a byte may lead a field or a number without counting. A newline is in a line only under `-z`.
#[inline(always)]
pub fn is_blank(byte: u8) -> bool {
    const BLANKS: u64 = 1 << b' ' | 1 << b'\t' | 1 << b'\n';
    // The first condition settles nearly all bytes.
    byte <= b' ' && BLANKS >> byte & 1 == 1
}

/// How many blanks `text` starts with.
pub fn leading(text: &[u8]) -> usize {
    text.iter().take_while(|&&b| is_blank(b)).count()
}

/// `text` without the blanks that it starts with.
pub fn trimmed(text: &[u8]) -> &[u8] {
    &text[leading(text)..]
}
