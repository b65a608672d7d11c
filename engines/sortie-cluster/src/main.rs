//! `sortie-cluster`: a Ballista cluster that sorts with Sortie.

mod cli;
mod client;
mod cluster;
mod embedded;
mod interrupts;
mod jobs;
mod local;
mod message;
mod work_folder;

use std::process;
use std::sync::Arc;

use clap::Parser;
use datafusion::error::Result;
use mimalloc::MiMalloc;

use cli::{Cli, ClusterOptions, Command, SqlOptions};
use embedded::Embedded;
use interrupts::Interrupts;
use work_folder::WorkFolder;

/// Ballista's programs have this allocator too.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

#[tokio::main]
async fn main() {
    let cli = Cli::parse();
    let level = match cli.command {
        Command::Scheduler(_) | Command::Executor(_) => "warn",
        Command::Sort(_) | Command::Sql(_) => "off",
    };
    env_logger::init_from_env(env_logger::Env::default().default_filter_or(level));
    let mut work = None;
    let result = run(cli.command, &mut work).await;
    if let Err(error) = &result {
        eprintln!("sortie-cluster: {}", message::one_line(error));
    }
    end(work.as_deref(), result.is_err().into())
}

/// Ends the process, and deletes the folder of its rows. Threads may still work, for nobody.
fn end(work: Option<&WorkFolder>, status: i32) -> ! {
    match work {
        Some(work) => work.end_process(status),
        None => process::exit(status),
    }
}

/// Runs a command. If it keeps rows in a folder of this process until the end, `work` becomes that folder.
async fn run(command: Command, work: &mut Option<Arc<WorkFolder>>) -> Result<()> {
    interrupts::end_on_hangup()?;
    match command {
        Command::Scheduler(options) => cluster::run_scheduler(options).await,
        Command::Executor(options) => {
            let folder = work.insert(Arc::new(cluster::work_folder(&options.resources)?));
            cluster::run_executor(options, &folder.rows()).await
        }
        Command::Sort(options) => {
            let interrupts = Interrupts::new()?;
            let mut cluster = Embedded::unless(&options.cluster).await?;
            *work = cluster.work();
            let scheduler = cluster.scheduler().to_owned();
            let tasks = cluster.tasks_at_once();
            let stop = async {
                tokio::select! {
                    biased;
                    reason = interrupted(interrupts, cluster.work()) => reason,
                    error = cluster.ended() => error.to_string(),
                }
            };
            client::sort(&scheduler, tasks, options, stop).await
        }
        Command::Sql(SqlOptions { statements, cluster: ClusterOptions { scheduler, resources } }) => {
            let interrupts = Interrupts::new()?;
            if let Some(scheduler) = scheduler {
                cluster::ensure_scheduler(&scheduler).await?;
                let stop = interrupted(interrupts, None);
                return client::sql_on_cluster(&scheduler, &statements, stop).await;
            }
            let folder = work.insert(Arc::new(cluster::work_folder(&resources)?));
            let session = local::session(&resources, folder.rows())?;
            client::sql(session, &statements, interrupted(interrupts, Some(Arc::clone(folder)))).await
        }
    }
}

/// Waits for an interrupt, and returns it as the reason to stop. Cleaning up takes a while; another interrupt ends the process.
async fn interrupted(mut interrupts: Interrupts, work: Option<Arc<WorkFolder>>) -> String {
    interrupts.next().await;
    tokio::spawn(async move {
        interrupts.next().await;
        end(work.as_deref(), 1)
    });
    "interrupted".to_owned()
}
