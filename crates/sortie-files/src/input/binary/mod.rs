//! Files that are not text. Sorting their bytes as lines would destroy them, so `sortie sort` refuses them and names the
//! command that does what the user wants. `--text` sorts their bytes all the same.
//!
//! A format is recognised by its whole signature: fields that must fit each other, beyond the few characters with which a
//! text may begin too. The text that begins with these characters is sorted.

mod signatures;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::{Error, quote};

/// The number of bytes at the beginning of a file that suffice to recognise each format.
pub const HEAD: usize = 512;

/// What can be seen of an input.
pub struct Content<'a> {
    /// The first [`HEAD`] bytes, or all if there are fewer. Decompressed if the input is compressed.
    pub head: &'a [u8],
    /// The file, if all of it can be read at any position, and it is not compressed.
    pub file: Option<&'a File>,
    /// Whether the input is compressed in the blocks of BGZF.
    pub is_bgzf: bool,
}

/// A format that is not text.
struct Format {
    /// The format with its article.
    name: &'static str,
    /// What sorts or decompresses such a file. `{}` stands for its name.
    instead: &'static str,
    is: fn(&Content<'_>) -> bool,
}

static FORMATS: [Format; 22] = [
    Format { name: "a BAM file", instead: "sortie sort --format bam {}", is: signatures::bam },
    Format { name: "a BCF file", instead: "bcftools sort {}", is: signatures::bcf },
    Format { name: "a CRAM file", instead: "samtools sort {}", is: signatures::cram },
    Format { name: "a .npy array", instead: "sortie sort {}, one array at a time", is: signatures::npy },
    Format {
        name: "a .npz archive of arrays",
        instead: "unzip {}, then sortie sort each .npy file",
        is: signatures::npz,
    },
    Format { name: "a zip archive", instead: "unzip -p {} | sortie sort", is: signatures::zip },
    Format { name: "a Parquet file", instead: BY_COLUMN, is: signatures::parquet },
    Format { name: "an Arrow IPC file", instead: BY_COLUMN, is: signatures::arrow_file },
    Format { name: "an Arrow IPC stream", instead: "sortie.sort_by in Python", is: signatures::arrow_stream },
    Format { name: "a Feather file", instead: "sortie.sort_by in Python", is: signatures::feather },
    Format { name: "an ORC file", instead: "sortie.sort_by in Python", is: signatures::orc },
    Format { name: "an Avro file", instead: "sortie.sort_by in Python", is: signatures::avro },
    Format { name: "an HDF5 file", instead: "sortie.sort in Python", is: signatures::hdf5 },
    Format {
        name: "an SQLite database",
        instead: "sqlite3 {} 'SELECT ... ORDER BY ...'",
        is: signatures::sqlite,
    },
    Format { name: "a tar archive", instead: "tar -xOf {} | sortie sort", is: signatures::tar },
    Format { name: "a 7z archive", instead: "7z x -so {} | sortie sort", is: signatures::seven_zip },
    Format { name: "compressed with lzma", instead: "xz -dc {} | sortie sort", is: signatures::lzma },
    Format { name: "compressed with lzip", instead: "lzip -dc {} | sortie sort", is: signatures::lzip },
    Format { name: "compressed with lzop", instead: "lzop -dc {} | sortie sort", is: signatures::lzop },
    Format { name: "compressed with snappy", instead: "snzip -dc {} | sortie sort", is: signatures::snappy },
    Format {
        name: "compressed with the old format of lz4",
        instead: "lz4 -dc {} | sortie sort",
        is: signatures::old_lz4,
    },
    Format {
        name: "compressed with compress",
        instead: "gzip -dc {} | sortie sort",
        is: signatures::compress,
    },
];

/// Sorts files that are read from their end.
const BY_COLUMN: &str = "sortie sort --by COLUMN {}";

/// Fails if the content is not text. `input` is the name for messages.
pub fn refuse(content: &Content<'_>, input: &Path) -> Result<(), Error> {
    let Some(Format { name, instead, .. }) = FORMATS.iter().find(|format| (format.is)(content)) else {
        return Ok(());
    };
    let file = quote::name(input);
    let from_pipe = content.file.is_none() && *instead == BY_COLUMN;
    let instead = match from_pipe {
        true => instead.replace("{}", "FILE, with FILE on disk and not compressed"),
        false => instead.replace("{}", if input == Path::new("-") { "FILE" } else { &file }),
    };
    Err(Error::NotText { path: input.to_owned(), is: name, instead })
}

impl Content<'_> {
    /// The last `count` bytes of the file.
    fn tail(&self, count: u64) -> Option<Vec<u8>> {
        let from = self.size()?.checked_sub(count)?;
        self.at(from, count as usize)
    }

    fn size(&self) -> Option<u64> {
        self.file?.metadata().ok().map(|meta| meta.len())
    }

    /// The `count` bytes of the file at this position.
    fn at(&self, position: u64, count: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; count];
        self.file?.read_exact_at(&mut bytes, position).ok()?;
        Some(bytes)
    }
}
