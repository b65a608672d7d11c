//! Headers that NumPy writes, and headers that it does not.

use std::fs::File;
use std::io::Write;

use proptest::prelude::*;
use sortie_formats::npy::{self, Header, parse_header};
use sortie_formats::raw::Input;
use sortie_formats::{Dtype, Endian, Error, Kind};

/// A file of the given version with this literal as its header and no data.
fn file(major: u8, literal: &str) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([major, 0]);
    match major {
        1 => bytes.extend((literal.len() as u16).to_le_bytes()),
        _ => bytes.extend((literal.len() as u32).to_le_bytes()),
    }
    bytes.extend(literal.as_bytes());
    bytes
}

fn error(bytes: &[u8]) -> String {
    parse_header(bytes).expect_err("a bad header was taken").to_string()
}

fn header(dtype: Dtype, fortran_order: bool, shape: &[usize]) -> Header {
    let mut header =
        Header { dtype, unit: String::new(), fortran_order, shape: shape.to_vec(), data_start: 0 };
    header.data_start = header.to_bytes().len();
    header
}

const F8: Dtype = Dtype { kind: Kind::F64, endian: Endian::Little };
const I2: Dtype = Dtype { kind: Kind::I16, endian: Endian::Big };

#[test]
fn every_version_is_read() {
    for major in 1..=3 {
        let bytes = file(major, "{'descr': '>i2', 'fortran_order': True, 'shape': (3, 4), }   \n");
        let expected = Header {
            dtype: I2,
            unit: String::new(),
            fortran_order: true,
            shape: vec![3, 4],
            data_start: bytes.len(),
        };
        assert_eq!(parse_header(&bytes).unwrap(), expected);
    }
}

#[test]
fn what_is_written_is_read() {
    for (dtype, order, shape) in
        [(F8, false, &[][..]), (F8, true, &[0]), (I2, false, &[5]), (I2, true, &[2, 0, 7])]
    {
        let written = header(dtype, order, shape);
        let bytes = written.to_bytes();
        assert_eq!(bytes.len() % 64, 0);
        assert_eq!(bytes.last(), Some(&b'\n'));
        assert_eq!(parse_header(&bytes).unwrap(), written);
    }
    assert_eq!(parse_header(&header(F8, false, &[1; 64]).to_bytes()).unwrap().shape, [1; 64]);
}

#[test]
fn the_written_header_is_numpys() {
    let mut expected =
        b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }".to_vec();
    expected.resize(127, b' ');
    expected.push(b'\n');
    let written = header(F8, false, &[2, 3]).to_bytes();
    // NumPy leaves room for a longer first length, which may take another 64 bytes.
    assert_eq!(written[10..69], expected[10..69]);
}

#[test]
fn keys_may_come_in_any_order_and_style() {
    let bytes = file(1, "{\"shape\":(10L,),'descr':'|u1','fortran_order':False}");
    assert_eq!(parse_header(&bytes).unwrap().shape, [10]);
}

#[test]
fn dates_and_times_keep_their_unit() {
    for (descr, kind, unit) in [
        ("<M8[ns]", Kind::DateTime, "[ns]"),
        (">M8[D]", Kind::DateTime, "[D]"),
        ("<m8[25us]", Kind::TimeDelta, "[25us]"),
        ("<m8", Kind::TimeDelta, ""),
    ] {
        let bytes = file(1, &format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (3,), }}\n"));
        let header = parse_header(&bytes).unwrap();
        assert_eq!((header.dtype.kind, &*header.unit), (kind, unit));
        assert_eq!(parse_header(&header.to_bytes()).unwrap().unit, unit);
        assert!(String::from_utf8_lossy(&header.to_bytes()).contains(&format!("'{descr}'")));
    }
}

#[test]
fn unsupported_types_are_named() {
    for (descr, said) in [
        ("'<c16'", "dtype '<c16' (complex) cannot be sorted"),
        ("'|S5'", "dtype '|S5' (byte strings) cannot be sorted"),
        ("'<U3'", "dtype '<U3' (strings) cannot be sorted"),
        ("'|O'", "dtype '|O' (Python objects) cannot be sorted"),
        ("'<M8[xs]'", "dtype '<M8[xs]' (dates or times in an unknown unit) cannot be sorted"),
        ("'<m8[0s]'", "dtype '<m8[0s]' (dates or times in an unknown unit) cannot be sorted"),
        ("'<M8[s'", "dtype '<M8[s' (dates or times in an unknown unit) cannot be sorted"),
        ("'<i8[ns]'", "dtype '<i8[ns]' cannot be sorted"),
        ("'<f16'", "dtype '<f16' (a wider float) cannot be sorted"),
        ("''", "dtype '' cannot be sorted"),
    ] {
        let text =
            error(&file(1, &format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (3,), }}\n")));
        assert!(text.contains(said), "{text}");
        assert!(
            text.ends_with("the supported types are b1, u1 to u8, i1 to i8, f2, f4, f8, M8 and m8"),
            "{text}"
        );
    }
    let descr = "[('a', '<i4'), ('b]', [('c', '<f8')])]";
    let text = error(&file(1, &format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (3,), }}\n")));
    assert!(text.contains(&format!("the dtype {descr} is structured")), "{text}");
}

#[test]
fn malformed_headers_say_where() {
    let with = |descr: &str, order: &str, shape: &str| {
        error(&file(1, &format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}")))
    };
    for (text, said) in [
        (with("'<f8'", "False", "(3)"), "expected ',' at byte 52"),
        (with("'<f8'", "False", "(-3,)"), "expected a length"),
        (with("'<f8'", "False", "(03,)"), "without leading zeros"),
        (with("'<f8'", "False", "(99999999999999999999999,)"), "larger than any array"),
        (with("'<f8'", "False", "(4294967296, 4294967296)"), "more elements than memory has addresses"),
        (with("'<f8'", "False", "(0, 4294967296, 4294967296)"), "more elements than memory has addresses"),
        (with("'<f8'", "False", &format!("({})", "1,".repeat(65))), "more than 64 dimensions"),
        (with("'<f8'", "0", "(3,)"), "expected True or False"),
        (with("'<f8", "False", "(3,)"), "expected '}' at byte 17 of the header, but found 'f'"),
        (with("'<f\\x38'", "False", "(3,)"), "expected the end of a plain string"),
        (with("[(('", "False", "(3,)"), "expected a closing bracket"),
        (with("7", "False", "(3,)"), "expected a string"),
        (error(&file(1, "{'descr': '<f8', 'shape': (3,), }")), "key 'fortran_order' is missing"),
        (error(&file(1, "{'shape': (1,), 'shape': (3,), }")), "key 'shape' occurs twice"),
        (error(&file(1, "{'colour': 1}")), "unknown key 'colour'"),
        (error(&file(1, "{'shape': (3,)} + {}")), "expected the end"),
        (error(&file(1, "")), "expected '{' at byte 0 of the header, but found the end"),
        (error(&file(4, "{}")), "version 4.0 is unknown; 1.0, 2.0 and 3.0 are supported"),
        (error(b"\x93NUMPX"), "does not begin with \\x93NUMPY"),
        (error(b""), "does not begin with \\x93NUMPY"),
        (error(b"\x93NUMPY\x02\x00\xff\xff\xff\xff"), "but at most 65536 are allowed"),
        (error(b"\x93NUM"), "cut short: it has 4 of 12 bytes"),
        (error(&file(1, "{'descr': '<f8'}")[..20]), "cut short: it has 20 of 26 bytes"),
    ] {
        assert!(text.contains(said), "'{said}' is not in: {text}");
    }
}

#[test]
fn deep_nesting_is_no_danger() {
    let deep = format!("{{'descr': {}", "[".repeat(60_000));
    assert!(error(&file(1, &deep)).contains("expected a closing bracket"));
}

fn read(bytes: &[u8], through_pipe: bool) -> Result<Vec<f64>, Error> {
    let (mut input, _keep);
    if through_pipe {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let bytes = bytes.to_vec();
        _keep = Some(std::thread::spawn(move || writer.write_all(&bytes)));
        input = Input::new(File::from(std::os::fd::OwnedFd::from(reader))).unwrap();
    } else {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        _keep = None;
        input = Input::new(file.reopen().unwrap()).unwrap();
    }
    let header = npy::read_header(&mut input)?;
    npy::read_data(&mut input, &header, &|_| {})
}

#[test]
fn data_must_be_as_long_as_promised() {
    let mut bytes = header(F8, false, &[3]).to_bytes();
    [2.0f64, -0.5, 1e300].iter().for_each(|x| bytes.extend(x.to_le_bytes()));
    for through_pipe in [false, true] {
        assert_eq!(read(&bytes, through_pipe).unwrap(), [2.0, -0.5, 1e300]);
        let short = read(&bytes[..bytes.len() - 3], through_pipe).unwrap_err().to_string();
        assert_eq!(short, "the array is cut short: it has 21 of 24 bytes of data");
        let long = read(&[&bytes[..], b"x"].concat(), through_pipe).unwrap_err().to_string();
        assert!(long.starts_with("the header promises 24 bytes of data, but the file has more"), "{long}");
    }
}

#[test]
fn a_promise_of_exabytes_takes_no_memory() {
    let bytes = header(F8, false, &[1 << 59]).to_bytes();
    for through_pipe in [false, true] {
        assert!(matches!(read(&bytes, through_pipe), Err(Error::Truncated { have: 0, .. })));
    }
}

proptest! {
    /// No mutation of a valid header causes a panic, and any header that is accepted can be written and read again.
    #[test]
    fn mutated_headers_never_panic(
        major in 1u8..=3,
        changes in prop::collection::vec((0usize..100, prop_oneof![any::<u8>(), prop::sample::select(&b"{}[]()'\":,<>0L \\"[..])]), 0..6),
        cut in 0usize..120,
    ) {
        let mut bytes = file(major, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 10), }     \n");
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        if cut < 40 {
            bytes.truncate(bytes.len() - cut);
        }
        if let Ok(header) = parse_header(&bytes) {
            let written = header.to_bytes();
            let again = parse_header(&written).unwrap();
            prop_assert_eq!(again, Header { data_start: written.len(), ..header });
        }
    }

    #[test]
    fn any_bytes_never_panic(literal in "\\{('(descr|fortran_order|shape)':|[\\[\\](){},'0-9LTrueFals<> ]){0,30}") {
        let _ = parse_header(&file(1, &literal));
    }
}
