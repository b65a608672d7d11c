//! Compares indexes with plain counts of real documents, of folder trees, and of unusual documents.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sortie_index::{Builder, Document, Error, Index, Pipeline, Summary};
use support::{Plain, rfcs};

fn document(name: impl ToString, text: impl Into<String>) -> Document {
    Document { name: name.to_string(), text: text.into() }
}

fn build(inputs: &[PathBuf], target: &Path) -> (Summary, Vec<String>) {
    let mut told = Vec::new();
    let builder = Builder::default().pipeline(Pipeline::Cpu);
    let summary = builder.build(inputs, target, |skipped| told.push(skipped.to_string())).unwrap();
    assert_eq!(summary.defective, told.len() as u64);
    (summary, told)
}

/// The files of a folder, in the order of their names.
fn files(index: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(index)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn real_documents_are_as_a_plain_count_has_them() {
    let Some((path, documents)) = rfcs() else { return };
    let plain = Plain::of(&documents);
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("index");
    let (summary, told) = build(&[path], &target);
    assert_eq!((summary.runs, told), (1, vec![]));
    let index = Index::open(&target).unwrap();
    index.check().unwrap();
    plain.assert_same(&index);
    let queries =
        ["sorting networks", "the borrow checker", "async trait objects in a trait", "zzzz", "", "macro"];
    queries.iter().for_each(|query| plain.assert_finds_same(&index, query));
    // Used as queries, documents cover all kinds of frequencies.
    for document in documents.iter().step_by(13) {
        plain.assert_finds_same(&index, &document.text.chars().take(200).collect::<String>());
    }
}

#[test]
fn threads_memory_and_pipeline_leave_no_trace() {
    let Some((path, documents)) = rfcs() else { return };
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("index");
    let (_, _) = build(std::slice::from_ref(&path), &target);
    let expected = files(&target);
    for (threads, memory) in [(1, 1), (2, 8 << 20), (3, 1 << 20), (7, 1 << 30)] {
        let builder = Builder::default().threads(threads).memory_limit(memory).pipeline(Pipeline::Cpu);
        let summary = builder.build_from(documents.iter().cloned(), &target).unwrap();
        assert!(files(&target) == expected, "{threads} threads, {memory} bytes");
        assert_eq!(summary.runs > 1, memory < 1 << 30);
    }
}

#[test]
fn trees_of_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("docs");
    fs::create_dir_all(root.join("sub")).unwrap();
    let gzip = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, bytes).unwrap();
        encoder.finish().unwrap()
    };
    fs::write(root.join("a.md"), "# Head\n\n[link](http://nowhere) *em*phasis").unwrap();
    fs::write(root.join("b.html"), "<p>in <b>bo</b>ld<script>no()</script></p>").unwrap();
    fs::write(
        root.join("c.jsonl"),
        "{\"id\": 7, \"text\": \"seven\"}\nnonsense\n{\"id\":\"x\",\"text\":\"Ex\"}\n",
    )
    .unwrap();
    fs::write(root.join("d.txt.gz"), gzip(b"packed text")).unwrap();
    fs::write(root.join("e.jsonl.gz"), gzip(b"{\"id\":\"g\",\"text\":\"packed line\"}")).unwrap();
    fs::write(root.join("f.txt"), b"not \xFF text").unwrap();
    fs::write(root.join("g.html.gz"), b"not gzip").unwrap();
    fs::write(root.join("h.png"), "passed over").unwrap();
    fs::write(root.join("sub/i.txt"), "").unwrap();
    fs::write(folder.path().join("named"), "named itself").unwrap();
    let target = folder.path().join("index");
    let (_, told) = build(&[folder.path().join("named"), root.clone()], &target);

    let mut plain = Plain::default();
    let name = |name: &str| root.join(name).to_string_lossy().into_owned();
    plain.add(&folder.path().join("named").to_string_lossy(), "named itself");
    plain.add(&name("a.md"), "Head link emphasis");
    plain.add(&name("b.html"), "in bold");
    plain.add("7", "seven");
    plain.add("x", "Ex");
    plain.add(&name("d.txt.gz"), "packed text");
    plain.add("g", "packed line");
    plain.add(&name("sub/i.txt"), "");
    let index = Index::open(&target).unwrap();
    index.check().unwrap();
    plain.assert_same(&index);

    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[0].starts_with(&format!("{}:2: ", name("c.jsonl"))), "{told:?}");
    assert_eq!(told[1], format!("{}: not UTF-8 at byte 5", name("f.txt")));
    assert!(told[2].starts_with(&format!("{}: ", name("g.html.gz"))), "{told:?}");

    let strict = Builder::default().pipeline(Pipeline::Cpu).strict(true);
    let refused = strict.build(std::slice::from_ref(&root), &target, |_| ());
    assert!(matches!(refused, Err(Error::Document(_))), "{refused:?}");
    plain.assert_same(&Index::open(&target).unwrap());
}

/// The last byte is invalid. The words before it are already in the block when it is read.
#[test]
fn terms_of_a_document_that_is_left_out_leave_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("docs");
    fs::create_dir(&root).unwrap();
    let mut cut_character = "abd ".repeat((512 << 10) / 4).into_bytes();
    *cut_character.last_mut().unwrap() = 0xC3;
    fs::write(root.join("a.txt"), "abc").unwrap();
    fs::write(root.join("b.txt"), cut_character).unwrap();
    fs::write(root.join("c.txt"), "abde").unwrap();
    let target = folder.path().join("index");
    let (_, told) = build(std::slice::from_ref(&root), &target);
    assert_eq!(told, [format!("{}: not UTF-8 at byte {}", root.join("b.txt").display(), 512 << 10)]);
    let mut plain = Plain::default();
    plain.add(&root.join("a.txt").to_string_lossy(), "abc");
    plain.add(&root.join("c.txt").to_string_lossy(), "abde");
    let index = Index::open(&target).unwrap();
    index.check().unwrap();
    plain.assert_same(&index);
}

/// Rust's HTML documentation, about 48,000 files. Runs if it is installed and `SORTIE_LARGE` enables slow tests.
#[test]
fn the_documentation_of_rust_is_as_a_plain_count_has_it() {
    let root = Command::new("rustc").args(["--print", "sysroot"]).output().ok();
    let root = root.map(|out| PathBuf::from(String::from_utf8(out.stdout).unwrap().trim()));
    let Some(html) = root.map(|root| root.join("share/doc/rust/html")).filter(|html| html.is_dir()) else {
        return eprintln!("SKIPPED: no HTML documentation of Rust");
    };
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("index");
    // Uses only a part, unless everything is requested.
    let all = std::env::var_os("SORTIE_LARGE").is_some();
    let root = if all { html } else { html.join("std/collections") };
    let files =
        walkdir::WalkDir::new(root).sort_by_file_name().into_iter().map(|entry| entry.unwrap().into_path());
    let pages: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|e| e == "html")).collect();
    let (summary, told) = build(&pages, &target);
    assert_eq!(told, [""; 0]);
    println!("{summary:?}");

    // Extracts text with html5gum's own collector, which the crate does not use.
    let mut plain = Plain::default();
    for page in &pages {
        plain.add(&page.to_string_lossy(), &visible(&fs::read_to_string(page).unwrap()));
    }
    let index = Index::open(&target).unwrap();
    index.check().unwrap();
    plain.assert_same(&index);
    for query in ["hash map", "binary heap peek", "the iterator"] {
        plain.assert_finds_same(&index, query);
    }
}

/// The text of a page that a reader sees.
fn visible(html: &str) -> String {
    use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
    const INLINE: &str = " a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark s samp small span strong \
                          sub sup tt u var wbr ";
    let (mut text, mut hidden) = (String::new(), false);
    let mut emitter = CallbackEmitter::new(
        |event: CallbackEvent<'_>, _: html5gum::Span<()>| -> Option<std::convert::Infallible> {
            let mut between = |name: &[u8]| {
                if !INLINE.contains(&format!(" {} ", String::from_utf8_lossy(name))) {
                    text.push(' ');
                }
            };
            match event {
                CallbackEvent::OpenStartTag { name } => {
                    between(name);
                    hidden = matches!(name, b"script" | b"style" | b"iframe" | b"noembed" | b"noframes");
                }
                CallbackEvent::EndTag { name } => {
                    between(name);
                    hidden = false;
                }
                CallbackEvent::String { value } if !hidden => {
                    text.push_str(std::str::from_utf8(value).unwrap())
                }
                _ => {}
            }
            None
        },
    );
    emitter.naively_switch_states(true);
    // The collector treats the content of this element as plain text.
    let html = html.replace("<noscript", "<p").replace("</noscript", "</p");
    let Ok(()) = html5gum::Tokenizer::new_with_emitter(&html, emitter).finish();
    text
}

#[test]
fn nothing_is_an_index_too() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("index");
    let summary = Builder::default().build_from(std::iter::empty(), &target).unwrap();
    assert_eq!((summary.runs, summary.counts), (0, Default::default()));
    let index = Index::open(&target).unwrap();
    index.check().unwrap();
    assert_eq!(index.search("anything", 10).unwrap(), []);
    let one_empty = Builder::default().build_from([document("e", "")].into_iter(), &target).unwrap();
    assert_eq!(one_empty.counts.documents, 1);
    Index::open(&target).unwrap().check().unwrap();
}

#[test]
fn many_tiny_documents() {
    let n = 1_000_000;
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("index");
    let documents = (0..n).map(|i| document(i, format!("w{} all", i % 1000)));
    let summary = Builder::default().memory_limit(64 << 20).build_from(documents, &target).unwrap();
    assert_eq!((summary.counts.documents, summary.counts.words), (n, 2 * n));
    let index = Index::open(&target).unwrap();
    index.check().unwrap();
    let list = |term: &str| index.postings(term.as_bytes()).unwrap().unwrap().list();
    assert_eq!((list("all").documents, list("w7").documents), (n, n / 1000));
    assert_eq!(index.name(999_999).unwrap(), "999999");
}

/// The size of a test: `part`, or `all` if `SORTIE_LARGE` is set.
fn scaled(all: usize, part: usize) -> usize {
    if std::env::var_os("SORTIE_LARGE").is_some() { all } else { part }
}

#[test]
fn one_term_very_often() {
    let words = scaled(100_000_000, 5_000_000);
    let folder = tempfile::tempdir().unwrap();
    let (path, target) = (folder.path().join("long.txt"), folder.path().join("index"));
    fs::write(&path, "word ".repeat(words)).unwrap();
    let builder = Builder::default().pipeline(Pipeline::Cpu).memory_limit(32 << 20);
    let summary = builder.build(&[path], &target, |skipped| panic!("{skipped}")).unwrap();
    assert!(summary.runs > 1);
    let index = Index::open(&target).unwrap();
    index.check().unwrap();
    let list: Vec<_> = index.postings(b"word").unwrap().unwrap().map(Result::unwrap).collect();
    assert_eq!((list.len(), list[0].frequency as usize), (1, words));
}

#[test]
fn a_document_longer_than_memory() {
    let bytes = scaled(1 << 30, 50 << 20);
    let folder = tempfile::tempdir().unwrap();
    let (path, target) = (folder.path().join("long.html"), folder.path().join("index"));
    let mut text = String::with_capacity(bytes + 20);
    let mut number = 0u64;
    while text.len() < bytes {
        number += 1;
        text += &format!("<i>w{}</i>, ", number * number % 100_003);
    }
    fs::write(&path, text).unwrap();
    let builder = Builder::default().pipeline(Pipeline::Cpu).memory_limit(16 << 20);
    let summary = builder.build(&[path], &target, |skipped| panic!("{skipped}")).unwrap();
    assert!(summary.runs > 1 && summary.counts.documents == 1 && summary.counts.words == number);
    let index = Index::open(&target).unwrap();
    index.check().unwrap();
    assert_eq!(u64::from(index.length(0).unwrap()), number);
}

#[test]
fn what_is_no_index_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let build = |name: &str| {
        Builder::default().build_from([document("a", "b")].into_iter(), &folder.path().join(name)).map(|_| ())
    };
    fs::write(folder.path().join("file"), "kept").unwrap();
    fs::create_dir_all(folder.path().join("full/of")).unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();
    // A file with the name of an index file does not make a folder an index.
    fs::create_dir(folder.path().join("project")).unwrap();
    fs::write(folder.path().join("project/header"), "int main();").unwrap();
    build("joined").unwrap();
    fs::write(folder.path().join("joined/notes"), "kept").unwrap();
    for name in ["file", "full", "..", "project", "joined"] {
        let refused = build(name);
        assert!(matches!(refused, Err(Error::NotAnIndex { .. })), "{name}: {refused:?}");
    }
    assert!(matches!(build("gone/index"), Err(Error::File { .. })));
    for kept in ["file", "joined/notes"] {
        assert_eq!(fs::read(folder.path().join(kept)).unwrap(), b"kept");
    }
    assert!(folder.path().join("full/of").is_dir());
    build("empty").unwrap();
    build("empty").unwrap();
    Index::open(&folder.path().join("empty")).unwrap().check().unwrap();
}
