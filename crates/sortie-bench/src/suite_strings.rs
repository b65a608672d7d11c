//! Suite `strings`: references to strings in memory.

use std::ops::Range;

use rayon::prelude::*;

use crate::args::Args;
use crate::distributions::{StringSet, Strings};
use crate::measure::{Case, Contender, Facts, Measurable};
use crate::peers::{NO_LIMITS, Team};

/// The number of strings in a workload, unless `--n` gives one.
const N: usize = 1_000_000;

pub fn cases(args: &Args) -> Vec<Box<dyn Measurable>> {
    let teams = Team::all(&args.threads);
    let n = args.n.unwrap_or(N);
    let mut cases: Vec<Box<dyn Measurable>> = Vec::new();
    for set in StringSet::ALL {
        if set.available() {
            cases.push(Box::new(case("strings", set, n, sorts(&teams))));
            cases.push(Box::new(case("argsort strings", set, n, argsorts(&teams))));
        } else {
            println!(
                "{}: skipped, the word list was not found (install Debian's package wamerican-insane)",
                set.name()
            );
        }
    }
    cases
}

/// The position of each string of an outcome in the bytes.
pub type Spans = Vec<Range<usize>>;

pub fn case(
    work: &'static str,
    set: StringSet,
    n: usize,
    contenders: Vec<Contender<Strings, Spans>>,
) -> Case<Strings, Spans> {
    Case {
        figure: "",
        facts: Facts {
            suite: "strings",
            work,
            key: "bytes",
            payload: "",
            n,
            segments: None,
            length: set.length(),
            distribution: set.name(),
            includes: "scratch; references move, bodies stay",
        },
        draw: Box::new(move |rng| set.draw(n, rng)),
        bytes: |strings| strings.bytes.len(),
        agrees: |strings, reference, outcome| {
            let text = |span: &Range<usize>| &strings.bytes[span.clone()];
            reference.len() == outcome.len()
                && reference.iter().map(text).eq(outcome.iter().map(text))
                && each_once(outcome)
        },
        contenders,
    }
}

/// Whether no string occurs twice. No string is empty, so each starts at a different position.
fn each_once(spans: &Spans) -> bool {
    let mut starts: Vec<_> = spans.iter().map(|span| span.start).collect();
    starts.par_sort_unstable();
    starts.windows(2).all(|pair| pair[0] != pair[1])
}

/// Contenders that sort references.
fn sorts(teams: &[Team]) -> Vec<Contender<Strings, Spans>> {
    let mut all = vec![by_reference("std", 1, |v| v.sort_unstable())];
    for Team { threads, sorter, pool } in teams.iter().cloned() {
        all.push(by_reference("sortie", threads, move |v| {
            sorter.sort_strings(v).expect(NO_LIMITS);
        }));
        if threads > 1 {
            all.push(by_reference("rayon", threads, move |v| pool.install(|| v.par_sort_unstable())));
        }
    }
    let threads = rayon::current_num_threads();
    all.push(by_reference("sortie (free function)", threads, |v| sortie::sort_strings(v)));
    all
}

pub fn by_reference(
    name: &'static str,
    threads: usize,
    sort: impl Fn(&mut [&[u8]]) + 'static,
) -> Contender<Strings, Spans> {
    Contender::new(name, threads, move |strings: &Strings, clock| {
        let mut refs = strings.refs();
        clock.time(|| sort(&mut refs));
        Ok(spans(strings, refs.into_iter()))
    })
}

/// Contenders for an argsort. Sortie has a call for it. std and rayon sort (string, index) pairs, which are made within
/// the measured time.
fn argsorts(teams: &[Team]) -> Vec<Contender<Strings, Spans>> {
    let mut all = vec![by_place("std", 1, |refs| by_pairs(refs, |pairs| pairs.sort_unstable()))];
    for Team { threads, sorter, pool } in teams.iter().cloned() {
        all.push(by_place("sortie", threads, move |refs| {
            let mut places = vec![0; refs.len()];
            sorter.argsort_strings(refs, &mut places).expect(NO_LIMITS);
            places
        }));
        if threads > 1 {
            all.push(by_place("rayon", threads, move |refs| {
                by_pairs(refs, |pairs| pool.install(|| pairs.par_sort_unstable()))
            }));
        }
    }
    all
}

fn by_pairs(refs: &[&[u8]], sort: impl Fn(&mut [(&[u8], usize)])) -> Vec<usize> {
    let mut pairs: Vec<_> = refs.iter().copied().zip(0..).collect();
    sort(&mut pairs);
    pairs.into_iter().map(|pair| pair.1).collect()
}

fn by_place(
    name: &'static str,
    threads: usize,
    argsort: impl Fn(&[&[u8]]) -> Vec<usize> + 'static,
) -> Contender<Strings, Spans> {
    Contender::new(name, threads, move |strings: &Strings, clock| {
        let refs = strings.refs();
        let places = clock.time(|| argsort(&refs));
        Ok(spans(strings, places.into_iter().map(|place| refs[place])))
    })
}

pub fn spans<'a>(strings: &Strings, refs: impl Iterator<Item = &'a [u8]>) -> Spans {
    let base = strings.bytes.as_ptr().addr();
    let span = |text: &[u8]| {
        let start = text.as_ptr().addr() - base;
        start..start + text.len()
    };
    refs.map(span).collect()
}
