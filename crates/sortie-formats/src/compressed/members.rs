//! Decompresses the members of a file one after the other.
//!
//! A file that ends inside a member is damaged. The source then reports an error, whatever the decoder does, because
//! some decoders take the early end for the end of the data.

use std::io::{self, BufRead as _, ErrorKind, Read};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;
use lz4_flex::frame::FrameDecoder;
use lzma_rust2::XzReader;

use super::blocks::{self, Blocks};
use super::tap::{Reached, Tap, damaged};
use super::{HEAD, Way};

/// The maximum memory of a decoder for one member, in MiB. It suffices for what `zstd` and `xz` write without
/// special options.
const MOST: u32 = 128;
/// An upper bound on the memory in MiB that an xz decoder needs in addition to the dictionary.
const BESIDE: u32 = 2;

/// The decompressed content of a file. Reading it fails with [`ErrorKind::InvalidData`] if the file is damaged, cut short or followed
/// by something else. The message says so, where, and what to do.
pub struct Members {
    way: Way,
    stage: Stage,
    /// Whether a member has begun.
    has_begun: bool,
    reached: Arc<Reached>,
}

enum Stage {
    /// Between two members, or before the first.
    Between(Tap),
    Within(Decoder),
    /// Within blocks of BGZF.
    Blocks(Blocks),
    Ended,
    Failed,
}

impl Members {
    /// Reads `source` from its beginning, where a member starts.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`] if there is no memory for a small buffer.
    pub fn new(way: Way, source: impl Read + Send + 'static) -> io::Result<Members> {
        let reached = Arc::<Reached>::default();
        let tap = Tap::new(Box::new(source), reached.clone())?;
        Ok(Members { way, stage: Stage::Between(tap), has_begun: false, reached })
    }

    /// Begins the next member, if there is one.
    fn begin(&mut self, mut tap: Tap) -> io::Result<Stage> {
        loop {
            let way = self.way;
            match tap.look_ahead(HEAD)? {
                head if blocks::begin(head) && way == Way::Gzip => {
                    self.has_begun = true;
                    return Ok(Stage::Blocks(Blocks::new(tap)));
                }
                // A file that has only frames without data may have another format.
                [] if !self.has_begun => {
                    return Err(damaged(format!("it begins like {} data, but contains none", way.name())));
                }
                [] => return Ok(Stage::Ended),
                // Zeros fill the last block of a tape. xz also allows them between streams.
                [0, ..] if matches!(way, Way::Gzip | Way::Xz) => tap.consume(1),
                &[0x50..=0x5F, 0x2A, 0x4D, 0x18, a, b, c, d, ..] if matches!(way, Way::Zstd | Way::Lz4) => {
                    tap.skip(8 + u64::from(u32::from_le_bytes([a, b, c, d])))?;
                }
                head if Way::of(head).is_some_and(|found| found == way || self.may_be(found)) => {
                    self.way = Way::of(head).unwrap_or(way);
                    self.has_begun = true;
                    tap.is_within = true;
                    let way = self.way;
                    return Decoder::new(way, tap).map(Stage::Within);
                }
                _ => {
                    let (name, taken) = (way.name(), self.reached.taken.load(Relaxed));
                    return Err(damaged(format!(
                        "unknown data follows its {name} data at byte {taken}; remove it"
                    )));
                }
            }
        }
    }

    /// Whether the file has the format `found` instead. Before the first member, frames without data are the same in
    /// zstd and lz4 files.
    fn may_be(&self, found: Way) -> bool {
        let is_either = |way| matches!(way, Way::Zstd | Way::Lz4);
        !self.has_begun && is_either(self.way) && is_either(found)
    }

    /// Turns an error of the decoder into a message for the user.
    fn explain(&self, error: io::Error) -> io::Error {
        let Reached { taken, is_cut, has_failed } = &*self.reached;
        let (name, taken) = (self.way.name(), taken.load(Relaxed));
        if has_failed.load(Relaxed) {
            return error;
        }
        if is_cut.load(Relaxed) {
            return damaged(format!(
                "its {name} data is cut short after {taken} bytes; get the complete file"
            ));
        }
        let reason = error.to_string();
        if error.kind() == ErrorKind::OutOfMemory || reason.contains("too much memory") {
            return damaged(format!(
                "its {name} data needs more than {MOST} MiB of memory to be decompressed; decompress it first with the program {name}"
            ));
        }
        damaged(format!("its {name} data is damaged before byte {taken}: {reason}; get the file again"))
    }
}

impl Read for Members {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // A decoder could take an empty read for the end of the data.
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            let next = match mem::replace(&mut self.stage, Stage::Failed) {
                Stage::Ended => {
                    self.stage = Stage::Ended;
                    return Ok(0);
                }
                Stage::Failed => return Err(damaged("it could not be read to its end".into())),
                Stage::Between(tap) => self.begin(tap),
                Stage::Within(mut decoder) => match decoder.read(into) {
                    // Some decoders treat the error of the source as the end of the data.
                    Ok(0) if self.reached.is_cut.load(Relaxed) => {
                        Err(self.explain(ErrorKind::UnexpectedEof.into()))
                    }
                    Ok(0) => Ok(Stage::Between(decoder.into_tap())),
                    Ok(read) => {
                        self.stage = Stage::Within(decoder);
                        return Ok(read);
                    }
                    Err(error) => Err(self.explain(error)),
                },
                Stage::Blocks(mut blocks) => match blocks.read(into) {
                    Ok(0) => Ok(Stage::Between(blocks.into_tap())),
                    Ok(read) => {
                        self.stage = Stage::Blocks(blocks);
                        return Ok(read);
                    }
                    Err(error) => Err(self.explain(error)),
                },
            };
            self.stage = next?;
        }
    }
}

/// Decompresses one member, and reads no byte after it.
enum Decoder {
    Gzip(Box<GzDecoder<Tap>>),
    Zstd(zstd::Decoder<'static, Tap>),
    Xz(Box<XzReader<Tap>>),
    Bzip2(BzDecoder<Tap>),
    Lz4(Box<FrameDecoder<Tap>>),
}

impl Decoder {
    fn new(way: Way, tap: Tap) -> io::Result<Decoder> {
        Ok(match way {
            Way::Gzip | Way::Bgzf => Decoder::Gzip(Box::new(GzDecoder::new(tap))),
            // By default it allows windows of up to 128 MiB.
            Way::Zstd => Decoder::Zstd(zstd::Decoder::with_buffer(tap)?.single_frame()),
            Way::Xz => Decoder::Xz(Box::new(XzReader::new_mem_limit(tap, false, (MOST + BESIDE) << 10))),
            Way::Bzip2 => Decoder::Bzip2(BzDecoder::new(tap)),
            Way::Lz4 => Decoder::Lz4(Box::new(FrameDecoder::new(tap))),
        })
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Decoder::Gzip(decoder) => decoder.read(into),
            Decoder::Zstd(decoder) => decoder.read(into),
            Decoder::Xz(decoder) => decoder.read(into),
            Decoder::Bzip2(decoder) => decoder.read(into),
            Decoder::Lz4(decoder) => decoder.read(into),
        }
    }

    /// Returns the source, after the whole member was read.
    fn into_tap(self) -> Tap {
        let mut tap = match self {
            Decoder::Gzip(decoder) => decoder.into_inner(),
            Decoder::Zstd(decoder) => decoder.finish(),
            Decoder::Xz(decoder) => decoder.into_inner(),
            Decoder::Bzip2(decoder) => decoder.into_inner(),
            Decoder::Lz4(decoder) => decoder.into_inner(),
        };
        tap.is_within = false;
        tap
    }
}
