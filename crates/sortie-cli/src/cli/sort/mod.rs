//! `sortie sort`: its options, and which of them may be combined.

mod axis;
mod files;
#[cfg_attr(not(feature = "genomics"), path = "no_genomes.rs")]
mod genomes;
mod gnu;
mod keys;
mod lines;
mod ordering;
mod records;
mod tables;
mod temporary;
mod top;
mod uniq;

use std::ops::Range;
use std::path::{Path, PathBuf};

use sortie::Engine;
use sortie_files::compression::Asked;
use sortie_files::formats::tables::DEFAULT_COUNT;
use sortie_files::formats::text::{Distinct, KeyOptions};
use sortie_files::formats::{Keep, Layout, Prefixed};
use sortie_files::{Temporary, quote};

use super::arrays::{self, ArrayOptions};
use super::compress;
use super::flag::{Arguments, Flag, Name, Operand, Section, usage};
use super::job::{
    ArrayJob, FixedJob, Job, LayoutJob, LineKey, LinesJob, RecordsJob, Rules, Sources, TableJob,
};
use super::job_kind::JobKind;
use super::key::{BYTE_KEY, KeyPlace};
use super::resources::{self, Resources};
use super::values::Check;
use crate::failure::Failure;
pub use gnu::{OldKey, parse};
use records::{Form, RecordFormat};
pub use records::{RecordKey, RecordLayout, RecordOptions};
use tables::TableOptions;
pub use temporary::temporary_folder;
pub use top::TopOptions;
pub use uniq::UniqOptions;

/// The options of `sortie sort` as given. [`SortOptions::job`] determines the job that they select.
#[derive(Debug, Default)]
pub struct SortOptions {
    /// The names of the given options, in order.
    given: Vec<(Name, &'static [JobKind])>,
    files: Vec<PathBuf>,
    /// One entry for each `-c`, `-C` and `--check`.
    checks: Vec<Check>,
    merge: bool,
    output: Option<PathBuf>,
    zero_terminated: bool,
    files0_from: Option<PathBuf>,
    text: bool,

    /// Includes `--sort`.
    ordering: KeyOptions,
    random_source: Option<PathBuf>,
    rules: Rules,

    keys: Vec<KeyPlace>,
    /// The keys among `keys` that were given as `+POS1 [-POS2]`, by index.
    old_keys: Vec<(usize, OldKey)>,
    separator: Option<u8>,
    stable: bool,
    unique: bool,
    debug: bool,
    /// The number of lines to write.
    top: Option<u64>,
    /// Which distinct lines to write, if not all lines.
    distinct: Option<Distinct>,

    pub(super) compress: Option<Asked>,
    pub(super) resources: Resources,
    temporary: Temporary,

    records: RecordOptions,
    table: TableOptions,

    pub(super) array: ArrayOptions,
    axis: Option<isize>,
}

impl Arguments for SortOptions {
    type Complete = SortOptions;

    const NAME: &'static str = "sort";
    const ABOUT: &'static str = "Sort lines of text as GNU sort does, tables (--by), arrays (--type, or a .npy file), or records (--format)";
    const USAGE: &'static str = "sortie sort [OPTION]... [FILE]...";
    const AFTER_HELP: &'static str = "\
A key is F[.C][OPTS][,F[.C][OPTS]]. It goes from character C of field F to the second position, or to the end of the line if \
there is none. F and C count from 1. If the second C is 0 or missing, the key ends with the last character of its field. OPTS are \
letters of [bdfghiMnRrV], which replace the ordering options for that key. Without -t, a field starts where a blank follows a \
non-blank, so it begins with its blanks. Lines with equal keys are ordered by all their bytes, unless -s or -u is given.

SIZE may end in % of memory, b for bytes, or K (the default), M, G, T, P, E. Input that does not fit is sorted through \
temporary files. An array that is sorted along an axis must fit in memory; SIZE then limits only the memory beyond the array \
itself.

Input that is compressed with gzip, BGZF, zstd, xz, bzip2 or lz4 is recognised by its first bytes, and decompressed. A file of raw \
numbers or of binary records is decompressed only if its name also ends in .gz, .bgz, .zst, .xz, .bz2 or .lz4. Other binary \
formats, such as BAM, zip and tar, and without --by Parquet and Arrow, are recognised and refused, unless --text is given. Beyond SIZE, each \
compressed input may take up to 130 MiB while it is read, and a compressed output up to 20 MiB for each thread.

-o FILE replaces a file once the result is complete. The new file has the old one's owner, mode, access control list and \
other extended attributes. If these may not be set, if the file has several names, or if something is mounted on it, the file is \
overwritten instead. Until that is done, the complete result is in a file .sortie-* in the same folder, or in the folder \
of -T. As with GNU sort, the result is not synced to the disk; sync FILE does that.

An array is sorted from the smallest element to the largest, -0.0 before 0.0. NaNs come last, even with --descending. \
--argsort writes u64 for a raw array. For a .npy file it writes int64, and -0.0 and 0.0 count as equal, as in NumPy.

FASTA and FASTQ records keep every byte; only a missing last line end is added. With --by sequence or name, records are \
compared by their bytes, capitals before small letters. A sequence is compared without its line ends, and may have only letters, \
*, - and '.'. A name is the text after > or @ up to a blank. Records with equal keys stay in their input order. A FASTQ record \
must have four lines. Output that is compressed with gzip is in blocks (BGZF). A record that takes more than about a seventh of \
-S, or a fourteenth in FASTA by sequence, may be refused. Other options that --format allows: -c, -C, -o, -r, -s, -u, --compress, \
--files0-from, --batch-size, --compress-program and those for resources.

A table (--by, --csv, --tsv, --delimiter or --jsonl) is CSV, TSV or JSON lines, as the options say, else the name of the file (.tsv, \
.tab, .jsonl, .ndjson), else its first record. Records keep every byte; only a missing last line end is added. Its first record is a \
header, unless --no-header is given; all files must have the same one, and it is written once. Values compare as text, as decimal \
numbers of any length, as dates (ISO 8601, RFC 3339, or seconds since 1970), or as versions (-V). Without a type, the first records \
decide: number or date if all values are, else text. JSON values compare as in jq. Empty and missing values, and those without their \
column's type, are nulls and come last, also with desc. Records with equal keys stay in their input order. Without --by, all columns \
are compared as text. With -u, --count adds a first column to CSV; a line of JSON becomes an object with the members count and record. \
In CSV and TSV without --by, -k and the ordering options count columns instead of fields. Other options that tables allow: -c, -C, -m, \
-o, -s, -u, --top, --explain, --compress, --files0-from, \
--batch-size, --compress-program and those for resources, but not --engine.

--by also sorts Parquet and Arrow IPC files, by their content; -o ending in .parquet, .parq, .pq, .arrow, .feather or .ipc converts. \
Columns, codecs, row groups and metadata stay. Text may be read as another type. -u, --top, -c and --strict work on them.

With --format sam, bam, vcf, bed or gff (also for GTF), records keep every byte, lines of headers and comments stay in front, and records \
are sorted by contig and position. Contigs come in the order of the header, in BED and GFF by their bytes, or as --contigs says. At one \
position, alignments come by strand, forward first, variants by their alleles, features of BED by their end, those of GFF with parents \
before children; others stay in their input order. Alignments without a contig come last. --by name sorts alignments by name, \
numbers by value, and --by name:bytes by its bytes. The header says the order, and a line @PG is added. BAM is written in blocks (BGZF), \
and so is output whose name ends in .gz. Other options that these formats allow: -c, -C, -m, -o, -s, --compress, --files0-from, \
--batch-size, --compress-program and those for resources, but not --engine and --explain.

With --format prefixed, a file consists of records of any bytes, each after its number of bytes: a little-endian integer of 4 \
bytes. Records are compared by their bytes without that number, and equal ones stay in their input order. Other options that it \
allows: those of --record-size below, but not --engine and --explain.

With --record-size N, a file consists of records of N bytes each and nothing else. A key A..B is the bytes from A, counted \
from 0, up to but not including B. Earlier keys take precedence. Without a key, whole records are compared. Records with equal \
keys stay in their input order. Other options that --record-size allows: -c, -C, -o, -r, -s, -u, --compress, --files0-from, \
--batch-size, --compress-program and those for resources.

As in GNU sort, LC_ALL, LC_COLLATE, LC_CTYPE, LC_NUMERIC, LC_TIME and LANG name the locale by whose rules lines are compared, and \
numbers and months are read. In the C locale, and if a locale is not installed, these are bytes, ASCII letters, '.' as the decimal \
point, and English months. --debug says which rules are used. LC_ALL=C or --locale=C pins an order that is the same everywhere. \
--collate=unicode compares text by the Unicode collation algorithm, which is not the order of GNU sort. Records and arrays have no locale.

Examples:
  sortie sort names.txt -o names.txt        a file in place
  sortie sort -t, -k3,3nr -k1,1 sales.csv   by column 3, largest first, then by column 1
  du -h | sortie sort -h                    sizes such as 4K and 2.1G
  sortie sort -u -S 4G -T /scratch big.txt  distinct lines, within 4 GiB of memory
  sortie sort -nr --top 10 sizes.txt        the 10 largest numbers; the same as sortie top
  sortie sort --by price:number:desc,name sales.csv
                                            a table by columns; its header stays first
  sortie sort --jsonl --by .user.id events.jsonl.gz
                                            JSON lines by a nested value
  sortie sort --type f32 x.raw -o y.raw     an array of little-endian numbers
  sortie sort --axis 0 x.npy -o y.npy       each column of a NumPy array
  sortie sort --record-size 100 --key 0..10 in -o out
                                            records of 100 bytes, by their first ten
  sortie sort --format fastq --dedup reads.fq.gz -o distinct.fq.gz
                                            one read of each sequence, sorted by it
  sortie sort --format fasta --by length -r proteins.fa
                                            the longest first
  sortie sort --format bam aligned.bam -o sorted.bam
                                            alignments by contig and position

Options are read as GNU sort 9.1 reads them. An abbreviation that GNU sort takes means the same here. Options may follow \
files, unless POSIXLY_CORRECT is set. Keys may have the obsolete form +F1[.C1][OPTS] [-F2[.C2][OPTS]], which counts from 0. \
If _POSIX2_VERSION is from 200112 to 200808, +F1 without -F2 is a file name. -y is accepted and ignored.

Exit status: 0 on success; 1 if -c or -C finds disorder, or if --sort or --check has an unknown word; 2 on any other error. \
If the reader of a pipe closes it, SIGPIPE ends the program; if SIGPIPE is ignored, the status is 2.";
    const OPERAND: Operand = Operand {
        name: "FILE",
        help: "The input, sorted as a whole; standard input if there is no FILE, or for `-`",
        any_number: true,
    };
    const SECTIONS: &'static [Section<Self>] = &[
        Section { heading: None, flags: files::OTHER_WORK },
        Section { heading: None, flags: top::TOP },
        Section { heading: None, flags: &files::shared() },
        Section { heading: None, flags: &files::pages() },
        Section { heading: None, flags: files::OBSOLETE },
        Section {
            heading: Some("Ordering"),
            flags: &ordering::shared(ordering::DICTIONARY, ordering::NUMERIC),
        },
        Section { heading: Some("Keys"), flags: &keys::shared() },
        Section { heading: Some("Keys"), flags: &keys::ties() },
        Section { heading: Some("Keys"), flags: keys::DEBUG },
        Section { heading: Some("Tables"), flags: &tables::shared() },
        Section { heading: Some("Tables"), flags: &tables::ties() },
        Section { heading: Some("Output"), flags: &compress::shared() },
        Section { heading: Some("Resources"), flags: &resources::shared() },
        Section { heading: Some("Resources"), flags: &resources::planned() },
        Section { heading: Some("Resources"), flags: &temporary::shared() },
        Section { heading: Some("Records"), flags: records::RECORDS },
        Section { heading: Some("Arrays"), flags: &arrays::shared() },
        Section { heading: Some("Arrays"), flags: axis::AXIS },
    ];
    const IS_GNU: bool = true;

    fn note(&mut self, option: &Flag<Self>) {
        self.given.push((option.name, option.of));
    }

    fn operand(&mut self, operand: PathBuf) -> Result<(), Failure> {
        self.files.push(operand);
        Ok(())
    }

    fn complete(self) -> Result<SortOptions, Failure> {
        if let (Some(_), Some(file)) = (&self.files0_from, self.files.first()) {
            let file = quote::always(file);
            return Err(usage(format_args!("extra operand {file}: --files0-from allows no files")));
        }
        Ok(self)
    }
}

impl AsMut<SortOptions> for SortOptions {
    fn as_mut(&mut self) -> &mut SortOptions {
        self
    }
}

impl AsMut<ArrayOptions> for SortOptions {
    fn as_mut(&mut self) -> &mut ArrayOptions {
        &mut self.array
    }
}

impl AsMut<Option<Asked>> for SortOptions {
    fn as_mut(&mut self) -> &mut Option<Asked> {
        &mut self.compress
    }
}

impl AsMut<Resources> for SortOptions {
    fn as_mut(&mut self) -> &mut Resources {
        &mut self.resources
    }
}

impl SortOptions {
    /// The job that the options select. `holds_npy` tells whether a file holds a `.npy` array although its name does
    /// not end in `.npy`.
    ///
    /// # Errors
    /// If an option cannot be used with the job, or with another option.
    pub fn job(mut self, holds_npy: impl FnOnce(&Path) -> bool) -> Result<Job, Failure> {
        let kind = self.kind(holds_npy);
        self.check_options(kind)?;
        if self.temporary.folders.is_empty() {
            self.temporary.folders.push(temporary_folder());
        }
        match kind {
            JobKind::Lines => Ok(Job::Lines(Box::new(self.lines()?))),
            JobKind::Array => self.array().map(Job::Array),
            JobKind::Records => self.records().map(Job::Records),
            JobKind::Layout | JobKind::Genome => self.layout().map(Job::Layout),
            JobKind::Fixed => self.fixed().map(Job::Fixed),
            JobKind::Table => Ok(Job::Table(Box::new(self.table()?))),
        }
    }

    fn kind(&self, holds_npy: impl FnOnce(&Path) -> bool) -> JobKind {
        let is_npy = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "npy");
        match self.records.format.map(RecordFormat::form) {
            Some(Form::Sequences(_)) => return JobKind::Records,
            Some(Form::Prefixed) => return JobKind::Layout,
            Some(Form::Genome(_)) => return JobKind::Genome,
            None => {}
        }
        if self.records.size.is_some() {
            return JobKind::Fixed;
        }
        if self.array.element.is_some() {
            return JobKind::Array;
        }
        if self.table.is_given() {
            return JobKind::Table;
        }
        if self.text {
            return JobKind::Lines;
        }
        if self.files.iter().any(is_npy) {
            return JobKind::Array;
        }
        // An option such as `--dedup` fits neither job, so it is refused without looking at the input.
        let fits_neither =
            |(_, of): &(Name, &[JobKind])| !of.contains(&JobKind::Lines) && !of.contains(&JobKind::Array);
        let only = match self.files.as_slice() {
            _ if self.files0_from.is_some() || self.given.iter().any(fits_neither) => None,
            [] => Some(Path::new("-")),
            [one] => Some(one.as_path()),
            _ => None,
        };
        if only.is_some_and(holds_npy) { JobKind::Array } else { JobKind::Lines }
    }

    /// Refuses options that the job does not use.
    fn check_options(&self, kind: JobKind) -> Result<(), Failure> {
        if self.resources.explain && (self.merge || !self.checks.is_empty()) {
            return Err(Failure::new("--explain works only with sorts; remove -c, -C and -m"));
        }
        let is_other_work = self.merge || !self.checks.is_empty() || self.resources.explain;
        if self.top.is_some() && (is_other_work || self.resources.engine.has_gpu()) {
            return Err(Failure::new(
                "--top works only with sorts on the CPU; remove -c, -C, -m, --explain and --engine",
            ));
        }
        if self.distinct.is_some() && !matches!(kind, JobKind::Lines | JobKind::Table) {
            return Err(Failure::new(format!(
                "sortie uniq is for lines and tables; it cannot be used with {kind}, unless --text is given"
            )));
        }
        if let Some((name, of)) = self.given.iter().find(|(_, of)| !of.contains(&kind)) {
            let items: Vec<_> = of.iter().map(|kind| kind.items()).collect();
            let rest = match (kind, of) {
                (JobKind::Lines, [of]) => format!("give {} too", of.asked_by()),
                _ => format!("it cannot be used with {kind}"),
            };
            return Err(Failure::new(format!("{name} is for {}; {rest}", list(&items))));
        }
        if self.table.unique_by.is_some() && kind != JobKind::Table {
            return Err(usage("'--unique' takes no value, but one was given: only tables have columns"));
        }
        match self.old_keys.first() {
            Some((_, key)) if kind != JobKind::Lines => {
                Err(Failure::new(format!("{} is a key of lines; it cannot be used with {kind}", key.given)))
            }
            _ => Ok(()),
        }
    }

    fn lines(mut self) -> Result<LinesJob, Failure> {
        self.check_keys()?;
        if self.top.is_some() || self.distinct.is_some() {
            // Reading takes most of the time, so no GPU is looked for.
            self.resources.engine = Engine::Cpu;
        }
        if self.debug && self.output.is_some() && self.checks.is_empty() {
            return Err(Failure::new("options '-o --debug' are incompatible"));
        }
        if self.debug && self.compress.is_some() {
            return Err(Failure::new("options '--compress --debug' are incompatible"));
        }
        let check = self.check()?;
        let mut old_keys = self.old_keys.into_iter().peekable();
        let keys = self.keys.into_iter().enumerate().map(|(place, key)| match key {
            KeyPlace::Line(spec) => {
                let old = old_keys.next_if(|(of, _)| *of == place).map(|(_, key)| key);
                Ok(LineKey { spec, old })
            }
            _ => Err(Failure::new("a key A..B is for records of one length; give --record-size too")),
        });
        Ok(LinesJob {
            keys: keys.collect::<Result<_, _>>()?,
            sources: Sources { files: self.files, files0_from: self.files0_from, check, as_is: self.text },
            merge: self.merge,
            output: self.output,
            zero_terminated: self.zero_terminated,
            ordering: self.ordering,
            random_source: self.random_source,
            rules: self.rules,
            separator: self.separator,
            // The first of the input is the one to show.
            stable: self.stable || self.distinct.is_some(),
            unique: self.unique,
            debug: self.debug,
            top: self.top,
            distinct: self.distinct,
            compress: self.compress,
            resources: self.resources,
            temporary: self.temporary,
        })
    }

    fn array(mut self) -> Result<ArrayJob, Failure> {
        if self.files.len() > 1 {
            return Err(Failure::new(format!(
                "one array is sorted at a time, but {} files were given; sort each separately",
                self.files.len()
            )));
        }
        Ok(ArrayJob {
            input: self.files.pop().unwrap_or_else(|| "-".into()),
            output: self.output,
            array: self.array,
            axis: self.axis,
            compress: self.compress,
            resources: self.resources,
            temporary: self.temporary,
        })
    }

    fn records(mut self) -> Result<RecordsJob, Failure> {
        let check = self.check()?;
        let Some(Form::Sequences(format)) = self.records.format.map(RecordFormat::form) else {
            unreachable!("the format makes the job")
        };
        let by = self.table.record_key()?;
        Ok(RecordsJob {
            sources: Sources { files: self.files, files0_from: self.files0_from, check, as_is: false },
            output: self.output,
            format,
            by,
            descending: self.ordering.reverse,
            unique: self.unique || self.records.dedup,
            compress: self.compress,
            resources: self.resources,
            temporary: self.temporary,
        })
    }

    fn table(mut self) -> Result<TableJob, Failure> {
        let check = self.check()?;
        let order = self.table_order()?;
        let mut keep = self.table.keep.unwrap_or_default().into();
        if let Some(Distinct { count, repeated, single }) = self.distinct {
            self.unique = true;
            self.table.count = count.then(|| DEFAULT_COUNT.to_owned());
            match (repeated, single) {
                (true, true) => self.top = Some(0),
                (true, false) => keep = Keep::Repeated,
                (false, true) => keep = Keep::None,
                (false, false) => {}
            }
        }
        self.table.check_combinations(self.unique, check)?;
        Ok(TableJob {
            sources: Sources { files: self.files, files0_from: self.files0_from, check, as_is: false },
            merge: self.merge,
            output: self.output,
            form: self.table.form()?,
            header: self.table.header()?,
            comment: self.table.comment,
            keys: self.table.keys()?,
            order,
            strict: self.table.strict,
            rules: self.rules,
            verbose: self.table.verbose,
            unique: self.unique,
            unique_by: self.table.unique_by.unwrap_or_default(),
            keep,
            count: self.table.count,
            duplicates: self.table.duplicates,
            columns: self.table.columns,
            output_separator: self.table.output_separator,
            top: self.top,
            compress: self.compress,
            resources: self.resources,
            temporary: self.temporary,
        })
    }

    fn layout(mut self) -> Result<LayoutJob, Failure> {
        let check = self.check()?;
        let layout: Box<dyn Layout> = match self.records.format.map(RecordFormat::form) {
            Some(Form::Genome(format)) => {
                let RecordOptions { contigs, no_program, .. } = self.records;
                genomes::layout(format, self.table.genome_order()?, contigs, no_program)?
            }
            _ => Box::new(Prefixed),
        };
        Ok(LayoutJob {
            sources: Sources { files: self.files, files0_from: self.files0_from, check, as_is: false },
            merge: self.merge,
            output: self.output,
            layout: RecordLayout(layout),
            descending: self.ordering.reverse,
            unique: self.unique,
            compress: self.compress,
            resources: self.resources,
            temporary: self.temporary,
        })
    }

    fn fixed(self) -> Result<FixedJob, Failure> {
        let check = self.check()?;
        let size = self.records.size.expect("it makes the job");
        let key = |key| match key {
            KeyPlace::Bytes(key) if key.end <= size.get() => Ok(key),
            KeyPlace::Bytes(Range { start, end }) => {
                Err(Failure::new(format!("--key {start}..{end} ends beyond the {size} bytes of a record")))
            }
            _ => Err(Failure::new(BYTE_KEY)),
        };
        Ok(FixedJob {
            keys: self.keys.into_iter().map(key).collect::<Result<_, _>>()?,
            sources: Sources { files: self.files, files0_from: self.files0_from, check, as_is: false },
            output: self.output,
            size,
            descending: self.ordering.reverse,
            unique: self.unique,
            compress: self.compress,
            resources: self.resources,
            temporary: self.temporary,
        })
    }

    fn push_old_key(&mut self, key: OldKey) {
        let Ok(place) = key.key.parse();
        self.old_keys.push((self.keys.len(), key));
        self.keys.push(place);
    }

    /// Refuses a key that is neither one of lines nor one of records.
    fn check_keys(&self) -> Result<(), Failure> {
        let wrong = self.keys.iter().find_map(|key| match key {
            KeyPlace::Wrong { text, why } => Some((text, why)),
            _ => None,
        });
        let Some((text, why)) = wrong else { return Ok(()) };
        let text = quote::always(Path::new(text));
        Err(Failure::new(format!("invalid value {text} for --key: {why}; see --help")))
    }

    /// The value of `-c`, `-C` or `--check`. Refuses options that cannot be combined with it.
    fn check(&self) -> Result<Option<Check>, Failure> {
        let Some(&check) = self.checks.first() else { return Ok(None) };
        let refuse = |message: String| Err(Failure::new(message));
        let letter = if check == Check::Quiet { 'C' } else { 'c' };
        match self.files.get(1) {
            _ if self.checks.iter().any(|&other| other != check) => {
                refuse("options '-cC' are incompatible".into())
            }
            _ if self.debug => refuse(format!("options '-{letter} --debug' are incompatible")),
            _ if self.output.is_some() => refuse(format!("options '-{letter}o' are incompatible")),
            Some(extra) => {
                let extra = quote::always(extra);
                refuse(format!("extra operand {extra} not allowed with -{letter}: it checks one file"))
            }
            None if self.compress.is_some() => {
                refuse(format!("options '-{letter} --compress' are incompatible: a check writes no output"))
            }
            None => Ok(Some(check)),
        }
    }
}

/// Joins words as in `a, b and c`.
fn list(items: &[&str]) -> String {
    match items {
        [] => String::new(),
        [one] => (*one).into(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// Sets an option that may be repeated only with the same value.
pub fn once<T: PartialEq>(option: &mut Option<T>, value: T, otherwise: &str) -> Result<(), Failure> {
    match option.replace(value) {
        before if before.is_none() || before == *option => Ok(()),
        _ => Err(Failure::new(format!("{otherwise}; give the option once"))),
    }
}

/// GNU sort has its own exit status for an unknown word of `--sort` and `--check`.
fn unknown_word(failure: Failure) -> Failure {
    Failure::Word(failure.to_string())
}
