//! Suite `batch`: many segments in one call on a GPU. The keys are in GPU memory. The baseline is a copy of them.

pub mod batch;
pub mod contenders;
pub mod cub;
mod host;
pub mod ours;
pub mod torch;

use std::cell::OnceCell;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::rc::Rc;

use bytemuck::Pod;
use sortie_device::cuda;

use self::batch::{Batch, Shape};
use self::contenders::{Contender, Ready, Rig, left_out};
use self::host::HostToHost;
use crate::Result;
use crate::args::Args;
use crate::distributions::Distribution;
use crate::keys::BenchKey;
use crate::measure::{Facts, Measurable, Measured, REPS, rotation};
use crate::report::{Outcome, Row};

/// The number of segments, and their length.
const EVEN: [(u64, u64); 6] = [
    (2_000_000, 50),
    (1_000_000, 200),
    (200_000, 1000),
    (2_000_000, 1000),
    (200_000, 4000),
    (50_000, 10_000),
];

/// The number of keys in segments of power-law lengths.
const RAGGED: usize = 1_000_000_000;

/// The number of keys at each length of a sweep, unless `--n` gives one.
const SWEPT: usize = 100_000_000;

/// In a sweep, a contender that takes longer than this many milliseconds is not repeated.
const SWEEP_PATIENCE: f64 = 300.0;

pub fn cases(args: &Args) -> Vec<Box<dyn Measurable>> {
    let shared = Shared::new(args);
    if let Some(per_doubling) = args.sweep {
        let n = args.n.unwrap_or(SWEPT) as u64;
        let lengths = lengths(args.lengths, per_doubling).into_iter();
        let shapes = lengths.map(|length| Shape::Even { segments: (n / length).max(1), length });
        return shapes.map(|shape| Box::new(Case::<f32>::swept(&shared, shape)) as _).collect();
    }
    let even = EVEN.map(|(segments, length)| Shape::Even {
        segments: args.n.map_or(segments, |n| (n as u64 / length).max(1)),
        length,
    });
    let ragged = Shape::Ragged { n: args.n.unwrap_or(RAGGED), seed: args.seed };
    let mut cases: Vec<Box<dyn Measurable>> = Vec::new();
    cases.extend(even.map(|shape| Box::new(Case::<f32>::new(&shared, shape)) as _));
    cases.push(Box::new(Case::<f32>::new(&shared, ragged)));
    cases.extend(even.map(|shape| Box::new(Case::<u64>::new(&shared, shape)) as _));
    cases.push(Box::new(Case::<u64>::new(&shared, ragged)));
    cases.extend(even.map(|shape| Box::new(Case::<f64>::new(&shared, shape)) as _));
    cases.push(Box::new(HostToHost::new(shared, args.n)));
    cases
}

/// The lengths of a sweep: `per_doubling` for each doubling, in equal ratios, including both ends. Each length occurs
/// once.
fn lengths((from, to): (u64, u64), per_doubling: usize) -> Vec<u64> {
    let factor = |step: u32| (f64::from(step) / per_doubling as f64).exp2();
    let steps = (0..).map(|step| (from as f64 * factor(step)).round() as u64);
    let mut lengths: Vec<_> = steps.take_while(|&length| length < to).chain([to]).collect();
    lengths.dedup();
    lengths
}

/// Shared by all cases. Made when the first one is measured.
pub struct Shared {
    pub peers: Option<PathBuf>,
    rig: OnceCell<Rig>,
}

impl Shared {
    pub fn new(args: &Args) -> Rc<Shared> {
        Rc::new(Shared { peers: args.peers.clone(), rig: OnceCell::new() })
    }

    pub fn rig(&self) -> Result<&Rig> {
        if self.rig.get().is_none() {
            let rig = Rig::new(cuda::device(0)?, self.peers.clone());
            self.rig.get_or_init(|| rig);
        }
        Ok(self.rig.get().expect("made just now"))
    }
}

pub struct Case<K> {
    /// The suite, and the name of the case besides the shape. Suite `papers` uses the figure as the name.
    pub suite: &'static str,
    pub title: &'static str,
    pub shared: Rc<Shared>,
    pub shape: Shape,
    /// The first one is the copy.
    pub contenders: Vec<Contender>,
    pub patience: f64,
    pub reps: usize,
    pub distribution: Distribution,
    pub key: PhantomData<K>,
}

impl<K: BenchKey + Pod> Case<K> {
    fn new(shared: &Rc<Shared>, shape: Shape) -> Case<K> {
        let contenders = Contender::ALL.into_iter().filter(|contender| contender.takes::<K>(shape)).collect();
        Case::<K> {
            suite: "batch",
            title: "segments",
            shared: shared.clone(),
            shape,
            contenders,
            patience: f64::INFINITY,
            reps: REPS,
            distribution: Distribution::Uniform,
            key: PhantomData,
        }
    }

    /// A case of a sweep. It only sorts keys, because any other operation would compile kernels for each length.
    fn swept(shared: &Rc<Shared>, shape: Shape) -> Case<K> {
        let mut case = Case::<K>::new(shared, shape);
        case.contenders.retain(|contender| !matches!(contender, Contender::Ours(_)));
        Case { patience: SWEEP_PATIENCE, ..case }
    }

    fn label(&self) -> String {
        match self.shape {
            Shape::Even { segments: 1, length } if self.suite != "batch" => {
                format!("{} {}, {}, {}", self.title, K::NAME, power(length), self.distribution.name())
            }
            Shape::Even { segments, length } => {
                format!("{} {}, {} x {length}", self.title, K::NAME, short(segments))
            }
            Shape::Ragged { n, .. } => {
                format!("{} {}, power-law lengths, {} keys", self.title, K::NAME, short(n as u64))
            }
        }
    }
}

impl<K: BenchKey + Pod> Measurable for Case<K> {
    fn keep(&mut self, filter: &str, _: &[usize]) -> bool {
        let filter = filter.to_lowercase();
        let whole = self.label().to_lowercase().contains(&filter);
        self.contenders.retain(|&contender| {
            whole || contender == Contender::Copy || contender.name().to_lowercase().contains(&filter)
        });
        whole || self.contenders.len() > 1
    }

    fn describe(&self) -> String {
        let contenders: Vec<_> = self.contenders.iter().map(|contender| contender.name()).collect();
        format!("{}: {}", self.label(), contenders.join(", "))
    }

    fn reps(&self) -> usize {
        self.reps
    }

    fn measure(&self, reps: usize, seed: u64) -> Result<Outcome> {
        let rig = self.shared.rig()?;
        let batch = Batch::<K>::new(&rig.device, self.shape)?;
        batch.draw_from(self.distribution, seed)?;
        let mut running = Vec::new();
        for &contender in &self.contenders {
            // The first run is the warm-up.
            let ready = rig.ready(contender, &batch).and_then(|ready| match ready {
                Some(mut ready) => (ready.run)(seed).map(|_| Some(ready)),
                None => Ok(None),
            });
            match ready {
                Ok(Some(ready)) => running.push((ready, Measured { verified: true, ..Measured::default() })),
                Ok(None) => {}
                Err(why) => left_out(contender.name(), &*why),
            }
        }
        for rep in 0..reps {
            let seed = seed.wrapping_mul(1000).wrapping_add(rep as u64);
            batch.draw_from(self.distribution, seed)?;
            for at in [0].into_iter().chain(rotation(running.len(), rep)) {
                let (ready, measured) = &mut running[at];
                if measured.times_ms.iter().sum::<f64>() > self.patience {
                    continue;
                }
                let (ms, right) = (ready.run)(seed)?;
                measured.times_ms.push(ms);
                measured.verified &= right;
                measured.bytes = self.shape.n() * size_of::<K>();
            }
        }
        let rows = running.iter().map(|(ready, measured)| Row {
            figure: if self.suite == "papers" { self.title } else { "" },
            label: self.label(),
            ..row(self.suite, self.distribution.name(), rig, &batch, ready, measured)
        });
        Ok(Outcome::Timed(rows.collect()))
    }
}

/// The result of a contender on a batch.
pub fn row<K: BenchKey + Pod>(
    suite: &'static str,
    distribution: &'static str,
    rig: &Rig,
    batch: &Batch<K>,
    ready: &Ready<'_>,
    measured: &Measured,
) -> Row {
    let facts = Facts {
        suite,
        work: if batch.segments == 1 { ready.contender.one_array() } else { "segments" },
        key: K::NAME,
        payload: if ready.contender.one_array() == "pairs" { "u32" } else { "" },
        n: batch.keys.len(),
        segments: Some(batch.segments as usize),
        length: batch.length.map(|length| length as usize),
        distribution,
        includes: ready.contender.includes(),
    };
    let mut row = Row::new(&facts, ready.contender.name(), 1, measured);
    row.engine = "cuda";
    row.device = rig.device.properties().name.clone();
    row.note = ready.note.clone();
    if !row.note.is_empty() {
        row.includes += &format!("; {}", row.note);
    }
    row
}

/// Formats 268435456 as 2^28.
fn power(number: u64) -> String {
    if number.is_power_of_two() { format!("2^{}", number.ilog2()) } else { number.to_string() }
}

/// Formats 2000000 as 2M.
fn short(number: u64) -> String {
    match number {
        n if n >= 1_000_000_000 && n.is_multiple_of(1_000_000_000) => format!("{}G", n / 1_000_000_000),
        n if n >= 1_000_000 && n.is_multiple_of(1_000_000) => format!("{}M", n / 1_000_000),
        n if n >= 1000 && n.is_multiple_of(1000) => format!("{}K", n / 1000),
        n => n.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn a_sweep_has_each_length_once_and_its_ends() {
        assert_eq!(lengths((1, 20), 1), [1, 2, 4, 8, 16, 20]);
        assert_eq!(lengths((1, 512), 512), (1..=512).collect::<Vec<_>>());
        let fine = lengths((512, 1_000_000), 64);
        assert_eq!((fine[0], fine[64], fine[fine.len() - 1]), (512, 1024, 1_000_000));
        assert_eq!(lengths((7, 7), 4), [7]);
    }

    #[test]
    fn cases_name_who_can_sort_them() {
        let described = |arguments: &[&str]| {
            let start = ["sortie-bench", "--suite", "batch"];
            let args = Args::parse_from(start.iter().chain(arguments));
            let mut cases = cases(&args);
            cases.retain_mut(|case| case.keep(&args.filter, &args.threads));
            cases.iter().map(|case| case.describe()).collect::<Vec<_>>()
        };
        let all = described(&[]);
        assert_eq!(all.len(), 21);
        assert!(all[0].starts_with("segments f32, 2M x 50: copy, sortie, sortie, descending"));
        assert!(
            all[6].starts_with("segments f32, power-law lengths, 1G keys: copy, sortie, sortie, descending")
        );
        assert!(!all[7].contains("torch"), "it cannot sort u64");
        let one =
            described(&["--filter", "torch", "--sweep", "1", "--lengths", "20000..30000", "--n", "60000"]);
        assert_eq!(
            one,
            ["segments f32, 3 x 20000: copy, torch.sort", "segments f32, 2 x 30000: copy, torch.sort"]
        );
        let ours = described(&["--filter", "sortie", "--sweep", "1", "--lengths", "7..7", "--n", "70"]);
        assert_eq!(ours, ["segments f32, 10 x 7: copy, sortie"]);
    }
}
