//! Divides the keys of several devices among them: a sample divides the codes into ranges, and exact counts determine
//! the parts.
//!
//! Codes are integers. If two splitters are consecutive codes, the range between them only has equal keys. Such a range
//! can be cut anywhere, which is how equal keys are divided among devices.

use std::ops::Range;

use crate::compose::tuning::{MOST_UNEVEN, SUB_RANGES};
use crate::gpu::kernels::array::RANGES;
use crate::key::Bits;

/// Ranges of codes, in order.
#[derive(Debug)]
pub(super) struct Cut<B> {
    /// The smallest code of each range except the first. Unused splitters at the end are the largest code.
    pub splitters: [B; RANGES - 1],
}

impl<B: Bits> Cut<B> {
    /// Divides the codes into ranges for `devices` devices. Each device has several ranges, with about the same number
    /// of codes in the sorted sample. Its first range has half as many, because the device has to wait for it.
    pub fn new(sample: &[B], devices: usize) -> Cut<B> {
        let each = sub_ranges(devices);
        let mut found = Vec::with_capacity(RANGES);
        for i in 1..devices * each {
            let before = i / each * halves(devices) + (2 * (i % each)).saturating_sub(1);
            let code = sample[before * sample.len() / (devices * halves(devices))];
            let repeated = found.contains(&code);
            // A splitter that may end a device's part gets a range of its own, so that the part can be cut within equal
            // keys.
            if (repeated || i % each == 0) && code < B::MAX {
                found.push(code.wrapping_add(B::from_low(1)));
            }
            found.push(code);
        }
        found.sort_unstable();
        found.dedup();
        found.resize(RANGES - 1, B::MAX);
        Cut { splitters: found.try_into().expect("no more than there are, by the number of sub-ranges") }
    }

    pub fn range_of(&self, code: B) -> usize {
        self.splitters.partition_point(|&splitter| splitter <= code)
    }

    /// Whether the range contains only one code.
    pub fn is_of_one_code(&self, range: usize) -> bool {
        let low = if range == 0 { B::ZERO } else { self.splitters[range - 1] };
        match self.splitters.get(range) {
            Some(&next) => next <= low || next.wrapping_sub(low) == B::from_low(1),
            None => low == B::MAX,
        }
    }
}

/// The maximum number of sub-ranges in each device's part. There must also be a splitter for each end of a part.
pub(super) fn sub_ranges(devices: usize) -> usize {
    SUB_RANGES.min((RANGES + 1 - devices) / devices)
}

/// The number of half sub-ranges in a part, where the first sub-range counts as one half.
fn halves(devices: usize) -> usize {
    2 * sub_ranges(devices) - 1
}

/// Consecutive keys on the device `source`, and their destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub source: usize,
    pub from: Range<usize>,
    pub to: usize,
}

/// Pieces that are sorted together, and their destination.
#[derive(Debug)]
pub(super) struct Step {
    pub to: Range<usize>,
    pub pieces: Vec<Piece>,
    /// Whether all keys are equal.
    pub equal: bool,
}

/// The steps of each device, in the order of the keys.
#[derive(Debug)]
pub(super) struct Division {
    pub parts: Vec<Vec<Step>>,
}

impl Division {
    /// Divides the keys. `counts` has the number of keys of each device in each range, and `starts` the positions of
    /// the ranges.
    pub fn new<B: Bits>(
        cut: &Cut<B>,
        counts: &[[usize; RANGES]],
        starts: &[[usize; RANGES + 1]],
    ) -> Division {
        let devices = counts.len();
        // The ranks at which ranges begin, followed by the end of the last one.
        let mut edges = vec![0];
        for range in 0..RANGES {
            edges.push(edges[range] + counts.iter().map(|counts| counts[range]).sum::<usize>());
        }
        let n = edges[RANGES];
        let end_of = |part: usize| {
            let wanted = (n as u128 * part as u128 / devices as u128) as usize;
            let range = edges.partition_point(|&edge| edge <= wanted).saturating_sub(1).min(RANGES - 1);
            let (low, high) = (edges[range], edges[range + 1]);
            match cut.is_of_one_code(range) {
                true => wanted,
                false if wanted - low < high.saturating_sub(wanted) => low,
                false => high,
            }
        };
        let most = most_keys(n, devices);
        let part = |number: usize| {
            let ranks = if number == 0 { 0 } else { end_of(number) }..if number + 1 == devices {
                n
            } else {
                end_of(number + 1)
            };
            let mut steps: Vec<Step> = Vec::new();
            for range in 0..RANGES {
                let own = edges[range].max(ranks.start)..edges[range + 1].min(ranks.end);
                if own.is_empty() {
                    continue;
                }
                let to = own.start - ranks.start..own.end - ranks.start;
                let pieces = pieces(range, edges[range], &own, ranks.start, counts, starts);
                match steps.last_mut() {
                    Some(step) if to.end - step.to.start <= most => {
                        step.to.end = to.end;
                        step.pieces.extend(pieces);
                        step.equal = false;
                    }
                    _ => steps.push(Step { to, pieces, equal: cut.is_of_one_code(range) }),
                }
            }
            steps
        };
        Division { parts: (0..devices).map(part).collect() }
    }

    /// The number of keys in a part.
    pub fn keys(&self, part: usize) -> usize {
        self.parts[part].last().map_or(0, |step| step.to.end)
    }

    /// Whether the parts differ from their mean by no more than allowed.
    pub fn is_even(&self) -> bool {
        let keys = (0..self.parts.len()).map(|part| self.keys(part));
        let n: usize = keys.clone().sum();
        let mean = n / self.parts.len();
        // A difference of one key is always allowed.
        keys.max().unwrap_or(0) <= mean + mean / MOST_UNEVEN + 1
            && (0..self.parts.len()).all(|part| self.keys(part) + mean / MOST_UNEVEN + 1 >= mean)
    }
}

/// The maximum number of keys in a step, unless one range has more.
pub(super) fn most_keys(n: usize, devices: usize) -> usize {
    let share = (2 * n).div_ceil(devices * halves(devices));
    share + share / 8
}

/// The pieces of a range for the given ranks. The range begins at rank `low`. Destinations count from rank `first`.
fn pieces(
    range: usize,
    low: usize,
    ranks: &Range<usize>,
    first: usize,
    counts: &[[usize; RANGES]],
    starts: &[[usize; RANGES + 1]],
) -> Vec<Piece> {
    let mut begin = low;
    let mut pieces = Vec::new();
    for (source, counts) in counts.iter().enumerate() {
        let of_source = begin..begin + counts[range];
        let own = of_source.start.max(ranks.start)..of_source.end.min(ranks.end);
        if !own.is_empty() {
            let at = |rank: usize| starts[source][range] + rank - of_source.start;
            pieces.push(Piece { source, from: at(own.start)..at(own.end), to: own.start - first });
        }
        begin = of_source.end;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Divides the keys, and checks the destination of each.
    fn check(shares: &[Vec<u32>], even: bool) {
        let mut sample: Vec<u32> = shares.concat();
        sample.sort_unstable();
        let cut = Cut::new(&sample, shares.len());
        let mut counts = vec![[0; RANGES]; shares.len()];
        let mut by_range: Vec<Vec<u32>> = shares.to_vec();
        let mut starts = vec![[0; RANGES + 1]; shares.len()];
        for (source, keys) in by_range.iter_mut().enumerate() {
            keys.sort_unstable();
            keys.iter().for_each(|&key| counts[source][cut.range_of(key)] += 1);
            for range in 0..RANGES {
                starts[source][range + 1] = starts[source][range] + counts[source][range];
            }
        }
        let division = Division::new(&cut, &counts, &starts);
        let mut all = Vec::new();
        for (part, steps) in division.parts.iter().enumerate() {
            let mut here = vec![None; division.keys(part)];
            let mut end = 0;
            for step in steps {
                assert_eq!(step.to.start, end);
                end = step.to.end;
                for piece in &step.pieces {
                    assert!(piece.to >= step.to.start && piece.to + piece.from.len() <= step.to.end);
                    for (i, from) in piece.from.clone().enumerate() {
                        assert!(here[piece.to + i].replace(by_range[piece.source][from]).is_none());
                    }
                }
                let mut keys: Vec<u32> = here[step.to.clone()].iter().map(|key| key.unwrap()).collect();
                assert!(!step.equal || keys.windows(2).all(|pair| pair[0] == pair[1]));
                keys.sort_unstable();
                all.extend(keys);
            }
        }
        assert!(all == sample, "all keys, in order");
        assert!(!even || division.is_even(), "{:?}", division.parts.iter().map(Vec::len).collect::<Vec<_>>());
    }

    #[test]
    fn every_key_goes_to_its_place_and_parts_are_even() {
        let mut random = fastrand::Rng::with_seed(1);
        for devices in 2..=8 {
            for most in [1, 2, 3, 50, 1000, u32::MAX] {
                let mut draw = |n| (0..n).map(|_| random.u32(0..most)).collect::<Vec<_>>();
                check(&(0..devices).map(|_| draw(5000)).collect::<Vec<_>>(), true);
                check(&(0..devices).map(|i| draw(3000 * (i % 3))).collect::<Vec<_>>(), true);
                check(&(0..devices).map(|i| draw(i % 2)).collect::<Vec<_>>(), true);
            }
            check(&vec![vec![u32::MAX; 1000]; devices], true);
            check(&vec![vec![0, u32::MAX]; devices], true);
        }
    }

    #[test]
    fn there_are_splitters_enough() {
        for devices in 2..=8 {
            assert!(sub_ranges(devices) >= 3);
            let cut = Cut::new(&(0..1_000_000u32).collect::<Vec<_>>(), devices);
            assert!((0..RANGES).filter(|&range| cut.is_of_one_code(range)).count() >= devices - 1);
        }
    }
}
