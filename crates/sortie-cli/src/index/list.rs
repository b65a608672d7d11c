//! Reads the list of inputs for `--files-from`.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use sortie_index::Error;

use crate::failure::Failure;

/// The maximum length of a path on Linux. A list that ends names with NUL has one within its first `LONGEST`
/// bytes.
const LONGEST: usize = 4096;

/// The names listed in a file, or on standard input if `path` is `-`.
pub fn names(path: &Path) -> Result<impl Iterator<Item = Result<PathBuf, Error>> + Send, Failure> {
    if path == Path::new("-") {
        return names_in(Box::new(io::stdin()), "standard input".into());
    }
    let file = File::open(path).map_err(Failure::file("read", path))?;
    names_in(Box::new(file), path.into())
}

/// The names listed in `file`. They end with NUL if there is one within the length of the longest name, else each
/// name is a line.
fn names_in(mut file: Box<dyn Read + Send>, path: PathBuf) -> Result<Names, Failure> {
    let mut head = Vec::new();
    let read = file.by_ref().take(LONGEST as u64 + 1).read_to_end(&mut head);
    read.map_err(Failure::file("read", &path))?;
    let terminator = if head.contains(&0) { 0 } else { b'\n' };
    Ok(Names { reader: BufReader::new(Box::new(io::Cursor::new(head).chain(file))), path, terminator })
}

struct Names {
    reader: BufReader<Box<dyn Read + Send>>,
    path: PathBuf,
    terminator: u8,
}

impl Names {
    fn read(&mut self) -> io::Result<Option<PathBuf>> {
        let mut name = Vec::new();
        // Skips empty lines.
        while name.is_empty() {
            let read =
                self.reader.by_ref().take(LONGEST as u64 + 1).read_until(self.terminator, &mut name)?;
            if read == 0 {
                return Ok(None);
            }
            if name.last() == Some(&self.terminator) {
                name.pop();
            } else if read > LONGEST {
                return Err(io::Error::other(format!("a name of more than {LONGEST} bytes")));
            }
        }
        Ok(Some(OsString::from_vec(name).into()))
    }
}

impl Iterator for Names {
    type Item = Result<PathBuf, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let name = self.read().transpose()?;
        Some(name.map_err(|source| Error::File { doing: "read", path: self.path.clone(), source }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(text: &str) -> Vec<String> {
        let names = names_in(Box::new(io::Cursor::new(text.to_owned())), "list".into()).ok().unwrap();
        names.map(|name| name.unwrap().to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn names_are_lines_or_end_with_nul() {
        assert_eq!(listed("a\n\nb c\nlast"), ["a", "b c", "last"]);
        assert_eq!(listed("a\nb\0c\0"), ["a\nb", "c"]);
        assert_eq!(listed(""), [""; 0]);
        let long = "x".repeat(LONGEST);
        assert_eq!(listed(&format!("{long}\0a\n\0")), [&long, "a\n"]);
    }

    #[test]
    fn what_is_no_list_is_told() {
        let long = "x".repeat(LONGEST + 1);
        let mut names = names_in(Box::new(io::Cursor::new(long)), "list".into()).ok().unwrap();
        assert!(names.next().unwrap().is_err());
    }
}
