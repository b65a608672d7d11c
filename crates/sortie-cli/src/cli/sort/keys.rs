//! Options for the position of keys, and for lines with equal keys.

use sortie_files::formats::tables::ColumnKey;

use super::{SortOptions, once};
use crate::cli::flag::{Domain, Effect, Flag, Name};
use crate::cli::job_kind::JobKind;
use crate::cli::job_kind::JobKind::{Fixed, Lines, Table};
use crate::cli::values::separator;

/// The options of all commands that sort lines.
pub const fn shared<A: AsMut<SortOptions>>() -> [Flag<A>; 2] {
    [
        Flag {
            name: Name::Both('k', "key"),
            gnu: true,
            of: &[Lines, Fixed, Table],
            help: "Sort by a key, see below; earlier keys take precedence",
            effect: Effect::Value("KEY", Domain::Text, |args, given| {
                args.as_mut().keys.push(given.read(str::parse)?);
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
                once(&mut args.as_mut().separator, byte, "incompatible tabs")
            }),
        },
    ]
}

/// What commands that write all lines do with those whose keys are equal.
pub const fn ties<A: AsMut<SortOptions>>() -> [Flag<A>; 2] {
    [
        Flag {
            name: Name::Both('s', "stable"),
            gnu: true,
            of: JobKind::KEYED,
            help: "Keep lines with equal keys in their input order",
            effect: Effect::Switch(|args| args.as_mut().stable = true),
        },
        Flag {
            name: Name::Both('u', "unique"),
            gnu: true,
            of: JobKind::UNIQUE,
            help: "Output only the first of lines with equal keys. For a table, NAMES are the columns that are compared, if not all \
                   those of --by",
            effect: Effect::Optional("NAMES", Domain::Text, |args, given| {
                let args = args.as_mut();
                args.unique = true;
                args.table.unique_by = given.map(|given| given.read(ColumnKey::columns)).transpose()?;
                Ok(())
            }),
        },
    ]
}

pub const DEBUG: &[Flag<SortOptions>] = &[Flag {
    name: Name::Long("debug"),
    gnu: true,
    of: &[Lines],
    help: "Mark the keys in each line, and warn about questionable options",
    effect: Effect::Switch(|args| args.debug = true),
}];

#[cfg(test)]
mod tests {
    use super::{DEBUG, shared, ties};
    use crate::cli::SortOptions;
    use crate::cli::flag::tests::each_sets;

    #[test]
    fn each_option_sets_what_it_says() {
        each_sets::<SortOptions>(
            &shared(),
            &[
                ("--key=2,3", |args| args.keys == ["2,3".parse().unwrap()]),
                ("--field-separator=;", |args| args.separator == Some(b';')),
            ],
        );
        each_sets::<SortOptions>(
            &ties(),
            &[("--stable", |args| args.stable), ("--unique", |args| args.unique)],
        );
        each_sets(DEBUG, &[("--debug", |args| args.debug)]);
    }
}
