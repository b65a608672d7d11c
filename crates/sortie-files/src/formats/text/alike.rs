//! Sorts numbers that are written alike, such as a column of integers or of prices. They are sorted as integers of 64 bits, and written
//! anew from these: their text takes no part in the sort.

use itoa::Buffer;
use rayon::prelude::*;

use super::LineSort;
use super::lines::Lines;
use super::order::read_digits;
use crate::memory::filled;
use crate::{Error, Sink};

/// The most digits of a number. Such numbers fit in 64 bits.
const DIGITS: usize = 18;
/// The bytes that one thread writes at a time.
const BLOCK: usize = 128 << 10;

/// Numbers in sorted order, in units of the last digit.
#[derive(Clone, Copy)]
pub struct Numbers<'s> {
    numbers: &'s [i64],
    /// The number of digits after the point that each of them has.
    decimals: usize,
}

/// Reads the lines as numbers that are written alike: an optional `-`, an integer without leading zeros, and always the same number of
/// digits after a point. Then lines with equal numbers are equal, and no comparison of bytes is left to do. `None` if a line is written
/// otherwise.
pub fn read(lines: &Lines<'_>, job: &LineSort<'_>) -> Result<Option<(Vec<i64>, usize)>, Error> {
    let Some(decimals) = lines.parts().first().map(|part| decimals(part)) else { return Ok(None) };
    let mut numbers = filled(lines.count(), 0)?;
    let mut rest = &mut numbers[..];
    let work = lines.parts().iter().zip(lines.counts());
    let work: Vec<_> =
        work.map(|(part, &count)| (part, rest.split_off_mut(..count).expect("as many as counted"))).collect();
    let read = |(part, numbers): (&&[u8], &mut [i64])| read_part(part, job.terminator, decimals, numbers);
    let all = if job.is_alone() {
        work.into_iter().map(read).all(|alike| alike.is_some())
    } else {
        work.into_par_iter().map(read).all(|alike| alike.is_some())
    };
    Ok(all.then_some((numbers, decimals)))
}

/// The number of digits after the point in the first line.
fn decimals(text: &[u8]) -> usize {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let (length, _) = read_digits(digits, 0);
    digits[length..].strip_prefix(b".").map_or(0, |fraction| read_digits(fraction, 0).0)
}

/// Reads the lines of a text, one for each of `numbers`. `None` if one is not written like the others.
fn read_part(mut text: &[u8], terminator: u8, decimals: usize, numbers: &mut [i64]) -> Option<()> {
    for number in numbers {
        let unsigned = text.strip_prefix(b"-");
        let digits = unsigned.unwrap_or(text);
        let (length, mut value) = read_digits(digits, 0);
        let mut rest = &digits[length..];
        if decimals > 0 {
            let fraction = rest.strip_prefix(b".")?;
            let found;
            (found, value) = read_digits(fraction, value);
            if found != decimals || length + decimals > DIGITS {
                return None;
            }
            rest = &fraction[found..];
        }
        let is_plain = (1..=DIGITS).contains(&length) && (length == 1 || digits[0] != b'0');
        text = rest.strip_prefix(&[terminator])?;
        if !is_plain || unsigned.is_some() && value == 0 {
            return None;
        }
        // It has at most 18 digits.
        *number = if unsigned.is_some() { -(value as i64) } else { value as i64 };
    }
    Some(())
}

impl<'s> Numbers<'s> {
    pub fn new(numbers: &'s [i64], decimals: usize) -> Self {
        Numbers { numbers, decimals }
    }

    /// The bytes that the numbers take in memory.
    pub fn bytes(self) -> usize {
        size_of_val(self.numbers)
    }

    /// Writes the numbers as lines. While a window is written, the next one is filled.
    pub fn write(self, job: &LineSort<'_>, sink: Sink<'_>) -> Result<(), Error> {
        let each = self.longest();
        if job.is_alone() {
            let mut block = Vec::new();
            return self.numbers.chunks(BLOCK / each).try_for_each(|numbers| {
                self.fill(numbers, job.terminator, &mut block)?;
                sink(&block)
            });
        }
        let (mut full, mut empty): (Vec<Vec<u8>>, Vec<Vec<u8>>) = Default::default();
        for window in self.numbers.chunks((job.window / each).max(1)) {
            let blocks = (window.len() * each).div_ceil(BLOCK);
            empty.resize_with(blocks, Vec::new);
            let fill = || {
                let numbers = window.par_chunks(window.len().div_ceil(blocks));
                let filled = numbers.zip(&mut empty);
                filled.try_for_each(|(numbers, block)| self.fill(numbers, job.terminator, block))
            };
            let (written, filled) = rayon::join(|| write(&mut full, sink), fill);
            written.and(filled)?;
            std::mem::swap(&mut full, &mut empty);
        }
        write(&mut full, sink)
    }

    /// The most bytes of a line.
    pub fn longest(self) -> usize {
        let mut buffer = Buffer::new();
        let ends = [self.numbers.first(), self.numbers.last()].into_iter().flatten();
        let digits = ends.map(|&number| buffer.format(number).len()).max().unwrap_or(0);
        // A sign, and `0.` before the decimals.
        digits.max(self.decimals + 2) + 3
    }

    /// Replaces the content of `block` by lines.
    fn fill(self, numbers: &[i64], terminator: u8, block: &mut Vec<u8>) -> Result<(), Error> {
        block.clear();
        let most = numbers.len() * self.longest();
        block.try_reserve(most).map_err(|_| Error::Memory(most as u64))?;
        let mut buffer = Buffer::new();
        for &number in numbers {
            if self.decimals == 0 {
                block.extend_from_slice(buffer.format(number).as_bytes());
            } else {
                self.push_decimal(number, &mut buffer, block);
            }
            block.push(terminator);
        }
        Ok(())
    }

    fn push_decimal(self, number: i64, buffer: &mut Buffer, block: &mut Vec<u8>) {
        if number < 0 {
            block.push(b'-');
        }
        let digits = buffer.format(number.unsigned_abs()).as_bytes();
        let (integer, fraction) = digits.split_at(digits.len().saturating_sub(self.decimals));
        block.extend_from_slice(if integer.is_empty() { b"0" } else { integer });
        block.push(b'.');
        block.resize(block.len() + self.decimals - fraction.len(), b'0');
        block.extend_from_slice(fraction);
    }
}

fn write(blocks: &mut [Vec<u8>], sink: Sink<'_>) -> Result<(), Error> {
    blocks.iter_mut().try_for_each(|block| {
        let written = sink(block);
        block.clear();
        written
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_read_is_written_as_it_was(numbers in prop::collection::vec(-1_000..1_000i64, 0..40), decimals in 0..4usize) {
            let scale = 10f64.powi(decimals as i32);
            let text: String = numbers.iter().map(|&n| format!("{:.decimals$}\n", n as f64 / scale)).collect();
            let mut read = vec![0; numbers.len()];
            prop_assert_eq!(read_part(text.as_bytes(), b'\n', decimals, &mut read), Some(()));
            prop_assert_eq!(&read, &numbers);
            let mut written = Vec::new();
            Numbers::new(&read, decimals).fill(&read, b'\n', &mut written).unwrap();
            prop_assert_eq!(written, text.into_bytes());
        }
    }

    #[test]
    fn numbers_that_are_written_otherwise_are_refused() {
        let read = |text: &str, decimals| read_part(text.as_bytes(), b'\n', decimals, &mut [0]).is_some();
        for text in ["0\n", "-1\n", "999999999999999999\n"] {
            assert!(read(text, 0), "{text}");
        }
        for text in [
            "\n",
            "-0\n",
            "-\n",
            "00\n",
            "01\n",
            "+1\n",
            " 1\n",
            "1 \n",
            "1.\n",
            "1.0\n",
            "1000000000000000000\n",
        ] {
            assert!(!read(text, 0), "{text}");
        }
        for text in ["0.0\n", "-0.5\n", "10.5\n"] {
            assert!(read(text, 1), "{text}");
        }
        for text in ["1\n", "-0.0\n", ".5\n", "1.50\n", "1.\n", "100000000000000000.0\n"] {
            assert!(!read(text, 1), "{text}");
        }
    }
}
