//! Suite `cpu-grid`: calls of the library on arrays of any type, size and shape in memory, compared with the standard
//! library's equivalent and the best peer.
//!
//! Cells are measured in random order, so a run that ends early has measured a random sample. Cells with results in the
//! `--json` file are not measured again.

mod call;
mod calls;
mod cells;
mod key;
mod native;
mod search;
mod strings;
mod summary;

use std::path::Path;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand::seq::SliceRandom as _;
use rayon::ThreadPoolBuilder;

use self::calls::race_keys;
use self::cells::{Call, Cell, Input};
use self::native::Native;
use self::strings::race_strings;
use crate::Result;
use crate::args::Args;
use crate::distributions::Rng;
use crate::grid::draw::Source;
use crate::grid::line;
use crate::grid::results::{About, Known, Score, rows};
use crate::measure::{Facts, amount};
use crate::report::heat_map::{self, Tile};
use crate::report::{self, json};
use crate::suite_batch::contenders::left_out;

/// The name of the suite in rows.
const SUITE: &str = "cpu-grid";

/// The seconds after which a run ends, unless `--seconds` gives them.
const SECONDS: u64 = 3600;

/// The number of repetitions. Their median counts.
fn reps(n: usize) -> usize {
    match n {
        0..=10_000 => 9,
        10_001..=1_000_000 => 5,
        _ => 3,
    }
}

/// The peers, and the number of threads for all contenders.
struct Rig {
    threads: usize,
    native: Option<Native>,
    device: String,
}

/// Measures what was asked for. Returns whether every result was correct.
pub fn run(args: &Args) -> Result<bool> {
    let mut cells = cells::all(args.n, &args.threads, args.seed);
    let filter = args.filter.to_lowercase();
    cells.retain(|cell| cell.label().to_lowercase().contains(&filter));
    if args.list {
        cells.iter().for_each(|cell| println!("{}", cell.label()));
        return Ok(true);
    }
    let device = report::device();
    if let Some(seconds) = args.search {
        let threads = args.threads[0];
        return on_pool(threads, || search::run(args, seconds, &Rig::new(args, threads, &device)));
    }
    let end = Instant::now() + Duration::from_secs(args.seconds.unwrap_or(SECONDS));
    let known = args.json.as_ref().map_or(Ok(Known::default()), |path| Known::read(path, SUITE, &device))?;
    let mut scores = vec![None; cells.len()];
    for (score, cell) in scores.iter_mut().zip(&cells) {
        *score = known.get(&cell.facts(), cell.threads).cloned();
    }
    let mut failed = 0;
    for &threads in &args.threads {
        let mut missing: Vec<_> = cells.iter().zip(&mut scores).collect();
        missing.retain(|(cell, score)| cell.threads == threads && score.is_none());
        missing.shuffle(&mut Rng::seed_from_u64(args.seed));
        on_pool(threads, || {
            let rig = Rig::new(args, threads, &device);
            for (cell, score) in missing {
                if Instant::now() >= end {
                    break;
                }
                match rig.measure(cell, args) {
                    Ok(measured) => *score = Some(measured),
                    Err(error) => {
                        eprintln!("sortie-bench: {} failed: {error}", cell.label());
                        failed += 1;
                    }
                }
            }
            Ok(())
        })?;
    }
    let left = scores.iter().filter(|score| score.is_none()).count() - failed;
    let scored: Vec<_> =
        cells.into_iter().zip(scores).filter_map(|(cell, score)| Some((cell, score?))).collect();
    print!("\n{}", summary::summary(&scored));
    if failed > 0 {
        println!("{failed} cells failed and are not in the figures above; see the errors");
    }
    if left > 0 {
        println!(
            "{left} cells are left because the time ran out; give more with --seconds, or continue from here with --json"
        );
    }
    if let Some(path) = &args.plot {
        draw(path, &device, &scored)?;
    }
    Ok(failed == 0 && scored.iter().all(|(_, score)| score.right()))
}

/// Runs `work` in a pool of this many threads, which the library's free functions then use.
fn on_pool<R: Send>(threads: usize, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
    Ok(pool.install(|| work().map_err(|error| error.to_string()))?)
}

impl Rig {
    /// Loads the peers. Peers that are missing are left out, and reported.
    fn new(args: &Args, threads: usize, device: &str) -> Rig {
        let native = args.peers.as_ref().map_or(Err(native::BUILD.into()), |path| Native::load(path));
        let native = native.map_err(|why| left_out("the library of vqsort and IPS4o", &*why)).ok();
        Rig { threads, native, device: device.into() }
    }

    /// Measures a cell, prints the result, and appends it to the `--json` file.
    fn measure(&self, cell: &Cell, args: &Args) -> Result<Score> {
        let &Cell { call, n, input, threads } = cell;
        let (seed, reps) = (args.seed, args.reps.unwrap_or(reps(n)));
        let raced = match input {
            Input::Shape(shape) => {
                let source = Source::Shape(shape);
                let native = self.native.as_ref();
                race_keys(call, &calls::Job { source, n, seed, reps, threads, native })?
            }
            Input::Texts(texts) => race_strings(call, &strings::Job { texts, n, seed, reps, threads })?,
        };
        let (label, facts) = (cell.label(), cell.facts());
        let rows = rows(&about(&facts, &label, &self.device, threads, bytes(call, n)), &raced);
        if let Some(path) = &args.json {
            json::append(path, &rows)?;
        }
        let score = Score::of_rows(&rows).expect("Sortie is among them");
        let ratio = |ratio: Option<f64>| ratio.map_or("    ".into(), |ratio| format!("{ratio:.2}"));
        println!("{} {}  {}", ratio(score.over("std")), ratio(score.ratio()), line(&label, &raced));
        Ok(score)
    }
}

/// What a row contains besides the times.
fn about<'a>(facts: &'a Facts, label: &'a str, device: &'a str, threads: usize, bytes: usize) -> About<'a> {
    About { facts, label, engine: "cpu", device, threads, bytes }
}

/// The size of the elements, or of the references to strings.
fn bytes(call: Call, n: usize) -> usize {
    n * match call {
        Call::Keys(key) | Call::Argsort(key) => key.bytes(),
        Call::Pairs(key, payload) => key.bytes() + payload,
        Call::ByKey(_, element) => element,
        Call::Segments(_) => size_of::<f32>(),
        Call::Strings | Call::ArgsortStrings => size_of::<&[u8]>(),
    }
}

fn draw(path: &Path, device: &str, scored: &[(Cell, Score)]) -> Result<()> {
    let tile = |(cell, score): &(Cell, Score)| {
        let threads = if cell.threads == 1 { String::new() } else { format!(", {} threads", cell.threads) };
        let group = cell.call.title() + &threads;
        let (row, column) = (cell.input.name().into(), amount(cell.n));
        Some(Tile { row, group, column, ratio: score.over("std")?, right: score.right() })
    };
    let title = format!(
        "Sortie {}, suite cpu-grid on {device}: time of std / time of Sortie",
        env!("CARGO_PKG_VERSION")
    );
    heat_map::draw(path, &title, &scored.iter().filter_map(tile).collect::<Vec<_>>())
}
