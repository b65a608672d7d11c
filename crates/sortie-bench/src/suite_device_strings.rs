//! Suite `device-strings`: argsort of strings whose bytes and offsets are in GPU memory. The baseline copies both.

use std::rc::Rc;
use std::time::Instant;

use rand::SeedableRng;
use rayon::prelude::*;
use sortie::Order;
use sortie::gpu::{Offsets, Strings};
use sortie_device::{Buffer, Device, Stream};

use crate::Result;
use crate::args::Args;
use crate::distributions::{Rng, StringSet};
use crate::measure::{Facts, Measurable, Measured, rotation};
use crate::report::{Outcome, Row};
use crate::suite_batch::Shared;
use crate::suite_batch::contenders::{Rig, left_out};

/// The sets, and the number of strings in each unless `--n` gives one.
const SETS: [(StringSet, usize); 5] = [
    (StringSet::Words, 100_000_000),
    (StringSet::RealWords, 100_000_000),
    (StringSet::ShortDna, 100_000_000),
    (StringSet::Dna, 100_000_000),
    (StringSet::Urls, 10_000_000),
];

pub fn cases(args: &Args) -> Vec<Box<dyn Measurable>> {
    let shared = Shared::new(args);
    let mut cases: Vec<Box<dyn Measurable>> = Vec::new();
    for (set, n) in SETS {
        if set.available() {
            let (n, contenders) = (args.n.unwrap_or(n), Contender::ALL.to_vec());
            cases.push(Box::new(Case { shared: shared.clone(), set, n, contenders }));
        } else {
            println!(
                "{}: skipped, the word list was not found (install Debian's package wamerican-insane)",
                set.name()
            );
        }
    }
    cases
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Contender {
    Copy,
    Sortie,
    /// A sort of indices that compares the strings. It is a stand-in, because no library sorts strings on a GPU.
    CubMerge,
}

impl Contender {
    const ALL: [Contender; 3] = [Contender::Copy, Contender::Sortie, Contender::CubMerge];

    fn name(self) -> &'static str {
        match self {
            Contender::Copy => "copy",
            Contender::Sortie => "sortie",
            Contender::CubMerge => "CUB merge sort of places",
        }
    }
}

struct Case {
    shared: Rc<Shared>,
    set: StringSet,
    n: usize,
    /// The first one is the copy.
    contenders: Vec<Contender>,
}

impl Case {
    fn facts(&self) -> Facts {
        Facts {
            suite: "device-strings",
            work: "argsort strings",
            key: "bytes",
            payload: "",
            n: self.n,
            segments: None,
            length: self.set.length(),
            distribution: self.set.name(),
            includes: "nothing",
        }
    }
}

impl Measurable for Case {
    fn keep(&mut self, filter: &str, _: &[usize]) -> bool {
        let filter = filter.to_lowercase();
        let whole = self.facts().label().to_lowercase().contains(&filter);
        self.contenders.retain(|&contender| {
            whole || contender == Contender::Copy || contender.name().to_lowercase().contains(&filter)
        });
        whole || self.contenders.len() > 1
    }

    fn describe(&self) -> String {
        let contenders: Vec<_> = self.contenders.iter().map(|contender| contender.name()).collect();
        format!("{}: {}", self.facts().label(), contenders.join(", "))
    }

    fn measure(&self, reps: usize, seed: u64) -> Result<Outcome> {
        let rig = self.shared.rig()?;
        let there = Resident::new(&rig.device, self.set, self.n, seed)?;
        let mut running = Vec::new();
        for &contender in &self.contenders {
            // The first run is the warm-up.
            let ready = there.ready(rig, contender).and_then(|ready| match ready {
                Some(mut ready) => there.run(&mut ready).map(|_| Some(ready)),
                None => Ok(None),
            });
            match ready {
                Ok(Some(ready)) => {
                    running.push((contender, ready, Measured { verified: true, ..Measured::default() }));
                }
                Ok(None) => {}
                Err(why) => left_out(contender.name(), &*why),
            }
        }
        for rep in 0..reps {
            for at in [0].into_iter().chain(rotation(running.len(), rep)) {
                let (contender, ready, measured) = &mut running[at];
                measured.times_ms.push(there.run(ready)?);
                measured.verified &= *contender == Contender::Copy || there.is_sorted()?;
                measured.bytes = there.text.len();
            }
        }
        let rows = running.iter().map(|(contender, _, measured)| Row {
            engine: "cuda",
            device: rig.device.properties().name.clone(),
            ..Row::new(&self.facts(), contender.name(), 1, measured)
        });
        Ok(Outcome::Timed(rows.collect()))
    }
}

/// Strings on the device and on the host, and memory for their indices.
struct Resident {
    stream: Stream,
    text: Vec<u8>,
    offsets: Vec<u64>,
    text_there: Buffer<u8>,
    offsets_there: Buffer<u64>,
    places: Buffer<u32>,
    /// The indices before a sort.
    unsorted: Buffer<u32>,
}

/// Enqueues what is measured, and may wait for it.
type Run<'a> = Box<dyn FnMut() -> Result<()> + 'a>;

impl Resident {
    fn new(device: &Device, set: StringSet, n: usize, seed: u64) -> Result<Resident> {
        let (text, offsets) = set.draw(n, &mut Rng::seed_from_u64(seed))?.into_parts();
        let there = Resident {
            stream: device.stream()?,
            text_there: device.alloc(text.len())?,
            offsets_there: device.alloc(offsets.len())?,
            places: device.alloc(n)?,
            unsorted: device.alloc(n)?,
            text,
            offsets,
        };
        there.stream.copy_in(there.text_there.view(), &there.text)?;
        there.stream.copy_in(there.offsets_there.view(), &there.offsets)?;
        let places: Vec<u32> = (0..n as u32).collect();
        there.stream.copy_in(there.unsorted.view(), &places)?;
        Ok(there)
    }

    fn strings(&self) -> Strings<'_> {
        Strings { bytes: self.text_there.view(), offsets: Offsets::Wide(self.offsets_there.view()) }
    }

    /// Prepares a contender. `None` if something that it needs is missing; the user has been told.
    fn ready<'a>(&'a self, rig: &'a Rig, contender: Contender) -> Result<Option<Run<'a>>> {
        Ok(match contender {
            Contender::Copy => {
                let copy = rig.device.alloc::<u8>(self.text.len())?;
                let offsets = rig.device.alloc::<u64>(self.offsets.len())?;
                Some(Box::new(move || {
                    self.stream.copy_within(copy.view(), self.text_there.view())?;
                    Ok(self.stream.copy_within(offsets.view(), self.offsets_there.view())?)
                }))
            }
            Contender::Sortie => Some(Box::new(|| {
                let order = Order::default();
                // SAFETY: nothing else uses the strings and the indices until the run has been waited for.
                let sort = unsafe {
                    rig.gpu().argsort_strings(&self.stream, self.strings(), self.places.view(), order)?
                };
                Ok(sort.wait()?)
            })),
            Contender::CubMerge => match rig.cub() {
                Some(cub) => {
                    let (strings, places) = (self.strings(), self.places.view());
                    let job =
                        cub.open_strings(&self.stream, strings.bytes, self.offsets_there.view(), places)?;
                    Some(Box::new(move || job.run()))
                }
                None => None,
            },
        })
    }

    /// The milliseconds of a run.
    fn run(&self, run: &mut Run<'_>) -> Result<f64> {
        self.stream.copy_within(self.places.view(), self.unsorted.view())?;
        self.stream.wait()?;
        let start = Instant::now();
        run()?;
        self.stream.wait()?;
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }

    /// Whether the indices are those of the strings in order, with equal strings in index order. In such an order each
    /// element is less than the next, so no index occurs twice.
    fn is_sorted(&self) -> Result<bool> {
        let mut places = vec![0u32; self.places.len()];
        self.stream.copy_out(&mut places, self.places.view())?;
        let string = |place: u32| {
            let ends = self.offsets.get(place as usize..place as usize + 2)?;
            Some((&self.text[ends[0] as usize..ends[1] as usize], place))
        };
        let all_there = places.par_iter().all(|&place| string(place).is_some());
        Ok(all_there && places.par_windows(2).all(|pair| string(pair[0]) < string(pair[1])))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn described(arguments: &[&str]) -> Vec<String> {
        let start = ["sortie-bench", "--suite", "device-strings"];
        let args = Args::parse_from(start.iter().chain(arguments));
        let mut cases = cases(&args);
        cases.retain_mut(|case| case.keep(&args.filter, &args.threads));
        cases.iter().map(|case| case.describe()).collect()
    }

    #[test]
    fn cases_name_who_can_sort_them() {
        let words = "argsort strings, 10^8, words: copy, sortie, CUB merge sort of places";
        assert_eq!(described(&[])[0], words);
        let one = described(&["--filter", "dna reads of 51", "--n", "1000"]);
        assert_eq!(one, ["argsort strings, 1000, DNA reads of 51: copy, sortie, CUB merge sort of places"]);
    }

    /// Runs on the test bench, which measures no time.
    #[test]
    fn wrong_places_are_told() {
        let Some(device) = sortie_simt::or_skip(sortie_simt::device(sortie_simt::Options::default())) else {
            return;
        };
        let rig = Rig::new(device.clone(), None);
        for set in [StringSet::Words, StringSet::ShortDna, StringSet::Urls] {
            let there = Resident::new(&device, set, 500, 1).unwrap();
            let mut copy = there.ready(&rig, Contender::Copy).unwrap().unwrap();
            there.run(&mut copy).unwrap();
            assert!(!there.is_sorted().unwrap(), "{set:?}: they are as they were");
            let mut sortie = there.ready(&rig, Contender::Sortie).unwrap().unwrap();
            there.run(&mut sortie).unwrap();
            assert!(there.is_sorted().unwrap(), "{set:?}");
        }
    }
}
