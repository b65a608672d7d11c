//! Suite `hybrid`: one array from host memory and back, by the CPU, by a GPU, and by both together; and an array larger
//! than the free GPU memory.
//!
//! Each contender draws its own copy of the data, and checks the result by sums. So only one copy of the largest arrays
//! is in memory.

use std::sync::Arc;

use rand::{Rng as _, SeedableRng};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use sortie::gpu::Gpu;
use sortie::{Algorithm, Engine, Sorter};
use sortie_device::Buffer;

use crate::Result;
use crate::args::Args;
use crate::distributions::{Distribution, Rng};
use crate::keys::BenchKey;
use crate::measure::{Case, Clock, Contender, Facts, Measurable};

/// The number of keys in an array, unless `--n` gives one. A quarter of them for distributions other than uniform and
/// normal.
const N: usize = 1 << 30;
/// An array of 40 GB, larger than the 8 GB that are left free on the GPU.
const LARGE_N: usize = 5_000_000_000;
const LARGE_ROOM: u64 = 8_000_000_000;

pub const CPU: &str = "CPU alone";
pub const GPU: &str = "GPU alone";
pub const HYBRID: &str = "hybrid";
pub const CHUNKS: &str = "in chunks";

/// The number of keys drawn by one generator.
const DRAWN_BY_ONE: usize = 1 << 20;

/// The seed from which each contender draws its data.
#[derive(Debug, Clone, Copy)]
pub struct Seed(u64);

pub type Sorts = Contender<Seed, bool>;

pub fn cases(args: &Args) -> Vec<Box<dyn Measurable>> {
    let threads = *args.threads.last().expect("one at least");
    let n = args.n.unwrap_or(N);
    let mut cases: Vec<Box<dyn Measurable>> = Vec::new();
    for distribution in [Distribution::Uniform, Distribution::Normal] {
        cases.push(Box::new(keys::<u32>(distribution, n, threads)));
        cases.push(Box::new(keys::<u64>(distribution, n, threads)));
    }
    cases.push(Box::new(pairs::<u32>(n, threads)));
    cases.push(Box::new(pairs::<u64>(n / 2, threads)));
    let others =
        [Distribution::Duplicates, Distribution::Staggered, Distribution::BucketSorted, Distribution::Sorted];
    for distribution in others {
        cases.push(Box::new(keys::<u32>(distribution, n / 4, threads)));
        cases.push(Box::new(keys::<u64>(distribution, n / 4, threads)));
    }
    let large = args.n.unwrap_or(LARGE_N);
    let contenders = vec![
        sorts::<u64, false>(CPU, Distribution::Uniform, large, threads, Choice::of(Engine::Cpu)),
        in_chunks(large, args.n.map_or(LARGE_ROOM, |n| (8 * n / 5) as u64), threads),
    ];
    cases.push(Box::new(case::<u64>(
        "sort, larger than the GPU",
        "",
        Distribution::Uniform,
        large,
        contenders,
    )));
    cases
}

fn keys<K: BenchKey>(distribution: Distribution, n: usize, threads: usize) -> Case<Seed, bool> {
    let of = |name, engine| sorts::<K, false>(name, distribution, n, threads, Choice::of(engine));
    let contenders = vec![of(GPU, Engine::Cuda(0)), of(CPU, Engine::Cpu), of(HYBRID, Engine::Hybrid(0))];
    case::<K>("sort, host to host", "", distribution, n, contenders)
}

fn pairs<K: BenchKey>(n: usize, threads: usize) -> Case<Seed, bool> {
    let of = |name, engine| sorts::<K, true>(name, Distribution::Uniform, n, threads, Choice::of(engine));
    let contenders = vec![of(GPU, Engine::Cuda(0)), of(CPU, Engine::Cpu), of(HYBRID, Engine::Hybrid(0))];
    case::<K>("pairs, host to host", K::NAME, Distribution::Uniform, n, contenders)
}

pub fn case<K: BenchKey>(
    work: &'static str,
    payload: &'static str,
    distribution: Distribution,
    n: usize,
    contenders: Vec<Sorts>,
) -> Case<Seed, bool> {
    Case {
        figure: "",
        facts: Facts {
            suite: "hybrid",
            work,
            key: K::NAME,
            payload,
            n,
            segments: None,
            length: None,
            distribution: distribution.name(),
            includes: "transfers, scratch",
        },
        draw: Box::new(|rng| Ok(Seed(rng.next_u64()))),
        bytes: |_| 0,
        agrees: |_, _, right| *right,
        contenders,
    }
}

/// The options of a sorter.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    pub engine: Engine,
    pub algorithm: Algorithm,
    pub share: Option<f64>,
}

impl Choice {
    pub fn of(engine: Engine) -> Choice {
        Choice { engine, algorithm: Algorithm::Auto, share: None }
    }
}

/// Sorts keys, or pairs of keys with payloads of the same size.
pub fn sorts<K: BenchKey, const PAIRS: bool>(
    name: &'static str,
    distribution: Distribution,
    n: usize,
    threads: usize,
    choice: Choice,
) -> Sorts {
    Contender::new(name, threads, move |seed: &Seed, clock: &mut Clock| {
        let builder = Sorter::builder().threads(threads).engine(choice.engine).algorithm(choice.algorithm);
        let builder = choice.share.into_iter().fold(builder, |builder, share| builder.gpu_share(share));
        sorted::<K, PAIRS>(&builder.build()?, distribution, n, *seed, threads, clock)
    })
}

/// Sorts keys on a GPU with only `room` bytes of free memory.
fn in_chunks(n: usize, room: u64, threads: usize) -> Sorts {
    Contender::new(CHUNKS, threads, move |seed: &Seed, clock: &mut Clock| {
        let gpu = Gpu::cuda(0)?;
        let _taken = all_but(&gpu, room)?;
        let sorter = Sorter::builder().threads(threads).engine(Engine::Cuda(0)).build()?;
        sorted::<u64, false>(&sorter, Distribution::Uniform, n, *seed, threads, clock)
    })
}

/// Allocates all but `room` bytes of the free device memory.
pub fn all_but(gpu: &Arc<Gpu>, room: u64) -> Result<Option<Buffer<u8>>> {
    let free = gpu.device().free_memory()?;
    Ok(free.checked_sub(room).map(|taken| gpu.device().alloc(taken as usize)).transpose()?)
}

/// Draws the data, sorts it, and returns whether the result is correct.
fn sorted<K: BenchKey, const PAIRS: bool>(
    sorter: &Sorter,
    distribution: Distribution,
    n: usize,
    seed: Seed,
    threads: usize,
    clock: &mut Clock,
) -> Result<bool> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
    let mut keys: Vec<K> = pool.install(|| draw(distribution, n, seed));
    // Payloads are indices, as bits of the key type.
    let mut payload: Vec<K> = match PAIRS {
        true => pool.install(|| (0..n as u64).into_par_iter().map(K::of).collect()),
        false => Vec::new(),
    };
    let before = pool.install(|| Sums::of(&keys, &payload));
    let report = match PAIRS {
        true => clock.time(|| sorter.sort_pairs(&mut keys, &mut payload)),
        false => clock.time(|| sorter.sort(&mut keys)),
    }?;
    if let Some([cpu, gpu]) = report.idle() {
        clock.note = format!("idle: CPU {:.0}%, GPU {:.0}%", 100.0 * cpu, 100.0 * gpu);
    }
    clock.report = report;
    Ok(pool.install(|| {
        let in_order = |i: usize| match keys[i].order(&keys[i + 1]) {
            std::cmp::Ordering::Equal if PAIRS => payload[i].order(&payload[i + 1]).is_lt(),
            order => order.is_le(),
        };
        (0..n.saturating_sub(1)).into_par_iter().all(in_order) && Sums::of(&keys, &payload) == before
    }))
}

/// Draws keys. Uses several generators in parallel if the distribution allows it.
fn draw<K: BenchKey>(distribution: Distribution, n: usize, Seed(seed): Seed) -> Vec<K> {
    if !matches!(distribution, Distribution::Uniform | Distribution::Normal) {
        return distribution.draw(n, &mut Rng::seed_from_u64(seed));
    }
    let mut keys = vec![K::of(0); n];
    keys.par_chunks_mut(DRAWN_BY_ONE).enumerate().for_each(|(i, keys)| {
        let mut rng = Rng::seed_from_u64(seed ^ i as u64);
        keys.copy_from_slice(&distribution.draw(keys.len(), &mut rng));
    });
    keys
}

/// Sums that are the same for all orders of the same keys or pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sums([u64; 2]);

impl Sums {
    fn of<K: BenchKey>(keys: &[K], payload: &[K]) -> Sums {
        let one = |i: usize| {
            let payload = payload.get(i).map_or(0, |payload| payload.bits());
            let mixed = (keys[i].bits() ^ payload.rotate_left(31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            [mixed ^ mixed >> 29, (mixed ^ mixed >> 32).wrapping_mul(0xBF58_476D_1CE4_E5B9)]
        };
        let add = |a: [u64; 2], b: [u64; 2]| [a[0].wrapping_add(b[0]), a[1].wrapping_add(b[1])];
        Sums((0..keys.len()).into_par_iter().map(one).reduce(|| [0; 2], add))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn cases_are_keys_pairs_and_what_is_larger() {
        let args = Args::parse_from(["sortie-bench", "--suite", "hybrid", "--threads", "16"]);
        let described: Vec<_> = cases(&args).iter().map(|case| case.describe()).collect();
        assert_eq!(described.len(), 15);
        let first = "sort, host to host u32, 1073741824, uniform: GPU alone x16, CPU alone x16, hybrid x16";
        assert_eq!(described[0], first);
        assert!(
            described[14].starts_with("sort, larger than the GPU u64, 5000000000, uniform: CPU alone x16")
        );
    }

    #[test]
    fn a_wrong_result_is_noticed() {
        let keys: Vec<u32> = draw(Distribution::Uniform, 3_000_000, Seed(7));
        let sums = Sums::of(&keys, &[]);
        let mut other = keys.clone();
        other.sort_unstable();
        assert_eq!(Sums::of(&other, &[]), sums);
        other[5] += 1;
        assert_ne!(Sums::of(&other, &[]), sums);
        // Payloads that were swapped.
        let (keys, mut payload) = ([1u64, 2], [0u64, 1]);
        let before = Sums::of(&keys, &payload);
        payload.swap(0, 1);
        assert_ne!(Sums::of(&keys, &payload), before);
    }

    #[test]
    fn the_cpu_is_found_right() {
        let choice = Choice::of(Engine::Cpu);
        for right in [
            sorts::<u64, true>(CPU, Distribution::Uniform, 5000, 1, choice),
            sorts::<u32, false>(CPU, Distribution::Staggered, 5000, 1, choice),
        ] {
            assert!((right.run)(&Seed(1), &mut Clock::default()).unwrap());
        }
    }
}
