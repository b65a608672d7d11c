//! `sortie man`: the pages contain everything that `--help` prints.

use std::fs;
use std::process::Command;

use crate::support::{complaint, names, text};

/// The output of the program, which must succeed.
#[track_caller]
fn print(arguments: &[&str]) -> String {
    let done = Command::new(env!("CARGO_BIN_EXE_sortie")).args(arguments).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", text(&done.stderr));
    text(&done.stdout)
}

/// The options in the help of a command.
fn options(command: &[&str]) -> Vec<String> {
    let help = print(&[command, &["--help"]].concat());
    let named = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let long = named.filter_map(|line| line.split_whitespace().find(|word| word.starts_with("--")));
    long.map(|word| word.split(['[', '=', ',']).next().unwrap().to_owned()).collect()
}

/// Options are read in order: everything after an option that prints a page is ignored.
#[test]
fn every_command_that_sorts_tells_its_version() {
    let of_program = print(&["--version"]);
    assert!(of_program.starts_with(concat!("sortie ", env!("CARGO_PKG_VERSION"))), "{of_program}");
    for command in ["sort", "top", "uniq", "quantiles", "segments", "spectra"] {
        let version = of_program.replacen("sortie", &format!("sortie-{command}"), 1);
        assert_eq!(print(&[command, "--version"]), version);
        assert_eq!(print(&[command, "--version", "-k", "bad", "--frob"]), version);
    }
}

#[test]
fn every_command_has_a_page_with_all_its_options() {
    let folder = tempfile::tempdir().unwrap();
    print(&["man", "--out", folder.path().to_str().unwrap()]);
    let pages = names(folder.path());
    let commands = [
        "sort",
        "top",
        "uniq",
        "quantiles",
        "segments",
        "spectra",
        "index build",
        "index search",
        "index export",
        "devices",
    ];
    for command in commands {
        assert!(pages.contains(&format!("sortie-{}.1", command.replace(' ', "-"))), "{command}: {pages:?}");
    }
    for file in &pages {
        let command: Vec<_> = file.trim_end_matches(".1").split('-').skip(1).collect();
        let page = print(&[&["man"], &command[..]].concat());
        assert_eq!(page, fs::read_to_string(folder.path().join(file)).unwrap(), "{file}");
        assert_eq!(page.matches("\n.TH ").count(), 1, "{file}");
        assert!(page.contains(concat!("\"sortie ", env!("CARGO_PKG_VERSION"))), "{file}");
        let options = options(&command);
        assert!(!options.is_empty(), "{file}");
        for option in options {
            assert!(page.contains(&option.replace('-', "\\-")), "{file} lacks {option}");
        }
    }
    let top = print(&["man"]);
    for command in ["sortie-sort(1)", "sortie-index(1)"] {
        assert!(top.contains(&command.replace('-', "\\-")), "{command}: {top}");
    }
    let index = print(&["man", "index"]);
    assert!(index.contains("sortie\\-index\\-build(1)"), "{index}");
}

#[test]
fn a_page_of_no_command_is_refused() {
    for command in [&["none"][..], &["sort", "none"], &["index", "none\n"]] {
        let mut program = Command::new(env!("CARGO_BIN_EXE_sortie"));
        let said = complaint(&program.arg("man").args(command).output().unwrap(), 2);
        assert!(said.ends_with("; sortie man lists all commands\n"), "{said}");
    }
}
