//! A node's problems written out densely, and solved one by one.

use proxtree_core::model::LinearTreeModel;
use proxtree_core::parallel::Control;
use proxtree_core::rng::SplitMix64;
use proxtree_core::solver::{Design, Intercept, Method, Problem, Settings, Stop, Workspace, solve};
use proxtree_core::sparse::{CsrMatrix, Pattern};
use proxtree_core::train::{ClassWeight, Plan, Recipe, Record, RootRows, train_model};
use proxtree_core::tree::{Child, LabelTree};

/// Samples with their labels and weights.
pub(crate) struct Data {
    pub(crate) x: Vec<Vec<f32>>,
    pub(crate) labels: Vec<Vec<u32>>,
    pub(crate) n_labels: usize,
    pub(crate) weights: Option<Vec<f64>>,
}

impl Data {
    /// Random sparse rows. A row has up to two of the labels `0..n_used`, which
    /// its first features tell; every fifth row has none.
    pub(crate) fn random(seed: u64, n: usize, d: usize, n_used: u32, n_labels: usize) -> Self {
        let mut rng = SplitMix64::new(seed);
        let (mut x, mut labels) = (Vec::new(), Vec::new());
        for i in 0..n {
            let mut row: Vec<f32> = (0..d)
                .map(|_| {
                    let value = rng.uniform() as f32;
                    if rng.uniform() < 0.3 { value } else { 0.0 }
                })
                .collect();
            let mut own = Vec::new();
            if i % 5 != 4 {
                own = vec![
                    rng.below(n_used as usize) as u32,
                    rng.below(n_used as usize) as u32,
                ];
                own.sort_unstable();
                own.dedup();
            }
            for &label in &own {
                row[label as usize % d] += 1.0;
            }
            x.push(row);
            labels.push(own);
        }
        let weights = None;
        Self {
            x,
            labels,
            n_labels,
            weights,
        }
    }

    fn y(&self) -> Pattern {
        let mut y = Pattern {
            n_cols: self.n_labels,
            indptr: vec![0],
            indices: Vec::new(),
        };
        for own in &self.labels {
            y.indices.extend(own);
            y.indptr.push(y.indices.len() as u64);
        }
        y
    }

    fn matrix(&self, rows: &[usize]) -> CsrMatrix {
        let mut pattern = Pattern {
            n_cols: self.x[0].len(),
            indptr: vec![0],
            indices: Vec::new(),
        };
        let mut data = Vec::new();
        for &i in rows {
            for (j, &x) in self.x[i].iter().enumerate().filter(|&(_, &x)| x != 0.0) {
                pattern.indices.push(j as u32);
                data.push(x);
            }
            pattern.indptr.push(data.len() as u64);
        }
        CsrMatrix { pattern, data }
    }

    /// Train with the library.
    pub(crate) fn train(&self, plan: Plan) -> (LinearTreeModel, Vec<Record>) {
        self.try_train(plan, &Control::default()).unwrap()
    }

    pub(crate) fn try_train(
        &self,
        plan: Plan,
        control: &Control,
    ) -> proxtree_core::Result<(LinearTreeModel, Vec<Record>)> {
        let all: Vec<usize> = (0..self.x.len()).collect();
        let (x, y) = (self.matrix(&all), self.y());
        let weights = self.weights.as_deref();
        let (model, mut records) = train_model(x.view(), y.view(), weights, plan, control)?;
        Ok((model, records.remove(0)))
    }

    /// Rows with one of the labels; at the root of [`RootRows::All`] all rows.
    pub(crate) fn rows_with(&self, labels: &[u32]) -> Vec<usize> {
        (0..self.x.len())
            .filter(|&i| self.labels[i].iter().any(|l| labels.contains(l)))
            .collect()
    }
}

pub(crate) fn labels_below(tree: &LabelTree, child: Child) -> Vec<u32> {
    match child {
        Child::Label(label) => vec![label],
        Child::Node(node) => tree
            .children(node as usize)
            .flat_map(|c| labels_below(tree, c))
            .collect(),
    }
}

/// One problem: rows of the data, which of them are positive, alpha and what a
/// positive weighs.
pub(crate) struct Hand<'a> {
    pub(crate) data: &'a Data,
    pub(crate) rows: Vec<usize>,
    pub(crate) positive: Vec<bool>,
    pub(crate) alpha: f64,
    pub(crate) positive_weight: f64,
}

impl<'a> Hand<'a> {
    pub(crate) fn new(data: &'a Data, rows: &[usize], labels: &[u32]) -> Self {
        let has = |&i: &usize| data.labels[i].iter().any(|l| labels.contains(l));
        Self {
            data,
            rows: rows.to_vec(),
            positive: rows.iter().map(has).collect(),
            alpha: 0.3,
            positive_weight: 1.0,
        }
    }

    pub(crate) fn n_positives(&self) -> usize {
        self.positive.iter().filter(|&&p| p).count()
    }

    fn weight(&self, i: usize) -> f64 {
        self.data.weights.as_ref().map_or(1.0, |w| w[i])
    }

    /// P of these weights (by feature) and intercept, over dense rows.
    pub(crate) fn objective(&self, w: &[f64], intercept: f64) -> f64 {
        let mut p = self.alpha * (w.iter().map(|w| w.abs()).sum::<f64>() + intercept.abs());
        for (&i, &positive) in self.rows.iter().zip(&self.positive) {
            let row = self.data.x[i].iter().zip(w);
            let z = row.map(|(&x, w)| f64::from(x) * w).sum::<f64>() + intercept;
            let (s, class) = if positive {
                (1.0, self.positive_weight)
            } else {
                (-1.0, 1.0)
            };
            p += class * self.weight(i) * (1.0 - s * z).max(0.0).powi(2);
        }
        p
    }

    /// The least P that plain coordinate descent finds, certified to 1e-7.
    pub(crate) fn optimum(&self) -> f64 {
        let x = self.data.matrix(&self.rows);
        let weights: Vec<f64> = self.rows.iter().map(|&i| self.weight(i)).collect();
        let design = Design::new(x.view(), Some(&weights), &Control::default()).unwrap();
        let positives: Vec<u32> = (0..)
            .zip(&self.positive)
            .filter_map(|(i, &p)| p.then_some(i))
            .collect();
        let problem = Problem {
            design: &design,
            positives: &positives,
            alpha: self.alpha,
            ridge: 0.0,
            class_weight: (self.positive_weight, 1.0),
            intercept: Intercept::Penalized(1.0),
        };
        let settings = Settings {
            method: Method::CoordinateDescent { eps: 0.01 },
            round_weights: false,
            ..settings(1e-7)
        };
        let mut workspace = Workspace::new(&design);
        let proof = solve(
            &problem,
            &settings,
            &[],
            &mut workspace,
            &Control::default(),
        )
        .unwrap();
        assert!(proof.gap() <= 1e-7 * proof.objective, "{proof:?}");
        proof.objective
    }
}

pub(crate) fn settings(tol: f64) -> Settings {
    Settings {
        method: Method::Auto,
        tol,
        stop: Stop::Gap,
        max_iter: 200_000,
        prune: 0.0,
        round_weights: true,
        round_intercept: false,
        history: false,
    }
}

/// What [`Hand`] writes out: alpha 0.3, no levers, one tree.
pub(crate) fn plan(tree: LabelTree, root_rows: RootRows) -> Plan {
    Plan {
        trees: vec![tree],
        scoring: proxtree_core::model::Scoring::Cubed,
        root_rows,
        normalize: false,
        recipe: Recipe {
            alpha: 0.3,
            alpha_exponent: 0.0,
            propensity_weight: 0.0,
            ridge: 0.0,
            class_weight: ClassWeight::Fixed(1.0, 1.0),
            intercept: Intercept::Penalized(1.0),
        },
        settings: settings(1e-4),
    }
}
