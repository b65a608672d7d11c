//! Sets of strings, also written as lines of files.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use rand::Rng as _;
use rand::seq::SliceRandom as _;
use rand_distr::{Distribution as _, Zipf};

use super::Rng;
use crate::Result;

/// Real words, from Debian's package `wamerican-insane`.
const REAL_WORDS: &str = "/usr/share/dict/american-english-insane";

/// Documents of real text, one JSON object per line, in a folder beside the repository or in `$SORTIE_DATA`.
const TEXT: &str = "text/rfcs.jsonl.gz";

/// What strings of several scripts are made of, and how often: the index of an alphabet for each of twenty choices.
const ALPHABETS: [&str; 7] = [
    "abcdefghijklmnopqrstuvwxyz",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿßœšž",
    " -'.,0123456789",
    "абвгдежзийклмнопрстуфхцчшщъыьэюя",
    "αβγδεζηθικλμνξοπρστυφχψω",
    "あいうえおかきくけこ漢字日本語文書東京大阪",
];
const ALPHABET_OF_20: [usize; 20] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 4, 5, 6];

const AMINO_ACIDS: &[u8; 20] = b"ACDEFGHIKLMNPQRSTVWY";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StringSet {
    /// 8 to 20 uniform lowercase letters.
    Words,
    /// 100 uniform letters from ACGT.
    Dna,
    /// 51 uniform letters from ACGT.
    ShortDna,
    /// 40 to 80 bytes: one of 1000 hosts, one of 100 paths, then letters.
    Urls,
    /// This number of uniform lowercase letters.
    Letters(usize),
    /// 1 to 120 uniform letters from those of the amino acids.
    Proteins,
    /// 1 to 500 uniform lowercase letters.
    Lines,
    /// Words of two to four syllables. There are few syllables, so many words have common prefixes.
    Dictionary,
    /// The words of real documents, one after the other.
    Text,
    /// The lines of real documents, each from one of its words on.
    LinesOfText,
    /// 4 to 30 characters of a few alphabets: mostly Latin, also with accents, Cyrillic, Greek, Japanese, digits and punctuation.
    Scripts,
    /// `/`, then 3 to 8 file names. Each folder has few different names.
    Paths,
    /// The letter a, repeated 0 to 399 times.
    Repeated,
    /// The first 0 to 500 bytes of one text.
    Nested,
    /// 16 values of 200 letters, which differ in the last 8.
    FewLong,
    /// One word of 20 letters.
    Equal,
    /// English words in a random order: the k-th has a probability proportional to 1/k.
    RealWords,
}

/// Strings, stored one after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Strings {
    pub bytes: Vec<u8>,
    /// The end of each string.
    ends: Vec<usize>,
}

impl Strings {
    /// References to the strings, in order.
    pub fn refs(&self) -> Vec<&[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.bytes[start..end]).collect()
    }

    /// Copies the strings.
    pub fn of(strings: &[&[u8]]) -> Strings {
        let mut copies = Strings::default();
        for string in strings {
            copies.bytes.extend_from_slice(string);
            copies.end();
        }
        copies
    }

    /// All bytes, and the start of each string followed by the end of the last one.
    pub fn into_parts(self) -> (Vec<u8>, Vec<u64>) {
        let ends = self.ends.iter().map(|&end| end as u64);
        (self.bytes, std::iter::once(0).chain(ends).collect())
    }

    /// Ends the string that was being written.
    fn end(&mut self) {
        self.ends.push(self.bytes.len());
    }
}

impl StringSet {
    pub fn name(self) -> &'static str {
        match self {
            StringSet::Words => "words",
            StringSet::Dna => "DNA reads",
            StringSet::ShortDna => "DNA reads of 51",
            StringSet::Urls => "URLs",
            StringSet::RealWords => "real words",
            StringSet::Proteins => "proteins",
            StringSet::Lines => "lines",
            StringSet::Dictionary => "dictionary",
            StringSet::Text => "words of text",
            StringSet::LinesOfText => "lines of text",
            StringSet::Scripts => "scripts",
            StringSet::Paths => "paths",
            StringSet::Repeated => "a x 0..399",
            StringSet::Nested => "nested prefixes",
            StringSet::FewLong => "16 long values",
            StringSet::Equal => "equal",
            StringSet::Letters(length) => match length {
                8 => "8 letters",
                16 => "16 letters",
                32 => "32 letters",
                64 => "64 letters",
                128 => "128 letters",
                256 => "256 letters",
                512 => "512 letters",
                1024 => "1024 letters",
                _ => "letters",
            },
        }
    }

    /// The length of the strings, if all have the same.
    pub fn length(self) -> Option<usize> {
        match self {
            StringSet::Dna => Some(100),
            StringSet::ShortDna => Some(51),
            StringSet::Letters(length) => Some(length),
            _ => None,
        }
    }

    /// Whether this machine has the data from which the set is made.
    pub fn available(self) -> bool {
        match self {
            StringSet::RealWords => Path::new(REAL_WORDS).exists(),
            StringSet::Text | StringSet::LinesOfText => text_path().exists(),
            _ => true,
        }
    }

    pub fn draw(self, n: usize, rng: &mut Rng) -> Result<Strings> {
        let mut strings = Strings::default();
        strings.ends.reserve(n);
        match self {
            StringSet::Words => {
                for _ in 0..n {
                    letters(between(8, 20, rng), &mut strings.bytes, rng);
                    strings.end();
                }
            }
            StringSet::Letters(length) => {
                strings.bytes.reserve(length * n);
                for _ in 0..n {
                    letters(length, &mut strings.bytes, rng);
                    strings.end();
                }
            }
            StringSet::Dna | StringSet::ShortDna => {
                let length = self.length().expect("all have the same");
                strings.bytes.reserve(length * n);
                for _ in 0..n {
                    dna(length, &mut strings.bytes, rng);
                    strings.end();
                }
            }
            StringSet::Urls => {
                let hosts: Vec<_> = (0..1000).map(|_| framed("https://", 8, 12, ".com", rng)).collect();
                let paths: Vec<_> = (0..100).map(|_| framed("/", 4, 10, "/", rng)).collect();
                for _ in 0..n {
                    let length = between(40, 80, rng);
                    let prefix = [&hosts[between(0, 999, rng)][..], &paths[between(0, 99, rng)]].concat();
                    strings.bytes.extend_from_slice(&prefix);
                    letters(length - prefix.len(), &mut strings.bytes, rng);
                    strings.end();
                }
            }
            StringSet::Proteins => {
                for _ in 0..n {
                    let letters = (0..between(1, 120, rng)).map(|_| AMINO_ACIDS[between(0, 19, rng)]);
                    strings.bytes.extend(letters);
                    strings.end();
                }
            }
            StringSet::Lines => {
                for _ in 0..n {
                    letters(between(1, 500, rng), &mut strings.bytes, rng);
                    strings.end();
                }
            }
            StringSet::Dictionary => {
                for _ in 0..n {
                    (0..between(2, 4, rng)).for_each(|_| syllable(&mut strings.bytes, rng));
                    strings.end();
                }
            }
            StringSet::Text => {
                let texts = texts()?;
                let words: Vec<_> = texts.iter().flat_map(|text| text.split_whitespace()).collect();
                for _ in 0..n {
                    strings.bytes.extend_from_slice(words[between(0, words.len() - 1, rng)].as_bytes());
                    strings.end();
                }
            }
            StringSet::LinesOfText => {
                let texts = texts()?;
                let lines = texts.iter().flat_map(|text| text.lines());
                let lines: Vec<_> = lines.filter(|line| !line.trim().is_empty()).collect();
                for _ in 0..n {
                    let line = lines[between(0, lines.len() - 1, rng)];
                    let starts: Vec<_> = line.match_indices(' ').map(|(space, _)| space + 1).collect();
                    let chosen = between(0, starts.len(), rng);
                    let start = if chosen == 0 { 0 } else { starts[chosen - 1] };
                    strings.bytes.extend_from_slice(&line.as_bytes()[start..]);
                    strings.end();
                }
            }
            StringSet::Scripts => {
                let alphabets: Vec<Vec<char>> =
                    ALPHABETS.iter().map(|alphabet| alphabet.chars().collect()).collect();
                for _ in 0..n {
                    let some: Vec<_> = (0..between(3, 8, rng))
                        .map(|_| &alphabets[ALPHABET_OF_20[between(0, 19, rng)]])
                        .collect();
                    for _ in 0..between(4, 30, rng) {
                        let alphabet = some[between(0, some.len() - 1, rng)];
                        let letter = alphabet[between(0, alphabet.len() - 1, rng)];
                        strings.bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                    strings.end();
                }
            }
            StringSet::Paths => {
                for _ in 0..n {
                    for _ in 0..between(3, 8, rng) {
                        strings.bytes.push(b'/');
                        syllable(&mut strings.bytes, rng);
                        strings
                            .bytes
                            .extend_from_slice([&b""[..], b"lib", b"-dev", b".rs"][between(0, 3, rng)]);
                    }
                    strings.end();
                }
            }
            StringSet::Repeated => {
                for _ in 0..n {
                    let length = strings.bytes.len() + between(0, 399, rng);
                    strings.bytes.resize(length, b'a');
                    strings.end();
                }
            }
            StringSet::Nested => {
                let whole = framed("", 500, 500, "", rng);
                for _ in 0..n {
                    strings.bytes.extend_from_slice(&whole[..between(0, 500, rng)]);
                    strings.end();
                }
            }
            StringSet::FewLong => {
                let prefix = framed("", 192, 192, "", rng);
                let values: Vec<_> =
                    (0..16).map(|_| [&prefix[..], &framed("", 8, 8, "", rng)].concat()).collect();
                for _ in 0..n {
                    strings.bytes.extend_from_slice(&values[between(0, 15, rng)]);
                    strings.end();
                }
            }
            StringSet::Equal => {
                let word = framed("", 20, 20, "", rng);
                for _ in 0..n {
                    strings.bytes.extend_from_slice(&word);
                    strings.end();
                }
            }
            StringSet::RealWords => {
                let text = std::fs::read(REAL_WORDS).map_err(|e| format!("cannot read {REAL_WORDS}: {e}"))?;
                let mut words: Vec<_> = text.split(|&b| b == b'\n').filter(|word| !word.is_empty()).collect();
                words.shuffle(rng);
                let ranks = Zipf::new(words.len() as f64, 1.0)?;
                for _ in 0..n {
                    strings.bytes.extend_from_slice(words[ranks.sample(rng) as usize - 1]);
                    strings.end();
                }
            }
        }
        Ok(strings)
    }
}

/// A random integer in low..=high.
fn between(low: usize, high: usize, rng: &mut Rng) -> usize {
    low + ((u128::from(rng.next_u64()) * (high - low + 1) as u128) >> 64) as usize
}

/// Lowercase letters. Each random number gives ten: the first digits of a fraction in base 26.
fn letters(count: usize, bytes: &mut Vec<u8>, rng: &mut Rng) {
    let mut left = count;
    while left > 0 {
        let mut fraction = rng.next_u64();
        for _ in 0..left.min(10) {
            let product = u128::from(fraction) * 26;
            bytes.push(b'a' + (product >> 64) as u8);
            fraction = product as u64;
        }
        left = left.saturating_sub(10);
    }
}

/// A consonant, a vowel and perhaps another consonant.
fn syllable(bytes: &mut Vec<u8>, rng: &mut Rng) {
    bytes.push(b"bdfgklmnprstvw"[between(0, 13, rng)]);
    bytes.push(b"aeiou"[between(0, 4, rng)]);
    if between(0, 1, rng) == 1 {
        bytes.push(b"lnrst"[between(0, 4, rng)]);
    }
}

fn text_path() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    std::env::var_os("SORTIE_DATA").map_or_else(beside, PathBuf::from).join(TEXT)
}

/// The texts of all documents, in their order.
fn texts() -> Result<Vec<String>> {
    #[derive(serde::Deserialize)]
    struct Document {
        text: String,
    }
    let path = text_path();
    let cannot = |e: &dyn std::fmt::Display| format!("cannot read {}: {e}", path.display());
    let file = std::fs::File::open(&path).map_err(|e| cannot(&e))?;
    let mut lines = String::new();
    flate2::read::MultiGzDecoder::new(file).read_to_string(&mut lines).map_err(|e| cannot(&e))?;
    let read = |line: &str| serde_json::from_str(line).map(|document: Document| document.text);
    lines.lines().map(|line| Ok(read(line).map_err(|e| cannot(&e))?)).collect()
}

/// Letters from ACGT. Each random number gives 32.
fn dna(count: usize, bytes: &mut Vec<u8>, rng: &mut Rng) {
    let mut left = count;
    while left > 0 {
        let random = rng.next_u64();
        let here = left.min(32);
        bytes.extend((0..here).map(|i| b"ACGT"[(random >> (2 * i)) as usize & 3]));
        left -= here;
    }
}

/// `low` to `high` letters between two given texts.
fn framed(before: &str, low: usize, high: usize, after: &str, rng: &mut Rng) -> Vec<u8> {
    let mut bytes = before.as_bytes().to_vec();
    letters(between(low, high, rng), &mut bytes, rng);
    bytes.extend_from_slice(after.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use rand::SeedableRng;

    use super::*;

    const N: usize = 50_000;

    fn draw(set: StringSet) -> Strings {
        set.draw(N, &mut Rng::seed_from_u64(5)).unwrap()
    }

    #[test]
    fn a_seed_means_one_set() {
        for set in [StringSet::Words, StringSet::Dna, StringSet::Urls, StringSet::Paths] {
            let strings = draw(set);
            assert_eq!(strings, draw(set));
            assert_eq!(strings.refs().len(), N);
            assert_eq!(strings.refs().concat(), strings.bytes);
        }
    }

    #[test]
    fn words_have_8_to_20_uniform_letters() {
        let strings = draw(StringSet::Words);
        let lengths: HashSet<_> = strings.refs().iter().map(|word| word.len()).collect();
        assert_eq!(lengths, (8..=20).collect());
        let mut counts = [0f64; 26];
        strings.bytes.iter().for_each(|b| counts[usize::from(b - b'a')] += 1.0);
        let expected = strings.bytes.len() as f64 / 26.0;
        assert!(counts.iter().all(|count| (count / expected - 1.0).abs() < 0.05), "{counts:?}");
    }

    #[test]
    fn strings_that_share_much_are_as_described() {
        let lengths = |set| draw(set).refs().iter().map(|string| string.len()).collect::<HashSet<_>>();
        assert_eq!(lengths(StringSet::Repeated), (0..=399).collect());
        assert_eq!(lengths(StringSet::Nested), (0..=500).collect());
        let distinct = |set| draw(set).refs().into_iter().map(<[u8]>::to_vec).collect::<HashSet<_>>().len();
        assert_eq!((distinct(StringSet::FewLong), distinct(StringSet::Equal)), (16, 1));
        let nested = draw(StringSet::Nested);
        let longest = nested.refs().into_iter().max_by_key(|string| string.len()).unwrap();
        assert!(nested.refs().iter().all(|string| longest.starts_with(string)));
        let words = draw(StringSet::Dictionary);
        assert!(words.refs().iter().all(|word| (4..=12).contains(&word.len())));
        assert!(draw(StringSet::Paths).refs().iter().all(|path| path[0] == b'/' && path.len() >= 9));
        assert_eq!(Strings::of(&words.refs()), words);
    }

    #[test]
    fn words_of_text_are_real() {
        if !StringSet::Text.available() {
            println!("skipped: {} was not found", text_path().display());
            return;
        }
        let words = draw(StringSet::Text);
        assert!(words.refs().iter().filter(|word| **word == b"the").count() > N / 100);
        assert!(words.refs().iter().all(|word| !word.is_empty() && !word.contains(&b' ')));
    }

    #[test]
    fn dna_reads_have_100_uniform_letters() {
        let strings = draw(StringSet::Dna);
        assert!(strings.refs().iter().all(|read| read.len() == 100));
        for letter in b"ACGT" {
            let share =
                strings.bytes.iter().filter(|&b| b == letter).count() as f64 / strings.bytes.len() as f64;
            assert!((share - 0.25).abs() < 0.005, "{share}");
        }
    }

    #[test]
    fn urls_share_1000_hosts_and_100_paths() {
        let strings = draw(StringSet::Urls);
        let mut hosts = HashSet::new();
        let mut paths = HashSet::new();
        for url in strings.refs() {
            assert!((40..=80).contains(&url.len()));
            let mut parts = url.split(|&b| b == b'/').skip(2);
            hosts.insert(parts.next().unwrap());
            paths.insert(parts.next().unwrap());
        }
        assert_eq!((hosts.len(), paths.len()), (1000, 100));
    }

    #[test]
    fn real_words_are_drawn_by_zipf() {
        if !StringSet::RealWords.available() {
            println!("skipped: {REAL_WORDS} was not found");
            return;
        }
        let strings = draw(StringSet::RealWords);
        let mut counts: HashMap<&[u8], usize> = HashMap::new();
        strings.refs().into_iter().for_each(|word| *counts.entry(word).or_default() += 1);
        let mut counts: Vec<_> = counts.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        // There are 654,000 words, so the most frequent one has a share of 1 / 13.97.
        let first = counts[0] as f64 / N as f64;
        assert!((0.068..0.076).contains(&first), "{first}");
        assert!((1.8..2.2).contains(&(counts[0] as f64 / counts[1] as f64)));
    }
}
