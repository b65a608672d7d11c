//! Layouts are sorted as std's stable sort does, however little fits in memory.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use sortie::Report;

use super::{Choices, Layout, Lines, Prefixed, sort_layout, sort_records};
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
