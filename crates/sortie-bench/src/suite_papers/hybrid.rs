//! The hybrid comparison sort of Banerjee, Sakurikar and Kothapalli (2014): their measurements with Sortie's hybrid
//! sort instead of theirs, from host memory and back.

use sortie::{Algorithm, Engine};

use super::{markdown, ms};
use crate::args::Args;
use crate::distributions::Distribution::{self, Normal, Uniform};
use crate::keys::BenchKey;
use crate::measure::{Case, Facts, Measurable};
use crate::report::Row;
use crate::suite_hybrid::{CPU, Choice, GPU, HYBRID, Seed, Sorts, case, sorts};

/// The phases, compared with sample sort on the GPU alone. The paper has times for 4 M keys.
const FIGURE_3_5: &str = "Banerjee figure 3.5";
const FIGURE_3_5_SIZES: [usize; 3] = [1 << 22, 1 << 25, 1 << 28];
const SAMPLE_SORT: &str = "GPU sample sort";

/// Time against the number of keys, for keys, pairs, Gaussian pairs, and pairs of 64 bits.
const FIGURE_3_6: &str = "Banerjee figure 3.6";
const FIGURE_3_7: &str = "Banerjee figure 3.7";
const FIGURE_3_8: &str = "Banerjee figure 3.8";
const FIGURE_3_15: &str = "Banerjee figure 3.15";
const SIZES: [usize; 5] = [1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28];

/// Time against the threshold between the two engines.
const THRESHOLD: &str = "Banerjee threshold";
const SHARES: [(&str, f64); 7] = [
    ("share 0.50", 0.5),
    ("share 0.60", 0.6),
    ("share 0.70", 0.7),
    ("share 0.80", 0.8),
    ("share 0.85", 0.85),
    ("share 0.90", 0.9),
    ("share 0.95", 0.95),
];
const THRESHOLD_N: usize = 1 << 28;

/// Keys and pairs on several platforms. The paper has three GPUs; here there is one, with several numbers of CPU
/// threads.
const FIGURE_3_16: &str = "Banerjee figure 3.16";
const FIGURE_3_17: &str = "Banerjee figure 3.17";
const THREADS: [usize; 4] = [2, 4, 8, 16];
const THREADS_N: usize = 1 << 27;

pub fn cases(args: &Args) -> Vec<Box<dyn Measurable>> {
    let threads = *args.threads.last().expect("one at least");
    let mut cases: Vec<Box<dyn Measurable>> = Vec::new();
    let hybrid = Choice::of(Engine::Hybrid(0));
    for n in FIGURE_3_5_SIZES {
        let sample_sort = Choice { algorithm: Algorithm::SampleSort, ..Choice::of(Engine::Cuda(0)) };
        let contenders = vec![
            sorts::<u32, false>(SAMPLE_SORT, Uniform, n, threads, sample_sort),
            sorts::<u32, false>(HYBRID, Uniform, n, threads, hybrid),
        ];
        cases.push(of_figure::<u32>(FIGURE_3_5, "", Uniform, n, contenders));
    }
    for n in SIZES {
        cases.push(of_figure::<u32>(FIGURE_3_6, "", Uniform, n, all::<u32, false>(Uniform, n, threads)));
        cases.push(of_figure::<u32>(FIGURE_3_7, "u32", Uniform, n, all::<u32, true>(Uniform, n, threads)));
        cases.push(of_figure::<u32>(FIGURE_3_8, "u32", Normal, n, all::<u32, true>(Normal, n, threads)));
        cases.push(of_figure::<u64>(FIGURE_3_15, "u64", Uniform, n, all::<u64, true>(Uniform, n, threads)));
    }
    let n = args.n.unwrap_or(THRESHOLD_N);
    let shared = SHARES.map(|(name, share)| {
        sorts::<u32, false>(name, Uniform, n, threads, Choice { share: Some(share), ..hybrid })
    });
    cases.push(of_figure::<u32>(THRESHOLD, "", Uniform, n, shared.into()));
    let n = args.n.unwrap_or(THREADS_N);
    for threads in THREADS.into_iter().filter(|&count| count <= threads) {
        let contenders = |pairs: bool| -> Vec<Sorts> {
            [(CPU, Choice::of(Engine::Cpu)), (HYBRID, hybrid)]
                .map(|(name, choice)| match pairs {
                    true => sorts::<u32, true>(name, Uniform, n, threads, choice),
                    false => sorts::<u32, false>(name, Uniform, n, threads, choice),
                })
                .into()
        };
        cases.push(of_figure::<u32>(FIGURE_3_16, "", Uniform, n, contenders(false)));
        cases.push(of_figure::<u32>(FIGURE_3_17, "u32", Uniform, n, contenders(true)));
    }
    cases
}

fn all<K: BenchKey, const PAIRS: bool>(distribution: Distribution, n: usize, threads: usize) -> Vec<Sorts> {
    [(GPU, Engine::Cuda(0)), (CPU, Engine::Cpu), (HYBRID, Engine::Hybrid(0))]
        .map(|(name, engine)| sorts::<K, PAIRS>(name, distribution, n, threads, Choice::of(engine)))
        .into()
}

fn of_figure<K: BenchKey>(
    figure: &'static str,
    payload: &'static str,
    distribution: Distribution,
    n: usize,
    contenders: Vec<Sorts>,
) -> Box<Case<Seed, bool>> {
    let case = case::<K>("sort, host to host", payload, distribution, n, contenders);
    Box::new(Case { figure, facts: Facts { suite: "papers", ..case.facts }, ..case })
}

pub fn tables(rows: &[Row]) -> String {
    let of = |figure| rows.iter().filter(|row| row.figure == figure).collect::<Vec<_>>();
    let by_n = |figure| by_size(figure, &of(figure));
    phases(&of(FIGURE_3_5))
        + &[FIGURE_3_6, FIGURE_3_7, FIGURE_3_8, FIGURE_3_15].map(by_n).concat()
        + &by_share(&of(THRESHOLD))
        + &[FIGURE_3_16, FIGURE_3_17].map(|figure| by_threads(figure, &of(figure))).concat()
}

fn phases(rows: &[&Row]) -> String {
    let lines: Vec<_> = rows
        .iter()
        .flat_map(|row| row.phases.iter().map(move |phase| (row, phase)))
        .map(|(row, phase)| {
            vec![row.facts.n.to_string(), row.contender.into(), phase.name.into(), ms(phase.ms)]
        })
        .collect();
    markdown(&format!("{FIGURE_3_5}: milliseconds"), &["keys", "sort", "phase", "ms"], &lines)
}

fn by_size(figure: &str, rows: &[&Row]) -> String {
    let lines: Vec<_> = rows
        .chunk_by(|a, b| a.facts.n == b.facts.n)
        .map(|rows| {
            std::iter::once(rows[0].facts.n.to_string())
                .chain(rows.iter().map(|row| ms(row.median_ms)))
                .collect()
        })
        .collect();
    markdown(&format!("{figure}: milliseconds"), &["keys", GPU, CPU, HYBRID], &lines)
}

fn by_share(rows: &[&Row]) -> String {
    let lines: Vec<_> = rows.iter().map(|row| vec![row.contender.into(), ms(row.median_ms)]).collect();
    markdown(&format!("{THRESHOLD}: milliseconds"), &["of the keys to the GPU", "ms"], &lines)
}

fn by_threads(figure: &str, rows: &[&Row]) -> String {
    let lines: Vec<_> = rows
        .chunk_by(|a, b| a.threads == b.threads)
        .map(|rows| {
            std::iter::once(rows[0].threads.to_string())
                .chain(rows.iter().map(|row| ms(row.median_ms)))
                .collect()
        })
        .collect();
    markdown(&format!("{figure}: milliseconds"), &["threads", CPU, HYBRID], &lines)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::measure::{FACTS, Measured};

    fn row(figure: &'static str, n: usize, contender: &'static str, ms: f64) -> Row {
        let facts = Facts { suite: "papers", key: "u32", n, ..FACTS };
        let measured = Measured { times_ms: vec![ms], verified: true, ..Measured::default() };
        Row { figure, ..Row::new(&facts, contender, 16, &measured) }
    }

    #[test]
    fn all_figures_are_measured() {
        let args = Args::parse_from(["sortie-bench", "--suite", "papers", "--threads", "16"]);
        let described: Vec<_> = cases(&args).iter().map(|case| case.describe()).collect();
        assert_eq!(described.len(), 3 + 4 * 5 + 1 + 8);
        assert!(described[0].starts_with("Banerjee figure 3.5 sort, host to host u32, 4194304, uniform:"));
        assert!(described[23].contains("share 0.85 x16"), "{}", described[23]);
        assert!(described[24].ends_with("CPU alone x2, hybrid x2"), "{}", described[24]);
    }

    #[test]
    fn a_line_is_a_size() {
        let rows = [
            row(FIGURE_3_6, 1 << 20, GPU, 4.0),
            row(FIGURE_3_6, 1 << 20, CPU, 5.0),
            row(FIGURE_3_6, 1 << 20, HYBRID, 3.0),
        ];
        let text = tables(&rows);
        assert!(text.contains("| 1048576 | 4.000 | 5.000 | 3.000 |"), "{text}");
    }
}
