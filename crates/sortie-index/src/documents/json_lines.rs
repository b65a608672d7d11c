//! JSON lines: an object a line, with `id` and `text`.

use std::borrow::Cow;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

use super::{ITEM_BYTES, Item, open};
use crate::error::{Skipped, reason};

/// The lines of a file in items.
pub struct Lines {
    reader: BufReader<Box<dyn Read + Send>>,
    path: Arc<Path>,
    /// Lines given out.
    lines: u64,
    longest: usize,
    /// What is to be told next.
    skipped: Option<Skipped>,
    ended: bool,
}

impl Lines {
    /// Lines may have up to `longest` bytes.
    pub fn open(path: &Path, longest: usize) -> Result<Lines, Skipped> {
        let file = open(path).map_err(|why| Skipped { place: path.to_string_lossy().into_owned(), why })?;
        let reader = BufReader::with_capacity(ITEM_BYTES / 4, file);
        Ok(Lines { reader, path: path.into(), lines: 0, longest, skipped: None, ended: false })
    }

    fn skip(&mut self, line: u64, why: String) {
        self.skipped = Some(Skipped { place: place(&self.path, line), why });
    }

    /// Reads lines, and says how many, until they are enough or one is to be skipped.
    fn read(&mut self, text: &mut Vec<u8>) -> u64 {
        let mut lines = 0;
        while text.len() < ITEM_BYTES {
            let start = text.len();
            let read = self.reader.by_ref().take(self.longest as u64 + 1).read_until(b'\n', text);
            match read {
                Err(error) => {
                    text.truncate(start);
                    let why = format!("{}; it is not read from here on", reason(&error));
                    self.skip(self.lines + lines + 1, why);
                    self.ended = true;
                    break;
                }
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(read) if read > self.longest && text.last() != Some(&b'\n') => {
                    text.truncate(start);
                    let mut why = format!("a line of more than {} bytes; give it more memory", self.longest);
                    if let Err(error) = self.reader.skip_until(b'\n') {
                        why = format!("{why}; {}; it is not read from here on", reason(&error));
                        self.ended = true;
                    }
                    self.skip(self.lines + lines + 1, why);
                    // It counts, though it is not among those of the item.
                    self.lines += 1;
                    break;
                }
                Ok(_) => lines += 1,
            }
        }
        lines
    }
}

impl Iterator for Lines {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        if let Some(skipped) = self.skipped.take() {
            return Some(Item::Skipped(skipped));
        }
        if self.ended {
            return None;
        }
        let first_line = self.lines + 1;
        let mut text = Vec::with_capacity(ITEM_BYTES);
        let lines = self.read(&mut text);
        self.lines += lines;
        if lines == 0 {
            return self.next();
        }
        Some(Item::Lines { path: self.path.clone(), first_line, text })
    }
}

/// A line, of which other fields do not matter.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    id: Id<'a>,
    #[serde(borrow)]
    text: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "`id` is neither a text nor a whole number")]
enum Id<'a> {
    Number(i64),
    Unsigned(u64),
    #[serde(borrow)]
    Name(Cow<'a, str>),
}

/// Calls `each` with the name and text of every line's document, or why it has none.
pub fn documents(
    path: &Path,
    first_line: u64,
    text: &[u8],
    mut each: impl FnMut(Result<(String, &str), Skipped>),
) {
    // As text files of Windows begin.
    let mark = if first_line == 1 { text.strip_prefix(b"\xEF\xBB\xBF") } else { None };
    for (number, line) in (first_line..).zip(mark.unwrap_or(text).split(|&byte| byte == b'\n')) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice::<Line<'_>>(line) {
            Ok(Line { id: Id::Number(id), text }) => each(Ok((id.to_string(), &text))),
            Ok(Line { id: Id::Unsigned(id), text }) => each(Ok((id.to_string(), &text))),
            Ok(Line { id: Id::Name(id), text }) => each(Ok((id.into_owned(), &text))),
            Err(error) => {
                let error = error.to_string();
                // Where it says the line, that is the first of one.
                let why = error.replace("line 1 column", "column");
                each(Err(Skipped { place: place(path, number), why }));
            }
        }
    }
}

fn place(path: &Path, line: u64) -> String {
    format!("{}:{line}", path.display())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn items(text: &str, longest: usize) -> Vec<Item> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        std::fs::write(&path, text).unwrap();
        Lines::open(&path, longest).unwrap().collect()
    }

    #[test]
    fn lines_are_documents_or_told() {
        let text =
            b"{\"id\":\"a\",\"text\":\"x\\ny\",\"url\":1}\n\n{\"id\":7,\"text\":\"\"}\n{\"id\":\"b\"}\n[";
        let mut told = Vec::new();
        documents("f".as_ref(), 10, text, |document| {
            told.push(match document {
                Ok((name, text)) => format!("{name} {text:?}"),
                Err(skipped) => skipped.to_string(),
            });
        });
        assert_eq!(told[..2], ["a \"x\\ny\"", "7 \"\""]);
        assert_eq!(told[2], "f:13: missing field `text` at column 10");
        assert!(told[3].starts_with("f:14: "), "{}", told[3]);
    }

    #[test]
    fn ids_are_texts_and_all_whole_numbers() {
        let text = b"\xEF\xBB\xBF{\"id\":18446744073709551615,\"text\":\"\"}\n{\"id\":1.5,\"text\":\"\"}";
        let mut told = Vec::new();
        documents("f".as_ref(), 1, text, |document| {
            told.push(document.map_or_else(|skipped| skipped.to_string(), |(name, _)| name));
        });
        assert_eq!(told[0], "18446744073709551615");
        assert!(told[1].starts_with("f:2: `id` is neither a text nor a whole number"), "{}", told[1]);
    }

    #[test]
    fn where_a_file_is_cut_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl.gz");
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        (0..1000).for_each(|line| writeln!(encoder, "{line}").unwrap());
        let whole = encoder.finish().unwrap();
        std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        let items: Vec<Item> = Lines::open(&path, 20).unwrap().collect();
        let [Item::Lines { text, .. }, Item::Skipped(skipped)] = &items[..] else { panic!("{items:?}") };
        let lines = text.split_inclusive(|&byte| byte == b'\n').count();
        assert!((100..1000).contains(&lines) && text.ends_with(b"\n"));
        assert!(skipped.place.ends_with(&format!("x.jsonl.gz:{}", lines + 1)), "{skipped}");
        assert!(skipped.why.ends_with("; it is not read from here on"), "{skipped}");
    }

    #[test]
    fn where_a_file_is_cut_within_a_line_too_long_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl.gz");
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        write!(encoder, "short\n{}\nnever read\n", "x".repeat(10_000)).unwrap();
        let whole = encoder.finish().unwrap();
        std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        let items: Vec<Item> = Lines::open(&path, 20).unwrap().collect();
        let [Item::Lines { text, .. }, Item::Skipped(skipped)] = &items[..] else { panic!("{items:?}") };
        assert_eq!(text, b"short\n");
        let why = "a line of more than 20 bytes; give it more memory; ";
        assert!(
            skipped.why.starts_with(why) && skipped.why.ends_with("; it is not read from here on"),
            "{skipped}"
        );
    }

    #[test]
    fn a_line_too_long_is_left_out_and_the_next_is_read() {
        let items = items(&format!("short\n{}\nnext\nlast", "x".repeat(50)), 20);
        let [
            Item::Lines { text: short, .. },
            Item::Skipped(skipped),
            Item::Lines { text: next, first_line: 3, .. },
        ] = &items[..]
        else {
            panic!("{items:?}");
        };
        assert_eq!((&short[..], &next[..]), (&b"short\n"[..], &b"next\nlast"[..]));
        assert!(
            skipped.to_string().ends_with("x.jsonl:2: a line of more than 20 bytes; give it more memory")
        );
    }
}
