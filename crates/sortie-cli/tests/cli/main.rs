//! Runs the program as users do, and compares its results with those of GNU sort and other tools.

mod arrays;
mod binary;
mod compression;
#[cfg(feature = "gpu")]
mod devices;
mod explain;
mod external;
mod faults;
mod files;
mod fixed;
#[cfg(feature = "genomics")]
mod genomes;
mod gnu;
#[cfg(feature = "index")]
mod index;
mod locales;
mod long_lines;
mod man;
mod output;
mod prefixed;
mod program;
mod quantiles;
mod readme;
mod records;
mod small;
mod spectra;
mod support;
mod tables;
mod top;
mod uniq;
