//! Suite `files-small`: whole programs on inputs so small that starting the program takes a considerable part of the
//! time, and operations that read their input only once. The baseline is GNU sort.

use std::cell::OnceCell;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::thread;

use rand::RngExt as _;
use rand::seq::SliceRandom as _;
use tempfile::TempDir;
use wait4::Wait4;

use crate::Result;
use crate::args::Args;
use crate::distributions::Rng;
use crate::measure::{Case, Clock, Contender, Facts, Measurable};
use crate::report;
use crate::suite_files::Programs;

/// Repetitions, unless the command line gives them. There are many, because the times are short and other processes
/// disturb them.
const REPS: usize = 41;
/// The threads of both programs.
const THREADS: usize = 2;

/// One way to use the programs.
#[derive(Clone, Copy)]
struct Use {
    work: &'static str,
    options: &'static [&'static str],
    text: Text,
    /// The approximate number of bytes of the input.
    bytes: usize,
    /// The number of files into which the input is divided.
    files: usize,
    order: Given,
    through: Through,
}

/// The content of lines.
#[derive(Clone, Copy)]
enum Text {
    Words,
    /// One to three letters.
    Short,
    /// A thousand letters.
    Long,
    /// A number and a word.
    Numbered,
    /// A word, a number and a word.
    Fields,
    /// Prefixes of one line, each with a different length.
    Nested,
    OneLine,
    Equal,
    Sizes,
    Months,
    Versions,
}

/// The order of the lines in the input.
#[derive(Clone, Copy, PartialEq)]
enum Given {
    Mixed,
    /// In the order of GNU sort with the options of the case.
    Sorted,
    Reversed,
}

/// Where input comes from and where output goes.
#[derive(Clone, Copy, PartialEq)]
enum Through {
    /// Named files, and `-o`.
    Files,
    /// Input from named files, output to a file through standard output.
    Stdout,
    /// Standard input and output, both pipes.
    Pipes,
}

use self::Given::{Mixed, Reversed, Sorted};
use self::Text::{Equal, Fields, Long, Months, Nested, Numbered, OneLine, Short, Sizes, Versions, Words};
use self::Through::{Files, Pipes, Stdout};

const KB: usize = 1 << 10;
const MB: usize = 1 << 20;

const fn of(
    work: &'static str,
    options: &'static [&'static str],
    text: Text,
    bytes: usize,
    order: Given,
    through: Through,
) -> Use {
    Use { work, options, text, bytes, files: 1, order, through }
}

const fn merge(work: &'static str, options: &'static [&'static str], bytes: usize, files: usize) -> Use {
    Use { work, options, text: Words, bytes, files, order: Sorted, through: Stdout }
}

const USES: &[Use] = &[
    of("empty file", &[], Words, 0, Mixed, Stdout),
    of("three lines", &[], Words, 40, Mixed, Stdout),
    of("three lines, pipes", &[], Words, 40, Mixed, Pipes),
    of("1 KB", &[], Words, KB, Mixed, Stdout),
    of("1 KB, -o", &[], Words, KB, Mixed, Files),
    of("1 KB, pipes", &[], Words, KB, Mixed, Pipes),
    of("1 KB, -c", &["-c"], Words, KB, Sorted, Stdout),
    of("16 KB", &[], Words, 16 * KB, Mixed, Stdout),
    of("16 KB, pipes", &[], Words, 16 * KB, Mixed, Pipes),
    of("64 KB", &[], Words, 64 * KB, Mixed, Stdout),
    of("64 KB, pipes", &[], Words, 64 * KB, Mixed, Pipes),
    of("64 KB, -k2n", &["-k2,2n"], Fields, 64 * KB, Mixed, Stdout),
    of("256 KB", &[], Words, 256 * KB, Mixed, Stdout),
    of("256 KB, -o", &[], Words, 256 * KB, Mixed, Files),
    of("256 KB, pipes", &[], Words, 256 * KB, Mixed, Pipes),
    of("1 MB", &[], Words, MB, Mixed, Stdout),
    of("1 MB, pipes", &[], Words, MB, Mixed, Pipes),
    of("1 MB, --parallel=1", &["--parallel=1"], Words, MB, Mixed, Stdout),
    of("1 MB, -z", &["-z"], Words, MB, Mixed, Stdout),
    of("1 MB, sorted", &[], Words, MB, Sorted, Stdout),
    of("1 MB, reversed", &[], Words, MB, Reversed, Stdout),
    of("1 MB, -r", &["-r"], Words, MB, Mixed, Stdout),
    of("1 MB, -u", &["-u"], Short, MB, Mixed, Stdout),
    of("1 MB, -n", &["-n"], Numbered, MB, Mixed, Stdout),
    of("1 MB, -g", &["-g"], Numbered, MB, Mixed, Stdout),
    of("1 MB, -k2", &["-k2"], Fields, MB, Mixed, Stdout),
    of("1 MB, -k2n -k1r", &["-k2,2n", "-k1,1r"], Fields, MB, Mixed, Stdout),
    of("1 MB, -f", &["-f"], Words, MB, Mixed, Stdout),
    of("1 MB, -h", &["-h"], Sizes, MB, Mixed, Stdout),
    of("1 MB, -M", &["-M"], Months, MB, Mixed, Stdout),
    of("1 MB, -V", &["-V"], Versions, MB, Mixed, Stdout),
    of("1 MB, short lines", &[], Short, MB, Mixed, Stdout),
    of("1 MB, long lines", &[], Long, MB, Mixed, Stdout),
    of("1 MB, equal lines", &[], Equal, MB, Mixed, Stdout),
    of("3 MB, one line", &[], OneLine, 3 * MB, Mixed, Stdout),
    of("18 MB, nested prefixes", &[], Nested, 18 * MB, Mixed, Stdout),
    of("40 MB, -c", &["-c"], Words, 40 * MB, Sorted, Stdout),
    of("40 MB, -C", &["-C"], Words, 40 * MB, Sorted, Stdout),
    of("20 MB, -c -r", &["-c", "-r"], Words, 20 * MB, Sorted, Stdout),
    of("20 MB, -c, short lines", &["-c"], Short, 20 * MB, Sorted, Stdout),
    of("20 MB, -c, long lines", &["-c"], Long, 20 * MB, Sorted, Stdout),
    of("20 MB, -c -n", &["-c", "-n"], Numbered, 20 * MB, Sorted, Stdout),
    of("20 MB, -c -k2", &["-c", "-k2"], Fields, 20 * MB, Sorted, Stdout),
    of("20 MB, -c -k2n", &["-c", "-k2,2n"], Fields, 20 * MB, Sorted, Stdout),
    merge("-m of 2", &["-m"], 20 * MB, 2),
    merge("-m of 16", &["-m"], 8 * KB, 16),
    merge("-m of 16 larger ones", &["-m"], 20 * MB, 16),
    merge("-m of 300", &["-m"], 150 * KB, 300),
    merge("-m of 3000", &["-m"], 3 * MB / 2, 3000),
    merge("-m -r of 16", &["-m", "-r"], 4 * MB, 16),
    Use { work: "300 files", files: 300, ..of("", &[], Words, 150 * KB, Mixed, Stdout) },
];

pub fn cases(args: &Args) -> Result<Vec<Box<dyn Measurable>>> {
    let sortie = Programs::sortie_of(args)?;
    let dir = Rc::new(TempDir::with_prefix_in("sortie-bench-", &args.dir)?);
    let case = |of: &'static Use| -> Box<dyn Measurable> {
        let sortie = sortie.clone();
        let ours = move || {
            let mut command = Command::new(&sortie);
            command.arg("sort");
            command
        };
        let contenders = vec![
            program("GNU sort", of, dir.path(), || Command::new("sort")),
            program("sortie", of, dir.path(), ours),
        ];
        // Drawn only once: most inputs take longer to make than to sort.
        let (drawn, dir) = (OnceCell::new(), dir.clone());
        let draw = move |rng: &mut Rng| -> Result<Rc<Input>> {
            if let Some(drawn) = drawn.get() {
                return Ok(Rc::clone(drawn));
            }
            Ok(Rc::clone(
                drawn.get_or_init(|| Rc::new(of.draw(dir.path(), rng).expect("a folder to write to"))),
            ))
        };
        Box::new(Often(Case {
            figure: "",
            facts: Facts {
                suite: "files-small",
                work: of.work,
                key: "bytes",
                payload: "",
                n: of.bytes.max(1),
                segments: None,
                length: None,
                distribution: of.text.name(),
                includes: "starting the program, reading from the page cache, writing",
            },
            draw: Box::new(draw),
            bytes: |input| input.bytes,
            agrees: |_, reference, outcome| reference == outcome,
            contenders,
        }))
    };
    Ok(USES.iter().map(case).collect())
}

/// A case that is repeated more often than others.
struct Often(Case<Rc<Input>, Outcome>);

impl Measurable for Often {
    fn keep(&mut self, filter: &str, threads: &[usize]) -> bool {
        self.0.keep(filter, threads)
    }

    fn describe(&self) -> String {
        self.0.describe()
    }

    fn reps(&self) -> usize {
        REPS
    }

    fn measure(&self, reps: usize, seed: u64) -> Result<report::Outcome> {
        self.0.measure(reps, seed)
    }
}

/// Files, in the order in which the programs get them.
struct Input {
    files: Vec<PathBuf>,
    bytes: usize,
}

/// The exit status and the output of a program.
type Outcome = (Option<i32>, Vec<u8>);

impl Use {
    fn draw(&self, dir: &Path, rng: &mut Rng) -> Result<Input> {
        let mut lines = self.text.lines(self.bytes, rng)?;
        if self.order != Mixed && self.files == 1 {
            lines = sorted(lines, self.options, dir)?;
        }
        if self.order == Reversed {
            lines.reverse();
        }
        let end = if self.options.contains(&"-z") { 0 } else { b'\n' };
        let mut input = Input { files: Vec::new(), bytes: 0 };
        let share = lines.len().div_ceil(self.files).max(1);
        for (number, part) in lines.chunks_mut(share).enumerate() {
            if self.files > 1 && self.order == Sorted {
                part.sort();
                if self.options.contains(&"-r") {
                    part.reverse();
                }
            }
            let mut text = Vec::new();
            part.iter().for_each(|line| text.extend(line.iter().chain([&end])));
            input.bytes += text.len();
            input.files.push(dir.join(format!("{} {number}", self.work.replace('/', " "))));
            fs::write(&input.files[number], text)?;
        }
        if input.files.is_empty() {
            input.files.push(dir.join("empty"));
            fs::write(&input.files[0], b"")?;
        }
        Ok(input)
    }
}

/// Lines in the order of GNU sort.
fn sorted(lines: Vec<Vec<u8>>, options: &[&str], dir: &Path) -> Result<Vec<Vec<u8>>> {
    let path = dir.join("to be sorted");
    fs::write(&path, lines.join(&b'\n'))?;
    let options = options.iter().filter(|option| !["-c", "-C"].contains(option));
    let output = Command::new("sort").env("LC_ALL", "C").args(options).arg(&path).output()?;
    let text = output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout);
    Ok(text.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect())
}

impl Text {
    fn name(self) -> &'static str {
        match self {
            Words => "words",
            Short => "1 to 3 letters",
            Long => "1000 letters",
            Numbered => "numbers and words",
            Fields => "three fields",
            Nested => "nested prefixes",
            OneLine => "one line",
            Equal => "one line again and again",
            Sizes => "sizes",
            Months => "months",
            Versions => "versions",
        }
    }

    /// Lines of about `bytes` bytes in total.
    fn lines(self, bytes: usize, rng: &mut Rng) -> Result<Vec<Vec<u8>>> {
        let (mut lines, mut total) = (Vec::new(), 0);
        while total < bytes {
            let line = self.line(bytes, lines.len(), rng);
            total += line.len() + 1;
            lines.push(line);
        }
        lines.shuffle(rng);
        Ok(lines)
    }

    fn line(self, bytes: usize, number: usize, rng: &mut Rng) -> Vec<u8> {
        match self {
            Words => word(8, 20, rng),
            Short => word(1, 3, rng),
            Long => word(1000, 1000, rng),
            Nested => vec![b'a'; number + 1],
            OneLine => vec![b'x'; bytes - 1],
            Equal => b"the same line in all places".to_vec(),
            Numbered => {
                [rng.random_range(0..1_000_000).to_string().as_bytes(), b" ", &word(4, 12, rng)].concat()
            }
            Fields => {
                let (first, last) = (word(8, 20, rng), word(3, 6, rng));
                [&first[..], b" ", rng.random_range(0..1_000_000).to_string().as_bytes(), b" ", &last]
                    .concat()
            }
            Sizes => {
                let unit = ["", "K", "M", "G"][rng.random_range(0..4)];
                format!("{}{unit}", rng.random_range(1..1000)).into_bytes()
            }
            Months => {
                let month = ["Jan", "feb", "MAR", "Apr", "Dec", "none"][rng.random_range(0..6)];
                [month.as_bytes(), b" ", &word(3, 9, rng)].concat()
            }
            Versions => {
                let mut part = || rng.random_range(0..100);
                format!("file-{}.{}.{}.txt", part(), part(), part()).into_bytes()
            }
        }
    }
}

/// A word of `least` to `most` lowercase letters.
fn word(least: usize, most: usize, rng: &mut Rng) -> Vec<u8> {
    (0..rng.random_range(least..=most)).map(|_| rng.random_range(b'a'..=b'z')).collect()
}

/// A contender that runs a program to its end.
fn program(
    name: &'static str,
    of: &'static Use,
    dir: &Path,
    start: impl Fn() -> Command + 'static,
) -> Contender<Rc<Input>, Outcome> {
    let output = dir.join(format!("{name}.out"));
    Contender::new(name, THREADS, move |input: &Rc<Input>, clock: &mut Clock| {
        let mut command = start();
        command.env("LC_ALL", "C").args(of.options);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match of.through {
            Files => drop(command.arg("-o").arg(&output).args(&input.files)),
            Stdout => drop(command.stdout(File::create(&output)?).args(&input.files)),
            Pipes => drop(command.stdin(Stdio::piped()).stdout(Stdio::piped())),
        }
        if of.through != Pipes {
            let ended = clock.time(|| command.spawn()?.wait4())?;
            return Ok((ended.status.code(), fs::read(&output)?));
        }
        let text = fs::read(&input.files[0])?;
        let (status, read) = clock.time(|| through_pipes(&mut command, &text))?;
        Ok((status, read))
    })
}

fn through_pipes(command: &mut Command, text: &[u8]) -> std::io::Result<Outcome> {
    let mut child = command.spawn()?;
    let (to, from) = (child.stdin.take(), child.stdout.take());
    let (mut to, mut from) = to.zip(from).expect("both are pipes");
    let mut read = Vec::new();
    thread::scope(|threads| {
        let writer = threads.spawn(move || to.write_all(text));
        from.read_to_end(&mut read)?;
        writer.join().expect("it does not panic")
    })?;
    Ok((child.wait()?.code(), read))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// Checks every case with a small input: the input matches its name, and the baseline accepts it.
    #[test]
    fn inputs_are_what_they_are_called() {
        let dir = TempDir::new().unwrap();
        for of in USES {
            let of = Use { bytes: of.bytes.min(20_000), ..*of };
            let input = of.draw(dir.path(), &mut Rng::seed_from_u64(1)).unwrap();
            assert!(input.files.len() <= of.files.max(1), "{}", of.work);
            let sizes = input.files.iter().map(|file| fs::metadata(file).unwrap().len() as usize);
            assert_eq!(sizes.sum::<usize>(), input.bytes, "{}", of.work);
            let mut command = Command::new("sort");
            command.env("LC_ALL", "C").args(of.options).args(&input.files).stdout(Stdio::null());
            assert!(command.status().unwrap().success() || of.work.contains("-c -r"), "{}", of.work);
        }
    }
}
