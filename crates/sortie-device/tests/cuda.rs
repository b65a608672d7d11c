//! A CUDA device, if there is one.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use sortie_device::{Device, Error, Launch, Program, Stream, View, cuda, rates};

const SOURCE: &str = r#"
extern "C" __global__ void add(unsigned *x, unsigned long long n, unsigned value, unsigned short twice) {
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i < n) x[i] += value << twice;
}
extern "C" __global__ void sum_in_shared(unsigned long long *out, unsigned words) {
    extern __shared__ unsigned shared[];
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x) shared[i] = i;
    __syncthreads();
    unsigned long long sum = 0;
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x) sum += shared[words - 1 - i];
    atomicAdd(out, sum);
}
extern "C" __global__ void wild() { *(volatile int *)8 = 1; }
"#;

fn device() -> Option<Device> {
    cuda::device(0).inspect_err(|error| println!("skipped: {error}")).ok()
}

fn program() -> Program {
    Program { name: "test.cu".into(), source: SOURCE, headers: &[], defines: vec![], overlaps: false }
}

fn launch(len: usize) -> Launch {
    Launch { blocks: len.div_ceil(256) as u32, threads: 256, shared: 0 }
}

#[test]
fn properties_make_sense() {
    let Some(device) = device() else { return };
    let properties = device.properties();
    println!("{properties:?}, {} bytes free", device.free_memory().unwrap());
    assert_eq!((properties.kind, properties.ordinal), ("cuda", 0));
    assert!(
        properties.shared_per_block >= 48 << 10 && properties.multiprocessors > 0 && properties.l2_bytes > 0
    );
    assert!(device.free_memory().unwrap() <= properties.memory_total);
    assert_eq!(cuda::device(0).unwrap().properties(), properties);
    assert!(matches!(cuda::device(1000), Err(Error::NoDevice { reason }) if reason.contains("cuda:1000")));
}

/// Memory that streams free is kept for them, and released for an allocation by the device.
#[test]
fn memory_of_streams() {
    let Some(device) = device() else { return };
    let stream = device.stream().unwrap();
    let free = device.free_memory().unwrap();
    let words = 16 << 20;
    let module = device.load(&program()).unwrap();
    let add = module.kernel("add").unwrap();
    for round in 0..3u32 {
        // SAFETY: no other stream uses these buffers.
        let [a, b] = [(); 2].map(|()| unsafe { stream.alloc::<u32>(words).unwrap() });
        stream.fill(a.view(), 0).unwrap();
        // SAFETY: these are the kernel's arguments, and it stays within the buffer.
        unsafe { add.launch(&stream, launch(words), (&a, words as u64, round, 0u16)).unwrap() };
        stream.copy_within(b.view(), a.view()).unwrap();
        drop(a);
        let mut found = [0; 3];
        stream.copy_out(&mut found, b.range(words - 3..words)).unwrap();
        assert_eq!(found, [round; 3]);
        assert!(device.free_memory().unwrap() < free, "what is in use is not free");
    }
    stream.wait().unwrap();
    // The tolerance is for memory that the driver itself holds.
    assert!(device.free_memory().unwrap() + (64 << 20) >= free, "what is kept counts as free");
    let most = (device.free_memory().unwrap() - (1 << 30)) as usize;
    drop(device.alloc::<u8>(most).unwrap());
    // SAFETY: as above.
    drop(unsafe { stream.alloc::<u8>(most).unwrap() });
    // SAFETY: as above.
    let refused = unsafe { stream.alloc::<u8>(1 << 50) };
    assert!(matches!(refused, Err(Error::OutOfMemory { needed, .. }) if needed == 1 << 50));
}

#[test]
fn graphs() {
    let Some(device) = device() else { return };
    let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
    let n = 100_000;
    let numbers = device.alloc::<u32>(n).unwrap();
    stream.fill(numbers.view(), 0).unwrap();
    stream.wait().unwrap();
    let add = device.load(&program()).unwrap().kernel("add").unwrap();
    let graph = stream
        .capture::<Error>(|| {
            // SAFETY: no other stream uses it.
            let copy = unsafe { stream.alloc::<u32>(n)? };
            stream.copy_within(copy.view(), numbers.view())?;
            // SAFETY: these are the kernel's arguments, and it stays within the buffer.
            unsafe { add.launch(&stream, launch(n), (&copy, n as u64, 5u32, 0u16))? };
            stream.copy_within(numbers.view(), copy.view())
        })
        .unwrap();
    for times in 1..=3u32 {
        // SAFETY: the buffer and the kernel exist, and nothing else uses them.
        unsafe { graph.launch(&other).unwrap() };
        let mut found = vec![0; n];
        other.copy_out(&mut found, numbers.view()).unwrap();
        assert!(found.iter().all(|&number| number == 5 * times));
    }
    let read_back = || stream.copy_out(&mut [0], numbers.range(0..1));
    assert!(stream.capture(read_back).is_err());
    read_back().unwrap();
}

#[test]
fn copies_fills_and_launches() {
    let Some(device) = device() else { return };
    let stream = device.stream().unwrap();
    let len = 100_003;
    let host: Vec<u32> = (0..len as u32).collect();
    let (a, b) = (device.alloc::<u32>(len).unwrap(), device.alloc::<u32>(len).unwrap());
    stream.copy_in(a.view(), &host).unwrap();
    stream.fill(b.view(), 0xff).unwrap();
    stream.copy_within(b.range(3..1003), a.range(50..1050)).unwrap();
    let add = device.load(&program()).unwrap().kernel("add").unwrap();
    // SAFETY: these are the kernel's arguments; it stays within `len` elements.
    unsafe { add.launch(&stream, launch(len), (&a, len as u64, 10u32, 1u16)).unwrap() };
    let mut back = vec![0; len];
    stream.copy_out(&mut back, a.view()).unwrap();
    assert!(back.iter().zip(&host).all(|(&found, &was)| found == was + 20));
    stream.copy_out(&mut back, b.view()).unwrap();
    assert_eq!((back[2], back[3], back[1002], back[1003]), (u32::MAX, 50, 1049, u32::MAX));

    // SAFETY: every device has the default stream.
    let default = unsafe { Stream::borrowed(&device, 0) };
    // SAFETY: as above, for a part of the buffer. Without blocks nothing happens.
    unsafe {
        add.launch(&default, launch(5), (a.range(10..15), 5u64, 1u32, 0u16)).unwrap();
        add.launch(&default, launch(0), (&a, 0u64, 1u32, 0u16)).unwrap();
    }
    // SAFETY: this is the same memory, while `a` lives.
    let again: View<u32> = unsafe { View::from_raw(a.address(), len) };
    default.copy_out(&mut back, again).unwrap();
    assert_eq!(back[8..17], [28, 29, 31, 32, 33, 34, 35, 35, 36]);
}

#[test]
fn nothing_is_needed_for_nothing() {
    let Some(device) = device() else { return };
    let (stream, empty) = (device.stream().unwrap(), device.alloc::<u64>(0).unwrap());
    stream.fill(empty.view(), 1).unwrap();
    stream.copy_in(empty.view(), &[]).unwrap();
    stream.copy_out(&mut [], empty.view()).unwrap();
    stream.copy_within(empty.view(), empty.view()).unwrap();
    assert!(device.alloc_pinned::<u64>(0).unwrap().is_empty());
}

#[test]
fn a_block_gets_all_its_shared_memory_and_no_more() {
    let Some(device) = device() else { return };
    let (stream, out) = (device.stream().unwrap(), device.alloc::<u64>(1).unwrap());
    let kernel = device.load(&program()).unwrap().kernel("sum_in_shared").unwrap();
    let limit = device.properties().shared_per_block;
    let words = (limit / 4) as u32;
    stream.fill(out.view(), 0).unwrap();
    let shape = |shared| Launch { blocks: 1, threads: 1024, shared };
    // SAFETY: these are the kernel's arguments; it stays within its shared memory.
    unsafe { kernel.launch(&stream, shape(limit), (&out, words)).unwrap() };
    let mut sum = [0];
    stream.copy_out(&mut sum, out.view()).unwrap();
    assert_eq!(sum[0], u64::from(words) * u64::from(words - 1) / 2);
    // SAFETY: as above.
    let refused = unsafe { kernel.launch(&stream, shape(limit + 4), (&out, words)) }.unwrap_err();
    println!("{refused}");
    assert!(matches!(refused, Error::Launch { kernel, .. } if kernel == "sum_in_shared"));
}

#[test]
fn streams_overlap_pinned_copies_and_events_order_them() {
    let Some(device) = device() else { return };
    let (first, second) = (device.stream().unwrap(), device.stream().unwrap());
    let (start, copied, end) = (device.event().unwrap(), device.event().unwrap(), device.event().unwrap());
    let len = 16 << 20;
    let mut pinned = device.alloc_pinned::<u32>(len).unwrap();
    assert!(pinned.iter().all(|&word| word == 0));
    pinned.iter_mut().zip(1..).for_each(|(word, value)| *word = value);
    let mut back = device.alloc_pinned::<u32>(len).unwrap();
    let data = device.alloc::<u32>(len).unwrap();
    first.record(&start).unwrap();
    // SAFETY: nothing accesses either slice until `end` has happened.
    unsafe {
        first.enqueue_copy_in(data.view(), &pinned).unwrap();
        first.record(&copied).unwrap();
        second.wait_for(&copied).unwrap();
        second.enqueue_copy_out(&mut back, data.view()).unwrap();
    }
    second.record(&end).unwrap();
    end.wait().unwrap();
    println!("in {} ms, in and out {} ms", copied.milliseconds_since(&start).unwrap(), {
        let all = end.milliseconds_since(&start).unwrap();
        assert!(all > copied.milliseconds_since(&start).unwrap());
        all
    });
    assert!(*pinned == *back);
}

#[test]
fn too_much_memory_is_refused_with_both_numbers() {
    let Some(device) = device() else { return };
    let total = device.properties().memory_total;
    let Err(error) = device.alloc::<u8>(total as usize * 2) else { panic!("more memory than there is") };
    println!("{error}");
    assert!(matches!(error, Error::OutOfMemory { needed, available }
        if needed == total * 2 && available > 0 && available <= total));
    assert!(matches!(device.alloc::<u64>(usize::MAX), Err(Error::OutOfMemory { .. })));
    println!("{}", device.alloc_pinned::<u8>(1 << 50).unwrap_err());
    device.alloc::<u8>(1 << 20).unwrap();
}

#[test]
fn errors_name_what_failed() {
    let Some(device) = device() else { return };
    let module = device.load(&program()).unwrap();
    let error = module.kernel("absent").unwrap_err().to_string();
    println!("{error}");
    assert!(error.contains("absent"));
    let broken = Program { source: "not C++", ..program() };
    assert!(matches!(device.load(&broken), Err(Error::Compile { program, .. }) if program == "test.cu"));
}

/// Runs in a separate process, because that process loses the device.
#[test]
fn a_wild_write_loses_the_device() {
    let Some(device) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    if !in_a_process("a_wild_write_loses_the_device", folder.path()) {
        return;
    }
    let stream = device.stream().unwrap();
    let wild = device.load(&program()).unwrap().kernel("wild").unwrap();
    // SAFETY: the wrong access stays within the device memory of this process.
    unsafe { wild.launch(&stream, launch(1), ()).unwrap() };
    let error = stream.wait().unwrap_err();
    println!("{error}");
    assert!(matches!(error, Error::DeviceLost { .. }));
    assert!(matches!(device.alloc::<u8>(1), Err(Error::DeviceLost { .. })));
}

/// Runs in separate processes: one that has compiled keeps the compiler open.
#[test]
fn loading_is_fast_when_cached() {
    let Some(device) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    for _ in ["not cached", "cached", "cached"] {
        if in_a_process("loading_is_fast_when_cached", folder.path()) {
            let started = Instant::now();
            device.free_memory().unwrap();
            let context = started.elapsed();
            device.load(&program()).unwrap().kernel("add").unwrap();
            return println!("context {context:.1?}, load {:.1?}", started.elapsed() - context);
        }
    }
}

#[test]
fn rates_are_measured_and_kept() {
    let Some(device) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    if !in_a_process("rates_are_measured_and_kept", folder.path()) {
        return;
    }
    assert_eq!(rates::known(&device), None);
    let start = Instant::now();
    let rates = rates::measure(&device).unwrap();
    println!("{rates:?} in {:.1?}", start.elapsed());
    assert_eq!(rates::known(&device), Some(rates));
    assert!(rates.copy > rates.pinned_in);
}

/// Returns true in the process that does the test's work with `folder` as its cache. In any other process, starts it
/// and returns false.
fn in_a_process(test: &str, folder: &Path) -> bool {
    const CHILD: &str = "SORTIE_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", test, "--nocapture"]).env(CHILD, "").env("SORTIE_CACHE", folder);
    let output = child.output().unwrap();
    print!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    false
}
