//! Faults of kernels are reported with their lines; similar kernels without the fault pass.

mod common;

use sortie_device::{Error, Launch, Program};
use sortie_simt::{Options, Sanitizer};

const SOURCE: &str = include_str!("kernels/faults.cu");

fn launch(kernel: &str, sanitizer: Sanitizer, seed: u64, data: &mut [u32]) -> Result<(), Error> {
    let of_many_blocks =
        ["global", "last_block", "narrow", "wide"].iter().any(|name| kernel.starts_with(name));
    let (blocks, threads) = (if of_many_blocks { 5 } else { 1 }, threads(kernel));
    let device = sortie_simt::device(Options { seed, sanitizer, ..Options::default() })?;
    let overlaps = ["early", "in_turn"].contains(&kernel);
    let program = Program { overlaps, ..common::program("faults", SOURCE, &[]) };
    common::run(&device, &program, kernel, Launch { blocks, threads, shared: 1024 }, data)
}

/// The number of threads that the kernel declares.
fn threads(kernel: &str) -> u32 {
    let at = SOURCE.find(&format!(") {kernel}(")).expect("the kernel is there");
    let declared = SOURCE[..at].rsplit('(').next().unwrap();
    declared.split(',').next().unwrap().parse().unwrap()
}

fn lines(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| common::line("faults", SOURCE, text)).collect()
}

/// The kernel fails with every seed, and each message contains all parts and lines.
#[track_caller]
fn found(kernel: &str, sanitizer: Sanitizer, parts: &[&str], at: &[&str]) {
    for seed in 0..8 {
        let mut data = vec![0; 1024];
        let result = launch(kernel, sanitizer, seed, &mut data);
        let Err(Error::Fault(message)) = result else {
            panic!("{kernel}, seed {seed}: {result:?}, {data:?}")
        };
        for part in
            parts.iter().map(|part| part.to_string()).chain(lines(at)).chain([format!("kernel {kernel}:")])
        {
            assert!(message.contains(&part), "{kernel}, seed {seed}: {message:?} should say {part:?}");
        }
    }
}

#[track_caller]
fn let_be(kernel: &str, sanitizer: Sanitizer) -> Vec<u32> {
    let mut data = vec![];
    for seed in 0..16 {
        data = vec![0; 1024];
        launch(kernel, sanitizer, seed, &mut data)
            .unwrap_or_else(|error| panic!("{kernel}, seed {seed}: {error}"));
    }
    data
}

#[test]
fn memory_before_the_turn() {
    found("early", Sanitizer::Race, &["too early"], &["reads early"]);
    let_be("in_turn", Sanitizer::Race);
}

#[test]
fn races_in_shared_memory() {
    found(
        "shared_race",
        Sanitizer::Race,
        &["race", "shared memory", "writes at", "reads at"],
        &["// shared_race writes", "// shared_race reads"],
    );
    let_be("shared_ordered", Sanitizer::Race);
    found("shared_race_across_warps", Sanitizer::Race, &["race"], &["// reads across warps"]);
    found("shared_race_across_ballot", Sanitizer::Race, &["race"], &["// reads across ballot"]);
    let_be("shared_ordered_in_warp", Sanitizer::Race);
}

#[test]
fn races_of_bytes() {
    let_be("bytes_apart", Sanitizer::Race);
    found("bytes_race", Sanitizer::Race, &["race"], &["// bytes_race writes"]);
}

#[test]
fn races_in_global_memory() {
    found("global_race", Sanitizer::Race, &["race", "an allocation"], &["// global_race writes"]);
    found("global_relaxed", Sanitizer::Race, &["race"], &["// pass_on"]);
    let data = let_be("global_released", Sanitizer::Race);
    assert_eq!(data[..3], [5, 5, 1 + 2 + 3 + 4]);
}

#[test]
fn races_without_a_fence() {
    let data = let_be("last_block_fenced", Sanitizer::Race);
    assert_eq!(data[..2], [5, 5 * 64]);
    found("last_block_unfenced", Sanitizer::Race, &["race"], &["// last_block"]);
}

#[test]
fn races_with_atomics() {
    found("narrow_scope", Sanitizer::Race, &["race", "(atomic)"], &["// narrow_scope"]);
    assert_eq!(let_be("wide_scope", Sanitizer::Race)[0], 5 * 32);
    found(
        "unordered_read",
        Sanitizer::Race,
        &["race"],
        &["// unordered_read adds", "// unordered_read reads"],
    );
}

#[test]
fn out_of_bounds() {
    found(
        "past_global",
        Sanitizer::Race,
        &["out of bounds", "writes 4 bytes", "an allocation of 4096 bytes"],
        &["// past_global"],
    );
    found("before_global", Sanitizer::Race, &["out of bounds", "offset -4"], &["// before_global"]);
    found(
        "past_shared",
        Sanitizer::Race,
        &["out of bounds", "shared memory of 1024 bytes"],
        &["// past_shared"],
    );
    found("misaligned", Sanitizer::Race, &["misaligned", "reads 8 bytes"], &["// misaligned"]);
}

#[test]
fn out_of_bounds_by_guard_zones() {
    found("past_global", Sanitizer::None, &["out of bounds", "after an allocation of 4096 bytes"], &[]);
    found("past_shared", Sanitizer::None, &["past its 1024 bytes of shared memory"], &[]);
}

#[test]
fn divergent_barriers() {
    for sanitizer in [Sanitizer::None, Sanitizer::Race] {
        found(
            "barrier_of_some",
            sanitizer,
            &["barrier", "divergent", "40 of", "24 have"],
            &["// barrier_of_some"],
        );
        found(
            "barrier_apart",
            sanitizer,
            &["barrier in divergent code"],
            &["// barrier_apart, even", "// barrier_apart, odd"],
        );
        assert_eq!(let_be("barrier_by_warp", sanitizer)[..64], [1; 64]);
    }
}

#[test]
fn missing_lanes() {
    for sanitizer in [Sanitizer::None, Sanitizer::Race] {
        found("lane_ended", sanitizer, &["collective", "00000080 have ended"], &["// lane_ended"]);
        found(
            "lane_elsewhere",
            sanitizer,
            &["deadlock"],
            &["// lane_elsewhere, ballot", "// lane_elsewhere, barrier"],
        );
        found("shuffle_from_outside", sanitizer, &["lane 16"], &["// shuffle_from_outside"]);
        let data = let_be("lanes_in_halves", sanitizer);
        assert_eq!((data[0], data[16]), (0x5555, 0x1111_0000));
    }
}

#[test]
fn waiting_in_vain() {
    found("spin", Sanitizer::None, &["nothing moves"], &["// spin"]);
}

#[test]
fn broken_promises() {
    found("false_promise", Sanitizer::None, &["assumption", "thread 31"], &["// false_promise"]);
}

#[test]
fn asynchronous_copies() {
    let copied = let_be("copy_waited_for", Sanitizer::Race);
    assert_eq!(copied[..32], [1; 32]);
    // A read before the copy is complete gets the previous content of shared memory.
    assert_ne!(let_be("copy_read_early", Sanitizer::None)[..32], [1; 32]);
    found("copy_left_alone", Sanitizer::None, &["asynchronous"], &["// copy_left_alone"]);
}

#[test]
fn launches_that_no_device_takes() {
    let device = sortie_simt::device(Options::default()).unwrap();
    let program = common::program("faults", SOURCE, &[]);
    for (threads, shared, part) in
        [(32, 48 * 1024 + 1, "49152 bytes"), (64, 0, "at most 32"), (2048, 0, "1024")]
    {
        let shape = Launch { blocks: 1, threads, shared };
        let error = common::run(&device, &program, "wide_scope", shape, &mut [0; 32]).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
    let error =
        common::run(&device, &program, "absent", Launch { blocks: 1, threads: 1, shared: 0 }, &mut [0]);
    assert!(error.unwrap_err().to_string().contains("no kernel absent"));
}

#[test]
fn programs_that_do_not_compile() {
    let device = sortie_simt::device(Options::default()).unwrap();
    let error = device.load(&common::program("broken", "int x = y;", &[])).unwrap_err();
    let Error::Compile { program, log } = &error else { panic!("{error:?}") };
    assert!(program == "broken" && log.contains("broken.cu:1"), "{error}");
}
