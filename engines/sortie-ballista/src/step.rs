//! [`SortStepExec`]: the steps of a sort as operators.

use std::fmt::{self, Formatter};
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_datafusion_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::EmissionType;
use datafusion::physical_plan::metrics::{
    BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet, RecordOutput,
};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties,
};
use futures::TryStreamExt;

use crate::distribute::Distribute;
use crate::range;
use crate::sample::Sample;
use crate::scan::naming_files;
use crate::write::Write;

/// A step that works on each partition by itself.
#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum Step {
    #[prost(message, tag = "1")]
    Sample(Sample),
    #[prost(message, tag = "2")]
    Distribute(Distribute),
    #[prost(message, tag = "3")]
    Write(Write),
}

/// A step on the network.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct StepMessage {
    #[prost(oneof = "Step", tags = "1, 2, 3")]
    pub step: Option<Step>,
}

impl Step {
    fn name(&self) -> &'static str {
        match self {
            Step::Sample(_) => "SampleExec",
            Step::Distribute(_) => "DistributeExec",
            Step::Write(_) => "WritePartsExec",
        }
    }

    fn schema(&self, input: &SchemaRef) -> SchemaRef {
        match self {
            Step::Sample(_) => Sample::schema(),
            Step::Distribute(_) => range::with_label(input),
            Step::Write(_) => Write::schema(),
        }
    }
}

/// A step of a sort as an operator.
#[derive(Debug)]
pub(crate) struct SortStepExec {
    step: Step,
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl SortStepExec {
    pub(crate) fn new(step: Step, input: Arc<dyn ExecutionPlan>) -> SortStepExec {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(step.schema(&input.schema())),
            Partitioning::UnknownPartitioning(input.output_partitioning().partition_count()),
            EmissionType::Incremental,
            input.boundedness(),
        );
        SortStepExec {
            step,
            input,
            properties: Arc::new(properties),
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }

    pub(crate) fn step(&self) -> &Step {
        &self.step
    }
}

impl DisplayAs for SortStepExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut Formatter) -> fmt::Result {
        match &self.step {
            Step::Sample(sample) => write!(f, "SampleExec: every={}", sample.every),
            Step::Distribute(step) => write!(f, "DistributeExec: ranges={}", step.ranges),
            Step::Write(step) => write!(f, "WritePartsExec: folder={}", step.folder),
        }
    }
}

impl ExecutionPlan for SortStepExec {
    fn name(&self) -> &str {
        self.step.name()
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![false]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let [input] = children.try_into().map_err(|children: Vec<_>| {
            internal_datafusion_err!("{} has one child, not {}", self.name(), children.len())
        })?;
        Ok(Arc::new(SortStepExec::new(self.step.clone(), input)))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let input = self.input.execute(partition, Arc::clone(&context))?;
        let input = naming_files(input, &self.input, partition);
        let baseline = BaselineMetrics::new(&self.metrics, partition);
        let batches = match self.step.clone() {
            Step::Sample(step) => step.run(input)?,
            Step::Distribute(step) => step.run(input)?,
            Step::Write(step) => step.run(input, context)?,
        };
        let counted = batches.map_ok(move |batch| batch.record_output(&baseline));
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), counted)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}
