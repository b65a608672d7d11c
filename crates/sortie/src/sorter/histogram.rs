//! How a [`Sorter`] counts the keys between edges.

use super::Sorter;
use super::numbers::form;
use crate::cpu::{self, Job};
use crate::error::same_length;
use crate::key::{self, Code, Transform};
use crate::request::{Beside, KeyForm, Operation};
use crate::sorts::Sorts;
use crate::{Error, Key, Report, Request};

impl Sorter {
    /// Writes how many keys there are from each edge on and before the next one; the last bin has also the keys equal to the last edge.
    /// Keys before the first edge or after the last are not counted. Edges are in the order of this sorter.
    ///
    /// Each key takes a look at a table, and O(log m) steps, where m is the most edges that are close together, by their codes or as numbers: one
    /// for edges at equal distances. Keys that are not numbers take O(log n) for n edges. Runs on the CPU; from 262,144 keys on, threads
    /// share them.
    ///
    /// Scratch: up to 64 KB, two copies of the edges, and 8 bytes for each bin and thread, four times as many for fewer than 4,096 edges.
    ///
    /// ```
    /// # fn main() -> Result<(), sortie::Error> {
    /// let mut counts = [0; 3];
    /// let sorter = sortie::Sorter::builder().build()?;
    /// sorter.histogram(&[1, 5, 9, 10, 10, 40], &[0, 5, 10, 20], &mut counts)?;
    /// assert_eq!(counts, [1, 2, 2]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] unless there is one count fewer than edges; [`Error::Unsupported`] if edges are not in order, the engine is a
    /// device, or the algorithm is not [`Algorithm::Auto`](crate::Algorithm::Auto); [`Error::Memory`] if the limit does not leave room for
    /// the scratch.
    pub fn histogram<K: Key>(&self, keys: &[K], edges: &[K], counts: &mut [usize]) -> Result<Report, Error> {
        if const { K::FORM.is_number() } {
            let (keys, edges) = (key::as_bits(keys), key::as_bits(edges));
            return self.histogram_of_numbers(keys, edges, K::FORM.code(), counts);
        }
        let order = self.choices.order;
        check(edges, |a, b| a.compare(b, order).is_le(), counts)?;
        let request = self.request(Operation::Search, KeyForm::of::<K>(), Beside::Nothing, keys.len());
        self.counting::<K>(request, edges.len(), |job| cpu::histogram::keys(keys, edges, order, counts, job))
    }

    /// [`Sorter::histogram`] of numbers.
    pub(crate) fn histogram_of_numbers<B: Sorts>(
        &self,
        keys: &[B],
        edges: &[B],
        code: Code,
        counts: &mut [usize],
    ) -> Result<Report, Error> {
        let transform = Transform::comparing(code, self.choices.order);
        check(edges, |a, b| transform.encode(*a) <= transform.encode(*b), counts)?;
        let request = self.request(Operation::Search, form::<B>(code), Beside::Nothing, keys.len());
        self.counting::<B>(request, edges.len(), |job| B::histogram(keys, edges, transform, counts, job))
    }

    /// Runs a count between this many edges, if the limit has room for its scratch.
    fn counting<T>(
        &self,
        request: Request,
        edges: usize,
        count: impl FnOnce(&Job) -> Report + Send,
    ) -> Result<Report, Error> {
        let scratch = cpu::histogram::scratch::<T>(edges, request.budget.threads) as u64;
        self.holding_for("each thread counts keys on its own", scratch)?;
        let report = self.run_on_cpu(request, |job| Ok(count(job)))?;
        Ok(Report { scratch_peak: scratch, ..report })
    }
}

/// Fails unless there is a count for each bin between edges, and these are in order.
fn check<T>(edges: &[T], in_order: impl Fn(&T, &T) -> bool, counts: &[usize]) -> Result<(), Error> {
    same_length("counts", edges.len().saturating_sub(1), counts.len())?;
    match edges.windows(2).position(|pair| !in_order(&pair[0], &pair[1])) {
        None => Ok(()),
        Some(edge) => Err(Error::Unsupported(format!(
            "edge {} comes before edge {edge} in this order; give edges in order",
            edge + 1
        ))),
    }
}
