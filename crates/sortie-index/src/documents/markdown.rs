//! Markdown: extracts the text without markup, addresses and tags.
//!
//! A text longer than a piece is parsed in parts, which end between two blocks if possible. A reference to a link
//! that is defined in another part is then kept as text, including its label.

use std::io::Read;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::{ITEM_BYTES, cut, html, text};
use crate::error::Trouble;

/// The text of a file, piece by piece.
pub struct Pieces<R> {
    source: text::Pieces<R>,
    /// Text that was read but not parsed yet.
    held: String,
    ended: bool,
}

impl<R: Read> Pieces<R> {
    pub fn new(reader: R) -> Self {
        Pieces { source: text::Pieces::new(reader), held: String::new(), ended: false }
    }

    /// Reads until there is enough for a part. Returns that part.
    fn part(&mut self) -> Result<String, Trouble> {
        while !self.ended && self.held.len() < ITEM_BYTES {
            match self.source.next() {
                Some(piece) => self.held += &piece?,
                None => self.ended = true,
            }
        }
        if self.held.len() <= ITEM_BYTES {
            return Ok(std::mem::take(&mut self.held));
        }
        // A character has at most four bytes.
        let boundary = (ITEM_BYTES - 3..=ITEM_BYTES).rev().find(|&at| self.held.is_char_boundary(at));
        let End { at, fence } = part_end(&self.held[..boundary.unwrap_or(ITEM_BYTES)]);
        let rest = fence + &self.held[at..];
        self.held.truncate(at);
        Ok(std::mem::replace(&mut self.held, rest))
    }
}

impl<R: Read> Iterator for Pieces<R> {
    type Item = Result<String, Trouble>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended && self.held.is_empty() {
            return None;
        }
        let part = self.part();
        if part.is_err() {
            self.ended = true;
            self.held.clear();
        }
        Some(part.map(|markdown| words(&markdown)))
    }
}

/// Where a part ends.
struct End {
    at: usize,
    /// The fence that opens code again, if the part ends within code.
    fence: String,
}

/// Finds where to end a part of a longer text: before the last block that starts in the first column, else after the
/// last line, else after the last blank.
fn part_end(text: &str) -> End {
    let mut fence: Option<&str> = None;
    let mut between_blocks = None;
    let mut last_line = None;
    let (mut at, mut after_blank) = (0, false);
    for line in text.split_inclusive('\n') {
        if after_blank && fence.is_none() && !line.starts_with([' ', '\t', '\n', '\r']) {
            between_blocks = Some(at);
        }
        after_blank = line.trim_ascii().is_empty();
        match (fence, fence_of(line)) {
            (None, Some(opened)) => fence = Some(opened),
            // A code block ends with at least as many of the same characters, and nothing else on the line.
            (Some(opened), Some(closing)) if closing.starts_with(opened) && line.trim() == closing => {
                fence = None;
            }
            _ => {}
        }
        at += line.len();
        if line.ends_with('\n') {
            last_line = Some((at, fence));
        }
    }
    if let Some(at) = between_blocks.filter(|&at| at > 0) {
        return End { at, fence: String::new() };
    }
    let (at, fence) = last_line.unwrap_or_else(|| (cut(text.as_bytes()), fence));
    // If the fence took almost all of a part, little text would fit.
    let fence = fence.filter(|fence| fence.len() < at / 2);
    End { at, fence: fence.map_or_else(String::new, |fence| format!("{fence}\n")) }
}

/// The characters of a line that open or close code.
fn fence_of(line: &str) -> Option<&str> {
    let start = line.trim_start_matches(' ');
    let mark = start.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = start.trim_start_matches(mark);
    let fence = &start[..start.len() - rest.len()];
    let is_code = mark == '`' && rest.contains('`');
    (fence.len() >= 3 && line.len() - start.len() <= 3 && !is_code).then_some(fence)
}

/// The text that a reader of the rendered Markdown sees.
fn words(markdown: &str) -> String {
    let mut text = String::with_capacity(markdown.len());
    let mut tags = String::new();
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS;
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Text(words) | Event::Code(words) => text.push_str(&words),
            Event::Html(html) => tags.push_str(&html),
            Event::End(TagEnd::HtmlBlock) => {
                html::append_text(&tags, &mut text);
                tags.clear();
                text.push('\n');
            }
            Event::Start(Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. })
            | Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link) => {}
            Event::InlineHtml(tag) if !tag.starts_with("<br") => {}
            _ => text.push('\n'),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(markdown: &str) -> String {
        words(markdown).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn pieces(markdown: &str) -> Vec<String> {
        Pieces::new(markdown.as_bytes()).map(Result::unwrap).collect()
    }

    #[test]
    fn text_is_what_a_reader_sees() {
        assert_eq!(seen("# One *two*\n\nth**ree** [four](http://five)\nsix"), "One two three four six");
        assert_eq!(seen("| a | b |\n|---|---|\n| c | `d` |\n\n```rust\nfn e() {}\n```"), "a b c d fn e() {}");
        assert_eq!(seen("<div class=\"x\">\n<b>in</b>side\n</div>\n\na<br>b &amp; c"), "inside a b & c");
    }

    #[test]
    fn long_markdown_is_parsed_in_parts_that_end_between_blocks() {
        let block = "A *line* of\n[words](http://hidden) é\n\n";
        let long = block.repeat(3 * ITEM_BYTES / block.len());
        let pieces = pieces(&long);
        assert!(pieces.len() > 2 && pieces.iter().all(|piece| piece.len() <= ITEM_BYTES));
        assert_eq!(
            pieces.concat().split_whitespace().collect::<Vec<_>>(),
            seen(&long).split(' ').collect::<Vec<_>>()
        );
    }

    #[test]
    fn code_that_is_longer_than_a_part_stays_code() {
        let line = "let *a* = <b>; // [c](d)\n\n";
        let long = format!(
            "before\n\n  ~~~~rust\n~~~\n{}~~~~~\n*after*\n",
            line.repeat(3 * ITEM_BYTES / line.len())
        );
        let pieces = pieces(&long);
        assert!(pieces.len() > 2);
        let text = pieces.concat();
        assert_eq!(text.matches("let *a* = <b>; // [c](d)").count(), 3 * ITEM_BYTES / line.len());
        assert!(text.ends_with("after\n"), "{:?}", &text[text.len() - 50..]);
    }

    #[test]
    fn a_paragraph_or_a_word_longer_than_a_part_is_read() {
        for word in ["word é ", "*word*\n", "ж", "`"] {
            let text = pieces(&word.repeat(2 * ITEM_BYTES / word.len())).concat();
            let count = |of: &str, text: &str| text.matches(of).count();
            assert_eq!(count("word", &text), count("word", word) * (2 * ITEM_BYTES / word.len()), "{word}");
        }
    }

    #[test]
    fn the_mark_of_windows_is_no_text() {
        assert_eq!(seen("a"), pieces("\u{feff}# a").concat().trim());
    }
}
