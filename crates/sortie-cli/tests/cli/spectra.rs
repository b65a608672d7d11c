//! Mass spectra: real files compared with a plain sort peak by peak, generated files, and every refusal.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{
    Numbers, UNREAD, complaint, compress, data, decompress, done_or_told_at_every_limit, folder, names, peak,
    run, text,
};
use mzdata::MzMLReader;
use mzdata::prelude::*;
use mzdata::spectrum::MultiLayerSpectrum;

fn sortie(folder: &Path, args: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sortie"));
    command.arg("spectra").current_dir(folder).args(args.split_whitespace());
    command
}

#[track_caller]
fn succeed(folder: &Path, args: &str) {
    let output: Output = sortie(folder, args).output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""), "sortie {args}");
}

/// A real file, decompressed.
fn real(name: &str) -> Option<Vec<u8>> {
    let path: Option<PathBuf> = data().map(|folder| folder.join("spectra").join(name));
    match path.filter(|path| path.is_file()) {
        Some(path) => Some(decompress(&fs::read(path).unwrap())),
        None => {
            eprintln!("SKIPPED: no spectra/{name} in ../shared/data or $SORTIE_DATA");
            None
        }
    }
}

/// The order that a test asks for.
#[derive(Clone, Copy, Debug)]
struct Asked {
    by_mz: bool,
    descending: bool,
    top: Option<usize>,
}

const ASKED: [Asked; 6] = [
    Asked { by_mz: true, descending: false, top: None },
    Asked { by_mz: true, descending: true, top: None },
    Asked { by_mz: false, descending: false, top: None },
    Asked { by_mz: false, descending: true, top: Some(5) },
    Asked { by_mz: false, descending: false, top: Some(1) },
    Asked { by_mz: true, descending: false, top: Some(20) },
];

impl Asked {
    fn args(self) -> String {
        let by = if self.by_mz { "mz" } else { "intensity" };
        let descending = if self.descending { " --descending" } else { "" };
        let top = self.top.map(|top| format!(" --top {top}")).unwrap_or_default();
        format!("--by {by}{descending}{top}")
    }

    /// The peaks in the requested order, sorted by the standard library's stable sort.
    fn sort<T: Clone>(self, peaks: &[T], value: impl Fn(&T) -> (f64, f64)) -> Vec<T> {
        let mut kept: Vec<(usize, T)> = peaks.iter().cloned().enumerate().collect();
        if let Some(top) = self.top {
            kept.sort_by(|a, b| value(&b.1).1.total_cmp(&value(&a.1).1));
            kept.truncate(top);
            kept.sort_by_key(|(place, _)| *place);
        }
        let key = |peak: &T| if self.by_mz { value(peak).0 } else { value(peak).1 };
        kept.sort_by(|(_, a), (_, b)| {
            let order = key(a).total_cmp(&key(b));
            if self.descending { order.reverse() } else { order }
        });
        kept.into_iter().map(|(_, peak)| peak).collect()
    }
}

/// Sorts MGF line by line. Every line in a spectrum that begins with a digit counts as a peak.
fn sorted_mgf(text: &[u8], asked: Asked) -> Vec<u8> {
    let mut out = Vec::new();
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let is_peak = |line: &&[u8]| line[0].is_ascii_digit();
    for group in lines.split_inclusive(|line| line.starts_with(b"END IONS")) {
        let peaks: Vec<&[u8]> = group.iter().copied().filter(is_peak).collect();
        let mut sorted = asked
            .sort(&peaks, |line| {
                let line = std::str::from_utf8(line).unwrap();
                let mut fields = line.split_whitespace().map(|field| field.parse::<f64>().unwrap());
                (fields.next().unwrap(), fields.next().unwrap())
            })
            .into_iter();
        for line in group {
            out.extend_from_slice(if is_peak(line) { sorted.next().unwrap_or_default() } else { line });
        }
    }
    out
}

/// MGF with peaks in random order, and with everything that may be between them.
fn generated_mgf(spectra: usize, longest: usize) -> Vec<u8> {
    let mut numbers = Numbers::new(7);
    let mut out = b"# of no instrument\r\nMASS=Monoisotopic\n\n".to_vec();
    for i in 0..spectra {
        let end = ["\n", "\r\n"][numbers.below(2)];
        write!(out, "BEGIN IONS{end}TITLE=spectrum {i}{end}").unwrap();
        for _ in 0..numbers.below(longest + 1) {
            match numbers.below(20) {
                0 => write!(out, "; 1 2{end}"),
                1 => write!(out, "{end}"),
                2 => write!(out, "{}.5 {}e2 {}+{end}", numbers.below(9), numbers.below(9), i % 4),
                _ => {
                    write!(out, "{}.{}\t{}{end}", numbers.below(2000), numbers.below(100), numbers.below(500))
                }
            }
            .unwrap();
        }
        write!(out, "END IONS{end}").unwrap();
    }
    out
}

/// Replaces the plus signs in the column of charges. Otherwise the line would not parse as numbers.
fn without_charges(mgf: &[u8]) -> Vec<u8> {
    mgf.iter().copied().map(|byte| if byte == b'+' { b'0' } else { byte }).collect()
}

#[test]
fn real_mgf_is_sorted() {
    let Some(mgf) = real("massbank-open.mgf.gz") else { return };
    let folder = folder("in.mgf", &mgf);
    for asked in ASKED {
        succeed(folder.path(), &format!("in.mgf -o out.mgf {}", asked.args()));
        let out = fs::read(folder.path().join("out.mgf")).unwrap();
        assert!(out == sorted_mgf(&mgf, asked), "{asked:?}");
    }
}

#[test]
fn generated_mgf_is_sorted() {
    // Longer than a stretch; then with spectra longer than a part; then with one longer than a stretch.
    for (spectra, longest) in [(40, 200), (30_000, 40), (20, 60_000), (1, 1_500_000)] {
        let mgf = generated_mgf(spectra, longest);
        let folder = folder("in.mgf", &mgf);
        for asked in ASKED.into_iter().skip(spectra % 3).step_by(3) {
            succeed(folder.path(), &format!("in.mgf -o out.mgf {}", asked.args()));
            let out = without_charges(&fs::read(folder.path().join("out.mgf")).unwrap());
            assert!(out == sorted_mgf(&without_charges(&mgf), asked), "{spectra} of {longest}, {asked:?}");
        }
    }
}

#[test]
fn gzip_and_standard_input() {
    let mgf = generated_mgf(3000, 50);
    let sorted = sorted_mgf(&without_charges(&mgf), ASKED[0]);
    let folder = folder("in", &compress(&mgf));
    succeed(folder.path(), "in -o out.mgf.gz --by mz");
    let out = decompress(&fs::read(folder.path().join("out.mgf.gz")).unwrap());
    assert!(without_charges(&out) == sorted);
    // Compressed in two members, and sorted in place.
    let (one, two) = mgf.split_at(mgf.len() / 2);
    fs::write(folder.path().join("in"), [compress(one), compress(two)].concat()).unwrap();
    succeed(folder.path(), "in -o in --by mz");
    assert!(without_charges(&fs::read(folder.path().join("in")).unwrap()) == sorted);
    let output = run(&mut sortie(folder.path(), "- -o piped --by mz --stats=json"), &compress(&mgf));
    assert!(without_charges(&fs::read(folder.path().join("piped")).unwrap()) == sorted);
    let stats = text(&output.stderr);
    assert!(["read", "parse", "finish", "write"].iter().all(|phase| stats.contains(phase)), "{stats}");
    // An empty file.
    fs::write(folder.path().join("in"), "").unwrap();
    succeed(folder.path(), "in -o out.mgf.gz --by mz");
    assert_eq!(decompress(&fs::read(folder.path().join("out.mgf.gz")).unwrap()), b"");
}

/// All spectra of a file, as an independent reader finds them.
fn spectra(path: &Path) -> Vec<MultiLayerSpectrum> {
    let mut reader = MzMLReader::open_path(path).unwrap();
    let count = reader.len();
    let spectra: Vec<_> = reader.iter().collect();
    assert_eq!(spectra.len(), count);
    // The index gives the position of each spectrum.
    for i in [0, count / 2, count - 1] {
        assert_eq!(reader.get_spectrum_by_index(i).unwrap().description(), spectra[i].description());
    }
    spectra
}

fn peaks(spectrum: &MultiLayerSpectrum) -> Vec<(f64, f32)> {
    let arrays = spectrum.raw_arrays().expect("arrays");
    let (mz, intensity) = (arrays.mzs().unwrap(), arrays.intensities().unwrap());
    assert_eq!(mz.len(), intensity.len());
    mz.iter().copied().zip(intensity.iter().copied()).collect()
}

#[test]
fn real_mzml_reads_back_equal() {
    let Some(mzml) = real("small.mzML.gz") else { return };
    let folder = folder("in.mzML", &mzml);
    let before = spectra(&folder.path().join("in.mzML"));
    for asked in ASKED {
        succeed(folder.path(), &format!("in.mzML -o out.mzML {}", asked.args()));
        let after = spectra(&folder.path().join("out.mzML"));
        assert_eq!(before.len(), after.len());
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(before.description(), after.description());
            let expected = asked.sort(&peaks(before), |peak| (peak.0, f64::from(peak.1)));
            assert!(peaks(after) == expected, "{asked:?}, {}", before.id());
        }
        if asked.by_mz && asked.top.is_none() && !asked.descending {
            // The peaks already were in this order.
            assert!(fs::read(folder.path().join("out.mzML")).unwrap() == mzml);
        }
    }
    // Everything except numbers is unchanged.
    let out = fs::read(folder.path().join("out.mzML")).unwrap();
    let frame = |mzml: &[u8]| {
        let changes =
            ["<binary>", "encodedLength=", "defaultArrayLength=", "<offset", "<indexListOffset", "<fileC"];
        let lines = text(mzml);
        let kept = lines.lines().filter(|line| !changes.iter().any(|change| line.contains(change)));
        kept.map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(frame(&out) == frame(&mzml));
    // Sorted back, the peaks are the same again, even if zlib compressed them differently.
    succeed(folder.path(), "in.mzML -o out.mzML.gz --by intensity");
    succeed(folder.path(), "out.mzML.gz -o back.mzML --by mz");
    let back = spectra(&folder.path().join("back.mzML"));
    assert!(back.iter().zip(&before).all(|(back, before)| peaks(back) == peaks(before)));
}

/// Invalid input is refused with one line that names the spectrum, and the output is unchanged.
#[test]
fn refusals_write_nothing() {
    let good = "BEGIN IONS\nTITLE=good\n2 1\n1 2\nEND IONS\n".repeat(30_000);
    let bad = |body: &str| [good.as_bytes(), b"BEGIN IONS\nTITLE=the bad\n", body.as_bytes()].concat();
    let cut_gzip = |bytes: &[u8], less: usize| {
        let bytes = compress(bytes);
        bytes[..bytes.len() - less].to_vec()
    };
    let named = "spectrum 30001, 'the bad'";
    let xml = |body: &str| format!("<?xml version=\"1.0\"?><mzML><run><spectrumList>{body}").into_bytes();
    let cases = [
        (bad("1 NaN\nEND IONS\n"), named),
        (bad("1\nEND IONS\n"), named),
        (bad("1 2\n"), named),
        (bad("1 2\nEND IO"), named),
        (compress(&bad("1 2\n")), named),
        (cut_gzip(&bad(&"1 2\n".repeat(100_000)), 20), named),
        (cut_gzip(good.as_bytes(), 5), "reading stopped after spectrum 30000"),
        ([compress(good.as_bytes()), b"more".to_vec()].concat(), "reading stopped after spectrum 30000"),
        (b"no spectra\n".to_vec(), "has no spectra"),
        (b"<mzXML></mzXML>".to_vec(), "'mzXML', so it is not mzML"),
        (xml("</spectrumList>"), "cut short after spectrum 0: it ends before its </mzML>"),
        (
            xml("<spectrum id=\"a\" defaultArrayLength=\"0\">"),
            "spectrum 1, 'a': the file ends before its </spectrum>",
        ),
        (xml("<spectrum id=\"a\" defaultArrayLength=\"0"), "in.mgf: spectrum 1: "),
        (
            xml("<spectrum id=\"a\" defaultArrayLength=\"1\"></spectrum>"),
            "cut short after spectrum 1: it ends before its </mzML>",
        ),
    ];
    for (bytes, said) in cases {
        let folder = folder("in.mgf", &bytes);
        fs::write(folder.path().join("out.mgf"), "old").unwrap();
        for output in ["out.mgf", "in.mgf", "new.mgf"] {
            let output = sortie(folder.path(), &format!("in.mgf --by mz -o {output}")).output().unwrap();
            let complaint = complaint(&output, 2);
            assert!(complaint.contains(said), "{complaint}, not {said}");
            assert_eq!(names(folder.path()), ["in.mgf", "out.mgf"]);
            assert_eq!(fs::read(folder.path().join("out.mgf")).unwrap(), b"old");
            assert!(fs::read(folder.path().join("in.mgf")).unwrap() == bytes);
        }
    }
    let folder = folder("in.mgf", good.as_bytes());
    for args in ["none.mgf -o x --by mz", "in.mgf -o x", "in.mgf --by mz", "in.mgf -o x --by mz --top 0"] {
        complaint(&sortie(folder.path(), args).output().unwrap(), 2);
        assert_eq!(names(folder.path()), ["in.mgf"]);
    }
}

/// mzML with `spectra` spectra, each with `peaks` zeros as peaks. zlib compresses them well.
fn zeros(spectra: usize, peaks: usize) -> Vec<u8> {
    let zlib = {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&vec![0; 4 * peaks]).unwrap();
        encoder.finish().unwrap()
    };
    let encoded = base64_simd::STANDARD.encode_to_string(&zlib);
    let array = |kind: &str| {
        format!(
            "<binaryDataArray encodedLength=\"{}\"><cvParam accession=\"MS:1000521\"/><cvParam accession=\"MS:1000574\"/>\
             <cvParam accession=\"MS:{kind}\"/><binary>{encoded}</binary></binaryDataArray>",
            encoded.len()
        )
    };
    let arrays = array("1000514") + &array("1000515");
    let spectrum = |i| format!("<spectrum id=\"s{i}\" defaultArrayLength=\"{peaks}\">{arrays}</spectrum>");
    let all: String = (1..=spectra).map(spectrum).collect();
    format!("<mzML><run><spectrumList>{all}</spectrumList></run></mzML>").into_bytes()
}

/// A few kilobytes that decompress to 80 MB. They exceed `-S`, and the message says which `-S` suffices.
#[test]
fn a_spectrum_larger_than_the_limit_is_refused_with_what_it_needs() {
    let bomb = compress(&zeros(1, 10_000_000));
    assert!(bomb.len() < 2_000, "{}", bomb.len());
    let folder = folder("in", &bomb);
    for size in ["16M", "64M"] {
        let output =
            sortie(folder.path(), &format!("in -o out --by mz --parallel 2 -S {size}")).output().unwrap();
        let said = complaint(&output, 2);
        assert!(said.starts_with("sortie: in: spectrum 1, 's1': ") && said.contains("of memory"), "{said}");
        assert_eq!(names(folder.path()), ["in"]);
        // Twice as many numbers would not fit in the suggested memory.
        let megabytes: u64 =
            said.split("give -S ").nth(1).unwrap().split('M').next().unwrap().parse().unwrap();
        assert!((800..4_000).contains(&megabytes), "{said}");
    }
    // Another file is sorted with the suggested value.
    fs::write(folder.path().join("in"), compress(&zeros(1, 300_000))).unwrap();
    let small = sortie(folder.path(), "in -o out --by mz --parallel 2 -S 16M --descending");
    let said = complaint(&{ small }.output().unwrap(), 2);
    let enough = said.split("give -S ").nth(1).unwrap().split(',').next().unwrap();
    succeed(folder.path(), &format!("in -o out --by mz --parallel 2 -S {enough} --descending"));
}

#[test]
fn spectra_that_fit_one_by_one_are_sorted_whatever_the_limit() {
    let folder = folder("in", &zeros(30, 20_000));
    let mgf = generated_mgf(3000, 50);
    fs::write(folder.path().join("in.mgf"), &mgf).unwrap();
    for input in ["in", "in.mgf"] {
        let args = format!("{input} -o - --by intensity --top 15000 --parallel 2");
        let all = sortie(folder.path(), &args).output().unwrap();
        for size in ["20M", "24M", "64M"] {
            let few = sortie(folder.path(), &format!("{args} -S {size}")).output().unwrap();
            assert_eq!((few.status.code(), text(&few.stderr).as_str()), (Some(0), ""), "{input} {size}");
            assert!(few.stdout == all.stdout && !all.stdout.is_empty(), "{input} {size}");
        }
    }
}

/// The memory that the pages of a release build of the program take.
const PROGRAM: u64 = 12 << 20;

/// The memory for reading, parsing, sorting, writing and compressing, in every format, from a file and from a pipe.
#[test]
fn memory_with_the_program_stays_under_the_cap_and_10_mb() {
    let folder = folder("in.mgf", &generated_mgf(20_000, 200));
    fs::write(folder.path().join("in.mzML"), zeros(150, 20_000)).unwrap();
    fs::write(folder.path().join("in.gz"), compress(&generated_mgf(20_000, 200))).unwrap();
    for input in ["in.mgf", "in.mzML", "in.gz"] {
        let bytes = fs::read(folder.path().join(input)).unwrap();
        for (cap, output) in [(32, "-"), (64, "-"), (64, "out.gz")] {
            let options = format!("-o {output} --by intensity --parallel 2 -S {cap}M");
            for (from, chunks) in [(input, 0), ("-", 1)] {
                let mut command = sortie(folder.path(), &format!("{from} {options}"));
                let held = peak(&mut command, (0..chunks).map(|_| bytes.clone())).unwrap() + PROGRAM;
                println!("{} MB for {input} from {from}, {options}", held >> 20);
                assert!(held <= (cap + 10) << 20, "{} MB for {input} from {from}, {options}", held >> 20);
            }
        }
    }
}

#[test]
fn memory_that_cannot_be_had_is_told_at_every_limit() {
    let folder = folder("in.mgf", &generated_mgf(3000, 200));
    fs::write(folder.path().join("in.mgf.gz"), compress(&generated_mgf(3000, 200))).unwrap();
    fs::write(folder.path().join("bomb.mzML.gz"), compress(&zeros(1, 3_000_000))).unwrap();
    for arguments in ["in.mgf -o out", "in.mgf.gz -o out.gz --top 10", "bomb.mzML.gz -o out"] {
        let arguments = format!("spectra {arguments} --by mz --parallel 2");
        let (_, told) = done_or_told_at_every_limit(folder.path(), &arguments, 8_777);
        assert!(told > 0, "{arguments}");
    }
}

/// Neither the content nor the name of a file can send commands to a terminal, or look like a line of the program.
#[test]
fn text_of_files_is_quoted_in_messages() {
    let evil = "\x1b[31mred\x1b[0m\rsortie: all is well\u{9b}";
    let xml = |body: &str| format!("<?xml version=\"1.0\"?><mzML><run>{body}");
    for bytes in [
        format!("BEGIN IONS\nTITLE={evil}\n1 NaN\nEND IONS\n"),
        format!("BEGIN IONS\nTITLE=a\n{evil}\nEND IONS\n"),
        format!("BEGIN IONS\nTITLE=a\n1 {evil}\nEND IONS\n"),
        format!("<{evil}>"),
        xml(&format!("<spectrum id=\"{evil}\" defaultArrayLength=\"1\"></spectrum>")),
        xml(&format!("<spectrum id=\"{evil}\n\" defaultArrayLength=\"1\"><a b='{evil}")),
        format!("{evil}\n"),
    ] {
        for name in ["in", "\x1b[2J\nsortie: done"] {
            let folder = folder(name, bytes.as_bytes());
            let mut command = sortie(folder.path(), "-o out --by mz");
            let output = command.arg(name).output().unwrap();
            let said = complaint(&output, 2);
            let line = said.strip_suffix('\n').unwrap();
            assert!(!line.contains(char::is_control), "{line:?}");
        }
    }
}

#[test]
fn a_dash_is_standard_output() {
    let folder = folder("in", b"BEGIN IONS\n2 1\n1 2\nEND IONS\n");
    let output = sortie(folder.path(), "in --by mz -o -").output().unwrap();
    assert_eq!(text(&output.stdout), "BEGIN IONS\n1 2\n2 1\nEND IONS\n");
    assert_eq!(names(folder.path()), ["in"]);
}

#[test]
fn a_mark_of_utf_8_is_kept() {
    let folder = folder("in", "\u{feff}BEGIN IONS\n2 1\n1 2\nEND IONS\n".as_bytes());
    succeed(folder.path(), "in --by mz -o out");
    let out = fs::read_to_string(folder.path().join("out")).unwrap();
    assert_eq!(out, "\u{feff}BEGIN IONS\n1 2\n2 1\nEND IONS\n");
}

#[test]
fn imzml_is_refused() {
    let parameter =
        "<cvParam cvRef=\"IMS\" accession=\"IMS:1000101\" name=\"external data\" value=\"true\"/>";
    let spectrum = |array: &str| {
        format!(
            "<run><spectrum id=\"a\" defaultArrayLength=\"0\"><binaryDataArray>{array}<binary/></binaryDataArray></spectrum>\
             </run></mzML>"
        )
    };
    for text in [
        format!("<mzML><fileDescription>{parameter}</fileDescription>{}", spectrum("")),
        format!("<mzML>{}", spectrum(parameter)),
    ] {
        let folder = folder("in.imzML", text.as_bytes());
        let said = complaint(&sortie(folder.path(), "in.imzML -o out --by mz").output().unwrap(), 2);
        assert!(said.contains("imzML") && said.contains(".ibd"), "{said}");
    }
}

#[test]
fn what_is_compressed_otherwise_is_named() {
    for (way, bytes) in UNREAD {
        let folder = folder("in", bytes);
        for (args, stdin) in [("in -o out --by mz", &b""[..]), ("- -o out --by mz", bytes)] {
            let said = complaint(&run(&mut sortie(folder.path(), args), stdin), 2);
            assert!(said.contains(&format!("compressed with {way}, which is not supported")), "{said}");
        }
    }
    let folder = folder("in", b"BEGIN IONS\nEND IONS\n");
    for name in ["x.Z", "x.mgf.zip", "x.ZIP"] {
        let said = complaint(&sortie(folder.path(), &format!("in -o {name} --by mz")).output().unwrap(), 2);
        assert!(said.contains("an output cannot be compressed with"), "{said}");
        assert_eq!(names(folder.path()), ["in"]);
    }
}

/// A file with spectra of light, spectra without intensities, and arrays that do not belong to the peaks.
#[test]
fn what_has_no_peaks_stays_as_it_is_and_is_counted() {
    let array = |accessions: &[&str], bytes: &[u8]| {
        let parameters: String = accessions
            .iter()
            .map(|a| format!("<cvParam cvRef=\"MS\" accession=\"MS:{a}\" name=\"\"/>"))
            .collect();
        let binary = base64_simd::STANDARD.encode_to_string(bytes);
        format!(
            "<binaryDataArray encodedLength=\"{}\">{parameters}<binary>{binary}</binary></binaryDataArray>",
            binary.len()
        )
    };
    let numbers =
        |numbers: &[f64]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    let of = |accession: &str, values: &[f64]| array(&["1000523", "1000576", accession], &numbers(values));
    let (mz, intensity, wavelength, other) = ("1000514", "1000515", "1000617", "1000786");
    let spectrum = |id: &str, arrays: &[String]| {
        format!(
            "<spectrum index=\"0\" id=\"{id}\" defaultArrayLength=\"2\"><binaryDataArrayList count=\"{}\">{}\
             </binaryDataArrayList></spectrum>",
            arrays.len(),
            arrays.concat()
        )
    };
    let light = spectrum("light", &[of(wavelength, &[200.0, 190.0]), of(intensity, &[1.0, 2.0])]);
    let bare = spectrum("bare", &[of(mz, &[2.0, 1.0])]);
    let noise = of(other, &[5.0, 4.0, 3.0]);
    let words = array(&["1001479", "1000576", other], b"some text\0");
    let peaks = |m: [f64; 2], i: [f64; 2]| {
        spectrum("p", &[of(mz, &m), noise.clone(), of(intensity, &i), words.clone()])
    };
    let document = |peaks: String| {
        format!(
            "<mzML><run id=\"r\"><spectrumList count=\"3\">{light}{peaks}{bare}</spectrumList></run></mzML>"
        )
    };
    let folder = folder("in.mzML", document(peaks([2.0, 1.0], [7.0, 8.0])).as_bytes());
    for (args, expected) in [
        ("--by mz", document(peaks([1.0, 2.0], [8.0, 7.0]))),
        ("--by intensity", document(peaks([2.0, 1.0], [7.0, 8.0]))),
        ("--by intensity --descending", document(peaks([1.0, 2.0], [8.0, 7.0]))),
    ] {
        let output = sortie(folder.path(), &format!("in.mzML -o out.mzML {args}")).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_eq!(
            text(&output.stderr),
            "sortie: in.mzML: 2 spectra without m/z or intensities, or with text for their peaks, stay as they are; \
             2 arrays of text or of another length than their peaks stay as they are\n"
        );
        assert_eq!(fs::read_to_string(folder.path().join("out.mzML")).unwrap(), expected, "{args}");
    }
}
