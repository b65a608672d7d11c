//! [`SortWithSortie`]: the rule that replaces operators.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::config::ConfigOptions;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};

use crate::SortieExec;

/// Replaces each [`SortExec`] without a limit by a [`SortieExec`], and with it a [`SortPreservingMergeExec`] that merges its
/// partitions. A sort with a limit is left to DataFusion, which tells its input which rows are no longer needed.
#[derive(Debug)]
pub struct SortWithSortie;

impl PhysicalOptimizerRule for SortWithSortie {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let replace = |node: Arc<dyn ExecutionPlan>| {
            Ok(match replacement(&node)? {
                Some(sort) => Transformed::yes(Arc::new(sort) as Arc<dyn ExecutionPlan>),
                None => Transformed::no(node),
            })
        };
        plan.transform_down(replace).data()
    }

    fn name(&self) -> &str {
        "SortWithSortie"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn replacement(node: &Arc<dyn ExecutionPlan>) -> Result<Option<SortieExec>> {
    if let Some(merge) = node.downcast_ref::<SortPreservingMergeExec>() {
        let whole = merge.fetch().is_none();
        let sort = unlimited(merge.input())?.filter(|sort| whole && sort.expr() == merge.expr());
        return Ok(sort.map(|sort| SortieExec::new(sort.expr().clone(), Arc::clone(sort.input()), false)));
    }
    let sort = unlimited(node)?;
    Ok(sort.map(|sort| {
        SortieExec::new(sort.expr().clone(), Arc::clone(sort.input()), sort.preserve_partitioning())
    }))
}

/// The node as a sort without a limit, if it is one that does anything: DataFusion's passes on rows that are sorted already.
fn unlimited(node: &Arc<dyn ExecutionPlan>) -> Result<Option<&SortExec>> {
    let Some(sort) = node.downcast_ref::<SortExec>().filter(|sort| sort.fetch().is_none()) else {
        return Ok(None);
    };
    let is_sorted = sort.input().equivalence_properties().ordering_satisfy(sort.expr().clone())?;
    Ok((!is_sorted).then_some(sort))
}
