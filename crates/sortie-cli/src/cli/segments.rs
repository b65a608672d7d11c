//! The options of `sortie segments`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use sortie_files::compression::Asked;

use super::arrays::{self, ArrayOptions};
use super::compress;
use super::flag::{Arguments, Domain, Effect, Flag, Name, Operand, Section, missing, usage};
use super::job_kind::JobKind;
use super::resources::{self, Resources};
use super::values::length;
use crate::failure::Failure;

/// What `sortie segments` should do.
#[derive(Debug)]
pub struct SegmentsArgs {
    pub input: PathBuf,
    pub ends: SegmentEnds,
    pub output: PathBuf,
    pub array: ArrayOptions,
    /// The value of `--compress`, if given.
    pub compress: Option<Asked>,
    pub resources: Resources,
}

/// How segments are delimited.
#[derive(Debug, PartialEq)]
pub enum SegmentEnds {
    /// Each has this many elements.
    Length(NonZeroUsize),
    /// This file has the offsets.
    Offsets(PathBuf),
}

/// The options before they are checked.
#[derive(Debug, Default)]
pub struct SegmentsOptions {
    input: Option<PathBuf>,
    length: Option<NonZeroUsize>,
    offsets: Option<PathBuf>,
    output: Option<PathBuf>,
    array: ArrayOptions,
    pub(super) compress: Option<Asked>,
    resources: Resources,
}

const SEGMENTS: &[Flag<SegmentsOptions>] = &[
    Flag {
        name: Name::Long("len"),
        gnu: false,
        of: JobKind::ANY,
        help: "Every segment has N elements",
        effect: Effect::Value("N", Domain::Text, |args, given| {
            args.length = Some(given.read(length)?);
            Ok(())
        }),
    },
    Flag {
        name: Name::Long("offsets"),
        gnu: false,
        of: JobKind::ANY,
        help: "Segment i is from offset i to offset i + 1 of FILE (raw u64, or .npy), counted in elements",
        effect: Effect::Value("FILE", Domain::File, |args, given| {
            args.offsets = Some(given.path());
            Ok(())
        }),
    },
    Flag {
        name: Name::Both('o', "output"),
        gnu: false,
        of: JobKind::ANY,
        help: "Write to FILE, which may be IN; - for standard output",
        effect: Effect::Value("FILE", Domain::File, |args, given| {
            args.output = Some(given.path());
            Ok(())
        }),
    },
];

impl Arguments for SegmentsOptions {
    type Complete = SegmentsArgs;

    const NAME: &'static str = "segments";
    const ABOUT: &'static str = "Sort each segment of an array separately: many small arrays in one file";
    const USAGE: &'static str = "sortie segments [OPTION]... <--len N|--offsets FILE> -o FILE IN";
    const AFTER_HELP: &'static str = "\
Offsets must not decrease. Elements before the first and after the last offset are not moved.

Examples:
  sortie segments --type f32 --len 1000 x.raw -o y.raw          arrays of 1000 numbers
  sortie segments --type u32 --offsets ends.raw x.raw -o y.raw  arrays of any length
  sortie segments --offsets ends.npy --argsort x.npy -o y.npy   indices, not elements";
    const OPERAND: Operand =
        Operand { name: "IN", help: "The array: raw little-endian numbers, or .npy", any_number: false };
    const SECTIONS: &'static [Section<Self>] = &[
        Section { heading: None, flags: SEGMENTS },
        Section { heading: None, flags: &[Flag::HELP, Flag::VERSION] },
        Section { heading: Some("Arrays"), flags: &arrays::shared() },
        Section { heading: Some("Output"), flags: &compress::shared() },
        Section { heading: Some("Resources"), flags: &resources::shared() },
        Section { heading: Some("Resources"), flags: &resources::planned() },
    ];

    fn operand(&mut self, operand: PathBuf) -> Result<(), Failure> {
        super::only(&mut self.input, operand)
    }

    fn complete(self) -> Result<SegmentsArgs, Failure> {
        let SegmentsOptions { input, length, offsets, output, array, compress, resources } = self;
        let ends = match (length, offsets) {
            (Some(_), Some(_)) => return Err(usage("--len cannot be used with --offsets")),
            (Some(length), None) => Some(SegmentEnds::Length(length)),
            (None, offsets) => offsets.map(SegmentEnds::Offsets),
        };
        let required = [
            (output.is_some(), "--output <FILE>"),
            (ends.is_some(), "<--len <N>|--offsets <FILE>>"),
            (input.is_some(), "<IN>"),
        ];
        let (Some(input), Some(ends), Some(output)) = (input, ends, output) else {
            return Err(missing(&required));
        };
        Ok(SegmentsArgs { input, ends, output, array, compress, resources })
    }
}

impl AsMut<ArrayOptions> for SegmentsOptions {
    fn as_mut(&mut self) -> &mut ArrayOptions {
        &mut self.array
    }
}

impl AsMut<Option<Asked>> for SegmentsOptions {
    fn as_mut(&mut self) -> &mut Option<Asked> {
        &mut self.compress
    }
}

impl AsMut<Resources> for SegmentsOptions {
    fn as_mut(&mut self) -> &mut Resources {
        &mut self.resources
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::path::Path;

    use super::SEGMENTS;
    use crate::cli::flag::tests::each_sets;

    #[test]
    fn each_option_sets_what_it_says() {
        each_sets(
            SEGMENTS,
            &[
                ("--len=9", |args| args.length == NonZeroUsize::new(9)),
                ("--offsets=ends", |args| args.offsets.as_deref() == Some(Path::new("ends"))),
                ("--output=x", |args| args.output.as_deref() == Some(Path::new("x"))),
            ],
        );
    }
}
