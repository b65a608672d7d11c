//! Indexes: changed files, or any bytes in the place of one, with lengths and checksums that are right, are refused or read.
//! Never a panic, nor more work or memory than the files are worth.
#![no_main]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use sortie_index::{Builder, Document, Error, Index};

const FILES: [&str; 6] = ["header", "terms", "postings", "names", "name-ends", "lengths"];

/// The files of an index.
type Files = [Vec<u8>; FILES.len()];

/// What is done to a file, by its number; places are taken within it.
#[derive(Arbitrary, Debug)]
enum Change {
    Set { file: u8, at: u16, byte: u8 },
    Put { file: u8, at: u16, number: u64 },
    Insert { file: u8, at: u16, bytes: Vec<u8> },
    Remove { file: u8, at: u16, length: u8 },
    Replace { file: u8, by: Vec<u8> },
}

/// An index, and its files as they were built.
static INDEX: LazyLock<(tempfile::TempDir, PathBuf, Files)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("index");
    let text = |i: u32| format!("all {} w{} w{}", "often ".repeat(1 + i as usize % 5), i % 7, i % 100);
    let documents = (0..300).map(|i| Document { name: format!("name {i}"), text: text(i) });
    Builder::default().build_from(documents, &path).expect("it can be built");
    let files = FILES.map(|name| fs::read(path.join(name)).expect("it is there"));
    (folder, path, files)
});

fn apply(change: Change, files: &mut Files) {
    use Change::{Insert, Put, Remove, Replace, Set};
    let (Set { file, .. }
    | Put { file, .. }
    | Insert { file, .. }
    | Remove { file, .. }
    | Replace { file, .. }) = &change;
    let bytes = &mut files[usize::from(*file) % FILES.len()];
    let place = |at: u16, length: usize| usize::from(at) % (length + 1);
    match change {
        Set { at, byte, .. } => {
            let at = place(at, bytes.len());
            bytes.get_mut(at).into_iter().for_each(|old| *old = byte);
        }
        Put { at, number, .. } => {
            let at = place(at, bytes.len());
            if let Some(old) = bytes.get_mut(at..at + 8) {
                old.copy_from_slice(&number.to_le_bytes());
            }
        }
        Insert { at, bytes: more, .. } => {
            let at = place(at, bytes.len());
            bytes.splice(at..at, more);
        }
        Remove { at, length, .. } => {
            let at = place(at, bytes.len());
            bytes.drain(at..bytes.len().min(at + usize::from(length)));
        }
        Replace { by, .. } => *bytes = by,
    }
}

/// Makes the header say the lengths and checksums of the files, where it is long enough.
fn seal(files: &mut Files) {
    let [header, others @ ..] = files;
    for (file, bytes) in others.iter().enumerate() {
        put(header, 8 * (6 + 2 * file), bytes.len() as u64);
        put(header, 8 * (7 + 2 * file), crc32fast::hash(bytes).into());
    }
    if let Some(end) = header.len().checked_sub(8) {
        let crc = crc32fast::hash(&header[..end]);
        put(header, end, crc.into());
    }
}

fn put(bytes: &mut [u8], at: usize, number: u64) {
    if let Some(old) = bytes.get_mut(at..at + 8) {
        old.copy_from_slice(&number.to_le_bytes());
    }
}

fn use_all(path: &Path) -> Result<(), Error> {
    let index = Index::open(path)?;
    let bytes: u64 = index.files().map(|(_, bytes)| bytes).sum();
    let _ = index.search("all often w3 w99 nothing", 10);
    let (mut terms, mut postings) = (0, 0);
    let _ = index.terms_with_prefix("", |term, _| {
        terms += 1;
        postings += index.postings(term.as_bytes())?.map_or(0, |list| list.count() as u64);
        Ok::<_, Error>(true)
    });
    assert!(
        terms <= bytes / 2 && postings <= 64 * bytes,
        "{terms} terms and {postings} postings of {bytes} bytes"
    );
    let _ = (index.name(7), index.length(7), index.name(u32::MAX));
    let _ = index.export_ciff(&mut std::io::sink(), path);
    index.check()
}

fuzz_target!(|changes: Vec<Change>| {
    let (_, path, whole) = &*INDEX;
    let mut files = whole.clone();
    changes.into_iter().for_each(|change| apply(change, &mut files));
    seal(&mut files);
    for (name, bytes) in FILES.iter().zip(&files) {
        fs::write(path.join(name), bytes).expect("it can be written");
    }
    assert!(use_all(path).is_ok() || files != *whole);
});
