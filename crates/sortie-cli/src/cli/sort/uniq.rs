//! `sortie uniq`.

use std::path::PathBuf;

use sortie_files::formats::text::Distinct;

use super::lines::LinesOptions;
use super::{SortOptions, files, keys, ordering, tables, temporary};
use crate::cli::compress;
use crate::cli::flag::{Arguments, Effect, Flag, Name, Operand, Section};
use crate::cli::job_kind::JobKind::{Lines, Table};
use crate::cli::resources;
use crate::failure::Failure;

/// The options of GNU uniq.
const WHICH: &[Flag<UniqOptions>] = &[
    Flag {
        name: Name::Both('c', "count"),
        gnu: true,
        of: &[Lines, Table],
        help: "Print before each line how often it occurs",
        effect: Effect::Switch(|args| args.own.count = true),
    },
    Flag {
        name: Name::Both('d', "repeated"),
        gnu: true,
        of: &[Lines, Table],
        help: "Print only lines that occur several times",
        effect: Effect::Switch(|args| args.own.repeated = true),
    },
    Flag {
        name: Name::Both('u', "unique"),
        gnu: true,
        of: &[Lines, Table],
        help: "Print only lines that occur once",
        effect: Effect::Switch(|args| args.own.single = true),
    },
];

/// The options of `sortie uniq`: those of GNU uniq, and those of `sort` for lines.
pub type UniqOptions = LinesOptions<Distinct>;

impl Arguments for UniqOptions {
    type Complete = SortOptions;

    const NAME: &'static str = "uniq";
    const ABOUT: &'static str = "Print the distinct lines of unsorted text in order, and count them";
    const USAGE: &'static str = "sortie uniq [OPTION]... [FILE]...";
    const AFTER_HELP: &'static str = "\
Without keys, prints the bytes that `sort | uniq` prints, with the same -c, -d and -u. Lines are equal if all their bytes are. In the \
C locale, only the distinct lines are sorted, and memory is that of the distinct lines of each thread. If they do not fit in memory, \
the rest is sorted through temporary files. In other locales, all lines are sorted.

With keys or other ordering options, such as -k2,2 or -f, lines with equal keys count as one, as in sort -u, and the first of \
the input is printed. All lines are sorted then.

Records of a table (--by, --csv, --tsv, --delimiter or --jsonl) with equal keys count as one, as in sort -u --count. -c adds a first \
column with the name count.

-c, -d and -u are those of GNU uniq. For the dictionary order of sort, give --dictionary-order or a key with d, such as -k1d. All \
other options, and keys, are those of sortie sort; see sortie sort --help.

Examples:
  sortie uniq -c access.log                 each line, and how often it occurs
  sortie uniq -d names.txt more.txt.gz      names that occur several times
  sortie uniq -c -t, -k3,3 sales.csv        the first line of each value in column 3, and their number
  sortie uniq -c --by user events.csv       the first record of each user, and their number
  sortie uniq -c words.txt | sortie top -n 10 -k1,1nr
                                            the 10 most frequent words";
    const OPERAND: Operand = Operand {
        name: "FILE",
        help: "The input, taken as a whole; standard input if there is no FILE, or for `-`",
        any_number: true,
    };
    const SECTIONS: &'static [Section<Self>] = &[
        Section { heading: None, flags: WHICH },
        Section { heading: None, flags: &files::shared() },
        Section { heading: None, flags: &files::pages() },
        Section {
            heading: Some("Ordering"),
            flags: &ordering::shared(Name::Long("dictionary-order"), ordering::NUMERIC),
        },
        Section { heading: Some("Keys"), flags: &keys::shared() },
        Section { heading: Some("Tables"), flags: &tables::shared() },
        Section { heading: Some("Output"), flags: &compress::shared() },
        Section { heading: Some("Resources"), flags: &resources::shared() },
        Section { heading: Some("Resources"), flags: &temporary::shared() },
    ];
    const IS_GNU: bool = true;

    fn note(&mut self, option: &Flag<Self>) {
        self.sort.given.push((option.name, option.of));
    }

    fn operand(&mut self, operand: PathBuf) -> Result<(), Failure> {
        self.sort.operand(operand)
    }

    fn complete(mut self) -> Result<SortOptions, Failure> {
        self.sort.distinct = Some(self.own);
        self.sort.complete()
    }
}

#[cfg(test)]
mod tests {
    use super::WHICH;
    use crate::cli::flag::tests::each_sets;

    #[test]
    fn each_option_sets_what_it_says() {
        each_sets(
            WHICH,
            &[
                ("--count", |args| args.own.count),
                ("--repeated", |args| args.own.repeated),
                ("--unique", |args| args.own.single),
            ],
        );
    }
}
