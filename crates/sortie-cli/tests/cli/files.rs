//! What `sortie sort` reads and writes, what remains after it ends, and its messages on failure.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use crate::support::{Numbers, complaint, copy_program, gnu, names, peak, run, sortie, text};

const TEXT: &str = "c\nb\na\n";
const SORTED: &str = "a\nb\nc\n";

/// A folder with a file `file` that contains [`TEXT`].
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), TEXT).unwrap();
    folder
}

#[test]
fn output_may_be_an_input() {
    for options in
        [&["file", "-o", "file"][..], &["-m", "file", "-o", "file"], &["-S", "1b", "-ofile", "file"]]
    {
        let folder = folder();
        let file = folder.path().join("file");
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        if options[0] == "-m" {
            fs::write(&file, SORTED).unwrap();
        }
        let done = run(sortie(folder.path()).args(options), b"");
        assert_eq!((done.status.code(), text(&done.stderr)), (Some(0), String::new()));
        assert_eq!(fs::read_to_string(&file).unwrap(), SORTED);
        assert_eq!(file.metadata().unwrap().mode() & 0o7777, 0o640);
        assert_eq!(names(folder.path()), ["file"]);
    }
}

/// As in GNU sort, the output is written, and the status says that not all messages were.
#[test]
fn a_warning_that_cannot_be_printed_gives_the_status_of_gnu() {
    let folder = folder();
    fs::write(folder.path().join("x.fq"), "@a\nA\n+\nI\n").unwrap();
    for options in ["--debug file", "--debug -c file", "--debug -n file", "--debug absent", "-c file", "file"]
    {
        for to in ["/dev/full", "&-"] {
            let status = |program: &str| {
                let script = format!("exec {program} {options} 2>{to}");
                let output = Command::new("sh")
                    .args(["-c", &script])
                    .current_dir(folder.path())
                    .env("LC_ALL", "C")
                    .output();
                let output = output.unwrap();
                (output.status.code(), text(&output.stdout))
            };
            assert_eq!(
                status(&format!("{} sort", env!("CARGO_BIN_EXE_sortie"))),
                status("sort"),
                "{options} 2>{to}"
            );
        }
    }
    let script = format!("exec {} sort x.fq 2>/dev/full", env!("CARGO_BIN_EXE_sortie"));
    let noted = Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
    assert_eq!((noted.status.code(), text(&noted.stdout)), (Some(0), "+\n@a\nA\nI\n".into()));
}

#[test]
fn wrong_words_are_answered_with_the_right_ones() {
    let folder = folder();
    for (arguments, said) in [
        ("srot file", "unrecognized subcommand 'srot' (did you mean 'sort'?); see --help"),
        ("sort --uniqe file", "unexpected argument '--uniqe' found (did you mean '--unique'?); see --help"),
        (
            "sort --bufer-size=1M",
            "unexpected argument '--bufer-size' found (did you mean '--buffer-size'?); see --help",
        ),
        (
            "segments --offset-s=x y",
            "unexpected argument '--offset-s' found (did you mean '--offsets'?); see --help",
        ),
        (
            "spectra --descnding",
            "unexpected argument '--descnding' found (did you mean '--descending'?); see --help",
        ),
        ("index biuld", "unrecognized subcommand 'biuld' (did you mean 'build'?); see --help"),
        (
            "index build --strct x -o y",
            "unexpected argument '--strct' found (did you mean '--strict'?); see --help",
        ),
        ("sort --qqqq file", "unexpected argument '--qqqq' found; see --help"),
        ("qqqq", "unrecognized subcommand 'qqqq'; see --help"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sortie"));
        let output = run(command.args(arguments.split_whitespace()).current_dir(folder.path()), b"");
        assert_eq!(complaint(&output, 2), format!("sortie: {said}\n"));
    }
}

#[test]
fn a_dash_as_output_is_a_file_as_it_is_to_gnu() {
    for program in [sortie, gnu].map(|program| program as fn(&Path) -> Command) {
        let folder = folder();
        let done = run(program(folder.path()).args(["file", "-o", "-"]), b"");
        assert_eq!((done.status.code(), text(&done.stdout)), (Some(0), String::new()));
        assert_eq!(fs::read_to_string(folder.path().join("-")).unwrap(), SORTED);
    }
}

#[test]
fn a_linked_output_is_written_where_the_link_ends() {
    let folder = folder();
    let (deep, link) = (folder.path().join("deep"), folder.path().join("link"));
    fs::create_dir(&deep).unwrap();
    fs::write(deep.join("real"), "old").unwrap();
    fs::set_permissions(deep.join("real"), Permissions::from_mode(0o604)).unwrap();
    symlink("deep/step", &link).unwrap();
    symlink("real", deep.join("step")).unwrap();
    symlink("deep/new", folder.path().join("dangling")).unwrap();
    for name in ["link", "dangling"] {
        assert!(run(sortie(folder.path()).args(["file", "-o", name]), b"").status.success());
    }
    assert!(link.is_symlink() && deep.join("step").is_symlink());
    assert_eq!(fs::read_to_string(deep.join("real")).unwrap(), SORTED);
    assert_eq!(deep.join("real").metadata().unwrap().mode() & 0o7777, 0o604);
    assert_eq!(fs::read_to_string(deep.join("new")).unwrap(), SORTED);
    assert_eq!(names(&deep), ["new", "real", "step"]);
}

#[test]
fn an_output_that_cannot_be_replaced_is_copied_by_way_of_a_temporary_folder() {
    let folder = folder();
    let locked = folder.path().join("locked");
    fs::create_dir(&locked).unwrap();
    let target = locked.join("target");
    // The superuser may replace any file, so another user runs the program.
    let mode = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    let program = folder.path().join("program");
    copy_program(&program);
    mode(&program, 0o755);
    mode(folder.path(), 0o755);
    let somebody = |options: &[&str]| {
        let mut command = Command::new(&program);
        command.arg("sort").args(options).current_dir(folder.path()).env("TMPDIR", "absent");
        if folder.path().metadata().unwrap().uid() == 0 {
            command.uid(65534);
        }
        run(&mut command, b"")
    };
    for kind in [&[][..], &["--type", "u8"]] {
        mode(&locked, 0o755);
        fs::write(&target, "old, and longer").unwrap();
        mode(&target, 0o666);
        mode(&locked, 0o555);
        let options = [kind, &["file", "-o", "locked/target"]].concat();
        for (more, about) in [(&[][..], "absent"), (&["-T", "none"], "none")] {
            let said = complaint(&somebody(&[&options[..], more].concat()), 2);
            let line = format!("cannot create a temporary file in: {about}: No such file or directory");
            assert_eq!(said, format!("sortie: {line}\n"));
        }
        assert_eq!(fs::read_to_string(&target).unwrap(), "old, and longer");
        let done = somebody(&[&options[..], &["-T", "/tmp"]].concat());
        assert_eq!((done.status.code(), text(&done.stderr)), (Some(0), String::new()));
        let sorted = if kind.is_empty() { SORTED } else { "\n\n\nabc" };
        assert_eq!(fs::read_to_string(&target).unwrap(), sorted);
    }
    mode(&locked, 0o755);
}

#[test]
fn a_new_output_has_the_usual_mode() {
    let folder = folder();
    fs::write(folder.path().join("usual"), "").unwrap();
    assert!(run(sortie(folder.path()).args(["file", "-o", "new"]), b"").status.success());
    let mode = |name: &str| folder.path().join(name).metadata().unwrap().mode();
    assert_eq!(mode("new"), mode("usual"));
}

#[test]
fn pipes_and_devices_are_written_directly() {
    let folder = folder();
    let piped = run(sortie(folder.path()).args(["file", "-o", "/dev/stdout"]), b"");
    assert_eq!(text(&piped.stdout), SORTED);
    assert!(run(sortie(folder.path()).args(["file", "-o", "/dev/null"]), b"").status.success());
    assert!(!Path::new("/dev/null").metadata().unwrap().is_file());

    assert!(Command::new("mkfifo").arg(folder.path().join("fifo")).status().unwrap().success());
    let fifo = folder.path().join("fifo");
    let reader = thread::spawn(move || fs::read_to_string(fifo).unwrap());
    assert!(run(sortie(folder.path()).args(["file", "-o", "fifo"]), b"").status.success());
    assert_eq!(reader.join().unwrap(), SORTED);
}

#[test]
fn a_file_in_shared_memory_is_a_file_too() {
    let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
        eprintln!("skipped: there is no /dev/shm to write to");
        return;
    };
    let file = folder.path().join("file");
    fs::write(&file, TEXT).unwrap();
    assert!(run(sortie(folder.path()).arg(&file).arg("-o").arg(&file), b"").status.success());
    assert_eq!(fs::read_to_string(&file).unwrap(), SORTED);
}

#[test]
fn what_cannot_be_read_or_written_is_said_in_a_line() {
    let folder = folder();
    let broken = folder.path().join("broken");
    fs::write(&broken, "#!/bin/sh\n[ \"$1\" = -d ] && exit 3\ncat\n").unwrap();
    fs::set_permissions(&broken, Permissions::from_mode(0o755)).unwrap();
    let long = Numbers::new(5).lines(20_000);
    let cases = [
        (&["none"][..], "cannot read: none: No such file or directory"),
        (&["file", "none", "-o", "out"], "cannot read: none: No such file or directory"),
        (&["."], "cannot read: .: Is a directory"),
        (&["-c", "none"], "cannot read: none: No such file or directory"),
        (&["file", "-o", "none/out"], "cannot write: none/out: No such file or directory"),
        (&["file", "-o", "."], "cannot write: .: Is a directory"),
        (&["file", "-o", "/dev/full"], "cannot write: /dev/full: No space left on device"),
        (&["-S64K", "-T", "none"], "cannot create a temporary file in: none: No such file or directory"),
        (
            &["-S64K", "--compress-program=none"],
            "cannot start the compress program: none: No such file or directory",
        ),
        (&["-S64K", "--compress-program=false"], "cannot run the compress program: false: "),
        (
            &["-S64K", "--compress-program=./broken"],
            "cannot decompress a temporary file with: ./broken: it ended with exit status: 3",
        ),
        (&["--files0-from=none"], "cannot read: none: No such file or directory"),
    ];
    for (options, message) in cases {
        let done = run(sortie(folder.path()).args(options), &long);
        let said = complaint(&done, 2);
        assert!(said.starts_with(&format!("sortie: {message}")), "{options:?}: {said}");
        assert_eq!(names(folder.path()), ["broken", "file"], "{options:?}");
        assert_eq!(fs::read_to_string(folder.path().join("file")).unwrap(), TEXT);
    }
}

#[test]
fn disorder_is_said_as_gnu_does() {
    let folder = folder();
    let done = run(sortie(folder.path()).args(["-c", "file"]), b"");
    assert_eq!(complaint(&done, 1), "sortie: file:2: disorder: b\n");
    let done = run(sortie(folder.path()).arg("-c"), b"a\nb\nb\na");
    assert_eq!(complaint(&done, 1), "sortie: -:4: disorder: a\n");
    let done = run(sortie(folder.path()).arg("-zc"), b"a\0c\0b");
    assert_eq!((done.status.code(), text(&done.stderr)), (Some(1), "sortie: -:3: disorder: b\0".into()));
    let done = run(sortie(folder.path()).arg("-C"), b"b\na\n");
    assert_eq!((done.status.code(), text(&done.stderr)), (Some(1), String::new()));
}

#[test]
fn a_full_disk_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().join("disk");
    fs::create_dir(&disk).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=256k", "none"]).arg(&disk).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: mounting a small tmpfs is not permitted");
        return;
    }
    fs::write(disk.join("file"), TEXT).unwrap();
    let long = Numbers::new(6).lines(50_000);
    let output = run(sortie(&disk).args(["-o", "file"]), &long);
    let runs = run(sortie(&disk).args(["-S", "64K", "-T", "."]), &long);
    let kept = (names(&disk), fs::read_to_string(disk.join("file")).unwrap());
    assert!(Command::new("umount").arg(&disk).status().unwrap().success());
    assert_eq!(complaint(&output, 2), "sortie: cannot write: file: No space left on device\n");
    assert_eq!(complaint(&runs, 2), "sortie: cannot write a temporary file in: .: No space left on device\n");
    assert_eq!(kept, (vec!["file".to_owned()], TEXT.to_owned()));
}

#[test]
fn a_killed_process_leaves_nothing() {
    let folder = folder();
    fs::create_dir(folder.path().join("runs")).unwrap();
    let long = Numbers::new(7).lines(50_000);
    let mut command = sortie(folder.path());
    command.args(["-S", "64K", "-T", "runs", "-o", "file"]).stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It writes runs, then waits for more input, which never comes.
    child.stdin.as_mut().unwrap().write_all(&long).unwrap();
    let open_runs = || {
        let open = fs::read_dir(format!("/proc/{}/fd", child.id())).unwrap();
        open.filter_map(|e| fs::read_link(e.unwrap().path()).ok())
            .any(|p| p.to_string_lossy().contains("/runs/"))
    };
    while !open_runs() {
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(names(folder.path()), ["file", "runs"]);
    assert!(names(&folder.path().join("runs")).is_empty());
    assert_eq!(fs::read_to_string(folder.path().join("file")).unwrap(), TEXT);
}

/// The paths through which the files that a process has open in a folder can be accessed.
fn open_in(process: &Child, folder: &Path) -> Vec<PathBuf> {
    let open = fs::read_dir(format!("/proc/{}/fd", process.id())).unwrap().map(|entry| entry.unwrap().path());
    open.filter(|path| fs::read_link(path).is_ok_and(|file| file.starts_with(folder))).collect()
}

#[test]
fn a_run_that_the_disk_did_not_keep_is_told() {
    let folder = folder();
    let runs = folder.path().canonicalize().unwrap().join("runs");
    fs::create_dir(&runs).unwrap();
    let long = Numbers::new(11).lines(50_000);
    for said in [
        "the data read is not the data that was written",
        "it is cut short",
        "it is longer than what was written",
    ] {
        let mut command = sortie(folder.path());
        command.args(["-S", "64K", "-T", "runs", "-o", "file"]).stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.as_mut().unwrap().write_all(&long).unwrap();
        // All runs are written once the process waits for more input.
        let mut count = 0;
        while count == 0 || open_in(&child, &runs).len() > count {
            count = open_in(&child, &runs).len();
            thread::sleep(Duration::from_millis(200));
        }
        let run = File::options().read(true).write(true).open(&open_in(&child, &runs)[0]).unwrap();
        let length = run.metadata().unwrap().len();
        match said {
            "it is cut short" => run.set_len(length - 1).unwrap(),
            "it is longer than what was written" => run.write_all_at(b"more", length).unwrap(),
            _ => {
                let mut byte = [0];
                run.read_exact_at(&mut byte, 5000).unwrap();
                run.write_all_at(&[byte[0] ^ 1], 5000).unwrap();
            }
        }
        drop(child.stdin.take());
        let line = format!(
            "cannot read a temporary file in: runs: {said}; check the disk, or choose another folder with -T"
        );
        assert_eq!(complaint(&child.wait_with_output().unwrap(), 2), format!("sortie: {line}\n"));
        assert_eq!(fs::read_to_string(folder.path().join("file")).unwrap(), TEXT);
    }
}

#[test]
fn a_compress_program_that_loses_text_is_told() {
    let folder = folder();
    let long = Numbers::new(12).lines(20_000);
    for (way_back, said) in [
        ("tr 1 2", "the data read is not the data that was written"),
        ("head -c 9999", "it is cut short"),
        ("cat; echo more", "it is longer than what was written"),
    ] {
        let program = folder.path().join("lossy");
        let script = format!("#!/bin/sh\nif [ \"$1\" = -d ]; then {way_back}; else cat; fi\n");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        let done =
            run(sortie(folder.path()).args(["-S64K", "--compress-program=./lossy", "-o", "file"]), &long);
        let line = format!(
            "cannot decompress a temporary file with: ./lossy: {said}; check the disk, or choose another folder with -T"
        );
        assert_eq!(complaint(&done, 2), format!("sortie: {line}\n"));
        assert_eq!(fs::read_to_string(folder.path().join("file")).unwrap(), TEXT);
    }
}

/// Runs a program whose reader closes the pipe early.
fn write_into_a_closed_pipe(command: &mut Command) -> Output {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn a_closed_pipe_ends_the_program_by_its_signal_or_by_an_error() {
    let folder = folder();
    let long = Numbers::new(8).lines(100_000);
    fs::write(folder.path().join("long"), &long).unwrap();
    for options in [&["long"][..], &["-S", "64K", "long"], &["-m", "long"], &["-o", "/dev/stdout", "long"]] {
        let done = write_into_a_closed_pipe(sortie(folder.path()).args(options));
        assert_eq!(
            (done.status.signal(), text(&done.stderr)),
            (Some(libc::SIGPIPE), String::new()),
            "{options:?}"
        );
        // If the signal was ignored when the program started, the program reports the error.
        let script =
            format!("trap '' PIPE; exec {} sort {}", env!("CARGO_BIN_EXE_sortie"), options.join(" "));
        let done =
            write_into_a_closed_pipe(Command::new("sh").args(["-c", &script]).current_dir(folder.path()));
        let line = complaint(&done, 2);
        assert!(line.starts_with("sortie: cannot write: ") && line.ends_with(": Broken pipe\n"), "{line}");
    }
}

#[test]
fn runs_go_to_all_folders_and_by_default_to_tmpdir() {
    let folder = folder();
    let long = Numbers::new(9).lines(20_000);
    let done = run(sortie(folder.path()).args(["-S64K"]).env("TMPDIR", "none"), &long);
    assert!(complaint(&done, 2).contains("cannot create a temporary file in: none"));
    let done = run(sortie(folder.path()).args(["-S64K", "-T", "."]).env("TMPDIR", "none"), &long);
    assert!(done.status.success());
    let done = run(sortie(folder.path()).args(["-S64K", "-T", ".", "-T", "none"]), &long);
    assert!(complaint(&done, 2).contains("cannot create a temporary file in: none"));
}

#[test]
fn statistics_go_to_standard_error() {
    let folder = folder();
    let done = run(sortie(folder.path()).args(["--stats", "file"]), b"");
    assert_eq!(text(&done.stdout), SORTED);
    assert!(text(&done.stderr).starts_with("phase ") && text(&done.stderr).contains("\nwrite "));
    let done = run(sortie(folder.path()).args(["--stats=json", "-n", "file"]), b"");
    let report: serde_json::Value = serde_json::from_slice(&done.stderr).unwrap();
    let phases = report["phases"].as_array().unwrap();
    let bytes = |name: &str| phases.iter().find(|phase| phase["name"] == name).unwrap()["bytes_read"].clone();
    assert_eq!((bytes("read"), bytes("encode"), bytes("write")), (6.into(), 6.into(), 6.into()));
}

#[test]
fn the_total_of_the_statistics_is_no_more_than_the_time_that_passed() {
    let folder = tempfile::tempdir().unwrap();
    let lines = Numbers::new(13).lines(100_000);
    fs::write(folder.path().join("x"), &lines[..lines.len() / 16 * 16]).unwrap();
    for options in ["--record-size 16 -S 256K", "--type u64 -S 256K", "-S 256K"] {
        let start = Instant::now();
        let options = format!("{options} --parallel 2 x -o out --stats=json");
        let done = run(sortie(folder.path()).args(options.split(' ')), b"");
        let passed = start.elapsed().as_secs_f64() * 1e3;
        let report: serde_json::Value = serde_json::from_slice(&done.stderr).unwrap();
        let phases = report["phases"].as_array().unwrap();
        let time = |of: &serde_json::Value| of["milliseconds"].as_f64().unwrap();
        assert!(time(&report) <= passed, "{options}: {} of {passed} ms: {report}", time(&report));
        // Reading, sorting and writing during the merge of runs are reported only once.
        let merges = phases.iter().filter(|phase| phase["name"] == "merge").count();
        let windows = phases.iter().filter(|phase| phase["name"] == "read runs").count();
        assert!(merges == 0 || windows == 0, "{options}: {report}");
    }
}

#[test]
fn more_memory_than_any_machine_has_is_all_of_it() {
    let folder = folder();
    for size in ["8E", "15E", "16383P", "18446744073709551615b", "18446744073709551615%"] {
        for kind in ["", "-n", "-m", "--type u8", "--record-size 2"] {
            for file in ["file", "-"] {
                let options = format!("{kind} -S {size} --parallel 2 {file}");
                let done = run(sortie(folder.path()).args(options.split_whitespace()), TEXT.as_bytes());
                assert_eq!((done.status.code(), text(&done.stderr)), (Some(0), String::new()), "{options}");
                assert_eq!(done.stdout.len(), TEXT.len(), "{options}");
            }
        }
    }
}

#[test]
fn memory_stays_under_its_limit() {
    let mut numbers = Numbers::new(10);
    let padding = [b'p'; 200];
    let lines = numbers
        .lines(5_000)
        .split_inclusive(|&b| b == b'\n')
        .flat_map(|line| [&padding, line].concat())
        .collect();
    let empty = vec![b'\n'; 1 << 20];
    let long = [vec![b'y'; 8 << 20], b"\n".to_vec()].concat();
    let cases = [
        ("lines", &lines, 100, ""),
        ("keyed lines", &lines, 100, "-k2,2n"),
        ("merged lines", &lines, 100, "-m"),
        ("empty lines", &empty, 4, ""),
        ("long lines", &long, 4, ""),
    ];
    for (what, chunk, times, options) in cases {
        let mut command = sortie(&env::temp_dir());
        command.args(["-S", "16M", "--parallel=2"]).args(options.split_whitespace());
        let peak = peak(&mut command, (0..times).map(|_| chunk.clone())).unwrap();
        assert!(peak < (16 + 64) << 20, "{} MB for {what}", peak >> 20);
    }
}

#[test]
fn names_are_quoted_as_gnu_quotes_them() {
    let folder = folder();
    let bytes = (1..=255u8).filter(|&byte| byte != b'/');
    let mut odd: Vec<Vec<u8>> =
        bytes.flat_map(|byte| [vec![byte, b'z'], vec![b'z', byte, b'z'], vec![b'z', byte]]).collect();
    let more = ["", "{", "}", "a b", "a'b c", "a'\"", "a'\nb", "\n\n", "\u{7}\u{8}\t\u{B}\u{C}\r\u{1B}", "ü"];
    odd.extend(more.map(|name| name.as_bytes().to_vec()));
    for name in odd {
        let name = OsStr::from_bytes(&name);
        let after = |done: Output, what: &str| {
            let said = text(&done.stderr);
            let quoted = said.split_once(what).unwrap_or_else(|| panic!("{name:?}: {said}")).1;
            assert_eq!(done.status.code(), Some(2), "{name:?}");
            quoted.to_owned()
        };
        let ours = run(sortie(folder.path()).arg("--").arg(name), b"");
        let theirs = run(gnu(folder.path()).arg("--").arg(name), b"");
        complaint(&ours, 2);
        assert_eq!(after(ours, "cannot read: "), after(theirs, "cannot read: "), "{name:?}");
    }
    // A name with an apostrophe and an escape at the end. GNU sort 9.1 quotes it in a way that no shell reads back.
    let done = run(sortie(folder.path()).args(["file", "-o", "none/a'\n"]), b"");
    let line = r"sortie: cannot write: 'none/a'\'''$'\n': No such file or directory";
    assert_eq!(complaint(&done, 2).trim_end(), line);
    let done = run(sortie(folder.path()).args(["file", "-o", ""]), b"");
    assert_eq!(complaint(&done, 2), "sortie: cannot write: '': No such file or directory\n");
    for options in [&["-k", "1\n\u{1B}"][..], &["--none\n\u{1B}"], &["-c", "file", "a\nb"]] {
        let said = complaint(&run(sortie(folder.path()).args(options), b""), 2);
        assert!(!said.trim_end().contains(char::is_control), "{said:?}");
    }
}

#[test]
fn closed_streams_are_an_error_where_they_are_needed() {
    let folder = folder();
    let shell = |script: &str| {
        let script = script.replace("sortie", env!("CARGO_BIN_EXE_sortie"));
        run(Command::new("sh").current_dir(folder.path()).args(["-c", &script]), b"")
    };
    for (script, about) in [
        ("sortie sort file >&-", "write: 'standard output'"),
        ("sortie sort -S 64K file >&-", "write: 'standard output'"),
        ("sortie sort --type u8 file >&-", "write: 'standard output'"),
        ("sortie sort --help >&-", "write: 'standard output'"),
        ("sortie --version >&-", "write: 'standard output'"),
        ("sortie completions bash >&-", "write: 'standard output'"),
        ("sortie man >&-", "write: 'standard output'"),
        ("sortie sort <&-", "read: -"),
        ("sortie sort -m file - <&-", "read: -"),
        ("sortie sort -c <&-", "read: -"),
        ("sortie sort --type u8 <&-", "read: 'standard input'"),
        ("sortie sort --files0-from=- <&-", "read: -"),
        ("sortie sort <&- >&-", "read: -"),
    ] {
        let said = complaint(&shell(script), 2);
        assert_eq!(said, format!("sortie: cannot {about}: Bad file descriptor\n"), "{script}");
    }
    for script in ["sortie sort file -o /dev/stdout >&-", "sortie sort /dev/stdin <&-"] {
        complaint(&shell(script), 2);
    }
    assert_eq!(text(&shell("sortie sort file <&-").stdout), SORTED);
    assert_eq!(text(&shell("sortie sort file 2>&-").stdout), SORTED);
    assert!(shell("sortie sort file -o new <&- >&- 2>&-").status.success());
    // A message must not be written to the file that the program opens next.
    assert_eq!(shell("sortie sort missing -o new 2>&-").status.code(), Some(2));
    assert_eq!(fs::read_to_string(folder.path().join("new")).unwrap(), SORTED);
}

#[test]
fn few_lines_start_few_threads() {
    let folder = folder();
    fs::write(
        folder.path().join("limited"),
        format!("ulimit -v 400000\nexec {} sort --parallel=1024 \"$@\"", env!("CARGO_BIN_EXE_sortie")),
    )
    .unwrap();
    // The stacks of a thousand threads would exceed the limit.
    for options in [&["file"][..], &["-"], &["-S", "1M", "file"], &["--type", "u8", "file"]] {
        let mut command = Command::new("sh");
        let done = run(command.arg("limited").args(options).current_dir(folder.path()), TEXT.as_bytes());
        assert_eq!((done.status.code(), text(&done.stderr)), (Some(0), String::new()), "{options:?}");
    }
}
