//! The files in folders and the files that are named, each once, in the order of their names.

use std::collections::HashSet;
use std::fs::Metadata;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use walkdir::{DirEntry, WalkDir};

use super::{Item, Kind, is_compressed, open};
use crate::error::{Error, Reason, Skipped, Trouble};

/// Which files in folders are documents, in addition to those of known kinds.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// File extensions of plain text, in lower case and without the dot.
    pub extensions: Vec<String>,
    /// Whether every file that begins like text is a document.
    pub all_text: bool,
}

/// Counts of what was found in folders and is not a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PassedOver {
    /// Files and folders whose names begin with a dot.
    pub hidden: u64,
    /// Files of other kinds, and links to folders.
    pub other: u64,
    /// Files that are already indexed under another name.
    pub repeated: u64,
}

/// A file to read.
#[derive(Debug)]
pub struct Found {
    pub path: PathBuf,
    pub kind: Kind,
    pub bytes: u64,
}

/// Paths in the given order. An error ends them.
pub type Inputs<'a> = Box<dyn Iterator<Item = Result<PathBuf, Error>> + Send + 'a>;

/// Finds files.
///
/// In a folder, files that [`Choice`] or [`Kind`] accept are found, except hidden ones. Links to files are followed,
/// links to folders are not. A file that is itself given as an input is plain text if nothing shows another kind.
///
/// Takes about 40 bytes of memory for each file, and the names in the folders that contain the current file.
pub struct Files<'a> {
    inputs: Inputs<'a>,
    choice: Choice,
    /// The index that will be replaced. It is not searched for documents.
    target: Option<Identity>,
    tree: Option<Tree>,
    seen: HashSet<Identity>,
    pub passed_over: PassedOver,
}

/// The file system, and the inode number in it.
type Identity = (u64, u64);

/// The input that is being walked.
struct Tree {
    root: PathBuf,
    entries: walkdir::IntoIter,
    has_documents: bool,
}

impl<'a> Files<'a> {
    pub fn new(inputs: Inputs<'a>, choice: Choice, target: &Path) -> Files<'a> {
        let target = target.metadata().ok().map(|meta| identity(&meta));
        let (tree, seen, passed_over) = (None, HashSet::new(), PassedOver::default());
        Files { inputs, choice, target, tree, seen, passed_over }
    }

    /// The next file of the tree, or a report about it. `None` at the end.
    fn next_of(&mut self, tree: &mut Tree) -> Option<Result<Found, Item>> {
        loop {
            let told = match tree.entries.next()? {
                Ok(entry) => self.look(&entry, tree),
                Err(error) => {
                    let path = error.path().unwrap_or(&tree.root).to_owned();
                    let depth = error.depth();
                    let source =
                        error.into_io_error().unwrap_or_else(|| io::Error::other("a loop of folders"));
                    Err(trouble(source, &path, depth))
                }
            };
            match told {
                Ok(None) => {}
                Ok(Some(found)) => return Some(Ok(found)),
                Err(item) => return Some(Err(item)),
            }
        }
    }

    /// The file to read for an entry, if any.
    fn look(&mut self, entry: &DirEntry, tree: &mut Tree) -> Result<Option<Found>, Item> {
        let (path, depth) = (entry.path(), entry.depth());
        let is_folder = entry.file_type().is_dir();
        if depth > 0 && entry.file_name().as_encoded_bytes().starts_with(b".") {
            self.passed_over.hidden += 1;
            if is_folder {
                tree.entries.skip_current_dir();
            }
            return Ok(None);
        }
        let is_named = depth == 0;
        let is_text = is_named && !self.choice.all_text;
        let kind = Kind::of(path, &self.choice.extensions).or(is_text.then_some(Kind::Text));
        if !is_folder && kind.is_none() && !self.choice.all_text {
            self.passed_over.other += 1;
            return Ok(None);
        }
        let meta = path.metadata().map_err(|error| trouble(error, path, depth))?;
        if meta.is_dir() {
            if is_folder && self.target == Some(identity(&meta)) {
                tree.entries.skip_current_dir();
            }
            self.passed_over.other += u64::from(!is_folder && depth > 0);
            return Ok(None);
        }
        // A pipe given as an input is read; its length is not known.
        if !meta.is_file() && depth > 0 {
            self.passed_over.other += 1;
            return Ok(None);
        }
        // Checked before the file counts as seen, because under another name it may have a known kind.
        let is_unknown = kind.is_none() && meta.is_file();
        if is_unknown && !begins_as_text(path).map_err(|error| trouble(error, path, depth))? {
            self.passed_over.other += 1;
            tree.has_documents |= is_named;
            return Ok(None);
        }
        if meta.is_file() && !self.is_new(&meta)? {
            self.passed_over.repeated += 1;
            tree.has_documents = true;
            return Ok(None);
        }
        tree.has_documents = true;
        let bytes = if meta.is_file() { meta.len() } else { u64::MAX };
        Ok(Some(Found { path: path.to_owned(), kind: kind.unwrap_or(Kind::Text), bytes }))
    }

    /// Whether the file was not found before under another name.
    fn is_new(&mut self, meta: &Metadata) -> Result<bool, Item> {
        let bytes = 40 * (self.seen.len() as u64 + 1);
        self.seen.try_reserve(1).map_err(|_| Item::Failed(Error::Memory { bytes }))?;
        Ok(self.seen.insert(identity(meta)))
    }
}

impl Iterator for Files<'_> {
    type Item = Result<Found, Item>;

    fn next(&mut self) -> Option<Result<Found, Item>> {
        loop {
            if let Some(mut tree) = self.tree.take() {
                if let Some(next) = self.next_of(&mut tree) {
                    self.tree = Some(tree);
                    return Some(next);
                }
                if !tree.has_documents {
                    let place = tree.root.to_string_lossy().into_owned();
                    let why = "no documents were found in it".into();
                    return Some(Err(Item::Skipped(Skipped { place, why, reason: Reason::Unmatched })));
                }
            }
            match self.inputs.next()? {
                Ok(root) => {
                    let entries = WalkDir::new(&root).sort_by_file_name().into_iter();
                    self.tree = Some(Tree { root, entries, has_documents: false });
                }
                Err(error) => return Some(Err(Item::Failed(error))),
            }
        }
    }
}

fn identity(meta: &Metadata) -> Identity {
    (meta.dev(), meta.ino())
}

/// Handles a file or folder whose metadata cannot be read. If it has disappeared, or is a link that leads nowhere, it
/// is skipped if it was found in a folder. If it was given as an input, it is an error.
fn trouble(error: io::Error, path: &Path, depth: usize) -> Item {
    let is_gone = [Errno::NOENT, Errno::LOOP].contains(&Errno::from_io_error(&error).unwrap_or(Errno::PERM));
    if depth > 0 && is_gone {
        let place = path.to_string_lossy().into_owned();
        return Item::Skipped(Skipped {
            place,
            why: "gone before it was read".into(),
            reason: Reason::Vanished,
        });
    }
    Item::Failed(Error::file("read", path)(error))
}

/// The number of bytes that show whether a file is text.
const HEAD: usize = 8 << 10;

/// Whether the first [`HEAD`] bytes of a file are UTF-8 without NUL. The last character may be cut.
fn begins_as_text(path: &Path) -> io::Result<bool> {
    let mut head = Vec::with_capacity(HEAD);
    let read = open(path).and_then(|file| file.take(HEAD as u64).read_to_end(&mut head));
    match read.map_err(Trouble::from) {
        Ok(_) => {}
        // Damaged compressed data.
        Err(Trouble::Content(_)) => return Ok(false),
        Err(Trouble::Read(error)) => return Err(error),
    }
    let is_utf8 = match std::str::from_utf8(&head) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none() && head.len() == HEAD,
    };
    Ok(is_utf8 && !head.contains(&0))
}

impl Kind {
    /// The kind by the name, without an extension at its end that means compression.
    fn of(path: &Path, extensions: &[String]) -> Option<Kind> {
        let stem = path.with_extension("");
        let path = if is_compressed(path) { &stem } else { path };
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "txt" | "text" => Some(Kind::Text),
            "md" | "markdown" => Some(Kind::Markdown),
            "html" | "htm" | "xhtml" => Some(Kind::Html),
            "jsonl" | "ndjson" => Some(Kind::JsonLines),
            other => extensions.iter().any(|extension| extension == other).then_some(Kind::Text),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn tree(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, format!("in {name}")).unwrap();
        }
        folder
    }

    /// The names of the files found in a folder, and the counts of the others.
    fn found(root: &Path, choice: Choice) -> (Vec<String>, PassedOver) {
        let mut files = Files::new(Box::new([Ok(root.to_owned())].into_iter()), choice, Path::new("target"));
        let name = |path: &Path| path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        let names = files.by_ref().map(|found| match found {
            Ok(found) => name(&found.path),
            Err(Item::Skipped(skipped)) => format!("skipped {}", name(skipped.place.as_ref())),
            Err(item) => panic!("{item:?}"),
        });
        (names.collect(), files.passed_over)
    }

    #[test]
    fn trees_are_walked_in_order() {
        let folder = tree(&["z.txt", "a.HTML", "b/c/d.md", "b/c/picture.png", "b.jsonl", "no_ending"]);
        let (names, passed_over) = found(folder.path(), Choice::default());
        assert_eq!(names, ["a.HTML", "b/c/d.md", "b.jsonl", "z.txt"]);
        assert_eq!(passed_over, PassedOver { other: 2, ..PassedOver::default() });
        assert_eq!(found(&folder.path().join("no_ending"), Choice::default()).0, [""]);
    }

    #[test]
    fn other_text_is_found_by_its_name_or_by_its_content() {
        let folder = tree(&["a.rst", "b.RST.gz", "c.md", "Makefile", "empty"]);
        fs::write(folder.path().join("empty"), "").unwrap();
        fs::write(folder.path().join("data"), "text\0").unwrap();
        fs::write(folder.path().join("latin"), b"caf\xE9").unwrap();
        fs::write(folder.path().join("long"), "é".repeat(HEAD) + "\0").unwrap();
        fs::write(folder.path().join("odd"), "a".to_owned() + &"é".repeat(HEAD)).unwrap();
        let rst = Choice { extensions: vec!["rst".into()], all_text: false };
        assert_eq!(found(folder.path(), rst).0, ["a.rst", "b.RST.gz", "c.md"]);
        let all = Choice { all_text: true, ..Choice::default() };
        let (names, passed_over) = found(folder.path(), all);
        assert_eq!(names, ["Makefile", "a.rst", "c.md", "empty", "long", "odd"]);
        // A file with damaged compressed data is not text either.
        assert_eq!(passed_over.other, 3);
    }

    #[test]
    fn what_is_hidden_is_passed_over_unless_it_is_named() {
        let folder = tree(&["a.md", ".b.md", ".git/c.md", ".git/d/e.md"]);
        let (names, passed_over) = found(folder.path(), Choice::default());
        assert_eq!((names, passed_over.hidden), (vec!["a.md".to_owned()], 2));
        assert_eq!(found(&folder.path().join(".git"), Choice::default()).0, ["c.md", "d/e.md"]);
    }

    #[test]
    fn a_file_is_found_once_whatever_leads_to_it() {
        let folder = tree(&["a.md", "sub/b.md", "outside/c.md"]);
        let sub = folder.path().join("sub");
        symlink("../outside/c.md", sub.join("a-link.md")).unwrap();
        symlink("b.md", sub.join("c-link.md")).unwrap();
        fs::hard_link(sub.join("b.md"), sub.join("d.md")).unwrap();
        symlink("..", sub.join("up.md")).unwrap();
        symlink("loop.md", sub.join("loop.md")).unwrap();
        symlink("nowhere", sub.join("gone.md")).unwrap();
        let (names, passed_over) = found(&sub, Choice::default());
        assert_eq!(names, ["a-link.md", "b.md", "skipped gone.md", "skipped loop.md"]);
        assert_eq!(passed_over, PassedOver { repeated: 2, other: 1, ..PassedOver::default() });
    }

    #[test]
    fn an_index_within_its_documents_is_not_indexed() {
        let folder = tree(&["a", "index/names", "other/names"]);
        let inputs = Box::new([Ok(folder.path().to_owned())].into_iter());
        let choice = Choice { all_text: true, ..Choice::default() };
        let files = Files::new(inputs, choice, &folder.path().join("index"));
        assert_eq!(
            files.map(|found| found.unwrap().path).collect::<Vec<_>>(),
            ["a", "other/names"].map(|name| folder.path().join(name))
        );
    }

    #[test]
    fn a_pipe_that_is_named_may_be_long() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let inputs = Box::new([Ok(pipe)].into_iter());
        let found = Files::new(inputs, Choice::default(), Path::new("target")).next().unwrap().unwrap();
        assert!(found.kind == Kind::Text && found.bytes == u64::MAX);
    }

    #[test]
    fn an_input_without_documents_is_told() {
        let folder = tree(&["a.png"]);
        assert_eq!(found(folder.path(), Choice::default()).0, ["skipped "]);
    }
}
