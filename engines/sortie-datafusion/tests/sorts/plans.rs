//! What the rule replaces, and what the operator says of itself.

use std::sync::Arc;

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::physical_plan::metrics::MetricValue;
use datafusion::physical_plan::{
    ExecutionPlan, ExecutionPlanProperties, StatisticsArgs, StatisticsContext, collect, displayable,
};
use fastrand::Rng;
use sortie_datafusion::SortieExec;

use crate::generate::Table;
use crate::support::{Limits, NO_LIMITS, config, plan, register, spills, with_sortie, without};

fn table() -> Table {
    Table::of_kinds(&mut Rng::with_seed(1), 10_000, 3, &[2, 12])
}

/// The plans of DataFusion and of Sortie.
async fn plans(sql: &str) -> [Arc<dyn ExecutionPlan>; 2] {
    let table = table();
    let sessions = [without(config(3, 1000)), with_sortie(config(3, 1000), NO_LIMITS)];
    let [plain, sortie] = &sessions;
    register(plain, &table);
    register(sortie, &table);
    [plan(plain, sql).await.unwrap(), plan(sortie, sql).await.unwrap()]
}

fn shown(plan: &Arc<dyn ExecutionPlan>) -> String {
    displayable(plan.as_ref()).indent(false).to_string()
}

#[tokio::test]
async fn a_sort_and_its_merge_become_one_operator() {
    for sql in ["SELECT * FROM t ORDER BY c1 DESC, c2", "SELECT c2, c1 FROM t ORDER BY c1 DESC, c2"] {
        let [plain, sortie] = plans(sql).await;
        assert!(shown(&plain).contains("SortPreservingMergeExec"), "{}", shown(&plain));
        assert!(!shown(&sortie).contains("SortPreservingMergeExec"), "{}", shown(&sortie));
        let operator = "SortieExec: expr=[c1@1 DESC, c2@2 ASC NULLS LAST], preserve_partitioning=[false]";
        let operator = if sql.contains('*') {
            operator.to_string()
        } else {
            operator.replace("c1@1", "c1@0").replace("c2@2", "c2@1")
        };
        assert!(shown(&sortie).contains(&operator), "{}", shown(&sortie));
    }
}

#[tokio::test]
async fn a_sort_with_a_limit_stays() {
    let [plain, sortie] = plans("SELECT * FROM t ORDER BY c1 LIMIT 10").await;
    assert_eq!(shown(&plain), shown(&sortie));
    assert!(shown(&sortie).contains("TopK"));
}

#[tokio::test]
async fn partitions_are_kept() {
    let sql = "SELECT id, row_number() OVER (PARTITION BY c1 ORDER BY c2) FROM t";
    let [plain, sortie] = plans(sql).await;
    let expected = shown(&plain).replace("SortExec", "SortieExec");
    assert_eq!(shown(&sortie), expected);
    assert!(expected.contains("preserve_partitioning=[true]"));
}

#[tokio::test]
async fn properties_and_statistics_are_those_of_the_replaced_operators() {
    for sql in [
        "SELECT * FROM t ORDER BY c1 DESC, c2",
        "SELECT * FROM t WHERE c1 = 3 ORDER BY c1, c2",
        "SELECT id, c1, row_number() OVER (PARTITION BY c1 ORDER BY c2) FROM t",
    ] {
        let [plain, sortie] = plans(sql).await;
        assert_eq!(plain.output_ordering(), sortie.output_ordering());
        assert_eq!(plain.output_partitioning().to_string(), sortie.output_partitioning().to_string());
        assert_eq!(plain.pipeline_behavior(), sortie.pipeline_behavior());
        assert_eq!(plain.boundedness(), sortie.boundedness());
        for (a, b) in [(&plain, &sortie), (&sortie, &plain)] {
            let (a, b) = (a.equivalence_properties(), b.equivalence_properties());
            assert!(a.oeq_class().iter().all(|order| b.ordering_satisfy(order.clone()).unwrap()), "{a}; {b}");
            assert_eq!(a.eq_group().to_string(), b.eq_group().to_string());
        }
        let statistics = |plan: &Arc<dyn ExecutionPlan>| {
            StatisticsContext::new().compute(plan.as_ref(), &StatisticsArgs::new()).unwrap()
        };
        assert_eq!(statistics(&plain), statistics(&sortie));
    }
}

/// The first operator of Sortie in a plan.
fn operator(plan: &Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    let mut found = None;
    plan.apply(|node| {
        Ok(match node.is::<SortieExec>() {
            true => {
                found = Some(Arc::clone(node));
                TreeNodeRecursion::Stop
            }
            false => TreeNodeRecursion::Continue,
        })
    })
    .unwrap();
    found.expect("the plan has such an operator")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_count_rows_spills_and_time() {
    let table = table();
    let session = with_sortie(config(3, 1000), Limits { memory: Some(500_000), ..NO_LIMITS });
    register(&session, &table);
    let plan = plan(&session, "SELECT * FROM t ORDER BY c2, id").await.unwrap();
    collect(Arc::clone(&plan), session.task_ctx()).await.unwrap();
    let metrics = operator(&plan).metrics().unwrap();
    assert_eq!(metrics.output_rows(), Some(10_000));
    assert!(metrics.elapsed_compute() > Some(0));
    assert!(spills(&plan) > 0 && metrics.spilled_bytes() > Some(0) && metrics.spilled_rows() > Some(0));
    assert!(metrics.iter().any(|metric| matches!(metric.value(), MetricValue::EndTimestamp(_))));
    // A plan can be executed again after a reset, with new metrics.
    let again = operator(&plan).reset_state().unwrap();
    assert_eq!(again.metrics().unwrap().output_rows(), None);
    let rows: usize =
        collect(again, session.task_ctx()).await.unwrap().iter().map(|batch| batch.num_rows()).sum();
    assert_eq!(rows, 10_000);
}
