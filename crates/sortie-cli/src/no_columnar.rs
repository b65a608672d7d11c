//! Replaces the module `columnar` in a build without the feature `parquet`.

use std::path::PathBuf;

use sortie_files::Input;
use sortie_files::formats::Choices;

use crate::cli::TableJob;
use crate::failure::Failure;

pub fn run(_: &TableJob, _: &[Input], _: Choices) -> Result<(), Failure> {
    Err(missing())
}

pub fn verify_all(_: &[PathBuf]) -> Result<(), Failure> {
    Err(missing())
}

fn missing() -> Failure {
    Failure::new(
        "this build reads no Parquet and Arrow files; build it with `cargo build --release --features parquet`, or install a released \
         archive, which does",
    )
}
