//! Suite `large`: one array in GPU memory. The baseline is a copy of the keys.

use std::marker::PhantomData;
use std::rc::Rc;

use bytemuck::Pod;

use crate::args::Args;
use crate::distributions::Distribution;
use crate::keys::BenchKey;
use crate::measure::{Measurable, REPS};
use crate::suite_batch::batch::Shape;
use crate::suite_batch::contenders::{Contender, OneArray};
use crate::suite_batch::ours::Published;
use crate::suite_batch::{Case, Shared};

/// The sizes, as powers of two. The small ones fit in a GPU's caches, the large ones do not.
const LOGS: [u32; 5] = [16, 20, 24, 28, 30];

/// The size for which keys of every distribution are measured.
const SKEWED_LOG: u32 = 28;

const OURS: [OneArray; 5] =
    [OneArray::Keys, OneArray::Pairs, OneArray::UnstablePairs, OneArray::Argsort, OneArray::WideArgsort];

pub fn cases(args: &Args) -> Vec<Box<dyn Measurable>> {
    let shared = Shared::new(args);
    let sizes: Vec<u64> = match args.n {
        Some(n) => vec![n as u64],
        None => LOGS.map(|log| 1 << log).to_vec(),
    };
    let skewed = args.n.map_or(1 << SKEWED_LOG, |n| n as u64);
    let mut cases: Vec<Box<dyn Measurable>> = Vec::new();
    cases.extend(sizes.iter().map(|&n| case::<u32>(&shared, n, Distribution::Uniform)));
    cases.extend(sizes.iter().map(|&n| case::<u64>(&shared, n, Distribution::Uniform)));
    cases.push(case::<f32>(&shared, skewed, Distribution::Uniform));
    cases.push(case::<f64>(&shared, skewed, Distribution::Uniform));
    cases.push(case::<u128>(&shared, skewed, Distribution::Uniform));
    for &distribution in &Distribution::DRAWN_ON_DEVICES[1..] {
        cases.push(case::<u32>(&shared, skewed, distribution));
        cases.push(case::<u64>(&shared, skewed, distribution));
    }
    cases
}

fn case<K: BenchKey + Pod>(shared: &Rc<Shared>, n: u64, distribution: Distribution) -> Box<dyn Measurable> {
    let by_cub = matches!(K::NAME, "u32" | "u64");
    let narrow = size_of::<K>() == 4;
    let mut contenders = vec![Contender::Copy];
    let by_digits = size_of::<K>() <= 8;
    let ours = if narrow { &OURS[..] } else { &OURS[..usize::from(by_digits)] };
    contenders.extend(ours.iter().map(|&work| Contender::OneArray(work)));
    contenders.push(Contender::OneArray(OneArray::Compared));
    if by_digits {
        contenders.push(Contender::Published(Published::Bitonic));
    } else {
        contenders.push(Contender::CubMerge);
    }
    if by_cub {
        contenders.extend([Contender::CubRadix, Contender::CubMerge]);
    }
    if by_cub && narrow {
        contenders.push(Contender::CubRadixPairs);
    }
    Box::new(Case::<K> {
        suite: "large",
        title: "one array",
        shared: shared.clone(),
        shape: Shape::Even { segments: 1, length: n },
        contenders,
        patience: f64::INFINITY,
        reps: REPS,
        distribution,
        key: PhantomData,
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn cases_are_both_widths_at_every_size() {
        let described = |arguments: &[&str]| {
            let start = ["sortie-bench", "--suite", "large"];
            let args = Args::parse_from(start.iter().chain(arguments));
            cases(&args).iter().map(|case| case.describe()).collect::<Vec<_>>()
        };
        let all = described(&[]);
        assert_eq!(all.len(), 33);
        let names = "copy, sortie, sortie, by comparison, sortie, bitonic, CUB radix sort, CUB merge sort";
        assert!(all[3].starts_with("one array u32, 2^28, uniform: copy, sortie, sortie, pairs"));
        assert_eq!(all[8], format!("one array u64, 2^28, uniform: {names}"));
        assert!(all[14].starts_with("one array u64, 2^28, sorted: "), "{}", all[14]);
        assert_eq!(described(&["--n", "1000"])[1], format!("one array u64, 1000, uniform: {names}"));
    }
}
