//! The ways to sort that the suite tests.

use std::cmp::Ordering;
use std::sync::LazyLock;

use sortie::{
    Algorithm, Groups, Index, Joined, Key, Nans, Nulls, Order, RankMethod, Report, Segments, Side, Sorter,
    SorterBuilder,
};

/// A way to sort: the free functions, or a sorter with its choices.
pub struct Subject {
    pub name: String,
    pub order: Order,
    sorter: Option<Sorter>,
}

impl Subject {
    pub fn new(name: &str, order: Order, choose: impl Fn(SorterBuilder) -> SorterBuilder) -> Self {
        let builder = Sorter::builder().descending(order.descending).nans(order.nans).nulls(order.nulls);
        let sorter = choose(builder).build().expect("a sorter");
        Subject { name: format!("{name}, {order:?}"), order, sorter: Some(sorter) }
    }

    /// The free functions.
    pub fn free() -> Self {
        Subject { name: "free functions".into(), order: Order::default(), sorter: None }
    }

    pub fn sort<K: Key>(&self, keys: &mut [K]) {
        match &self.sorter {
            None => sortie::sort(keys),
            Some(sorter) => done(sorter.sort(keys)),
        }
    }

    pub fn sort_pairs<K: Key, V: Send>(&self, keys: &mut [K], payload: &mut [V]) {
        match &self.sorter {
            None => sortie::sort_pairs(keys, payload),
            Some(sorter) => done(sorter.sort_pairs(keys, payload)),
        }
    }

    pub fn argsort<K: Key, I: Index>(&self, keys: &[K]) -> Vec<usize> {
        match &self.sorter {
            None => sortie::argsort(keys),
            Some(sorter) => {
                let mut indices = garbage::<I>(keys.len());
                done(sorter.argsort(keys, &mut indices));
                indices.into_iter().map(Index::to_usize).collect()
            }
        }
    }

    pub fn top_k<K: Key + Clone>(&self, keys: &[K], k: usize) -> Vec<K> {
        match &self.sorter {
            None => sortie::top_k(keys, k, self.order),
            Some(sorter) => {
                // The first content must not matter. Without a key there is none.
                let mut top: Vec<K> = keys.iter().rev().take(k).cloned().collect();
                done(sorter.top_k(keys, &mut top));
                top
            }
        }
    }

    pub fn arg_top_k<K: Key, I: Index>(&self, keys: &[K], k: usize) -> Vec<usize> {
        match &self.sorter {
            None => sortie::arg_top_k(keys, k, self.order),
            Some(sorter) => {
                let mut indices = garbage::<I>(k);
                done(sorter.arg_top_k(keys, &mut indices));
                indices.into_iter().map(Index::to_usize).collect()
            }
        }
    }

    pub fn arg_top_k_unsorted<K: Key, I: Index>(&self, keys: &[K], k: usize) -> Vec<usize> {
        let mut indices = garbage::<I>(k);
        done(self.sorter().arg_top_k_unsorted(keys, &mut indices));
        indices.into_iter().map(Index::to_usize).collect()
    }

    pub fn nth<K: Key + Clone>(&self, keys: &[K], indices: &[usize]) -> Vec<K> {
        match &self.sorter {
            None => indices.iter().map(|&n| sortie::nth(keys, n, self.order)).collect(),
            Some(sorter) => {
                let mut nth: Vec<K> = indices.iter().map(|_| keys[0].clone()).collect();
                done(sorter.nth(keys, indices, &mut nth));
                nth
            }
        }
    }

    pub fn arg_nth<K: Key, I: Index>(&self, keys: &[K], indices: &[usize]) -> Vec<usize> {
        match &self.sorter {
            None => indices.iter().map(|&n| sortie::arg_nth(keys, n, self.order)).collect(),
            Some(sorter) => {
                let mut found = garbage::<I>(indices.len());
                done(sorter.arg_nth(keys, indices, &mut found));
                found.into_iter().map(Index::to_usize).collect()
            }
        }
    }

    pub fn unique<K: Key + Clone>(&self, keys: &[K]) -> Vec<K> {
        match &self.sorter {
            None => sortie::unique(keys, self.order),
            Some(sorter) => {
                let mut unique = Vec::new();
                done(sorter.unique(keys, &mut unique));
                unique
            }
        }
    }

    pub fn unique_counts<K: Key + Clone>(&self, keys: &[K]) -> (Vec<K>, Vec<usize>) {
        match &self.sorter {
            None => sortie::unique_counts(keys, self.order),
            Some(sorter) => {
                let (mut unique, mut counts) = (Vec::new(), Vec::new());
                done(sorter.unique_counts(keys, &mut unique, &mut counts));
                (unique, counts)
            }
        }
    }

    pub fn unique_groups<K: Key + Clone>(&self, keys: &[K]) -> Groups<u32> {
        self.sorter().unique_groups(keys).expect("the sort does not fail").0
    }

    pub fn rank<K: Key + Clone>(&self, keys: &[K], method: RankMethod) -> Vec<f64> {
        match &self.sorter {
            None => sortie::rank(keys, method, self.order),
            Some(sorter) => {
                let mut ranks = vec![f64::NAN; keys.len()];
                done(sorter.rank(keys, method, &mut ranks));
                ranks
            }
        }
    }

    pub fn search_sorted<K: Key>(&self, keys: &[K], queries: &[K], side: Side) -> Vec<usize> {
        match &self.sorter {
            None => sortie::search_sorted(keys, queries, side, self.order),
            Some(sorter) => {
                let mut positions = garbage::<u32>(queries.len());
                done(sorter.search_sorted(keys, queries, side, &mut positions));
                positions.into_iter().map(Index::to_usize).collect()
            }
        }
    }

    pub fn mode<K: Key + Clone>(&self, keys: &[K]) -> Option<(K, usize)> {
        match &self.sorter {
            None => sortie::mode(keys, self.order),
            Some(sorter) => sorter.mode(keys).unwrap().0,
        }
    }

    pub fn group_bounds<K: Key>(&self, sorted: &[K]) -> Vec<usize> {
        match &self.sorter {
            None => sortie::group_bounds(sorted, self.order),
            Some(sorter) => sorter.group_bounds(sorted).unwrap(),
        }
    }

    pub fn histogram<K: Key>(&self, keys: &[K], edges: &[K]) -> Vec<usize> {
        match &self.sorter {
            None => sortie::histogram(keys, edges, self.order),
            Some(sorter) => {
                let mut counts = garbage(edges.len().saturating_sub(1));
                done(sorter.histogram(keys, edges, &mut counts));
                counts
            }
        }
    }

    pub fn is_sorted<K: Key>(&self, keys: &[K]) -> bool {
        match &self.sorter {
            None => sortie::is_sorted(keys, self.order),
            Some(sorter) => sorter.is_sorted(keys),
        }
    }

    pub fn merge<K: Key + Clone>(&self, slices: &[&[K]]) -> Vec<K> {
        match &self.sorter {
            None => sortie::merge(slices, self.order),
            Some(sorter) => {
                let mut merged = Vec::new();
                done(sorter.merge(slices, &mut merged));
                merged
            }
        }
    }

    /// The pairs of indices.
    pub fn merge_join<K: Key>(&self, left: &[K], right: &[K]) -> Vec<(usize, usize)> {
        let of = |joined: Joined<usize>| joined.left.into_iter().zip(joined.right).collect();
        match &self.sorter {
            None => of(sortie::merge_join(left, right, self.order)),
            Some(sorter) => {
                let (joined, _) = sorter.merge_join::<_, u32>(left, right).unwrap();
                joined
                    .left
                    .into_iter()
                    .map(Index::to_usize)
                    .zip(joined.right.into_iter().map(Index::to_usize))
                    .collect()
            }
        }
    }

    pub fn gather<T: Clone + Send + Sync>(&self, values: &[T], indices: &[u32]) -> Vec<T> {
        match &self.sorter {
            None => sortie::gather(values, indices),
            Some(sorter) => {
                let mut gathered = Vec::new();
                sorter.gather(values, indices, &mut gathered).unwrap();
                gathered
            }
        }
    }

    pub fn partition<K: Key>(&self, keys: &mut [K], indices: &[usize]) {
        match (&self.sorter, indices) {
            (None, &[n]) => sortie::select_nth(keys, n),
            _ => done(self.sorter().partition(keys, indices)),
        }
    }

    pub fn argsort_strings<S: AsRef<[u8]> + Key, I: Index>(&self, strings: &[S]) -> Vec<usize> {
        match &self.sorter {
            None => sortie::argsort(strings),
            Some(sorter) => {
                let mut indices = vec![I::default(); strings.len()];
                done(sorter.argsort_strings(strings, &mut indices));
                indices.into_iter().map(Index::to_usize).collect()
            }
        }
    }

    pub fn sort_segments<K: Key>(&self, keys: &mut [K], segments: Segments<'_>) {
        match &self.sorter {
            None => sortie::sort_segments(keys, segments),
            Some(sorter) => done(sorter.sort_segments(keys, segments)),
        }
    }

    pub fn argsort_segments<K: Key, I: Index>(&self, keys: &[K], segments: Segments<'_>) -> Vec<usize> {
        match &self.sorter {
            None => sortie::argsort_segments(keys, segments),
            Some(sorter) => {
                let mut indices = garbage::<I>(keys.len());
                done(sorter.argsort_segments(keys, &mut indices, segments));
                indices.into_iter().map(Index::to_usize).collect()
            }
        }
    }

    /// A sorter with every choice at its default; used where there is no free function.
    fn sorter(&self) -> Sorter {
        self.sorter.clone().unwrap_or_else(|| Sorter::builder().build().expect("a sorter"))
    }

    pub fn sort_pairs_segments<K: Key, V: Send>(
        &self,
        keys: &mut [K],
        payload: &mut [V],
        segments: Segments<'_>,
    ) {
        done(self.sorter().sort_pairs_segments(keys, payload, segments));
    }

    pub fn sort_by_key<T: Send + Sync, K: Key>(&self, v: &mut [T], key: impl Fn(&T) -> K + Sync) {
        match &self.sorter {
            None => sortie::sort_by_key(v, key),
            Some(sorter) => done(sorter.sort_by_key(v, key)),
        }
    }

    pub fn sort_by_cached_key<T, K>(&self, v: &mut [T], key: impl Fn(&T) -> K + Sync)
    where
        T: Send + Sync,
        K: Ord + Send + Sync,
    {
        match &self.sorter {
            None => sortie::sort_by_cached_key(v, key),
            Some(sorter) => done(sorter.sort_by_cached_key(v, key)),
        }
    }

    pub fn sort_by<T: Send>(&self, v: &mut [T], compare: impl Fn(&T, &T) -> Ordering + Sync) {
        match &self.sorter {
            None => sortie::sort_by(v, compare),
            Some(sorter) => done(sorter.sort_by(v, compare)),
        }
    }

    pub fn sort_strings<S: AsRef<[u8]> + Send + Sync>(&self, strings: &mut [S]) {
        match &self.sorter {
            None => sortie::sort_strings(strings),
            Some(sorter) => done(sorter.sort_strings(strings)),
        }
    }

    /// Sorts and returns the lcps.
    pub fn sort_strings_with_lcps<S: AsRef<[u8]> + Send + Sync, L: Index>(
        &self,
        strings: &mut [S],
    ) -> Vec<usize> {
        let mut lcps = garbage::<L>(strings.len());
        done(self.sorter().sort_strings_with_lcps(strings, &mut lcps));
        lcps.into_iter().map(Index::to_usize).collect()
    }

    /// The indices and the lcps.
    pub fn argsort_strings_with_lcps<S: AsRef<[u8]> + Sync, I: Index>(
        &self,
        strings: &[S],
    ) -> (Vec<usize>, Vec<usize>) {
        let (mut indices, mut lcps) = (garbage::<I>(strings.len()), garbage::<I>(strings.len()));
        done(self.sorter().argsort_strings_with_lcps(strings, &mut indices, &mut lcps));
        let plain = |indices: Vec<I>| indices.into_iter().map(Index::to_usize).collect();
        (plain(indices), plain(lcps))
    }

    pub fn sort_string_array<O: Index>(&self, offsets: &mut [O], bytes: &mut [u8]) {
        match &self.sorter {
            None => sortie::sort_string_array(offsets, bytes),
            Some(sorter) => done(sorter.sort_string_array(offsets, bytes)),
        }
    }
}

/// The initial content of the indices must not matter.
fn garbage<I: Index>(n: usize) -> Vec<I> {
    vec![I::from_usize(usize::try_from(I::LARGEST).unwrap()); n]
}

fn done(result: Result<Report, sortie::Error>) {
    result.expect("the sort does not fail");
}

const UP: Order = Order { descending: false, nans: Nans::Last, nulls: Nulls::Last };
const DOWN: Order = Order { descending: true, nans: Nans::Last, nulls: Nulls::Last };
const UP_FIRST: Order = Order { descending: false, nans: Nans::First, nulls: Nulls::First };
const DOWN_FIRST: Order = Order { descending: true, nans: Nans::First, nulls: Nulls::First };

/// Every order on the calling thread, and the free functions. For keys of any kind; all are stable.
pub static SEQUENTIAL: LazyLock<Vec<Subject>> = LazyLock::new(|| {
    let orders = [UP, DOWN, UP_FIRST, DOWN_FIRST];
    let one = |order| Subject::new("1 thread", order, |choices| choices.threads(1));
    std::iter::once(Subject::free()).chain(orders.map(one)).collect()
});

/// Several threads; each number of threads has another order. For keys of any kind; all are stable.
pub static PARALLEL: LazyLock<Vec<Subject>> = LazyLock::new(|| {
    [(1, UP), (2, UP), (2, DOWN), (3, DOWN_FIRST), (8, UP_FIRST)]
        .map(|(threads, order)| {
            Subject::new(&format!("{threads} threads"), order, |choices| choices.threads(threads))
        })
        .into()
});

/// Every algorithm by name. Only for keys of fixed width, which none of them may refuse.
pub static ALGORITHMS: LazyLock<Vec<Subject>> = LazyLock::new(|| {
    let mut subjects = Vec::new();
    for algorithm in [Algorithm::Radix, Algorithm::Quicksort, Algorithm::Merge] {
        for (threads, order) in [(1, UP), (2, DOWN_FIRST)] {
            let name = format!("{algorithm:?}, {threads} threads");
            subjects
                .push(Subject::new(&name, order, |choices| choices.threads(threads).algorithm(algorithm)));
        }
    }
    subjects
});

/// Sorts that may leave the payloads of equal keys in any order.
pub static UNSTABLE: LazyLock<Vec<Subject>> = LazyLock::new(|| {
    let mut subjects = Vec::new();
    for algorithm in [Algorithm::Auto, Algorithm::Radix, Algorithm::Quicksort] {
        for (threads, order) in [(1, UP), (2, DOWN_FIRST)] {
            let name = format!("unstable {algorithm:?}, {threads} threads");
            subjects.push(Subject::new(&name, order, |choices| {
                choices.threads(threads).algorithm(algorithm).unstable()
            }));
        }
    }
    subjects
});
