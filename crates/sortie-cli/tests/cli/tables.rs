//! `sortie sort --by` and the other options for tables, compared with Python's `csv` and `json` modules and its stable sort.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::{Numbers, complaint, compress, decompress, folder, gnu, names, run, sortie, text};

fn tried(folder: &Path, options: &str, stdin: &[u8]) -> Output {
    run(sortie(folder).args(options.split_whitespace()), stdin)
}

#[track_caller]
fn sort(folder: &Path, options: &str, stdin: &[u8]) -> Output {
    let done = tried(folder, options, stdin);
    assert_eq!(done.status.code(), Some(0), "{options}: {}", text(&done.stderr));
    done
}

/// What a command prints, whose name is the first of `words`.
#[track_caller]
fn work(folder: &Path, words: &str) -> Vec<u8> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sortie"));
    let done = run(command.env("LC_ALL", "C").current_dir(folder).args(words.split_whitespace()), b"");
    assert_eq!(done.status.code(), Some(0), "{words}: {}", text(&done.stderr));
    done.stdout
}

/// Sorts a table with Python. Each record is what the `csv` reader has consumed when it returns a row.
const PYTHON: &str = r#"
import csv, io, json, sys
from fractions import Fraction

text = sys.stdin.buffer.read().decode('latin-1')
key, separator = sys.argv[1], sys.argv[2]
lines = text.splitlines(keepends=True) if separator == 'json' else io.StringIO(text, newline='').readlines()
taken = 0
def source():
    global taken
    for line in lines:
        taken += 1
        yield line

records = []
if separator == 'json':
    records = [(json.loads(line, parse_float=Fraction, parse_int=Fraction), line) for line in lines]
else:
    start = 0
    for fields in csv.reader(source(), delimiter=separator):
        records.append((fields, ''.join(lines[start:taken])))
        start = taken
header = [] if separator == 'json' else [records.pop(0)]

def number(value):
    try:
        return (0, Fraction(value.strip()))
    except ValueError:
        return (1, 0)
def at(fields, column):
    return fields[column] if column < len(fields) else ''
def text_of(fields, column):
    value = at(fields, column)
    return (0, value) if value else (1, '')
def descending(value):
    null, number = value
    return (null, -number)
keys = {
    'text,number': lambda fields: (text_of(fields, 0), number(at(fields, 1))),
    'number:desc,text': lambda fields: (descending(number(at(fields, 1))), text_of(fields, 0)),
    'nested': lambda value: (1, 0) if (value.get('a') or {}).get('n') is None else (0, value['a']['n']),
}
records.sort(key=lambda record: keys[key](record[0]))
sys.stdout.buffer.write(''.join(record[1] for record in header + records).encode('latin-1'))
"#;

fn python(key: &str, separator: &str, input: &[u8]) -> Vec<u8> {
    let done = run(Command::new("python3").args(["-c", PYTHON, key, separator]), input);
    assert!(done.status.success(), "{}", text(&done.stderr));
    done.stdout
}

/// Records with a name, a number, and other fields. Names may have separators, quotes and line breaks.
fn records(count: usize, separator: char, end: &str, numbers: &mut Numbers) -> Vec<u8> {
    let letters = [separator, '"', '\n', 'a', 'b', 'é'];
    let mut out = format!("name{separator}n{separator}\"x{separator}y\"{end}");
    for record in 0..count {
        let name: String = (0..numbers.below(5)).map(|_| letters[numbers.below(6)]).collect();
        let number = match numbers.below(12) {
            0 => String::new(),
            1 => "none".into(),
            2 => format!("{}", u128::MAX - numbers.below(3) as u128),
            3 => format!("0{}.{}0", numbers.below(20), numbers.below(10)),
            4 => format!("-{}e{}", numbers.below(20), numbers.below(3)),
            _ => format!("{}", numbers.below(40)),
        };
        let is_quoted = name.contains([separator, '"', '\n']) || numbers.below(3) == 0;
        let name = if is_quoted { format!("\"{}\"", name.replace('"', "\"\"")) } else { name };
        match numbers.below(30) {
            0 if is_quoted => out.push_str(&format!("{name}{end}")),
            1 => out.push_str(&format!("{name}{separator}{number}{separator}{separator}more{end}")),
            _ => out.push_str(&format!("{name}{separator}{number}{separator}{record}{end}")),
        }
    }
    out.into_bytes()
}

#[test]
fn tables_agree_with_python() {
    let mut numbers = Numbers::new(3);
    let folder = folder("in", b"");
    for (count, separator, end) in
        [(0, ',', "\n"), (1, ';', "\n"), (30_000, ',', "\n"), (20_000, '\t', "\r\n"), (9_000, '|', "\n")]
    {
        let input = records(count, separator, end, &mut numbers);
        fs::write(folder.path().join("in"), &input).unwrap();
        fs::write(folder.path().join("in.gz"), compress(&input)).unwrap();
        let form = match separator {
            ',' => "--csv".into(),
            '\t' => "--tsv".into(),
            other => format!("--delimiter {other}"),
        };
        for (key, by) in
            [("text,number", "name:text,n:number"), ("number:desc,text", "2:number:desc --by name:text")]
        {
            let expected = python(key, &separator.to_string(), &input);
            for limits in ["", "-S 64K", "-S 64K --batch-size 2 --parallel 3", "-S 17M", "--parallel 1"] {
                for form in [&form[..], ""] {
                    let options = format!("{form} --by {by} {limits} -T .");
                    assert!(
                        sort(folder.path(), &format!("{options} in"), b"").stdout == expected,
                        "{options}"
                    );
                    assert!(
                        sort(folder.path(), &options, &input).stdout == expected,
                        "{options}, from a pipe"
                    );
                }
            }
            let options = format!("{form} --by {by} -S 1M in.gz -o in.gz");
            sort(folder.path(), &options, b"");
            let packed = fs::read(folder.path().join("in.gz")).unwrap();
            assert!(decompress(&packed) == expected, "{options}");
            assert!(
                sort(folder.path(), &format!("{options} -c").replace("-o in.gz", ""), b"").stdout.is_empty()
            );
        }
    }
    assert_eq!(names(folder.path()), ["in", "in.gz"]);
}

#[test]
fn json_lines_agree_with_python() {
    let mut numbers = Numbers::new(4);
    let document = |number: usize, numbers: &mut Numbers| {
        let value = match numbers.below(9) {
            0 => return format!("{{\"id\": {number}}}\n"),
            1 => "null".into(),
            2 => format!("{}", u128::MAX - numbers.below(3) as u128),
            3 => format!("{}.50", numbers.below(10)),
            4 => format!("-{}E+1", numbers.below(10)),
            _ => format!("{}", numbers.below(30)),
        };
        format!(
            "{{\"id\": {number}, \"a\": {{\"m\": [1, {{}}], \"n\": {value}, \"s\": \"x\\\"\\u00e9\\n\"}}}}\n"
        )
    };
    let input: String = (0..30_000).map(|number| document(number, &mut numbers)).collect();
    let folder = folder("in.jsonl", input.as_bytes());
    let expected = python("nested", "json", input.as_bytes());
    for options in ["--jsonl --by .a.n", "--by .a.n:number", "--by .[\"a\"].n -S 64K --parallel 2"] {
        let found = sort(folder.path(), &format!("{options} in.jsonl"), b"").stdout;
        assert!(found == expected, "{options}");
    }
}

/// Mixed values, in the order of `jq`.
#[test]
fn json_values_of_all_types_are_in_the_order_of_jq() {
    let input = "{\"v\":{\"b\":1}}\n{\"v\":[1]}\n{\"v\":\"b\"}\n{\"v\":10}\n{\"v\":true}\n{\"v\":{\"a\":2}}\n{\"v\":\"a\"}\n{\"v\":9}\n{\"v\":false}\n\
                 {\"v\":[]}\n{\"v\":[0,1]}\n{\"v\":{\"a\":1}}\n{\"v\":null}\n";
    let folder = folder("in", input.as_bytes());
    let found = sort(folder.path(), "--jsonl --by .v:nulls-first in", b"").stdout;
    let expected = "{\"v\":null}\n{\"v\":false}\n{\"v\":true}\n{\"v\":9}\n{\"v\":10}\n{\"v\":\"a\"}\n{\"v\":\"b\"}\n{\"v\":[]}\n{\"v\":[0,1]}\n\
                    {\"v\":[1]}\n{\"v\":{\"a\":1}}\n{\"v\":{\"a\":2}}\n{\"v\":{\"b\":1}}\n";
    assert_eq!(text(&found), expected);
    let jq =
        Command::new("jq").args(["-s", "-c", "sort_by(.v)[]"]).arg("in").current_dir(folder.path()).output();
    let jq = jq.expect("this test compares with jq; install it");
    assert_eq!(text(&jq.stdout), expected);
}

/// Without an option for tables, a CSV file is lines.
#[test]
fn a_csv_file_alone_is_sorted_as_lines() {
    let input = b"name,n\nb,\"2\nx\"\na,10\n";
    let folder = folder("in.csv", input);
    for options in ["in.csv", "-t, -k2,2n in.csv", "-r in.csv", "-u in.csv"] {
        let words = || options.split_whitespace();
        let (ours, theirs) =
            (run(sortie(folder.path()).args(words()), b""), run(gnu(folder.path()).args(words()), b""));
        assert_eq!(text(&ours.stdout), text(&theirs.stdout), "{options}");
    }
}

#[test]
fn what_was_assumed_and_what_was_unexpected_is_said() {
    let folder = folder("in", b"name,n\na,1\nb,x\nc,2,3\n");
    let done = sort(folder.path(), "--by n:number:desc -v in", b"");
    assert_eq!(text(&done.stdout), "name,n\nc,2,3\na,1\nb,x\n");
    assert_eq!(
        text(&done.stderr),
        "sortie: 2 columns separated by ',', with a header\n\
         sortie: column 'n': number; descending, nulls last\n\
         sortie: note: 1 value of column 'n' not of type number, sorted as null\n\
         sortie: note: 1 record with fewer or more than 2 fields\n"
    );
    let done = sort(folder.path(), "--by n,1 --explain in", b"");
    assert_eq!(
        text(&done.stdout),
        "input:     21 bytes\n\
         table:     2 columns separated by ',', with a header\n\
         by:        column 'n': text, as the first records show; ascending, nulls last\n\
         by:        column 'name': text, as the first records show; ascending, nulls last\n"
    );
    let done = run(sortie(folder.path()).args(["--by", "n:number", "--strict", "in", "-o", "in"]), b"");
    assert_eq!(complaint(&done, 2), "sortie: in:3: 'x' in column 'n' is not a number\n");
    assert_eq!(fs::read(folder.path().join("in")).unwrap(), b"name,n\na,1\nb,x\nc,2,3\n");
}

#[test]
fn tables_are_merged_checked_and_made_unique() {
    let folder = folder("a", b"k,v\n1,x\n3,y\n");
    fs::write(folder.path().join("b"), b"k,v\n1,z\n2,x\n3,w\n10,q").unwrap();
    let written = |options: &str| text(&sort(folder.path(), options, b"").stdout);
    assert_eq!(written("-m --by k a b"), "k,v\n1,x\n1,z\n2,x\n3,y\n3,w\n10,q\n");
    assert_eq!(written("-u --by k a b"), "k,v\n1,x\n2,x\n3,y\n10,q\n");
    assert_eq!(written("--by k,v:desc --unique=k a b"), "k,v\n1,z\n2,x\n3,y\n10,q\n");
    assert_eq!(written("-u --keep last --by k a b"), "k,v\n1,z\n2,x\n3,w\n10,q\n");
    assert_eq!(written("-u --keep none --by k a b"), "k,v\n2,x\n10,q\n");
    assert_eq!(written("--csv --unique=v a b"), "k,v\n10,q\n3,w\n1,x\n3,y\n1,z\n");
    assert_eq!(written("--by k:desc --top 2 a b"), "k,v\n10,q\n3,y\n");
    assert_eq!(written("-m -u --by k a b"), "k,v\n1,x\n2,x\n3,y\n10,q\n");
    assert_eq!(written("-c --by k b"), "");
    let refused = |options: &str, status: i32| {
        complaint(&run(sortie(folder.path()).args(options.split_whitespace()), b""), status)
    };
    assert_eq!(refused("-c --by v b", 1), "sortie: b:3: disorder: 2,x\n");
    assert_eq!(run(sortie(folder.path()).args(["-C", "--by", "v", "b"]), b"").stderr, b"");
}

/// Compared with `Counter` and `csv.writer` of Python.
#[test]
fn records_are_counted_and_columns_chosen_as_python_does() {
    const PYTHON: &str = r#"
import collections, csv, io, sys
text = sys.stdin.buffer.read().decode('latin-1')
header, *rows = csv.reader(io.StringIO(text, newline=''))
rows = [row + [''] * (3 - len(row)) for row in rows]
count = collections.Counter(row[0] for row in rows)
first, others = {}, []
for row in rows:
    if row[0] in first: others.append(row)
    first.setdefault(row[0], row)
rows = sorted(first.values(), key=lambda row: (row[0] == '', row[0]))
text = io.StringIO()
out = csv.writer(text, delimiter=';', lineterminator='\n')
if sys.argv[1] == 'count': out.writerows([['count', header[2], header[0]]] + [[count[r[0]], r[2], r[0]] for r in rows])
if sys.argv[1] == 'once': out.writerows([[header[0]]] + [[r[0]] for r in rows if count[r[0]] == 1])
if sys.argv[1] == 'twice': out.writerows([[header[0]]] + [[r[0]] for r in rows if count[r[0]] > 1])
if sys.argv[1] == 'others': out.writerows([header[:2]] + [r[:2] for r in sorted(others, key=lambda row: (row[0] == '', row[0]))])
sys.stdout.buffer.write(text.getvalue().encode('latin-1'))
"#;
    /// The rows that a reader finds.
    const ROWS: &str = r#"
import csv, io, json, sys
text = sys.stdin.buffer.read().decode('latin-1')
json.dump(list(csv.reader(io.StringIO(text, newline=''), delimiter=sys.argv[1])), sys.stdout)
"#;
    let rows = |text: &[u8], delimiter: &str| {
        let done = run(Command::new("python3").args(["-c", ROWS, delimiter]), text);
        assert!(done.status.success(), "{}", self::text(&done.stderr));
        self::text(&done.stdout)
    };
    let mut numbers = Numbers::new(9);
    let folder = folder("in", b"");
    for count in [0, 1, 8_000] {
        let input = records(count, ',', "\n", &mut numbers);
        fs::write(folder.path().join("in"), &input).unwrap();
        let python = |what: &str| {
            let done = run(Command::new("python3").args(["-c", PYTHON, what]), &input);
            assert!(done.status.success(), "{}", text(&done.stderr));
            rows(&done.stdout, ";")
        };
        for limits in ["", "-S 64K -T ."] {
            let ours = |options: &str| {
                rows(&sort(folder.path(), &format!("--by name:text {limits} {options} in"), b"").stdout, ";")
            };
            let counted = "-u --count --columns 3,name --output-delimiter ;";
            assert!(ours(counted) == python("count"), "{count} {limits}");
            let uniq = |options: &str| {
                let options = format!("uniq --by name:text {limits} {options} --output-delimiter ; in");
                rows(&work(folder.path(), &options), ";")
            };
            assert!(uniq("-c --columns 3,name") == python("count"), "{count} {limits}");
            assert!(uniq("-u --columns name") == python("once"), "{count} {limits}");
            assert!(uniq("-d --columns name") == python("twice"), "{count} {limits}");
            ours("-u --duplicates others -o kept");
            let others = fs::read(folder.path().join("others")).unwrap();
            let kept = fs::read(folder.path().join("kept")).unwrap();
            fs::write(folder.path().join("whole"), others).unwrap();
            let chosen =
                sort(folder.path(), "--csv --by name:text --columns 1,2 --output-delimiter ; whole", b"")
                    .stdout;
            assert!(rows(&chosen, ";") == python("others"), "{count} {limits}");
            // No record is lost, and each keeps its bytes.
            let all = sort(folder.path(), "-m --csv --by name:text kept whole", b"").stdout.len();
            assert_eq!(all, input.len(), "{count} {limits}");
            assert!(kept.starts_with(b"name,n,"));
        }
    }
}

/// Where no field has quotes, the keys of `-k` are those of GNU sort after the header.
#[test]
fn keys_of_lines_are_those_of_gnu_sort_in_columns() {
    let lines: String = (0..500)
        .map(|i| format!("{},b{} x,{}\n", i * 7 % 31, i * 13 % 50, -f64::from(i % 17) / 4.0))
        .collect();
    let folder = folder("in", format!("id,Name,n\n{lines}").as_bytes());
    for keys in [
        "-k1,1n",
        "-k2,2V -k3gr",
        "-k2.2,2n -k1nr",
        "-n",
        "-r",
        "-f -k2",
        "-u -k2.2,2.3",
        "-k3,3n -r",
        "-M",
        "-k4",
    ] {
        let ours = sort(folder.path(), &format!("--csv {keys} in"), b"");
        let theirs = run(gnu(folder.path()).args(["-s", "-t,"]).args(keys.split(' ')), lines.as_bytes());
        assert_eq!(text(&ours.stdout), format!("id,Name,n\n{}", text(&theirs.stdout)), "{keys}");
    }
    let quoted = sort(folder.path(), "--csv --no-header -k2,2n", b"\"a,1\",10\n\"b\n,0\",\"9\"\nc,8,x\n");
    assert_eq!(text(&quoted.stdout), "c,8,x\n\"b\n,0\",\"9\"\n\"a,1\",10\n");
    assert_eq!(text(&quoted.stderr), "sortie: note: 1 record with fewer or more than 2 fields\n");
    let comments = sort(folder.path(), "--csv -k1nr --comment #", b"a\n1\n#x\n2\n");
    assert_eq!(text(&comments.stdout), "a\n2\n1\n#x\n");
    let checked = tried(folder.path(), "--csv -k1,1n -c", b"a\n2\n10\n3\n");
    assert_eq!(text(&checked.stderr), "sortie: -:4: disorder: 3\n");
}

#[test]
fn json_that_is_not_utf8_or_not_in_one_line_is_refused() {
    let folder = folder("in", b"");
    for (input, said) in [
        (&b"{\"a\":1,\"b\":\"\xff\"}\n"[..], "-:1: invalid JSON at column 13: a string is not UTF-8"),
        (b"{\"\xe4\":1}\n", "-:1: invalid JSON at column 3: a string is not UTF-8"),
        (b"{\"a\":1}\n\x0c\n", "-:2: invalid JSON at column 1"),
        (b"{\n  \"a\": 1\n}\n", "each line must be a whole document"),
    ] {
        let refused = tried(folder.path(), "--jsonl --by .a", input);
        assert_eq!(refused.status.code(), Some(2));
        assert!(text(&refused.stderr).contains(said), "{}", text(&refused.stderr));
    }
    // A comma separates no fields here.
    let comments = sort(folder.path(), "--jsonl --comment , -u --count --by .a", b"{\"a\":1}\n,x\n");
    assert_eq!(text(&comments.stdout), "{\"count\":1,\"record\":{\"a\":1}}\n,x\n");
}

#[test]
fn stats_count_the_bytes_that_are_written() {
    let folder = folder("in", b"a,b\n1,2\n1,3\n2,2\n");
    for (options, written) in
        [("--by a", 12), ("--by a -u --keep=none", 4), ("--by a -u --count --columns a", 8)]
    {
        let report = sort(folder.path(), &format!("--csv {options} --stats=json in"), b"");
        let found: serde_json::Value = serde_json::from_slice(&report.stderr).unwrap();
        let phases = found["phases"].as_array().unwrap();
        let write = phases.iter().find(|phase| phase["name"] == "write").unwrap();
        assert_eq!(write["bytes_written"], written, "{options}");
    }
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_plain_build_names_the_feature_for_parquet() {
    let folder = folder("x.parquet", b"PAR1PAR1");
    for done in [
        tried(folder.path(), "--by a x.parquet", b""),
        run(
            Command::new(env!("CARGO_BIN_EXE_sortie"))
                .args(["verify", "x.parquet"])
                .current_dir(folder.path()),
            b"",
        ),
    ] {
        assert_eq!(done.status.code(), Some(2));
        assert!(text(&done.stderr).contains("--features parquet"), "{}", text(&done.stderr));
    }
}

#[test]
fn headers_and_comments_of_all_inputs_are_kept() {
    let folder = folder("table", b"a,b\n2,1\n1,3\n");
    fs::write(folder.path().join("note"), "#note\n").unwrap();
    fs::write(folder.path().join("mark"), "\u{FEFF}").unwrap();
    fs::write(folder.path().join("more"), "#first\na,b\n#second\n0,0\n").unwrap();
    let expect = |options: &str, expected: &str| {
        let key = if options.contains("--no-header") { "1" } else { "a" };
        let options = format!("--csv --by {key} {options}");
        assert_eq!(text(&sort(folder.path(), &options, b"").stdout), expected, "{options}");
    };
    expect("--comment # note table", "a,b\n1,3\n2,1\n#note\n");
    expect("--comment # table note", "a,b\n#note\n1,3\n2,1\n");
    expect("mark table", "\u{FEFF}a,b\n1,3\n2,1\n");
    expect("table mark", "a,b\n1,3\n2,1\n");
    expect("--comment # table more", "a,b\n#first\n#second\n0,0\n1,3\n2,1\n");
    expect("--comment # more table note", "#first\na,b\n#second\n#note\n0,0\n1,3\n2,1\n");
    expect("--comment # -m note table more", "a,b\n#first\n#second\n0,0\n2,1\n1,3\n#note\n");
    expect("--comment # --columns b table more", "b\n#first\n#second\n0\n3\n1\n");
    expect(
        "--no-header --by 1 --comment # note table more",
        "#first\n0,0\n1,3\n2,1\na,b\na,b\n#note\n#second\n",
    );
}

#[test]
fn comments_are_not_duplicates() {
    let folder = folder("c", b"a,b\n1,x\n#c1\n1,y\n#c1\n#c2\n2,z\n");
    let print = |words: &str| text(&work(folder.path(), words)).to_owned();
    let comments = "#c1\n#c1\n#c2\n";
    assert_eq!(print("sort -u --csv --by a --comment # c"), format!("a,b\n1,x\n2,z\n{comments}"));
    assert_eq!(print("uniq -d --csv --by a --comment # c"), format!("a,b\n1,x\n{comments}"));
    assert_eq!(print("uniq -u --csv --by a --comment # c"), format!("a,b\n2,z\n{comments}"));
    assert_eq!(print("sort -u --csv --by a --comment # --duplicates d c").lines().count(), 6);
    assert_eq!(fs::read(folder.path().join("d")).unwrap(), b"a,b\n1,y\n");
    print("sort -u --csv --by a --comment # -o sorted c");
    assert_eq!(print("sort -c -u --csv --by a --comment # sorted"), "");
}

#[test]
fn duplicates_do_not_go_to_the_file_of_standard_output() {
    let folder = folder("u.csv", b"a,b\n1,x\n1,y\n");
    let result = fs::File::create(folder.path().join("same")).unwrap();
    let options = "--csv --by a -u u.csv --duplicates";
    for name in ["same", "./same", "/dev/stdout"] {
        let mut command = sortie(folder.path());
        command.args(options.split_whitespace()).arg(name).stdout(result.try_clone().unwrap());
        let done = command.stderr(std::process::Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{name}");
        assert!(text(&done.stderr).contains("cannot be the same file"), "{}", text(&done.stderr));
    }
}

#[test]
fn other_commands_take_tables() {
    let folder = folder("in", b"k,v\n3,a\n10,b\n3,c\n2,d\n");
    let print = |options: &str| text(&work(folder.path(), options));
    assert_eq!(print("top -n 2 --by k:desc in"), "k,v\n10,b\n3,a\n");
    assert_eq!(print("top -n 2 -u --count --by k in"), "count,k,v\n1,2,d\n2,3,a\n");
    assert_eq!(print("top -n 0 --csv in"), "k,v\n");
    assert_eq!(print("uniq --by k in"), "k,v\n2,d\n3,a\n10,b\n");
    assert_eq!(print("uniq -c --by k in"), "count,k,v\n1,2,d\n2,3,a\n1,10,b\n");
    assert_eq!(print("uniq -d --by k in"), "k,v\n3,a\n");
    assert_eq!(print("uniq -u --by k in"), "k,v\n2,d\n10,b\n");
    assert_eq!(print("uniq -du --by k in"), "k,v\n");
    assert_eq!(print("uniq --csv --columns v in"), "v\nb\nd\na\nc\n");
    assert_eq!(
        print("sort -m -u --count=n --by k in --duplicates in"),
        "n,k,v\n1,3,a\n1,10,b\n1,3,c\n1,2,d\n"
    );
    assert_eq!(fs::read(folder.path().join("in")).unwrap(), b"k,v\n");
}

const EITHER: &str = "--by names columns, and -k and the ordering options number them; give only one of the two, as in \
                      --by price:number:desc";

#[test]
fn options_that_tables_do_not_have_are_refused() {
    let folder = folder("in", b"a,b\n1,2\n");
    for (options, said) in [
        ("--by a -r", EITHER),
        ("--by a -k1", EITHER),
        ("--csv -k1 --unique=a", "--unique=NAMES needs --by; with -k, give -u alone"),
        ("--csv -k0..1", "a key A..B is for records of one length; give --record-size too"),
        ("--csv -nM", "options '-Mn' are incompatible"),
        (
            "--jsonl -k1",
            "in: JSON lines have no columns with positions; give their paths with --by instead of -k and its options",
        ),
        (
            "--csv --no-header -u --count=n",
            "in: a column of counts has no name without a header; give --count without NAME",
        ),
        (
            "--csv --columns a,b:x",
            "invalid value 'a,b:x' for '--columns <NAMES>': only names are allowed here, without ':'; put a name with ':' in \
             quotes, as in '\"a:b\"'; see --help",
        ),
        (
            "--csv --columns 99999999999999999999",
            "invalid value '99999999999999999999' for '--columns <NAMES>': 99999999999999999999 is too large for the number of \
             a column; put it in quotes if it is a name; see --help",
        ),
        ("--by a -t,", "--field-separator is for lines; it cannot be used with a table"),
        ("--by a --text", "--text is for lines; it cannot be used with a table"),
        (
            "--by a --engine cpu",
            "--engine is for lines, arrays, FASTA or FASTQ records and records of one length; it cannot be used \
                                 with a table",
        ),
        (
            "--by a --record-size 2",
            "--by is for FASTA or FASTQ records, alignments, variants, features and tables; it cannot be used with --record-size",
        ),
        ("--header", "--header is for tables; give --by, --csv, --tsv, --delimiter or --jsonl too"),
        ("-v", "--verbose is for tables; give --by, --csv, --tsv, --delimiter or --jsonl too"),
        ("--unique=a", "'--unique' takes no value, but one was given: only tables have columns; see --help"),
        ("--csv --tsv", "a table has one form: --csv, --tsv, --delimiter or --jsonl"),
        ("--csv --header --no-header", "--header and --no-header contradict each other"),
        ("--csv --keep last", "--keep says which of equal records is kept; give -u or --unique=NAMES too"),
        ("--csv --count", "--count counts equal records; give -u or --unique=NAMES too"),
        (
            "--csv --duplicates d",
            "--duplicates is for what is left out of equal records; give -u or --unique=NAMES too",
        ),
        ("-c --csv --columns a", "options '-c --columns' are incompatible: a check writes no output"),
        ("-C --csv -u --count", "options '-C --count' are incompatible: a check writes no output"),
        ("--columns a", "--columns is for tables; give --by, --csv, --tsv, --delimiter or --jsonl too"),
        ("--by a -u --count=b", "in: there is a column 'b' already; give another name for the count"),
        ("--by a -u -o new --duplicates new", "the result and the duplicates cannot be the same file, new"),
        ("--by a -u -o ./new --duplicates new", "the result and the duplicates cannot be the same file, new"),
        ("--by a --columns x,a", "in: there is no column 'x'; the header has 'a', 'b'"),
        (
            "--delimiter ab",
            "invalid value 'ab' for '--delimiter <SEP>': a separator must be one byte, but this has several; see --help",
        ),
        (
            "--by a:x",
            "invalid value 'a:x' for '--by <KEY>': 'x' is not one of text, number, date, version, natural, locale, unicode, asc, desc, \
             nulls-first and nulls-last; put a name with ':' in quotes, as in '\"a:b\":number'; see --help",
        ),
        (
            "--csv --comment ,",
            "in: ',' cannot separate fields and begin comments; choose another --comment or --delimiter",
        ),
        (
            "--csv --comment # --output-delimiter #",
            "in: '#' cannot separate fields and begin comments; choose another --comment or --delimiter",
        ),
        (
            "--csv -u --count --output-delimiter 1",
            "in: a count has digits, so none can separate fields or begin comments",
        ),
        ("--by c", "in: there is no column 'c'; the header has 'a', 'b'"),
        ("--by .a --csv -o new", "in: there is no column '.a'; the header has 'a', 'b'"),
        ("--by a --jsonl -o new", "in:1: invalid JSON at column 1: expected value"),
    ] {
        let done = run(sortie(folder.path()).args(options.split_whitespace()).arg("in"), b"");
        assert_eq!(complaint(&done, 2), format!("sortie: {said}\n"), "{options}");
    }
    assert_eq!(names(folder.path()), ["in"]);
}
