//! Builds shared libraries of the runtime and of programs with g++, and caches them.

use std::env;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use sha2::{Digest, Sha256};
use sortie_device::cache::Cache;
use sortie_device::{Error, Program, own};

use crate::{Sanitizer, source};

macro_rules! runtime {
    ($($name:literal)*) => { &[$(($name, include_str!(concat!("../runtime/", $name)))),*] };
}
/// The runtime: file names and texts.
const RUNTIME: &[(&str, &str)] = runtime!(
    "simt_bench.h" "access.h" "clocks.h" "costs.h" "fiber.h" "launch.h" "machine.h" "races.h"
    "access.cpp" "atomics.cpp" "fiber.cpp" "hooks.cpp" "launch.cpp" "meet.cpp"
);

const COMMON: &[&str] = &["-std=c++17", "-fPIC", "-fno-strict-aliasing"];
/// For kernels. Warnings that depend on how much a version of GCC can see are disabled.
const WARNINGS: &[&str] = &["-Wall", "-Wextra", "-Werror", "-Wno-maybe-uninitialized", "-Wno-array-bounds"];

/// How kernel and runtime are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Build {
    Plain,
    /// The kernel reports every access and every branch to the runtime.
    Instrumented,
    Address,
}

impl Build {
    pub fn new(sanitizer: Sanitizer, count: bool) -> Build {
        match sanitizer {
            Sanitizer::None if !count => Build::Plain,
            Sanitizer::None | Sanitizer::Race => Build::Instrumented,
            Sanitizer::Address => Build::Address,
        }
    }

    fn kernel_options(self) -> &'static [&'static str] {
        match self {
            Build::Plain => &["-O2", "-g1"],
            // Accesses and branches must be those of the source: structs are moved as a whole, and nothing is
            // duplicated or turned into arithmetic. The runtime implements the functions that the instrumentation
            // calls; the sanitizer's library is not loaded. Most tests are of this kind, and with -O1 or all of -g, g++ takes
            // twice as long.
            Build::Instrumented => &[
                "-Og",
                "-g1",
                "-fsanitize=thread",
                "-fsanitize-coverage=trace-pc",
                "--param=tsan-distinguish-volatile=1",
                "--param=tsan-instrument-func-entry-exit=0",
                "-fno-tree-sra",
                "-fno-tree-pre",
                "-fno-if-conversion",
                "-fno-if-conversion2",
                "-fno-thread-jumps",
            ],
            Build::Address => &[
                "-Og",
                "-g1",
                "-fno-omit-frame-pointer",
                "-fsanitize=address,undefined",
                "-fno-sanitize-recover=undefined",
            ],
        }
    }

    fn runtime_options(self) -> &'static [&'static str] {
        match self {
            Build::Plain => &["-O2"],
            Build::Instrumented => &["-O2", "-DSIMT_INSTRUMENTED"],
            Build::Address => &["-O1", "-fno-omit-frame-pointer", "-fsanitize=address"],
        }
    }
}

/// A command that runs this program again under AddressSanitizer, for tests that run themselves.
pub fn address_sanitizer() -> Result<Command, Error> {
    let library = output(Command::new(compiler()?.path).arg("-print-file-name=libasan.so"))?;
    // For a library that does not exist, GCC prints the name as given.
    if !Path::new(library.trim()).is_absolute() {
        return Err(no_compiler("it has no libasan.so"));
    }
    let program = env::current_exe().map_err(|error| no_compiler(&error.to_string()))?;
    let mut command = Command::new(program);
    // Leaks are not checked, because the test harness has many threads of its own.
    command
        .env("LD_PRELOAD", library.trim())
        .env("ASAN_OPTIONS", "detect_leaks=0")
        .env(UNDER_ADDRESS_SANITIZER, "1");
    Ok(command)
}

/// Tells a process that [`address_sanitizer`] started it.
const UNDER_ADDRESS_SANITIZER: &str = "SORTIE_SIMT_ADDRESS_SANITIZER";

/// Whether code under AddressSanitizer can be loaded.
pub fn under_address_sanitizer() -> bool {
    env::var_os(UNDER_ADDRESS_SANITIZER).is_some()
}

/// The library of the runtime.
pub fn runtime(build: Build) -> Result<PathBuf, Error> {
    let compiler = compiler()?;
    let options = [COMMON, build.runtime_options(), &["-shared", "-g1", "-fvisibility=hidden"]].concat();
    let mut key = compiler.key(&options);
    key.pairs(RUNTIME.iter().copied());
    kept(key, "runtime", |folder| {
        write_all(folder, RUNTIME)?;
        let sources = RUNTIME.iter().map(|(name, _)| *name).filter(|name| name.ends_with(".cpp"));
        run(compiler.command(folder).args(&options).args(sources).args(["-o", RESULT]))
            .map_err(|log| Error::Compile { program: "the test bench's runtime".into(), log })
    })
}

/// The library of a program, to be loaded together with that of the runtime.
pub fn program(program: &Program, build: Build, runtime: &Path) -> Result<PathBuf, Error> {
    let compiler = compiler()?;
    // A call compiled to a jump would hide the line of the call.
    let fixed = ["-fno-exceptions", "-fno-rtti", "-fno-optimize-sibling-calls"];
    let options = [COMMON, WARNINGS, build.kernel_options(), &fixed].concat();
    let mut key = compiler.key(&options);
    key.part(&runtime.to_string_lossy()).part(&program.name).part(program.source).part(RUNTIME[0].1);
    key.pairs(program.headers.iter().copied());
    key.pairs(program.defines.iter().map(|(name, value)| (&name[..], &value[..])));

    kept(key, "kernel", |folder| {
        let failed = |log: String| Error::Compile { program: program.name.clone(), log };
        let file: String =
            program.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect::<String>()
                + ".cu";
        write_all(folder, &RUNTIME[..1])?;
        write_all(folder, program.headers)?;
        write_all(folder, &[(&file, program.source)])?;
        let defines = program.defines.iter().map(|(name, value)| format!("-D{name}={value}"));
        let preprocessed =
            run(compiler.command(folder).args(&options).args(defines).args(["-E", "-x", "c++", &file]))
                .map_err(failed)?;
        write_all(folder, &[("kernel.ii", &source::with_entries(&preprocessed).map_err(failed)?)])?;
        run(compiler.command(folder).args(&options).args([
            "-fpreprocessed",
            "-c",
            "kernel.ii",
            "-o",
            "kernel.o",
        ]))
        .map_err(failed)?;
        // Without the instrumentation options, which would link the sanitizer's own library. Calls stay within the
        // library.
        let libraries: &[&str] =
            if build == Build::Address { &["-fsanitize=address,undefined"] } else { &[] };
        run(compiler
            .command(folder)
            .args(["-shared", "-Wl,-Bsymbolic", "kernel.o"])
            .arg(runtime)
            .args(libraries)
            .args(["-o", RESULT]))
        .map_err(failed)
    })
}

/// The name of the library that a build leaves in its folder.
const RESULT: &str = "result.so";

#[derive(Debug, Clone)]
struct Compiler {
    path: PathBuf,
    version: String,
}

/// `$CXX` if it names GCC.
fn chosen() -> Option<PathBuf> {
    let chosen = PathBuf::from(env::var_os("CXX")?);
    // The name of Clang, clang++, ends with that of GCC.
    let name = chosen.file_name()?.to_string_lossy();
    (name.contains("g++") && !name.contains("clang")).then_some(chosen)
}

/// Whether there is no compiler, rather than one that does not work: `$CXX` names none, and there is no `g++`.
pub fn is_missing() -> bool {
    let version = || Command::new(DEFAULT).arg("--version").output();
    chosen().is_none() && version().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

const DEFAULT: &str = "g++";

/// `$CXX` if it names GCC, else `g++`.
fn compiler() -> Result<Compiler, Error> {
    static COMPILER: OnceLock<Result<Compiler, Error>> = OnceLock::new();
    COMPILER
        .get_or_init(|| {
            let path = chosen().unwrap_or(DEFAULT.into());
            let version = output(Command::new(&path).args(["-dumpfullversion", "-dumpmachine"]))?;
            let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
            if major.is_none_or(|major| major < 12) {
                return Err(no_compiler(&format!("{} is version {}", path.display(), version.trim())));
            }
            Ok(Compiler { path, version })
        })
        .clone()
}

impl Compiler {
    fn key(&self, options: &[&str]) -> Key {
        let mut key = Key(Sha256::new());
        key.part(&self.version);
        options.iter().for_each(|option| {
            key.part(option);
        });
        key
    }

    /// A command that runs in the folder. The folder's name is kept out of messages and debug information.
    fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new(&self.path);
        command.current_dir(folder).env("LC_ALL", "C");
        // A process under AddressSanitizer would have g++ under it too, which takes several times as long.
        if under_address_sanitizer() {
            command.env_remove("LD_PRELOAD");
        }
        command.arg("-I.").arg(format!("-ffile-prefix-map={}=.", folder.display()));
        command
    }
}

struct Key(Sha256);

impl Key {
    fn part(&mut self, text: &str) -> &mut Key {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
        self
    }

    fn pairs<'a>(&mut self, pairs: impl Iterator<Item = (&'a str, &'a str)>) {
        pairs.for_each(|(name, text)| {
            self.part(name).part(text);
        });
    }
}

/// The cached library for this key. Builds it if there is none. It appears by a rename, and of several processes, the
/// first builds it while the others wait.
fn kept(key: Key, kind: &str, build: impl FnOnce(&Path) -> Result<String, Error>) -> Result<PathBuf, Error> {
    let folder = folder()?;
    let mut name = format!("{kind}-");
    key.0.finalize().iter().take(16).for_each(|byte| _ = write!(name, "{byte:02x}"));
    let library = folder.join(format!("{name}.so"));
    if library.exists() {
        return Ok(library);
    }
    let lock = fs::File::create(folder.join(name + ".lock")).map_err(|error| not_kept(&folder, &error))?;
    lock.lock().map_err(|error| not_kept(&folder, &error))?;
    if library.exists() {
        return Ok(library);
    }
    let workshop = tempfile::Builder::new()
        .prefix("build-")
        .tempdir_in(&folder)
        .map_err(|error| not_kept(&folder, &error))?;
    build(workshop.path())?;
    fs::rename(workshop.path().join(RESULT), &library).map_err(|error| not_kept(&folder, &error))?;
    Ok(library)
}

/// `simt` in the user's [cache](Cache::of_user), or a folder in the system's folder for temporary files if the cache
/// cannot be written. Libraries are loaded from it, so no other user may be able to write to it.
fn folder() -> Result<PathBuf, Error> {
    let writable = |folder: &Path| own::make_folder(folder).and_then(|()| tempfile::tempfile_in(folder));
    if let Some(folder) = Cache::of_user().folder().map(|kept| kept.join("simt"))
        && writable(&folder).is_ok()
    {
        return Ok(folder);
    }
    let folder = env::temp_dir().join("sortie-simt");
    writable(&folder).map_err(|error| not_kept(&folder, &error))?;
    Ok(folder)
}

fn write_all(folder: &Path, files: &[(&str, &str)]) -> Result<(), Error> {
    files
        .iter()
        .try_for_each(|(name, text)| fs::write(folder.join(name), text))
        .map_err(|error| not_kept(folder, &error))
}

/// Returns the standard output; on failure, the standard error.
fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn output(command: &mut Command) -> Result<String, Error> {
    let name = command.get_program().to_string_lossy().into_owned();
    run(command).map_err(|reason| no_compiler(&format!("{name}: {}", reason.trim())))
}

fn no_compiler(reason: &str) -> Error {
    Error::NoCompiler {
        reason: format!(
            "{reason}; the test bench needs GCC 12 or later: install the package g++, or set CXX to it"
        ),
    }
}

fn not_kept(folder: &Path, error: &dyn std::error::Error) -> Error {
    Error::NoCompiler {
        reason: format!("{} cannot be written: {error}", OsStr::new(folder).to_string_lossy()),
    }
}
