//! What users do with a cluster.

use std::pin::pin;
use std::time::Duration;

use ballista::prelude::{SessionConfigExt, SessionContextExt};
use ballista_core::config::BALLISTA_CLIENT_PULL;
use datafusion::arrow::util::pretty::print_batches;
use datafusion::common::exec_err;
use datafusion::error::Result;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::parser::DFParser;
use futures::future;
use indicatif::ProgressBar;
use sortie_ballista::{Progress, Sort};

use crate::cli::SortOptions;
use crate::cluster;
use crate::jobs::Jobs;

/// Sorts a table, unless there is a reason to stop, and prints what was written.
pub async fn sort(
    scheduler: &str,
    tasks: u32,
    options: SortOptions,
    stop: impl Future<Output = String>,
) -> Result<()> {
    let SortOptions { by, input, output, parts, .. } = options;
    let sort = Sort { scheduler: format!("http://{scheduler}"), input, by, output, parts, tasks };
    let spinner = spinner();
    let tell = |progress| {
        spinner.set_message(match progress {
            Progress::Sampling => "drawing a sample".to_owned(),
            Progress::Sorting { written: 0, .. } => "distributing rows".to_owned(),
            Progress::Sorting { written, parts } => {
                format!("sorting: {written} of {parts} parts are written")
            }
        })
    };
    let manifest = sort.run(tell, stop).await;
    spinner.finish_and_clear();
    let manifest = manifest?;
    println!("{} rows in {} parts in {}", manifest.rows, manifest.parts.len(), sort.output);
    Ok(())
}

/// Runs statements one after another, unless there is a reason to stop, and prints the rows of each.
pub async fn sql(
    session: SessionContext,
    statements: &str,
    stop: impl Future<Output = String>,
) -> Result<()> {
    tokio::select! {
        done = run(session, statements) => done,
        reason = stop => exec_err!("{reason}"),
    }
}

/// The same on a cluster, whose job is cancelled if there is a reason to stop.
pub async fn sql_on_cluster(
    scheduler: &str,
    statements: &str,
    stop: impl Future<Output = String>,
) -> Result<()> {
    let jobs = Jobs::default();
    let mut run = pin!(run(jobs.recorded(session(scheduler).await?), statements));
    tokio::select! {
        done = &mut run => done,
        reason = stop => {
            // A job has no name before the scheduler has planned it.
            let _ = tokio::time::timeout(NAME_TIME, future::select(run, pin!(jobs.named()))).await;
            jobs.cancel(&format!("http://{scheduler}")).await;
            exec_err!("{reason}")
        }
    }
}

/// How long an interrupted command waits for the name of its job.
const NAME_TIME: Duration = Duration::from_secs(2);

/// A session on a cluster.
async fn session(scheduler: &str) -> Result<SessionContext> {
    // The scheduler names a job at once if it is asked for its state, but with the first change of the state if it tells by itself.
    let config = SessionConfig::new_with_ballista().set_bool(BALLISTA_CLIENT_PULL, true);
    let state = cluster::session(config)?;
    SessionContext::remote_with_state(&format!("http://{scheduler}"), state).await
}

async fn run(session: SessionContext, statements: &str) -> Result<()> {
    let session = session.enable_url_table();
    for statement in DFParser::parse_sql(statements)? {
        let plan = session.state().statement_to_plan(statement).await?;
        let spinner = spinner();
        spinner.set_message("running");
        let rows = async { session.execute_logical_plan(plan).await?.collect().await };
        let rows = rows.await;
        spinner.finish_and_clear();
        let rows = rows?;
        if !rows.is_empty() {
            print_batches(&rows)?;
        }
    }
    Ok(())
}

/// Shows on a terminal that something happens, and for how long.
fn spinner() -> ProgressBar {
    let style = indicatif::ProgressStyle::with_template("{spinner} {elapsed} {msg}");
    let spinner = ProgressBar::new_spinner();
    if let Ok(style) = style {
        spinner.set_style(style);
    }
    spinner.enable_steady_tick(Duration::from_millis(200));
    spinner
}
