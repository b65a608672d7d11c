//! JSON lines: each line is an object with `id` and `text`.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

use super::long::Long;
use super::long_line::{self, Document, Line as LongLine};
use super::{ITEM_BYTES, Item, not_utf8, open, text};
use crate::error::{Error, Reason, Skipped, Trouble, room};

/// Divides the lines of a file into items.
pub struct Lines {
    reader: BufReader<Box<dyn Read + Send>>,
    path: Arc<Path>,
    /// The folder for the text of long lines.
    folder: Arc<Path>,
    /// The number of lines returned.
    lines: u64,
    /// What comes next: a report about a line, or the pieces of a long line.
    told: Option<Item>,
    long: Option<Long>,
    ended: bool,
}

impl Lines {
    /// Opens a file. The text of a line longer than an item goes to an unnamed file in `folder`.
    pub fn open(path: &Path, folder: Arc<Path>) -> io::Result<Lines> {
        let reader = BufReader::with_capacity(ITEM_BYTES / 4, open(path)?);
        Ok(Lines { reader, path: path.into(), folder, lines: 0, told: None, long: None, ended: false })
    }

    fn tell(&mut self, line: u64, trouble: Trouble) {
        self.told = Some(match trouble.of(&self.path, place(&self.path, line)) {
            Ok(skipped) => Item::Skipped(skipped),
            Err(error) => Item::Failed(error),
        });
    }

    /// Ends the file before this line because of an error.
    fn end_before(&mut self, line: u64, error: io::Error) {
        self.ended = true;
        self.tell(
            line,
            match error.into() {
                Trouble::Content(why) => Trouble::Content(format!("{why}; the rest of the file is not read")),
                other => other,
            },
        );
    }

    /// Reads lines until there are enough, or until a line is special. Returns their number.
    fn read(&mut self, text: &mut Vec<u8>) -> u64 {
        let mut lines = 0;
        while text.len() < ITEM_BYTES {
            let (start, number) = (text.len(), self.lines + lines + 1);
            match self.reader.by_ref().take(ITEM_BYTES as u64 + 1).read_until(b'\n', text) {
                Err(error) => {
                    text.truncate(start);
                    self.end_before(number, error);
                    break;
                }
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(read) if read > ITEM_BYTES && text.last() != Some(&b'\n') => {
                    self.long_line(number, &text[start..]);
                    text.truncate(start);
                    // The line counts, although it is not in the text of the item.
                    self.lines += 1;
                    break;
                }
                Ok(_) => lines += 1,
            }
        }
        lines
    }

    /// Reads a long line, which starts with `begun`, to its end.
    fn long_line(&mut self, number: u64, begun: &[u8]) {
        let mut line = LongLine::new(begun, &mut self.reader);
        let document = long_line::read(&mut line, &self.folder);
        let skipped = line.skip_rest();
        match document {
            Ok(Document { name, text }) => {
                let pieces = Box::new(text::Pieces::new(text));
                self.long = Some(Long::new(name, place(&self.path, number), &self.path, pieces));
            }
            Err(long_line::Failure::Line(trouble)) => self.tell(number, trouble),
            Err(long_line::Failure::Spool(error)) => self.told = Some(Item::Failed(error)),
        }
        if let Err(error) = skipped {
            self.end_before(number, error);
        }
    }
}

impl Iterator for Lines {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        if let Some(item) = self.told.take().or_else(|| self.long.as_mut()?.next()) {
            return Some(item);
        }
        self.long = None;
        if self.ended {
            return None;
        }
        let first_line = self.lines + 1;
        // Room for a line that starts before the item is full and is not long.
        let mut text = match room(2 * ITEM_BYTES + 1) {
            Ok(text) => text,
            Err(error) => {
                self.ended = true;
                return Some(Item::Failed(error));
            }
        };
        let lines = self.read(&mut text);
        self.lines += lines;
        if lines == 0 {
            return self.next();
        }
        Some(Item::Lines { path: self.path.clone(), first_line, text })
    }
}

/// The fields of a line. Other fields are ignored.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    id: Id<'a>,
    #[serde(borrow)]
    text: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "`id` is neither a string nor a whole number")]
enum Id<'a> {
    Number(i64),
    Unsigned(u64),
    #[serde(borrow)]
    Name(Cow<'a, str>),
}

/// Calls `each` with the name and text of every line's document, or with the reason why it has none, until
/// `each` fails.
pub fn documents(
    path: &Path,
    first_line: u64,
    text: &[u8],
    mut each: impl FnMut(Result<(String, &str), Skipped>) -> Result<(), Error>,
) -> Result<(), Error> {
    // Text files from Windows may start with this mark.
    let mark = if first_line == 1 && text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    for (number, line) in (first_line..).zip(text[mark..].split(|&byte| byte == b'\n')) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let before = if number == 1 { mark } else { 0 };
        match parse(line, before) {
            Ok(Line { id: Id::Number(id), text }) => each(Ok((id.to_string(), &text)))?,
            Ok(Line { id: Id::Unsigned(id), text }) => each(Ok((id.to_string(), &text)))?,
            Ok(Line { id: Id::Name(id), text }) => each(Ok((id.into_owned(), &text)))?,
            Err(why) => {
                each(Err(Skipped { place: place(path, number), why, reason: Reason::Defective }))?;
            }
        }
    }
    Ok(())
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The object of a line, or what is wrong and where. `before` is the number of bytes of the line before `line`.
fn parse(line: &[u8], before: usize) -> Result<Line<'_>, String> {
    let line = std::str::from_utf8(line).map_err(|error| not_utf8((before + error.valid_up_to()) as u64))?;
    if let Some(place) = line.find(|c: char| !c.is_ascii_whitespace())
        && line[place..].starts_with('[')
    {
        // The parser would take the items of an array for the fields of an object, in their order.
        return Err(format!("an array, not an object with `id` and `text`, at byte {}", before + place + 1));
    }
    serde_json::from_str(line).map_err(|error| {
        let (why, column) = (error.to_string(), error.column());
        // The parser only sees this line, so its line number is always 1. Only the column is of use.
        match why.strip_suffix(&format!(" at line 1 column {column}")) {
            Some(why) => format!("{why} at byte {}", before + column),
            None => why,
        }
    })
}

fn place(path: &Path, line: u64) -> String {
    format!("{}:{line}", path.display())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn items(name: &str, text: &[u8]) -> Vec<Item> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        Lines::open(&path, folder.path().into()).unwrap().collect()
    }

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    /// The documents of a file, each with its text in one piece, or the report about it.
    fn documents_of(text: &str) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = Vec::new();
        for item in items("x.jsonl", text.as_bytes()) {
            match item {
                Item::Lines { path, first_line, text } => {
                    documents(&path, first_line, &text, |document| {
                        all.push(match document {
                            Ok((name, text)) => (name, text.to_owned()),
                            Err(skipped) => (String::new(), skipped.why),
                        });
                        Ok(())
                    })
                    .unwrap();
                }
                Item::Piece { name: Some(name), text } => all.push((name, text)),
                Item::Piece { name: None, text } => all.last_mut().unwrap().1 += &text,
                Item::Skipped(skipped) => all.push((String::new(), skipped.why)),
                other => panic!("{other:?}"),
            }
        }
        all
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
            Ok(())
        })
        .unwrap();
        assert_eq!(told[..2], ["a \"x\\ny\"", "7 \"\""]);
        assert_eq!(told[2], "f:13: missing field `text` at byte 10");
        assert!(told[3].starts_with("f:14: "), "{}", told[3]);
    }

    #[test]
    fn an_array_is_no_document() {
        let long = "x".repeat(2 * ITEM_BYTES);
        for line in ["[\"a\",\"b\"]", " [7, \"b\"]", "[]", &format!("[\"a\",\"{long}\"]")] {
            let all = documents_of(&format!("{line}\n{{\"id\":\"next\",\"text\":\"\"}}"));
            assert!(all.len() == 2 && all[0].1.contains("array") && all[1].0 == "next", "{all:.200?}");
        }
        let all = documents_of("\u{feff} [\"a\",\"b\"]");
        assert_eq!(all[0].1, "an array, not an object with `id` and `text`, at byte 5");
    }

    #[test]
    fn ids_are_texts_and_all_whole_numbers() {
        let text = b"\xEF\xBB\xBF{\"id\":18446744073709551615,\"text\":\"\"}\n{\"id\":1.5,\"text\":\"\"}";
        let mut told = Vec::new();
        documents("f".as_ref(), 1, text, |document| {
            told.push(document.map_or_else(|skipped| skipped.to_string(), |(name, _)| name));
            Ok(())
        })
        .unwrap();
        assert_eq!(told[0], "18446744073709551615");
        assert!(told[1].starts_with("f:2: `id` is neither a string nor a whole number"), "{}", told[1]);
    }

    #[test]
    fn the_byte_that_is_wrong_is_told() {
        let told = |text: &[u8]| {
            let mut why = String::new();
            documents("f".as_ref(), 1, text, |document| {
                why = document.unwrap_err().why;
                Ok(())
            })
            .unwrap();
            why
        };
        assert_eq!(told(b"{\"id\":1,\"text\":\"ab\xE9cd\"}"), "not UTF-8 at byte 19");
        assert_eq!(told(b"\xEF\xBB\xBF{\"id\":1,\"text\":\"ab\xE9cd\"}"), "not UTF-8 at byte 22");
        assert_eq!(told(b"\xEF\xBB\xBF{\"id\":1 1}"), "expected `,` or `}` at byte 12");
    }

    #[test]
    fn a_long_line_is_a_document_as_a_short_one_is() {
        let long = "w\\u00e9 \\\"a\\\\ ".repeat(ITEM_BYTES / 10);
        let text = "w\u{e9} \"a\\ ".repeat(ITEM_BYTES / 10);
        let lines = format!(
            "{{\"id\":\"a\",\"text\":\"x\"}}\n{{\"text\":\"{long}\",\"n\":[1e400],\"id\":7}} \n{{\"id\":\"b\",\"text\":\"\",\"x\":\"{long}\"}}\n{{\"id\":\"c\",\"text\":\"y\"}}"
        );
        let expected = [("a", "x"), ("7", &text), ("b", ""), ("c", "y")];
        let all = documents_of(&lines);
        let names: Vec<_> = all.iter().map(|(name, text)| (&**name, text.len())).collect();
        assert!(all.iter().map(|(name, text)| (&**name, &**text)).eq(expected), "{names:?}");
    }

    #[test]
    fn a_long_line_is_told_as_a_short_one_is_and_the_next_is_read() {
        let long = "x".repeat(2 * ITEM_BYTES);
        for (line, why) in [
            (format!("{{\"id\":1,\"text\":\"{long}"), "incomplete document at byte"),
            (format!("{{\"id\":1,\"text\":\"{long}\\x\"}}"), "unknown escape sequence at byte"),
            (format!("{{\"id\":1,\"text\":\"{long}\"}} x"), "trailing data at byte"),
            (format!("{{\"id\":1,\"other\":\"{long}\"}}"), "missing field `text`"),
            (format!("{{\"text\":\"{long}\"}}"), "missing field `id`"),
            (format!("{{\"id\":1.5,\"text\":\"{long}\"}}"), "`id` is neither a string nor a whole number"),
            (format!("{{\"id\":1,\"text\":\"{long}\",\"text\":\"\"}}"), "duplicate field `text`"),
            (format!("{{\"id\":1,\"text\":7,\"x\":\"{long}\"}}"), "an unexpected number at byte"),
            (format!("{{\"id\":1,\"{long}\":\"\"}}"), "a name or number of more than 524288 bytes"),
        ] {
            let all = documents_of(&format!("{line}\n{{\"id\":\"next\",\"text\":\"\"}}"));
            assert!(all.len() == 2 && all[0].1.starts_with(why) && all[1].0 == "next", "{why}: {all:.200?}");
        }
        let mut wrong = format!("{{\"id\":1,\"text\":\"{long}\"}}").into_bytes();
        wrong[ITEM_BYTES + 7] = 0xFF;
        let [Item::Skipped(skipped)] = &items("x.jsonl", &wrong)[..] else { panic!() };
        assert_eq!(skipped.why, format!("not UTF-8 at byte {}", ITEM_BYTES + 8));
    }

    #[test]
    fn where_a_file_is_cut_is_told() {
        let lines: String = (0..1000).map(|line| format!("{line}\n")).collect();
        let whole = gzip(&lines);
        let items = items("x.jsonl.gz", &whole[..whole.len() / 2]);
        let [Item::Lines { text, .. }, Item::Skipped(skipped)] = &items[..] else { panic!("{items:?}") };
        let lines = text.split_inclusive(|&byte| byte == b'\n').count();
        assert!((100..1000).contains(&lines) && text.ends_with(b"\n"));
        assert!(skipped.place.ends_with(&format!("x.jsonl.gz:{}", lines + 1)), "{skipped}");
        assert!(skipped.why.ends_with("; the rest of the file is not read"), "{skipped}");
    }

    #[test]
    fn where_a_file_is_cut_within_a_long_line_is_told() {
        let whole =
            gzip(&format!("short\n{{\"id\":1,\"text\":\"{}\"}}\nnever read\n", "x".repeat(3 * ITEM_BYTES)));
        let items = items("x.jsonl.gz", &whole[..whole.len() * 2 / 3]);
        let [Item::Lines { text, .. }, Item::Skipped(skipped)] = &items[..] else { panic!("{items:?}") };
        assert_eq!(text, b"short\n");
        assert!(
            skipped.place.ends_with(":2") && skipped.why.ends_with("; the rest of the file is not read"),
            "{skipped}"
        );
    }
}
