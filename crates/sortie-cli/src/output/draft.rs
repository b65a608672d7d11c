//! A file that is being written, until it is complete and takes the place of another.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Seek};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FallocateFlags, Mode, OFlags, fallocate, linkat, openat};
use rustix::io::Errno;
use tempfile::TempPath;

use crate::failure::Failure;

/// Where the process finds its open files by name, which is how one without a name gets one.
const OPEN_FILES: &str = "/proc/self/fd";

/// A file without a name, of which nothing is left if the program is killed. In file systems that have no such files
/// it has a name that is removed when the draft is dropped.
pub struct Draft {
    file: File,
    name: Option<TempPath>,
    folder: PathBuf,
}

impl Draft {
    pub fn new(folder: &Path, mode: u32) -> io::Result<Draft> {
        let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
        if Path::new(OPEN_FILES).exists()
            && let Ok(file) = openat(CWD, folder, flags, Mode::from(mode))
        {
            return Ok(Draft { file: file.into(), name: None, folder: folder.to_owned() });
        }
        // Whatever else was wrong comes up here again.
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

    /// Gives the complete draft the name `target`, in the same folder. `shown` is what the user calls it.
    pub fn rename(mut self, target: &Path, shown: &Path) -> Result<(), Failure> {
        if self.name.is_none() && link(&self.file, target).is_ok() {
            return Ok(());
        }
        // A link does not replace a file, a rename does. Killed between the two, the program leaves the complete result
        // under its temporary name.
        let name = self.take_name().map_err(Failure::file("write", shown))?;
        let Err(refused) = name.persist(target) else { return Ok(()) };
        // A file on which another is mounted, as in a container, keeps its name but may be written.
        match OpenOptions::new().write(true).open(target) {
            Ok(old) => overwrite(old, self.file, refused.path, shown),
            Err(_) => Err(Failure::file("write", shown)(refused.error)),
        }
    }

    /// Copies the complete draft into `old`. `shown` is what the user calls that.
    pub fn copy(mut self, old: File, shown: &Path) -> Result<(), Failure> {
        let name = self.take_name().map_err(Failure::file("write", shown))?;
        overwrite(old, self.file, name, shown)
    }

    /// The temporary name of the file, which gets one here if it has none.
    fn take_name(&mut self) -> io::Result<TempPath> {
        match self.name.take() {
            Some(name) => Ok(name),
            None => {
                names().make_in(&self.folder, |path| link(&self.file, path)).map(|made| made.into_temp_path())
            }
        }
    }
}

/// What makes up names that are not taken.
fn names() -> tempfile::Builder<'static, 'static> {
    let mut names = tempfile::Builder::new();
    names.prefix(".sortie-");
    names
}

/// Names a file without a name.
fn link(file: &File, name: &Path) -> io::Result<()> {
    let open = format!("{OPEN_FILES}/{}", file.as_raw_fd());
    Ok(linkat(CWD, &open, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

/// Replaces the content of `old` by that of `new`, whose name is removed only after that: whatever happens meanwhile, the
/// complete result is there.
fn overwrite(old: File, mut new: File, name: TempPath, shown: &Path) -> Result<(), Failure> {
    let size = new.metadata().map_err(Failure::file("write", shown))?.len();
    // So that a full disk leaves the file as it was.
    take_room(&old, size).map_err(Failure::file("write", shown))?;
    let copied = new.rewind().and_then(|()| io::copy(&mut new, &mut &old)).and_then(|_| old.set_len(size));
    copied.map_err(|source| match name.keep() {
        Ok(complete) => Failure::Overwriting { path: shown.to_owned(), source, complete },
        Err(_) => Failure::file("write", shown)(source),
    })
}

/// Reserves `bytes` of disk space without changing the file. An error if there is too little.
fn take_room(file: &File, bytes: u64) -> io::Result<()> {
    match fallocate(file, FallocateFlags::KEEP_SIZE, 0, bytes) {
        Err(full @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => {
            // Gives back the part that there was.
            file.set_len(file.metadata()?.len())?;
            Err(full.into())
        }
        // Nothing to take, or a file system where none can be.
        _ => Ok(()),
    }
}
