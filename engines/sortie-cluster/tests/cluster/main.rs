//! The program `sortie-cluster` as users run it: its processes on this machine, compared with DataFusion.

mod differing;
mod faults;
mod readers;
mod refusals;
mod s3;
mod sorts;
mod sql;
mod support;
mod tables;
mod types;
mod work;
