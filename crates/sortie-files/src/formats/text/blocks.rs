//! The inputs in blocks of whole lines, which threads take in turn.

use std::io::{ErrorKind, Read};

use super::LineSort;
use crate::memory::append;
use crate::{Error, Input, Inputs};

/// The least and the most bytes of a block. The largest fits in the cache of a core.
const BLOCK: (u64, u64) = (4 << 10, 256 << 10);
/// The parts of the memory, divided among the threads, that a block and a long line may take.
const READ: u64 = 64;
const LONG: u64 = 16;

/// The inputs as blocks of whole lines.
pub struct Blocks {
    inputs: Inputs<Box<dyn Read + Send>>,
    /// What was read after the last whole line.
    rest: Vec<u8>,
    /// The bytes of all blocks so far.
    handed_out: u64,
    block: usize,
    /// The most bytes of a block with a single line.
    longest: usize,
    /// Whether there are no more blocks, although there may be more input.
    is_over: bool,
}

impl Blocks {
    pub fn new(inputs: Vec<Input>, size: Option<u64>, job: &LineSort<'_>) -> Blocks {
        let part = |part: u64| job.budget / (part * job.readers() as u64);
        Blocks {
            inputs: Inputs::new(inputs),
            rest: Vec::new(),
            handed_out: 0,
            block: part(READ).min(size.unwrap_or(u64::MAX)).clamp(BLOCK.0, BLOCK.1) as usize,
            longest: part(LONG) as usize,
            is_over: false,
        }
    }

    /// Returns no more blocks.
    pub fn stop(&mut self) {
        self.is_over = true;
    }

    /// The bytes of all blocks so far.
    pub fn handed_out(&self) -> u64 {
        self.handed_out
    }

    /// What no block had: some text that was read, and the rest of the inputs.
    pub fn into_rest(self) -> (Vec<u8>, Inputs<Box<dyn Read + Send>>) {
        (self.rest, self.inputs)
    }

    /// Replaces `block` by the next lines. Returns their position in the input, or `None` if there are no more, or the next line is too
    /// long.
    pub fn next(&mut self, block: &mut Vec<u8>, job: &LineSort<'_>) -> Result<Option<u64>, Error> {
        if self.is_over {
            return Ok(None);
        }
        job.ledger.check()?;
        // After an error, the other threads shall end too.
        self.is_over = true;
        let mut filled = self.rest.len();
        resize(block, self.block.max(filled + 1))?;
        block[..filled].copy_from_slice(&self.rest);
        self.rest.clear();
        let whole = loop {
            filled = self.fill(block, filled, job)?;
            let end = memchr::memrchr(job.terminator, &block[..filled]);
            if end.is_some() || block.len() >= self.longest || self.inputs.is_at_end() {
                break end.map_or(0, |end| end + 1);
            }
            resize(block, 2 * block.len())?;
        };
        append(&mut self.rest, &block[whole..filled])?;
        block.truncate(whole);
        self.is_over = whole == 0;
        self.handed_out += whole as u64;
        Ok((whole > 0).then(|| self.handed_out - whole as u64))
    }

    /// Reads until the block is full, or the last input ends. Returns the number of bytes in the block. A missing end of an input's last
    /// line is added, for which one byte is kept free.
    fn fill(&mut self, block: &mut [u8], mut filled: usize, job: &LineSort<'_>) -> Result<usize, Error> {
        while filled + 1 < block.len()
            && let Some((input, content)) = self.inputs.current(Input::read_text)?
        {
            let room = block.len() - 1;
            match content.read(&mut block[filled..room]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::file("read", input.name())(error)),
                Ok(0) => {
                    self.inputs.close();
                    if filled > 0 && block[filled - 1] != job.terminator {
                        block[filled] = job.terminator;
                        filled += 1;
                    }
                }
                Ok(read) => {
                    job.ledger.progress.advance(read as u64);
                    filled += read;
                }
            }
        }
        Ok(filled)
    }
}

fn resize(block: &mut Vec<u8>, bytes: usize) -> Result<(), Error> {
    let more = bytes.saturating_sub(block.len());
    block.try_reserve_exact(more).map_err(|_| Error::Memory(bytes as u64))?;
    block.resize(bytes, 0);
    Ok(())
}
