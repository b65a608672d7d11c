//! `sortie sort`: its options, and which of them go together.

mod files;
mod gnu;
mod keys;
mod ordering;
mod records;

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};

pub use gnu::{OldKey, parse};
pub use records::{RecordFormat, RecordKey, RecordOptions};

use super::arrays::{self, ArrayOptions};
use super::flag::{Arguments, Operand, Section, usage};
use super::key::{BYTE_KEY, KeyOptions, KeyPlace, KeySpec};
use super::resources::{self, Resources, temporary_folder};
use super::values::Check;
use crate::failure::Failure;
use crate::quote;

/// What `sortie sort` is to do.
#[derive(Debug, Default)]
pub struct SortArgs {
    pub files: Vec<PathBuf>,
    /// Each `-c`, `-C` and `--check`.
    checks: Vec<Check>,
    pub merge: bool,
    output: Option<PathBuf>,
    pub zero_terminated: bool,
    pub files0_from: Option<PathBuf>,
    /// Whether the one input holds a .npy file, whatever its name; found out before options are looked at.
    pub holds_npy: bool,

    /// `--sort` too.
    pub ordering: KeyOptions,
    random_source: Option<PathBuf>,

    keys: Vec<KeyPlace>,
    /// Which of `keys` were given as `+POS1 [-POS2]`.
    old_keys: Vec<(usize, OldKey)>,
    pub separator: Option<u8>,
    pub stable: bool,
    pub unique: bool,
    pub debug: bool,

    pub resources: Resources,
    pub(super) temporary_directories: Vec<PathBuf>,
    pub batch_size: Option<NonZeroUsize>,
    pub compress_program: Option<PathBuf>,

    pub records: RecordOptions,

    pub array: ArrayOptions,
    pub axis: Option<isize>,
}

impl Arguments for SortArgs {
    type Complete = SortArgs;

    const NAME: &'static str = "sort";
    const ABOUT: &'static str = "Sort lines of text as GNU sort does in the C locale, arrays (--type, or a .npy file), or records (--format)";
    const USAGE: &'static str = "sortie sort [OPTION]... [FILE]...";
    const AFTER_HELP: &'static str = "\
A key is F[.C][OPTS][,F[.C][OPTS]]: from character C of field F to the second place, or to the end of the line \
without one. Both count from 1; a second C of 0 or none means the field's last character. OPTS are letters of \
[bdfghiMnRrV], which replace the ordering options for that key. Without -t a field starts where a blank follows a \
non-blank, so it begins with its blanks. Lines whose keys are equal are ordered by all their bytes, unless -s or -u \
is given.

SIZE may end in % of memory, b for bytes, or K (the default), M, G, T, P, E. What does not fit goes through temporary \
files, an array too where it is sorted as a whole. Lanes of an array are sorted in memory, and SIZE is what that may take \
beyond the array itself.

-o FILE replaces a file once the result is complete. The new file has the old one's owner, mode, access control list and \
other extended attributes. A file for which that is not permitted, which has several names, or on which another is mounted \
is overwritten instead. Until that is done, the complete result is in a file .sortie-* in the same folder, or in the folder of -T. As with \
GNU sort, the result is not synced to the disk; sync FILE does that.

An array goes from the least element to the largest, -0.0 before 0.0 and NaNs last, even with --descending. \
--argsort of a raw array writes u64; of a .npy file int64, where -0.0 and 0.0 count as equal, as in NumPy.

Records of FASTA and FASTQ keep every byte; only a missing last line end is added. Their order, with --by sequence \
or name, is that of the bytes, capitals before small letters. A sequence is compared without its line ends, and is of \
letters, *, - and . alone. A name is what follows > or @ up to a blank. Records with equal keys stay in their order. \
FASTQ is read with four lines a record. Input may be compressed with gzip, whatever its name; the output is where its \
name ends in .gz. Records are sorted in memory; where that is more than -S allows, they are refused. Of the other \
options -c, -C, -o, -r, -s, -u, --files0-from and those for resources go with --format.

With --record-size N a file is records of N bytes each and nothing else. A key A..B is the bytes from A, counted from 0, to \
before B; the first of several counts most, and all bytes count where there is none. Records with equal keys stay in their \
order. Of the other options -c, -C, -o, -r, -s, -u, --files0-from, --batch-size, --compress-program and those for resources \
go with it; what is larger than -S goes through temporary files.

Order is that of the C locale: bytes, ASCII letters, '.' as the decimal point, English months. Collation by other \
locales is out of scope, and LC_ALL, LC_COLLATE and LANG are not read.

Examples:
  sortie sort names.txt -o names.txt        a file in place
  sortie sort -t, -k3,3nr -k1,1 sales.csv   by column 3, largest first, then by column 1
  du -h | sortie sort -h                    by size, however it is written
  sortie sort -u -S 4G -T /scratch big.txt  distinct lines, within 4 GiB of memory
  sortie sort --type f32 x.raw -o y.raw     an array of little-endian numbers
  sortie sort --axis 0 x.npy -o y.npy       each column of a NumPy array
  sortie sort --record-size 100 --key 0..10 in -o out
                                            records of 100 bytes, by their first ten
  sortie sort --format fastq --dedup reads.fq.gz -o distinct.fq.gz
                                            one read of each sequence, sorted by it
  sortie sort --format fasta --by length -r proteins.fa
                                            the longest first

Options are read as GNU sort 9.1 reads them. An abbreviation that GNU sort takes means the same here. Options may follow \
files, unless POSIXLY_CORRECT is set. Keys may have the obsolete form +F1[.C1][OPTS] [-F2[.C2][OPTS]], which counts from 0. \
Where _POSIX2_VERSION is from 200112 to 200808, +F1 alone is a file name. -y is accepted and ignored.

Exit status: 0 on success; 1 when -c or -C finds disorder, or when --sort or --check is given an unknown word; 2 on any other \
error. When the reader of the output goes away, SIGPIPE ends the program; where SIGPIPE is ignored, the status is 2.";
    const OPERAND: Operand = Operand {
        name: "FILE",
        help: "What to sort, together; standard input where there is none or for `-`",
        any_number: true,
    };
    const SECTIONS: &'static [Section<Self>] = &[
        Section { heading: None, flags: files::FILES },
        Section { heading: None, flags: files::OTHER },
        Section { heading: Some("Ordering"), flags: ordering::ORDERING },
        Section { heading: Some("Keys"), flags: keys::KEYS },
        Section { heading: Some("Resources"), flags: &resources::shared() },
        Section { heading: Some("Resources"), flags: resources::TEMPORARY },
        Section { heading: Some("Records"), flags: records::RECORDS },
        Section { heading: Some("Arrays"), flags: &arrays::shared() },
        Section { heading: Some("Arrays"), flags: arrays::AXIS },
    ];
    const IS_GNU: bool = true;

    fn operand(&mut self, operand: PathBuf) -> Result<(), Failure> {
        self.files.push(operand);
        Ok(())
    }

    fn complete(self) -> Result<SortArgs, Failure> {
        let records = &self.records;
        if let (Some(_), Some(file)) = (&self.files0_from, self.files.first()) {
            let file = quote::always(file);
            return Err(usage(format_args!("extra operand {file}: no file goes with --files0-from")));
        }
        if records.format.is_some() && records.size.is_some() {
            return Err(usage("--record-size does not go with --format"));
        }
        if records.format.is_none() && (records.by.is_some() || records.dedup) {
            return Err(usage("--by and --dedup are for records of FASTA or FASTQ; give --format too"));
        }
        Ok(self)
    }
}

impl AsMut<ArrayOptions> for SortArgs {
    fn as_mut(&mut self) -> &mut ArrayOptions {
        &mut self.array
    }
}

impl AsMut<Resources> for SortArgs {
    fn as_mut(&mut self) -> &mut Resources {
        &mut self.resources
    }
}

impl SortArgs {
    /// Whether arrays are to be sorted, and not text.
    pub fn is_array(&self) -> bool {
        let is_npy = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "npy");
        !self.is_records()
            && (self.array.element.is_some() || self.holds_npy || self.files.iter().any(is_npy))
    }

    /// The one input, where by the command line alone it is text.
    pub fn only_text(&self) -> Option<&Path> {
        match self.files.as_slice() {
            _ if self.is_array() || self.is_records() || self.files0_from.is_some() => None,
            [] => Some(Path::new("-")),
            [one] => Some(one),
            _ => None,
        }
    }

    /// Whether whole records are to be sorted.
    fn is_records(&self) -> bool {
        self.records.format.is_some() || self.records.size.is_some()
    }

    /// Where the keys of lines are.
    pub fn line_keys(&self) -> Vec<KeySpec> {
        let of_lines = |key: &KeyPlace| if let KeyPlace::Line(key) = key { Some(*key) } else { None };
        self.keys.iter().filter_map(of_lines).collect()
    }

    /// Which bytes of a record are its keys.
    pub fn byte_keys(&self) -> Vec<Range<usize>> {
        let of_bytes = |key: &KeyPlace| if let KeyPlace::Bytes(key) = key { Some(key.clone()) } else { None };
        self.keys.iter().filter_map(of_bytes).collect()
    }

    /// Whether of equal keys only the first is kept: `-u` or `--dedup`.
    pub fn keeps_first(&self) -> bool {
        self.unique || self.records.dedup
    }

    /// `-c`, `-C` or `--check`.
    pub fn check_mode(&self) -> Option<Check> {
        self.checks.first().copied()
    }

    pub fn random_source(&self) -> Option<&Path> {
        self.random_source.as_deref()
    }

    /// Where temporary files go: one folder at least.
    pub fn temporary_folders(&self) -> Vec<PathBuf> {
        match &self.temporary_directories[..] {
            [] => vec![temporary_folder()],
            given => given.to_vec(),
        }
    }

    pub fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    /// The `place`th key as it was given, where that is `+POS1 [-POS2]`.
    pub fn old_key(&self, place: usize) -> Option<&OldKey> {
        self.old_keys.iter().find(|(of, _)| *of == place).map(|(_, key)| key)
    }

    fn push_old_key(&mut self, key: OldKey) {
        let Ok(place) = key.key.parse();
        self.old_keys.push((self.keys.len(), key));
        self.keys.push(place);
    }

    /// Refuses a key that is none of lines and none of records.
    fn check_keys(&self) -> Result<(), Failure> {
        let wrong = self.keys.iter().find_map(|key| match key {
            KeyPlace::Wrong { text, why } => Some((text, why)),
            _ => None,
        });
        let Some((text, why)) = wrong else { return Ok(()) };
        let text = quote::always(Path::new(text));
        Err(Failure::new(format!("invalid value {text} for --key: {why}; see --help")))
    }

    /// Refuses options that do not go together.
    pub fn validate(&self) -> Result<(), Failure> {
        let refuse = |message: &str| Err(Failure::new(message));
        if self.resources.explain && (self.merge || self.check_mode().is_some()) {
            return refuse("--explain is for sorts; leave out -c, -C and -m");
        }
        let keys = (!self.keys.is_empty()).then_some("-k");
        let external = self.external_option();
        if self.is_array() {
            return match keys.or_else(|| self.line_option()).or_else(|| self.text_option()) {
                Some(option) => {
                    Err(Failure::new(format!("{option} is for text; it does not go with an array")))
                }
                None => Ok(()),
            };
        }
        if self.records.format.is_some()
            && let Some(option) =
                keys.or_else(|| self.line_option()).or(external).or_else(|| self.array_option())
        {
            return Err(Failure::new(format!("{option} does not go with --format; whole records have --by")));
        }
        if let Some(size) = self.records.size {
            if let Some(option) = self.line_option().or_else(|| self.array_option()) {
                return Err(Failure::new(format!("{option} does not go with --record-size")));
            }
            return match self
                .keys
                .iter()
                .find(|key| !matches!(key, KeyPlace::Bytes(of) if of.end <= size.get()))
            {
                Some(KeyPlace::Bytes(key)) => Err(Failure::new(format!(
                    "--key {}..{} ends past the {size} bytes of a record",
                    key.start, key.end
                ))),
                Some(_) => refuse(BYTE_KEY),
                None => Ok(()),
            };
        }
        self.check_keys()?;
        if self.keys.iter().any(|key| matches!(key, KeyPlace::Bytes(_))) {
            return refuse("a key A..B is for records of one length; give --record-size too");
        }
        if self.array_option().is_some() {
            return refuse(
                "--axis, --descending and --argsort are for arrays: give --type or a .npy file (text has -r)",
            );
        }
        let Some(check) = self.check_mode() else {
            return match self.debug && self.output.is_some() {
                true => refuse("options '-o --debug' are incompatible"),
                false => Ok(()),
            };
        };
        let letter = if check == Check::Quiet { 'C' } else { 'c' };
        match self.files.get(1) {
            _ if self.checks.iter().any(|&other| other != check) => refuse("options '-cC' are incompatible"),
            _ if self.debug => Err(Failure::new(format!("options '-{letter} --debug' are incompatible"))),
            _ if self.output.is_some() => Err(Failure::new(format!("options '-{letter}o' are incompatible"))),
            Some(extra) => {
                let extra = quote::always(extra);
                Err(Failure::new(format!(
                    "extra operand {extra} not allowed with -{letter}: it checks one file"
                )))
            }
            None => Ok(()),
        }
    }

    /// An option that was given and means nothing but for lines.
    fn line_option(&self) -> Option<&'static str> {
        let ordering = KeyOptions { reverse: false, ..self.ordering };
        first_given(&[
            (ordering != KeyOptions::default(), "an ordering option (-bdfghiMnRV)"),
            (self.separator.is_some(), "-t"),
            (self.debug, "--debug"),
            (self.merge, "-m"),
            (self.zero_terminated, "-z"),
            (self.random_source.is_some(), "--random-source"),
        ])
    }

    /// An option that was given and means nothing but for what can be larger than memory.
    fn external_option(&self) -> Option<&'static str> {
        first_given(&[
            (self.compress_program.is_some(), "--compress-program"),
            (self.batch_size.is_some(), "--batch-size"),
        ])
    }

    /// An option that was given and means something for lines and records, but nothing for an array.
    fn text_option(&self) -> Option<&'static str> {
        first_given(&[
            (self.ordering.reverse, "-r"),
            (self.stable, "-s"),
            (self.unique, "-u"),
            (self.check_mode().is_some(), "-c"),
            (self.files0_from.is_some(), "--files0-from"),
        ])
    }

    /// An option that was given and means nothing but for an array.
    fn array_option(&self) -> Option<&'static str> {
        first_given(&[
            (self.array.element.is_some(), "--type"),
            (self.axis.is_some(), "--axis"),
            (self.array.descending, "--descending"),
            (self.array.argsort, "--argsort"),
        ])
    }
}

fn first_given(options: &[(bool, &'static str)]) -> Option<&'static str> {
    options.iter().find(|(given, _)| *given).map(|(_, name)| *name)
}

/// Sets what may be given several times only if it is the same each time.
pub fn once<T: PartialEq>(option: &mut Option<T>, value: T, otherwise: &str) -> Result<(), Failure> {
    match option.replace(value) {
        before if before.is_none() || before == *option => Ok(()),
        _ => Err(Failure::new(format!("{otherwise}; give the option once"))),
    }
}

/// GNU sort has an exit status of its own for an unknown word of `--sort` and `--check`.
fn unknown_word(failure: Failure) -> Failure {
    Failure::Word(failure.to_string())
}
