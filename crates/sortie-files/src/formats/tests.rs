//! Layouts are sorted as std's stable sort does, and lines as GNU sort does, however little fits in memory.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use sortie::Report;

use super::sequences::{Format, SequenceKey, SequenceOrder, check_sequences, sort_sequences};
use super::text::{TextOrder, check_text, merge_text, sort_text};
use super::{Choices, Layout, Lines, Prefixed, check_layout, sort_layout, sort_records};
use crate::gnu_sort::gnu_sort;
use crate::{Error, Input, Temporary};

/// What `sort` writes for inputs with these bytes.
fn written(
    inputs: &[&[u8]],
    choices: &Choices,
    sort: impl FnOnce(Vec<Input>, Option<&Path>, &Choices) -> Result<Report, Error>,
) -> Result<Vec<u8>, Error> {
    let folder = tempfile::tempdir().unwrap();
    let temporary = Temporary { folders: vec![folder.path().to_owned()], ..Temporary::default() };
    let paths: Vec<_> = (0..inputs.len()).map(|i| folder.path().join(i.to_string())).collect();
    paths.iter().zip(inputs).for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
    let output = folder.path().join("sorted");
    let inputs = paths.iter().map(|path| Input::named(path)).collect();
    let report = sort(inputs, Some(&output), &Choices { temporary, ..choices.clone() });
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), paths.len() + usize::from(report.is_ok()));
    report.map(|_| fs::read(output).unwrap())
}

fn sorted(layout: &impl Layout, inputs: &[&[u8]], choices: &Choices) -> Result<Vec<u8>, Error> {
    written(inputs, choices, |inputs, output, choices| sort_layout(layout, inputs, output, choices))
}

fn records(count: usize) -> Vec<Vec<u8>> {
    let mut random = fastrand::Rng::with_seed(7);
    (0..count).map(|_| (0..random.usize(..40)).map(|_| random.u8(b'a'..b'd')).collect()).collect()
}

fn prefixed(records: &[Vec<u8>]) -> Vec<u8> {
    let each = |record: &Vec<u8>| [&(record.len() as u32).to_le_bytes()[..], record].concat();
    records.iter().flat_map(each).collect()
}

#[test]
fn records_after_their_lengths_are_sorted_within_any_memory() {
    let mut records = records(30_000);
    records[7] = vec![b'b'; 300_000];
    let (first, rest) = records.split_at(100);
    let inputs = [prefixed(first), Vec::new(), prefixed(rest)];
    let inputs = [&inputs[0][..], &inputs[1], &inputs[2]];
    for memory in [None, Some(64 << 10), Some(2 << 20), Some(20 << 20)] {
        for (descending, unique) in [(false, false), (true, false), (false, true)] {
            let mut expected = records.clone();
            expected.sort_by(|a, b| if descending { b.cmp(a) } else { a.cmp(b) });
            if unique {
                expected.dedup();
            }
            let choices = Choices { descending, unique, memory, ..Choices::default() };
            assert!(sorted(&Prefixed, &inputs, &choices).unwrap() == prefixed(&expected), "{memory:?}");
        }
    }
}

#[test]
fn a_record_that_is_cut_short_is_refused_and_nothing_is_written() {
    let mut bytes = prefixed(&records(10));
    bytes.pop();
    let error = sorted(&Prefixed, &[&bytes], &Choices::default()).unwrap_err().to_string();
    assert!(error.ends_with("/0: the last item is cut short"), "{error}");
}

#[test]
fn lines_keep_one_header_and_their_order() {
    let by_second = Lines {
        header: 1,
        key: |line: &[u8], key: &mut Vec<u8>| {
            key.extend(line.split(|&byte| byte == b',').nth(1).unwrap_or(b""))
        },
    };
    let inputs: [&[u8]; 3] = [b"n,k\n1,b\n2,a\n3,b", b"n,k\n4,a\n", b"n,k"];
    let expected = b"n,k\n2,a\n4,a\n1,b\n3,b\n";
    assert_eq!(sorted(&by_second, &inputs, &Choices::default()).unwrap(), expected);
    let unique = Choices { unique: true, ..Choices::default() };
    assert_eq!(sorted(&by_second, &inputs, &unique).unwrap(), b"n,k\n2,a\n1,b\n");
}

#[test]
fn records_of_one_length_are_sorted_by_their_keys() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut records: Vec<[u8; 7]> = (0..100_000).map(|_| std::array::from_fn(|_| random.u8(..3))).collect();
    let bytes = records.concat();
    records.sort_by_key(|record| (record[4], record[0], record[1]));
    for memory in [None, Some(64 << 10)] {
        let choices = Choices { memory, ..Choices::default() };
        let sort = |inputs, output: Option<&Path>, choices: &Choices| {
            sort_records(NonZeroUsize::new(7).unwrap(), &[4..5, 0..2], inputs, output, choices)
        };
        assert!(written(&[&bytes], &choices, sort).unwrap() == records.concat(), "{memory:?}");
        let error = written(&[&bytes[1..]], &choices, sort).unwrap_err().to_string();
        assert!(error.ends_with("the file is cut short, or the size is wrong"), "{error}");
    }
}

#[test]
fn text_is_sorted_as_gnu_sort_does_whatever_fits_in_memory() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut word =
        || (0..random.usize(..12)).map(|_| random.u8(b'+'..b'c')).filter(|&byte| byte != b'\n').collect();
    let mut line = || [word(), b",".to_vec(), word(), b",".to_vec(), word()].concat();
    let mut text = (0..40_000).map(|_| line()).collect::<Vec<_>>().join(&b'\n');
    text.extend_from_slice(b"\nnot ended");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    for (options, keys) in [
        ("-s -t,", ""),
        ("-r -t,", ""),
        ("-u -t,", "2,2n"),
        ("-t,", "3,3gr 1,1f"),
        ("-s -t,", "2.2,2.3 1,1V"),
        ("-r -s -t,", "2,2 3h"),
    ] {
        let given = keys.split_whitespace().map(|key| format!(" -k{key}")).collect::<String>();
        let expected = gnu_sort(&format!("{options}{given}"), &text);
        let has = |option| options.split(' ').any(|given| given == option);
        let order = TextOrder {
            keys: keys.split_whitespace().map(|key| key.parse().unwrap()).collect(),
            separator: Some(b','),
            stable: has("-s"),
            ..TextOrder::default()
        };
        for memory in [None, Some(64 << 10), Some(3 << 20)] {
            let choices = Choices { memory, unique: has("-u"), descending: has("-r"), ..Choices::default() };
            let sort = || {
                written(&[&text], &choices, |inputs, output, choices| {
                    sort_text(&order, inputs, output, choices)
                })
            };
            assert!(sort().unwrap() == expected, "{options}{given}, {memory:?}");
            // In a pool, no other threads take part.
            assert!(pool.install(sort).unwrap() == expected, "{options}{given}, {memory:?}, in a pool");
            let merge = |inputs: Vec<Input>, output: Option<&Path>, choices: &Choices| {
                merge_text(&order, inputs, output, choices)
            };
            assert!(written(&[&expected, b""], &choices, merge).unwrap() == expected, "{options}{given}");
        }
    }
}

#[test]
fn long_lines_are_merged_in_a_pool_too() {
    let line = |i: usize| [vec![b'x'; 300_000 + i], vec![b'a' + (i * 7 % 26) as u8, b'\n']].concat();
    let mut lines: Vec<_> = (0..20).map(line).collect();
    let text = lines.concat();
    lines.sort();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let choices = Choices { memory: Some(1 << 20), ..Choices::default() };
    for order in
        [TextOrder::default(), TextOrder { keys: vec!["1,1b".parse().unwrap()], ..TextOrder::default() }]
    {
        let sort = || {
            written(&[&text], &choices, |inputs, output, choices| sort_text(&order, inputs, output, choices))
        };
        assert!(sort().unwrap() == lines.concat() && pool.install(sort).unwrap() == lines.concat());
    }
}

#[test]
fn the_first_line_out_of_order_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text");
    fs::write(&path, "a 2\nb 2\nc 10\n").unwrap();
    let check = |key: &str, unique| {
        let order = TextOrder { keys: vec![key.parse().unwrap()], unique, ..TextOrder::default() };
        check_text(&order, &Input::named(&path)).unwrap().map(|found| (found.number, found.line))
    };
    assert_eq!(check("2n", false), None);
    assert_eq!(check("2n", true), Some((2, b"b 2".to_vec())));
    assert_eq!(check("2,2", false), Some((3, b"c 10".to_vec())));
    assert_eq!(check("1,1r", false), Some((2, b"b 2".to_vec())));
}

#[test]
fn keys_whose_options_exclude_each_other_are_refused() {
    let order = TextOrder { keys: vec!["1nM".parse().unwrap()], ..TextOrder::default() };
    let refused = sort_text(&order, Vec::new(), None, &Choices::default()).unwrap_err();
    assert_eq!(refused.to_string(), "options '-Mn' are incompatible");
}

#[test]
fn sequences_are_sorted_whatever_fits_in_memory() {
    let mut random = fastrand::Rng::with_seed(5);
    let mut records: Vec<(String, String)> = (0..30_000)
        .map(|i| {
            (
                format!("{i}"),
                (0..random.usize(1..9)).map(|_| char::from(b"ACGT"[random.usize(..4)])).collect(),
            )
        })
        .collect();
    let fasta = |records: &[(String, String)]| {
        records.iter().map(|(name, letters)| format!(">{name} x\n{letters}\n")).collect::<String>()
    };
    let text = fasta(&records);
    for by in [SequenceKey::Length, SequenceKey::Name, SequenceKey::Sequence] {
        let key = |record: &(String, String)| match by {
            SequenceKey::Sequence => record.1.clone(),
            SequenceKey::Name => record.0.clone(),
            SequenceKey::Length => record.1.len().to_string(),
        };
        let order = SequenceOrder::new(Format::Fasta, by);
        // Stable: the records of the first order stay in their order where keys of the second are equal.
        records.sort_by_key(|record| record.0.parse::<u32>().unwrap());
        records.sort_by_key(key);
        let mut distinct = records.clone();
        distinct.dedup_by_key(|record| key(record));
        for memory in [None, Some(64 << 10), Some(3 << 20)] {
            for (unique, expected) in [(false, &records), (true, &distinct)] {
                let choices = Choices { memory, unique, ..Choices::default() };
                let sorted = written(&[text.as_bytes()], &choices, |inputs, output, choices| {
                    sort_sequences(&order, inputs, output, choices)
                });
                assert!(sorted.unwrap() == fasta(expected).into_bytes(), "{by:?}, {memory:?}, {unique}");
            }
        }
    }
}

#[test]
fn the_first_record_out_of_order_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records");
    fs::write(&path, ">a\nAC\nGT\n>b\nAC\n>c\nAC\n").unwrap();
    let check = |by, unique| {
        let order = SequenceOrder { unique, ..SequenceOrder::new(Format::Fasta, by) };
        let found = check_sequences(&order, Input::named(&path), None).unwrap();
        found.map(|found| (found.line, found.name))
    };
    assert_eq!(check(SequenceKey::Name, true), None);
    assert_eq!(check(SequenceKey::Length, false), Some((4, b"b".to_vec())));
    fs::write(&path, ">a\nAC\n>b\nAC\n").unwrap();
    assert_eq!(check(SequenceKey::Sequence, false), None);
    assert_eq!(check(SequenceKey::Sequence, true), Some((3, b"b".to_vec())));

    fs::write(&path, prefixed(&[b"a".to_vec(), b"b".to_vec(), b"b".to_vec()])).unwrap();
    let layout: &dyn Layout = &Prefixed;
    let check =
        |choices| check_layout(layout, Input::named(&path), &choices).unwrap().0.map(|found| found.number);
    assert_eq!(check(Choices::default()), None);
    assert_eq!(check(Choices { unique: true, ..Choices::default() }), Some(3));
    assert_eq!(check(Choices { descending: true, ..Choices::default() }), Some(2));
}

#[test]
fn a_record_that_is_too_long_says_which_limit_to_allow() {
    let long = format!(">a\n{}\n", "A".repeat(1 << 20));
    let order = SequenceOrder::new(Format::Fasta, SequenceKey::Sequence);
    let mut limit = 64 << 10;
    let mut refusals = 0;
    loop {
        let choices = Choices { memory: Some(limit), ..Choices::default() };
        let sorted = written(&[long.as_bytes()], &choices, |inputs, output, choices| {
            sort_sequences(&order, inputs, output, choices)
        });
        let refused = match sorted {
            Ok(sorted) => break assert!(refusals > 0 && sorted == long.as_bytes()),
            Err(refused) => refused.to_string(),
        };
        assert!(refused.contains(":1: this record needs at least "), "{refused}");
        assert!(refused.contains(" but the memory limit leaves "), "{refused}");
        let (_, advice) = refused.split_once("; allow ").unwrap();
        let (size, rest) = advice.split_once(' ').unwrap();
        assert_eq!(rest, "MiB or more, about 14 times the longest record");
        let advised = size.parse::<u64>().unwrap() << 20;
        assert!(advised > limit && advised < 64 << 20, "{refused}");
        (limit, refusals) = (advised, refusals + 1);
    }
}
