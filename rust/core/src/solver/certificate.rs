//! Gradient, objective and dual point: how far from the optimum at most.

use super::gradient::{Gradient, split};
use super::intercept::{EXACT, solve_intercept};
use super::rounding::round_to;
use super::state::{Row, Scaled, Workspace};
use super::{Certificate, Settings, Status, Stop};
use crate::parallel::Control;

/// Steps of an intercept that only the rounding of the weights put off its best.
const NEARBY: usize = 1;

/// Up to this share the two sides of a free intercept differ by rounding.
const BALANCED: f64 = 1e-9;

/// A gradient may be off by this share of alpha: the bound then is by as much.
const INEXACT: f64 = 1e-7;

/// What a look at the gap finds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proof {
    pub(super) objective: f64,
    pub(super) dual_objective: f64,
}

impl Proof {
    pub(super) fn gap(&self) -> f64 {
        self.objective - self.dual_objective
    }

    /// `gap <= tol * D`, which gives `P <= (1 + tol) P*`.
    pub(super) fn is_within(&self, tol: f64) -> bool {
        self.gap() <= tol * self.dual_objective
    }

    /// The status of a solve that its budget ended here.
    pub(super) fn status_within(&self, tol: f64) -> Status {
        if self.is_within(tol) {
            Status::Converged
        } else {
            Status::MaxIter
        }
    }

    /// The status of a method that stops by a rule of its own, `ended` if it did
    /// so: by itself that rule proves nothing.
    pub(super) fn status_of_own_rule(&self, tol: f64, ended: bool, control: &Control) -> Status {
        if control.is_cancelled() {
            Status::Cancelled
        } else if self.is_within(tol) {
            Status::Converged
        } else if ended {
            Status::Stalled
        } else {
            Status::MaxIter
        }
    }

    pub(super) fn certificate(
        &self,
        state: &Workspace,
        n_iter: u64,
        status: Status,
    ) -> Certificate {
        Certificate {
            objective: self.objective,
            dual_objective: self.dual_objective,
            n_iter,
            status,
            intercept: state.intercept,
        }
    }
}

/// Solve the intercept exactly, compute the full gradient, bound the optimum.
///
/// With `a^_i = 2 c_i max(0, hinge_i)` the dual point is `tau a^` with the
/// largest useful `tau` that keeps `||A^T a||_inf <= alpha`, and
/// `D = sum(a_i - a_i^2 / (4 c_i))`; with a ridge the constraint turns into the
/// term `-||soft(A^T a, alpha)||^2 / (2 ridge)`.
///
/// Cost: the stored values of touched rows plus one pass over the features.
pub(super) fn prove(problem: &Scaled<'_>, settings: &Settings, state: &mut Workspace) -> Proof {
    prove_with(problem, settings, state, EXACT)
}

/// [`prove`], but with one step of the intercept, which begins near its best.
///
/// The bound holds for any intercept; a penalised one hardly loses by what it
/// leaves, while one that is free must balance the classes exactly.
pub(super) fn prove_nearby(
    problem: &Scaled<'_>,
    settings: &Settings,
    state: &mut Workspace,
) -> Proof {
    let is_penalised = problem.intercept_alpha.is_some_and(|alpha| alpha > 0.0);
    let steps = if is_penalised { NEARBY } else { EXACT };
    prove_with(problem, settings, state, steps)
}

/// [`prove`], but with the intercept as the method left it.
pub(super) fn prove_as_is(
    problem: &Scaled<'_>,
    settings: &Settings,
    state: &mut Workspace,
) -> Proof {
    prove_with(problem, settings, state, 0)
}

fn prove_with(
    problem: &Scaled<'_>,
    settings: &Settings,
    state: &mut Workspace,
    intercept_steps: usize,
) -> Proof {
    if settings.round_weights {
        state.round_weights(settings.weight_bits());
    }
    if !std::mem::take(&mut state.is_fresh) {
        state.refresh(problem.design);
    }
    state.gather_touched();
    solve_intercept(problem, state, intercept_steps);
    if settings.round_intercept {
        state.intercept = round_to(state.intercept, settings.intercept_bits());
    }
    // A tree's nodes are small: bounds seldom save what they cost there.
    let may_pass = settings.stop == Stop::Gap && problem.ridge == 0.0;
    let sums = loss_gradient(problem, state, (1.0, 1.0), may_pass);
    let (mut l1, mut l2) = (0.0, 0.0);
    for j in state.nonzero() {
        let w = state.weights[j as usize];
        l1 += w.abs();
        l2 += w * w;
    }
    let objective = sums.square
        + problem.alpha * l1
        + problem.intercept_alpha.unwrap_or(0.0) * state.intercept.abs()
        + 0.5 * problem.ridge * l2;
    // 0 is always a bound: what overflows proves no more.
    let dual_objective = dual(problem, state, &sums).max(0.0);
    if problem.ridge > 0.0 {
        // From here on the gradient includes the ridge's own.
        let Workspace {
            gradient, weights, ..
        } = state;
        for (g, w) in gradient.all_mut().iter_mut().zip(weights.iter()) {
            *g += problem.ridge * w;
        }
    }
    let proof = Proof {
        objective,
        dual_objective,
    };
    state.record(objective, proof.gap());
    proof
}

impl Workspace {
    /// A look at the gap that is no part of the method: only where a history is
    /// kept, and its time does not count. `hand_over` brings the method's weights
    /// and intercept here first.
    pub(super) fn watch(
        &mut self,
        problem: &Scaled<'_>,
        settings: &Settings,
        hand_over: impl FnOnce(&mut Self),
    ) {
        self.watch_proof(|state| {
            hand_over(state);
            prove_as_is(problem, settings, state)
        });
    }
}

/// Sums over all samples at the current weights.
struct Sums {
    /// `sum c hinge^2`: the loss.
    square: f64,
    /// `sum c hinge` over positives.
    positive: f64,
    /// `sum c hinge` over negatives.
    negative: f64,
}

/// Whether the corrections to the column sums may be lost in these: of values so
/// large that alpha is dust beside their sums.
fn drowns(problem: &Scaled<'_>, base: f64) -> bool {
    let design = problem.design;
    let most = INEXACT * problem.alpha / (2.0 * f64::EPSILON * base);
    // The first is known, and more than enough for most data.
    design.largest_value() * design.total_weight() > most && design.heaviest_column() > most
}

/// Write the loss's gradient over all features; return the sums over samples. The
/// hinges count by `shares`, one for positives and one for negatives.
///
/// The column sums hold each row as if it were untouched; a touched row is
/// corrected by its difference. Where most rows are touched and few of them
/// active, it is cheaper to add up the active ones alone, and where values are huge,
/// it is the only way that keeps digits. Where columns `may_pass`, those provably below
/// alpha need not be exact; see [`split`].
fn loss_gradient(
    problem: &Scaled<'_>,
    state: &mut Workspace,
    shares: (f64, f64),
    may_pass: bool,
) -> Sums {
    let design = problem.design;
    let base = (1.0 + state.intercept).max(0.0) * shares.1;
    let untouched = state.untouched_weight();
    let mut sums = Sums {
        square: untouched * base * base,
        positive: 0.0,
        negative: untouched * base,
    };
    let Workspace {
        gradient,
        rows,
        touched,
        gathered,
        residuals,
        intercept,
        is_touched,
        seen,
        weights,
        ..
    } = state;
    let is_active = |row: &&Row| row.hinge(*intercept) > 0.0;
    let n_untouched = rows.len() - touched.len();
    let is_cheaper = || n_untouched + gathered.iter().filter(is_active).count() < touched.len();
    let from_zero = base > 0.0 && (is_cheaper() || drowns(problem, base));
    let assumed = if from_zero { 0.0 } else { base };
    residuals.clear();
    let mut add = |i: u32, residual: f64| {
        if residual != 0.0 {
            residuals.push((i, residual));
        }
    };
    for (&i, row) in touched.iter().zip(gathered.iter()) {
        let share = if row.sign() > 0.0 { shares.0 } else { shares.1 };
        let hinge = row.hinge(*intercept).max(0.0) * share;
        let weighted = row.weight() * hinge;
        sums.square += weighted * hinge;
        if row.sign() > 0.0 {
            sums.positive += weighted;
            add(i, -weighted - design.weight(i as usize) * assumed);
        } else {
            sums.negative += weighted;
            add(i, weighted - row.weight() * assumed);
        }
    }
    if from_zero {
        for (i, row) in rows.iter().enumerate() {
            if !is_touched[i] {
                add(i as u32, row.weight() * base);
            }
        }
    }
    // What a ridge takes and adds, it does of all features.
    let all = problem.ridge > 0.0;
    let factor = 2.0 * assumed;
    let split = if may_pass && !from_zero {
        let n_support = seen.iter().filter(|&&j| weights[j as usize] != 0.0);
        let n_support = n_support.map(|&j| design.column(j as usize).0.len()).sum();
        split(problem, factor, residuals, n_support)
    } else {
        None
    };
    match split {
        Some(split) => gradient.set_split(problem, factor, (residuals, split), (rows, *intercept)),
        None => gradient.set(design, factor, residuals, all, problem.control),
    }
    sums
}

/// The dual objective, on a ray through a point that a free intercept allows.
///
/// A free intercept asks for `sum(s a) = 0`. Where it is not at its optimum `a^` is
/// far from that: the heavier side is scaled down to the lighter one's sum, which
/// costs a second gradient.
fn dual(problem: &Scaled<'_>, state: &mut Workspace, sums: &Sums) -> f64 {
    let heavier = sums.positive.max(sums.negative);
    let lighter = sums.positive.min(sums.negative);
    if problem.intercept_alpha != Some(0.0) || heavier - lighter <= BALANCED * heavier {
        return dual_on_ray(problem, state, sums);
    }
    let shares = (
        (lighter / sums.positive).min(1.0),
        (lighter / sums.negative).min(1.0),
    );
    let balanced = Gradient::new(problem.design.n_features());
    let gradient = std::mem::replace(&mut state.gradient, balanced);
    let sums = loss_gradient(problem, state, shares, false);
    let found = dual_on_ray(problem, state, &sums);
    // Steps go by the gradient proper.
    state.gradient = gradient;
    found
}

/// The largest dual objective on the ray through `a^`.
fn dual_on_ray(problem: &Scaled<'_>, state: &mut Workspace, sums: &Sums) -> f64 {
    let mut s1 = 2.0 * (sums.positive + sums.negative);
    let s2 = 4.0 * sums.square;
    let largest = state.gradient.largest(problem.design);
    if s2 == 0.0 {
        return 0.0;
    }
    let imbalance = 2.0 * (sums.positive - sums.negative).abs();
    let mut steepest = largest;
    let mut limit = f64::INFINITY;
    match problem.intercept_alpha {
        // Floating point never meets sum(s a) = 0: the heavier side is scaled down
        // to the lighter one's sum. That moves A^T a by at most the weight taken
        // away times the largest value, and only lowers the quadratic term.
        Some(0.0) => {
            s1 = 4.0 * sums.positive.min(sums.negative);
            steepest += imbalance * problem.design.largest_value();
        }
        Some(alpha) if imbalance > 0.0 => limit = alpha / imbalance,
        _ => {}
    }
    limit = limit.min(2.0 * s1 / s2);
    if problem.ridge == 0.0 {
        let tau = limit.min(problem.alpha / steepest);
        return tau * s1 - 0.25 * tau * tau * s2;
    }
    ridge_dual(problem, state, steepest - largest, limit, s1, s2)
}

/// `max over tau in [0, limit]` of
/// `tau s1 - tau^2 s2 / 4 - sum_j soft(tau |g_j|, alpha)^2 / (2 ridge)`.
fn ridge_dual(
    problem: &Scaled<'_>,
    state: &mut Workspace,
    slack: f64,
    limit: f64,
    s1: f64,
    s2: f64,
) -> f64 {
    let Workspace {
        gradient, steep, ..
    } = state;
    steep.clear();
    let reach = gradient.all().iter().map(|g| g.abs() + slack);
    steep.extend(reach.filter(|g| limit * g > problem.alpha));
    let over: &[f64] = steep;
    let soft = |tau: f64, g: f64| (tau * g - problem.alpha).max(0.0);
    let slope = |tau: f64| {
        let pull: f64 = over
            .iter()
            .map(|&g| g * soft(tau, g))
            .fold(0.0, |a, b| a + b);
        s1 - 0.5 * tau * s2 - pull / problem.ridge
    };
    let (mut low, mut high) = (0.0, limit);
    if slope(high) >= 0.0 {
        low = high;
    }
    // The slope falls: bisection to the last bit that matters.
    for _ in 0..60 {
        if low >= high {
            break;
        }
        let middle = f64::midpoint(low, high);
        if slope(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let pull: f64 = over
        .iter()
        .map(|&g| soft(low, g).powi(2))
        .fold(0.0, |a, b| a + b);
    low * s1 - 0.25 * low * low * s2 - 0.5 * pull / problem.ridge
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{Design, Intercept, Method, Problem};
    use crate::testing::csr;

    /// One positive and three negatives, no weights, intercept `b`; what
    /// [`prove_nearby`] leaves of it, and finds.
    fn nearby(intercept: Intercept, b: f64) -> (f64, Proof) {
        // A feature too short to bound the dual point.
        let x = csr(&[[1e-6]; 4]);
        let control = Control::default();
        let design = Design::new(x.view(), None, &control).unwrap();
        let problem = Problem {
            design: &design,
            positives: &[2],
            alpha: 1.0,
            ridge: 0.0,
            class_weight: (1.0, 1.0),
            intercept,
        };
        let settings = Settings {
            method: Method::Auto,
            tol: 1e-3,
            stop: Stop::Violation(0.01),
            max_iter: 1,
            prune: 0.0,
            round_weights: false,
            round_intercept: false,
            history: false,
        };
        let mut state = Workspace::new(&design);
        state.begin(&problem, None);
        state.intercept = b;
        let proof = prove_nearby(&Scaled::new(&problem, &control), &settings, &mut state);
        (state.intercept, proof)
    }

    #[test]
    fn a_penalised_intercept_takes_one_step_near_its_best() {
        // Below zero the objective is (1 - b)^2 + 3 (1 + b)^2 - b: one step ends
        // at its least, b = -3/8.
        let (b, proof) = nearby(Intercept::Penalized(1.0), -0.3);
        assert!((b + 0.375).abs() < 1e-15, "{b}");
        let least = 1.375_f64.powi(2) + 3.0 * 0.625_f64.powi(2) + 0.375;
        assert!((proof.objective - least).abs() < 1e-14);
        assert!(proof.gap().abs() < 1e-5, "{proof:?}");
    }

    #[test]
    fn a_penalised_intercept_stays_on_its_kink_with_a_bound_that_holds() {
        // From above zero the one step stops at the kink, P = 4; a = 2 tau there,
        // |sum(s a)| = 4 tau <= 1 gives tau = 1/4 and D = 8 tau - 4 tau^2 = 7/4.
        let (b, proof) = nearby(Intercept::Penalized(1.0), 0.5);
        assert_eq!((b, proof.objective), (0.0, 4.0));
        assert!((proof.dual_objective - 1.75).abs() < 1e-14, "{proof:?}");
    }

    #[test]
    fn a_free_intercept_is_found_exactly_from_afar() {
        // Beyond both kinks: a step alone would end on one side of them. The best
        // of (1 - b)^2 + 3 (1 + b)^2 is b = -1/2, where P = D = 3.
        let (b, proof) = nearby(Intercept::Free, -2.0);
        assert!((b + 0.5).abs() < 1e-15, "{b}");
        assert!((proof.objective - 3.0).abs() < 1e-14);
        assert!(proof.gap().abs() < 1e-5, "{proof:?}");
    }
}
