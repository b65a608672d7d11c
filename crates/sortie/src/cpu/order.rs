//! The order of the codes in a bucket, by a vectorised sort of packed words: the first bits of each code that tell
//! the bucket's codes apart, and its place. The place breaks ties, so the order is stable although the sort is not.
//!
//! Few distinct codes need no sort: each is counted by its rank among them.
//!
//! Where a word is too narrow for all bits that tell codes apart, the lowest are dropped, and the few groups of
//! words that then look equal are put in order by themselves: short ones by insertion, long ones by the same means on
//! the bits that were dropped.

use super::by_code::has_few_codes;
use super::few::{Room, fill, room};
use super::vector::{self, Isa};
use crate::key::Bits;
use crate::plan::{INSERT_UP_TO, NARROW_SLACK_BITS};

/// The words of one bucket; kept from bucket to bucket for its memory.
#[derive(Default)]
pub(crate) struct Orderer {
    narrow: Vec<u32>,
    wide: Vec<u64>,
    ranks: Vec<u8>,
}

impl Orderer {
    /// Calls `put(to, from)` for each index `to`, in ascending order, where the code at `from` belongs. Stable. O(n log n).
    #[inline]
    pub(crate) fn order<B: Bits>(
        &mut self,
        n: usize,
        code: impl Fn(usize) -> B,
        isa: Isa,
        mut put: impl FnMut(usize, usize),
    ) {
        if (1..n).all(|place| code(place - 1) <= code(place)) {
            return (0..n).for_each(|place| put(place, place));
        }
        if self.rank(n, &code, isa) {
            return self.put_ranked(put);
        }
        let split = vector::compiled_for!(isa, || Split::of((0..n).map(&code)));
        // A narrow word sorts twice as fast, as long as it leaves few codes tied.
        let narrow = 32u32.saturating_sub(split.place_bits);
        if split.place_bits < 32
            && narrow >= split.span.min(split.place_bits + NARROW_SLACK_BITS)
            && !(split.span > narrow && has_few_codes(n, |place| split.word::<u32>(code(place), 0)))
        {
            order_packed(&mut self.narrow, n, code, split, isa, put);
        } else {
            order_packed(&mut self.wide, n, code, split, isa, put);
        }
    }
}

/// The most distinct codes that are ordered by rank; how many codes are sampled to find them; from how many codes on.
const RANKED: usize = 16;
const RANKED_SAMPLE: usize = 256;
const RANKED_FROM: usize = 1 << 10;

/// Codes that are ranked together, in vectors.
const RANK_BLOCK: usize = 64;

/// Stripes of ranks that are counted and placed in turn: a counter is not ready again at once where neighbours are equal.
const STRIPES: usize = 4;

impl Orderer {
    /// Finds the rank of each code among the distinct ones. Returns false if there are too many of those.
    #[inline]
    fn rank<B: Bits>(&mut self, n: usize, code: impl Fn(usize) -> B, isa: Isa) -> bool {
        if n < RANKED_FROM || n > u32::MAX as usize || !has_few_codes(n, &code) {
            return false;
        }
        let mut sample: [B; RANKED_SAMPLE] = std::array::from_fn(|i| code(i * n / RANKED_SAMPLE));
        sample.sort_unstable();
        let (mut codes, mut distinct) = ([B::ZERO; RANKED], 0);
        for chunk in sample.chunk_by(|a, b| a == b) {
            let Some(slot) = codes.get_mut(distinct) else { return false };
            *slot = chunk[0];
            distinct += 1;
        }
        self.ranks.clear();
        self.ranks.resize(n, 0);
        let distinct = &codes[..distinct];
        let (mut block, mut start) = ([codes[0]; RANK_BLOCK], 0);
        for ranks in self.ranks.chunks_mut(RANK_BLOCK) {
            (start..n).zip(&mut block).for_each(|(i, slot)| *slot = code(i));
            start += RANK_BLOCK;
            if !vector::compiled_for!(isa, || rank_block(&block, distinct, ranks)) {
                // As if it had not been tried.
                self.ranks = Vec::new();
                return false;
            }
        }
        true
    }

    /// Calls `put` for each index in ascending order, by the ranks of the codes.
    #[inline]
    fn put_ranked(&mut self, mut put: impl FnMut(usize, usize)) {
        let Orderer { narrow: order, ranks, .. } = self;
        let mut starts = [[0u32; RANKED]; STRIPES];
        for_striped(ranks, |in_stripe, i| starts[in_stripe][usize::from(ranks[i])] += 1);
        let mut sum = 0;
        for rank in 0..RANKED {
            for starts in &mut starts {
                sum += std::mem::replace(&mut starts[rank], sum);
            }
        }
        order.clear();
        order.resize(ranks.len(), 0);
        for_striped(ranks, |in_stripe, i| {
            let start = &mut starts[in_stripe][usize::from(ranks[i])];
            order[*start as usize] = i as u32;
            *start += 1;
        });
        for (to, &from) in order.iter().enumerate() {
            put(to, from as usize);
        }
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

/// Calls `work` with the stripe and the index of each rank: of each stripe in order, of all stripes in turn.
#[inline(always)]
fn for_striped(ranks: &[u8], mut work: impl FnMut(usize, usize)) {
    let stripe = ranks.len() / STRIPES;
    for i in 0..stripe {
        (0..STRIPES).for_each(|in_stripe| work(in_stripe, in_stripe * stripe + i));
    }
    (STRIPES * stripe..ranks.len()).for_each(|i| work(STRIPES - 1, i));
}

/// The stable order of up to [`FEW`](crate::plan::FEW) codes, of which there are some: a permutation.
pub(crate) fn order_few<'r, B: Bits>(order: &'r mut Room<u32>, codes: &[B]) -> &'r mut [u32] {
    let isa = Isa::detect();
    let split = vector::compiled_for!(isa, || Split::of(codes.iter().copied()));
    if split.span + split.place_bits <= u32::BITS {
        order_few_packed::<B, u32>(order, codes, split, isa)
    } else {
        order_few_packed::<B, u64>(order, codes, split, isa)
    }
}

fn order_few_packed<'r, B: Bits, W: Bits>(
    order: &'r mut Room<u32>,
    codes: &[B],
    split: Split<B>,
    isa: Isa,
) -> &'r mut [u32] {
    let mut words = room();
    let words = vector::compiled_for!(isa, || {
        fill(&mut words, codes.iter().enumerate().map(|(place, &code)| split.word::<W>(code, place)))
    });
    sort_words(words, |place| codes[place], split, isa);
    vector::compiled_for!(isa, || fill(order, words.iter().map(|&word| split.place(word) as u32)))
}

/// How a word falls into bits of a code and bits of a place.
#[derive(Clone, Copy)]
struct Split<B> {
    low: B,
    /// Bits that tell the codes apart.
    span: u32,
    place_bits: u32,
}

impl<B: Bits> Split<B> {
    /// Of codes, of which there are some.
    #[inline(always)]
    fn of(codes: impl ExactSizeIterator<Item = B>) -> Self {
        let (n, ends) = (codes.len(), (B::MAX, B::ZERO));
        let (low, high) = codes.fold(ends, |(low, high), code| (low.min(code), high.max(code)));
        Split {
            low,
            span: B::WIDTH - high.wrapping_sub(low).leading_zeros(),
            place_bits: usize::BITS - (n - 1).leading_zeros(),
        }
    }

    /// Low bits that words of this width have no room for.
    #[inline(always)]
    fn dropped<W: Bits>(&self) -> u32 {
        self.span.saturating_sub(W::WIDTH - self.place_bits)
    }

    #[inline(always)]
    fn word<W: Bits>(&self, code: B, place: usize) -> W {
        let prefix = code.wrapping_sub(self.low).shr(self.dropped::<W>()).low();
        W::from_low(prefix << self.place_bits | place as u64)
    }

    /// The dropped bits of a code, and its place. Only where both fit a word.
    #[inline(always)]
    fn second_word<W: Bits>(&self, code: B, place: usize) -> W {
        let dropped = code.wrapping_sub(self.low).low() & ((1 << self.dropped::<W>()) - 1);
        W::from_low(dropped << self.place_bits | place as u64)
    }

    #[inline(always)]
    fn place<W: Bits>(&self, word: W) -> usize {
        (word.low() & ((1 << self.place_bits) - 1)) as usize
    }
}

#[inline]
fn order_packed<B: Bits, W: Bits>(
    words: &mut Vec<W>,
    n: usize,
    code: impl Fn(usize) -> B,
    split: Split<B>,
    isa: Isa,
    mut put: impl FnMut(usize, usize),
) {
    words.clear();
    vector::compiled_for!(isa, || words.extend((0..n).map(|place| split.word::<W>(code(place), place))));
    sort_words(words, code, split, isa);
    for (to, &word) in words.iter().enumerate() {
        put(to, split.place(word));
    }
}

#[inline]
fn sort_words<B: Bits, W: Bits>(words: &mut [W], code: impl Fn(usize) -> B, split: Split<B>, isa: Isa) {
    vector::sort(words, isa);
    if split.dropped::<W>() > 0 {
        order_ties(words, split, code, isa);
    }
}

/// Puts groups of words with equal prefixes in the order of their codes.
fn order_ties<B: Bits, W: Bits>(words: &mut [W], split: Split<B>, code: impl Fn(usize) -> B, isa: Isa) {
    let prefix = |word: W| word.low() >> split.place_bits;
    let place = |word: W| split.place(word);
    // Equal codes are in order already, and mostly there are no others. Without a branch.
    let tied = |pair: &[W]| prefix(pair[0]) == prefix(pair[1]);
    if !vector::compiled_for!(isa, || words.windows(2).fold(false, |any, pair| any | tied(pair))) {
        return;
    }
    let disordered = |pair: &[W]| tied(pair) & (code(place(pair[0])) > code(place(pair[1])));
    if !words.windows(2).fold(false, |any, pair| any | disordered(pair)) {
        return;
    }
    let mut start = 0;
    while start + 1 < words.len() {
        if prefix(words[start]) != prefix(words[start + 1]) {
            start += 1;
            continue;
        }
        let count = words[start..].iter().take_while(|&&word| prefix(word) == prefix(words[start])).count();
        let group = &mut words[start..start + count];
        start += count;
        if count <= INSERT_UP_TO {
            for i in 1..count {
                let word = group[i];
                let mut hole = i;
                while hole > 0 && code(place(group[hole - 1])) > code(place(word)) {
                    group[hole] = group[hole - 1];
                    hole -= 1;
                }
                group[hole] = word;
            }
        } else if group[1..].iter().all(|&word| code(place(word)) == code(place(group[0]))) {
            // They are in order.
        } else if split.dropped::<W>() + split.place_bits <= W::WIDTH {
            group.iter_mut().for_each(|word| *word = split.second_word(code(place(*word)), place(*word)));
            vector::sort(group, isa);
        } else {
            // Their places ascend, so the order among them is stable too.
            let unordered = group.to_vec();
            let tied: Vec<B> = unordered.iter().map(|&word| code(place(word))).collect();
            order_slice(&tied, isa, &mut |to, from| group[to] = unordered[from]);
        }
    }
}

/// [`Orderer::order`] for codes in a slice, of one type whatever `put` is: the recursion ends there.
fn order_slice<B: Bits>(codes: &[B], isa: Isa, put: &mut dyn FnMut(usize, usize)) {
    Orderer::default().order(codes.len(), |place| codes[place], isa, put);
}
