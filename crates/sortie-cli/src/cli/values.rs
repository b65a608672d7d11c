//! Parsers for the values of options.

use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::ValueEnum;
use clap::builder::{OsStringValueParser, TypedValueParser};
use rustix::process::{Resource, getrlimit};
use sortie::Engine;
use sortie_files::formats::text::key::unsigned;

/// How `--stats` prints its report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StatsFormat {
    /// For people
    Table,
    /// For machines
    Json,
}

/// How `-c` reports the first line out of order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Check {
    /// Name it, and exit with 1
    DiagnoseFirst,
    /// Exit with 1 and say nothing
    #[value(alias = "silent")]
    Quiet,
}

/// The words of `--sort`, the long form of the options for the kind of key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SortWord {
    GeneralNumeric,
    HumanNumeric,
    Month,
    Numeric,
    Random,
    Version,
}

impl SortWord {
    /// The option with the same meaning.
    pub fn letter(self) -> char {
        match self {
            SortWord::GeneralNumeric => 'g',
            SortWord::HumanNumeric => 'h',
            SortWord::Month => 'M',
            SortWord::Numeric => 'n',
            SortWord::Random => 'R',
            SortWord::Version => 'V',
        }
    }
}

/// Parses the field separator: any single byte, or `\0` for NUL.
pub fn separator(text: &OsStr) -> Result<u8, &'static str> {
    match text.as_bytes() {
        b"\\0" => Ok(0),
        [byte] => Ok(*byte),
        [] => Err("a separator must be one byte, but this is empty; \\0 means NUL"),
        _ => Err("a separator must be one byte, but this has several"),
    }
}

/// A limit on memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemorySize {
    Bytes(u64),
    /// A percentage of the machine's memory.
    Percent(u64),
}

impl FromStr for MemorySize {
    type Err = String;

    /// Parses `SIZE[%bKMGTPEZY]`. Without a suffix the unit is 1024 bytes; a suffix without a number means one
    /// of its unit.
    fn from_str(text: &str) -> Result<MemorySize, String> {
        let counted = if text.starts_with(|unit| "KkMmGgTtPE".contains(unit)) {
            format!("1{text}")
        } else {
            unsigned(text).into()
        };
        let digits = counted.bytes().take_while(u8::is_ascii_digit).count();
        let (number, suffix) = counted.split_at(digits);
        let number: u64 = match number.parse() {
            Ok(number) => number,
            Err(_) if digits == 0 => return Err("a size is a number and one of the suffixes %bKMGTPE".into()),
            Err(_) => return Err("no machine has that much memory".into()),
        };
        let power = match suffix {
            "%" => return Ok(MemorySize::Percent(number)),
            "b" => 0,
            "" | "K" | "k" => 1,
            "M" | "m" => 2,
            "G" | "g" => 3,
            "T" | "t" => 4,
            "P" => 5,
            "E" => 6,
            _ => return Err(format!("'{suffix}' is not one of the suffixes %bKMGTPE")),
        };
        let bytes = 1024u64.checked_pow(power).and_then(|unit| number.checked_mul(unit));
        bytes.map(MemorySize::Bytes).ok_or_else(|| "no machine has that much memory".into())
    }
}

/// Parses a path, which may be empty. Whether the file exists is checked when it is opened.
pub fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// More threads than this bring no gain, only costs.
const MAX_THREADS: NonZeroUsize = NonZeroUsize::new(1024).expect("it is not zero");

/// Why a build without GPUs refuses what needs one, and how to get them.
#[cfg(not(feature = "gpu"))]
pub const NO_GPUS: &str = "this build has no GPUs; build it with `cargo build --release --features gpu`, or install a released \
                           archive, which has them";

/// Parses an engine, which this build must have.
pub fn engine(text: &str) -> Result<Engine, String> {
    let engine = text.parse::<Engine>().map_err(|error| error.to_string())?;
    #[cfg(not(feature = "gpu"))]
    if !matches!(engine, Engine::Auto | Engine::Cpu) {
        return Err(NO_GPUS.to_owned());
    }
    Ok(engine)
}

/// Parses a number of threads.
pub fn threads(text: &str) -> Result<NonZeroUsize, String> {
    count(text).map(|threads| threads.min(MAX_THREADS))
}

/// Parses a count of at least 1. A number too large for `usize` becomes the maximum.
pub fn count(text: &str) -> Result<NonZeroUsize, String> {
    let text = unsigned(text);
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err("not a whole number".into());
    }
    NonZeroUsize::new(text.parse().unwrap_or(usize::MAX)).ok_or_else(|| "at least 1 is needed".into())
}

/// Parses the number of lines to write. A number too large for `u64` becomes the maximum.
pub fn lines(text: &str) -> Result<u64, &'static str> {
    let digits = unsigned(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err("it is a number of lines; to compare numbers, give --numeric-sort or a key such as -k1n");
    }
    Ok(digits.parse().unwrap_or(u64::MAX))
}

/// Parses the number of inputs to merge at once. The limit is the number of files that may be open besides the
/// standard streams.
pub fn batch(text: &str) -> Result<NonZeroUsize, String> {
    const STREAMS: u64 = 3;
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let most = files.saturating_sub(STREAMS);
    match count(text)? {
        NonZeroUsize::MIN => Err("at least 2 are needed".into()),
        inputs if inputs.get() as u64 > most => Err(format!(
            "at most {most} inputs can be open, of {files} files in all; give fewer, or raise ulimit -n"
        )),
        inputs => Ok(inputs),
    }
}

/// The maximum size of a record, because a buffer holds several.
const MAX_RECORD: usize = 1 << 30;

/// Parses the size of a record.
pub fn record(text: &str) -> Result<NonZeroUsize, String> {
    count(text)
        .and_then(|n| if n.get() > MAX_RECORD { Err("a record has at most 1 GiB".into()) } else { Ok(n) })
}

/// Parses the length of a segment.
pub fn length(text: &str) -> Result<NonZeroUsize, String> {
    match count(text)? {
        NonZeroUsize::MAX => Err("no array is that long".into()),
        length => Ok(length),
    }
}
