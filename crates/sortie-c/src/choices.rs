//! What the values of the header mean to the library.

use std::ffi::c_uint;
use std::sync::{Mutex, PoisonError};

use sortie::dynamic::Dtype;
use sortie::{Engine, Nans, Sorter};

use crate::border::{Array, Failure};
use crate::types::{DtypeValue, sortie_dtype, sortie_engine, sortie_nans, sortie_options};

/// More than any machine has cores. Whoever asks for more has not set the options.
const MOST_THREADS: u32 = 4096;

const DTYPES: [(sortie_dtype, Dtype); 14] = [
    (sortie_dtype::U8, Dtype::U8),
    (sortie_dtype::U16, Dtype::U16),
    (sortie_dtype::U32, Dtype::U32),
    (sortie_dtype::U64, Dtype::U64),
    (sortie_dtype::U128, Dtype::U128),
    (sortie_dtype::I8, Dtype::I8),
    (sortie_dtype::I16, Dtype::I16),
    (sortie_dtype::I32, Dtype::I32),
    (sortie_dtype::I64, Dtype::I64),
    (sortie_dtype::I128, Dtype::I128),
    (sortie_dtype::F16, Dtype::F16),
    (sortie_dtype::Bf16, Dtype::Bf16),
    (sortie_dtype::F32, Dtype::F32),
    (sortie_dtype::F64, Dtype::F64),
];

pub fn dtype(value: DtypeValue) -> Result<Dtype, Failure> {
    let found = DTYPES.iter().find(|(known, _)| *known as c_uint == value);
    found
        .map(|(_, dtype)| *dtype)
        .ok_or_else(|| unknown("dtype", value, "SORTIE_DTYPE_U8 to SORTIE_DTYPE_F64"))
}

fn unknown(what: &str, value: c_uint, known: &str) -> Failure {
    Failure::invalid(format!("{what} {value} does not exist; give one of {known}"))
}

/// The options behind a pointer of the caller.
///
/// # Safety
/// The pointer is null, or points to options that may be read.
pub unsafe fn options(pointer: *const sortie_options) -> Result<sortie_options, Failure> {
    if pointer.is_null() {
        return Ok(sortie_options::default());
    }
    let array = Array::new("options", pointer, 1)?;
    // SAFETY: the caller guarantees it. Every field may have any bits.
    Ok(unsafe { array.get() }[0])
}

/// The last sorter with threads of its own, kept because threads are slow to start: four take 31 microseconds on an EPYC with
/// 2 cores, while a sort of 1000 numbers takes one microsecond.
static KEPT: Mutex<Option<(sortie_options, Sorter)>> = Mutex::new(None);

/// The sorter with these options.
pub fn sorter(options: sortie_options) -> Result<Sorter, Failure> {
    if options.threads < 2 {
        return build(options);
    }
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((same, sorter)) = &*kept
        && *same == options
    {
        return Ok(sorter.clone());
    }
    let sorter = build(options)?;
    *kept = Some((options, sorter.clone()));
    Ok(sorter)
}

fn build(options: sortie_options) -> Result<Sorter, Failure> {
    let sortie_options { memory_limit, threads, descending, nans, unstable, engine, device } = options;
    let engine = match engine {
        value if value == sortie_engine::Auto as c_uint => Engine::Auto,
        value if value == sortie_engine::Cpu as c_uint => Engine::Cpu,
        value if value == sortie_engine::Cuda as c_uint => Engine::Cuda(device),
        value => return Err(unknown("engine", value, "SORTIE_ENGINE_AUTO, _CPU and _CUDA")),
    };
    let nans = match nans {
        value if value == sortie_nans::Last as c_uint => Nans::Last,
        value if value == sortie_nans::First as c_uint => Nans::First,
        value if value == sortie_nans::EqualLast as c_uint => Nans::EqualLast,
        value if value == sortie_nans::EqualFirst as c_uint => Nans::EqualFirst,
        value => return Err(unknown("nans", value, "SORTIE_NANS_LAST to SORTIE_NANS_EQUAL_FIRST")),
    };
    let mut builder = Sorter::builder().engine(engine).nans(nans).descending(descending != 0);
    if unstable != 0 {
        builder = builder.unstable();
    }
    if memory_limit != 0 {
        builder = builder.memory_limit(memory_limit);
    }
    if threads > MOST_THREADS {
        return Err(Failure::invalid(format!(
            "threads is {threads}, but may be at most {MOST_THREADS}; set the fields that you do not use to 0"
        )));
    }
    if threads != 0 {
        builder = builder.threads(threads as usize);
    }
    Ok(builder.build()?)
}
