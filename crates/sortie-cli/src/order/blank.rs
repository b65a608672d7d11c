//! Blanks, as GNU sort has them in the C locale.

/// Whether a byte may lead a field or a number without counting. A newline is in a line only under `-z`.
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

/// How many blanks `text` starts with.
pub fn leading(text: &[u8]) -> usize {
    text.iter().take_while(|&&b| is_blank(b)).count()
}

/// `text` without the blanks that it starts with.
pub fn trimmed(text: &[u8]) -> &[u8] {
    &text[leading(text)..]
}
