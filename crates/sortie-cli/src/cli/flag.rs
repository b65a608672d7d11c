//! An option: its names, its help, and its effect on the arguments of its command.

use std::ffi::OsStr;
use std::fmt::{self, Display};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::PossibleValue;
use sortie_files::quote;

use super::job_kind::JobKind;
use crate::failure::Failure;

/// The arguments of a command. Its options fill them in one by one.
pub trait Arguments: Default + 'static {
    /// The arguments after checking that everything required is present.
    type Complete;

    const NAME: &'static str;
    const ABOUT: &'static str;
    const USAGE: &'static str;
    /// The text of the help after the options.
    const AFTER_HELP: &'static str;
    const OPERAND: Operand;
    /// All options of the command, in the order of the help.
    const SECTIONS: &'static [Section<Self>];
    /// Whether the command replaces GNU sort: see [`Flag::gnu`].
    const IS_GNU: bool = false;

    /// Called once for each option that was given.
    fn note(&mut self, _option: &Flag<Self>) {}

    /// Takes an argument that is not an option.
    fn operand(&mut self, operand: PathBuf) -> Result<(), Failure>;

    /// Checks what no single option can check.
    fn complete(self) -> Result<Self::Complete, Failure>;
}

/// The meaning of arguments that are not options.
pub struct Operand {
    pub name: &'static str,
    pub help: &'static str,
    /// Whether there may be none, or several.
    pub any_number: bool,
}

/// The options under one heading of the help.
pub struct Section<A: 'static> {
    pub heading: Option<&'static str>,
    pub flags: &'static [Flag<A>],
}

/// An option of a command whose arguments are of type `A`.
pub struct Flag<A> {
    pub name: Name,
    /// Whether GNU sort has this option. If an abbreviation fits several options but only one of GNU sort, it means
    /// that one, so new options of Sortie make no abbreviation ambiguous.
    pub gnu: bool,
    /// The jobs of `sortie sort` that use the option. Other commands have one job, which uses all of their
    /// options.
    pub of: &'static [JobKind],
    pub help: &'static str,
    pub effect: Effect<A>,
}

impl<A> Flag<A> {
    pub const HELP: Flag<A> = Flag {
        name: Name::Both('h', "help"),
        gnu: false,
        of: JobKind::ANY,
        help: "Print help",
        effect: Effect::Help,
    };
    pub const VERSION: Flag<A> = Flag {
        name: Name::Long("version"),
        gnu: true,
        of: JobKind::ANY,
        help: "Print version",
        effect: Effect::Version,
    };
}

#[derive(Debug, Clone, Copy)]
pub enum Name {
    Long(&'static str),
    Short(char),
    Both(char, &'static str),
}

impl Name {
    pub fn long(self) -> Option<&'static str> {
        match self {
            Name::Long(long) | Name::Both(_, long) => Some(long),
            Name::Short(_) => None,
        }
    }

    pub fn short(self) -> Option<char> {
        match self {
            Name::Short(letter) | Name::Both(letter, _) => Some(letter),
            Name::Long(_) => None,
        }
    }
}

impl Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Long(long) | Name::Both(_, long) => write!(f, "--{long}"),
            Name::Short(letter) => write!(f, "-{letter}"),
        }
    }
}

/// The value that an option takes, and its effect on the arguments.
pub enum Effect<A> {
    /// `--name`.
    Switch(fn(&mut A)),
    /// `--name=VALUE` or `--name VALUE`.
    Value(&'static str, Domain, fn(&mut A, &Given) -> Result<(), Failure>),
    /// `--name` or `--name=VALUE`.
    Optional(&'static str, Domain, fn(&mut A, Option<&Given>) -> Result<(), Failure>),
    /// An obsolete option, hidden from the help. Its value is ignored; the next argument is the value if it is a
    /// number.
    Ignored(&'static str),
    /// Prints the help and does nothing else.
    Help,
    /// Prints the version and does nothing else.
    Version,
}

/// The kind of value, for the help and the completions.
#[derive(Debug, Clone, Copy)]
pub enum Domain {
    Text,
    File,
    Folder,
    Program,
    /// One of several words, which the help lists.
    Words(fn() -> Vec<PossibleValue>),
    /// One of several words, which the text of the option already names.
    NamedWords(fn() -> Vec<PossibleValue>),
}

/// All words that stand for a value of type `T`.
pub fn words<T: ValueEnum>() -> Vec<PossibleValue> {
    T::value_variants().iter().filter_map(T::to_possible_value).collect()
}

impl<A> Display for Flag<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)?;
        match self.effect {
            Effect::Value(value, ..) | Effect::Ignored(value) => write!(f, " <{value}>"),
            Effect::Optional(value, ..) => write!(f, "[=<{value}>]"),
            Effect::Switch(_) | Effect::Help | Effect::Version => Ok(()),
        }
    }
}

/// The value of an option as given on the command line.
pub struct Given<'a> {
    pub text: &'a OsStr,
    /// The option that has the value.
    pub option: &'a dyn Display,
}

impl Given<'_> {
    pub fn path(&self) -> PathBuf {
        self.text.into()
    }

    /// Parses the value with `parse`.
    pub fn read<T, E: Display>(&self, parse: impl FnOnce(&str) -> Result<T, E>) -> Result<T, Failure> {
        let text = self.text.to_str().ok_or_else(|| self.refused("it is not UTF-8"))?;
        parse(text).map_err(|why| self.refused(why))
    }

    /// The word that the value equals or abbreviates.
    pub fn word<T: ValueEnum>(&self) -> Result<T, Failure> {
        let given = self.text.as_bytes();
        let is = |word: &PossibleValue| word.get_name_and_aliases().any(|name| name.as_bytes() == given);
        let may_be =
            |word: &PossibleValue| word.get_name_and_aliases().any(|name| name.as_bytes().starts_with(given));
        let fits = |fits: &dyn Fn(&PossibleValue) -> bool| {
            let words = T::value_variants().iter();
            words.filter(|word| word.to_possible_value().is_some_and(|word| fits(&word))).collect::<Vec<_>>()
        };
        match (&fits(&is)[..], &fits(&may_be)[..]) {
            ([word], _) | (_, [word]) => Ok((*word).clone()),
            _ => {
                let words: Vec<_> = words::<T>().iter().map(|word| word.get_name().to_owned()).collect();
                Err(self.refused(format_args!("choose one of {}", words.join(", "))))
            }
        }
    }

    /// The error for a value that cannot be used.
    pub fn refused(&self, why: impl Display) -> Failure {
        let value = quote::always(Path::new(self.text));
        usage(format_args!("invalid value {value} for '{}': {why}", self.option))
    }
}

/// An error in the command line itself.
pub fn usage(what: impl Display) -> Failure {
    Failure::new(format!("{what}; see --help"))
}

/// The error for required options or operands that are missing.
pub fn missing(required: &[(bool, &str)]) -> Failure {
    let missing: Vec<_> = required.iter().filter(|(given, _)| !given).map(|(_, what)| *what).collect();
    usage(format_args!("the following required arguments were not provided: {}", missing.join(" ")))
}

#[cfg(test)]
pub mod tests {
    use std::ffi::OsString;

    use super::{Arguments, Effect, Flag};
    use crate::cli::getopt;

    /// Whether the arguments show that an option was set.
    pub type IsSet<A> = fn(&A) -> bool;

    /// Asserts that each option, under all of its names, sets what its case says. A case is an option with a
    /// value, and a check.
    #[track_caller]
    pub fn each_sets<A: Arguments>(flags: &[Flag<A>], cases: &[(&str, IsSet<A>)]) {
        assert_eq!(flags.len(), cases.len(), "one case for each option");
        for flag in flags {
            let of_flag = |(given, _): &&(&str, _)| given.split('=').next() == Some(&flag.name.to_string());
            let (given, is_set) = cases.iter().find(of_flag).unwrap_or_else(|| panic!("no case of {flag}"));
            let value = given.split_once('=').map(|(_, value)| value);
            let mut forms: Vec<Vec<String>> = vec![vec![(*given).into()]];
            if let (Some(letter), Some(value)) = (flag.name.short(), value) {
                forms.push(vec![format!("-{letter}{value}")]);
                forms.push(vec![format!("-{letter}"), value.into()]);
            } else if let Some(letter) = flag.name.short() {
                forms.push(vec![format!("-{letter}")]);
            }
            if let (Effect::Value(..), Some(value)) = (&flag.effect, value) {
                forms.push(vec![flag.name.to_string(), value.into()]);
            }
            assert!(!is_set(&A::default()), "{given} is set without the option");
            for form in forms {
                let words: Vec<OsString> = form.iter().map(OsString::from).collect();
                let args: A = getopt::parse(words.into_iter()).unwrap_or_else(|_| panic!("{form:?}"));
                assert!(is_set(&args), "{form:?}");
            }
        }
    }
}
