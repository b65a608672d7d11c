//! Tests that records are read as they are written, within the memory limit.

use std::io::BufReader;

use proptest::prelude::*;

use super::*;

fn read(format: Format, text: &[u8]) -> Result<Records, Error> {
    let mut records = Records::new(format, usize::MAX);
    records.read(text).map(|()| records)
}

fn texts(records: &Records) -> Vec<&str> {
    let text = |place| std::str::from_utf8(records.get(place).bytes()).unwrap();
    (0..records.len()).map(text).collect()
}

const FASTA: [&str; 5] = [">a b\nAC\nGT\n", ">\n", ">b\r\n\r\nac*-.N\r\n\n\n", "> c\n\n", ">d\n"];
const FASTQ: [&str; 4] =
    ["@a b\nAC\n+\n!~\n", "@\n\n+\n\n", "@b\tc\r\nN\r\n+b\tc\r\n@\r\n", "@c\n-a\n+\n>I\n"];

#[test]
fn records_keep_their_bytes() {
    for (format, expected) in [(Format::Fasta, &FASTA[..]), (Format::Fastq, &FASTQ)] {
        let all = expected.concat();
        assert_eq!(texts(&read(format, all.as_bytes()).unwrap()), expected);
        // Reads several sources in small pieces.
        let mut records = Records::new(format, usize::MAX);
        for record in expected {
            records.read(BufReader::with_capacity(3, record.as_bytes())).unwrap();
        }
        assert_eq!(texts(&records), expected);
        assert_eq!(records.bytes(), all.len());
        assert!(read(format, b"").unwrap().is_empty());
    }
}

#[test]
fn a_mark_and_blank_lines_before_the_first_record_are_left_out() {
    for (format, expected) in [(Format::Fasta, &FASTA[..]), (Format::Fastq, &FASTQ)] {
        for before in ["\u{feff}", "\n", "\r\n\n", "\u{feff}\n\r\n"] {
            let all = before.to_owned() + &expected.concat();
            assert_eq!(texts(&read(format, all.as_bytes()).unwrap()), expected, "{before:?}");
            let mut records = Records::new(format, usize::MAX);
            records.read(BufReader::with_capacity(1, all.as_bytes())).unwrap();
            assert_eq!(texts(&records), expected, "{before:?}");
            assert!(read(format, before.as_bytes()).unwrap().is_empty());
        }
        // A part of a mark is none, and a mark belongs before the blank lines.
        for before in [&b"\xEF"[..], b"\xEF\xBB", b"\xEF\xBB\xBE", b"\n\xEF\xBB\xBF"] {
            assert!(read(format, &[before, expected[0].as_bytes()].concat()).is_err(), "{before:?}");
        }
    }
}

#[test]
fn more_than_is_allowed_is_not_held() {
    // A record without an end, like a file that decompresses to a thousand times its size.
    let endless = |header: &'static [u8]| BufReader::new(header.chain(io::repeat(b'A')));
    for (format, header) in [(Format::Fasta, &b">a\n"[..]), (Format::Fastq, b"@a\n"), (Format::Fasta, b">")] {
        let mut records = Records::new(format, 1 << 20);
        records.read(&header[..0]).unwrap();
        let refused = records.read(endless(header)).unwrap_err();
        assert!(matches!(refused, Error::Limit { line: 1, bytes, .. } if bytes > 1 << 20), "{refused}");
    }
    let mut records = Records::new(Format::Fasta, 30);
    records.read(&b">a\nAC\n"[..]).unwrap();
    records.read(&b">b\nA\n"[..]).unwrap();
    assert!(matches!(records.read(&b">c\n"[..]), Err(Error::Limit { line: 1, limit: 30, .. })));
    assert_eq!(records.len(), 2);
}

#[test]
fn a_source_is_read_a_part_at_a_time() {
    for (format, expected) in [(Format::Fasta, &FASTA[..]), (Format::Fastq, &FASTQ)] {
        let all = expected.concat();
        for limit in [40, 60, 1000] {
            let mut reading = Reading::new(format, all.as_bytes(), 1 << 20).unwrap();
            let (mut found, mut parts) = (Vec::new(), 0);
            loop {
                let mut records = Records::new(format, limit).counting(1, 0);
                let ended = reading.fill(&mut records, usize::MAX).unwrap();
                found.extend(texts(&records).into_iter().map(String::from));
                parts += 1;
                if ended {
                    break;
                }
            }
            assert_eq!(found, expected, "{limit}");
            assert_eq!(parts == 1, limit == 1000, "{limit}");
        }
        let mut rest = all.as_bytes();
        for record in expected {
            assert_eq!(format.first(rest, true).unwrap().bytes(), record.as_bytes());
            rest = &rest[record.len()..];
        }
        assert!(format.first(rest, true).is_none());
    }
    assert!(Format::Fasta.first(b">a\nAC\n", false).is_none(), "it may go on");
    // Line numbers count in the source, whatever was returned before.
    let mut reading = Reading::new(Format::Fasta, &b">a\nA\n>b\nC\n>c\n!\n"[..], 1 << 20).unwrap();
    let part = || Records::new(Format::Fasta, 14);
    assert!(!reading.fill(&mut part(), usize::MAX).unwrap());
    assert!(!reading.fill(&mut part(), usize::MAX).unwrap());
    assert!(matches!(reading.fill(&mut part(), usize::MAX), Err(Error::Record { line: 6, .. })));
}

#[test]
fn records_are_read_until_there_are_enough() {
    for (format, expected) in [(Format::Fasta, &FASTA[..]), (Format::Fastq, &FASTQ)] {
        let all = expected.concat();
        let mut reading = Reading::new(format, all.as_bytes(), 0).unwrap();
        for (place, record) in expected.iter().enumerate() {
            let mut records = Records::new(format, usize::MAX);
            assert_eq!(reading.fill(&mut records, 1).unwrap(), place + 1 == expected.len());
            assert_eq!(texts(&records), [*record]);
        }
    }
}

/// Memory for earlier records must not count for the next one.
#[test]
fn short_records_take_no_memory_but_their_own() {
    for (format, record) in
        [(Format::Fasta, ">\n"), (Format::Fasta, ">a\nAC\n"), (Format::Fastq, "@a\nA\n+\nI\n")]
    {
        let all = record.repeat(200_000);
        let mut reading = Reading::new(format, all.as_bytes(), 0).unwrap();
        let mut count = 0;
        loop {
            let mut records = Records::new(format, 1 << 10);
            let ended = reading.fill(&mut records, usize::MAX).unwrap();
            count += records.len();
            if ended {
                break;
            }
        }
        assert_eq!(count, 200_000, "{record:?}");
    }
}

#[test]
fn what_does_not_fit_is_told_with_its_line() {
    let long = format!(">a\nA\n>b\n{}\n>c\nA\n", "ACGT\n".repeat(100_000));
    // The limit is exceeded by what the reader holds of the record, or by the whole record.
    for (limit, of_reader) in [(usize::MAX, 1 << 20), (1 << 18, usize::MAX)] {
        let mut reading = Reading::new(Format::Fasta, long.as_bytes(), of_reader).unwrap();
        let mut part = || reading.fill(&mut Records::new(Format::Fasta, limit), 1);
        let refused = loop {
            match part() {
                Ok(ended) => assert!(!ended),
                Err(refused) => break refused,
            }
        };
        assert!(matches!(refused, Error::Limit { line: 3, bytes, limit } if bytes > limit), "{refused}");
    }
    let mut reading = Reading::new(Format::Fasta, long.as_bytes(), 3 << 20).unwrap();
    let mut records = Records::new(Format::Fasta, 1 << 20);
    assert!(reading.fill(&mut records, usize::MAX).unwrap());
    assert_eq!(records.len(), 3);
}

#[test]
fn a_last_line_end_may_be_missing() {
    for (format, text) in [
        (Format::Fasta, ">a\nA\n>b\nC"),
        (Format::Fasta, ">a\r\nA"),
        (Format::Fastq, "@a\nA\n+\nI\n@b\nC\n+\nI"),
        (Format::Fastq, "@a\n\n+\n"),
    ] {
        let records = read(format, text.as_bytes()).unwrap();
        assert_eq!(texts(&records).concat(), format!("{text}\n"));
    }
    // Blank lines after the last FASTQ record belong to no record.
    assert_eq!(texts(&read(Format::Fastq, b"@a\nA\n+\nI\n\r\n\n").unwrap()), ["@a\nA\n+\nI\n"]);
}

#[test]
fn names_and_sequences() {
    let seen = |format, text: &str| {
        let records = read(format, text.as_bytes()).unwrap();
        let each = (0..records.len()).map(|place| {
            let record = records.get(place);
            let sequence: Vec<u8> = record.sequence().flatten().copied().collect();
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            (text(record.name()), text(&sequence), records.line(place))
        });
        each.collect::<Vec<_>>()
    };
    let expected = [("a", "ACGT", 1), ("", "", 4), ("b", "ac*-.N", 5), ("", "", 10), ("d", "", 12)];
    assert_eq!(seen(Format::Fasta, &FASTA.concat()), expected.map(|(n, s, l)| (n.into(), s.into(), l)));
    let expected = [("a", "AC", 1), ("", "", 5), ("b", "N", 9), ("c", "-a", 13)];
    assert_eq!(seen(Format::Fastq, &FASTQ.concat()), expected.map(|(n, s, l)| (n.into(), s.into(), l)));
}

#[test]
fn records_longer_than_a_buffer_are_whole() {
    for letters in (65_530..65_540).chain([200_000]) {
        let (sequence, qualities) = ("A".repeat(letters), "I".repeat(letters));
        let fasta =
            [format!(">a\n{sequence}\n"), ">b\nC\n".into(), format!(">c\n{sequence}\n"), ">d\n".into()];
        let fastq = [format!("@a\n{sequence}\n+\n{qualities}\n"), "@b\nC\n+\nI\n".into()];
        assert_eq!(texts(&read(Format::Fasta, fasta.concat().as_bytes()).unwrap()), fasta);
        assert_eq!(texts(&read(Format::Fastq, fastq.concat().as_bytes()).unwrap()), fastq);
    }
}

#[test]
fn what_is_wrong_is_said_of_its_record_and_line() {
    let (fasta, fastq) = (Format::Fasta, Format::Fastq);
    for (format, text, line, name, problem) in [
        (fasta, "\n\r\nA\n", 3, None, "begins with '>'"),
        (fasta, "\u{feff}A\n", 1, None, "begins with '>'"),
        (fasta, "\u{feff}\n>a\nA1\n", 3, Some("a"), "in its sequence"),
        (fastq, "\n@a\nA\n+\nII\n", 5, Some("a"), "one quality for each letter"),
        (fasta, "@a\nA\n+\nI\n", 1, None, "begins with '>'"),
        (fasta, ">a\nA\n>b", 3, None, "ends within a header line"),
        (fasta, ">", 1, None, "ends within a header line"),
        (fasta, ">a\nA\n>b c\nAC\nA C\nA1\n>c", 5, Some("b"), "there is ' ' in its sequence"),
        (fasta, ">a\nA\rC\n", 2, Some("a"), "there is '\\r' in its sequence"),
        (fasta, ">a\nA\n\u{e9}\n", 3, Some("a"), "there is '\\xc3' in its sequence"),
        (fastq, ">a\nA\n>b\nA\n", 1, None, "begins with '@'"),
        (fastq, "@a\nA\n+\nI\n\n@b\nA\n+\nI\n", 5, None, "begins with '@'"),
        (fastq, "@a\nA\n+\nI\n@b\tc\nA", 6, Some("b"), "before the record has four lines"),
        (fastq, "@a\nA\n+\nI\n@b", 5, None, "before the record has four lines"),
        (fastq, "@a\nAC\n+\nI\n", 4, Some("a"), "sequence length is 2 but quality length is 1"),
        (fastq, "@a\nAC\n+\n", 4, Some("a"), "sequence length is 2 but quality length is 0"),
        (fastq, "@a x\nAC\nGT\n+\nIIII\n", 3, Some("a"), "its third line must begin with '+'"),
        (fastq, "@a\nA1\n+\nII\n", 2, Some("a"), "there is '1' in its sequence"),
        (fastq, "@a\nAC\n+\nI \n@b", 4, Some("a"), "there is ' ' in its qualities"),
        (
            fastq,
            "@a b\nA\n+a\nI\n@a b\nA\n+a c\nI\n",
            7,
            Some("a"),
            "has the title 'a c', but its first has 'a b'",
        ),
        (fastq, "@a\nA\n+\u{1b}[2J\nI\n", 3, Some("a"), r"has the title ''$'\033''[2J', but"),
    ] {
        match read(format, text.as_bytes()).unwrap_err() {
            Error::Record { line: found, name: named, problem: said } => {
                assert_eq!((found, named), (line, name.map(Quoted::new)), "{text:?}: {said}");
                assert!(said.contains(problem), "{text:?}: {said}");
            }
            other => panic!("{text:?}: {other}"),
        }
    }
    // Line numbers count in the source that is being read.
    let mut records = read(fasta, b">a\nA\n").unwrap();
    assert!(matches!(records.read(&b">b\n!\n"[..]), Err(Error::Record { line: 2, .. })));
}

#[test]
fn no_more_text_is_taken_than_is_allowed() {
    for (limit, fits) in [(8, false), (80, true)] {
        let mut records = Records::new(Format::Fasta, limit);
        assert_eq!(records.read(&b">a\nA\n>b\nC\n"[..]).is_ok(), fits);
    }
}

/// Pieces for random texts, chosen so that many texts are valid in one of the formats.
#[rustfmt::skip]
const PIECES: [&str; 15] = [
    ">", "@", "+", "\n", "\r\n", "\r", "A", "ac", "I", " ", "\0", "\n\n", ">a\nAC\n", "@b c\nAC\n+\nII\n", "@\n\n+\n",
];

proptest! {
    #[test]
    fn any_text_is_refused_or_kept(
        pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..12),
        is_fasta: bool,
    ) {
        let text = pieces.concat().into_bytes();
        let format = if is_fasta { Format::Fasta } else { Format::Fastq };
        if let Ok(records) = read(format, &text) {
            let kept = texts(&records).concat().into_bytes();
            let before = text.iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
            let rest = text[before..].strip_prefix(kept.strip_suffix(b"\n").unwrap_or_default()).expect("it was kept");
            let blank = if is_fasta { rest == b"\n" || rest.is_empty() } else { rest.trim_ascii().is_empty() };
            prop_assert!(blank);
            let again = read(format, &kept).unwrap();
            prop_assert_eq!(texts(&again), texts(&records));
        }
    }
}
