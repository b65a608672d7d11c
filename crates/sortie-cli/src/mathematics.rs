//! The functions of C's mathematics library that the program calls, from the crate `libm`.
//!
//! Without them, the program would load `libm.so.6`, which takes a twentieth of the time of a small sort. Only a progress bar, `--explain`,
//! long numbers and sorts of large arrays call them.

// Libraries that the program opens, such as those of CUDA, do not see them, and take their own.
std::arch::global_asm!(".globl log2, pow", ".hidden log2, pow");

#[unsafe(no_mangle)]
extern "C" fn log2(x: f64) -> f64 {
    libm::log2(x)
}

#[unsafe(no_mangle)]
extern "C" fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}
