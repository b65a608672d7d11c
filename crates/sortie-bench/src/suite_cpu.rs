//! Suite `cpu`: keys, pairs, indices and segments in memory.

use std::sync::Arc;

use rand::SeedableRng;

use crate::args::Args;
use crate::check::places_order;
use crate::distributions::{Distribution, Rng, power_law};
use crate::keys::{BenchKey, Pair, Payload, Voracious};
use crate::measure::{Case, Facts, Measurable};
use crate::peers::{self, Placed, Team};

/// The number of keys in a workload, unless stated otherwise.
const N: usize = 10_000_000;

/// The number of segments, and of keys in each.
const SEGMENTS: (usize, usize) = (20_000, 1000);

pub fn cases(args: &Args) -> Vec<Box<dyn Measurable>> {
    let teams = Team::all(&args.threads);
    let n = args.n.unwrap_or(N);
    let mut cases = Vec::new();
    cases.extend(Distribution::ALL.map(|distribution| keys::<u32>(n, distribution, &teams)));
    cases.extend(Distribution::ALL.map(|distribution| keys::<u64>(n, distribution, &teams)));
    if args.n.is_none() {
        cases.push(keys::<u32>(N / 10, Distribution::Uniform, &teams));
        cases.push(keys::<u32>(N * 10, Distribution::Uniform, &teams));
    }
    cases.push(keys::<u8>(n, Distribution::Uniform, &teams));
    cases.push(keys::<u16>(n, Distribution::Uniform, &teams));
    cases.push(keys::<u128>(n, Distribution::Uniform, &teams));
    cases.push(keys::<i32>(n, Distribution::Uniform, &teams));
    cases.push(keys::<i64>(n, Distribution::Uniform, &teams));
    cases.push(keys::<f32>(n, Distribution::Uniform, &teams));
    cases.push(keys::<f64>(n, Distribution::Uniform, &teams));
    cases.push(pairs::<u64, u64>(n, &teams));
    cases.push(pairs::<u32, u32>(n, &teams));
    cases.push(pairs::<u32, u64>(n, &teams));
    cases.push(pairs::<u64, u32>(n, &teams));
    cases.push(places(n, &teams));
    let (segments, length) = SEGMENTS;
    let n = args.n.map_or(segments * length, |n| n.next_multiple_of(length));
    let offsets = (0..=n / length).map(|i| i * length).collect();
    cases.push(segments_of(offsets, Some(length), "uniform", &teams));
    let offsets = power_law(n, &mut Rng::seed_from_u64(args.seed));
    cases.push(segments_of(offsets, None, "uniform, power-law lengths", &teams));
    cases
}

/// The facts that most cases share.
fn facts<K: BenchKey>(work: &'static str, n: usize, distribution: &'static str) -> Facts {
    Facts {
        suite: "cpu",
        work,
        key: K::NAME,
        payload: "",
        n,
        segments: None,
        length: None,
        distribution,
        includes: "scratch",
    }
}

/// Whether two slices have the same keys, bit for bit.
fn same<K: BenchKey>(reference: &[K], outcome: &[K]) -> bool {
    reference.len() == outcome.len() && reference.iter().zip(outcome).all(|(a, b)| a.order(b).is_eq())
}

/// Whether the keys are in order, and each key and its payload are at the right index.
fn placed<K: BenchKey>(input: &[K], outcome: &Placed<K>) -> bool {
    let moved = || outcome.keys.iter().zip(&outcome.places).all(|(key, &place)| *key == input[place]);
    (outcome.keys.is_empty() || outcome.keys.len() == outcome.places.len())
        && places_order(input, outcome.places.iter().copied(), outcome.stable)
        && moved()
}

fn keys<K: BenchKey>(n: usize, distribution: Distribution, teams: &[Team]) -> Box<dyn Measurable> {
    Box::new(Case {
        figure: "",
        facts: facts::<K>("sort", n, distribution.name()),
        draw: Box::new(move |rng| Ok(distribution.draw::<K>(n, rng))),
        bytes: |keys| size_of_val(&keys[..]),
        agrees: |_, reference: &Vec<K>, outcome: &Vec<K>| same(reference, outcome),
        contenders: peers::sorts(teams),
    })
}

fn pairs<K: BenchKey + Ord, V: Payload>(n: usize, teams: &[Team]) -> Box<dyn Measurable>
where
    Pair<K, V>: Voracious,
{
    Box::new(Case {
        figure: "",
        facts: Facts { payload: V::NAME, ..facts::<K>("pairs", n, "uniform") },
        draw: Box::new(move |rng| Ok(Distribution::Uniform.draw::<K>(n, rng))),
        bytes: |keys| keys.len() * (size_of::<K>() + size_of::<V>()),
        agrees: |input, _, outcome| placed(input, outcome),
        contenders: peers::pair_sorts::<K, V>(teams),
    })
}

fn places(n: usize, teams: &[Team]) -> Box<dyn Measurable> {
    Box::new(Case {
        figure: "",
        facts: Facts {
            includes: "scratch, places; of std and the peers, building (key, place) pairs",
            ..facts::<u64>("argsort", n, "uniform")
        },
        draw: Box::new(move |rng| Ok(Distribution::Uniform.draw::<u64>(n, rng))),
        bytes: |keys| size_of_val(&keys[..]),
        agrees: |input, _, outcome| placed(input, outcome),
        contenders: peers::argsorts(teams),
    })
}

fn segments_of(
    offsets: Vec<usize>,
    length: Option<usize>,
    distribution: &'static str,
    teams: &[Team],
) -> Box<dyn Measurable> {
    let offsets = Arc::new(offsets);
    let (segments, n) = (offsets.len() - 1, offsets[offsets.len() - 1]);
    Box::new(Case {
        figure: "",
        facts: Facts { segments: Some(segments), length, ..facts::<f32>("segments", n, distribution) },
        draw: Box::new(move |rng| Ok(Distribution::Uniform.draw::<f32>(n, rng))),
        bytes: |keys| size_of_val(&keys[..]),
        agrees: |_, reference: &Vec<f32>, outcome: &Vec<f32>| same(reference, outcome),
        contenders: peers::segment_sorts(teams, length, &offsets),
    })
}
