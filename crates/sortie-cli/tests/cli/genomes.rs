//! `sortie sort --format sam`, `bam`, `vcf`, `bed` and `gff`, compared with samtools, bcftools, bedtools and GNU sort.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::{Numbers, complaint, decompress, folder, gnu, names, run, sortie, text};

/// What a program prints, whose name is the first of `words`.
#[track_caller]
fn tool(folder: &Path, words: &str) -> Vec<u8> {
    let mut words = words.split_whitespace();
    let mut command = Command::new(words.next().unwrap());
    let done = run(command.env("LC_ALL", "C").current_dir(folder).args(words.clone()), b"");
    assert!(done.status.success(), "{:?}: {}", words.collect::<Vec<_>>(), text(&done.stderr));
    done.stdout
}

#[track_caller]
fn sort(folder: &Path, options: &str) -> Vec<u8> {
    let done = run(sortie(folder).args(options.split_whitespace()), b"");
    assert_eq!((done.status.code(), text(&done.stderr)), (Some(0), String::new()), "{options}");
    done.stdout
}

fn refused(folder: &Path, options: &str) -> Output {
    run(sortie(folder).args(options.split_whitespace()), b"")
}

/// Limits of memory with which a file of some 100 KB goes through temporary files, and without.
const LIMITS: [&str; 3] = ["", "-S 64K", "-S 64K --batch-size 2 --parallel 3"];

/// The lines that are no header.
fn body(text: &[u8], header: u8) -> Vec<u8> {
    text.split_inclusive(|&byte| byte == b'\n').filter(|line| line[0] != header).flatten().copied().collect()
}

/// Reads on three contigs and on none, with equal positions. Names have numbers, and mates have one name.
fn reads(count: usize) -> String {
    let mut numbers = Numbers::new(3);
    let mut sam =
        "@HD\tVN:1.6\tSO:unsorted\n@SQ\tSN:chr2\tLN:900\n@SQ\tSN:chr10\tLN:900\n@SQ\tSN:chr1\tLN:900\n\
                   @RG\tID:g\tSM:s\n@PG\tID:aligner\tPN:aligner\n"
            .to_owned();
    let mut order: Vec<_> = (0..count).collect();
    for i in (1..count).rev() {
        order.swap(i, numbers.below(i + 1));
    }
    for i in order {
        let mate = [0x40, 0x80][i % 2];
        let name = format!("r{}:{}", i / 2 % 37, i / 2);
        let (contig, strand) = (numbers.below(4), numbers.below(2) * 16);
        let position = 1 + numbers.below(50);
        let (contig, position, flag) = match contig {
            0 => ("*", 0, 0x4 + mate + 1),
            contig => (["chr1", "chr2", "chr10"][contig - 1], position, strand + mate + 1),
        };
        writeln!(sam, "{name}\t{flag}\t{contig}\t{position}\t60\t4M\t*\t0\t0\tACGT\tIIII\tRG:Z:g").unwrap();
    }
    sam
}

#[test]
fn alignments_are_sorted_as_samtools_does() {
    let sam = reads(3_000);
    let folder = folder("in.sam", sam.as_bytes());
    let at = folder.path();
    fs::write(at.join("in.bam"), tool(at, "samtools view -b in.sam")).unwrap();
    for (ours, theirs, declared) in [
        ("", "", "SO:coordinate"),
        ("--by name", "-n", "SO:queryname\tSS:queryname:natural"),
        ("--by name:bytes", "-N", "SO:queryname\tSS:queryname:lexicographical"),
    ] {
        // Version 1.16 has no -N.
        let expected = if theirs == "-N" {
            let mut lines: Vec<_> = body(sam.as_bytes(), b'@')
                .split_inclusive(|&byte| byte == b'\n')
                .map(<[u8]>::to_vec)
                .collect();
            lines.sort_by_key(|line| {
                let fields: Vec<_> = line.split(|&byte| byte == b'\t').collect();
                (fields[0].to_vec(), text(fields[1]).parse::<u16>().unwrap() & 0xC0)
            });
            lines.concat()
        } else {
            body(&tool(at, &format!("samtools sort {theirs} -O sam in.sam")), b'@')
        };
        for limits in LIMITS {
            let sorted = sort(at, &format!("--format sam {ours} {limits} in.sam"));
            assert!(text(&sorted).starts_with(&format!("@HD\tVN:1.6\t{declared}\n@SQ\tSN:chr2")), "{ours}");
            assert!(body(&sorted, b'@') == expected, "sam {ours} {limits}");
            sort(at, &format!("--format bam {ours} {limits} in.bam -o out.bam"));
            tool(at, "samtools quickcheck out.bam");
            assert!(tool(at, "samtools view out.bam") == expected, "bam {ours} {limits}");
        }
    }
    assert_eq!(names(at), ["in.bam", "in.sam", "out.bam"]);
}

#[test]
fn the_header_of_alignments_says_how_they_came_about() {
    let folder = folder("in.sam", reads(4).as_bytes());
    let at = folder.path();
    let header = |options: &str| {
        let sorted = sort(at, &format!("--format sam {options} in.sam"));
        text(&sorted).lines().filter(|line| line.starts_with("@PG")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(header("--no-PG").len(), 1);
    let added = &header("--by name")[1];
    assert!(added.starts_with("@PG\tID:sortie\tPN:sortie\tPP:aligner\tVN:"), "{added}");
    assert!(added.ends_with("sort --format sam --by name in.sam"), "{added}");
}

#[test]
fn a_sorted_file_is_indexed_merged_and_checked() {
    let sam = reads(600);
    let folder = folder("in.sam", sam.as_bytes());
    let at = folder.path();
    fs::write(at.join("in.bam"), tool(at, "samtools view -b in.sam")).unwrap();
    sort(at, "--format bam in.bam -o one.bam");
    tool(at, "samtools index one.bam");
    assert_ne!(tool(at, "samtools view -c one.bam chr10"), b"0\n");
    sort(at, "--format bam -m one.bam one.bam -o two.bam");
    // Of equal positions, those of the first file come first. samtools merge takes them in turn.
    fs::write(at.join("both.bam"), tool(at, "samtools cat one.bam one.bam")).unwrap();
    assert!(tool(at, "samtools view two.bam") == body(&tool(at, "samtools sort -O sam both.bam"), b'@'));
    sort(at, "--format bam -c two.bam");
    let said = complaint(&refused(at, "--format bam -c in.bam"), 1);
    assert!(said.starts_with("sortie: in.bam:") && said.contains("disorder: record"), "{said}");
}

#[test]
fn variants_are_sorted_as_bcftools_does() {
    let mut numbers = Numbers::new(4);
    let header = "##fileformat=VCFv4.2\n##FILTER=<ID=PASS,Description=\"All filters passed\">\n##contig=<ID=chr2>\n##contig=<ID=chr10>\n\
                  ##contig=<ID=chr1>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n";
    let mut vcf = header.to_owned();
    for i in 0..2_000 {
        let contig = ["chr1", "chr2", "chr10"][numbers.below(3)];
        let (reference, others) =
            (["A", "AC"][numbers.below(2)], ["C", "C,G", "G", "GT", "."][numbers.below(5)]);
        writeln!(vcf, "{contig}\t{}\tid{i}\t{reference}\t{others}\t.\tPASS\t.", 1 + numbers.below(90))
            .unwrap();
    }
    let folder = folder("in.vcf", vcf.as_bytes());
    let at = folder.path();
    // Variants with one position and the same alleles have no order there.
    let keys = |text: &[u8]| {
        let line = |line: &[u8]| {
            let mut fields: Vec<_> = line.split(|&byte| byte == b'\t').collect();
            fields.remove(2);
            fields.concat()
        };
        body(text, b'#')
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(line)
            .collect::<Vec<_>>()
    };
    let expected = keys(&tool(at, "bcftools sort in.vcf"));
    for limits in LIMITS {
        let sorted = sort(at, &format!("--format vcf {limits} in.vcf"));
        assert!(sorted.starts_with(header.as_bytes()) && keys(&sorted) == expected, "{limits}");
    }
    // gzip is written in blocks, which an index needs.
    sort(at, "--format vcf in.vcf -o out.vcf.gz");
    tool(at, "bcftools index -t out.vcf.gz");
    assert!(decompress(&fs::read(at.join("out.vcf.gz")).unwrap()) == sort(at, "--format vcf out.vcf.gz"));
}

#[test]
fn features_are_sorted_as_gnu_sort_and_bedtools_do() {
    let mut numbers = Numbers::new(5);
    let mut bed = String::new();
    for i in 0..2_000 {
        let start = numbers.below(200);
        writeln!(bed, "chr{}\t{start}\t{}\tf{i}", numbers.below(12), start + 1 + numbers.below(9)).unwrap();
    }
    let folder = folder("in", bed.as_bytes());
    let at = folder.path();
    let expected = run(gnu(at).args(["-s", "-k1,1", "-k2,2n", "-k3,3n", "in"]), b"").stdout;
    fs::write(at.join("in.bed"), format!("track name=x\n#comment\n{bed}")).unwrap();
    fs::write(at.join("genome.fai"), (0..12).rev().map(|n| format!("chr{n}\t999\n")).collect::<String>())
        .unwrap();
    for limits in LIMITS {
        let sorted = sort(at, &format!("--format bed {limits} in.bed"));
        assert!(sorted == [b"track name=x\n#comment\n", &expected[..]].concat(), "{limits}");
    }
    let starts = |text: &[u8]| {
        text.split(|&byte| byte == b'\n')
            .map(|line| line.splitn(3, |&byte| byte == b'\t').take(2).collect::<Vec<_>>().concat())
            .collect::<Vec<_>>()
    };
    assert!(starts(&expected) == starts(&tool(at, "bedtools sort -i in")));
    let listed = sort(at, "--format bed --contigs genome.fai in");
    assert!(starts(&listed) == starts(&tool(at, "bedtools sort -i in -faidx genome.fai")));
    let natural = sort(at, "--format bed --contigs natural in");
    let expected = run(gnu(at).args(["-s", "-k1,1V", "-k2,2n", "-k3,3n", "in"]), b"").stdout;
    assert!(natural == expected);
}

#[test]
fn what_these_formats_do_not_have_is_refused() {
    let folder = folder("in", b"chr1\t1\t2\n");
    let at = folder.path();
    fs::write(at.join("twice"), "chr1\nchr1\n").unwrap();
    for (options, said) in [
        (
            "--format bed -u",
            "--unique is for lines, FASTA or FASTQ records, records of one length, records after their lengths and tables; it cannot be used with alignments, variants and features",
        ),
        ("--format bam --compress zstd", "this format is compressed in blocks (bgzf), or not at all (none)"),
        ("--format bed --by name", "only alignments (SAM and BAM) are sorted by name"),
        (
            "--format bam --by size",
            "invalid value 'size' for '--by <KEY>': the orders are coordinate, name and name:bytes; see --help",
        ),
        (
            "--format sam --contigs natural",
            "the header of alignments gives the order of their contigs, which cannot be changed",
        ),
        ("--format bed --contigs twice", "twice: it names the contig 'chr1' twice"),
        (
            "--contigs natural",
            "--contigs is for alignments, variants, features; give --format sam, bam, vcf, bed or gff too",
        ),
        (
            "--format bam",
            "in: it does not begin as BAM does; give --format sam for alignments as text, and convert others by samtools view -b",
        ),
        (
            "--format gff",
            "in:1: there are 3 fields instead of 8 in 'chr1\\t1\\t2'; the line may be cut short",
        ),
    ] {
        let done = refused(at, &format!("{options} in -o out"));
        let why = text(&done.stderr);
        assert!(
            done.status.code() == Some(2) && why.starts_with(&format!("sortie: {said}\n")),
            "{options}: {why}"
        );
    }
    assert!(!at.join("out").exists());
}
