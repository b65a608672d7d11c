//! How long a sort of data in host memory takes on the CPU, from the rates of the machine.

use super::{ARRAY_CROWDING, ARRAY_FINISHES, MOVES, STRING_CROWDING, STRING_SECONDS};
use crate::rates::CpuRates;
use crate::request::{KeyForm, Operation, Request};

/// Seconds on the CPU. None where nobody knows: of comparisons, and of segments whose lengths nobody has looked at.
pub(super) fn on_cpu(request: &Request, cpu: &CpuRates) -> Option<f64> {
    let (n, threads) = (request.n as f64, request.budget.threads as f64);
    let moves = if request.beside.is_nothing() { 1.0 } else { MOVES };
    match (&request.operation, request.keys) {
        (_, KeyForm::Compound { .. } | KeyForm::Compared) | (Operation::Segments(None), _) => None,
        (_, KeyForm::Strings) => {
            Some(n * STRING_SECONDS * (1.0 + STRING_CROWDING * (threads - 1.0)) / threads)
        }
        (Operation::Segments(Some(lengths)), KeyForm::Number { bytes, .. }) => {
            // A segment of one key is sorted.
            let seconds = (1u32..).zip(&lengths.keys_by_log[1..]).filter(|&(_, &keys)| keys > 0);
            let seconds = seconds.map(|(log, &keys)| keys as f64 * seconds_a_key(cpu, bytes, log));
            Some(seconds.fold(0.0, |sum, of_length| sum + of_length) * slower(cpu, request) * moves)
        }
        (Operation::Array | Operation::Lcps, KeyForm::Number { bytes, .. }) => {
            let finish = n * seconds_a_key(cpu, bytes, u32::MAX) * slower(cpu, request);
            Some(finish * (ARRAY_FINISHES + ARRAY_CROWDING * (threads - 1.0)) * moves)
        }
    }
}

/// For segments of 2 to the `log` keys. Keys of 128 bits take twice as long as those of 64.
fn seconds_a_key(cpu: &CpuRates, key_bytes: usize, log: u32) -> f64 {
    let known = key_bytes.min(8);
    cpu.seconds_a_key(known, log) * (key_bytes / known) as f64
}

/// How many times longer these threads take than those that were measured.
pub(super) fn slower(cpu: &CpuRates, request: &Request) -> f64 {
    cpu.threads as f64 / request.budget.threads as f64
}
