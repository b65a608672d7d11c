//! Random queries give the rows that DataFusion gives.

use fastrand::Rng;

use crate::generate::Table;
use crate::support::{
    Limits, NO_LIMITS, assert_nothing_is_left, assert_rows_of, assert_same, config, register, run,
    with_sortie, without,
};

/// What rows are sorted by, and the columns that it is.
struct OrderBy {
    sql: String,
    columns: Vec<usize>,
}

impl OrderBy {
    fn random(rng: &mut Rng, table: &Table) -> OrderBy {
        let mut columns: Vec<usize> = (1..table.schema().fields().len()).collect();
        rng.shuffle(&mut columns);
        columns.truncate(rng.usize(1..=columns.len()));
        let key = |&column: &usize| {
            let name = table.schema().field(column).name().clone();
            let direction = ["", " ASC", " DESC"][rng.usize(..3)];
            let nulls = ["", " NULLS FIRST", " NULLS LAST"][rng.usize(..3)];
            format!("{name}{direction}{nulls}")
        };
        let keys: Vec<String> = columns.iter().map(key).collect();
        OrderBy { sql: keys.join(", "), columns }
    }
}

fn limits(rng: &mut Rng) -> Limits {
    // A row of a table takes up to some hundred bytes.
    Limits { memory: Some(rng.usize(300_000..1_500_000)), fair: rng.bool(), ..NO_LIMITS }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_queries() {
    let mut spilled = 0;
    for seed in 0..70 {
        let mut rng = Rng::with_seed(seed);
        let partitions = rng.usize(1..5);
        let rows = [0, 1, 1000, 20_000][rng.usize(..4)];
        let table = Table::random(&mut rng, rows, partitions);
        let order = OrderBy::random(&mut rng, &table);
        let is_nested = |&column: &usize| table.schema().field(column).data_type().is_nested();
        let limit = match rng.u8(..5) {
            // DataFusion 55.2 does not find the same first rows in every run if they are ordered by a struct.
            _ if order.columns.iter().any(is_nested) => String::new(),
            0 => format!(" LIMIT {}", rng.usize(..rows + 10)),
            1 => format!(" LIMIT {} OFFSET {}", rng.usize(..rows + 10), rng.usize(..100)),
            _ => String::new(),
        };
        let sql = format!("SELECT * FROM t ORDER BY {}{limit}", order.sql);
        // DataFusion sorts with a limit in memory.
        let limits = if limit.is_empty() && rng.bool() { limits(&mut rng) } else { NO_LIMITS };
        let config = config(rng.usize(1..4), [16, 300, 8192][rng.usize(..3)]);
        println!("seed {seed}: {sql}; {rows} rows of {}; {limits:?}", table.schema());

        let (plain, sortie) = (without(config.clone()), with_sortie(config, limits));
        register(&plain, &table);
        register(&sortie, &table);
        let (expected, _) = run(&plain, &sql).await.unwrap();
        let (found, spills) = run(&sortie, &sql).await.unwrap();
        assert_same(&expected, &found, order.columns);
        assert_rows_of(&table, &found);
        assert_nothing_is_left(&sortie).await;
        spilled += usize::from(spills > 0);
    }
    assert!(spilled >= 4, "{spilled} queries spilled");
}

/// Queries that sort each partition by itself, or computed values, or with little memory in several rounds of merges.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_plans() {
    let mut rng = Rng::with_seed(7);
    let table = Table::of_kinds(&mut rng, 20_000, 3, &[2, 12, 5]);
    for sql in [
        "SELECT id, c1, row_number() OVER (PARTITION BY c1 ORDER BY c2, id) FROM t ORDER BY id",
        "SELECT a.id, b.id FROM t a JOIN t b ON a.id = b.id ORDER BY a.c2, a.id",
        "SELECT id, c1 FROM t ORDER BY c1 * 2 DESC, length(c2), id",
        "SELECT c2, count(*) FROM (SELECT * FROM t ORDER BY c3 LIMIT 5000) GROUP BY c2 ORDER BY c2",
        "SELECT id FROM (SELECT id, c1 FROM t UNION ALL SELECT id, c1 + 1 FROM t) ORDER BY c1, id",
    ] {
        for limits in [NO_LIMITS, Limits { memory: Some(24 << 20), fair: true, ..NO_LIMITS }] {
            let mut config = config(3, 1000);
            config.options_mut().optimizer.prefer_hash_join = false;
            let (plain, sortie) = (without(config.clone()), with_sortie(config, limits));
            register(&plain, &table);
            register(&sortie, &table);
            let (expected, _) = run(&plain, sql).await.unwrap();
            let (found, _) = run(&sortie, sql).await.unwrap();
            println!("{sql}: {} rows", found.num_rows());
            assert_same(&expected, &found, 0..expected.num_columns());
            assert_nothing_is_left(&sortie).await;
        }
    }
}

/// With memory for a few batches, runs are merged in several rounds, and written anew with shorter batches.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_rounds_of_merges() {
    let mut rng = Rng::with_seed(8);
    let table = Table::of_kinds(&mut rng, 60_000, 2, &[12, 10, 3]);
    let config = config(2, 2000);
    let sortie = with_sortie(config, Limits { memory: Some(500_000), fair: false, ..NO_LIMITS });
    register(&sortie, &table);
    let (found, spills) = run(&sortie, "SELECT * FROM t ORDER BY c3 DESC, c1, c2, id").await.unwrap();
    assert!(spills > 20, "{spills}");
    let plain = without(crate::support::config(2, 8192));
    register(&plain, &table);
    let (expected, _) = run(&plain, "SELECT * FROM t ORDER BY c3 DESC, c1, c2, id").await.unwrap();
    assert_same(&expected, &found, 0..4);
    assert_nothing_is_left(&sortie).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_little_memory_is_an_error() {
    let mut rng = Rng::with_seed(9);
    let table = Table::of_kinds(&mut rng, 20_000, 2, &[12, 10]);
    let sortie = with_sortie(config(2, 8192), Limits { memory: Some(1000), fair: false, ..NO_LIMITS });
    register(&sortie, &table);
    let error = run(&sortie, "SELECT * FROM t ORDER BY c1").await.unwrap_err().to_string();
    assert!(error.contains("datafusion.runtime.memory_limit"), "{error}");
    assert_nothing_is_left(&sortie).await;
}

/// A runtime of one thread, which also polls the stream.
#[tokio::test]
async fn one_thread() {
    let mut rng = Rng::with_seed(10);
    let table = Table::of_kinds(&mut rng, 20_000, 3, &[2, 12]);
    for limits in [NO_LIMITS, Limits { memory: Some(800_000), fair: false, ..NO_LIMITS }] {
        let sortie = with_sortie(config(3, 1000), limits);
        register(&sortie, &table);
        let (found, spills) = run(&sortie, "SELECT * FROM t ORDER BY id DESC").await.unwrap();
        assert_eq!(spills > 0, limits.memory.is_some());
        assert_eq!(found.num_rows(), 20_000);
        assert_rows_of(&table, &found);
    }
}
