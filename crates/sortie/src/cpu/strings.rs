//! Strings, by their bytes.

use super::{Job, compare, permute};
use crate::{Error, Index, Report, Segments};

pub(crate) fn sort<S: Send + Sync>(
    strings: &mut [S],
    bytes: impl Fn(&S) -> &[u8] + Sync,
    descending: bool,
    job: &Job,
) -> Result<Report, Error> {
    let mut places = vec![0usize; strings.len()];
    let report = argsort(strings, bytes, &mut places, descending, job)?;
    permute(strings, &mut places);
    Ok(report)
}

pub(crate) fn argsort<S: Sync, I: Index>(
    strings: &[S],
    bytes: impl Fn(&S) -> &[u8] + Sync,
    places: &mut [I],
    descending: bool,
    job: &Job,
) -> Result<Report, Error> {
    places.iter_mut().enumerate().for_each(|(i, place)| *place = I::from_place(i));
    let compare = |a: &I, b: &I| {
        let ordering = bytes(&strings[a.place()]).cmp(bytes(&strings[b.place()]));
        if descending { ordering.reverse() } else { ordering }
    };
    compare::sort(places, compare, job)
}

pub(crate) fn sort_array<O: Index>(
    offsets: &mut [O],
    bytes: &mut [u8],
    descending: bool,
    job: &Job,
) -> Result<Report, Error> {
    let places: Vec<usize> = offsets.iter().map(|o| o.place()).collect();
    if places.is_empty() {
        return Err(Error::Segments("a string array has at least one offset; there are none".into()));
    }
    Segments::Offsets(&places).check(bytes.len())?;
    let copy = bytes.to_vec();
    let mut strings: Vec<&[u8]> = places.windows(2).map(|pair| &copy[pair[0]..pair[1]]).collect();
    let report = sort(&mut strings, |s| s, descending, job)?;
    let mut at = places[0];
    for (string, end) in strings.iter().zip(&mut offsets[1..]) {
        bytes[at..at + string.len()].copy_from_slice(string);
        at += string.len();
        *end = O::from_place(at);
    }
    Ok(report)
}
