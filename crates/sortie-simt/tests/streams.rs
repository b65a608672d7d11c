//! Memory allocated in stream order, and graphs.

mod common;

use sortie_device::{Buffer, Error, Kernel, Launch, Stream};
use sortie_simt::{Bench, Calls, Options};

fn kernel(bench: &Bench) -> Kernel {
    let program = common::program("sort", include_str!("kernels/sort.cu"), &[("KEYS", 4)]);
    bench.device().load(&program).unwrap().kernel("sort_segments").unwrap()
}

fn sort(kernel: &Kernel, stream: &Stream, keys: &Buffer<u32>) -> Result<(), Error> {
    let shape = Launch { blocks: 1, threads: 128, shared: 0 };
    // SAFETY: the arguments are the kernel's, and it stays within the keys.
    unsafe { kernel.launch(stream, shape, (keys, keys.len() as u32, 1u32)) }
}

#[test]
fn memory_of_a_stream_is_freed_without_waiting() {
    let bench = Bench::new(Options { memory: 1000, ..Options::default() }).unwrap();
    let stream = bench.device().stream().unwrap();
    // SAFETY: no other stream uses it.
    let alloc = |bytes| unsafe { stream.alloc::<u8>(bytes) };
    let taken = alloc(600).unwrap();
    assert_eq!(alloc(500).unwrap_err(), Error::OutOfMemory { needed: 500, available: 400 });
    drop(taken);
    assert_eq!(alloc(900).unwrap().len(), 900);
    assert_eq!(bench.calls(), Calls { waits: 0, allocations: 3 });
    drop(bench.device().alloc::<u8>(1).unwrap());
    assert_eq!(bench.calls(), Calls { waits: 1, allocations: 4 });
}

#[test]
fn a_workspace_is_all_that_a_stream_allocates_from() {
    let bench = Bench::new(Options::default()).unwrap();
    let stream = bench.device().stream().unwrap();
    let workspace = bench.device().alloc::<u8>(1024).unwrap();
    let before = bench.calls();
    // SAFETY: nothing else uses the workspace, and nothing is enqueued.
    let within = unsafe { stream.with_workspace(workspace.view()) };
    assert_eq!((within.workspace_bytes(), stream.workspace_bytes()), (Some(1024), None));
    // SAFETY: no other stream uses it.
    let alloc = |words| unsafe { within.alloc::<u32>(words) };
    let (first, second) = (alloc(1).unwrap(), alloc(192).unwrap());
    assert_eq!([&first, &second].map(|part| part.address() - workspace.address()), [0, 256]);
    assert_eq!(alloc(1).unwrap_err(), Error::OutOfMemory { needed: 256, available: 0 });
    drop(first);
    assert_eq!(alloc(64).unwrap().address(), workspace.address());
    assert_eq!(bench.calls(), before);
}

#[test]
fn a_graph_does_its_work_anew_each_time() {
    let bench = Bench::new(Options::default()).unwrap();
    let (kernel, stream) = (kernel(&bench), bench.device().stream().unwrap());
    let keys = bench.device().alloc::<u32>(100).unwrap();
    let free = bench.device().free_memory();
    let before: Vec<u32> = (0..100).rev().collect();
    stream.copy_in(keys.view(), &before).unwrap();
    let graph = stream
        .capture(|| {
            // SAFETY: no other stream uses it.
            let copy = unsafe { stream.alloc::<u32>(100)? };
            stream.copy_within(copy.view(), keys.view())?;
            sort(&kernel, &stream, &copy)?;
            stream.copy_within(keys.view(), copy.view())
        })
        .unwrap();
    let mut found = vec![0; 100];
    stream.copy_out(&mut found, keys.view()).unwrap();
    assert_eq!(found, before, "what is captured does not run");
    for add in [0, 1000] {
        let mut keys_now: Vec<u32> = before.iter().map(|key| key * 7 % 100 + add).collect();
        stream.copy_in(keys.view(), &keys_now).unwrap();
        // SAFETY: the keys and the kernel still exist, and nothing else uses the keys.
        unsafe { graph.launch(&stream).unwrap() };
        stream.copy_out(&mut found, keys.view()).unwrap();
        keys_now.sort_unstable();
        assert_eq!(found, keys_now);
    }
    drop(graph);
    assert_eq!(bench.device().free_memory(), free, "a graph gives back its memory");
}

/// A sort that cannot be captured on a real device cannot be captured on the test bench either.
#[test]
fn what_waits_is_not_captured() {
    let bench = Bench::new(Options::default()).unwrap();
    let (device, stream) = (bench.device(), bench.device().stream().unwrap());
    let word = device.alloc::<u32>(1).unwrap();
    let read_back = || stream.copy_out(&mut [0], word.view());
    assert!(stream.capture(read_back).unwrap_err().to_string().contains("captured"));
    // This holds even if the closure hides the error.
    let hides = || {
        let _ = read_back();
        Ok::<_, Error>(())
    };
    assert!(stream.capture(hides).is_err());
    let done = device.event().unwrap();
    let waits = || {
        stream.record(&done)?;
        done.wait()
    };
    assert!(stream.capture(waits).unwrap_err().to_string().contains("captured"));
    // The stream can be used as before.
    read_back().unwrap();
    waits().unwrap();
}
