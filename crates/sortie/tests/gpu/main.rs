//! The GPU engine against the CPU engine: on the test bench, and on a CUDA device where there is one.

mod array_sort;
mod large;
mod segments;
mod support;
