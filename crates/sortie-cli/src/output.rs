//! Where the result goes: standard output, or a file that is replaced only when it is complete.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, Seek, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, FallocateFlags, Mode, OFlags, access, fallocate, linkat, openat};
use rustix::io::Errno;
use tempfile::TempPath;

use crate::failure::Failure;

/// An open output. Dropped before [`finish`](Output::finish), it leaves the file that it was to replace as it was.
pub struct Output {
    file: File,
    /// What is being done where, for [`Failure::file`].
    writing: (&'static str, PathBuf),
    name: PathBuf,
    place: Place,
}

/// What [`Output::finish`] has to do.
enum Place {
    /// Nothing: the file is a pipe, a device, or standard output.
    Direct,
    /// To give the file a name, which it has none of yet, and so leaves nothing behind if the program is killed.
    Unnamed(PathBuf),
    /// To rename it, in file systems without unnamed files.
    Named(TempPath, PathBuf),
    /// To copy it into this one, which may be written but not replaced without a change of its owner.
    Copied(File),
}

impl Output {
    /// Opens standard output.
    pub fn stdout() -> Result<Output, Failure> {
        let name = Path::new("standard output");
        let file = io::stdout().as_fd().try_clone_to_owned().map_err(Failure::file("write", name))?;
        Ok(Output::of((file.into(), Place::Direct), name))
    }

    /// Opens `path`, or standard output, and finds out now whether it can be written. What cannot be replaced is
    /// first written to a file in the folder `temporary`.
    pub fn open(path: Option<&Path>, temporary: &Path) -> Result<Output, Failure> {
        let Some(path) = path else { return Output::stdout() };
        if let Some(made) = open(path).map_err(Failure::file("write", path))? {
            return Ok(Output::of(made, path));
        }
        let target = OpenOptions::new().write(true).open(path).map_err(Failure::file("write", path))?;
        let file = tempfile::tempfile_in(temporary);
        let file = file.map_err(Failure::file("create a temporary file in", temporary))?;
        let writing = ("write a temporary file in", temporary.to_owned());
        Ok(Output { file, writing, name: path.to_owned(), place: Place::Copied(target) })
    }

    fn of((file, place): (File, Place), name: &Path) -> Output {
        Output { file, writing: ("write", name.to_owned()), name: name.to_owned(), place }
    }

    pub fn write(&mut self, text: &[u8]) -> Result<(), Failure> {
        self.file.write_all(text).map_err(Failure::file(self.writing.0, &self.writing.1))
    }

    /// Puts the complete file in its place.
    pub fn finish(self) -> Result<(), Failure> {
        let Output { mut file, name, place, .. } = self;
        match place {
            Place::Direct => Ok(()),
            Place::Unnamed(target) => link(&file, &target),
            Place::Named(temporary, target) => temporary.persist(target).map_err(|e| e.error),
            Place::Copied(target) => copy(&mut file, target),
        }
        .map_err(Failure::file("write", &name))
    }
}

/// What becomes `path`; nothing where that may be written but not replaced.
fn open(path: &Path) -> io::Result<Option<(File, Place)>> {
    // What stands for an open file would be lost by putting another in its place.
    let stands_for_another =
        ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"].iter().any(|name| path.starts_with(name));
    let old = match path.metadata() {
        Ok(old) if stands_for_another || !old.is_file() => {
            return Ok(Some((OpenOptions::new().write(true).truncate(true).open(path)?, Place::Direct)));
        }
        Ok(old) => {
            access(path, Access::WRITE_OK)?;
            Some(old)
        }
        // A name that ends in a slash is that of a folder, and no file is made of it.
        Err(_) if path.as_os_str().as_encoded_bytes().ends_with(b"/") => {
            return Err(Errno::ISDIR.into());
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.as_os_str().is_empty() => None,
        Err(error) => return Err(error),
    };
    let made = resolve(path).and_then(make);
    let Some(old) = old else { return made.map(Some) };
    Ok(made.and_then(|(file, place)| take_over(&file, &old).map(|()| (file, place))).ok())
}

/// A file that can take the place of `target`.
fn make(target: PathBuf) -> io::Result<(File, Place)> {
    let folder = target.parent().unwrap_or(Path::new("/"));
    match openat(CWD, folder, OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC, Mode::from(0o666)) {
        Ok(file) => Ok((File::from(file), Place::Unnamed(target))),
        // Not every file system has unnamed files; whatever else is wrong comes up here again.
        Err(_) => {
            let mode = Permissions::from_mode(0o666);
            let (file, temporary) = names().permissions(mode).tempfile_in(folder)?.into_parts();
            Ok((file, Place::Named(temporary, target)))
        }
    }
}

/// Where the links that `path` may be end: a file, or where one can be made.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..40 {
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.canonicalize()?,
            _ => Path::new(".").canonicalize()?,
        };
        let name = target.file_name().ok_or(Errno::ISDIR)?;
        target = folder.join(name);
        match target.read_link() {
            Ok(link) => target = folder.join(link),
            Err(_) => return Ok(target),
        }
    }
    Err(Errno::LOOP.into())
}

/// What makes up names that are not taken.
fn names() -> tempfile::Builder<'static, 'static> {
    let mut names = tempfile::Builder::new();
    names.prefix(".sortie-");
    names
}

/// Gives `file` the owner and mode of the file that it replaces.
fn take_over(file: &File, old: &Metadata) -> io::Result<()> {
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
        fchown(file, Some(old.uid()), Some(old.gid()))?;
    }
    file.set_permissions(old.permissions())
}

/// Names an unnamed file.
fn link(file: &File, target: &Path) -> io::Result<()> {
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    let name = |path: &Path| linkat(CWD, &own, CWD, path, AtFlags::SYMLINK_FOLLOW);
    if name(target).is_ok() {
        return Ok(());
    }
    // A link does not replace a file, a rename does. Killed between the two, the program leaves the complete result
    // under its temporary name.
    let folder = target.parent().unwrap_or(Path::new("/"));
    let temporary = names().make_in(folder, |path| Ok(name(path)?))?.into_temp_path();
    temporary.persist(target).map_err(|e| e.error)
}

/// Replaces the content of `target`. Room is taken first, so that a full disk leaves it as it was.
fn copy(file: &mut File, mut target: File) -> io::Result<()> {
    let size = file.stream_position()?;
    match fallocate(&target, FallocateFlags::empty(), 0, size) {
        Err(Errno::NOSPC) => return Err(Errno::NOSPC.into()),
        // Nothing to take, or a file system where none can be.
        _ => file.rewind()?,
    }
    io::copy(file, &mut target)?;
    target.set_len(size)
}
