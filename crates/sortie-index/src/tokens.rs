//! Words: what a text is cut into, and what a query is.
//!
//! A word is one of UAX #29, case-folded. Text is first cut at the ASCII characters that end every word (blanks, most
//! punctuation); what is ASCII between two of those, nearly all of most texts, needs no tables of Unicode.

use unicase::UniCase;
use unicode_segmentation::UnicodeSegmentation;

/// Longer words than this many bytes, which nobody looks for, are left out: what is between them in a text is often data.
pub const LONGEST: usize = 255;

/// Cuts texts to words.
#[derive(Debug, Default)]
pub struct Tokenizer {
    folded: Vec<u8>,
}

impl Tokenizer {
    /// Calls `each` with the words of the text in order, folded. O(bytes).
    ///
    /// ```
    /// let mut words = Vec::new();
    /// sortie_index::Tokenizer::default().words("It's 3.5 STRASSEN (or Straßen)", |word| words.push(word.to_vec()));
    /// assert_eq!(words, [&b"it's"[..], b"3.5", b"strassen", b"or", b"strassen"]);
    /// ```
    pub fn words(&mut self, text: &str, mut each: impl FnMut(&[u8])) {
        let bytes = text.as_bytes();
        let mut start = 0;
        while start < bytes.len() {
            if CLASS[bytes[start] as usize] == Class::Other {
                start += 1;
                continue;
            }
            let (mut end, mut is_ascii) = (start, true);
            while end < bytes.len() {
                match CLASS[bytes[end] as usize] {
                    Class::Other => break,
                    Class::Wide => is_ascii = false,
                    _ => {}
                }
                end += 1;
            }
            if is_ascii {
                self.ascii_words(&bytes[start..end], &mut each);
            } else {
                // An ASCII character is on either side, so that both ends are those of characters.
                self.unicode_words(&text[start..end], &mut each);
            }
            start = end;
        }
    }

    fn unicode_words(&mut self, text: &str, each: &mut impl FnMut(&[u8])) {
        for word in text.unicode_words() {
            if word.is_ascii() {
                self.fold_ascii(word.as_bytes(), each);
                continue;
            }
            let folded = UniCase::unicode(word).to_folded_case();
            if folded.len() <= LONGEST {
                each(folded.as_bytes());
            }
        }
    }

    /// The words of a stretch without a character of [`Class::Other`].
    fn ascii_words(&mut self, text: &[u8], each: &mut impl FnMut(&[u8])) {
        let mut start = 0;
        while start < text.len() {
            let mut end = start;
            let mut has_letter_or_digit = false;
            while end < text.len() {
                match CLASS[text[end] as usize] {
                    Class::Letter | Class::Digit => has_letter_or_digit = true,
                    Class::Low => {}
                    between if joins(between, text, start, end) => {}
                    _ => break,
                }
                end += 1;
            }
            if has_letter_or_digit {
                self.fold_ascii(&text[start..end], each);
            }
            start = end.max(start + 1);
        }
    }

    fn fold_ascii(&mut self, word: &[u8], each: &mut impl FnMut(&[u8])) {
        if word.len() <= LONGEST {
            self.folded.clear();
            self.folded.extend(word.iter().map(u8::to_ascii_lowercase));
            each(&self.folded);
        }
    }
}

/// Whether the character at `at` joins what is on either side of it, in a word that begins at `start`: rules WB6, WB7,
/// WB11 and WB12.
fn joins(class: Class, text: &[u8], start: usize, at: usize) -> bool {
    if at == start || at + 1 == text.len() {
        return false;
    }
    let sides = (CLASS[text[at - 1] as usize], CLASS[text[at + 1] as usize]);
    match class {
        Class::MidLetter => sides == (Class::Letter, Class::Letter),
        Class::MidNumber => sides == (Class::Digit, Class::Digit),
        Class::MidEither => sides == (Class::Letter, Class::Letter) || sides == (Class::Digit, Class::Digit),
        _ => false,
    }
}

/// What a byte is to the rules for words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Ends every word.
    Other,
    Letter,
    Digit,
    /// The underscore, which goes with letters and digits.
    Low,
    MidLetter,
    MidNumber,
    MidEither,
    /// Joins Hebrew letters, so no word of ASCII.
    Quote,
    /// Part of a character that is not ASCII.
    Wide,
}

const CLASS: [Class; 256] = {
    let mut class = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        class[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            b'_' => Class::Low,
            b':' => Class::MidLetter,
            b',' | b';' => Class::MidNumber,
            b'.' | b'\'' => Class::MidEither,
            b'"' => Class::Quote,
            0x80.. => Class::Wide,
            _ => Class::Other,
        };
        byte += 1;
    }
    class
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        Tokenizer::default().words(text, |word| words.push(String::from_utf8(word.to_vec()).unwrap()));
        words
    }

    fn plain(text: &str) -> Vec<String> {
        text.unicode_words().map(|word| UniCase::unicode(word).to_folded_case()).collect()
    }

    proptest! {
        #[test]
        fn ascii_needs_no_tables(text in "[aZ09_:,;.'\" -]{0,40}") {
            prop_assert_eq!(words(&text), plain(&text));
        }

        #[test]
        fn words_are_those_of_unicode(text in r"[a-cA-C0-2_:,;.' \nßÉıſЖ中ー한]{0,40}") {
            prop_assert_eq!(words(&text), plain(&text));
        }

        #[test]
        fn any_text_is_cut(text in any::<String>()) {
            for word in words(&text) {
                prop_assert!(!word.is_empty() && word.len() <= LONGEST);
            }
        }
    }

    #[test]
    fn long_words_are_left_out() {
        let long = "x".repeat(LONGEST + 1);
        assert_eq!(words(&format!("a {long} {} b", &long[1..])), ["a", &long[1..], "b"]);
    }
}
