//! [`Embedded`]: a cluster in this process.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use datafusion::error::{DataFusionError, Result};
use futures::future;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::cli::{ClusterOptions, ExecutorOptions};
use crate::cluster::{ensure_scheduler, serve_executor, serve_scheduler, tasks_at_once, work_folder};
use crate::work_folder::WorkFolder;

/// The cluster that runs a command: one that there is, or a scheduler and an executor in this process.
pub struct Embedded {
    scheduler: String,
    tasks: Vec<JoinHandle<Result<()>>>,
    work: Option<Arc<WorkFolder>>,
    tasks_at_once: u32,
}

/// What a cluster of unknown size is taken for.
const TASKS_OF_A_CLUSTER: u32 = 8;

/// Nothing is lost between two parts of one process.
const NO_TIMEOUT: u64 = 3600;

impl Embedded {
    pub async fn unless(options: &ClusterOptions) -> Result<Embedded> {
        if let Some(scheduler) = &options.scheduler {
            ensure_scheduler(scheduler).await?;
            return Ok(Embedded {
                scheduler: scheduler.clone(),
                tasks: vec![],
                work: None,
                tasks_at_once: TASKS_OF_A_CLUSTER,
            });
        }
        let bind = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let listener = TcpListener::bind((bind, 0)).await?;
        let scheduler = listener.local_addr()?.to_string();
        let executor = ExecutorOptions {
            scheduler: scheduler.clone(),
            bind,
            host: None,
            port: None,
            resources: options.resources.clone(),
        };
        let work = Arc::new(work_folder(&options.resources)?);
        let rows = work.rows();
        let tasks = vec![
            tokio::spawn(serve_scheduler(listener, NO_TIMEOUT)),
            tokio::spawn(async move { serve_executor(executor, &rows).await }),
        ];
        let tasks_at_once = tasks_at_once(&options.resources)? as u32;
        Ok(Embedded { scheduler, tasks, work: Some(work), tasks_at_once })
    }

    /// Waits until a part of this process's cluster ends, which it does only if it fails. Returns why.
    pub async fn ended(&mut self) -> DataFusionError {
        if self.tasks.is_empty() {
            return future::pending().await;
        }
        match future::select_all(&mut self.tasks).await.0 {
            Ok(Ok(())) => DataFusionError::Execution("the cluster in this process has ended".to_owned()),
            Ok(Err(error)) => error,
            Err(error) => DataFusionError::ExecutionJoin(Box::new(error)),
        }
    }

    /// How many tasks it runs at once, about.
    pub fn tasks_at_once(&self) -> u32 {
        self.tasks_at_once
    }

    /// Where the executor of this process keeps rows.
    pub fn work(&self) -> Option<Arc<WorkFolder>> {
        self.work.clone()
    }

    /// Its address, as in `localhost:50050`.
    pub fn scheduler(&self) -> &str {
        &self.scheduler
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}
