//! Records of text: fields between tabs.

use std::slice::Split;

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
struct Fields<'a> {
    line: &'a [u8],
    fields: Split<'a, u8, fn(&u8) -> bool>,
}

fn tabbed(line: &[u8]) -> Fields<'_> {
    let line = line.trim_ascii_end();
    let is_tab: fn(&u8) -> bool = |&byte| byte == b'\t';
    Fields { line, fields: line.split(is_tab) }
}

impl<'a> Fields<'a> {
    /// Refuses a line with fewer fields.
    fn require(&self, count: usize) -> Result<(), String> {
        match self.fields.clone().count() {
            found if found >= count => Ok(()),
            found => Err(format!(
                "there are {found} fields instead of {count} in '{}'; the line may be cut short",
                shown(self.line)
            )),
        }
    }

    fn next(&mut self, name: &str) -> Result<&'a [u8], String> {
        let field = self.fields.next().filter(|field| !field.is_empty());
        field.ok_or_else(|| format!("there is no {name} in '{}'", shown(self.line)))
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
    fields.require(11)?;
    let name = fields.next("name")?;
    let flag = fields.number("flag")?;
    let flag = u16::try_from(flag).map_err(|_| format!("the flag {flag} is not below 65536"))?;
    let contig = fields.next("contig")?;
    let position = fields.number("position")?;
    // As BAM has it: from 0. An alignment without a position has no contig there.
    let position =
        i32::try_from(position).map_err(|_| format!("the position {position} is not below 2^31"))? - 1;
    let rank = if contig == b"*" { None } else { Some(ranks.rank(contig)?) };
    if order == GenomeOrder::Coordinate {
        bam::coordinate(rank.filter(|_| position >= 0), position, flag, key);
    } else {
        bam::by_name(name, flag, order, key);
    }
    Ok(())
}

/// Appends the key of a line of VCF with this number of columns.
pub fn variant(line: &[u8], columns: usize, ranks: &Ranks, key: &mut Vec<u8>) -> Result<(), String> {
    if is_of_header(GenomeFormat::Vcf, line) {
        return Err(
            "a line of a header comes after variants; sort the files that were put together as several"
                .into(),
        );
    }
    let mut fields = tabbed(line);
    fields.require(columns)?;
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

/// Appends the key of a line of BED. If it has no tabs, its fields are separated by spaces.
pub fn interval(line: &[u8], ranks: &Ranks, key: &mut Vec<u8>) -> Result<(), String> {
    if is_of_header(GenomeFormat::Bed, line) {
        push_comment(key);
        return Ok(());
    }
    let text: Vec<u8>;
    let mut fields = tabbed(line);
    if !fields.line.contains(&b'\t') {
        let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        text = words.collect::<Vec<_>>().join(&b'\t');
        fields = tabbed(&text);
    }
    let contig = fields.next("contig")?;
    let (start, end) = (fields.number("start")?, fields.number("end")?);
    ranks.key(contig, key);
    key.extend(start.to_be_bytes());
    key.extend(end.to_be_bytes());
    Ok(())
}

/// Appends the key of a line of GFF or GTF. Of features with one start, longer ones come first, and of those with one end too parents do.
pub fn feature(line: &[u8], ranks: &Ranks, key: &mut Vec<u8>) -> Result<(), String> {
    if line.starts_with(SEQUENCES) || line.starts_with(b">") {
        return Err(
            "sequences follow the features, and cannot be sorted with them; put them in a file of their own"
                .into(),
        );
    }
    if is_comment(line) {
        push_comment(key);
        return Ok(());
    }
    let mut fields = tabbed(line);
    fields.require(8)?;
    let contig = fields.next("contig")?;
    fields.next("source")?;
    let kind = fields.next("type")?;
    let (start, end) = (fields.number("start")?, fields.number("end")?);
    let attributes = fields.line.splitn(9, |&byte| byte == b'\t').nth(8).unwrap_or_default();
    ranks.key(contig, key);
    key.extend(start.to_be_bytes());
    key.extend((!end).to_be_bytes());
    key.push(depth(kind, attributes));
    Ok(())
}

/// How far below the top a feature is: one without a parent, a gene, a transcript, what is cut out of a transcript, or any other part.
fn depth(kind: &[u8], attributes: &[u8]) -> u8 {
    let mut is_quoted = false;
    let between = |byte: &u8| {
        is_quoted ^= *byte == b'"';
        !is_quoted && *byte == b';'
    };
    let names = attributes.split(between).map(|attribute| {
        let attribute = attribute.trim_ascii();
        let end = attribute.iter().position(|&byte| byte == b'=' || byte.is_ascii_whitespace());
        &attribute[..end.unwrap_or(attribute.len())]
    });
    // In GTF, features name their gene and their transcript in place of a parent.
    let has_parent =
        names.into_iter().any(|name| [&b"Parent"[..], b"gene_id", b"transcript_id"].contains(&name));
    let ends = |all: &[&[u8]]| all.iter().any(|end| kind.ends_with(end));
    if !has_parent && !ends(&PARTS) {
        0
    } else if ends(&[b"gene"]) {
        1
    } else if kind == b"miRNA" {
        3
    } else if ends(&[b"transcript", b"RNA", b"gene_segment", b"element"]) {
        2
    } else {
        4
    }
}

/// Parts of transcripts, which are no features of their own even if they name no parent.
const PARTS: [&[u8]; 3] = [b"exon", b"CDS", b"codon"];
