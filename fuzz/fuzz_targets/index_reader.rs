//! Indexes: any bytes in the place of a file, with a header that believes in them, are refused or read. Never a panic, nor
//! memory without bound.
#![no_main]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sortie_index::{Builder, Document, Error, Index};

const FILES: [&str; 6] = ["header", "terms", "postings", "names", "name-ends", "lengths"];

/// An index, of which a file at a time is replaced.
static INDEX: LazyLock<(tempfile::TempDir, PathBuf)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("index");
    let text = |i: u32| format!("all {} w{} w{}", "often ".repeat(1 + i as usize % 5), i % 7, i % 100);
    let documents = (0..300).map(|i| Document { name: format!("name {i}"), text: text(i) });
    Builder::default().build_from(documents, &path).expect("it can be built");
    (folder, path)
});

/// Writes the header so that length and checksum of a file are right.
fn reseal(path: &Path, file: usize, bytes: &[u8]) {
    let mut header = fs::read(path.join("header")).expect("it is there");
    let seal = 8 * (6 + 2 * (file - 1));
    header[seal..seal + 8].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
    header[seal + 8..seal + 16].copy_from_slice(&u64::from(crc32fast::hash(bytes)).to_le_bytes());
    let end = header.len() - 8;
    let crc = u64::from(crc32fast::hash(&header[..end]));
    header[end..].copy_from_slice(&crc.to_le_bytes());
    fs::write(path.join("header"), header).expect("it can be written");
}

fn use_all(path: &Path) -> Result<(), Error> {
    let index = Index::open(path)?;
    let _ = index.search("all often w3 w99 nothing", 10);
    let _ = index.terms_with_prefix("w", |_, _| Ok::<_, Error>(true));
    let _ = (index.name(7), index.length(7), index.name(u32::MAX));
    let _ = index.export_ciff(&mut std::io::sink(), path);
    index.check()
}

fuzz_target!(|input: &[u8]| {
    let Some((&choice, bytes)) = input.split_first() else { return };
    let path = &INDEX.1;
    let file = choice as usize % FILES.len();
    let name = path.join(FILES[file]);
    let (whole, header) = (fs::read(&name), fs::read(path.join("header")));
    let (whole, header) = (whole.expect("it is there"), header.expect("it is there"));
    fs::write(&name, bytes).expect("it can be written");
    // A dictionary is the library `fst`'s, and believed only where its checksum is right.
    if file > 1 {
        reseal(path, file, bytes);
    }
    let is_same = bytes == whole;
    assert!(use_all(path).is_err() || is_same || file > 1);
    fs::write(&name, &whole).expect("it can be written");
    fs::write(path.join("header"), header).expect("it can be written");
});
