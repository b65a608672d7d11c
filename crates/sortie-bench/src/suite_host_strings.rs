//! Suite `host-strings`: argsort of strings in host memory, by the CPU alone, and by a GPU and the CPU together.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rayon::prelude::*;
use sortie::gpu::Gpu;
use sortie::{Engine, Sorter};

use crate::Result;
use crate::args::Args;
use crate::distributions::{StringSet, Strings};
use crate::measure::{Case, Clock, Contender, Facts, Measurable};
use crate::suite_files::python_with;
use crate::suite_hybrid::all_but;

/// The number of words, and of strings for each length, unless `--n` gives one.
const WORDS: usize = 100_000_000;
const STRINGS_OF_A_LENGTH: usize = 10_000_000;
const LENGTHS: [usize; 8] = [8, 16, 32, 64, 128, 256, 512, 1024];
/// 500 MB of lines with up to 500 letters.
const LINES: usize = 2_000_000;
/// Limits the free GPU memory to this many bytes per word, less than the 9 GB that all words need.
const ROOM: usize = 24;

pub fn cases(args: &Args) -> Vec<Box<dyn Measurable>> {
    let words = (StringSet::Words, args.n.unwrap_or(WORDS));
    let n = args.n.unwrap_or(STRINGS_OF_A_LENGTH);
    let of_lengths = LENGTHS.map(|length| (StringSet::Letters(length), n));
    let of_any_length = [(StringSet::Proteins, n), (StringSet::Lines, args.n.unwrap_or(LINES))];
    let threads = *args.threads.last().expect("one at least");
    let sets = [words].into_iter().chain(of_lengths).chain(of_any_length);
    let mut cases: Vec<Box<dyn Measurable>> =
        sets.map(|(set, n)| Box::new(case(set, n, threads, args)) as _).collect();
    cases.push(Box::new(larger_than_the_gpu(words.1, threads)));
    cases
}

fn larger_than_the_gpu(n: usize, threads: usize) -> Case<Strings, Vec<u32>> {
    let on_cpu = ours("sortie, CPU", threads, Engine::Cpu);
    let in_ranges = ours("sortie, GPU and CPU", threads, Engine::Cuda(0));
    let contenders = vec![
        on_cpu,
        Contender::new("sortie, in ranges", threads, move |strings: &Strings, clock: &mut Clock| {
            let _taken = all_but(&Gpu::cuda(0)?, (ROOM * n) as u64)?;
            (in_ranges.run)(strings, clock)
        }),
    ];
    let case = argsort(StringSet::Words, n, contenders);
    Case { facts: Facts { work: "argsort strings, larger than the GPU", ..case.facts }, ..case }
}

fn case(set: StringSet, n: usize, threads: usize, args: &Args) -> Case<Strings, Vec<u32>> {
    let mut contenders = vec![
        ours("sortie, CPU", threads, Engine::Cpu),
        ours("sortie, GPU and CPU", threads, Engine::Cuda(0)),
    ];
    if set == StringSet::Words {
        match python_with("polars, pyarrow") {
            Some(python) => contenders.push(polars(python, args.dir.clone(), threads)),
            None => eprintln!("polars: skipped, polars or pyarrow is not installed"),
        }
    }
    argsort(set, n, contenders)
}

/// An argsort of strings. Each result is checked by itself and not compared with that of the baseline.
pub fn argsort(
    set: StringSet,
    n: usize,
    contenders: Vec<Contender<Strings, Vec<u32>>>,
) -> Case<Strings, Vec<u32>> {
    Case {
        figure: "",
        facts: Facts {
            suite: "host-strings",
            work: "argsort strings, host to host",
            key: "bytes",
            payload: "",
            n,
            segments: None,
            length: set.length(),
            distribution: set.name(),
            includes: "transfers, scratch",
        },
        draw: Box::new(move |rng| set.draw(n, rng)),
        bytes: |strings| strings.bytes.len(),
        agrees: |strings, _, places| is_sorted(strings, places),
        contenders,
    }
}

pub fn ours(name: &'static str, threads: usize, engine: Engine) -> Contender<Strings, Vec<u32>> {
    Contender::new(name, threads, move |strings: &Strings, clock: &mut Clock| {
        let sorter = Sorter::builder().threads(threads).engine(engine).build()?;
        let refs = strings.refs();
        let mut places = vec![0; refs.len()];
        clock.report = clock.time(|| sorter.argsort_strings(&refs, &mut places))?;
        Ok(places)
    })
}

/// Measures its own time, because its input and output are files.
fn polars(python: PathBuf, dir: PathBuf, threads: usize) -> Contender<Strings, Vec<u32>> {
    Contender::new("polars", threads, move |strings: &Strings, clock: &mut Clock| {
        let folder = tempfile::tempdir_in(&dir)?;
        let [text, offsets, places] = ["text", "offsets", "places"].map(|name| folder.path().join(name));
        let (bytes, ends) = strings.clone().into_parts();
        std::fs::write(&text, bytes)?;
        std::fs::write(&offsets, bytemuck::cast_slice(&ends))?;
        clock.spent += polars_sorts(&python, [&text, &offsets, &places], threads)?;
        Ok(bytemuck::pod_collect_to_vec(&std::fs::read(&places)?))
    })
}

fn polars_sorts(python: &Path, files: [&Path; 3], threads: usize) -> Result<Duration> {
    let mut command = Command::new(python);
    command.args(["-c", include_str!("../peers/polars_strings.py")]).args(files).arg(threads.to_string());
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("polars failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(Duration::from_secs_f64(String::from_utf8_lossy(&output.stdout).trim().parse()?))
}

/// Whether the indices are a permutation that puts the strings in order.
fn is_sorted(strings: &Strings, places: &[u32]) -> bool {
    let refs = strings.refs();
    let mut seen = vec![false; refs.len()];
    let all_there = places.len() == refs.len()
        && places
            .iter()
            .all(|&place| seen.get_mut(place as usize).is_some_and(|seen| !std::mem::replace(seen, true)));
    all_there && places.par_windows(2).all(|pair| refs[pair[0] as usize] <= refs[pair[1] as usize])
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use rand::SeedableRng;

    use super::*;
    use crate::distributions::Rng;

    #[test]
    fn cases_are_words_lengths_and_what_is_larger() {
        let args = Args::parse_from(["sortie-bench", "--suite", "host-strings", "--threads", "16"]);
        let described: Vec<_> = cases(&args).iter().map(|case| case.describe()).collect();
        assert_eq!(described.len(), 12);
        assert!(described[0].starts_with(
            "argsort strings, host to host, 10^8, words: sortie, CPU x16, sortie, GPU and CPU x16"
        ));
        assert!(described[8].starts_with("argsort strings, host to host, 10^7, 1024 letters:"));
        assert!(
            described[10].starts_with("argsort strings, host to host, 2000000, lines:"),
            "{}",
            described[10]
        );
        assert!(described[11].starts_with("argsort strings, larger than the GPU, 10^8, words:"));
    }

    #[test]
    fn wrong_places_are_told() {
        let strings = StringSet::Letters(16).draw(1000, &mut Rng::seed_from_u64(1)).unwrap();
        let mut places = (ours("sortie, CPU", 1, Engine::Cpu).run)(&strings, &mut Clock::default()).unwrap();
        assert!(is_sorted(&strings, &places));
        places.swap(3, 4);
        assert!(!is_sorted(&strings, &places));
        places[3] = places[4];
        assert!(!is_sorted(&strings, &places), "one is there twice");
    }
}
