//! Merges sorted sources, one item after the other.

use std::cmp::Ordering;

use sortie::merge::Tournament;

use crate::failure::Failure;
use crate::memory::append;

/// A source of items, read one at a time.
pub trait Cursor {
    /// Moves to the next item. Returns false after the last.
    fn advance(&mut self) -> Result<bool, Failure>;

    /// The current item.
    fn item(&self) -> &[u8];
}

/// How items compare.
pub trait Order {
    /// Whether items compare by their bytes and have no other key.
    fn is_plain(&self) -> bool;

    /// Appends the key of an item.
    fn append_key(&self, item: &[u8], key: &mut Vec<u8>) -> Result<(), Failure>;

    /// Whether the largest key comes first.
    fn is_descending(&self) -> bool;

    /// Whether only the first of several items with equal keys is kept.
    fn is_unique(&self) -> bool;

    /// Compares two items with equal keys. If this returns `Equal`, they stay in their order.
    fn compare_ties(&self, _a: &[u8], _b: &[u8]) -> Ordering {
        Ordering::Equal
    }
}

/// A source that takes part in a merge.
struct Head<C> {
    cursor: C,
    /// The key of the current item. Unused if items compare by their bytes.
    key: Vec<u8>,
    /// The first bytes of the key, or the maximum if the source is exhausted.
    prefix: u64,
    exhausted: bool,
}

impl<C: Cursor> Head<C> {
    /// A source positioned at its first item.
    fn new(cursor: C, order: &impl Order) -> Result<Self, Failure> {
        let mut head = Head { cursor, key: Vec::new(), prefix: 0, exhausted: false };
        head.advance(order)?;
        Ok(head)
    }

    fn advance(&mut self, order: &impl Order) -> Result<(), Failure> {
        self.exhausted = !self.cursor.advance()?;
        if self.exhausted {
            self.prefix = u64::MAX;
            return Ok(());
        }
        if !order.is_plain() {
            self.key.clear();
            order.append_key(self.cursor.item(), &mut self.key)?;
        }
        let key = self.key(order);
        let mut first = [0; 8];
        let length = key.len().min(8);
        first[..length].copy_from_slice(&key[..length]);
        let prefix = u64::from_be_bytes(first);
        self.prefix = if order.is_descending() { !prefix } else { prefix };
        Ok(())
    }

    fn key(&self, order: &impl Order) -> &[u8] {
        if order.is_plain() { self.cursor.item() } else { &self.key }
    }

    fn compare(&self, other: &Self, order: &impl Order) -> Ordering {
        let prefixes = self.prefix.cmp(&other.prefix).then(self.exhausted.cmp(&other.exhausted));
        if prefixes.is_ne() || self.exhausted {
            return prefixes;
        }
        let keys = self.key(order).cmp(other.key(order));
        let keys = if order.is_descending() { keys.reverse() } else { keys };
        keys.then_with(|| order.compare_ties(self.cursor.item(), other.cursor.item()))
    }
}

/// Passes the items of all sources to `take` in order, until it returns false. If the order is unique, passes only the
/// first of several items with equal keys. There must be at least one source.
pub fn merge_cursors<C: Cursor>(
    cursors: impl IntoIterator<Item = C>,
    order: &impl Order,
    mut take: impl FnMut(&[u8]) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    let heads = cursors.into_iter().map(|cursor| Head::new(cursor, order));
    let mut heads: Vec<_> = heads.collect::<Result<_, _>>()?;
    let mut last_key: Option<Vec<u8>> = None;
    let mut tournament = Tournament::new(heads.len(), |a, b| heads[a].compare(&heads[b], order));
    loop {
        let head = &mut heads[tournament.winner()];
        if head.exhausted {
            return Ok(());
        }
        let key = head.key(order);
        if !order.is_unique() || last_key.as_deref() != Some(key) {
            if order.is_unique() {
                let last = last_key.get_or_insert_default();
                last.clear();
                append(last, key)?;
            }
            if !take(head.cursor.item())? {
                return Ok(());
            }
        }
        head.advance(order)?;
        tournament.replay(|a, b| heads[a].compare(&heads[b], order));
    }
}
