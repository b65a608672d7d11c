//! `--explain`: prints the plan of a sort instead of sorting.

use sortie::plan::Plan;

use crate::failure::Failure;

/// Prints the plan for the input that `input` describes.
pub fn print(input: &str, plan: &Plan) -> Result<(), Failure> {
    crate::print(format!("input:     {input}\n{plan}\n").as_bytes())
}

/// A number and what it counts: `1 line`, `2 lines`.
pub fn counted(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// Appended to the description of an input that does not fit in memory.
pub const IN_RUNS: &str = ", in runs through temporary files";

/// The error for an input whose size is not known.
pub fn unknown_size() -> Failure {
    Failure::new("--explain needs the size of the input; give a file that is not compressed")
}
