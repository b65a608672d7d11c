//! A new index. Its files have no names until all are complete. Then they appear as one folder, by one rename.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FlockOperation, RenameFlags, flock, renameat_with};
use rustix::io::Errno;
use sortie_files::publish::{link, unnamed};

use crate::error::{Error, room};
use crate::format::{Counts, FILES, HEADER, Header, Seal};

/// The files of an index that is being built. If it is dropped or the process is killed, nothing is left behind.
pub struct Draft {
    target: PathBuf,
    /// The folder of the target and of temporary files.
    folder: PathBuf,
    pub files: [Sealed; FILES.len()],
}

impl Draft {
    /// Checks that an index can be created at `target`: nothing else may be there.
    pub fn new(target: &Path) -> Result<Draft, Error> {
        let folder = folder_of(target).to_owned();
        if target.file_name().is_none_or(is_unfinished) {
            let why = "not the name of a folder; choose one that can be created or replaced".into();
            return Err(Error::NotAnIndex { path: target.to_owned(), why });
        }
        check_replaceable(target)?;
        let mut files = Vec::new();
        for name in FILES {
            files.push(Sealed::new(&folder, &target.join(name))?);
        }
        let files = files.try_into().unwrap_or_else(|_| unreachable!("one for each name"));
        Ok(Draft { target: target.to_owned(), folder, files })
    }

    /// The folder that the index will be in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Completes the files and syncs them to the disk.
    pub fn complete(self, counts: Counts) -> Result<Complete, Error> {
        let Draft { target, folder, files } = self;
        let mut seals = [Seal::default(); FILES.len()];
        let mut complete = Vec::new();
        for ((file, name), seal) in files.into_iter().zip(FILES).zip(&mut seals) {
            let (file, sealed) = file.finish()?;
            *seal = sealed;
            complete.push((file, name));
        }
        let mut header = Sealed::new(&folder, &target.join(HEADER))?;
        header.append(&Header { counts, seals }.to_bytes())?;
        let (header, seal) = header.finish()?;
        complete.push((header, HEADER));
        let bytes = seal.bytes + seals.iter().map(|seal| seal.bytes).sum::<u64>();
        Ok(Complete { target, folder, files: complete, bytes, is_empty: counts.documents == 0 })
    }
}

/// An index whose files are on the disk, without names. If it is dropped, nothing is left behind.
pub struct Complete {
    target: PathBuf,
    folder: PathBuf,
    files: Vec<(File, &'static str)>,
    bytes: u64,
    is_empty: bool,
}

/// The beginning of the temporary name of the new index until the rename, and of the old one after it.
const UNFINISHED: &str = ".sortie-unfinished-index";

fn is_unfinished(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(UNFINISHED.as_bytes())
}

impl Complete {
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Puts the index in its place by one rename, which also replaces an old index.
    ///
    /// All slow work is done before, so the process is hardly ever killed between the first step and the last.
    pub fn publish(self) -> Result<(), Error> {
        let Complete { target, folder, mut files, is_empty, .. } = self;
        let failed = |doing| Error::file(doing, &target);
        if is_empty && target.join(HEADER).exists() {
            return Err(Error::Empty { path: target });
        }
        let around = File::open(&folder).map_err(Error::file("read", &folder))?;
        // If another index is just being published, the next build removes what is left behind.
        if flock(&around, FlockOperation::NonBlockingLockExclusive).is_ok() {
            remove_left_behind(&folder);
        }
        let mut made = Made::new(&folder).map_err(Error::file("create a folder in", &folder))?;
        let mut name_files = || {
            for (file, name) in &mut files {
                give_name(file, &made.path.join(name))?;
            }
            made.handle.sync_all()
        };
        name_files().map_err(failed("write"))?;
        match renameat_with(CWD, &made.path, CWD, &target, RenameFlags::NOREPLACE) {
            // The folder now has its final name, so there is no temporary folder to remove.
            Ok(()) => made.is_temporary = false,
            Err(Errno::EXIST) => {
                exchange(&made.path, &target)?;
                made.is_temporary = false;
                // The old index has this name now. Without locks, no other process removes it.
                remove_if(&made.path, |locked| locked != Err(Errno::WOULDBLOCK));
            }
            Err(error) => return Err(failed("write")(error.into())),
        }
        Ok(())
    }
}

/// The folder that becomes the index. Removed when it is dropped while it is temporary.
///
/// Its process holds a lock on it. If nobody holds the lock of such a folder, a process that was killed must have left it behind.
struct Made {
    path: PathBuf,
    handle: File,
    is_temporary: bool,
}

impl Made {
    fn new(folder: &Path) -> io::Result<Made> {
        let make = |random| {
            let mut names = tempfile::Builder::new();
            // The default permissions of folders.
            let mode = fs::Permissions::from_mode(0o777);
            names.prefix(UNFINISHED).rand_bytes(random).permissions(mode).tempdir_in(folder)
        };
        loop {
            let path = make(0).or_else(|_| make(6))?.keep();
            let handle = File::open(&path).inspect_err(|_| remove_files(&path))?;
            // Not every file system has locks. Without them, nothing that is left behind is removed.
            let _ = flock(&handle, FlockOperation::LockExclusive);
            if is_at(&handle, &path) {
                return Ok(Made { path, handle, is_temporary: true });
            }
            // Before the folder was locked, another process removed it.
        }
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        if self.is_temporary {
            remove_files(&self.path);
        }
    }
}

/// Removes a folder that has files of an index and nothing else. Opens no file, because there may be too many open ones.
fn remove_files(path: &Path) {
    for name in FILES.into_iter().chain([HEADER]) {
        // Not all of them need be there.
        let _ = fs::remove_file(path.join(name));
    }
    let _ = fs::remove_dir(path);
}

/// Removes what processes that were killed have left behind in the folder.
fn remove_left_behind(folder: &Path) {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let unfinished = entries.filter(|entry| is_unfinished(&entry.file_name()));
    unfinished.for_each(|entry| remove_if(&entry.path(), |locked| locked.is_ok()));
}

/// Removes a folder of an index if nobody has locked it, as `is_unowned` says of the result of locking it.
fn remove_if(path: &Path, is_unowned: impl Fn(Result<(), Errno>) -> bool) {
    if is_left_behind(path)
        && let Ok(handle) = File::open(path)
        && is_unowned(flock(&handle, FlockOperation::NonBlockingLockExclusive))
        && is_at(&handle, path)
    {
        // While files are open, removing their names takes no time, whatever their length.
        let files = path.read_dir().into_iter().flatten().flatten();
        let _held: Vec<_> = files.map(|entry| File::open(entry.path())).collect();
        remove_files(path);
    }
}

/// Whether this is the folder at `path`.
fn is_at(handle: &File, path: &Path) -> bool {
    let identity = |meta: Metadata| (meta.dev(), meta.ino());
    match (handle.metadata(), path.symlink_metadata()) {
        (Ok(own), Ok(there)) => identity(own) == identity(there),
        _ => false,
    }
}

/// Whether a folder has files of an index and nothing else.
fn is_left_behind(path: &Path) -> bool {
    let is_ours = |name: OsString| *name == *HEADER || FILES.iter().any(|file| *name == **file);
    let names = || path.read_dir()?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>();
    !path.is_symlink() && names().is_ok_and(|names| names.into_iter().all(is_ours))
}

/// Swaps the new index with the old one.
fn exchange(made: &Path, target: &Path) -> Result<(), Error> {
    check_replaceable(target)?;
    match renameat_with(CWD, made, CWD, target, RenameFlags::EXCHANGE) {
        Err(Errno::INVAL) => {
            let why =
                "this file system cannot swap folders; remove the old index first, or choose another name";
            Err(Error::file("write", target)(io::Error::other(why)))
        }
        other => other.map_err(|error| Error::file("write", target)(error.into())),
    }
}

/// Checks that there is nothing, an empty folder, or an index and nothing else, because everything that is replaced is removed.
fn check_replaceable(target: &Path) -> Result<(), Error> {
    let not = |why: &str| Err(Error::NotAnIndex { path: target.to_owned(), why: why.into() });
    if target.is_symlink() {
        return not("a link, which would be replaced; give the folder itself");
    }
    match fs::read_dir(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            not("a file, but an index is a folder; choose another name")
        }
        Err(error) => Err(Error::file("read", target)(error)),
        Ok(entries) => {
            let failed = || Error::file("read", target);
            let names: Vec<_> =
                entries.map(|entry| Ok(entry?.file_name())).collect::<Result<_, _>>().map_err(failed())?;
            let header = target.join(HEADER);
            if !(names.is_empty() || header.is_file() && Header::begins(&header).map_err(failed())?) {
                return not("a folder with other files in it; choose another name");
            }
            let is_other = |name: &&OsString| **name != *HEADER && FILES.iter().all(|file| **name != **file);
            match names.iter().find(is_other) {
                None => Ok(()),
                Some(other) => not(&format!(
                    "an index with {other:?} beside it, which would be removed; choose another folder"
                )),
            }
        }
    }
}

/// The folder that an index at `target` is in.
pub fn folder_of(target: &Path) -> &Path {
    match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A file that knows its length and checksum.
pub struct Sealed {
    file: File,
    path: PathBuf,
    held: Vec<u8>,
    hasher: crc32fast::Hasher,
    bytes: u64,
}

/// The number of bytes to write at a time.
const BUFFER: usize = 256 << 10;

impl Sealed {
    fn new(folder: &Path, path: &Path) -> Result<Sealed, Error> {
        // Not every file system has unnamed files that can be named. Any other problem appears again in the second.
        let file = unnamed(folder, 0o666).map_or_else(|| tempfile::tempfile_in(folder), Ok);
        let file = file.map_err(Error::file("create a temporary file in", folder))?;
        let (held, hasher) = (room(BUFFER)?, crc32fast::Hasher::new());
        Ok(Sealed { file, path: path.to_owned(), held, hasher, bytes: 0 })
    }

    pub fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.write_all(bytes).map_err(Error::file("write", &self.path))
    }

    /// The path of the file once the index is published.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the buffered bytes, so that [`Sealed::written`] returns everything.
    pub fn write_held(&mut self) -> Result<(), Error> {
        self.flush().map_err(Error::file("write", &self.path))
    }

    /// A reader of everything that was written, from the start.
    pub fn written(&self) -> impl io::Read {
        Written { file: &self.file, at: 0 }
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    /// Completes the file and syncs it to the disk.
    fn finish(mut self) -> Result<(File, Seal), Error> {
        let written = self.flush().and_then(|()| self.file.sync_all());
        written.map_err(Error::file("write", &self.path))?;
        Ok((self.file, Seal { bytes: self.bytes, crc: self.hasher.finalize() }))
    }
}

impl Write for Sealed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.held.len() + bytes.len() > BUFFER {
            self.flush()?;
        }
        if bytes.len() >= BUFFER {
            self.put(bytes)?;
        } else {
            self.held.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut held = std::mem::take(&mut self.held);
        self.put(&held)?;
        held.clear();
        self.held = held;
        Ok(())
    }
}

/// Reads a file that is being written, without changing its position.
struct Written<'a> {
    file: &'a File,
    at: u64,
}

impl io::Read for Written<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(into, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Gives an unnamed file a name. If it cannot get one, its content is copied to a new file.
fn give_name(file: &mut File, path: &Path) -> io::Result<()> {
    if link(file, path).is_ok() {
        return Ok(());
    }
    io::Seek::rewind(file)?;
    let mut copy = File::create_new(path)?;
    io::copy(file, &mut copy)?;
    copy.sync_all()
}
