//! The file of items that are left out because others have their keys.

use std::io::stdout;
use std::path::Path;

use rustix::fs::{FileType, fstat, stat};

use crate::compression::Compression;
use crate::publish::are_same;
use crate::{Error, Output, Task, quote};

/// A file that is replaced once it is complete.
pub struct Duplicates {
    output: Output,
    has_begun: bool,
}

impl Duplicates {
    /// Opens the file `path`, if there is one. `output` is the file of all other items.
    pub fn open(
        path: Option<&Path>,
        output: Option<&Path>,
        task: &Task<'_>,
    ) -> Result<Option<Duplicates>, Error> {
        let Some(path) = path else { return Ok(None) };
        let is_result = output.map_or_else(|| is_standard_output(path), |output| are_same(output, path));
        if is_result {
            return Err(Error::invalid(format!(
                "the result and the duplicates cannot be the same file, {}",
                quote::name(path)
            )));
        }
        let output =
            Output::open(Some(path), task.folder.first(), Compression::of(None, Some(path), false)?)?;
        Ok(Some(Duplicates { output, has_begun: false }))
    }

    /// Adds whole items, and the header before the first of them.
    pub fn put(&mut self, header: impl FnOnce() -> Vec<u8>, items: &[u8]) -> Result<(), Error> {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.output.write(&header())?;
        }
        self.output.write(items)
    }

    pub fn finish(self) -> Result<(), Error> {
        self.output.finish()
    }
}

/// Whether standard output is written to the file at this path.
fn is_standard_output(path: &Path) -> bool {
    let (Ok(here), Ok(there)) = (fstat(stdout()), stat(path)) else { return false };
    FileType::from_raw_mode(here.st_mode).is_file()
        && (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)
}
