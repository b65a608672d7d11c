//! The MSD radix sort that Drozd, Pericas and Matsuoka use as the baseline in "Efficient string sorting on multi- and
//! many-core architectures" (2014).

use rayon::Scope;

/// One symbol for the end of a string, and one for each byte.
const ALPHABET: usize = 257;

/// Sorts strings by MSD radix sort, with one task of the current rayon pool per bucket. Stable.
///
/// This is Algorithm 1 of section II, parallelised in the simple way described there: each recursive call is a task. A
/// task counts the symbols of its strings at one position and computes prefix sums. It moves the references to an
/// auxiliary array by these sums, and copies them back. Then it spawns a task for each symbol that two or more strings
/// have, which continues at the next position. So one thread processes the first position alone, and small buckets are
/// sorted like large ones. The paper's own algorithm differs: all threads share the first passes, by groups of symbols,
/// and three-way quicksort sorts small buckets. [`sort_strings`](sortie::sort_strings) started from that algorithm.
///
/// Time: O(d + σb), where d is the number of symbols that distinguish the strings, b the number of tasks, and σ = 257.
/// Scratch: a copy of the references; two tables of 2 KiB for each thread; up to σ waiting tasks for each position that
/// a thread has finished.
///
/// Where the paper leaves something open: the end of a string is a symbol smaller than all bytes, so strings may
/// contain zero bytes, and strings that have ended need no further sorting. No task waits for another, and all tasks
/// belong to one scope, so a long prefix that all strings share does not use up the stack.
///
/// # Panics
/// If this call starts rayon's global pool and the system cannot start its threads.
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
        // Strings that have ended are equal.
        if of > 0 && count > 1 {
            scope.spawn(move |scope| sort(scope, bucket, auxiliary_bucket, depth + 1));
        }
    }
}

fn symbol(string: &impl AsRef<[u8]>, depth: usize) -> usize {
    string.as_ref().get(depth).map_or(0, |&byte| 1 + usize::from(byte))
}
