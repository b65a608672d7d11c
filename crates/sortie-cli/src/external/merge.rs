//! Merging sorted sources, one item after the other.

use std::cmp::Ordering;

use sortie::merge::Tournament;

use crate::failure::Failure;
use crate::memory::append;

/// Where items come from, one at a time.
pub trait Cursor {
    /// Moves to the next item; false after the last.
    fn advance(&mut self) -> Result<bool, Failure>;

    /// The current item.
    fn item(&self) -> &[u8];
}

/// How items compare.
pub trait Order {
    /// Whether items are compared by their bytes, and have no other key.
    fn is_plain(&self) -> bool;

    /// Appends the key of an item.
    fn append_key(&self, item: &[u8], key: &mut Vec<u8>) -> Result<(), Failure>;

    /// Whether the greatest key comes first.
    fn is_descending(&self) -> bool;

    /// Whether of items with equal keys only the first is kept.
    fn is_unique(&self) -> bool;

    /// Which of two items with equal keys comes first. They stay in their order where this says that they are equal.
    fn compare_ties(&self, _a: &[u8], _b: &[u8]) -> Ordering {
        Ordering::Equal
    }
}

/// What takes part in a merge.
struct Head<C> {
    cursor: C,
    /// The key of the current item; unused where items are compared by their bytes.
    key: Vec<u8>,
    /// The first bytes of the key, greatest where the source is exhausted.
    prefix: u64,
    exhausted: bool,
}

impl<C: Cursor> Head<C> {
    /// At the first item.
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

/// Has `take` take the items of all sources in order, of equal keys only the first where the order is unique, until it takes
/// no more. There is a source at least.
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
