//! The interface as C programs meet it.

mod header;
mod hostile;
mod programs;
mod sorts;
mod support;
