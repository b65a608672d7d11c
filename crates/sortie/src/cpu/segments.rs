//! Many arrays of keys of fixed width.

use super::{Job, vector};
use crate::key::{Bits, Transform};
use crate::{Error, Report, Segments};

pub(crate) fn sort<B: Bits>(
    keys: &mut [B],
    segments: Segments<'_>,
    transform: Transform<B>,
    job: &Job,
) -> Result<Report, Error> {
    let mut report = Report::default();
    let bytes = size_of_val(keys);
    report.phase("finish", bytes, bytes, || {
        for i in 0..segments.count(keys.len()) {
            let segment = &mut keys[segments.range(i)];
            transform.encode_slice(segment);
            vector::sort(segment, vector::Isa::detect());
            transform.decode_slice(segment);
        }
    });
    let _ = job;
    Ok(report)
}
