//! Folders and files that nobody but this user could have written: what is loaded from elsewhere could be anybody's code.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Makes a folder where there is none, for this user alone, or says why one that is there is not to be trusted.
///
/// # Errors
/// If it cannot be made or opened; [`io::ErrorKind::PermissionDenied`] if it is another user's, or others can write to
/// it.
pub fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)?;
    check(&File::open(path)?)
}

/// The content of a file in a folder.
///
/// Both are opened first and looked at then, and the file is opened in the folder that was looked at. So it does not matter
/// who can rename what on the way to it.
///
/// # Errors
/// If it cannot be read; [`io::ErrorKind::PermissionDenied`] if either is another user's, or others can write to it.
#[cfg(unix)]
pub fn read(folder: &Path, name: &str) -> io::Result<Vec<u8>> {
    use rustix::fs::{Mode, OFlags, openat};

    let folder = File::open(folder)?;
    check(&folder)?;
    // No link that leads elsewhere, and nothing that blocks whoever opens it.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut file = File::from(openat(&folder, name, flags, Mode::empty())?);
    check(&file)?;
    let mut content = Vec::new();
    file.read_to_end(&mut content)?;
    Ok(content)
}

/// Elsewhere the system keeps users out of each other's folders.
#[cfg(not(unix))]
pub fn read(folder: &Path, name: &str) -> io::Result<Vec<u8>> {
    std::fs::read(folder.join(name))
}

/// Whether what is open is this user's, and no others can write to it.
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
