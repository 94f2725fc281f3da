//! Newton steps on the support, signs held.

mod conjugate;

use super::ray::Ray;
use super::state::{Scaled, Workspace};
use super::support::{NONE, Support, gather};
use crate::parallel::Control;

/// Up to this many coordinates the Hessian is factorised; beyond, conjugate
/// gradients need fewer operations (bench `solver`).
const DENSE: usize = 96;

/// Added to the Hessian's diagonal, relative to its mean: a feature that is
/// constant or absent on the active rows would leave it singular.
const DAMPING: f64 = 1e-10;

/// Least damping: without an active row the Hessian is zero, and the direction
/// must not overflow.
const LEAST_DAMPING: f64 = 1e-200;

/// Longer directions are shortened: their products with the rows would overflow,
/// and an infinite margin looks like a loss of zero.
const LONGEST: f64 = 1e60;

/// Share of the predicted fall that a cut step must reach.
const SUFFICIENT: f64 = 0.1;

/// Lengths tried along the direction cut at zero, and the ratio of two. Where
/// more features than active rows have a weight the direction is far too long:
/// the straight line then stops at the first few of hundreds of kinks, the bent
/// one sets hundreds of weights to zero at once (head labels: 2 to 4 times faster).
const LENGTHS: usize = 6;
const SHORTER: f64 = 0.4;

/// Damping of conjugate gradients relative to the diagonal (Levenberg and
/// Marquardt): at first, at least, and the factor it changes by. It keeps the
/// direction short and the iterations few where the Hessian is singular.
pub(super) const CAUTION: f64 = 1e-3;
const LEAST_CAUTION: f64 = 1e-5;
const MORE: f64 = 4.0;

/// Scratch of the Newton steps, one entry a coordinate or a compact row.
#[derive(Debug, Default)]
pub(super) struct NewtonBuffers {
    /// Coordinates: the features of the support, then the intercept.
    pub(super) w: Vec<f64>,
    alpha: Vec<f64>,
    ridge: Vec<f64>,
    /// Coordinates that stay as they are: at zero, or no intercept.
    frozen: Vec<bool>,
    gradient: Vec<f64>,
    direction: Vec<f64>,
    diagonal: Vec<f64>,
    matrix: Vec<f64>,
    residual: Vec<f64>,
    conjugate: Vec<f64>,
    product: Vec<f64>,
    pub(super) margin: Vec<f64>,
    hinge: Vec<f64>,
    fall: Vec<f64>,
    active: Vec<u32>,
    kinks: Vec<(f64, usize)>,
    gained: Vec<f64>,
    shift: Vec<f64>,
    held: Vec<bool>,
    /// Damping relative to the diagonal, adapted from step to step; `None`:
    /// plain steps, straight ones where the bent one of full length fails.
    pub(super) caution: Option<f64>,
}

/// Take up to `max_steps` Newton steps on the non-zero weights and the
/// intercept; stop early once no derivative exceeds `target` or no step helps.
///
/// A step first tries the full Newton direction with coordinates cut at zero
/// that would change sign. Where that does not lower the objective enough (few
/// active rows leave the Hessian singular and the direction far too long), the
/// exact minimum along the uncut direction is taken. With [`CAUTION`] large
/// supports damp the Hessian and try shorter bent steps first; weights that one
/// coordinate's own step would carry past zero go there and leave the system.
/// Returns the steps taken.
pub(super) fn newton(
    problem: &Scaled<'_>,
    state: &mut Workspace,
    target: f64,
    max_steps: u64,
) -> u64 {
    gather(problem, state);
    let support = std::mem::replace(&mut state.support, Support::new(0));
    let mut buffers = std::mem::take(&mut state.newton);
    let weights = support.features.iter().map(|&j| state.weights[j as usize]);
    buffers.load(problem, &support, weights, state.intercept);
    buffers.caution = None;
    let steps = buffers.run(&support, target, max_steps, problem.control);
    if steps > 0 {
        buffers.store(&support, state);
    }
    state.support = support;
    state.newton = buffers;
    steps
}

fn refill(values: &mut Vec<f64>, n: usize, value: f64) {
    values.clear();
    values.resize(n, value);
}

impl NewtonBuffers {
    /// Set the point that steps start from: weights, then intercept.
    pub(super) fn load(
        &mut self,
        problem: &Scaled<'_>,
        support: &Support,
        weights: impl Iterator<Item = f64>,
        intercept: f64,
    ) {
        self.w.clear();
        self.w.extend(weights);
        let n = self.w.len();
        self.w.push(intercept);
        refill(&mut self.alpha, n, problem.alpha);
        self.alpha.push(problem.intercept_alpha.unwrap_or(0.0));
        refill(&mut self.ridge, n, problem.ridge);
        self.ridge.push(0.0);
        self.frozen.clear();
        self.frozen.resize(n, false);
        self.frozen.push(match problem.intercept_alpha {
            None => true,
            Some(alpha) => alpha > 0.0 && intercept == 0.0,
        });
        self.margin.clear();
        self.margin.extend_from_slice(&support.margin);
    }

    /// Take up to `max_steps` steps from the point loaded; see [`newton`].
    pub(super) fn run(
        &mut self,
        support: &Support,
        target: f64,
        max_steps: u64,
        control: &Control,
    ) -> u64 {
        let mut steps = 0;
        while steps < max_steps && !control.is_cancelled() && self.linearise(support) > target {
            if self.w.len() <= DENSE {
                self.solve_dense(support);
            } else {
                self.solve_conjugate(support, target, control);
            }
            if !self.step(support) {
                break;
            }
            steps += 1;
        }
        steps
    }

    /// Hinges, active rows and gradient at the current point; the largest
    /// derivative of a coordinate that may move.
    fn linearise(&mut self, support: &Support) -> f64 {
        let n = self.w.len();
        let intercept = self.w[n - 1];
        refill(&mut self.gradient, n, 0.0);
        self.hinge.clear();
        self.active.clear();
        let mut sum = 0.0;
        for r in 0..support.n_rows() {
            let sign = support.sign[r];
            let hinge = 1.0 - sign * (self.margin[r] + intercept);
            self.hinge.push(hinge);
            if hinge > 0.0 {
                self.active.push(r as u32);
                let q = -2.0 * support.weight[r] * sign * hinge;
                sum += q;
                let (ks, xs) = support.row(r);
                for (&k, &x) in ks.iter().zip(xs) {
                    self.gradient[k as usize] += q * f64::from(x);
                }
            }
        }
        self.gradient[n - 1] = sum;
        let mut largest: f64 = 0.0;
        for k in 0..n {
            if self.frozen[k] {
                self.gradient[k] = 0.0;
            } else {
                let w = self.w[k];
                let sign = if w == 0.0 { 0.0 } else { w.signum() };
                self.gradient[k] += self.alpha[k] * sign + self.ridge[k] * w;
                largest = largest.max(self.gradient[k].abs());
            }
        }
        largest
    }

    /// `direction = -H^-1 gradient` by Cholesky factors of the damped Hessian.
    fn solve_dense(&mut self, support: &Support) {
        let n = self.w.len();
        refill(&mut self.matrix, n * n, 0.0);
        let h = &mut self.matrix;
        for &r in &self.active {
            let r = r as usize;
            let (ks, xs) = support.row(r);
            let c = 2.0 * support.weight[r];
            for (a, (&k, &x)) in ks.iter().zip(xs).enumerate() {
                let cx = c * f64::from(x);
                // Coordinates rise within a row: the lower triangle is filled.
                let row = &mut h[k as usize * n..];
                for (&l, &y) in ks[..=a].iter().zip(xs) {
                    row[l as usize] += cx * f64::from(y);
                }
                h[(n - 1) * n + k as usize] += cx;
            }
            h[n * n - 1] += c;
        }
        let mut trace = 0.0;
        for k in 0..n {
            h[k * n + k] += self.ridge[k];
            trace += h[k * n + k];
        }
        let damping = (DAMPING * trace / n as f64).max(LEAST_DAMPING);
        for k in 0..n {
            h[k * n + k] += damping;
            if self.frozen[k] {
                h[k * n..k * n + k].fill(0.0);
                (k + 1..n).for_each(|l| h[l * n + k] = 0.0);
                h[k * n + k] = 1.0;
            }
        }
        self.direction.clear();
        self.direction.extend(self.gradient.iter().map(|g| -g));
        cholesky_solve(h, &mut self.direction, damping);
    }

    /// Move along the direction; false if the objective does not fall.
    fn step(&mut self, support: &Support) -> bool {
        let n = self.w.len();
        let longest = self.direction.iter().fold(0.0, |a: f64, d| a.max(d.abs()));
        if longest > LONGEST {
            let shorter = LONGEST / longest;
            self.direction.iter_mut().for_each(|d| *d *= shorter);
        }
        if !self.direction.iter().all(|d| d.is_finite()) {
            return false;
        }
        // Along the direction with sign changes cut at zero, kept in `conjugate`.
        std::mem::swap(&mut self.direction, &mut self.conjugate);
        let lengths = if self.caution.is_some() && n > DENSE {
            LENGTHS
        } else {
            1
        };
        let mut t = 1.0;
        for tried in 0..lengths {
            let slope = self.bend(t);
            if !slope.is_finite() {
                break;
            }
            if slope < 0.0 {
                self.set_fall(support);
                if self.ray(&support.weight).change(1.0) <= SUFFICIENT * slope {
                    self.advance(support, 1.0, None);
                    self.adapt(tried);
                    return true;
                }
            }
            t *= SHORTER;
        }
        self.adapt(LENGTHS);
        std::mem::swap(&mut self.direction, &mut self.conjugate);
        self.set_fall(support);
        let (mut kinks, mut gained) = (
            std::mem::take(&mut self.kinks),
            std::mem::take(&mut self.gained),
        );
        let ray = self.ray(&support.weight);
        let (t, on_kink) = ray.minimise(&mut kinks, &mut gained);
        let change = ray.change(t);
        self.kinks = kinks;
        self.gained = gained;
        // Not a number is no fall either.
        let falls = change < 0.0;
        if falls {
            self.advance(support, t, on_kink);
        }
        falls
    }

    /// Damp less after a step of full length, more after one shortened `tried`
    /// times or a straight one.
    fn adapt(&mut self, tried: usize) {
        if self.w.len() <= DENSE {
            return;
        }
        let factor = match tried {
            0 => 1.0 / MORE,
            1 => 1.0,
            LENGTHS => MORE * MORE,
            _ => MORE,
        };
        self.caution = self.caution.map(|c| (c * factor).clamp(LEAST_CAUTION, 1.0));
    }

    /// Set `direction` to the way from `w` to `w + t conjugate`, coordinates that
    /// would change sign cut at zero; the slope along it.
    fn bend(&mut self, t: f64) -> f64 {
        self.direction.clear();
        let mut slope = 0.0;
        for k in 0..self.w.len() {
            let (w, d) = (self.w[k], t * self.conjugate[k]);
            let cut = if self.alpha[k] > 0.0 && w * (w + d) < 0.0 {
                -w
            } else {
                d
            };
            slope += self.gradient[k] * cut;
            self.direction.push(cut);
        }
        slope
    }

    fn ray<'a>(&'a self, weight: &'a [f64]) -> Ray<'a> {
        Ray {
            hinge: &self.hinge,
            fall: &self.fall,
            weight,
            w: &self.w,
            d: &self.direction,
            alpha: &self.alpha,
            ridge: &self.ridge,
        }
    }

    /// How fast each row's hinge falls along the direction.
    fn set_fall(&mut self, support: &Support) {
        let intercept = self.direction[self.w.len() - 1];
        self.fall.clear();
        for r in 0..support.n_rows() {
            let (ks, xs) = support.row(r);
            let mut z = intercept;
            for (&k, &x) in ks.iter().zip(xs) {
                z += f64::from(x) * self.direction[k as usize];
            }
            self.fall.push(support.sign[r] * z);
        }
    }

    fn advance(&mut self, support: &Support, t: f64, on_kink: Option<usize>) {
        let n = self.w.len();
        let intercept = self.direction[n - 1];
        for r in 0..support.n_rows() {
            self.margin[r] += t * (support.sign[r] * self.fall[r] - intercept);
        }
        for k in 0..n {
            let moved = self.w[k] + t * self.direction[k];
            self.w[k] = if on_kink == Some(k) { 0.0 } else { moved };
            if self.alpha[k] > 0.0 && self.w[k] == 0.0 {
                self.frozen[k] = true;
            }
        }
    }

    fn store(&self, support: &Support, state: &mut Workspace) {
        for (&j, &w) in support.features.iter().zip(&self.w) {
            state.weights[j as usize] = w;
        }
        state.intercept = self.w[self.w.len() - 1];
        for (&i, &margin) in support.row_ids.iter().zip(&self.margin) {
            if i != NONE {
                state.rows[i as usize].margin = margin;
            }
        }
    }
}

/// Solve `H x = b` in place; `h` holds the lower triangle, row by row. A pivot
/// that rounding made too small is raised to `floor`.
fn cholesky_solve(h: &mut [f64], b: &mut [f64], floor: f64) {
    let n = b.len();
    for k in 0..n {
        for l in 0..=k {
            let (head, tail) = h.split_at_mut(k * n);
            let (row_l, row_k) = if l == k {
                (&tail[..l], &tail[..l])
            } else {
                (&head[l * n..l * n + l], &tail[..l])
            };
            let dot = row_l.iter().zip(row_k).fold(0.0, |s, (x, y)| s + x * y);
            let value = tail[l] - dot;
            tail[l] = if l == k {
                value.max(floor).sqrt()
            } else {
                value / head[l * n + l]
            };
        }
        let dot = (0..k).fold(0.0, |s, l| s + h[k * n + l] * b[l]);
        b[k] = (b[k] - dot) / h[k * n + k];
    }
    for k in (0..n).rev() {
        b[k] /= h[k * n + k];
        for l in 0..k {
            b[l] -= h[k * n + l] * b[k];
        }
    }
}
