//! The order of contigs.

use foldhash::HashMap;

use super::name;

/// An order of contigs: chromosomes, scaffolds and the like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contigs {
    /// By the bytes of their names: chr10 before chr2.
    Bytes,
    /// By their names with numbers by value: chr2 before chr10.
    Natural,
    /// In the order of this list. All others follow by their bytes.
    Listed(Vec<Vec<u8>>),
}

impl Contigs {
    /// The contigs of an index of FASTA (`.fai`), of a file with a name and a length in each line, or of a dictionary (`.dict`).
    ///
    /// # Errors
    /// If a name comes twice, or there is none.
    pub fn listed(text: &[u8]) -> Result<Contigs, String> {
        let lines = || text.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let names: Vec<_> = if lines().any(|line| line.starts_with(b"@SQ\t")) {
            lines().filter_map(of_dictionary).map(<[u8]>::to_vec).collect()
        } else {
            let first =
                |line: &[u8]| line.split(|byte| byte.is_ascii_whitespace()).next().map(<[u8]>::to_vec);
            lines().filter_map(first).filter(|name| !name.is_empty()).collect()
        };
        if text.first() == Some(&b'>') {
            return Err("it holds sequences; give the index that samtools faidx makes of it".into());
        }
        match Ranks::listed(&names) {
            _ if names.is_empty() => Err("it names no contigs".into()),
            Err(twice) => Err(format!("it names the contig '{}' twice", String::from_utf8_lossy(&twice))),
            Ok(_) => Ok(Contigs::Listed(names)),
        }
    }
}

/// The name in a line `@SQ` of a header of alignments.
pub fn of_dictionary(line: &[u8]) -> Option<&[u8]> {
    line.strip_prefix(b"@SQ\t")?.split(|&byte| byte == b'\t').find_map(|field| field.strip_prefix(b"SN:"))
}

/// The kinds of keys, in their order.
const COMMENT: u8 = 0;
const LISTED: u8 = 1;
const OTHER: u8 = 2;
const NONE: u8 = 3;

/// Finds the key of a contig.
pub struct Ranks {
    ranks: HashMap<Vec<u8>, u32>,
    /// Whether others follow in natural order.
    is_natural: bool,
}

impl Ranks {
    pub fn of(contigs: &Contigs) -> Ranks {
        let none = |is_natural| Ranks { ranks: HashMap::default(), is_natural };
        match contigs {
            Contigs::Bytes => none(false),
            Contigs::Natural => none(true),
            Contigs::Listed(names) => Ranks::of_header(names),
        }
    }

    /// Those of a header, in which no name comes twice.
    pub fn of_header(names: &[Vec<u8>]) -> Ranks {
        Ranks::listed(names).expect("they were checked")
    }

    /// Or the name that comes twice.
    pub fn listed(names: &[Vec<u8>]) -> Result<Ranks, Vec<u8>> {
        let mut ranks = HashMap::default();
        for (rank, name) in (0..).zip(names) {
            if ranks.insert(name.clone(), rank).is_some() {
                return Err(name.clone());
            }
        }
        Ok(Ranks { ranks, is_natural: false })
    }

    /// The number of contigs that are listed.
    pub fn count(&self) -> usize {
        self.ranks.len()
    }

    /// The rank of a contig that must be listed.
    pub fn rank(&self, contig: &[u8]) -> Result<u32, String> {
        let rank = self.ranks.get(contig).copied();
        rank.ok_or_else(|| format!("the header has no contig '{}'", String::from_utf8_lossy(contig)))
    }

    /// Appends the key of a contig.
    pub fn key(&self, contig: &[u8], key: &mut Vec<u8>) {
        if let Some(&rank) = self.ranks.get(contig) {
            return push_rank(rank, key);
        }
        key.push(OTHER);
        if self.is_natural {
            name::natural(contig, key);
        } else {
            name::bytes(contig, key);
        }
    }
}

/// Appends the key of the contig with this rank in the header.
pub fn push_rank(rank: u32, key: &mut Vec<u8>) {
    key.push(LISTED);
    key.extend(rank.to_be_bytes());
}

/// Appends the key of a record that is on no contig. It comes after all others.
pub fn push_none(key: &mut Vec<u8>) {
    key.push(NONE);
}

/// Appends the key of a line that is no record. It comes before all others.
pub fn push_comment(key: &mut Vec<u8>) {
    key.push(COMMENT);
}
