//! Compressed input and output in every format, compared with the programs of these formats.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::{self, Numbers, complaint, folder, names, run, text};

/// A compression format: its name in Sortie, its file extension, and its program.
struct Way {
    name: &'static str,
    extension: &'static str,
    program: &'static str,
}

const WAYS: [Way; 6] = [
    Way { name: "gzip", extension: "gz", program: "gzip" },
    Way { name: "bgzf", extension: "bgz", program: "bgzip" },
    Way { name: "zstd", extension: "zst", program: "zstd" },
    Way { name: "xz", extension: "xz", program: "xz" },
    Way { name: "bzip2", extension: "bz2", program: "bzip2" },
    Way { name: "lz4", extension: "lz4", program: "lz4" },
];

impl Way {
    /// Compressed by the program itself. `None` if it is not installed.
    fn compressed(&self, options: &[&str], bytes: &[u8]) -> Option<Vec<u8>> {
        through(Command::new(self.program).arg("-c").args(options), bytes)
    }

    /// Decompressed by the program, or by gzip for BGZF.
    fn decompressed(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let program = if self.name == "bgzf" { "gzip" } else { self.program };
        through(Command::new(program).arg("-dc"), bytes)
    }
}

/// The output of the program for an input. If the program is not installed, prints that and returns `None`.
fn through(command: &mut Command, bytes: &[u8]) -> Option<Vec<u8>> {
    let program = command.get_program().to_owned();
    if Command::new(&program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_err()
    {
        println!("skipped: {} is not installed", program.display());
        return None;
    }
    let output = run(command, bytes);
    assert!(output.status.success(), "{}: {}", program.display(), text(&output.stderr));
    Some(output.stdout)
}

fn sortie(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sortie"));
    command.args(arguments.split_whitespace()).current_dir(folder);
    command
}

#[track_caller]
fn succeed(output: &Output) -> &[u8] {
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    &output.stdout
}

#[track_caller]
fn sorted_by(folder: &Path, arguments: &str, stdin: &[u8]) -> Vec<u8> {
    succeed(&run(&mut sortie(folder, arguments), stdin)).to_vec()
}

/// Lines that give several pieces in every format.
fn lines() -> Vec<u8> {
    Numbers::new(1).lines(120_000)
}

fn sorted_lines(lines: &[u8]) -> Vec<u8> {
    let mut lines: Vec<_> = lines.split_inclusive(|&byte| byte == b'\n').collect();
    // Line ends are not compared: a byte of a line may be smaller than a newline.
    lines.sort_unstable_by_key(|line| line.strip_suffix(b"\n"));
    lines.concat()
}

#[test]
fn what_each_program_compresses_is_sorted() {
    let lines = lines();
    let sorted = sorted_lines(&lines);
    for way in &WAYS {
        let levels: &[&[&str]] = match way.name {
            "bgzf" => &[&[]],
            "zstd" => &[&[], &["-19"], &["--no-check"], &["--long=27"]],
            "xz" => &[&[], &["-0"], &["-C", "none"], &["-C", "sha256"], &["--block-size=100000"]],
            "lz4" => &[&[], &["-9"], &["-B4"], &["-BD"], &["--no-frame-crc"], &["-BX"]],
            _ => &[&[], &["-1"], &["-9"]],
        };
        for options in levels {
            let Some(bytes) = way.compressed(options, &lines) else { continue };
            // The file name does not show the format.
            let folder = folder("in.txt", &bytes);
            for arguments in ["sort -", "sort -S 2M in.txt"] {
                let out =
                    sorted_by(folder.path(), arguments, if arguments.ends_with('-') { &bytes } else { b"" });
                assert!(out == sorted, "{arguments}: {} {options:?}", way.name);
            }
        }
    }
}

#[test]
fn members_of_a_file_are_one_text() {
    for way in &WAYS {
        let (Some(one), Some(none), Some(two)) = (
            way.compressed(&[], b"b\nhalf of "),
            way.compressed(&[], b""),
            way.compressed(&[], b"a line\na"),
        ) else {
            continue;
        };
        let bytes = [&one[..], &none, &two].concat();
        assert_eq!(
            text(&sorted_by(Path::new("."), "sort", &bytes)),
            "a\nb\nhalf of a line\n",
            "{}",
            way.name
        );
        // The last line has a line end in the output.
        let folder = folder("in", &bytes);
        fs::write(folder.path().join("plain"), "c").unwrap();
        let both = "a\nb\nc\nhalf of a line\n";
        assert_eq!(text(&sorted_by(folder.path(), "sort in plain", b"")), both, "{}", way.name);
    }
}

#[test]
fn merges_checks_and_lists_read_compressed_files() {
    for way in &WAYS {
        let (Some(one), Some(two)) = (way.compressed(&[], b"a\nc\n"), way.compressed(&[], b"b\nd\n")) else {
            continue;
        };
        let folder = folder("one", &one);
        let path = folder.path();
        fs::write(path.join("two"), &two).unwrap();
        fs::write(path.join("plain"), "e\n").unwrap();
        fs::write(path.join("list"), "two\0plain\0one\0").unwrap();
        for arguments in
            ["sort -m one two plain", "sort -m --batch-size=2 two one plain", "sort --files0-from=list"]
        {
            assert_eq!(
                text(&sorted_by(path, arguments, b"")),
                "a\nb\nc\nd\ne\n",
                "{arguments}: {}",
                way.name
            );
        }
        assert_eq!(text(&sorted_by(path, "sort -m - two", &one)), "a\nb\nc\nd\n");
        sorted_by(path, "sort -c one", b"");
        let said = complaint_of_disorder(path, "sort -rc two");
        assert_eq!(said, "sortie: two:2: disorder: d\n");
    }
}

fn complaint_of_disorder(folder: &Path, arguments: &str) -> String {
    complaint(&run(&mut sortie(folder, arguments), b""), 1)
}

/// Merges more inputs than are open at a time.
#[test]
fn many_compressed_inputs_are_merged() {
    let folder = folder("plain", b"x\n");
    let mut expected: Vec<String> = vec!["x\n".into()];
    let mut names = vec!["plain".to_owned()];
    for number in 0..50 {
        let line = format!("{number:02}\n");
        let name = format!("{number}.gz");
        fs::write(folder.path().join(&name), support::compress(line.as_bytes())).unwrap();
        names.push(name);
        expected.push(line);
    }
    expected.sort();
    let out = sorted_by(folder.path(), &format!("sort -m {}", names.join(" ")), b"");
    assert_eq!(text(&out), expected.concat());
}

#[test]
fn each_program_reads_what_is_written() {
    let lines = lines();
    let sorted = sorted_lines(&lines);
    let folder = folder("in", &lines);
    let path = folder.path();
    for way in &WAYS {
        let name = format!("out.{}", way.extension);
        let in_runs = format!("sort -S 2M in -o {name}");
        let merged = format!("sort -m sorted -o {name}");
        fs::write(path.join("sorted"), &sorted).unwrap();
        for arguments in
            [format!("sort in -o {name}"), in_runs, merged, format!("sort --parallel=1 in -o {name}")]
        {
            sorted_by(path, &arguments, b"");
            let written = fs::read(path.join(&name)).unwrap();
            assert!(written.len() < sorted.len(), "{arguments}");
            if let Some(read) = way.decompressed(&written) {
                assert!(read == sorted, "{arguments}");
            }
            assert!(sorted_by(path, &format!("sort {name}"), b"") == sorted, "{arguments}");
            fs::remove_file(path.join(&name)).unwrap();
        }
        for level in ["", ":1"] {
            let out = sorted_by(path, &format!("sort --compress={}{level} in", way.name), b"");
            if let Some(read) = way.decompressed(&out) {
                assert!(read == sorted, "{}{level}", way.name);
            }
        }
        let nothing = sorted_by(path, &format!("sort --compress={}", way.name), b"");
        assert!(!nothing.is_empty());
        if let Some(read) = way.decompressed(&nothing) {
            assert_eq!(read, b"", "{}", way.name);
        }
    }
    assert!(sorted_by(path, "sort in --compress=none -o out.gz", b"").is_empty());
    assert!(fs::read(path.join("out.gz")).unwrap() == sorted);
}

#[test]
fn a_file_is_sorted_in_place_whatever_it_is_compressed_with() {
    for way in &WAYS {
        let name = format!("x.{}", way.extension);
        let folder = folder(&name, b"b\na\n");
        // Plain text is recognised as text under any name.
        sorted_by(folder.path(), &format!("sort {name} -o {name}"), b"");
        sorted_by(folder.path(), &format!("sort -r {name} -o {name}"), b"");
        assert_eq!(sorted_by(folder.path(), &format!("sort --compress=none {name}"), b""), b"a\nb\n");
        assert_eq!(names(folder.path()), [name]);
    }
}

/// A file that is cut short is refused with one line. If only a part of its magic number is left, it is a line of text.
#[test]
fn truncations() {
    // The lines are in order; otherwise `sort -c` would end at the first one that is not.
    let fasta = b">b\nGT\n";
    for way in &WAYS {
        let Some(whole) = way.compressed(&[], fasta) else { continue };
        let magic = match way.name {
            "gzip" | "bgzf" => 3,
            "xz" => 6,
            "bzip2" => 10,
            _ => 4,
        };
        // The end marker of BGZF may be missing.
        let end = if way.name == "bgzf" { whole.len() - 28 } else { whole.len() };
        for length in magic..end {
            for arguments in [
                "sort",
                "sort -c",
                "sort -m",
                "sort --format fasta",
                "sort --record-size 1",
                "sort --type u8",
            ] {
                let output = run(&mut sortie(Path::new("."), arguments), &whole[..length]);
                let said = complaint(&output, 2);
                assert!(
                    said.contains("cut short") || said.contains("reading stopped"),
                    "{arguments}, {length}: {said}"
                );
                assert_eq!(text(&output.stdout), "", "{arguments}, {length}");
            }
        }
    }
}

/// After a change of one byte, the file is refused, or the data is unaffected.
#[test]
fn damage() {
    let lines = b"a line\nof a text that is sorted\nand no line of it\n".repeat(4);
    let sorted = sorted_lines(&lines);
    for way in &WAYS {
        let Some(whole) = way.compressed(&[], &lines) else { continue };
        let folder = folder("in", b"");
        // A file whose magic number has changed is no longer recognised as compressed.
        for place in 10..whole.len() {
            let mut bytes = whole.clone();
            bytes[place] ^= 0x55;
            fs::write(folder.path().join("in"), &bytes).unwrap();
            let output = run(&mut sortie(folder.path(), "sort in -o out"), b"");
            if output.status.success() {
                assert!(fs::read(folder.path().join("out")).unwrap() == sorted, "{}: byte {place}", way.name);
                fs::remove_file(folder.path().join("out")).unwrap();
            } else {
                let said = complaint(&output, 2);
                assert!(said.starts_with("sortie: cannot read: in: "), "{said}");
                assert_eq!(names(folder.path()), ["in"]);
            }
        }
    }
}

#[test]
fn failures_say_the_way_the_place_and_what_to_do() {
    let gzip = support::compress(b"b\na\n");
    let huge = b"\x28\xB5\x2F\xFD\x00\xA8\x01\x00\x00";
    for (bytes, line) in [
        (
            gzip[..gzip.len() - 1].to_vec(),
            format!("its gzip data is cut short after {} bytes; get the complete file", gzip.len() - 1),
        ),
        (
            [&gzip[..], b"more"].concat(),
            format!("unknown data follows its gzip data at byte {}; remove it", gzip.len()),
        ),
        (
            huge.to_vec(),
            "its zstd data needs more than 128 MiB of memory to be decompressed; decompress it first with the program zstd".into(),
        ),
    ] {
        let folder = folder("in", &bytes);
        let output = run(&mut sortie(folder.path(), "sort in -o out"), b"");
        assert_eq!(complaint(&output, 2), format!("sortie: cannot read: in: {line}\n"));
        assert_eq!(names(folder.path()), ["in"]);
    }
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    let folder = folder("in", b"b\na\n");
    let words = "the format must be gzip, bgzf, zstd, xz, bzip2, lz4 or none; see --help";
    for (arguments, line) in [
        (
            "sort --compress=rar in",
            &*format!("invalid value 'rar' for '--compress <FORMAT[:LEVEL]>': {words}"),
        ),
        (
            "sort --compress=gzip:10 in",
            "invalid value 'gzip:10' for '--compress <FORMAT[:LEVEL]>': gzip has the levels 1 to 9; see --help",
        ),
        ("sort -c --compress=gzip in", "options '-c --compress' are incompatible: a check writes no output"),
        ("sort --debug --compress=gzip in", "options '--compress --debug' are incompatible"),
        (
            "sort in -o out.zip",
            "out.zip: an output cannot be compressed with zip; end its name in .gz, .bgz, .zst, .xz, .bz2 or .lz4, or give \
             --compress=none",
        ),
    ] {
        let output = run(&mut sortie(folder.path(), arguments), b"");
        assert_eq!(complaint(&output, 2), format!("sortie: {line}\n"));
        assert_eq!(names(folder.path()), ["in"]);
    }
}

/// Raw numbers and records whose first bytes look like compressed data are sorted correctly.
#[test]
fn raw_data_that_begins_like_compressed_data() {
    let of = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    for first in [0x0008_8B1F, 0xFD2F_B528, 0x184D_2204, 0x184D_2A50] {
        let folder = folder("x.raw", &of(&[first, 16, 7, 6, 5, 4]));
        for arguments in ["sort --type u32 x.raw -o x.raw", "sort --record-size 4 x.raw -o x.raw"] {
            sorted_by(folder.path(), arguments, b"");
            assert_eq!(fs::read(folder.path().join("x.raw")).unwrap().len(), 24, "{arguments}, {first:x}");
        }
        let sorted = sorted_by(folder.path(), "sort --type u32 x.raw", b"");
        assert_eq!(sorted, of(&[4, 5, 6, 7, 16, first]), "{first:x}");
        let plan = sorted_by(folder.path(), "sort --record-size 4 --explain x.raw", b"");
        assert!(text(&plan).contains("6 records"), "{}", text(&plan));
    }
}

/// Arrays, segments, offsets and fixed-size records.
#[test]
fn numbers() {
    let numbers: Vec<u8> = [7u32, 1, 9, 3, 2, 8].iter().flat_map(|number| number.to_le_bytes()).collect();
    let offsets: Vec<u8> = [0u64, 2, 6].iter().flat_map(|offset| offset.to_le_bytes()).collect();
    let of = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    for way in &WAYS {
        let (Some(packed), Some(ends)) = (way.compressed(&[], &numbers), way.compressed(&[], &offsets))
        else {
            continue;
        };
        // Raw data may begin with any bytes, so it is decompressed only if the name says that it is compressed.
        let (x, ends_at) = (format!("x.raw.{}", way.extension), format!("ends.{}", way.extension));
        let folder = folder(&x, &packed);
        let path = folder.path();
        fs::write(path.join(&ends_at), &ends).unwrap();
        let sorted = of(&[1, 2, 3, 7, 8, 9]);
        assert_eq!(sorted_by(path, &format!("sort --type u32 {x}"), b""), sorted, "{}", way.name);
        assert_eq!(sorted_by(path, "sort --type u32 -", &packed), sorted, "{}", way.name);
        let by_length = format!("segments --type u32 --len 3 {x} -o -");
        assert_eq!(sorted_by(path, &by_length, b""), of(&[1, 7, 9, 2, 3, 8]));
        let in_segments = format!("segments --type u32 --offsets {ends_at} {x} -o -");
        assert_eq!(sorted_by(path, &in_segments, b""), of(&[1, 7, 2, 3, 8, 9]), "{}", way.name);
        // For little-endian numbers below 256, the first byte decides the order.
        assert_eq!(sorted_by(path, &format!("sort --record-size 4 {x}"), b""), sorted, "{}", way.name);
        sorted_by(path, &format!("sort --type u32 {x} -o y.raw.{}", way.extension), b"");
        sorted_by(path, &format!("sort --record-size 4 {x} -o z.{}", way.extension), b"");
        for name in ["y.raw", "z"] {
            let written = fs::read(path.join(format!("{name}.{}", way.extension))).unwrap();
            assert!(way.decompressed(&written).is_none_or(|read| read == sorted), "{}: {name}", way.name);
        }
    }
}

/// A `.npy` file is an array in any compression format, and never sorted as text.
#[test]
fn numpy_arrays() {
    let npy = |numbers: [u8; 3]| {
        let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }";
        let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        bytes.extend_from_slice(header.as_bytes());
        bytes.resize(127, b' ');
        bytes.push(b'\n');
        bytes.extend_from_slice(&numbers);
        bytes
    };
    for way in &WAYS {
        let Some(packed) = way.compressed(&[], &npy([3, 1, 2])) else { continue };
        let folder = folder("x", &packed);
        let path = folder.path();
        let is_sorted = |out: &[u8]| out.starts_with(b"\x93NUMPY") && out.ends_with(&[1, 2, 3]);
        assert!(is_sorted(&sorted_by(path, "sort x", b"")), "{}", way.name);
        let from_file = sortie(path, "sort").stdin(File::open(path.join("x")).unwrap()).output().unwrap();
        assert!(is_sorted(succeed(&from_file)), "{}", way.name);
        for arguments in ["sort", "sort x x"] {
            let said = complaint(&run(&mut sortie(path, arguments), &packed), 2);
            assert!(
                said.contains("is a compressed .npy array; save it as a file and sort that file alone"),
                "{said}"
            );
        }
    }
}

#[test]
fn sequences_and_spectra() {
    let fasta = b">b\nGT\n>a\nAC\n";
    let fastq = b"@b\nGT\n+\nII\n@a\nAC\n+\nII\n";
    let mgf = b"BEGIN IONS\n2 1\n1 2\nEND IONS\n";
    let cases: [(&str, &[u8], &[u8]); 3] = [
        ("sort --format fasta", fasta, b">a\nAC\n>b\nGT\n"),
        ("sort --format fastq", fastq, b"@a\nAC\n+\nII\n@b\nGT\n+\nII\n"),
        ("spectra --by mz", mgf, b"BEGIN IONS\n1 2\n2 1\nEND IONS\n"),
    ];
    for way in &WAYS {
        for (arguments, plain, sorted) in cases {
            let Some(packed) = way.compressed(&[], plain) else { continue };
            let folder = folder("in", &packed);
            let path = folder.path();
            assert_eq!(
                sorted_by(path, &format!("{arguments} in -o /dev/stdout"), b""),
                sorted,
                "{}",
                way.name
            );
            let out = format!("out.{}", way.extension);
            sorted_by(path, &format!("{arguments} - -o {out}"), &packed);
            let written = fs::read(path.join(out)).unwrap();
            assert!(
                way.decompressed(&written).is_none_or(|read| read == sorted),
                "{arguments}: {}",
                way.name
            );
        }
    }
}

/// `.gz` files of sequences are BGZF, which `samtools faidx` can access randomly.
#[test]
fn sequences_are_compressed_in_blocks() {
    let fasta: String = (0..30_000).rev().map(|number| format!(">r{number:05}\nACGTACGTAC\n")).collect();
    let folder = folder("in.fa", fasta.as_bytes());
    let path = folder.path();
    for arguments in ["-o out.fa.gz", "-o out.fa.bgz", "--compress=gzip:9 -o out.fa", "-S 12M -o out.fa.gz"] {
        let out = path.join(arguments.rsplit(' ').next().unwrap());
        sorted_by(path, &format!("sort --format fasta --by name in.fa {arguments}"), b"");
        let bytes = fs::read(&out).unwrap();
        assert_eq!((bytes[3], &bytes[12..14]), (4, &b"BC"[..]), "{arguments}");
        assert_eq!(&bytes[bytes.len() - 28..][16..18], [0x1B, 0], "{arguments}");
        assert!(support::decompress(&bytes).starts_with(b">r00000\nACGT"), "{arguments}");
    }
    let samtools =
        || Command::new("samtools").current_dir(path).args(["faidx", "out.fa.gz", "r12345"]).output();
    match samtools() {
        Ok(output) => assert_eq!(text(&output.stdout), ">r12345\nACGTACGTAC\n", "{}", text(&output.stderr)),
        Err(_) => println!("skipped: samtools is not installed"),
    }
}
