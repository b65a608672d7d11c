//! Strings as C has them: offsets into bytes.

use sortie::{Bound, Error, Index};

use crate::border::Failure;
use crate::choices;
use crate::types::{sortie_options, sortie_status};

/// Writes the indices of the strings that `offsets` marks in `bytes`.
pub fn argsort<O: Copy + Into<i64>, I: Index>(
    offsets: &[O],
    bytes: &[u8],
    indices: &mut [I],
    options: sortie_options,
) -> Result<(), Failure> {
    let references = indices.len().saturating_mul(size_of::<&[u8]>());
    let within = holding(options, references as u64)?;
    let mut strings: Vec<&[u8]> = Vec::new();
    strings.try_reserve_exact(indices.len()).map_err(|_| Failure {
        status: sortie_status::Memory,
        message: format!(
            "the system refused the {references} bytes that refer to the strings; free memory, or sort in parts"
        ),
    })?;
    for (i, pair) in offsets.windows(2).enumerate() {
        let (from, to): (i64, i64) = (pair[0].into(), pair[1].into());
        let string = usize::try_from(from).ok().zip(usize::try_from(to).ok());
        strings.push(string.and_then(|(from, to)| bytes.get(from..to)).ok_or_else(|| {
            Failure::invalid(format!(
                "string {i} goes from offset {from} to {to}; offsets must not be negative, decrease, or exceed \
                 the {} bytes",
                bytes.len()
            ))
        })?);
    }
    let sorted = choices::sorter(within)?.argsort_strings(&strings, indices);
    sorted.map(drop).map_err(|error| with_what_is_held(error, references as u64).into())
}

/// The numbers of the limit that the caller has set, not of what was left of it.
fn with_what_is_held(error: Error, held: u64) -> Error {
    match error {
        Error::Memory { bound: Bound::Limit, needed, available, hint } => Error::Memory {
            bound: Bound::Limit,
            needed: needed.saturating_add(held),
            available: available + held,
            hint,
        },
        other => other,
    }
}

/// The options if `held` bytes of the memory limit are taken already.
fn holding(options: sortie_options, held: u64) -> Result<sortie_options, Failure> {
    match options.memory_limit {
        0 => Ok(options),
        // A limit of 0 would be none.
        limit if limit > held => Ok(sortie_options { memory_limit: limit - held, ..options }),
        limit => {
            let hint = "16 bytes that refer to each string";
            Err(Error::Memory { bound: Bound::Limit, needed: held + 1, available: limit, hint }.into())
        }
    }
}
