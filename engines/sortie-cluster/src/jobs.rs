//! [`Jobs`]: those of a session on the cluster, so that they can be cancelled.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use ballista_core::execution_plans::DistributedQueryExec;
use datafusion::catalog::Session;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::context::QueryPlanner;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionContext;
use datafusion_proto::protobuf::LogicalPlanNode;
use sortie_ballista::cancel_job;

/// What a session of Ballista has planned. Each plan knows its job once the scheduler has it.
#[derive(Clone, Debug, Default)]
pub struct Jobs {
    plans: Arc<Mutex<Vec<Arc<dyn ExecutionPlan>>>>,
}

/// How often it is checked whether jobs have names.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

impl Jobs {
    /// The session, whose plans are recorded from now on.
    pub fn recorded(&self, session: SessionContext) -> SessionContext {
        let state = session.state();
        let planner = Recorder { planner: Arc::clone(state.query_planner()), jobs: self.clone() };
        let builder = SessionStateBuilder::new_from_existing(state).with_query_planner(Arc::new(planner));
        SessionContext::new_with_state(builder.build())
    }

    /// Waits until the scheduler has named the jobs of all plans.
    pub async fn named(&self) {
        while self.names().contains(&None) {
            tokio::time::sleep(CHECK_INTERVAL).await;
        }
    }

    /// Cancels the jobs. One that has ended, or that the scheduler cannot be asked about, is left.
    pub async fn cancel(&self, scheduler: &str) {
        for name in self.names().into_iter().flatten() {
            let _ = cancel_job(scheduler, name).await;
        }
    }

    fn names(&self) -> Vec<Option<String>> {
        let mut names = Vec::new();
        for plan in self.plans.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let _ = plan.apply(|node| {
                if let Some(query) = node.downcast_ref::<DistributedQueryExec<LogicalPlanNode>>() {
                    names.push(query.job_id().map(|job| job.to_string()));
                }
                Ok(TreeNodeRecursion::Continue)
            });
        }
        names
    }
}

#[derive(Debug)]
struct Recorder {
    planner: Arc<dyn QueryPlanner + Send + Sync>,
    jobs: Jobs,
}

#[async_trait]
impl QueryPlanner for Recorder {
    async fn create_physical_plan(
        &self,
        plan: &LogicalPlan,
        session: &dyn Session,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = self.planner.create_physical_plan(plan, session).await?;
        self.jobs.plans.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&plan));
        Ok(plan)
    }
}
