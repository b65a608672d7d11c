//! The option for the axis of an array.

use super::SortOptions;
use crate::cli::flag::{Domain, Effect, Flag, Name};
use crate::cli::job_kind::JobKind::Array;

pub const AXIS: &[Flag<SortOptions>] = &[Flag {
    name: Name::Long("axis"),
    gnu: false,
    of: &[Array],
    help: "Sort a .npy array along axis N, counted from the end if negative; by default the last axis",
    effect: Effect::Value("N", Domain::Text, |args, given| {
        args.axis = Some(given.read(str::parse)?);
        Ok(())
    }),
}];

#[cfg(test)]
mod tests {
    use super::AXIS;
    use crate::cli::flag::tests::each_sets;

    #[test]
    fn the_option_sets_what_it_says() {
        each_sets(AXIS, &[("--axis=-2", |args| args.axis == Some(-2))]);
    }
}
