//! Writes the spectra with their peaks in the new order, and the updated index.

use rayon::prelude::*;
use sortie_files::Output;
use sortie_formats::spectra::mzml::Index;
use sortie_formats::spectra::{NoRoom, Problem};

use super::batch::Batch;
use crate::failure::Failure;

/// Writes a file batch by batch.
pub struct Writer {
    output: Output,
    index: Index,
    written: u64,
}

impl Writer {
    /// Writes to `output`.
    pub fn new(output: Output) -> Writer {
        Writer { output, index: Index::default(), written: 0 }
    }

    /// Writes a sorted batch, and returns its size in bytes before compression.
    pub fn write(&mut self, batch: &Batch) -> Result<u64, Failure> {
        let before = self.written;
        let firsts = batch.parts.iter().scan(0, |spectra, (_, part)| {
            let first = *spectra;
            *spectra += part.spectra();
            Some(first)
        });
        let parts: Vec<_> = batch.parts.iter().zip(firsts).collect();
        let written: Vec<_> = parts
            .into_par_iter()
            .map(|((range, part), first)| {
                let offsets = &batch.offsets[first..=first + part.spectra()];
                let order = offsets.windows(2).map(|bounds| &batch.places[bounds[0]..bounds[1]]);
                let (text, mut out) = (&batch.text[range.clone()], Vec::new());
                // Reserves what was counted, because a growing vector would take more.
                let needed = part.to_write(text);
                out.try_reserve_exact(needed as usize).map_err(|_| NoRoom::System { needed })?;
                let moved = part.write(text, order, &mut out)?;
                Ok((out, moved))
            })
            .collect::<Result<_, NoRoom>>()
            .map_err(no_room)?;
        if batch.indexed {
            for ((out, moved), (range, _)) in written.iter().zip(&batch.parts) {
                self.index.follow(range.len() as u64, out, moved).map_err(no_room)?;
            }
        }
        self.put(written.into_iter().map(|(out, _)| out).collect())?;
        if batch.index < batch.text.len() {
            let index = std::mem::take(&mut self.index).write(&batch.text[batch.index..]);
            self.put(vec![index.map_err(|problem| match problem {
                Problem::Malformed(problem) => Failure::new(problem),
                Problem::NoRoom(error) => no_room(error),
            })?])?;
        }
        Ok(self.written - before)
    }

    pub fn finish(self) -> Result<(), Failure> {
        Ok(self.output.finish()?)
    }

    fn put(&mut self, pieces: Vec<Vec<u8>>) -> Result<(), Failure> {
        pieces.iter().try_for_each(|piece| {
            self.written += piece.len() as u64;
            Ok(self.output.write(piece)?)
        })
    }
}

fn no_room(error: NoRoom) -> Failure {
    Failure::new(format!("{error}; raise ulimit -v, or lower -S"))
}
