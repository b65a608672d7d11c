//! Sorts strings on one thread: by words of seven bytes each, then each tie by the bytes that follow.
//!
//! This is multikey quicksort with cached characters, except that a vectorised sort of the words replaces the
//! partition. The prefix that all strings of a tie share is skipped first.

use std::mem::MaybeUninit;

use super::lcps::Lcp;
use super::words::{self, Follow, INDEX_BITS, Words};
use super::{Sort, Strings, Tie, lcps, pivot};
use crate::cpu::order::Orderer;
use crate::cpu::permute;
use crate::cpu::prefetch::prefetch;
use crate::cpu::tuning::COMPARE_STRINGS_UP_TO;
use crate::cpu::vector::{self, Isa};
use crate::key::Transform;

/// The memory that a thread reuses from tie to tie.
pub(super) struct State<P> {
    pub orderer: Orderer<u64>,
    words: Vec<u64>,
    unordered: Vec<MaybeUninit<P>>,
}

impl<P> Default for State<P> {
    fn default() -> Self {
        State { orderer: Orderer::default(), words: Vec::new(), unordered: Vec::new() }
    }
}

impl<F> Sort<'_, F> {
    /// Sorts items on this thread.
    pub(super) fn sort_alone<P: Sync, L: Lcp>(&self, items: &mut [P], lcps: &mut [L])
    where
        F: Strings<P>,
    {
        if items.len() <= COMPARE_STRINGS_UP_TO {
            return self.compare_few(items, lcps, 0);
        }
        if let Some((run, end)) = self.long_run(items, 0) {
            self.straighten(&mut items[..end], &run, 0);
            if end < items.len() {
                self.sort_alone(&mut items[end..], &mut lcps[end..]);
                let mut room = Vec::with_capacity(end.min(items.len() - end));
                self.merge(items, end, 0, room.spare_capacity_mut());
            }
            return self.compare_neighbours(items, lcps, 0);
        }
        let whole = Tie { range: 0..items.len(), depth: 0, alike: false };
        let (mut ties, mut state) = (Vec::new(), State::default());
        self.sort_tie(items, lcps, whole, &mut ties, &mut state);
        self.sort_ties(items, lcps, &mut ties, &mut state);
    }

    /// Sorts ties, and the ties that remain in them, until none remain.
    pub(super) fn sort_ties<P, L: Lcp>(
        &self,
        items: &mut [P],
        lcps: &mut [L],
        ties: &mut Vec<Tie>,
        state: &mut State<P>,
    ) where
        F: Strings<P>,
    {
        for tie in &*ties {
            items[tie.range.clone()].iter().for_each(|item| prefetch(self.rest(item, tie.depth)));
        }
        while let Some(tie) = ties.pop() {
            let range = tie.range.clone();
            self.sort_tie(&mut items[range.clone()], &mut lcps[range], tie, ties, state);
        }
    }

    /// Sorts the items of a tie by one word each, and adds those that still tie to `ties`.
    fn sort_tie<P, L: Lcp>(
        &self,
        items: &mut [P],
        lcps: &mut [L],
        tie: Tie,
        ties: &mut Vec<Tie>,
        state: &mut State<P>,
    ) where
        F: Strings<P>,
    {
        let Tie { range, depth, alike } = tie;
        if items.len() <= COMPARE_STRINGS_UP_TO {
            return self.compare_few(items, lcps, depth);
        }
        if alike {
            let length = self.codes(items, depth, &mut state.words);
            // Never uses a pivot twice in a row, because the second one may share nothing with the other strings.
            let words = Words::Pivot(length);
            return self.order(items, state, Follow::new(&words, lcps, depth, range.start, ties, false));
        }
        let (shared, equal) = self.common_prefix(items, depth);
        let depth = depth + shared;
        if equal {
            return lcps[1..].fill(L::of(depth));
        }
        let words = Words::Bytes;
        let follow = Follow::new(&words, lcps, depth, range.start, ties, true);
        if items.len() <= 1 << INDEX_BITS {
            return self.order_few(items, follow);
        }
        state.words.clear();
        state.words.extend(items.iter().map(|item| words::of_bytes(self.rest(item, depth))));
        self.order(items, state, follow);
    }

    /// Writes what each string shares with the longest string. Returns the length of the longest one after `depth`.
    fn codes<P>(&self, items: &[P], depth: usize, codes: &mut Vec<u64>) -> usize
    where
        F: Strings<P>,
    {
        let pivot = self.longest(items, depth);
        codes.clear();
        codes.extend(items.iter().map(|item| pivot::code(self.rest(item, depth), pivot)));
        pivot.len()
    }

    /// Orders items by their words of bytes, with the indices in the words. Stable.
    fn order_few<P, L: Lcp>(&self, items: &mut [P], mut follow: Follow<L>)
    where
        F: Strings<P>,
    {
        const INDEX: u64 = (1 << INDEX_BITS) - 1;
        let flipped = if self.descending { !INDEX } else { 0 };
        let mut words = [0; 1 << INDEX_BITS];
        let words = &mut words[..items.len()];
        for (i, (word, item)) in words.iter_mut().zip(&*items).enumerate() {
            *word = words::of_bytes(self.rest(item, follow.depth)) ^ flipped | i as u64;
        }
        vector::sort(words, Isa::detect());
        let mut indices = [0u32; 1 << INDEX_BITS];
        for (to, word) in words.iter().enumerate() {
            indices[to] = (word & INDEX) as u32;
            follow.next(to, word & !INDEX ^ flipped);
        }
        follow.end(words.len());
        permute(items, &mut indices[..words.len()]);
    }

    /// Orders items by the words of the state. Stable.
    fn order<P, L: Lcp>(&self, items: &mut [P], state: &mut State<P>, mut follow: Follow<L>) {
        let State { orderer, words, unordered } = state;
        assert_eq!(items.len(), words.len());
        unordered.clear();
        unordered.reserve(items.len());
        let transform = self.transform();
        // In place, so that the orderer needs no copy of them.
        transform.encode_slice(words);
        // SAFETY: these are copies of the items, and there is room for all of them. Each goes back into the slice once,
        // and no code of the caller runs in between.
        unsafe {
            let unordered: *mut P = unordered.as_mut_ptr().cast();
            std::ptr::copy_nonoverlapping(items.as_ptr(), unordered, items.len());
            orderer.order_keys(words, Transform::IDENTITY).put(words.len(), |to, from| {
                items.as_mut_ptr().add(to).write(unordered.add(from).read());
                follow.next(to, transform.decode(words[from]));
            });
        }
        follow.end(items.len());
    }

    /// Sorts few items by comparison. For this number, std's sort inserts, and allocates nothing.
    fn compare_few<P, L: Lcp>(&self, items: &mut [P], lcps: &mut [L], depth: usize)
    where
        F: Strings<P>,
    {
        items.sort_by(|a, b| self.compare(a, b, depth));
        self.compare_neighbours(items, lcps, depth);
    }

    /// The number of bytes after `depth` that all strings share, and whether the strings have no others.
    fn common_prefix<P>(&self, items: &[P], depth: usize) -> (usize, bool)
    where
        F: Strings<P>,
    {
        let first = self.rest(&items[0], depth);
        let (mut shared, mut equal) = (first.len(), true);
        for item in &items[1..] {
            let string = self.rest(item, depth);
            equal &= string.len() == first.len();
            shared = lcps::shared(&first[..shared], string);
            if shared == 0 && !(equal && first.is_empty()) {
                break;
            }
        }
        (shared, equal && shared == first.len())
    }
}
