//! [`Run`]: sorted rows in a file. Files are written and read by DataFusion's [`SpillManager`], which limits and measures them.

use std::sync::Arc;

use datafusion::common::{Result, internal_datafusion_err};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::spill_file::SpillFile;
use datafusion::physical_plan::SpillManager;
use futures::TryStreamExt;

use crate::BatchStream;
use crate::work::Work;

/// Sorted rows in a file, which is deleted with the last reference to it.
pub(crate) struct Run {
    file: Arc<dyn SpillFile>,
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
        Ok(Run { file, batch_bytes, batch_rows })
    }

    pub(crate) fn read(&self, spills: &SpillManager) -> Result<SendableRecordBatchStream> {
        spills.read_spill_as_stream(Arc::clone(&self.file), Some(self.batch_bytes))
    }
}
