//! Generated mzML: every type of numbers, everything that must be kept, and every refusal.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha1::{Digest, Sha1};
use sortie_formats::Quoted;
use sortie_formats::spectra::mzml::{self, Header, Index, Part};
use sortie_formats::spectra::{Format, Kept, NoRoom, Problem, Room, SpectrumError};

fn base64(bytes: &[u8]) -> String {
    base64_simd::STANDARD.encode_to_string(bytes)
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// An array with these parameters, given by the last digits of their accessions.
fn array(parameters: &[u32], binary: &str) -> String {
    let parameters: String = parameters
        .iter()
        .map(|accession| format!("<cvParam cvRef=\"MS\" accession=\"MS:{accession}\" name=\"\"/>\n"))
        .collect();
    let length = binary.len();
    format!(
        "<binaryDataArray encodedLength=\"{length}\">{parameters}<binary>{binary}</binary></binaryDataArray>\n"
    )
}

macro_rules! numbers {
    ($($number:expr),*) => { [$($number.to_le_bytes()),*].concat() };
}

const I32: u32 = 1_000_519;
const F32: u32 = 1_000_521;
const I64: u32 = 1_000_522;
const F64: u32 = 1_000_523;
const ZLIB: u32 = 1_000_574;
const PLAIN: u32 = 1_000_576;
const MZ: u32 = 1_000_514;
const INTENSITY: u32 = 1_000_515;
const CHARGE: u32 = 1_000_516;
const WAVELENGTH: u32 = 1_000_617;
const NON_STANDARD: u32 = 1_000_786;
const TEXT: u32 = 1_001_479;

fn spectrum(id: &str, length: usize, arrays: &[String]) -> String {
    format!(
        "<spectrum index='0' id=\"{id}\" defaultArrayLength=\"{length}\"><!-- <binary> -->\n\
         <binaryDataArrayList count=\"{}\">{}</binaryDataArrayList></spectrum>\n",
        arrays.len(),
        arrays.concat()
    )
}

/// A spectrum of three peaks, in all number types.
fn three(id: &str) -> String {
    spectrum(
        id,
        3,
        &[
            array(&[MZ, F64, ZLIB], &base64(&zlib(&numbers![3.5f64, 1.5f64, 2.5f64]))),
            array(&[PLAIN, I32, INTENSITY], &base64(&numbers![10i32, 30i32, -20i32])),
            array(&[CHARGE, I64, PLAIN], &base64(&numbers![1i64, 2i64, 3i64])),
        ],
    )
}

fn document(spectra: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<mzML><referenceableParamGroupList><referenceableParamGroup id=\"g\">\
         <cvParam accession=\"MS:{F32}\"/><cvParam accession=\"MS:{ZLIB}\"/></referenceableParamGroup>\
         </referenceableParamGroupList><run id=\"r\"><spectrumList>{spectra}</spectrumList></run></mzML>"
    )
}

fn parse(text: &str) -> Result<Part, SpectrumError> {
    mzml::parse(&Header::parse(text.as_bytes()).unwrap(), text.as_bytes(), &Room::unlimited())
}

fn rewritten(text: &str, order: &[&[u32]]) -> String {
    let mut out = Vec::new();
    parse(text).unwrap().write(text.as_bytes(), order.iter().copied(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn peaks_of_every_type() {
    let grouped = array(&[MZ], &base64(&zlib(&numbers![1f32, 0.5f32])))
        .replace("<binary>", "<referenceableParamGroupRef ref=\"g\"/><binary>\n ");
    let second =
        spectrum("b", 2, &[grouped, array(&[INTENSITY, I64, PLAIN], &base64(&numbers![7i64, 1i64]))]);
    let text = document(&(three("a") + &second + &spectrum("c", 0, &[])));
    let part = parse(&text).unwrap();
    assert_eq!(part.peaks().mz, [3.5, 1.5, 2.5, 1.0, 0.5]);
    assert_eq!(part.peaks().intensity, [10.0, 30.0, -20.0, 7.0, 1.0]);
    assert_eq!(part.peaks().offsets, [0, 3, 5, 5]);

    assert_eq!(rewritten(&text, &[&[0, 1, 2], &[0, 1], &[]]), text, "what is in order stays byte for byte");
    let again = rewritten(&text, &[&[1, 2, 0], &[1, 0], &[]]);
    let part = parse(&again).unwrap();
    assert_eq!(part.peaks().mz, [1.5, 2.5, 3.5, 0.5, 1.0]);
    assert_eq!(part.peaks().intensity, [30.0, -20.0, 10.0, 1.0, 7.0]);
    assert!(again.contains(&base64(&numbers![2i64, 3i64, 1i64])), "charges move along");
    assert!(again.contains("<!-- <binary> -->"));

    let fewer = rewritten(&text, &[&[2], &[0, 1], &[]]);
    assert_eq!(parse(&fewer).unwrap().peaks().mz, [2.5, 1.0, 0.5]);
    assert!(fewer.contains("id=\"a\" defaultArrayLength=\"1\""), "{fewer}");
    let encoded = base64(&numbers![3i64]);
    assert!(fewer.contains(&format!("encodedLength=\"{}\"", encoded.len())) && fewer.contains(&encoded));
}

/// The two arrays of a spectrum with these peaks.
fn peaks(mz: &[f64], intensity: &[f32]) -> [String; 2] {
    let (mz, intensity) =
        (mz.iter().flat_map(|mz| mz.to_le_bytes()), intensity.iter().flat_map(|i| i.to_le_bytes()));
    [
        array(&[MZ, F64, PLAIN], &base64(&mz.collect::<Vec<_>>())),
        array(&[INTENSITY, F32, ZLIB], &base64(&zlib(&intensity.collect::<Vec<_>>()))),
    ]
}

fn kept(text: &str) -> Kept {
    parse(text).map(sortie_formats::spectra::Part::MzMl).unwrap().kept()
}

#[test]
fn spectra_without_mz_or_intensities_stay_as_they_are() {
    let [mz, intensity] = peaks(&[2.0, 1.0], &[4.0, 3.0]);
    let light = array(&[WAVELENGTH, F32, ZLIB], &base64(&zlib(&numbers![200f32, 190f32])));
    for arrays in
        [&[light.clone(), intensity.clone()][..], std::slice::from_ref(&mz), &[intensity], &[light], &[]]
    {
        let other = spectrum("other", 2, arrays);
        let text = document(&(three("a") + &other + &three("b")));
        assert_eq!(kept(&text), Kept { spectra: 1, arrays: 0 });
        assert_eq!(parse(&text).unwrap().peaks().offsets, [0, 3, 3, 6]);
        assert_eq!(rewritten(&text, &[&[0, 1, 2], &[], &[0, 1, 2]]), text);
        let sorted = rewritten(&text, &[&[1, 2, 0], &[], &[1]]);
        assert!(sorted.contains(&other), "{sorted}");
        assert_eq!(parse(&sorted).unwrap().peaks().mz, [1.5, 2.5, 3.5, 1.5]);
    }
    // A spectrum without peaks is no exception that must be told.
    assert_eq!(kept(&document(&spectrum("none", 0, &[]))), Kept::default());
}

#[test]
fn arrays_of_another_length_stay_as_they_are() {
    let noise = array(&[NON_STANDARD, F32, PLAIN], &base64(&numbers![9f32, 8f32, 7f32]));
    let declared = noise.replace("<binaryDataArray ", "<binaryDataArray arrayLength=\"3\" ");
    let none = array(&[NON_STANDARD, F64, ZLIB], "");
    let text_of_one = array(&[TEXT, PLAIN, NON_STANDARD], &base64(b"one text\0"));
    for other in [noise, declared, none, text_of_one] {
        let [mz, intensity] = peaks(&[2.0, 1.0], &[4.0, 3.0]);
        let charge = array(&[CHARGE, I32, PLAIN], &base64(&numbers![20i32, 10i32]));
        let text = document(&spectrum("x", 2, &[mz, other.clone(), intensity, charge]));
        assert_eq!(kept(&text), Kept { spectra: 0, arrays: 1 });
        let sorted = rewritten(&text, &[&[1, 0]]);
        assert!(sorted.contains(&other), "{sorted}");
        assert!(sorted.contains(&base64(&numbers![10i32, 20i32])), "charges move along");
        let peaks = parse(&sorted).unwrap();
        assert_eq!((&peaks.peaks().mz[..], &peaks.peaks().intensity[..]), (&[1.0, 2.0][..], &[3.0, 4.0][..]));
    }
}

#[test]
fn a_spectrum_with_a_string_for_each_peak_stays_as_it_is() {
    for strings in [&b"y1\0b2\0"[..], b"y1\0b2", b"\0\0"] {
        for (kind, stored) in [(PLAIN, base64(strings)), (ZLIB, base64(&zlib(strings)))] {
            let [mz, intensity] = peaks(&[2.0, 1.0], &[4.0, 3.0]);
            let text = document(&spectrum("x", 2, &[mz, intensity, array(&[TEXT, kind], &stored)]));
            assert_eq!(kept(&text), Kept { spectra: 1, arrays: 0 });
            assert_eq!(rewritten(&text, &[&[]]), text);
        }
    }
}

/// Once, one such array made the whole file an error.
#[test]
fn a_spectrum_with_an_additional_array_that_cannot_be_read_stays_as_it_is() {
    const NUMPRESS: u32 = 1_002_312;
    const F16: u32 = 1_000_520;
    let of = |parameters: &[u32]| array(parameters, &base64(b"y1\0b2\0"));
    for other in [of(&[TEXT]), of(&[F64, NUMPRESS]), of(&[F16, PLAIN]), of(&[CHARGE])] {
        let [mz, intensity] = peaks(&[2.0, 1.0], &[4.0, 3.0]);
        let text = document(&spectrum("x", 2, &[mz, intensity, other.clone()]));
        assert_eq!(kept(&text), Kept { spectra: 1, arrays: 0 });
        assert_eq!(rewritten(&text, &[&[]]), text);
        // If it says that it has another length, it need not move.
        let [mz, intensity] = peaks(&[2.0, 1.0], &[4.0, 3.0]);
        let other = other.replace("<binaryDataArray ", "<binaryDataArray arrayLength=\"3\" ");
        let text = document(&spectrum("x", 2, &[mz, intensity, other.clone()]));
        assert_eq!(kept(&text), Kept { spectra: 0, arrays: 1 });
        assert!(rewritten(&text, &[&[1, 0]]).contains(&other));
    }
}

#[test]
fn an_index_follows_its_spectra() {
    let body =
        document(&(three("a") + &three("b") + &three("c"))).replace("<mzML>", "<indexedmzML><mzML>").replace(
            "</run>",
            "<chromatogramList><chromatogram id=\"t\"></chromatogram></chromatogramList></run>",
        );
    let place = |text: &str, of: &str| text.find(of).unwrap();
    let index = |text: &str| {
        let offset = |tag: &str, id: &str| {
            format!(
                "<offset idRef=\"{id}\">{}</offset>",
                place(text, &format!("<{tag} index='0' id=\"{id}\""))
            )
        };
        let chromatogram = place(text, "<chromatogram id=\"t\"");
        let list = format!(
            "<index name=\"spectrum\">{}{}{}</index><index name=\"chromatogram\"><offset idRef=\"t\">{chromatogram}</offset></index>",
            offset("spectrum", "a"),
            offset("spectrum", "b"),
            offset("spectrum", "c")
        );
        let start = text.len();
        let all = format!(
            "{text}<indexList count=\"2\">{list}</indexList><indexListOffset>{start}</indexListOffset><fileChecksum>"
        );
        let hash: String = Sha1::digest(all.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{all}{hash}</fileChecksum></indexedmzML>")
    };
    let whole = index(&body);
    let header = Header::parse(whole.as_bytes()).unwrap();
    assert!(header.indexed && header.closing_tag() == "</indexedmzML>");
    assert_eq!(Index::start(whole.as_bytes()), body.len());
    assert_eq!(Index::start(body.as_bytes()), body.len());
    // Reads it in two stretches. The second and the third spectrum change.
    let cut = Format::MzMl.next_cut(whole.as_bytes(), 0).unwrap();
    let mut follower = Index::default();
    let mut out = Vec::new();
    for (text, order) in [(&body[..cut], &[&[0u32, 1, 2][..]][..]), (&body[cut..], &[&[1], &[2, 1]])] {
        let mut piece = Vec::new();
        let part = mzml::parse(&header, text.as_bytes(), &Room::unlimited()).unwrap();
        let moved = part.write(text.as_bytes(), order.iter().copied(), &mut piece).unwrap();
        follower.follow(text.len() as u64, &piece, &moved).unwrap();
        out.extend(piece);
    }
    let expected = index(std::str::from_utf8(&out).unwrap());
    out.extend(follower.write(&whole.as_bytes()[body.len()..]).unwrap());
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn what_is_wrong_is_said_of_its_spectrum() {
    let two = [
        array(&[MZ, F64, PLAIN], &base64(&numbers![1f64, 2f64])),
        array(&[INTENSITY, F64, PLAIN], &base64(&numbers![1f64, f64::NAN])),
    ];
    let cases = [
        (spectrum("x", 2, &two), "peak 2, of m/z 2 and intensity NaN"),
        (spectrum("x", 3, &two), "the array of m/z does not have 3 numbers, one for each peak"),
        (spectrum("x", usize::MAX, &two), "numbers, one for each peak of the spectrum"),
        (spectrum("x", 1, &two), "numbers, one for each peak of the spectrum"),
        (
            spectrum("x", 2, &two).replace("encodedLength", "arrayLength"),
            "the length of the array of m/z is 24",
        ),
        (
            spectrum("x", 2, &two).replace("Length=\"24\"", "Length=\"25\""),
            "the encodedLength of the array of m/z is 25, but it has 24 characters",
        ),
        (
            spectrum("x", 2, &two).replace("Length=\"24\"", "Length=\"\u{1b}\""),
            "the encodedLength of the array of m/z is not a number",
        ),
        (spectrum("x", 2, &two).replace(" defaultArrayLength", " a"), "it has no defaultArrayLength"),
        (
            spectrum("x", 2, &two).replace("Length=\"2\"", "Length=\"two\""),
            "its defaultArrayLength is not a number",
        ),
        (
            spectrum("x", 2, &[array(&[MZ, F64], "AAAA"), two[1].clone()]),
            "compressed with an unsupported method",
        ),
        (spectrum("x", 2, &[array(&[MZ, PLAIN], "AAAA"), two[1].clone()]), "has an unsupported type"),
        (spectrum("x", 2, &[array(&[MZ, F64, PLAIN], "AAAAA"), two[1].clone()]), "is not base64"),
        (spectrum("x", 2, &[array(&[MZ, F64, ZLIB], "AAAA"), two[1].clone()]), "cannot be decompressed"),
        (spectrum("x", 2, &two).replace("</spectrum>", ""), "the file ends before its </spectrum>"),
        (
            spectrum("x", 2, &two).replace("</spectrum>", "<spectrum id=\"y\">"),
            "another <spectrum> comes before",
        ),
        (spectrum("x", 2, &two).replace("</spectrum>", "<!-- "), "not well-formed XML, or cut short"),
    ];
    for (bad, problem) in cases {
        let error = parse(&document(&(three("a") + &bad))).unwrap_err();
        assert!(error.before == 1 && error.title == Some(Quoted::new("x")), "{error:?}");
        assert!(error.problem.to_string().contains(problem), "{}, not {problem}", error.problem);
    }
    assert!(parse(&document("</spectrum>")).is_err());
    for (text, problem) in [
        ("<a>", "'a'"),
        ("<\u{1b}[31m>", r"begins with ''$'\033''[31m',"),
        ("", "ends before"),
        ("<mzML", "not well-formed"),
    ] {
        let error = Header::parse(text.as_bytes()).unwrap_err();
        assert!(error.contains(problem), "{text}: {error}");
    }
}

/// A few bytes of zlib that decompress to a hundred million, in a spectrum that declares this length.
#[test]
fn numbers_take_no_more_room_than_there_is() {
    let length = 25_000_000;
    let zeros = base64(&zlib(&vec![0; 4 * length]));
    let bomb = |length| {
        let arrays = [array(&[MZ, F32, ZLIB], &zeros), array(&[INTENSITY, F32, ZLIB], &zeros)];
        document(&(three("a") + &spectrum("bomb", length, &arrays)))
    };
    let room = Room::new(1 << 20);
    let refused = |length| {
        let text = bomb(length);
        let header = Header::parse(text.as_bytes()).unwrap();
        let error = mzml::parse(&header, text.as_bytes(), &room).unwrap_err();
        assert!(error.before == 1 && error.title == Some(Quoted::new("bomb")), "{error:?}");
        error.problem
    };
    // The memory that the message states is what is needed.
    let problem = refused(length);
    assert!(
        matches!(problem, Problem::NoRoom(NoRoom::Limit { needed, limit: 1_048_576 }) if needed > 100_000_000),
        "{problem}"
    );
    // The declared length is smaller than the actual one, or larger than possible.
    for length in [0, 1, 3, length * 100, usize::MAX / 4, usize::MAX] {
        let problem = refused(length).to_string();
        assert!(problem.contains("numbers, one for each peak of the spectrum"), "{length}: {problem}");
    }
    assert!(room.taken() <= 1 << 20);
}

/// Bytes are changed, removed or repeated at random positions. Parsing returns an error or spectra and never panics.
/// Bytes that are not moved are unchanged.
#[test]
fn damaged_text() {
    let text = document(&(three("a") + &three("b"))).into_bytes();
    let mgf = b"COM=x\nBEGIN IONS\nTITLE=a\n3 4 1+\r\n1 2\nEND IONS\nBEGIN IONS\n5.5e1 1\n; c\n\nEND IONS\n"
        .to_vec();
    let mut state = 1u64;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        (state >> 33) as usize % limit
    };
    let mut read = 0;
    for turn in 0..20_000 {
        let mut damaged = if turn % 2 == 0 { text.clone() } else { mgf.clone() };
        for _ in 0..=below(3) {
            let at = below(damaged.len());
            match below(4) {
                0 => damaged[at] = b"<>/\"= \nNaN0\xff"[below(12)],
                1 => damaged.truncate(at + 1),
                2 => drop(damaged.drain(at..damaged.len().min(at + 1 + below(30)))),
                _ => {
                    let again: Vec<u8> = damaged[at..damaged.len().min(at + 60)].to_vec();
                    let to = below(damaged.len());
                    damaged.splice(to..to, again);
                }
            }
            if damaged.is_empty() {
                break;
            }
        }
        let mut out = Vec::new();
        let parsed = if turn % 2 == 0 {
            let Ok(header) = Header::parse(&damaged) else { continue };
            mzml::parse(&header, &damaged, &Room::new(1 << 20)).map(sortie_formats::spectra::Part::MzMl)
        } else {
            sortie_formats::spectra::mgf::parse(&damaged, &Room::new(1 << 20))
                .map(sortie_formats::spectra::Part::Mgf)
        };
        let Ok(part) = parsed else { continue };
        read += 1;
        let offsets = &part.peaks().offsets;
        let places: Vec<Vec<u32>> =
            offsets.windows(2).map(|bounds| (0..(bounds[1] - bounds[0]) as u32).collect()).collect();
        part.write(&damaged, places.iter().map(Vec::as_slice), &mut out).unwrap();
        assert!(out == damaged);
        let reversed: Vec<Vec<u32>> =
            places.iter().map(|places| places.iter().rev().copied().collect()).collect();
        out.clear();
        part.write(&damaged, reversed.iter().map(Vec::as_slice), &mut out).unwrap();
    }
    assert!(read > 1000, "{read} could be read");
}
