//! Records of text: fields between tabs.

use super::contigs::{Ranks, push_comment};
use super::{GenomeFormat, GenomeOrder, bam};
use crate::quote;

/// The end of the header at the start of `bytes`: of the lines before the first record. `None` if more bytes are needed.
pub fn header_end(format: GenomeFormat, bytes: &[u8], is_all: bool) -> Option<usize> {
    let mut at = 0;
    while at < bytes.len() {
        let end = memchr::memchr(b'\n', &bytes[at..]).map(|length| at + length + 1);
        let end = match end {
            None if is_all => bytes.len(),
            end => end?,
        };
        if !is_of_header(format, &bytes[at..end]) {
            return Some(at);
        }
        at = end;
    }
    is_all.then_some(at)
}

fn is_of_header(format: GenomeFormat, line: &[u8]) -> bool {
    match format {
        GenomeFormat::Sam => {
            line.first() == Some(&b'@') && line.get(3).is_none_or(|byte| byte.is_ascii_whitespace())
        }
        GenomeFormat::Bam => false,
        GenomeFormat::Vcf => line.first() == Some(&b'#'),
        GenomeFormat::Bed => is_comment(line) || is_word(line, b"track") || is_word(line, b"browser"),
        GenomeFormat::Gff => is_comment(line) && !line.starts_with(SEQUENCES),
    }
}

fn is_word(line: &[u8], word: &[u8]) -> bool {
    line.strip_prefix(word).is_some_and(|rest| rest.first().is_none_or(u8::is_ascii_whitespace))
}

/// Whether a line of features has none. It comes in front.
fn is_comment(line: &[u8]) -> bool {
    line.first() == Some(&b'#') || line.trim_ascii().is_empty()
}

/// What follows this line of GFF are sequences.
const SEQUENCES: &[u8] = b"##FASTA";

/// The fields of a line.
struct Fields<'a, I> {
    fields: I,
    line: &'a [u8],
}

fn tabbed(line: &[u8]) -> Fields<'_, impl Iterator<Item = &[u8]>> {
    let line = line.trim_ascii_end();
    Fields { fields: line.split(|&byte| byte == b'\t'), line }
}

impl<'a, I: Iterator<Item = &'a [u8]>> Fields<'a, I> {
    fn next(&mut self, name: &str) -> Result<&'a [u8], String> {
        self.fields.next().filter(|field| !field.is_empty()).ok_or_else(|| {
            format!("there is no {name} in '{}'; fields are separated by tabs", shown(self.line))
        })
    }

    fn number(&mut self, name: &str) -> Result<u64, String> {
        let field = self.next(name)?;
        let digits =
            std::str::from_utf8(field).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        digits
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| format!("the {name} '{}' is not a number", shown(field)))
    }
}

/// The start of a text in a message.
fn shown(text: &[u8]) -> String {
    quote::harmless(&String::from_utf8_lossy(text).chars().take(60).collect::<String>())
}

/// Appends the key of a line of SAM.
pub fn alignment(line: &[u8], order: GenomeOrder, ranks: &Ranks, key: &mut Vec<u8>) -> Result<(), String> {
    if is_of_header(GenomeFormat::Sam, line) {
        return Err(
            "a line of a header comes after alignments; sort the files that were put together as several"
                .into(),
        );
    }
    let mut fields = tabbed(line);
    let name = fields.next("name")?;
    let flag = fields.number("flag")?;
    let flag = u16::try_from(flag).map_err(|_| format!("the flag {flag} is not below 65536"))?;
    let contig = fields.next("contig")?;
    let position = fields.number("position")?;
    if order != GenomeOrder::Coordinate {
        bam::by_name(name, flag, order, key);
        return Ok(());
    }
    // As BAM has it: from 0.
    let position =
        i32::try_from(position).map_err(|_| format!("the position {position} is not below 2^31"))? - 1;
    let rank = if contig == b"*" { None } else { Some(ranks.rank(contig)?) };
    bam::coordinate(rank, position, flag, key);
    Ok(())
}

/// Appends the key of a line of VCF.
pub fn variant(line: &[u8], ranks: &Ranks, key: &mut Vec<u8>) -> Result<(), String> {
    if is_of_header(GenomeFormat::Vcf, line) {
        return Err(
            "a line of a header comes after variants; sort the files that were put together as several"
                .into(),
        );
    }
    let mut fields = tabbed(line);
    let contig = fields.next("contig")?;
    let position = fields.number("position")?;
    fields.next("identifier")?;
    let reference = fields.next("reference allele")?;
    let others = fields.next("alternative allele")?;
    ranks.key(contig, key);
    key.extend(position.to_be_bytes());
    let others = others.split(|&byte| byte == b',').filter(|&allele| allele != b".");
    for allele in std::iter::once(reference).chain(others) {
        // A variant with fewer alleles comes first.
        key.push(1);
        key.extend_from_slice(allele);
        key.push(0);
    }
    key.push(0);
    Ok(())
}

/// Appends the key of a line of BED. Its fields may also be separated by spaces.
pub fn interval(line: &[u8], ranks: &Ranks, key: &mut Vec<u8>) -> Result<(), String> {
    if is_of_header(GenomeFormat::Bed, line) {
        push_comment(key);
        return Ok(());
    }
    let words = line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    let mut fields = Fields { fields: words, line };
    let contig = fields.next("contig")?;
    let (start, end) = (fields.number("start")?, fields.number("end")?);
    ranks.key(contig, key);
    key.extend(start.to_be_bytes());
    key.extend(end.to_be_bytes());
    Ok(())
}

/// Appends the key of a line of GFF or GTF. Of features with one start, longer ones come first, and of those with one end too parents do.
pub fn feature(line: &[u8], ranks: &Ranks, key: &mut Vec<u8>) -> Result<(), String> {
    if line.starts_with(SEQUENCES) {
        return Err("sequences follow the features, and cannot be sorted with them; put what begins at ##FASTA in a file of its own".into());
    }
    if is_comment(line) {
        push_comment(key);
        return Ok(());
    }
    let mut fields = tabbed(line);
    let contig = fields.next("contig")?;
    fields.next("source")?;
    let kind = fields.next("type")?;
    let (start, end) = (fields.number("start")?, fields.number("end")?);
    ranks.key(contig, key);
    key.extend(start.to_be_bytes());
    key.extend((!end).to_be_bytes());
    key.push(depth(kind, fields.fields.last().unwrap_or_default()));
    Ok(())
}

/// How far below genes a feature is: one without a parent, a transcript, or a part of a transcript.
fn depth(kind: &[u8], attributes: &[u8]) -> u8 {
    let has = |name: &[u8]| memchr::memmem::find(attributes, name).is_some();
    let is_transcript = kind.ends_with(b"RNA") || kind.ends_with(b"transcript");
    // Those of GTF name their gene and their transcript in place of a parent.
    let is_top = !has(b"Parent=") && (kind.ends_with(b"gene") || !has(b"gene_id "));
    if is_top { 0 } else { 2 - u8::from(is_transcript) }
}
