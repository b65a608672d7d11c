//! Sorts lines by a single `-n` key. Codes of 64 bits are sorted instead of encoded keys, and the lines move with them.

use rayon::prelude::*;

use super::LineSort;
use super::sorter::{LINES_A_BLOCK, builder, sorter};
use crate::Error;
use crate::memory::filled;

/// Sorts lines by their numbers. With `-u`, keeps only the first of lines with equal numbers.
pub fn sort(lines: &mut Vec<&[u8]>, bytes: usize, job: &LineSort<'_>) -> Result<(), Error> {
    let mut codes = filled(lines.len(), 0)?;
    let exact = job.ledger.timed("encode", bytes, size_of_val(&codes[..]), || encode(lines, &mut codes, job));
    job.ledger.absorb(sorter(job, false, lines.len())?.sort_pairs(&mut codes, lines)?);
    if !exact || job.order.last_resort().is_some() {
        let ties = Ties { job, exact };
        job.ledger.timed("last resort", bytes, 0, || ties.order(&codes, lines))?;
    }
    if job.order.unique() {
        let mut kept = 0;
        for place in 0..lines.len() {
            let is_repeated = kept > 0
                && codes[place] == codes[kept - 1]
                && (exact || job.order.compare_keys(lines[kept - 1], lines[place]).is_eq());
            if !is_repeated {
                (codes[kept], lines[kept]) = (codes[place], lines[place]);
                kept += 1;
            }
        }
        lines.truncate(kept);
    }
    Ok(())
}

/// Finds the code of each line. Returns whether lines with equal codes always have equal numbers.
fn encode(lines: &[&[u8]], codes: &mut [u64], job: &LineSort<'_>) -> bool {
    let encode = |(lines, codes): (&[&[u8]], &mut [u64])| {
        let mut all_exact = true;
        for (line, code) in lines.iter().zip(codes) {
            let exact;
            (*code, exact) = job.order.number(line);
            all_exact &= exact;
        }
        all_exact
    };
    if lines.len() <= LINES_A_BLOCK {
        return encode((lines, codes));
    }
    let blocks = lines.par_chunks(LINES_A_BLOCK).zip(codes.par_chunks_mut(LINES_A_BLOCK));
    blocks.map(encode).reduce(|| true, |a, b| a && b)
}

/// Orders lines with equal codes.
struct Ties<'j> {
    job: &'j LineSort<'j>,
    /// Whether lines with equal codes have equal numbers.
    exact: bool,
}

impl Ties<'_> {
    /// `codes` are in order, and are those of the lines.
    fn order(&self, codes: &[u64], lines: &mut [&[u8]]) -> Result<(), Error> {
        if lines.len() < LINES_A_BLOCK {
            let mut rest = lines;
            for equal in codes.chunk_by(|a, b| a == b) {
                let lines = rest.split_off_mut(..equal.len()).expect("as many lines as codes");
                if lines.len() > 1 {
                    lines.sort_by(|a, b| self.job.order.compare(a, b));
                }
            }
            return Ok(());
        }
        // Finds the lines whose code is that of the middle one, and recurses into both sides.
        let code = codes[codes.len() / 2];
        let start = codes.partition_point(|&other| other < code);
        let end = codes.partition_point(|&other| other <= code);
        let (rest, after) = lines.split_at_mut(end);
        let (before, equal) = rest.split_at_mut(start);
        let (sides, middle) = rayon::join(
            || {
                let (before, after) =
                    rayon::join(|| self.order(&codes[..start], before), || self.order(&codes[end..], after));
                before.and(after)
            },
            || self.order_equal(equal),
        );
        sides.and(middle)
    }

    /// Orders lines that all have the same code.
    fn order_equal(&self, lines: &mut [&[u8]]) -> Result<(), Error> {
        if lines.len() < LINES_A_BLOCK {
            lines.sort_by(|a, b| self.job.order.compare(a, b));
            return Ok(());
        }
        // These sorts compare lines, so they never use a GPU.
        match self.job.order.last_resort() {
            Some(descending) if self.exact => {
                builder(self.job, lines.len()).descending(descending).build()?.sort_strings(lines)?;
            }
            _ => {
                builder(self.job, lines.len())
                    .build()?
                    .sort_by(lines, |a, b| self.job.order.compare(a, b))?;
            }
        }
        Ok(())
    }
}
