//! Where the result goes: standard output, or a file that is replaced only when the result is complete.

mod attributes;
mod draft;

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::io::Errno;

use crate::compression::{Compression, Packer};
use crate::error::Error;
use draft::Draft;
pub use draft::{link, unnamed};

/// The mode of a new file before the umask applies (`USUAL`), and of a file that no other user may read
/// (`PRIVATE`).
const USUAL: u32 = 0o666;
const PRIVATE: u32 = 0o600;

/// An open output. If it is dropped before [`finish`](Output::finish), the existing file at its path stays as it was.
pub struct Output {
    /// The action and its path, for [`Error::file`].
    writing: (&'static str, PathBuf),
    name: PathBuf,
    place: Place,
    /// Compresses the output, if that was asked for.
    packer: Option<Packer>,
}

/// The file that receives the result, and what [`Output::finish`] does with it.
enum Place {
    /// A pipe, a device, or standard output: nothing is left to do.
    Direct(File),
    /// Renames the draft to this path.
    Named(Draft, PathBuf),
    /// Copies the draft into this file. Replacing the file would change its owner, its attributes or its other names.
    Copied(Draft, File),
}

impl Output {
    /// Opens standard output.
    pub fn stdout() -> Result<Output, Error> {
        let name = Path::new("standard output");
        let file = io::stdout().as_fd().try_clone_to_owned().map_err(Error::file("write", name))?;
        Ok(Output::of(Place::Direct(file.into()), name))
    }

    /// Opens `path`, or standard output, and checks that it can be written. If the file cannot be replaced, the result is first
    /// written to a file in the same folder, or else in the folder `temporary`. `compression` says how the output is compressed.
    pub fn open(
        path: Option<&Path>,
        temporary: &Path,
        compression: Option<Compression>,
    ) -> Result<Output, Error> {
        let output = match path {
            Some(path) => Output::file(path, temporary),
            None => Output::stdout(),
        }?;
        Ok(Output { packer: compression.map(Packer::new), ..output })
    }

    fn file(path: &Path, temporary: &Path) -> Result<Output, Error> {
        let failed = || Error::file("write", path);
        let Some(old) = find(path).map_err(failed())? else {
            let target = resolve(path).map_err(failed())?;
            let draft = Draft::new(folder_of(&target), USUAL).map_err(failed())?;
            return Ok(Output::of(Place::Named(draft, target), path));
        };
        if !old.is_file() {
            let file = OpenOptions::new().write(true).open(path).map_err(failed())?;
            return Ok(Output::of(Place::Direct(file), path));
        }
        access(path, Access::WRITE_OK).map_err(io::Error::from).map_err(failed())?;
        if may_be_replaced(path, &old)
            && let Ok((draft, target)) = replacement(path)
        {
            return Ok(Output::of(Place::Named(draft, target), path));
        }
        let old = OpenOptions::new().write(true).open(path).map_err(failed())?;
        let draft = resolve(path)
            .and_then(|target| Draft::new(folder_of(&target), PRIVATE))
            .or_else(|_| Draft::new(temporary, PRIVATE))
            .map_err(Error::file("create a temporary file in", temporary))?;
        let writing = ("write a temporary file in", draft.folder().to_owned());
        Ok(Output { writing, name: path.to_owned(), place: Place::Copied(draft, old), packer: None })
    }

    fn of(place: Place, name: &Path) -> Output {
        Output { writing: ("write", name.to_owned()), name: name.to_owned(), place, packer: None }
    }

    /// Writes `text`, compressed if that was asked for. Compressing a large `text` needs a thread pool.
    pub fn write(&mut self, text: &[u8]) -> Result<(), Error> {
        let mut write = |bytes: &[u8]| self.place.write(bytes, &self.writing);
        match &mut self.packer {
            Some(packer) => packer.put(text, &mut write),
            None => write(text),
        }
    }

    /// Moves the complete result to its final place.
    pub fn finish(mut self) -> Result<(), Error> {
        if let Some(packer) = self.packer.take() {
            packer.finish(&mut |bytes| self.place.write(bytes, &self.writing))?;
        }
        match self.place {
            Place::Direct(_) => Ok(()),
            Place::Named(draft, target) => draft.rename(&target, &self.name),
            Place::Copied(draft, old) => draft.copy(old, &self.name),
        }
    }
}

impl Place {
    fn write(&mut self, bytes: &[u8], (doing, path): &(&'static str, PathBuf)) -> Result<(), Error> {
        let file = match self {
            Place::Direct(file) => file,
            Place::Named(draft, _) | Place::Copied(draft, _) => draft.file(),
        };
        file.write_all(bytes).map_err(Error::file(doing, path))
    }
}

/// The metadata of `path`, or `None` if it does not exist.
fn find(path: &Path) -> io::Result<Option<Metadata>> {
    match path.metadata() {
        Ok(old) => Ok(Some(old)),
        // A name that ends in a slash means a folder, so it cannot be created as a file.
        Err(_) if path.as_os_str().as_encoded_bytes().ends_with(b"/") => Err(Errno::ISDIR.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.as_os_str().is_empty() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a new file may replace this one under its name. It may not if the path stands for an open file, since the
/// path would lose that meaning, or if the file has several names, since the others would keep the old content.
fn may_be_replaced(path: &Path, old: &Metadata) -> bool {
    let stands_for_another =
        ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"].iter().any(|name| path.starts_with(name));
    old.nlink() == 1 && !stands_for_another
}

/// A draft with the attributes of the file at `path`, and the resolved path of that file.
fn replacement(path: &Path) -> io::Result<(Draft, PathBuf)> {
    let target = resolve(path)?;
    let old = File::open(&target)?;
    let mut draft = Draft::new(folder_of(&target), PRIVATE)?;
    attributes::take_over(draft.file(), &old)?;
    Ok((draft, target))
}

/// Whether results for these paths would replace the same file.
pub(crate) fn are_same(a: &Path, b: &Path) -> bool {
    matches!((resolve(a), resolve(b)), (Ok(a), Ok(b)) if a == b)
}

/// Follows symbolic links from `path` to a file, or to a name at which a file can be created.
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

fn folder_of(target: &Path) -> &Path {
    target.parent().unwrap_or(Path::new("/"))
}
