//! How long a sort of data in host memory takes on the CPU, from the rates of the machine.

use super::CpuRates;
use crate::request::{KeyForm, Operation, Request};

/// Times that the CPU engine takes longer to sort an array than segments of 2^15 of its keys, and what each further thread adds, for
/// all wait for the same memory. On a Xeon with AVX-512, 2^27 u32: 1.5 by 2 threads, 1.8 by 4, 2.2 by 8, 2.9 by 16.
const ARRAY_FINISHES: f64 = 1.3;
const ARRAY_CROWDING: f64 = 0.11;

/// Times that it takes longer with a payload, or for indices: on the same machine 2.9 for pairs of u32, 2.1 for pairs of u64, 2.1 for
/// indices of u64.
const MOVES: f64 = 2.5;

/// Seconds in which one thread sorts a string, and the part of it that each further thread adds: 10^6 words took 45 ns each by one
/// thread, 10^8 of them 149 ns of each of 16 threads, 10^7 strings of 64 letters 114.
const STRING_SECONDS: f64 = 45e-9;
const STRING_CROWDING: f64 = 0.1;

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
