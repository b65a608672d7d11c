//! NVRTC, which compiles CUDA C++ to machine code without a GPU. Opened when first needed.

use std::ffi::{CString, c_char};
use std::path::PathBuf;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cudarc::nvrtc::{result, sys};

use super::missing;
use crate::{Error, Program};

/// The first version that was found to support all options.
const NEEDED: (i32, i32) = (11, 7);

/// Opens the library if it is not open yet, and returns its version.
pub fn version() -> Result<(i32, i32), Error> {
    static OPENED: OnceLock<Result<(i32, i32), Error>> = OnceLock::new();
    OPENED.get_or_init(open).clone()
}

fn open() -> Result<(i32, i32), Error> {
    // SAFETY: the library is NVIDIA's; its initialisation has no preconditions.
    if !unsafe { sys::is_culib_present() } {
        return Err(missing::compiler());
    }
    let (mut major, mut minor) = (0, 0);
    // SAFETY: the call writes both numbers, which are only read afterwards.
    let told = unsafe { sys::nvrtcVersion(&mut major, &mut minor) };
    if told != sys::nvrtcResult::NVRTC_SUCCESS || (major, minor) < NEEDED {
        let reason = format!(
            "NVRTC {major}.{minor} is too old ({told:?}); at least {}.{} is needed",
            NEEDED.0, NEEDED.1
        );
        return Err(Error::NoCompiler { reason });
    }
    Ok((major, minor))
}

/// The path of the library that was opened, if it can be determined.
pub fn library() -> Option<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let is_library =
        |path: &&str| path.rsplit('/').next().is_some_and(|name| name.starts_with("libnvrtc.so"));
    maps.lines()
        .filter_map(|line| line.find('/').map(|start| &line[start..]))
        .find(is_library)
        .map(PathBuf::from)
}

/// The compiler options for machine code. The macros of the program come last.
pub fn options(program: &Program, (major, minor): (u32, u32)) -> Vec<String> {
    options_for(program, &format!("sm_{major}{minor}"))
}

fn options_for(program: &Program, architecture: &str) -> Vec<String> {
    let mut options = vec![
        format!("--gpu-architecture={architecture}"),
        "--std=c++17".into(),
        "-default-device".into(),
        "-lineinfo".into(),
        // Otherwise the compiler would look for headers in the current folder, whose files anybody may have written.
        "-no-source-include".into(),
    ];
    options.extend(program.defines.iter().map(|(name, value)| format!("-D{name}={value}")));
    options
}

static COMPILED: AtomicU64 = AtomicU64::new(0);
static COMPILED_NS: AtomicU64 = AtomicU64::new(0);

/// How many programs this process has compiled to machine code so far, and the total time of its threads for that.
pub fn compiled() -> (u64, Duration) {
    let [count, ns] = [&COMPILED, &COMPILED_NS].map(|counter| counter.load(Ordering::Relaxed));
    (count, Duration::from_nanos(ns))
}

/// Compiles to machine code (a cubin) for devices of this compute capability.
pub fn compile(program: &Program, capability: (u32, u32)) -> Result<Vec<u8>, Error> {
    let start = Instant::now();
    let cubin = compile_to(program, &options(program, capability), Compiling::cubin)?;
    COMPILED.fetch_add(1, Ordering::Relaxed);
    COMPILED_NS.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
    Ok(cubin)
}

/// Compiles to PTX, from which that machine code is made.
pub fn ptx(program: &Program, capability: (u32, u32)) -> Result<Vec<u8>, Error> {
    compile_to(program, &ptx_options(program, capability), Compiling::ptx)
}

pub fn ptx_options(program: &Program, (major, minor): (u32, u32)) -> Vec<String> {
    options_for(program, &format!("compute_{major}{minor}"))
}

fn compile_to(
    program: &Program,
    options: &[String],
    output: fn(&Compiling) -> Result<Vec<u8>, result::NvrtcError>,
) -> Result<Vec<u8>, Error> {
    version()?;
    let failed = |log: String| Error::Compile { program: program.name.clone(), log };
    let text =
        |text: &str| CString::new(text).map_err(|_| failed("a zero byte in the source or its name".into()));
    let (source, name) = (text(program.source)?, text(&program.name)?);
    let names = program.headers.iter().map(|(name, _)| text(name)).collect::<Result<Vec<_>, _>>()?;
    let texts = program.headers.iter().map(|(_, content)| text(content)).collect::<Result<Vec<_>, _>>()?;
    let pointers = |strings: &[CString]| strings.iter().map(|string| string.as_ptr()).collect::<Vec<_>>();
    let (name_pointers, text_pointers) = (pointers(&names), pointers(&texts));
    let mut handle = ptr::null_mut();
    // SAFETY: there are as many headers as names. The compiler may read strings and arrays as late as in `run`, and all
    // of them outlive it.
    unsafe {
        sys::nvrtcCreateProgram(
            &mut handle,
            source.as_ptr(),
            name.as_ptr(),
            names.len() as i32,
            text_pointers.as_ptr(),
            name_pointers.as_ptr(),
        )
    }
    .result()
    .map_err(|error| failed(error.to_string()))?;
    let compiling = Compiling(handle);
    compiling.run(options).map_err(failed)?;
    output(&compiling).map_err(|error| failed(compiling.log(error)))
}

/// A program that is being compiled.
struct Compiling(sys::nvrtcProgram);

impl Compiling {
    /// Compiles, or returns the compiler's error messages.
    fn run(&self, options: &[String]) -> Result<(), String> {
        if options.iter().any(|option| option.contains('\0')) {
            return Err("a zero byte in a macro".into());
        }
        // SAFETY: the handle is valid until `self` is dropped.
        unsafe { result::compile_program(self.0, options) }.map_err(|error| self.log(error))
    }

    fn cubin(&self) -> Result<Vec<u8>, result::NvrtcError> {
        let mut size = 0;
        // SAFETY: as in `run`.
        unsafe { sys::nvrtcGetCUBINSize(self.0, &mut size) }.result()?;
        let mut cubin = vec![0u8; size];
        // SAFETY: as in `run`, and `cubin` has the size that was returned.
        unsafe { sys::nvrtcGetCUBIN(self.0, cubin.as_mut_ptr().cast()) }.result()?;
        Ok(cubin)
    }

    fn ptx(&self) -> Result<Vec<u8>, result::NvrtcError> {
        // SAFETY: as in `run`.
        let text = unsafe { result::get_ptx(self.0) }?;
        // The text ends with a NUL, as in C.
        Ok(text.iter().map(|&byte: &c_char| byte as u8).take_while(|&byte| byte != 0).collect())
    }

    fn log(&self, error: result::NvrtcError) -> String {
        // SAFETY: the handle is valid until `self` is dropped.
        let log = unsafe { result::get_program_log(self.0) }.unwrap_or_default();
        let bytes: Vec<u8> = log.iter().map(|&byte: &c_char| byte as u8).filter(|&byte| byte != 0).collect();
        let text = String::from_utf8_lossy(&bytes);
        if text.trim().is_empty() { error.to_string() } else { text.trim().to_owned() }
    }
}

impl Drop for Compiling {
    fn drop(&mut self) {
        // SAFETY: the handle is valid, and not used afterwards.
        let _ = unsafe { result::destroy_program(self.0) };
    }
}
