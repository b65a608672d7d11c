//! Compresses a piece of output independently of the others. The concatenated pieces are a valid file of the
//! same format.

use std::io::{self, Write};

use bzip2::write::BzEncoder;
use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};
use lzma_rust2::{XzOptions, XzWriter};
use sortie_formats::spectra::Memory;
use zstd::zstd_safe::CParameter;

use super::deflate::Deflate;
use super::{Compression, Way};
use crate::error::Error;
use crate::memory::filled;

/// The number of input bytes in a BGZF block, the same as `bgzip` uses. Even incompressible data then fits in a
/// block of 64 KiB.
pub const BGZF_BLOCK: usize = 65_280;

/// The start of a BGZF block: a gzip header with one extra field, whose last two bytes (not included here) are the
/// block size minus one. (SAM/BAM format specification, section 4.1.)
const BGZF_HEADER: [u8; 16] = [0x1F, 0x8B, 8, 4, 0, 0, 0, 0, 0, 0xFF, 6, 0, b'B', b'C', 2, 0];
/// The end of a BGZF file: an empty block.
pub const BGZF_END: [u8; 28] =
    [0x1F, 0x8B, 8, 4, 0, 0, 0, 0, 0, 0xFF, 6, 0, b'B', b'C', 2, 0, 0x1B, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// The smallest dictionary size that xz allows.
const XZ_DICTIONARY: u32 = 4 << 10;

impl Compression {
    /// Compresses `piece`.
    pub fn compress(self, piece: &[u8]) -> Result<Vec<u8>, Error> {
        let compressed = match self.way {
            Way::Gzip => self.gzip(piece),
            Way::Bgzf => self.bgzf(piece),
            Way::Zstd => self.zstd(piece),
            Way::Xz => self.xz(piece),
            Way::Bzip2 => self.bzip2(piece),
            Way::Lz4 => lz4(piece),
        };
        // Compression in memory can fail only for lack of memory.
        compressed.map_err(|_| Error::Memory(piece.len() as u64))
    }

    fn gzip(self, piece: &[u8]) -> io::Result<Vec<u8>> {
        let mut compressor = Deflate::new(self.level)?;
        let mut member = zeros(compressor.gzip_bound(piece.len()))?;
        let size = compressor.gzip(piece, &mut member)?;
        member.truncate(size);
        member.shrink_to_fit();
        Ok(member)
    }

    fn bgzf(self, piece: &[u8]) -> io::Result<Vec<u8>> {
        let mut compressor = Deflate::new(self.level)?;
        let mut data = zeros(compressor.deflate_bound(BGZF_BLOCK))?;
        let mut blocks = Memory::default();
        for text in piece.chunks(BGZF_BLOCK) {
            // Stored uncompressed if that is shorter.
            let data_size = compressor.deflate(text, &mut data)?;
            // The header, two bytes for the block size, the data, a checksum and the size of the text.
            let size = BGZF_HEADER.len() + 2 + data_size + 8;
            let less_one = u16::try_from(size - 1).map_err(|_| io::ErrorKind::InvalidData)?;
            blocks.write_all(&BGZF_HEADER)?;
            blocks.write_all(&less_one.to_le_bytes())?;
            blocks.write_all(&data[..data_size])?;
            blocks.write_all(&crc32fast::hash(text).to_le_bytes())?;
            blocks.write_all(&(text.len() as u32).to_le_bytes())?;
        }
        Ok(blocks.0)
    }

    fn zstd(self, piece: &[u8]) -> io::Result<Vec<u8>> {
        let mut encoder = zstd::bulk::Compressor::new(self.level)?;
        // Adds a checksum, as the program `zstd` does, so that damage is detected.
        encoder.set_parameter(CParameter::ChecksumFlag(true))?;
        encoder.compress(piece)
    }

    fn xz(self, piece: &[u8]) -> io::Result<Vec<u8>> {
        let mut options = XzOptions::with_preset(self.level as u32);
        // A dictionary larger than the piece would waste memory when compressing and decompressing.
        let dictionary = &mut options.lzma_options.dict_size;
        *dictionary = (*dictionary).min((piece.len() as u32).next_power_of_two().max(XZ_DICTIONARY));
        let mut encoder = XzWriter::new(Memory::default(), options)?;
        encoder.write_all(piece)?;
        Ok(encoder.finish()?.0)
    }

    fn bzip2(self, piece: &[u8]) -> io::Result<Vec<u8>> {
        let mut encoder = BzEncoder::new(Memory::default(), bzip2::Compression::new(self.level as u32));
        encoder.write_all(piece)?;
        Ok(encoder.finish()?.0)
    }
}

fn lz4(piece: &[u8]) -> io::Result<Vec<u8>> {
    let about = FrameInfo::new()
        .block_mode(BlockMode::Independent)
        .block_size(BlockSize::Max1MB)
        .content_checksum(true);
    let mut encoder = FrameEncoder::with_frame_info(about, Memory::default());
    encoder.write_all(piece)?;
    Ok(encoder.finish().map_err(io::Error::from)?.0)
}

fn zeros(bytes: usize) -> io::Result<Vec<u8>> {
    filled(bytes, 0).map_err(|_| io::ErrorKind::OutOfMemory.into())
}
