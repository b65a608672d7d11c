//! Checks that the dependencies between the library's modules have no cycle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// All files in a folder and the folders below it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The source of a file without comments, tests and what only the documentation uses.
fn text(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    let lines = text.lines().take_while(|line| *line != "mod tests {" && *line != "pub(crate) mod tests {");
    let lines: Vec<_> = lines.map(|line| line.split("//").next().unwrap()).collect();
    let documented = |i: &usize| *i > 0 && lines[i - 1].starts_with("#[cfg(") && lines[i - 1].contains("doc");
    (0..lines.len()).filter(|i| !documented(i)).map(|i| lines[i].to_owned() + "\n").collect()
}

/// The first name of each path that begins at the root of the crate.
fn names(text: &str) -> Vec<String> {
    let first = |path: &str| path.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let paths = text.split("crate::").skip(1).flat_map(|rest| match rest.strip_prefix('{') {
        None => vec![first(rest)],
        Some(list) => {
            let mut depth = 1;
            let end = list.find(|c| {
                depth += i32::from(c == '{') - i32::from(c == '}');
                depth == 0
            });
            list[..end.expect("a list ends")].split(',').map(first).collect()
        }
    });
    paths.filter(|name: &String| !name.is_empty()).collect()
}

/// For each module at the root of the crate, the modules that it uses. A name that the root exports counts for the module that
/// defines it.
fn uses() -> BTreeMap<String, BTreeSet<String>> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut exported = BTreeMap::new();
    for line in text(&src.join("lib.rs")).split(';') {
        let Some((module, list)) = line.rsplit_once("pub use ").and_then(|(_, path)| path.split_once("::"))
        else {
            continue;
        };
        for name in list.split([',', '{', '}', ':']) {
            let name = name.rsplit(" as ").next().unwrap().trim();
            exported.insert(name.to_owned(), module.to_owned());
        }
    }
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in files(&src) {
        let module = file.strip_prefix(&src).unwrap().iter().next().unwrap().to_str().unwrap();
        let module = module.strip_suffix(".rs").unwrap_or(module);
        let is_test = ["tests.rs", "on_bench.rs", "lib.rs"].iter().any(|name| file.ends_with(name));
        if !is_test && !file.iter().any(|part| part == "tests") {
            let used =
                names(&text(&file)).into_iter().map(|name| exported.get(&name).cloned().unwrap_or(name));
            uses.entry(module.to_owned()).or_default().extend(used.filter(|used| used != module));
        }
    }
    uses
}

#[test]
fn no_module_depends_on_one_that_depends_on_it() {
    let mut uses = uses();
    let all: BTreeSet<String> = uses.keys().cloned().collect();
    uses.values_mut().for_each(|used| used.retain(|name| all.contains(name)));
    assert!(
        uses["sorter"].contains("plan") && uses["plan"].contains("request"),
        "the paths are not found: {uses:?}"
    );
    // Remove modules that depend on no other remaining module, until none can be removed.
    while let Some(lowest) = uses.iter().find(|(_, used)| used.is_empty()).map(|(module, _)| module.clone()) {
        uses.remove(&lowest);
        uses.values_mut().for_each(|used| used.retain(|name| *name != lowest));
    }
    assert!(uses.is_empty(), "these depend on each other: {uses:#?}");
}
