//! The command line.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// A Ballista cluster that sorts with Sortie.
///
/// Start a scheduler and executors, then sort tables or run SQL on them. Without a scheduler, `sort` and `sql` run in one
/// process. Variables such as AWS_ACCESS_KEY_ID and AWS_ENDPOINT_URL open S3-compatible stores; RUST_LOG=info shows what happens.
#[derive(Parser)]
#[command(version)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    Scheduler(SchedulerOptions),
    Executor(ExecutorOptions),
    Sort(SortOptions),
    Sql(SqlOptions),
}

/// Start a scheduler, which gives tasks to executors.
///
/// There is no authentication. Open its port only inside a trusted network.
#[derive(Args)]
pub struct SchedulerOptions {
    /// Address to listen on.
    #[arg(long, default_value = "127.0.0.1:50050", value_name = "ADDRESS:PORT")]
    pub bind: SocketAddr,
    /// Seconds without a heartbeat before an executor's tasks run elsewhere. Busy executors send one every five.
    #[arg(long, default_value_t = 60, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(10..))]
    pub executor_timeout: u64,
}

/// Start an executor, which runs tasks.
///
/// There is no authentication. Open its port only inside a trusted network.
#[derive(Args)]
pub struct ExecutorOptions {
    /// The scheduler to work for.
    #[arg(long, default_value = "127.0.0.1:50050", value_name = "HOST:PORT")]
    pub scheduler: String,
    /// Address to listen on.
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    pub bind: IpAddr,
    /// Name by which others reach this executor; the address by default.
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
    /// Port for the rows that others fetch; a free one by default.
    #[arg(long)]
    pub port: Option<u16>,
    #[command(flatten)]
    pub resources: Resources,
}

/// What an executor may use.
#[derive(Args, Clone)]
pub struct Resources {
    /// Tasks that run at once; as many as there are cores by default.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    pub tasks: Option<u16>,
    /// Memory for the process, in MiB; by default its tasks share 70% of the machine's.
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..))]
    pub memory: Option<u64>,
    /// Folder for shuffle and spill files; that for temporary files by default.
    #[arg(long, value_name = "FOLDER")]
    pub work_dir: Option<PathBuf>,
}

/// Which cluster runs a command.
#[derive(Args)]
pub struct ClusterOptions {
    /// Scheduler of the cluster. Without one, this process does all.
    #[arg(long, value_name = "HOST:PORT", conflicts_with_all = ["tasks", "memory", "work_dir"])]
    pub scheduler: Option<String>,
    #[command(flatten)]
    pub resources: Resources,
}

/// Sort a table to Parquet files whose rows are in order over all of them.
///
/// The folder gets part-00000.parquet and so on. At the end FOLDER.manifest.json is written beside it. If the sort fails or is
/// interrupted, what was written is deleted.
#[derive(Args)]
pub struct SortOptions {
    /// Columns to sort by, as in SQL's ORDER BY: 'a, b DESC NULLS LAST, "Upper Case"'.
    #[arg(long, value_name = "COLUMNS")]
    pub by: String,
    /// Parquet file, folder of Parquet files, or pattern: a path, or s3://BUCKET/PATH.
    pub input: String,
    /// Folder to write to, empty or new: a path, or s3://BUCKET/PATH.
    #[arg(short, long, value_name = "FOLDER")]
    pub output: String,
    /// Files to write. By default one for each 256 MiB of input, and one for each task unless files would be smaller than 4 MiB.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub parts: Option<u32>,
    #[command(flatten)]
    pub cluster: ClusterOptions,
}

/// Run SQL, and print the rows.
///
/// Files are tables: SELECT * FROM 'folder/' ORDER BY a.
#[derive(Args)]
pub struct SqlOptions {
    /// Statements, separated by semicolons.
    pub statements: String,
    #[command(flatten)]
    pub cluster: ClusterOptions,
}
