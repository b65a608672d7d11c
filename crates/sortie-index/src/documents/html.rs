//! HTML: the text between tags, without scripts and styles.

use std::io::{self, Read};

use html5gum::{Emitter, IoReader, State, Tokenizer};

use super::{ITEM_BYTES, cut, utf8};
use crate::error::reason;

/// The text of a file, piece by piece; offsets in errors are those of the text.
pub struct Pieces<R: Read> {
    tokenizer: Tokenizer<IoReader<R>, Text>,
    offset: u64,
}

impl<R: Read> Pieces<R> {
    pub fn new(reader: R) -> Self {
        Pieces { tokenizer: Tokenizer::new_with_emitter(IoReader::new(reader), Text::default()), offset: 0 }
    }
}

impl<R: Read> Iterator for Pieces<R> {
    type Item = Result<String, String>;

    fn next(&mut self) -> Option<Self::Item> {
        let piece = match self.tokenizer.next()? {
            Ok(piece) => piece,
            Err(error) => return Some(Err(reason(&error))),
        };
        let offset = self.offset;
        self.offset += piece.len() as u64;
        Some(utf8(piece, offset))
    }
}

/// Appends the text of a stretch of HTML in memory.
pub fn append_text(html: &str, text: &mut String) {
    let pieces: Result<Vec<Vec<u8>>, io::Error> =
        Tokenizer::new_with_emitter(IoReader::new(html.as_bytes()), Text::default()).collect();
    for piece in pieces.into_iter().flatten() {
        text.push_str(&String::from_utf8_lossy(&piece));
    }
}

/// Elements that are part of a line of text. All others begin and end words.
const WITHIN_WORDS: [&[u8]; 29] = [
    b"a", b"abbr", b"acronym", b"b", b"bdi", b"bdo", b"big", b"cite", b"code", b"data", b"del", b"dfn",
    b"em", b"font", b"i", b"ins", b"kbd", b"mark", b"s", b"samp", b"small", b"span", b"strong", b"sub",
    b"sup", b"tt", b"u", b"var", b"wbr",
];

/// So much of a tag's name is held: more than any that matters has.
const LONGEST_NAME: usize = 16;

/// Collects text, and knows of tags no more than their names.
#[derive(Debug, Default)]
struct Text {
    text: Vec<u8>,
    name: Vec<u8>,
    is_end_tag: bool,
    /// Of the last start tag, which an end tag must have to end a script or style.
    start_tag: Vec<u8>,
    is_hidden: bool,
    ended: bool,
}

impl Emitter for Text {
    type Token = Vec<u8>;

    fn emit_string(&mut self, text: &[u8]) {
        if !self.is_hidden {
            self.text.extend_from_slice(text);
        }
    }

    fn emit_eof(&mut self) {
        self.ended = true;
    }

    fn pop_token(&mut self) -> Option<Vec<u8>> {
        if self.ended {
            return Some(std::mem::take(&mut self.text)).filter(|text| !text.is_empty());
        }
        if self.text.len() < ITEM_BYTES {
            return None;
        }
        let rest = self.text.split_off(cut(&self.text));
        Some(std::mem::replace(&mut self.text, rest))
    }

    fn init_start_tag(&mut self) {
        self.name.clear();
        self.is_end_tag = false;
    }

    fn init_end_tag(&mut self) {
        self.name.clear();
        self.is_end_tag = true;
    }

    fn push_tag_name(&mut self, name: &[u8]) {
        let room = LONGEST_NAME - self.name.len();
        self.name.extend_from_slice(&name[..name.len().min(room)]);
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        if !WITHIN_WORDS.contains(&&*self.name) {
            self.text.push(b' ');
        }
        if self.is_end_tag {
            self.start_tag.clear();
            self.is_hidden = false;
            return None;
        }
        std::mem::swap(&mut self.start_tag, &mut self.name);
        let state = match &*self.start_tag {
            b"script" => State::ScriptData,
            b"style" | b"iframe" | b"noembed" | b"noframes" => State::RawText,
            b"textarea" | b"title" => return Some(State::RcData),
            b"xmp" => return Some(State::RawText),
            b"plaintext" => return Some(State::PlainText),
            _ => return None,
        };
        self.is_hidden = true;
        Some(state)
    }

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.is_end_tag && !self.start_tag.is_empty() && self.start_tag == self.name
    }

    fn set_last_start_tag(&mut self, name: Option<&[u8]>) {
        self.start_tag = name.unwrap_or_default().to_vec();
    }

    fn should_emit_errors(&mut self) -> bool {
        false
    }

    fn emit_error(&mut self, _: html5gum::Error) {}
    fn init_comment(&mut self) {}
    fn emit_current_comment(&mut self) {}
    fn push_comment(&mut self, _: &[u8]) {}
    fn emit_current_doctype(&mut self) {}
    fn init_doctype(&mut self) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn set_force_quirks(&mut self) {}
    fn set_self_closing(&mut self) {}
    fn init_attribute(&mut self) {}
    fn push_attribute_name(&mut self, _: &[u8]) {}
    fn push_attribute_value(&mut self, _: &[u8]) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(html: &str) -> String {
        let pieces: Vec<_> = Pieces::new(html.as_bytes()).map(Result::unwrap).collect();
        pieces.concat().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn text_is_what_a_reader_sees() {
        assert_eq!(
            text("<title>A &amp; B</title><p>one<b>self</b><p class='x y'>two<br>three"),
            "A & B oneself two three"
        );
        assert_eq!(text("a<script>if (b < c) '</p>'</script><style>d{}</style><!-- e -->f"), "a f");
        assert_eq!(text("<noscript><p>x</p></noscript><SCRIPT>y</SCRIPT>z"), "x z");
        assert_eq!(text("<script>never ended"), "");
        assert_eq!(text(""), "");
    }

    #[test]
    fn of_a_tag_without_end_little_is_held() {
        let mut emitter = Text::default();
        emitter.init_start_tag();
        (0..100).for_each(|_| emitter.push_tag_name(b"script"));
        assert_eq!(emitter.name.len(), LONGEST_NAME);
        assert_eq!(text(&format!("a<{}>b", "script".repeat(100))), "a b");
    }

    #[test]
    fn long_text_comes_in_pieces() {
        let html = format!("<p>{}</p><p>end", "word ".repeat(ITEM_BYTES / 4));
        let pieces: Vec<_> = Pieces::new(html.as_bytes()).map(Result::unwrap).collect();
        assert!(pieces.len() > 1 && pieces.concat().ends_with("end"));
        assert_eq!(pieces.concat().matches("word").count(), ITEM_BYTES / 4);
    }
}
