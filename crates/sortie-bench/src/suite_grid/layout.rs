//! The rows for segments: how the keys are divided.

use rand::{Rng as _, SeedableRng};

use super::cells::{KeyType, power};
use crate::distributions::{Rng, power_law};
use crate::measure::Facts;

/// The number of keys in a row, unless `--n` gives one.
const N: usize = 1 << 26;

const GEOMETRIC_MEAN: f64 = 256.0;

/// The maximum length of the short segments around the giant one.
const SHORT: u64 = 89;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layout {
    Even {
        count: usize,
        length: usize,
    },
    PowerLaw,
    Geometric,
    /// One segment has nine tenths of the keys. Many short ones before and after it have the rest.
    OneGiant,
    /// Segments of one length, each sorted by its own call; one graph captures all calls.
    Graph {
        count: usize,
        length: usize,
    },
}

/// The measured graph: 100 sorts of 2^16 keys.
const GRAPH: Layout = Layout::Graph { count: 100, length: 1 << 16 };

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Row {
    pub key: KeyType,
    pub n: usize,
    pub layout: Layout,
}

/// Uniform u64 and normal f32 in few long segments, in many short ones, and in segments of different lengths; and one
/// graph of f32.
pub fn all(n: Option<usize>) -> Vec<Row> {
    let n = n.unwrap_or(N);
    let counts = (0..).map(|log| 1 << (2 * log)).take_while(|&count: &usize| count <= n);
    let even = counts.map(|count| Layout::Even { count, length: n / count });
    let layouts: Vec<_> = even.chain([Layout::PowerLaw, Layout::Geometric, Layout::OneGiant]).collect();
    let row = |key, &layout: &Layout| {
        let n = match layout {
            Layout::Even { count, length } | Layout::Graph { count, length } => count * length,
            _ => n,
        };
        Row { key, n, layout }
    };
    let both = [KeyType::F32, KeyType::U64].into_iter();
    let graph = row(KeyType::F32, &GRAPH);
    both.flat_map(|key| layouts.iter().map(move |layout| row(key, layout))).chain([graph]).collect()
}

impl Row {
    /// The start of each segment followed by the end of the last one, if the lengths differ.
    pub fn offsets(&self, seed: u64) -> Option<Vec<u64>> {
        let (n, mut rng) = (self.n as u64, Rng::seed_from_u64(seed));
        let mut ends = vec![0];
        let mut fill = |end: u64, mut length: Box<dyn FnMut() -> u64 + '_>| {
            let mut at = ends[ends.len() - 1];
            while at < end {
                at = end.min(at + length());
                ends.push(at);
            }
        };
        match self.layout {
            Layout::Even { .. } | Layout::Graph { .. } => return None,
            Layout::PowerLaw => {
                return Some(power_law(self.n, &mut rng).into_iter().map(|o| o as u64).collect());
            }
            Layout::Geometric => fill(n, Box::new(|| geometric(&mut rng))),
            Layout::OneGiant => {
                fill(n / 20, Box::new(|| 1 + rng.next_u64() % SHORT));
                fill(n - n / 20, Box::new(|| n));
                fill(n, Box::new(|| 1 + rng.next_u64() % SHORT));
            }
        }
        Some(ends)
    }

    /// The distribution of the keys, and of the lengths if they differ.
    fn distribution(&self) -> &'static str {
        match (self.layout, self.key.is_float()) {
            (Layout::Even { .. } | Layout::Graph { .. }, true) => "normal",
            (Layout::Even { .. } | Layout::Graph { .. }, false) => "uniform",
            (Layout::PowerLaw, true) => "normal, power-law lengths",
            (Layout::PowerLaw, false) => "uniform, power-law lengths",
            (Layout::Geometric, true) => "normal, geometric lengths",
            (Layout::Geometric, false) => "uniform, geometric lengths",
            (Layout::OneGiant, true) => "normal, one giant",
            (Layout::OneGiant, false) => "uniform, one giant",
        }
    }

    pub fn facts(&self) -> Facts {
        let (segments, length) = match self.layout {
            Layout::Even { count, length } | Layout::Graph { count, length } => (Some(count), Some(length)),
            _ => (None, None),
        };
        let work = if let Layout::Graph { .. } = self.layout { "graph of sorts" } else { "segments" };
        Facts {
            suite: "grid",
            work,
            key: self.key.name(),
            payload: "",
            n: self.n,
            segments,
            length,
            distribution: self.distribution(),
            includes: "nothing",
        }
    }

    /// Only the division, such as `2^10 x 2^16`.
    pub fn title(&self) -> String {
        match self.layout {
            Layout::Even { count, length } => format!("{} x {}", power(count), power(length)),
            Layout::PowerLaw => "power-law lengths".into(),
            Layout::Geometric => "geometric lengths".into(),
            Layout::OneGiant => "one giant".into(),
            Layout::Graph { count, length } => format!("graph of {count} x {}", power(length)),
        }
    }

    pub fn label(&self) -> String {
        format!("segments {}, {}, {}", self.key.name(), power(self.n), self.title())
    }
}

fn geometric(rng: &mut Rng) -> u64 {
    let fraction = (rng.next_u64() as f64 + 0.5) / 2f64.powi(64);
    1 + (fraction.ln() / (1.0 - 1.0 / GEOMETRIC_MEAN).ln()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_go_from_one_segment_to_as_many_as_keys() {
        let rows = all(None);
        assert_eq!(rows.len(), 2 * (14 + 3) + 1);
        assert_eq!(rows[0].label(), "segments f32, 2^26, 2^0 x 2^26");
        assert_eq!(rows[13].label(), "segments f32, 2^26, 2^26 x 2^0");
        assert_eq!(rows[33].label(), "segments u64, 2^26, one giant");
        assert_eq!(rows[34].label(), "segments f32, 6553600, graph of 100 x 2^16");
        let not_graphs = |row: &&Row| !matches!(row.layout, Layout::Graph { .. });
        assert!(all(Some(1000)).iter().filter(not_graphs).all(|row| row.n <= 1000));
    }

    #[test]
    fn offsets_hold_all_keys() {
        for row in all(Some(1 << 20)).iter().filter(|row| row.facts().segments.is_none()) {
            let offsets = row.offsets(1).unwrap();
            assert_eq!((offsets[0], offsets[offsets.len() - 1]), (0, 1 << 20), "{}", row.label());
            let lengths: Vec<_> = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
            assert!(lengths.iter().all(|&length| length > 0));
            let (mean, longest) = ((1 << 20) as f64 / lengths.len() as f64, lengths.iter().max().unwrap());
            match row.layout {
                Layout::Geometric => assert!((240.0..272.0).contains(&mean), "a mean of {mean}"),
                Layout::OneGiant => assert!((longest * 10).abs_diff(9 << 20) < 100),
                _ => {}
            }
        }
    }
}
