//! Suite `external`: files larger than the memory limit, from a cold cache to the disk.
//!
//! The baseline is the time of the disk alone. It reads the file and writes a copy, then reads the copy and writes
//! another. All reads come from the disk, and all writes reach it.

mod validate;

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use rand::RngExt;
use rustix::fs::{Advice, fadvise};
use tempfile::{NamedTempFile, TempDir, TempPath};
use wait4::Wait4;

use crate::Result;
use crate::args::Args;
use crate::distributions::{Rng, StringSet};
use crate::measure::{Case, Clock, Contender, Facts, Measurable};
use crate::suite_files::{Programs, Sort, lines};
pub use validate::{Content, Sum, look};

/// The size of a record and the bytes of its key, as on sortbenchmark.org.
const RECORD: usize = 100;
const KEY: usize = 10;

const N: usize = 10_000_000;
/// Has as many bytes as the records and the lines of DNA.
const NUMBERS: usize = 125_000_000;

/// The threads of every program.
const THREADS: usize = 2;

/// A file, and the sum that every sorted copy of it must have.
pub struct Input {
    path: TempPath,
    content: Content,
    sum: Sum,
}

pub fn cases(args: &Args) -> Result<Vec<Box<dyn Measurable>>> {
    let n = args.n.unwrap_or(N);
    let numbers = args.n.unwrap_or(NUMBERS);
    let dir = TempDir::with_prefix_in("sortie-bench-", &args.dir).map_err(|e| {
        format!("cannot make a folder in {}: {e}; choose another with --dir", args.dir.display())
    })?;
    let dir = Arc::new(dir);
    let programs = Programs::find(args)?;
    let of_lines = |set: StringSet| {
        let draw = move |dir: &Path, rng: &mut Rng| lines(set, n, dir, rng);
        case(
            "lines",
            "bytes",
            n,
            set.length(),
            set.name(),
            Content::Lines,
            draw,
            &dir,
            programs.of_lines_capped(),
        )
    };
    let of_records = Content::Records { size: RECORD, key: 0..KEY };
    let draw_records = move |dir: &Path, rng: &mut Rng| records(n, dir, rng);
    let draw_numbers = move |dir: &Path, rng: &mut Rng| uniform(8 * numbers, dir, rng);
    let by_key = &["--record-size=100", "--key=0..10"];
    let as_numbers = &["--type=u64"];
    Ok(vec![
        Box::new(of_lines(StringSet::Dna)),
        Box::new(of_lines(StringSet::Words)),
        Box::new(case(
            "records",
            "bytes",
            n,
            Some(RECORD),
            "uniform",
            of_records,
            draw_records,
            &dir,
            programs.ours_capped(by_key),
        )),
        Box::new(case(
            "numbers",
            "u64",
            numbers,
            None,
            "uniform",
            Content::U64,
            draw_numbers,
            &dir,
            programs.ours_capped(as_numbers),
        )),
    ])
}

#[expect(clippy::too_many_arguments, reason = "a row of the table above")]
fn case(
    work: &'static str,
    key: &'static str,
    n: usize,
    length: Option<usize>,
    distribution: &'static str,
    content: Content,
    draw: impl Fn(&Path, &mut Rng) -> Result<TempPath> + 'static,
    dir: &Arc<TempDir>,
    sorts: Vec<(&'static str, Sort)>,
) -> Case<Input, TempPath> {
    let mut contenders = vec![disk(dir)];
    contenders.extend(sorts.into_iter().map(|(name, sort)| program(name, dir, sort)));
    let dir = dir.clone();
    Case {
        figure: "",
        facts: Facts {
            suite: "external",
            work,
            key,
            payload: "",
            n,
            segments: None,
            length,
            distribution,
            includes: "starting the program, reading from a cold cache, writing to the disk; 256 MB of memory unless said",
        },
        draw: Box::new(move |rng| {
            let path = draw(dir.path(), rng)?;
            let (sum, _) = look(&path, &content)?;
            Ok(Input { path, content: content.clone(), sum })
        }),
        bytes: |input| std::fs::metadata(&input.path).map_or(0, |meta| meta.len() as usize),
        agrees: |input, _, outcome| {
            look(outcome, &input.content).is_ok_and(|found| found == (input.sum, true))
        },
        contenders,
    }
}

/// Records with random keys. After its key, each has its position as text, so that no two are the same.
fn records(n: usize, dir: &Path, rng: &mut Rng) -> Result<TempPath> {
    let mut file = NamedTempFile::new_in(dir)?;
    let mut record = [b'.'; RECORD];
    let mut piece = Vec::new();
    for number in 0..n {
        rng.fill(&mut record[..KEY]);
        write!(&mut record[KEY..], "{number:032}")?;
        piece.extend_from_slice(&record);
        if piece.len() >= 1 << 20 || number + 1 == n {
            file.write_all(&piece)?;
            piece.clear();
        }
    }
    file.as_file().sync_all()?;
    Ok(file.into_temp_path())
}

/// A file of this many random bytes.
fn uniform(bytes: usize, dir: &Path, rng: &mut Rng) -> Result<TempPath> {
    let mut file = NamedTempFile::new_in(dir)?;
    let mut piece = vec![0; 1 << 20];
    for from in (0..bytes).step_by(piece.len()) {
        let piece = &mut piece[..(bytes - from).min(1 << 20)];
        rng.fill(piece);
        file.write_all(piece)?;
    }
    file.as_file().sync_all()?;
    Ok(file.into_temp_path())
}

/// Drops a file from the page cache, so that the next read comes from the disk. Syncs the file first, because only
/// written pages can be dropped.
fn chill(path: &Path) -> Result<()> {
    let file = File::open(path)?;
    file.sync_all()?;
    fadvise(&file, 0, None, Advice::DontNeed)?;
    Ok(())
}

/// Reads and writes the file twice.
fn disk(dir: &Arc<TempDir>) -> Contender<Input, TempPath> {
    let dir = dir.clone();
    Contender::new("the disk", 1, move |input: &Input, clock: &mut Clock| {
        let output = TempPath::try_from_path(dir.path().join("disk.out"))?;
        let between = TempPath::try_from_path(dir.path().join("disk.run"))?;
        chill(&input.path)?;
        clock.time(|| copy(&input.path, &between))?;
        chill(&between)?;
        clock.time(|| copy(&between, &output))?;
        Ok(output)
    })
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let (mut from, mut to) = (File::open(from)?, File::create(to)?);
    let mut piece = vec![0; 4 << 20];
    loop {
        match from.read(&mut piece)? {
            0 => return Ok(to.sync_all()?),
            read => to.write_all(&piece[..read])?,
        }
    }
}

/// A contender that runs a program to its end, and then waits until the output is on the disk.
fn program(name: &'static str, dir: &Arc<TempDir>, sort: Sort) -> Contender<Input, TempPath> {
    let dir = dir.clone();
    Contender::new(name, THREADS, move |input: &Input, clock: &mut Clock| {
        let output = TempPath::try_from_path(dir.path().join(format!("{name}.out")))?;
        chill(&input.path)?;
        let mut command = sort(&input.path, &output, dir.path());
        let ended = clock.time(|| -> Result<_> {
            let ended = command.stdin(Stdio::null()).spawn()?.wait4()?;
            if ended.status.success() {
                File::open(&output)?.sync_all()?;
            }
            Ok(ended)
        });
        let ended = ended.map_err(|e| format!("cannot run {:?}: {e}", command.get_program()))?;
        if !ended.status.success() {
            return Err(format!("{name} ended with {}: {command:?}", ended.status).into());
        }
        clock.peak_bytes = ended.rusage.maxrss;
        Ok(output)
    })
}
