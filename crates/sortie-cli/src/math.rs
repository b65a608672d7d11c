//! The functions of the C library for mathematics that this program calls, from the crate `libm`. They take the place of the shared
//! library, which is then not loaded: that takes a tenth as long as sorting a small file.

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
