//! Checks results.

/// Whether `places` is a permutation that puts `keys` in ascending order. With `stable`, equal keys must be in index
/// order.
pub fn places_order<K: PartialOrd + Copy>(
    keys: &[K],
    places: impl ExactSizeIterator<Item = usize>,
    stable: bool,
) -> bool {
    if places.len() != keys.len() {
        return false;
    }
    let mut seen = vec![false; keys.len()];
    let mut before: Option<(K, usize)> = None;
    for place in places {
        let Some(seen) = seen.get_mut(place) else { return false };
        let key = keys[place];
        let in_order = match before {
            Some((least, at)) => least < key || (least == key && (at < place || !stable)),
            None => true,
        };
        if std::mem::replace(seen, true) || !in_order {
            return false;
        }
        before = Some((key, place));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::places_order;

    fn right(keys: &[u8], places: &[usize], stable: bool) -> bool {
        places_order(keys, places.iter().copied(), stable)
    }

    #[test]
    fn tells_right_from_wrong() {
        let keys = [2, 1, 2];
        assert!(right(&keys, &[1, 0, 2], true));
        assert!(right(&keys, &[1, 2, 0], false));
        assert!(!right(&keys, &[1, 2, 0], true), "not stable");
        assert!(!right(&keys, &[0, 1, 2], false), "not in order");
        assert!(!right(&keys, &[1, 0, 0], false), "a place twice");
        assert!(!right(&keys, &[1, 0], false), "too few");
        assert!(!right(&keys, &[1, 0, 3], false), "no such place");
    }
}
