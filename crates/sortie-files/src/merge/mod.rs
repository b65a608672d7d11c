//! Merges sorted sources, one item after the other.

pub mod windows;

use std::cmp::Ordering;

use sortie::merge::Tournament;

use crate::Error;
use crate::memory::append;

/// A source of items, read one at a time.
pub trait Cursor {
    /// Moves to the next item. Returns false after the last.
    fn advance(&mut self) -> Result<bool, Error>;

    /// The current item.
    fn item(&self) -> &[u8];
}

/// How items compare.
pub trait Order {
    /// What is found once for all comparisons of an item.
    type Key: Default;

    /// Replaces `key` by the key of an item.
    fn read_key(&self, item: &[u8], key: &mut Self::Key) -> Result<(), Error>;

    /// How items with these keys compare, if the keys alone tell.
    fn compare_leading(&self, _a: &Self::Key, _b: &Self::Key) -> Option<Ordering> {
        None
    }

    /// Compares items by their keys.
    fn compare_keys(&self, a: (&[u8], &Self::Key), b: (&[u8], &Self::Key)) -> Ordering;

    /// Whether only the first of several items with equal keys is kept.
    fn is_unique(&self) -> bool;

    /// Compares two items with equal keys. If this returns `Equal`, they stay in their order.
    fn compare_ties(&self, _a: &[u8], _b: &[u8]) -> Ordering {
        Ordering::Equal
    }
}

/// A source that takes part in a merge.
struct Head<C, K> {
    cursor: C,
    /// The key of the current item.
    key: K,
    exhausted: bool,
}

impl<C: Cursor, K: Default> Head<C, K> {
    /// A source positioned at its first item.
    fn new(cursor: C, order: &impl Order<Key = K>) -> Result<Self, Error> {
        let mut head = Head { cursor, key: K::default(), exhausted: false };
        head.advance(order)?;
        Ok(head)
    }

    fn advance(&mut self, order: &impl Order<Key = K>) -> Result<(), Error> {
        self.exhausted = !self.cursor.advance()?;
        if self.exhausted { Ok(()) } else { order.read_key(self.cursor.item(), &mut self.key) }
    }

    #[inline(always)]
    fn compare(&self, other: &Self, order: &impl Order<Key = K>) -> Ordering {
        if self.exhausted || other.exhausted {
            return self.exhausted.cmp(&other.exhausted);
        }
        order.compare_leading(&self.key, &other.key).unwrap_or_else(|| self.compare_whole(other, order))
    }

    fn compare_whole(&self, other: &Self, order: &impl Order<Key = K>) -> Ordering {
        let (item, other_item) = (self.cursor.item(), other.cursor.item());
        order
            .compare_keys((item, &self.key), (other_item, &other.key))
            .then_with(|| order.compare_ties(item, other_item))
    }
}

/// The last item that was passed on, of those with distinct keys.
#[derive(Default)]
struct Last<K> {
    item: Vec<u8>,
    key: K,
}

/// Passes the items of all sources to `take` in order, until it returns false. If the order is unique, passes only the
/// first of several items with equal keys. There must be at least one source.
pub fn merge_cursors<C: Cursor, O: Order>(
    cursors: impl IntoIterator<Item = C>,
    order: &O,
    mut take: impl FnMut(&[u8]) -> Result<bool, Error>,
) -> Result<(), Error> {
    let heads = cursors.into_iter().map(|cursor| Head::new(cursor, order));
    let mut heads: Vec<_> = heads.collect::<Result<_, _>>()?;
    let mut last: Option<Last<O::Key>> = None;
    let mut tournament = Tournament::new(heads.len(), |a, b| heads[a].compare(&heads[b], order));
    loop {
        let head = &mut heads[tournament.winner()];
        if head.exhausted {
            return Ok(());
        }
        let item = head.cursor.item();
        let is_repeated = order.is_unique()
            && last
                .as_ref()
                .is_some_and(|last| order.compare_keys((&last.item, &last.key), (item, &head.key)).is_eq());
        if !is_repeated {
            if !take(item)? {
                return Ok(());
            }
            if order.is_unique() {
                let last = last.get_or_insert_default();
                last.item.clear();
                append(&mut last.item, item)?;
                std::mem::swap(&mut last.key, &mut head.key);
            }
        }
        head.advance(order)?;
        tournament.replay(|a, b| heads[a].compare(&heads[b], order));
    }
}
