//! Newton's system for large supports.

use super::{DAMPING, LEAST_DAMPING, NewtonBuffers, refill};
use crate::parallel::Control;
use crate::solver::support::Support;

/// Most conjugate gradient iterations of one step, and the residual that ends them.
const CG_ITERATIONS: usize = 60;
const CG_RESIDUAL: f64 = 0.05;

/// No need to solve more exactly than this share of the violation aimed at.
const CG_SHARE: f64 = 0.5;

impl NewtonBuffers {
    /// `direction = -H^-1 gradient` by conjugate gradients, preconditioned with the diagonal,
    /// without forming H: one pass over the active rows an iteration.
    pub(super) fn solve_conjugate(&mut self, support: &Support, target: f64, control: &Control) {
        let n = self.w.len();
        refill(&mut self.diagonal, n, 0.0);
        for &r in &self.active {
            let r = r as usize;
            let c = 2.0 * support.weight[r];
            let (ks, xs) = support.row(r);
            for (&k, &x) in ks.iter().zip(xs) {
                self.diagonal[k as usize] += c * f64::from(x) * f64::from(x);
            }
            self.diagonal[n - 1] += c;
        }
        let mean = self.diagonal.iter().fold(0.0, |a, b| a + b) / n as f64;
        let damping = (DAMPING * mean).max(LEAST_DAMPING);
        refill(&mut self.direction, n, 0.0);
        refill(&mut self.product, n, 0.0);
        self.shift.clear();
        self.held.clear();
        self.conjugate.clear();
        let relative = self.caution.unwrap_or(0.0);
        let mut n_bound = 0;
        for k in 0..n {
            let shift = self.ridge[k] + damping + relative * self.diagonal[k];
            self.shift.push(shift);
            self.diagonal[k] += shift;
            let (w, g) = (self.w[k], self.gradient[k]);
            let bound = self.caution.is_some()
                && self.alpha[k] > 0.0
                && !self.frozen[k]
                && w * g > 0.0
                && g.abs() > self.diagonal[k] * w.abs();
            n_bound += usize::from(bound);
            self.held.push(self.frozen[k]);
            self.conjugate.push(if bound { -w } else { 0.0 });
        }
        self.residual.clear();
        if n_bound > 0 {
            self.apply_hessian(support);
            for k in 0..n {
                if self.conjugate[k] == 0.0 {
                    self.residual.push(-self.gradient[k] - self.product[k]);
                } else {
                    self.direction[k] = self.conjugate[k];
                    self.held[k] = true;
                    self.residual.push(0.0);
                }
            }
        } else {
            self.residual.extend(self.gradient.iter().map(|g| -g));
        }
        self.conjugate.clear();
        let z = self.residual.iter().zip(&self.diagonal).map(|(r, m)| r / m);
        self.conjugate.extend(z);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0, |s, (x, y)| s + x * y);
        let mut energy = dot(&self.residual, &self.conjugate);
        let enough = CG_RESIDUAL * CG_RESIDUAL * energy;
        for _ in 0..CG_ITERATIONS {
            if control.is_cancelled() {
                break;
            }
            self.apply_hessian(support);
            let curvature = dot(&self.conjugate, &self.product);
            if curvature <= 0.0 {
                break;
            }
            let step = energy / curvature;
            for k in 0..n {
                self.direction[k] += step * self.conjugate[k];
                self.residual[k] -= step * self.product[k];
            }
            let next = (0..n).fold(0.0, |s, k| {
                s + self.residual[k] * self.residual[k] / self.diagonal[k]
            });
            let largest = self.residual.iter().fold(0.0, |a: f64, r| a.max(r.abs()));
            if next <= enough || largest <= CG_SHARE * target {
                break;
            }
            let keep = next / energy;
            energy = next;
            for k in 0..n {
                self.conjugate[k] = self.residual[k] / self.diagonal[k] + keep * self.conjugate[k];
            }
        }
    }

    /// `product = H conjugate`.
    fn apply_hessian(&mut self, support: &Support) {
        let n = self.w.len();
        for k in 0..n {
            self.product[k] = self.shift[k] * self.conjugate[k];
        }
        let intercept = self.conjugate[n - 1];
        let mut sum = 0.0;
        for &r in &self.active {
            let r = r as usize;
            let (ks, xs) = support.row(r);
            let mut t = intercept + product(ks, xs, &self.conjugate);
            t *= 2.0 * support.weight[r];
            sum += t;
            for (&k, &x) in ks.iter().zip(xs) {
                self.product[k as usize] += f64::from(x) * t;
            }
        }
        self.product[n - 1] += sum;
        for k in 0..n {
            if self.held[k] {
                self.product[k] = 0.0;
            }
        }
    }
}

/// A sparse row times a dense vector, in four sums: one alone waits for itself.
#[inline]
fn product(ks: &[u32], xs: &[f32], dense: &[f64]) -> f64 {
    let ((k4, k_rest), (x4, x_rest)) = (ks.as_chunks::<4>(), xs.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (ks, xs) in k4.iter().zip(x4) {
        for ((sum, &k), &x) in sums.iter_mut().zip(ks).zip(xs) {
            *sum += f64::from(x) * dense[k as usize];
        }
    }
    let rest = k_rest.iter().zip(x_rest);
    let rest = rest.fold(0.0, |s, (&k, &x)| s + f64::from(x) * dense[k as usize]);
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}
