//! The cells of the grid: call x type x size x input x number of threads.

use rand::{Rng as _, SeedableRng};

pub use super::call::{Call, KeyType};
use crate::bars::CPU_GRID_BARS;
use crate::distributions::{Rng, StringSet};
use crate::grid::shape::Shape;
use crate::measure::{Facts, amount};

/// The kinds of strings in an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Texts {
    Drawn(StringSet),
    /// Words in order.
    Sorted,
    /// Words in descending order.
    Reversed,
}

impl Texts {
    pub const ALL: &[Texts] = &[
        Texts::Drawn(StringSet::Words),
        Texts::Drawn(StringSet::Dictionary),
        Texts::Drawn(StringSet::Text),
        Texts::Drawn(StringSet::RealWords),
        Texts::Drawn(StringSet::Urls),
        Texts::Drawn(StringSet::Paths),
        Texts::Drawn(StringSet::Dna),
        Texts::Drawn(StringSet::Repeated),
        Texts::Drawn(StringSet::Nested),
        Texts::Drawn(StringSet::FewLong),
        Texts::Drawn(StringSet::Equal),
        Texts::Sorted,
        Texts::Reversed,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Texts::Drawn(set) => set.name(),
            Texts::Sorted => "sorted words",
            Texts::Reversed => "reversed words",
        }
    }

    /// The kinds that this machine can draw.
    pub fn available() -> impl Iterator<Item = Texts> {
        let there = |texts: &Texts| !matches!(texts, Texts::Drawn(set) if !set.available());
        Texts::ALL.iter().copied().filter(there)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Input {
    Shape(Shape),
    Texts(Texts),
}

impl Input {
    pub fn name(self) -> &'static str {
        match self {
            Input::Shape(shape) => shape.name(),
            Input::Texts(texts) => texts.name(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cell {
    pub call: Call,
    pub n: usize,
    pub input: Input,
    pub threads: usize,
}

/// The sizes at which all cells are measured on one thread.
const WHOLE: [usize; 11] = [1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000];
/// The library may use several threads from this size on, so more than one is measured.
const THREADED: usize = 100_000;
/// The sizes at which one in [`SAMPLED`] cells is measured. On several threads, also [`THREADED`].
const LARGE: [usize; 4] = [300_000, 1_000_000, 3_000_000, 10_000_000];
const SAMPLED: u64 = 20;
/// Strings have several hundred bytes each, so more would take too much memory.
const MOST_STRINGS: usize = 1_000_000;
/// Further sizes, only for uniform u32 and u64.
const LARGEST: [usize; 2] = [30_000_000, 100_000_000];

/// All cells; of the large ones, a sample that depends on the seed. With `n`, all cells with `n` elements instead.
pub fn all(n: Option<usize>, threads: &[usize], seed: u64) -> Vec<Cell> {
    let mut cells = Vec::new();
    for &threads in threads {
        let mut rng = Rng::seed_from_u64(seed);
        for call in Call::all() {
            let sizes = n.map_or_else(|| WHOLE.into_iter().chain(LARGE).collect(), |n| vec![n]);
            for n_here in sizes {
                for input in inputs(call) {
                    let cell = Cell { call, n: n_here, input, threads };
                    let drawn = rng.next_u64().is_multiple_of(SAMPLED);
                    if n.is_some() || cell.is_asked_for() || cell.is_whole() || (drawn && cell.may_be_drawn())
                    {
                        cells.push(cell);
                    }
                }
            }
            if n.is_none() && matches!(call, Call::Keys(KeyType::U32 | KeyType::U64)) {
                let input = Input::Shape(Shape::Uniform);
                cells.extend(LARGEST.map(|n| Cell { call, n, input, threads }));
            }
        }
    }
    cells
}

fn inputs(call: Call) -> Vec<Input> {
    match call.key() {
        Some(key) => {
            let shapes = Shape::ALL.iter().filter(|shape| shape.takes(key.is_float()));
            shapes.map(|&shape| Input::Shape(shape)).collect()
        }
        None => Texts::available().map(Input::Texts).collect(),
    }
}

impl Cell {
    fn is_whole(&self) -> bool {
        self.threads == 1 && WHOLE.contains(&self.n)
    }

    fn may_be_drawn(&self) -> bool {
        self.n >= THREADED && (self.call.key().is_some() || self.n <= MOST_STRINGS)
    }

    /// Whether the cell has a target of its own.
    fn is_asked_for(&self) -> bool {
        let (title, input) = (self.call.title(), self.input.name());
        CPU_GRID_BARS.iter().any(|bar| (bar.call, bar.n, bar.input) == (&title[..], self.n, input))
    }

    pub fn facts(&self) -> Facts {
        Facts { distribution: self.input.name(), ..self.call.facts(self.n) }
    }

    /// The name, such as `pairs u32 + 8 bytes, 1000, uniform`.
    pub fn label(&self) -> String {
        let threads = if self.threads == 1 { String::new() } else { format!(", {} threads", self.threads) };
        format!("{}, {}, {}{threads}", self.call.title(), amount(self.n), self.input.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn small_cells_are_whole_and_large_ones_a_sample_by_the_seed() {
        let cells = all(None, &[1, 2], 1);
        assert_eq!(cells.iter().collect::<HashSet<_>>().len(), cells.len());
        let of = |n, threads| cells.iter().filter(|cell| cell.n == n && cell.threads == threads).count();
        let each: usize = Call::all().into_iter().map(|call| inputs(call).len()).sum();
        assert!(WHOLE.iter().all(|&n| of(n, 1) == each));
        assert_eq!(of(30_000, 2), 0);
        for (n, threads) in [(1_000_000, 1), (10_000_000, 1), (100_000, 2), (1_000_000, 2)] {
            let share = of(n, threads) as f64 / each as f64;
            assert!((0.025..0.1).contains(&share), "{share} of {n}");
        }
        assert_eq!(of(100_000_000, 1), 2);
        assert_eq!(cells, all(None, &[1, 2], 1));
        assert_ne!(cells, all(None, &[1, 2], 2));
    }

    #[test]
    fn every_bar_has_its_cell() {
        let cells = all(None, &[1], 5);
        for bar in CPU_GRID_BARS {
            let is = |cell: &&Cell| {
                (&cell.call.title()[..], cell.n, cell.input.name()) == (bar.call, bar.n, bar.input)
            };
            let drawn = bar.input != "real words" || StringSet::RealWords.available();
            assert_eq!(cells.iter().filter(is).count(), usize::from(drawn), "{}, {}", bar.call, bar.input);
        }
    }

    #[test]
    fn one_size_in_place_of_all_and_names_by_what_a_cell_is() {
        let cells = all(Some(50), &[2], 1);
        assert!(cells.iter().all(|cell| cell.n == 50));
        let labels: HashSet<_> = cells.iter().map(Cell::label).collect();
        assert_eq!(labels.len(), cells.len());
        for label in ["keys u8, 50, zero, 2 threads", "by key u64 in 16 bytes, 50, 8 runs, 2 threads"] {
            assert!(labels.contains(label), "{label}");
        }
        assert!(!cells.iter().any(
            |cell| cell.call == Call::Keys(KeyType::I32) && cell.input == Input::Shape(Shape::LogNormal)
        ));
    }
}
