//! The options of `sortie quantiles`.

use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use sortie::QuantileMethod;

use super::arrays::{self, ArrayOptions};
use super::flag::{Arguments, Domain, Effect, Flag, Name, Operand, Section, words};
use super::job_kind::JobKind;
use super::resources::{self, Resources};
use crate::failure::Failure;

/// What `sortie quantiles` should do.
#[derive(Debug, Default)]
pub struct QuantilesOptions {
    /// Standard input if there are none.
    pub inputs: Vec<PathBuf>,
    /// The quantiles, as they were given and as numbers.
    pub shares: Vec<(String, f64)>,
    pub method: QuantileMethod,
    /// Whether to leave out what is no number.
    pub skip_invalid: bool,
    pub array: ArrayOptions,
    pub resources: Resources,
}

const QUANTILES: &[Flag<QuantilesOptions>] = &[
    Flag {
        name: Name::Both('q', "quantiles"),
        gnu: false,
        of: JobKind::ANY,
        help: "Print these quantiles, from 0 to 1, as 0.5,0.99; by default the least, the quartiles and the greatest",
        effect: Effect::Value("Q,...", Domain::Text, |args, given| {
            args.shares = given.read(shares)?;
            Ok(())
        }),
    },
    Flag {
        name: Name::Long("method"),
        gnu: false,
        of: JobKind::ANY,
        help: "How to choose between the numbers beside a quantile, by the names of NumPy; linear by default",
        effect: Effect::Value("METHOD", Domain::Words(words::<Method>), |args, given| {
            let Method(method) = given.word()?;
            args.method = method;
            Ok(())
        }),
    },
    Flag {
        name: Name::Long("skip-invalid"),
        gnu: false,
        of: JobKind::ANY,
        help: "Leave out NaNs, and lines that are no numbers, and say how many these were",
        effect: Effect::Switch(|args| args.skip_invalid = true),
    },
];

impl Arguments for QuantilesOptions {
    type Complete = QuantilesOptions;

    const NAME: &'static str = "quantiles";
    const ABOUT: &'static str = "Print the median or other quantiles of numbers, without sorting them";
    const USAGE: &'static str = "sortie quantiles [OPTION]... [FILE]...";
    const AFTER_HELP: &'static str = "\
Reads a number from each line of all files, with a point before decimals; or with --type or from a .npy file, one array. Prints a line for \
each quantile: as it was given, a tab, and its value, as numpy.quantile computes it with 64-bit floats, but beside an infinite number that \
number. Methods that take one of the numbers (lower, higher, nearest, inverted_cdf, closest_observation) print integers of arrays exactly. \
Quantiles of arrays of narrower floats are rounded to 32 bits.

Memory: the numbers, 8 bytes each or as an array has them, and about as much again.

Examples:
  cut -f3 times.tsv | sortie quantiles             least, quartiles and greatest
  sortie quantiles -q 0.5,0.9,0.99 latencies.txt   percentiles
  sortie quantiles --type f32 -q 0.5 x.raw         the median of an array";
    const OPERAND: Operand = Operand {
        name: "FILE",
        help: "Lines with a number each, or one array; - or none for standard input",
        any_number: true,
    };
    const SECTIONS: &'static [Section<Self>] = &[
        Section { heading: None, flags: QUANTILES },
        Section { heading: None, flags: &[Flag::HELP, Flag::VERSION] },
        Section { heading: Some("Arrays"), flags: &[arrays::element()] },
        Section { heading: Some("Resources"), flags: &[resources::parallel(), resources::stats()] },
    ];

    fn operand(&mut self, operand: PathBuf) -> Result<(), Failure> {
        self.inputs.push(operand);
        Ok(())
    }

    fn complete(mut self) -> Result<QuantilesOptions, Failure> {
        if self.shares.is_empty() {
            self.shares = shares("0,0.25,0.5,0.75,1").expect("these are shares");
        }
        Ok(self)
    }
}

/// The numbers of a list, as given and parsed.
fn shares(text: &str) -> Result<Vec<(String, f64)>, String> {
    let share = |text: &str| match text.trim().parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok((text.trim().to_owned(), share)),
        _ => Err(format!("'{text}' is not a number from 0 to 1")),
    };
    text.split(',').map(share).collect()
}

impl AsMut<ArrayOptions> for QuantilesOptions {
    fn as_mut(&mut self) -> &mut ArrayOptions {
        &mut self.array
    }
}

impl AsMut<Resources> for QuantilesOptions {
    fn as_mut(&mut self) -> &mut Resources {
        &mut self.resources
    }
}

/// A method, by its name in NumPy.
#[derive(Clone)]
struct Method(QuantileMethod);

impl ValueEnum for Method {
    fn value_variants<'a>() -> &'a [Method] {
        const METHODS: [Method; QuantileMethod::ALL.len()] = {
            let mut methods = [const { Method(QuantileMethod::Linear) }; QuantileMethod::ALL.len()];
            let mut i = 0;
            while i < methods.len() {
                methods[i] = Method(QuantileMethod::ALL[i]);
                i += 1;
            }
            methods
        };
        &METHODS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()))
    }
}

#[cfg(test)]
mod tests {
    use sortie::QuantileMethod;

    use super::super::flag::tests::each_sets;
    use super::{QUANTILES, QuantilesOptions, shares};

    #[test]
    fn each_option_sets_what_it_says() {
        each_sets::<QuantilesOptions>(
            QUANTILES,
            &[
                ("--quantiles=0.5,1", |args| args.shares == [("0.5".into(), 0.5), ("1".into(), 1.0)]),
                ("--method=lower", |args| args.method == QuantileMethod::Lower),
                ("--skip-invalid", |args| args.skip_invalid),
            ],
        );
    }

    #[test]
    fn shares_are_from_0_to_1() {
        for wrong in ["", "0.5,", "1.1", "-0.1", "nan", "50%", "a"] {
            assert!(shares(wrong).is_err(), "{wrong}");
        }
    }
}
