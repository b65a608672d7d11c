//! What sorts files of genomics.

use std::sync::{Mutex, MutexGuard, OnceLock};

use super::contigs::Ranks;
use super::header::Header;
use super::{Contigs, GenomeFormat, GenomeOrder, bam, header, text};
use crate::Error;
use crate::formats::{Bgzf, Layout};
use crate::memory::append;

impl GenomeFormat {
    pub(super) fn is_alignments(self) -> bool {
        matches!(self, GenomeFormat::Sam | GenomeFormat::Bam)
    }
}

/// A file of genomics, and what it is sorted by. Each value is for one sort, because the first input decides the order of contigs.
///
/// O(bytes) to find keys, on all threads. Besides the records, memory is that of their keys: some 10 bytes for a position, and for a name
/// twice its length.
///
/// ```
/// use sortie_files::Input;
/// use sortie_files::formats::{Choices, sort_layout};
/// use sortie_files::formats::genomics::{Contigs, Genome, GenomeFormat, GenomeOrder};
///
/// # let folder = tempfile::tempdir()?;
/// # let [peaks, sorted] = ["peaks.bed", "sorted.bed"].map(|name| folder.path().join(name));
/// std::fs::write(&peaks, "track name=peaks\nchr10\t5\t9\nchr2\t100\t200\nchr2\t20\t30\n")?;
/// let genome = Genome::new(GenomeFormat::Bed, GenomeOrder::Coordinate, Some(Contigs::Natural))?;
/// sort_layout(&genome, vec![Input::named(&peaks)], Some(&sorted), &Choices::default())?;
/// assert_eq!(std::fs::read_to_string(&sorted)?, "track name=peaks\nchr2\t20\t30\nchr2\t100\t200\nchr10\t5\t9\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Genome {
    format: GenomeFormat,
    order: GenomeOrder,
    contigs: Option<Contigs>,
    /// The line of the header of alignments that says who has written it, if there is to be one.
    program: Option<String>,
    opened: OnceLock<Opened>,
}

/// What the inputs have shown.
struct Opened {
    /// The header of the first, with the lines that others have added.
    header: Mutex<Header>,
    ranks: Ranks,
    /// The number of columns of variants.
    columns: usize,
}

impl Opened {
    fn header(&self) -> MutexGuard<'_, Header> {
        self.header.lock().expect("nothing panics while it is locked")
    }
}

impl Genome {
    /// A file sorted by `order`, with contigs in an order: by default that of the header of alignments and variants, and by bytes for
    /// features.
    ///
    /// # Errors
    /// If the format does not have such an order.
    pub fn new(format: GenomeFormat, order: GenomeOrder, contigs: Option<Contigs>) -> Result<Genome, Error> {
        if !format.is_alignments() && order != GenomeOrder::Coordinate {
            return Err(Error::invalid("only alignments (SAM and BAM) are sorted by name"));
        }
        if format.is_alignments() && contigs.is_some() {
            return Err(Error::invalid(
                "the header of alignments gives the order of their contigs, which cannot be changed",
            ));
        }
        Ok(Genome { format, order, contigs, program: None, opened: OnceLock::new() })
    }

    /// Adds a line `@PG` to the header of alignments, which names Sortie, its version and this command.
    pub fn with_program(mut self, command: String) -> Genome {
        self.program = Some(command);
        self
    }

    fn opened(&self) -> &Opened {
        self.opened.get().expect("the header comes before records")
    }

    /// Learns from the header of the first input, and compares those of others with it.
    fn open(&self, bytes: &[u8]) -> Result<(), String> {
        let header = Header::read(self.format, bytes)?;
        if let Some(opened) = self.opened.get() {
            return header.compare(&opened.header());
        }
        let ranks = match &self.contigs {
            // Features have no header that lists them.
            None => Ranks::of_header(&header.contigs),
            Some(contigs) => Ranks::of(contigs),
        };
        let columns = header.columns;
        self.opened.get_or_init(|| Opened { header: Mutex::new(header), ranks, columns });
        Ok(())
    }
}

impl Layout for Genome {
    fn first(&self, bytes: &[u8]) -> Result<Option<usize>, String> {
        match self.format {
            GenomeFormat::Bam => bam::first(bytes),
            _ => Ok(memchr::memchr(b'\n', bytes).map(|end| end + 1)),
        }
    }

    fn key(&self, record: &[u8], key: &mut Vec<u8>) -> Result<(), String> {
        let ranks = &self.opened().ranks;
        match self.format {
            GenomeFormat::Bam => bam::Record::of(record, ranks.count())?.key(self.order, key),
            GenomeFormat::Sam => text::alignment(record, self.order, ranks, key)?,
            GenomeFormat::Vcf => text::variant(record, self.opened().columns, ranks, key)?,
            GenomeFormat::Bed => text::interval(record, ranks, key)?,
            GenomeFormat::Gff => text::feature(record, ranks, key)?,
        }
        Ok(())
    }

    fn ending(&self) -> Option<&'static [u8]> {
        (self.format != GenomeFormat::Bam).then_some(b"\n")
    }

    fn bgzf(&self) -> Bgzf {
        if self.format == GenomeFormat::Bam { Bgzf::Always } else { Bgzf::Named }
    }

    fn header(&self, bytes: &[u8], is_all: bool) -> Result<Option<usize>, String> {
        let end = match self.format {
            GenomeFormat::Bam => bam::header_end(bytes, is_all)?,
            format => text::header_end(format, bytes, is_all),
        };
        // An empty file has no features or alignments, but variants need a line of columns.
        if let Some(end) = end.filter(|_| !bytes.is_empty() || self.format == GenomeFormat::Vcf) {
            self.open(&bytes[..end])?;
        }
        Ok(end)
    }

    fn write_header(&self, header: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let of_alignments = |text: &[u8]| header::of_alignments(text, self.order, self.program.as_deref());
        match self.format {
            _ if header.is_empty() && self.opened.get().is_none() => Ok(()),
            GenomeFormat::Bam => bam::write_header(header, of_alignments, out),
            GenomeFormat::Sam => append(out, &of_alignments(header)),
            _ => append(out, header),
        }
    }

    fn kept_of_header(&self, header: &[u8]) -> Vec<u8> {
        self.opened().header().add(self.format, header)
    }

    fn unfinished(&self) -> &'static str {
        "the last record is cut short; the file is not whole"
    }
}
