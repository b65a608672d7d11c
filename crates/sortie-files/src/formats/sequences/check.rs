//! Checks that records are in order.

use super::feed::Feed;
use super::{LEAST, SHARE, SequenceSort};
use crate::memory::append;
use crate::{Error, Input};

/// Bytes of records that are checked at a time.
const CHECKED: u64 = 1 << 20;

/// A record that is out of order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disorder {
    /// The number of the line where it begins, from 1.
    pub line: u64,
    pub name: Vec<u8>,
}

impl SequenceSort<'_> {
    /// The first record of an input that is out of order.
    pub fn check(&self, input: Input) -> Result<Option<Disorder>, Error> {
        let mut feed = Feed::new(vec![input]);
        let is_wrong = |before: &[u8], key: &[u8]| {
            let order = before.cmp(key);
            let order = if self.order.descending { order.reverse() } else { order };
            order.is_gt() || order.is_eq() && self.order.unique
        };
        // The last key of the records before these, and the number of lines in all records before these.
        let (mut last, mut lines) = (None::<Vec<u8>>, 0);
        loop {
            let (records, ended) = self.next(&mut feed, |_| (self.limit / SHARE).max(LEAST), CHECKED)?;
            let keys = self.keys(&records)?;
            let items = keys.items(&records)?;
            let first_is_wrong = match (&last, items.first()) {
                (Some(last), Some(first)) => is_wrong(last, first.key),
                _ => false,
            };
            let wrong_after = || items.windows(2).position(|pair| is_wrong(pair[0].key, pair[1].key));
            let wrong = if first_is_wrong { Some(0) } else { wrong_after().map(|before| before + 1) };
            if let Some(place) = wrong {
                let name = records.get(place).name().to_owned();
                return Ok(Some(Disorder { line: lines + records.line(place), name }));
            }
            if ended {
                return Ok(None);
            }
            if let Some(item) = items.last() {
                let last = last.get_or_insert_default();
                last.clear();
                append(last, item.key)?;
            }
            lines += records.lines();
        }
    }
}
