//! Proximal gradient steps with a search for their length, and momentum.

use super::ForwardBackward;
use super::smooth::Smooth;
use super::state::Workspace;
use crate::parallel::Control;

/// Least norm that a change is compared with.
const LEAST_NORM: f64 = 1e-13;

/// The iterates, their margins, and what momentum needs.
#[derive(Debug)]
pub(super) struct Path {
    w: Vec<f64>,
    z: Vec<f64>,
    next: Vec<f64>,
    next_z: Vec<f64>,
    gradient: Vec<f64>,
    first_step: f64,
    step_shrink: f64,
    momentum: Option<Momentum>,
}

#[derive(Debug)]
struct Momentum {
    /// Where the gradient is taken.
    v: Vec<f64>,
    z: Vec<f64>,
    t: f64,
    /// The step since the last restart.
    step: f64,
}

impl Path {
    pub(super) fn new(
        smooth: &Smooth<'_>,
        options: &ForwardBackward,
        first_step: f64,
        state: &Workspace,
    ) -> Self {
        let mut w = vec![0.0; smooth.n_weights()];
        for j in state.nonzero() {
            w[j as usize] = state.weights[j as usize];
        }
        let z = smooth.margins(&w);
        let momentum = options.accelerated.then(|| Momentum {
            v: w.clone(),
            z: z.clone(),
            t: 1.0,
            step: first_step,
        });
        Self {
            next: vec![0.0; w.len()],
            next_z: Vec::with_capacity(z.len()),
            gradient: vec![0.0; w.len()],
            w,
            z,
            first_step,
            step_shrink: options.step_shrink,
            momentum,
        }
    }

    /// One iteration; the relative change of the weights, `None` if no step lowers
    /// the objective or the caller asked to stop.
    pub(super) fn advance(&mut self, smooth: &Smooth<'_>, control: &Control) -> Option<f64> {
        let (from, from_z, mut step) = match &self.momentum {
            None => (&self.w, &self.z, self.first_step),
            Some(m) => (&m.v, &m.z, m.step),
        };
        smooth.gradient(from, from_z, &mut self.gradient);
        loop {
            if step == 0.0 || control.is_cancelled() {
                return None;
            }
            let mut square = 0.0;
            for (j, next) in self.next.iter_mut().enumerate() {
                let u = from[j] - step * self.gradient[j];
                *next = soft_threshold(u, step * smooth.alpha(j));
                square += (*next - from[j]) * (*next - from[j]);
            }
            let limit = 0.5 * square / step;
            if limit.is_finite()
                && smooth.rises_at_most(limit, (from, from_z), &self.next, &mut self.next_z)
            {
                break;
            }
            step *= self.step_shrink;
        }
        let change = norm(self.next.iter().zip(&self.w).map(|(a, b)| a - b));
        let change = change / norm(self.w.iter().copied()).max(LEAST_NORM);
        if let Some(momentum) = &mut self.momentum {
            let (next, w) = ((&self.next, &self.next_z), (&self.w, &self.z));
            momentum.follow(next, w, step, self.first_step);
        }
        std::mem::swap(&mut self.w, &mut self.next);
        std::mem::swap(&mut self.z, &mut self.next_z);
        Some(change)
    }

    /// Bring weights and intercept into the workspace.
    pub(super) fn hand_over(&self, smooth: &Smooth<'_>, state: &mut Workspace) {
        let design = smooth.problem().design;
        for (j, &w) in (0..).zip(&self.w[..design.n_features()]) {
            state.weights[j as usize] = 0.0;
            state.set_weight(design, j, w);
        }
        state.intercept = smooth.intercept(&self.w);
    }
}

impl Momentum {
    /// From the step from `v` to `next` find where the next one begins.
    fn follow(
        &mut self,
        next: (&Vec<f64>, &Vec<f64>),
        w: (&Vec<f64>, &Vec<f64>),
        step: f64,
        first_step: f64,
    ) {
        let pairs = self.v.iter().zip(next.0).zip(w.0);
        let uphill = pairs.fold(0.0, |sum, ((v, next), w)| sum + (v - next) * (next - w));
        if uphill > 0.0 {
            self.v.copy_from_slice(next.0);
            self.z.copy_from_slice(next.1);
            self.t = 1.0;
            self.step = first_step;
            return;
        }
        let t = 0.5 * (1.0 + (1.0 + 4.0 * self.t * self.t).sqrt());
        let share = (self.t - 1.0) / t;
        for (to, (next, before)) in [(&mut self.v, (next.0, w.0)), (&mut self.z, (next.1, w.1))] {
            for ((to, next), before) in to.iter_mut().zip(next).zip(before) {
                *to = next + share * (next - before);
            }
        }
        self.t = t;
        self.step = step;
    }
}

/// `sign(u) max(|u| - threshold, 0)`.
fn soft_threshold(u: f64, threshold: f64) -> f64 {
    if u.abs() <= threshold {
        0.0
    } else {
        u - threshold.copysign(u)
    }
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, x| sum + x * x).sqrt()
}
