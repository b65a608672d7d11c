//! Sorts the table `lineitem` of TPC-H by DataFusion and by Sortie in turn, and prints how much faster Sortie is. The queries are
//! those of DataFusion's benchmark `sort_tpch`.
//!
//! ```sh
//! cargo run --release --example sort_tpch                              # all three inputs, at scale factor 1
//! cargo run --release --example sort_tpch -- memory scale=0.1 Q3 Q7
//! ```
//!
//! - `memory`: the table is in memory, with as many partitions as `PARTITIONS`.
//! - `parquet`: it is in as many Parquet files.
//! - `spill`: it is in memory, and a query may use `limit` MiB to sort it, by default 100. With `greedy`, the operators of a query
//!   need not share them fairly.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::error::ArrowError;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::datasource::MemTable;
use datafusion::error::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::memory_pool::{FairSpillPool, GreedyMemoryPool, MemoryPool, UnboundedMemoryPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::Compression;
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use futures::StreamExt;
use mimalloc::MiMalloc;
use tpchgen::generators::LineItemGenerator;
use tpchgen_arrow::LineItemArrow;

/// DataFusion's program has this allocator too.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const PARTITIONS: usize = 2;

/// The keys and the payload of each query.
const QUERIES: [(&str, &str, &str); 11] = [
    ("Q1", "l_linenumber", "l_partkey"),
    ("Q2", "l_orderkey", "l_partkey"),
    ("Q3", "l_comment", "l_partkey"),
    ("Q4", "l_orderkey, l_linenumber", "l_partkey"),
    ("Q5", "l_linenumber, l_suppkey, l_orderkey", ""),
    ("Q6", "l_linenumber, l_suppkey, l_orderkey", "l_partkey"),
    ("Q7", "l_linenumber, l_suppkey, l_orderkey", OTHERS_AND_COMMENT),
    ("Q8", "l_orderkey, l_suppkey, l_linenumber, l_comment", ""),
    ("Q9", "l_orderkey, l_suppkey, l_linenumber, l_comment", "l_partkey"),
    ("Q10", "l_orderkey, l_suppkey, l_linenumber, l_comment", OTHERS),
    ("Q11", "l_shipmode", "l_comment, l_partkey"),
];
const OTHERS: &str = "l_partkey, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, \
                      l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode";
const OTHERS_AND_COMMENT: &str = "l_partkey, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus, \
                                  l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value =
        |name: &str| arguments.iter().find_map(|argument| argument.strip_prefix(name)?.strip_prefix('='));
    let scale = value("scale").map_or(1.0, |scale| scale.parse().expect("a scale factor"));
    let repetitions = value("repetitions").map_or(5, |count| count.parse().expect("a number of repetitions"));
    let limit = value("limit").map_or(100, |limit| limit.parse().expect("a number of MiB"));
    let named = |name: &str| arguments.iter().any(|argument| argument == name);
    let queries: Vec<_> = QUERIES.into_iter().filter(|(name, ..)| named(name)).collect();
    let queries = if queries.is_empty() { QUERIES.to_vec() } else { queries };
    let inputs: Vec<_> = ["memory", "parquet", "spill"].into_iter().filter(|input| named(input)).collect();
    let inputs = if inputs.is_empty() { vec!["memory", "parquet", "spill"] } else { inputs };

    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(PARTITIONS).enable_all().build()?;
    let table = lineitem(scale)?;
    let folder = std::env::temp_dir().join(format!("sort_tpch-{}", std::process::id()));
    for input in inputs {
        let sessions =
            [false, true].map(|with_sortie| session(with_sortie, pool(input, limit << 20, named("greedy"))));
        for session in &sessions {
            if input == "parquet" {
                write_parquet(&table, &folder)?;
                let files = folder.to_str().expect("a path in UTF-8");
                runtime.block_on(session.register_parquet(
                    "lineitem",
                    files,
                    ParquetReadOptions::default(),
                ))?;
            } else {
                let table = MemTable::try_new(table[0][0].schema(), table.clone())?;
                session.register_table("lineitem", Arc::new(table))?;
            }
        }
        runtime.block_on(compare(input, &queries, &sessions, repetitions))?;
        let _ = std::fs::remove_dir_all(&folder);
    }
    Ok(())
}

/// The table, whose batches are dealt to the partitions in turn.
fn lineitem(scale: f64) -> Result<Vec<Vec<RecordBatch>>> {
    let batches: Vec<RecordBatch> = LineItemArrow::new(LineItemGenerator::new(scale, 1, 1))
        .with_batch_size(8192)
        .collect::<Result<_, ArrowError>>()?;
    let partition = |i| batches.iter().skip(i).step_by(PARTITIONS).cloned().collect();
    Ok((0..PARTITIONS).map(partition).collect())
}

fn write_parquet(table: &[Vec<RecordBatch>], folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    for (i, batches) in table.iter().enumerate() {
        let file = std::fs::File::create(folder.join(format!("lineitem-{i}.parquet")))?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let mut writer = ArrowWriter::try_new(file, batches[0].schema(), Some(properties))?;
        batches.iter().try_for_each(|batch| writer.write(batch))?;
        writer.close()?;
    }
    Ok(())
}

fn pool(input: &str, limit: usize, greedy: bool) -> Arc<dyn MemoryPool> {
    match (input, greedy) {
        ("spill", true) => Arc::new(GreedyMemoryPool::new(limit)),
        ("spill", false) => Arc::new(FairSpillPool::new(limit)),
        _ => Arc::new(UnboundedMemoryPool::default()),
    }
}

fn session(with_sortie: bool, pool: Arc<dyn MemoryPool>) -> SessionContext {
    let runtime = RuntimeEnvBuilder::new().with_memory_pool(pool);
    let builder = SessionStateBuilder::new()
        .with_default_features()
        .with_config(SessionConfig::new().with_target_partitions(PARTITIONS))
        .with_runtime_env(runtime.build_arc().expect("the choices are valid"));
    let builder = if with_sortie { sortie_datafusion::install(builder) } else { builder };
    SessionContext::new_with_state(builder.build())
}

/// Runs each query by both sessions in turn, and prints the medians.
async fn compare(
    input: &str,
    queries: &[(&str, &str, &str)],
    sessions: &[SessionContext; 2],
    repetitions: usize,
) -> Result<()> {
    println!("| {input} | DataFusion (ms) | Sortie (ms) | speed-up | spills |\n|---|---|---|---|---|");
    let mut ratios = Vec::new();
    for (name, keys, payload) in queries {
        let separator = if payload.is_empty() { "" } else { ", " };
        let sql = format!("SELECT {keys}{separator}{payload} FROM lineitem ORDER BY {keys}");
        let mut times: [Vec<Duration>; 2] = Default::default();
        let mut spills = [0; 2];
        for _ in 0..repetitions {
            for i in 0..2 {
                match run(&sessions[i], &sql).await {
                    Ok((time, spilled)) => {
                        times[i].push(time);
                        spills[i] = spilled;
                    }
                    Err(error) => eprintln!("{name} by {}: {error}", ["DataFusion", "Sortie"][i]),
                }
            }
        }
        let [before, after] = times.map(|mut times| {
            times.sort();
            times.get(times.len() / 2).map_or(f64::NAN, |median| median.as_secs_f64() * 1e3)
        });
        ratios.extend(Some(before / after).filter(|ratio| ratio.is_finite()));
        println!(
            "| {name} | {before:.0} | {after:.0} | {:.2} | {}, {} |",
            before / after,
            spills[0],
            spills[1]
        );
    }
    let mean = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64;
    println!("| geometric mean | | | {:.2} | |\n", mean.exp());
    Ok(())
}

/// The time of a query, and how many files it spilled to.
async fn run(session: &SessionContext, sql: &str) -> Result<(Duration, usize)> {
    let plan = session.sql(sql).await?.create_physical_plan().await?;
    let start = Instant::now();
    let mut batches = execute_stream(Arc::clone(&plan), session.task_ctx())?;
    let mut rows = 0;
    while let Some(batch) = batches.next().await {
        rows += batch?.num_rows();
    }
    let time = start.elapsed();
    assert!(rows > 0);
    Ok((time, spills(&plan)?))
}

fn spills(plan: &Arc<dyn ExecutionPlan>) -> Result<usize> {
    let mut spills = 0;
    plan.apply(|node| {
        spills += node.metrics().and_then(|metrics| metrics.spill_count()).unwrap_or(0);
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(spills)
}
