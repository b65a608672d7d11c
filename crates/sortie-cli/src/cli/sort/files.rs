//! Options for input and output files.

use super::{SortOptions, once};
use crate::cli::flag::{Domain, Effect, Flag, Name, words};
use crate::cli::job_kind::JobKind;
use crate::cli::job_kind::JobKind::Lines;
use crate::cli::values::Check;

/// Options for what to do instead of a sort.
pub const OTHER_WORK: &[Flag<SortOptions>] = &[
    Flag {
        name: Name::Both('c', "check"),
        gnu: true,
        of: JobKind::KEYED,
        help: "Check that the input is sorted, and with -u that no keys are equal; do not sort. With `quiet` or `silent`, print nothing",
        effect: Effect::Optional("HOW", Domain::NamedWords(words::<Check>), |args, given| {
            let check = given.map_or(Ok(Check::DiagnoseFirst), |given| given.word());
            args.checks.push(check.map_err(super::unknown_word)?);
            Ok(())
        }),
    },
    Flag {
        name: Name::Short('C'),
        gnu: true,
        of: JobKind::KEYED,
        help: "As --check=quiet",
        effect: Effect::Switch(|args| args.checks.push(Check::Quiet)),
    },
    Flag {
        name: Name::Both('m', "merge"),
        gnu: true,
        of: &[Lines, JobKind::Genome, JobKind::Table],
        help: "Merge files that are each sorted; do not sort",
        effect: Effect::Switch(|args| args.merge = true),
    },
];

/// The options of all commands that sort lines.
pub const fn shared<A: AsMut<SortOptions>>() -> [Flag<A>; 4] {
    [
        Flag {
            name: Name::Both('o', "output"),
            gnu: true,
            of: JobKind::ANY,
            help: "Write to FILE, which may be one of the input",
            effect: Effect::Value("FILE", Domain::File, |args, given| {
                once(&mut args.as_mut().output, given.path(), "multiple output files specified")
            }),
        },
        Flag {
            name: Name::Both('z', "zero-terminated"),
            gnu: true,
            of: &[Lines],
            help: "Lines end with NUL, not newline",
            effect: Effect::Switch(|args| args.as_mut().zero_terminated = true),
        },
        Flag {
            name: Name::Long("files0-from"),
            gnu: true,
            of: JobKind::KEYED,
            help: "Read the files that FILE (- for standard input) names, each name ended by NUL",
            effect: Effect::Value("FILE", Domain::File, |args, given| {
                args.as_mut().files0_from = Some(given.path());
                Ok(())
            }),
        },
        Flag {
            name: Name::Long("text"),
            gnu: false,
            of: &[Lines],
            help: "Sort the bytes of every input as lines, whatever its format: nothing is decompressed or refused",
            effect: Effect::Switch(|args| args.as_mut().text = true),
        },
    ]
}

/// Options that print a page and exit. The letter h is taken.
pub const fn pages<A>() -> [Flag<A>; 2] {
    [
        Flag {
            name: Name::Long("help"),
            gnu: true,
            of: JobKind::ANY,
            help: "Print help",
            effect: Effect::Help,
        },
        Flag::VERSION,
    ]
}

/// Options without effect.
pub const OBSOLETE: &[Flag<SortOptions>] = &[Flag {
    name: Name::Short('y'),
    gnu: true,
    of: JobKind::ANY,
    help: "An obsolete memory size, ignored",
    effect: Effect::Ignored("SIZE"),
}];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Check, OTHER_WORK, shared};
    use crate::cli::flag::tests::each_sets;
    use crate::cli::{SortOptions, getopt};

    #[test]
    fn each_option_sets_what_it_says() {
        each_sets(
            OTHER_WORK,
            &[
                ("--check", |args| args.checks == [Check::DiagnoseFirst]),
                ("-C", |args| args.checks == [Check::Quiet]),
                ("--merge", |args| args.merge),
            ],
        );
        each_sets::<SortOptions>(
            &shared(),
            &[
                ("--output=-x", |args| args.output.as_deref() == Some(Path::new("-x"))),
                ("--zero-terminated", |args| args.zero_terminated),
                ("--files0-from=list", |args| args.files0_from.as_deref() == Some(Path::new("list"))),
                ("--text", |args| args.text),
            ],
        );
    }

    #[test]
    fn a_word_says_how_to_check() {
        for (word, how) in [("quiet", Check::Quiet), ("silent", Check::Quiet), ("d", Check::DiagnoseFirst)] {
            let words = vec![format!("--check={word}").into()].into_iter();
            let args: SortOptions = getopt::parse(words).unwrap_or_else(|_| panic!("{word}"));
            assert_eq!(args.checks, [how], "{word}");
        }
    }
}
