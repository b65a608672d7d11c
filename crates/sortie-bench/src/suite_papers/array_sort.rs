//! Awan and Saeed, "GPU-ArraySort" (2016): many arrays of one length.

use std::marker::PhantomData;
use std::rc::Rc;

use super::fit::Fit;
use crate::distributions::Distribution;
use crate::measure::{Measurable, REPS};
use crate::suite_batch::batch::Shape;
use crate::suite_batch::contenders::Contender;
use crate::suite_batch::{Case, Shared};

const CONTENDERS: [Contender; 4] =
    [Contender::Copy, Contender::Sortie, Contender::ArraySort, Contender::ByTags];

/// Figure 2: time against the length, for a fixed number of arrays.
const FIGURE_2_ARRAYS: u64 = 50_000;
const FIGURE_2_LENGTHS: [u64; 8] = [500, 1000, 1500, 2000, 2500, 3000, 3500, 4000];

/// Figures 4 to 7: time against the number of arrays, each for one length.
const FIGURES: [(&str, u64); 4] =
    [("Awan figure 4", 1000), ("Awan figure 5", 2000), ("Awan figure 6", 3000), ("Awan figure 7", 4000)];
const FIGURES_ARRAYS: [u64; 4] = [50_000, 100_000, 150_000, 200_000];

/// Table 1: the maximum number of arrays of a length that each can sort.
const TABLE_1_LENGTHS: [u64; 4] = [1000, 2000, 3000, 4000];

/// The parts into which the free memory is divided.
const PARTS: u64 = 64;

pub fn cases(shared: &Rc<Shared>) -> Vec<Box<dyn Measurable>> {
    let case = |title, segments, length| -> Box<dyn Measurable> {
        Box::new(Case::<f32> {
            suite: "papers",
            title,
            shared: shared.clone(),
            shape: Shape::Even { segments, length },
            contenders: CONTENDERS.to_vec(),
            patience: f64::INFINITY,
            reps: REPS,
            distribution: Distribution::Uniform,
            key: PhantomData,
        })
    };
    let mut cases = Vec::new();
    cases.extend(FIGURE_2_LENGTHS.map(|length| case("Awan figure 2", FIGURE_2_ARRAYS, length)));
    for (title, length) in FIGURES {
        cases.extend(FIGURES_ARRAYS.map(|segments| case(title, segments, length)));
    }
    for length in TABLE_1_LENGTHS {
        cases.push(Box::new(Fit::<f32> {
            shared: shared.clone(),
            figure: "Awan table 1",
            length: Some(length),
            limit: None,
            parts: PARTS,
            // A copy would need twice the memory of the keys.
            contenders: CONTENDERS[1..].to_vec(),
            key: PhantomData,
        }));
    }
    cases
}
