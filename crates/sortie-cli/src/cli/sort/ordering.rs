//! Options for how keys are compared.

use super::{SortOptions, once, unknown_word};
use crate::cli::flag::{Domain, Effect, Flag, Name, words};
use crate::cli::job_kind::JobKind;
use crate::cli::job_kind::JobKind::{Lines, Table};
use crate::cli::values::SortWord;

/// The names in `sort` of options that have another letter, or none, in other commands.
pub const DICTIONARY: Name = Name::Both('d', "dictionary-order");
pub const NUMERIC: Name = Name::Both('n', "numeric-sort");

/// The options of all commands that sort lines. `dictionary` and `numeric` are the names of two of them.
pub const fn shared<A: AsMut<SortOptions>>(dictionary: Name, numeric: Name) -> [Flag<A>; 15] {
    [
        Flag {
            name: Name::Both('b', "ignore-leading-blanks"),
            gnu: true,
            of: &[Lines, Table],
            help: "Ignore leading blanks when finding where a key starts and ends",
            effect: Effect::Switch(|args| args.as_mut().ordering.blanks = true),
        },
        Flag {
            name: dictionary,
            gnu: true,
            of: &[Lines, Table],
            help: "Consider only blanks, letters and digits",
            effect: Effect::Switch(|args| args.as_mut().ordering.dictionary = true),
        },
        Flag {
            name: Name::Both('f', "ignore-case"),
            gnu: true,
            of: &[Lines, Table],
            help: "Compare lower-case letters as upper case",
            effect: Effect::Switch(|args| args.as_mut().ordering.ignore_case = true),
        },
        Flag {
            name: Name::Both('g', "general-numeric-sort"),
            gnu: true,
            of: &[Lines, Table],
            help: "Compare as floating-point numbers, as C's strtold reads them",
            effect: Effect::Switch(|args| args.as_mut().ordering.general_numeric = true),
        },
        Flag {
            name: Name::Both('h', "human-numeric-sort"),
            gnu: true,
            of: &[Lines, Table],
            help: "Compare numbers with a suffix (2K, 1G)",
            effect: Effect::Switch(|args| args.as_mut().ordering.human_numeric = true),
        },
        Flag {
            name: Name::Both('i', "ignore-nonprinting"),
            gnu: true,
            of: &[Lines, Table],
            help: "Consider only printable characters",
            effect: Effect::Switch(|args| args.as_mut().ordering.ignore_nonprinting = true),
        },
        Flag {
            name: Name::Both('M', "month-sort"),
            gnu: true,
            of: &[Lines, Table],
            help: "Compare as months: (anything else) < JAN < ... < DEC",
            effect: Effect::Switch(|args| args.as_mut().ordering.month = true),
        },
        Flag {
            name: numeric,
            gnu: true,
            of: &[Lines, Table],
            help: "Compare as decimal numbers of any length",
            effect: Effect::Switch(|args| args.as_mut().ordering.numeric = true),
        },
        Flag {
            name: Name::Both('R', "random-sort"),
            gnu: true,
            of: &[Lines, Table],
            help: "Shuffle, but keep lines with equal keys together",
            effect: Effect::Switch(|args| args.as_mut().ordering.random = true),
        },
        Flag {
            name: Name::Both('r', "reverse"),
            gnu: true,
            of: JobKind::UNIQUE,
            help: "Reverse the result of comparisons",
            effect: Effect::Switch(|args| args.as_mut().ordering.reverse = true),
        },
        Flag {
            name: Name::Both('V', "version-sort"),
            gnu: true,
            of: &[Lines, Table],
            help: "Compare as version numbers within text",
            effect: Effect::Switch(|args| args.as_mut().ordering.version = true),
        },
        Flag {
            name: Name::Long("sort"),
            gnu: true,
            of: &[Lines, Table],
            help: "Sort by WORD: general-numeric -g, human-numeric -h, month -M, numeric -n, random -R, version -V",
            effect: Effect::Value("WORD", Domain::NamedWords(words::<SortWord>), |args, given| {
                let word: SortWord = given.word().map_err(unknown_word)?;
                args.as_mut().ordering.set(word.letter());
                Ok(())
            }),
        },
        Flag {
            name: Name::Long("random-source"),
            gnu: true,
            of: &[Lines, Table],
            help: "Shuffle with bytes from FILE under -R; the same bytes give the same order",
            effect: Effect::Value("FILE", Domain::File, |args, given| {
                once(&mut args.as_mut().random_source, given.path(), "multiple random sources specified")
            }),
        },
        Flag {
            name: Name::Long("locale"),
            gnu: false,
            of: &[Lines, Table],
            help: "Use the rules of locale NAME instead of those of the environment; C compares bytes",
            effect: Effect::Value("NAME", Domain::Text, |args, given| {
                args.as_mut().rules.locale = Some(given.read(|name| Ok::<_, String>(name.to_owned()))?);
                Ok(())
            }),
        },
        Flag {
            name: Name::Long("collate"),
            gnu: false,
            of: &[Lines, Table],
            help: "Compare text as Unicode does: unicode, or unicode:LANGUAGE such as unicode:de. Not the order of GNU sort",
            effect: Effect::Value("RULES", Domain::Text, |args, given| {
                args.as_mut().rules.unicode = Some(given.read(language)?);
                Ok(())
            }),
        },
    ]
}

/// The language in `unicode:LANGUAGE`; none in `unicode`.
fn language(rules: &str) -> Result<String, &'static str> {
    let language = match rules.strip_prefix("unicode") {
        Some("") => Some(""),
        Some(rest) => rest.strip_prefix(':'),
        None => None,
    };
    language
        .map(Into::into)
        .ok_or("use unicode or unicode:LANGUAGE here, or --locale for a locale of the C library")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{DICTIONARY, NUMERIC, shared};
    use crate::cli::SortOptions;
    use crate::cli::flag::tests::each_sets;

    #[test]
    fn each_option_sets_what_it_says() {
        each_sets::<SortOptions>(
            &shared(DICTIONARY, NUMERIC),
            &[
                ("--ignore-leading-blanks", |args| args.ordering.blanks),
                ("--dictionary-order", |args| args.ordering.dictionary),
                ("--ignore-case", |args| args.ordering.ignore_case),
                ("--general-numeric-sort", |args| args.ordering.general_numeric),
                ("--human-numeric-sort", |args| args.ordering.human_numeric),
                ("--ignore-nonprinting", |args| args.ordering.ignore_nonprinting),
                ("--month-sort", |args| args.ordering.month),
                ("--numeric-sort", |args| args.ordering.numeric),
                ("--random-sort", |args| args.ordering.random),
                ("--reverse", |args| args.ordering.reverse),
                ("--version-sort", |args| args.ordering.version),
                ("--sort=month", |args| args.ordering.month),
                ("--locale=de_DE.UTF-8", |args| args.rules.locale.as_deref() == Some("de_DE.UTF-8")),
                ("--collate=unicode:de", |args| args.rules.unicode.as_deref() == Some("de")),
                ("--random-source=seed", |args| args.random_source.as_deref() == Some(Path::new("seed"))),
            ],
        );
    }
}
