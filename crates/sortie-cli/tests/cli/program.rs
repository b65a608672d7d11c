//! The program as a file: what the loader and the libraries that it opens see of it.

use std::collections::HashSet;
use std::process::Command;

/// The output of a command.
fn output(program: &str, arguments: &[&str]) -> String {
    let done = Command::new(program).args(arguments).output().unwrap();
    assert!(done.status.success(), "{program} {arguments:?}");
    String::from_utf8(done.stdout).unwrap()
}

/// The names of the dynamic symbols that a file defines.
fn defined(file: &str) -> HashSet<String> {
    let symbols = output("nm", &["-D", "--defined-only", file]);
    let names = symbols.lines().filter_map(|line| line.split(' ').next_back());
    names.map(|name| name.split('@').next().unwrap().to_owned()).collect()
}

/// What a build without an index says instead. The gate tests one with an index.
#[cfg(not(feature = "index"))]
#[test]
fn a_build_without_an_index_says_how_to_get_one() {
    for arguments in [&["index", "build", "x", "-o", "y"][..], &["index", "check", "y"]] {
        let done = Command::new(env!("CARGO_BIN_EXE_sortie")).args(arguments).output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert!(said.starts_with("sortie: this build has no `sortie index`; "), "{said}");
        assert!(said.contains("--features index") && done.status.code() == Some(2), "{said}");
    }
}

/// What a build without genomics says instead. The gate tests one with it.
#[cfg(not(feature = "genomics"))]
#[test]
fn a_build_without_genomics_says_how_to_get_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x");
    std::fs::write(&file, "chr2\t1\t2\nchr1\t1\t2\n").unwrap();
    for options in [
        &["--format", "bam", "--by", "name"][..],
        &["--format", "sam", "--no-PG"],
        &["--format", "vcf", "--contigs", "natural"],
        &["--format", "bed", "-c"],
        &["--format", "gtf", "-m"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sortie"));
        command.arg("sort").args(options).arg(&file);
        if !options.contains(&"-c") {
            command.arg("-o").arg(&file);
        }
        let done = command.output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert!(
            said.starts_with("sortie: this build sorts no alignments, variants and features; "),
            "{said}"
        );
        assert!(said.contains("--features genomics") && done.status.code() == Some(2), "{said}");
    }
    assert_eq!(std::fs::read(&file).unwrap(), b"chr2\t1\t2\nchr1\t1\t2\n");
}

/// What a build without GPUs says instead. The gate tests one with GPUs.
#[cfg(not(feature = "gpu"))]
#[test]
fn a_build_without_gpus_says_how_to_get_them() {
    let run =
        |arguments: &[&str]| Command::new(env!("CARGO_BIN_EXE_sortie")).args(arguments).output().unwrap();
    let listed = run(&["devices"]);
    assert!(listed.status.success() && String::from_utf8_lossy(&listed.stdout).contains("--features gpu"));
    for arguments in [
        &["doctor"][..],
        &["tune", "--engine", "hybrid"],
        &["sort", "--type", "u8", "--engine", "cuda", "/dev/null"],
        &["sort", "--engine", "hybrid:1", "/dev/null"],
        &["spectra", "--engine", "cuda:0,1", "/dev/null"],
    ] {
        let done = run(arguments);
        let said = String::from_utf8(done.stderr).unwrap();
        assert!(said.contains("this build has no GPUs; build it with"), "{said}");
        assert!(said.contains("--features gpu") && done.status.code() == Some(2), "{said}");
    }
}

/// Once, the program was linked to a fixed address.
#[test]
fn the_program_is_position_independent() {
    let header = output("readelf", &["-h", env!("CARGO_BIN_EXE_sortie")]);
    let kind = header.lines().find_map(|line| line.trim().strip_prefix("Type:")).unwrap();
    assert!(kind.trim().starts_with("DYN"), "{kind}");
}

/// Once, the program defined `pow`, `log` and `log2` for all libraries that it opens, such as those of CUDA.
#[test]
fn the_program_defines_no_function_of_the_mathematics_library() {
    let library = output("cc", &["-print-file-name=libm.so.6"]);
    let library = defined(library.trim());
    assert!(library.contains("pow") && library.contains("log2"), "{library:?}");
    let both: Vec<_> = defined(env!("CARGO_BIN_EXE_sortie")).intersection(&library).cloned().collect();
    assert!(both.is_empty(), "{both:?}");
}

/// To load one more library takes a twentieth of the time of a small sort.
#[cfg(not(any(feature = "index", feature = "parquet")))]
#[test]
fn the_program_does_not_load_the_mathematics_library() {
    let needed = output("readelf", &["-d", env!("CARGO_BIN_EXE_sortie")]);
    assert!(needed.contains("[libc.so.6]") && !needed.contains("[libm.so"), "{needed}");
}
