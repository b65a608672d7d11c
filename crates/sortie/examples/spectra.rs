//! Sorts the peaks of every spectrum in an MGF file by intensity, largest first. By default, the file is the one in
//! this program.

use sortie::{Segments, Sorter};
use sortie_formats::spectra::{Room, mgf};

const TEXT: &str = "\
BEGIN IONS
TITLE=one
59.0138 854
76.9701 2857
61.9883 132
END IONS
BEGIN IONS
TITLE=two
65.0032 194 1+
80.0270 971 2+
END IONS
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = std::env::args().nth(1).map_or(Ok(TEXT.to_owned()), std::fs::read_to_string)?;
    let spectra = mgf::parse(text.as_bytes(), &Room::unlimited()).map_err(|error| error.problem)?;

    // All keys are in one array, whose segments are the spectra. The payload is the index of each peak in its spectrum.
    let segments = &spectra.peaks().offsets;
    let mut keys = spectra.peaks().intensity.clone();
    let mut indices: Vec<u32> = segments.windows(2).flat_map(|s| 0..(s[1] - s[0]) as u32).collect();
    let sorter = Sorter::builder().descending(true).build()?;
    let report = sorter.sort_pairs_segments(&mut keys, &mut indices, Segments::Offsets(segments))?;

    let mut sorted = Vec::new();
    spectra.write(text.as_bytes(), segments.windows(2).map(|s| &indices[s[0]..s[1]]), &mut sorted)?;
    println!("{}", String::from_utf8_lossy(&sorted));
    eprintln!("{report}");
    Ok(())
}
