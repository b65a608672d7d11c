//! Keys of fixed width with a payload, or the places of such keys.

use super::{Job, compare, permute};
use crate::key::{Bits, Transform};
use crate::{Error, Index, Report};

pub(crate) fn sort<B: Bits, V: Send>(
    keys: &mut [B],
    payload: &mut [V],
    transform: Transform<B>,
    job: &Job,
) -> Result<Report, Error> {
    let mut places = vec![0usize; keys.len()];
    let report = argsort(keys, &mut places, transform, job)?;
    permute(keys, &mut places.clone());
    permute(payload, &mut places);
    Ok(report)
}

pub(crate) fn argsort<B: Bits, I: Index>(
    keys: &[B],
    places: &mut [I],
    transform: Transform<B>,
    job: &Job,
) -> Result<Report, Error> {
    places.iter_mut().enumerate().for_each(|(i, place)| *place = I::from_place(i));
    let job = Job { algorithm: crate::Algorithm::Auto, ..*job };
    let code = |i: &I| transform.encode(keys[i.place()]);
    compare::sort(places, |a, b| code(a).cmp(&code(b)), &job)
}
