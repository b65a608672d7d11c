//! Distributes codes in place to up to 256 buckets, each with a buffer of one block.
//!
//! 1. *Classify*: the sampled range of codes is divided into 4096 cells. A table made from the sample gives each cell a
//!    bucket, so buckets are even although the codes are not. Each bucket has a buffer of one block. A full buffer is
//!    written over codes that were already read.
//! 2. *Permute*: full blocks move to their bucket's range of whole blocks, each at most once.
//! 3. *Clean up*: codes that are left in buffers, or extend beyond a bucket's end, fill the partial first and last
//!    block of each bucket.
//!
//! Each of the first two steps reads and writes the codes once. Scratch memory: one block for each bucket and one byte
//! for each block.
//!
//! Source: Axtmann, Witt, Ferizovic and Sanders, "In-place parallel super scalar samplesort (IPS4o)" (2017), sections
//! 4.1 to 4.3, for the three steps. The table of cells instead of a tree of splitters is ours.

use std::ops::Range;

use crate::cpu::tuning::{
    BLOCK_BYTES, CELLS, CLASSIFY_AHEAD, DISTRIBUTE_FROM_BYTES, DISTRIBUTE_WIDE_FROM_BYTES, LARGEST_BUCKET,
    SAMPLED_A_BUCKET,
};
use crate::cpu::vector::{self, Isa};
use crate::key::Bits;

/// The maximum number of buckets of a distribution in place.
pub(crate) const BUCKETS: usize = 256;

/// The number of codes that seed the random indices of a sample.
const SEEDING: usize = 64;

/// Gives each code a bucket. Smaller codes never go to later buckets.
pub(crate) struct Classifier<B> {
    low: B,
    shift: u32,
    /// The bucket of each cell.
    table: Box<[u16; CELLS]>,
    buckets: usize,
    /// Whether no bucket has most of the sample.
    even: bool,
    /// The entropy of the bucket of a code, in bits.
    entropy: f64,
}

impl<B: Bits> Classifier<B> {
    /// Makes up to `buckets` buckets from a sample of the codes, of which there is at least one.
    pub(crate) fn sampled(n: usize, code: impl Fn(usize) -> B, buckets: usize, isa: Isa) -> Self {
        Self::of(&sample(n, code, buckets * SAMPLED_A_BUCKET, isa), buckets)
    }

    /// Makes up to `buckets` buckets from a sorted sample.
    fn of(sample: &[B], buckets: usize) -> Self {
        let low = sample[0];
        let span = sample[sample.len() - 1].wrapping_sub(low);
        let bits = B::WIDTH - span.leading_zeros();
        let shift = bits.saturating_sub(CELLS.trailing_zeros());
        let table = Box::new([0; CELLS]);
        let mut classifier = Classifier { low, shift, table, buckets: 0, even: false, entropy: 0.0 };
        let mut counts = vec![0; CELLS];
        sample.iter().for_each(|&code| counts[classifier.cell(code).low() as usize] += 1);
        // The sample is cut into equal shares. A cell goes to the share that its middle falls into. Filling buckets in turn would
        // leave the remainder of each to the last one.
        let (mut bucket, mut share, mut before) = (0, 0, 0);
        let mut filled = vec![0; buckets];
        for (cell, &count) in counts.iter().enumerate() {
            let share_of_cell = (2 * before + count) * buckets / (2 * sample.len());
            if share_of_cell > share && filled[bucket] > 0 && bucket + 1 < buckets {
                bucket += 1;
            }
            (share, before) = (share_of_cell, before + count);
            classifier.table[cell] = bucket as u16;
            filled[bucket] += count;
        }
        classifier.buckets = bucket + 1;
        let largest = filled.iter().max().expect("there are buckets");
        classifier.even = largest * LARGEST_BUCKET <= sample.len();
        let shares =
            filled.iter().filter(|&&count| count > 0).map(|&count| count as f64 / sample.len() as f64);
        classifier.entropy = shares.map(|share| -share * share.log2()).sum();
        classifier
    }

    pub(crate) fn buckets(&self) -> usize {
        self.buckets
    }

    pub(crate) fn is_even(&self) -> bool {
        self.even
    }

    /// The entropy of the bucket of a code, in bits.
    pub(crate) fn entropy(&self) -> f64 {
        self.entropy
    }

    /// The cell of a code: its position in the sampled range of codes.
    #[inline(always)]
    pub(crate) fn cell(&self, code: B) -> B {
        code.max(self.low).wrapping_sub(self.low).shr(self.shift).min(B::from_low(CELLS as u64 - 1))
    }

    #[inline(always)]
    pub(crate) fn bucket_of_cell(&self, cell: B) -> usize {
        usize::from(self.table[cell.low() as usize % CELLS])
    }
}

/// `count` of `n` codes, from pseudo-random indices, sorted.
pub(crate) fn sample<B: Bits>(n: usize, code: impl Fn(usize) -> B, count: usize, isa: Isa) -> Vec<B> {
    let mut state = seed(n, &code);
    let mut sample = vec![B::ZERO; count];
    for slot in &mut sample {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        *slot = code((((state >> 32) as u128 * n as u128) >> 32) as usize);
    }
    vector::sort(&mut sample, isa);
    sample
}

/// A seed from codes at fixed indices: low keys at the sampled indices then change which indices are sampled.
fn seed<B: Bits>(n: usize, code: impl Fn(usize) -> B) -> u64 {
    (0..SEEDING.min(n)).fold(n as u64, |seed, i| {
        (seed ^ code(n / SEEDING.min(n) * i).low()).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
    })
}

/// Codes of `each` bytes are distributed if they have at least this many bytes in total.
pub(crate) fn from_bytes(each: usize) -> usize {
    if each > size_of::<u64>() { DISTRIBUTE_WIDE_FROM_BYTES } else { DISTRIBUTE_FROM_BYTES }
}

/// The scratch memory in bytes that [`distribute`] needs for `n` codes.
pub(crate) fn scratch<B: Bits>(n: usize) -> usize {
    BUCKETS * BLOCK_BYTES + 2 * BLOCK_BYTES + n * size_of::<B>() / BLOCK_BYTES + CELLS
}

/// Distributes the codes in place and returns the ranges of the buckets, in order.
pub(crate) fn distribute<B: Bits>(
    codes: &mut [B],
    classifier: &Classifier<B>,
    isa: Isa,
) -> Vec<Range<usize>> {
    let mut blocks = Blocks::new(codes.len());
    vector::compiled_for!(isa, || blocks.classify(codes, classifier));
    let sizes: Vec<usize> =
        (0..classifier.buckets).map(|b| blocks.full[b] * Blocks::<B>::LEN + blocks.filled[b]).collect();
    let mut buckets = Vec::with_capacity(sizes.len());
    let mut start = 0;
    for size in sizes {
        buckets.push(start..start + size);
        start += size;
    }
    let overflow = blocks.permute(codes, &buckets);
    blocks.clean_up(codes, &buckets, overflow.as_deref());
    buckets
}

/// The state of one distribution.
struct Blocks<B> {
    /// A block for each bucket, of which the first `filled` codes are in use.
    buffers: Vec<B>,
    filled: [usize; BUCKETS],
    /// The number of full blocks of each bucket.
    full: [usize; BUCKETS],
    /// The bucket of the full block in each slot of the array.
    owners: Vec<u8>,
}

impl<B: Bits> Blocks<B> {
    /// The number of codes in a block.
    const LEN: usize = BLOCK_BYTES / size_of::<B>();

    fn new(n: usize) -> Self {
        Blocks {
            buffers: vec![B::ZERO; BUCKETS * Self::LEN],
            filled: [0; BUCKETS],
            full: [0; BUCKETS],
            owners: Vec::with_capacity(n / Self::LEN),
        }
    }

    /// Puts every code into its bucket's buffer. Full buffers are written to the front of the array, where all codes
    /// were read.
    #[inline(always)]
    fn classify(&mut self, codes: &mut [B], classifier: &Classifier<B>) {
        let n = codes.len();
        let (mut read, mut written) = (0, 0);
        while read + CLASSIFY_AHEAD <= n {
            let (mut ahead, mut cells) = ([B::ZERO; CLASSIFY_AHEAD], [B::ZERO; CLASSIFY_AHEAD]);
            ahead.copy_from_slice(&codes[read..read + CLASSIFY_AHEAD]);
            read += CLASSIFY_AHEAD;
            for i in 0..CLASSIFY_AHEAD {
                cells[i] = classifier.cell(ahead[i]);
            }
            for i in 0..CLASSIFY_AHEAD {
                self.push(ahead[i], classifier.bucket_of_cell(cells[i]), codes, &mut written);
            }
        }
        for i in read..n {
            let code = codes[i];
            self.push(code, classifier.bucket_of_cell(classifier.cell(code)), codes, &mut written);
        }
    }

    /// Puts a code into its bucket's buffer, and a full buffer at `written`.
    #[inline(always)]
    fn push(&mut self, code: B, bucket: usize, codes: &mut [B], written: &mut usize) {
        let at = self.filled[bucket];
        debug_assert!(at < Self::LEN && self.buffers.len() == BUCKETS * Self::LEN);
        // SAFETY: there is a buffer of LEN codes for each of 256 buckets, and `filled` stays below LEN.
        unsafe { *self.buffers.get_unchecked_mut(bucket * Self::LEN + at) = code };
        self.filled[bucket] = at + 1;
        if at + 1 == Self::LEN {
            self.filled[bucket] = 0;
            codes[*written..*written + Self::LEN].copy_from_slice(self.buffer(bucket, Self::LEN));
            *written += Self::LEN;
            self.full[bucket] += 1;
            self.owners.push(bucket as u8);
        }
    }

    fn buffer(&self, bucket: usize, len: usize) -> &[B] {
        &self.buffers[bucket * Self::LEN..][..len]
    }

    /// Moves the full blocks to the slots of their buckets, which begin with the first slot that starts within the
    /// bucket. If the array's last slot is partial, the block for it is returned instead.
    fn permute(&mut self, codes: &mut [B], buckets: &[Range<usize>]) -> Option<Vec<B>> {
        let first: Vec<usize> = buckets.iter().map(|bucket| bucket.start.div_ceil(Self::LEN)).collect();
        let mut next = first.clone();
        let whole = codes.len() / Self::LEN;
        let mut taken = vec![true; self.owners.len()];
        let mut hand = vec![B::ZERO; Self::LEN];
        let mut overflow = None;
        for slot in 0..self.owners.len() {
            let mut bucket = usize::from(self.owners[slot]);
            let home = first[bucket]..first[bucket] + self.full[bucket];
            if !taken[slot] || home.contains(&slot) {
                continue;
            }
            // Takes this block out and puts it where it belongs, continues with the block found there, and so on, until
            // a slot is free.
            hand.copy_from_slice(&codes[slot * Self::LEN..][..Self::LEN]);
            taken[slot] = false;
            loop {
                let mut to = next[bucket];
                while taken.get(to) == Some(&true) && usize::from(self.owners[to]) == bucket {
                    to += 1;
                }
                next[bucket] = to + 1;
                if to == whole {
                    overflow = Some(hand.clone());
                    break;
                }
                let there = &mut codes[to * Self::LEN..][..Self::LEN];
                if taken.get(to) != Some(&true) {
                    there.copy_from_slice(&hand);
                    if to < taken.len() {
                        (taken[to], self.owners[to]) = (true, bucket as u8);
                    }
                    break;
                }
                there.swap_with_slice(&mut hand);
                bucket = usize::from(std::mem::replace(&mut self.owners[to], bucket as u8));
            }
        }
        overflow
    }

    /// Fills the partial first and last block of each bucket.
    fn clean_up(&self, codes: &mut [B], buckets: &[Range<usize>], overflow: Option<&[B]>) {
        let whole = codes.len() / Self::LEN;
        let mut loose = Vec::with_capacity(2 * Self::LEN);
        for (b, bucket) in buckets.iter().enumerate() {
            loose.clear();
            loose.extend_from_slice(self.buffer(b, self.filled[b]));
            // The range of whole blocks, except a block for which there was no whole slot.
            let mut body = 0..0;
            if self.full[b] > 0 {
                let first = bucket.start.div_ceil(Self::LEN);
                body = first * Self::LEN..(first + self.full[b]) * Self::LEN;
                if body.end > whole * Self::LEN {
                    body.end -= Self::LEN;
                    loose.extend_from_slice(
                        overflow.expect("a block past the last whole slot was kept aside"),
                    );
                } else if body.end > bucket.end {
                    // The block extends into the next bucket's partial first block.
                    loose.extend_from_slice(&codes[bucket.end..body.end]);
                    body.end = bucket.end;
                }
            }
            if body.is_empty() {
                body = bucket.start..bucket.start;
            }
            let (head, tail) = loose.split_at(body.start - bucket.start);
            codes[bucket.start..body.start].copy_from_slice(head);
            codes[body.end..bucket.end].copy_from_slice(tail);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No bucket has more than four times its share.
    #[test]
    fn the_last_bucket_has_no_more_than_its_share() {
        let mut rng = fastrand::Rng::with_seed(1);
        let codes: Vec<u64> = (0..1 << 18).map(|_| rng.u64(..)).collect();
        for buckets in [256, 512, 2048] {
            let by = Classifier::sampled(codes.len(), |i| codes[i], buckets, Isa::detect());
            let mut sizes = vec![0; by.buckets()];
            codes.iter().for_each(|&code| sizes[by.bucket_of_cell(by.cell(code))] += 1);
            let (largest, share) = (sizes.iter().max().copied().unwrap(), codes.len() / buckets);
            assert!(largest < 4 * share, "{largest} instead of {share}");
            assert!(by.buckets() > buckets / 2, "{} of {buckets}", by.buckets());
        }
    }
}
