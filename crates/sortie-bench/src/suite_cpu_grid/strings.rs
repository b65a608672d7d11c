//! Calls on strings. The arrays contain references; the bytes of the strings do not move.

use rand::SeedableRng;
use rayon::slice::ParallelSliceMut as _;

use super::calls::{arrays, entrant};
use super::cells::{Call, Texts};
use crate::Result;
use crate::distributions::{Rng, StringSet, Strings};
use crate::grid::race::{Raced, race};

/// The strings to sort, `n` in each array.
pub struct Job {
    pub texts: Texts,
    pub n: usize,
    pub seed: u64,
    pub reps: usize,
    pub threads: usize,
}

impl Job {
    /// The strings of all arrays, one array after the other.
    fn draw(&self) -> Result<Strings> {
        let count = self.n * arrays(self.n);
        let rng = &mut Rng::seed_from_u64(self.seed);
        let Texts::Drawn(set) = self.texts else {
            let words = StringSet::Words.draw(count, rng)?;
            let mut refs = words.refs();
            refs.chunks_exact_mut(self.n).for_each(|array| {
                array.sort_unstable();
                if self.texts == Texts::Reversed {
                    array.reverse();
                }
            });
            return Ok(Strings::of(&refs));
        };
        set.draw(count, rng)
    }
}

type Sort = for<'s> fn(&mut [&'s [u8]]);

/// Measures all contenders of a call on strings.
pub fn race_strings(call: Call, job: &Job) -> Result<Vec<Raced>> {
    let strings = job.draw()?;
    if call == Call::Strings { sorts(job, &strings.refs()) } else { argsorts(job, &strings.refs()) }
}

fn sorts(job: &Job, input: &[&[u8]]) -> Result<Vec<Raced>> {
    let n = job.n;
    let mut expected = input.to_vec();
    expected.chunks_exact_mut(n).for_each(|array| array.sort());
    let each_once = |array: &[&[u8]]| {
        let mut bodies: Vec<_> = array.iter().map(|string| (string.as_ptr(), string.len())).collect();
        bodies.sort_unstable();
        bodies
    };
    let bodies: Vec<_> = input.chunks_exact(n).flat_map(each_once).collect();
    let right = |sorted: &Vec<&[u8]>| {
        *sorted == expected && sorted.chunks_exact(n).flat_map(each_once).eq(bodies.iter().copied())
    };
    let mut sorts: Vec<(&'static str, Sort)> = vec![
        ("sortie", |array| sortie::sort_strings(array)),
        ("std", |array| array.sort_unstable()),
        ("std (stable)", |array| array.sort()),
    ];
    if job.threads > 1 {
        sorts.push(("rayon", |array| array.par_sort_unstable()));
    }
    let entrants = sorts.into_iter().map(|(name, sort)| {
        let each = move |refs: &mut Vec<&[u8]>| refs.chunks_exact_mut(n).for_each(sort);
        entrant(name, "scratch; references move, bodies stay", arrays(n), || input.to_vec(), each, right)
    });
    race(entrants.collect(), job.reps)
}

/// A sort of strings with their indices.
type PairSort = for<'s> fn(&mut [(&'s [u8], u32)]);

fn argsorts(job: &Job, input: &[&[u8]]) -> Result<Vec<Raced>> {
    let n = job.n;
    let by_pairs = |array: &[&[u8]], sort: PairSort| -> Vec<usize> {
        let mut pairs: Vec<_> = array.iter().copied().zip(0..).collect();
        sort(&mut pairs);
        pairs.into_iter().map(|(_, index)| index as usize).collect()
    };
    let expected: Vec<_> = input.chunks_exact(n).map(|array| by_pairs(array, |pairs| pairs.sort())).collect();
    let right = |results: &Vec<Vec<usize>>| *results == expected;
    let fresh = || Vec::with_capacity(arrays(n));
    let sortie = |results: &mut Vec<_>| results.extend(input.chunks_exact(n).map(sortie::argsort));
    let mut entrants = vec![entrant("sortie", "scratch", arrays(n), fresh, sortie, right)];
    let mut sorts: Vec<(&'static str, PairSort)> = vec![
        ("std", |pairs| pairs.sort_unstable()),
        ("std (stable)", |pairs| pairs.sort_by(|a, b| a.0.cmp(b.0))),
    ];
    if job.threads > 1 {
        sorts.push(("rayon", |pairs| pairs.par_sort_unstable()));
    }
    for (name, sort) in sorts {
        let each = move |results: &mut Vec<_>| {
            results.extend(input.chunks_exact(n).map(|array| by_pairs(array, sort)));
        };
        let includes = "scratch, building (string, index) pairs, writing the result";
        entrants.push(entrant(name, includes, arrays(n), fresh, each, right));
    }
    race(entrants, job.reps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sortie_and_std_are_found_right_at_all_strings() {
        for texts in Texts::available() {
            for call in [Call::Strings, Call::ArgsortStrings] {
                let job = Job { texts, n: 300, seed: 1, reps: 1, threads: 1 };
                let raced = race_strings(call, &job).unwrap();
                assert_eq!(raced.len(), 3);
                assert!(raced.iter().all(|raced| raced.times.right), "{}", texts.name());
            }
        }
    }

    #[test]
    fn words_in_order_are_in_order_in_memory_too() {
        for (texts, ascend) in [(Texts::Sorted, true), (Texts::Reversed, false)] {
            let strings = Job { texts, n: 100, seed: 1, reps: 1, threads: 1 }.draw().unwrap();
            let refs = strings.refs();
            assert_eq!(refs.len(), 20_000);
            let ordered = |array: &[&[u8]]| array.windows(2).all(|pair| (pair[0] <= pair[1]) == ascend);
            assert!(refs.chunks_exact(100).all(ordered));
        }
    }
}
