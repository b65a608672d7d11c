//! What a scan of files reads.

use std::sync::Arc;

use datafusion::catalog::memory::DataSourceExec;
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::TryStreamExt;

/// How the operator scans files, if it does.
pub(crate) fn file_scan(plan: &Arc<dyn ExecutionPlan>) -> Option<&FileScanConfig> {
    plan.downcast_ref::<DataSourceExec>()?.data_source().downcast_ref::<FileScanConfig>()
}

/// The rows of a partition of the operator. If it scans files, errors name them: DataFusion's own do not.
pub(crate) fn naming_files(
    rows: SendableRecordBatchStream,
    plan: &Arc<dyn ExecutionPlan>,
    partition: usize,
) -> SendableRecordBatchStream {
    let Some((scan, files)) = file_scan(plan).and_then(|scan| Some((scan, scan.file_groups.get(partition)?)))
    else {
        return rows;
    };
    let store = scan.object_store_url.as_str();
    let names: Vec<_> = files.iter().map(|file| format!("{store}{}", file.object_meta.location)).collect();
    let named = match names.as_slice() {
        [] => return rows,
        [file] => format!("reading {file}"),
        [first, .., last] => format!("reading one of the {} files from {first} to {last}", names.len()),
    };
    let schema = rows.schema();
    Box::pin(RecordBatchStreamAdapter::new(schema, rows.map_err(move |error| error.context(named.clone()))))
}
