//! Folders and files that only this user can have written. Code loaded from any other place could be from anybody.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Makes a folder that only this user can access. If it exists, checks that it can be trusted.
///
/// # Errors
/// If it cannot be made or opened; [`io::ErrorKind::PermissionDenied`] if it belongs to another user, or others can
/// write to it.
pub fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)?;
    check(&File::open(path)?)
}

/// The content of a file in a folder.
///
/// Both are opened first and checked afterwards, and the file is opened relative to the folder that is checked. So
/// renaming folders on the path meanwhile does not matter.
///
/// # Errors
/// If it cannot be read; [`io::ErrorKind::PermissionDenied`] if either belongs to another user, or others can write to
/// it.
#[cfg(unix)]
pub fn read(folder: &Path, name: &str) -> io::Result<Vec<u8>> {
    use rustix::fs::{Mode, OFlags, openat};

    let folder = File::open(folder)?;
    check(&folder)?;
    // Does not follow a link, and does not block on a pipe or device.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut file = File::from(openat(&folder, name, flags, Mode::empty())?);
    check(&file)?;
    let mut content = Vec::new();
    file.read_to_end(&mut content)?;
    Ok(content)
}

/// On other systems, users cannot write to each other's folders.
#[cfg(not(unix))]
pub fn read(folder: &Path, name: &str) -> io::Result<Vec<u8>> {
    std::fs::read(folder.join(name))
}

/// Checks that an open file or folder belongs to this user, and that no others can write to it.
#[cfg(unix)]
fn check(opened: &File) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;

    let about = opened.metadata()?;
    if about.uid() == rustix::process::geteuid().as_raw() && about.mode() & 0o022 == 0 {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, "another user owns it, or others can write to it"))
}

#[cfg(not(unix))]
fn check(_: &File) -> io::Result<()> {
    Ok(())
}
