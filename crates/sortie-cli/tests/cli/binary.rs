//! Files that are not text, as other programs write them, are refused. Text that begins like one is sorted as GNU sort does.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{self, complaint, folder, gnu, names, run, same, sortie, text};

/// A file that another program has written: its name in `tests/binary`, what the message calls it, and the command in the message.
const FILES: [(&str, &str, &str); 24] = [
    ("x.bam", "a BAM file", "sortie sort --format bam x.bam"),
    ("x.bcf", "a BCF file", "bcftools sort x.bcf"),
    ("x.cram", "a CRAM file", "samtools sort x.cram"),
    ("x.npz", "a .npz archive of arrays", "unzip x.npz, then sortie sort each .npy file"),
    ("x.zip", "a zip archive", "unzip -p x.zip | sortie sort"),
    ("x.parquet", "a Parquet file", "sortie sort --by COLUMN x.parquet"),
    ("x.arrow", "an Arrow IPC file", "sortie sort --by COLUMN x.arrow"),
    ("x.arrows", "an Arrow IPC stream", "sortie.sort_by in Python"),
    ("x.feather", "a Feather file", "sortie.sort_by in Python"),
    ("x.orc", "an ORC file", "sortie.sort_by in Python"),
    ("x.avro", "an Avro file", "sortie.sort_by in Python"),
    ("x.h5", "an HDF5 file", "sortie.sort in Python"),
    ("y.h5", "an HDF5 file", "sortie.sort in Python"),
    ("x.sqlite", "an SQLite database", "sqlite3 x.sqlite 'SELECT ... ORDER BY ...'"),
    ("x.tar", "a tar archive", "tar -xOf x.tar | sortie sort"),
    ("x.tgz", "a tar archive", "tar -xOf x.tgz | sortie sort"),
    ("x.7z", "a 7z archive", "7z x -so x.7z | sortie sort"),
    ("x.lzma", "compressed with lzma", "xz -dc x.lzma | sortie sort"),
    ("x.lz", "compressed with lzip", "lzip -dc x.lz | sortie sort"),
    ("x.lzo", "compressed with lzop", "lzop -dc x.lzo | sortie sort"),
    ("x.sz", "compressed with snappy", "snzip -dc x.sz | sortie sort"),
    ("x.lz4", "compressed with the old format of lz4", "lz4 -dc x.lz4 | sortie sort"),
    ("x.Z", "compressed with compress", "gzip -dc x.Z | sortie sort"),
    ("x.npy", "a .npy array", "sortie sort x.npy, one array at a time"),
];

/// Those that are recognised by their end alone, which a pipe does not show.
const BY_THE_END: [&str; 2] = ["x.feather", "x.orc"];

/// How the formats begin: what a text may begin with too.
const BEGINNINGS: [&[u8]; 26] = [
    b"\x93NUMPY",
    b"\x93NUMPY\x01",
    b"BAM\x01",
    b"BCF\x02\x02",
    b"CRAM\x03\0",
    b"PK\x03\x04",
    b"PK\x03\x04\x14\0",
    b"PAR1",
    b"PARE",
    b"ARROW1",
    b"ARROW1\0\0",
    b"\xFF\xFF\xFF\xFF",
    b"FEA1",
    b"ORC",
    b"Obj\x01",
    b"\x89HDF\r\n\x1A\n",
    b"SQLite format 3\0",
    b"7z\xBC\xAF\x27\x1C",
    b"]\0\0\x80\0",
    b"LZIP\x01",
    b"\x89LZO\0\r\n\x1A\n",
    b"\xFF\x06\0\0sNaPpY",
    b"\x02\x21\x4C\x18",
    b"\x1F\x9D",
    b"\x1F\x9D\x90",
    b"ustar",
];

fn fixture(name: &str) -> Vec<u8> {
    fs::read(fixtures().join(name)).unwrap()
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/binary")
}

/// The options, each with the file, alone or with a text beside it.
fn sorts(name: &str, may_be_alone: bool) -> Vec<Vec<String>> {
    let with = |words: &str| words.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mut sorts = vec![
        with("--files0-from=list"),
        with(&format!("lines {name} -o out")),
        with(&format!("-m {name} lines -o out")),
        with(&format!("-S 1M lines {name} -o {name}")),
        with(&format!("-u -n --parallel=1 {name} lines")),
    ];
    if may_be_alone {
        let options = ["", "-c", "-m", "-z", "--explain", &format!("-o {name}")];
        sorts.extend(options.map(|option| with(&format!("{option} {name}"))));
    }
    sorts
}

#[test]
fn binary_files_are_refused_with_the_command_that_sorts_them() {
    for (name, what, instead) in FILES {
        // The content tells the format, whatever the name is.
        for named in [name, "data.txt"] {
            let content = fixture(name);
            let folder = folder(named, &content);
            fs::write(folder.path().join("lines"), "b\na\n").unwrap();
            fs::write(folder.path().join("list"), format!("lines\0{named}\0")).unwrap();
            let instead = instead.replace(name, named);
            let expected = format!(
                "sortie: {named} is {what}, not text; use {instead}; --text sorts its bytes all the same\n"
            );
            // A `.npy` file alone is an array, and its name is refused among other files.
            let all = sorts(named, name != "x.npy");
            let some = if named == "x.npy" { &all[..1] } else { &all };
            for options in some {
                let output = run(sortie(folder.path()).args(options), b"");
                assert_eq!(complaint(&output, 2), expected, "{options:?}");
                assert!(output.stdout.is_empty(), "{options:?}");
            }
            assert_eq!(fs::read(folder.path().join(named)).unwrap(), content);
            let mut left = ["lines", "list", named];
            left.sort_unstable();
            assert_eq!(names(folder.path()), left);
        }
    }
}

/// The message about a file that is read from its end, if it comes through a pipe.
fn of_a_pipe(said: &str) -> String {
    said.replace("--by COLUMN FILE", "--by COLUMN FILE, with FILE on disk and not compressed")
}

#[test]
fn binary_standard_input_is_refused() {
    for (name, what, instead) in FILES.iter().filter(|(name, ..)| *name != "x.npy") {
        let instead = instead.replace(name, "FILE");
        let expected =
            format!("sortie: - is {what}, not text; use {instead}; --text sorts its bytes all the same\n");
        let folder = tempfile::tempdir().unwrap();
        let mut from_file = sortie(folder.path());
        from_file.stdin(File::open(fixtures().join(name)).unwrap());
        assert_eq!(complaint(&from_file.output().unwrap(), 2), expected);
        if !BY_THE_END.contains(name) {
            let expected = of_a_pipe(&expected);
            for option in ["-n", "-m", "-c"] {
                assert_eq!(complaint(&run(sortie(folder.path()).arg(option), &fixture(name)), 2), expected);
            }
        }
    }
}

/// Once, arrays of other types than numbers counted as text.
#[test]
fn arrays_of_any_type_are_refused_among_other_files() {
    let expected = "sortie: in is a .npy array, not text; use sortie sort in, one array at a time; --text sorts its bytes all the same\n";
    let structured = format!("[{}]", ["('a', '<i4')"; 300].join(", "));
    for dtype in ["'|S1'", "'<U2'", "'|O'", "'<c16'", &structured] {
        let header = format!("{{'descr': {dtype}, 'fortran_order': False, 'shape': (1,), }}\n");
        for (version, size) in [(1, 2), (2, 4), (3, 4)] {
            let size = &(header.len() as u32).to_le_bytes()[..size];
            let content = [b"\x93NUMPY", &[version, 0][..], size, header.as_bytes(), b"b\na\n"].concat();
            let folder = folder("in", &content);
            fs::write(folder.path().join("list"), b"in\0").unwrap();
            for options in [&["--files0-from=list", "-o", "in"][..], &["in", "list", "-o", "in"]] {
                assert_eq!(complaint(&run(sortie(folder.path()).args(options), b""), 2), expected);
            }
            assert_eq!(fs::read(folder.path().join("in")).unwrap(), content);
        }
    }
}

/// Once, what is recognised by its end in a file was destroyed if it was compressed.
#[test]
fn compressed_tables_are_refused() {
    for (name, what, instead) in FILES.iter().filter(|(name, ..)| matches!(*name, "x.parquet" | "x.arrow")) {
        let folder = folder("in", &support::compress(&fixture(name)));
        let instead = instead.replace(name, "FILE");
        let expected = of_a_pipe(&format!(
            "sortie: in is {what}, not text; use {instead}; --text sorts its bytes all the same\n"
        ));
        // Once, a user was told to use what was refused.
        for options in [&["in", "-o", "in"][..], &["--by", "a", "in", "-o", "in"]] {
            assert_eq!(complaint(&run(sortie(folder.path()).args(options), b""), 2), expected);
        }
    }
}

#[test]
fn an_archive_without_files_is_refused() {
    let archive = [&b"PK\x05\x06"[..], &[0; 18]].concat();
    let folder = folder("in", &archive);
    assert!(complaint(&run(sortie(folder.path()).arg("in"), b""), 2).contains("in is a zip archive"));
    same(folder.path(), &["-s"], &[&archive[..], b"\nb\na\n"].concat());
}

#[test]
fn with_text_every_file_is_sorted_as_gnu_sort_does() {
    for (name, ..) in FILES {
        let folder = folder(name, &fixture(name));
        fs::write(folder.path().join("lines"), "b\na\n").unwrap();
        for options in ["", "-r", "-n", "-z", "-u", "-m", "-S 1b", "-k2", "lines"] {
            let theirs = run(gnu(folder.path()).args(options.split_whitespace()).arg(name), b"");
            let ours =
                run(sortie(folder.path()).arg("--text").args(options.split_whitespace()).arg(name), b"");
            assert!(theirs.status.success() && ours.status.success(), "{}", text(&ours.stderr));
            assert!(ours.stdout == theirs.stdout, "{options} {name}");
            let piped =
                run(sortie(folder.path()).arg("--text").args(options.split_whitespace()), &fixture(name));
            let theirs = run(gnu(folder.path()).args(options.split_whitespace()), &fixture(name));
            assert!(piped.stdout == theirs.stdout, "{options} < {name}");
        }
        let ours = run(sortie(folder.path()).args(["--text", "-c", name]), b"");
        let theirs = run(gnu(folder.path()).args(["-c", name]), b"");
        assert_eq!(ours.status, theirs.status, "{name}");
    }
}

#[test]
fn with_text_compressed_bytes_are_sorted_as_gnu_sort_does() {
    let packed = support::compress(b"b\na\n");
    let folder = folder("in.gz", &packed);
    let theirs = run(gnu(folder.path()).arg("in.gz"), b"");
    for options in ["--text in.gz", "--text -S 1b in.gz", "--text -m in.gz"] {
        let ours = run(sortie(folder.path()).args(options.split_whitespace()), b"");
        assert!(ours.status.success() && ours.stdout == theirs.stdout, "{options}");
    }
    let said = complaint(&run(sortie(folder.path()).args(["--text", "--type", "u8", "in.gz"]), b""), 2);
    assert_eq!(said, "sortie: --text is for lines; it cannot be used with an array\n");
}

/// Only a whole signature makes a file binary.
#[test]
fn text_that_begins_with_a_signature_is_sorted_as_gnu_sort_does() {
    for beginning in BEGINNINGS {
        let lines: &[&[u8]] = &[
            b"",
            b"\n",
            b"\nb\na\n",
            b"b\na\n",
            b" and more words\nthan one line\n\na\n",
            b"\0\0\0\0\nb\na\n",
            b"\nb\na\navro.schema\n",
        ];
        for rest in lines {
            for end in [&b""[..], beginning] {
                let long = b"more lines than a signature has\n".repeat(20);
                for middle in [&b""[..], &long] {
                    let content = [beginning, rest, middle, end].concat();
                    let folder = folder("in", &content);
                    same(folder.path(), &["in"], b"");
                    same(folder.path(), &["-r"], &content);
                    same(folder.path(), &["-m", "in"], b"");
                }
            }
        }
    }
    // A text may also begin with a longer part of a real file.
    for (name, ..) in FILES.iter().filter(|(name, ..)| !matches!(*name, "x.bam" | "x.bcf" | "x.tgz")) {
        let whole = fixture(name);
        for bytes in [1, 2, 3, 4, 6] {
            let folder = folder("in", &[&whole[..bytes], b"\nb\na\n"].concat());
            same(folder.path(), &["in"], b"");
        }
    }
}

/// A BAM file is a BGZF file whose content begins so. Other compressed text may begin so too.
#[test]
fn compressed_text_that_begins_like_a_bam_file_is_sorted() {
    let folder = folder("in", &support::compress(b"BAM\x01\nb\na\n"));
    let output = run(sortie(folder.path()).arg("in"), b"");
    assert_eq!((&output.stdout[..], output.status.code()), (&b"BAM\x01\na\nb\n"[..], Some(0)));
}

#[test]
fn output_names_of_other_compressors_are_refused() {
    let folder = folder("in", b"b\na\n");
    for (name, what) in [
        ("x.Z", "compress"),
        ("x.zip", "zip"),
        ("x.tgz", "tar and gzip"),
        ("x.taz", "tar and gzip"),
        ("x.tb2", "tar and bzip2"),
        ("x.TXZ", "tar and xz"),
        ("x.tar.gz", "tar and gzip"),
        ("x.br", "brotli"),
        ("x.7z", "7z"),
        ("x.lz", "lzip"),
        ("x.lzma", "lzma"),
        ("x.sz", "snappy"),
    ] {
        let expected = format!(
            "sortie: {name}: an output cannot be compressed with {what}; end its name in .gz, .bgz, .zst, .xz, .bz2 or .lz4, or \
             give --compress=none\n"
        );
        for options in [
            &["sort", "in"][..],
            &["sort", "--type", "u8", "in"],
            &["segments", "--type=u8", "--len=2", "in"],
        ] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_sortie"));
            let output = run(command.args(options).args(["-o", name]).current_dir(folder.path()), b"");
            assert_eq!(complaint(&output, 2), expected);
        }
        assert_eq!(names(folder.path()), ["in"]);
    }
    let output = run(sortie(folder.path()).args(["--compress=none", "in", "-o", "x.tgz"]), b"");
    assert!(output.status.success() && fs::read(folder.path().join("x.tgz")).unwrap() == b"a\nb\n");
}

#[test]
fn output_names_in_full_are_written_as_they_say() {
    let folder = folder("in", b"b\na\n");
    for (name, magic) in [
        ("x.gzip", &b"\x1F\x8B"[..]),
        ("x.zstd", b"\x28\xB5\x2F\xFD"),
        ("x.bzip2", b"BZh"),
        ("x.bgzf", b"\x1F\x8B"),
    ] {
        assert!(run(sortie(folder.path()).args(["in", "-o", name]), b"").status.success());
        assert!(fs::read(folder.path().join(name)).unwrap().starts_with(magic), "{name}");
        let again = run(sortie(folder.path()).args(["-r", name]), b"");
        assert_eq!(again.stdout, b"b\na\n", "{name}");
    }
}

#[test]
fn records_that_are_sorted_as_lines_by_mistake_are_noted() {
    let (fasta, fastq) = (&b">b\nGT\n>a\nAC\n"[..], &b"@b\nGT\n+\nII\n@a\nAC\n+\nII\n"[..]);
    let packed = support::compress(fastq);
    let note = |name: &str, format: &str| {
        let option = format.to_lowercase();
        format!(
            "sortie: note: {name} is sorted as lines, but has {format} records; --format {option} sorts whole records\n"
        )
    };
    let cases: [(&str, &[u8], Option<&str>); 12] = [
        ("x.fa", fasta, Some("FASTA")),
        ("x.FASTA", b"\n>b x\r\nGT\r\n", Some("FASTA")),
        ("x.faa", b">p\nMK*\n", Some("FASTA")),
        ("x.fq", fastq, Some("FASTQ")),
        ("x.fastq", &fastq[..7], Some("FASTQ")),
        ("x.fq.gz", &packed, Some("FASTQ")),
        // The name or the content says otherwise.
        ("x.txt", fastq, None),
        ("x", fasta, None),
        ("x.fa", fastq, None),
        ("x.fq", fasta, None),
        ("x.fa", b">a\n>b\nAC\n", None),
        ("x.fq", b"@a\n@b\nAC\nGT\n", None),
    ];
    for (name, content, format) in cases {
        let folder = folder(name, content);
        let expected = format.map(|format| note(name, format)).unwrap_or_default();
        for option in ["-r", "-m", "-S1M"] {
            let output = run(sortie(folder.path()).args([option, name]), b"");
            assert_eq!((text(&output.stderr), output.status.code()), (expected.clone(), Some(0)), "{name}");
        }
        // Nothing is said about a pipe, a check, or where the user says what it is.
        for options in [&["-"][..], &["--text", name]] {
            let output = run(sortie(folder.path()).args(options), content);
            assert_eq!((text(&output.stderr), output.status.code()), (String::new(), Some(0)), "{options:?}");
        }
        let check = run(sortie(folder.path()).args(["-C", name]), b"");
        assert_eq!(text(&check.stderr), "", "{name}");
    }
}
