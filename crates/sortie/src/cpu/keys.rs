//! Keys alone, of fixed width.

use super::{Job, compare};
use crate::key::{Bits, Transform};
use crate::{Error, Report};

pub(crate) fn sort<B: Bits>(keys: &mut [B], transform: Transform<B>, job: &Job) -> Result<Report, Error> {
    let job = Job { stable: false, algorithm: crate::Algorithm::Auto, ..*job };
    compare::sort(keys, |a, b| transform.encode(*a).cmp(&transform.encode(*b)), &job)
}
