//! The signatures of formats that are not text, from the specifications of these formats.

use sortie_formats::npy as numpy;

use super::Content;

/// SAM/BAM format specification, section 4.2.
pub fn bam(content: &Content<'_>) -> bool {
    content.is_bgzf && content.head.starts_with(b"BAM\x01")
}

/// The VCF specification, section 6.
pub fn bcf(content: &Content<'_>) -> bool {
    content.is_bgzf && content.head.starts_with(b"BCF\x02")
}

/// CRAM format specification, section 6: the version, an identifier of 20 bytes, and the length of the first container, which
/// is less than 64 MiB.
pub fn cram(content: &Content<'_>) -> bool {
    matches!(content.head, [b'C', b'R', b'A', b'M', 2..=4, 0..=1, rest @ ..] if rest.get(23).is_some_and(|&byte| byte < 4))
}

pub fn npy(content: &Content<'_>) -> bool {
    numpy::begins(content.head)
}

/// A zip archive whose first file is a NumPy array.
pub fn npz(content: &Content<'_>) -> bool {
    zip_name(content.head).is_some_and(|name| name.ends_with(b".npy"))
}

/// An archive, or one without files: its last record alone, whose other fields are 0 (section 4.3.16).
pub fn zip(content: &Content<'_>) -> bool {
    let is_empty = content.head.strip_prefix(b"PK\x05\x06").is_some_and(|rest| rest == [0; 18]);
    is_empty || zip_name(content.head).is_some()
}

/// The name of the first file of a zip archive (APPNOTE.TXT, section 4.3.7). Before it come the version needed, flags, the
/// method, the time, a checksum, sizes, and the lengths of the name and of what follows it.
fn zip_name(head: &[u8]) -> Option<&[u8]> {
    let [b'P', b'K', 3, 4, 10..=63, 0, _, flags, method, 0, rest @ ..] = head else { return None };
    let (length, name) = (usize::from(u16_at(rest, 16)?), rest.get(20..)?);
    let name = &name[..length.min(name.len())];
    // No flags that are reserved, a method that is defined, and no name longer than file systems have.
    let is_valid =
        flags & 0xC0 == 0 && matches!(method, 0..=10 | 12 | 14 | 16 | 18..=20 | 93..=99) && length <= 1024;
    (is_valid && !name.is_empty() && !name.contains(&0)).then_some(name)
}

/// The metadata is at the end: its bytes, which begin with a field of Thrift, their number, and the magic number again. Where the end
/// cannot be seen, the first page tells: the fields of Thrift with its kind and its size.
pub fn parquet(content: &Content<'_>) -> bool {
    if content.file.is_none() {
        return matches!(content.head, [b'P', b'A', b'R', b'1', 0x15, 0 | 4 | 6, 0x15, ..]);
    }
    // Encrypted metadata has another magic number at the end, or at both ends.
    let magic: [(&[u8], &[u8], u8); 3] =
        [(b"PAR1", b"PAR1", 0x15), (b"PARE", b"PARE", 0x1C), (b"PAR1", b"PARE", 0x1C)];
    magic.iter().any(|&(first, last, field)| {
        content.head.starts_with(first) && footer(content, last).is_some_and(|byte| byte == field)
    })
}

/// Feather in its first version: as Parquet, but the metadata is a FlatBuffer.
pub fn feather(content: &Content<'_>) -> bool {
    content.head.starts_with(b"FEA1") && footer(content, b"FEA1").is_some()
}

/// The first byte of the metadata before `magic` and their number, both at the end of the file.
fn footer(content: &Content<'_>, magic: &[u8]) -> Option<u8> {
    let tail = content.tail(4 + magic.len() as u64)?;
    let (length, end) = (u64::from(u32_at(&tail, 0)?), &tail[4..]);
    let start = content.size()?.checked_sub(tail.len() as u64)?.checked_sub(length)?;
    if end != magic || length == 0 || start < magic.len() as u64 {
        return None;
    }
    content.at(start, 1).map(|byte| byte[0])
}

/// A stream between two magic numbers.
pub fn arrow_file(content: &Content<'_>) -> bool {
    content.head.strip_prefix(b"ARROW1\0\0").is_some_and(|stream| match content.file {
        Some(_) => footer(content, b"ARROW1").is_some(),
        None => begins_with_schema(stream),
    })
}

pub fn arrow_stream(content: &Content<'_>) -> bool {
    begins_with_schema(content.head)
}

/// Whether the first message holds a schema: a mark, the length of the metadata, which is a multiple of 8, and a FlatBuffer, whose
/// second field is the kind of message.
fn begins_with_schema(stream: &[u8]) -> bool {
    let kind = || {
        let message = stream.strip_prefix(&[0xFF; 4])?;
        let (length, message) = (u32_at(message, 0)?, message.get(4..)?);
        let table = u32_at(message, 0)? as usize;
        let fields = table.checked_add_signed(-(u32_at(message, table)? as i32 as isize))?;
        let field = usize::from(u16_at(message, fields + 6)?);
        (length > 0 && length.is_multiple_of(8) && field > 0).then(|| message.get(table + field).copied())?
    };
    const SCHEMA: u8 = 1;
    kind() == Some(SCHEMA)
}

/// The end of the file is a message of Protocol Buffers whose last field is the magic number, and its length.
pub fn orc(content: &Content<'_>) -> bool {
    content.head.starts_with(b"ORC")
        && content.tail(8).is_some_and(|tail| tail.starts_with(b"\x82\xF4\x03\x03ORC") && tail[7] > 7)
}

/// A map of metadata that has the schema. Its key follows the length of that key.
pub fn avro(content: &Content<'_>) -> bool {
    content.head.starts_with(b"Obj\x01") && memchr::memmem::find(content.head, b"\x16avro.schema").is_some()
}

/// The superblock (HDF5 file format specification, section II.A): its version, and the sizes of offsets and lengths.
pub fn hdf5(content: &Content<'_>) -> bool {
    let Some(block) = content.head.strip_prefix(b"\x89HDF\r\n\x1A\n") else { return false };
    let is_size = |size: &u8| matches!(size, 2 | 4 | 8 | 16 | 32);
    match *block {
        [0 | 1, _, _, 0, _, offsets, lengths, ..] | [2 | 3, offsets, lengths, ..] => {
            is_size(&offsets) && is_size(&lengths)
        }
        _ => false,
    }
}

/// The header (SQLite database file format, section 1.3): the size of pages, versions, and fixed numbers.
pub fn sqlite(content: &Content<'_>) -> bool {
    let Some(rest) = content.head.strip_prefix(b"SQLite format 3\0") else { return false };
    match *rest {
        [high, low, 1 | 2, 1 | 2, _, 64, 32, 32, ..] => {
            matches!(u16::from_be_bytes([high, low]), 1 | 512 | 1024 | 2048 | 4096 | 8192 | 16384 | 32768)
        }
        _ => false,
    }
}

/// The header of a file (POSIX, pax): its checksum is the sum of all its bytes, with blanks in place of the checksum.
pub fn tar(content: &Content<'_>) -> bool {
    const CHECKSUM: std::ops::Range<usize> = 148..156;
    let Some(header) = content.head.get(..512) else { return false };
    let digits = header[CHECKSUM].trim_ascii_start();
    let digits = digits.split(|byte| !(b'0'..=b'7').contains(byte)).next().unwrap_or_default();
    let checksum = digits.iter().fold(0, |sum, digit| sum * 8 + u32::from(digit - b'0'));
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    let own: u32 = header[CHECKSUM].iter().map(|&byte| u32::from(byte)).sum();
    let blanks = CHECKSUM.len() as u32 * u32::from(b' ');
    header[257..].starts_with(b"ustar") && checksum == sum - own + blanks
}

/// The start header (7zFormat.txt): a version, and the checksum of the 20 bytes that follow it.
pub fn seven_zip(content: &Content<'_>) -> bool {
    let Some(rest) = content.head.strip_prefix(b"7z\xBC\xAF\x27\x1C") else { return false };
    let header = rest.get(6..26).map(crc32fast::hash);
    rest.first() == Some(&0) && header.is_some() && header == u32_at(rest, 2)
}

/// The properties that all encoders use by default, a size of the dictionary as they choose it, the size of the data, and the
/// first byte of the range coder.
pub fn lzma(content: &Content<'_>) -> bool {
    let [0x5D, a, b, c, d, rest @ ..] = content.head else { return false };
    let dictionary = u32::from_le_bytes([*a, *b, *c, *d]);
    // 2^n, or 2^n + 2^(n - 1).
    let is_usual = dictionary >= 4096
        && (dictionary.count_ones() == 1 || dictionary.leading_zeros() + dictionary.trailing_zeros() == 30);
    let Some((size, rest)) = rest.split_first_chunk() else { return false };
    let size = u64::from_le_bytes(*size);
    is_usual && (size == u64::MAX || size < 1 << 38) && rest.first() == Some(&0)
}

/// The version, a size of the dictionary of 4 KiB to 512 MiB, and the first byte of the range coder.
pub fn lzip(content: &Content<'_>) -> bool {
    matches!(content.head, [b'L', b'Z', b'I', b'P', 1, size, 0, ..] if matches!(size & 0x1F, 12..=29))
}

/// The magic number, the version of the program (0.9 to 1.x), of its library, the one needed, and a method.
pub fn lzop(content: &Content<'_>) -> bool {
    let Some(rest) = content.head.strip_prefix(b"\x89LZO\0\r\n\x1A\n") else { return false };
    matches!(rest, [0x09..=0x1F, _, 0x10..=0x2F, _, 0x09..=0x1F, _, 1..=3, 0..=9, ..])
}

/// The chunk that identifies the format of frames, and the first chunk of data: its kind, and its length, which includes a checksum.
pub fn snappy(content: &Content<'_>) -> bool {
    let Some(rest) = content.head.strip_prefix(b"\xFF\x06\0\0sNaPpY") else { return false };
    matches!(*rest, [0 | 1, a, b, c, ..] if (5..1 << 17).contains(&u32::from_le_bytes([a, b, c, 0])))
}

/// The old format of lz4: the size of the first block, which is at most 8 MiB before it is compressed.
pub fn old_lz4(content: &Content<'_>) -> bool {
    content.head.starts_with(b"\x02\x21\x4C\x18")
        && u32_at(content.head, 4).is_some_and(|size| (1..9 << 20).contains(&size))
}

/// Flags as `compress` writes them, and codes of nine bits. Each code is a byte, or a string that the codes before it define. Zero
/// bits fill the last byte.
pub fn compress(content: &Content<'_>) -> bool {
    // Code 256 is reserved. With the last string, the codes get more bits.
    const FIRST: usize = 257;
    const LAST: usize = 511;
    let [0x1F, 0x9D, 0x89..=0x90, codes @ ..] = content.head else { return false };
    let code = |i: usize| u16_at(codes, i * 9 / 8).map(|pair| usize::from(pair >> (i * 9 % 8) & 0x1FF));
    let is_defined = |(i, code): (usize, usize)| code < 256 || (FIRST..FIRST + i).contains(&code);
    let count = (codes.len() * 8 / 9).min(LAST - FIRST);
    let rest = codes.get(count * 9 / 8).map_or(0, |byte| byte >> (count * 9 % 8));
    count > 0
        && (0..count).map_while(code).enumerate().all(is_defined)
        && (rest == 0 || count == LAST - FIRST)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|pair| u16::from_le_bytes(*pair))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|four| u32::from_le_bytes(*four))
}
