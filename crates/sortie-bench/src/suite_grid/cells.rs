//! The cells of the grid: type x operation x size x shape.

use crate::grid::shape::Shape;
use crate::measure::Facts;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyType {
    U32,
    U64,
    F32,
    I32,
    F64,
}

impl KeyType {
    pub const ALL: [KeyType; 5] = [KeyType::U32, KeyType::U64, KeyType::F32, KeyType::I32, KeyType::F64];

    pub fn name(self) -> &'static str {
        match self {
            KeyType::U32 => "u32",
            KeyType::U64 => "u64",
            KeyType::F32 => "f32",
            KeyType::I32 => "i32",
            KeyType::F64 => "f64",
        }
    }

    pub fn bytes(self) -> usize {
        match self {
            KeyType::U32 | KeyType::F32 | KeyType::I32 => 4,
            KeyType::U64 | KeyType::F64 => 8,
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, KeyType::F32 | KeyType::F64)
    }

    /// `Kind` in `kernels/grid.cu`.
    pub fn kind(self) -> i32 {
        match self {
            KeyType::U32 | KeyType::U64 => 0,
            KeyType::I32 => 1,
            KeyType::F32 | KeyType::F64 => 2,
        }
    }

    /// Whether torch.sort supports it on a GPU.
    pub fn has_torch(self) -> bool {
        !matches!(self, KeyType::U32 | KeyType::U64)
    }
}

/// The operation to measure. Pairs are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Work {
    Keys,
    Pairs4,
    Pairs8,
    Argsort,
}

impl Work {
    pub const ALL: [Work; 4] = [Work::Keys, Work::Pairs4, Work::Pairs8, Work::Argsort];

    pub fn name(self) -> &'static str {
        match self {
            Work::Keys => "keys",
            Work::Pairs4 | Work::Pairs8 => "pairs",
            Work::Argsort => "argsort",
        }
    }

    pub fn payload(self) -> &'static str {
        match self {
            Work::Keys | Work::Argsort => "",
            Work::Pairs4 => "u32",
            Work::Pairs8 => "u64",
        }
    }

    /// The size of a payload or an index in bytes.
    pub fn payload_bytes(self) -> usize {
        match self {
            Work::Keys => 0,
            Work::Pairs4 | Work::Argsort => 4,
            Work::Pairs8 => 8,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cell {
    pub key: KeyType,
    pub n: usize,
    pub shape: Shape,
    pub work: Work,
}

/// The sizes of arrays, as powers of two.
const LOGS: [u32; 5] = [12, 16, 20, 24, 28];
/// A further size, only for uniform keys.
const LARGEST_LOG: u32 = 30;

/// The types that have all cells.
const WHOLE: [KeyType; 3] = [KeyType::U32, KeyType::U64, KeyType::F32];
/// The types that have a part of the cells.
const SAMPLED: [KeyType; 2] = [KeyType::I32, KeyType::F64];
const SAMPLED_LOGS: [u32; 3] = [16, 20, 28];
const SAMPLED_SHAPES: [Shape; 5] =
    [Shape::Uniform, Shape::And3, Shape::TwoValues, Shape::Normal, Shape::LogNormal];

/// All cells. With `n`, the cells with `n` keys instead. Cells of the same array follow each other.
pub fn all(n: Option<usize>) -> Vec<Cell> {
    let sizes = |logs: &[u32]| n.map_or(logs.iter().map(|log| 1 << log).collect::<Vec<_>>(), |n| vec![n]);
    let mut cells = Vec::new();
    let mut add = |key: KeyType, n, shape: Shape| {
        if shape.takes(key.is_float()) {
            cells.extend(Work::ALL.map(|work| Cell { key, n, shape, work }));
        }
    };
    for key in WHOLE {
        for n in sizes(&LOGS) {
            Shape::ON_DEVICES.iter().for_each(|&shape| add(key, n, shape));
        }
        if n.is_none() {
            add(key, 1 << LARGEST_LOG, Shape::Uniform);
        }
    }
    for key in SAMPLED {
        for n in sizes(&SAMPLED_LOGS) {
            SAMPLED_SHAPES.iter().for_each(|&shape| add(key, n, shape));
        }
    }
    cells
}

impl Cell {
    pub fn facts(&self) -> Facts {
        Facts {
            suite: super::SUITE,
            work: self.work.name(),
            key: self.key.name(),
            payload: self.work.payload(),
            n: self.n,
            segments: None,
            length: None,
            distribution: self.shape.name(),
            includes: "nothing",
        }
    }

    pub fn label(&self) -> String {
        format!("{}, {}, {}", self.title(), power(self.n), self.shape.name())
    }

    /// The operation and the types, such as `pairs (u32,u64)`.
    pub fn title(&self) -> String {
        match self.work.payload() {
            "" => format!("{} {}", self.work.name(), self.key.name()),
            payload => format!("{} ({},{payload})", self.work.name(), self.key.name()),
        }
    }
}

/// Formats 268435456 as 2^28.
pub fn power(n: usize) -> String {
    if n.is_power_of_two() { format!("2^{}", n.ilog2()) } else { n.to_string() }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_cell_is_there_once_and_named_by_what_it_is() {
        let cells = all(None);
        // Integers have 26 shapes, floats 28. There are four operations, five sizes, and the largest size.
        let whole = 4 * (2 * (26 * 5 + 1) + 28 * 5 + 1);
        assert_eq!(cells.len(), whole + 4 * 3 * (4 + 5));
        assert_eq!(cells.iter().collect::<HashSet<_>>().len(), cells.len());
        assert_eq!(cells[1].label(), "pairs (u32,u32), 2^12, uniform");
        let largest = cells.iter().filter(|cell| cell.n == 1 << 30);
        assert!(largest.clone().all(|cell| cell.shape == Shape::Uniform) && largest.count() == 12);
        assert!(!cells.iter().any(|cell| cell.key == KeyType::I32 && cell.shape == Shape::LogNormal));
    }

    #[test]
    fn one_size_in_place_of_all() {
        let cells = all(Some(1000));
        assert_eq!(cells.len(), 4 * (2 * 26 + 28 + 4 + 5));
        assert!(cells.iter().all(|cell| cell.n == 1000));
        assert_eq!(cells[3].label(), "argsort u32, 1000, uniform");
    }
}
