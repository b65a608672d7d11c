//! Machine code of programs, from the cache or else from the compiler.

use std::env;
use std::fs::{self, Metadata};
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use super::nvrtc;
use crate::cache::{Cache, Key};
use crate::{Error, Program};

/// The cubin of a program for devices of this compute capability.
pub fn cubin(cache: &Cache, program: &Program, capability: (u32, u32)) -> Result<Vec<u8>, Error> {
    let version = compiler_version(cache)?;
    through(cache, program, &nvrtc::options(program, capability), version, || {
        nvrtc::compile(program, capability)
    })
}

/// The result of `compile`, cached for the source, the options and the version of the compiler.
fn through(
    cache: &Cache,
    program: &Program,
    options: &[String],
    version: (i32, i32),
    compile: impl FnOnce() -> Result<Vec<u8>, Error>,
) -> Result<Vec<u8>, Error> {
    let version = [version.0.to_le_bytes(), version.1.to_le_bytes()].concat();
    let headers = program.headers.iter().flat_map(|(name, text)| [name.as_bytes(), text.as_bytes()]);
    let count = program.headers.len().to_le_bytes();
    let parts = [&version[..], program.name.as_bytes(), program.source.as_bytes(), &count];
    let key = Key::new("cubin", parts.into_iter().chain(headers).chain(options.iter().map(String::as_bytes)));
    if let Some(cubin) = cache.get(&key) {
        return Ok(cubin);
    }
    let cubin = compile()?;
    cache.put(&key, &cubin);
    Ok(cubin)
}

/// The version of NVRTC. If it is cached, NVRTC is not opened, because that takes longer than everything else.
///
/// The version is cached for a library file (path, length, modification time). The path is cached for the search path
/// under which the loader found it.
fn compiler_version(cache: &Cache) -> Result<(i32, i32), Error> {
    let key = Key::new("nvrtc", [search_path().as_bytes()]);
    if let Some(known) = cache.get(&key).and_then(|entry| Known::parse(&String::from_utf8(entry).ok()?))
        && Known::stamp(Path::new(&known.path)).is_ok_and(|stamp| stamp == known.stamp)
    {
        return Ok(known.version);
    }
    let version = nvrtc::version()?;
    if let Some(path) = nvrtc::library()
        && let Ok(stamp) = Known::stamp(&path)
    {
        let path = path.to_string_lossy().into_owned();
        cache.put(&key, Known { version, stamp, path }.to_string().as_bytes());
    }
    Ok(version)
}

/// The loader's search path, with the modification time of each folder.
fn search_path() -> String {
    let named = env::var_os(super::LIBRARY_PATH).unwrap_or_default();
    let system = Path::new("/etc/ld.so.cache").to_owned();
    let stamped =
        |place: &Path| format!("{}\n{}\n", place.display(), Known::stamp(place).unwrap_or_default());
    env::split_paths(&named).chain([system]).map(|place| stamped(&place)).collect()
}

/// A library file and its version.
#[derive(Debug, PartialEq)]
struct Known {
    version: (i32, i32),
    stamp: String,
    path: String,
}

impl Known {
    /// Changes if the file changes.
    fn stamp(path: &Path) -> io::Result<String> {
        let about: Metadata = fs::metadata(path)?;
        let changed = about.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(format!("{} {}", about.len(), changed.as_nanos()))
    }

    fn parse(text: &str) -> Option<Known> {
        let mut lines = text.splitn(3, '\n');
        let (major, minor) = lines.next()?.split_once('.')?;
        let version = (major.parse().ok()?, minor.parse().ok()?);
        Some(Known { version, stamp: lines.next()?.into(), path: lines.next()?.into() })
    }
}

impl std::fmt::Display for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}\n{}\n{}", self.version.0, self.version.1, self.stamp, self.path)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::process::Command;
    use std::time::Instant;

    use super::*;
    use crate::cache::tests::{cache_at, entry};

    fn program() -> Program {
        Program {
            name: "p".into(),
            source: "source",
            headers: &[("a", "b")],
            defines: vec![("X".into(), "1".into())],
            overlaps: false,
        }
    }

    #[test]
    fn compiles_once_and_again_for_every_change() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache_at(folder.path());
        let compiled = Cell::new(0);
        let get = |program: &Program, capability, version| {
            let options = nvrtc::options(program, capability);
            through(&cache, program, &options, version, || {
                compiled.set(compiled.get() + 1);
                Ok(format!("{program:?} {capability:?} {version:?}").into_bytes())
            })
        };
        let base = program();
        let others = [
            Program { source: "other", ..base.clone() },
            Program { headers: &[("a", "c")], ..base.clone() },
            Program { headers: &[], ..base.clone() },
            Program { defines: vec![("X".into(), "2".into())], ..base.clone() },
            Program { defines: vec![], ..base.clone() },
        ];
        let mut requests: Vec<_> = others.into_iter().map(|program| (program, (9, 0), (13, 0))).collect();
        requests.push((base.clone(), (9, 0), (13, 0)));
        requests.push((base.clone(), (8, 0), (13, 0)));
        requests.push((base, (9, 0), (13, 1)));
        for round in 0..2 {
            for (index, (program, capability, version)) in requests.iter().enumerate() {
                let found = get(program, *capability, *version).unwrap();
                assert_eq!(found, format!("{program:?} {capability:?} {version:?}").into_bytes());
                assert_eq!(compiled.get(), if round == 0 { index + 1 } else { requests.len() });
            }
        }
    }

    #[test]
    fn a_broken_entry_is_compiled_anew_and_a_failure_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache_at(folder.path());
        let get = |result: Result<&[u8], Error>| {
            through(&cache, &program(), &[], (13, 0), || result.map(Vec::from))
        };
        let failure = Error::Compile { program: "p".into(), log: "log".into() };
        assert_eq!(get(Err(failure.clone())), Err(failure.clone()));
        assert_eq!(get(Ok(b"code")).unwrap(), b"code");
        assert_eq!(get(Err(failure)).unwrap(), b"code");
        fs::write(entry(folder.path()), "torn").unwrap();
        assert_eq!(get(Ok(b"again")).unwrap(), b"again");
    }

    #[test]
    fn a_known_library_survives_its_text() {
        let known = Known { version: (13, 0), stamp: "12 34".into(), path: "/a\nb".into() };
        assert_eq!(Known::parse(&known.to_string()), Some(known));
        assert_eq!(Known::parse("13"), None);
    }

    /// This needs separate processes: one that has opened the compiler keeps it open.
    #[test]
    fn what_is_cached_needs_no_compiler() {
        const FOLDER: &str = "SORTIE_TEST_FOLDER";
        if let Some(folder) = env::var_os(FOLDER) {
            let start = Instant::now();
            let cubin = cubin(&cache_at(Path::new(&folder)), &compilable(), (9, 0)).unwrap();
            assert!(cubin.starts_with(b"\x7fELF"));
            println!(
                "{:.1} ms, opened: {}",
                start.elapsed().as_secs_f64() * 1000.0,
                nvrtc::library().is_some()
            );
            return;
        }
        if let Err(error) = nvrtc::version() {
            return println!("skipped: {error}");
        }
        let folder = tempfile::tempdir().unwrap();
        let run = || {
            let name = "cuda::compiled::tests::what_is_cached_needs_no_compiler";
            let mut child = Command::new(env::current_exe().unwrap());
            let output =
                child.args(["--exact", name, "--nocapture"]).env(FOLDER, folder.path()).output().unwrap();
            assert!(output.status.success(), "{output:?}");
            let told = String::from_utf8(output.stdout).unwrap();
            told.lines().find(|line| line.contains("opened")).unwrap().to_owned()
        };
        let (first, second) = (run(), run());
        println!("not cached: {first}; cached: {second}");
        assert!(first.ends_with("opened: true"), "{first}");
        assert!(second.ends_with("opened: false"), "{second}");
    }

    fn compilable() -> Program {
        let source = "#include \"a\"\nextern \"C\" __global__ void k(TYPE *x) { x[threadIdx.x] = one(); }";
        let headers = &[("a", "inline int one() { return 1; }")];
        Program {
            name: "p".into(),
            source,
            headers,
            defines: vec![("TYPE".into(), "long long".into())],
            overlaps: false,
        }
    }
}
