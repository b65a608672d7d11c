//! FASTA and FASTQ: real and generated files compared with a plain parser and the standard library's sort; and
//! refusals.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::{
    Numbers, UNREAD, complaint, compress, data, decompress, done_or_told_at_every_limit, folder, names, peak,
    run, sortie, text,
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    Fasta,
    Fastq,
}

use Format::{Fasta, Fastq};

impl Format {
    fn name(self) -> &'static str {
        if self == Fasta { "fasta" } else { "fastq" }
    }
}

fn command(folder: &Path, format: Format, args: &str) -> Command {
    let mut command = sortie(folder);
    command.args(["--format", format.name()]).args(args.split_whitespace());
    command
}

#[track_caller]
fn succeed(folder: &Path, format: Format, args: &str) -> Vec<u8> {
    let Output { status, stdout, stderr } = run(&mut command(folder, format, args), b"");
    assert_eq!((status.code(), text(&stderr).as_str()), (Some(0), ""), "{args}");
    stdout
}

/// The records of a text, each with its last line end.
fn records(format: Format, text: &[u8]) -> Vec<Vec<u8>> {
    let mut records: Vec<Vec<u8>> = Vec::new();
    for (number, line) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let is_first = if format == Fasta { line[0] == b'>' } else { number % 4 == 0 };
        if is_first {
            records.push(Vec::new());
        }
        records.last_mut().unwrap().extend(line);
    }
    if let Some(last) = records.last_mut() {
        // An empty last line of qualities has no bytes without its line end.
        let ends = last.iter().filter(|&&byte| byte == b'\n').count();
        if last.last() != Some(&b'\n') || format == Fastq && ends == 3 {
            last.push(b'\n');
        }
    }
    records
}

/// The order that a test asks for.
#[derive(Clone, Copy, Debug)]
struct Asked {
    by: &'static str,
    reverse: bool,
    dedup: bool,
}

fn all_asked() -> impl Iterator<Item = Asked> {
    let by = ["", "sequence", "name", "length"];
    (0..16).map(move |i| Asked { by: by[i % 4], reverse: i & 4 > 0, dedup: i & 8 > 0 })
}

impl Asked {
    fn args(self) -> String {
        let by = if self.by.is_empty() { String::new() } else { format!(" --by {}", self.by) };
        let reverse = if self.reverse { " -r" } else { "" };
        // Two spellings of the same option.
        let dedup = ["", " --dedup", " -u"][if self.dedup { 1 + self.by.len() % 2 } else { 0 }];
        format!("{by}{reverse}{dedup}")
    }

    /// The key: the length and no bytes, or 0 and the bytes.
    fn key(self, format: Format, record: &[u8]) -> (usize, Vec<u8>) {
        let record = String::from_utf8_lossy(record);
        let mut lines = record.lines();
        let header = lines.next().unwrap();
        let sequence: String = if format == Fasta { lines.collect() } else { lines.next().unwrap().into() };
        match self.by {
            "name" => (0, header[1..].split([' ', '\t']).next().unwrap().into()),
            "length" => (sequence.len(), Vec::new()),
            _ => (0, sequence.into()),
        }
    }

    fn sort(self, format: Format, text: &[u8]) -> Vec<u8> {
        let mut keyed: Vec<_> =
            records(format, text).into_iter().map(|record| (self.key(format, &record), record)).collect();
        keyed.sort_by(|(a, _), (b, _)| if self.reverse { b.cmp(a) } else { a.cmp(b) });
        if self.dedup {
            keyed.dedup_by(|(later, _), (first, _)| later == first);
        }
        keyed.into_iter().flat_map(|(_, record)| record).collect()
    }
}

const BY_SEQUENCE: Asked = Asked { by: "", reverse: false, dedup: false };

/// Records with every feature: names and sequences that repeat, lines of any length and with any line end.
fn generated(format: Format, count: usize, longest: usize) -> Vec<u8> {
    let mut numbers = Numbers::new(count as u64);
    let mut out = Vec::new();
    for _ in 0..count {
        let end = ["\n", "\r\n"][numbers.below(2)];
        let letters = numbers.below(longest + 1) * numbers.below(2) + numbers.below(5);
        let sequence: String = (0..letters).map(|_| char::from(b"ACGTacgtN*-."[numbers.below(12)])).collect();
        let name = ["", "a", "read", "b/1", "\u{e9}"][numbers.below(5)];
        let rest = ["", " ", "\tx", " > @ +"][numbers.below(4)];
        if format == Fastq {
            let qualities: String =
                (0..letters).map(|_| char::from(b'!' + numbers.below(94) as u8)).collect();
            let again = ["", name][numbers.below(2)];
            write!(out, "@{name}{rest}{end}{sequence}{end}+{again}{end}{qualities}{end}").unwrap();
            continue;
        }
        write!(out, ">{name}{rest}{end}").unwrap();
        let width = [10, 60, longest.max(1)][numbers.below(3)];
        for line in sequence.as_bytes().chunks(width) {
            write!(out, "{}{end}", text(line)).unwrap();
            if numbers.below(30) == 0 {
                out.extend(end.as_bytes());
            }
        }
    }
    out
}

#[test]
fn real_files_are_sorted() {
    for (format, name) in [(Fastq, "reads/nextera_100K.fastq.gz"), (Fasta, "proteins/prokka.faa.gz")] {
        let Some(path) = data().map(|folder| folder.join(name)).filter(|path| path.is_file()) else {
            eprintln!("SKIPPED: no {name} in ../shared/data or $SORTIE_DATA");
            continue;
        };
        let bytes = fs::read(path).unwrap();
        let plain = decompress(&bytes);
        let folder = folder("in.gz", &bytes);
        for asked in all_asked() {
            let sorted = succeed(folder.path(), format, &format!("in.gz{}", asked.args()));
            assert!(sorted == asked.sort(format, &plain), "{name} {asked:?}");
        }
    }
}

#[test]
fn generated_records_are_sorted() {
    for format in [Fasta, Fastq] {
        for (count, longest) in [(0, 0), (1, 10), (300, 3), (2000, 200), (9000, 30), (5, 700_000)] {
            let plain = generated(format, count, longest);
            let folder = folder("in", &plain);
            for asked in all_asked() {
                let sorted = succeed(folder.path(), format, &format!("in{}", asked.args()));
                assert!(sorted == asked.sort(format, &plain), "{count} of {longest}, {asked:?}");
            }
        }
    }
}

#[test]
fn several_inputs_and_standard_input() {
    for format in [Fasta, Fastq] {
        let plain = [0, 30, 40, 50].map(|count| generated(format, count, 20));
        let [none, one, two, three] = &plain;
        let folder = folder("one", one);
        // Without the last line end.
        fs::write(folder.path().join("two.gz"), compress(two.strip_suffix(b"\n").unwrap())).unwrap();
        fs::write(folder.path().join("none"), none).unwrap();
        fs::write(folder.path().join("list"), "one\0two.gz\0").unwrap();
        let sorted = BY_SEQUENCE.sort(format, &[&one[..], two, three].concat());
        let output = run(&mut command(folder.path(), format, "one none two.gz -"), &compress(three));
        // A carriage return before the missing line end is not part of the sequence.
        assert!(output.stdout == sorted, "{}", text(&output.stderr));
        assert!(
            run(&mut command(folder.path(), format, ""), three).stdout == BY_SEQUENCE.sort(format, three)
        );
        let listed = succeed(folder.path(), format, "--files0-from list");
        assert!(listed == BY_SEQUENCE.sort(format, &[&one[..], two].concat()));
    }
}

#[test]
fn gzip_and_in_place() {
    for format in [Fasta, Fastq] {
        // Enough for many pieces and windows.
        let plain = generated(format, 30_000, 900);
        let sorted = BY_SEQUENCE.sort(format, &plain);
        let (one, two) = plain.split_at(plain.len() / 3);
        let members = [compress(one), compress(b""), compress(two)].concat();
        let folder = folder("in", &members);
        succeed(folder.path(), format, "in -o out.fa.GZ");
        let out = fs::read(folder.path().join("out.fa.GZ")).unwrap();
        assert!(out.len() < sorted.len() && decompress(&out) == sorted);
        succeed(folder.path(), format, "in -o in");
        assert!(fs::read(folder.path().join("in")).unwrap() == sorted);
        succeed(folder.path(), format, "out.fa.GZ -r -o out.fa.GZ");
        let reversed = Asked { reverse: true, ..BY_SEQUENCE }.sort(format, &sorted);
        assert!(decompress(&fs::read(folder.path().join("out.fa.GZ")).unwrap()) == reversed);
        assert_eq!(names(folder.path()), ["in", "out.fa.GZ"]);
        let output = run(&mut command(folder.path(), format, "- -o empty.gz"), b"");
        assert_eq!(text(&output.stderr), "");
        assert_eq!(decompress(&fs::read(folder.path().join("empty.gz")).unwrap()), b"");
    }
}

#[test]
fn any_number_of_threads_gives_the_same() {
    let plain = generated(Fasta, 20_000, 100);
    let folder = folder("in", &plain);
    for asked in all_asked().skip(8) {
        let sorted = asked.sort(Fasta, &plain);
        for threads in [1, 3] {
            let args = format!("in --parallel={threads}{}", asked.args());
            assert!(succeed(folder.path(), Fasta, &args) == sorted, "{threads} {asked:?}");
        }
    }
}

/// A file that is cut short is refused with one line, or the remaining records are complete and sorted.
#[test]
fn truncations() {
    let fasta = ">b 1\nGT\nAC\n>a\r\nCC\r\n\r\n>\n>c\nA*\n";
    let fastq = "@b 1\nGTAC\n+b 1\nIII@\n@a\r\nCC\r\n+\r\n!~\r\n@\n\n+\n\n@c\nA\n+\nI\n";
    for (format, whole) in [(Fasta, fasta.as_bytes()), (Fastq, fastq.as_bytes())] {
        let compressed = compress(whole);
        let mut kept = 0;
        for length in 0..=whole.len() {
            let part = &whole[..length];
            let output = run(&mut command(Path::new("."), format, ""), part);
            if output.status.success() {
                assert!(output.stdout == BY_SEQUENCE.sort(format, part), "{:?}", text(part));
                kept += 1;
            } else {
                complaint(&output, 2);
                assert_eq!(text(&output.stdout), "");
            }
        }
        // Some cuts are refused, and some are not.
        assert!((5..whole.len()).contains(&kept), "{kept}");
        for length in 1..compressed.len() {
            let output = run(&mut command(Path::new("."), format, ""), &compressed[..length]);
            complaint(&output, 2);
            assert_eq!(text(&output.stdout), "");
        }
    }
}

/// Invalid input is refused with one line that gives the position, and the output is unchanged.
#[test]
fn refusals_write_nothing() {
    let good = ">good\nACGT\n".repeat(50_000);
    let reads = "@good\nACGT\n+\nIIII\n".repeat(50_000);
    let fasta = |bad: &str| [good.as_bytes(), bad.as_bytes()].concat();
    let fastq = |bad: &str| [reads.as_bytes(), bad.as_bytes()].concat();
    let cut = |bytes: &[u8]| compress(bytes)[..compress(bytes).len() / 2].to_vec();
    let long = "n".repeat(100_000);
    let cases = [
        (Fasta, fasta(">the bad\nA C\n"), "in:100002: record 'the': there is ' ' in its sequence"),
        (Fasta, fasta(">bad\nAC\n\0\n"), "in:100003: record 'bad': there is '\\x00' in its sequence"),
        (Fasta, fasta(">bad"), "in:100001: the file ends within a header line"),
        (Fasta, compress(&fasta(">bad\n1\n")), "in:100002: record 'bad': "),
        (Fasta, fasta(&format!(">{long}\n?\n")), "nnn'...: there is '?'"),
        (Fasta, fasta(">\u{1}\n'\n"), r"record ''$'\001': there is '\''"),
        (Fasta, cut(&fasta("")), "in: reading stopped after record 'good': "),
        (
            Fasta,
            [compress(good.as_bytes()), b"more".to_vec()].concat(),
            "in: reading stopped after record 'good': ",
        ),
        (Fasta, compress(good.as_bytes())[..5].to_vec(), "cannot read: in: "),
        (Fasta, vec![0xFF; 5000], "in:1: a FASTA file begins with '>'"),
        (Fasta, reads.clone().into_bytes(), "in:1: a FASTA file begins with '>'"),
        (Fastq, good.clone().into_bytes(), "in:1: a FASTQ record begins with '@'"),
        (
            Fastq,
            fastq("@bad\nAC\n+\nI\n"),
            "in:200004: record 'bad': it must have one quality for each letter",
        ),
        (
            Fastq,
            fastq("@bad\nAC\nGT\n+\nIIII\n"),
            "in:200003: record 'bad': its third line must begin with '+'",
        ),
        (Fastq, fastq("@bad\nAC\n+\n"), "in:200004: record 'bad': "),
        (Fastq, fastq("@bad\nAC\n"), "in:200003: record 'bad': the file ends before"),
        (Fastq, fastq("@bad\nAC\n+\nI\t\n"), "in:200004: record 'bad': there is '\\t' in its qualities"),
        (Fastq, fastq("@bad\nA=\n+\nII\n"), "in:200002: record 'bad': there is '=' in its sequence"),
        (Fastq, fastq("more\n\n\n\n"), "in:200001: a FASTQ record begins with '@'"),
    ];
    for (format, bytes, said) in cases {
        let folder = folder("in", &bytes);
        fs::write(folder.path().join("out"), "old").unwrap();
        for output in ["out", "in", "new.gz"] {
            let output = run(&mut command(folder.path(), format, &format!("in -o {output}")), b"");
            let complaint = complaint(&output, 2);
            assert!(complaint.contains(said) && complaint.len() < 300, "{complaint}, not {said}");
            assert_eq!(names(folder.path()), ["in", "out"]);
            assert_eq!(fs::read(folder.path().join("out")).unwrap(), b"old");
            assert!(fs::read(folder.path().join("in")).unwrap() == bytes);
        }
    }
}

#[test]
fn options_that_contradict_are_refused() {
    let folder = folder("in", b">b\nC\n>a\nA\n");
    for (args, said) in [
        ("-k1", "--key is for lines, records of one length and tables; it cannot be used with --format"),
        ("-t,", "--field-separator is for lines; it cannot be used with --format"),
        ("-n", "--numeric-sort is for lines and tables; it cannot be used with --format"),
        ("--sort=version", "--sort is for lines and tables; it cannot be used with --format"),
        ("-z", "--zero-terminated is for lines; it cannot be used with --format"),
        (
            "-m",
            "--merge is for lines, alignments, variants, features and tables; it cannot be used with --format",
        ),
        ("--debug", "--debug is for lines; it cannot be used with --format"),
        ("--type u8", "--type is for arrays; it cannot be used with --format"),
        ("--descending", "--descending is for arrays; it cannot be used with --format"),
        ("--record-size 9", "--record-size is for records of one length; it cannot be used with --format"),
        ("+1", "+1 is a key of lines; it cannot be used with --format"),
        ("--by quality", "invalid value 'quality' for '--by <KEY>'"),
        ("-c -o out", "options '-co' are incompatible"),
        ("-c in", "extra operand 'in' not allowed with -c"),
        ("none", "cannot read: none: No such file or directory"),
        (".", "cannot read: .: Is a directory"),
        ("-o .", "cannot write: .: Is a directory"),
    ] {
        let said_by = complaint(&run(&mut command(folder.path(), Fasta, &format!("in {args}")), b""), 2);
        assert!(said_by.contains(said), "{said_by}, not {said}");
    }
    let said = complaint(&run(sortie(folder.path()).args(["--dedup", "in"]), b""), 2);
    assert_eq!(said, "sortie: --dedup is for FASTA or FASTQ records; give --format too\n");
    assert_eq!(names(folder.path()), ["in"]);
    // These options only ask for what is done anyway.
    assert_eq!(text(&succeed(folder.path(), Fasta, "in -s")), ">a\nA\n>b\nC\n");
}

#[test]
fn disorder_is_said_with_name_and_line() {
    let folder = folder("in", b">a\nCG\n>b x\nC\nG\n>c\nA\n");
    let check = |args: &str| run(&mut command(folder.path(), Fasta, &format!("in {args}")), b"");
    for (args, said) in [
        ("-c", "sortie: in:6: disorder: record 'c'\n"),
        ("-c --dedup", "sortie: in:3: disorder: record 'b'\n"),
        ("-cu", "sortie: in:3: disorder: record 'b'\n"),
        ("--check -r --by name", "sortie: in:3: disorder: record 'b'\n"),
        ("-C", ""),
    ] {
        let output = check(args);
        assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(1), said), "{args}");
    }
    for args in ["-c --by name", "-c -r", "-c --by length -r", "-cu --by name"] {
        let output = check(args);
        assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""), "{args}");
    }
}

/// Sorts through runs on disk, with records of any length and every feature.
#[test]
fn what_does_not_fit_in_memory_is_sorted_in_runs() {
    for format in [Fasta, Fastq] {
        for (count, longest) in [(5_000, 300), (20_000, 3), (40, 60_000)] {
            let plain = generated(format, count, longest);
            let folder = folder("in", &plain);
            fs::write(folder.path().join("in.gz"), compress(&plain)).unwrap();
            for (asked, limit) in all_asked().zip(["-S 1M", "-S 2M --parallel 3"].into_iter().cycle()) {
                let expected = asked.sort(format, &plain);
                let within = |inputs: &str| format!("{inputs} {limit}{} -T . --batch-size 3", asked.args());
                assert!(succeed(folder.path(), format, &within("in")) == expected, "{asked:?}, {limit}");
                if format == Fastq {
                    let piped = run(&mut command(folder.path(), format, &within("-")), &plain);
                    assert!(piped.stdout == expected, "{asked:?}, {limit}, {}", text(&piped.stderr));
                }
                if asked.reverse != asked.dedup {
                    continue;
                }
                let compressed = within("in.gz --compress-program gzip -o out.gz");
                succeed(folder.path(), format, &compressed);
                let written = fs::read(folder.path().join("out.gz")).unwrap();
                assert!(decompress(&written) == expected, "{asked:?}, {limit}, compressed");
                fs::remove_file(folder.path().join("out.gz")).unwrap();
            }
            assert_eq!(names(folder.path()), ["in", "in.gz"]);
        }
    }
}

/// Disorder and invalid records are reported correctly in the middle of input larger than memory.
#[test]
fn lines_are_counted_through_all_runs() {
    let records = |count: usize| (0..count).map(|i| format!(">{i:06}\nACGT\n")).collect::<String>();
    let good = records(100_000);
    let folder = folder("in", good.as_bytes());
    succeed(folder.path(), Fasta, "in -c --by name -S 1M");
    for (more, args, status, said) in [
        (">0\nA\n", "-c --by name", 1, "in:200001: disorder: record '0'"),
        (">099999\nA\n", "-c -u --by name", 1, "in:200001: disorder: record '099999'"),
        (">1\nA\n>bad\nA1\n", "", 2, "in:200004: record 'bad': there is '1' in its sequence"),
        (">bad", "", 2, "in:200001: the file ends within a header line"),
    ] {
        fs::write(folder.path().join("in"), [&good, more].concat()).unwrap();
        let refused = run(&mut command(folder.path(), Fasta, &format!("in {args} -S 1M")), b"");
        assert_eq!(refused.status.code(), Some(status), "{more}");
        assert!(text(&refused.stderr).contains(said), "{}, not {said}", text(&refused.stderr));
    }
}

#[test]
fn statistics_go_to_standard_error() {
    let folder = folder("in", &generated(Fastq, 5000, 50));
    let output = run(&mut command(folder.path(), Fastq, "in --stats=json"), b"");
    let stats = text(&output.stderr);
    assert!(["read", "encode", "write"].iter().all(|phase| stats.contains(phase)), "{stats}");
}

/// Records that are left out as equal are not counted as written.
#[test]
fn stats_count_what_is_written() {
    let folder = folder("in", b"@a\nAC\n+\n##\n@b\nGT\n+\n##\n@a\nTT\n+\n##\n");
    let output = run(&mut command(folder.path(), Fastq, "in --by name -u --stats=json"), b"");
    let stats: Vec<serde_json::Value> =
        text(&output.stderr).lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let written = |stats: &serde_json::Value| {
        stats["phases"].as_array()?.iter().find(|phase| phase["name"] == "write")?["bytes_written"].as_u64()
    };
    assert_eq!(stats.iter().find_map(written), Some(output.stdout.len() as u64), "{stats:?}");
}

#[test]
fn memory_that_cannot_be_had_is_told_at_every_limit() {
    let folder = folder("in", &generated(Fasta, 20_000, 300));
    // One record of many lines, many records of one byte, and compressed input and output.
    fs::write(folder.path().join("long"), [&b">a\n"[..], &b"ACGT\n".repeat(1_000_000)].concat()).unwrap();
    fs::write(folder.path().join("short"), b">\n".repeat(500_000)).unwrap();
    fs::write(folder.path().join("in.gz"), compress(&generated(Fastq, 20_000, 300))).unwrap();
    for arguments in [
        "--format fasta in -o out",
        "--format fasta --by length long -o out.gz",
        "--format fasta short -o out",
        "--format fastq in.gz -o out.gz",
    ] {
        let arguments = format!("sort {arguments} --parallel 2");
        let (_, told) = done_or_told_at_every_limit(folder.path(), &arguments, 9_777);
        assert!(told > 0, "{arguments}");
    }
}

/// While a record is read, it is in memory a second time, which -S includes. The refusal says which -S suffices.
#[test]
fn one_long_record_is_limited_by_s() {
    let record = [&b">a\n"[..], &b"ACGT\n".repeat(2_000_000)].concat();
    let folder = folder("in", &compress(&[b">b\nC\n", &record[..]].concat()));
    let mut megabytes = 16;
    loop {
        let done = run(&mut command(folder.path(), Fasta, &format!("in -S {megabytes}M")), b"");
        if done.status.success() {
            assert!(done.stdout == [&record[..], b">b\nC\n"].concat());
            break;
        }
        let refused = complaint(&done, 2);
        assert!(refused.starts_with("sortie: in:3: this record needs at least "), "{refused}");
        assert!(refused.contains(" of memory, but --buffer-size and ulimit -v leave "), "{refused}");
        assert!(refused.ends_with("M or more, about 14 times the longest record\n"), "{refused}");
        let advised = refused.split_once("; give -S ").unwrap().1.split_once("M or more").unwrap().0;
        let advised: u64 = advised.parse().unwrap();
        assert!(advised > megabytes && advised < 256, "{refused}");
        megabytes = advised;
    }
    assert!(megabytes > 16);
}

#[test]
fn a_record_larger_than_its_part_is_refused_with_its_line() {
    let short = ">short\nAC\n".repeat(20_000);
    let long = format!(">long\n{}\n", "ACGT".repeat(50_000));
    // Among short records, a record may take more.
    for (before, line, part) in [("", 1, "48"), (&short[..], 40_001, "86.3")] {
        let text = [before, &long, &short].concat();
        let folder = folder("in", text.as_bytes());
        fs::write(folder.path().join("out"), "old").unwrap();
        let refused =
            complaint(&run(&mut command(folder.path(), Fasta, "in --by name -S 256K -o out"), b""), 2);
        assert!(refused.starts_with(&format!("sortie: in:{line}: this record needs at least ")), "{refused}");
        assert!(refused.contains(&format!(" leave {part} KiB for one record; give -S ")), "{refused}");
        assert_eq!(names(folder.path()), ["in", "out"]);
        assert_eq!(fs::read(folder.path().join("out")).unwrap(), b"old");
    }
    // A check has enough memory for it with any limit.
    let folder = folder("in", [long, short].concat().as_bytes());
    succeed(folder.path(), Fasta, "in -c --by name -S 64K");
}

/// Once, records of a few bytes were counted as much more than they take, so 1 MiB did not suffice.
#[test]
fn small_limits_suffice_for_short_records() {
    for format in [Fasta, Fastq] {
        let plain = generated(format, 20_000, 20);
        let folder = folder("in", &plain);
        for asked in all_asked().take(4) {
            let sorted = asked.sort(format, &plain);
            fs::write(folder.path().join("sorted"), &sorted).unwrap();
            for limit in ["-S 64K", "-S 256K"] {
                let args = format!("{limit}{} -T .", asked.args());
                assert!(
                    succeed(folder.path(), format, &format!("in {args}")) == sorted,
                    "{asked:?}, {limit}"
                );
                succeed(folder.path(), format, &format!("-c sorted {args}"));
            }
        }
    }
}

#[test]
fn a_title_of_its_own_at_the_plus_is_refused() {
    let folder = folder("in", b"@a b\nA\n+a b\nI\n@c\nA\n+\nI\n");
    succeed(folder.path(), Fastq, "in");
    fs::write(folder.path().join("in"), "@a\nA\n+\nI\n@b\nA\n+\x1b[2Jc\nI\n").unwrap();
    let said = complaint(&run(&mut command(folder.path(), Fastq, "in -o out"), b""), 2);
    assert!(said.starts_with("sortie: in:7: record 'b': its third line has the title "), "{said}");
    assert!(!said.contains('\x1b'), "{said:?}");
    assert_eq!(names(folder.path()), ["in"]);
}

#[test]
fn what_is_compressed_otherwise_is_named() {
    for (way, bytes) in UNREAD {
        let folder = folder("in", bytes);
        for (format, args, stdin) in [(Fasta, "in", &b""[..]), (Fastq, "-", bytes)] {
            let said = complaint(&run(&mut command(folder.path(), format, args), stdin), 2);
            assert!(said.contains(&format!("compressed with {way}, which is not supported")), "{said}");
        }
    }
    let folder = folder("in", b">a\nA\n");
    for name in ["x.Z", "x.fa.zip", "x.ZIP"] {
        let said = complaint(&run(&mut command(folder.path(), Fasta, &format!("in -o {name}")), b""), 2);
        assert!(said.contains("an output cannot be compressed with"), "{said}");
        assert_eq!(names(folder.path()), ["in"]);
    }
}

#[test]
fn a_byte_order_mark_and_blank_lines_before_the_first_record_are_left_out() {
    let marked = "\u{feff}>b\nGT\n>a\nAC\n";
    let folder = folder("mark", marked.as_bytes());
    fs::write(folder.path().join("blank"), "\r\n\n>c\nAA\n").unwrap();
    let out = run(&mut command(folder.path(), Fasta, "mark blank"), b"");
    assert_eq!((text(&out.stdout), out.status.code()), (">c\nAA\n>a\nAC\n>b\nGT\n".into(), Some(0)));
    let piped = run(&mut command(folder.path(), Fasta, "--by name"), &compress(marked.as_bytes()));
    assert_eq!(text(&piped.stdout), ">a\nAC\n>b\nGT\n");
    let said = complaint(&run(&mut command(folder.path(), Fasta, "-c mark"), b""), 1);
    assert_eq!(said, "sortie: mark:3: disorder: record 'a'\n");
    let fastq = run(&mut command(folder.path(), Fastq, ""), b"\xEF\xBB\xBF\n@b\nGT\n+\nII\n@a\nAC\n+\nII\n");
    assert_eq!(text(&fastq.stdout), "@a\nAC\n+\nII\n@b\nGT\n+\nII\n");
}

/// Short records use most of `-S`, and no more.
#[test]
fn short_records_use_the_memory_that_is_allowed() {
    let reads = generated(Fastq, 20_000, 150);
    let folder = tempfile::tempdir().unwrap();
    let cap = 64 << 20;
    for parallel in [1, 2] {
        let mut sort = command(folder.path(), Fastq, &format!("-S 64M --parallel {parallel}"));
        let chunks = (0..160 << 20).step_by(reads.len()).map(|_| reads.clone());
        let peak = peak(&mut sort, chunks).unwrap();
        assert!((cap * 6 / 10..=cap).contains(&peak), "{parallel} threads: {} of 64 MiB", peak >> 20);
    }
}
