//! Checking that input is sorted, a line at a time.

use std::os::unix::ffi::OsStrExt;

use sortie_formats::lines::LineReader;

use super::Job;
use super::input::Input;
use crate::cli::Check;
use crate::failure::Failure;
use crate::memory::append;

const READ: usize = 1 << 20;

/// Fails with the first line that does not belong after the one before it.
pub fn check(input: &Input, how: Check, job: &Job) -> Result<(), Failure> {
    let name = input.name();
    let mut lines = LineReader::new(input.open()?, job.terminator, READ);
    let mut before: Option<Vec<u8>> = None;
    let mut number = 0u64;
    while lines.advance().map_err(Failure::file("read", name))? {
        number += 1;
        let line = lines.line();
        if let Some(before) = &before {
            let ordering = job.order.compare(before, line);
            if ordering.is_gt() || (ordering.is_eq() && job.order.unique()) {
                let mut message = Vec::new();
                if how == Check::DiagnoseFirst {
                    message.extend_from_slice(name.as_os_str().as_bytes());
                    message.extend_from_slice(format!(":{number}: disorder: ").as_bytes());
                    message.extend_from_slice(line);
                    message.push(job.terminator);
                }
                return Err(Failure::Disorder(message));
            }
        }
        let before = before.get_or_insert_default();
        before.clear();
        append(before, line)?;
    }
    Ok(())
}
