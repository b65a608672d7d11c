//! `sortie-cluster`: a Ballista cluster that sorts with Sortie.

mod cli;
mod client;
mod cluster;
mod embedded;
mod interrupts;
mod jobs;
mod message;
mod work_folder;

use std::process;

use clap::Parser;
use datafusion::error::Result;
use mimalloc::MiMalloc;

use cli::{Cli, Command};
use embedded::Embedded;
use interrupts::Interrupts;

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
    let mut embedded = None;
    let result = run(cli.command, &mut embedded).await;
    if let Err(error) = &result {
        eprintln!("sortie-cluster: {}", message::one_line(error));
    }
    // Threads that run tasks of a cluster in this process may still work, for nobody. Nothing comes between the end of its work folder
    // and that of the process, lest they make it again.
    drop(embedded);
    process::exit(result.is_err().into());
}

async fn run(command: Command, embedded: &mut Option<Embedded>) -> Result<()> {
    interrupts::end_on_hangup()?;
    match command {
        Command::Scheduler(options) => cluster::run_scheduler(options).await,
        Command::Executor(options) => cluster::run_executor(options).await,
        Command::Sort(options) => {
            let interrupts = Interrupts::new()?;
            let cluster = embedded.insert(Embedded::unless(&options.cluster).await?);
            let scheduler = cluster.scheduler().to_owned();
            let tasks = cluster.tasks_at_once();
            client::sort(&scheduler, tasks, options, stopped(cluster, interrupts)).await
        }
        Command::Sql(options) => {
            let interrupts = Interrupts::new()?;
            let cluster = embedded.insert(Embedded::unless(&options.cluster).await?);
            let scheduler = cluster.scheduler().to_owned();
            let session = client::session(&scheduler).await?;
            client::sql(session, &scheduler, &options.statements, stopped(cluster, interrupts)).await
        }
    }
}

/// Waits until a command cannot or need not go on. Returns why.
async fn stopped(cluster: &mut Embedded, mut interrupts: Interrupts) -> String {
    let work = cluster.work();
    tokio::select! {
        biased;
        () = interrupts.next() => {
            // Cleaning up takes a while. Another interrupt is meant.
            tokio::spawn(async move {
                interrupts.next().await;
                if let Some(work) = work {
                    work.delete();
                }
                process::exit(1)
            });
            "interrupted".to_owned()
        }
        error = cluster.ended() => error.to_string(),
    }
}
