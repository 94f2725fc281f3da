//! A tree's problems against the same problems written out by hand.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot build its input must fail"
)]

#[path = "train/by_hand.rs"]
mod by_hand;

use by_hand::{Data, Hand, labels_below, plan};
use proxtree_core::Error;
use proxtree_core::model::{Description, LinearTreeModel, to_bytes};
use proxtree_core::parallel::{Control, with_pool};
use proxtree_core::solver::{Status, Stop};
use proxtree_core::train::{Plan, Record, RootRows};
use proxtree_core::tree::{Child, LabelTree};

/// Root: {0, 1, 2 | 6} deep, {3, 4}, label 5; and {7, 8}, which no row has.
fn tree() -> LabelTree {
    use Child::{Label, Node};
    let nodes = [
        vec![Node(1), Node(2), Label(5), Node(4)],
        vec![Label(0), Node(3)],
        vec![Label(3), Label(4)],
        vec![Label(1), Label(2), Label(6)],
        vec![Label(7), Label(8)],
    ];
    LabelTree::from_children(9, &nodes, 0).unwrap()
}

/// Labels 0..6 occur, 6 (a child without positives), 7 and 8 do not.
fn data() -> Data {
    Data::random(3, 60, 12, 6, 9)
}

/// Every problem of a single tree: where it is, its weights, intercept, record.
fn problems<'a>(
    model: &LinearTreeModel,
    records: &'a [Record],
) -> Vec<(usize, Child, Vec<f64>, f64, &'a Record)> {
    let trained = &model.trees()[0];
    let mut out = Vec::new();
    for (v, node) in trained.nodes().iter().enumerate() {
        let coef = node.coef(model.n_features());
        for (c, child) in trained.tree().children(v).enumerate() {
            let mut w = vec![0.0; model.n_features()];
            let (ids, values) = coef.view().row(c);
            for (&j, &value) in ids.iter().zip(values) {
                w[j as usize] = f64::from(value);
            }
            out.push((v, child, w, node.intercepts()[c], &records[out.len()]));
        }
    }
    assert_eq!(out.len(), records.len());
    out
}

/// Train `plan` and hold each problem against `hand`, after `lever` has set its
/// alpha and weight.
fn check(data: &Data, plan: Plan, lever: impl Fn(&mut Hand<'_>)) {
    let root_rows = plan.root_rows;
    let (model, records) = data.train(plan);
    let tree = model.trees()[0].tree();
    let mut n_solved = 0;
    for (v, child, w, intercept, record) in problems(&model, &records) {
        let rows = if v == 0 && root_rows == RootRows::All {
            (0..data.x.len()).collect()
        } else {
            data.rows_with(&labels_below(tree, Child::Node(v as u32)))
        };
        let mut hand = Hand::new(data, &rows, &labels_below(tree, child));
        lever(&mut hand);
        let own = hand.objective(&w, intercept);
        let proof = record.certificate;
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-6 * b.max(1.0);
        assert!(
            close(proof.objective, own),
            "{v} {child:?}: {} {own}",
            proof.objective
        );
        assert_eq!(
            record.n_positives,
            hand.n_positives() as u64,
            "{v} {child:?}"
        );
        assert_eq!(record.nnz as usize, w.iter().filter(|&&w| w != 0.0).count());
        assert!(proof.gap() >= -1e-9 * own.max(1.0));
        let best = hand.optimum();
        if hand.n_positives() > 0 {
            n_solved += 1;
            assert_eq!(proof.status, Status::Converged, "{v} {child:?}");
            assert!(own <= best * (1.0 + 1e-4), "{v} {child:?}: {own} {best}");
        }
        assert!(own >= best * (1.0 - 2e-7), "{v} {child:?}: {own} {best}");
        assert!(proof.dual_objective <= best * (1.0 + 1e-7));
    }
    assert_eq!(n_solved, 9, "of 13 problems, 4 have no positives");
}

#[test]
fn problems_are_those_written_out_by_hand() {
    check(&data(), plan(tree(), RootRows::All), |_| {});
}

#[test]
fn the_root_sees_rows_without_labels_only_if_asked() {
    let data = data();
    assert!(data.rows_with(&(0..9).collect::<Vec<_>>()).len() < data.x.len());
    check(&data, plan(tree(), RootRows::Labelled), |_| {});
}

#[test]
fn sample_weights_reach_every_node() {
    let mut data = data();
    data.weights = Some((0..data.x.len()).map(|i| 0.5 + (i % 4) as f64).collect());
    check(&data, plan(tree(), RootRows::All), |_| {});
}

/// The two levers, from their formulas: n counts the problem's positives, N the
/// rows of its node.
#[test]
fn levers_follow_their_formulas() {
    let (e, q) = (0.4, 0.7);
    let mut plan = plan(tree(), RootRows::All);
    plan.recipe.alpha_exponent = e;
    plan.recipe.propensity_weight = q;
    check(&data(), plan, |hand| {
        let (n, rows) = (hand.n_positives() as f64, hand.rows.len() as f64);
        let mut factor = (e * (n / 100.0).ln()).exp();
        if n == 0.0 || factor < 0.25 {
            factor = 0.25;
        }
        hand.alpha *= factor;
        if rows > 0.0 {
            let c = (rows.ln() - 1.0).max(0.0) * 2.5_f64.powf(0.55);
            let p = 1.0 / (1.0 + c * (n + 1.5).powf(-0.55));
            hand.positive_weight = 1.0 + q * (1.0 / p - 1.0);
        }
    });
}

/// alpha |b| + n (1 + b)^2 is least at b = alpha / (2 n) - 1.
#[test]
fn a_child_without_positives_has_the_best_intercept() {
    let data = data();
    let (model, records) = data.train(plan(tree(), RootRows::All));
    let problems = problems(&model, &records);
    let (_, _, w, intercept, record) = problems.iter().find(|p| p.1 == Child::Label(6)).unwrap();
    let n = data.rows_with(&[1, 2, 6]).len() as f64;
    assert!(w.iter().all(|&w| w == 0.0));
    assert!(
        (intercept - (0.3 / (2.0 * n) - 1.0)).abs() < 1e-6,
        "{intercept}"
    );
    assert_eq!((record.certificate.n_iter, record.n_positives), (0, 0));
    // No solver has run, so no bound is claimed beyond what holds.
    assert!(record.certificate.dual_objective <= record.certificate.objective);
    assert_eq!(model.untrained(), [6, 7, 8]);
}

#[test]
fn a_node_without_rows_has_no_weights() {
    let (model, records) = data().train(plan(tree(), RootRows::All));
    for (v, child, w, intercept, record) in problems(&model, &records) {
        if v == 3 {
            assert!(matches!(child, Child::Label(7 | 8)));
            assert!(w.iter().all(|&w| w == 0.0) && intercept == 0.0);
            assert_eq!(record.certificate.objective, 0.0);
            assert_eq!(record.certificate.dual_objective, 0.0);
        }
    }
}

/// Weights below the threshold go, are counted, and the proof is of the rest.
#[test]
fn pruned_weights_are_counted() {
    let data = data();
    let (_, full) = data.train(plan(tree(), RootRows::All));
    let mut pruning = plan(tree(), RootRows::All);
    pruning.settings.prune = 0.2;
    let (model, records) = data.train(pruning);
    let mut total = 0;
    for ((v, child, w, intercept, record), before) in problems(&model, &records).iter().zip(&full) {
        assert!(
            w.iter().all(|&w| w == 0.0 || w.abs() >= 0.2),
            "{v} {child:?}"
        );
        assert_eq!(record.nnz + record.n_pruned, before.nnz, "{v} {child:?}");
        assert_eq!(before.n_pruned, 0);
        total += record.n_pruned;
        if *v == 0 {
            let rows: Vec<usize> = (0..data.x.len()).collect();
            let tree = model.trees()[0].tree();
            let hand = Hand::new(&data, &rows, &labels_below(tree, *child));
            let own = hand.objective(w, *intercept);
            assert!((record.certificate.objective - own).abs() <= 1e-6 * own);
        }
    }
    assert!(total > 0);
}

/// Problems of all sizes, both where the threads share a node and where each has
/// its own; short and certified solves.
#[test]
fn threads_do_not_change_a_bit() {
    use Child::{Label, Node};
    let data = Data::random(5, 400, 60, 40, 40);
    let mut nodes = vec![vec![Node(1), Node(2), Node(3), Label(39)]];
    nodes.push((0..30).map(Label).collect());
    nodes.push((30..36).map(Label).collect());
    nodes.push((36..39).map(Label).collect());
    let tree = LabelTree::from_children(40, &nodes, 0).unwrap();
    for stop in [Stop::Gap, Stop::Violation(0.01)] {
        let run = |n_threads| {
            let mut plan = plan(tree.clone(), RootRows::All);
            plan.settings.stop = stop;
            plan.settings.prune = 0.01;
            let trained = with_pool(n_threads, || data.try_train(plan, &Control::default()));
            let (model, records) = trained.unwrap();
            let proofs: Vec<_> = records
                .iter()
                .map(|r| {
                    let c = r.certificate;
                    let numbers = [c.objective, c.dual_objective, c.intercept].map(f64::to_bits);
                    (numbers, c.n_iter, c.status, r.nnz, r.n_pruned)
                })
                .collect();
            (to_bytes(&model, &Description::default()).unwrap(), proofs)
        };
        let one = run(1);
        for n_threads in [2, 5] {
            assert!(run(n_threads) == one, "{n_threads} threads, {stop:?}");
        }
    }
}

/// A sweep budget is kept, Newton steps included, and called what it is.
#[test]
fn few_sweeps_are_counted_and_honest() {
    let data = data();
    for budget in 1..=9 {
        let mut plan = plan(tree(), RootRows::All);
        plan.settings.stop = Stop::Violation(1e-12);
        plan.settings.max_iter = budget;
        let (_, records) = data.train(plan);
        for record in records.iter().filter(|r| r.n_positives > 0) {
            let proof = record.certificate;
            assert!(proof.n_iter <= budget, "{} of {budget}", proof.n_iter);
            let within = proof.gap() <= 1e-4 * proof.dual_objective;
            assert_eq!(proof.status == Status::Converged, within);
            assert!(within || proof.status == Status::MaxIter);
        }
        assert!(records.iter().any(|r| r.certificate.n_iter == budget) || budget > 4);
    }
}

#[test]
fn a_cancelled_training_leaves_no_model() {
    let control = Control::default();
    control.cancel();
    let result = data().try_train(plan(tree(), RootRows::All), &control);
    assert!(matches!(result, Err(Error::Cancelled)));
}

#[test]
fn shapes_that_disagree_are_refused() {
    let mut data = data();
    let message = |data: &Data| {
        let result = data.try_train(plan(tree(), RootRows::All), &Control::default());
        result.unwrap_err().to_string()
    };
    data.n_labels = 10;
    assert!(message(&data).contains("the tree has 9 labels, Y has 10"));
    data.n_labels = 9;
    data.labels.pop();
    assert!(message(&data).contains("X has 60 rows, Y has 59"));
    data.labels = vec![Vec::new(); 60];
    assert!(message(&data).contains("no label at all"));
}
