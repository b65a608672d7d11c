//! Capannini's table 1: memory transactions, memory contention and divergent paths. They are counted by the kernels'
//! test bench, and by the GPU's own counters, which `ncu` reads while this program sorts once.

use std::collections::HashMap;
use std::process::{Command, Stdio};
use std::rc::Rc;

use rand::SeedableRng;
use sortie_simt::{Bench, Options, SHARED_227K};

use crate::Result;
use crate::distributions::{Distribution, Rng};
use crate::measure::Measurable;
use crate::report::{Counted, Counts, Outcome, now};
use crate::suite_batch::Shared;
use crate::suite_batch::contenders::left_out;
use crate::suite_batch::ours::{Engines, Published};

/// The published sorts that are compared.
pub const SORTS: [Published; 3] = [Published::Bitonic, Published::Quicksort, Published::RadixSort];

pub const TABLE_1: &str = "Capannini table 1";
pub const BENCH: &str = "test bench";
pub const NCU: &str = "ncu";

const BENCH_LOGS: [u32; 3] = [16, 18, 20];
const GPU_LOGS: [u32; 4] = [20, 22, 24, 26];

/// The multiprocessors of the simulated device, those of an H200. The sorts depend on this number.
const MULTIPROCESSORS: u32 = 132;
/// A transaction is a sector of 32 bytes, which is what the GPU counts.
const SECTOR_WORDS: u32 = 8;

const TRANSACTIONS: [&str; 4] = [
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
];
const CONFLICTS: &str = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum";
const DIVERGENT: &str = "smsp__sass_branch_targets_threads_divergent.sum";

/// Kernels of this program that draw and check keys.
const OTHERS: [&str; 2] = ["draw", "check"];

/// Each of these sorts at one size.
pub struct Counting {
    shared: Rc<Shared>,
    /// [`BENCH`] or [`NCU`].
    by: &'static str,
    n: u64,
    sorts: Vec<Published>,
}

impl Counting {
    pub fn all(n: Option<usize>, shared: &Rc<Shared>) -> impl Iterator<Item = Counting> {
        let sizes = |logs: &[u32]| match n {
            Some(n) => vec![n as u64],
            None => logs.iter().map(|log| 1 << log).collect(),
        };
        let counters = [(BENCH, sizes(&BENCH_LOGS)), (NCU, sizes(&GPU_LOGS))];
        let shared = shared.clone();
        counters.into_iter().flat_map(move |(by, sizes)| {
            let shared = shared.clone();
            sizes.into_iter().map(move |n| Counting { shared: shared.clone(), by, n, sorts: SORTS.to_vec() })
        })
    }

    fn label(&self) -> String {
        format!("{TABLE_1} u32, {}, by {}", self.n, self.by)
    }

    fn count(&self, sort: Published, seed: u64) -> Result<Counted> {
        let (device, counts, verified) = match self.by {
            BENCH => on_bench(self.n as usize, sort, seed)?,
            _ => {
                let device = self.shared.rig()?.device.properties().name.clone();
                (device, by_ncu(self.n, sort, seed)?, true)
            }
        };
        Ok(Counted {
            suite: "papers",
            figure: TABLE_1,
            key: "u32",
            n: self.n,
            distribution: "uniform",
            contender: sort.name(),
            counted_by: self.by,
            device,
            counts,
            verified,
            version: env!("CARGO_PKG_VERSION"),
            date: now(),
        })
    }
}

impl Measurable for Counting {
    fn keep(&mut self, filter: &str, _: &[usize]) -> bool {
        let filter = filter.to_lowercase();
        let whole = self.label().to_lowercase().contains(&filter);
        self.sorts.retain(|sort| whole || sort.name().contains(&filter));
        !self.sorts.is_empty()
    }

    fn describe(&self) -> String {
        let sorts: Vec<_> = self.sorts.iter().map(|sort| sort.name()).collect();
        format!("{}: {}", self.label(), sorts.join(", "))
    }

    fn measure(&self, _: usize, seed: u64) -> Result<Outcome> {
        let mut counted = Vec::new();
        for &sort in &self.sorts {
            match self.count(sort, seed) {
                Ok(counts) => counted.push(counts),
                Err(why) => left_out(&format!("{} by {}", sort.name(), self.by), &*why),
            }
        }
        Ok(Outcome::Counted(counted))
    }
}

/// The device's name, the counts, and whether the keys are in order.
fn on_bench(n: usize, sort: Published, seed: u64) -> Result<(String, Counts, bool)> {
    let options = Options {
        shared_per_block: SHARED_227K,
        multiprocessors: MULTIPROCESSORS,
        count: true,
        segment_words: SECTOR_WORDS,
        ..Options::default()
    };
    let bench = Bench::new(options)?;
    let device = bench.device();
    let (engines, stream) = (Engines::new(device.clone()), device.stream()?);
    let mut keys: Vec<u32> = Distribution::Uniform.draw(n, &mut Rng::seed_from_u64(seed));
    let buffer = device.alloc::<u32>(n)?;
    stream.copy_in(buffer.view(), &keys)?;
    // SAFETY: nothing else uses the keys meanwhile.
    unsafe { sort.enqueue(&engines, &stream, buffer.view())? }.wait()?;
    let mut sorted = vec![0; n];
    stream.copy_out(&mut sorted, buffer.view())?;
    keys.sort_unstable();

    let launches = bench.counts();
    let sum = |of: fn(&sortie_simt::Counts) -> u64| launches.iter().map(|launch| of(&launch.counts)).sum();
    let counts = Counts {
        transactions: sum(|counts| counts.transactions),
        conflicts: Some(sum(|counts| counts.conflicts)),
        divergent_branches: Some(sum(|counts| counts.divergent_branches)),
    };
    Ok((device.properties().name.clone(), counts, sorted == keys))
}

/// The counts of the GPU while another process of this program sorts. The process fails if the result is wrong.
fn by_ncu(n: u64, sort: Published, seed: u64) -> Result<Counts> {
    let dir = tempfile::tempdir()?;
    let log = dir.path().join("counters.csv");
    let metrics = [&TRANSACTIONS[..], &[CONFLICTS, DIVERGENT]].concat().join(",");
    let mut ncu = Command::new("ncu");
    ncu.args(["--csv", "--print-units", "base", "--clock-control", "none", "--metrics", &metrics]);
    ncu.arg("--log-file").arg(&log);
    ncu.arg(std::env::current_exe()?).args(["--suite", "papers", "--once", "--filter", sort.name()]);
    ncu.args(["--n", &n.to_string(), "--seed", &seed.to_string()]);
    let status = ncu.stdout(Stdio::null()).status().map_err(|why| format!("cannot run ncu: {why}"))?;
    let said = std::fs::read_to_string(&log).unwrap_or_default();
    if !status.success() {
        let errors: Vec<_> = said.lines().filter(|line| line.starts_with("==ERROR==")).collect();
        return Err(format!("ncu: {status}: {}", errors.join(" ")).into());
    }
    counts_of(&said)
}

/// Sums the kernels' counts in the output of `ncu --csv`. It has a line with column names, then a line for each metric.
fn counts_of(csv: &str) -> Result<Counts> {
    let mut lines = csv.lines().skip_while(|line| !line.starts_with("\"ID\"")).map(fields);
    let columns = lines.next().ok_or("ncu reported no kernel")?;
    let column = |name: &str| {
        let found = columns.iter().position(|column| column == name);
        found.ok_or_else(|| format!("ncu has no column {name}"))
    };
    let (kernel, metric, value) = (column("Kernel Name")?, column("Metric Name")?, column("Metric Value")?);
    let mut sums: HashMap<String, u64> = HashMap::new();
    for line in lines {
        let [Some(kernel), Some(metric), Some(value)] = [kernel, metric, value].map(|at| line.get(at)) else {
            continue;
        };
        if OTHERS.contains(&kernel.split('(').next().unwrap_or_default()) {
            continue;
        }
        let count: f64 =
            value.replace(',', "").parse().map_err(|_| format!("{metric} of {kernel} is {value}"))?;
        *sums.entry(metric.clone()).or_default() += count as u64;
    }
    let sum = |metric: &str| sums.get(metric).copied().ok_or_else(|| format!("ncu has no {metric}"));
    Ok(Counts {
        transactions: TRANSACTIONS.into_iter().map(sum).sum::<std::result::Result<u64, _>>()?,
        conflicts: Some(sum(CONFLICTS)?),
        divergent_branches: Some(sum(DIVERGENT)?),
    })
}

/// The fields of a line, without the quotes that are around each.
fn fields(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('"').unwrap_or(line);
    line.strip_suffix('"').unwrap_or(line).split("\",\"").map(String::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checked against the counts in `crates/sortie/tests/gpu/bitonic.rs`, in sectors: the network only makes full
    /// transactions.
    #[test]
    fn the_bench_counts_each_sort() {
        let n = 1 << 15;
        let Some(_) = sortie_simt::or_skip(sortie_simt::device(Options::default())) else { return };
        let [bitonic, quicksort, radix_sort] = SORTS.map(|sort| {
            let (device, counts, verified) = on_bench(n as usize, sort, 1).unwrap();
            assert!(verified, "{}", sort.name());
            assert_eq!(device, "test bench");
            counts
        });
        // Tiles of 2^12 keys, because larger ones would leave multiprocessors idle. Then four supersteps merge them: 5
        // reads and writes of the keys.
        assert_eq!(
            bitonic,
            Counts { transactions: 5 * 2 * n / 8, conflicts: Some(0), divergent_branches: Some(0) }
        );
        for other in [quicksort, radix_sort] {
            assert!(other.transactions > 2 * n / 8, "{other:?}");
            assert!(other.conflicts.unwrap() > 0 && other.divergent_branches.unwrap() > 0, "{other:?}");
        }
    }

    #[test]
    fn counters_are_summed_over_the_kernels_of_the_sort() {
        let line = |kernel: &str, metric: &str, value: &str| {
            format!(
                "\"0\",\"9\",\"sortie-bench\",\"here\",\"{kernel}\",\"1\",\"7\",\"{metric}\",\"sector\",\"{value}\",\"\"\n"
            )
        };
        let mut csv = String::from("==PROF== Connected to process 9\n");
        csv += "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\
                \"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule Name\"\n";
        for (kernel, times) in [("draw(unsigned int *, unsigned long)", 9), ("sort_tiles", 1), ("scatter", 2)]
        {
            for (metric, count) in TRANSACTIONS.iter().zip([1000, 100, 10, 1]) {
                csv += &line(kernel, metric, &super::super::grouped(times * count));
            }
            csv += &line(kernel, CONFLICTS, "1,000,000");
            csv += &line(kernel, DIVERGENT, "7.0");
        }
        let counts = counts_of(&csv).unwrap();
        assert_eq!(
            counts,
            Counts { transactions: 3333, conflicts: Some(2_000_000), divergent_branches: Some(14) }
        );
        assert_eq!(counts_of("==ERROR== nothing").unwrap_err().to_string(), "ncu reported no kernel");
        let without = csv.replace(CONFLICTS, "another");
        assert!(counts_of(&without).unwrap_err().to_string().contains(CONFLICTS));
        let unknown = csv.replace("7.0", "n/a");
        assert!(counts_of(&unknown).unwrap_err().to_string().ends_with("of sort_tiles is n/a"));
    }
}
