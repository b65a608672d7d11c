//! [`session`]: DataFusion in this process, with Sortie as its sort.

use std::sync::Arc;
use std::thread;

use datafusion::error::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use sysinfo::System;
use tempfile::TempDir;

use crate::cli::Resources;
use crate::cluster::{state, work_dir};

/// A session that uses no more than these resources, and the folder of its spill files, which the session must not outlive.
pub fn session(resources: &Resources) -> Result<(SessionContext, TempDir)> {
    let folder = work_dir(resources.work_dir.clone())?;
    let tasks = match resources.tasks {
        Some(tasks) => tasks.into(),
        None => thread::available_parallelism()?.get(),
    };
    let memory = resources.memory.map_or_else(most_memory, |mib| mib << 20);
    let runtime = RuntimeEnvBuilder::new()
        .with_temp_file_path(folder.path())
        .with_memory_pool(Arc::new(FairSpillPool::new(memory as usize)));
    let config = SessionConfig::new().with_target_partitions(tasks).with_information_schema(true);
    let state = SessionStateBuilder::new_from_existing(state(config, runtime)?);
    Ok((SessionContext::new_with_state(sortie_datafusion::install(state).build()), folder))
}

/// 70% of the memory of the machine, or of the container. Executors use as much.
fn most_memory() -> u64 {
    let mut system = System::new();
    system.refresh_memory();
    system.cgroup_limits().map_or(system.total_memory(), |limits| limits.total_memory) / 10 * 7
}
