//! The attributes of a file: owner, mode, access control list and other extended attributes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::{MetadataExt, fchown};

use rustix::buffer::spare_capacity;
use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};
use rustix::io::Errno;

/// The maximum that Linux allows for the list of attribute names and for one value.
const LONGEST: usize = 64 << 10;

/// Gives `new` the owner, mode and attributes of `old`. No other user may be able to open `new` yet. An error means
/// that `new` cannot take the place of `old`.
pub fn take_over(new: &File, old: &File) -> io::Result<()> {
    let (made, kept) = (new.metadata()?, old.metadata()?);
    if (made.uid(), made.gid()) != (kept.uid(), kept.gid()) {
        fchown(new, Some(kept.uid()), Some(kept.gid()))?;
    }
    // The new file may have inherited attributes from its folder, such as a default access control list.
    let (made, wanted) = (attributes(new)?, attributes(old)?);
    for name in made.keys().filter(|name| !wanted.contains_key(*name)) {
        fremovexattr(new, &name[..])?;
    }
    for (name, value) in wanted.iter().filter(|(name, value)| made.get(*name) != Some(value)) {
        fsetxattr(new, &name[..], value, XattrFlags::empty())?;
    }
    new.set_permissions(kept.permissions())
}

/// The extended attributes of a file: name and value.
fn attributes(file: &File) -> io::Result<BTreeMap<Vec<u8>, Vec<u8>>> {
    let mut names = Vec::with_capacity(LONGEST);
    match flistxattr(file, spare_capacity(&mut names)) {
        Ok(_) => (),
        // The file system has no extended attributes.
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
