//! [`SortieEngine`]: how an executor sorts.

use std::sync::Arc;

use ballista_core::JobId;
use ballista_core::execution_plans::RuntimeStatsExec;
use ballista_executor::execution_engine::{DefaultExecutionEngine, ExecutionEngine, QueryStageExecutor};
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNode;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionConfig;
use sortie_datafusion::SortWithSortie;

use crate::connections::Connections;

/// Ballista's own engine, with Sortie in the place of DataFusion's sort.
///
/// Sorts in the parallel windows of Ballista stay DataFusion's: the operators around them look for it by name.
///
/// ```
/// use std::sync::Arc;
///
/// use ballista_executor::executor_process::ExecutorProcessConfig;
/// use sortie_ballista::SortieEngine;
///
/// let config = ExecutorProcessConfig {
///     override_execution_engine: Some(Arc::new(SortieEngine::new())),
///     ..Default::default()
/// };
/// # drop(config);
/// ```
pub struct SortieEngine {
    ballista: DefaultExecutionEngine,
}

impl SortieEngine {
    /// An engine that keeps its connections to other executors for the next task.
    pub fn new() -> Self {
        SortieEngine { ballista: DefaultExecutionEngine::with_client_pool(Arc::new(Connections::default())) }
    }
}

impl Default for SortieEngine {
    fn default() -> Self {
        Self::new()
    }
}

impl ExecutionEngine for SortieEngine {
    fn create_query_stage_exec(
        &self,
        job: JobId,
        stage: usize,
        task: usize,
        partitions: Vec<usize>,
        plan: Arc<dyn ExecutionPlan>,
        work_dir: &str,
        config: &SessionConfig,
    ) -> Result<Arc<dyn QueryStageExecutor>> {
        let plan = match plan.exists(|node| Ok(node.is::<RuntimeStatsExec>()))? {
            true => plan,
            false => SortWithSortie.optimize(plan, config.options())?,
        };
        self.ballista.create_query_stage_exec(job, stage, task, partitions, plan, work_dir, config)
    }
}

#[cfg(test)]
mod tests {
    use ballista_core::execution_plans::ShuffleWriterExec;
    use datafusion::arrow::compute::SortOptions;
    use datafusion::arrow::datatypes::{DataType, Field, Schema};
    use datafusion::physical_expr::expressions::Column;
    use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
    use datafusion::physical_plan::empty::EmptyExec;
    use datafusion::physical_plan::sorts::sort::SortExec;

    use super::*;

    /// The plan of a stage as the engine runs it: a sort of what `input` makes of a table.
    fn stage(
        input: impl FnOnce(Arc<dyn ExecutionPlan>, PhysicalSortExpr) -> Arc<dyn ExecutionPlan>,
    ) -> String {
        let schema = Schema::new(vec![Field::new("a", DataType::Int64, false)]);
        let key = PhysicalSortExpr::new(Arc::new(Column::new("a", 0)), SortOptions::default());
        let table = input(Arc::new(EmptyExec::new(Arc::new(schema))), key.clone());
        let sort = SortExec::new(LexOrdering::new([key]).unwrap(), table).with_preserve_partitioning(true);
        let job = JobId::new("job".to_owned());
        let writer = ShuffleWriterExec::try_new(job.clone(), 1, Arc::new(sort), String::new()).unwrap();
        let config = SessionConfig::new();
        let stage =
            SortieEngine::new().create_query_stage_exec(job, 1, 0, vec![0], Arc::new(writer), "", &config);
        stage.unwrap().to_string()
    }

    #[test]
    fn stages_sort_with_sortie() {
        let stage = stage(|table, _| table);
        assert!(stage.contains("SortieExec: expr=[a@0 ASC]"), "{stage}");
    }

    #[test]
    fn sorts_that_ballista_looks_for_stay() {
        let stage = stage(|table, key| Arc::new(RuntimeStatsExec::try_new(table, Some(vec![key])).unwrap()));
        assert!(stage.contains("SortExec: expr=[a@0 ASC]"), "{stage}");
    }
}
