//! Kernels with known costs are counted correctly.

mod common;

use sortie_device::Launch;
use sortie_simt::{Bench, Counts, Options, Sanitizer};

fn counts(kernel: &str, options: Options) -> Counts {
    let bench = Bench::new(Options { count: true, ..options }).unwrap();
    let program = common::program("costs", include_str!("kernels/costs.cu"), &[]);
    let shape = Launch { blocks: 1, threads: 32, shared: 8192 };
    common::run(bench.device(), &program, kernel, shape, &mut [0; 1024]).unwrap();
    let launches = bench.counts();
    assert_eq!((launches.len(), &launches[0].kernel[..], launches[0].threads), (1, kernel, 32));
    assert!(bench.counts().is_empty());
    launches[0].counts
}

/// The counts, which must be the same with every seed, with and without the race detector.
fn of(kernel: &str) -> Counts {
    let expected = counts(kernel, Options::default());
    for seed in 1..6 {
        assert_eq!(counts(kernel, Options { seed, ..Options::default() }), expected, "{kernel}, seed {seed}");
    }
    assert_eq!(
        counts(kernel, Options { sanitizer: Sanitizer::Race, ..Options::default() }),
        expected,
        "{kernel}"
    );
    expected
}

#[test]
fn memory_transactions() {
    for (kernel, accesses, transactions) in [
        ("coalesced", 1, 1),
        ("strided", 1, 32),
        ("shifted", 1, 2),
        ("wide", 2, 8),
        ("rounds", 8, 8),
        ("global_atomics", 1, 2),
    ] {
        let counts = of(kernel);
        assert_eq!((counts.global_accesses, counts.transactions), (accesses, transactions), "{kernel}");
        assert_eq!((counts.shared_accesses, counts.conflicts), (0, 0), "{kernel}");
    }
}

#[test]
fn memory_transactions_of_shorter_segments() {
    for (kernel, transactions) in [("coalesced", 4), ("strided", 32), ("shifted", 5), ("wide", 32)] {
        let counts = counts(kernel, Options { segment_words: 8, ..Options::default() });
        assert_eq!(counts.transactions, transactions, "{kernel}");
    }
}

#[test]
fn bank_conflicts() {
    for (kernel, accesses, conflicts) in [
        ("no_conflict", 1, 0),
        ("broadcast", 2, 0),
        ("conflict_of_two", 1, 1),
        ("conflict_of_all", 1, 31),
        ("padded", 1, 0),
        ("quads", 1, 0),
        ("shared_atomics", 1, 31),
    ] {
        let counts = of(kernel);
        assert_eq!((counts.shared_accesses, counts.conflicts), (accesses, conflicts), "{kernel}");
    }
}

#[test]
fn divergent_branches() {
    for (kernel, branches) in [
        ("coalesced", 0),
        ("uniform_branch", 0),
        ("divergent_branch", 1),
        ("choice", 0),
        ("divergent_loop", 31),
        ("divergent_in_loop", 4),
    ] {
        assert_eq!(of(kernel).divergent_branches, branches, "{kernel}");
    }
}

#[test]
fn nothing_is_counted_unasked() {
    let bench = Bench::new(Options::default()).unwrap();
    let program = common::program("costs", include_str!("kernels/costs.cu"), &[]);
    let shape = Launch { blocks: 1, threads: 32, shared: 0 };
    common::run(bench.device(), &program, "coalesced", shape, &mut [0; 32]).unwrap();
    assert!(bench.counts().is_empty());
}
