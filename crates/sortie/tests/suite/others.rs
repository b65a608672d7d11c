//! Keys of the standard library and of callers, compared with its own sorts.

use std::cmp::Reverse;
use std::fmt::Debug;
use std::net::IpAddr;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;

use sortie::{Key, KeyBy, Order};

/// Sorts keys in both directions, and selects the first of them.
fn check<K: Key + Clone + Ord + Debug>(draw: impl Fn(&mut fastrand::Rng) -> K) {
    let mut random = fastrand::Rng::with_seed(5);
    for n in [0, 1, 20, 3000] {
        let keys: Vec<K> = (0..n).map(|_| draw(&mut random)).collect();
        let mut indices: Vec<usize> = (0..n).collect();
        for descending in [false, true] {
            let directed = |a: &K, b: &K| if descending { b.cmp(a) } else { a.cmp(b) };
            let (mut sorted, mut expected) = (keys.clone(), keys.clone());
            sortie::Sorter::builder().descending(descending).build().unwrap().sort(&mut sorted).unwrap();
            expected.sort_by(directed);
            assert_eq!(sorted, expected, "{n}");
            indices.sort();
            indices.sort_by(|&a, &b| directed(&keys[a], &keys[b]));
            let order = if descending { Order::DESCENDING } else { Order::ASCENDING };
            assert_eq!(sortie::arg_top_k(&keys, n / 10, order), indices[..n / 10], "{n}");
        }
    }
}

#[test]
fn numbers_and_addresses() {
    check(|random| NonZero::new(random.i32(..) | 1).unwrap());
    check(|random| (random.u8(..4), Reverse(random.u32(..))));
    check(|random| IpAddr::from(if random.bool() { [7; 16] } else { random.u128(..).to_be_bytes() }));
}

#[test]
fn slices() {
    let length = |random: &mut fastrand::Rng| random.usize(..5);
    check(|random| (0..length(random)).map(|_| random.u32(..3)).collect::<Vec<_>>());
    check(|random| (0..length(random)).map(|_| random.i8(-2..2)).collect::<Vec<_>>());
    check(|random| (0..length(random)).map(|_| random.u128(..2) << 100).collect::<Box<[_]>>());
    check(|random| (0..length(random)).map(|_| "ab".repeat(random.usize(..5))).collect::<Vec<_>>());
    check(|random| (0..length(random)).map(|_| (random.bool(), random.u16(..3))).collect::<Arc<[_]>>());
    check(|random| vec![vec![random.char('a'..'d'); length(random)]; length(random)]);
    check(|random| (vec![random.bool(); length(random)], random.u64(..)));
    let words: Vec<Vec<&str>> = ["a b", "", "a", "b a", "a a b"].map(|text| text.split(' ').collect()).into();
    check(|random| &words[random.usize(..words.len())][..]);
}

/// NaNs and `None` go where the order says, whatever the direction.
#[test]
fn slices_have_the_order_of_their_elements() {
    let mut floats = [vec![1.0, f32::NAN], vec![f32::NAN], vec![1.0], vec![1.0, 2.0]];
    sortie::Sorter::builder().descending(true).build().unwrap().sort(&mut floats).unwrap();
    assert_eq!(format!("{floats:?}"), "[[1.0, 2.0], [1.0, NaN], [1.0], [NaN]]");
    let mut options = [vec![None, Some(1)], vec![Some(5)], vec![], vec![Some(5), None]];
    sortie::sort(&mut options);
    assert_eq!(options, [vec![], vec![Some(5)], vec![Some(5), None], vec![None, Some(1)]]);
}

#[test]
fn paths() {
    check(|random| PathBuf::from(format!("dir/{}", random.u8(..30)).repeat(random.usize(..3))));
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Version {
    name: String,
    number: Reverse<u32>,
}

impl KeyBy for Version {
    type Key<'a> = (&'a str, Reverse<u32>);
    fn key(&self) -> Self::Key<'_> {
        (&self.name, self.number)
    }
}

#[test]
fn types_of_callers() {
    check(|random| Version {
        name: "crate-".repeat(random.usize(..3)) + &random.u8(..9).to_string(),
        number: Reverse(random.u32(..50)),
    });
}
