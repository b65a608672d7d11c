//! The headers of files of genomics.

use foldhash::{HashMap, HashSet};

use super::contigs::{Ranks, of_dictionary};
use super::{GenomeFormat, GenomeOrder, bam};
use crate::quote;

/// The lines of a header, as far as several inputs have to agree on them.
pub struct Header {
    /// The names of the contigs, in order.
    pub contigs: Vec<Vec<u8>>,
    /// The lines that other inputs must have too.
    shared: HashSet<Vec<u8>>,
    /// The lines with an identifier, which no other input may have otherwise.
    named: HashMap<Vec<u8>, Vec<u8>>,
    /// All lines.
    lines: HashSet<Vec<u8>>,
}

/// The line that names the columns of variants, and so the samples.
const COLUMNS: &[u8] = b"#CHROM";

impl Header {
    /// Reads the header of an input.
    ///
    /// # Errors
    /// If it lacks what its format must have, or names a contig twice.
    pub fn read(format: GenomeFormat, bytes: &[u8]) -> Result<Header, String> {
        let binary = if format == GenomeFormat::Bam { Some(bam::Header::read(bytes)?) } else { None };
        let text = binary.as_ref().map_or(bytes, |header| header.text);
        let mut header = Header {
            contigs: Vec::new(),
            shared: HashSet::default(),
            named: HashMap::default(),
            lines: HashSet::default(),
        };
        for line in lines(text) {
            header.lines.insert(line.to_vec());
            match format {
                GenomeFormat::Sam | GenomeFormat::Bam => header.take_alignments(line),
                GenomeFormat::Vcf => header.take_variants(line),
                GenomeFormat::Bed | GenomeFormat::Gff => {}
            }
        }
        if let Some(binary) = binary {
            header.contigs = binary.contigs().map(<[u8]>::to_vec).collect();
        }
        if format == GenomeFormat::Vcf && !header.lines.iter().any(|line| line.starts_with(COLUMNS)) {
            return Err("there is no line #CHROM before the first record; is it VCF?".into());
        }
        match Ranks::listed(&header.contigs) {
            Ok(_) => Ok(header),
            Err(twice) => Err(format!("the header has the contig {} twice", shown(&twice))),
        }
    }

    fn take_alignments(&mut self, line: &[u8]) {
        self.contigs.extend(of_dictionary(line).map(<[u8]>::to_vec));
        if line.starts_with(b"@SQ\t") {
            self.shared.insert(line.to_vec());
        } else if let Some(id) = [&b"@RG\t"[..], b"@PG\t"].iter().find_map(|kind| {
            let fields = line.strip_prefix(*kind)?.split(|&byte| byte == b'\t');
            let id = fields.into_iter().find_map(|field| field.strip_prefix(b"ID:"))?;
            Some([kind, id].concat())
        }) {
            self.named.insert(id, line.to_vec());
        }
    }

    fn take_variants(&mut self, line: &[u8]) {
        if let Some(contig) = line.strip_prefix(b"##contig=<ID=") {
            let end = contig.iter().position(|byte| b",>".contains(byte)).unwrap_or(contig.len());
            self.contigs.push(contig[..end].to_vec());
        }
        let is_definition = line.starts_with(b"##") && memchr::memmem::find(line, b"=<ID=").is_some();
        if is_definition || line.starts_with(COLUMNS) {
            self.shared.insert(line.to_vec());
        }
    }

    /// That another input can be sorted together with the first.
    pub fn compare(&self, first: &Header) -> Result<(), String> {
        if self.contigs != first.contigs && !self.shared.is_empty() {
            return Err(
                "the contigs of its header are not those of the first input, in the same order".into()
            );
        }
        if let Some(line) = self.shared.iter().find(|line| !first.shared.contains(*line)) {
            return Err(format!("the header of the first input does not have its line {}", shown(line)));
        }
        let other =
            self.named.iter().find(|(id, line)| first.named.get(*id).is_some_and(|other| other != *line));
        match other {
            None => Ok(()),
            Some((_, line)) => Err(format!(
                "the header of the first input has another line with the identifier of its line {}; rename it in one of them",
                shown(line)
            )),
        }
    }

    /// Adds the lines of a later input that follow this header, and returns them: the groups of reads, the programs and the comments of
    /// alignments, and the comments of features.
    pub fn add(&mut self, format: GenomeFormat, header: &[u8]) -> Vec<u8> {
        let text = match format {
            GenomeFormat::Bam => bam::Header::read(header).map_or(&[][..], |header| header.text),
            GenomeFormat::Vcf => return Vec::new(),
            _ => header,
        };
        let mut added = Vec::new();
        for line in lines(text) {
            if !line.starts_with(b"@HD") && self.lines.insert(line.to_vec()) {
                if format.is_alignments() {
                    self.take_alignments(line);
                }
                added.extend([line, b"\n"].concat());
            }
        }
        added
    }
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let without_end = |line| <[u8]>::strip_suffix(line, b"\r").unwrap_or(line);
    text.split(|&byte| byte == b'\n').map(without_end).filter(|line| !line.is_empty())
}

fn shown(text: &[u8]) -> String {
    format!("'{}'", quote::harmless(&String::from_utf8_lossy(text)))
}

/// The text of a header of alignments as it is written: with their order in the line `@HD`, and a line `@PG` at the end if a command is
/// given.
pub fn of_alignments(text: &[u8], order: GenomeOrder, command: Option<&str>) -> Vec<u8> {
    let sorted: &[u8] = match order {
        GenomeOrder::Coordinate => b"\tSO:coordinate",
        GenomeOrder::Name => b"\tSO:queryname\tSS:queryname:natural",
        GenomeOrder::NameBytes => b"\tSO:queryname\tSS:queryname:lexicographical",
    };
    let mut out = Vec::with_capacity(text.len() + 256);
    let first = text.split_inclusive(|&byte| byte == b'\n').next().unwrap_or_default();
    let rest = if first.starts_with(b"@HD\t") {
        let mut fields = first.trim_ascii_end().split(|&byte| byte == b'\t');
        out.extend_from_slice(fields.next().unwrap_or_default());
        // The version comes first.
        let others: Vec<_> = fields
            .filter(|field| ![&b"SO:"[..], b"GO:", b"SS:"].iter().any(|old| field.starts_with(old)))
            .collect();
        let (version, others) = others.split_at(others.len().min(1));
        version.iter().for_each(|field| out.extend([b"\t", *field].concat()));
        out.extend_from_slice(sorted);
        others.iter().for_each(|field| out.extend([b"\t", *field].concat()));
        &text[first.len()..]
    } else {
        out.extend_from_slice(b"@HD\tVN:1.6");
        out.extend_from_slice(sorted);
        text
    };
    out.push(b'\n');
    out.extend_from_slice(rest);
    if out.last() != Some(&b'\n') {
        out.push(b'\n');
    }
    if let Some(command) = command {
        out.extend(program(text, command).into_bytes());
    }
    out
}

/// A line `@PG` that follows the last one of the header.
fn program(text: &[u8], command: &str) -> String {
    let ids: Vec<_> = lines(text)
        .filter_map(|line| line.strip_prefix(b"@PG\t"))
        .filter_map(|line| line.split(|&byte| byte == b'\t').find_map(|field| field.strip_prefix(b"ID:")))
        .map(String::from_utf8_lossy)
        .collect();
    let is_free = |id: &String| !ids.iter().any(|other| other == id);
    let numbered = (1..).map(|number| format!("sortie.{number}"));
    let id = std::iter::once("sortie".to_owned()).chain(numbered).find(is_free).expect("numbers do not end");
    let previous = ids.last().map_or(String::new(), |id| format!("\tPP:{id}"));
    let version = env!("CARGO_PKG_VERSION");
    format!("@PG\tID:{id}\tPN:sortie{previous}\tVN:{version}\tCL:{}\n", quote::harmless(command))
}
