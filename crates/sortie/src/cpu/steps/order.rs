//! Finds the order of the codes in a bucket by a vectorised sort of packed words. A word consists of the leading bits
//! that distinguish the bucket's codes, and the index of the code. The index breaks ties, so the order is stable
//! although the sort is not.
//!
//! Codes with few distinct values need no sort: they are ranked and counted (`ranks.rs`).
//!
//! If a word is too narrow for all bits that distinguish codes, the lowest ones are dropped. The few groups of words
//! that then look equal are ordered separately: short groups by insertion, long ones in the same way by the dropped
//! bits.

use crate::cpu::compiled::CpuSorts;
use crate::cpu::found::{Found, Words};
use crate::cpu::ranks::Distinct;
use crate::cpu::room::{Room, fill, room};
use crate::cpu::sampled::has_few_codes;
use crate::cpu::tuning::{INSERT_UP_TO, NARROW_SLACK_BITS, PAIRS_AT_ONCE, RANK_FROM, RANK_SAMPLE};
use crate::cpu::vector::{self, Isa};
use crate::key::{Bits, Transform};

/// Finds the order of codes. Its memory is reused from bucket to bucket.
#[derive(Debug)]
pub(crate) struct Orderer<B> {
    codes: Vec<B>,
    words: Words,
}

impl<B> Default for Orderer<B> {
    fn default() -> Self {
        Orderer { codes: Vec::new(), words: Words::default() }
    }
}

impl<B: CpuSorts> Orderer<B> {
    /// Finds the order of the codes that `code` returns for the indices below `n`. Stable. O(n log n).
    #[inline(never)]
    pub(crate) fn order(&mut self, n: usize, code: impl Fn(usize) -> B) -> Found<'_> {
        self.forget();
        // A bucket with a single code may have all items, so it is not copied.
        if (1..n).all(|i| code(i - 1) <= code(i)) {
            return Found::AsIs;
        }
        self.codes.extend((0..n).map(code));
        B::find_order(&self.codes, &mut self.words)
    }

    /// [`Orderer::order`] for keys.
    #[inline(never)]
    pub(crate) fn order_keys(&mut self, keys: &[B], transform: Transform<B>) -> Found<'_> {
        self.forget();
        if transform.is_identity() {
            return B::find_order(keys, &mut self.words);
        }
        vector::compiled_for!(Isa::detect(), || {
            self.codes.extend(keys.iter().map(|&key| transform.encode(key)));
        });
        B::find_order(&self.codes, &mut self.words)
    }

    /// Forgets the codes of the last bucket, and frees memory that is far more than most buckets need.
    pub(crate) fn forget(&mut self) {
        if self.codes.len() > PAIRS_AT_ONCE {
            *self = Orderer::default();
        }
        self.codes.clear();
    }
}

/// Finds the order of codes. Not generic over the caller, so it is compiled once per width.
pub(crate) fn find<'w, B: CpuSorts>(codes: &[B], words: &'w mut Words) -> Found<'w> {
    let Words { narrow, wide, ranks } = words;
    if codes.is_sorted() {
        return Found::AsIs;
    }
    let (n, isa) = (codes.len(), Isa::detect());
    if (RANK_FROM..u32::MAX as usize).contains(&n)
        && let Some(distinct) = Distinct::sampled::<RANK_SAMPLE>(n, |i| codes[i])
    {
        ranks.resize(n, 0);
        if let Some(ranked) = distinct.rank(codes, Transform::IDENTITY, ranks) {
            narrow.resize(n, 0);
            ranked.put(|to, from| narrow[to] = from as u32);
            return Found::Narrow(narrow, u32::MAX);
        }
        *ranks = Vec::new();
    }
    let split = vector::compiled_for!(isa, || Split::of(codes.iter().copied()));
    // A narrow word sorts twice as fast, if it leaves few codes tied.
    let narrow_bits = 32u32.saturating_sub(split.index_bits);
    if split.index_bits < 32
        && narrow_bits >= split.span.min(split.index_bits + NARROW_SLACK_BITS)
        && !(split.span > narrow_bits && has_few_codes(n, |index| split.word::<u32>(codes[index], 0)))
    {
        order_packed(narrow, codes, split, isa);
        Found::Narrow(narrow, (1 << split.index_bits) - 1)
    } else {
        order_packed(wide, codes, split, isa);
        Found::Wide(wide, (1 << split.index_bits) - 1)
    }
}

/// The stable order of up to [`FEW`](crate::cpu::tuning::FEW) codes, and at least one: a permutation.
pub(crate) fn order_few<'r, B: CpuSorts>(order: &'r mut Room<u32>, codes: &[B]) -> &'r mut [u32] {
    let isa = Isa::detect();
    let split = vector::compiled_for!(isa, || Split::of(codes.iter().copied()));
    if split.span + split.index_bits <= u32::BITS {
        order_few_packed::<B, u32>(order, codes, split, isa)
    } else {
        order_few_packed::<B, u64>(order, codes, split, isa)
    }
}

fn order_few_packed<'r, B: CpuSorts, W: Bits>(
    order: &'r mut Room<u32>,
    codes: &[B],
    split: Split<B>,
    isa: Isa,
) -> &'r mut [u32] {
    let mut words = room();
    let words = vector::compiled_for!(isa, || {
        fill(&mut words, codes.iter().enumerate().map(|(index, &code)| split.word::<W>(code, index)))
    });
    sort_words(words, codes, split, isa);
    vector::compiled_for!(isa, || fill(order, words.iter().map(|&word| split.index(word) as u32)))
}

/// How a word is divided into bits of a code and bits of an index.
#[derive(Clone, Copy)]
pub(crate) struct Split<B> {
    low: B,
    /// The number of bits that distinguish the codes.
    span: u32,
    index_bits: u32,
}

impl<B: Bits> Split<B> {
    /// The split for codes, of which there is at least one.
    #[inline(always)]
    pub(crate) fn of(codes: impl ExactSizeIterator<Item = B>) -> Self {
        let (n, ends) = (codes.len(), (B::MAX, B::ZERO));
        let (low, high) = codes.fold(ends, |(low, high), code| (low.min(code), high.max(code)));
        Split {
            low,
            span: B::WIDTH - high.wrapping_sub(low).leading_zeros(),
            index_bits: usize::BITS - (n - 1).leading_zeros(),
        }
    }

    /// The number of low bits for which words of this width have no room.
    #[inline(always)]
    pub(crate) fn dropped<W: Bits>(&self) -> u32 {
        self.span.saturating_sub(W::WIDTH - self.index_bits)
    }

    #[inline(always)]
    pub(crate) fn word<W: Bits>(&self, code: B, index: usize) -> W {
        let prefix = code.wrapping_sub(self.low).shr(self.dropped::<W>()).low();
        W::from_low(prefix << self.index_bits | index as u64)
    }

    /// The dropped bits of a code, and its index. Only if both fit in a word.
    #[inline(always)]
    fn second_word<W: Bits>(&self, code: B, index: usize) -> W {
        let dropped = code.wrapping_sub(self.low).low() & ((1 << self.dropped::<W>()) - 1);
        W::from_low(dropped << self.index_bits | index as u64)
    }

    #[inline(always)]
    pub(crate) fn index<W: Bits>(&self, word: W) -> usize {
        (word.low() & ((1 << self.index_bits) - 1)) as usize
    }
}

fn order_packed<B: CpuSorts, W: Bits>(words: &mut Vec<W>, codes: &[B], split: Split<B>, isa: Isa) {
    words.clear();
    vector::compiled_for!(isa, || {
        words.extend(codes.iter().enumerate().map(|(index, &code)| split.word::<W>(code, index)));
    });
    sort_words(words, codes, split, isa);
}

fn sort_words<B: CpuSorts, W: Bits>(words: &mut [W], codes: &[B], split: Split<B>, isa: Isa) {
    vector::sort(words, isa);
    order_ties(words, split, |index| codes[index], isa);
}

/// Orders groups of words with equal prefixes by their codes. `code_at` returns the code at an index.
pub(crate) fn order_ties<B: CpuSorts, W: Bits>(
    words: &mut [W],
    split: Split<B>,
    code_at: impl Fn(usize) -> B,
    isa: Isa,
) {
    if split.dropped::<W>() == 0 {
        return;
    }
    let prefix = |word: W| word.low() >> split.index_bits;
    let code = |word: W| code_at(split.index(word));
    // Usually no words tie. This check has no branch for each pair.
    let tied = |pair: &[W]| prefix(pair[0]) == prefix(pair[1]);
    if !vector::compiled_for!(isa, || words.windows(2).fold(false, |any, pair| any | tied(pair))) {
        return;
    }
    // Usually tied codes are equal, and already in order. Codes may be far apart or expensive to get, so only tied ones
    // are compared.
    let disordered = |pair: &[W]| tied(pair) && code(pair[0]) > code(pair[1]);
    if !words.windows(2).any(disordered) {
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
                while hole > 0 && code(group[hole - 1]) > code(word) {
                    group[hole] = group[hole - 1];
                    hole -= 1;
                }
                group[hole] = word;
            }
        } else if group[1..].iter().all(|&word| code(word) == code(group[0])) {
            // They are already in order.
        } else if split.dropped::<W>() + split.index_bits <= W::WIDTH {
            group.iter_mut().for_each(|word| *word = split.second_word(code(*word), split.index(*word)));
            vector::sort(group, isa);
        } else {
            // Their indices ascend, so this order is stable too.
            let unordered = group.to_vec();
            let tied: Vec<B> = unordered.iter().map(|&word| code(word)).collect();
            let mut words = Words::default();
            B::find_order(&tied, &mut words).put(count, |to, from| group[to] = unordered[from]);
        }
    }
}
