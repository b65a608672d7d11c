//! Forced faults on the test bench: launches, copies and fills that fail, and refused allocations. The sort must return
//! an error, free its memory, and work again afterwards.

use sortie::{Bound, Error};
use sortie_device::{Buffer, Stream};
use sortie_papers::Papers;
use sortie_simt::{Options, or_skip};

use crate::one_array::{SORTS, Sort};
use crate::support::{keys, on_bench};

const KEYS: usize = 15_000;

fn there(papers: &Papers) -> (Stream, Buffer<u32>) {
    let (stream, buffer) = (papers.device().stream().unwrap(), papers.device().alloc(KEYS).unwrap());
    stream.copy_in(buffer.view(), &keys("random", KEYS, 1)).unwrap();
    (stream, buffer)
}

fn sorted(papers: &Papers, sort: Sort, (stream, buffer): &(Stream, Buffer<u32>)) -> Result<Vec<u32>, Error> {
    // SAFETY: nothing else uses the buffer meanwhile.
    unsafe { sort(papers, stream, buffer.view()) }?.wait()?;
    let mut keys = vec![0; KEYS];
    stream.copy_out(&mut keys, buffer.view())?;
    Ok(keys)
}

fn expected() -> Vec<u32> {
    let mut keys = keys("random", KEYS, 1);
    keys.sort_unstable();
    keys
}

fn of_one(options: Options, test: impl Fn(&Papers)) {
    on_bench(Options { multiprocessors: 1, ..options }, test);
}

/// The first launch, copy or fill fails, then the second, and so on.
#[test]
fn work_that_fails_is_an_error_and_the_sort_works_afterwards() {
    let Some(_) = or_skip(sortie_simt::device(Options::default())) else { return };
    for (name, sort) in SORTS {
        // The first operation copies the keys to the device.
        let done = (1..).find(|&failing| {
            let done = std::cell::Cell::new(true);
            of_one(Options { failing: Some(failing), ..Options::default() }, |papers| {
                let data = there(papers);
                match sorted(papers, sort, &data) {
                    Ok(keys) => assert!(keys == expected(), "{name}: it hid that step {failing} failed"),
                    Err(Error::Device(_)) => {
                        done.set(false);
                        drop(data);
                        let again = sorted(papers, sort, &there(papers)).unwrap();
                        assert!(again == expected(), "{name}: sorted after step {failing} failed");
                    }
                    Err(other) => panic!("{name}, step {failing}: {other}"),
                }
            });
            done.get()
        });
        assert!(done > Some(3), "{name} has no steps");
    }
}

/// The allocation of scratch is refused.
#[test]
fn too_little_memory_is_an_error() {
    for (name, sort) in SORTS {
        of_one(Options { memory: 4 * KEYS as u64 + 4096, ..Options::default() }, |papers| {
            let data = there(papers);
            let refused = sorted(papers, sort, &data).unwrap_err();
            assert!(
                matches!(
                    refused,
                    Error::Memory { bound: Bound::Device, .. }
                        | Error::Device(sortie_device::Error::OutOfMemory { .. })
                ),
                "{name}: {refused}"
            );
        });
    }
}
