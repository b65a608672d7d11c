//! Alignments in binary. (SAM/BAM format specification, section 4.2.)

use super::contigs::{push_none, push_rank};
use super::{GenomeOrder, name};
use crate::Error;
use crate::memory::append;

const MAGIC: &[u8] = b"BAM\x01";
/// The bytes of a record before its name, the four of its size included.
const FIXED: usize = 36;
/// Flags: the read is on the reverse strand; it is the first or the last of its template; the alignment is secondary or supplementary.
const REVERSE: u16 = 0x10;
const MATE: u16 = 0xC0;
const SECONDARY: u16 = 0x100;
const SUPPLEMENTARY: u16 = 0x800;

fn number(bytes: &[u8], at: usize) -> Option<i32> {
    bytes.get(at..)?.first_chunk().map(|four| i32::from_le_bytes(*four))
}

/// A length of the header. `None` if more bytes are needed.
fn length(bytes: &[u8], at: usize) -> Result<Option<usize>, String> {
    let Some(number) = number(bytes, at) else { return Ok(None) };
    usize::try_from(number)
        .map(Some)
        .map_err(|_| format!("the header of BAM has the length {number} at byte {at}"))
}

/// The end of the header at the start of `bytes`. `None` if it is not whole.
pub fn header_end(bytes: &[u8], is_all: bool) -> Result<Option<usize>, String> {
    if !MAGIC.starts_with(&bytes[..bytes.len().min(MAGIC.len())]) {
        return Err("it does not begin as BAM does; give --format sam for alignments as text, and convert others by samtools view -b".into());
    }
    let end = Header::end(bytes)?;
    match end {
        None if is_all && bytes.is_empty() => Err("it is empty, without even a header".into()),
        None if is_all => Err("the header of BAM is cut short; the file is not whole".into()),
        end => Ok(end),
    }
}

/// A whole header.
pub struct Header<'a> {
    pub text: &'a [u8],
    /// The number of contigs, and their names and lengths.
    references: &'a [u8],
    /// What follows the header: lines of text of other inputs.
    more: &'a [u8],
}

impl<'a> Header<'a> {
    /// The end of the text and that of the references.
    fn ends(bytes: &[u8]) -> Result<Option<(usize, usize)>, String> {
        let Some(text) = length(bytes, MAGIC.len())? else { return Ok(None) };
        let text_end = MAGIC.len() + 4 + text;
        let Some(count) = length(bytes, text_end)? else { return Ok(None) };
        let mut at = text_end + 4;
        for _ in 0..count {
            let Some(name) = length(bytes, at)? else { return Ok(None) };
            at += 4 + name + 4;
            if bytes.len() < at {
                return Ok(None);
            }
        }
        Ok(Some((text_end, at)))
    }

    fn end(bytes: &[u8]) -> Result<Option<usize>, String> {
        Ok(Header::ends(bytes)?.map(|(_, end)| end))
    }

    /// The header at the start of `bytes`.
    pub fn read(bytes: &'a [u8]) -> Result<Header<'a>, String> {
        let (text_end, end) = Header::ends(bytes)?.ok_or("the header of BAM is cut short")?;
        let text = &bytes[MAGIC.len() + 4..text_end];
        // Some programs fill the text with NUL.
        let used = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
        Ok(Header { text: &text[..used], references: &bytes[text_end..end], more: &bytes[end..] })
    }

    /// The names of the contigs, and their lengths.
    pub fn contigs(&self) -> impl Iterator<Item = (&'a [u8], u64)> + use<'a> {
        let mut rest = &self.references[4..];
        std::iter::from_fn(move || {
            let name = number(rest, 0)? as usize;
            let contig = &rest[4..4 + name];
            let length = number(rest, 4 + name)?;
            rest = &rest[4 + name + 4..];
            Some((contig.strip_suffix(&[0]).unwrap_or(contig), u64::from(length.cast_unsigned())))
        })
    }
}

/// Appends a header with the text that `rewrite` makes of its own and of the lines that follow it.
///
/// # Errors
/// If there is no memory for it, or its text becomes too long.
pub fn write_header(
    bytes: &[u8],
    rewrite: impl FnOnce(&[u8]) -> Vec<u8>,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let Header { text, references, more } = Header::read(bytes).map_err(Error::invalid)?;
    let text = rewrite(&[text, b"\n", more].concat());
    let length =
        i32::try_from(text.len()).map_err(|_| Error::invalid("the text of the header is too long"))?;
    append(out, MAGIC)?;
    append(out, &length.to_le_bytes())?;
    append(out, &text)?;
    append(out, references)
}

/// The number of bytes of the first record.
pub fn first(bytes: &[u8]) -> Result<Option<usize>, String> {
    let Some(size) = number(bytes, 0) else { return Ok(None) };
    match usize::try_from(size) {
        Ok(size) if size + 4 >= FIXED => Ok((bytes.len() >= size + 4).then_some(size + 4)),
        _ => Err(format!("a record of BAM has {size} bytes, which is too few; the file is damaged")),
    }
}

/// What an alignment is sorted by.
pub struct Record<'a> {
    contig: Option<u32>,
    position: i32,
    flag: u16,
    name: &'a [u8],
}

impl<'a> Record<'a> {
    /// Reads a whole record. The header has `contigs` contigs.
    pub fn of(bytes: &'a [u8], contigs: usize) -> Result<Record<'a>, String> {
        let at = |at| number(bytes, at).expect("a record has its fixed fields");
        let (contig, position) = (at(4), at(8));
        let name = &bytes[FIXED..];
        let length = usize::from(bytes[12]);
        let name = name.get(..length).and_then(|name| name.strip_suffix(&[0]));
        let name =
            name.ok_or("the name of a record of BAM does not end where it says; the file is damaged")?;
        // Four bytes for each operation of the CIGAR, and a letter and a half for each base.
        let (operations, bases) = (usize::from(u16::from_le_bytes([bytes[16], bytes[17]])), at(20));
        let parts = usize::try_from(bases).map(|bases| 4 * operations + bases.div_ceil(2) + bases);
        if !parts.is_ok_and(|parts| FIXED + length + parts <= bytes.len()) {
            return Err(format!(
                "the read '{}' has {bases} bases and {operations} operations, which do not fit in its record; the file is damaged",
                String::from_utf8_lossy(name)
            ));
        }
        if contig < -1 || contig >= contigs as i32 || position < -1 {
            return Err(format!(
                "the read '{}' is at {position} of contig {contig}, but the header has {contigs}; the file is damaged",
                String::from_utf8_lossy(name)
            ));
        }
        Ok(Record {
            contig: u32::try_from(contig).ok(),
            position,
            flag: u16::from_le_bytes([bytes[18], bytes[19]]),
            name,
        })
    }

    pub fn key(&self, order: GenomeOrder, key: &mut Vec<u8>) {
        match order {
            GenomeOrder::Coordinate => coordinate(self.contig, self.position, self.flag, key),
            GenomeOrder::Name | GenomeOrder::NameBytes => by_name(self.name, self.flag, order, key),
        }
    }
}

/// Appends the key of a position, from -1, on the contig with a rank. Alignments without a contig come last.
pub fn coordinate(contig: Option<u32>, position: i32, flag: u16, key: &mut Vec<u8>) {
    match contig {
        Some(contig) => {
            push_rank(contig, key);
            key.extend(((position + 1) as u32).to_be_bytes());
        }
        None => push_none(key),
    }
    key.push(u8::from(flag & REVERSE != 0));
}

/// Appends the key of a name: of the alignments of one read, the first mate comes first, and of a mate the primary alignment, then
/// supplementary ones.
pub fn by_name(read: &[u8], flag: u16, order: GenomeOrder, key: &mut Vec<u8>) {
    match order {
        GenomeOrder::Name => name::natural(read, key),
        _ => name::bytes(read, key),
    }
    key.push((flag & MATE) as u8);
    key.push(u8::from(flag & SECONDARY != 0) << 1 | u8::from(flag & SUPPLEMENTARY != 0));
}
