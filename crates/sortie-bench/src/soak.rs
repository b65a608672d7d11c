//! Suite `soak`: random jobs of the program with random limits. The order and the sum of each result are checked. If
//! the program was killed, there may also be no output. A failed job is reported with its seed. This repeats it:
//! `--suite soak --seconds 0 --seed SEED`.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use tempfile::TempDir;

use crate::Result;
use crate::args::Args;
use crate::distributions::Rng;
use crate::suite_external::{Content, look};
use crate::suite_files::Programs;

/// The duration in seconds, unless `--seconds` gives one.
const SECONDS: u64 = 60;
/// The size of the largest input in bytes: about a second of work.
const LARGEST: f64 = 64e6;
/// One job in this number is killed.
const KILLED: u32 = 8;

/// Returns whether every job was correct. Runs at least one.
pub fn run(args: &Args) -> Result<bool> {
    let sortie = Programs::sortie_of(args)?;
    let end = Instant::now() + Duration::from_secs(args.seconds.unwrap_or(SECONDS));
    let mut seed = args.seed;
    loop {
        let job = SoakJob::draw(seed);
        let dir = TempDir::with_prefix_in("sortie-soak-", &args.dir)?;
        if let Err(problem) = job.run(&sortie, dir.path()) {
            println!("WRONG, seed {seed}: sortie sort {}: {problem}", job.options.join(" "));
            return Ok(false);
        }
        if Instant::now() >= end {
            println!("{} jobs, from seed {}: all correct", seed - args.seed + 1, args.seed);
            return Ok(true);
        }
        seed += 1;
    }
}

/// An input, and how to sort it.
struct SoakJob {
    content: Content,
    bytes: Vec<u8>,
    options: Vec<String>,
    from_pipe: bool,
    in_place: bool,
    killed_after: Option<Duration>,
}

impl SoakJob {
    fn draw(seed: u64) -> SoakJob {
        let mut rng = Rng::seed_from_u64(seed);
        // Log-uniform: there are as many small inputs as large ones.
        let size = LARGEST.powf(rng.random_range(0.0..1.0)) as usize;
        // From a few distinct items to almost no equal ones.
        let letters = 1 << rng.random_range(0..8);
        let mut bytes: Vec<u8> = (0..size).map(|_| rng.random_range(0..letters) as u8).collect();
        let mut options = Vec::new();
        let content = match rng.random_range(0..3) {
            0 => {
                let one_in = rng.random_range(1..200);
                bytes.iter_mut().for_each(|byte| {
                    *byte = if rng.random_range(0..one_in) == 0 { b'\n' } else { *byte | 64 }
                });
                bytes.push(b'\n');
                Content::Lines
            }
            1 => {
                let size = rng.random_range(1..300);
                let start = rng.random_range(0..size);
                let key = start..rng.random_range(start + 1..=size);
                bytes.truncate(bytes.len() / size * size);
                options.push(format!("--record-size={size}"));
                options.push(format!("--key={}..{}", key.start, key.end));
                Content::Records { size, key }
            }
            _ => {
                bytes.truncate(bytes.len() / 8 * 8);
                options.push("--type=u64".into());
                Content::U64
            }
        };
        options.push(format!("-S{}K", 64 << rng.random_range(0..10)));
        options.push(format!("--parallel={}", rng.random_range(1..5)));
        if rng.random_range(0..4) == 0 {
            options.push(format!("--batch-size={}", rng.random_range(2..20)));
        }
        if rng.random_range(0..8) == 0 {
            options.push("--compress-program=gzip".into());
        }
        let killed_after =
            (rng.random_range(0..KILLED) == 0).then(|| Duration::from_millis(rng.random_range(0..400)));
        let (from_pipe, in_place) = (rng.random(), rng.random());
        SoakJob { content, bytes, options, from_pipe, in_place, killed_after }
    }

    fn run(&self, sortie: &Path, dir: &Path) -> Result<()> {
        let (input, runs) = (dir.join("in"), dir.join("runs"));
        fs::create_dir(&runs)?;
        fs::write(&input, &self.bytes)?;
        let (expected, _) = look(&input, &self.content)?;
        let output = if self.in_place && !self.from_pipe { input.clone() } else { dir.join("out") };
        let mut command = Command::new(sortie);
        command.arg("sort").args(&self.options).arg("-T").arg(&runs).arg("-o").arg(&output);
        command.stdin(Stdio::piped()).stderr(File::create(dir.join("said"))?);
        command.arg(if self.from_pipe { Path::new("-") } else { &input });
        let mut child = command.spawn()?;
        let mut pipe = child.stdin.take();
        let status = std::thread::scope(|threads| {
            threads.spawn(|| {
                // Fails if the program is killed.
                let _ = pipe.take().filter(|_| self.from_pipe).map(|mut pipe| pipe.write_all(&self.bytes));
            });
            if let Some(wait) = self.killed_after {
                std::thread::sleep(wait);
                child.kill()?;
            }
            child.wait()
        })?;
        let left: Vec<PathBuf> =
            fs::read_dir(&runs)?.map(|entry| entry.map(|e| e.path())).collect::<std::io::Result<_>>()?;
        if !left.is_empty() {
            return Err(format!("left behind: {left:?}").into());
        }
        let untouched = fs::read(&input)? == self.bytes;
        let complete = || look(&output, &self.content).map(|found| found == (expected, true));
        if !untouched && output != input {
            return Err("the input has changed".into());
        }
        if status.success() {
            return if complete()? { Ok(()) } else { Err("the output is wrong".into()) };
        }
        if self.killed_after.is_none() || status.code().is_some() {
            return Err(format!("{status}: {}", fs::read_to_string(dir.join("said"))?).into());
        }
        // The program may have finished before it was killed.
        let as_before = untouched && (output == input || !output.exists());
        if as_before || complete()? { Ok(()) } else { Err("killed, it left a part of an output".into()) }
    }
}
