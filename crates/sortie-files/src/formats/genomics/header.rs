//! The headers of files of genomics.

use foldhash::{HashMap, HashSet};

use super::contigs::{Ranks, of_dictionary};
use super::{GenomeFormat, GenomeOrder, bam};
use crate::quote;

/// The lines of a header, as far as several inputs have to agree on them.
#[derive(Default)]
pub struct Header {
    /// The names of the contigs, in order.
    pub contigs: Vec<Vec<u8>>,
    /// Their lengths, of alignments alone.
    lengths: Vec<u64>,
    /// The definitions and the columns of variants: other inputs may have no more of them.
    shared: HashSet<Vec<u8>>,
    /// The number of columns of variants.
    pub columns: usize,
    /// The groups of reads and the programs of alignments, by their kind and identifier.
    named: HashMap<Vec<u8>, Vec<u8>>,
    /// All lines.
    lines: HashSet<Vec<u8>>,
}

/// The line that names the columns of variants, and so the samples.
const COLUMNS: &[u8] = b"#CHROM";
const GROUP: &[u8] = b"@RG\t";
const PROGRAM: &[u8] = b"@PG\t";

impl Header {
    /// Reads the header of an input.
    ///
    /// # Errors
    /// If it lacks what its format must have, or the header of alignments names a contig twice.
    pub fn read(format: GenomeFormat, bytes: &[u8]) -> Result<Header, String> {
        let binary = if format == GenomeFormat::Bam { Some(bam::Header::read(bytes)?) } else { None };
        let text = binary.as_ref().map_or(bytes, |header| header.text);
        let mut header = Header::default();
        for line in lines(text) {
            header.lines.insert(line.to_vec());
            match format {
                GenomeFormat::Sam => header.take_contig(line),
                GenomeFormat::Vcf => header.take_variants(line),
                GenomeFormat::Bam | GenomeFormat::Bed | GenomeFormat::Gff => {}
            }
            if format.is_alignments()
                && let Some(id) = id_of(line)
            {
                header.named.insert(id, line.to_vec());
            }
        }
        for (name, length) in binary.iter().flat_map(bam::Header::contigs) {
            header.contigs.push(name.to_vec());
            header.lengths.push(length);
        }
        if format == GenomeFormat::Vcf && header.columns == 0 {
            return Err("there is no line #CHROM before the first record; is it VCF?".into());
        }
        match Ranks::listed(&header.contigs) {
            Err(twice) if format.is_alignments() => {
                Err(format!("the header has the contig {} twice", shown(&twice)))
            }
            _ => Ok(header),
        }
    }

    fn take_contig(&mut self, line: &[u8]) {
        let Some(name) = of_dictionary(line) else { return };
        self.contigs.push(name.to_vec());
        let length = field(line, b"LN:").and_then(|text| std::str::from_utf8(text).ok()?.parse().ok());
        self.lengths.push(length.unwrap_or(0));
    }

    fn take_variants(&mut self, line: &[u8]) {
        if let Some(contig) = line.strip_prefix(b"##contig=<").and_then(id_of_contig)
            && !self.contigs.iter().any(|other| other == contig)
        {
            self.contigs.push(contig.to_vec());
        }
        if line.starts_with(COLUMNS) {
            self.columns = line.split(|&byte| byte == b'\t').count();
        }
        if line.starts_with(COLUMNS) || line.starts_with(b"##") && memchr::memmem::find(line, b"=<").is_some()
        {
            self.shared.insert(line.to_vec());
        }
    }

    /// That another input can be sorted together with the first.
    pub fn compare(&self, first: &Header) -> Result<(), String> {
        if let Some(line) = self.shared.iter().find(|line| !first.shared.contains(*line)) {
            return Err(format!("the header of the first input does not have its line {}", shown(line)));
        }
        let is_of_alignments = |header: &Header| !header.lengths.is_empty();
        if self.lengths != first.lengths || is_of_alignments(self) && self.contigs != first.contigs {
            return Err(
                "the contigs of its header are not those of the first input, in the same order".into()
            );
        }
        let differs = |(id, line): &(&Vec<u8>, &Vec<u8>)| {
            id.starts_with(GROUP) && first.named.get(*id).is_some_and(|other| other != *line)
        };
        match self.named.iter().find(differs) {
            None => Ok(()),
            Some((_, line)) => Err(format!(
                "the header of the first input has another group of reads with the identifier of its line {}; rename it in one of them, as with samtools addreplacerg",
                shown(line)
            )),
        }
    }

    /// Adds the lines of a later input that follow this header, and returns them: the groups of reads, the programs and the comments of
    /// alignments, and the comments of features. A program whose identifier another one has gets a number.
    pub fn add(&mut self, format: GenomeFormat, header: &[u8]) -> Vec<u8> {
        let text = match format {
            GenomeFormat::Bam => bam::Header::read(header).map_or(&[][..], |header| header.text),
            GenomeFormat::Vcf => return Vec::new(),
            _ => header,
        };
        let (mut added, mut renamed) = (Vec::new(), HashMap::default());
        for line in lines(text) {
            let is_of_first = line.starts_with(b"@HD") || line.starts_with(b"@SQ\t");
            if format.is_alignments() && is_of_first || self.lines.contains(line) {
                continue;
            }
            let line =
                if line.starts_with(PROGRAM) { self.program(line, &mut renamed) } else { line.to_vec() };
            if let Some(id) = id_of(&line) {
                self.named.insert(id, line.clone());
            }
            added.extend_from_slice(&line);
            added.push(b'\n');
            self.lines.insert(line);
        }
        added
    }

    /// A program of a later input, with an identifier that no other has. `renamed` has those of its predecessors.
    fn program(&self, line: &[u8], renamed: &mut HashMap<Vec<u8>, Vec<u8>>) -> Vec<u8> {
        let mut fields: Vec<_> = line.split(|&byte| byte == b'\t').map(<[u8]>::to_vec).collect();
        for name in &mut fields {
            if let Some(id) = name.strip_prefix(b"ID:") {
                let is_free = |id: &Vec<u8>| !self.named.contains_key(&[PROGRAM, id].concat());
                let numbered = (1..).map(|number| [id, format!(".{number}").as_bytes()].concat());
                let free =
                    std::iter::once(id.to_vec()).chain(numbered).find(is_free).expect("numbers do not end");
                renamed.insert(id.to_vec(), free.clone());
                *name = [&b"ID:"[..], &free].concat();
            } else if let Some(new) = name.strip_prefix(b"PP:").and_then(|id| renamed.get(id)) {
                *name = [&b"PP:"[..], new].concat();
            }
        }
        fields.join(&b'\t')
    }
}

/// The value of a field of a line of alignments.
fn field<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    line.split(|&byte| byte == b'\t').find_map(|field| field.strip_prefix(name))
}

/// The kind and the identifier of a group of reads or of a program.
fn id_of(line: &[u8]) -> Option<Vec<u8>> {
    let kind = [GROUP, PROGRAM].into_iter().find(|kind| line.starts_with(kind))?;
    Some([kind, field(line, b"ID:")?].concat())
}

/// The identifier among the fields `KEY=VALUE` of a contig of variants.
fn id_of_contig(fields: &[u8]) -> Option<&[u8]> {
    let mut is_quoted = false;
    let ends = |byte: &u8| {
        is_quoted ^= *byte == b'"';
        !is_quoted && b",>".contains(byte)
    };
    fields.split(ends).find_map(|field| field.trim_ascii().strip_prefix(b"ID="))
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
    let (first, others): (Vec<_>, Vec<_>) = lines(text).partition(|line| line.starts_with(b"@HD"));
    let mut out = b"@HD".to_vec();
    let fields = first.first().copied().unwrap_or_default();
    // The version comes first.
    out.extend([&b"\tVN:"[..], field(fields, b"VN:").unwrap_or(b"1.6")].concat());
    out.extend_from_slice(sorted);
    for other in fields.split(|&byte| byte == b'\t').skip(1) {
        if ![&b"VN:"[..], b"SO:", b"GO:", b"SS:"].iter().any(|own| other.starts_with(own)) {
            out.extend([&b"\t"[..], other].concat());
        }
    }
    out.push(b'\n');
    for line in others {
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    if let Some(command) = command {
        out.extend(program(text, command).into_bytes());
    }
    out
}

/// A line `@PG` that follows the last one of the header.
fn program(text: &[u8], command: &str) -> String {
    let programs = lines(text).filter(|line| line.starts_with(PROGRAM));
    let ids: Vec<_> = programs.filter_map(|line| field(line, b"ID:")).map(String::from_utf8_lossy).collect();
    let is_free = |id: &String| !ids.iter().any(|other| other == id);
    let numbered = (1..).map(|number| format!("sortie.{number}"));
    let id = std::iter::once("sortie".to_owned()).chain(numbered).find(is_free).expect("numbers do not end");
    let previous = ids.last().map_or(String::new(), |id| format!("\tPP:{id}"));
    let version = env!("CARGO_PKG_VERSION");
    format!("@PG\tID:{id}\tPN:sortie{previous}\tVN:{version}\tCL:{}\n", quote::harmless(command))
}
