//! Few distinct codes: each is told by its rank among them, and goes at once to where the counts of the ranks say.

use super::by_code::has_few_codes;
use super::vector::{self, Isa};
use crate::key::{Bits, Transform};

/// The most distinct codes that are ordered by rank.
const RANKED: usize = 16;

/// Codes that are ranked together, in vectors.
const RANK_BLOCK: usize = 64;

/// Odd multipliers. Each maps most sets of 16 codes to 16 slots; the first that does is used.
const RANK_FACTORS: [u64; 8] = [
    0x9e37_79b9_7f4a_7c15,
    0xbf58_476d_1ce4_e5b9,
    0x94d0_49bb_1331_11eb,
    0xd6e8_feb8_6659_fd93,
    0xc2b2_ae3d_27d4_eb4f,
    0x1656_67b1_9e37_79f9,
    0x27d4_eb2f_1656_67c5,
    0xff51_afd7_ed55_8ccd,
];

/// Stripes of ranks that are counted and placed in turn: a counter is not ready again at once where neighbours are equal.
const STRIPES: usize = 4;

/// Few distinct codes, in order.
pub(crate) struct Distinct<B> {
    codes: [B; RANKED],
    count: usize,
}

impl<B: Bits> Distinct<B> {
    /// Those of `SAMPLE` of the keys; none if there are too many.
    pub(crate) fn sampled<const SAMPLE: usize>(keys: &[B], transform: Transform<B>) -> Option<Self> {
        let (n, code) = (keys.len(), |i: usize| transform.encode(keys[i]));
        if !has_few_codes(n, code) {
            return None;
        }
        let mut sample: [B; SAMPLE] = std::array::from_fn(|i| code(i * n / SAMPLE));
        sample.sort_unstable();
        let mut distinct = Distinct { codes: [sample[0]; RANKED], count: 0 };
        for equal in sample.chunk_by(|a, b| a == b) {
            *distinct.codes.get_mut(distinct.count)? = equal[0];
            distinct.count += 1;
        }
        Some(distinct)
    }

    /// Finds the ranks of as many keys. None if the code of one is none of these.
    pub(crate) fn rank<'r>(
        self,
        keys: &[B],
        transform: Transform<B>,
        ranks: &'r mut [u8],
    ) -> Option<Ranked<'r, B>> {
        assert_eq!(keys.len(), ranks.len());
        let all = if B::WIDTH > u64::BITS {
            self.rank_by_table(keys, transform, ranks)
        } else {
            self.rank_in_vectors(keys, transform, ranks)
        };
        all.then(|| Ranked::new(self, ranks))
    }

    fn rank_in_vectors(&self, keys: &[B], transform: Transform<B>, ranks: &mut [u8]) -> bool {
        let (distinct, isa) = (&self.codes[..self.count], Isa::detect());
        let mut codes = [distinct[0]; RANK_BLOCK];
        keys.chunks(RANK_BLOCK).zip(ranks.chunks_mut(RANK_BLOCK)).all(|(keys, ranks)| {
            vector::compiled_for!(isa, || {
                codes.iter_mut().zip(keys).for_each(|(code, &key)| *code = transform.encode(key));
                rank_block(&codes, distinct, ranks)
            })
        })
    }

    /// Ranks codes that no vector holds: by a table, in which each of the distinct ones has a slot of its own.
    fn rank_by_table(&self, keys: &[B], transform: Transform<B>, ranks: &mut [u8]) -> bool {
        let slot = |code: B, factor: u64| {
            let (low, high) = (code.low(), code.shr(64).low());
            let mixed = low.wrapping_mul(factor).wrapping_add(high.wrapping_mul(factor.rotate_left(32)));
            (mixed >> 56) as usize
        };
        let table_for = |factor: u64| {
            let mut table = [None; 1 << 8];
            for (rank, &code) in (0..).zip(&self.codes[..self.count]) {
                if table[slot(code, factor)].replace(rank).is_some() {
                    return None;
                }
            }
            Some((factor, table.map(Option::unwrap_or_default)))
        };
        let Some((factor, table)) = RANK_FACTORS.into_iter().find_map(table_for) else { return false };
        let mut blocks = keys.chunks(RANK_BLOCK).zip(ranks.chunks_mut(RANK_BLOCK));
        blocks.all(|(block, ranks)| {
            let mut all = true;
            for (&key, rank) in block.iter().zip(ranks) {
                let code = transform.encode(key);
                *rank = table[slot(code, factor)];
                all &= self.codes[usize::from(*rank)] == code;
            }
            all
        })
    }
}

/// Writes the rank of each code of a block among the distinct ones. Returns false if a code is none of those.
#[inline(always)]
fn rank_block<B: Bits>(block: &[B; RANK_BLOCK], distinct: &[B], ranks: &mut [u8]) -> bool {
    /// More than any rank.
    const NONE: u64 = u8::MAX as u64;
    let mut found = [B::from_low(NONE); RANK_BLOCK];
    for (rank, &other) in distinct.iter().enumerate() {
        let rank = B::from_low(rank as u64);
        for (found, &code) in found.iter_mut().zip(block) {
            *found = if other == code { rank } else { *found };
        }
    }
    ranks.iter_mut().zip(&found).for_each(|(rank, found)| *rank = found.low() as u8);
    found.iter().fold(true, |all, found| all & (found.low() < NONE))
}

/// Codes by their ranks among few distinct ones.
pub(crate) struct Ranked<'r, B> {
    distinct: Distinct<B>,
    ranks: &'r [u8],
    /// Where the codes of each stripe begin, rank by rank.
    starts: [[usize; RANKED]; STRIPES],
}

impl<'r, B: Bits> Ranked<'r, B> {
    fn new(distinct: Distinct<B>, ranks: &'r [u8]) -> Self {
        let mut starts = [[0; RANKED]; STRIPES];
        for_striped(ranks, |stripe, i| starts[stripe][usize::from(ranks[i])] += 1);
        let mut sum = 0;
        for rank in 0..RANKED {
            for starts in &mut starts {
                sum += std::mem::replace(&mut starts[rank], sum);
            }
        }
        Ranked { distinct, ranks, starts }
    }

    /// Calls `put(to, from)` for each code, where `to` is its index in order and `from` that where it is. Stable: each index comes
    /// once as either.
    #[inline(always)]
    pub(crate) fn place(&self, mut put: impl FnMut(usize, usize)) {
        let mut starts = self.starts;
        for_striped(self.ranks, |stripe, from| {
            let start = &mut starts[stripe][usize::from(self.ranks[from])];
            put(*start, from);
            *start += 1;
        });
    }

    /// Writes the keys in order.
    pub(crate) fn write_keys(&self, keys: &mut [B], transform: Transform<B>) {
        assert_eq!(keys.len(), self.ranks.len());
        for rank in 0..self.distinct.count {
            let end = self.starts[0].get(rank + 1).map_or(keys.len(), |&end| end);
            keys[self.starts[0][rank]..end].fill(transform.decode(self.distinct.codes[rank]));
        }
    }
}

/// Calls `work` with the stripe and the index of each rank: of each stripe in order, of all stripes in turn.
#[inline(always)]
fn for_striped(ranks: &[u8], mut work: impl FnMut(usize, usize)) {
    let stripe = ranks.len() / STRIPES;
    for i in 0..stripe {
        (0..STRIPES).for_each(|in_stripe| work(in_stripe, in_stripe * stripe + i));
    }
    (STRIPES * stripe..ranks.len()).for_each(|i| work(STRIPES - 1, i));
}
