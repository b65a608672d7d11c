//! Inputs built to make a sort quadratic or to run it out of stack.

use std::cmp::Ordering;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use sortie::Order;

use crate::keys::check;
use crate::patterns::{PATTERNS, numbers};
use crate::subject::{ALGORITHMS, SEQUENTIAL, Subject, UNSTABLE};
use crate::values::keys;

/// Long enough for any n log n sort in a debug build on a busy machine, far too short for a quadratic one.
fn in_time(what: &str, work: impl FnOnce()) {
    let start = Instant::now();
    work();
    assert!(start.elapsed() < Duration::from_secs(20), "{what} took {:?}", start.elapsed());
}

/// Runs `work` on a thread with so little stack that recursion of linear depth overflows it.
fn on_a_small_stack(work: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("small stack".into())
            .stack_size(256 << 10)
            .spawn_scoped(scope, work)
            .expect("a thread");
        thread.join().expect("no panic");
    });
}

/// The subjects that stay on the calling thread.
fn sequential() -> impl Iterator<Item = &'static Subject> {
    SEQUENTIAL.iter().take(3).chain(ALGORITHMS.iter().step_by(2)).chain(UNSTABLE.iter().step_by(2))
}

#[test]
fn no_pattern_is_quadratic_or_deep() {
    // Below the size from which the free functions use threads of their own.
    const N: usize = 65_535;
    for subject in sequential() {
        for pattern in PATTERNS {
            in_time(pattern.0, || {
                on_a_small_stack(|| {
                    check::<u32>(subject, keys(&numbers(pattern, N, 32)), pattern.0);
                    check::<f64>(subject, keys(&numbers(pattern, N, 64)), pattern.0);
                });
            });
        }
    }
}

/// The comparisons that sorts in n log n may need, with some to spare.
fn comparisons_allowed(n: usize) -> usize {
    8 * n * n.ilog2() as usize
}

/// McIlroy's adversary: it invents the keys while it is asked, so that whatever a quicksort chooses as its pivot turns
/// out to be small.
struct Adversary {
    /// Which elements have a key; the others are "gas", larger than any key.
    keys: Vec<Option<usize>>,
    solid: usize,
    /// The gas element compared last, perhaps the pivot.
    candidate: usize,
    comparisons: usize,
}

impl Adversary {
    fn new(n: usize) -> Mutex<Self> {
        Mutex::new(Adversary { keys: vec![None; n], solid: 0, candidate: 0, comparisons: 0 })
    }

    fn compare(&mut self, a: usize, b: usize) -> Ordering {
        self.comparisons += 1;
        if self.keys[a].is_none() && self.keys[b].is_none() {
            let frozen = if a == self.candidate { a } else { b };
            self.keys[frozen] = Some(self.solid);
            self.solid += 1;
        }
        match (self.keys[a], self.keys[b]) {
            (None, _) => self.candidate = a,
            (_, None) => self.candidate = b,
            _ => {}
        }
        let key = |i: usize| self.keys[i].unwrap_or(usize::MAX);
        key(a).cmp(&key(b))
    }
}

#[test]
fn an_adversary_makes_no_comparison_sort_quadratic() {
    for subject in SEQUENTIAL.iter().chain(&*UNSTABLE).filter(|subject| !subject.name.contains("Radix")) {
        for n in [1000, 20_000] {
            let adversary = Adversary::new(n);
            let mut v: Vec<usize> = (0..n).collect();
            on_a_small_stack(|| {
                subject.sort_by(&mut v, |&a, &b| adversary.lock().unwrap().compare(a, b));
            });
            let adversary = adversary.into_inner().unwrap();
            assert!(
                adversary.comparisons < comparisons_allowed(n),
                "{}: {}",
                subject.name,
                adversary.comparisons
            );

            // The invented keys as numbers, for sorts that do not compare.
            let made_up: Vec<u64> = adversary.keys.iter().map(|key| key.unwrap_or(n) as u64).collect();
            for subject in sequential() {
                in_time("the adversary's keys", || {
                    on_a_small_stack(|| check(subject, made_up.clone(), "adversary"))
                });
            }
        }
    }
}

/// Strings that share their beginnings: a sort symbol by symbol must neither recurse once per symbol nor read the
/// shared part again and again.
#[test]
fn shared_beginnings_of_strings() {
    let zeros = |length: usize| vec![0u8; length];
    let inputs: [(&str, Vec<Vec<u8>>); 6] = [
        ("equal", vec![b"the same string, again and again".to_vec(); 60_000]),
        ("each the beginning of the next", (0..3000).map(|length| vec![b'a'; length]).collect()),
        ("each longer than the next", (0..3000).rev().map(zeros).collect()),
        ("long and equal", vec![vec![b'x'; 10_000]; 500]),
        (
            "different in the last symbol",
            (0..2000).map(|i| [vec![b'y'; 5000], vec![(i * 7) as u8]].concat()).collect(),
        ),
        ("different in every other symbol", (0..2000).map(bits_as_letters).collect()),
    ];
    for (name, strings) in &inputs {
        for subject in SEQUENTIAL.iter().take(3) {
            let mut sorted: Vec<&[u8]> = strings.iter().map(Vec::as_slice).collect();
            let mut expected = sorted.clone();
            expected.sort();
            if subject.order.descending {
                expected.reverse();
            }
            in_time(name, || on_a_small_stack(|| subject.sort_strings(&mut sorted)));
            assert!(sorted == expected, "{name}, {}", subject.name);
        }
    }
}

fn bits_as_letters(i: usize) -> Vec<u8> {
    (0..400).flat_map(|bit| [b'-', if i >> (bit % 11) & 1 == 1 { b'a' } else { b'b' }]).collect()
}

/// A quicksort of 10^6 keys in which all but a few are equal.
#[test]
fn a_million_ties() {
    let mut expected = vec![5u64; 1_000_000];
    expected[0] = 0;
    expected[999_999] = u64::MAX;
    let order = Order::default();
    for subject in sequential().filter(|subject| subject.order == order) {
        let mut keys = vec![5u64; 1_000_000];
        keys[700_000] = 0;
        keys[300_000] = u64::MAX;
        in_time("ties", || subject.sort(&mut keys));
        assert!(keys == expected, "{}", subject.name);
    }
}
