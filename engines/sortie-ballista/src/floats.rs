//! [`InexactFloats`]: a rule against a fault of DataFusion 55.
//!
//! What a Parquet file states as the bounds of its floats leaves NaN out. Where both bounds of a column are the same, DataFusion
//! reads this one value in all rows, also in those with NaN. It does not if the bounds are inexact.

use std::sync::Arc;

use datafusion::catalog::memory::DataSourceExec;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Result, Statistics};
use datafusion::config::ConfigOptions;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;

use crate::scan::file_scan;

/// Marks the bounds of all columns of floats in files as inexact, so that NaN is read as NaN.
#[derive(Debug)]
pub struct InexactFloats;

impl PhysicalOptimizerRule for InexactFloats {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let inexact = |node: Arc<dyn ExecutionPlan>| {
            Ok(match inexact_scan(&node) {
                Some(scan) => Transformed::yes(scan),
                None => Transformed::no(node),
            })
        };
        plan.transform_up(inexact).data()
    }

    fn name(&self) -> &str {
        "InexactFloats"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn inexact_scan(node: &Arc<dyn ExecutionPlan>) -> Option<Arc<dyn ExecutionPlan>> {
    let scan = file_scan(node)?;
    let groups = scan.file_groups.iter().map(|group| {
        let files = FileGroup::new(group.iter().cloned().map(inexact_file).collect());
        match group.file_statistics(None) {
            Some(statistics) => files.with_statistics(Arc::new(statistics.clone())),
            None => files,
        }
    });
    let groups = groups.collect();
    let scan = FileScanConfigBuilder::from(scan.clone()).with_file_groups(groups).build();
    Some(DataSourceExec::from_data_source(scan))
}

fn inexact_file(mut file: PartitionedFile) -> PartitionedFile {
    file.statistics = file.statistics.map(|statistics| {
        let mut statistics = Statistics::clone(&statistics);
        for column in &mut statistics.column_statistics {
            if column.min_value.get_value().is_some_and(|bound| bound.data_type().is_floating()) {
                column.min_value = column.min_value.clone().to_inexact();
                column.max_value = column.max_value.clone().to_inexact();
            }
        }
        Arc::new(statistics)
    });
    file
}
