//! What a table is sorted by, as `--by` says it: `NAME[:TYPE][:desc][:nulls-first]`.

use std::fmt;

/// How the values of a column compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// Their bytes.
    Text,
    /// Decimal numbers of any length, without rounding.
    Number,
    /// Dates and times, or seconds since 1970.
    Date,
    /// Numbers within text, as under `-V` of GNU sort.
    Version,
    /// Text in the order of the table's locale, in which numbers count as numbers.
    Natural,
    /// Text in the order of the table's locale.
    Locale,
    /// Text in the order of the Unicode collation algorithm.
    Unicode,
}

impl ColumnType {
    pub fn name(self) -> &'static str {
        match self {
            ColumnType::Text => "text",
            ColumnType::Number => "number",
            ColumnType::Date => "date",
            ColumnType::Version => "version",
            ColumnType::Natural => "natural",
            ColumnType::Locale => "locale",
            ColumnType::Unicode => "unicode",
        }
    }
}

/// A column, as named by a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Column {
    /// Counted from 1.
    Number(usize),
    /// The name in the header, or a path of JSON lines.
    Name(String),
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Column::Number(number) => write!(f, "column {number}"),
            Column::Name(name) => write!(f, "column '{name}'"),
        }
    }
}

/// A key of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnKey {
    pub column: Column,
    /// By default, that which fits the first records.
    pub kind: Option<ColumnType>,
    pub descending: bool,
    /// Whether nulls come before values. By default they come after them, also in descending order.
    pub nulls_first: bool,
}

impl ColumnKey {
    /// A column in ascending order, nulls last, with the type that fits the first records.
    pub fn of(column: Column) -> ColumnKey {
        ColumnKey { column, kind: None, descending: false, nulls_first: false }
    }

    /// The keys of a list such as `name,"a:b":number:desc,3`. A name in quotes may have any characters, quotes doubled; one of digits
    /// alone is the number of a column, counted from 1, unless it is in quotes.
    ///
    /// # Errors
    /// What is wrong with the list.
    pub fn list(text: &str) -> Result<Vec<ColumnKey>, String> {
        let mut keys = Vec::new();
        let mut rest = text;
        loop {
            let (column, after) = column(rest)?;
            let end = after.find(',').unwrap_or(after.len());
            let mut key = ColumnKey::of(column);
            key.set(&after[..end])?;
            keys.push(key);
            match after[end..].strip_prefix(',') {
                Some(next) => rest = next,
                None => return Ok(keys),
            }
        }
    }

    /// The same key as SQL writes it, if its name ends so: `NAME DESC NULLS FIRST` is `NAME:desc:nulls-first`. For names that no column has.
    pub fn of_sql(&self) -> Option<ColumnKey> {
        let Column::Name(text) = &self.column else { return None };
        let mut key = self.clone();
        let mut name = text.trim();
        for (ending, first) in [(" NULLS FIRST", true), (" NULLS LAST", false)] {
            if let Some(rest) = without(name, ending) {
                (name, key.nulls_first) = (rest, first);
                break;
            }
        }
        for (ending, descending) in [(" DESC", true), (" ASC", false)] {
            if let Some(rest) = without(name, ending) {
                (name, key.descending) = (rest, descending);
                break;
            }
        }
        let name = name.trim_end();
        (name != text).then(|| {
            key.column = Column::Name(name.to_owned());
            key
        })
    }

    /// The columns of a list such as `name,3`.
    ///
    /// # Errors
    /// As [`ColumnKey::list`].
    pub fn columns(text: &str) -> Result<Vec<Column>, String> {
        let mut columns = Vec::new();
        let mut rest = text;
        loop {
            let (found, after) = column(rest)?;
            columns.push(found);
            match after.strip_prefix(',') {
                Some(next) => rest = next,
                None if after.is_empty() => return Ok(columns),
                None => {
                    return Err("only names are allowed here, without ':'; put a name with ':' in quotes, as in '\"a:b\"'".into());
                }
            }
        }
    }

    /// Applies options such as `:number:desc`.
    fn set(&mut self, options: &str) -> Result<(), String> {
        for option in options.split(':').skip(1) {
            let kind = match option {
                "text" => ColumnType::Text,
                "number" => ColumnType::Number,
                "date" => ColumnType::Date,
                "version" => ColumnType::Version,
                "natural" => ColumnType::Natural,
                "locale" => ColumnType::Locale,
                "unicode" => ColumnType::Unicode,
                "desc" => {
                    self.descending = true;
                    continue;
                }
                "asc" => continue,
                "nulls-first" => {
                    self.nulls_first = true;
                    continue;
                }
                "nulls-last" => continue,
                _ => {
                    return Err(format!(
                        "'{option}' is not one of text, number, date, version, natural, locale, unicode, asc, desc, nulls-first and \
                         nulls-last; put a name with ':' in quotes, as in '\"a:b\":number'"
                    ));
                }
            };
            if self.kind.replace(kind).is_some_and(|other| other != kind) {
                return Err(format!("{} has two types", self.column));
            }
        }
        Ok(())
    }
}

/// A text without its ending, in letters of any case.
fn without<'t>(text: &'t str, ending: &str) -> Option<&'t str> {
    let (rest, end) = text.split_at_checked(text.len().checked_sub(ending.len())?)?;
    end.eq_ignore_ascii_case(ending).then_some(rest)
}

/// The column at the start of a list, and what follows it.
fn column(text: &str) -> Result<(Column, &str), String> {
    let (name, rest, is_quoted) = if text.starts_with('"') {
        let (name, rest) = quoted(text)?;
        if !rest.is_empty() && !rest.starts_with([':', ',']) {
            return Err("only ':' or ',' may follow a name in quotes".into());
        }
        (name, rest, true)
    } else {
        let end = name_end(text)?;
        (text[..end].to_owned(), &text[end..], false)
    };
    if name.is_empty() && !is_quoted {
        return Err("a column has no name; write \"\" for an empty one".into());
    }
    if is_quoted || !name.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok((Column::Name(name), rest));
    }
    match name.parse() {
        Ok(0) => Err("there is no column 0; columns count from 1".into()),
        Err(_) => {
            Err(format!("{name} is too large for the number of a column; put it in quotes if it is a name"))
        }
        Ok(number) => Ok((Column::Number(number), rest)),
    }
}

/// The end of a name that does not begin with a quote. A path may have quoted parts.
fn name_end(text: &str) -> Result<usize, String> {
    let mut at = 0;
    while let Some(found) = text[at..].find(['"', ':', ',']) {
        at += found;
        if !text[at..].starts_with('"') {
            return Ok(at);
        }
        // Elsewhere than in a path, a quote is a part of the name.
        at = if text.starts_with('.') { text.len() - quoted(&text[at..])?.1.len() } else { at + 1 };
    }
    Ok(text.len())
}

/// The text in quotes at the start of `text`, and what follows it.
pub fn quoted(text: &str) -> Result<(String, &str), String> {
    let mut name = String::new();
    let mut rest = &text[1..];
    loop {
        let Some(end) = rest.find('"') else { return Err("a quote is not closed".into()) };
        name.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(after) => {
                name.push('"');
                rest = after;
            }
            None => return Ok((name, rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(column: Column, kind: Option<ColumnType>, descending: bool, nulls_first: bool) -> ColumnKey {
        ColumnKey { column, kind, descending, nulls_first }
    }

    #[test]
    fn keys_are_read() {
        let name = |name: &str| Column::Name(name.into());
        let keys =
            ColumnKey::list("price:number:desc,2,\"a:b,\"\"c\"\"\":nulls-first,\"2\":text:asc:nulls-last")
                .unwrap();
        assert_eq!(
            keys,
            [
                key(name("price"), Some(ColumnType::Number), true, false),
                key(Column::Number(2), None, false, false),
                key(name("a:b,\"c\""), None, false, true),
                key(name("2"), Some(ColumnType::Text), false, false),
            ]
        );
        let paths = ColumnKey::list(".a.\"x:y,z\"[0].[\"k:\"]:date,.b").unwrap();
        assert_eq!(paths[0], key(name(".a.\"x:y,z\"[0].[\"k:\"]"), Some(ColumnType::Date), false, false));
        assert_eq!(paths[1].column, name(".b"));
        assert_eq!(ColumnKey::list("5\" pipe:natural").unwrap()[0].column, name("5\" pipe"));
        assert_eq!(ColumnKey::columns("a,2").unwrap(), [name("a"), Column::Number(2)]);
    }

    #[test]
    fn keys_may_be_written_as_in_sql() {
        let sql = |text: &str| ColumnKey::list(text).unwrap()[0].of_sql();
        let a = || Column::Name("a b".into());
        assert_eq!(sql("a b DESC"), Some(key(a(), None, true, false)));
        assert_eq!(sql("a b asc Nulls First:number"), Some(key(a(), Some(ColumnType::Number), false, true)));
        assert_eq!(sql(" a b  desc"), Some(key(a(), None, true, false)));
        assert_eq!(sql("a b NULLS LAST"), Some(key(a(), None, false, false)));
        assert_eq!(sql("a b"), None);
        assert_eq!(sql("3"), None);
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for (text, said) in [
            ("", "a column has no name"),
            ("a,", "a column has no name"),
            (":desc", "a column has no name"),
            ("0", "there is no column 0"),
            ("99999999999999999999", "is too large for the number of a column"),
            ("a:int", "'int' is not one of text"),
            ("a:", "'' is not one of"),
            ("a:text:number", "column 'a' has two types"),
            ("\"a", "a quote is not closed"),
            ("\"a\"b", "only ':' or ',' may follow"),
        ] {
            let error = ColumnKey::list(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
        for text in ["a:desc", "a,b:x"] {
            assert!(ColumnKey::columns(text).unwrap_err().contains("only names are allowed here"), "{text}");
        }
    }
}
