//! The margins of a problem's rows, and which rows any weight has reached.

use super::Workspace;
use crate::solver::Design;

/// Below this share of the whole, a difference of sums of weights is not exact
/// enough for a proof.
const LOST: f64 = 0.1;

impl Workspace {
    /// Sum the weights of the untouched rows anew where differences have lost
    /// digits: of rows that all weigh 1 they are exact.
    pub(super) fn recount_untouched(&mut self, design: &Design<'_>) {
        let Some(weights) = design.sample_weight() else {
            return;
        };
        if self.untouched_weight < LOST * design.total_weight() {
            let untouched = weights.iter().zip(&self.is_touched);
            self.untouched_weight = untouched.fold(
                0.0,
                |sum, (w, &touched)| if touched { sum } else { sum + w },
            );
        }
    }

    /// Sum of the weights of the rows that are all alike.
    ///
    /// Exactly 0 when there are none: rounding would leave a loss of dust.
    pub(in crate::solver) fn untouched_weight(&self) -> f64 {
        if self.touched.len() == self.rows.len() {
            0.0
        } else {
            self.untouched_weight.max(0.0)
        }
    }

    pub(super) fn touch(&mut self, i: u32) {
        let i_ = i as usize;
        if !self.is_touched[i_] {
            self.is_touched[i_] = true;
            self.touched.push(i);
            self.untouched_weight -= self.rows[i_].weight();
        }
    }

    /// Touch all rows of feature `j`, before its weight leaves zero.
    pub(in crate::solver) fn see(&mut self, design: &Design<'_>, j: u32) {
        if !self.is_seen[j as usize] {
            self.is_seen[j as usize] = true;
            self.seen.push(j);
            for &i in design.column(j as usize).0 {
                self.touch(i);
            }
        }
    }

    /// Compute all margins anew from the weights, so that rounding never adds
    /// up, and let go of rows that no weight reaches any more.
    pub(in crate::solver) fn refresh(&mut self, design: &Design<'_>) {
        for &i in &self.touched[self.n_positives..] {
            self.is_touched[i as usize] = false;
            self.rows[i as usize].margin = 0.0;
        }
        self.touched.truncate(self.n_positives);
        self.untouched_weight = self.class_totals.1;
        for k in 0..self.n_positives {
            self.rows[self.touched[k] as usize].margin = 0.0;
        }
        // Sorted, so that sums do not depend on the way that led here.
        self.seen.sort_unstable();
        let Self {
            seen,
            is_seen,
            weights,
            rows,
            is_touched,
            touched,
            ..
        } = self;
        seen.retain(|&j| {
            let w = weights[j as usize];
            is_seen[j as usize] = w != 0.0;
            if w != 0.0 {
                let (ids, values) = design.column(j as usize);
                let mut n_touched = touched.len();
                touched.resize(n_touched + ids.len(), 0);
                for (&i, &x) in ids.iter().zip(values) {
                    rows[i as usize].margin += w * f64::from(x);
                    // Without a branch: which rows are new is not predictable.
                    touched[n_touched] = i;
                    n_touched += usize::from(!is_touched[i as usize]);
                    is_touched[i as usize] = true;
                }
                touched.truncate(n_touched);
            }
            w != 0.0
        });
        for &i in &self.touched[self.n_positives..] {
            self.untouched_weight -= self.rows[i as usize].weight();
        }
        self.recount_untouched(design);
    }

    /// Compute all margins anew from the weights, as [`Self::refresh`], but keep all
    /// rows that are touched: one pass over columns instead of two.
    pub(in crate::solver) fn renew(&mut self, design: &Design<'_>) {
        for &i in &self.touched {
            self.rows[i as usize].margin = 0.0;
        }
        self.seen.sort_unstable();
        for &j in &self.seen {
            let w = self.weights[j as usize];
            if w != 0.0 {
                let (ids, values) = design.column(j as usize);
                for (&i, &x) in ids.iter().zip(values) {
                    self.rows[i as usize].margin += w * f64::from(x);
                }
            }
        }
        self.recount_untouched(design);
        self.is_fresh = true;
    }

    /// Put the touched rows side by side.
    pub(in crate::solver) fn gather_touched(&mut self) {
        self.gathered.clear();
        let rows = self.touched.iter().map(|&i| self.rows[i as usize]);
        self.gathered.extend(rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::Control;
    use crate::solver::certificate::prove_as_is;
    use crate::solver::state::Scaled;
    use crate::solver::{Intercept, Method, Problem, Settings, Stop};
    use crate::testing::csr;

    /// Small whole numbers: every sum is exact.
    const X: [[f32; 4]; 6] = [
        [1.0, 0.0, 0.0, 2.0],
        [0.0, 3.0, 0.0, 0.0],
        [0.0, -1.0, 4.0, 0.0],
        [0.0, 0.0, 0.0, 5.0],
        [2.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 0.0],
    ];
    const WEIGHTS: [f64; 6] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
    const POSITIVES: [u32; 2] = [1, 3];

    fn with_problem(test: impl FnOnce(&Problem<'_>, Workspace)) {
        let x = csr(&X);
        let control = Control::default();
        let design = Design::new(x.view(), Some(&WEIGHTS), &control).unwrap();
        let problem = Problem {
            design: &design,
            positives: &POSITIVES,
            alpha: 1.0,
            ridge: 0.0,
            class_weight: (1.0, 1.0),
            intercept: Intercept::None,
        };
        let mut state = Workspace::new(&design);
        state.begin(&problem, None);
        test(&problem, state);
    }

    /// `x_i . w` of all rows, by the dense X.
    fn margins(w: [f64; 4]) -> [f64; 6] {
        X.map(|x| x.iter().zip(w).map(|(&x, w)| f64::from(x) * w).sum())
    }

    /// Margins, the touched rows in order, and the weight of the others.
    fn seen(state: &Workspace) -> (Vec<f64>, Vec<u32>, f64) {
        let margins = state.rows.iter().map(|row| row.margin).collect();
        let mut touched = state.touched.clone();
        touched.sort_unstable();
        let flags: Vec<u32> = (0..6).filter(|&i| state.is_touched[i as usize]).collect();
        assert_eq!(touched, flags);
        (margins, touched, state.untouched_weight())
    }

    #[test]
    fn refreshed_margins_are_the_product_and_rows_without_weights_go() {
        with_problem(|problem, mut state| {
            // Only the rows of feature 2 are no positive's own.
            state.set_weight(problem.design, 2, -1.0);
            state.set_weight(problem.design, 1, 0.5);
            state.refresh(problem.design);
            let expected = margins([0.0, 0.5, -1.0, 0.0]).to_vec();
            assert_eq!(seen(&state), (expected, vec![1, 2, 3, 4], 1.0 + 32.0));
            state.weights[2] = 0.0;
            state.rows[3].margin = 7.0;
            state.refresh(problem.design);
            let expected = margins([0.0, 0.5, 0.0, 0.0]).to_vec();
            assert_eq!(seen(&state), (expected, vec![1, 2, 3], 1.0 + 16.0 + 32.0));
            assert!(!state.is_fresh);
        });
    }

    #[test]
    fn renewed_margins_are_the_product_and_all_touched_rows_stay() {
        with_problem(|problem, mut state| {
            for j in [2, 0] {
                state.set_weight(problem.design, j, 3.0);
            }
            state.renew(problem.design);
            let expected = margins([3.0, 0.0, 3.0, 0.0]).to_vec();
            let touched = vec![0, 1, 2, 3, 4];
            assert_eq!(seen(&state), (expected, touched.clone(), 32.0));
            state.weights[0] = 0.0;
            state.weights[2] = -0.25;
            state.rows[1].margin = 7.0;
            state.renew(problem.design);
            let expected = margins([0.0, 0.0, -0.25, 0.0]).to_vec();
            assert_eq!(seen(&state), (expected, touched, 32.0));
            assert!(state.is_fresh);
        });
    }

    #[test]
    fn touched_rows_are_gathered_anew_in_their_order() {
        with_problem(|problem, mut state| {
            state.set_weight(problem.design, 2, -1.0);
            state.refresh(problem.design);
            for _ in 0..2 {
                state.gather_touched();
                let gathered = state.gathered.iter();
                let gathered: Vec<_> = gathered.map(|r| (r.margin, r.signed_weight)).collect();
                // The positives, then the rows of feature 2.
                assert_eq!(
                    gathered,
                    [(0.0, 2.0), (0.0, 8.0), (-4.0, -4.0), (-1.0, -16.0)]
                );
            }
        });
    }

    #[test]
    fn light_rows_beside_heavy_ones_are_weighed_anew() {
        // Feature 0 reaches the heavy row; 1e7 + 0.3 - 1e7 has lost seven digits.
        let x = csr(&[[1.0], [0.0], [0.0], [0.0]]);
        let weights = [1e7, 0.1, 0.2, 3.0];
        let control = Control::default();
        let design = Design::new(x.view(), Some(&weights), &control).unwrap();
        let of = |positives: &'static [u32]| {
            let mut state = Workspace::new(&design);
            let problem = Problem {
                design: &design,
                positives,
                alpha: 1.0,
                ridge: 0.0,
                class_weight: (1.0, 1.0),
                intercept: Intercept::None,
            };
            state.begin(&problem, None);
            state
        };
        let light = 0.1 + 0.2;
        assert_eq!(of(&[0, 3]).untouched_weight(), light);
        let mut state = of(&[3]);
        state.set_weight(&design, 0, 1.0);
        assert_ne!(state.untouched_weight(), light);
        state.renew(&design);
        assert_eq!(state.untouched_weight(), light);
        state.refresh(&design);
        assert_eq!(state.untouched_weight(), light);
    }

    /// Sum of `c hinge^2` plus the l1 norm.
    fn objective(w: [f64; 4], margins: [f64; 6]) -> f64 {
        let losses = (0..6).map(|i| {
            let sign = if i == 1 || i == 3 { 1.0 } else { -1.0 };
            WEIGHTS[i] * (1.0 - sign * margins[i]).max(0.0).powi(2)
        });
        losses.sum::<f64>() + w.iter().map(|w| w.abs()).sum::<f64>()
    }

    #[test]
    fn a_proof_takes_fresh_margins_once_and_no_others() {
        let settings = Settings {
            method: Method::Auto,
            tol: 1e-3,
            stop: Stop::Gap,
            max_iter: 1,
            prune: 0.0,
            round_weights: false,
            round_intercept: false,
            history: false,
        };
        with_problem(|problem, mut state| {
            let control = Control::default();
            let scaled = Scaled::new(problem, &control);
            let w = [0.0, 0.5, 0.0, 0.0];
            let prove = |state: &mut Workspace| prove_as_is(&scaled, &settings, state);
            state.set_weight(problem.design, 1, 0.5);
            state.renew(problem.design);
            // Not the weights' own: whether it is taken shows.
            state.rows[1].margin = -2.0;
            let mut marked = margins(w);
            marked[1] = -2.0;
            assert_eq!(prove(&mut state).objective, objective(w, marked));
            assert_eq!(prove(&mut state).objective, objective(w, margins(w)));
            state.renew(problem.design);
            state.begin(problem, None);
            state.set_weight(problem.design, 1, 0.5);
            assert_eq!(prove(&mut state).objective, objective(w, margins(w)));
        });
    }
}
