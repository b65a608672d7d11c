//! Argsort of every segment by itself, with places counted from the start of each.

use std::time::Instant;

use bytemuck::Pod;
use rayon::prelude::*;
use sortie::dynamic::{self, Dtype};
use sortie::{Error, Report, Segments, Sorter};

/// Writes to `places` where in its segment each key was, with a sorter for each thread that may hold its share
/// of `scratch`. Keys outside of all segments stay where they are; their places count from the end of the
/// segment before.
pub fn argsort<W: Pod + Sync>(
    sorter: impl Fn(u64) -> Result<Sorter, Error>,
    scratch: u64,
    dtype: Dtype,
    keys: &[W],
    segments: Segments<'_>,
    places: &mut [u64],
) -> Result<Report, Error> {
    let start = Instant::now();
    let count = match segments {
        Segments::Length(len) => keys.len() / len.max(1),
        Segments::Offsets(offsets) => offsets.len().saturating_sub(1),
    };
    let at_once = count.clamp(1, rayon::current_num_threads()) as u64;
    let sorter = sorter(scratch / at_once)?;
    let argsort = |(keys, places): (&[W], &mut [u64])| {
        dynamic::argsort(&sorter, dtype, bytemuck::cast_slice(keys), places)
    };
    let mut report = match segments {
        Segments::Length(len) => {
            let len = len.max(1);
            let lanes = keys.par_chunks(len).zip(places.par_chunks_mut(len));
            lanes.map(argsort).try_reduce(Report::default, joined)?
        }
        Segments::Offsets(offsets) => {
            split(keys, places, offsets).into_par_iter().map(argsort).try_reduce(Report::default, joined)?
        }
    };
    // Segments were sorted side by side: their phases share the time that passed, and their scratch adds up.
    let passed = start.elapsed().as_secs_f64() * 1e3;
    let worked = report.milliseconds();
    if worked > 0.0 {
        for phase in &mut report.phases {
            phase.milliseconds *= passed / worked;
            // Which of the threads worked on which segment is not known here.
            phase.work.clear();
        }
    }
    report.scratch_peak *= at_once;
    Ok(report)
}

/// The keys and places of each segment; fills in the places outside of all.
fn split<'a, T>(
    mut keys: &'a [T],
    mut places: &'a mut [u64],
    offsets: &[usize],
) -> Vec<(&'a [T], &'a mut [u64])> {
    let count = keys.len();
    let mut at = 0;
    let mut take = |to: usize| {
        let (first, rest) = keys.split_at(to - at);
        let (first_places, rest_places) = std::mem::take(&mut places).split_at_mut(to - at);
        (at, keys, places) = (to, rest, rest_places);
        (first, first_places)
    };
    let stay = |places: &mut [u64]| places.iter_mut().zip(0..).for_each(|(place, i)| *place = i);
    stay(take(offsets.first().copied().unwrap_or(count)).1);
    let segments = offsets.iter().skip(1).map(|&to| take(to)).collect();
    stay(take(count).1);
    segments
}

fn joined(mut report: Report, other: Report) -> Result<Report, Error> {
    report.absorb(other);
    Ok(report)
}
