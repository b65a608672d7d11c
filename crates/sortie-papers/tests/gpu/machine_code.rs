//! Checks the machine code of the kernels.

use std::path::Path;

use sortie::Error;
use sortie_papers::{Papers, array_sort, quicksort, radix_sort};
use sortie_simt::machine_code::{self, Sort};

use crate::one_array::Sort as OfOneArray;

/// The sorts whose kernels are compiled.
const LIST: &[Sort<Papers, Error>] = &[
    ("GPU-ArraySort, length 20000", |papers| of_arrays(papers, 20000)),
    ("GPU-Quicksort, its first phase", |papers| of_one_array(papers, 1 << 20, quicksort)),
    ("GPU-Quicksort, its second phase", |papers| of_one_array(papers, 1000, quicksort)),
    ("radix sort of section 6.1", |papers| of_one_array(papers, 1 << 20, radix_sort)),
];

fn of_one_array(papers: &Papers, n: usize, sort: OfOneArray) -> Result<(), Error> {
    let stream = papers.device().stream()?;
    let keys = papers.device().alloc::<u32>(n)?;
    // SAFETY: this device runs nothing.
    unsafe { sort(papers, &stream, keys.view())? }.wait()
}

fn of_arrays(papers: &Papers, length: usize) -> Result<(), Error> {
    let stream = papers.device().stream()?;
    let keys = papers.device().alloc::<f32>(length << 10)?;
    // SAFETY: this device runs nothing.
    unsafe { array_sort(papers, &stream, keys.view(), length)? }.wait()
}

#[test]
fn no_kernel_of_the_list_spills_or_asks_for_too_much_shared_memory() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gpu/machine_code.txt");
    machine_code::check(LIST, Papers::new, &[], &file);
}
