//! Many arrays in one slice.

use fastrand::Rng;
use sortie::Segments;

use crate::edge_sizes;
use crate::patterns::{PATTERNS, numbers};
use crate::subject::{ALGORITHMS, PARALLEL, SEQUENTIAL, Subject};
use crate::values::{Value, for_each_key, indices, keys};

/// Compares keys alone, keys with payloads, and indices with the results of std, segment by segment. Keys outside all
/// segments stay.
fn check<K: Value>(subject: &Subject, keys: Vec<K>, segments: Segments, what: &str) {
    let context = || format!("{} of {} {}, {what}", subject.name, keys.len(), std::any::type_name::<K>());
    let mut expected: Vec<usize> = (0..keys.len()).collect();
    let mut sort = |from: usize, to: usize| {
        let indices = indices(&keys[from..to], subject.order);
        expected[from..to].iter_mut().zip(indices).for_each(|(expected, index)| *expected = from + index);
    };
    let ranges: Vec<(usize, usize)> = match segments {
        Segments::Length(length) => {
            (0..keys.len()).step_by(length.max(1)).map(|from| (from, from + length)).collect()
        }
        Segments::Offsets(offsets) => offsets.windows(2).map(|pair| (pair[0], pair[1])).collect(),
    };
    ranges.iter().for_each(|&(from, to)| sort(from, to));
    if !subject.name.contains("Quicksort") {
        let (mut sorted, mut payload) = (keys.clone(), (0..keys.len()).collect::<Vec<_>>());
        subject.sort_pairs_segments(&mut sorted, &mut payload, segments);
        assert!(payload == expected, "{}: payload", context());
        for (i, (found, &index)) in sorted.iter().zip(&expected).enumerate() {
            assert!(found.plain(&keys[index], subject.order).is_eq(), "{}: {found:?} at {i}", context());
        }
        let found = subject.argsort_segments::<K, u32>(&keys, segments);
        for (from, to) in ranges {
            let found = found[from..to].iter().map(|index| from + index);
            assert!(found.eq(expected[from..to].iter().copied()), "{}: indices from {from}", context());
        }
    }
    let mut sorted = keys.clone();
    subject.sort_segments(&mut sorted, segments);
    for (i, (found, &index)) in sorted.iter().zip(&expected).enumerate() {
        assert!(found.plain(&keys[index], subject.order).is_eq(), "{}: {found:?} at {i}", context());
    }
}

/// Offsets of segments of mixed lengths, many of them 0 or 1, with keys before the first and after the last.
fn mixed_offsets(keys: usize, longest: usize, rng: &mut Rng) -> Vec<usize> {
    let mut offsets = vec![keys.min(3)];
    loop {
        let length = match rng.u8(0..4) {
            0 => 0,
            1 => 1,
            2 => rng.usize(0..=longest.min(20)),
            _ => rng.usize(0..=longest),
        };
        let to = offsets[offsets.len() - 1] + length;
        if to + 5 > keys {
            return offsets;
        }
        offsets.push(to);
    }
}

#[test]
fn every_length() {
    fn run<K: Value>() {
        let mut turn = SEQUENTIAL.iter().cycle();
        for pattern in PATTERNS {
            for length in (1..=130).step_by(4).chain(edge_sizes(8..=11)) {
                let segments = 1 + 2000 / length;
                let keys = keys::<K>(&numbers(pattern, length * segments, K::BITS));
                check(turn.next().unwrap(), keys, Segments::Length(length), pattern.0);
            }
            turn.next();
        }
    }
    for_each_key!(few run());
}

#[test]
fn mixed_lengths() {
    fn run<K: Value>() {
        let mut rng = Rng::with_seed(3);
        for (pattern, subject) in PATTERNS.iter().zip(SEQUENTIAL.iter().cycle()) {
            for longest in [1, 10, 100, 3000] {
                let keys = keys::<K>(&numbers(pattern, 5000, K::BITS));
                let offsets = mixed_offsets(keys.len(), longest, &mut rng);
                check(subject, keys, Segments::Offsets(&offsets), pattern.0);
            }
        }
    }
    for_each_key!(few run());
}

#[test]
fn many_and_large() {
    let mut rng = Rng::with_seed(4);
    for (pattern, subject) in PATTERNS.iter().zip(PARALLEL.iter().chain(&*ALGORITHMS).cycle()) {
        let keys = keys::<f32>(&numbers(pattern, 300_000, 32));
        check(subject, keys.clone(), Segments::Length(1000), pattern.0);
        check(subject, keys.clone(), Segments::Length(300_000), pattern.0);
        check(subject, keys.clone(), Segments::Length(1), pattern.0);
        // One segment that is long enough for all threads, among many short ones.
        let offsets = [0, 2, 2, 5, 290_000, 290_000, 290_001, 290_100];
        check(subject, keys.clone(), Segments::Offsets(&offsets), pattern.0);
        let offsets = mixed_offsets(keys.len(), 9000, &mut rng);
        check(subject, keys, Segments::Offsets(&offsets), pattern.0);
    }
}

/// Payloads that own memory, in segments shorter and longer than a bucket.
#[test]
fn payloads_of_any_type() {
    let mut rng = Rng::with_seed(5);
    for (pattern, subject) in PATTERNS.iter().zip(SEQUENTIAL.iter().chain(PARALLEL.iter()).cycle()) {
        let keys = keys::<i32>(&numbers(pattern, 265_000, 32));
        let offsets = mixed_offsets(keys.len(), 20_000, &mut rng);
        let mut payload: Vec<Box<i32>> = keys.iter().copied().map(Box::new).collect();
        let mut sorted = keys.clone();
        subject.sort_pairs_segments(&mut sorted, &mut payload, Segments::Offsets(&offsets));
        assert!(sorted.iter().zip(&payload).all(|(key, payload)| *key == **payload), "{}", subject.name);
        subject.sort_pairs_segments(&mut sorted, &mut vec![(); keys.len()], Segments::Length(1000));
        assert!(
            sorted.chunks(1000).all(|segment| segment.is_sorted_by(|a, b| a.plain(b, subject.order).is_le()))
        );
    }
}

#[test]
fn no_segments_at_all() {
    for subject in SEQUENTIAL.iter().chain(PARALLEL.iter()) {
        check(subject, vec![3u32, 1, 2], Segments::Offsets(&[]), "no offsets");
        check(subject, vec![3u32, 1, 2], Segments::Offsets(&[1]), "one offset");
        check(subject, vec![3u32, 1, 2], Segments::Offsets(&[3, 3, 3]), "empty at the end");
        check(subject, vec![3u32, 1, 2], Segments::Offsets(&[0, 0, 3]), "empty at the start");
        check(subject, Vec::<u32>::new(), Segments::Length(0), "no keys, length 0");
        check(subject, Vec::<u32>::new(), Segments::Length(5), "no keys");
        check(subject, Vec::<u32>::new(), Segments::Offsets(&[0, 0]), "no keys, offsets");
        let many = vec![40_000; 100_000];
        check(
            subject,
            keys::<u32>(&numbers(&PATTERNS[0], 70_000, 32)),
            Segments::Offsets(&many),
            "all empty",
        );
    }
}
