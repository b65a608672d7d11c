//! What the driver says about a call.

use cudarc::driver::result::DriverError;
use cudarc::driver::sys::CUresult;

use crate::Error;

pub fn check(call: &'static str, result: CUresult) -> Result<(), Error> {
    if result == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    Err(Error::Driver { call, code: result as i32, message: message(result) })
}

/// The driver's message for a result.
pub fn message(result: CUresult) -> String {
    match DriverError(result).error_string() {
        Ok(words) => words.to_string_lossy().into_owned(),
        Err(_) => format!("{result:?}"),
    }
}
