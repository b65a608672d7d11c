//! Checks the machine code of kernels: on each architecture, no kernel spills registers or asks for more shared memory
//! than a block has, apart from known exceptions. Needs no GPU. A sort runs on a recorder with the limits of a device.
//! The programs that it loads are compiled with the options of a real run: to PTX by NVRTC, and from PTX by `ptxas`,
//! which reports spills and memory. The reports are kept in a file, so only changed programs are compiled again.

mod recorder;
mod report;
mod significant;
mod snapshot;

use std::env;
use std::fmt::Debug;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use rayon::prelude::*;
use sortie_device::{Device, cuda};

pub use recorder::Recorded;
use recorder::record;
use report::{Function, parse};
use snapshot::Snapshot;

/// The environment variable that names a folder with NVIDIA's `bin/ptxas`, of the same version as the NVRTC that is
/// loaded.
const TOOLKIT: &str = "SORTIE_CUDA_TOOLKIT";

/// The name of a sort, and a function that enqueues it on an engine of type `G`.
pub type Sort<G, E> = (&'static str, fn(&G) -> Result<(), E>);

pub struct Architecture {
    pub name: &'static str,
    pub capability: (u32, u32),
    /// The maximum shared memory of a block in bytes.
    pub shared: usize,
    /// Whether to compile every instance of a kernel. If not, only the first and the last one that a sort asks for,
    /// which are those for its shortest and longest segments.
    pub every: bool,
}

pub const ARCHITECTURES: [Architecture; 4] = [
    Architecture { name: "sm_80", capability: (8, 0), shared: 163 << 10, every: false },
    Architecture { name: "sm_89", capability: (8, 9), shared: 99 << 10, every: false },
    Architecture { name: "sm_90", capability: (9, 0), shared: 227 << 10, every: true },
    Architecture { name: "sm_100", capability: (10, 0), shared: 227 << 10, every: false },
];

/// Programs that are known to spill registers, and the reason why that is accepted.
pub struct Known {
    pub reason: &'static str,
    /// The maximum bytes for each program and architecture, counted as `spilled_bytes` does.
    pub programs: &'static [(&'static str, &'static [(&'static str, usize)])],
}

/// Checks the kernels that the sorts launch. Panics if one spills registers or asks for too much shared memory and is
/// not a known exception, or if a known exception no longer occurs.
///
/// If the environment names a toolkit, this compiles the programs without a report in `file`, and rewrites the file. It
/// also recompiles one in [`COMPILED_AGAIN`] of the other programs, or all of them if the compilers have other
/// versions, and panics if a report has changed. Without a toolkit, it panics if a report is missing.
pub fn check<G, E: Debug>(sorts: &[Sort<G, E>], engine: fn(Device) -> G, known: &[Known], file: &Path) {
    let jobs: Vec<Job> = ARCHITECTURES.iter().flat_map(|on| jobs(sorts, engine, on)).collect();
    let (mut snapshot, toolkit) = (Snapshot::read(file), env::var_os(TOOLKIT).map(PathBuf::from));
    let compilers = toolkit.as_ref().map(|toolkit| compilers(toolkit));
    if let Some(compilers) = compilers.filter(|compilers| *compilers != snapshot.compilers) {
        snapshot = Snapshot::empty(compilers);
    }
    let report = |job: Job| {
        let report = snapshot.report(&job).cloned();
        match (&toolkit, report) {
            (Some(toolkit), report) if report.is_none() || job.is_compiled_again() => {
                job.compile(toolkit, report)
            }
            (_, Some(report)) => Compiled { job, seconds: None, functions: Ok(report) },
            (_, None) => Compiled { job, seconds: None, functions: Err(Unknown::NoReport) },
        }
    };
    let compiled: Vec<Compiled> = jobs.into_par_iter().map(report).collect();
    compiled.iter().for_each(Compiled::print);
    // Faults or not, what was compiled need not be compiled again.
    if toolkit.is_some() {
        let reports = compiled.iter().filter_map(|one| Some((&one.job, one.functions.as_ref().ok()?)));
        fs::write(file, Snapshot::text(&snapshot.compilers, reports)).unwrap();
    }
    let faults = faults(&compiled, known);
    assert!(
        faults.is_empty(),
        "{} faults in {}; add a necessary spill to the known ones; CONTRIBUTING.md says how to compile what has no \
         report:\n{}",
        faults.len(),
        file.display(),
        faults.join("\n")
    );
}

/// One in this number of the programs in the file is recompiled, to verify the file.
pub const COMPILED_AGAIN: u8 = 32;

/// The versions of the compilers.
fn compilers(toolkit: &Path) -> String {
    let program = toolkit.join("bin/ptxas");
    let output = Command::new(&program).arg("--version").output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let said = String::from_utf8_lossy(&output.stdout);
    let version = said.split_whitespace().find(|word| word.starts_with('V')).unwrap_or("?");
    let (major, minor) = cuda::compiler_version().unwrap();
    format!("NVRTC {major}.{minor}, ptxas {version}")
}

/// A program to compile.
pub struct Job {
    /// The first sort that asks for the program.
    pub sort: &'static str,
    architecture: &'static Architecture,
    pub recorded: Recorded,
}

/// The programs that the sorts ask for on an architecture, without duplicates.
pub fn jobs<G, E: Debug>(
    sorts: &[Sort<G, E>],
    engine: fn(Device) -> G,
    architecture: &'static Architecture,
) -> Vec<Job> {
    let mut jobs: Vec<Job> = Vec::new();
    for &(sort, enqueue) in sorts {
        let recorded = record(architecture.capability, architecture.shared, |device| {
            enqueue(&engine(device)).expect("nothing is refused");
        });
        assert!(recorded.iter().any(|recorded| !recorded.shared.is_empty()), "{sort}: nothing is launched");
        for recorded in chosen(recorded, architecture.every) {
            let same = jobs.iter_mut().find(|job| {
                let (a, b) = (&job.recorded.program, &recorded.program);
                (a.source, &a.defines) == (b.source, &b.defines)
            });
            match same {
                Some(job) => {
                    for (kernel, shared) in recorded.shared {
                        let most = job.recorded.shared.entry(kernel).or_default();
                        *most = shared.max(*most);
                    }
                }
                None => jobs.push(Job { sort, architecture, recorded }),
            }
        }
    }
    jobs
}

/// All programs, or the first and the last of those that launch the same kernels.
fn chosen(recorded: Vec<Recorded>, every: bool) -> Vec<Recorded> {
    let alike = |a: &Recorded, b: &Recorded| a.shared.keys().eq(b.shared.keys());
    let at_an_end = |i: usize| {
        let count = |others: &[Recorded]| others.iter().filter(|other| alike(other, &recorded[i])).count();
        count(&recorded[..i]) == 0 || count(&recorded[i + 1..]) == 0
    };
    (0..recorded.len()).filter(|&i| every || at_an_end(i)).map(|i| recorded[i].clone()).collect()
}

struct Compiled {
    job: Job,
    /// The seconds in NVRTC and in ptxas, if it was compiled now.
    seconds: Option<[f64; 2]>,
    /// The report of ptxas.
    functions: Result<Vec<Function>, Unknown>,
}

/// Why nothing is known about a program.
enum Unknown {
    /// The file has no report, and the program was not compiled.
    NoReport,
    /// What NVRTC or ptxas said, or how its report differs from the file's.
    Failed(String),
}

impl Job {
    fn is_compiled_again(&self) -> bool {
        let key = snapshot::key(&self.recorded.program, self.architecture);
        u8::from_str_radix(&key[..2], 16).is_ok_and(|first| first % COMPILED_AGAIN == 0)
    }

    /// Compiles the program. If there is an `expected` report, the new one must equal it.
    fn compile(self, toolkit: &Path, expected: Option<Vec<Function>>) -> Compiled {
        let start = Instant::now();
        let ptx = cuda::ptx(&self.recorded.program, self.architecture.capability);
        let translated = start.elapsed().as_secs_f64();
        let functions = ptx.map_err(|error| error.to_string()).and_then(|ptx| self.assemble(&ptx, toolkit));
        let functions = functions.map_err(Unknown::Failed).and_then(|found| match expected {
            Some(expected) if expected != found => {
                Err(Unknown::Failed(format!("the file has {expected:?}, ptxas reports {found:?}")))
            }
            _ => Ok(found),
        });
        let seconds = Some([translated, start.elapsed().as_secs_f64() - translated]);
        Compiled { job: self, seconds, functions }
    }

    fn assemble(&self, ptx: &[u8], toolkit: &Path) -> Result<Vec<Function>, String> {
        let program = toolkit.join("bin/ptxas");
        let mut child = Command::new(&program)
            .args(["-v", "-lineinfo", "-arch", self.architecture.name, "-o", "/dev/null", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        // If ptxas does not read all input, it reports why.
        let _ = child.stdin.take().expect("it is piped").write_all(ptx);
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.success() { Ok(parse(&said)) } else { Err(said.into_owned()) }
    }
}

impl Compiled {
    fn print(&self) {
        let Job { sort, architecture, recorded } = &self.job;
        let Some(seconds) = self.seconds else { return };
        for function in self.functions.iter().flatten() {
            println!(
                "{:6} {:52} {:14} {:2} registers, spills {:?}, frame {}, shared {} + {}; {seconds:.1?} s for {sort}",
                architecture.name,
                recorded.program.name,
                function.name,
                function.registers.unwrap_or(0),
                function.spilled,
                function.frame,
                function.shared,
                recorded.shared.get(&function.name).unwrap_or(&0),
            );
        }
    }
}

/// The bytes of the instructions with which the function writes and reads spilled registers.
fn spilled_bytes(function: &Function) -> usize {
    function.spilled.iter().sum()
}

/// All faults: programs without a report, programs that did not compile, unknown spills, too much shared memory, and
/// known exceptions that no longer occur.
fn faults(compiled: &[Compiled], known: &[Known]) -> Vec<String> {
    let known: Vec<_> = known
        .iter()
        .flat_map(|known| known.programs.iter().map(move |&(program, on)| (program, on, known.reason)))
        .flat_map(|(program, on, reason)| on.iter().map(move |&(on, bytes)| (program, on, bytes, reason)))
        .collect();
    let mut met = vec![false; known.len()];
    let mut faults = Vec::new();
    let mut missing = Vec::new();
    for Compiled { job, functions, .. } in compiled {
        let Job { sort, architecture, recorded } = job;
        let (name, on, limit) = (&recorded.program.name, architecture.name, architecture.shared);
        let mut fault = |what: String| faults.push(format!("{name} on {on} ({sort}): {what}"));
        let functions = match functions {
            Ok(functions) => functions,
            Err(unknown) => {
                match unknown {
                    Unknown::NoReport => missing.push(format!("{name} on {on}")),
                    Unknown::Failed(why) => fault(why.trim().into()),
                }
                // It may spill as before.
                let may_spill = known
                    .iter()
                    .zip(&mut met)
                    .filter(|((program, there, ..), _)| program == name && *there == on);
                may_spill.for_each(|(_, met)| *met = true);
                continue;
            }
        };
        for function in functions.iter().filter(|function| spilled_bytes(function) > 0) {
            let bytes = spilled_bytes(function);
            let place = known.iter().position(|&(program, there, ..)| program == name && there == on);
            if let Some(place) = place {
                met[place] = true;
            }
            let allowed = place.map_or(0, |place| known[place].2);
            if bytes > allowed {
                let why = place.map_or("none", |place| known[place].3);
                let function = &function.name;
                fault(format!("{function} spills {bytes} bytes, but {allowed} are known: {why}"));
            }
        }
        for (kernel, &asked) in &recorded.shared {
            match functions.iter().find(|function| function.name == *kernel && function.registers.is_some()) {
                None => fault(format!("ptxas does not report on {kernel}")),
                Some(Function { shared, .. }) if shared + asked > limit => fault(format!(
                    "{kernel} has {shared} bytes of shared memory and asks for {asked}; a block has {limit}"
                )),
                Some(_) => {}
            }
        }
    }
    if let Some(first) = missing.first() {
        faults.push(format!("no report on {} programs, such as {first}", missing.len()));
    }
    for ((program, on, bytes, _), _) in known.iter().zip(met).filter(|(_, met)| !met) {
        faults.push(format!(
            "{program} on {on} no longer spills; remove its {bytes} bytes from the known ones"
        ));
    }
    faults
}

#[cfg(test)]
mod tests {
    use sortie_device::Program;

    use super::*;

    /// A report on a kernel `sort`, launched with `asked` bytes of shared memory on the first architecture.
    fn compiled(asked: usize, function: Function) -> Compiled {
        let program =
            Program { name: "sort-4".into(), source: "", headers: &[], defines: vec![], overlaps: false };
        let recorded = Recorded { program, shared: [("sort".into(), asked)].into() };
        let job = Job { sort: "u32", architecture: &ARCHITECTURES[0], recorded };
        Compiled { job, seconds: None, functions: Ok(vec![function]) }
    }

    #[test]
    fn each_fault_is_found() {
        let plain = || Function { name: "sort".into(), registers: Some(64), ..Function::default() };
        let spilled = || Function { spilled: [8, 12], ..plain() };
        let limit = ARCHITECTURES[0].shared;
        let of = |compiled: Compiled, known: &[Known]| faults(&[compiled], known).join("\n");
        let only = |fault: String, words: &str| {
            assert!(fault.contains(words) && fault.lines().count() == 1, "{fault}")
        };
        assert_eq!(of(compiled(limit, plain()), &[]), "");
        only(of(compiled(limit - 7, Function { shared: 8, ..plain() }), &[]), "has 8 bytes of shared memory");
        only(of(compiled(0, spilled()), &[]), "spills 20 bytes, but 0 are known");
        only(of(compiled(0, Function { registers: None, ..plain() }), &[]), "does not report on sort");
        only(
            of(Compiled { functions: Err(Unknown::Failed("no".into())), ..compiled(0, plain()) }, &[]),
            "sort-4 on sm_80 (u32): no",
        );

        const TWENTY: &[Known] = &[Known { reason: "why", programs: &[("sort-4", &[("sm_80", 20)])] }];
        assert_eq!(of(compiled(0, spilled()), TWENTY), "");
        only(
            of(compiled(0, Function { spilled: [12, 12], ..plain() }), TWENTY),
            "spills 24 bytes, but 20 are known: why",
        );
        only(of(compiled(0, plain()), TWENTY), "remove its 20 bytes from the known ones");
        const ELSEWHERE: &[Known] = &[Known { reason: "why", programs: &[("sort-4", &[("sm_90", 20)])] }];
        assert_eq!(faults(&[compiled(0, spilled())], ELSEWHERE).len(), 2);
    }

    #[test]
    fn a_missing_report_is_not_a_spill_that_is_gone() {
        const KNOWN: &[Known] = &[Known { reason: "why", programs: &[("sort-4", &[("sm_80", 20)])] }];
        let without = |unknown| Compiled { functions: Err(unknown), ..compiled(0, Function::default()) };
        let missing = [without(Unknown::NoReport), without(Unknown::NoReport)];
        assert_eq!(faults(&missing, KNOWN), ["no report on 2 programs, such as sort-4 on sm_80"]);
        let failed = [without(Unknown::Failed("no".into()))];
        assert_eq!(faults(&failed, KNOWN), ["sort-4 on sm_80 (u32): no"]);
    }
}
