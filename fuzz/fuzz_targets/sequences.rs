//! FASTA and FASTQ: any bytes are refused or kept, and what is kept is read as the same records again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sortie_formats::sequences::{Format, Records};

fn read(format: Format, text: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut records = Records::new(format, usize::MAX);
    records.read(text).ok()?;
    let bytes = |place| {
        let record = records.get(place);
        let shown = record.name().len() + record.sequence().map(<[u8]>::len).sum::<usize>();
        assert!(shown < record.bytes().len());
        record.bytes().to_vec()
    };
    Some((0..records.len()).map(bytes).collect())
}

fuzz_target!(|text: &[u8]| {
    for format in [Format::Fasta, Format::Fastq] {
        let Some(records) = read(format, text) else { continue };
        let kept = records.concat();
        // A byte order mark and blank lines before the first record belong to none.
        let unmarked = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        let blank = unmarked.iter().take_while(|&byte| matches!(byte, b'\n' | b'\r')).count();
        let rest = unmarked[blank..]
            .strip_prefix(kept.strip_suffix(b"\n").unwrap_or_default())
            .expect("it was kept");
        // A last line end may have been missing, and blank lines after the last record of FASTQ are of none.
        assert!(rest.trim_ascii().is_empty());
        assert!(format == Format::Fastq || rest.len() <= 1);
        assert_eq!(read(format, &kept), Some(records));
    }
});
