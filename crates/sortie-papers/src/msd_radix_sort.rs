//! The MSD radix sort that Drozd, Pericas and Matsuoka compare theirs with: "Efficient string sorting on multi- and
//! many-core architectures" (2014).

use rayon::Scope;

/// The end of a string, and the bytes.
const ALPHABET: usize = 257;

/// Sorts strings by radix, the first symbol first, each bucket a task of the current rayon pool. Stable.
///
/// Algorithm 1 of section II, and the naive way to make it parallel there: what recurs is a task. A task counts the symbols
/// of its strings at one position, moves the references to an auxiliary array by the sums of the counts, and back, and
/// spawns a task for each symbol of two strings or more, which goes on with the next position. So the first position is
/// one thread's, and small buckets are sorted as large ones are. What the paper does instead (all threads share the first
/// passes, by groups of symbols, and a three-way quicksort takes the small buckets) is what
/// [`sort_strings`](sortie::sort_strings) started from.
///
/// Time: O(d + σb) for d symbols that tell the strings apart, b tasks, and σ = 257. Scratch: a copy of the references; two
/// tables of 2 KiB for each thread; up to σ waiting tasks for each position that a thread has behind it.
///
/// What follows from the text where the paper is silent: the end of a string is a symbol before all bytes, so that bytes may
/// be zero, and what has ended is in order. No task waits for another, all are of one scope, so a prefix shared by all
/// strings takes no stack.
///
/// # Panics
/// If rayon's global pool is to be started and the system refuses its threads.
///
/// ```
/// let mut v = ["tea", "ten", "a", "tea"];
/// sortie_papers::msd_radix_sort(&mut v);
/// assert_eq!(v, ["a", "tea", "tea", "ten"]);
/// ```
pub fn msd_radix_sort<S: AsRef<[u8]> + Copy + Send + Sync>(strings: &mut [S]) {
    let mut auxiliary = strings.to_vec();
    rayon::scope(|scope| sort(scope, strings, &mut auxiliary, 0));
}

/// Sorts strings that share the first `depth` bytes.
fn sort<'a, S: AsRef<[u8]> + Copy + Send + Sync>(
    scope: &Scope<'a>,
    mut strings: &'a mut [S],
    mut auxiliary: &'a mut [S],
    depth: usize,
) {
    let mut counts = [0; ALPHABET];
    strings.iter().for_each(|string| counts[symbol(string, depth)] += 1);
    let mut places = [0; ALPHABET];
    for of in 1..ALPHABET {
        places[of] = places[of - 1] + counts[of - 1];
    }
    for string in &*strings {
        let place = &mut places[symbol(string, depth)];
        auxiliary[*place] = *string;
        *place += 1;
    }
    strings.copy_from_slice(auxiliary);

    for (of, &count) in counts.iter().enumerate() {
        let (bucket, auxiliary_bucket);
        (bucket, strings) = strings.split_at_mut(count);
        (auxiliary_bucket, auxiliary) = auxiliary.split_at_mut(count);
        // What has ended is equal.
        if of > 0 && count > 1 {
            scope.spawn(move |scope| sort(scope, bucket, auxiliary_bucket, depth + 1));
        }
    }
}

fn symbol(string: &impl AsRef<[u8]>, depth: usize) -> usize {
    string.as_ref().get(depth).map_or(0, |&byte| 1 + usize::from(byte))
}
