//! Checks that in every crate of the repository a file depends only on files below it.
//!
//! A file depends on another if it names an item of it, also through the names that modules in between re-export. To declare a
//! module, or to re-export a name, is no dependency. Nor is it to use what a module that contains the file defines for all files of
//! its folder. Tests, and what only the documentation uses, do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A path of Rust, such as `crate::key::Bits`. That of a module begins at the root of its crate and does not have `crate`.
type Names = Vec<String>;

/// What one file says.
#[derive(Default)]
struct Module {
    /// The names that it imports or re-exports, and their paths.
    imports: BTreeMap<String, Names>,
    /// The modules of which it imports or re-exports all names.
    globs: Vec<Names>,
    /// The names that it defines.
    defined: BTreeSet<String>,
    /// The paths that it uses.
    used: Vec<Names>,
}

impl Module {
    fn read(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut public = false;
        let mut i = 0;
        while i < tokens.len() {
            let rest = &tokens[i..];
            i += 1;
            match &rest[0] {
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    i += usize::from(is_group(rest.get(1)));
                    if rest.get(1).is_some_and(|attribute| is_left_out(&attribute.to_string())) {
                        i += item(&tokens[i..]);
                    }
                }
                TokenTree::Group(group) => self.read(group.stream()),
                TokenTree::Ident(word) if word == "pub" => {
                    public = true;
                    i += usize::from(is_group(rest.get(1)));
                    continue;
                }
                TokenTree::Ident(word) if word == "use" && !is_punct(rest.get(1), '<') => {
                    let end = item(rest);
                    self.import(&rest[1..end], &[], public);
                    i += end - 1;
                }
                TokenTree::Ident(word) => {
                    let path = path(rest);
                    if DEFINING.contains(&&*word.to_string()) {
                        self.defined.extend(rest[1..].iter().find_map(name));
                    }
                    i += 3 * (path.len() - 1);
                    if path.len() > 1 {
                        self.used.push(path);
                    }
                }
                _ => {}
            }
            public = false;
        }
    }

    /// Reads a tree of `use`, whose paths begin with `before`.
    fn import(&mut self, tree: &[TokenTree], before: &[String], public: bool) {
        let mut full = before.to_vec();
        for (i, token) in tree.iter().enumerate() {
            match token {
                TokenTree::Ident(word) if word == "as" => {
                    let alias = tree.get(i + 1).and_then(name);
                    return self.import_as(alias.expect("a name after `as`"), full, public);
                }
                TokenTree::Ident(word) => full.push(word.to_string()),
                TokenTree::Punct(punct) if punct.as_char() == '*' => {
                    if !public {
                        self.used.push([&*full, &["*".to_owned()]].concat());
                    }
                    return self.globs.push(full);
                }
                TokenTree::Group(group) => {
                    let list: Vec<TokenTree> = group.stream().into_iter().collect();
                    let trees = list.split(|token| is_punct(Some(token), ','));
                    return trees
                        .filter(|tree| !tree.is_empty())
                        .for_each(|tree| self.import(tree, &full, public));
                }
                _ => {}
            }
        }
        if full.last().is_some_and(|last| last == "self") {
            full.pop();
        }
        let Some(last) = full.last().cloned() else { return };
        self.import_as(last, full, public);
    }

    fn import_as(&mut self, name: String, path: Names, public: bool) {
        if !public {
            self.used.push(path.clone());
        }
        self.imports.insert(name, path);
    }
}

/// The words before the name of an item.
const DEFINING: [&str; 9] =
    ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "macro_rules"];

/// Whether what follows this attribute is for tests or for the documentation alone.
fn is_left_out(attribute: &str) -> bool {
    let condition = attribute.replace(' ', "");
    ["test", "doc"].iter().any(|word| {
        let all = format!("[cfg(all({word},");
        condition == format!("[cfg({word})]")
            || condition == format!("[cfg({word}test)]")
            || condition.starts_with(&all)
    })
}

/// The number of tokens of an item.
fn item(tokens: &[TokenTree]) -> usize {
    let is_use = tokens.iter().take(3).any(|token| matches!(token, TokenTree::Ident(word) if word == "use"));
    let is_end = |token: &TokenTree| match token {
        TokenTree::Group(group) => !is_use && group.delimiter() == Delimiter::Brace,
        token => is_punct(Some(token), ';'),
    };
    tokens.iter().position(is_end).map_or(tokens.len(), |end| end + 1)
}

/// The path with which the tokens begin.
fn path(tokens: &[TokenTree]) -> Names {
    let mut path: Names = tokens.first().and_then(name).into_iter().collect();
    let mut rest = &tokens[1..];
    while let [a, b, next, ..] = rest
        && is_punct(Some(a), ':')
        && is_punct(Some(b), ':')
        && let Some(name) = name(next)
    {
        path.push(name);
        rest = &rest[3..];
    }
    path
}

fn name(token: &TokenTree) -> Option<String> {
    if let TokenTree::Ident(word) = token { Some(word.to_string()) } else { None }
}

fn is_group(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Group(_)))
}

fn is_punct(token: Option<&TokenTree>, is: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == is)
}

/// What a path names.
enum Found {
    Module(Names),
    /// An item of this module.
    ItemOf(Names),
}

/// The files of a crate, by the paths of their modules.
struct Crate(BTreeMap<Names, Module>);

impl Crate {
    fn read(src: &Path) -> Self {
        let mut modules = BTreeMap::new();
        for file in files(src) {
            let path = file.strip_prefix(src).unwrap().with_extension("");
            let mut path: Names = path.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
            if path.iter().any(|part| part == "tests" || part.ends_with("_tests") || part == "on_bench") {
                continue;
            }
            if ["mod", "lib", "main"].contains(&&**path.last().unwrap()) {
                path.pop();
            }
            let text = fs::read_to_string(&file).unwrap();
            let tokens = text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            modules.entry(path).or_insert_with(Module::default).read(tokens);
        }
        Crate(modules)
    }

    /// What a path in a file names. `None` if it is outside of the crate, or local to the file.
    fn find(&self, from: &Names, path: &[String], depth: usize) -> Option<Found> {
        let (first, mut rest) = path.split_first()?;
        let mut at = from.clone();
        match &**first {
            "crate" => at.clear(),
            "self" => {}
            "super" => drop(at.pop()),
            _ => match self.look_up(from, first, depth)? {
                Found::Module(module) => at = module,
                item => return Some(item),
            },
        }
        while let Some((name, after)) = rest.split_first() {
            rest = after;
            match &**name {
                "super" => drop(at.pop()),
                "*" => return Some(Found::ItemOf(at)),
                _ => match self.look_up(&at, name, depth) {
                    Some(Found::Module(module)) => at = module,
                    Some(item) => return Some(item),
                    None => return Some(Found::ItemOf(at)),
                },
            }
        }
        Some(Found::Module(at))
    }

    /// What a name in a module means, if it is not an item that the module defines.
    fn look_up(&self, at: &Names, name: &String, depth: usize) -> Option<Found> {
        let child = [&**at, std::slice::from_ref(name)].concat();
        if self.0.contains_key(&child) {
            return Some(Found::Module(child));
        }
        let module = self.0.get(at)?;
        // Imports may name each other in a circle only if they are of other crates.
        if module.defined.contains(name) || depth == 0 {
            return None;
        }
        if let Some(path) = module.imports.get(name) {
            return self.find(at, path, depth - 1).filter(|_| path[0] != *name);
        }
        module.globs.iter().find_map(|glob| {
            let Found::Module(other) = self.find(at, glob, depth - 1)? else { return None };
            match self.look_up(&other, name, depth - 1) {
                None if self.0[&other].defined.contains(name) => Some(Found::ItemOf(other)),
                found => found,
            }
        })
    }

    /// For each file, those whose items it names.
    fn uses(&self) -> BTreeMap<&Names, BTreeSet<Names>> {
        let uses = self.0.iter().map(|(path, module)| {
            let found = module.used.iter().filter_map(|used| self.find(path, used, 8));
            let items =
                found.filter_map(|found| if let Found::ItemOf(module) = found { Some(module) } else { None });
            (path, items.filter(|other| !path.starts_with(other) && self.0.contains_key(other)).collect())
        });
        uses.collect()
    }
}

/// All files of Rust in a folder and the folders below it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let all = entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] });
    all.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// The folders of all crates.
fn crates() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let folders = |of: &str| fs::read_dir(root.join(of)).unwrap().map(|entry| entry.unwrap().path());
    let all = folders("crates").chain(folders("engines")).chain([root.join("python")]);
    let mut all: Vec<_> = all.filter(|folder| folder.join("src").is_dir()).collect();
    all.sort();
    all
}

/// The files that a file depends on, directly or through others.
fn below<'a>(file: &'a Names, uses: &'a BTreeMap<&Names, BTreeSet<Names>>) -> BTreeSet<&'a Names> {
    let (mut found, mut new) = (BTreeSet::new(), vec![file]);
    while let Some(file) = new.pop() {
        new.extend(uses[file].iter().filter(|other| found.insert(*other)));
    }
    found
}

/// The circles that there still are, and in which files. The list must not grow.
const KNOWN: [&str; 1] = [
    // What an array is sorted by may be the ranks of a dictionary's values or of runs, which are arrays to sort.
    "sortie-arrow: indices, rank, runs, source",
];

#[test]
fn no_file_depends_on_one_that_depends_on_it() {
    let mut circles = BTreeSet::new();
    let mut edges = 0;
    for folder in crates() {
        let name = folder.file_name().unwrap().to_str().unwrap();
        let all = Crate::read(&folder.join("src"));
        let uses = all.uses();
        edges += uses.values().map(BTreeSet::len).sum::<usize>();
        let below: BTreeMap<_, _> = uses.keys().map(|file| (*file, below(file, &uses))).collect();
        for (file, others) in below.iter().filter(|(file, others)| others.contains(*file)) {
            let circle: Vec<_> = others.iter().filter(|other| below[*other].contains(file)).collect();
            if circle[0] == file {
                let files: Vec<_> = circle.iter().map(|file| file.join("::")).collect();
                circles.insert(format!("{name}: {}", files.join(", ")));
            }
        }
    }
    assert!(edges > 1000, "the paths are not found: {edges} of them");
    let known: BTreeSet<_> = KNOWN.into_iter().map(str::to_owned).collect();
    let more: Vec<_> = circles.difference(&known).collect();
    assert!(more.is_empty(), "these depend on each other: {more:#?}");
    let gone: Vec<_> = known.difference(&circles).collect();
    assert!(gone.is_empty(), "these no longer depend on each other, so take them from the list: {gone:#?}");
}
