//! What this program compresses, whole and damaged, is read by `sortie_formats::compressed`.

use std::io::{self, Cursor, ErrorKind, Read};

use sortie_formats::compressed::Members;

use super::{Asked, WAYS, Way};

const TEXT: &[u8] = b"a line, and the line again: a line\n";

fn compressed(name: &str) -> (Way, Vec<u8>) {
    let Ok(Asked::Compressed(how)) = name.parse() else { panic!("{name}") };
    (if how.way == Way::Bgzf { Way::Gzip } else { how.way }, how.compress(TEXT).unwrap())
}

/// Returns one byte for each read, as a slow pipe may.
struct Drip(Cursor<Vec<u8>>);

impl Read for Drip {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = into.len().min(1);
        self.0.read(&mut into[..most])
    }
}

fn read(way: Way, bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    Members::new(way, Drip(Cursor::new(bytes.to_vec()))).unwrap().read_to_end(&mut out).map(|_| out)
}

#[test]
fn a_file_ends_with_a_member_or_is_refused() {
    for about in &WAYS {
        let (way, one) = compressed(about.way.name());
        let two = [&one[..], &one].concat();
        assert_eq!(read(way, &two).unwrap(), TEXT.repeat(2), "{}", about.way.name());
        for length in 1..two.len() {
            match read(way, &two[..length]) {
                Ok(out) => assert!(length == one.len() && out == TEXT, "{}, {length}", about.way.name()),
                Err(error) => assert_eq!(error.kind(), ErrorKind::InvalidData, "{error}"),
            }
        }
    }
}

#[test]
fn damage_is_found() {
    for about in &WAYS {
        let (way, one) = compressed(about.way.name());
        for place in 0..one.len() {
            for bit in 0..8 {
                let mut bytes = one.clone();
                bytes[place] ^= 1 << bit;
                // Bits that do not affect the data, such as the time in a header, may change unnoticed.
                if let Ok(out) = read(way, &bytes) {
                    assert_eq!(out, TEXT, "{}: bit {bit} of byte {place}", about.way.name());
                }
            }
        }
    }
}

#[test]
fn what_follows_is_told() {
    for about in &WAYS {
        let (way, one) = compressed(about.way.name());
        let error = read(way, &[&one[..], b"more"].concat()).unwrap_err().to_string();
        assert!(error.contains("at byte") && error.contains(&one.len().to_string()), "{error}");
    }
    let (_, gzip) = compressed("gzip");
    assert_eq!(read(Way::Gzip, &[&gzip[..], &[0; 512]].concat()).unwrap(), TEXT);
}

#[test]
fn frames_without_data_are_left_out() {
    let empty = [0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 7, 7, 7];
    for name in ["zstd", "lz4"] {
        let (way, one) = compressed(name);
        let all = [&empty[..], &one, &empty, &one, &empty].concat();
        // A file that begins with an empty frame is first treated as zstd.
        for way in [way, Way::Zstd] {
            assert_eq!(read(way, &all).unwrap(), TEXT.repeat(2), "{name}");
            assert!(read(way, &all[..all.len() - 1]).is_err(), "{name}");
        }
    }
    let error = read(Way::Zstd, &[empty, empty].concat()).unwrap_err().to_string();
    assert_eq!(error, "it begins like zstd data, but contains none");
}

/// An error of the source is returned unchanged.
#[test]
fn a_source_that_fails_is_told() {
    struct Fails(Cursor<Vec<u8>>);
    impl Read for Fails {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            match self.0.read(into)? {
                0 => Err(io::Error::other("the disk is gone")),
                read => Ok(read),
            }
        }
    }
    for about in &WAYS {
        let (way, one) = compressed(about.way.name());
        let source = Fails(Cursor::new(one[..one.len() - 3].to_vec()));
        let error = Members::new(way, source).unwrap().read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "the disk is gone", "{}", about.way.name());
    }
}
