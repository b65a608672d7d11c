//! Sorts keys that have few distinct codes. Each key gets the rank of its code; the counts of the ranks give its index in the
//! output.

use crate::cpu::sampled::has_few_codes;
use crate::cpu::vector::{self, Isa};
use crate::key::{Bits, Transform};

/// The maximum number of distinct codes that are ordered by rank.
const RANKED: usize = 16;

/// The number of codes that are ranked together with vector instructions.
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

/// Ranks are split into stripes that take turns. Otherwise equal neighbours would increment one counter twice in a row, and the
/// second would wait.
const STRIPES: usize = 4;

/// Few distinct codes, in order.
pub(crate) struct Distinct<B> {
    codes: [B; RANKED],
    count: usize,
}

impl<B: Bits> Distinct<B> {
    /// The distinct codes in a sample of `SAMPLE` of `n` keys. `None` if there are more than 16.
    pub(crate) fn sampled<const SAMPLE: usize>(n: usize, code: impl Fn(usize) -> B) -> Option<Self> {
        if !has_few_codes(n, &code) {
            return None;
        }
        let mut sample = [B::ZERO; SAMPLE];
        for (i, slot) in sample.iter_mut().enumerate() {
            *slot = code((i as u64 * n as u64 / SAMPLE as u64) as usize);
        }
        Self::of(&mut sample)
    }

    /// The distinct codes of a sample. `None` if there are more than 16.
    fn of(sample: &mut [B]) -> Option<Self> {
        sample.sort_unstable();
        let mut distinct = Distinct { codes: [sample[0]; RANKED], count: 0 };
        for equal in sample.chunk_by(|a, b| a == b) {
            *distinct.codes.get_mut(distinct.count)? = equal[0];
            distinct.count += 1;
        }
        Some(distinct)
    }

    /// Writes the rank of each key to `ranks`. `None` if a key has another code.
    pub(crate) fn rank<'r>(
        self,
        keys: &[B],
        transform: Transform<B>,
        ranks: &'r mut [u8],
    ) -> Option<Ranked<'r, B>> {
        assert_eq!(keys.len(), ranks.len());
        let all = if const { B::WIDTH > u64::BITS } {
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

    /// Ranks codes for which there are no vectors, with a table in which each distinct code has a slot of its own.
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
    /// Greater than any rank.
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

/// Codes by rank among few distinct ones.
pub(crate) struct Ranked<'r, B> {
    distinct: Distinct<B>,
    ranks: &'r [u8],
    /// For each stripe and rank, the output index of its first code.
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

    /// Calls `put(to, from)` once for each key: `from` is its index, `to` its index in order. Stable. Each index occurs once as
    /// `from` and once as `to`; unsafe callers rely on it.
    #[inline(always)]
    pub(crate) fn put(&self, mut put: impl FnMut(usize, usize)) {
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

/// Calls `work(stripe, index)` for each rank. Indices ascend within a stripe; the stripes take turns.
#[inline(always)]
fn for_striped(ranks: &[u8], mut work: impl FnMut(usize, usize)) {
    let stripe = ranks.len() / STRIPES;
    for i in 0..stripe {
        (0..STRIPES).for_each(|in_stripe| work(in_stripe, in_stripe * stripe + i));
    }
    (STRIPES * stripe..ranks.len()).for_each(|i| work(STRIPES - 1, i));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Order;
    use crate::key::Code;

    /// The order of the keys, and the keys in order, if they have few distinct codes.
    fn ranked<B: Bits>(keys: &[B], transform: Transform<B>) -> Option<(Vec<usize>, Vec<B>)> {
        let (mut ranks, mut order, mut sorted) = (vec![0; keys.len()], vec![0; keys.len()], keys.to_vec());
        let ranked = Distinct::sampled::<128>(keys.len(), |i| transform.encode(keys[i]))?
            .rank(keys, transform, &mut ranks)?;
        ranked.put(|to, from| order[to] = from);
        ranked.write_keys(&mut sorted, transform);
        Some((order, sorted))
    }

    fn check<B: Bits>(draw: impl Fn(u64) -> B) {
        let mut rng = fastrand::Rng::with_seed(1);
        for descending in [false, true] {
            let transform = Transform::new(Code::Unsigned, Order { descending, ..Order::default() });
            for (n, distinct) in [(1000, 1), (1001, 2), (5003, 16)] {
                let keys: Vec<B> = (0..n).map(|_| draw(rng.u64(..distinct))).collect();
                let mut expected: Vec<usize> = (0..n).collect();
                expected.sort_by_key(|&i| transform.encode(keys[i]));
                let (order, sorted) = ranked(&keys, transform).expect("they are few");
                assert_eq!(order, expected, "{distinct} of {n}");
                assert!(sorted.into_iter().eq(expected.into_iter().map(|i| keys[i])));
            }
            let mut keys: Vec<B> = (0..5000).map(|i| draw(i % 17)).collect();
            assert!(ranked(&keys, transform).is_none(), "17 distinct codes");
            keys.fill(draw(3));
            keys[4999] = draw(4);
            assert!(ranked(&keys, transform).is_none(), "one code that no sample has");
        }
    }

    #[test]
    fn few_distinct_codes_are_ranked_and_others_refused() {
        check(|i| i as u8);
        check(|i| i as u16 * 1000);
        check(|i| i as u32 * 0x0123_4567);
        check(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        // Codes that differ only in one half, and codes that the first multiplier maps to one slot: it turns them into
        // 0, 1, 2, ...
        check(|i| u128::from(i) << 100);
        let inverse = (0..6).fold(1u64, |inverse, _| {
            inverse.wrapping_mul(2u64.wrapping_sub(RANK_FACTORS[0].wrapping_mul(inverse)))
        });
        assert_eq!(RANK_FACTORS[0].wrapping_mul(inverse), 1);
        check(|i| u128::from(i.wrapping_mul(inverse)));
    }
}
