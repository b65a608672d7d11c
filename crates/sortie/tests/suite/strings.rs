//! Strings of every shape, in every way that strings can be sorted.

use fastrand::Rng;
use sortie::{Algorithm, Index, Order, Sorter};

use crate::subject::{PARALLEL, SEQUENTIAL, Subject};
use crate::values::indices_by;

type Shape = (&'static str, fn(usize, &mut Rng) -> Vec<Vec<u8>>);

fn random(length: usize, rng: &mut Rng, alphabet: &[u8]) -> Vec<u8> {
    (0..length).map(|_| alphabet[rng.usize(0..alphabet.len())]).collect()
}

fn each(n: usize, rng: &mut Rng, mut string: impl FnMut(&mut Rng, usize) -> Vec<u8>) -> Vec<Vec<u8>> {
    (0..n).map(|i| string(rng, i)).collect()
}

const SHAPES: &[Shape] = &[
    ("all empty", |n, _| vec![Vec::new(); n]),
    ("all equal", |n, _| vec![b"equal strings, all of them".to_vec(); n]),
    ("one symbol", |n, rng| each(n, rng, |rng, _| vec![rng.u8(..)])),
    ("one-symbol alphabet", |n, rng| each(n, rng, |rng, _| vec![b'a'; rng.usize(0..40)])),
    ("zeros of any number", |n, rng| each(n, rng, |rng, _| vec![0; rng.usize(0..20)])),
    ("all ones of any number", |n, rng| each(n, rng, |rng, _| vec![0xff; rng.usize(0..20)])),
    ("two symbols", |n, rng| {
        each(n, rng, |rng, _| {
            let k = rng.usize(0..30);
            random(k, rng, b"ab")
        })
    }),
    ("DNA", |n, rng| each(n, rng, |rng, _| random(50, rng, b"ACGT"))),
    ("DNA with N and other symbols", |n, rng| {
        each(n, rng, |rng, i| {
            let k = rng.usize(0..50);
            random(k, rng, if i % 50 == 0 { b"ACGTN\xff\0" } else { b"ACGT" })
        })
    }),
    ("any bytes", |n, rng| each(n, rng, |rng, _| (0..rng.usize(0..25)).map(|_| rng.u8(..)).collect())),
    ("zeros inside", |n, rng| {
        each(n, rng, |rng, _| {
            let k = rng.usize(0..12);
            random(k, rng, b"\0\0\x01a")
        })
    }),
    ("long common beginnings", |n, rng| {
        each(n, rng, |rng, _| {
            let mut string = vec![b'p'; 16 * rng.usize(0..20)];
            let k = rng.usize(0..4);
            string.extend(random(k, rng, b"xyz"));
            string
        })
    }),
    ("URLs", |n, rng| {
        each(n, rng, |rng, _| {
            let host = rng.usize(0..5);
            format!("https://host-{host}.example.org/a/b/{}?page={}", rng.u16(..) % 300, rng.u8(..))
                .into_bytes()
        })
    }),
    ("numbers", |n, rng| each(n, rng, |rng, _| rng.u32(..).to_string().into_bytes())),
    ("sorted", |n, rng| each(n, rng, |_, i| format!("{i:08}").into_bytes())),
    ("reversed", |n, rng| each(n, rng, |_, i| format!("{:08}", 99_999_999 - i).into_bytes())),
    ("beginnings of one another", |n, rng| {
        let whole: Vec<u8> = (0..300).map(|i| (i * 37 % 251) as u8).collect();
        each(n, rng, |rng, _| whole[..rng.usize(0..=300)].to_vec())
    }),
    ("eight bytes and what follows", |n, rng| {
        each(n, rng, |rng, _| {
            let k = 6 + rng.usize(0..5);
            let mut string = b"12345678".to_vec();
            string.extend(random(4, rng, b"\0a"));
            string.truncate(k);
            string
        })
    }),
    ("a few very long ones", |n, rng| {
        each(n, rng, |rng, i| {
            let k = if i % 97 == 0 { 20_000 } else { 5 };
            random(k, rng, b"q")
        })
    }),
    ("beginnings of one long string", |n, rng| each(n, rng, |rng, _| vec![b'n'; rng.usize(0..2_000)])),
    ("leaving one long string at any position, to either side", |n, rng| {
        each(n, rng, |rng, _| {
            let mut string = vec![b'm'; rng.usize(0..1_000)];
            let k = rng.usize(0..3);
            string.extend(random(k, rng, b"amz"));
            string
        })
    }),
    ("few distinct", |n, rng| {
        each(n, rng, |rng, _| format!("distinct string number {}", rng.u8(0..5)).into_bytes())
    }),
];

/// The indices of the strings in order by std's stable sort.
fn expected_places(strings: &[Vec<u8>], subject: &Subject) -> Vec<usize> {
    indices_by(strings.len(), &|i, j| {
        let ordering = strings[i].cmp(&strings[j]);
        if subject.order.descending { ordering.reverse() } else { ordering }
    })
}

/// How many bytes each string has in common with the one before; 0 for the first.
fn neighbours_share(strings: &[&[u8]]) -> Vec<usize> {
    let shared = |pair: &[&[u8]]| pair[0].iter().zip(pair[1]).take_while(|(a, b)| a == b).count();
    strings.iter().take(1).map(|_| 0).chain(strings.windows(2).map(shared)).collect()
}

/// Strings that can be told apart even if their bytes are equal.
#[derive(Clone, Copy)]
struct Numbered<'a>(usize, &'a [u8]);

impl AsRef<[u8]> for Numbered<'_> {
    fn as_ref(&self) -> &[u8] {
        self.1
    }
}

fn check(subject: &Subject, strings: &[Vec<u8>], what: &str) {
    let context = |how| format!("{how}, {} of {} strings, {what}", subject.name, strings.len());
    let indices = expected_places(strings, subject);
    let expected: Vec<&[u8]> = indices.iter().map(|&index| &strings[index][..]).collect();

    let mut numbered: Vec<Numbered> = strings.iter().enumerate().map(|(i, s)| Numbered(i, s)).collect();
    subject.sort_strings(&mut numbered);
    assert!(
        numbered.iter().map(|string| string.0).eq(indices.iter().copied()),
        "{}",
        context("sort_strings")
    );

    let slices: Vec<&[u8]> = strings.iter().map(Vec::as_slice).collect();
    let mut sorted = slices.clone();
    subject.sort(&mut sorted);
    assert!(sorted == expected, "{}", context("sort of &[u8]"));
    let mut sorted = strings.to_vec();
    subject.sort(&mut sorted);
    assert!(sorted == expected, "{}", context("sort of Vec<u8>"));

    let lcps = neighbours_share(&expected);
    let mut numbered: Vec<Numbered> = strings.iter().enumerate().map(|(i, s)| Numbered(i, s)).collect();
    assert!(subject.sort_strings_with_lcps::<_, u32>(&mut numbered) == lcps, "{}", context("lcps"));
    assert!(numbered.iter().map(|string| string.0).eq(indices.iter().copied()), "{}", context("with lcps"));
    let found = subject.argsort_strings_with_lcps::<_, u64>(strings);
    assert!(found == (indices.clone(), lcps), "{}", context("argsort_strings_with_lcps"));

    assert!(subject.argsort::<_, usize>(&slices) == indices, "{}", context("argsort"));
    assert!(subject.argsort_strings::<_, u32>(strings) == indices, "{}", context("argsort_strings"));

    let (mut sorted, mut payload) = (slices.clone(), (0..slices.len()).collect::<Vec<_>>());
    subject.sort_pairs(&mut sorted, &mut payload);
    assert!(sorted == expected && payload == indices, "{}", context("sort_pairs"));

    if let Some(mut texts) =
        strings.iter().map(|s| String::from_utf8(s.clone()).ok()).collect::<Option<Vec<_>>>()
    {
        let mut borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
        subject.sort(&mut borrowed);
        assert!(
            borrowed.iter().map(|s| s.as_bytes()).eq(expected.iter().copied()),
            "{}",
            context("sort of &str")
        );
        subject.sort_strings(&mut texts);
        assert!(
            texts.iter().map(|s| s.as_bytes()).eq(expected.iter().copied()),
            "{}",
            context("sort of String")
        );
    }

    check_array::<u32>(subject, strings, &expected, what);
    check_array::<u64>(subject, strings, &expected, what);
    check_array::<usize>(subject, strings, &expected, what);
}

/// Offsets and bytes, with bytes before the first string and after the last.
fn check_array<O: Index>(subject: &Subject, strings: &[Vec<u8>], expected: &[&[u8]], what: &str) {
    let mut bytes = b"before".to_vec();
    let mut offsets = vec![O::from_usize(bytes.len())];
    for string in strings {
        bytes.extend_from_slice(string);
        offsets.push(O::from_usize(bytes.len()));
    }
    bytes.extend_from_slice(b"after");
    subject.sort_string_array(&mut offsets, &mut bytes);

    let context = format!("array, {} of {} strings, {what}", subject.name, strings.len());
    assert_eq!(offsets[0].to_usize(), 6, "{context}");
    let found = offsets.windows(2).map(|pair| &bytes[pair[0].to_usize()..pair[1].to_usize()]);
    assert!(found.eq(expected.iter().copied()), "{context}");
    assert!(bytes.starts_with(b"before") && bytes.ends_with(b"after"), "{context}");
}

#[test]
fn every_shape() {
    let mut rng = Rng::with_seed(5);
    let mut turn = SEQUENTIAL.iter().cycle();
    for (name, shape) in SHAPES {
        for n in (0..=40).chain([63, 64, 65, 100, 200, 255, 256, 257, 1000, 4097]) {
            check(turn.next().unwrap(), &shape(n, &mut rng), name);
        }
        turn.next();
    }
}

#[test]
fn every_shape_large() {
    let mut rng = Rng::with_seed(6);
    for ((name, shape), subject) in SHAPES.iter().zip(PARALLEL.iter().skip(1).cycle()) {
        check(subject, &shape(70_000, &mut rng), name);
    }
}

#[test]
fn equal_strings_in_great_number() {
    let strings = vec![b"all of these are equal".to_vec(); 100_000];
    check(&PARALLEL[1], &strings, "10^5 equal strings");
}

/// Every algorithm in either direction, with this many threads.
fn algorithms(threads: usize) -> Vec<Subject> {
    let all = [Algorithm::Auto, Algorithm::Radix, Algorithm::Quicksort, Algorithm::Merge];
    let subject = |algorithm, descending| {
        let order = Order { descending, ..Order::default() };
        Subject::new(&format!("{algorithm:?}, {threads} threads"), order, |choices| {
            choices.threads(threads).algorithm(algorithm).unstable()
        })
    };
    all.into_iter().flat_map(|algorithm| [subject(algorithm, false), subject(algorithm, true)]).collect()
}

/// Equal strings may come out in any order here.
fn check_lcps(subject: &Subject, strings: &[Vec<u8>], what: &str) {
    let context = format!("{} of {} strings, {what}", subject.name, strings.len());
    let mut expected: Vec<&[u8]> = strings.iter().map(Vec::as_slice).collect();
    expected.sort();
    if subject.order.descending {
        expected.reverse();
    }
    let shared = neighbours_share(&expected);
    let mut sorted: Vec<&[u8]> = strings.iter().map(Vec::as_slice).collect();
    let lcps = subject.sort_strings_with_lcps::<_, usize>(&mut sorted);
    assert!(sorted == expected && lcps == shared, "{context}");
    let (indices, lcps) = subject.argsort_strings_with_lcps::<_, u32>(strings);
    assert!(
        indices.iter().map(|&index| &strings[index]).eq(&expected) && lcps == shared,
        "indices, {context}"
    );
}

#[test]
fn lcps_by_every_algorithm() {
    let mut rng = Rng::with_seed(9);
    for (threads, sizes, apart) in [(1, &[0, 1, 2, 16, 17, 300, 10_000][..], 1), (2, &[70_000], 2)] {
        let subjects = algorithms(threads);
        for (name, shape) in SHAPES.iter().step_by(apart) {
            for &n in sizes {
                let strings = shape(n, &mut rng);
                subjects.iter().for_each(|subject| check_lcps(subject, &strings, name));
            }
        }
    }
}

/// Ties that are distributed again, within one another, and one that is already in order.
#[test]
fn lcps_of_ties_for_all_threads() {
    let mut rng = Rng::with_seed(10);
    let deep = |rng: &mut Rng, i: usize| {
        let beginning = [&b"tie "[..], b"tie of many ", b"in order"][i % 3].repeat(10);
        let rest = if i % 3 == 2 { format!("{i:06}").into_bytes() } else { random(9, rng, b"abc\0") };
        [beginning, rest].concat()
    };
    let mut strings = each(3 * 70_000, &mut rng, deep);
    strings.extend(each(1000, &mut rng, |rng, _| random(20, rng, b"tieo \0")));
    algorithms(2).iter().for_each(|subject| check_lcps(subject, &strings, "large ties"));
}

/// Strings that own their bytes move without copying these.
#[test]
fn bodies_stay_where_they_are() {
    let mut rng = Rng::with_seed(8);
    for subject in SEQUENTIAL.iter().chain(PARALLEL.iter()) {
        let mut strings = SHAPES[9].1(70_000, &mut rng);
        let mut before: Vec<*const u8> = strings.iter().map(|string| string.as_ptr()).collect();
        subject.sort_strings(&mut strings);
        let mut after: Vec<*const u8> = strings.iter().map(|string| string.as_ptr()).collect();
        before.sort();
        after.sort();
        assert!(before == after, "{}", subject.name);
    }
}

/// An array with a single offset has no strings.
#[test]
fn an_array_of_no_strings() {
    for subject in SEQUENTIAL.iter() {
        let (mut offsets, mut bytes) = ([2u32], *b"ba");
        subject.sort_string_array(&mut offsets, &mut bytes);
        assert_eq!((offsets, &bytes), ([2], b"ba"));
    }
}

/// Compared with others that differ from it only at their ends.
#[test]
fn a_string_of_1_gb() {
    let whole = vec![b'g'; 1 << 30];
    let mut strings = [&whole[..], &b"z"[..], &whole[..1 << 29], &whole[1 << 29..], &b""[..], &whole[1..]];
    let mut indices = [0u32; 6];
    let sorter = Sorter::builder().threads(1).build().unwrap();
    sorter.argsort_strings(&strings, &mut indices).unwrap();
    assert_eq!(indices, [4, 2, 3, 5, 0, 1]);
    sorter.sort_strings(&mut strings).unwrap();
    assert_eq!(strings.map(<[u8]>::len), [0, 1 << 29, 1 << 29, (1 << 30) - 1, 1 << 30, 1]);
}

/// The first string is out of order, so no work is saved because the others are in order.
#[test]
fn ten_million_equal_strings() {
    let mut strings = vec![&b"the same string everywhere"[..]; 10_000_000];
    strings[0] = b"z";
    let mut indices = vec![0u32; strings.len()];
    let sorter = Sorter::builder().threads(2).build().unwrap();
    sorter.argsort_strings(&strings, &mut indices).unwrap();
    assert!(indices[..9_999_999].iter().zip(1..).all(|(&index, i)| index == i) && indices[9_999_999] == 0);
    sorter.sort_strings(&mut strings).unwrap();
    assert_eq!(strings[9_999_999], b"z");
}
