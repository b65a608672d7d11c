//! `sortie-cluster`: a Ballista cluster that sorts with Sortie.

mod cli;
mod client;
mod cluster;
mod embedded;
mod local;

use std::process;

use clap::Parser;
use datafusion::common::exec_err;
use datafusion::error::Result;
use mimalloc::MiMalloc;
use tokio::signal::unix::{SignalKind, signal};

use cli::{Cli, Command};
use embedded::Embedded;

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
    let result = run(cli.command).await;
    if let Err(error) = &result {
        eprintln!("sortie-cluster: {error}");
    }
    // Threads that run tasks of a cluster in this process may still work, for nobody.
    process::exit(result.is_err().into());
}

async fn run(command: Command) -> Result<()> {
    match command {
        Command::Scheduler(options) => cluster::run_scheduler(options).await,
        Command::Executor(options) => cluster::run_executor(options).await,
        Command::Sort(options) => {
            let mut cluster = Embedded::unless(&options.cluster).await?;
            let scheduler = cluster.scheduler().to_owned();
            client::sort(&scheduler, options, stopped(&mut cluster)).await
        }
        Command::Sql(options) => {
            // Spill files are deleted at the end.
            let (session, _work_dir) = match &options.cluster.scheduler {
                Some(scheduler) => {
                    cluster::ensure_scheduler(scheduler).await?;
                    (client::session(scheduler).await?, None)
                }
                None => {
                    let (session, work_dir) = local::session(&options.cluster.resources)?;
                    (session, Some(work_dir))
                }
            };
            tokio::select! {
                done = client::sql(session, &options.statements) => done,
                () = told_to_stop() => exec_err!("interrupted"),
            }
        }
    }
}

/// Waits until a command cannot or need not go on. Returns why.
async fn stopped(cluster: &mut Embedded) -> String {
    tokio::select! {
        () = told_to_stop() => "interrupted".to_owned(),
        error = cluster.ended() => error.to_string(),
    }
}

/// Waits for an interrupt. Another one ends the process at once, for cleaning up takes a while.
async fn told_to_stop() {
    interrupted().await;
    tokio::spawn(async {
        interrupted().await;
        process::exit(1)
    });
}

/// Waits for an interrupt or a request to end.
async fn interrupted() {
    let (Ok(mut interrupt), Ok(mut end)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        // Without a handler, a signal ends the process.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => (),
        _ = end.recv() => (),
    }
}
