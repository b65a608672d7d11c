//! The functions of C's math library that this program calls, implemented with the crate `libm`. The dynamic loader
//! then does not load the shared library, which would take a tenth of the time of sorting a small file.
//!
//! Each function has the name and the signature that C defines.

#[unsafe(no_mangle)]
extern "C" fn pow(base: f64, exponent: f64) -> f64 {
    libm::pow(base, exponent)
}

#[unsafe(no_mangle)]
extern "C" fn log(of: f64) -> f64 {
    libm::log(of)
}

#[unsafe(no_mangle)]
extern "C" fn log2(of: f64) -> f64 {
    libm::log2(of)
}
