//! HTML: extracts the text between tags, without scripts and styles.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use html5gum::{Emitter, IoReader, Reader, State, Tokenizer};

use super::{ITEM_BYTES, cut, not_utf8};
use crate::error::Trouble;

/// The text of a file in pieces.
pub struct Pieces<R: Read> {
    tokenizer: Tokenizer<Gate<R>, Text>,
    ended: bool,
}

impl<R: Read> Pieces<R> {
    pub fn new(reader: R) -> Self {
        let text = Text::default();
        let gate = Gate { reader: IoReader::new(reader), full: text.full.clone(), letters: 0 };
        Pieces { tokenizer: Tokenizer::new_with_emitter(gate, text), ended: false }
    }
}

impl<R: Read> Iterator for Pieces<R> {
    type Item = Result<String, Trouble>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            let trouble = match self.tokenizer.next()? {
                Ok(Ok(piece)) => return Some(Ok(piece)),
                Err(Stop::Full(state)) => {
                    self.tokenizer.set_state(state);
                    continue;
                }
                Ok(Err(Broken::NotUtf8(at))) => Trouble::Content(not_utf8(at)),
                Ok(Err(Broken::NoRoom)) => Trouble::Read(io::ErrorKind::OutOfMemory.into()),
                Err(Stop::Letters) => {
                    Trouble::Content(format!("a tag whose name has more than {MOST_LETTERS} bytes"))
                }
                Err(Stop::Failed(error)) => error.into(),
            };
            self.ended = true;
            return Some(Err(trouble));
        }
        None
    }
}

/// Appends the text of some HTML in memory.
pub fn append_text(html: &str, text: &mut String) {
    // Reading a string cannot fail, and its bytes are UTF-8.
    for piece in Tokenizer::new_with_emitter(html, Text::default()).flatten().flatten() {
        text.push_str(&piece);
    }
}

/// The tokenizer states in which visible text is read. [`Text::full`] refers to them by index.
const TEXT_STATES: [State; 4] = [State::Data, State::RcData, State::RawText, State::PlainText];

/// The limit on letters that may be the name of an end tag. A title or script can have any number of them after `</`,
/// and the tokenizer keeps them until they end.
const MOST_LETTERS: usize = 1 << 20;

/// Feeds the tokenizer, and stops it at the end of a piece. On its own the tokenizer returns a text only when the text
/// ends.
struct Gate<R: Read> {
    reader: IoReader<R>,
    /// [`Text::full`].
    full: Arc<AtomicU8>,
    /// The number of letters that were read one at a time in a row. The tokenizer reads only the letters of names like
    /// this.
    letters: usize,
}

/// Why the tokenizer was stopped.
#[derive(Debug, thiserror::Error)]
enum Stop {
    /// A piece is complete. After it is taken, tokenizing continues in this state.
    #[error("a piece is complete")]
    Full(State),
    #[error("a name is too long")]
    Letters,
    #[error(transparent)]
    Failed(#[from] io::Error),
}

impl<R: Read> Reader for Gate<R> {
    type Error = Stop;

    fn read_byte(&mut self) -> Result<Option<u8>, Stop> {
        let byte = self.reader.read_byte()?;
        let is_letter = byte.is_some_and(|byte| byte.is_ascii_alphabetic());
        self.letters = if is_letter { self.letters + 1 } else { 0 };
        if self.letters > MOST_LETTERS { Err(Stop::Letters) } else { Ok(byte) }
    }

    fn try_read_string(&mut self, text: &[u8], case_sensitive: bool) -> Result<bool, Stop> {
        Ok(self.reader.try_read_string(text, case_sensitive)?)
    }

    fn read_until<'b>(&'b mut self, needle: &[u8], one: &'b mut [u8; 4]) -> Result<Option<&'b [u8]>, Stop> {
        let full = self.full.load(Relaxed);
        if full > 0 {
            self.full.store(0, Relaxed);
            return Err(Stop::Full(TEXT_STATES[usize::from(full) - 1]));
        }
        self.letters = 0;
        Ok(self.reader.read_until(needle, one)?)
    }
}

/// Elements that may occur within a word. All others separate words.
const WITHIN_WORDS: [&[u8]; 29] = [
    b"a", b"abbr", b"acronym", b"b", b"bdi", b"bdo", b"big", b"cite", b"code", b"data", b"del", b"dfn",
    b"em", b"font", b"i", b"ins", b"kbd", b"mark", b"s", b"samp", b"small", b"span", b"strong", b"sub",
    b"sup", b"tt", b"u", b"var", b"wbr",
];

/// The number of letters of a tag's name to keep: more than the name of any tag that matters.
const LONGEST_NAME: usize = 16;

/// Collects text. It only sees the names of tags.
#[derive(Debug, Default)]
struct Text {
    text: Vec<u8>,
    /// The number of bytes at the end of the text that are an incomplete character, and their position in the file.
    open: usize,
    open_at: u64,
    broken: Option<Broken>,
    /// The number of bytes of the file that were read.
    position: u64,
    /// 0, or if a long text fills a piece, one more than the index of its state in [`TEXT_STATES`].
    full: Arc<AtomicU8>,
    state: u8,
    name: Vec<u8>,
    is_end_tag: bool,
    /// The name of the last start tag. Only an end tag of the same name ends a script or style.
    start_tag: Vec<u8>,
    is_hidden: bool,
    ended: bool,
}

/// Why the text ends early.
#[derive(Debug, Clone, Copy)]
enum Broken {
    /// The byte at this position of the file is not valid UTF-8.
    NotUtf8(u64),
    NoRoom,
}

impl Text {
    /// Sets the state to the one with this index in [`TEXT_STATES`].
    fn read_text_in(&mut self, state: u8) -> Option<State> {
        self.state = state;
        Some(TEXT_STATES[usize::from(state)])
    }

    /// Appends text that ends at `position`, and checks that it is UTF-8. Its position in the file is only known
    /// now.
    fn append(&mut self, text: &[u8]) {
        if self.broken.is_some() {
            return;
        }
        if self.text.try_reserve(text.len()).is_err() {
            self.broken = Some(Broken::NoRoom);
            return;
        }
        let from = self.text.len() - self.open;
        self.text.extend_from_slice(text);
        if self.open == 0 && text.is_ascii() {
            return;
        }
        let had_open = std::mem::take(&mut self.open) > 0;
        let Err(error) = std::str::from_utf8(&self.text[from..]) else { return };
        let rest = self.text.len() - from - error.valid_up_to();
        let is_open = had_open && error.valid_up_to() == 0;
        let at = if is_open { self.open_at } else { self.position.saturating_sub(rest as u64) };
        if error.error_len().is_some() {
            self.broken = Some(Broken::NotUtf8(at));
        } else {
            (self.open, self.open_at) = (rest, at);
        }
    }
}

impl Emitter for Text {
    type Token = Result<String, Broken>;

    fn emit_string(&mut self, text: &[u8]) {
        if !self.is_hidden {
            self.append(text);
            if self.text.len() >= ITEM_BYTES || self.broken.is_some() {
                self.full.store(self.state + 1, Relaxed);
            }
        }
    }

    fn start_open_tag(&mut self) {
        // Bytes up to the end of the tag are not text.
        self.full.store(0, Relaxed);
    }

    fn emit_eof(&mut self) {
        self.ended = true;
        if self.open > 0 {
            self.broken = self.broken.or(Some(Broken::NotUtf8(self.open_at)));
        }
    }

    fn pop_token(&mut self) -> Option<Result<String, Broken>> {
        if let Some(broken) = self.broken {
            return Some(Err(broken));
        }
        if self.text.len() < if self.ended { 1 } else { ITEM_BYTES } {
            return None;
        }
        let end = if self.ended { self.text.len() } else { cut(&self.text) };
        let rest = self.text.split_off(end);
        let piece = std::mem::replace(&mut self.text, rest);
        self.full.store(0, Relaxed);
        Some(Ok(String::from_utf8(piece).expect("it was checked when it came")))
    }

    fn move_position(&mut self, by: isize) {
        self.position = self.position.saturating_add_signed(by as i64);
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
            self.append(b" ");
        }
        self.state = 0;
        if self.is_end_tag {
            self.start_tag.clear();
            self.is_hidden = false;
            return None;
        }
        std::mem::swap(&mut self.start_tag, &mut self.name);
        let state = match &*self.start_tag {
            b"script" => State::ScriptData,
            b"style" | b"iframe" | b"noembed" | b"noframes" => State::RawText,
            b"textarea" | b"title" => return self.read_text_in(1),
            b"xmp" => return self.read_text_in(2),
            b"plaintext" => return self.read_text_in(3),
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

    fn told(html: &[u8]) -> String {
        match Pieces::new(html).find_map(Result::err).unwrap() {
            Trouble::Content(why) => why,
            Trouble::Read(error) => panic!("{error}"),
        }
    }

    #[test]
    fn the_byte_of_the_file_is_told_that_is_no_text() {
        assert_eq!(told(b"<p>a\xE9"), "not UTF-8 at byte 5");
        assert_eq!(told(b"<p>a\xE9<p>b"), "not UTF-8 at byte 5");
        assert_eq!(told(b"&amp;\r\n\xC3\xA9<!-- \xFF -->\xFFa"), "not UTF-8 at byte 20");
        assert_eq!(told(b"x\xC3<p>y"), "not UTF-8 at byte 2");
        let late = [&b"<p>word ".repeat(ITEM_BYTES / 4)[..], b"\xFF"].concat();
        assert_eq!(told(&late), format!("not UTF-8 at byte {}", late.len()));
        assert_eq!(text("<b>caf\u{e9}</b> \u{20ac}"), "caf\u{e9} \u{20ac}");
        // Text that a reader does not see is not checked.
        assert_eq!(
            Pieces::new(&b"<script>\xFF</script>a"[..]).map(Result::unwrap).collect::<String>().trim(),
            "a"
        );
        assert_eq!(Pieces::new(&b"\xC3<b>\xA9</b>"[..]).map(Result::unwrap).collect::<String>(), "\u{e9}");
    }

    #[test]
    fn text_without_tags_comes_in_pieces() {
        for before in ["", "<title>", "<xmp>", "<plaintext>", "a < b "] {
            let html = format!("{before}{}&lt;end", "w\u{e9}rd ".repeat(ITEM_BYTES));
            let pieces: Vec<_> = Pieces::new(html.as_bytes()).map(Result::unwrap).collect();
            let most = pieces.iter().map(String::len).max().unwrap();
            assert!(pieces.len() > 5 && most < 2 * ITEM_BYTES, "{before}: {} pieces of {most}", pieces.len());
            let whole = pieces.concat();
            assert_eq!(whole.matches("w\u{e9}rd ").count(), ITEM_BYTES, "{before}");
            let raw = ["<xmp>", "<plaintext>"].contains(&before);
            assert!(whole.ends_with(if raw { "&lt;end" } else { "<end" }), "{before}");
        }
    }

    #[test]
    fn a_name_without_end_is_told() {
        for before in ["<title>", "<script>", "<p>"] {
            let html = format!("{before}</{}", "a".repeat(2 * MOST_LETTERS));
            // In plain text, the name of a tag is not kept.
            match before {
                "<p>" => assert_eq!(text(&html), ""),
                _ => assert_eq!(told(html.as_bytes()), "a tag whose name has more than 1048576 bytes"),
            }
        }
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
