//! Suite `grid`: one array in GPU memory, of any type, size and shape, compared with the better of CUB and torch.sort.
//! Segments are also compared with a loop of single sorts.
//!
//! All contenders sort the same keys at a cell, and all cells use the same memory. Cells with results in the `--json`
//! file are not measured again.

mod arena;
mod cells;
mod layout;
mod rig;
mod search;
mod summary;

use std::path::Path;

use sortie_device::cuda;

use self::arena::Array;
use self::cells::{Cell, KeyType};
use self::layout::Layout;
use self::rig::Rig;
use crate::Result;
use crate::args::Args;
use crate::grid::draw::Source;
use crate::grid::line;
use crate::grid::race::{Raced, race};
use crate::grid::results::{About, Known, Score, rows};
use crate::grid::shape::Shape;
use crate::measure::{Facts, REPS};
use crate::report::heat_map::{self, Tile};
use crate::report::json;

/// The name of the suite in rows.
const SUITE: &str = "grid";
/// One thread calls all contenders.
const THREADS: usize = 1;

/// Repetitions for arrays below [`LARGE`], whose times vary more.
const SMALL_REPS: usize = 41;
const LARGE: usize = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    Array(Cell),
    Segments(layout::Row),
}

impl Task {
    fn facts(&self) -> Facts {
        match self {
            Task::Array(cell) => cell.facts(),
            Task::Segments(row) => row.facts(),
        }
    }

    fn label(&self) -> String {
        match self {
            Task::Array(cell) => cell.label(),
            Task::Segments(row) => row.label(),
        }
    }

    fn n(&self) -> usize {
        match self {
            Task::Array(cell) => cell.n,
            Task::Segments(row) => row.n,
        }
    }

    fn key(&self) -> KeyType {
        match self {
            Task::Array(cell) => cell.key,
            Task::Segments(row) => row.key,
        }
    }

    /// The position in the heat map: the row, and the group and the name of the column.
    fn position(&self) -> (String, String, String) {
        match self {
            Task::Array(cell) => (cell.shape.name().into(), cell.title(), cells::power(cell.n)),
            Task::Segments(row) => (row.title(), "segments".into(), row.key.name().into()),
        }
    }
}

/// Measures what was asked for. Returns whether every result was correct.
pub fn run(args: &Args) -> Result<bool> {
    if let Some(seconds) = args.search {
        return search::run(args, seconds);
    }
    let tasks = tasks(&args.filter, args.n);
    if args.list {
        tasks.iter().for_each(|task| println!("{}", task.label()));
        return Ok(true);
    }
    let device = cuda::device(0)?;
    let name = &device.properties().name;
    let known = args.json.as_ref().map_or(Ok(Known::default()), |path| Known::read(path, SUITE, name))?;
    let missing: Vec<_> = tasks.iter().filter(|task| known.get(&task.facts(), THREADS).is_none()).collect();
    let rig = if missing.is_empty() {
        None
    } else {
        let most = missing.iter().map(|task| task.n()).max().unwrap_or(0);
        let bytes = missing.iter().map(|task| task.n() * task.key().bytes()).max().unwrap_or(0);
        Some(Rig::new(&device, args.peers.as_deref(), most, bytes)?)
    };
    let (mut scored, mut failed) = (Vec::new(), 0);
    let mut bench = rig.as_ref().map(|rig| Bench { rig, args, drawn: None });
    for task in tasks {
        let score = match (known.get(&task.facts(), THREADS), &mut bench) {
            (Some(score), _) => score.clone(),
            (None, Some(bench)) => match bench.measure(&task) {
                Ok(score) => score,
                Err(error) => {
                    eprintln!("sortie-bench: {} failed: {error}", task.label());
                    failed += 1;
                    continue;
                }
            },
            (None, None) => continue,
        };
        scored.push((task, score));
    }
    print!("\n{}", summary::summary(&scored));
    if failed > 0 {
        println!("{failed} cells failed and are not in the figures above; see the errors");
    }
    if let Some(path) = &args.plot {
        draw(path, name, &scored)?;
    }
    Ok(failed == 0 && scored.iter().all(|(_, score)| score.all_right()))
}

/// The array cells whose names contain the filter. Segments are added if the filter is empty or names them.
fn tasks(filter: &str, n: Option<usize>) -> Vec<Task> {
    let filter = filter.to_lowercase();
    let arrays = cells::all(n).into_iter().map(Task::Array);
    let segments = layout::all(n).into_iter().map(Task::Segments);
    let asked = filter.is_empty() || filter.contains("segments");
    let tasks = arrays.chain(segments.filter(|_| asked));
    tasks.filter(|task| task.label().to_lowercase().contains(&filter)).collect()
}

/// The rig with the array that was drawn last. Cells of the same array share it.
struct Bench<'a> {
    rig: &'a Rig,
    args: &'a Args,
    drawn: Option<(Cell, Array<'a>)>,
}

impl Bench<'_> {
    /// Measures a task, prints the result, and appends it to the `--json` file.
    fn measure(&mut self, task: &Task) -> Result<Score> {
        let reps = self.args.reps.unwrap_or(if task.n() < LARGE { SMALL_REPS } else { REPS });
        let raced = match task {
            Task::Array(cell) => self.race_array(cell, reps)?,
            Task::Segments(row) => self.race_segments(row, reps)?,
        };
        let (facts, label) = (task.facts(), task.label());
        let rows = rows(&about(&facts, &label, &self.rig.device().properties().name), &raced);
        if let Some(path) = &self.args.json {
            json::append(path, &rows)?;
        }
        let score = Score::of_rows(&rows).expect("Sortie is among them");
        let ratio = score.ratio().map_or("    ".into(), |ratio| format!("{ratio:.2}"));
        println!("{ratio}  {}", line(&label, &raced));
        Ok(score)
    }

    fn race_array(&mut self, cell: &Cell, reps: usize) -> Result<Vec<Raced>> {
        let Cell { key, n, shape, .. } = *cell;
        let same = |drawn: &Cell| (drawn.key, drawn.n, drawn.shape) == (key, n, shape);
        let array = match self.drawn.take() {
            Some((drawn, array)) if same(&drawn) => array,
            _ => self.rig.arena.draw(Source::Shape(shape), key, n, self.args.seed)?,
        };
        let raced = race(self.rig.array_entrants(&array, cell.work), reps);
        self.drawn = Some((*cell, array));
        raced
    }

    fn race_segments(&mut self, row: &layout::Row, reps: usize) -> Result<Vec<Raced>> {
        self.drawn = None;
        let (arena, seed) = (&self.rig.arena, self.args.seed);
        let shape = if row.key.is_float() { Shape::Normal } else { Shape::Uniform };
        let array = arena.draw(Source::Shape(shape), row.key, row.n, seed)?;
        let offsets = match row.offsets(seed) {
            Some(host) => {
                let device = self.rig.device().alloc(host.len())?;
                arena.stream.copy_in(device.view(), &host)?;
                Some((host, device))
            }
            None => None,
        };
        let (count, length, address) = match (&offsets, row.layout) {
            (_, Layout::Even { count, length } | Layout::Graph { count, length }) => (count, length, 0),
            (Some((host, device)), _) => (host.len() - 1, 0, device.address()),
            (None, _) => unreachable!("lengths that differ have offsets"),
        };
        let segments = array.segments(count as u64, length as u64, address)?;
        match row.layout {
            Layout::Graph { .. } => race(self.rig.graph_entrants(row, &segments), reps),
            _ => race(self.rig.segment_entrants(row, &segments, offsets.as_ref()), reps),
        }
    }
}

/// What a row contains besides the times.
fn about<'a>(facts: &'a Facts, label: &'a str, device: &'a str) -> About<'a> {
    let bytes = facts.n * if facts.key.ends_with("64") { 8 } else { 4 };
    About { facts, label, engine: "cuda", device, threads: THREADS, bytes }
}

fn draw(path: &Path, device: &str, scored: &[(Task, Score)]) -> Result<()> {
    let mut scored: Vec<_> = scored.iter().collect();
    // Puts columns of one type and operation next to each other. Cells are measured array by array.
    let order = |task: &Task| match task {
        Task::Array(cell) => (KeyType::ALL.iter().position(|&key| key == cell.key), Some(cell.work as usize)),
        Task::Segments(row) => (Some(KeyType::ALL.len()), Some(row.key as usize)),
    };
    scored.sort_by_key(|(task, _)| (order(task), task.n()));
    let tile = |(task, score): &(Task, Score)| {
        let (row, group, column) = task.position();
        Some(Tile { row, group, column, ratio: score.ratio()?, right: score.right() })
    };
    let title = format!(
        "Sortie {}, suite grid on {device}: time of the best peer / time of Sortie",
        env!("CARGO_PKG_VERSION")
    );
    heat_map::draw(path, &title, &scored.into_iter().filter_map(tile).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_pick_by_name_and_segments_are_asked_for() {
        let all = tasks("", None);
        assert!(matches!(all[0], Task::Array(_)) && matches!(all[all.len() - 1], Task::Segments(_)));
        let segments = tasks("segments f32", None);
        assert_eq!(segments.len(), 18);
        let uniform = tasks("KEYS u64, 2^28, uniform", None);
        assert_eq!(uniform.iter().map(Task::label).collect::<Vec<_>>(), ["keys u64, 2^28, uniform"]);
        assert!(tasks("2^26", None).is_empty(), "segments were not asked for");
    }
}
