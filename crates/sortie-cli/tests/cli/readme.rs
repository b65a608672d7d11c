//! Runs the examples of the README as a reader would: pasted into a shell.

use std::env;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[test]
fn every_example_of_the_readme_works_when_pasted() {
    let readme = std::fs::read_to_string(Path::new(ROOT).join("README.md")).unwrap();
    let (_, examples) = readme.split_once("\n## Examples\n").unwrap();
    let (examples, _) = examples.split_once("\n## ").unwrap();
    // Each piece after a ```sh fence starts with its commands.
    let blocks: Vec<_> =
        examples.split("```sh\n").skip(1).map(|piece| piece.split_once("```").unwrap().0).collect();
    assert_eq!(blocks.len(), 6, "the path, and five examples for a shell");

    let folder = tempfile::tempdir().unwrap();
    symlink(Path::new(ROOT).join("docs"), folder.path().join("docs")).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_sortie")).parent().unwrap();
    let paths = env::split_paths(&env::var_os("PATH").unwrap()).collect::<Vec<_>>();
    let path = env::join_paths([program.to_owned()].into_iter().chain(paths)).unwrap();
    for commands in &blocks[1..] {
        let output = Command::new("bash")
            .args(["-e", "-o", "pipefail", "-c", commands])
            .env("PATH", &path)
            .current_dir(&folder)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{commands}\n{said}");
    }
    for made in ["largest.txt", "sorted.txt", "sorted.raw", "segments.raw", "distinct.fastq.gz", "docs.index"]
    {
        assert!(folder.path().join(made).exists(), "{made}");
    }
    let sorted = std::fs::read_to_string(folder.path().join("sorted.txt")).unwrap();
    let expected: String = (1..=1_000_000).map(|n| format!("{n}\n")).collect();
    assert!(sorted == expected, "the numbers of the second example are not in order");
}
