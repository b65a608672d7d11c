//! Suite `large`: one array on a GPU, the keys resident there; the copy of them is the baseline.

use std::marker::PhantomData;
use std::rc::Rc;

use bytemuck::Pod;

use crate::args::Args;
use crate::keys::BenchKey;
use crate::measure::Measurable;
use crate::suite_batch::batch::Shape;
use crate::suite_batch::contenders::Contender;
use crate::suite_batch::{Case, Shared};

/// Keys: few fit a GPU's caches, many do not.
const LOGS: [u32; 5] = [16, 20, 24, 28, 30];

const CONTENDERS: [Contender; 5] =
    [Contender::Copy, Contender::Radix, Contender::Bitonic, Contender::CubRadix, Contender::CubMerge];

pub fn cases(args: &Args) -> Vec<Box<dyn Measurable>> {
    let shared = Shared::new(args);
    let sizes: Vec<u64> = match args.n {
        Some(n) => vec![n as u64],
        None => LOGS.map(|log| 1 << log).to_vec(),
    };
    let of_u32 = sizes.iter().map(|&n| case::<u32>(&shared, n));
    let of_u64 = sizes.iter().map(|&n| case::<u64>(&shared, n));
    of_u32.chain(of_u64).collect()
}

fn case<K: BenchKey + Pod>(shared: &Rc<Shared>, n: u64) -> Box<dyn Measurable> {
    Box::new(Case::<K> {
        suite: "large",
        title: "one array",
        shared: shared.clone(),
        shape: Shape::Even { segments: 1, length: n },
        contenders: CONTENDERS.to_vec(),
        patience: f64::INFINITY,
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
        assert_eq!(all.len(), 10);
        let names = "copy, sortie, sortie, bitonic, CUB radix sort, CUB merge sort";
        assert_eq!(all[3], format!("one array u32, 1 x 268435456: {names}"));
        assert_eq!(described(&["--n", "1000"])[1], format!("one array u64, 1 x 1000: {names}"));
    }
}
