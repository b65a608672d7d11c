//! Reads arguments as GNU's `getopt_long` does. Options may be abbreviated and may follow operands; one-letter
//! options may be joined.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::vec;

use sortie_files::quote;

use super::flag::{Arguments, Effect, Flag, Given, usage};
use super::page;
use crate::failure::Failure;

/// Why reading the arguments stopped early.
pub enum Stop {
    Refused(Failure),
    /// `--help` or `--version` was given.
    Page(String),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        Stop::Refused(failure)
    }
}

/// Reads all arguments of a command.
pub fn parse<A: Arguments>(words: vec::IntoIter<OsString>) -> Result<A, Stop> {
    let mut reader = Reader::new(words);
    while let Some(word) = reader.rest.next() {
        reader.take(word)?;
    }
    Ok(reader.args)
}

/// The arguments of a command, partly read.
pub struct Reader<A> {
    pub args: A,
    pub rest: vec::IntoIter<OsString>,
}

impl<A: Arguments> Reader<A> {
    pub fn new(words: vec::IntoIter<OsString>) -> Self {
        Reader { args: A::default(), rest: words }
    }

    /// Takes an option with its value, an operand, or everything after `--`.
    pub fn take(&mut self, word: OsString) -> Result<(), Stop> {
        match word.as_bytes() {
            b"--" => self.rest.by_ref().try_for_each(|word| self.args.operand(word.into()))?,
            [b'-', b'-', long @ ..] => self.long(long)?,
            [b'-', letters @ ..] if !letters.is_empty() => self.letters(letters)?,
            _ => self.args.operand(word.into())?,
        }
        Ok(())
    }

    /// Reads `--name`, `--name=value` or `--name value`. `text` is without the two dashes.
    fn long(&mut self, text: &[u8]) -> Result<(), Stop> {
        let (name, value) = match text.iter().position(|&byte| byte == b'=') {
            Some(at) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        let flag = named::<A>(name)?;
        let page = || Err(Stop::Page(flag.name.to_string()));
        match (&flag.effect, value) {
            (Effect::Switch(set), None) => set(&mut self.args),
            (Effect::Value(_, _, set), Some(value)) => set(&mut self.args, &given(flag, value))?,
            (Effect::Value(_, _, set), None) => {
                let value = self.next_value(flag)?;
                set(&mut self.args, &given(flag, value.as_bytes()))?;
            }
            (Effect::Optional(_, _, set), None) => set(&mut self.args, None)?,
            (Effect::Optional(_, _, set), Some(value)) => set(&mut self.args, Some(&given(flag, value)))?,
            (Effect::Help | Effect::Version, None) => return page(),
            (Effect::Ignored(_), _) => {}
            (Effect::Switch(_) | Effect::Help | Effect::Version, Some(value)) => {
                let value = shown(&[value]);
                return Err(usage(format_args!("'{flag}' takes no value, but {value} was given")).into());
            }
        }
        self.args.note(flag);
        Ok(())
    }

    /// Reads `-abc`, whose last letter may have a value. `text` is without the dash.
    fn letters(&mut self, text: &[u8]) -> Result<(), Stop> {
        for (place, &letter) in text.iter().enumerate() {
            let value = &text[place + 1..];
            let is_it = |flag: &&Flag<A>| flag.name.short() == Some(char::from(letter));
            let flag = flags::<A>().find(is_it).ok_or_else(|| unknown(letter))?;
            match &flag.effect {
                Effect::Switch(set) => set(&mut self.args),
                Effect::Optional(_, _, set) => set(&mut self.args, None)?,
                Effect::Help | Effect::Version => return Err(Stop::Page(format!("-{}", char::from(letter)))),
                Effect::Value(_, _, set) => {
                    let next = if value.is_empty() { Some(self.next_value(flag)?) } else { None };
                    let value = next.as_deref().map_or(value, OsStr::as_bytes);
                    set(&mut self.args, &given(flag, value))?;
                    self.args.note(flag);
                    return Ok(());
                }
                Effect::Ignored(_) if !value.is_empty() => return Ok(()),
                Effect::Ignored(_) => {
                    let is_number = |next: &OsString| next.as_bytes().iter().all(u8::is_ascii_digit);
                    if self.rest.as_slice().first().is_none_or(is_number) {
                        self.next_value(flag)?;
                    }
                }
            }
            self.args.note(flag);
        }
        Ok(())
    }

    fn next_value(&mut self, flag: &Flag<A>) -> Result<OsString, Failure> {
        let none = || usage(format_args!("a value is required for '{flag}' but none was supplied"));
        self.rest.next().ok_or_else(none)
    }
}

fn flags<A: Arguments>() -> impl Iterator<Item = &'static Flag<A>> {
    A::SECTIONS.iter().flat_map(|section| section.flags)
}

fn given<'a, A>(flag: &'a Flag<A>, value: &'a [u8]) -> Given<'a> {
    Given { text: OsStr::from_bytes(value), option: flag }
}

/// The option with this name, or the one that it abbreviates.
fn named<A: Arguments>(name: &[u8]) -> Result<&'static Flag<A>, Failure> {
    let long = |flag: &Flag<A>| flag.name.long().unwrap_or_default().as_bytes();
    if let Some(exact) = flags().find(|flag| flag.name.long().is_some_and(|long| long.as_bytes() == name)) {
        return Ok(exact);
    }
    let found: Vec<_> =
        flags().filter(|flag| flag.name.long().is_some() && long(flag).starts_with(name)).collect();
    let of_gnu: Vec<_> = found.iter().copied().filter(|flag| A::IS_GNU && flag.gnu).collect();
    match (&of_gnu[..], &found[..]) {
        ([flag], _) | ([], [flag]) => Ok(flag),
        (_, []) => {
            let given = OsString::from_vec([b"--", name].concat());
            let tip = page::tip_for::<A>(given.clone()).unwrap_or_default();
            Err(usage(format_args!("unexpected argument {} found{tip}", quote::always(Path::new(&given)))))
        }
        _ => {
            let names: Vec<_> = found.iter().map(|flag| flag.name.to_string()).collect();
            let given = shown(&[b"--", name]);
            Err(usage(format_args!("{given} is ambiguous; it may be {}", names.join(", "))))
        }
    }
}

fn unknown(letter: u8) -> Failure {
    usage(format_args!("unexpected argument {} found", shown(&[b"-", &[letter]])))
}

/// Quotes an argument for a message.
fn shown(parts: &[&[u8]]) -> String {
    quote::always(Path::new(&OsString::from_vec(parts.concat())))
}
