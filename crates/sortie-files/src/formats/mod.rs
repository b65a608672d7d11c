//! Formats that a program can sort by this crate alone.
//!
//! | what is sorted | by |
//! |---|---|
//! | lines of text by the keys of GNU sort | [`text::sort_text`] |
//! | the first lines of such a sort alone | [`text::top_text`] |
//! | whole records of FASTA and FASTQ | [`sequences::sort_sequences`] |
//! | lines of text by a function, such as those of a CSV file | [`sort_layout`] with [`Lines`] |
//! | tables: CSV, TSV and JSON lines by their columns | [`sort_layout`] with [`tables::Table`] |
//! | Parquet and Arrow IPC files by their columns, with the feature `parquet` | `columnar::sort_columnar` |
//! | alignments, variants and features: SAM, BAM, VCF, BED, GFF, with the feature `genomics` | [`sort_layout`] with `genomics::Genome` |
//! | binary records after their lengths | [`sort_layout`] with [`Prefixed`] |
//! | items of any length | [`sort_layout`] with a [`Layout`] of the caller |
//! | binary records of one length | [`sort_records`] |
//! | items of one width, in an order of the caller | [`sort_items`](crate::sort_items) with [`Items`](crate::Items) |

mod choices;
pub mod columnar;
mod fixed;
pub mod genomics;
mod layout;
mod lines;
mod prefixed;
pub mod sequences;
pub mod tables;
pub mod text;

#[cfg(test)]
mod tests;

pub use choices::Choices;
pub use fixed::{RecordFeed, Records, sort_records};
pub use layout::{Bgzf, Disorder, Keep, Layout, check_layout, merge_layout, open_layout, sort_layout};
pub use lines::Lines;
pub use prefixed::Prefixed;
