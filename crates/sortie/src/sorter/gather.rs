//! How a [`Sorter`] brings values into an order that was found.

use super::{PARALLEL_FROM, Sorter};
use crate::{Error, Index, parallel, scratch};

impl Sorter {
    /// Writes `values[indices[i]]` for each i: brings values into an order that [`Sorter::argsort`] or a selection of indices has found. All
    /// threads read the values. No scratch.
    ///
    /// ```
    /// # fn main() -> Result<(), sortie::Error> {
    /// let (names, ages) = (["Ada", "Bo", "Cy"], [40, 20, 30]);
    /// let mut by_age = Vec::new();
    /// sortie::Sorter::builder().build()?.gather(&names, &sortie::argsort(&ages), &mut by_age)?;
    /// assert_eq!(by_age, ["Bo", "Cy", "Ada"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] if an index is not less than the number of values; [`Error::Memory`] if the system refuses the result. `gathered`
    /// is then as it was.
    ///
    /// # Panics
    /// If a clone panics.
    pub fn gather<T: Clone + Send + Sync, I: Index>(
        &self,
        values: &[T],
        indices: &[I],
        gathered: &mut Vec<T>,
    ) -> Result<(), Error> {
        if let Some(index) = indices.iter().find(|index| index.to_usize() >= values.len()) {
            let (index, values) = (index.to_usize(), values.len());
            return Err(Error::Unsupported(format!(
                "there are {values} values, so none has the index {index}; give indices of values"
            )));
        }
        let mut found = scratch::reserve(indices.len())?;
        self.in_pool(self.threads(indices.len(), PARALLEL_FROM), |threads| {
            parallel::collect_into(&mut found, threads, indices, |index| values[index.to_usize()].clone());
        });
        *gathered = found;
        Ok(())
    }
}
