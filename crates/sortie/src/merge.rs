//! Merging sorted sources, any number at a time.
//!
//! [`Tournament`] says which source is next. The sources themselves stay with the caller, who may read them from memory, files
//! or anywhere else. It is a tree of losers (Knuth, The Art of Computer Programming, volume 3, section 5.4.1): each inner node
//! stores the source that lost there. So a new head replays one path from its leaf to the root, with one comparison per level.

use std::cmp::Ordering;

/// A tournament among sources numbered from 0, won by the source whose head comes first. Stable: among equal heads, the lowest
/// number wins.
///
/// An exhausted source takes part as one that compares greater than every other; once it wins, all are exhausted. Each
/// step takes `⌈log2 k⌉` comparisons. Allocates 8 bytes per source, and 16 more during construction.
///
/// ```
/// use sortie::merge::Tournament;
///
/// let mut sources = [vec![1, 4], vec![2, 3, 9], vec![]].map(Vec::into_iter);
/// let mut heads = sources.each_mut().map(Iterator::next);
/// // `None` is an exhausted source, which comes last.
/// let compare = |heads: &[Option<i32>], a: usize, b: usize| {
///     (heads[a].is_none(), heads[a]).cmp(&(heads[b].is_none(), heads[b]))
/// };
///
/// let mut merged = Vec::new();
/// let mut tournament = Tournament::new(3, |a, b| compare(&heads, a, b));
/// while let Some(head) = heads[tournament.winner()] {
///     merged.push(head);
///     heads[tournament.winner()] = sources[tournament.winner()].next();
///     tournament.replay(|a, b| compare(&heads, a, b));
/// }
/// assert_eq!(merged, [1, 2, 3, 4, 9]);
/// ```
#[derive(Debug, Clone)]
pub struct Tournament {
    /// At 0 the overall winner; at `i` the loser at inner node `i`. Source `s` enters at node `(s + k) / 2`.
    nodes: Vec<usize>,
}

impl Tournament {
    /// Plays the first tournament among `sources` sources, whose heads `compare` compares by source number.
    ///
    /// # Panics
    /// If `sources` is 0, and if `compare` panics.
    pub fn new(sources: usize, mut compare: impl FnMut(usize, usize) -> Ordering) -> Self {
        assert!(sources > 0, "a tournament needs at least one source");
        // The winners at nodes 1.. of a heap whose leaves, at `sources..`, are the sources.
        let mut winners: Vec<usize> = vec![0; sources].into_iter().chain(0..sources).collect();
        let mut nodes = vec![0; sources];
        for node in (1..sources).rev() {
            let (a, b) = (winners[2 * node], winners[2 * node + 1]);
            (winners[node], nodes[node]) = if before(a, b, &mut compare) { (a, b) } else { (b, a) };
        }
        nodes[0] = winners[1];
        Tournament { nodes }
    }

    /// The source whose head comes first.
    #[must_use]
    pub fn winner(&self) -> usize {
        self.nodes[0]
    }

    /// Finds the next winner after the head of the current one was replaced. Allocates nothing.
    ///
    /// # Panics
    /// If `compare` panics. The order of the tournament is then wrong; make a new one.
    pub fn replay(&mut self, mut compare: impl FnMut(usize, usize) -> Ordering) {
        let mut winner = self.nodes[0];
        let mut node = (winner + self.nodes.len()) / 2;
        while node > 0 {
            if before(self.nodes[node], winner, &mut compare) {
                std::mem::swap(&mut self.nodes[node], &mut winner);
            }
            node /= 2;
        }
        self.nodes[0] = winner;
    }
}

fn before(a: usize, b: usize, compare: &mut impl FnMut(usize, usize) -> Ordering) -> bool {
    compare(a, b).then(a.cmp(&b)).is_lt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Merges by the first field of each pair.
    fn merge(sources: &[Vec<(u8, usize)>]) -> Vec<(u8, usize)> {
        let mut sources: Vec<_> = sources.iter().map(|source| source.iter().copied().peekable()).collect();
        let mut merged = Vec::new();
        let mut heads: Vec<_> = sources.iter_mut().map(Iterator::next).collect();
        let compare = |heads: &[Option<(u8, usize)>], a: usize, b: usize| match (heads[a], heads[b]) {
            (Some(a), Some(b)) => a.0.cmp(&b.0),
            (a, b) => a.is_none().cmp(&b.is_none()),
        };
        let mut tournament = Tournament::new(sources.len(), |a, b| compare(&heads, a, b));
        while let Some(head) = heads[tournament.winner()] {
            merged.push(head);
            heads[tournament.winner()] = sources[tournament.winner()].next();
            tournament.replay(|a, b| compare(&heads, a, b));
        }
        merged
    }

    proptest! {
        #[test]
        fn merging_sorted_sources_is_sorting_their_concatenation(
            mut sources in prop::collection::vec(prop::collection::vec(0u8..20, 0..30), 1..40)
        ) {
            let mut numbers = 0..;
            let sources: Vec<Vec<(u8, usize)>> = sources
                .iter_mut()
                .map(|keys| {
                    keys.sort_unstable();
                    keys.iter().map(|&key| (key, numbers.next().unwrap())).collect()
                })
                .collect();
            let mut expected = sources.concat();
            expected.sort_by_key(|pair| pair.0);
            prop_assert_eq!(merge(&sources), expected);
        }
    }
}
