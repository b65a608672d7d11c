//! Options for tables, and `--by`, which records of FASTA and FASTQ have too.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::ValueEnum;
use sortie_files::formats::Keep;
use sortie_files::formats::genomics::GenomeOrder;
use sortie_files::formats::tables::{BETWEEN_VALUES, Column, ColumnKey, DEFAULT_COUNT, Form, marker};
use sortie_files::formats::text::{KeyOptions, TextOrder};

use super::records::genome_order;
use super::{RecordKey, SortOptions, once};
use crate::cli::flag::{Domain, Effect, Flag, Name, words};
use crate::cli::job_kind::JobKind::{Genome, Records, Table};
use crate::cli::key::KeyPlace;
use crate::cli::values::{Check, count, separator};
use crate::failure::Failure;

/// The form of a table, its keys, and what becomes of records that do not fit.
#[derive(Debug, Default)]
pub struct TableOptions {
    /// One entry for each option that gives a form.
    forms: Vec<Form>,
    /// One entry for each `--header` and `--no-header`.
    headers: Vec<usize>,
    pub comment: Option<u8>,
    /// One entry for each `--by`.
    pub by: Vec<By>,
    pub strict: bool,
    pub verbose: bool,
    /// The columns of `--unique=NAMES`.
    pub unique_by: Option<Vec<Column>>,
    pub keep: Option<KeepWord>,
    /// The name of the column with counts.
    pub count: Option<String>,
    pub duplicates: Option<PathBuf>,
    pub columns: Vec<Column>,
    pub output_separator: Option<u8>,
}

/// A value of `--by`. Other options decide what it names.
#[derive(Debug)]
pub struct By {
    pub columns: Result<Vec<ColumnKey>, Failure>,
    pub record: Result<RecordKey, Failure>,
    pub genome: Result<GenomeOrder, Failure>,
}

/// Which of several records with equal keys is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum KeepWord {
    /// The first of the input
    #[default]
    First,
    /// The last of the input
    Last,
    /// None of them: only records whose key occurs once are written
    None,
}

impl From<KeepWord> for Keep {
    fn from(word: KeepWord) -> Keep {
        match word {
            KeepWord::First => Keep::First,
            KeepWord::Last => Keep::Last,
            KeepWord::None => Keep::None,
        }
    }
}

impl TableOptions {
    /// Whether an option was given that makes the input a table.
    pub fn is_given(&self) -> bool {
        !self.forms.is_empty() || !self.by.is_empty()
    }

    /// The form that was given, if any.
    pub fn form(&self) -> Result<Option<Form>, Failure> {
        one(&self.forms, "a table has one form: --csv, --tsv, --delimiter or --jsonl")
    }

    /// The number of records of the header: one, if nothing was given.
    pub fn header(&self) -> Result<usize, Failure> {
        Ok(one(&self.headers, "--header and --no-header contradict each other")?.unwrap_or(1))
    }

    /// Refuses options that need another, or that a check does not use.
    pub fn check_combinations(&self, unique: bool, check: Option<Check>) -> Result<(), Failure> {
        let of_unique = [
            (self.keep.is_some(), "--keep says which of equal records is kept"),
            (self.count.is_some(), "--count counts equal records"),
            (self.duplicates.is_some(), "--duplicates is for what is left out of equal records"),
        ];
        if let Some((_, what)) = of_unique.iter().find(|(is_given, _)| *is_given && !unique) {
            return Err(Failure::new(format!("{what}; give -u or --unique=NAMES too")));
        }
        let of_output = [
            (self.count.is_some(), "--count"),
            (self.duplicates.is_some(), "--duplicates"),
            (!self.columns.is_empty(), "--columns"),
            (self.output_separator.is_some(), "--output-delimiter"),
        ];
        if let (Some(check), Some((_, name))) = (check, of_output.iter().find(|(is_given, _)| *is_given)) {
            let letter = if check == Check::Quiet { 'C' } else { 'c' };
            return Err(Failure::new(format!(
                "options '-{letter} {name}' are incompatible: a check writes no output"
            )));
        }
        Ok(())
    }

    /// The keys of all `--by`.
    pub fn keys(&mut self) -> Result<Vec<ColumnKey>, Failure> {
        let keys = self.by.drain(..).map(|by| by.columns);
        Ok(keys.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// What alignments, variants and features are sorted by.
    pub fn genome_order(&mut self) -> Result<GenomeOrder, Failure> {
        self.by.pop().map_or(Ok(GenomeOrder::default()), |by| by.genome)
    }

    /// The key of FASTA or FASTQ records.
    pub fn record_key(&mut self) -> Result<RecordKey, Failure> {
        self.by.pop().map_or(Ok(RecordKey::default()), |by| by.record)
    }
}

impl SortOptions {
    /// The keys of a table that are not those of `--by`.
    pub fn table_order(&mut self) -> Result<Option<TextOrder>, Failure> {
        if self.keys.is_empty() && self.ordering == KeyOptions::default() {
            return Ok(None);
        }
        if !self.table.by.is_empty() {
            return Err(Failure::new(
                "--by names columns, and -k and the ordering options number them; give only one of the two, as in --by price:number:desc",
            ));
        }
        if self.table.unique_by.is_some() {
            return Err(Failure::new("--unique=NAMES needs --by; with -k, give -u alone"));
        }
        self.check_keys()?;
        let key = |key| match key {
            KeyPlace::Line(spec) => Ok(spec),
            _ => Err(Failure::new("a key A..B is for records of one length; give --record-size too")),
        };
        Ok(Some(TextOrder {
            keys: std::mem::take(&mut self.keys).into_iter().map(key).collect::<Result<_, _>>()?,
            options: self.ordering,
            separator: Some(BETWEEN_VALUES),
            stable: true,
            random_source: self.random_source.take(),
            ..TextOrder::default()
        }))
    }
}

/// The value that was given once, or several times alike.
fn one<T: Copy + PartialEq>(given: &[T], otherwise: &str) -> Result<Option<T>, Failure> {
    match given {
        [first, others @ ..] if others.iter().any(|other| other != first) => Err(Failure::new(otherwise)),
        given => Ok(given.first().copied()),
    }
}

/// Parses a byte that separates fields of a table, or begins comments.
fn delimiter(text: &OsStr) -> Result<u8, &'static str> {
    marker(separator(text)?)
}

/// The options of all commands that sort tables.
pub const fn shared<A: AsMut<SortOptions>>() -> [Flag<A>; 13] {
    [
        Flag {
            name: Name::Long("by"),
            gnu: false,
            of: &[Records, Genome, Table],
            help: "Sort a table by columns: NAME[:TYPE][:desc][:nulls-first],... in order of precedence. NAME is a name in the header, \
               a number from 1, or a path such as .a.b[0] in JSON lines; TYPE is text, number, date, version, natural, locale or unicode. \
               For FASTA and FASTQ, the key is sequence (the default), name or length; for SAM and BAM coordinate (the default), name or \
               name:bytes",
            effect: Effect::Value("KEY", Domain::Text, |args, given| {
                let (columns, record, genome) =
                    (given.read(ColumnKey::list), given.word(), given.read(genome_order));
                args.as_mut().table.by.push(By { columns, record, genome });
                Ok(())
            }),
        },
        Flag {
            name: Name::Long("csv"),
            gnu: false,
            of: &[Table],
            help: "Sort a table with commas between fields. A field in quotes may have commas, line breaks and doubled quotes",
            effect: Effect::Switch(|args| args.as_mut().table.forms.push(Form::Delimited(b','))),
        },
        Flag {
            name: Name::Long("tsv"),
            gnu: false,
            of: &[Table],
            help: "Sort a table with tabs between fields, otherwise as --csv",
            effect: Effect::Switch(|args| args.as_mut().table.forms.push(Form::Delimited(b'\t'))),
        },
        Flag {
            name: Name::Long("delimiter"),
            gnu: false,
            of: &[Table],
            help: "Sort a table with the byte SEP between fields, otherwise as --csv",
            effect: Effect::Value("SEP", Domain::Text, |args, given| {
                let byte = delimiter(given.text).map_err(|why| given.refused(why))?;
                args.as_mut().table.forms.push(Form::Delimited(byte));
                Ok(())
            }),
        },
        Flag {
            name: Name::Long("jsonl"),
            gnu: false,
            of: &[Table],
            help: "Sort lines that are JSON documents, by values in them",
            effect: Effect::Switch(|args| args.as_mut().table.forms.push(Form::JsonLines)),
        },
        Flag {
            name: Name::Long("header"),
            gnu: false,
            of: &[Table],
            help: "The first N records of a table (1 by default) are not sorted, and name its columns",
            effect: Effect::Optional("N", Domain::Text, |args, given| {
                let records = given.map_or(Ok(1), |given| given.read(count).map(usize::from))?;
                args.as_mut().table.headers.push(records);
                Ok(())
            }),
        },
        Flag {
            name: Name::Long("no-header"),
            gnu: false,
            of: &[Table],
            help: "All records of a table are sorted; columns have numbers only",
            effect: Effect::Switch(|args| args.as_mut().table.headers.push(0)),
        },
        Flag {
            name: Name::Long("comment"),
            gnu: false,
            of: &[Table],
            help: "Lines of a table that begin with the byte C are comments. Those before the first record stay in front; others come last",
            effect: Effect::Value("C", Domain::Text, |args, given| {
                args.as_mut().table.comment = Some(delimiter(given.text).map_err(|why| given.refused(why))?);
                Ok(())
            }),
        },
        Flag {
            name: Name::Long("strict"),
            gnu: false,
            of: &[Table],
            help: "Refuse a table with a value that does not have its column's type, or a record with too few or too many fields",
            effect: Effect::Switch(|args| args.as_mut().table.strict = true),
        },
        Flag {
            name: Name::Both('v', "verbose"),
            gnu: false,
            of: &[Table],
            help: "Say on standard error which form, columns and types a table was found to have",
            effect: Effect::Switch(|args| args.as_mut().table.verbose = true),
        },
        Flag {
            name: Name::Long("columns"),
            gnu: false,
            of: &[Table],
            help: "Write only these columns of a table, in this order: NAME,... as in --by",
            effect: Effect::Value("NAMES", Domain::Text, |args, given| {
                args.as_mut().table.columns.extend(given.read(ColumnKey::columns)?);
                Ok(())
            }),
        },
        Flag {
            name: Name::Long("output-delimiter"),
            gnu: false,
            of: &[Table],
            help: "Write the byte SEP between the fields of a table. Fields that have this byte are put in quotes",
            effect: Effect::Value("SEP", Domain::Text, |args, given| {
                args.as_mut().table.output_separator =
                    Some(delimiter(given.text).map_err(|why| given.refused(why))?);
                Ok(())
            }),
        },
        Flag {
            name: Name::Long("duplicates"),
            gnu: false,
            of: &[Table],
            help: "With -u, write the records of a table that are left out as equal to FILE, after the same header",
            effect: Effect::Value("FILE", Domain::File, |args, given| {
                once(&mut args.as_mut().table.duplicates, given.path(), "there is one file of duplicates")
            }),
        },
    ]
}

/// What commands with `-u` do with records of a table whose keys are equal.
pub const fn ties<A: AsMut<SortOptions>>() -> [Flag<A>; 2] {
    [
        Flag {
            name: Name::Long("keep"),
            gnu: false,
            of: &[Table],
            help: "With -u, which of several records of a table with equal keys is kept",
            effect: Effect::Value("WHICH", Domain::Words(words::<KeepWord>), |args, given| {
                args.as_mut().table.keep = Some(given.word()?);
                Ok(())
            }),
        },
        Flag {
            name: Name::Long("count"),
            gnu: false,
            of: &[Table],
            help: "With -u, write how many records have the keys of each record of a table, in a first column NAME (`count` by default)",
            effect: Effect::Optional("NAME", Domain::Text, |args, given| {
                let name = given.map_or(Ok(DEFAULT_COUNT.to_owned()), |given| {
                    given.read(|name| Ok::<_, &str>(name.to_owned()))
                })?;
                args.as_mut().table.count = Some(name);
                Ok(())
            }),
        },
    ]
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use sortie_files::formats::tables::Column;

    use super::{Form, KeepWord, shared, ties};
    use crate::cli::SortOptions;
    use crate::cli::flag::tests::each_sets;

    #[test]
    fn each_option_sets_what_it_says() {
        each_sets::<SortOptions>(
            &shared(),
            &[
                ("--by=a,b:desc", |args| {
                    args.table
                        .by
                        .first()
                        .is_some_and(|by| by.columns.as_ref().is_ok_and(|keys| keys.len() == 2))
                }),
                ("--csv", |args| args.table.forms == [Form::Delimited(b',')]),
                ("--tsv", |args| args.table.forms == [Form::Delimited(b'\t')]),
                ("--delimiter=;", |args| args.table.forms == [Form::Delimited(b';')]),
                ("--jsonl", |args| args.table.forms == [Form::JsonLines]),
                ("--header=2", |args| args.table.headers == [2]),
                ("--no-header", |args| args.table.headers == [0]),
                ("--comment=#", |args| args.table.comment == Some(b'#')),
                ("--strict", |args| args.table.strict),
                ("--verbose", |args| args.table.verbose),
                ("--columns=2", |args| args.table.columns == [Column::Number(2)]),
                ("--output-delimiter=|", |args| args.table.output_separator == Some(b'|')),
                ("--duplicates=d", |args| args.table.duplicates.as_deref() == Some(Path::new("d"))),
            ],
        );
        each_sets::<SortOptions>(
            &ties(),
            &[
                ("--keep=none", |args| args.table.keep == Some(KeepWord::None)),
                ("--count=n", |args| args.table.count.as_deref() == Some("n")),
            ],
        );
    }
}
