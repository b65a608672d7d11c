//! Replaces the module `genomes` in a build without the feature `genomics`.

use std::path::PathBuf;

use sortie_files::formats::Layout;
use sortie_files::formats::genomics::{GenomeFormat, GenomeOrder};

use crate::failure::Failure;

pub fn layout(
    _: GenomeFormat,
    _: GenomeOrder,
    _: Option<PathBuf>,
    _: bool,
) -> Result<Box<dyn Layout>, Failure> {
    Err(Failure::new(
        "this build sorts no alignments, variants and features; build it with `cargo build --release --features genomics`, or install a \
         released archive, which does",
    ))
}
