//! Random tables, compared with a reader that goes byte by byte and a comparison of values by big integers.

use std::cmp::Ordering;
use std::fs;
use std::path::Path;

use num_bigint::BigInt;
use sortie::Report;

use super::{ColumnKey, Form, Table};
use crate::formats::{Choices, Keep, check_layout, merge_layout, sort_layout};
use crate::{Error, Input, Temporary};

/// A sort or a merge.
type Work = fn(&Table, Vec<Input>, Option<&Path>, &Choices) -> Result<Report, Error>;

/// What `work` writes for inputs with these bytes.
fn written(table: &Table, inputs: &[&[u8]], choices: &Choices, work: Work) -> Result<Vec<u8>, String> {
    let folder = tempfile::tempdir().unwrap();
    let temporary = Temporary { folders: vec![folder.path().to_owned()], ..Temporary::default() };
    let paths: Vec<_> = (0..inputs.len()).map(|i| folder.path().join(i.to_string())).collect();
    paths.iter().zip(inputs).for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
    let output = folder.path().join("sorted");
    let inputs = paths.iter().map(|path| Input::named(path)).collect();
    let report = work(table, inputs, Some(&output), &Choices { temporary, ..choices.clone() });
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), paths.len() + usize::from(report.is_ok()));
    let name = format!("{}/", folder.path().display());
    report.map(|_| fs::read(output).unwrap()).map_err(|error| error.to_string().replace(&name, ""))
}

fn sorted(table: &Table, inputs: &[&[u8]], choices: &Choices) -> Result<Vec<u8>, String> {
    written(table, inputs, choices, sort_layout)
}

fn table(keys: &str) -> Table {
    Table::by(ColumnKey::list(keys).unwrap())
}

#[track_caller]
fn sorts(table: &Table, input: &str, expected: &str) {
    let found = sorted(table, &[input.as_bytes()], &Choices::default()).unwrap();
    assert_eq!(String::from_utf8(found).unwrap(), expected);
}

/// Records with their fields, read byte by byte.
fn plainly(text: &[u8], separator: u8) -> Vec<(Vec<u8>, Vec<Vec<u8>>)> {
    let (mut records, mut record, mut fields, mut field) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut is_new, mut is_quoted, mut was_quoted) = (true, false, false);
    for &byte in text {
        record.push(byte);
        if is_quoted && byte == b'"' {
            (is_quoted, was_quoted) = (false, true);
        } else if is_quoted {
            field.push(byte);
        } else if byte == b'"' && (is_new || was_quoted) {
            if was_quoted {
                field.push(byte);
            }
            (is_new, is_quoted, was_quoted) = (false, true, false);
        } else if byte == separator || byte == b'\n' {
            if byte == b'\n' && field.last() == Some(&b'\r') {
                field.pop();
            }
            fields.push(std::mem::take(&mut field));
            if byte == b'\n' {
                records.push((std::mem::take(&mut record), std::mem::take(&mut fields)));
            }
            (is_new, was_quoted) = (true, false);
        } else {
            field.push(byte);
            (is_new, was_quoted) = (false, false);
        }
    }
    assert!(record.is_empty());
    records
}

/// A random field, and the same column always has the same kind.
fn field(column: usize, random: &mut fastrand::Rng) -> Vec<u8> {
    let value: String = match (column, random.u8(..12)) {
        (_, 0) => String::new(),
        (0, kind) => {
            let letters = if kind < 4 { "a,\"\n;é" } else { "abc" };
            let letters: Vec<char> = letters.chars().collect();
            (0..random.usize(..6)).map(|_| letters[random.usize(..letters.len())]).collect()
        }
        (1, 1) => "n/a".into(),
        (1, 2) => format!("{}", u128::MAX - u128::from(random.u8(..3))),
        (1, 3) => format!("00{}.50", random.u8(..20)),
        (1, 4) => format!("{}e{}", random.u8(..20), random.i8(-3..3)),
        (1, _) => format!("{}", random.i32(-50..50)),
        (_, kind) => "x".repeat(usize::from(kind)),
    };
    let has_special = value.contains(['"', ',', '\n', ';']);
    if has_special || random.u8(..3) == 0 {
        format!("\"{}\"", value.replace('"', "\"\"")).into_bytes()
    } else {
        value.into_bytes()
    }
}

fn random_table(records: usize, ending: &str, random: &mut fastrand::Rng) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..records {
        let columns = if random.u8(..20) == 0 { random.usize(1..5) } else { 3 };
        let fields: Vec<_> = (0..columns).map(|column| field(column, random)).collect();
        text.extend(fields.join(&b','));
        text.extend_from_slice(ending.as_bytes());
    }
    text
}

/// The number of a text, multiplied by 10^100.
fn scaled(text: &[u8]) -> Option<BigInt> {
    let text = str::from_utf8(text).ok()?;
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let number: BigInt = format!("{whole}{fraction}").parse().ok()?;
    let exponent = 100 + exponent.parse::<i32>().ok()? - fraction.len() as i32;
    Some(number * BigInt::from(10).pow(exponent as u32))
}

/// Nulls come last in both directions.
fn compare<T: Ord>(a: Option<T>, b: Option<T>, descending: bool) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) if descending => b.cmp(&a),
        (Some(a), Some(b)) => a.cmp(&b),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

#[test]
fn random_tables_are_sorted_as_a_plain_reader_and_big_integers_say() {
    let mut random = fastrand::Rng::with_seed(11);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    for round in 0..12 {
        let ending = ["\n", "\r\n"][round % 2];
        let mark = ["", "\u{FEFF}"][round / 2 % 2];
        let header = format!("{mark}name,\"pri\nce\",x{ending}");
        let text = random_table([0, 1, 30, 20_000][round % 4], ending, &mut random);
        let expected = |by_number: bool, descending: bool| {
            let mut records = plainly(&text, b',');
            let name =
                |record: &(Vec<u8>, Vec<Vec<u8>>)| record.1.first().filter(|name| !name.is_empty()).cloned();
            let number = |record: &(Vec<u8>, Vec<Vec<u8>>)| record.1.get(1).and_then(|text| scaled(text));
            let mut keyed: Vec<_> =
                records.drain(..).map(|record| (name(&record), number(&record), record.0)).collect();
            keyed.sort_by(|a, b| {
                let by_name = compare(a.0.as_ref(), b.0.as_ref(), false);
                let numbers = compare(a.1.as_ref(), b.1.as_ref(), descending);
                if by_number { numbers.then(by_name) } else { by_name.then(numbers) }
            });
            let records: Vec<_> = keyed.into_iter().map(|key| key.2).collect();
            [header.as_bytes(), &records.concat()].concat()
        };
        for (keys, by_number, descending) in
            [("name:text,\"pri\nce\":number", false, false), ("2:number:desc,1:text", true, true)]
        {
            let expected = expected(by_number, descending);
            // A last record without a line end gets one.
            let whole = [header.as_bytes(), &text].concat();
            let cut = whole.strip_suffix(ending.as_bytes()).unwrap();
            for memory in [None, Some(64 << 10), Some(700 << 10)] {
                let choices = Choices { memory, ..Choices::default() };
                for input in [&whole[..], cut] {
                    let sort = || sorted(&table(keys), &[input], &choices).unwrap();
                    assert!(sort() == expected, "{round} {keys} {memory:?}");
                    assert!(pool.install(sort) == expected, "{round} {keys} {memory:?}, in a pool");
                }
                // The same records in several inputs, each with the header.
                let records = plainly(&text, b',');
                let (first, second) = records.split_at(records.len() / 3);
                let input = |records: &[(Vec<u8>, Vec<Vec<u8>>)]| {
                    let records: Vec<_> = records.iter().map(|record| &record.0[..]).collect();
                    [header.as_bytes(), &records.concat()].concat()
                };
                let inputs = [&b""[..], &input(first), &input(&[]), &input(second)];
                assert!(sorted(&table(keys), &inputs, &choices).unwrap() == expected, "{round}, several");
                let parts: Vec<_> =
                    inputs.iter().map(|input| sorted(&table(keys), &[input], &choices).unwrap()).collect();
                let parts: Vec<_> = parts.iter().map(|part| &part[..]).collect();
                let merged = written(&table(keys), &parts, &choices, merge_layout).unwrap();
                assert!(merged == expected, "{round}, merged");
                let top = Choices { top: Some(17), ..choices };
                let first: Vec<_> =
                    plainly(&expected, b',').into_iter().take(18).flat_map(|record| record.0).collect();
                assert!(sorted(&table(keys), &[&whole], &top).unwrap() == first, "{round}, top");
            }
        }
    }
}

#[test]
fn one_of_equal_records_is_kept() {
    let mut random = fastrand::Rng::with_seed(5);
    let text: String =
        (0..30_000).map(|i| format!("{},{},{i}\n", random.u8(..250), random.u16(..300))).collect();
    let text = format!("a,b,c\n{text}");
    let mut records = plainly(text.as_bytes(), b',');
    let header = records.remove(0).0;
    let number = |field: &[u8]| str::from_utf8(field).unwrap().parse::<u32>().unwrap();
    records.sort_by_key(|(_, fields)| (number(&fields[0]), number(&fields[1])));
    for (unique, group) in [("", 2), ("a", 1), ("2,a", 2)] {
        let groups = || records.chunk_by(|a, b| a.1[..group] == b.1[..group]);
        for keep in [Keep::First, Keep::Last, Keep::None] {
            let kept = groups().filter_map(|group| match (keep, group) {
                (Keep::First, [first, ..]) => Some(&first.0),
                (Keep::Last, [.., last]) => Some(&last.0),
                (Keep::None, [only]) => Some(&only.0),
                _ => None,
            });
            let kept: Vec<_> = kept.collect();
            for memory in [None, Some(64 << 10), Some(1 << 20)] {
                for top in [None, Some(0), Some(100)] {
                    let table = Table {
                        unique: if unique.is_empty() {
                            Vec::new()
                        } else {
                            ColumnKey::columns(unique).unwrap()
                        },
                        ..table("a,b")
                    };
                    let choices = Choices { unique: true, keep, memory, top, ..Choices::default() };
                    let count = top.map_or(kept.len(), |top| kept.len().min(top as usize));
                    let expected: Vec<u8> =
                        header.iter().chain(kept[..count].iter().copied().flatten()).copied().collect();
                    let found = sorted(&table, &[text.as_bytes()], &choices).unwrap();
                    assert!(found == expected, "{unique} {keep:?} {memory:?} {top:?}");
                }
            }
        }
    }
}

/// Counts and left out records, by maps of all records.
#[test]
fn equal_records_are_counted_and_left_out_ones_are_kept_elsewhere() {
    let mut random = fastrand::Rng::with_seed(6);
    let records: Vec<(u16, u32)> = (0..30_000).map(|i| (random.u16(..9_000), i)).collect();
    let text = |records: &[(u16, u32)]| -> String {
        records.iter().map(|(key, index)| format!("{key:04},{index}\n")).collect()
    };
    let input = format!("k,i\n{}", text(&records));
    let mut ordered = records.clone();
    ordered.sort();
    let folder = tempfile::tempdir().unwrap();
    let others = folder.path().join("others.csv");
    for keep in [Keep::First, Keep::Last, Keep::None, Keep::Repeated] {
        let (mut kept, mut left) = (String::from("times,k,i\n"), String::from("k,i\n"));
        for group in ordered.chunk_by(|a, b| a.0 == b.0) {
            let (chosen, rest) = match (keep, group) {
                (Keep::First, [first, rest @ ..]) => (Some(first), rest),
                (Keep::Last, [rest @ .., last]) => (Some(last), rest),
                (Keep::None, [only]) => (Some(only), &[][..]),
                (Keep::None, group) => (None, group),
                (Keep::Repeated, [first, rest @ ..]) => ((!rest.is_empty()).then_some(first), rest),
                _ => unreachable!("no group is empty"),
            };
            kept.extend(chosen.iter().map(|(key, index)| format!("{},{key:04},{index}\n", group.len())));
            left.push_str(&text(rest));
        }
        for memory in [None, Some(64 << 10), Some(1 << 20)] {
            let choices = Choices {
                unique: true,
                keep,
                memory,
                duplicates: Some(others.clone()),
                ..Choices::default()
            };
            let table = Table { count: Some("times".into()), ..table("k") };
            let found = sorted(&table, &[input.as_bytes()], &choices).unwrap();
            assert!(found == kept.as_bytes(), "{keep:?} {memory:?}");
            assert!(fs::read_to_string(&others).unwrap() == left, "{keep:?} {memory:?}");
        }
    }
    // Nothing is left out: a header alone, or nothing at all.
    let choices = Choices { unique: true, duplicates: Some(others.clone()), ..Choices::default() };
    sorted(&table("k"), &[b"k,i\n1,2\n"], &choices).unwrap();
    assert_eq!(fs::read_to_string(&others).unwrap(), "k,i\n");
    let lines = Table { form: Some(Form::JsonLines), count: Some("n".into()), ..table(".a") };
    let found = sorted(&lines, &[b"{\"a\":1}\n{\"a\":1,\"b\":2}\n\n"], &choices).unwrap();
    assert_eq!(
        String::from_utf8(found).unwrap(),
        "{\"n\":2,\"record\":{\"a\":1}}\n{\"n\":1,\"record\":null}\n"
    );
    assert_eq!(fs::read_to_string(&others).unwrap(), "{\"a\":1,\"b\":2}\n");
}

#[test]
fn other_columns_and_separators_are_written() {
    let chosen =
        |keys: &str, columns: &str| Table { columns: ColumnKey::columns(columns).unwrap(), ..table(keys) };
    let text = "a,\"b;\",c\n2,x;y,\"p,q\"\n1,\"z\"\n";
    sorts(&chosen("a", "c,a"), text, "c,a\n,1\n\"p,q\",2\n");
    sorts(
        &Table { output_separator: Some(b';'), ..chosen("a", "\"b;\",1") },
        text,
        "\"b;\";a\n\"z\";1\n\"x;y\";2\n",
    );
    let tabs = Table { output_separator: Some(b'\t'), ..table("a") };
    sorts(&tabs, text, "a\t\"b;\"\tc\n1\t\"z\"\n2\tx;y\t\"p,q\"\n");
    // Large enough for runs, whose records keep their bytes.
    let many: String = (0..40_000).map(|i| format!("{},{i},\"v\"\n", i * 7919 % 40_009)).collect();
    let mut expected: Vec<_> = (0..40_000).map(|i| (i * 7919 % 40_009, i)).collect();
    expected.sort();
    let lines: String = expected.iter().map(|(key, i)| format!("\"v\"|{key}|{i}\n")).collect();
    let pipes = || Table { output_separator: Some(b'|'), ..chosen("a:number", "c,a,b") };
    let input = format!("a,b,c\n{many}");
    for (memory, top) in [(None, None), (Some(64 << 10), None), (Some(64 << 10), Some(3)), (None, Some(3))] {
        let choices = Choices { memory, top, ..Choices::default() };
        let found = sorted(&pipes(), &[input.as_bytes()], &choices).unwrap();
        let rows =
            top.map_or(lines.len(), |top| lines.split_inclusive('\n').take(top as usize).map(str::len).sum());
        assert!(found == format!("c|a|b\n{}", &lines[..rows]).as_bytes(), "{memory:?} {top:?}");
    }
    let refused =
        |table: Table, text: &str| sorted(&table, &[text.as_bytes()], &Choices::default()).unwrap_err();
    assert_eq!(refused(chosen("a", "z"), "a,b\n"), "0: there is no column 'z'; the header has 'a', 'b'");
    assert_eq!(
        refused(Table { count: Some("b".into()), ..table("a") }, "a,b\n"),
        "0: there is a column 'b' already; give another name for the count"
    );
    assert!(refused(chosen(".a", "b"), "{\"a\":1}\n").starts_with("0: JSON lines have no columns to choose"));
}

#[test]
fn forms_and_types_are_recognised() {
    let by = |keys: &str| table(keys);
    sorts(&by("b"), "a;b\n1;10\n2;9\n", "a;b\n2;9\n1;10\n");
    sorts(&by("b"), "a\tb\n1\tx10\n2\tx9\n", "a\tb\n1\tx10\n2\tx9\n");
    sorts(&by("b:version"), "a|b\n1|x10\n2|x9\n", "a|b\n2|x9\n1|x10\n");
    sorts(
        &by("2"),
        "a,b\n1,2024-03-01\n2,2024-02-29T23:00:00-02:00\n3,2024-02-29\n",
        "a,b\n3,2024-02-29\n1,2024-03-01\n2,2024-02-29T23:00:00-02:00\n",
    );
    let table = by("zip,price:desc:nulls-first");
    sorts(&table, "zip,price\n00501,1\n501,\n00500,x\n", "zip,price\n00500,x\n501,\n00501,1\n");
    assert_eq!(
        table.assumed(),
        [
            "2 columns separated by ',', with a header",
            "column 'zip': number, as the first records show; ascending, nulls last",
            "column 'price': text, as the first records show; descending, nulls first",
        ]
    );
    sorts(
        &by(".n"),
        "{\"n\": 10}\n{\"n\": 9}\n{}\n{\"n\": null}\n",
        "{\"n\": 9}\n{\"n\": 10}\n{}\n{\"n\": null}\n",
    );
    sorts(&Table::by(Vec::new()), "b,1\na,2\n\"a\",1\n", "b,1\n\"a\",1\na,2\n");
    let plain = Table { header: 0, ..by("1") };
    sorts(&plain, "\u{FEFF}b\na\n", "\u{FEFF}a\nb\n");
}

#[test]
fn comments_and_several_lines_of_header_stay_in_front() {
    let commented = || Table { header: 2, comment: Some(b'#'), ..table("n") };
    let text = "# \"made\nn,t\n#unit\nkg,s\n3,x\n# between, \"\n1,y\n";
    sorts(&commented(), text, "# \"made\nn,t\n#unit\nkg,s\n1,y\n3,x\n# between, \"\n");
    sorts(&commented(), "# only\n# comments", "# comments\n# only\n");
    sorts(&Table { header: 2, ..table("kg") }, "n,t\nkg,s\n3,x\n1,y\n", "n,t\nkg,s\n1,y\n3,x\n");
}

#[test]
fn what_does_not_fit_is_counted_or_refused() {
    let text = "a,b\n1,x\n\"2\n\",y\nx,z\n\n3\n4,5,6\n";
    let loose = table("a:number");
    sorts(&loose, text, "a,b\n1,x\n\"2\n\",y\n3\n4,5,6\nx,z\n\n");
    assert_eq!(
        loose.surprises(),
        [
            "1 value of column 'a' not of type number, sorted as null",
            "2 records with fewer or more than 2 fields"
        ]
    );
    // The same where runs are merged: each is counted once.
    let many = format!("a,b\n{}", "1,2\nx,1\n1\n".repeat(20_000));
    let loose = table("a:number");
    sorted(&loose, &[many.as_bytes()], &Choices { memory: Some(64 << 10), ..Choices::default() }).unwrap();
    assert!(
        loose.surprises()[0].starts_with("20000 values of")
            && loose.surprises()[1].starts_with("20000 records")
    );
    let strict = || Table { strict: true, ..table("a:number") };
    let refused = |text: &str| sorted(&strict(), &[text.as_bytes()], &Choices::default()).unwrap_err();
    assert_eq!(refused(text), "0:5: 'x' in column 'a' is not a number");
    assert_eq!(refused("a,b\n1,x\n3\n"), "0:3: the record does not have 2 fields, but 1");
    let many = format!("a,b\n{}x,1\n", "1,\"\n2\"\n".repeat(300_000));
    assert_eq!(refused(&many), "0:600002: 'x' in column 'a' is not a number");
    let jsonl = || Table { form: Some(Form::JsonLines), ..table(".a") };
    let refused = sorted(&jsonl(), &[b"{\"a\": 1}\n\n{\"a\": }\n"], &Choices::default()).unwrap_err();
    assert_eq!(refused, "0:3: invalid JSON at column 7: expected value");
}

#[test]
fn inputs_that_do_not_fit_are_refused() {
    let refused =
        |keys: &str, inputs: &[&[u8]]| sorted(&table(keys), inputs, &Choices::default()).unwrap_err();
    assert_eq!(refused("c", &[b"a,b\n"]), "0: there is no column 'c'; the header has 'a', 'b'");
    assert_eq!(refused("3", &[b"a,b\n"]), "0: there is no column 3; there are 2");
    assert!(refused("a", &[b"a,a\n"]).starts_with("0: several columns have the name 'a'"));
    assert_eq!(
        refused("a", &[b"a,b\n1,2\n", b"b,a\n"]),
        "1: its columns are in another order than those of the first input: 'b', 'a', not 'a', 'b'"
    );
    assert_eq!(
        refused("a", &[b"a,b\n1,2\n", b"a,c\n"]),
        "1: its columns are not those of the first input: 'a', 'c', not 'a', 'b'"
    );
    assert_eq!(refused("a", &[b"a,b\n1,2\n3,\"x\n4,5\n"]), "0:3: a field in quotes is not closed");
    assert_eq!(refused("a", &[b"a,\"b\n1,2\n"]), "0: a field in quotes is not closed");
    let unique = Table { unique: ColumnKey::columns("b").unwrap(), ..table("a,b") };
    let choices = Choices { unique: true, ..Choices::default() };
    let said = sorted(&unique, &[b"a,b\n"], &choices).unwrap_err();
    assert_eq!(said, "0: records cannot be unique by column 'b': sort by the same columns first");
    let merge = |keys: &str, inputs: &[&[u8]]| {
        written(&Table { strict: true, ..table(keys) }, inputs, &Choices::default(), merge_layout)
            .unwrap_err()
    };
    assert_eq!(
        merge("a:number", &[b"a,b\n1,2\n", b"a,b\n1,2\nx,1\n"]),
        "1:3: 'x' in column 'a' is not a number"
    );
}

#[test]
fn the_first_record_out_of_order_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let check = |keys: &str, text: &str, unique| {
        fs::write(&path, text).unwrap();
        let choices = Choices { unique, ..Choices::default() };
        let found = check_layout(&table(keys), Input::named(&path), &choices).unwrap().0;
        found.map(|found| (found.number, found.line, String::from_utf8(found.bytes).unwrap()))
    };
    assert_eq!(check("a:number", "a,b\n1,\"\n\"\n2,x\n2,y\n10,z\n", false), None);
    assert_eq!(check("a:number", "a,b\n1,\"\n\"\n2,x\n2,y\n10,z\n", true), Some((3, 5, "2,y\n".into())));
    assert_eq!(check("a:text", "a,b\n1,\"\n\"\n2,x\n10,z", false), Some((3, 5, "10,z\n".into())));
    assert_eq!(check("b", "a,b\n", false), None);
}
