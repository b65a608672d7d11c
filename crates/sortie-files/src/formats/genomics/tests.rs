use std::io::Read;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;
use crate::formats::{Choices, check_layout, merge_layout, sort_layout};
use crate::{Error, Input};

fn sorted(
    format: GenomeFormat,
    order: GenomeOrder,
    contigs: Option<Contigs>,
    texts: &[&[u8]],
) -> Result<Vec<u8>, String> {
    let folder = tempfile::tempdir().unwrap();
    let inputs = texts.iter().enumerate().map(|(number, text)| {
        let path = folder.path().join(format!("in{number}"));
        std::fs::write(&path, text).unwrap();
        Input::named(&path)
    });
    let out = folder.path().join("out");
    let genome = Genome::new(format, order, contigs).map_err(|error| error.to_string())?;
    let shown = |error: Error| error.to_string().replace(&format!("{}/", folder.path().display()), "");
    sort_layout(&genome, inputs.collect(), Some(&out), &Choices::default()).map_err(shown)?;
    Ok(std::fs::read(out).unwrap())
}

fn text(format: GenomeFormat, contigs: Option<Contigs>, texts: &[&str]) -> Result<String, String> {
    let texts: Vec<_> = texts.iter().map(|text| text.as_bytes()).collect();
    sorted(format, GenomeOrder::Coordinate, contigs, &texts).map(|bytes| String::from_utf8(bytes).unwrap())
}

const VCF: &str =
    "##fileformat=VCFv4.2\n##contig=<ID=chr2,length=9>\n##contig=<ID=chr1>\n#CHROM\tPOS\tID\tREF\tALT\n";

#[test]
fn variants_follow_the_contigs_of_the_header_and_then_their_alleles() {
    let records = "chr1\t5\t.\tA\tC\nchr9\t1\t.\tA\tC\nchr2\t10\t.\tA\tG\nchr2\t10\t.\ta\tG\nchr2\t10\t.\tA\tC,G\nchr2\t10\t.\tA\tC\nchr2\t9\tx\tA\t.\n";
    let expected = "chr2\t9\tx\tA\t.\nchr2\t10\t.\tA\tC\nchr2\t10\t.\tA\tC,G\nchr2\t10\t.\tA\tG\nchr2\t10\t.\ta\tG\nchr1\t5\t.\tA\tC\nchr9\t1\t.\tA\tC\n";
    assert_eq!(
        text(GenomeFormat::Vcf, None, &[&format!("{VCF}{records}")]).unwrap(),
        format!("{VCF}{expected}")
    );
    let listed = Contigs::listed(b"chr1\t100\t5\nchr2\t9\t1\n").unwrap();
    let first = text(GenomeFormat::Vcf, Some(listed), &[&format!("{VCF}{records}")]).unwrap();
    assert!(first[VCF.len()..].starts_with("chr1\t5"));
}

#[test]
fn what_variants_must_have_is_told_with_its_line() {
    let wrong = |record: &str| text(GenomeFormat::Vcf, None, &[&format!("{VCF}{record}\n")]).unwrap_err();
    assert_eq!(wrong("chr1\t5x\t.\tA\tC"), "in0:5: the position '5x' is not a number");
    assert_eq!(
        wrong("chr1\t5\t.\tA"),
        "in0:5: there are 4 fields instead of 5 in 'chr1\\t5\\t.\\tA'; the line may be cut short"
    );
    assert!(wrong("chr1\t5\t.\tA\tC\n#CHROM").contains("in0:6: a line of a header comes after variants"));
    assert!(text(GenomeFormat::Vcf, None, &["chr1\t5\n"]).unwrap_err().contains("there is no line #CHROM"));
    let other = VCF.replace("##contig=<ID=chr1>", "##contig=<ID=chr1>\n##INFO=<ID=X>");
    assert!(
        text(GenomeFormat::Vcf, None, &[VCF, &other])
            .unwrap_err()
            .contains("in1: the header of the first input does not have its line '##INFO=<ID=X>'")
    );
}

#[test]
fn lines_that_are_no_features_come_in_front_and_features_by_contig_start_and_end() {
    let bed = "track name=a\n#c\nchr10 7 9\nchr2\t7\t9\tz\n# within\nchr2\t7\t9\ta\nchr2\t7\t8\nchr2\t10\t11\nchr2\t0\t99\n";
    let front = "track name=a\n#c\n# within\n";
    let of_chr2 = "chr2\t0\t99\nchr2\t7\t8\nchr2\t7\t9\tz\nchr2\t7\t9\ta\nchr2\t10\t11\n";
    assert_eq!(text(GenomeFormat::Bed, None, &[bed]).unwrap(), format!("{front}chr10 7 9\n{of_chr2}"));
    assert_eq!(
        text(GenomeFormat::Bed, Some(Contigs::Natural), &[bed]).unwrap(),
        format!("{front}{of_chr2}chr10 7 9\n")
    );
    // A later input's own lines in front follow those of the first; the same line comes once.
    let two = text(GenomeFormat::Bed, None, &["#c\na 1 2\n", "#c\n#d\na 0 2\n"]).unwrap();
    assert_eq!(two, "#c\n#d\na 0 2\na 1 2\n");
}

#[test]
fn parents_come_before_their_children() {
    let line = |kind: &str, start: u32, end: u32, more: &str| {
        format!("c\ts\t{kind}\t{start}\t{end}\t.\t+\t.\t{more}\n")
    };
    let (exon, mrna, gene) = (
        line("exon", 5, 20, "ID=e;Parent=m"),
        line("mRNA", 5, 20, "ID=m;Parent=g"),
        line("gene", 5, 20, "ID=g"),
    );
    let (later, region) = (line("exon", 12, 20, "Parent=m"), line("region", 1, 90, "ID=c"));
    let gff = format!("##gff-version 3\n{later}{exon}{mrna}{gene}{region}");
    let expected = format!("##gff-version 3\n{region}{gene}{mrna}{exon}{later}");
    assert_eq!(text(GenomeFormat::Gff, None, &[&gff]).unwrap(), expected);
    let gtf = |kind| line(kind, 5, 20, "gene_id \"g\"; transcript_id \"t\";");
    let expected = [gtf("gene"), gtf("transcript"), gtf("exon")].concat();
    assert_eq!(
        text(GenomeFormat::Gff, None, &[&[gtf("exon"), gtf("transcript"), gtf("gene")].concat()]).unwrap(),
        expected
    );
    let why = text(GenomeFormat::Gff, None, &[&format!("{gene}##FASTA\n>c\nACGT\n")]).unwrap_err();
    assert!(why.starts_with("in0:2: sequences follow the features"), "{why}");
}

const SAM: &str =
    "@HD\tVN:1.5\tSO:unsorted\tGO:query\n@SQ\tSN:b\tLN:100\n@SQ\tSN:a\tLN:100\n@PG\tID:x\tPN:x\n";

fn read(name: &str, flag: u16, contig: &str, position: u32) -> String {
    format!("{name}\t{flag}\t{contig}\t{position}\t60\t4M\t*\t0\t0\tACGT\tIIII\n")
}

#[test]
fn alignments_follow_the_header_and_forward_ones_come_first() {
    let reads = [
        read("u", 4, "*", 0),
        read("r1", 16, "a", 7),
        read("r2", 0, "a", 7),
        read("r3", 0, "b", 9),
        read("m", 4, "a", 7),
        read("v", 4, "*", 0),
    ];
    let out = text(GenomeFormat::Sam, None, &[&format!("{SAM}{}", reads.concat())]).unwrap();
    let header = SAM.replace("SO:unsorted\tGO:query", "SO:coordinate");
    assert_eq!(
        out,
        [&header, &reads[3], &reads[2], &reads[4], &reads[1], &reads[0], &reads[5]]
            .map(|part| &part[..])
            .concat()
    );
    let off = text(GenomeFormat::Sam, None, &[&format!("{SAM}{}", read("r", 0, "c", 1))]).unwrap_err();
    assert_eq!(off, "in0:5: the header has no contig 'c'");
}

#[test]
fn headers_of_several_inputs_are_unified_or_refused() {
    let grouped = |line: &str| format!("{SAM}{line}\n{}", read("r", 0, "a", 1));
    let (one, two) = (grouped("@RG\tID:1\tSM:s"), grouped("@RG\tID:2\tSM:s"));
    let out = text(GenomeFormat::Sam, None, &[&one, &two, &two]).unwrap();
    assert!(out.contains("@RG\tID:1\tSM:s\n@RG\tID:2\tSM:s\nr\t"), "{out}");
    let other = text(GenomeFormat::Sam, None, &[&one, &grouped("@RG\tID:1\tSM:other")]).unwrap_err();
    assert!(other.starts_with("in1: the header of the first input has another group of reads"), "{other}");
    let swapped = "@SQ\tSN:a\tLN:100\n@SQ\tSN:b\tLN:100\n";
    let why = text(GenomeFormat::Sam, None, &[SAM, swapped]).unwrap_err();
    assert!(why.contains("the contigs of its header are not those of the first input"), "{why}");
}

#[test]
fn a_program_is_named_after_the_last_one() {
    let added = |text: &str| {
        let text = header::of_alignments(text.as_bytes(), GenomeOrder::Name, Some("sortie sort\tx"));
        String::from_utf8(text).unwrap().split_inclusive('\n').next_back().unwrap().to_owned()
    };
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(added(SAM), format!("@PG\tID:sortie\tPN:sortie\tPP:x\tVN:{version}\tCL:sortie sort\\tx\n"));
    assert!(added("@PG\tID:sortie\n").starts_with("@PG\tID:sortie.1\tPN:sortie\tPP:sortie\t"));
    let first = header::of_alignments(b"@CO\tx", GenomeOrder::NameBytes, None);
    assert_eq!(first, b"@HD\tVN:1.6\tSO:queryname\tSS:queryname:lexicographical\n@CO\tx\n");
}

/// Names in natural order, digit by digit.
fn plainly(a: &[u8], b: &[u8]) -> std::cmp::Ordering {
    let number = |text: &[u8]| -> Option<u128> {
        let digits: String =
            text.iter().take_while(|byte| byte.is_ascii_digit()).map(|&byte| byte as char).collect();
        digits.parse().ok()
    };
    let (mut x, mut y) = (a, b);
    loop {
        match (x.first(), y.first()) {
            (None, None) => return a.cmp(b),
            (None, _) => return std::cmp::Ordering::Less,
            (_, None) => return std::cmp::Ordering::Greater,
            _ => {}
        }
        if let (Some(one), Some(two)) = (number(x), number(y)) {
            if one != two {
                return one.cmp(&two);
            }
            let after = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
            (x, y) = (&x[after(x)..], &y[after(y)..]);
        } else if x[0] != y[0] {
            return x[0].cmp(&y[0]);
        } else {
            (x, y) = (&x[1..], &y[1..]);
        }
    }
}

proptest! {
    #[test]
    fn names_compare_by_the_values_of_their_numbers(a in "[a0-29:!]{0,8}", b in "[a0-29:!]{0,8}") {
        let key = |text: &str| {
            let mut key = Vec::new();
            name::natural(text.as_bytes(), &mut key);
            key
        };
        prop_assert_eq!(key(&a).cmp(&key(&b)), plainly(a.as_bytes(), b.as_bytes()));
    }
}

/// A file of BAM, not compressed, with reads at positions of contigs.
fn bam(reads: &[(i32, i32, u16, &str)]) -> Vec<u8> {
    let text = b"@SQ\tSN:b\tLN:100\n@SQ\tSN:a\tLN:100\n";
    let mut out = [b"BAM\x01", &(text.len() as i32).to_le_bytes()[..], text, &2i32.to_le_bytes()].concat();
    for name in [b"b\0", b"a\0"] {
        out.extend([&2i32.to_le_bytes()[..], name, &100i32.to_le_bytes()].concat());
    }
    for (contig, position, flag, name) in reads {
        let mut record = [contig.to_le_bytes(), position.to_le_bytes()].concat();
        record.extend([name.len() as u8 + 1, 60, 0, 0, 0, 0]);
        record.extend(flag.to_le_bytes());
        record.extend([0i32, -1, -1, 0].map(i32::to_le_bytes).concat());
        record.extend([name.as_bytes(), b"\0"].concat());
        out.extend((record.len() as i32).to_le_bytes());
        out.extend(record);
    }
    out
}

/// The names of the reads of a file of BAM, and the text of its header.
fn names(path: &Path) -> (Vec<String>, String) {
    let mut bytes = Vec::new();
    Input::named(path).in_blocks().read_raw().unwrap().read_to_end(&mut bytes).unwrap();
    let header = bam::Header::read(&bytes).unwrap();
    let text = String::from_utf8(header.text.to_vec()).unwrap();
    let mut rest = &bytes[bam::header_end(&bytes, true).unwrap().unwrap()..];
    let mut names = Vec::new();
    while let Some(length) = bam::first(rest).unwrap() {
        let name = &rest[36..36 + usize::from(rest[12]) - 1];
        names.push(String::from_utf8(name.to_vec()).unwrap());
        rest = &rest[length..];
    }
    (names, text)
}

fn file(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn alignments_in_binary_are_sorted_merged_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let plain = file(
        folder.path(),
        "in",
        &bam(&[(-1, -1, 4, "u"), (1, 5, 16, "r10"), (1, 5, 0, "r9"), (0, 7, 0, "r9")]),
    );
    let sort = |order, from: &Path, to: &Path| {
        let genome = Genome::new(GenomeFormat::Bam, order, None).unwrap();
        sort_layout(&genome, vec![Input::named(from)], Some(to), &Choices::default()).unwrap();
    };
    let (by_position, by_name) = (path("position"), path("name"));
    sort(GenomeOrder::Coordinate, &plain, &by_position);
    let (found, text) = names(&by_position);
    assert_eq!(found, ["r9", "r9", "r10", "u"]);
    assert!(text.starts_with("@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:b"), "{text}");
    // What was written is in blocks.
    sort(GenomeOrder::Name, &by_position, &by_name);
    assert_eq!(names(&by_name).0, ["r9", "r9", "r10", "u"]);
    let merged = path("merged");
    let genome = || Genome::new(GenomeFormat::Bam, GenomeOrder::Coordinate, None).unwrap();
    let inputs = || vec![Input::named(&by_position), Input::named(&by_position)];
    merge_layout(&genome(), inputs(), Some(&merged), &Choices::default()).unwrap();
    assert_eq!(names(&merged).0, ["r9", "r9", "r9", "r9", "r10", "r10", "u", "u"]);
    assert!(check_layout(&genome(), Input::named(&merged), &Choices::default()).unwrap().0.is_none());
    let disorder = check_layout(&genome(), Input::named(&plain), &Choices::default()).unwrap().0.unwrap();
    assert_eq!(disorder.number, 2);
}

#[test]
fn damaged_alignments_in_binary_are_refused() {
    let whole = bam(&[(1, 5, 0, "r1"), (1, 4, 0, "r2")]);
    let refused =
        |bytes: &[u8]| sorted(GenomeFormat::Bam, GenomeOrder::Coordinate, None, &[bytes]).unwrap_err();
    for length in 1..whole.len() {
        let header = bam::header_end(&whole, false).unwrap().unwrap();
        if sorted(GenomeFormat::Bam, GenomeOrder::Coordinate, None, &[&whole[..length]]).is_ok() {
            // It ends with the header or a record.
            let rest = &whole[header..length];
            assert!(rest.is_empty() || bam::first(rest) == Ok(Some(rest.len())), "{length}");
        }
    }
    let start = whole.len() - 39;
    let changed = |at: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[start + at] = byte;
        bytes
    };
    assert!(refused(&changed(0, 3)).contains("a record of BAM has 3 bytes"));
    assert!(refused(&changed(4, 9)).contains("is at 4 of contig 9, but the header has 2"));
    assert!(refused(&changed(12, 99)).contains("does not end where it says"));
    assert!(refused(b"r1\t0\n").contains("give --format sam"));
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let genome = Genome::new(GenomeFormat::Bam, GenomeOrder::Coordinate, None).unwrap();
    let input = file(folder.path(), "in", &whole);
    sort_layout(&genome, vec![Input::named(&input)], Some(&out), &Choices::default()).unwrap();
    let mut blocks = std::fs::read(&out).unwrap();
    blocks.truncate(blocks.len() - 28);
    assert!(refused(&blocks).contains("does not end with the empty block"), "{}", refused(&blocks));
}

#[test]
fn alignments_of_other_contigs_are_refused_whatever_the_text_of_the_header() {
    // The list in binary counts, and here it is in another order, with a text that names no contigs.
    let mut other = [b"BAM\x01", &0i32.to_le_bytes()[..], &2i32.to_le_bytes()].concat();
    for name in [b"a\0", b"b\0"] {
        other.extend([&2i32.to_le_bytes()[..], name, &100i32.to_le_bytes()].concat());
    }
    let first = bam(&[(1, 5, 0, "r")]);
    let why = sorted(GenomeFormat::Bam, GenomeOrder::Coordinate, None, &[&first, &other]).unwrap_err();
    assert!(why.contains("the contigs of its header are not those of the first input"), "{why}");
    let without = read("r", 0, "a", 1);
    assert!(
        text(GenomeFormat::Sam, None, &[SAM, &without]).unwrap_err().contains("the contigs of its header")
    );
    // What else is said of a contig may differ.
    let more = SAM.replace("SN:a\tLN:100", "SN:a\tLN:100\tM5:0");
    assert!(text(GenomeFormat::Sam, None, &[SAM, &more]).is_ok());
}

#[test]
fn programs_with_one_identifier_get_numbers() {
    let run = |command: &str| {
        format!("{SAM}@PG\tID:y\tPN:y\tPP:x\tCL:{command}\n@PG\tID:z\tPN:z\tPP:y\tCL:{command}\n")
    };
    let out = text(GenomeFormat::Sam, None, &[&run("1"), &run("2"), &run("3"), &run("2")]).unwrap();
    let programs: Vec<_> = out.lines().filter(|line| line.starts_with("@PG")).skip(3).collect();
    let numbered = |n: u8| {
        [
            format!("@PG\tID:y.{n}\tPN:y\tPP:x\tCL:{}", n + 1),
            format!("@PG\tID:z.{n}\tPN:z\tPP:y.{n}\tCL:{}", n + 1),
        ]
    };
    assert_eq!(programs[..4], [numbered(1), numbered(2)].concat());
}

#[test]
fn lines_of_later_headers_begin_lines_of_their_own() {
    let reference = [&2i32.to_le_bytes()[..], b"a\0", &9i32.to_le_bytes()].concat();
    let of = |text: &[u8]| {
        [b"BAM\x01", &(text.len() as i32).to_le_bytes()[..], text, &1i32.to_le_bytes(), &reference].concat()
    };
    let folder = tempfile::tempdir().unwrap();
    let paths = [file(folder.path(), "1", &of(b"@SQ\tSN:a\tLN:9")), file(folder.path(), "2", &of(b"@CO\tx"))];
    let out = folder.path().join("out");
    let genome = Genome::new(GenomeFormat::Bam, GenomeOrder::Coordinate, None).unwrap();
    let inputs = paths.iter().map(|path| Input::named(path)).collect();
    sort_layout(&genome, inputs, Some(&out), &Choices::default()).unwrap();
    assert_eq!(names(&out).1, "@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:a\tLN:9\n@CO\tx\n");
}

#[test]
fn lines_with_too_few_fields_are_refused() {
    let whole = read("r", 0, "a", 1);
    for fields in 1..11 {
        let cut: Vec<_> = whole.trim_end().split('\t').take(fields).collect();
        let why = text(GenomeFormat::Sam, None, &[&format!("{SAM}{}\n", cut.join("\t"))]).unwrap_err();
        assert!(why.starts_with(&format!("in0:5: there are {fields} fields instead of 11")), "{why}");
    }
    let by_name = sorted(
        GenomeFormat::Sam,
        GenomeOrder::Name,
        None,
        &[format!("{SAM}{}", read("r", 0, "c", 1)).as_bytes()],
    );
    assert_eq!(by_name.unwrap_err(), "in0:5: the header has no contig 'c'");
    assert!(text(GenomeFormat::Vcf, None, &[""]).unwrap_err().contains("there is no line #CHROM"));
    assert!(
        sorted(GenomeFormat::Bam, GenomeOrder::Coordinate, None, &[b""]).unwrap_err().contains("it is empty")
    );
}

#[test]
fn reads_in_binary_that_do_not_fit_in_their_record_are_refused() {
    let whole = bam(&[(1, 5, 0, "r1")]);
    let start = whole.len() - 39;
    for (at, bytes) in [(16, &[9, 0][..]), (20, &[9, 0, 0, 0]), (20, &[0xFF; 4])] {
        let mut damaged = whole.clone();
        damaged[start + at..][..bytes.len()].copy_from_slice(bytes);
        let why = sorted(GenomeFormat::Bam, GenomeOrder::Coordinate, None, &[&damaged]).unwrap_err();
        assert!(why.contains("which do not fit in its record"), "{why}");
    }
}

#[test]
fn contigs_of_variants_are_found_wherever_their_identifier_is() {
    let vcf = "##contig=<length=9,ID=chr2>\n##contig=<note=\"a,ID=x\", ID=chr1>\n##contig=<ID=chr2,again>\n#CHROM\tPOS\tID\tREF\tALT\n";
    let (one, two) = ("chr1\t1\t.\tA\tC\n", "chr2\t1\t.\tA\tC\n");
    assert_eq!(
        text(GenomeFormat::Vcf, None, &[&format!("{vcf}{one}{two}")]).unwrap(),
        format!("{vcf}{two}{one}")
    );
    // A later input may define less.
    let less = "##contig=<length=9,ID=chr2>\n#CHROM\tPOS\tID\tREF\tALT\n";
    assert!(text(GenomeFormat::Vcf, None, &[vcf, less]).is_ok());
}

#[test]
fn features_of_every_level_follow_their_parents() {
    let line = |kind: &str, more: &str| format!("c\ts\t{kind}\t5\t20\t.\t+\t.\t{more}\n");
    let levels = [
        line("operon", "ID=o"),
        line("gene", "ID=g;Parent=o"),
        line("V_gene_segment", "ID=v;Parent=g"),
        line("miRNA_primary_transcript", "ID=p;Parent=g"),
        line("miRNA", "ID=m;Parent=p"),
        line("exon", "Parent=m"),
    ];
    let reversed: String = [5, 4, 2, 3, 1, 0].map(|level| &levels[level][..]).concat();
    assert_eq!(text(GenomeFormat::Gff, None, &[&reversed]).unwrap(), levels.concat());
    let gtf = [
        line("gene", "gene_id\t\"g\"; note \"a;Parent=x\";"),
        line("transcript", ""),
        line("exon", "transcript_id \"t\";"),
    ];
    assert_eq!(
        text(GenomeFormat::Gff, None, &[&[&gtf[2][..], &gtf[0], &gtf[2]].concat()]).unwrap(),
        [&gtf[0][..], &gtf[2], &gtf[2]].concat()
    );
    assert_eq!(
        text(GenomeFormat::Gff, None, &[&[&gtf[2][..], &gtf[1]].concat()]).unwrap(),
        [&gtf[1][..], &gtf[2]].concat()
    );
}

#[test]
fn one_line_of_a_header_says_the_order() {
    let out = text(GenomeFormat::Sam, None, &["@CO\tx\n@HD\tSO:unsorted\tVN:1.4\tXX:y\n@HD\n"]).unwrap();
    assert_eq!(out, "@HD\tVN:1.4\tSO:coordinate\tXX:y\n@CO\tx\n");
}

#[test]
fn fields_of_bed_may_have_spaces_if_it_has_tabs() {
    let sorted = text(GenomeFormat::Bed, None, &["un known\t9\t10\nun known\t8\t10\n"]).unwrap();
    assert_eq!(sorted, "un known\t8\t10\nun known\t9\t10\n");
}
