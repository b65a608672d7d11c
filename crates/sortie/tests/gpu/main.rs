//! The GPU engine against the CPU engine: on the test bench, and on a CUDA device where there is one; and what its
//! kernels become as machine code.

mod bitonic;
mod compared;
mod devices;
mod faults;
mod large;
mod machine_code;
mod payloads;
mod sanitized;
mod segments;
mod streams;
mod strings;
mod support;
