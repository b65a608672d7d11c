//! [`Work`]: what takes time runs on threads that may block, and is measured.

use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{DataFusionError, Result};
use datafusion::physical_plan::metrics::Time;

#[derive(Clone)]
pub(crate) struct Work {
    /// How many pieces of work a stream begins at once.
    pub threads: usize,
    /// The metric of the operator.
    pub time: Time,
}

impl Work {
    /// Runs a piece of work. If the future is dropped before, the work is not begun; once begun, it is finished.
    pub(crate) async fn run<T: Send + 'static>(
        self,
        piece: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let measured = move || {
            let _timer = self.time.timer();
            piece()
        };
        let done = SpawnedTask::spawn_blocking(measured).join_unwind().await;
        done.map_err(|e| DataFusionError::ExecutionJoin(Box::new(e)))?
    }
}
