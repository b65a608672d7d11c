//! The part of C++ source that determines the machine code: without comments, and with short blanks.

/// The source, in which one line feed or one space replaces each run of blanks and comments: a line feed if a line ends
/// in the run. Literals stay as they are.
pub fn significant(source: &str) -> String {
    let mut result = String::with_capacity(source.len());
    let mut rest = source;
    while !rest.is_empty() {
        let (blanks, separator) = blanks(rest);
        if blanks == 0 {
            let (token, after) = rest.split_at(token(rest, result.chars().next_back()));
            result.push_str(token);
            rest = after;
            continue;
        }
        rest = &rest[blanks..];
        if !result.is_empty() && !rest.is_empty() {
            result.push(separator);
        }
    }
    result
}

/// The length of the blanks and comments at the start, and what replaces them.
fn blanks(text: &str) -> (usize, char) {
    let (mut rest, mut separator) = (text, ' ');
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            line(rest)
        } else if let Some(inner) = rest.strip_prefix("/*") {
            inner.find("*/").map_or(rest.len(), |end| end + 4)
        } else if first.is_ascii_whitespace() {
            1
        } else {
            break;
        };
        if first == '\n' {
            separator = '\n';
        }
        rest = &rest[length..];
    }
    (text.len() - rest.len(), separator)
}

/// The length of the first line without its end. A backslash continues a line.
fn line(text: &str) -> usize {
    let bytes = text.as_bytes();
    let ends = |&at: &usize| bytes[at] == b'\n' && bytes[at - 1] != b'\\';
    (1..bytes.len()).find(ends).unwrap_or(bytes.len())
}

/// The length of the literal, the backslash with the end of its line, or else the text up to the next of these, blank or
/// slash.
fn token(text: &str, before: Option<char>) -> usize {
    let first = text.chars().next().expect("it is not empty");
    if text.starts_with("\\\n") {
        return 2;
    }
    // A quote after a digit separates digits.
    let is_literal = first == '"' || first == '\'' && !before.is_some_and(|c| c.is_ascii_hexdigit());
    if !is_literal {
        let length = first.len_utf8();
        let ends = |c: char| c.is_ascii_whitespace() || matches!(c, '/' | '"' | '\'' | '\\');
        return text[length..].find(ends).map_or(text.len(), |end| length + end);
    }
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => _ = bytes.next(),
            _ if byte == first as u8 => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::significant;

    #[test]
    fn comments_and_runs_of_blanks_do_not_count() {
        let sources = [
            "#define A 1\nint f(int x) { return x; }",
            "// What it does.\n#define A 1\nint f(int x) { return x; }\n",
            "\n#define  A /* one */ 1 // and only one\n\n\tint f(int x) { return x; } // the \"end\"\n\n",
            "/* It's\n   long */ #define A 1\n// a \\\n continued comment\nint f(int x) {/* a\nb */return x; }",
        ];
        for source in sources {
            assert_eq!(significant(source), sources[0]);
        }
    }

    #[test]
    fn everything_else_counts() {
        let sources = [
            "#define A 1\nint a;",
            "#define A 1 int a;",
            "#define A 2\nint a;",
            "#define A(x) 1\nint a;",
            "#define A (x) 1\nint a;",
            "#define A (x) 1\\\nint a;",
            "#define A (x) 1\\\n// a comment\nint a;",
            "f(\"// no comment\");",
            "f(\"/* no comment\");",
            "f(\"//  no comment\");",
            "f(\"\\\"// no comment\");",
            "f('\"'); // a comment\ng('\"');",
            "f('\"'); g('\"');",
            "x = 1'000 / 2; // '\ny;",
            "x = 1'000 / 2; // '\nz;",
        ];
        for (i, source) in sources.iter().enumerate() {
            assert!(!sources[..i].iter().any(|other| significant(other) == significant(source)), "{source}");
        }
        assert_eq!(significant(sources[7]), sources[7]);
        assert_eq!(significant(sources[13]), "x = 1'000 / 2;\ny;");
    }
}
