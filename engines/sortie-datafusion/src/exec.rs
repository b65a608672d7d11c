//! [`SortieExec`]: the operator.

use std::fmt::{self, Formatter};
use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics, internal_datafusion_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{Distribution, LexOrdering, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{
    CardinalityEffect, ChildrenPropertiesMode, EvaluationType, ReplaceChildrenOptions,
    apply_expression_roots, has_same_children_properties,
};
use datafusion::physical_plan::metrics::{
    BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet, RecordOutput,
};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildStats, DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties,
    InputDistributionRequirements, PlanProperties, StatisticsArgs,
};
use futures::{TryStreamExt, stream};

use crate::sort::Sort;

/// Sorts its input as [`SortExec`] does without a limit, with Sortie.
///
/// With `preserve_partitioning`, each partition of the input is sorted by itself. Without, there is one partition of output, with
/// the rows of all partitions of the input. Those are read at the same time and sorted together, so that no
/// [`SortPreservingMergeExec`] is needed.
///
/// # Memory
///
/// Rows stay in memory while the pool grants it. The reservation counts the batches, the keys and the scratch memory of the sort,
/// so that it can spill. What does not fit is sorted and written to temporary files, which are merged at the end.
///
/// # Cancellation
///
/// A sort that is under way on a thread when the stream is dropped is finished, and its memory then given back. Nothing is begun
/// after it.
#[derive(Debug, Clone)]
pub struct SortieExec {
    input: Arc<dyn ExecutionPlan>,
    ordering: LexOrdering,
    preserve_partitioning: bool,
    metrics: ExecutionPlanMetricsSet,
    properties: Arc<PlanProperties>,
}

impl SortieExec {
    /// Sorts the rows of `input` by `ordering`.
    pub fn new(
        ordering: LexOrdering,
        input: Arc<dyn ExecutionPlan>,
        preserve_partitioning: bool,
    ) -> SortieExec {
        let properties = properties(&ordering, &input, preserve_partitioning);
        let metrics = ExecutionPlanMetricsSet::new();
        SortieExec { input, ordering, preserve_partitioning, metrics, properties }
    }

    /// What is sorted.
    pub fn input(&self) -> &Arc<dyn ExecutionPlan> {
        &self.input
    }

    /// What it is sorted by.
    pub fn ordering(&self) -> &LexOrdering {
        &self.ordering
    }

    /// Whether each partition is sorted by itself.
    pub fn preserve_partitioning(&self) -> bool {
        self.preserve_partitioning
    }
}

/// The properties of the operators in whose place this one is.
fn properties(
    ordering: &LexOrdering,
    input: &Arc<dyn ExecutionPlan>,
    preserve_partitioning: bool,
) -> Arc<PlanProperties> {
    let sort = SortExec::new(ordering.clone(), Arc::clone(input)).with_preserve_partitioning(true);
    if preserve_partitioning {
        return Arc::clone(sort.properties());
    }
    let merge = SortPreservingMergeExec::new(ordering.clone(), Arc::new(sort));
    // Unlike that one, this operator starts when it is first polled.
    Arc::new(PlanProperties::clone(merge.properties()).with_evaluation_type(EvaluationType::Lazy))
}

impl DisplayAs for SortieExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut Formatter) -> fmt::Result {
        let SortieExec { ordering, preserve_partitioning, .. } = self;
        match format {
            DisplayFormatType::Default | DisplayFormatType::Verbose => {
                write!(f, "SortieExec: expr=[{ordering}], preserve_partitioning=[{preserve_partitioning}]")
            }
            DisplayFormatType::TreeRender => writeln!(f, "{ordering}"),
        }
    }
}

impl ExecutionPlan for SortieExec {
    fn name(&self) -> &str {
        "SortieExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        InputDistributionRequirements::new(vec![Distribution::UnspecifiedDistribution])
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        apply_expression_roots(self.ordering.iter().map(|key| &key.expr), f)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let [input] = children.try_into().map_err(|children: Vec<_>| {
            internal_datafusion_err!("SortieExec has one child, not {}", children.len())
        })?;
        let mut new =
            SortieExec { input, metrics: ExecutionPlanMetricsSet::new(), ..SortieExec::clone(&self) };
        if options.children_properties == ChildrenPropertiesMode::Recompute {
            new.properties = properties(&new.ordering, &new.input, new.preserve_partitioning);
        }
        Ok(Arc::new(new))
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mode = match has_same_children_properties(self.as_ref(), &children)? {
            true => ChildrenPropertiesMode::Keep,
            false => ChildrenPropertiesMode::Recompute,
        };
        self.replace_children(children, ReplaceChildrenOptions::new(mode))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let partitions = match self.preserve_partitioning {
            true => partition..partition + 1,
            false => 0..self.input.output_partitioning().partition_count(),
        };
        let inputs =
            partitions.map(|i| self.input.execute(i, Arc::clone(&context))).collect::<Result<_>>()?;
        let baseline = BaselineMetrics::new(&self.metrics, partition);
        let sort =
            Sort::new(partition, self.schema(), self.ordering.clone(), context, &self.metrics, &baseline);
        let batches = stream::once(Arc::new(sort).run(inputs)).try_flatten();
        let counted = batches.map_ok(move |batch| batch.record_output(&baseline));
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), counted)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition.filter(|_| self.preserve_partitioning))]
    }

    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        _: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        Ok(Arc::clone(&inputs[0]))
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        CardinalityEffect::Equal
    }
}
