//! Words: what a text is cut into, and what a query is.
//!
//! A word is one of UAX #29, case-folded. Where it is ASCII, as nearly all of most texts are, it is found without the tables
//! of Unicode; all else goes to the crates that know them, from where a word begins to the next ASCII character that ends
//! every word (a blank, most punctuation).

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
        let class = |at: usize| bytes.get(at).map_or(Class::Other, |&byte| CLASS[byte as usize]);
        let mut start = 0;
        while start < bytes.len() {
            let (mut end, mut before) = (start, Class::Other);
            let (mut has_letter_or_digit, mut has_upper) = (false, false);
            loop {
                let here = class(end);
                match here {
                    Class::Lower | Class::Digit => has_letter_or_digit = true,
                    Class::Upper => (has_letter_or_digit, has_upper) = (true, true),
                    Class::Low => {}
                    _ if joins(before, here, class(end + 1)) => {}
                    _ => break,
                }
                before = here;
                end += 1;
            }
            let is_wide = class(end) == Class::Wide
                || end > start && class(end) != Class::Other && class(end + 1) == Class::Wide;
            if is_wide {
                while class(end) != Class::Other {
                    end += 1;
                }
                // An ASCII character, or the end of the text, is on either side, so both are ends of characters.
                self.unicode_words(&text[start..end], &mut each);
            } else if has_upper {
                self.fold_ascii(&bytes[start..end], &mut each);
            } else if has_letter_or_digit && end - start <= LONGEST {
                each(&bytes[start..end]);
            }
            // What ended the word begins none, unless it is not ASCII.
            start = end + 1;
        }
    }

    fn unicode_words(&mut self, text: &str, each: &mut impl FnMut(&[u8])) {
        for word in text.unicode_words() {
            let word = without_marked(word);
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

    fn fold_ascii(&mut self, word: &[u8], each: &mut impl FnMut(&[u8])) {
        if word.len() <= LONGEST {
            self.folded.clear();
            self.folded.extend(word.iter().map(u8::to_ascii_lowercase));
            each(&self.folded);
        }
    }
}

/// Whether a character joins what is on either side of it to one word: rules WB6, WB7, WB11 and WB12.
fn joins(before: Class, here: Class, after: Class) -> bool {
    let is_letter = |class| matches!(class, Class::Lower | Class::Upper);
    let letters = is_letter(before) && is_letter(after);
    let digits = before == Class::Digit && after == Class::Digit;
    match here {
        Class::MidLetter => letters,
        Class::MidNumber => digits,
        Class::MidEither => letters || digits,
        _ => false,
    }
}

/// A mark that follows a blank or a punctuation mark belongs to that by the rules, and some marks count as letters: the word is
/// then without what is marked.
fn without_marked(word: &str) -> &str {
    word.trim_start_matches(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric() && c != '_')
}

/// What a byte is to the rules for words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Ends every word.
    Other,
    Lower,
    Upper,
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
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
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
        text.unicode_words().map(|word| UniCase::unicode(without_marked(word)).to_folded_case()).collect()
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

    /// In Rust's documentation; U+093E is a mark and a letter.
    #[test]
    fn a_mark_is_a_word_without_what_it_marks() {
        assert_eq!(words("'\u{93e}' (\u{93e} é'\u{93e}"), ["\u{93e}", "\u{93e}", "é", "\u{93e}"]);
        assert_eq!(words("\u{93e}"), plain(" \u{93e}"));
        assert_eq!(" \u{93e}".unicode_words().collect::<Vec<_>>(), [" \u{93e}"]);
    }

    #[test]
    fn long_words_are_left_out() {
        let long = "x".repeat(LONGEST + 1);
        assert_eq!(words(&format!("a {long} {} b", &long[1..])), ["a", &long[1..], "b"]);
    }
}
