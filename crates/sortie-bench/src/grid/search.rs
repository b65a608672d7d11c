//! `--search`: measures random arrays to find the one where Sortie is furthest behind.

use std::time::{Duration, Instant};

use super::line;
use super::race::Raced;
use crate::Result;
use crate::args::Args;

/// The result of one trial.
pub struct Tried {
    pub label: String,
    pub raced: Vec<Raced>,
    /// Whether all results that count were correct.
    pub right: bool,
    /// The ratio that the search minimises.
    pub ratio: Option<f64>,
}

/// Runs trials with ascending seeds for the given number of seconds, but at least one. Returns whether every result was
/// correct.
pub fn search(args: &Args, seconds: u64, mut trial: impl FnMut(u64) -> Result<Tried>) -> Result<bool> {
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut worst, mut right): (Option<(f64, String)>, bool) = (None, true);
    for seed in args.seed.. {
        let tried = trial(seed)?;
        let line = line(&tried.label, &tried.raced);
        if !tried.right {
            println!("seed {seed}: {line}");
            right = false;
        }
        let ratio = tried.ratio.ok_or("nothing to compare with; give a library of peers with --peers")?;
        if worst.as_ref().is_none_or(|(least, _)| ratio < *least) {
            let found = format!("{ratio:.2}  seed {seed}: {line}");
            println!("{found}");
            worst = Some((ratio, found));
        }
        if Instant::now() >= end {
            println!("{} trials; worst: {}", seed - args.seed + 1, worst.expect("there was one").1);
            println!("to repeat it, run `--search 0` with its `--seed`, and with the same `--n` if any");
            break;
        }
    }
    Ok(right)
}
