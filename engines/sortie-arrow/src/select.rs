//! The first k of n keys, without sorting all of them.

use std::cmp::Ordering;

/// A selection is made if the limit is at most 1/`SHARE` of the keys. An estimate, not tuned.
const SHARE: usize = 8;
/// The least number of candidates to keep before a quickselect.
const ROOM: usize = 1024;

/// Whether it pays to select `k` of `n` keys before they are sorted.
pub(crate) fn pays(k: usize, n: usize) -> bool {
    k > 0 && k <= n / SHARE
}

/// The positions of all keys that are not after the `k`-th in order, ascending. These are more than `k` if keys equal the `k`-th.
///
/// At most `2k` candidates are kept, or `ROOM`. When there are as many, a quickselect keeps the first `k`. Later keys become
/// candidates only if they are before the last of those. This takes O(n) in total.
pub(crate) fn up_to<K: Copy + Ord>(keys: &[K], k: usize, descending: bool) -> Vec<u32> {
    match descending {
        false => up_to_by(keys, k, Ord::cmp),
        true => up_to_by(keys, k, |a, b| b.cmp(a)),
    }
}

fn up_to_by<K: Copy>(keys: &[K], k: usize, compare: impl Fn(&K, &K) -> Ordering) -> Vec<u32> {
    let room = keys.len().min((2 * k).max(ROOM));
    let (first, others) = keys.split_at(room);
    let mut kept = first.to_vec();
    let mut bound = shrink(&mut kept, k, &compare);
    for key in others {
        if compare(key, &bound).is_lt() {
            kept.push(*key);
            if kept.len() == room {
                bound = shrink(&mut kept, k, &compare);
            }
        }
    }
    let bound = shrink(&mut kept, k, &compare);
    let is_in = |(_, key): &(usize, &K)| compare(key, &bound).is_le();
    keys.iter().enumerate().filter(is_in).map(|(position, _)| position as u32).collect()
}

/// Keeps the first `k` keys, and returns the last of them.
fn shrink<K: Copy>(kept: &mut Vec<K>, k: usize, compare: impl Fn(&K, &K) -> Ordering) -> K {
    let bound = *kept.select_nth_unstable_by(k - 1, compare).1;
    kept.truncate(k);
    bound
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Orders that keep a selection busy, or idle, and keys that are equal to the last one.
    #[test]
    fn all_up_to_the_kth_are_found() {
        let n = 5 * ROOM as u32;
        let patterns: [fn(u32) -> u32; 4] =
            [|i| i, |i| u32::MAX - i, |i| i.wrapping_mul(0x9E37_79B9), |i| i % 7];
        for (pattern, keys) in patterns.iter().map(|of| (0..n).map(of).collect::<Vec<_>>()).enumerate() {
            for k in [1, 2, ROOM / 2, ROOM, ROOM + 1, keys.len()] {
                let mut sorted = keys.clone();
                sorted.sort_unstable();
                let is_in = |&i: &u32| keys[i as usize] <= sorted[k - 1];
                let expected: Vec<u32> = (0..n).filter(is_in).collect();
                assert_eq!(up_to(&keys, k, false), expected, "the first {k} of pattern {pattern}");
            }
        }
    }

    #[test]
    fn few_keys_are_all_candidates() {
        assert_eq!(up_to(&["c", "a", "b"], 2, false), [1, 2]);
        assert_eq!(up_to(&[1, 1, 1], 1, false), [0, 1, 2]);
    }
}
