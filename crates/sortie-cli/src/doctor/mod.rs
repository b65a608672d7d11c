//! `sortie doctor`: sorts random and difficult input on a GPU and on the CPU, selects from it, and compares the results bit by bit.
//!
//! It checks everything that this program can ask of a GPU, and the selections that only the library and Python offer. Types, orders and lengths that would only use the kernels
//! of others again are left out.

mod cases;
mod devices;
mod graph;
mod large;
mod rows;
mod selections;
mod wide_indices;

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{iter, thread};

use indicatif::{ProgressBar, ProgressStyle};
use sortie::gpu::Gpu;
use sortie::gpus::Gpus;
use sortie::{Engine, Error, Nans, Sorter, SorterBuilder};
use sortie_device::Error::OutOfMemory;
use sortie_device::cuda;
use sortie_files::threads::spawn;

use crate::failure::Failure;
use crate::print;
use cases::Case;

/// Compares every kind of sort that a GPU can do, on each GPU and then on all of them together. Prints a line for
/// each group of sorts.
pub fn run(engine: Engine, large: bool) -> Result<(), Failure> {
    let ordinals: Vec<u32> = match engine {
        Engine::Cuda(ordinal) => vec![ordinal],
        Engine::CudaDevices(devices) => devices.numbers().collect(),
        _ => return Err(Failure::new("the doctor checks GPUs only; give --engine cuda, cuda:N or cuda:N,M")),
    };
    let start = Instant::now();
    // Opens the GPUs first, so that an error is not preceded by the head of an empty table.
    let gpus: Vec<_> = ordinals.iter().map(|&ordinal| Gpu::cuda(ordinal)).collect::<Result<_, _>>()?;
    if gpus.len() > 1 {
        // Fails if there are more GPUs than can sort together.
        Gpus::new(gpus.clone())?;
    }
    print(format!("{:<8} {:<11} {:>6} {:>8}  \n", "keys", "sorted", "sorts", "done at").as_bytes())?;
    let mut board = Board::new(start);
    for (&ordinal, gpu) in ordinals.iter().zip(&gpus) {
        if gpus.len() > 1 {
            board.say(&format!("cuda:{ordinal}, {}\n", gpu.device().properties().name))?;
        }
        let chosen = Chosen { ordinal, descending: false, nans: Nans::Last };
        // The large array comes first, while GPU memory is free.
        if large {
            let case = cases::large(chosen, &mut board);
            board = compare(vec![case], board)?;
        }
        let cases = cases::all(chosen, gpu.device().properties().multiprocessors as usize, &mut board);
        board = compare(cases, board)?;
    }
    if gpus.len() > 1 {
        board.say("all GPUs together\n")?;
        let chosen = Chosen { ordinal: ordinals[0], descending: false, nans: Nans::Last };
        let case = cases::together(chosen, gpus, &mut board);
        board = compare(vec![case], board)?;
    }
    board.bar.finish_and_clear();
    let ((programs, compiling), seconds) = (cuda::compiled(), start.elapsed().as_secs_f64());
    let in_all = format!(
        "{} sorts in {seconds:.1} s; {programs} kernel files compiled, in {:.1} s summed over all threads\n",
        board.groups.iter().map(|group| group.sorts).sum::<usize>(),
        compiling.as_secs_f64(),
    );
    print(in_all.as_bytes())?;
    let wrong: usize = board.groups.iter().map(|group| group.wrong.len()).sum();
    let left_out: usize = board.groups.iter().map(|group| group.left_out.len()).sum();
    match (wrong, left_out) {
        (0, 0) => print(b"all match the CPU\n"),
        (0, _) => {
            print(format!("all match the CPU, but {left_out} left out for lack of memory\n").as_bytes())
        }
        _ => Err(Failure::new(format!(
            "{wrong} sorts are wrong; do not trust a GPU with a line that says WRONG, and report it"
        ))),
    }
}

/// Runs the cases on a thread for each core, so that some compile kernels while others sort.
fn compare(cases: Vec<Case>, board: Board) -> Result<Board, Failure> {
    board.bar.inc_length(cases.len() as u64);
    let (queue, board) = (Mutex::new(cases.into_iter()), Mutex::new(board));
    let next = || queue.lock().expect("no holder panics").next();
    let work = || -> Result<(), Failure> {
        iter::from_fn(next).try_for_each(|case| {
            let mut both = Both::new(case.chosen)?;
            let short = match (case.sorts)(&mut both) {
                Err(short @ (Error::Memory { .. } | Error::Device(OutOfMemory { .. }))) => Some(short),
                other => other.map(|()| None)?,
            };
            board.lock().expect("no holder panics").note(case.group, both, short)
        })
    };
    let work = || {
        let result = work();
        if result.is_err() {
            // The other threads need not continue.
            queue.lock().expect("no holder panics").by_ref().for_each(drop);
        }
        result
    };
    thread::scope(|scope| {
        // This thread runs cases too, so it suffices if no other can be started.
        let others = thread::available_parallelism().map_or(1, NonZeroUsize::get) - 1;
        let others: Vec<_> = (0..others).map_while(|_| spawn(scope, work).ok()).collect();
        let own = work();
        others.into_iter().fold(own, |result, other| result.and(other.join().expect("no case panics")))
    })?;
    Ok(board.into_inner().expect("no holder panics"))
}

/// The results so far.
struct Board {
    start: Instant,
    groups: Vec<Group>,
    /// The number of finished cases, shown on a terminal.
    bar: ProgressBar,
}

/// The sorts of one type in one order.
struct Group {
    key: &'static str,
    sorted: &'static str,
    /// The number of unfinished cases.
    cases: usize,
    sorts: usize,
    wrong: Vec<String>,
    left_out: Vec<String>,
}

impl Board {
    fn new(start: Instant) -> Board {
        let style =
            ProgressStyle::with_template("{pos} of {len} cases, {elapsed}").expect("a valid template");
        let bar = ProgressBar::new(0).with_style(style);
        bar.enable_steady_tick(Duration::from_secs(1));
        Board { start, groups: Vec::new(), bar }
    }

    /// Adds a group of this many cases.
    fn group(&mut self, key: &'static str, sorted: &'static str, cases: usize) -> usize {
        self.groups.push(Group { key, sorted, cases, sorts: 0, wrong: Vec::new(), left_out: Vec::new() });
        self.groups.len() - 1
    }

    /// Prints a line without disturbing the bar.
    fn say(&self, line: &str) -> Result<(), Failure> {
        self.bar.suspend(|| print(line.as_bytes()))
    }

    /// Adds the results of a case. After the last case of a group, prints the line of the group.
    fn note(&mut self, group: usize, both: Both, short: Option<Error>) -> Result<(), Failure> {
        let group = &mut self.groups[group];
        group.cases -= 1;
        group.sorts += both.sorts;
        group.wrong.extend(both.wrong);
        group.left_out.extend(short.map(|short| short.to_string()));
        self.bar.inc(1);
        if group.cases > 0 {
            return Ok(());
        }
        let verdict = match (&group.wrong[..], &group.left_out[..]) {
            ([], []) => "ok".into(),
            ([], [short, ..]) => format!("left out: {short}"),
            (wrong, _) => format!("WRONG: {}", wrong.join(", ")),
        };
        let (at, Group { key, sorted, sorts, .. }) = (self.start.elapsed().as_secs_f64(), group);
        let line = format!("{key:<8} {sorted:<11} {sorts:>6} {at:>6.1} s  {verdict}\n");
        self.say(&line)
    }
}

#[derive(Clone, Copy)]
struct Chosen {
    ordinal: u32,
    descending: bool,
    nans: Nans,
}

impl Chosen {
    fn builder(self, engine: Engine) -> SorterBuilder {
        Sorter::builder().engine(engine).descending(self.descending).nans(self.nans)
    }

    fn on_gpu(self) -> SorterBuilder {
        self.builder(Engine::Cuda(self.ordinal))
    }

    fn name(self) -> &'static str {
        match (self.descending, self.nans) {
            (false, Nans::First) => "NaNs first",
            (false, _) => "ascending",
            (true, Nans::First) => "down, NaNs",
            (true, _) => "descending",
        }
    }
}

/// Both engines, and the results of one case.
struct Both {
    chosen: Chosen,
    gpu: Sorter,
    cpu: Sorter,
    /// The GPU that `gpu` uses.
    there: Arc<Gpu>,
    sorts: usize,
    wrong: Vec<String>,
}

impl Both {
    fn new(chosen: Chosen) -> Result<Both, Error> {
        Ok(Both {
            chosen,
            gpu: chosen.on_gpu().build()?,
            cpu: chosen.builder(Engine::Cpu).build()?,
            there: Gpu::cuda(chosen.ordinal)?,
            sorts: 0,
            wrong: Vec::new(),
        })
    }

    fn note(&mut self, same: bool, what: String) {
        self.sorts += 1;
        if !same {
            self.wrong.push(what);
        }
    }
}

/// Output number `i` of SplitMix64.
fn mixed(i: u64) -> u64 {
    let z = (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the checks that use the device without a `Sorter`, on the simulated device.
    #[test]
    fn the_bench_is_well() {
        let Some(device) = sortie_simt::or_skip(sortie_simt::device(sortie_simt::Options::default())) else {
            return;
        };
        let chosen = Chosen { ordinal: 0, descending: false, nans: Nans::Last };
        let sorter = || chosen.builder(Engine::Cpu).build().unwrap();
        let there = Arc::new(Gpu::new(device));
        let mut both = Both { chosen, gpu: sorter(), cpu: sorter(), there, sorts: 0, wrong: vec![] };
        for bits in [cases::RANDOM, cases::CROWDED] {
            both.compare_strings(&cases::strings(3000, bits)).unwrap();
        }
        for (n, chunk) in [(1, 10), (10_001, 2500), (10_000, 2500)] {
            assert!(large::sorts(&both.there, n, chunk).unwrap(), "{n} by chunks of {chunk}");
        }
        assert!(graph::sorts(&both.there, 10_000).unwrap());
        both.compare_selections(&cases::keys::<f32>(9000, cases::CROWDED)).unwrap();
        assert_eq!((both.sorts, both.wrong), (2 * 2 + 7, Vec::<String>::new()));
    }

    /// The line of a group is printed after as many cases as were announced, so the counts must agree.
    #[test]
    fn groups_have_as_many_cases_as_they_say() {
        let chosen = Chosen { ordinal: 0, descending: false, nans: Nans::Last };
        let mut board = Board::new(Instant::now());
        let cases = cases::all(chosen, 1, &mut board);
        assert_eq!(cases.len(), board.groups.iter().map(|group| group.cases).sum::<usize>());
        for (number, group) in board.groups.iter().enumerate() {
            assert_eq!(cases.iter().filter(|case| case.group == number).count(), group.cases);
            assert!(group.cases > 0, "{} {}", group.key, group.sorted);
        }
    }
}
