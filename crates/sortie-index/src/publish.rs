//! A new index: files without names until all are complete, which then appear as one folder by one rename.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, linkat, openat, renameat_with};
use rustix::io::Errno;

use crate::error::Error;
use crate::format::{Counts, FILES, HEADER, Header, Seal};

/// The files of an index that is being built. Dropped, or killed, it leaves nothing behind.
pub struct Draft {
    target: PathBuf,
    /// Where the target is, and temporary files with it.
    folder: PathBuf,
    pub files: [Sealed; FILES.len()],
}

impl Draft {
    /// Finds out whether there can be an index at `target`: nothing else may be there.
    pub fn new(target: &Path) -> Result<Draft, Error> {
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        if target.file_name().is_none() {
            let why = "no name for a folder; give one that can be made or replaced".into();
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

    /// Puts the complete index in its place, and says how many bytes it has. What was there before is replaced in the same
    /// instant.
    pub fn publish(self, counts: Counts) -> Result<u64, Error> {
        let failed = |doing| Error::file(doing, &self.target);
        // As open to others as folders are by default.
        let mode = fs::Permissions::from_mode(0o777);
        let made = tempfile::Builder::new().prefix(".sortie-").permissions(mode).tempdir_in(&self.folder);
        let made = made.map_err(Error::file("create a folder in", &self.folder))?;
        let mut seals = [Seal::default(); FILES.len()];
        for ((file, name), seal) in self.files.into_iter().zip(FILES).zip(&mut seals) {
            let (mut file, sealed) = file.finish()?;
            *seal = sealed;
            give_name(&mut file, &made.path().join(name)).map_err(failed("write"))?;
        }
        let header = Header { counts, seals }.to_bytes();
        let write_header = || {
            let mut file = File::create(made.path().join(HEADER))?;
            file.write_all(&header)?;
            file.sync_all()?;
            File::open(made.path())?.sync_all()
        };
        write_header().map_err(failed("write"))?;
        match renameat_with(CWD, made.path(), CWD, &self.target, RenameFlags::NOREPLACE) {
            Ok(()) => {
                // It is there no more under the name that would be removed.
                let _ = made.keep();
            }
            Err(Errno::EXIST) => exchange(&made, &self.target)?,
            Err(error) => return Err(failed("write")(error.into())),
        }
        Ok(header.len() as u64 + seals.iter().map(|seal| seal.bytes).sum::<u64>())
    }
}

/// Swaps the new index with the old one, which is removed when `made` is dropped.
fn exchange(made: &tempfile::TempDir, target: &Path) -> Result<(), Error> {
    check_replaceable(target)?;
    match renameat_with(CWD, made.path(), CWD, target, RenameFlags::EXCHANGE) {
        Err(Errno::INVAL) => {
            let why = "this file system cannot swap folders; remove the old index first, or name another";
            Err(Error::file("write", target)(io::Error::other(why)))
        }
        other => other.map_err(|error| Error::file("write", target)(error.into())),
    }
}

/// Whether nothing is there, or an empty folder, or an index and nothing else: what is replaced is removed, all of it.
fn check_replaceable(target: &Path) -> Result<(), Error> {
    let not = |why: &str| Err(Error::NotAnIndex { path: target.to_owned(), why: why.into() });
    if target.is_symlink() {
        return not("a link, which would be replaced; name the folder itself");
    }
    match fs::read_dir(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            not("a file, and an index is a folder; name another")
        }
        Err(error) => Err(Error::file("read", target)(error)),
        Ok(entries) => {
            let failed = || Error::file("read", target);
            let names: Vec<_> =
                entries.map(|entry| Ok(entry?.file_name())).collect::<Result<_, _>>().map_err(failed())?;
            let header = target.join(HEADER);
            if !(names.is_empty() || header.is_file() && Header::begins(&header)) {
                return not("a folder with something else in it; name another");
            }
            let is_other = |name: &&OsString| **name != *HEADER && FILES.iter().all(|file| **name != **file);
            match names.iter().find(is_other) {
                None => Ok(()),
                Some(other) => not(&format!(
                    "an index with {other:?} beside it, which would be removed; name another folder"
                )),
            }
        }
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

/// So much is written at a time.
const BUFFER: usize = 256 << 10;

impl Sealed {
    fn new(folder: &Path, path: &Path) -> Result<Sealed, Error> {
        let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
        let file = match openat(CWD, folder, flags, Mode::from(0o666)) {
            Ok(file) => file.into(),
            // Not every file system has unnamed files; whatever else is wrong comes up here again.
            Err(_) => {
                tempfile::tempfile_in(folder).map_err(Error::file("create a temporary file in", folder))?
            }
        };
        let (held, hasher) = (Vec::with_capacity(BUFFER), crc32fast::Hasher::new());
        Ok(Sealed { file, path: path.to_owned(), held, hasher, bytes: 0 })
    }

    pub fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.write_all(bytes).map_err(Error::file("write", &self.path))
    }

    /// Where it will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    /// The complete file, which is on the disk.
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

/// Names a file without a name; where it cannot get one, what it holds is copied.
fn give_name(file: &mut File, path: &Path) -> io::Result<()> {
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    if linkat(CWD, &own, CWD, path, AtFlags::SYMLINK_FOLLOW).is_ok() {
        return Ok(());
    }
    io::Seek::rewind(file)?;
    let mut copy = File::create_new(path)?;
    io::copy(file, &mut copy)?;
    copy.sync_all()
}
