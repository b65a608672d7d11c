//! A damaged index gives an error that names the file. It never causes a panic, a signal, or more work than its size
//! justifies.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fastrand::Rng;
use sortie_index::{Builder, Document, Error, Index};
use tempfile::TempDir;

/// An index of documents with terms in one, some, and all of them.
fn index() -> (TempDir, PathBuf) {
    index_of(1000)
}

fn index_of(documents: u32) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let text = |i: u32| format!("all {} w{} w{} u{i}", "often ".repeat(1 + i as usize % 5), i % 7, i % 300);
    let documents = (0..documents).map(|i| Document { name: format!("name {i}"), text: text(i) });
    Builder::default().build_from(documents, &path).unwrap();
    (folder, path)
}

/// Calls everything that can be done with an index, and ignores the results. It must return, and do no more work than
/// the files justify: a term takes at least two bytes, and two bytes of a list are at most 128 postings.
fn use_all(path: &Path) -> Result<(), Error> {
    let index = Index::open(path)?;
    let bytes = |name| index.files().find(|file| file.0 == name).unwrap().1;
    let searched = index.search("all often w3 w299 u7 nothing", 10);
    let mut lists = Vec::new();
    let listed = index.terms_with_prefix("", |term, _| {
        lists.push(term.to_owned());
        Ok::<_, Error>(true)
    });
    assert!(lists.len() as u64 <= bytes("terms") / 2);
    let lists_of = |term: &String| index.postings(term.as_bytes()).ok().flatten();
    let postings = lists.iter().filter_map(lists_of).flatten().count() as u64;
    assert!(postings <= 64 * bytes("postings"), "{postings}");
    for document in [0, 1, 999, 1000, u32::MAX] {
        let _ = (index.name(document), index.length(document));
    }
    let exported = index.export_ciff(&mut std::io::sink(), path);
    let checked = index.check();
    checked.and(exported).and(listed).and(searched.map(drop))
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
    // A different name, which is as valid as the first.
    bytes[0] = b'N';
    fs::write(&names, bytes).unwrap();
    let mut exported = Vec::new();
    let told = Index::open(&path).unwrap().export_ciff(&mut exported, "x.ciff".as_ref()).unwrap_err();
    assert!(matches!(told, Error::Damaged { .. }) && told.to_string().contains("names"), "{told}");
    assert!(exported.is_empty());
}

/// Readers of CIFF would take numbers above 2^31 - 1 as negative.
#[test]
fn a_length_that_ciff_cannot_say_is_refused() {
    let (_folder, path) = index();
    let mut files = Files::read(&path);
    files.0[LENGTHS][..4].copy_from_slice(&(1u32 << 31).to_le_bytes());
    files.write(&path);
    let told = Index::open(&path).unwrap().export_ciff(&mut std::io::sink(), "x.ciff".as_ref());
    assert!(matches!(told, Err(Error::TooMuch(_))), "{told:?}");
}

/// The files of an index in memory, to be changed.
#[derive(Clone)]
struct Files([Vec<u8>; 6]);

/// Indices in [`FILES`].
const HEADER: usize = 0;
const TERMS: usize = 1;
const LENGTHS: usize = 5;

impl Files {
    fn read(path: &Path) -> Files {
        Files(FILES.map(|name| fs::read(path.join(name)).unwrap()))
    }

    /// Writes the files, with correct lengths and checksums.
    fn write(&mut self, path: &Path) {
        let [header, others @ ..] = &mut self.0;
        for (file, bytes) in others.iter().enumerate() {
            let seal = 8 * (6 + 2 * file);
            put(header, seal, bytes.len() as u64);
            put(header, seal + 8, crc32fast::hash(bytes).into());
        }
        let end = header.len() - 8;
        let crc = crc32fast::hash(&header[..end]);
        put(header, end, crc.into());
        for (name, bytes) in FILES.iter().zip(&self.0) {
            // ext4 waits for the disk if a file is truncated and written again, but not if it is new.
            fs::remove_file(path.join(name)).unwrap();
            fs::write(path.join(name), bytes).unwrap();
        }
    }

    /// A few changes of one or two files.
    fn damage(&mut self, random: &mut Rng) {
        for _ in 0..random.usize(1..3) {
            // The dictionary is the one with the most structure.
            let file = if random.bool() { TERMS } else { random.usize(0..FILES.len()) };
            if file == HEADER {
                // One of the counts.
                put(&mut self.0[HEADER], 8 * random.usize(2..6), some_number(random));
                continue;
            }
            (0..random.usize(1..5)).for_each(|_| change(&mut self.0[file], random));
        }
    }
}

fn put(bytes: &mut [u8], at: usize, number: u64) {
    bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
}

/// A number that is small, large, or near the limits of a type.
fn some_number(random: &mut Rng) -> u64 {
    let near = 1u64.checked_shl(random.u32(0..65)).unwrap_or(0);
    near.wrapping_add(random.u64(0..5)).wrapping_sub(2)
}

/// Changes, adds or removes bytes at a random position.
fn change(bytes: &mut Vec<u8>, random: &mut Rng) {
    let at = random.usize(0..=bytes.len());
    let end = (at + random.usize(1..20)).min(bytes.len());
    match random.u8(0..16) {
        // Most changes keep the length, so that most are found by the checks after those of lengths.
        0..4 if at < bytes.len() => bytes[at] ^= 1 << random.u8(0..8),
        4..8 if at < bytes.len() => bytes[at] = random.u8(..),
        8..10 if at < bytes.len() => bytes[at] = random.choice([0, 1, 0x7F, 0x80, 0xF0, 0xFF]).unwrap(),
        10 if at + 8 <= bytes.len() => put(bytes, at, some_number(random)),
        11 => bytes[at..end].rotate_left((end - at) / 2),
        // The number at the end.
        12 if bytes.len() >= 8 => {
            let last = bytes.len() - 8;
            let old = u64::from_le_bytes(bytes[last..].try_into().unwrap());
            let new = if random.bool() {
                old.wrapping_add(random.u64(0..40)).wrapping_sub(20)
            } else {
                some_number(random)
            };
            put(bytes, last, new);
        }
        13 => drop(bytes.drain(at..end)),
        14 => drop(bytes.splice(at..at, (0..random.usize(1..12)).map(|_| random.u8(..)))),
        15 if random.u8(0..8) == 0 => bytes.truncate(at),
        _ => {
            let copied = bytes[at..end].to_vec();
            let to = random.usize(0..=bytes.len());
            drop(bytes.splice(to..to, copied));
        }
    }
}

/// Damage that checksums would reveal, with new checksums that match it. So everything that is read must be checked.
///
/// `SORTIE_LARGE` makes 200,000 indexes.
#[test]
fn what_checksums_do_not_tell_is_an_error_or_some_index() {
    let (_folder, path) = index_of(200);
    let whole = Files::read(&path);
    let mut random = Rng::with_seed(6);
    let damaged = if std::env::var_os("SORTIE_LARGE").is_some() { 200_000 } else { 3_000 };
    let (mut refused, mut opened, mut good) = (0, 0, 0);
    for number in 0..damaged {
        let mut files = whole.clone();
        files.damage(&mut random);
        files.write(&path);
        opened += u32::from(Index::open(&path).is_ok());
        match std::panic::catch_unwind(|| use_all(&path)) {
            Ok(Ok(())) => good += 1,
            Ok(Err(Error::Damaged { path: file, .. })) => {
                assert!(FILES.iter().any(|name| file == path.join(name)), "{file:?}");
                refused += 1;
            }
            Ok(Err(error)) => panic!("index {number}: {error}"),
            Err(_) => panic!("index {number} made it panic"),
        }
    }
    println!("{damaged} damaged, {opened} opened, {refused} refused, {good} are some index");
    assert!(refused > good && good > 0 && opened > damaged / 3, "{refused}, {opened}, {good}");
    // The peak memory of this process: no index made it allocate memory for an invented number.
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    let peak: u64 = peak.unwrap().parse().unwrap();
    assert!(peak < 256 << 10, "{peak} kB");
}

/// If a mapped file is truncated, access to it raises a signal, which this program could not turn into an error.
#[test]
fn a_file_that_becomes_shorter_while_it_is_open_is_an_error() {
    let (_folder, path) = index();
    for name in &FILES[1..] {
        let whole = fs::read(path.join(name)).unwrap();
        let index = Index::open(&path).unwrap();
        fs::File::options().write(true).open(path.join(name)).unwrap().set_len(0).unwrap();
        let exported = index.export_ciff(&mut std::io::sink(), &path);
        let listed = index.terms_with_prefix("", |term, _| index.postings(term.as_bytes()).map(|_| true));
        let searched = index.search("all", 10);
        for error in [exported.err(), index.check().err()] {
            let error = error.unwrap().to_string();
            assert!(error.contains(name) && error.contains("shorter"), "{error}");
        }
        assert_eq!(listed.is_err(), *name == "terms");
        // Searching reads all files.
        assert!(searched.is_err(), "{name}");
        fs::write(path.join(name), whole).unwrap();
    }
    use_all(&path).unwrap();
}

/// Opening a pipe waits for a writer, which may never come.
#[test]
fn a_pipe_in_the_place_of_a_file_is_an_error() {
    let (_folder, path) = index();
    for name in FILES {
        let whole = fs::read(path.join(name)).unwrap();
        fs::remove_file(path.join(name)).unwrap();
        assert!(Command::new("mkfifo").arg(path.join(name)).status().unwrap().success());
        let told = Index::open(&path).err().unwrap().to_string();
        assert!(told.ends_with(&format!("{name}: not a regular file")), "{told}");
        fs::remove_file(path.join(name)).unwrap();
        fs::write(path.join(name), whole).unwrap();
    }
}

#[test]
fn what_is_no_index_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let told = |path: &Path| Index::open(path).err().unwrap().to_string();
    assert!(told(folder.path()).ends_with("a folder without the header of an index"));
    fs::write(folder.path().join("header"), "something else entirely").unwrap();
    assert!(told(folder.path()).ends_with("not a Sortie index"));
    assert!(told(&folder.path().join("header")).ends_with("Not a directory"));
    assert!(told(&folder.path().join("gone")).ends_with("No such file or directory"));
    let (_other, path) = index();
    let mut header = fs::read(path.join("header")).unwrap();
    header[8] = 1;
    fs::write(path.join("header"), header).unwrap();
    assert!(told(&path).ends_with("an index of version 1, but this program reads version 2; build it again"));
}
