//! Files of genomics: alignments (SAM, BAM), variants (VCF) and features (BED, GFF, GTF), in the orders that their tools expect.
//! Records keep their bytes. Needs the feature `genomics`.

#[cfg(feature = "genomics")]
mod bam;
#[cfg(feature = "genomics")]
mod contigs;
#[cfg(feature = "genomics")]
mod genome;
#[cfg(feature = "genomics")]
mod header;
#[cfg(feature = "genomics")]
mod name;
#[cfg(feature = "genomics")]
mod text;

#[cfg(all(test, feature = "genomics"))]
mod tests;

#[cfg(feature = "genomics")]
pub use contigs::Contigs;
#[cfg(feature = "genomics")]
pub use genome::Genome;

/// A format of files of genomics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GenomeFormat {
    /// Alignments as text.
    Sam,
    /// Alignments in binary.
    Bam,
    /// Variants.
    Vcf,
    /// Features: contig, start and end, from 0.
    Bed,
    /// Features of GFF and GTF: contig, start and end in the columns 1, 4 and 5, from 1.
    Gff,
}

/// What files of genomics are sorted by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GenomeOrder {
    /// Contig and position. Equal positions: alignments by their strand, forward first, then in the order of the input, as
    /// `samtools sort` has them; variants by their alleles as bytes, as `bcftools sort` has them from 1.21; features of BED by their
    /// end; features of GFF so that longer ones, which hold the others, come first. Alignments without a contig come last.
    #[default]
    Coordinate,
    /// Alignments by their names, in which numbers compare by value. Names that differ in leading zeros alone compare by their bytes, so
    /// mates always follow each other. Of one name, the first read comes first, and the primary alignment of each.
    Name,
    /// The same by the bytes of names.
    NameBytes,
}
