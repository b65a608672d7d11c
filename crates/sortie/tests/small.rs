//! Calls every function once with small input, which is fast enough for Miri, a tool that finds undefined behaviour;
//! and once with input that is distributed and shared by threads, for AddressSanitizer.

use std::cmp::Reverse;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use fastrand::Rng;
use sortie::{Algorithm, Key, Segments, Sorter};

/// Sizes for a few keys, for one network, and for several. Miri is slow, so its largest size is smaller.
const SIZES: [usize; 6] = [0, 1, 2, 13, 100, if cfg!(miri) { 300 } else { 1200 }];

fn numbers(n: usize) -> Vec<u64> {
    let mut rng = Rng::with_seed(n as u64);
    (0..n).map(|_| rng.u64(..) >> rng.u32(0..64)).collect()
}

/// Numbers in several orders: random, few distinct, one run, two runs, and a run followed by others.
fn shapes(n: usize) -> [Vec<u64>; 9] {
    let random = numbers(n);
    let mut ascending = random.clone();
    ascending.sort_unstable();
    let descending: Vec<u64> = ascending.iter().rev().copied().collect();
    let (even, odd) = (ascending.iter().step_by(2), ascending.iter().skip(1).step_by(2).rev());
    let up_and_down = even.chain(odd).copied().collect();
    let with_tail = |count: usize| {
        let mut keys = random.clone();
        keys[..n - n.min(count)].sort_unstable();
        keys
    };
    let few: Vec<u64> = random.iter().map(|x| (x % 4) << 50).collect();
    let mut few_but_one = few.clone();
    few_but_one.iter_mut().last().into_iter().for_each(|last| *last = 7);
    let equal = vec![7 << 40; n];
    [
        with_tail(1),
        with_tail(n / 10),
        with_tail(n / 2),
        random,
        few,
        few_but_one,
        equal,
        descending,
        up_and_down,
    ]
}

fn check_keys<K: Key + Copy + Ord>(from: impl Fn(u64) -> K) {
    for keys in SIZES.into_iter().map(|n| if cfg!(miri) { n.min(70) } else { n }).flat_map(shapes) {
        check(&keys.into_iter().map(&from).collect::<Vec<K>>());
    }
}

fn check<K: Key + Copy + Ord>(keys: &[K]) {
    let n = keys.len();
    let mut expected: Vec<(K, usize)> = keys.iter().copied().zip(0..).collect();
    expected.sort();

    let mut sorted = keys.to_vec();
    sortie::sort(&mut sorted);
    assert!(sorted.iter().eq(expected.iter().map(|pair| &pair.0)));

    let (mut sorted, mut payload) = (keys.to_vec(), (0..n).map(Box::new).collect::<Vec<_>>());
    sortie::sort_pairs(&mut sorted, &mut payload);
    assert!(sorted.into_iter().zip(payload.into_iter().map(|index| *index)).eq(expected.iter().copied()));

    assert!(sortie::argsort(keys).iter().eq(expected.iter().map(|pair| &pair.1)));

    let mut records: Vec<(K, Box<usize>)> = keys.iter().copied().zip((0..n).map(Box::new)).collect();
    sortie::sort_by_key(&mut records, |record| record.0);
    assert!(records.into_iter().map(|(key, index)| (key, *index)).eq(expected.iter().copied()));

    let mut sorted = keys.to_vec();
    sortie::sort_segments(&mut sorted, Segments::Offsets(&[n / 4, n / 2, n / 2, n]));
    assert!(sorted[..n / 4] == keys[..n / 4]);
    assert!(sorted[n / 4..n / 2].is_sorted() && sorted[n / 2..].is_sorted());
}

#[test]
fn keys_pairs_places_and_segments() {
    check_keys(|x| x as u8);
    check_keys(|x| x as i16);
    check_keys(|x| x as i32);
    check_keys(|x| x);
    check_keys(|x| i128::from(x) << 60);
    check_keys(|x| x % 2 == 0);
    check_keys(|x| (x as u16, x % 3 == 0));
    check_keys(|x| (x >> 50, x));
}

#[test]
#[cfg_attr(miri, ignore = "takes hours")]
fn every_number_of_few_keys() {
    for keys in (0..70).chain([1023, 1024, 1025, 1500, 4000]).flat_map(shapes) {
        check(&keys);
        check(&keys.iter().map(|&x| x as i16).collect::<Vec<_>>());
        check(&keys.iter().map(|&x| (i128::from(x) << 60) + 5).collect::<Vec<_>>());
        check(&keys.iter().map(|&x| (x / 3, x)).collect::<Vec<_>>());
    }
}

/// They do not fit in the stack buffer with which few elements are moved.
#[test]
fn few_elements_that_are_large() {
    for keys in shapes(100) {
        let mut records: Vec<(u64, [Box<u64>; 32])> =
            keys.iter().map(|&key| (key, std::array::from_fn(|_| Box::new(key)))).collect();
        sortie::sort_by_key(&mut records, |record| record.0);
        assert!(records.is_sorted() && records.iter().all(|(key, boxes)| boxes.iter().all(|b| **b == *key)));
    }
}

#[test]
fn every_algorithm() {
    for algorithm in [Algorithm::Radix, Algorithm::Quicksort, Algorithm::Merge] {
        let sorter =
            Sorter::builder().threads(1).algorithm(algorithm).descending(true).unstable().build().unwrap();
        for n in SIZES {
            let mut keys: Vec<f64> = numbers(n).into_iter().map(f64::from_bits).collect();
            sorter.sort(&mut keys).unwrap();
            let numbers = keys.iter().take_while(|key| !key.is_nan()).count();
            assert!(
                keys[..numbers].is_sorted_by(|a, b| a >= b) && keys[numbers..].iter().all(|key| key.is_nan())
            );
            let mut keys: Vec<u32> = self::numbers(n).into_iter().map(|x| x as u32).collect();
            let mut payload: Vec<Box<u32>> = keys.iter().copied().map(Box::new).collect();
            sorter.sort_pairs(&mut keys, &mut payload).unwrap();
            assert!(keys.is_sorted_by_key(|&key| Reverse(key)));
            assert!(keys.iter().zip(&payload).all(|(key, payload)| *key == **payload));
        }
    }
}

#[test]
fn elements_that_own_memory() {
    for n in SIZES {
        let texts: Vec<String> = numbers(n).iter().map(|x| format!("{x:b}")).collect();
        let mut expected = texts.clone();
        expected.sort();
        let mut sorted = texts.clone();
        sortie::sort(&mut sorted);
        assert!(sorted == expected);
        let mut sorted = texts.clone();
        sortie::sort_strings(&mut sorted);
        assert!(sorted == expected);
        let mut sorted = texts.clone();
        sortie::sort_by(&mut sorted, |a, b| a.cmp(b));
        assert!(sorted == expected);
        let mut sorted = texts.clone();
        sortie::sort_by_cached_key(&mut sorted, String::clone);
        assert!(sorted == expected);

        expected.sort_by_key(String::len);
        sortie::sort_by_key(&mut sorted, String::len);
        assert!(sorted == expected);

        let mut offsets = vec![0u32];
        let mut bytes = Vec::new();
        for text in &texts {
            bytes.extend_from_slice(text.as_bytes());
            offsets.push(bytes.len() as u32);
        }
        sortie::sort_string_array(&mut offsets, &mut bytes);
        assert!(offsets.windows(2).map(|pair| &bytes[pair[0] as usize..pair[1] as usize]).is_sorted());
    }
}

/// A string that can be told apart from equal ones.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Told(Vec<u8>, usize);

impl AsRef<[u8]> for Told {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Strings with `n` different beginnings and various lengths.
fn kinds_of_strings(n: usize) -> Vec<Vec<Vec<u8>>> {
    let mut rng = Rng::with_seed(n as u64);
    let mut draw = |string: &mut dyn FnMut(&mut Rng) -> Vec<u8>| (0..n).map(|_| string(&mut rng)).collect();
    let nested: Vec<Vec<u8>> = draw(&mut |rng| vec![b'a'; rng.usize(0..90)]);
    let mut falling = nested.clone();
    falling.sort_by(|a, b| b.cmp(a));
    let words: Vec<Vec<u8>> = draw(&mut |rng| format!("a word {}", rng.usize(0..n)).into_bytes());
    let mut sorted = words.clone();
    sorted.sort();
    let rotated = [&sorted[n / 3..], &sorted[..n / 3]].concat();
    let up_and_down =
        sorted.iter().step_by(2).chain(sorted.iter().skip(1).step_by(2).rev()).cloned().collect();
    let with_tail = |count: usize| {
        let mut strings = words.clone();
        strings[..n - n.min(count)].sort();
        strings
    };
    vec![
        rotated,
        up_and_down,
        with_tail(1),
        with_tail(n / 3),
        nested,
        falling,
        draw(&mut |_| b"one string that all of them are".to_vec()),
        draw(&mut |rng| vec![rng.u8(0..2); rng.usize(0..4)]),
        draw(&mut |rng| (0..rng.usize(0..12)).map(|_| rng.u8(0..2) * 255).collect()),
        draw(&mut |rng| [&b"a prefix that is shared "[..], &[b'x'; 30][..rng.usize(0..30)]].concat()),
        draw(&mut |rng| format!("{:b}/{}", rng.u8(..), rng.u16(..)).into_bytes()),
        draw(&mut |rng| vec![rng.u8(0..4); 200]),
    ]
}

fn check_strings(strings: Vec<Vec<u8>>, sorter: &Sorter, descending: bool) {
    let told: Vec<Told> = strings.into_iter().zip(0..).map(|(string, i)| Told(string, i)).collect();
    let mut expected = told.clone();
    expected.sort_by(|a, b| if descending { b.0.cmp(&a.0) } else { a.0.cmp(&b.0) });
    let shared = |a: &Told, b: &Told| a.0.iter().zip(&b.0).take_while(|(a, b)| a == b).count() as u32;
    let mut lcps = vec![0; told.len().min(1)];
    lcps.extend(expected.windows(2).map(|pair| shared(&pair[0], &pair[1])));

    let mut sorted = told.clone();
    sorter.sort_strings(&mut sorted).unwrap();
    assert!(sorted == expected);
    let mut indices = vec![0usize; told.len()];
    sorter.argsort_strings(&told, &mut indices).unwrap();
    assert!(indices.iter().eq(expected.iter().map(|told| &told.1)));
    let (mut sorted, mut found) = (told, vec![0u32; lcps.len()]);
    sorter.sort_strings_with_lcps(&mut sorted, &mut found).unwrap();
    assert!(sorted == expected && found == lcps);
}

#[test]
fn strings_of_every_kind() {
    let large: &[usize] = if cfg!(miri) { &[] } else { &[5000, 9000, 150_000] };
    for descending in [false, true] {
        for threads in if cfg!(miri) { 1..2 } else { 1..4 } {
            let sorter = Sorter::builder().threads(threads).descending(descending).build().unwrap();
            for &n in [8, 9, 32, 33].iter().chain(&SIZES).chain(large) {
                for strings in kinds_of_strings(n) {
                    check_strings(strings, &sorter, descending);
                }
            }
        }
    }
}

/// Some elements move with their keys, others by their indices, and by exchanges if memory is short.
#[test]
fn elements_of_every_size() {
    fn check<const B: usize>(n: usize, sorter: &Sorter) {
        let elements: Vec<(u64, Box<usize>, [u8; B])> =
            numbers(n).into_iter().zip(0..).map(|(key, i)| (key % 50, Box::new(i), [7; B])).collect();
        let mut expected = elements.clone();
        expected.sort_by_key(|element| element.0);
        let mut sorted = elements.clone();
        sorter.sort_by_key(&mut sorted, |element| element.0).unwrap();
        assert!(sorted == expected);
        let mut sorted = elements.clone();
        sorter.sort_by_cached_key(&mut sorted, |element| element.0).unwrap();
        assert!(sorted == expected);
        let mut kept = elements.clone();
        let asked = AtomicUsize::new(0);
        let panicking = |element: &(u64, Box<usize>, [u8; B])| {
            if asked.fetch_add(1, Relaxed) == n / 2 {
                resume_unwind(Box::new(()));
            }
            element.0
        };
        let sorted = catch_unwind(AssertUnwindSafe(|| sorter.sort_by_key(&mut kept, panicking)));
        assert!(sorted.is_err() == (n > 0) && kept == elements);
    }
    let large: &[usize] = if cfg!(miri) { &[] } else { &[100_000] };
    for &n in SIZES.iter().chain(large) {
        for threads in if cfg!(miri) { 1..2 } else { 1..4 } {
            let sorter = Sorter::builder().threads(threads);
            // Keys, indices, and what the argsort takes.
            let short = sorter.clone().memory_limit(n as u64 * (8 + 8 + 12)).build().unwrap();
            for sorter in [sorter.build().unwrap(), short] {
                check::<0>(n, &sorter);
                check::<3>(n, &sorter);
                check::<100>(n, &sorter);
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes hours")]
fn large_input() {
    let numbers = numbers(1_100_000);
    let mut indices: Vec<usize> = (0..numbers.len()).collect();
    indices.sort_by_key(|&index| numbers[index]);
    let expected: Vec<u64> = indices.iter().map(|&index| numbers[index]).collect();
    for threads in [1, 2, 3] {
        let sorter = Sorter::builder().threads(threads).build().unwrap();
        let mut keys = numbers.clone();
        sorter.sort(&mut keys).unwrap();
        assert!(keys == expected);

        let (mut keys, mut payload) = (numbers.clone(), (0..numbers.len()).collect::<Vec<_>>());
        sorter.sort_pairs(&mut keys, &mut payload).unwrap();
        assert!(keys == expected && payload == indices);

        sorter.argsort(&numbers, &mut payload).unwrap();
        assert!(payload == indices);

        for keys in shapes(265_000) {
            let mut expected: Vec<(u64, u64)> = keys.iter().copied().zip(0..).collect();
            expected.sort();
            let mut wide: Vec<i128> = keys.iter().map(|&key| i128::from(key) << 50).collect();
            sorter.sort(&mut wide).unwrap();
            assert!(
                wide.iter().eq(expected
                    .iter()
                    .map(|pair| i128::from(pair.0) << 50)
                    .collect::<Vec<_>>()
                    .iter())
            );
            let mut narrow: Vec<i16> = keys.iter().map(|&key| key as i16).collect();
            sorter.sort(&mut narrow).unwrap();
            assert!(narrow.is_sorted());
            let mut tuples: Vec<(u64, u64)> = keys.iter().copied().zip((0..).map(|i| i % 7)).collect();
            sorter.sort(&mut tuples).unwrap();
            assert!(tuples.is_sorted());
            let (mut sorted, mut payload) = (keys.clone(), (0..keys.len() as u64).collect::<Vec<_>>());
            sorter.sort_pairs(&mut sorted, &mut payload).unwrap();
            assert!(sorted.into_iter().zip(payload).eq(expected.iter().copied()));
            let mut indices = vec![0u64; keys.len()];
            sorter.argsort(&keys, &mut indices).unwrap();
            assert!(indices.iter().eq(expected.iter().map(|pair| &pair.1)));
        }

        let mut keys = numbers.clone();
        sorter.sort_segments(&mut keys, Segments::Length(1000)).unwrap();
        assert!(keys.chunks(1000).all(|segment| segment.is_sorted()));

        let mut texts: Vec<String> = numbers.iter().take(100_000).map(|x| format!("{x:b}")).collect();
        sorter.sort_strings(&mut texts).unwrap();
        assert!(texts.is_sorted());
    }
}

/// Counts how often it is dropped.
struct Dropped<'a>(&'a AtomicUsize);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// A string that frees its bytes and panics when it has been asked for them a certain number of times.
struct Freeing<'a> {
    bytes: String,
    owned: Mutex<Option<Box<Dropped<'a>>>>,
    asked: &'a AtomicUsize,
    frees_from: usize,
    panics_from: usize,
}

impl AsRef<[u8]> for Freeing<'_> {
    fn as_ref(&self) -> &[u8] {
        let asked = self.asked.fetch_add(1, Relaxed);
        if asked >= self.frees_from {
            drop(self.owned.lock().unwrap().take());
        }
        if asked >= self.panics_from {
            resume_unwind(Box::new(()));
        }
        self.bytes.as_bytes()
    }
}

/// Items that were already back in the slice were once restored from outdated copies.
#[test]
fn a_panic_in_as_ref_restores_nothing_that_as_ref_may_have_changed() {
    let n = if cfg!(miri) { 60 } else { 100_000 };
    for (threads, rotated) in [1, 2, 3].into_iter().flat_map(|threads| [(threads, false), (threads, true)]) {
        let sorter = Sorter::builder().threads(threads).build().unwrap();
        // Rotated strings are two runs, which one or two threads merge.
        let key = |i: usize| if rotated { (0, (i + n / 3) % n) } else { (i % 3, i * 7919 % n) };
        let mut panicked = false;
        let mut asked_when_it = |frees_from, panics_from| {
            let (asked, dropped) = (AtomicUsize::new(0), Vec::from_iter((0..n).map(|_| AtomicUsize::new(0))));
            let owner = |(i, dropped)| Freeing {
                // Long enough to be asked for again once all strings have moved.
                bytes: format!("{}{:060}", key(i).0, key(i).1),
                owned: Mutex::new(Some(Box::new(Dropped(dropped)))),
                asked: &asked,
                frees_from,
                panics_from,
            };
            let mut strings: Vec<_> = dropped.iter().enumerate().map(owner).collect();
            let sorted = catch_unwind(AssertUnwindSafe(|| sorter.sort_strings(&mut strings)));
            // Threads search for the end of a run until one finds it, so the number of calls differs between
            // runs, and a sort may end before call `panics_from`.
            assert_eq!(sorted.is_err(), asked.load(Relaxed) > panics_from, "{threads}, {panics_from}");
            panicked |= sorted.is_err();
            let numbers =
                strings.iter().map(|string| &string.bytes).collect::<std::collections::HashSet<_>>();
            assert_eq!(numbers.len(), n);
            drop(strings);
            assert!(dropped.iter().all(|dropped| dropped.load(Relaxed) == 1), "{threads}, {frees_from}");
            asked.into_inner()
        };
        let asked = asked_when_it(usize::MAX, usize::MAX);
        for eighth in 1..8 {
            let panics_from = asked * eighth / 8;
            asked_when_it(panics_from.saturating_sub(n / 4), panics_from);
        }
        assert!(panicked);
    }
}

/// Each of those keys was once inserted into the run on its own, in time quadratic in their number.
#[test]
#[cfg_attr(miri, ignore = "takes hours")]
fn many_wide_keys_after_a_long_run() {
    let sorter = Sorter::builder().threads(1).build().unwrap();
    let mut keys: Vec<u128> = numbers(2_000_000).into_iter().map(u128::from).collect();
    let run = keys.len() - keys.len() / 100;
    keys[..run].sort_unstable();
    let (mut expected, mut tuples) = (keys.clone(), keys.iter().map(|&key| (key, key)).collect::<Vec<_>>());
    expected.sort_unstable();
    sorter.sort(&mut keys).unwrap();
    assert!(keys == expected);
    sorter.sort(&mut tuples).unwrap();
    assert!(tuples.into_iter().eq(expected.into_iter().map(|key| (key, key))));
}

/// Such keys were once mistaken for a run of two, and sorted.
#[test]
fn wide_keys_that_descend_from_equal_ones() {
    for n in [7, 20, 100, if cfg!(miri) { 200 } else { 20_000 }] {
        for equal in [2, n / 2, n] {
            let key = |i: usize| if i < equal { n as u128 } else { (n - i) as u128 / 2 };
            let mut keys: Vec<u128> = (0..n).map(key).collect();
            let mut tuples: Vec<(u128, u8)> = keys.iter().map(|&key| (key, 0)).collect();
            keys.iter().zip(&keys[1..]).for_each(|(a, b)| assert!(a >= b));
            sortie::sort(&mut keys);
            sortie::sort(&mut tuples);
            let expected: Vec<u128> = (0..n).rev().map(key).collect();
            assert_eq!(keys, expected);
            assert!(tuples.into_iter().map(|tuple| tuple.0).eq(expected));
        }
    }
}

/// `n` items of size zero. A loop that pushes them to a vector would take years.
fn many<T>(n: usize) -> &'static mut [T] {
    assert!(size_of::<T>() == 0);
    // SAFETY: they take no memory, so any non-null address will do.
    unsafe { std::slice::from_raw_parts_mut(std::ptr::NonNull::dangling().as_ptr(), n) }
}

/// Returns another string each time, and has size zero.
struct Fickle;

impl AsRef<[u8]> for Fickle {
    fn as_ref(&self) -> &[u8] {
        static ASKED: AtomicUsize = AtomicUsize::new(0);
        if ASKED.fetch_add(1, Relaxed).is_multiple_of(2) { b"b" } else { b"a" }
    }
}

/// The size of the scratch once wrapped around to a few bytes, and writes went past its end.
#[test]
fn more_items_without_a_size_than_memory_has_addresses() {
    let n = (1 << 61) + (1 << 23);
    sortie::sort_strings(many::<Fickle>(n));
    sortie::sort_pairs(many::<[u8; 0]>(n), many::<()>(n));
    sortie::sort(many::<[u8; 0]>(n));
    Sorter::builder().threads(1).build().unwrap().sort(many::<[u8; 0]>(n)).unwrap();
    sortie::sort_by(many::<[u8; 0]>(n), |_, _| std::cmp::Ordering::Less);
}

/// They are merged, and moved with their keys.
#[test]
fn large_elements_in_two_runs() {
    struct Element {
        key: u64,
        index: usize,
        text: String,
        _rest: [u64; 9],
    }
    let sizes: &[usize] = if cfg!(miri) { &[1100] } else { &[1100, 20_000, 265_000] };
    for &n in sizes {
        for start in [1, n / 3, n - n / 9, n - 1] {
            for mixed in [false, true] {
                let key = |i: usize| {
                    let at = if i < start { i } else { i - start };
                    // A short second run in no order, or a run in order; with equal keys.
                    (if mixed && i >= start && start > n / 2 { at * 7919 % n } else { at / 2 * 2 }) as u64
                };
                for threads in [1, 2] {
                    let mut elements: Vec<Element> = (0..n)
                        .map(|index| Element {
                            key: key(index),
                            index,
                            text: index.to_string(),
                            _rest: [7; 9],
                        })
                        .collect();
                    let mut expected: Vec<usize> = (0..n).collect();
                    expected.sort_by_key(|&index| key(index));
                    let sorter = Sorter::builder().threads(threads).build().unwrap();
                    sorter.sort_by_key(&mut elements, |element| element.key).unwrap();
                    assert!(elements.iter().map(|element| element.index).eq(expected), "{n}, {start}");
                    assert!(elements.iter().all(|element| element.text == element.index.to_string()));
                }
            }
        }
    }
}
