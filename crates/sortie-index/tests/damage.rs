//! Damaged indexes: an error that names the file, never a panic, never wrong memory.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use sortie_index::{Builder, Document, Error, Index};
use tempfile::TempDir;

/// An index of documents with terms in one, some, and all of them.
fn index() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let text = |i: u32| format!("all {} w{} w{} u{i}", "often ".repeat(1 + i as usize % 5), i % 7, i % 300);
    let documents = (0..1000).map(|i| Document { name: format!("name {i}"), text: text(i) });
    Builder::default().build_from(documents, &path).unwrap();
    (folder, path)
}

/// Does all that can be done with an index. What it finds does not matter, but that it comes back.
fn use_all(path: &Path) -> Result<(), Error> {
    let index = Index::open(path)?;
    let searched = index.search("all often w3 w299 u7 nothing", 10);
    let mut lists = Vec::new();
    let listed = index.terms_with_prefix("", |term, _| {
        lists.push(term.to_owned());
        Ok::<_, Error>(true)
    });
    for term in &lists {
        if let Ok(Some(list)) = index.postings(term.as_bytes()) {
            list.take(10_000).for_each(drop);
        }
    }
    for document in [0, 1, 999, 1000, u32::MAX] {
        let _ = (index.name(document), index.length(document));
    }
    let exported = index.export_ciff(&mut Vec::new(), path);
    let checked = index.check();
    searched.map(drop).and(listed).and(exported).and(checked)
}

const FILES: [&str; 6] = ["header", "terms", "postings", "names", "name-ends", "lengths"];

#[test]
fn every_byte_counts() {
    let (_folder, path) = index();
    use_all(&path).unwrap();
    for name in FILES {
        let file = path.join(name);
        let bytes = fs::read(&file).unwrap();
        for place in (0..bytes.len()).step_by((bytes.len() / 50).max(1)) {
            let mut damaged = bytes.clone();
            damaged[place] ^= 0x10;
            fs::write(&file, &damaged).unwrap();
            let told = use_all(&path).expect_err(name);
            assert!(matches!(told, Error::Damaged { .. } | Error::NotAnIndex { .. }), "{name}: {told}");
            assert!(told.to_string().contains(name), "{name}: {told}");
        }
        for length in [0, 1, bytes.len() / 2, bytes.len() - 1] {
            fs::write(&file, &bytes[..length]).unwrap();
            let told = use_all(&path).expect_err(name);
            assert!(matches!(told, Error::Damaged { .. } | Error::NotAnIndex { .. }), "{name}: {told}");
        }
        fs::remove_file(&file).unwrap();
        assert!(use_all(&path).is_err(), "{name}");
        fs::write(&file, &bytes).unwrap();
    }
    use_all(&path).unwrap();
}

#[test]
fn what_is_damaged_is_not_exported() {
    let (_folder, path) = index();
    let names = path.join("names");
    let mut bytes = fs::read(&names).unwrap();
    // Another name, and as good as the first.
    bytes[0] = b'N';
    fs::write(&names, bytes).unwrap();
    let mut exported = Vec::new();
    let told = Index::open(&path).unwrap().export_ciff(&mut exported, "x.ciff".as_ref()).unwrap_err();
    assert!(matches!(told, Error::Damaged { .. }) && told.to_string().contains("names"), "{told}");
    assert!(exported.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Damage that checksums would tell, with checksums that do not: all that is read is checked.
    #[test]
    fn what_checksums_do_not_tell_is_an_error_or_some_index(
        file in 2usize..6,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let (_folder, path) = index();
        let name = path.join(FILES[file]);
        let mut bytes = fs::read(&name).unwrap();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        fs::write(&name, &bytes).unwrap();
        // The header again, with the length and checksum of the file as it is now.
        let mut header = fs::read(path.join("header")).unwrap();
        let seal = 8 * (6 + 2 * (file - 1));
        header[seal..seal + 8].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
        header[seal + 8..seal + 16].copy_from_slice(&u64::from(crc32fast::hash(&bytes)).to_le_bytes());
        let end = header.len() - 8;
        let crc = u64::from(crc32fast::hash(&header[..end]));
        header[end..].copy_from_slice(&crc.to_le_bytes());
        fs::write(path.join("header"), header).unwrap();
        let _ = use_all(&path);
    }
}

#[test]
fn what_is_no_index_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let told = |path: &Path| Index::open(path).err().unwrap().to_string();
    assert!(told(folder.path()).ends_with("a folder without the header of an index"));
    fs::write(folder.path().join("header"), "something else entirely").unwrap();
    assert!(told(folder.path()).ends_with("not an index of Sortie"));
    assert!(told(&folder.path().join("header")).ends_with("Not a directory"));
    assert!(told(&folder.path().join("gone")).ends_with("No such file or directory"));
    let (_other, path) = index();
    let mut header = fs::read(path.join("header")).unwrap();
    header[8] = 2;
    fs::write(path.join("header"), header).unwrap();
    assert!(told(&path).ends_with("an index of version 2, and this program reads 1"));
}
