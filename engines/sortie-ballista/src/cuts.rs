//! [`Cut`]: where one range of rows ends and the next begins.
//!
//! Ranges are cut by the keys of a sample, as in sample sort (Frazer and McKellar, "Samplesort", JACM 1970). Where a key is as
//! frequent as a whole range, a cut goes through the rows that have it: which of them come before is decided by a number that
//! each row draws.

use std::collections::HashMap;

/// The end of a range, and the start of the next.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Cut {
    /// The keys as bytes.
    #[prost(bytes = "vec", tag = "1")]
    pub key: Vec<u8>,
    /// How many of the rows with these keys come before the cut: this number over 2^64.
    #[prost(fixed64, tag = "2")]
    pub share: u64,
}

/// A row of the sample.
pub(crate) struct Sampled {
    pub key: Vec<u8>,
    /// How many bytes it takes, about.
    pub weight: u64,
}

/// Cuts rows like those of the sample into as many ranges, of about equal weight. There are fewer if the sample is empty.
pub(crate) fn choose(sample: &[Sampled], ranges: usize) -> Vec<Cut> {
    let keys: Vec<&[u8]> = sample.iter().map(|row| row.key.as_slice()).collect();
    let order = sortie::argsort(&keys);
    let total: u64 = sample.iter().map(|row| row.weight).sum();
    let mut groups = order.chunk_by(|&a, &b| keys[a] == keys[b]);
    let mut cuts = Vec::with_capacity(ranges.saturating_sub(1));
    // Of the group that the next cut may be in: its key, and the weight up to it and with it.
    let mut group: Option<(&[u8], u64, u64)> = None;
    for range in 1..ranges {
        let target = (u128::from(total) * range as u128 / ranges as u128) as u64;
        while group.is_none_or(|(_, _, end)| end <= target) {
            let Some(rows) = groups.next() else { break };
            let start = group.map_or(0, |(_, _, end)| end);
            let weight: u64 = rows.iter().map(|&row| sample[row].weight).sum();
            group = Some((keys[rows[0]], start, start + weight));
        }
        let Some((key, start, end)) = group else { break };
        let share = (u128::from(target - start) << 64) / u128::from((end - start).max(1));
        cuts.push(Cut { key: key.to_vec(), share: share.min(u64::MAX.into()) as u64 });
    }
    cuts
}

/// Whether ranges are of about equal weight although the keys of the sample are cut off after some bytes. Rows with the same first
/// bytes all come after a cut that has no more.
pub(crate) fn are_even(cuts: &[Cut], sample: &[Sampled], key_bytes: usize) -> bool {
    let shortened = cuts.iter().filter(|cut| cut.key.len() == key_bytes);
    let mut weights: HashMap<&[u8], u64> = shortened.map(|cut| (cut.key.as_slice(), 0)).collect();
    let mut total = 0;
    for row in sample {
        total += row.weight;
        if let Some(weight) = weights.get_mut(row.key.as_slice()) {
            *weight += row.weight;
        }
    }
    let most = total / (UNEVENNESS * (cuts.len() as u64 + 1));
    weights.values().all(|&weight| weight <= most)
}

/// A range that is larger by one part in this many is taken for even.
const UNEVENNESS: u64 = 16;

/// Finds the range of each row in turn.
pub(crate) struct Ranges {
    cuts: Vec<Cut>,
    /// Of the rows that a cut goes through, how many there were so far; by the first cut that goes through them.
    drawn: Vec<u64>,
}

/// 2^64 over the golden ratio. Its multiples, modulo 2^64, are spread evenly however many there are (Knuth, The Art of Computer
/// Programming, volume 3, section 6.4).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Ranges {
    pub(crate) fn new(cuts: Vec<Cut>) -> Ranges {
        Ranges { drawn: vec![0; cuts.len()], cuts }
    }

    /// The range of the next row. The same rows in the same order get the same ranges, so that a task may be repeated.
    pub(crate) fn next(&mut self, key: &[u8]) -> usize {
        let first = self.cuts.partition_point(|cut| cut.key.as_slice() < key);
        if self.cuts.get(first).is_none_or(|cut| cut.key != key) {
            return first;
        }
        let drawn = self.drawn[first].wrapping_mul(GOLDEN);
        self.drawn[first] += 1;
        first + self.cuts[first..].partition_point(|cut| cut.key == key && cut.share <= drawn)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sampled(keys: &[Vec<u8>]) -> Vec<Sampled> {
        keys.iter().map(|key| Sampled { key: key.clone(), weight: 1 + key.len() as u64 }).collect()
    }

    proptest! {
        #[test]
        fn ranges_are_in_order_and_of_equal_weight(
            keys in prop::collection::vec(prop::collection::vec(0..3u8, 0..3), 1..400),
            ranges in 1..20usize,
        ) {
            let sample = sampled(&keys);
            let cuts = choose(&sample, ranges);
            prop_assert_eq!(cuts.len(), ranges - 1);
            let mut finder = Ranges::new(cuts);
            let mut rows: Vec<(usize, &Vec<u8>)> = keys.iter().map(|key| (finder.next(key), key)).collect();
            rows.sort();
            prop_assert!(rows.is_sorted_by_key(|&(_, key)| key));
            let total: u64 = sample.iter().map(|row| row.weight).sum();
            let longest = sample.iter().map(|row| row.weight).max().unwrap();
            for range in 0..ranges {
                let weight: u64 = rows.iter().filter(|row| row.0 == range).map(|row| 1 + row.1.len() as u64).sum();
                // Equal keys go to either side of a cut in about the right proportion, one by one.
                prop_assert!(weight.abs_diff(total / ranges as u64) <= 8 * longest, "{weight} of {total}");
            }
        }
    }

    #[test]
    fn a_few_values_are_spread_over_many_ranges() {
        let keys: Vec<_> = (0..100_000u32).map(|i| vec![(i % 16) as u8]).collect();
        let mut finder = Ranges::new(choose(&sampled(&keys[..5000]), 50));
        let mut rows = [0; 50];
        keys.iter().for_each(|key| rows[finder.next(key)] += 1);
        assert!(rows.iter().all(|rows| (1960..=2040).contains(rows)), "{rows:?}");
    }

    #[test]
    fn an_empty_sample_has_no_cuts() {
        assert!(choose(&[], 7).is_empty());
        assert_eq!(Ranges::new(vec![]).next(b"x"), 0);
    }

    #[test]
    fn rows_without_weight_are_cut_too() {
        let sample: Vec<_> = (0..10).map(|i| Sampled { key: vec![i], weight: 0 }).collect();
        assert_eq!(choose(&sample, 3).len(), 2);
    }

    #[test]
    fn keys_that_agree_on_the_bytes_that_are_kept_are_not_even() {
        let keys: Vec<_> = (0..1000u32).map(|i| [vec![7; 30], i.to_be_bytes().to_vec()].concat()).collect();
        let even = |key_bytes: usize| {
            let kept: Vec<_> = keys.iter().map(|key| key[..key.len().min(key_bytes)].to_vec()).collect();
            let sample = sampled(&kept);
            are_even(&choose(&sample, 4), &sample, key_bytes)
        };
        assert!(!even(16) && even(34) && even(100));
    }
}
