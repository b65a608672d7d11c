//! `sortie top`, and `--top` of `sortie sort`.

use std::path::PathBuf;

use super::lines::LinesOptions;
use super::{SortOptions, files, keys, ordering, tables, temporary};
use crate::cli::compress;
use crate::cli::flag::{Arguments, Domain, Effect, Flag, Name, Operand, Section, missing};
use crate::cli::job_kind::JobKind::{Lines, Table};
use crate::cli::resources;
use crate::cli::values;
use crate::failure::Failure;

pub const TOP: &[Flag<SortOptions>] =
    &[top(Name::Long("top"), "Write only the first K lines, without sorting the others")];

/// The option for the number of lines.
const fn top<A: AsMut<SortOptions>>(name: Name, help: &'static str) -> Flag<A> {
    Flag {
        name,
        gnu: false,
        of: &[Lines, Table],
        help,
        effect: Effect::Value("K", Domain::Text, |args, given| {
            args.as_mut().top = Some(given.read(values::lines)?);
            Ok(())
        }),
    }
}

/// `sortie top`.
#[derive(Debug, Default)]
pub struct Top;

/// The options of `sortie top`: those of `sort` for lines.
pub type TopOptions = LinesOptions<Top>;

impl Arguments for TopOptions {
    type Complete = SortOptions;

    const NAME: &'static str = "top";
    const ABOUT: &'static str = "Print the first K lines of sorted text, without sorting the others";
    const USAGE: &'static str = "sortie top -n K [OPTION]... [FILE]...";
    const AFTER_HELP: &'static str = "\
Prints the bytes that `sortie sort ... | head -n K` prints, and so does `sortie sort ... --top K`. The input is read once, in the \
memory that about K lines take, whatever its size. If K lines do not fit in memory, everything is sorted, through temporary files.

-n is the number of lines, as in head. To compare numbers, give --numeric-sort or a key with n, such as -k1n. All other options, and \
keys, are those of sortie sort; see sortie sort --help. With -u, lines with equal keys count as one line. Of a table (--by, --csv, \
--tsv, --delimiter or --jsonl), -n is the number of records after the header.

Examples:
  sortie top -n 10 -k2,2nr sizes.txt        the 10 largest numbers in the second field
  sortie top -n 3 -t, -k3,3 -k1,1 sales.csv.gz
                                            the first 3 by column 3, then by column 1
  sortie top -n 10 --by price:desc sales.csv
                                            the 10 records with the highest prices, after the header
  du -a | sortie top -n 20 -k1nr            the 20 largest files
  sortie top -n 5 -uhr sizes.txt            the 5 largest sizes, such as 2K or 1G, each once";
    const OPERAND: Operand = Operand {
        name: "FILE",
        help: "The input, taken as a whole; standard input if there is no FILE, or for `-`",
        any_number: true,
    };
    const SECTIONS: &'static [Section<Self>] = &[
        Section { heading: None, flags: &[top(Name::Both('n', "lines"), "Print the first K lines")] },
        Section { heading: None, flags: &files::shared() },
        Section { heading: None, flags: &files::pages() },
        Section {
            heading: Some("Ordering"),
            flags: &ordering::shared(ordering::DICTIONARY, Name::Long("numeric-sort")),
        },
        Section { heading: Some("Keys"), flags: &keys::shared() },
        Section { heading: Some("Keys"), flags: &keys::ties() },
        Section { heading: Some("Tables"), flags: &tables::shared() },
        Section { heading: Some("Tables"), flags: &tables::ties() },
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

    fn complete(self) -> Result<SortOptions, Failure> {
        if self.sort.top.is_none() {
            return Err(missing(&[(false, "--lines <K>")]));
        }
        self.sort.complete()
    }
}

#[cfg(test)]
mod tests {
    use super::{TOP, TopOptions};
    use crate::cli::flag::Arguments;
    use crate::cli::flag::tests::each_sets;

    #[test]
    fn the_number_of_lines_is_set() {
        each_sets(TOP, &[("--top=7", |args| args.top == Some(7))]);
        each_sets(TopOptions::SECTIONS[0].flags, &[("--lines=0", |args| args.sort.top == Some(0))]);
    }
}
