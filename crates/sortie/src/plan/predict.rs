//! How long a sort of data in host memory takes on the CPU, from the rates of the machine.

use super::CpuRates;
use crate::request::{KeyForm, Operation, Request};

/// How many times as long as segments of 2^15 of its keys the CPU engine takes to sort an array, and what each further
/// thread adds, because all wait for the same memory. On a Xeon with AVX-512, 2^27 u32: 1.5 with 2 threads, 1.8 with 4,
/// 2.2 with 8, 2.9 with 16.
const ARRAY_FINISHES: f64 = 1.3;
const ARRAY_CROWDING: f64 = 0.11;

/// How many times as long it takes with a payload or for indices: on the same machine, 2.9 for pairs of u32, 2.1 for
/// pairs of u64, and 2.1 for indices of u64.
const MOVES: f64 = 2.5;

/// Seconds in which one thread sorts a string, and the part of that which each further thread adds. 10^6 words took one
/// thread 45 ns each; 10^8 of them took each of 16 threads 149 ns; 10^7 strings of 64 letters 114.
const STRING_SECONDS: f64 = 45e-9;
const STRING_CROWDING: f64 = 0.1;

/// Seconds on the CPU. `None` if they are not known: for comparisons, and for segments whose lengths were not read.
pub(super) fn on_cpu(request: &Request, cpu: &CpuRates) -> Option<f64> {
    let (n, threads) = (request.n as f64, request.budget.threads as f64);
    let moves = if request.beside.is_nothing() { 1.0 } else { MOVES };
    match (&request.operation, request.keys) {
        (_, KeyForm::Compound { .. } | KeyForm::Compared) | (Operation::Segments(None), _) => None,
        (operation, _) if operation.is_selection() => None,
        (_, KeyForm::Strings) => {
            Some(n * STRING_SECONDS * (1.0 + STRING_CROWDING * (threads - 1.0)) / threads)
        }
        (Operation::Segments(Some(lengths)), KeyForm::Number { bytes, .. }) => {
            // A segment of one key is already sorted.
            let seconds = (1u32..).zip(&lengths.keys_by_log[1..]).filter(|&(_, &keys)| keys > 0);
            let seconds = seconds.map(|(log, &keys)| keys as f64 * seconds_a_key(cpu, bytes, log));
            Some(seconds.fold(0.0, |sum, of_length| sum + of_length) * slower(cpu, request) * moves)
        }
        (_, KeyForm::Number { bytes, .. }) => {
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

/// How many times as long these threads take as those that were measured.
pub(super) fn slower(cpu: &CpuRates, request: &Request) -> f64 {
    cpu.threads as f64 / request.budget.threads as f64
}
