//! How a [`Sorter`] searches sorted keys.

use super::numbers::form;
use super::{Sorter, index_fits};
use crate::error::same_length;
use crate::key::{self, Code, Transform};
use crate::request::{Beside, KeyForm, Operation};
use crate::sorts::Sorts;
use crate::{Error, Index, Key, Report, Side, cpu};

impl Sorter {
    /// Writes for each query the index at which it belongs in `keys`, which are in the order of this sorter: the number of keys that come
    /// before it, and with [`Side::Right`] also of those equal to it.
    ///
    /// Takes O(log n) for each query, and if the queries are in order O(log d), where `d` is the distance from the position of the query
    /// 32 before it. If the keys are not in order, the results are unspecified. No scratch. Runs on the CPU; from 262,144 queries on, threads share
    /// them.
    ///
    /// ```
    /// # fn main() -> Result<(), sortie::Error> {
    /// let mut positions = [0u32; 3];
    /// let sorter = sortie::Sorter::builder().build()?;
    /// sorter.search_sorted(&[10, 20, 20, 30], &[20, 5, 40], sortie::Side::Right, &mut positions)?;
    /// assert_eq!(positions, [3, 0, 4]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] unless there are as many positions as queries; [`Error::Unsupported`] if the index type is too narrow for
    /// the keys, the engine is a device, or the algorithm is not [`Algorithm::Auto`](crate::Algorithm::Auto).
    pub fn search_sorted<K: Key, I: Index>(
        &self,
        keys: &[K],
        queries: &[K],
        side: Side,
        positions: &mut [I],
    ) -> Result<Report, Error> {
        if const { K::FORM.is_number() } {
            let (keys, queries) = (key::as_bits(keys), key::as_bits(queries));
            return self.search_sorted_numbers(keys, queries, K::FORM.code(), side, positions);
        }
        index_fits::<I>(keys.len())?;
        same_length("positions", queries.len(), positions.len())?;
        let request = self.request(Operation::Search, KeyForm::of::<K>(), Beside::Nothing, queries.len());
        let order = self.choices.order;
        self.run_on_cpu(request, |job| Ok(cpu::search::keys(keys, queries, order, side, positions, job)))
    }

    /// [`Sorter::search_sorted`] of numbers.
    pub(crate) fn search_sorted_numbers<B: Sorts, I: Index>(
        &self,
        keys: &[B],
        queries: &[B],
        code: Code,
        side: Side,
        positions: &mut [I],
    ) -> Result<Report, Error> {
        index_fits::<I>(keys.len())?;
        same_length("positions", queries.len(), positions.len())?;
        let transform = Transform::comparing(code, self.choices.order);
        let request = self.request(Operation::Search, form::<B>(code), Beside::Nothing, queries.len());
        self.run_on_cpu(request, |job| {
            Ok(B::search(keys, queries, transform, side, I::by_width(positions), job))
        })
    }
}
