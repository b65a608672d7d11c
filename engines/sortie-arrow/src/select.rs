//! The first k of n keys, without sorting all of them.

use std::cmp::Ordering;

/// A selection is made if the limit is at most 1/`SHARE` of the keys. With it, 10^6 integers, floats, strings or rows of two
/// columns take 1.00 to 1.79 of the time at a quarter, 0.94 to 1.06 at an eighth, and 0.66 to 0.80 at a sixteenth.
const SHARE: usize = 8;
/// The least number of candidates to keep before a quickselect.
const ROOM: usize = 1024;

/// Whether it pays to select `k` of `n` keys before they are sorted.
pub(crate) fn pays(k: usize, n: usize) -> bool {
    k > 0 && k <= n / SHARE
}

/// The positions of the first `k` keys in order, ascending. Of keys that equal the `k`-th, the first by position are taken.
pub(crate) fn first<K: Copy + Ord>(keys: &[K], k: usize, descending: bool) -> Vec<u32> {
    match descending {
        false => first_by(keys, k, Ord::cmp),
        true => first_by(keys, k, |a, b| b.cmp(a)),
    }
}

fn first_by<K: Copy>(keys: &[K], k: usize, compare: impl Fn(&K, &K) -> Ordering) -> Vec<u32> {
    let kept = kept(keys, k, &compare);
    let bound = kept[k - 1];
    let mut ties = kept.iter().filter(|key| compare(key, &bound).is_eq()).count();
    let mut positions = Vec::with_capacity(k);
    for (key, position) in keys.iter().zip(0..) {
        match compare(key, &bound) {
            Ordering::Greater => {}
            Ordering::Equal if ties == 0 => {}
            Ordering::Equal => {
                ties -= 1;
                positions.push(position);
            }
            Ordering::Less => positions.push(position),
        }
    }
    positions
}

/// The positions of all keys that are not greater than the `k`-th, ascending. These are more than `k` if keys equal the `k`-th.
pub(crate) fn up_to<K: Copy + Ord>(keys: &[K], k: usize) -> Vec<u32> {
    let bound = kept(keys, k, &Ord::cmp)[k - 1];
    keys.iter().zip(0..).filter(|(key, _)| **key <= bound).map(|(_, position)| position).collect()
}

/// The first `k` keys in order, of which only the last is known to be where it belongs.
///
/// At most `2k` candidates are kept, or `ROOM`. When there are as many, a quickselect keeps the first `k`. Later keys become
/// candidates only if they are before the last of those. This takes O(n) in total.
fn kept<K: Copy>(keys: &[K], k: usize, compare: &impl Fn(&K, &K) -> Ordering) -> Vec<K> {
    let room = keys.len().min((2 * k).max(ROOM));
    let (first, others) = keys.split_at(room);
    let mut kept = first.to_vec();
    let mut bound = shrink(&mut kept, k, compare);
    for key in others {
        if compare(key, &bound).is_lt() {
            kept.push(*key);
            if kept.len() == room {
                bound = shrink(&mut kept, k, compare);
            }
        }
    }
    shrink(&mut kept, k, compare);
    kept
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
    fn the_first_k_are_found() {
        let n = 5 * ROOM as u32;
        let patterns: [fn(u32) -> u32; 5] =
            [|i| i, |i| u32::MAX - i, |i| i.wrapping_mul(0x9E37_79B9), |i| i % 7, |_| 5];
        for (pattern, keys) in patterns.iter().map(|of| (0..n).map(of).collect::<Vec<_>>()).enumerate() {
            for k in [1, 2, ROOM / 2, ROOM, ROOM + 1, keys.len()] {
                for descending in [false, true] {
                    let mut order: Vec<u32> = (0..n).collect();
                    order.sort_by_key(|&i| keys[i as usize] ^ if descending { u32::MAX } else { 0 });
                    let mut expected = order[..k].to_vec();
                    expected.sort_unstable();
                    let what = format!("the first {k} of pattern {pattern}, descending: {descending}");
                    assert_eq!(first(&keys, k, descending), expected, "{what}");
                    if !descending {
                        let last = keys[order[k - 1] as usize];
                        let all: Vec<u32> = (0..n).filter(|&i| keys[i as usize] <= last).collect();
                        assert_eq!(up_to(&keys, k), all, "{what}, with all ties");
                    }
                }
            }
        }
    }

    #[test]
    fn few_keys_are_all_candidates() {
        assert_eq!(first(&["c", "a", "b"], 2, false), [1, 2]);
        assert_eq!(first(&[1, 1, 1], 2, true), [0, 1]);
        assert_eq!(up_to(&[1, 1, 1], 1), [0, 1, 2]);
    }
}
