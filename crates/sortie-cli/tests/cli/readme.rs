//! Runs the examples of the README, the tutorial and the FAQ as a reader would: pasted into a shell.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A block of a page for a shell, and the output that a block below it shows.
type Block<'a> = (&'a str, Option<&'a str>);

/// A new folder, and a `PATH` that begins with the program.
struct Shell {
    folder: TempDir,
    path: OsString,
}

impl Shell {
    fn new() -> Shell {
        let program = Path::new(env!("CARGO_BIN_EXE_sortie")).parent().unwrap();
        let paths = env::split_paths(&env::var_os("PATH").unwrap()).collect::<Vec<_>>();
        let path = env::join_paths([program.to_owned()].into_iter().chain(paths)).unwrap();
        Shell { folder: tempfile::tempdir().unwrap(), path }
    }

    /// What the commands print. All of them must succeed.
    #[track_caller]
    fn paste(&self, commands: &str) -> String {
        let output = Command::new("bash")
            .args(["-e", "-o", "pipefail", "-c", commands])
            .env("PATH", &self.path)
            .env("TMPDIR", self.folder.path())
            .current_dir(&self.folder)
            .output()
            .unwrap();
        assert!(output.status.success(), "{commands}\n{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn paste_all(&self, blocks: &[Block]) {
        for (commands, shown) in blocks {
            let printed = self.paste(commands);
            assert!(shown.is_none_or(|shown| shown == printed), "{commands}\nprints:\n{printed}");
        }
    }
}

fn page(name: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(name)).unwrap()
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    // Each piece after a ```sh fence starts with its commands.
    let pieces = page.split("```sh\n").skip(1).map(|piece| piece.split_once("```").unwrap());
    pieces.map(|(commands, rest)| (commands, shown(rest))).collect()
}

/// The output that a page shows if this follows the commands.
fn shown(rest: &str) -> Option<&str> {
    Some(rest.strip_prefix("\n\n```text\n")?.split_once("```")?.0)
}

#[test]
fn every_example_of_the_readme_works_when_pasted() {
    let readme = page("README.md");
    let (_, examples) = readme.split_once("\n## Examples\n").unwrap();
    let (examples, _) = examples.split_once("\n## ").unwrap();
    let blocks = blocks(examples);
    assert_eq!(blocks.len(), 6, "the path, and five examples for a shell");

    let shell = Shell::new();
    symlink(Path::new(ROOT).join("docs"), shell.folder.path().join("docs")).unwrap();
    shell.paste_all(&blocks[1..]);
    for made in ["largest.txt", "sales.csv", "sorted.txt", "sorted.raw", "segments.raw", "distinct.fastq.gz"]
    {
        assert!(shell.folder.path().join(made).exists(), "{made}");
    }
    let sorted = fs::read_to_string(shell.folder.path().join("sorted.txt")).unwrap();
    let expected: String = (1..=1_000_000).map(|n| format!("{n}\n")).collect();
    assert!(sorted == expected, "the numbers of the second example are not in order");
}

#[test]
fn every_block_of_the_tutorial_prints_what_it_shows() {
    let tutorial = page("docs/tutorial.md");
    let (before, on_a_gpu) = tutorial.split_once("\n## 6. A GPU\n").unwrap();
    let (before, on_a_gpu) = (blocks(before), blocks(on_a_gpu));
    assert!(before.len() >= 10 && on_a_gpu.len() >= 3);

    let shell = Shell::new();
    shell.paste_all(&before);
    if shell.paste("sortie devices").starts_with("cuda:0 ") {
        shell.paste_all(&on_a_gpu);
    } else {
        eprintln!("skipped: the part of the tutorial for GPUs, as this machine has none");
    }
}

/// Its examples in Rust are run by the tests of the library's documentation.
#[test]
fn every_selection_of_the_guide_prints_what_it_shows() {
    let guide = page("docs/select.md");
    let blocks = blocks(&guide);
    assert!(!blocks.is_empty() && blocks.iter().all(|(_, shown)| shown.is_some()));
    Shell::new().paste_all(&blocks);
}

#[test]
fn every_example_of_tables_prints_what_it_shows() {
    let guide = page("docs/tables.md");
    let blocks = blocks(&guide);
    assert!(blocks.len() >= 5 && blocks.iter().all(|(_, shown)| shown.is_some()));
    Shell::new().paste_all(&blocks);
}

#[test]
fn every_example_of_the_guide_to_locales_prints_what_it_shows() {
    let guide = page("docs/locales.md");
    let blocks = blocks(&guide);
    assert!(!blocks.is_empty() && blocks.iter().all(|(_, shown)| shown.is_some()));
    Shell::new().paste_all(&blocks);
}

#[test]
fn every_answer_of_the_faq_prints_what_it_shows() {
    let faq = page("docs/faq.md");
    let blocks = blocks(&faq);
    assert!(blocks.len() >= 2 && blocks.iter().all(|(_, shown)| shown.is_some()));
    Shell::new().paste_all(&blocks);
}
