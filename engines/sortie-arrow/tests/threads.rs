//! The threads that a sorter starts, counted in a process of its own.
#![cfg(target_os = "linux")]

use arrow_array::{Int32Array, UInt32Array};
use sortie_arrow::{ArrowSorter, SortOptions};

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// It once started a pool for each direction.
#[test]
fn both_directions_share_one_pool() {
    let before = threads();
    let sorter = ArrowSorter::new(sortie::Sorter::builder().threads(16)).unwrap();
    assert_eq!(threads() - before, 16);
    let array = Int32Array::from(vec![3, 1, 2]);
    for (descending, expected) in [(false, [1, 2, 0]), (true, [0, 2, 1])] {
        let options = SortOptions { descending, nulls_first: false };
        let indices = sorter.sort_to_indices(&array, Some(options), None).unwrap().0;
        assert_eq!(indices, UInt32Array::from(expected.to_vec()));
    }
    assert_eq!(threads() - before, 16);
}
