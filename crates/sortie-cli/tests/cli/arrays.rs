//! Arrays in files, raw and `.npy`, compared with NumPy if it is installed; and every refusal.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_sortie");

fn sortie(folder: &Path, args: &str) -> Output {
    Command::new(PROGRAM).current_dir(folder).args(args.split_whitespace()).output().unwrap()
}

/// Runs a command that must succeed and print nothing on standard error.
fn succeed(folder: &Path, args: &str) -> Vec<u8> {
    let output = sortie(folder, args);
    assert_eq!((output.status.code(), said(&output).as_str()), (Some(0), ""), "sortie {args}");
    output.stdout
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

macro_rules! bytes {
    ($($number:expr),* $(,)?) => { [$(&$number.to_le_bytes()[..]),*].concat() };
}

fn numbers(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(8).map(|eight| u64::from_le_bytes(eight.try_into().unwrap())).collect()
}

/// A folder with a file in it.
fn folder(name: &str, bytes: &[u8]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), bytes).unwrap();
    folder
}

fn npy(descr: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let literal = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((literal.len() as u16).to_le_bytes());
    bytes.extend(literal.as_bytes());
    bytes.extend(data);
    bytes
}

/// The data after the header.
fn data(npy: &[u8]) -> &[u8] {
    &npy[10 + usize::from(u16::from_le_bytes([npy[8], npy[9]]))..]
}

#[test]
fn numpy_agrees() {
    if !Command::new("python3").args(["-c", "import numpy"]).output().is_ok_and(|o| o.status.success()) {
        eprintln!("SKIPPED numpy_agrees: python3 with numpy is not installed");
        return;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/numpy_arrays.py");
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("python3").args([script, PROGRAM]).arg(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    println!("{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn every_raw_type_is_sorted_by_value() {
    let nan = f64::from_bits(0xfff8_0000_0000_0001);
    for (element, input, up, down) in [
        ("u8", vec![200, 3, 255, 0], vec![0, 3, 200, 255], vec![255, 200, 3, 0]),
        ("u16", bytes![256u16, 3u16, 1u16], bytes![1u16, 3u16, 256u16], bytes![256u16, 3u16, 1u16]),
        (
            "u32",
            bytes![1u32 << 31, 3u32, 256u32],
            bytes![3u32, 256u32, 1u32 << 31],
            bytes![1u32 << 31, 256u32, 3u32],
        ),
        (
            "u64",
            bytes![u64::MAX, 3u64, 256u64],
            bytes![3u64, 256u64, u64::MAX],
            bytes![u64::MAX, 256u64, 3u64],
        ),
        ("i8", bytes![5i8, -1i8, -128i8], bytes![-128i8, -1i8, 5i8], bytes![5i8, -1i8, -128i8]),
        ("i16", bytes![5i16, -1i16, -300i16], bytes![-300i16, -1i16, 5i16], bytes![5i16, -1i16, -300i16]),
        ("i32", bytes![5i32, -1i32, i32::MIN], bytes![i32::MIN, -1i32, 5i32], bytes![5i32, -1i32, i32::MIN]),
        ("i64", bytes![5i64, -1i64, i64::MIN], bytes![i64::MIN, -1i64, 5i64], bytes![5i64, -1i64, i64::MIN]),
        (
            "f32",
            bytes![f32::NAN, 0f32, 1.5f32, -0f32, -2f32],
            bytes![-2f32, -0f32, 0f32, 1.5f32, f32::NAN],
            bytes![1.5f32, 0f32, -0f32, -2f32, f32::NAN],
        ),
        (
            "f64",
            bytes![nan, 0f64, f64::INFINITY, -0f64, f64::NEG_INFINITY],
            bytes![f64::NEG_INFINITY, -0f64, 0f64, f64::INFINITY, nan],
            bytes![f64::INFINITY, 0f64, -0f64, f64::NEG_INFINITY, nan],
        ),
    ] {
        let folder = folder("in", &input);
        succeed(folder.path(), &format!("sort --type {element} in -o out"));
        assert_eq!(fs::read(folder.path().join("out")).unwrap(), up, "{element}");
        assert_eq!(
            succeed(folder.path(), &format!("sort --descending --type {element} in")),
            down,
            "{element}"
        );
        assert_eq!(fs::read(folder.path().join("in")).unwrap(), input, "the input was touched");
    }
}

#[test]
fn pipes_are_read_and_written() {
    for args in [&["sort", "--type", "i16"][..], &["sort", "--type", "i16", "-"]] {
        let mut child =
            Command::new(PROGRAM).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(&bytes![7i16, -7i16, 0i16]).unwrap();
        assert_eq!(child.wait_with_output().unwrap().stdout, bytes![-7i16, 0i16, 7i16]);
    }
}

#[test]
fn a_file_on_standard_input_is_read_from_where_it_stands() {
    let folder = folder("in", &bytes![9u32, 8u32, 7u32, 6u32]);
    let script = format!("(head -c 4 >/dev/null; {PROGRAM} sort --type u32) < in");
    // `head` may read more than 4 bytes from a pipe, but resets the position of a file to the end of the 4 bytes.
    let output = Command::new("sh").current_dir(folder.path()).args(["-c", &script]).output().unwrap();
    assert_eq!(output.stdout, bytes![6u32, 7u32, 8u32]);
}

#[test]
fn a_file_is_sorted_in_place() {
    let folder = folder("x", &bytes![3u32, 1u32, 2u32]);
    succeed(folder.path(), "sort --type u32 x -o x");
    assert_eq!(fs::read(folder.path().join("x")).unwrap(), bytes![1u32, 2u32, 3u32]);
}

#[test]
fn the_target_of_a_link_is_replaced_and_keeps_its_mode() {
    let folder = folder("x", &[3, 1, 2]);
    let (file, link) = (folder.path().join("x"), folder.path().join("link"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("x", &link).unwrap();
    succeed(folder.path(), "sort --type u8 link -o link");
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(fs::read(&file).unwrap(), [1, 2, 3]);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn argsort_is_stable_and_in_sorties_order() {
    let folder = folder("in", &bytes![2f64, f64::NAN, 0f64, -0f64, 2f64, 0f64]);
    assert_eq!(numbers(&succeed(folder.path(), "sort --type f64 --argsort in")), [3, 2, 5, 0, 4, 1]);
    assert_eq!(
        numbers(&succeed(folder.path(), "sort --type f64 --argsort --descending in")),
        [0, 4, 2, 5, 3, 1]
    );
}

/// NaT, "not a time", comes last in both directions, as in NumPy and in the Python package.
#[test]
fn dates_and_times_are_sorted_with_nat_last() {
    const NAT: i64 = i64::MIN;
    let (times, up) = ([5, NAT, -3, i64::MAX, NAT, NAT + 1, 0], [NAT + 1, -3, 0, 5, i64::MAX, NAT, NAT]);
    let down = [i64::MAX, 5, 0, -3, NAT + 1, NAT, NAT];
    let little = |times: &[i64]| times.iter().flat_map(|time| time.to_le_bytes()).collect::<Vec<u8>>();
    let big = |times: &[i64]| times.iter().flat_map(|time| time.to_be_bytes()).collect::<Vec<u8>>();
    for (descr, bytes) in
        [("'<M8[ns]'", &little as &dyn Fn(&[i64]) -> Vec<u8>), ("'<m8'", &little), ("'>M8[25us]'", &big)]
    {
        let folder = folder("in.npy", &npy(descr, "False", "(7,)", &bytes(&times)));
        for (options, sorted) in [("", up), ("--descending", down)] {
            let out = succeed(folder.path(), &format!("sort in.npy {options}"));
            assert_eq!(data(&out), bytes(&sorted), "{descr} {options}");
            assert!(
                String::from_utf8_lossy(&out).contains(&format!("'descr': {descr},")),
                "the unit is kept"
            );
            let out = succeed(folder.path(), &format!("segments in.npy -o - --len 7 {options}"));
            assert_eq!(data(&out), bytes(&sorted), "{descr} {options}");
        }
        let places = |options: &str| {
            numbers(data(&succeed(folder.path(), &format!("sort in.npy --argsort {options}"))))
        };
        assert_eq!(places(""), [5, 2, 6, 0, 3, 1, 4], "{descr}");
        assert_eq!(places("--descending"), [3, 0, 6, 2, 5, 1, 4], "{descr}");
        // Through temporary files.
        let many: Vec<i64> =
            (0..70_000).map(|i| if i % 7 == 0 { NAT } else { (i * 7919) % 65_537 - 30_000 }).collect();
        fs::write(folder.path().join("many.npy"), npy(descr, "False", "(70000,)", &bytes(&many))).unwrap();
        let mut sorted = many.clone();
        sorted.sort_by_key(|&time| time.wrapping_sub(1));
        assert!(data(&succeed(folder.path(), "sort -S 256K many.npy")) == bytes(&sorted), "{descr}");
        let mut order: Vec<u64> = (0..70_000).collect();
        order.sort_by_key(|&i| many[i as usize].wrapping_sub(1));
        assert!(
            numbers(data(&succeed(folder.path(), "sort --argsort -S 256K many.npy"))) == order,
            "{descr}"
        );
    }
}

#[test]
fn empty_arrays_are_sorted() {
    let folder = folder("in", b"");
    for args in
        ["sort --type f64 in", "sort --argsort --type u8 in", "segments --len 3 --type u8 in -o /dev/stdout"]
    {
        assert_eq!(succeed(folder.path(), args), b"");
    }
}

#[test]
fn segments_are_sorted_each_by_itself() {
    let folder = folder("in", &bytes![3u16, 1u16, 2u16, 9u16, 8u16, 7u16]);
    let offsets = folder.path().join("offsets");
    fs::write(&offsets, bytes![1u64, 3u64, 3u64, 5u64]).unwrap();
    let by_length = "segments --type u16 --len 3 in -o /dev/stdout";
    let by_offsets = "segments --type u16 --offsets offsets in -o /dev/stdout";
    assert_eq!(succeed(folder.path(), by_length), bytes![1u16, 2u16, 3u16, 7u16, 8u16, 9u16]);
    assert_eq!(
        succeed(folder.path(), &format!("{by_length} --descending")),
        bytes![3u16, 2u16, 1u16, 9u16, 8u16, 7u16]
    );
    assert_eq!(numbers(&succeed(folder.path(), &format!("{by_length} --argsort"))), [1, 2, 0, 2, 1, 0]);
    assert_eq!(succeed(folder.path(), by_offsets), bytes![3u16, 1u16, 2u16, 8u16, 9u16, 7u16]);
    assert_eq!(numbers(&succeed(folder.path(), &format!("{by_offsets} --argsort"))), [0, 0, 1, 1, 0, 0]);
    for empty in [Vec::new(), bytes![2u64]] {
        fs::write(&offsets, empty).unwrap();
        assert_eq!(succeed(folder.path(), by_offsets), fs::read(folder.path().join("in")).unwrap());
    }
}

#[test]
fn segments_are_written_to_standard_output_for_a_dash() {
    let folder = folder("in", &[3, 1, 2]);
    assert_eq!(succeed(folder.path(), "segments --type u8 --len 3 in -o -"), [1, 2, 3]);
    assert!(!folder.path().join("-").exists());
}

#[test]
fn a_length_too_large_to_count_with_is_refused() {
    let folder = folder("in", &[3, 1, 2]);
    let output = sortie(folder.path(), "segments --type u8 --len 99999999999999999999 in -o out");
    assert_eq!(output.status.code(), Some(2));
    let line =
        "sortie: invalid value '99999999999999999999' for '--len <N>': no array is that long; see --help\n";
    assert_eq!(said(&output), line);
}

#[test]
fn many_segments_agree_with_one_at_a_time() {
    let keys: Vec<u32> = (0..100_000u32).map(|i| i.wrapping_mul(2_654_435_761) >> 20).collect();
    let ends = (0..).map(|i: u64| i * i / 3).take_while(|&end| end <= 100_000);
    let offsets: Vec<u64> = ends.collect();
    let folder = folder("in", &keys.iter().flat_map(|key| key.to_le_bytes()).collect::<Vec<_>>());
    let as_bytes: Vec<u8> = offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect();
    fs::write(folder.path().join("offsets"), as_bytes).unwrap();
    let mut sorted = keys.clone();
    let mut places: Vec<u64> = Vec::new();
    for pair in offsets.windows(2) {
        let (from, to) = (pair[0] as usize, pair[1] as usize);
        sorted[from..to].sort();
        let mut of_segment: Vec<u64> = (0..(to - from) as u64).collect();
        of_segment.sort_by_key(|&place| keys[from + place as usize]);
        places.extend(of_segment);
    }
    places.extend(0..(keys.len() - places.len()) as u64);
    for threads in [1, 3] {
        let args = format!("segments --parallel={threads} --type u32 --offsets offsets in -o /dev/stdout");
        let expected: Vec<u8> = sorted.iter().flat_map(|key| key.to_le_bytes()).collect();
        assert!(succeed(folder.path(), &args) == expected);
        assert!(numbers(&succeed(folder.path(), &format!("{args} --argsort"))) == places);
    }
}

#[test]
fn segments_of_npy_keep_its_header() {
    let folder =
        folder("in.npy", &npy("'>i2'", "False", "(2, 3)", &[0, 3, 255, 255, 0, 1, 0, 9, 0, 8, 0, 7]));
    fs::write(folder.path().join("offsets.npy"), npy("'|i1'", "False", "(3,)", &[0, 4, 6])).unwrap();
    succeed(folder.path(), "segments --offsets offsets.npy in.npy -o out.npy");
    let out = fs::read(folder.path().join("out.npy")).unwrap();
    assert_eq!(data(&out), [255, 255, 0, 1, 0, 3, 0, 9, 0, 7, 0, 8]);
    assert!(
        String::from_utf8_lossy(&out).contains("{'descr': '>i2', 'fortran_order': False, 'shape': (2, 3), }")
    );
    succeed(folder.path(), "segments --argsort --len 3 in.npy -o out.npy");
    let out = fs::read(folder.path().join("out.npy")).unwrap();
    assert_eq!(numbers(data(&out)), [1, 2, 0, 2, 1, 0]);
    assert!(
        String::from_utf8_lossy(&out).contains("{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), }")
    );
}

#[test]
fn scratch_stays_under_the_limit() {
    let folder = folder("in.npy", &npy("'<u8'", "False", "(1000, 100)", &vec![7; 800_000]));
    let refused = sortie(folder.path(), "sort -S 100K --axis 0 in.npy -o out.npy");
    assert_eq!(
        said(&refused),
        "sortie: sorting needs 781.3 KiB of memory in addition to the array, but --buffer-size leaves 100 KiB; raise \
         it, or remove it\n"
    );
    assert_eq!(refused.status.code(), Some(2));
    succeed(folder.path(), "sort -S 1M --axis 0 in.npy -o out.npy");
    // The indices of two segments at a time need more than 64 KiB. Two threads suffice for the array.
    let refused =
        sortie(folder.path(), "segments -S 64K --parallel 4 --len 25000 --argsort in.npy -o out.npy");
    assert!(said(&refused).contains("--buffer-size leaves 64 KiB; raise it"), "{}", said(&refused));
    succeed(folder.path(), "segments -S 64K --parallel 4 --len 100 --argsort in.npy -o out.npy");
}

/// Every refusal: the files, the arguments, and the message.
#[test]
fn refusals_are_one_clear_line_and_lose_nothing() {
    let good = npy("'<i4'", "False", "(2, 3)", &[0; 24]);
    let files: &[(&str, Vec<u8>)] = &[
        ("seven", vec![0; 7]),
        ("four", bytes![3u32, 1u32, 2u32, 0u32]),
        ("good.npy", good.clone()),
        ("short.npy", good[..good.len() - 5].to_vec()),
        ("long.npy", [&good[..], b"xyz"].concat()),
        ("header.npy", good[..40].to_vec()),
        ("text.npy", b"hello, world".to_vec()),
        ("complex.npy", npy("'<c16'", "False", "(1,)", &[0; 16])),
        ("scalar.npy", npy("'<f8'", "False", "()", &[0; 8])),
        ("fields.npy", npy("[('mz', '<f8'), ('\x1b[2J', '<f4')]", "False", "(1,)", &[0; 12])),
        ("zip.npy", b"PK\x03\x04\x14\0".to_vec()),
        ("zstd.npy", b"\x28\xB5\x2F\xFD\x04\x58".to_vec()),
        ("fortran.npy", npy("'<f8'", "True", "(1, 1)", &[0; 8])),
        ("back", bytes![0u64, 3u64, 2u64]),
        ("past", bytes![0u64, 4u64, 5u64, 9u64]),
        ("negative.npy", npy("'<i8'", "False", "(2,)", &bytes![0i64, -2i64])),
        ("floats.npy", npy("'<f8'", "False", "(1,)", &bytes![0f64])),
    ];
    let folder = folder("out", b"what was there");
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let supported = "the supported types are b1, u1 to u8, i1 to i8, f2, f4, f8, M8 and m8";
    for (args, line) in [
        (
            "sort --type u32 seven",
            "seven: 7 bytes are not a multiple of 4, the size of u32; the file is cut short or has another type",
        ),
        ("sort --type u32 absent", "cannot read: absent: No such file or directory"),
        (
            "sort --type u32 four seven",
            "one array is sorted at a time, but 2 files were given; sort each separately",
        ),
        ("sort --type u32 --axis 0 four", "--axis is for .npy files; a raw array has no axes"),
        ("sort --type i32 good.npy", "good.npy: a .npy file states its own type; remove --type"),
        ("sort short.npy", "short.npy: the array is cut short: it has 19 of 24 bytes of data"),
        (
            "sort long.npy",
            "long.npy: the header promises 24 bytes of data, but the file has more; remove what follows the array",
        ),
        ("sort header.npy", "header.npy: the .npy header is cut short: it has 40 of 70 bytes"),
        (
            "sort text.npy",
            "text.npy: not a .npy file that NumPy could have written: it does not begin with \\x93NUMPY",
        ),
        ("sort complex.npy", &format!("complex.npy: dtype '<c16' (complex) cannot be sorted; {supported}")),
        ("sort --axis 2 good.npy", "axis 2 is out of bounds for an array of dimension 2; use -2 to 1"),
        ("sort --axis -3 good.npy", "axis -3 is out of bounds for an array of dimension 2; use -2 to 1"),
        ("sort scalar.npy", "a single element without dimensions has no axis to sort along"),
        (
            "segments --type u32 four",
            "the following required arguments were not provided: <--len <N>|--offsets <FILE>>; see --help",
        ),
        (
            "sort fields.npy",
            "fields.npy: the dtype [('mz', '<f8'), ('?[2J', '<f4')] is structured and cannot be sorted; save one of \
             its fields as a separate array: np.save('one.npy', a['FIELD'])",
        ),
        (
            "sort zstd.npy",
            "cannot read: zstd.npy: its zstd data is cut short after 6 bytes; get the complete file",
        ),
        (
            "sort zip.npy",
            "zip.npy is compressed with zip, which is not supported; decompress it first: unzip -p zip.npy | sortie ...",
        ),
        ("segments --len 2 four", "four: --type is missing; only a .npy file states its own type"),
        (
            "segments --len 3 --type u32 four",
            "the number of elements, 4, is not a multiple of --len 3; give a length that divides it, or --offsets",
        ),
        (
            "segments --len 1 fortran.npy",
            "fortran.npy: stored in Fortran order, where segments have no meaning; use sortie sort --axis, or store it in C order",
        ),
        ("segments --offsets back --type u32 four", "back: offsets decrease: 3 at 1, then 2"),
        (
            "segments --offsets past --type u32 four",
            "offset 2 is 5, past the end of the array, which has 4 elements",
        ),
        (
            "segments --offsets negative.npy --type u32 four",
            "negative.npy: offset 1 is -2, which is not a position in an array",
        ),
        (
            "segments --offsets floats.npy --type u32 four",
            "floats.npy: offsets must be whole numbers, but these are f64",
        ),
        (
            "segments --offsets seven --type u32 four",
            "seven: 7 bytes are not a multiple of 8, the size of u64; the file is cut short or has another type",
        ),
    ] {
        for argsort in ["", "--argsort"] {
            let output = sortie(folder.path(), &format!("{args} -o out {argsort}"));
            assert_eq!(said(&output), format!("sortie: {line}\n"), "sortie {args}");
            assert_eq!(output.status.code(), Some(2), "sortie {args}");
        }
    }
    for (name, bytes) in files {
        assert_eq!(&fs::read(folder.path().join(name)).unwrap(), bytes, "{name} was touched");
    }
    assert_eq!(fs::read(folder.path().join("out")).unwrap(), b"what was there");
    let mut names: Vec<PathBuf> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|path| path.file_name().is_none_or(|name| name != "out"));
    assert_eq!(names.len(), files.len(), "something was left behind: {names:?}");
}

#[test]
fn an_unwritable_output_is_said() {
    let folder = folder("in", &bytes![1u32]);
    let output = sortie(folder.path(), "sort --type u32 in -o absent/out");
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("absent"), "{}", said(&output));
    assert_eq!(said(&output).lines().count(), 1, "{}", said(&output));
    if Path::new("/dev/full").exists() {
        let output = sortie(folder.path(), "sort --type u32 in -o /dev/full");
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(said(&output), "sortie: cannot write: /dev/full: No space left on device\n");
    }
}

#[test]
fn stats_go_to_standard_error() {
    let folder = folder("in", &bytes![3u32, 1u32]);
    for args in ["sort --type u32 in --stats -o out", "segments --len 2 --type u32 in --stats=json -o out"] {
        let output = sortie(folder.path(), args);
        assert_eq!(output.status.code(), Some(0));
        assert!(output.stdout.is_empty());
        let json = args.contains("json");
        assert_eq!(said(&output).trim_start().starts_with('{'), json, "{}", said(&output));
        assert!(said(&output).contains("scratch"), "{}", said(&output));
    }
}

/// Kills the program after longer and longer times, until it finishes first. The output must be unchanged or complete.
#[test]
fn a_killed_process_leaves_no_part_of_an_array() {
    let unsorted: Vec<u8> = (0..1u32 << 21).flat_map(|i| i.wrapping_mul(0x9E37_79B9).to_le_bytes()).collect();
    let folder = folder("x.raw", &unsorted);
    succeed(folder.path(), "sort --type u32 x.raw -o y.raw");
    let sorted = fs::read(folder.path().join("y.raw")).unwrap();
    for (target, before) in [("new.raw", None), ("x.raw", Some(&unsorted))] {
        let mut wait = Duration::ZERO;
        loop {
            let args = ["sort", "--type", "u32", "x.raw", "-o", target];
            let mut child = Command::new(PROGRAM).current_dir(folder.path()).args(args).spawn().unwrap();
            thread::sleep(wait);
            child.kill().unwrap();
            let done = child.wait().unwrap().success();
            let found = fs::read(folder.path().join(target)).ok();
            assert!(
                found.as_ref() == Some(&sorted) || !done && found.as_ref() == before,
                "{target} after {wait:?}"
            );
            // The output may be complete although the program has not ended yet.
            if found.as_ref() == Some(&sorted) {
                break;
            }
            wait = wait * 5 / 4 + Duration::from_millis(1);
        }
        assert!(!wait.is_zero(), "{target}: never killed in time");
        // A new file never has a temporary name.
        let mut names: Vec<_> = folder.path().read_dir().unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert!(before.is_some() || names == ["new.raw", "x.raw", "y.raw"], "{names:?}");
    }
}

/// If the array were sorted as text, its lines would be torn apart.
#[test]
fn an_npy_file_is_an_array_whatever_its_name() {
    let unsorted = npy("'<u8'", "False", "(5,)", &bytes![3u64, 10u64, 1u64, 0x0A0A_0A0Au64, 2u64]);
    let folder = folder("x.npy", &unsorted);
    fs::write(folder.path().join("x.dat"), &unsorted).unwrap();
    let sorted = succeed(folder.path(), "sort x.npy");
    assert!(numbers(data(&sorted)).is_sorted() && sorted.len() > unsorted.len());
    let with_stdin = |args: &str, stdin: Stdio| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sortie"));
        command.args(args.split_whitespace()).current_dir(folder.path()).stdin(stdin).output().unwrap()
    };
    let file = || Stdio::from(fs::File::open(folder.path().join("x.dat")).unwrap());
    for args in [
        "sort",
        "sort -",
        "sort x.dat",
        "sort --axis 0",
        "segments --len 5 - -o -",
        "segments --len 5 x.dat -o -",
    ] {
        let output = with_stdin(args, file());
        assert_eq!((output.stdout == sorted, said(&output).as_str()), (true, ""), "{args}");
    }
    // Sends it through a pipe in two pieces, cut at any position.
    for cut in [1, 3, 5, 6, 20] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sortie"));
        command.arg("sort").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(&unsorted[..cut]).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        stdin.write_all(&unsorted[cut..]).unwrap();
        drop(stdin);
        assert!(child.wait_with_output().unwrap().stdout == sorted, "{cut}");
    }
    // The header is not part of a raw array, and the file is not text either.
    for (args, line) in [
        ("sort --type u64", "'standard input': a .npy file states its own type; remove --type"),
        ("sort --type u64 x.dat", "x.dat: a .npy file states its own type; remove --type"),
        (
            "sort -k1,1 x.dat",
            "--key is for lines, records of one length and tables; it cannot be used with an array",
        ),
    ] {
        let output = with_stdin(args, file());
        assert_eq!((output.status.code(), said(&output)), (Some(2), format!("sortie: {line}\n")), "{args}");
    }
}

#[test]
fn options_for_arrays_are_refused_for_text() {
    let folder = folder("x", b"b\na\n");
    for option in ["--axis=0", "--descending", "--argsort"] {
        let output = sortie(folder.path(), &format!("sort {option} x"));
        let name = option.split('=').next().unwrap();
        let line = format!("sortie: {name} is for arrays; give --type or a .npy file too\n");
        assert_eq!((output.status.code(), said(&output)), (Some(2), line));
    }
}

#[test]
fn text_that_begins_as_npy_does_is_text() {
    let folder = folder("x", b"\x93NUMP\na\n");
    for (args, stdin, sorted) in [
        ("sort x", &b""[..], &b"a\n\x93NUMP\n"[..]),
        ("sort", b"\x93NUMP\na\n", b"a\n\x93NUMP\n"),
        ("sort", b"\x93NU", b"\x93NU\n"),
        ("sort", b"", b""),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sortie"));
        command.args(args.split_whitespace()).current_dir(folder.path());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(stdin).unwrap();
        assert_eq!(child.wait_with_output().unwrap().stdout, sorted, "{args}");
    }
}
