//! Alignments, variants and features: what sorts them, as the options say.

use std::path::PathBuf;
use std::{env, fs};

use sortie_files::formats::Layout;
use sortie_files::formats::genomics::{Contigs, Genome, GenomeFormat, GenomeOrder};
use sortie_files::quote;

use crate::failure::Failure;

/// What sorts files of a format. `contigs` is the value of `--contigs`, and `no_program` leaves the header without a line for this command.
pub fn layout(
    format: GenomeFormat,
    order: GenomeOrder,
    contigs: Option<PathBuf>,
    no_program: bool,
) -> Result<Box<dyn Layout>, Failure> {
    let contigs = contigs.map(|order| match order.to_str() {
        Some("natural") => Ok(Contigs::Natural),
        Some("bytes") => Ok(Contigs::Bytes),
        _ => {
            let text = fs::read(&order).map_err(Failure::file("read", &order))?;
            Contigs::listed(&text).map_err(|why| Failure::new(format!("{}: {why}", quote::name(&order))))
        }
    });
    let genome = Genome::new(format, order, contigs.transpose()?)?;
    let command: Vec<_> = env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    Ok(Box::new(if no_program { genome } else { genome.with_program(command.join(" ")) }))
}
