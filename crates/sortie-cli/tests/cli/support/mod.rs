//! Runs `sortie sort` and GNU sort, and compares them.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use tempfile::TempDir;

/// Whether the program was built with `sortie index`.
pub const HAS_INDEX: bool = cfg!(feature = "index");

/// `sortie sort` in `folder`, in the C locale.
pub fn sortie(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sortie"));
    command.arg("sort").current_dir(folder).env("LC_ALL", "C");
    command
}

/// GNU's `sort` in `folder`, in the C locale.
pub fn gnu(folder: &Path) -> Command {
    let mut command = Command::new("sort");
    command.current_dir(folder).env("LC_ALL", "C");
    command
}

/// Copies the program to `path`, so that a test can execute it from there.
///
/// Another process copies it. A file that this process has open for writing is also open in every child that another test forks
/// at that moment, and executing it fails with "Text file busy" until those children have closed it.
pub fn copy_program(path: &Path) {
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_sortie")).arg(path).status().unwrap();
    assert!(copied.success());
}

/// Runs a command with this standard input.
pub fn run(command: &mut Command, stdin: &[u8]) -> Output {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    thread::scope(|threads| {
        // A command that does not read all of its input closes the pipe.
        threads.spawn(move || drop(input.write_all(stdin)));
        child.wait_with_output().unwrap()
    })
}

/// Asserts that both programs give the same output and status for the same options and input, in the C locale.
#[track_caller]
pub fn same<A: AsRef<OsStr>>(folder: &Path, options: &[A], stdin: &[u8]) {
    same_in(folder, options, stdin, |_| ());
}

/// The same, with what `set` adds to both commands.
#[track_caller]
pub fn same_in<A: AsRef<OsStr>>(folder: &Path, options: &[A], stdin: &[u8], set: impl Fn(&mut Command)) {
    let [mut ours, mut theirs] = [sortie(folder), gnu(folder)];
    [&mut ours, &mut theirs].into_iter().for_each(set);
    let ours = run(ours.args(options), stdin);
    let theirs = run(theirs.args(options), stdin);
    let shown: Vec<_> = options.iter().map(|o| o.as_ref().to_string_lossy()).collect();
    let shown = shown.join(" ");
    assert_eq!(ours.status.code(), theirs.status.code(), "sort {shown}: {}", text(&ours.stderr));
    if ours.stdout != theirs.stdout {
        let mut pairs = ours.stdout.split(|&b| b == b'\n').zip(theirs.stdout.split(|&b| b == b'\n'));
        let place = pairs.position(|(a, b)| a != b);
        panic!(
            "sort {shown}: {} and {} bytes of output, different from line {place:?} on",
            ours.stdout.len(),
            theirs.stdout.len()
        );
    }
}

/// The message of a failed command. Asserts its status and that the message is one line.
#[track_caller]
pub fn complaint(output: &Output, status: i32) -> String {
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{message}");
    assert!(message.starts_with("sortie: ") && message.lines().count() == 1, "{message}");
    message
}

/// Whether the program was ended by a lack of memory without a message of its own. That happens if std cannot allocate
/// the signal stack of a thread, or if std, a library or glibc cannot make a small allocation, such as for a table, a
/// bucket, or the end of a thread.
pub fn ends_in_std(said: &str) -> bool {
    let small = |line: &str| {
        let bytes = line.strip_prefix("memory allocation of ")?.strip_suffix(" bytes failed")?;
        bytes.parse::<usize>().ok().filter(|&bytes| bytes < 512 << 10)
    };
    let glibc = |line: &str| line.starts_with("Fatal glibc error: ") && line.ends_with(": out of memory");
    said.contains("failed to allocate an alternative stack")
        || said.lines().any(|line| glibc(line) || small(line).is_some())
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The smallest `ulimit -v`, in kilobytes, with which the program starts.
pub fn loaded() -> u64 {
    static LOADED: OnceLock<u64> = OnceLock::new();
    let loads = |kilobytes: &u64| within(*kilobytes, Path::new("."), "--version").status.success();
    *LOADED.get_or_init(|| (8_000..).step_by(1_000).find(loads).unwrap())
}

/// Runs the program with these arguments under `ulimit -v`.
pub fn within(kilobytes: u64, folder: &Path, arguments: &str) -> Output {
    let script = format!("ulimit -v {kilobytes}; exec {} {arguments}", env!("CARGO_BIN_EXE_sortie"));
    Command::new("sh").args(["-c", &script]).current_dir(folder).output().unwrap()
}

/// Asserts that with any `ulimit -v`, the program succeeds or reports in one line that memory is missing. Returns how
/// often it did each.
#[track_caller]
pub fn done_or_told_at_every_limit(folder: &Path, arguments: &str, step: u64) -> (usize, usize) {
    let words = ["memory", "more thread"];
    let (mut done, mut told) = (0, 0);
    let loaded = loaded();
    for kilobytes in (loaded..loaded + 100_000).step_by(step as usize) {
        let output = within(kilobytes, folder, arguments);
        if output.status.success() {
            assert_eq!(text(&output.stderr), "", "{arguments}: {kilobytes} KB");
            done += 1;
        } else {
            let said = complaint(&output, 2);
            assert!(words.iter().any(|word| said.contains(word)), "{arguments}: {kilobytes} KB: {said}");
            told += 1;
        }
    }
    (done, told)
}

/// The first bytes of files in formats that are recognised but not supported, with the name of each format.
pub const UNREAD: [(&str, &[u8]); 2] = [("compress", b"\x1F\x9D\x90\x61"), ("zip", b"PK\x03\x04\x14\0")];

/// A folder with one file.
pub fn folder(name: &str, bytes: &[u8]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), bytes).unwrap();
    folder
}

/// Compresses to gzip.
pub fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Decompresses gzip with one or more members.
pub fn decompress(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    MultiGzDecoder::new(bytes).read_to_end(&mut out).unwrap();
    out
}

/// The peak memory of a command in bytes, from `/proc` while the command waits for the end of its input. Pages of files
/// are not counted: they are the program itself, which is larger without optimisation.
pub fn peak(command: &mut Command, chunks: impl Iterator<Item = Vec<u8>>) -> io::Result<u64> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    let mut input = child.stdin.take().unwrap();
    while runs_this_program(child.id()) {
        thread::sleep(Duration::from_millis(1));
    }
    chunks.into_iter().try_for_each(|chunk| input.write_all(&chunk))?;
    let status = format!("/proc/{}/status", child.id());
    let read = |text: &str, name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.map_or(0, |rest| rest.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10)
    };
    let mut input = Some(input);
    let mut peak = 0;
    while child.try_wait()?.is_none() {
        let text = fs::read_to_string(&status)?;
        let (all, of_files) = (read(&text, "VmHWM:"), read(&text, "RssFile:"));
        peak = peak.max(all.saturating_sub(of_files));
        drop(input.take());
        thread::sleep(Duration::from_millis(2));
    }
    assert!(child.wait()?.success());
    Ok(peak)
}

/// Whether the process still has the memory of the tests, as for a moment after it was started.
fn runs_this_program(process: u32) -> bool {
    let program = |process: String| fs::read_link(format!("/proc/{process}/exe"));
    program(process.to_string()).is_ok_and(|path| path == program("self".into()).unwrap())
}

/// The names in a folder, in order.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().unwrap();
    let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A generator of numbers that are the same in every run.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Numbers(seed)
    }

    /// A number below `limit`. (SplitMix64.)
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }

    /// This number of lines with a few fields: words, numbers, months, sizes, blanks, and random bytes.
    pub fn lines(&mut self, count: usize) -> Vec<u8> {
        let mut out = Vec::new();
        for _ in 0..count {
            for field in 0..self.below(5) {
                if field > 0 {
                    out.extend_from_slice([" ", "\t", ",", "  ", ":"][self.below(5)].as_bytes());
                }
                self.field(&mut out);
            }
            out.push(b'\n');
        }
        out
    }

    fn field(&mut self, out: &mut Vec<u8>) {
        match self.below(8) {
            0 => out.extend((0..self.below(6)).map(|_| b'a' + self.below(3) as u8)),
            1 => write!(out, "{}", self.below(200) as i64 - 100).unwrap(),
            2 => write!(out, "-{}.{}", self.below(9), self.below(100)).unwrap(),
            3 => {
                out.extend_from_slice(["jan", "FEB", "Mar", "dec", "juni", " may"][self.below(6)].as_bytes())
            }
            4 => write!(out, "{}{}", self.below(2000), ["K", "M", "k", "", "G"][self.below(5)]).unwrap(),
            5 => write!(out, "v{}.{}-rc~{}", self.below(3), self.below(12), self.below(3)).unwrap(),
            6 => write!(out, "{}e{}", self.below(50), self.below(4)).unwrap(),
            _ => out.extend((0..self.below(4)).map(|_| [0x00, 0x7F, 0xC3, b'A', b'!', b'_'][self.below(6)])),
        }
    }
}

/// The folder with real data, if it exists.
pub fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("SORTIE_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    folder.is_dir().then_some(folder)
}
