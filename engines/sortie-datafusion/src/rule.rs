//! [`SortWithSortie`]: the rule that replaces operators.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::config::ConfigOptions;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};

use crate::SortieExec;

/// Replaces each [`SortExec`] without a limit by a [`SortieExec`].
///
/// - A [`SortPreservingMergeExec`] that merges the partitions of the sort is no longer needed, and is removed. There may be
///   projections between the two that select columns.
/// - A sort with a limit is left to DataFusion, which tells its input which rows are no longer needed.
#[derive(Debug)]
pub struct SortWithSortie;

impl PhysicalOptimizerRule for SortWithSortie {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let replace = |node: Arc<dyn ExecutionPlan>| {
            Ok(match replacement(&node)? {
                Some(new) => Transformed::yes(new),
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

type Plan = Arc<dyn ExecutionPlan>;

fn replacement(node: &Plan) -> Result<Option<Plan>> {
    if let Some(merge) =
        node.downcast_ref::<SortPreservingMergeExec>().filter(|merge| merge.fetch().is_none())
        && let Some(sorted) = in_one_partition(merge.input())?
        && sorted.equivalence_properties().ordering_satisfy(merge.expr().clone())?
    {
        return Ok(Some(sorted));
    }
    Ok(unlimited(node)?.map(|sort| with_sortie(sort, sort.preserve_partitioning())))
}

/// A sort of partitions as one of all rows. Columns are selected after it, which takes no time.
fn in_one_partition(node: &Plan) -> Result<Option<Plan>> {
    if let Some(projection) = node.downcast_ref::<ProjectionExec>()
        && projection.expr().iter().all(|selected| selected.expr.is::<Column>())
        && let Some(sorted) = in_one_partition(projection.input())?
    {
        return replace_children_if_necessary(Arc::clone(node), vec![sorted]).map(Some);
    }
    Ok(unlimited(node)?.map(|sort| with_sortie(sort, false)))
}

/// The node as a sort without a limit, if it is one that does anything: DataFusion's passes on rows that are sorted already.
fn unlimited(node: &Plan) -> Result<Option<&SortExec>> {
    let Some(sort) = node.downcast_ref::<SortExec>().filter(|sort| sort.fetch().is_none()) else {
        return Ok(None);
    };
    let is_sorted = sort.input().equivalence_properties().ordering_satisfy(sort.expr().clone())?;
    Ok((!is_sorted).then_some(sort))
}

fn with_sortie(sort: &SortExec, preserve_partitioning: bool) -> Plan {
    Arc::new(SortieExec::new(sort.expr().clone(), Arc::clone(sort.input()), preserve_partitioning))
}
