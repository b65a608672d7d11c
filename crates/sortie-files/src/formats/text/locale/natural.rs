//! Natural order: numbers in text count as numbers.

/// The greatest number of digits that is written in one digit.
const FEW: usize = 8;

/// Appends the text with each number after the count of its digits, so that the result compares in natural order wherever digits do:
/// by their bytes, and in every locale. Zeros before a number do not count.
pub fn push(mut text: &[u8], out: &mut Vec<u8>) {
    while !text.is_empty() {
        let others = text.iter().take_while(|byte| !byte.is_ascii_digit()).count();
        out.extend_from_slice(&text[..others]);
        text = &text[others..];
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits > 0 {
            push_number(&text[..digits], out);
        }
        text = &text[digits..];
    }
}

fn push_number(digits: &[u8], out: &mut Vec<u8>) {
    let digits = &digits[digits.iter().take_while(|&&digit| digit == b'0').count()..];
    if digits.len() <= FEW {
        out.push(b'0' + digits.len() as u8);
    } else {
        out.push(b'9');
        push_number(digits.len().to_string().as_bytes(), out);
    }
    out.extend_from_slice(digits);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_text_compare_as_numbers() {
        let pushed = |text: &str| {
            let mut out = Vec::new();
            push(text.as_bytes(), &mut out);
            out
        };
        let long = "1".repeat(300);
        let longer = "1".repeat(1000);
        let numbers = ["0", "1", "9", "10", "99999999", "100000000", "123456789012", &long, &longer];
        for pair in numbers.windows(2) {
            for (before, after) in [("", ""), ("a", ""), ("a", "b"), ("a0", "-2")] {
                let [a, b] = [pair[0], pair[1]].map(|number| pushed(&format!("{before}{number}{after}")));
                assert!(a < b, "{pair:?}");
            }
        }
        assert_eq!(pushed("a007b"), pushed("a7b"));
        assert!(pushed("a") < pushed("a0") && pushed("a1") < pushed("a1b") && pushed("a1b") < pushed("a2"));
    }
}
