//! Replaces the module `index` in a build without the feature `index`.

use crate::cli::IndexCommand;
use crate::failure::Failure;

pub fn run(_: &IndexCommand) -> Result<(), Failure> {
    Err(Failure::new(
        "this build has no `sortie index`; build it with `cargo build --release --features index`, or install a released \
         archive, which has it",
    ))
}
