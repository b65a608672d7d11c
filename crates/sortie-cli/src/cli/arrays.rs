//! Options for how an array is stored and sorted.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use sortie_formats::Kind;

use super::flag::{Domain, Effect, Flag, Name, words};
use super::job_kind::JobKind::Array;

/// The options of commands that sort arrays.
#[derive(Debug, Clone, Default)]
pub struct ArrayOptions {
    pub element: Option<Kind>,
    pub descending: bool,
    pub argsort: bool,
}

/// The type of a raw array.
pub const fn element<A: AsMut<ArrayOptions>>() -> Flag<A> {
    Flag {
        name: Name::Long("type"),
        gnu: false,
        of: &[Array],
        help: "Read the input as little-endian numbers of TYPE; a .npy file states its own type",
        effect: Effect::Value("TYPE", Domain::Words(words::<Element>), |args, given| {
            let Element(kind) = given.word()?;
            args.as_mut().element = Some(kind);
            Ok(())
        }),
    }
}

pub const fn shared<A: AsMut<ArrayOptions>>() -> [Flag<A>; 3] {
    [
        element(),
        Flag {
            name: Name::Long("descending"),
            gnu: false,
            of: &[Array],
            help: "Sort in descending order; for lines and records, use -r",
            effect: Effect::Switch(|args| args.as_mut().descending = true),
        },
        Flag {
            name: Name::Long("argsort"),
            gnu: false,
            of: &[Array],
            help: "Write the indices of the sorted elements (within their segment), not the elements: u64, or int64 in .npy",
            effect: Effect::Switch(|args| args.as_mut().argsort = true),
        },
    ]
}

/// A type for the elements of a raw array.
#[derive(Clone)]
struct Element(Kind);

impl ValueEnum for Element {
    fn value_variants<'a>() -> &'a [Element] {
        &[
            Element(Kind::U8),
            Element(Kind::U16),
            Element(Kind::U32),
            Element(Kind::U64),
            Element(Kind::I8),
            Element(Kind::I16),
            Element(Kind::I32),
            Element(Kind::I64),
            Element(Kind::F32),
            Element(Kind::F64),
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use sortie_formats::Kind;

    use super::super::flag::tests::each_sets;
    use super::shared;
    use crate::cli::SortOptions;

    #[test]
    fn each_option_sets_what_it_says() {
        each_sets::<SortOptions>(
            &shared(),
            &[
                ("--type=f32", |args| args.array.element == Some(Kind::F32)),
                ("--descending", |args| args.array.descending),
                ("--argsort", |args| args.array.argsort),
            ],
        );
    }
}
