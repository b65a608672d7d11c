//! Suite `papers`: what published papers measured, measured again on a GPU with their algorithms beside Sortie. This is
//! GPU-ArraySort's evaluation; `docs/papers.md` says what its figures and table are, and what differs here.

use std::marker::PhantomData;
use std::rc::Rc;

use crate::Result;
use crate::args::Args;
use crate::distributions::Distribution;
use crate::measure::{Measurable, Measured};
use crate::report::Row;
use crate::suite_batch::batch::{Batch, Shape};
use crate::suite_batch::contenders::{Contender, Rig, left_out};
use crate::suite_batch::{Case, Shared, row};

const CONTENDERS: [Contender; 4] =
    [Contender::Copy, Contender::Sortie, Contender::ArraySort, Contender::ByTags];

/// Figure 2: time against the length, for one number of arrays.
const FIGURE_2_ARRAYS: u64 = 50_000;
const FIGURE_2_LENGTHS: [u64; 8] = [500, 1000, 1500, 2000, 2500, 3000, 3500, 4000];

/// Figures 4 to 7: time against the number of arrays, a length each.
const FIGURES: [(&str, u64); 4] =
    [("figure 4", 1000), ("figure 5", 2000), ("figure 6", 3000), ("figure 7", 4000)];
const FIGURES_ARRAYS: [u64; 4] = [50_000, 100_000, 150_000, 200_000];

/// Table 1: how many arrays of a length each can sort.
const TABLE_1_LENGTHS: [u64; 4] = [1000, 2000, 3000, 4000];

/// The free memory is filled to so many parts, then to one less, and so on, until the rest is enough to sort.
const PARTS: u64 = 64;

/// Arrays that are sorted beforehand, so that all kernels are loaded.
const WARM_UP: u64 = 64;

pub fn cases(args: &Args) -> Vec<Box<dyn Measurable>> {
    let shared = Shared::new(args);
    let case = |title, segments, length| -> Box<dyn Measurable> {
        Box::new(Case::<f32> {
            suite: "papers",
            title,
            shared: shared.clone(),
            shape: Shape::Even { segments, length },
            contenders: CONTENDERS.to_vec(),
            patience: f64::INFINITY,
            distribution: Distribution::Uniform,
            key: PhantomData,
        })
    };
    let mut cases = Vec::new();
    cases.extend(FIGURE_2_LENGTHS.map(|length| case("figure 2", FIGURE_2_ARRAYS, length)));
    for (title, length) in FIGURES {
        cases.extend(FIGURES_ARRAYS.map(|segments| case(title, segments, length)));
    }
    for length in TABLE_1_LENGTHS {
        // A copy would need twice the memory of the keys.
        let contenders = CONTENDERS[1..].to_vec();
        cases.push(Box::new(Fit { shared: shared.clone(), length, contenders }));
    }
    cases
}

/// How many arrays of a length each contender can sort in the memory of the device.
struct Fit {
    shared: Rc<Shared>,
    length: u64,
    /// The first is Sortie.
    contenders: Vec<Contender>,
}

impl Fit {
    fn label(&self) -> String {
        format!("table 1 f32, as many x {} as fit", self.length)
    }

    /// Sorts as many arrays as fit; nothing where what the contender needs is not there, which was said.
    fn sort_most(&self, contender: Contender, seed: u64) -> Result<Option<Row>> {
        // Its own, which holds no scratch of other sorts.
        let rig = Rig::new(self.shared.rig()?.device.clone(), self.shared.peers.clone());
        if self.sort(&rig, contender, WARM_UP, seed)?.is_none() {
            return Ok(None);
        }
        let all = rig.device.free_memory()? / (self.length * size_of::<f32>() as u64);
        let mut part = PARTS;
        loop {
            match self.sort(&rig, contender, all * part / PARTS, seed) {
                Err(_) if part > 1 => part -= 1,
                sorted => return sorted,
            }
        }
    }

    fn sort(&self, rig: &Rig, contender: Contender, segments: u64, seed: u64) -> Result<Option<Row>> {
        let shape = Shape::Even { segments, length: self.length };
        let batch = Batch::<f32>::in_place(&rig.device, shape)?;
        batch.draw(seed)?;
        let Some(mut ready) = rig.ready(contender, &batch)? else { return Ok(None) };
        let (ms, verified) = (ready.run)(seed)?;
        let bytes = shape.n() * size_of::<f32>();
        let measured = Measured { times_ms: vec![ms], bytes, peak_bytes: 0, verified };
        let mut row = row("papers", "uniform", rig, &batch, &ready, &measured);
        row.facts.work = "as many segments as fit";
        row.label = self.label();
        row.note = format!("{segments} arrays fit");
        Ok(Some(row))
    }
}

impl Measurable for Fit {
    fn keep(&mut self, filter: &str, _: &[usize]) -> bool {
        let filter = filter.to_lowercase();
        let whole = self.label().to_lowercase().contains(&filter);
        self.contenders.retain(|&contender| {
            whole || contender == Contender::Sortie || contender.name().to_lowercase().contains(&filter)
        });
        whole || self.contenders.len() > 1
    }

    fn describe(&self) -> String {
        let contenders: Vec<_> = self.contenders.iter().map(|contender| contender.name()).collect();
        format!("{}: {}", self.label(), contenders.join(", "))
    }

    fn measure(&self, _: usize, seed: u64) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for &contender in &self.contenders {
            match self.sort_most(contender, seed) {
                Ok(row) => rows.extend(row),
                Err(why) if rows.is_empty() => return Err(why),
                Err(why) => left_out(contender.name(), &*why),
            }
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn described(filter: &str) -> Vec<String> {
        let args = Args::parse_from(["sortie-bench", "--suite", "papers", "--filter", filter]);
        let mut cases = cases(&args);
        cases.retain_mut(|case| case.keep(&args.filter, &args.threads));
        cases.iter().map(|case| case.describe()).collect()
    }

    #[test]
    fn cases_are_the_figures_and_the_table() {
        let all = described("");
        assert_eq!(all.len(), 8 + 4 * 4 + 4);
        assert_eq!(all[1], "figure 2 f32, 50K x 1000: copy, sortie, GPU-ArraySort, by tags (STA)");
        assert_eq!(all[23], "figure 7 f32, 200K x 4000: copy, sortie, GPU-ArraySort, by tags (STA)");
        assert_eq!(all[24], "table 1 f32, as many x 1000 as fit: sortie, GPU-ArraySort, by tags (STA)");
    }

    #[test]
    fn a_filter_keeps_what_others_are_compared_with() {
        assert_eq!(described("figure 5").len(), 4);
        let by_tags = described("sta)");
        assert_eq!(by_tags[0], "figure 2 f32, 50K x 500: copy, by tags (STA)");
        assert_eq!(by_tags[27], "table 1 f32, as many x 4000 as fit: sortie, by tags (STA)");
    }
}
