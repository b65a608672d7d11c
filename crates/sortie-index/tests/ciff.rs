//! Reads exported files in the Common Index File Format with the crate `ciff` of the project PISA.

mod support;

use std::fs;
use std::path::Path;

use ciff::{BinaryCollection, CiffToPisa};
use sortie_index::{Builder, Document, Index};
use support::{Plain, rfcs};

/// Exports an index, and compares what a reader finds in the file.
fn compare(documents: &[Document]) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    Builder::default().build_from(documents.iter().cloned(), &path("index")).unwrap();
    let mut file = fs::File::create(path("x.ciff")).map(std::io::BufWriter::new).unwrap();
    Index::open(&path("index")).unwrap().export_ciff(&mut file, &path("x.ciff")).unwrap();
    drop(file);
    CiffToPisa::default()
        .input_path(path("x.ciff"))
        .output_paths(path("pisa"))
        .skip_lexicons()
        .convert()
        .unwrap();

    let plain = Plain::of(documents);
    let lines = |name: &str| -> Vec<String> {
        fs::read_to_string(path(name)).unwrap().lines().map(str::to_owned).collect()
    };
    assert_eq!(lines("pisa.terms"), plain.terms.keys().cloned().collect::<Vec<_>>());
    assert_eq!(lines("pisa.documents"), plain.names);
    assert_eq!(sequences(&path("pisa.sizes")).concat(), plain.lengths);
    let found = sequences(&path("pisa.docs"));
    assert_eq!(found[0], [documents.len() as u32]);
    let lists = plain.terms.values();
    assert!(
        found[1..].iter().eq(lists
            .clone()
            .map(|list| list.keys().copied().collect::<Vec<_>>())
            .collect::<Vec<_>>()
            .iter())
    );
    let expected: Vec<Vec<u32>> = lists.map(|list| list.values().copied().collect()).collect();
    assert_eq!(sequences(&path("pisa.freqs")), expected);
}

fn sequences(path: &Path) -> Vec<Vec<u32>> {
    let bytes = fs::read(path).unwrap();
    let collection = BinaryCollection::try_from(&bytes[..]).unwrap();
    collection.map(|sequence| sequence.unwrap().iter().collect()).collect()
}

#[test]
fn another_reader_finds_the_same() {
    let texts = ["one two two", "", "two three three three", "four"];
    // Enough documents for lists with full blocks.
    let documents: Vec<_> = (0..600)
        .map(|i| Document { name: format!("d{i}"), text: format!("{} w{}", texts[i % 4], i * i % 500) })
        .collect();
    compare(&documents);
}

#[test]
fn another_reader_finds_the_same_of_real_documents() {
    if let Some((_, documents)) = rfcs() {
        compare(&documents);
    }
}
