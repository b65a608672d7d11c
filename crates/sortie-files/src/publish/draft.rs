//! A draft: an output file that is being written, and takes the place of another once it is complete.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Seek};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FallocateFlags, Mode, OFlags, fallocate, linkat, openat};
use rustix::io::Errno;
use tempfile::TempPath;

use crate::error::Error;

/// The folder in which a process finds its open files by descriptor. Linking from it gives a name to a file
/// that has none.
const OPEN_FILES: &str = "/proc/self/fd";

/// A file without a name, so nothing is left of it if the program is killed. On file systems without unnamed files,
/// it has a temporary name that is removed when the draft is dropped.
pub struct Draft {
    file: File,
    name: Option<TempPath>,
    folder: PathBuf,
}

impl Draft {
    pub fn new(folder: &Path, mode: u32) -> io::Result<Draft> {
        if let Some(file) = unnamed(folder, mode) {
            return Ok(Draft { file, name: None, folder: folder.to_owned() });
        }
        // If no unnamed file could be made for another reason, this fails for the same reason.
        let file = names().permissions(Permissions::from_mode(mode)).tempfile_in(folder)?;
        let (file, name) = file.into_parts();
        Ok(Draft { file, name: Some(name), folder: folder.to_owned() })
    }

    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Gives the complete draft the name `target`, in the same folder. `shown` is the path as the user gave it,
    /// for messages.
    pub fn rename(mut self, target: &Path, shown: &Path) -> Result<(), Error> {
        if self.name.is_none() && link(&self.file, target).is_ok() {
            return Ok(());
        }
        // A link cannot replace an existing file; a rename can. If the program is killed between the two, the
        // complete result remains under its temporary name.
        let name = self.take_name().map_err(Error::file("write", shown))?;
        let Err(refused) = name.persist(target) else { return Ok(()) };
        // A file that is a mount point, as in a container, cannot be replaced by a rename, but may be writable.
        match OpenOptions::new().write(true).open(target) {
            Ok(old) => overwrite(old, self.file, refused.path, shown),
            Err(_) => Err(Error::file("write", shown)(refused.error)),
        }
    }

    /// Copies the complete draft into `old`. `shown` is the path of `old` as the user gave it, for messages.
    pub fn copy(mut self, old: File, shown: &Path) -> Result<(), Error> {
        let name = self.take_name().map_err(Error::file("write", shown))?;
        overwrite(old, self.file, name, shown)
    }

    /// Takes the temporary name of the file, after naming it if it has none.
    fn take_name(&mut self) -> io::Result<TempPath> {
        match self.name.take() {
            Some(name) => Ok(name),
            None => {
                names().make_in(&self.folder, |path| link(&self.file, path)).map(|made| made.into_temp_path())
            }
        }
    }
}

/// Builds temporary names that are not taken.
fn names() -> tempfile::Builder<'static, 'static> {
    let mut names = tempfile::Builder::new();
    names.prefix(".sortie-");
    names
}

/// A file in `folder` that has no name, but can be given one. `None` if the file system has no such files, or it cannot be made.
pub fn unnamed(folder: &Path, mode: u32) -> Option<File> {
    let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
    let can_be_named = Path::new(OPEN_FILES).exists();
    can_be_named.then(|| openat(CWD, folder, flags, Mode::from(mode)).ok()).flatten().map(File::from)
}

/// Gives a name to an unnamed file. The name must not exist yet.
pub fn link(file: &File, name: &Path) -> io::Result<()> {
    let open = format!("{OPEN_FILES}/{}", file.as_raw_fd());
    Ok(linkat(CWD, &open, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

/// Replaces the content of `old` with that of `new`, and removes the name of `new` only afterwards. If copying fails
/// at any point, the complete result still exists.
fn overwrite(old: File, mut new: File, name: TempPath, shown: &Path) -> Result<(), Error> {
    let size = new.metadata().map_err(Error::file("write", shown))?.len();
    // Reserves the space first, so that a full disk leaves the old file unchanged.
    take_room(&old, size).map_err(Error::file("write", shown))?;
    let copied = new.rewind().and_then(|()| io::copy(&mut new, &mut &old)).and_then(|_| old.set_len(size));
    copied.map_err(|source| match name.keep() {
        Ok(complete) => Error::Overwriting { path: shown.to_owned(), source, complete },
        Err(_) => Error::file("write", shown)(source),
    })
}

/// Reserves `bytes` of disk space without changing the content of the file. Returns an error if the disk is
/// full.
fn take_room(file: &File, bytes: u64) -> io::Result<()> {
    match fallocate(file, FallocateFlags::KEEP_SIZE, 0, bytes) {
        Err(full @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => {
            // Releases the part that was reserved.
            file.set_len(file.metadata()?.len())?;
            Err(full.into())
        }
        // There is nothing to reserve, or the file system cannot reserve space.
        _ => Ok(()),
    }
}
