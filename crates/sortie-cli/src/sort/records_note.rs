//! A note for those who sort a file of FASTA or FASTQ records as lines by mistake.

use std::path::Path;

use sortie_files::{Input, compression, quote};

/// The number of bytes at the beginning of a file in which its first record is looked for.
const HEAD: usize = 4 << 10;

/// A note for each file that has FASTA or FASTQ records, as its name and its content both say.
pub fn of(inputs: &[Input]) -> impl Iterator<Item = String> {
    inputs.iter().filter_map(|input| {
        let format = Format::of_name(input.name())?;
        let is_file = !input.is_stdin() && input.stored().is_some();
        let (head, _) = compression::head(&input.open().ok().filter(|_| is_file)?, HEAD).ok()?;
        format.begins(&head).then(|| {
            format!(
                "note: {} is sorted as lines, but has {} records; --format {} sorts whole records",
                quote::name(input.name()),
                format.name(),
                format.name().to_lowercase(),
            )
        })
    })
}

#[derive(Clone, Copy)]
enum Format {
    Fasta,
    Fastq,
}

impl Format {
    /// The format that a file name means, whether the file is compressed or not.
    fn of_name(name: &Path) -> Option<Format> {
        let plain = match compression::Way::of_name(name) {
            Some(_) => Path::new(name.file_stem()?),
            None => name,
        };
        match &*plain.extension()?.to_str()?.to_ascii_lowercase() {
            "fa" | "fas" | "fasta" | "fna" | "ffn" | "faa" | "frn" | "mpfa" => Some(Format::Fasta),
            "fq" | "fastq" => Some(Format::Fastq),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Format::Fasta => "FASTA",
            Format::Fastq => "FASTQ",
        }
    }

    /// Whether the first bytes of a file are the beginning of a record.
    fn begins(self, head: &[u8]) -> bool {
        let text = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
        let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
        let (title, sequence) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'*' | b'-' | b'.');
        let has_letters = !sequence.is_empty() && sequence.iter().all(is_letter);
        has_letters
            && match self {
                Format::Fasta => title.starts_with(b">"),
                // The rest of the record may be beyond the first bytes.
                Format::Fastq => {
                    title.starts_with(b"@") && lines.next().is_none_or(|line| line.starts_with(b"+"))
                }
            }
    }
}
