//! Compares the GPU engine with the CPU engine, on the test bench and on a CUDA device if there is one, and checks the
//! machine code of its kernels.

mod bitonic;
mod canonical;
mod compared;
mod devices;
mod faults;
mod groups;
mod histogram;
mod large;
mod machine_code;
mod nth;
mod payloads;
mod sanitized;
mod search;
mod segments;
mod streams;
mod strings;
mod support;
mod top;
