//! The operator, compared with DataFusion's.

mod buffers;
mod cancelled;
mod faults;
mod generate;
mod plans;
mod queries;
mod support;
