//! [`session`]: DataFusion in this process, with Sortie as its sort.

use std::path::PathBuf;
use std::sync::Arc;

use datafusion::error::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use sysinfo::System;

use crate::cli::Resources;
use crate::cluster::{pooled_memory, state, tasks_at_once};

/// A session that uses no more than these resources, and spills to the folder.
pub fn session(resources: &Resources, spills: PathBuf) -> Result<SessionContext> {
    let memory = pooled_memory(resources)?.unwrap_or_else(most_memory);
    let runtime = RuntimeEnvBuilder::new()
        .with_temp_file_path(spills)
        .with_memory_pool(Arc::new(FairSpillPool::new(memory as usize)));
    let config = SessionConfig::new().with_target_partitions(tasks_at_once(resources)?);
    let state = SessionStateBuilder::new_from_existing(state(config.with_information_schema(true), runtime)?);
    Ok(SessionContext::new_with_state(sortie_datafusion::install(state).build()))
}

/// 70% of the memory of the machine, or of the container. Executors use as much.
fn most_memory() -> u64 {
    let mut system = System::new();
    system.refresh_memory();
    system.cgroup_limits().map_or(system.total_memory(), |limits| limits.total_memory) / 10 * 7
}
