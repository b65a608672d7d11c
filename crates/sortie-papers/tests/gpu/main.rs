//! The published algorithms for GPUs: on the test bench, and on a CUDA device where there is one; and what their kernels
//! become as machine code.

mod array_sort;
mod faults;
mod machine_code;
mod one_array;
mod sanitized;
mod support;
