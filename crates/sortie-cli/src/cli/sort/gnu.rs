//! Reads the arguments of `sort` in the same order as GNU sort, and obsolete keys: `+POS1 [-POS2]`.
//!
//! Two environment variables decide where options may be and which forms of keys are allowed: `POSIXLY_CORRECT` and
//! `_POSIX2_VERSION`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::vec;

use sortie_files::formats::text::{KeyOptions, key};
use sortie_files::quote;

use super::SortOptions;
use crate::cli::flag::{Arguments, usage};
use crate::cli::getopt::{Reader, Stop};
use crate::failure::Failure;

/// Parses the arguments after the name of the command.
pub fn parse(words: vec::IntoIter<OsString>) -> Result<SortOptions, Stop> {
    let mut posix = Posix::from_environment();
    let mut reader: Reader<SortOptions> = Reader::new(words);
    while let Some(word) = reader.rest.next() {
        if posix.ends_options(&word, &reader) {
            reader.args.operand(word.into())?;
        } else if let Some(key) = posix.old_key(&word, &mut reader.rest)? {
            reader.args.push_old_key(key);
        } else {
            let taken = reader.take(word);
            // As in GNU sort, an invalid key before `--help` is an error.
            if matches!(taken, Err(Stop::Page(_))) {
                reader.args.check_keys()?;
            }
            taken?;
        }
    }
    Ok(reader.args.complete()?)
}

/// An obsolete key.
#[derive(Debug, Clone)]
pub struct OldKey {
    /// The key as given: `+1 -2`.
    pub given: String,
    /// The same key in the form of `-k`: `2,2`.
    pub key: String,
}

/// The settings in the environment.
struct Posix {
    /// `POSIXLY_CORRECT` is set: everything after the first file is also a file.
    files_last: bool,
    /// `+POS1` alone is a key, as in all versions of POSIX except those from 2001 to 2007.
    old_keys: bool,
}

impl Posix {
    fn from_environment() -> Posix {
        let version = std::env::var("_POSIX2_VERSION").ok().and_then(|text| text.trim_start().parse().ok());
        Posix {
            files_last: std::env::var_os("POSIXLY_CORRECT").is_some(),
            old_keys: !version.is_some_and(|version: i128| (200112..200809).contains(&version)),
        }
    }

    /// Whether an argument is a file because a file precedes it. If obsolete keys are allowed, `-o` is still an
    /// option.
    fn ends_options(&self, word: &OsStr, reader: &Reader<SortOptions>) -> bool {
        let old_output = self.old_keys
            && reader.args.checks.is_empty()
            && word.as_bytes().starts_with(b"-o")
            && (word.len() > 2 || !reader.rest.as_slice().is_empty());
        self.files_last && !reader.args.files.is_empty() && !old_output
    }

    /// Parses `+POS1`, together with `-POS2` if that follows. `None` if the argument is a file name. Positions
    /// count from 0.
    fn old_key(
        &mut self,
        word: &OsStr,
        rest: &mut vec::IntoIter<OsString>,
    ) -> Result<Option<OldKey>, Failure> {
        let Some(start) = word.as_bytes().strip_prefix(b"+") else { return Ok(None) };
        let is_end = |next: &&OsString| matches!(next.as_bytes(), [b'-', b'0'..=b'9', ..]);
        let end = rest.as_slice().first().filter(is_end).cloned();
        self.old_keys |= end.is_some() && !self.files_last;
        let start = str::from_utf8(start).ok().and_then(|text| OldPlace::read(text).ok());
        let Some(start) = start.filter(|_| self.old_keys) else { return Ok(None) };
        let (mut given, mut key) = (word.to_string_lossy().into_owned(), start.as_start());
        if let Some(end) = end {
            rest.next();
            let text = end.to_string_lossy();
            let place = OldPlace::read(&text[1..]).map_err(|what| {
                usage(format_args!("invalid key {}: {what}", quote::always(Path::new(&end))))
            })?;
            given = format!("{given} {text}");
            key = format!("{key},{}", place.as_end());
        }
        Ok(Some(OldKey { given, key }))
    }
}

/// A position in an obsolete key: `F[.C][OPTS]`, both counted from 0.
struct OldPlace {
    field: usize,
    char: usize,
    options: String,
}

impl OldPlace {
    fn read(text: &str) -> Result<OldPlace, String> {
        let (field, rest) = key::number(text, "at the start")?;
        let (char, rest) = match rest.strip_prefix('.') {
            Some(rest) => key::number(rest, "after '.'")?,
            None => (0, rest),
        };
        let mut options = KeyOptions::default();
        match rest.chars().find(|&letter| !options.set(letter)) {
            Some(stray) => Err(format!("'{stray}' is not an option of a key")),
            None => Ok(OldPlace { field, char, options: rest.into() }),
        }
    }

    /// The position as the start of a key in `-k`.
    fn as_start(&self) -> String {
        let field = self.field.saturating_add(1);
        match self.char {
            0 => format!("{field}{}", self.options),
            char => format!("{field}.{}{}", char.saturating_add(1), self.options),
        }
    }

    /// The position as the end of a key in `-k`. Character 0 of a field means the last character of the field
    /// before.
    fn as_end(&self) -> String {
        match self.char {
            0 => format!("{}{}", self.field.max(1), self.options),
            char => format!("{}.{char}{}", self.field.saturating_add(1), self.options),
        }
    }
}
