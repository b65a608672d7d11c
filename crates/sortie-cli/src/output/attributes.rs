//! What belongs to a file beside its content: owner, mode, access control list and other extended attributes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::{MetadataExt, fchown};

use rustix::buffer::spare_capacity;
use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};
use rustix::io::Errno;

/// Linux allows neither a longer list of names nor a longer value.
const LONGEST: usize = 64 << 10;

/// Makes `new`, which nobody else may open yet, as open to others as `old` is. An error means that it cannot take the
/// place of `old`.
pub fn take_over(new: &File, old: &File) -> io::Result<()> {
    let (made, kept) = (new.metadata()?, old.metadata()?);
    if (made.uid(), made.gid()) != (kept.uid(), kept.gid()) {
        fchown(new, Some(kept.uid()), Some(kept.gid()))?;
    }
    // The new file may have got some from its folder, whose default access control list is one.
    let (made, wanted) = (attributes(new)?, attributes(old)?);
    for name in made.keys().filter(|name| !wanted.contains_key(*name)) {
        fremovexattr(new, &name[..])?;
    }
    for (name, value) in wanted.iter().filter(|(name, value)| made.get(*name) != Some(value)) {
        fsetxattr(new, &name[..], value, XattrFlags::empty())?;
    }
    new.set_permissions(kept.permissions())
}

/// The extended attributes of a file, by their names.
fn attributes(file: &File) -> io::Result<BTreeMap<Vec<u8>, Vec<u8>>> {
    let mut names = Vec::with_capacity(LONGEST);
    match flistxattr(file, spare_capacity(&mut names)) {
        Ok(_) => (),
        // A file system without attributes.
        Err(Errno::OPNOTSUPP) => (),
        Err(error) => return Err(error.into()),
    }
    let value_of = |name: &[u8]| {
        let mut value = Vec::with_capacity(LONGEST);
        fgetxattr(file, name, spare_capacity(&mut value))?;
        Ok((name.to_owned(), value))
    };
    names.split(|&byte| byte == 0).filter(|name| !name.is_empty()).map(value_of).collect()
}
