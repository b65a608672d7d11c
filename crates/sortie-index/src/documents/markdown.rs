//! Markdown: its text without marks, addresses and tags.

use std::io::Read;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::{ITEM_BYTES, Pieces, cut, html, utf8};
use crate::error::reason;

/// The text of a file of at most `longest` bytes.
pub fn pieces(reader: impl Read, longest: usize) -> Pieces {
    match text(reader, longest) {
        Ok(text) => Box::new(in_pieces(text).map(Ok)),
        Err(why) => Box::new(std::iter::once(Err(why))),
    }
}

fn text(reader: impl Read, longest: usize) -> Result<String, String> {
    let mut bytes = Vec::new();
    reader.take(longest as u64 + 1).read_to_end(&mut bytes).map_err(|error| reason(&error))?;
    if bytes.len() > longest {
        return Err(format!("Markdown of more than {longest} bytes; give it more memory"));
    }
    let markdown = utf8(bytes, 0)?;
    let mut text = String::with_capacity(markdown.len());
    let mut tags = String::new();
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS;
    for event in Parser::new_ext(&markdown, options) {
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
    Ok(text)
}

fn in_pieces(text: String) -> impl Iterator<Item = String> + Send {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut end = rest.len();
        if end > ITEM_BYTES {
            end = cut(&rest.as_bytes()[..ITEM_BYTES]);
        }
        let after = rest.split_off(end);
        Some(std::mem::replace(&mut rest, after))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(markdown: &str) -> String {
        let text = text(markdown.as_bytes(), 1000).unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn text_is_what_a_reader_sees() {
        assert_eq!(words("# One *two*\n\nth**ree** [four](http://five)\nsix"), "One two three four six");
        assert_eq!(
            words("| a | b |\n|---|---|\n| c | `d` |\n\n```rust\nfn e() {}\n```"),
            "a b c d fn e() {}"
        );
        assert_eq!(words("<div class=\"x\">\n<b>in</b>side\n</div>\n\na<br>b &amp; c"), "inside a b & c");
    }

    #[test]
    fn what_does_not_fit_is_told() {
        assert_eq!(text(&b"abc"[..], 2).unwrap_err(), "Markdown of more than 2 bytes; give it more memory");
    }

    #[test]
    fn long_text_comes_in_pieces() {
        let long = "word é ".repeat(ITEM_BYTES / 4);
        let pieces: Vec<String> = in_pieces(long.clone()).collect();
        assert!(pieces.len() > 1 && pieces.iter().all(|piece| piece.len() <= ITEM_BYTES));
        assert_eq!(pieces.concat(), long);
    }
}
