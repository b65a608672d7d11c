//! Divides documents and queries into words.
//!
//! A word is a word of UAX #29 in normal form (NFKC), case-folded. So `café` is the same word whether its accent is a character of its
//! own or not, and `ﬁsh` is `fish`. ASCII words, which are nearly all words of most texts, are found without the tables of Unicode.
//! Other text is passed to crates that have these tables, from the start of a word to the next ASCII character that ends every word
//! (a blank, most punctuation).
//!
//! In UAX #29, full stops and colons between letters join words. Here they separate them, so `os.path`, `example.com`
//! and `key:value` are found by their parts. Numbers (`3.14`, `v1.2.3`), acronyms (`U.S.A.`), apostrophes (`don't`)
//! and underscores (`foo_bar`) stay whole.

use std::borrow::Cow;

use unicase::UniCase;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};
use unicode_segmentation::UnicodeSegmentation;

/// Words with more bytes than this are left out: nobody searches for them, and they are often data.
pub const LONGEST: usize = 255;

/// Full stops and colons, including full-width and small forms. They separate words, except in numbers and
/// acronyms.
const SEPARATORS: [char; 8] =
    ['.', ':', '\u{2024}', '\u{FE13}', '\u{FE52}', '\u{FE55}', '\u{FF0E}', '\u{FF1A}'];

/// Divides texts into words.
#[derive(Debug, Default)]
pub struct Tokenizer {
    folded: Vec<u8>,
    left_out: u64,
}

impl Tokenizer {
    /// Calls `each` with the words of the text in order, case-folded. O(bytes).
    ///
    /// ```
    /// let mut words = Vec::new();
    /// sortie_index::Tokenizer::default().words("It's 3.5 STRASSEN (or Straßen)", |word| words.push(word.to_vec()));
    /// assert_eq!(words, [&b"it's"[..], b"3.5", b"strassen", b"or", b"strassen"]);
    /// words.clear();
    /// sortie_index::Tokenizer::default().words("os.path, U.S.A.", |word| words.push(word.to_vec()));
    /// assert_eq!(words, [&b"os"[..], b"path", b"u.s.a"]);
    /// ```
    pub fn words(&mut self, text: &str, mut each: impl FnMut(&[u8])) {
        let bytes = text.as_bytes();
        let class = |at: usize| bytes.get(at).map_or(Class::Other, |&byte| CLASS[byte as usize]);
        let mut start = 0;
        while start < bytes.len() {
            let (mut end, mut before) = (start, Class::Other);
            let (mut has_letter_or_digit, mut has_upper, mut has_parts) = (false, false, false);
            loop {
                let here = class(end);
                match here {
                    Class::Lower | Class::Digit => has_letter_or_digit = true,
                    Class::Upper => (has_letter_or_digit, has_upper) = (true, true),
                    Class::Low => {}
                    _ if joins(before, here, class(end + 1)) => {
                        has_parts |= matches!(here, Class::Stop | Class::Colon) && before != Class::Digit;
                    }
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
                // On each side is an ASCII character or the end of the text, so both cuts are at character
                // boundaries.
                self.unicode_words(&text[start..end], &mut each);
            } else if has_parts {
                parts(&text[start..end], |part| self.fold_ascii(part.as_bytes(), &mut each));
            } else if has_upper {
                self.fold_ascii(&bytes[start..end], &mut each);
            } else if has_letter_or_digit && self.fits(end - start) {
                each(&bytes[start..end]);
            }
            // The ASCII character that ended the word does not begin another.
            start = end + 1;
        }
    }

    /// The number of words that were left out because they are longer than 255 bytes.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    fn unicode_words(&mut self, text: &str, each: &mut impl FnMut(&[u8])) {
        for word in normal(text).unicode_words() {
            parts(without_marked(word), |part| self.fold(part, each));
        }
    }

    fn fold(&mut self, word: &str, each: &mut impl FnMut(&[u8])) {
        if word.is_ascii() {
            return self.fold_ascii(word.as_bytes(), each);
        }
        let folded = folded(word);
        if self.fits(folded.len()) {
            each(folded.as_bytes());
        }
    }

    /// Whether a word of this length is kept. Counts it if it is left out.
    fn fits(&mut self, bytes: usize) -> bool {
        let fits = bytes <= LONGEST;
        self.left_out += u64::from(!fits);
        fits
    }

    fn fold_ascii(&mut self, word: &[u8], each: &mut impl FnMut(&[u8])) {
        if self.fits(word.len()) {
            self.folded.clear();
            self.folded.extend(word.iter().map(u8::to_ascii_lowercase));
            each(&self.folded);
        }
    }
}

/// The text in normal form NFKC.
fn normal(text: &str) -> Cow<'_, str> {
    match is_nfkc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        IsNormalized::No | IsNormalized::Maybe => Cow::Owned(text.nfkc().collect()),
    }
}

/// A text as its words are stored: in normal form, and case-folded.
pub fn folded(text: &str) -> String {
    UniCase::unicode(&*normal(text)).to_folded_case()
}

/// Whether a character joins its neighbours into one word, by rules WB6, WB7, WB11 and WB12.
fn joins(before: Class, here: Class, after: Class) -> bool {
    let is_letter = |class| matches!(class, Class::Lower | Class::Upper);
    let letters = is_letter(before) && is_letter(after);
    let digits = before == Class::Digit && after == Class::Digit;
    match here {
        Class::Colon => letters,
        Class::MidNumber => digits,
        Class::Stop | Class::Apostrophe => letters || digits,
        _ => false,
    }
}

/// Calls `each` with the parts of a word between separators, or with the whole word if it is a number or an acronym of single
/// letters.
fn parts<'a>(word: &'a str, mut each: impl FnMut(&'a str)) {
    if word.split(SEPARATORS).all(|part| part.chars().nth(1).is_none()) {
        return each(word);
    }
    let mut start = 0;
    for (at, separator) in word.match_indices(SEPARATORS) {
        let end = at + separator.len();
        // Before a digit, the separator is part of a number.
        if !word[end..].starts_with(char::is_numeric) {
            each(&word[start..at]);
            start = end;
        }
    }
    each(&word[start..]);
}

/// Removes ASCII punctuation and blanks from the start of a word. By the rules, a mark belongs to the character before it, and
/// some marks count as letters. So a marked blank or punctuation mark can be a word.
fn without_marked(word: &str) -> &str {
    word.trim_start_matches(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric() && c != '_')
}

/// The class of a byte in the rules for words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Ends every word.
    Other,
    Lower,
    Upper,
    Digit,
    /// The underscore, which joins letters and digits.
    Low,
    Colon,
    MidNumber,
    Stop,
    Apostrophe,
    /// Joins only Hebrew letters, so it never joins an ASCII word.
    Quote,
    /// A part of a non-ASCII character.
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
            b':' => Class::Colon,
            b',' | b';' => Class::MidNumber,
            b'.' => Class::Stop,
            b'\'' => Class::Apostrophe,
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
        let mut words = Vec::new();
        let mut add = |part: &str| words.push(UniCase::unicode(part).to_folded_case());
        normal(text).unicode_words().for_each(|word| parts(without_marked(word), &mut add));
        words
    }

    proptest! {
        #[test]
        fn ascii_needs_no_tables(text in "[aZ09_:,;.'\" -]{0,40}") {
            prop_assert_eq!(words(&text), plain(&text));
        }

        #[test]
        fn words_are_those_of_unicode(text in r"[a-cA-C0-2_:,;.' \nßÉıſЖ中ー한\u{301}\u{308}ﬁ²Ａ…½\u{1112}\u{1161}\u{11ab}]{0,40}") {
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
    fn composed_and_decomposed_text_has_the_same_words() {
        assert_eq!(words("caf\u{e9} CAFE\u{301} cafe\u{301}s"), ["caf\u{e9}", "caf\u{e9}", "caf\u{e9}s"]);
        assert_eq!(
            words("\u{1112}\u{1161}\u{11ab} ﬁsh Ｆｕｌｌ x² ㎏ ½"),
            ["한", "fish", "full", "x2", "kg", "1\u{2044}2"]
        );
        assert_eq!(words("e\u{301}tude O\u{308}l.A\u{308}nderung"), ["étude", "öl", "änderung"]);
        assert_eq!(folded("E\u{301}"), "é");
    }

    /// U+093E is both a mark and a letter. Words of this kind occur in Rust's documentation.
    #[test]
    fn a_mark_is_a_word_without_what_it_marks() {
        assert_eq!(words("'\u{93e}' (\u{93e} é'\u{93e}"), ["\u{93e}", "\u{93e}", "é", "\u{93e}"]);
        assert_eq!(words("\u{93e}"), plain(" \u{93e}"));
        assert_eq!(" \u{93e}".unicode_words().collect::<Vec<_>>(), [" \u{93e}"]);
    }

    #[test]
    fn stops_and_colons_between_letters_separate_words() {
        assert_eq!(
            words("os.path.join(A.B) Example.COM key:value"),
            ["os", "path", "join", "a.b", "example", "com", "key", "value"]
        );
        assert_eq!(words("3.14 v1.2.3 1,000 1.e"), ["3.14", "v1.2.3", "1,000", "1", "e"]);
        assert_eq!(words("U.S.A. e.g. don't foo_bar"), ["u.s.a", "e.g", "don't", "foo_bar"]);
        assert_eq!(words("größe.Änderung é.à x٣.٤y"), ["grösse", "änderung", "é.à", "x٣.٤y"]);
    }

    #[test]
    fn a_long_name_of_short_parts_is_not_left_out() {
        let name = vec!["part"; 100].join(".");
        assert_eq!(words(&name).len(), 100);
    }

    #[test]
    fn long_words_are_left_out_and_counted() {
        let mut tokenizer = Tokenizer::default();
        let (long, wide) = ("x".repeat(LONGEST + 1), "ж".repeat(LONGEST / 2 + 1));
        tokenizer.words(&format!("{long} X{long} {wide} a"), |word| assert_eq!(word, b"a"));
        assert_eq!(tokenizer.left_out(), 3);
    }

    #[test]
    fn long_words_are_left_out() {
        let long = "x".repeat(LONGEST + 1);
        assert_eq!(words(&format!("a {long} {} b", &long[1..])), ["a", &long[1..], "b"]);
    }
}
