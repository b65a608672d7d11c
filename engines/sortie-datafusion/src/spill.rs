//! [`Run`]: sorted rows in files. Files are written and read by DataFusion's [`SpillManager`], which limits and measures them.

use std::sync::Arc;

use datafusion::common::{Result, internal_datafusion_err};
use datafusion::execution::spill_file::SpillFile;
use datafusion::physical_plan::SpillManager;
use futures::{StreamExt, TryStreamExt, stream};

use crate::BatchStream;
use crate::work::Work;

/// Sorted rows in one or several files, which are deleted with the last reference to them.
pub(crate) struct Run {
    /// In order.
    files: Vec<Arc<dyn SpillFile>>,
    /// The most bytes and rows of a batch.
    pub batch_bytes: usize,
    pub batch_rows: usize,
}

impl Run {
    /// Writes sorted batches, at least one.
    pub(crate) async fn write(mut batches: BatchStream, spills: &SpillManager, work: &Work) -> Result<Run> {
        let mut file = spills.create_in_progress_file("sorting")?;
        let (mut batch_bytes, mut batch_rows) = (0, 0);
        while let Some(batch) = batches.try_next().await? {
            batch_rows = batch_rows.max(batch.num_rows());
            let append = move || {
                let bytes = file.append_batch(&batch)?;
                Ok((file, bytes))
            };
            let bytes;
            (file, bytes) = work.clone().run(append).await?;
            batch_bytes = batch_bytes.max(bytes);
        }
        let file = work.clone().run(move || file.finish()).await?;
        let file = file.ok_or_else(|| internal_datafusion_err!("a sorted run has no rows"))?;
        Ok(Run { files: vec![file], batch_bytes, batch_rows })
    }

    /// Runs of which each comes before the next, as one.
    pub(crate) fn joined(runs: Vec<Run>) -> Run {
        let mut joined = Run { files: Vec::new(), batch_bytes: 0, batch_rows: 0 };
        for run in runs {
            joined.files.extend(run.files);
            joined.batch_bytes = joined.batch_bytes.max(run.batch_bytes);
            joined.batch_rows = joined.batch_rows.max(run.batch_rows);
        }
        joined
    }

    pub(crate) fn read(&self, spills: &SpillManager) -> BatchStream {
        let (spills, most) = (spills.clone(), self.batch_bytes);
        let files = stream::iter(self.files.clone());
        files.map(move |file| spills.read_spill_as_stream(file, Some(most))).try_flatten().boxed()
    }
}
