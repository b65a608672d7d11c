//! Options for the position of keys, and for lines with equal keys.

use super::{SortOptions, once};
use crate::cli::flag::{Domain, Effect, Flag, Name};
use crate::cli::job_kind::JobKind;
use crate::cli::job_kind::JobKind::{Fixed, Lines};
use crate::cli::values::separator;

pub const KEYS: &[Flag<SortOptions>] = &[
    Flag {
        name: Name::Both('k', "key"),
        gnu: true,
        of: &[Lines, Fixed],
        help: "Sort by a key, see below; earlier keys take precedence. With --record-size, a key is A..B, in bytes",
        effect: Effect::Value("KEY", Domain::Text, |args, given| {
            args.keys.push(given.read(str::parse)?);
            Ok(())
        }),
    },
    Flag {
        name: Name::Both('t', "field-separator"),
        gnu: true,
        of: &[Lines],
        help: "Separate fields by SEP, one byte or \\0 for NUL, instead of by blanks",
        effect: Effect::Value("SEP", Domain::Text, |args, given| {
            let byte = separator(given.text).map_err(|why| given.refused(why))?;
            once(&mut args.separator, byte, "incompatible tabs")
        }),
    },
    Flag {
        name: Name::Both('s', "stable"),
        gnu: true,
        of: JobKind::KEYED,
        help: "Keep lines with equal keys in their input order",
        effect: Effect::Switch(|args| args.stable = true),
    },
    Flag {
        name: Name::Both('u', "unique"),
        gnu: true,
        of: JobKind::KEYED,
        help: "Output only the first of lines with equal keys; with -c, check that there are no equal keys",
        effect: Effect::Switch(|args| args.unique = true),
    },
    Flag {
        name: Name::Long("debug"),
        gnu: true,
        of: &[Lines],
        help: "Mark the keys in each line, and warn about questionable options",
        effect: Effect::Switch(|args| args.debug = true),
    },
];

#[cfg(test)]
mod tests {
    use super::KEYS;
    use crate::cli::flag::tests::each_sets;

    #[test]
    fn each_option_sets_what_it_says() {
        each_sets(
            KEYS,
            &[
                ("--key=2,3", |args| args.keys == ["2,3".parse().unwrap()]),
                ("--field-separator=;", |args| args.separator == Some(b';')),
                ("--stable", |args| args.stable),
                ("--unique", |args| args.unique),
                ("--debug", |args| args.debug),
            ],
        );
    }
}
