//! Callers' code that misbehaves: comparisons that panic, contradict themselves or change what they compare, and keys
//! that panic. A sort may give up or leave any order, but it neither loses nor duplicates an element.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

use fastrand::Rng;

use crate::subject::{PARALLEL, SEQUENTIAL, Subject};

/// Sizes below and above those where threads share the work.
const SIZES: [usize; 7] = [2, 3, 20, 50, 200, 1500, 265_000];

fn subjects() -> impl Iterator<Item = &'static Subject> {
    SEQUENTIAL.iter().take(2).chain(PARALLEL.iter().skip(2).take(2))
}

/// An element that owns memory and counts how often such elements are dropped.
struct Counted<'a> {
    number: Box<usize>,
    drops: &'a AtomicUsize,
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.drops.fetch_add(1, Relaxed);
    }
}

/// Not generic, so that the sorts are compiled once for all comparisons.
fn sort_by(subject: &Subject, v: &mut [Counted], compare: &(dyn Fn(&Counted, &Counted) -> Ordering + Sync)) {
    subject.sort_by(v, compare);
}

/// The same for keys.
fn sort_by_key(subject: &Subject, v: &mut [Counted], cached: bool, key: &(dyn Fn(&Counted) -> usize + Sync)) {
    if cached { subject.sort_by_cached_key(v, key) } else { subject.sort_by_key(v, key) }
}

/// Runs `work` on shuffled elements, whether it panics or not, and checks that each is still there exactly once.
/// Returns the numbers before and after, and whether it panicked.
fn keeps_all(n: usize, work: impl FnOnce(&mut [Counted])) -> (Vec<usize>, Vec<usize>, bool) {
    let drops = AtomicUsize::new(0);
    let mut numbers: Vec<usize> = (0..n).collect();
    Rng::with_seed(n as u64).shuffle(&mut numbers);
    let mut v: Vec<Counted> =
        numbers.iter().map(|&number| Counted { number: Box::new(number), drops: &drops }).collect();
    let panicked = catch_unwind(AssertUnwindSafe(|| work(&mut v))).is_err();
    assert_eq!(drops.load(Relaxed), 0, "an element was dropped");
    let after: Vec<usize> = v.iter().map(|element| *element.number).collect();
    assert_eq!(after.iter().collect::<HashSet<_>>().len(), n, "an element is there twice");
    assert!(after.iter().all(|&number| number < n));
    drop(v);
    assert_eq!(drops.load(Relaxed), n);
    (numbers, after, panicked)
}

/// Panics at a certain call, without a message.
struct Bomb {
    calls: AtomicUsize,
    at: usize,
}

impl Bomb {
    fn new(at: usize) -> Self {
        Bomb { calls: AtomicUsize::new(0), at }
    }

    fn tick(&self) {
        if self.calls.fetch_add(1, Relaxed) == self.at {
            resume_unwind(Box::new("bomb"));
        }
    }
}

#[test]
fn comparisons_that_panic() {
    for subject in subjects() {
        for n in SIZES {
            for at in [0, 1, n / 2, n - 1, n, 2 * n, 5 * n] {
                let bomb = Bomb::new(at);
                let (_, _, panicked) = keeps_all(n, |v| {
                    sort_by(subject, v, &|a, b| {
                        bomb.tick();
                        a.number.cmp(&b.number)
                    });
                });
                assert_eq!(panicked, bomb.calls.load(Relaxed) > at, "{} of {n}, panic at {at}", subject.name);
            }
        }
    }
}

#[test]
fn keys_that_panic_leave_the_slice_as_it_was() {
    for subject in subjects() {
        for n in SIZES {
            for at in [0, 1, n / 2, n - 1] {
                for cached in [false, true] {
                    let bomb = Bomb::new(at);
                    let (before, after, panicked) = keeps_all(n, |v| {
                        let key = |element: &Counted| {
                            bomb.tick();
                            *element.number
                        };
                        sort_by_key(subject, v, cached, &key);
                    });
                    assert!(panicked);
                    assert!(before == after, "{} of {n}, panic at {at}, cached: {cached}", subject.name);
                }
            }
        }
    }
}

/// A key of the caller's own type that counts its drops, and whose comparison panics.
struct Fragile<'a> {
    number: Counted<'a>,
    bomb: &'a Bomb,
}
impl PartialEq for Fragile<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Fragile<'_> {}
impl PartialOrd for Fragile<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Fragile<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bomb.tick();
        self.number.number.cmp(&other.number.number)
    }
}

#[test]
fn cached_keys_whose_comparison_panics_leave_the_slice_as_it_was() {
    for subject in subjects() {
        for n in SIZES {
            for at in [0, n / 2 - 1, n - 2] {
                let (bomb, drops) = (Bomb::new(at), AtomicUsize::new(0));
                let (before, after, panicked) = keeps_all(n, |v| {
                    subject.sort_by_cached_key(v, |element| Fragile {
                        number: Counted { number: element.number.clone(), drops: &drops },
                        bomb: &bomb,
                    });
                });
                assert!(panicked && before == after, "{} of {n}, panic at {at}", subject.name);
                assert_eq!(drops.load(Relaxed), n, "keys dropped, {} of {n}", subject.name);
            }
        }
    }
}

/// A string that owns its bytes and panics when it is read once too often.
struct FragileString<'a> {
    body: String,
    bomb: &'a Bomb,
}

impl AsRef<[u8]> for FragileString<'_> {
    fn as_ref(&self) -> &[u8] {
        self.bomb.tick();
        self.body.as_bytes()
    }
}

#[test]
fn strings_that_panic_leave_a_permutation() {
    for subject in subjects() {
        for n in SIZES {
            for lcps in [false, true] {
                let calls_until = |at| {
                    let bomb = Bomb::new(at);
                    let body = |i: usize| format!("{}{}", "shared beginning".repeat(i % 3), i * 7919 % n);
                    let mut expected: Vec<String> = (0..n).map(body).collect();
                    let mut v: Vec<FragileString> = expected
                        .iter()
                        .map(|body| FragileString { body: body.clone(), bomb: &bomb })
                        .collect();
                    let panicked = catch_unwind(AssertUnwindSafe(|| match lcps {
                        false => subject.sort_strings(&mut v),
                        true => drop(subject.sort_strings_with_lcps::<_, usize>(&mut v)),
                    }));
                    let calls = bomb.calls.load(Relaxed);
                    assert_eq!(panicked.is_err(), calls > at, "{} of {n}, panic at {at}", subject.name);
                    let mut bodies: Vec<String> = v.into_iter().map(|string| string.body).collect();
                    bodies.sort();
                    expected.sort();
                    assert!(bodies == expected, "{} of {n}, panic at {at}, lcps: {lcps}", subject.name);
                    calls
                };
                let calls = calls_until(usize::MAX);
                let panics = [calls / 3, 0, calls - 1];
                for &at in &panics[..if n > 100_000 { 1 } else { 3 }] {
                    calls_until(at);
                }
            }
        }
    }
}

/// Sorts its strings when it is dropped.
struct SortedLate<'a>(&'a mut [String]);

impl Drop for SortedLate<'_> {
    fn drop(&mut self) {
        sortie::sort_strings(self.0);
    }
}

#[test]
fn strings_are_sorted_while_the_caller_unwinds() {
    let mut v: Vec<String> = (0..300_000u64).map(|i| format!("{}", i * 7919 % 300_007)).collect();
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _late = SortedLate(&mut v);
        resume_unwind(Box::new(()));
    }));
    assert!(unwound.is_err());
    assert!(v.is_sorted());
}

#[test]
fn keys_are_drawn_once_an_element() {
    for subject in subjects() {
        for n in SIZES {
            for cached in [false, true] {
                let calls: Vec<AtomicU32> = (0..n).map(|_| AtomicU32::new(0)).collect();
                let (_, after, _) = keeps_all(n, |v| {
                    let key = |element: &Counted| {
                        calls[*element.number].fetch_add(1, Relaxed);
                        *element.number
                    };
                    sort_by_key(subject, v, cached, &key);
                });
                let calls: u32 = calls.into_iter().map(AtomicU32::into_inner).sum();
                // Called again for elements of the first run, which is short, and for samples.
                let most = if cached { n } else { n + 64 };
                assert!((n..=most).contains(&(calls as usize)), "{calls} calls, {} of {n}", subject.name);
                assert!(after.is_sorted_by(|a, b| if subject.order.descending { a > b } else { a < b }));
            }
        }
    }
}

/// Keys of 64 bits are computed again only if their first bits tie.
#[test]
fn keys_that_do_not_tie_are_drawn_once() {
    let mut rng = Rng::with_seed(7);
    let mut keys: Vec<u64> = (0..100_000).map(|_| rng.u64(..)).collect();
    keys[70_000] = keys[20_000];
    keys[70_001] = keys[20_001] ^ 1;
    let calls = AtomicUsize::new(0);
    let mut sorted: Vec<(u64, usize)> = keys.iter().copied().zip(0..).collect();
    let mut expected = sorted.clone();
    expected.sort_by_key(|element| element.0);
    sortie::sort_by_key(&mut sorted, |element| {
        calls.fetch_add(1, Relaxed);
        element.0
    });
    assert!(sorted == expected);
    let calls = calls.into_inner();
    assert!(calls <= keys.len() + 200, "{calls} calls");
}

/// Elements of size zero whose keys change at each call: no order is wrong, and the sort must not fail.
#[test]
fn elements_without_a_size_have_keys_that_change() {
    for n in [30, 2000, 140_000] {
        let calls = AtomicU32::new(1);
        sortie::sort_by_key(&mut vec![(); n], |()| calls.fetch_add(1, Relaxed).wrapping_mul(0x9E37_79B9));
        assert!(calls.into_inner() as usize > n);
    }
}

/// If runs are merged, keys are computed again: up to twice as often as by std's sort.
#[test]
fn keys_of_runs_are_drawn_up_to_twice_as_often_as_by_std() {
    type Shape = (&'static str, fn(u32, u32) -> u32);
    let shapes: [Shape; 5] = [
        ("sorted", |i, _| i),
        ("reversed", |i, n| n - i),
        ("organ pipe", |i, n| i.min(n - i)),
        ("sorted tail", |i, n| if i < n - n / 10 { 10 * i } else { 99 * (i - (n - n / 10)) }),
        ("random tail", |i, n| if i < n - n / 10 { i } else { i.wrapping_mul(2_654_435_761) % n }),
    ];
    for n in [40, 1000, 5000] {
        for (name, at) in shapes {
            let keys: Vec<u32> = (0..n).map(|i| at(i, n)).collect();
            let calls = AtomicUsize::new(0);
            let key = |element: &(u32, u32)| {
                calls.fetch_add(1, Relaxed);
                element.0
            };
            let mut expected: Vec<(u32, u32)> = keys.iter().copied().zip(0..).collect();
            let mut sorted = expected.clone();
            expected.sort_by_key(key);
            let by_std = calls.swap(0, Relaxed);
            sortie::sort_by_key(&mut sorted, key);
            assert!(sorted == expected, "{name}, {n}");
            let by_us = calls.into_inner();
            assert!(by_us <= 2 * by_std + n as usize, "{name}, {n}: {by_us} calls, std makes {by_std}");
        }
    }
}

/// Elements so large that few fit on a stack. The sort once took room for 64 of them there.
#[test]
fn large_elements_in_runs_are_sorted_on_a_small_stack() {
    type Large = (u32, [u8; 32 << 10]);
    let sort = || {
        let at = |i: u32| if i < 30 { 2 * i } else { 2 * (i - 30) + 1 };
        let mut v: Vec<Large> = (0..40).map(|i| (at(i), [i as u8; 32 << 10])).collect();
        sortie::sort_by_key(&mut v, |element| element.0);
        assert!(v.is_sorted_by_key(|element| element.0));
        let mut wide: Vec<[u8; 32 << 10]> =
            v.iter().rev().map(|element| [element.0 as u8; 32 << 10]).collect();
        wide[20..].reverse();
        sortie::sort(&mut wide);
        assert!(wide.is_sorted());
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(sort).unwrap().join().unwrap();
}

/// Comparisons that are no order at all. The sort may panic; it must not hang or lose an element.
#[test]
fn comparisons_that_contradict_themselves() {
    type Compare = fn(usize, usize, usize) -> Ordering;
    let comparisons: [(&str, Compare); 8] = [
        ("always less", |_, _, _| Ordering::Less),
        ("always greater", |_, _, _| Ordering::Greater),
        ("never less", |_, a, b| if a < b { Ordering::Equal } else { Ordering::Greater }),
        ("never equal", |_, a, b| if a < b { Ordering::Less } else { Ordering::Greater }),
        ("at random", |call, _, _| Rng::with_seed(call as u64).i8(-1..=1).cmp(&0)),
        ("in a circle", |_, a, b| ((a % 3 + 3 - b % 3) % 3).cmp(&1)),
        ("another order now and then", |call, a, b| if call % 64 < 32 { a.cmp(&b) } else { b.cmp(&a) }),
        ("partial", |_, a, b| if a % 7 == 0 || b % 7 == 0 { Ordering::Equal } else { a.cmp(&b) }),
    ];
    for (name, compare) in comparisons {
        for subject in subjects() {
            for n in SIZES {
                let calls = AtomicUsize::new(0);
                let (_, after, _) = keeps_all(n, |v| {
                    sort_by(subject, v, &|a, b| compare(calls.fetch_add(1, Relaxed), *a.number, *b.number));
                });
                assert_eq!(after.len(), n, "{name}, {}", subject.name);
            }
        }
    }
}

/// A cached key whose `Ord` contradicts itself.
#[test]
fn cached_keys_that_contradict_themselves() {
    #[derive(PartialEq, Eq)]
    struct Circle(usize);
    impl PartialOrd for Circle {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }
    impl Ord for Circle {
        fn cmp(&self, other: &Self) -> Ordering {
            ((self.0 + 3 - other.0) % 3).cmp(&1)
        }
    }
    for subject in subjects() {
        for n in SIZES {
            let (_, after, _) =
                keeps_all(n, |v| subject.sort_by_cached_key(v, |element| Circle(*element.number % 3)));
            assert_eq!(after.len(), n, "{}", subject.name);
        }
    }
}

/// A comparison that calls all elements equal must leave them as they were.
#[test]
fn all_equal_stays_as_it_was() {
    for subject in subjects() {
        for n in SIZES {
            let (before, after, _) = keeps_all(n, |v| sort_by(subject, v, &|_, _| Ordering::Equal));
            assert!(before == after, "{} of {n}", subject.name);
        }
    }
}

/// What a comparison writes into the elements is still there afterwards: no element is compared as a copy that is then
/// discarded.
#[test]
fn comparisons_that_write_into_the_elements() {
    for subject in subjects() {
        for n in SIZES {
            let mut v: Vec<(u32, AtomicU32)> =
                (0..n).map(|i| ((i as u32).wrapping_mul(0x9E37_79B1), AtomicU32::new(0))).collect();
            let calls = AtomicU32::new(0);
            subject.sort_by(&mut v, |a, b| {
                for count in [&a.1, &b.1, &calls] {
                    count.fetch_add(1, Relaxed);
                }
                a.0.cmp(&b.0)
            });
            let seen: u32 = v.iter().map(|element| element.1.load(Relaxed)).sum();
            assert_eq!(seen, 2 * calls.load(Relaxed), "{} of {n}", subject.name);
        }
    }
}

/// If an element is compared with itself, the answer must not matter.
#[test]
fn elements_that_are_less_than_themselves() {
    for subject in subjects() {
        for n in SIZES {
            let (_, after, panicked) = keeps_all(n, |v| {
                sort_by(subject, v, &|a, b| {
                    if std::ptr::eq(a, b) { Ordering::Less } else { a.number.cmp(&b.number) }
                });
            });
            assert!(!panicked);
            assert!(after.is_sorted_by(|a, b| if subject.order.descending { a > b } else { a < b }));
        }
    }
}
