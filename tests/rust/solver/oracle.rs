//! Small problems, and the proof of a solution computed densely.

use proxtree_core::Result;
use proxtree_core::parallel::Control;
use proxtree_core::solver::{
    Certificate, Design, Intercept, Method, Moment, Problem, Settings, Stop, Workspace, solve,
};
use proxtree_core::sparse::{CsrMatrix, Pattern};

/// A dense problem with all its settings.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    rows: Vec<Vec<f32>>,
    positives: Vec<u32>,
    alpha: f64,
    ridge: f64,
    class_weight: (f64, f64),
    weights: Option<Vec<f64>>,
    intercept: Intercept,
    tol: f64,
    max_iter: u64,
    start: Vec<(u32, f64)>,
}

/// What a solver gave.
#[derive(Debug)]
pub(crate) struct Solved {
    pub(crate) w: Vec<f64>,
    pub(crate) certificate: Certificate,
    pub(crate) history: Vec<Moment>,
}

impl Solved {
    pub(crate) fn nnz(&self) -> usize {
        self.w.iter().filter(|&&w| w != 0.0).count()
    }
}

macro_rules! setters {
    ($($name:ident: $type:ty),*) => {
        $(pub(crate) fn $name(mut self, value: $type) -> Self {
            self.$name = value;
            self
        })*
    };
}

impl Case {
    setters!(alpha: f64, ridge: f64, intercept: Intercept, tol: f64, max_iter: u64);

    pub(crate) fn dense(rows: &[&[f32]], positives: &[u32]) -> Self {
        Self {
            rows: rows.iter().map(|r| r.to_vec()).collect(),
            positives: positives.to_vec(),
            alpha: 1.0,
            ridge: 0.0,
            class_weight: (1.0, 1.0),
            weights: None,
            intercept: Intercept::Penalized(1.0),
            tol: 1e-3,
            max_iter: 200_000,
            start: Vec::new(),
        }
    }

    /// Sparse random rows; about a third of them positive, told by feature 0.
    pub(crate) fn random(seed: u64, n: usize, d: usize) -> Self {
        let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12_345);
        let mut next = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f32 / (1u64 << 31) as f32
        };
        let rows: Vec<Vec<f32>> = (0..n)
            .map(|_| {
                (0..d)
                    .map(|_| if next() < 0.4 { next() - 0.2 } else { 0.0 })
                    .collect()
            })
            .collect();
        let positives = (0..n as u32)
            .filter(|&i| rows[i as usize][0] + 0.5 * next() > 0.3)
            .collect::<Vec<_>>();
        let rows: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
        Self::dense(&rows, &positives)
    }

    pub(crate) fn positives_of(mut self, k: u32) -> Self {
        self.positives = (0..self.rows.len() as u32)
            .filter(|i| (i * 31 + k).is_multiple_of(3 + k))
            .collect();
        self
    }

    pub(crate) fn class_weight(mut self, positive: f64, negative: f64) -> Self {
        self.class_weight = (positive, negative);
        self
    }

    pub(crate) fn weights(mut self, weights: &[f64]) -> Self {
        self.weights = Some(weights.to_vec());
        self
    }

    pub(crate) fn start(mut self, start: &[(u32, f64)]) -> Self {
        self.start = start.to_vec();
        self
    }

    fn matrix(&self) -> CsrMatrix {
        let mut pattern = Pattern {
            n_cols: self.rows[0].len(),
            indptr: vec![0],
            indices: Vec::new(),
        };
        let mut data = Vec::new();
        for row in &self.rows {
            for (j, &x) in row.iter().enumerate().filter(|&(_, &x)| x != 0.0) {
                pattern.indices.push(j as u32);
                data.push(x);
            }
            pattern.indptr.push(data.len() as u64);
        }
        CsrMatrix { pattern, data }
    }

    pub(crate) fn solve(&self, method: Method) -> Solved {
        self.try_solve(method, &Control::default()).unwrap()
    }

    /// Solve under a control of the caller's.
    pub(crate) fn try_solve(&self, method: Method, control: &Control) -> Result<Solved> {
        let matrix = self.matrix();
        let weights = self.weights.as_deref();
        let design = Design::new(matrix.view(), weights, &Control::default())?;
        self.solve_with(method, &design, &mut Workspace::new(&design), control)
    }

    fn solve_with(
        &self,
        method: Method,
        design: &Design<'_>,
        workspace: &mut Workspace,
        control: &Control,
    ) -> Result<Solved> {
        let problem = Problem {
            design,
            positives: &self.positives,
            alpha: self.alpha,
            ridge: self.ridge,
            class_weight: self.class_weight,
            intercept: self.intercept,
        };
        let settings = Settings {
            method,
            tol: self.tol,
            stop: Stop::Gap,
            max_iter: self.max_iter,
            prune: 0.0,
            round_weights: false,
            round_intercept: false,
            history: true,
        };
        let certificate = solve(&problem, &settings, &self.start, workspace, control)?;
        let mut w = vec![0.0; design.n_features()];
        for &(j, value) in workspace.weights() {
            w[j as usize] = value;
        }
        Ok(Solved {
            w,
            certificate,
            history: workspace.history().to_vec(),
        })
    }
}

/// Solve cases that share their rows one after the other.
pub(crate) fn solve_in_one_workspace(cases: &[Case]) -> Vec<Solved> {
    let matrix = cases[0].matrix();
    let design = Design::new(matrix.view(), None, &Control::default()).unwrap();
    let mut workspace = Workspace::new(&design);
    cases
        .iter()
        .map(|c| c.solve_with(Method::Auto, &design, &mut workspace, &Control::default()))
        .collect::<Result<_>>()
        .unwrap()
}

/// P and D of papers' duality, written out over dense rows in the caller's units.
pub(crate) fn dense_proof(case: &Case, s: &Solved) -> (f64, f64) {
    let n = case.rows.len();
    let sign = |i: usize| {
        if case.positives.contains(&(i as u32)) {
            1.0
        } else {
            -1.0
        }
    };
    let c: Vec<f64> = (0..n)
        .map(|i| {
            let class = if sign(i) > 0.0 {
                case.class_weight.0
            } else {
                case.class_weight.1
            };
            class * case.weights.as_ref().map_or(1.0, |w| w[i])
        })
        .collect();
    let hinge: Vec<f64> = (0..n)
        .map(|i| {
            let z: f64 = case.rows[i]
                .iter()
                .zip(&s.w)
                .map(|(&x, w)| f64::from(x) * w)
                .sum();
            (1.0 - sign(i) * (z + s.certificate.intercept)).max(0.0)
        })
        .collect();
    let intercept_alpha = match case.intercept {
        Intercept::Penalized(scale) => case.alpha / scale,
        _ => 0.0,
    };
    let l1: f64 = s.w.iter().map(|w| w.abs()).sum();
    let l2: f64 = s.w.iter().map(|w| w * w).sum();
    let loss: f64 = c.iter().zip(&hinge).map(|(c, h)| c * h * h).sum();
    let p = case.alpha * l1
        + intercept_alpha * s.certificate.intercept.abs()
        + 0.5 * case.ridge * l2
        + loss;

    let mut a: Vec<f64> = c.iter().zip(&hinge).map(|(c, h)| 2.0 * c * h).collect();
    if case.intercept == Intercept::Free {
        let side = |s: f64| (0..n).filter(|&i| sign(i) == s).map(|i| a[i]).sum::<f64>();
        let (plus, minus) = (side(1.0), side(-1.0));
        for (i, value) in a.iter_mut().enumerate() {
            let own = if sign(i) > 0.0 { plus } else { minus };
            if own > 0.0 {
                *value *= plus.min(minus) / own;
            }
        }
    }
    let dot = |f: &dyn Fn(usize) -> f64| (0..n).map(|i| sign(i) * a[i] * f(i)).sum::<f64>().abs();
    let columns: Vec<f64> = (0..s.w.len())
        .map(|j| dot(&|i| f64::from(case.rows[i][j])))
        .collect();
    let s1: f64 = a.iter().sum();
    let s2: f64 = a
        .iter()
        .zip(&c)
        .filter(|(_, c)| **c > 0.0)
        .map(|(a, c)| a * a / c)
        .sum();
    if s2 == 0.0 {
        return (p, 0.0);
    }
    let mut limit = 2.0 * s1 / s2;
    if let Intercept::Penalized(_) = case.intercept {
        limit = limit.min(intercept_alpha / dot(&|_| 1.0));
    }
    let dual = |tau: f64| {
        let soft: f64 = columns
            .iter()
            .map(|g| (tau * g - case.alpha).max(0.0).powi(2))
            .sum();
        tau * s1
            - tau * tau * s2 / 4.0
            - if case.ridge > 0.0 {
                soft / (2.0 * case.ridge)
            } else {
                0.0
            }
    };
    if case.ridge == 0.0 {
        let steepest = columns.iter().fold(0.0, |m: f64, &g| m.max(g));
        return (p, dual(limit.min(case.alpha / steepest)));
    }
    // Concave in tau: golden section.
    let (mut low, mut high) = (0.0, limit);
    for _ in 0..200 {
        let (x, y) = (
            low + (high - low) * 0.381_966,
            low + (high - low) * 0.618_034,
        );
        if dual(x) < dual(y) { low = x } else { high = y }
    }
    (p, dual(low).max(dual(high)).max(dual(limit)))
}
