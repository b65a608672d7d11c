//! The options of `sortie spectra`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::ValueEnum;
use sortie_files::compression::Asked;

use super::compress;
use super::flag::{Arguments, Domain, Effect, Flag, Name, Operand, Section, missing, words};
use super::job_kind::JobKind;
use super::resources::{self, Resources};
use super::values::count;
use crate::failure::Failure;

/// What `sortie spectra` should do.
#[derive(Debug)]
pub struct SpectraArgs {
    pub input: PathBuf,
    pub output: PathBuf,
    pub by: PeakKey,
    pub descending: bool,
    /// The number of peaks to keep of each spectrum.
    pub top: Option<NonZeroUsize>,
    /// The value of `--compress`, if given.
    pub compress: Option<Asked>,
    pub resources: Resources,
}

/// The key by which peaks are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PeakKey {
    /// The ratio of mass to charge
    Mz,
    /// The intensity of the peak
    Intensity,
}

/// The options before they are checked.
#[derive(Debug, Default)]
pub struct SpectraOptions {
    input: Option<PathBuf>,
    output: Option<PathBuf>,
    by: Option<PeakKey>,
    descending: bool,
    top: Option<NonZeroUsize>,
    pub(super) compress: Option<Asked>,
    resources: Resources,
}

const SPECTRA: &[Flag<SpectraOptions>] = &[
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
    Flag {
        name: Name::Long("by"),
        gnu: false,
        of: JobKind::ANY,
        help: "What to sort the peaks by",
        effect: Effect::Value("KEY", Domain::Words(words::<PeakKey>), |args, given| {
            args.by = Some(given.word()?);
            Ok(())
        }),
    },
    Flag {
        name: Name::Long("descending"),
        gnu: false,
        of: JobKind::ANY,
        help: "Sort in descending order",
        effect: Effect::Switch(|args| args.descending = true),
    },
    Flag {
        name: Name::Long("top"),
        gnu: false,
        of: JobKind::ANY,
        help: "Keep only the N most intense peaks of each spectrum",
        effect: Effect::Value("N", Domain::Text, |args, given| {
            args.top = Some(given.read(count)?);
            Ok(())
        }),
    },
];

impl Arguments for SpectraOptions {
    type Complete = SpectraArgs;

    const NAME: &'static str = "spectra";
    const ABOUT: &'static str =
        "Sort the peaks of every mass spectrum in a file: MGF or mzML, compressed or not";
    const USAGE: &'static str = "sortie spectra [OPTION]... --by KEY -o FILE IN";
    const AFTER_HELP: &'static str = "\
Everything except the peaks stays as it is: in MGF all other lines, in mzML all text except the arrays of numbers. In mzML, \
the other arrays of a spectrum, such as charges, are moved along with the peaks.

The largest spectrum and its sort must fit in a third of SIZE. In addition to the N threads of --parallel, one thread reads \
and one parses. --engine takes cpu, cuda[:N] or auto. --explain describes the sort of the first batch of spectra. The steps \
in the report of --stats overlap.

Examples:
  sortie spectra run.mgf -o sorted.mgf --by mz
  sortie spectra run.mzML.gz -o strongest.mzML.gz --by intensity --descending
  sortie spectra run.mgf.gz -o small.mgf --by mz --top 100      the 100 most intense of each, by m/z";
    const OPERAND: Operand = Operand {
        name: "IN",
        help: "The file, - for standard input; the format is recognised by the content",
        any_number: false,
    };
    const SECTIONS: &'static [Section<Self>] = &[
        Section { heading: None, flags: SPECTRA },
        Section { heading: None, flags: &[Flag::HELP, Flag::VERSION] },
        Section { heading: Some("Output"), flags: &compress::shared() },
        Section { heading: Some("Resources"), flags: &resources::shared() },
        Section { heading: Some("Resources"), flags: &resources::planned() },
    ];

    fn operand(&mut self, operand: PathBuf) -> Result<(), Failure> {
        super::only(&mut self.input, operand)
    }

    fn complete(self) -> Result<SpectraArgs, Failure> {
        let SpectraOptions { input, output, by, descending, top, compress, resources } = self;
        let required =
            [(output.is_some(), "--output <FILE>"), (by.is_some(), "--by <KEY>"), (input.is_some(), "<IN>")];
        let (Some(input), Some(output), Some(by)) = (input, output, by) else {
            return Err(missing(&required));
        };
        Ok(SpectraArgs { input, output, by, descending, top, compress, resources })
    }
}

impl AsMut<Option<Asked>> for SpectraOptions {
    fn as_mut(&mut self) -> &mut Option<Asked> {
        &mut self.compress
    }
}

impl AsMut<Resources> for SpectraOptions {
    fn as_mut(&mut self) -> &mut Resources {
        &mut self.resources
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::path::Path;

    use super::{PeakKey, SPECTRA};
    use crate::cli::flag::tests::each_sets;

    #[test]
    fn each_option_sets_what_it_says() {
        each_sets(
            SPECTRA,
            &[
                ("--output=x", |args| args.output.as_deref() == Some(Path::new("x"))),
                ("--by=intensity", |args| args.by == Some(PeakKey::Intensity)),
                ("--descending", |args| args.descending),
                ("--top=4", |args| args.top == NonZeroUsize::new(4)),
            ],
        );
    }
}
