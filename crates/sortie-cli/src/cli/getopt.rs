//! The arguments of `sort` as GNU sort reads them, rewritten for clap: each option by itself under its whole name, then `--` and
//! the files.
//!
//! GNU sort takes abbreviations, options after files, and obsolete keys: `+POS1 [-POS2]`. Two environment variables say when:
//! `POSIXLY_CORRECT` and `_POSIX2_VERSION`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use clap::{Arg, Command};

use super::key;
use crate::quote;

/// The long options of GNU sort. An abbreviation that fits only one of them means that one, whatever options Sortie adds.
const GNU: [&str; 30] = [
    "batch-size",
    "buffer-size",
    "check",
    "compress-program",
    "debug",
    "dictionary-order",
    "field-separator",
    "files0-from",
    "general-numeric-sort",
    "help",
    "human-numeric-sort",
    "ignore-case",
    "ignore-leading-blanks",
    "ignore-nonprinting",
    "key",
    "merge",
    "month-sort",
    "numeric-sort",
    "output",
    "parallel",
    "random-sort",
    "random-source",
    "reverse",
    "sort",
    "stable",
    "temporary-directory",
    "unique",
    "version",
    "version-sort",
    "zero-terminated",
];

/// What the environment says.
#[derive(Debug, Clone, Copy)]
pub struct Posix {
    /// `POSIXLY_CORRECT` is set: what follows the first file is a file too.
    files_last: bool,
    /// `+POS1` alone is a key, as in all versions of POSIX but those of 2001 to 2007.
    old_keys: bool,
}

impl Posix {
    pub fn from_environment() -> Posix {
        let version = std::env::var("_POSIX2_VERSION").ok().and_then(|text| text.trim_start().parse().ok());
        Posix {
            files_last: std::env::var_os("POSIXLY_CORRECT").is_some(),
            old_keys: !version.is_some_and(|version: i128| (200112..200809).contains(&version)),
        }
    }
}

/// Arguments, rewritten.
pub struct Rewritten {
    pub args: Vec<OsString>,
    /// Which keys were given as `+POS1 [-POS2]`, counted from 0.
    pub old_keys: Vec<OldKey>,
    /// Why the rest was not read.
    pub refused: Option<String>,
}

/// An obsolete key.
#[derive(Debug, Clone)]
pub struct OldKey {
    /// How many keys were given before it.
    pub place: usize,
    /// As it was given: `+1 -2`.
    pub given: String,
    /// What `-k` says the same with: `2,2`.
    pub key: String,
}

/// Rewrites what follows the name of the command.
pub fn rewrite(command: &Command, args: impl Iterator<Item = OsString>, posix: Posix) -> Rewritten {
    let mut reader = Reader {
        command,
        posix,
        rest: args.collect::<Vec<_>>().into_iter(),
        options: Vec::new(),
        files: Vec::new(),
        keys: 0,
        old_keys: Vec::new(),
        checks: false,
    };
    let refused = reader.read().err();
    let Reader { options: mut args, files, old_keys, .. } = reader;
    if !files.is_empty() {
        args.push("--".into());
        args.extend(files);
    }
    Rewritten { args, old_keys, refused }
}

struct Reader<'a> {
    command: &'a Command,
    posix: Posix,
    rest: std::vec::IntoIter<OsString>,
    options: Vec<OsString>,
    files: Vec<OsString>,
    keys: usize,
    old_keys: Vec<OldKey>,
    /// Whether `-c` or the like was given.
    checks: bool,
}

impl<'a> Reader<'a> {
    fn read(&mut self) -> Result<(), String> {
        while let Some(arg) = self.rest.next() {
            match arg.as_bytes() {
                bytes if self.options_ended(bytes) => self.files.push(arg),
                b"--" => self.files.extend(self.rest.by_ref()),
                [b'-', b'-', long @ ..] => self.long(long)?,
                [b'-', letters @ ..] if !letters.is_empty() => self.letters(letters)?,
                [b'+', ..] if self.old_key(&arg)? => {}
                _ => self.files.push(arg),
            }
        }
        Ok(())
    }

    /// Whether an argument is a file because a file came before it. Where obsolete keys are allowed, `-o` is still an option.
    fn options_ended(&self, arg: &[u8]) -> bool {
        let old_output = self.posix.old_keys
            && !self.checks
            && arg.starts_with(b"-o")
            && (arg.len() > 2 || !self.rest.as_slice().is_empty());
        self.posix.files_last && !self.files.is_empty() && !old_output
    }

    /// `--name`, `--name=value` or `--name value`, without the two dashes.
    fn long(&mut self, text: &[u8]) -> Result<(), String> {
        let (name, value) = match text.iter().position(|&byte| byte == b'=') {
            Some(at) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        let option = self.named(name)?;
        if value.is_none() && takes_next(option) {
            return self.next_value(option);
        }
        self.push(option, value);
        Ok(())
    }

    /// The option of this name, or of the one that it abbreviates.
    fn named(&self, name: &[u8]) -> Result<&'a Arg, String> {
        let known = || self.command.get_arguments().filter_map(|arg| Some((arg, arg.get_long()?)));
        let found: Vec<_> = known().filter(|(_, long)| long.as_bytes().starts_with(name)).collect();
        let of_gnu: Vec<_> = found.iter().filter(|(_, long)| GNU.contains(long)).collect();
        let exact = found.iter().find(|(_, long)| long.as_bytes() == name);
        match (exact, &of_gnu[..], &found[..]) {
            (Some((option, _)), ..) | (_, [(option, _)], _) | (_, [], [(option, _)]) => Ok(option),
            (_, _, []) => Err(unknown(b"--", name)),
            _ => {
                let names: Vec<_> = found.iter().map(|(_, long)| format!("--{long}")).collect();
                let given = shown(&[b"--", name]);
                Err(format!("{given} is ambiguous; it may be {}", names.join(", ")))
            }
        }
    }

    /// `-abc`, the last of which may have a value, without the dash.
    fn letters(&mut self, text: &[u8]) -> Result<(), String> {
        for (place, &letter) in text.iter().enumerate() {
            let value = &text[place + 1..];
            if letter == b'y' {
                return self.old_size(value);
            }
            let is_it = |arg: &&Arg| arg.get_short() == Some(char::from(letter));
            let option = self.command.get_arguments().find(is_it).ok_or_else(|| unknown(b"-", &[letter]))?;
            if takes_next(option) && value.is_empty() {
                return self.next_value(option);
            }
            if takes_next(option) {
                self.push(option, Some(value));
                return Ok(());
            }
            self.push(option, None);
        }
        Ok(())
    }

    /// `-y`, an obsolete memory size: ignored. A number may follow after a space.
    fn old_size(&mut self, value: &[u8]) -> Result<(), String> {
        match self.rest.as_slice().first() {
            _ if !value.is_empty() => {}
            None => return Err("a value is required for '-y <SIZE>' but none was supplied".into()),
            Some(next) if next.as_bytes().iter().all(u8::is_ascii_digit) => drop(self.rest.next()),
            Some(_) => {}
        }
        Ok(())
    }

    fn next_value(&mut self, option: &Arg) -> Result<(), String> {
        let Some(value) = self.rest.next() else {
            let name = option.get_long().unwrap_or_default();
            let value = option.get_value_names().and_then(|names| names.first()).map_or("VALUE", |name| name);
            return Err(format!("a value is required for '--{name} <{value}>' but none was supplied"));
        };
        self.push(option, Some(value.as_bytes()));
        Ok(())
    }

    fn push(&mut self, option: &Arg, value: Option<&[u8]>) {
        let long = option.get_long();
        self.keys += usize::from(long == Some("key"));
        self.checks |= long == Some("check") || option.get_short() == Some('C');
        let mut arg = match (long, option.get_short()) {
            (Some(long), _) => format!("--{long}"),
            (None, short) => format!("-{}", short.expect("it was found by its name")),
        }
        .into_bytes();
        if let Some(value) = value {
            arg.push(b'=');
            arg.extend(whole_word(option, value));
        }
        self.options.push(OsString::from_vec(arg));
    }

    /// Reads `+POS1`, and `-POS2` where that follows; false where it is a file. Places count from 0.
    fn old_key(&mut self, arg: &OsStr) -> Result<bool, String> {
        let is_end = |next: &&OsString| matches!(next.as_bytes(), [b'-', b'0'..=b'9', ..]);
        let end = self.rest.as_slice().first().filter(is_end).cloned();
        self.posix.old_keys |= end.is_some() && !self.posix.files_last;
        let start = arg.to_str().and_then(|text| OldPlace::read(&text[1..]).ok());
        let Some(start) = start.filter(|_| self.posix.old_keys) else { return Ok(false) };
        let (mut given, mut key) = (arg.to_string_lossy().into_owned(), start.as_start());
        if let Some(end) = end {
            self.rest.next();
            let text = end.to_string_lossy();
            let place = OldPlace::read(&text[1..])
                .map_err(|what| format!("invalid key {}: {what}", quote::always(Path::new(&end))))?;
            given = format!("{given} {text}");
            key = format!("{key},{}", place.as_end());
        }
        self.old_keys.push(OldKey { place: self.keys, given, key: key.clone() });
        self.keys += 1;
        self.options.push(format!("--key={key}").into());
        Ok(true)
    }
}

/// A place in an obsolete key: `F[.C][OPTS]`, both counted from 0.
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
        let mut options = super::KeyOptions::default();
        match rest.chars().find(|&letter| !options.set(letter)) {
            Some(stray) => Err(format!("'{stray}' is no option of a key")),
            None => Ok(OldPlace { field, char, options: rest.into() }),
        }
    }

    /// As `-k` writes where a key starts.
    fn as_start(&self) -> String {
        let field = self.field.saturating_add(1);
        match self.char {
            0 => format!("{field}{}", self.options),
            char => format!("{field}.{}{}", char.saturating_add(1), self.options),
        }
    }

    /// As `-k` writes where a key ends: character 0 of a field is the last of the one before it.
    fn as_end(&self) -> String {
        match self.char {
            0 => format!("{}{}", self.field.max(1), self.options),
            char => format!("{}.{char}{}", self.field.saturating_add(1), self.options),
        }
    }
}

/// Whether an option takes the next argument for its value, if it has none of its own.
fn takes_next(option: &Arg) -> bool {
    option.get_action().takes_values() && !option.is_require_equals_set()
}

/// The word that `value` abbreviates, where the option takes one of several words.
fn whole_word(option: &Arg, value: &[u8]) -> Vec<u8> {
    let words = option.get_possible_values();
    let starts = |name: &str| name.as_bytes().starts_with(value);
    let mut found = words.iter().filter(|word| word.get_name_and_aliases().any(starts));
    match (found.next(), found.next()) {
        (Some(word), None) => word.get_name().into(),
        _ => value.to_owned(),
    }
}

fn unknown(dashes: &[u8], name: &[u8]) -> String {
    format!("unexpected argument {} found", shown(&[dashes, name]))
}

/// In quotes, whatever it holds.
fn shown(parts: &[&[u8]]) -> String {
    quote::always(Path::new(OsStr::from_bytes(&parts.concat())))
}
