//! `--explain`: how a sort would go, and why. Nothing is sorted, and no output is written but that.

use sortie::Engine;
use sortie::plan::Plan;

use crate::cli::MemorySize;
use crate::failure::Failure;

/// Prints the plan for what is told of the input.
pub fn print(input: &str, plan: &Plan) -> Result<(), Failure> {
    crate::print(format!("input:     {input}\n{plan}\n").as_bytes())
}

/// What cannot be explained.
pub fn unknown_size(name: &str) -> Failure {
    Failure::new(format!("{name}: --explain needs to know how much there is to sort; name a file"))
}

/// Whether a GPU may sort where no engine was named: one is known, and no limit of memory was given, which the driver would not keep.
pub fn may_take_gpu(engine: Engine, limit: Option<MemorySize>) -> bool {
    engine == Engine::Auto && limit.is_none() && sortie::enable_gpu() != sortie::Enabled::NotMeasured
}
