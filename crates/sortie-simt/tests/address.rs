//! AddressSanitizer and UndefinedBehaviorSanitizer. They must be loaded when a process starts, and end it when they
//! find an error. So each test runs itself again under them, with the kernel's name in the environment.

mod common;

use std::env;
use std::thread;

use memmap2::MmapMut;
use sortie_device::{Error, Launch};
use sortie_simt::{Options, Sanitizer};

const KERNEL: &str = "SORTIE_SIMT_KERNEL";
const SOURCE: &str = include_str!("kernels/address.cu");
/// The bytes that the test bench maps for stacks at a time.
const STACKS: usize = 10 << 20;

/// Runs under the sanitizers.
#[test]
fn child() {
    if let Ok(kernel) = env::var(KERNEL) {
        run_kernel(&kernel);
        println!("proper");
    }
}

fn run_kernel(kernel: &str) {
    for seed in 0..4 {
        let device =
            sortie_simt::device(Options { seed, sanitizer: Sanitizer::Address, ..Options::default() })
                .unwrap();
        let mut data = [1; 128];
        let program = common::program("address", SOURCE, &[]);
        common::run(&device, &program, kernel, Launch { blocks: 3, threads: 64, shared: 256 }, &mut data)
            .unwrap();
        assert_eq!(data[..64], [65; 64]);
    }
}

/// Like `child`. Afterwards the thread and its stacks are gone, and other mappings use their addresses.
#[test]
fn child_that_maps() {
    if let Ok(kernel) = env::var(KERNEL) {
        thread::spawn(move || run_kernel(&kernel)).join().unwrap();
        let mapped: Vec<_> = (0..8).map(|_| MmapMut::map_anon(STACKS).unwrap()).collect();
        // The sanitizer checks the memory that is copied.
        assert!(mapped.iter().all(|mapped| mapped.to_vec() == vec![0; STACKS]));
        println!("proper");
    }
}

/// Whether the kernel passed, and all that was printed.
fn run(kernel: &str) -> (bool, String) {
    run_in("child", kernel)
}

fn run_in(child: &str, kernel: &str) -> (bool, String) {
    let mut command = sortie_simt::address_sanitizer().unwrap();
    let output = command.args([child, "--exact", "--nocapture"]).env(KERNEL, kernel).output().unwrap();
    let text =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    (output.status.success(), text)
}

#[track_caller]
fn found(kernel: &str, part: &str, text: &str) {
    let (passed, printed) = run(kernel);
    let line = common::line("address", SOURCE, text);
    assert!(
        !passed && printed.contains(part) && printed.contains(&line),
        "{kernel}: {part}, {line}: {printed}"
    );
}

#[test]
fn a_proper_kernel_passes() {
    let (passed, printed) = run("proper");
    assert!(passed && printed.contains("proper"), "{printed}");
}

/// The sanitizer sometimes reported reads of memory that was mapped at the former addresses of stacks.
#[test]
fn what_takes_the_place_of_stacks_may_be_read() {
    let (passed, printed) = run_in("child_that_maps", "proper");
    assert!(passed && printed.contains("proper"), "{printed}");
}

#[test]
fn out_of_bounds() {
    found("past_global", "heap-buffer-overflow", "// past_global");
    found("past_shared", "heap-buffer-overflow", "// past_shared");
    found("atomic_past_global", "heap-buffer-overflow", "// atomic_past_global");
}

#[test]
fn undefined_behaviour() {
    found("past_local", "index 4 out of bounds", "// past_local");
    found("shift_too_far", "shift exponent 32", "// shift_too_far");
}

#[test]
fn they_do_not_go_with_counts() {
    let options = Options { sanitizer: Sanitizer::Address, count: true, ..Options::default() };
    assert!(sortie_simt::device(options).unwrap_err().to_string().contains("separate builds"));
}

#[test]
fn a_process_without_them_says_so() {
    let error = sortie_simt::device(Options { sanitizer: Sanitizer::Address, ..Options::default() });
    // Under the sanitizers, the device can be created.
    if env::var(KERNEL).is_err() {
        assert!(matches!(error, Err(Error::NoDevice { reason }) if reason.contains("address_sanitizer")));
    }
}
