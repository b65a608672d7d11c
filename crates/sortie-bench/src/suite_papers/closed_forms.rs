//! Capannini's section 6.1: formulas for the number of memory transactions in the K-model. k words make one
//! transaction, and σ words fit in shared memory.

use crate::Result;
use crate::measure::Measurable;
use crate::report::{Counted, Counts, Outcome, now};

pub const FIGURE: &str = "Capannini figure 6";
pub const BY: &str = "closed form";

/// Figure 6 has k ≃ 16. σ is the number of words in the 16 KB of its GPU.
const K: u64 = 16;
const SIGMA: u64 = 4096;

/// The sizes go up to gigabytes of 4-byte keys.
const LOGS: std::ops::RangeInclusive<u32> = 16..=30;

/// For each Γ-partition, all keys are read and written once, coalesced.
fn bitonic(n: u64) -> u64 {
    2 * n / K * partitions(n)
}

fn partitions(n: u64) -> u64 {
    let (log_n, log_sigma) = (u64::from(n.ilog2()), u64::from(SIGMA.ilog2()));
    let steps = u64::from((SIGMA / K).ilog2());
    let merges = (log_sigma + 1)..=log_n;
    1 + merges.map(|s| (s - log_sigma).div_ceil(steps) + 1).sum::<u64>()
}

/// Each step has three kernels: one counts, one computes prefix sums, and one moves keys, with one transaction per key.
fn quicksort(n: u64) -> u64 {
    u64::from(n.ilog2()) * ((n / K + 2) + 4 * n / (K * K) + (n / K + n))
}

/// Counts from formulas, which need no device.
pub struct ClosedForms;

impl Measurable for ClosedForms {
    fn keep(&mut self, filter: &str, _: &[usize]) -> bool {
        self.describe().to_lowercase().contains(&filter.to_lowercase())
    }

    fn describe(&self) -> String {
        format!("{FIGURE}, 2^{} to 2^{}, by {BY}: bitonic, quicksort", LOGS.start(), LOGS.end())
    }

    fn measure(&self, _: usize, _: u64) -> Result<Outcome> {
        let forms = [("bitonic", bitonic as fn(u64) -> u64), ("quicksort", quicksort)];
        let counted = LOGS.map(|log| 1 << log).flat_map(|n| {
            forms.map(|(contender, transactions)| Counted {
                suite: "papers",
                figure: FIGURE,
                key: "u32",
                n,
                distribution: "any",
                contender,
                counted_by: BY,
                device: format!("k = {K}, σ = {SIGMA}"),
                counts: Counts { transactions: transactions(n), conflicts: None, divergent_branches: None },
                verified: true,
                version: env!("CARGO_PKG_VERSION"),
                date: now(),
            })
        });
        Ok(Outcome::Counted(counted.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formulas_by_hand() {
        // Keys that fit in shared memory are one partition.
        assert_eq!([1 << 10, SIGMA].map(partitions), [1, 1]);
        // A merge takes one partition for the steps of σ, and one for up to 8 steps before those.
        assert_eq!([1 << 13, 1 << 14, 1 << 20].map(partitions), [3, 5, 17]);
        // From 2^21 on, the steps before take two partitions: 1 + 8 x 2 + 6 x 3.
        assert_eq!([1 << 21, 1 << 26].map(partitions), [20, 35]);
        // 2^16 transactions read or write all keys once.
        assert_eq!(bitonic(1 << 20), 2 * 65_536 * 17);
        // 20 steps of 65536 + 2, 16384 and 65536 + 2^20.
        assert_eq!(quicksort(1 << 20), 20 * (65_538 + 16_384 + 1_114_112));
    }
}
