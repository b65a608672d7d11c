//! The published algorithms for GPUs, on the test bench and on a CUDA device if there is one; and checks of the machine
//! code of their kernels.

mod array_sort;
mod faults;
mod machine_code;
mod one_array;
mod sanitized;
mod support;
