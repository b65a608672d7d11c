//! The compilers' reports on all programs, in a text file next to the test. Compiling all programs takes minutes, and
//! most changes to the code do not affect them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};
use sortie_device::{Program, cuda};

use super::report::Function;
use super::significant::significant;
use super::{Architecture, Job};

/// Reports on programs, by their keys.
#[derive(Debug, Default, PartialEq)]
pub struct Snapshot {
    /// The versions of the compilers.
    pub compilers: String,
    reports: BTreeMap<String, Vec<Function>>,
}

impl Snapshot {
    /// Empty, for these versions of the compilers.
    pub fn empty(compilers: String) -> Snapshot {
        Snapshot { compilers, reports: BTreeMap::new() }
    }

    /// Reads the file. Empty if there is no such file, or a line of it is malformed.
    pub fn read(file: &Path) -> Snapshot {
        fs::read_to_string(file).ok().and_then(|text| Snapshot::parse(&text)).unwrap_or_default()
    }

    fn parse(text: &str) -> Option<Snapshot> {
        let mut lines = text.lines();
        let mut snapshot = Snapshot::empty(lines.next()?.into());
        for line in lines.skip(1) {
            let [_, _, name, registers, stores, loads, frame, shared, key] =
                line.split_whitespace().collect::<Vec<_>>()[..]
            else {
                return None;
            };
            snapshot.reports.entry(key.into()).or_default().push(Function {
                name: name.into(),
                frame: frame.parse().ok()?,
                spilled: [stores.parse().ok()?, loads.parse().ok()?],
                registers: registers.parse().ok(),
                shared: shared.parse().ok()?,
            });
        }
        Some(snapshot)
    }

    /// The report on a program for an architecture.
    pub fn report(&self, job: &Job) -> Option<&Vec<Function>> {
        self.reports.get(&key(&job.recorded.program, job.architecture))
    }

    /// The text of a file with the reports on these programs, in their order.
    pub fn text<'a>(compilers: &str, compiled: impl Iterator<Item = (&'a Job, &'a Vec<Function>)>) -> String {
        let mut text = format!("{compilers}\n");
        let titles = ["program", "kernel", "registers", "stores", "loads", "frame", "shared", "key"];
        line(&mut text, "", titles);
        for (job, functions) in compiled {
            let program = &job.recorded.program;
            let key = key(program, job.architecture);
            for function in functions {
                let registers = function.registers.map_or("-".into(), |registers| registers.to_string());
                let [stores, loads] = function.spilled.map(|bytes| bytes.to_string());
                let (frame, shared) = (function.frame.to_string(), function.shared.to_string());
                let columns =
                    [&program.name, &function.name, &registers, &stores, &loads, &frame, &shared, &key];
                line(&mut text, job.architecture.name, columns.map(String::as_str));
            }
        }
        text
    }
}

fn line(text: &mut String, on: &str, columns: [&str; 8]) {
    let [program, kernel, registers, stores, loads, frame, shared, key] = columns;
    let _ = writeln!(
        text,
        "{on:6} {program:52} {kernel:18} {registers:>9} {stores:>6} {loads:>6} {frame:>6} {shared:>6} {key}"
    );
}

/// The headers that a program includes, also by way of others, in the order of their list.
fn included(program: &Program) -> Vec<&(&'static str, &'static str)> {
    let mut is_included = vec![false; program.headers.len()];
    let mut texts = vec![program.source];
    while let Some(text) = texts.pop() {
        for name in text.lines().filter_map(|line| line.trim().strip_prefix("#include \"")?.strip_suffix('"'))
        {
            let header = program.headers.iter().position(|(header, _)| *header == name);
            if let Some(header) = header.filter(|&header| !is_included[header]) {
                is_included[header] = true;
                texts.push(program.headers[header].1);
            }
        }
    }
    program
        .headers
        .iter()
        .zip(is_included)
        .filter(|(_, is_included)| *is_included)
        .map(|(header, _)| header)
        .collect()
}

/// A digest of everything that determines the machine code, except the compilers. Comments and blanks do not.
pub fn key(program: &Program, on: &Architecture) -> String {
    let mut hash = Sha256::new();
    // The length comes first, so no two lists of parts give the same bytes.
    let mut part = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    part(&significant(program.source));
    for (name, text) in included(program) {
        part(name);
        part(&significant(text));
    }
    // The options include the macros.
    cuda::ptx_options(program, on.capability).iter().for_each(|option| part(option));
    hash.finalize().iter().take(12).fold(String::new(), |mut key, byte| {
        let _ = write!(key, "{byte:02x}");
        key
    })
}

#[cfg(test)]
mod tests {
    use super::super::ARCHITECTURES;
    use super::super::recorder::Recorded;
    use super::*;

    fn job(source: &'static str, value: &str) -> Job {
        let defines = vec![("KEYS".into(), value.into())];
        let program = Program { name: "sort-4".into(), source, headers: &[], defines, overlaps: false };
        let recorded = Recorded { program, shared: [("sort".into(), 0)].into() };
        Job { sort: "u32", architecture: &ARCHITECTURES[0], recorded }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let functions = vec![
            Function { name: "sort".into(), frame: 8, spilled: [4, 12], registers: Some(64), shared: 512 },
            Function { name: "not_inlined".into(), ..Function::default() },
        ];
        let job = job("__global__ void sort();", "8");
        let text = Snapshot::text("NVRTC 13.5, ptxas 13.5", [(&job, &functions)].into_iter());
        let snapshot = Snapshot::parse(&text).unwrap();
        assert_eq!(snapshot.compilers, "NVRTC 13.5, ptxas 13.5");
        assert_eq!(snapshot.report(&job), Some(&functions));
        assert_eq!(Snapshot::parse(&text.replace("512", "many")), None);
    }

    #[test]
    fn a_change_of_a_comment_is_the_same_program() {
        let on = &ARCHITECTURES[0];
        let keyed = |source| key(&job(source, "8").recorded.program, on);
        let first = keyed("// Sorts.\n__global__ void sort();\n");
        assert_eq!(first, keyed("// Sorts keys.\n\n__global__ void  sort(); // Fast.\n"));
        assert_ne!(first, keyed("// Sorts.\n__global__ void sort2();\n"));
    }

    #[test]
    fn headers_count_where_they_are_included() {
        let headers: [&'static [(&str, &str)]; 3] = [
            &[
                ("sum.cuh", "#include \"scan.cuh\"\nint sum;"),
                ("scan.cuh", "int scan;"),
                ("other.cuh", "int a;"),
            ],
            &[
                ("sum.cuh", "#include \"scan.cuh\"\nint sum;"),
                ("scan.cuh", "int scan;"),
                ("other.cuh", "int b;"),
            ],
            &[
                ("sum.cuh", "#include \"scan.cuh\"\nint sum;"),
                ("scan.cuh", "long scan;"),
                ("other.cuh", "int a;"),
            ],
        ];
        let [first, other, scan] = headers.map(|headers| {
            let program = job("#include \"sum.cuh\"\nvoid sort();", "8").recorded.program;
            key(&Program { headers, ..program }, &ARCHITECTURES[0])
        });
        assert_eq!(first, other);
        assert_ne!(first, scan);
    }

    #[test]
    fn a_change_of_source_macro_or_architecture_is_another_program() {
        let [first, second, ..] = &ARCHITECTURES;
        let keys = [
            key(&job("a", "8").recorded.program, first),
            key(&job("b", "8").recorded.program, first),
            key(&job("a", "9").recorded.program, first),
            key(&job("a", "8").recorded.program, second),
        ];
        for (i, one) in keys.iter().enumerate() {
            assert!(!keys[..i].contains(one), "{i}");
        }
    }
}
