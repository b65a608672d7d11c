//! [`merged`]: sorted runs as one stream.
//!
//! Runs are not merged row by row. The rows that come next, of all runs, are cut off as a portion and sorted like any others. So
//! several threads merge, each another portion.

use std::cmp::Ordering;
use std::sync::Arc;

use datafusion::arrow::array::make_comparator;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::physical_expr::LexOrdering;
use futures::{StreamExt, TryStreamExt, stream};

use crate::BatchStream;
use crate::part::Part;
use crate::sorted::Sorted;
use crate::work::Work;

/// Merges sorted streams. The batches of the result have up to `batch_rows` rows. The memory is given back after the last one.
pub(crate) async fn merged(
    runs: Vec<BatchStream>,
    schema: SchemaRef,
    ordering: LexOrdering,
    batch_rows: usize,
    memory: Arc<MemoryReservation>,
    work: Work,
) -> Result<BatchStream> {
    let mut heads = Vec::with_capacity(runs.len());
    for run in runs {
        heads.extend(Head::of(run, &ordering).await?);
    }
    let merge = Merge { heads, ordering, portion_rows: batch_rows, _memory: memory };
    let portions = stream::try_unfold(merge, |mut merge: Merge| async move {
        let portion = merge.next_portion().await?;
        Ok((!portion.is_empty()).then_some((portion, merge)))
    });
    let threads = work.threads;
    let batches = portions.map_ok(move |portion| {
        let schema = Arc::clone(&schema);
        work.clone().run(move || Sorted::of(portion, &schema, None)?.gather_all(batch_rows))
    });
    let batches = batches.try_buffered(threads).map_ok(|batches| stream::iter(batches).map(Ok));
    Ok(batches.try_flatten().boxed())
}

struct Merge {
    /// Of each run that has rows left.
    heads: Vec<Head>,
    ordering: LexOrdering,
    /// A portion has at least as many rows, if there are any more.
    portion_rows: usize,
    _memory: Arc<MemoryReservation>,
}

/// The first rows of a run, at least one, and its other batches.
struct Head {
    part: Part,
    rest: BatchStream,
}

impl Merge {
    /// The rows that come next, in any order.
    async fn next_portion(&mut self) -> Result<Vec<Part>> {
        let (mut portion, mut rows) = (Vec::new(), 0);
        while rows < self.portion_rows && !self.heads.is_empty() {
            let first = self.first_to_end()?;
            let bound = self.heads[first].part.clone();
            for (i, head) in std::mem::take(&mut self.heads).into_iter().enumerate() {
                let next = if i == first { bound.rows() } else { head.rows_up_to(&bound)? };
                if next > 0 {
                    rows += next;
                    portion.push(head.part.slice(0, next));
                }
                self.heads.extend(head.without(next, &self.ordering).await?);
            }
        }
        Ok(portion)
    }

    /// The head whose last row comes first. All rows up to that one are in memory.
    fn first_to_end(&self) -> Result<usize> {
        let mut first = 0;
        for (i, Head { part, .. }) in self.heads.iter().enumerate().skip(1) {
            let before = &self.heads[first].part;
            if comparator(part, before)?(part.rows() - 1, before.rows() - 1).is_lt() {
                first = i;
            }
        }
        Ok(first)
    }
}

impl Head {
    /// The first rows of a run, unless it has none.
    async fn of(mut run: BatchStream, ordering: &LexOrdering) -> Result<Option<Head>> {
        while let Some(batch) = run.try_next().await? {
            if batch.num_rows() > 0 {
                return Ok(Some(Head { part: Part::of(batch, ordering)?, rest: run }));
            }
        }
        Ok(None)
    }

    /// How many rows do not come after the last one of `bound`.
    fn rows_up_to(&self, bound: &Part) -> Result<usize> {
        let compare = comparator(&self.part, bound)?;
        let last = bound.rows() - 1;
        let (mut start, mut end) = (0, self.part.rows());
        while start < end {
            let middle = start.midpoint(end);
            match compare(middle, last) {
                Ordering::Greater => end = middle,
                _ => start = middle + 1,
            }
        }
        Ok(start)
    }

    /// What is left of the run after the first `rows` rows of this head.
    async fn without(self, rows: usize, ordering: &LexOrdering) -> Result<Option<Head>> {
        match self.part.rows() - rows {
            0 => Head::of(self.rest, ordering).await,
            left => Ok(Some(Head { part: self.part.slice(rows, left), rest: self.rest })),
        }
    }
}

/// Compares a row of `a` with one of `b`.
fn comparator(a: &Part, b: &Part) -> Result<impl Fn(usize, usize) -> Ordering> {
    let columns = a.keys.iter().zip(&b.keys);
    let columns = columns.map(|(a, b)| make_comparator(&a.values, &b.values, a.options.unwrap_or_default()));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    Ok(move |i, j| {
        columns.iter().map(|compare| compare(i, j)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    })
}
