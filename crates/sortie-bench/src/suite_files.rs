//! Suite `files`: whole programs sort whole text files. The baseline is GNU sort.
//!
//! Inputs are written and outputs are compared piece by piece to keep this program small. The peak memory that the
//! system reports for a program starts from the size of the program that started it.

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use tempfile::{NamedTempFile, TempDir, TempPath};
use wait4::Wait4;

use crate::Result;
use crate::args::Args;
use crate::distributions::{Rng, StringSet};
use crate::measure::{Case, Clock, Contender, Facts, Measurable};

/// Lines per file, unless `--n` says otherwise.
const N: usize = 10_000_000;

/// The number of lines drawn at a time.
const PIECE: usize = 100_000;

/// The threads of every program.
pub const THREADS: usize = 2;
const TWO: &str = "2";
/// The option that limits memory, for programs that have it.
pub const CAP: &[&str] = &["-S", "256M"];

pub fn cases(args: &Args) -> Result<Vec<Box<dyn Measurable>>> {
    let n = args.n.unwrap_or(N);
    let dir = TempDir::with_prefix_in("sortie-bench-", &args.dir).map_err(|e| {
        format!("cannot make a folder in {}: {e}; choose another with --dir", args.dir.display())
    })?;
    let dir = Arc::new(dir);
    let programs = Programs::find(args)?;
    let mut cases: Vec<Box<dyn Measurable>> = Vec::new();
    for set in [StringSet::Dna, StringSet::Words] {
        cases.push(Box::new(case("lines", set, n, &dir, programs.contenders(&dir))));
        cases.push(Box::new(case("lines in 256 MB", set, n, &dir, programs.contenders_in_256_mb(&dir))));
    }
    Ok(cases)
}

fn case(
    work: &'static str,
    set: StringSet,
    n: usize,
    dir: &Arc<TempDir>,
    contenders: Vec<Contender<TempPath, TempPath>>,
) -> Case<TempPath, TempPath> {
    let dir = dir.clone();
    Case {
        figure: "",
        facts: Facts {
            suite: "files",
            work,
            key: "bytes",
            payload: "",
            n,
            segments: None,
            length: set.length(),
            distribution: set.name(),
            includes: "starting the program, reading from the page cache, writing",
        },
        draw: Box::new(move |rng| lines(set, n, dir.path(), rng)),
        bytes: |path| std::fs::metadata(path).map_or(0, |meta| meta.len() as usize),
        agrees: |_, reference, outcome| same(reference, outcome).unwrap_or(false),
        contenders,
    }
}

/// A file of `n` lines.
pub fn lines(set: StringSet, n: usize, dir: &Path, rng: &mut Rng) -> Result<TempPath> {
    let mut file = NamedTempFile::new_in(dir)?;
    let mut piece = Vec::new();
    for from in (0..n).step_by(PIECE) {
        piece.clear();
        for line in set.draw(PIECE.min(n - from), rng)?.refs() {
            piece.extend_from_slice(line);
            piece.push(b'\n');
        }
        file.write_all(&piece)?;
    }
    file.as_file().sync_all()?;
    Ok(file.into_temp_path())
}

/// Whether two files hold the same bytes.
pub fn same(one: &Path, two: &Path) -> std::io::Result<bool> {
    let (mut one, mut two) = (BufReader::new(File::open(one)?), BufReader::new(File::open(two)?));
    let (mut a, mut b) = (vec![0; 1 << 20], vec![0; 1 << 20]);
    loop {
        let read = one.read(&mut a)?;
        if read == 0 {
            return Ok(two.read(&mut b)? == 0);
        }
        match two.read_exact(&mut b[..read]) {
            Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(false),
            result => result?,
        }
        if a[..read] != b[..read] {
            return Ok(false);
        }
    }
}

/// Makes the command that sorts the lines of one file into another. The folder is for temporary files.
pub type Sort = Box<dyn Fn(&Path, &Path, &Path) -> Command>;

/// The contenders that are installed.
pub struct Programs {
    sortie: PathBuf,
    uutils: bool,
    /// The Python interpreter that has the module. `python3` may be a wrapper script that looks for an interpreter.
    duckdb: Option<PathBuf>,
    polars: Option<PathBuf>,
    datafusion: Option<PathBuf>,
}

impl Programs {
    pub fn find(args: &Args) -> Result<Programs> {
        if !says("sort", &["--version"], "GNU coreutils") {
            return Err("the baseline is GNU sort, but `sort` on this machine is another program".into());
        }
        let found = Programs {
            sortie: Programs::sortie_of(args)?,
            uutils: says("coreutils", &["sort", "--version"], "uutils"),
            duckdb: python_with("duckdb"),
            polars: python_with("polars"),
            datafusion: python_with("datafusion"),
        };
        let (duckdb, polars) = (found.duckdb.is_some(), found.polars.is_some());
        for (name, there) in [
            ("uutils", found.uutils),
            ("duckdb", duckdb),
            ("polars", polars),
            ("datafusion", found.datafusion.is_some()),
        ] {
            if !there {
                eprintln!("{name}: skipped, it is not installed");
            }
        }
        Ok(found)
    }

    /// The path of Sortie's program.
    pub fn sortie_of(args: &Args) -> Result<PathBuf> {
        let beside = || Ok::<_, std::io::Error>(std::env::current_exe()?.with_file_name("sortie"));
        let sortie = args.sortie.clone().map_or_else(beside, Ok)?;
        if !sortie.exists() {
            let build = "build it with `cargo build --release` or give its path with --sortie";
            return Err(format!("there is no program {}: {build}", sortie.display()).into());
        }
        Ok(sortie)
    }

    fn contenders(&self, dir: &Arc<TempDir>) -> Vec<Contender<TempPath, TempPath>> {
        let mut all = vec![program("GNU sort", dir, gnu(&[])), program("sortie", dir, self.sortie(&[]))];
        if self.uutils {
            all.push(program("uutils", dir, uutils(&[])));
        }
        if let Some(python) = self.duckdb.clone() {
            all.push(program("duckdb", dir, duckdb(python, None)));
        }
        if let Some(python) = self.polars.clone() {
            all.push(program("polars", dir, polars(python)));
        }
        all
    }

    /// Contenders with a limit of 256 MB, except Polars, which has no option for it.
    fn contenders_in_256_mb(&self, dir: &Arc<TempDir>) -> Vec<Contender<TempPath, TempPath>> {
        let mut all = vec![program("GNU sort", dir, gnu(CAP)), program("sortie", dir, self.sortie(CAP))];
        if self.uutils {
            all.push(program("uutils", dir, uutils(CAP)));
        }
        if let Some(python) = self.duckdb.clone() {
            all.push(program("duckdb", dir, duckdb(python, Some("256MB"))));
        }
        all
    }

    /// Sorts of lines in 256 MB, and Polars without a limit, which has no option for it.
    pub fn of_lines_capped(&self) -> Vec<(&'static str, Sort)> {
        let mut all = self.ours_capped(&[]);
        all.push(("GNU sort", gnu(CAP)));
        if let Some(python) = self.duckdb.clone() {
            all.push(("duckdb", duckdb(python, Some("256MB"))));
        }
        if let Some(python) = self.datafusion.clone() {
            all.push(("datafusion", datafusion(python)));
        }
        if let Some(python) = self.polars.clone() {
            all.push(("polars, no limit", polars(python)));
        }
        all
    }

    /// Sortie with these options, in 256 MB and without a limit.
    pub fn ours_capped(&self, options: &'static [&'static str]) -> Vec<(&'static str, Sort)> {
        let of = |more: &'static [&'static str]| -> Sort {
            let sortie = self.sortie.clone();
            Box::new(move |from, to, folder| {
                let mut command = Command::new(&sortie);
                command.arg("sort").args(options);
                sort_options(command, more, from, to, folder)
            })
        };
        vec![("sortie", of(CAP)), ("sortie, in memory", of(&[]))]
    }

    fn sortie(&self, options: &'static [&'static str]) -> Sort {
        let sortie = self.sortie.clone();
        Box::new(move |from, to, folder| {
            let mut command = Command::new(&sortie);
            command.arg("sort");
            sort_options(command, options, from, to, folder)
        })
    }
}

fn gnu(options: &'static [&'static str]) -> Sort {
    Box::new(move |from, to, folder| sort_options(Command::new("sort"), options, from, to, folder))
}

fn uutils(options: &'static [&'static str]) -> Sort {
    Box::new(move |from, to, folder| {
        let mut command = Command::new("coreutils");
        command.arg("sort");
        sort_options(command, options, from, to, folder)
    })
}

/// Adds options that GNU sort, uutils and Sortie have in common.
fn sort_options(mut command: Command, options: &[&str], from: &Path, to: &Path, folder: &Path) -> Command {
    command.env("LC_ALL", "C").args(["--parallel", TWO]).args(options);
    command.arg("-T").arg(folder).arg("-o").arg(to).arg(from);
    command
}

fn duckdb(python: PathBuf, limit: Option<&'static str>) -> Sort {
    Box::new(move |from, to, folder| {
        let mut command = Command::new(&python);
        command.args(["-c", include_str!("../peers/duckdb_lines.py")]);
        command.args([from, to]).arg(TWO).arg(folder).args(limit);
        command
    })
}

fn datafusion(python: PathBuf) -> Sort {
    Box::new(move |from, to, folder| {
        let mut command = Command::new(&python);
        command.args(["-c", include_str!("../peers/datafusion_lines.py")]);
        command.args([from, to]).arg(TWO).arg(folder).arg("268435456");
        command
    })
}

fn polars(python: PathBuf) -> Sort {
    Box::new(move |from, to, _| {
        let mut command = Command::new(&python);
        command.args(["-c", include_str!("../peers/polars_lines.py")]).args([from, to]).arg(TWO);
        command
    })
}

/// A contender that runs a program to its end.
fn program(name: &'static str, dir: &Arc<TempDir>, sort: Sort) -> Contender<TempPath, TempPath> {
    let dir = dir.clone();
    Contender::new(name, THREADS, move |input: &TempPath, clock: &mut Clock| {
        let output = TempPath::try_from_path(dir.path().join(format!("{name}.out")))?;
        run(name, sort(input, &output, dir.path()), &output, clock)?;
        Ok(output)
    })
}

/// Runs a program to its end. Its output is synced to the disk outside the measured time, so that no program has to write the output of
/// another.
pub fn run(name: &str, mut command: Command, output: &Path, clock: &mut Clock) -> Result<()> {
    let ended = clock.time(|| command.stdin(Stdio::null()).spawn()?.wait4());
    let ended = ended.map_err(|e| format!("cannot run {:?}: {e}", command.get_program()))?;
    if !ended.status.success() {
        return Err(format!("{name} ended with {}: {command:?}", ended.status).into());
    }
    clock.peak_bytes = ended.rusage.maxrss;
    File::open(output)?.sync_all()?;
    Ok(())
}

/// Whether a program exists and prints `word`.
pub fn says(program: &str, arguments: &[&str], word: &str) -> bool {
    output(program, arguments).is_some_and(|text| text.contains(word))
}

/// The Python that can import `module`.
pub fn python_with(module: &str) -> Option<PathBuf> {
    let path = output("python3", &["-c", &format!("import {module}, sys; print(sys.executable)")])?;
    Some(PathBuf::from(path.trim_end()))
}

/// The output of a program, if the program exists and succeeds.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn file(dir: &Path, bytes: &[u8]) -> TempPath {
        let mut file = NamedTempFile::new_in(dir).unwrap();
        file.write_all(bytes).unwrap();
        file.into_temp_path()
    }

    #[test]
    fn tells_files_apart() {
        let dir = TempDir::new().unwrap();
        let whole = vec![7; (1 << 20) + 3];
        let mut other = whole.clone();
        other[1 << 20] = 8;
        let original = file(dir.path(), &whole);
        assert!(same(&original, &file(dir.path(), &whole)).unwrap());
        assert!(!same(&original, &file(dir.path(), &other)).unwrap(), "another byte");
        assert!(!same(&original, &file(dir.path(), &whole[1..])).unwrap(), "shorter");
        assert!(!same(&file(dir.path(), &whole[1..]), &original).unwrap(), "longer");
        assert!(same(&original, &dir.path().join("none")).is_err());
    }

    #[test]
    fn an_input_has_its_lines() {
        let dir = TempDir::new().unwrap();
        let path = lines(StringSet::Dna, PIECE + 5, dir.path(), &mut Rng::seed_from_u64(1)).unwrap();
        let text = std::fs::read(&path).unwrap();
        assert_eq!(text.len(), 101 * (PIECE + 5));
        assert!(text.chunks(101).all(|line| line[100] == b'\n'));
    }

    #[test]
    fn a_program_is_timed_and_its_failure_told() {
        if !says("sort", &["--version"], "GNU coreutils") {
            println!("skipped: GNU sort was not found");
            return;
        }
        let dir = Arc::new(TempDir::new().unwrap());
        let from = file(dir.path(), b"b\na\n");
        let mut clock = Clock::default();
        let output = (program("GNU sort", &dir, gnu(&[])).run)(&from, &mut clock).unwrap();
        assert_eq!(std::fs::read(&output).unwrap(), b"a\nb\n");
        assert!(clock.spent.as_nanos() > 0 && clock.peak_bytes > 0);
        let failed = (program("GNU sort", &dir, gnu(&["--no-such-option"])).run)(&from, &mut clock);
        assert!(failed.unwrap_err().to_string().starts_with("GNU sort ended with exit status: 2"));
    }
}
